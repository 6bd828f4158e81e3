"""Real rates from a file: what a payment network publishes or a risk team keeps, in place of single payments.

    table = "rates.csv"      # one row per category, or per category and year
    category = "mcc"         # its column
    year = "year"            # its column, where there are several years
    size = "payments"        # the column that years are weighed by; evenly unless given

    [weights]                # column of the table -> its weight in the unified score
    fraud_share = 0.25
    chargeback_share = 0.175

    value(c) = sum_k w_k rate_k(c) / sum_k w_k,   rate_k(c) = sum_y size(c, y) rate_k(c, y) / sum_y size(c, y)

Merchant-risk paper, sec. 5.1: a weighted average of fraud, chargeback and operational rates, by count and by money, of
2021 to 2024; it prints neither rates nor weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["YEARLY", "read_rates"]

YEARLY = "value_"
"""Before the year, in the columns that hold the values of single years."""
KEYS = ("table", "category", "year", "size", "weights")


def read_rates(path: Path) -> pd.DataFrame:
    """One row per category: columns item, value, and `value_<year>` for every year where the table has years.

    Raises `RecuseError` naming the file and what is wrong in it: an unknown key, a column that is not there, a rate
    that is no share between 0 and 1, a weight below 0, a category that stands twice in one year.
    """
    import pandas as pd

    settings = _settings(path)
    file, weights = path.parent / settings["table"], settings["weights"]
    if not file.is_file():
        raise RecuseError(f"{file}: no such file; {path.name} names it")
    table = pd.read_csv(file, dtype={settings["category"]: str})
    wanted = [settings["category"], *weights, *(settings[name] for name in ("year", "size") if name in settings)]
    if missing := [name for name in wanted if name not in table]:
        raise RecuseError(f"{file}: lacks the column(s) {', '.join(missing)}; it has {', '.join(table.columns)}")
    keys = [settings["category"], *([settings["year"]] if "year" in settings else [])]
    if table.duplicated(keys).any():
        row = table[table.duplicated(keys)].iloc[0]
        raise RecuseError(f"{file}: {' in '.join(str(row[key]) for key in keys)} stands in several rows; one is wanted")
    for name in weights:
        bad = table[~table[name].between(0, 1)]
        if len(bad):
            raise RecuseError(f"{file}: {name} must be shares between 0 and 1; line {bad.index[0] + 2} has "
                              f"{bad[name].iloc[0]!r}")  # fmt: skip
    score = sum(weight * table[name] for name, weight in weights.items()) / math.fsum(weights.values())
    return _over_years(table.assign(score=score, item=table[settings["category"]].str.strip()), settings)


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; task.toml names it under [reference], rates")
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    known = {key: value for key, value in settings.items() if key not in ("about", "provenance")}
    if missing := [key for key in ("table", "category", "weights") if key not in known]:
        raise RecuseError(f"{path}: lacks {', '.join(missing)}; rates need a table, its categories, and weights")
    if strange := [key for key in known if key not in KEYS]:
        raise RecuseError(f"{path}: unknown key {strange[0]!r}; known: {', '.join(KEYS)}, about, provenance")
    weights = known["weights"]
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise RecuseError(f"{path}: weight {name} must be a number from 0, got {weight!r}")
    if not math.fsum(weights.values()) > 0:
        raise RecuseError(f"{path}: all weights are 0, so no score is defined; give at least one rate a weight")
    return known


def _over_years(table: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    size = table[settings["size"]] if "size" in settings else pd.Series(1.0, index=table.index)
    sums = table.assign(size=size, both=table["score"] * size).groupby("item", sort=True)[["both", "size"]].sum()
    rates = pd.DataFrame({"item": sums.index, "value": (sums["both"] / sums["size"]).to_numpy()})
    if "year" not in settings:
        return rates
    yearly = table.pivot(index="item", columns=settings["year"], values="score")
    for year in yearly:
        rates[f"{YEARLY}{year}"] = yearly[year].reindex(rates["item"]).to_numpy()
    return rates

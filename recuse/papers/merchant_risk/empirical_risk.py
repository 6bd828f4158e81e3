"""Unified event-rate score per category: what the data say about how risky each category is. Merchant-risk paper, sec.
5.1: a weighted average of fraud, chargeback and operational rates, by count and by money, of 2021 to 2024. The paper
prints neither rates nor weights; a task states its own."""

from __future__ import annotations

import json
import math
import tomllib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.pandas_when_used import pd

Weights = Mapping[str, Mapping[str, Any]]
"""Indicator name -> {"any_of": flag columns, "count", "amount": weights of the shares of payments and of money}."""

AMOUNT = "amount"  # the column with the money of each payment, in currency units


def risk_score(table: pd.DataFrame, weights: Weights, *, category: str) -> pd.DataFrame:
    """Per category c, the weighted mean of its event rates, sorted by category

        risk(c) = sum_k (u_k count_k(c) + v_k money_k(c)) / sum_k (u_k + v_k)
        count_k(c) = payments of c with any flag of indicator k / payments of c
        money_k(c) = their amount / amount of all payments of c

    with u_k, v_k the weights `count` and `amount` of indicator k, `table` as `read_transactions` reads it: columns
    `<category>, risk, n, total` (payments, their amount), then `<k>_count` and `<k>_amount`. All rates and the risk are
    shares in [0, 1]. Where a category's amounts add up to 0 its money rates, and its risk if any of them has weight,
    are NaN: undefined, not 0. `RecuseError` for an empty table, an unknown key, a negative or non-finite weight, or
    weights that are all 0."""
    if table.empty:
        raise RecuseError("a risk score needs at least one payment; the table is empty")
    given = 0.0
    for name, entry in weights.items():
        if set(entry) != {"any_of", "count", "amount"}:
            have = ", ".join(sorted(entry)) or "nothing"
            raise RecuseError(f"indicator {name}: needs any_of, count and amount, got {have}")
        if not entry["any_of"]:
            raise RecuseError(f"indicator {name}: any_of names no flag column")
        for key in ("count", "amount"):
            if not 0 <= (weight := entry[key]) < math.inf:
                raise RecuseError(f"indicator {name}: weight {key} must be a finite number from 0, got {weight}")
            given += weight
    if given <= 0:
        raise RecuseError("all weights are 0, so no score is defined; give at least one indicator a weight")
    money, columns = table[AMOUNT].to_numpy(dtype=float), dict[str, Any]()
    for name, entry in weights.items():
        hit = columns[f"{name}_count"] = np.logical_or.reduce([table[flag].to_numpy() for flag in entry["any_of"]])
        columns[f"{name}_amount"] = np.where(hit, money, 0.0)
    groups = pd.DataFrame({"total": money, **columns}, table.index, copy=False).groupby(table[category])
    n, sums = groups.size(), groups.sum()
    rates = {name: sums[name] / (n if name.endswith("_count") else sums["total"]) for name in columns}
    # a money rate that is NaN but carries no weight leaves the score defined
    parts = ((rate, weights[of][key]) for name, rate in rates.items() for of, _, key in [name.rpartition("_")])
    weighed = [(rate, weight) for rate, weight in parts if weight]
    risk = sum(weight * rate for rate, weight in weighed) / sum(weight for _, weight in weighed)
    return pd.DataFrame({"risk": risk, "n": n, "total": sums["total"], **rates}).reset_index(names=category)


# --------------------------------------------------------------------------- real rates from a file
#     table = "rates.csv"      # one row per category, or per category and year
#     category = "mcc"         # its column
#     year = "year"            # its column, where there are several years
#     size = "payments"        # the column that years are weighed by; evenly unless given
#
#     [weights]                # column of the table -> its weight in the unified score
#     fraud_share = 0.25
#     chargeback_share = 0.175
#
#     value(c) = sum_k w_k rate_k(c) / sum_k w_k,   rate_k(c) = sum_y size(c, y) rate_k(c, y) / sum_y size(c, y)
YEARLY = "value_"  # before the year, in the columns that hold the values of single years
KEYS = ("table", "category", "year", "size", "weights")


def read_rates(path: Path) -> pd.DataFrame:
    """One row per category: columns item, value, and `value_<year>` where the table has years. `RecuseError` names the
    file and what is wrong in it: an unknown key, a missing column, a rate outside 0 to 1, a weight below 0, a category
    twice in one year."""
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; task.toml names it under [reference], rates")
    settings = _settings(path, ("table", "category", "weights"), "rates need a table, its categories, and weights")
    if strange := [key for key in settings if key not in (*KEYS, "about", "provenance")]:
        raise RecuseError(f"{path}: unknown key {strange[0]!r}; known: {', '.join(KEYS)}, about, provenance")
    file, weights = path.parent / settings["table"], settings["weights"]
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise RecuseError(f"{path}: weight {name} must be a number from 0, got {weight!r}")
    if not math.fsum(weights.values()) > 0:
        raise RecuseError(f"{path}: all weights are 0, so no score is defined; give at least one rate a weight")
    if not file.is_file():
        raise RecuseError(f"{file}: no such file; {path.name} names it")
    table = pd.read_csv(file, dtype={settings["category"]: str})
    wanted = [settings["category"], *weights, *(settings[name] for name in ("year", "size") if name in settings)]
    if missing := [name for name in wanted if name not in table]:
        raise RecuseError(f"{file}: lacks the column(s) {', '.join(missing)}; it has {', '.join(table.columns)}")
    keys = [settings[name] for name in ("category", "year") if name in settings]
    if len(again := table[table.duplicated(keys)]):
        twice = " in ".join(str(again.iloc[0][key]) for key in keys)
        raise RecuseError(f"{file}: {twice} stands in several rows; one is wanted")
    for name in weights:
        bad = table[~table[name].between(0, 1)]
        if len(bad):
            raise RecuseError(f"{file}: {name} must be shares between 0 and 1; line {bad.index[0] + 2} has "
                              f"{bad[name].iloc[0]!r}")  # fmt: skip
    score = sum(weight * table[name] for name, weight in weights.items()) / math.fsum(weights.values())
    size = table[settings["size"]] if "size" in settings else pd.Series(1.0, index=table.index)
    table = table.assign(item=table[settings["category"]].str.strip(), score=score, size=size, both=score * size)
    sums = table.groupby("item", sort=True)[["both", "size"]].sum()
    rates = pd.DataFrame({"value": sums["both"] / sums["size"]})
    if "year" in settings:
        yearly = table.pivot(index="item", columns=settings["year"], values="score")
        rates = rates.join(yearly.rename(columns=lambda year: f"{YEARLY}{year}"))
    return rates.reset_index()


def _settings(path: Path, wanted: Sequence[str], why: str) -> dict[str, Any]:
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    if missing := [name for name in wanted if name not in settings]:
        raise RecuseError(f"{path}: lacks {', '.join(missing)}; {why}")
    return settings


# --------------------------------------------------------------------------- risk of categories from single payments
# A file of settings names the table, its column of categories, and the indicators with their weights; a task names
# that file: [reference] event_rates = "ground_truth.toml".

PACKED = ("amount_cents", "flags", "about")  # an amount per row, flag k of `about`'s list in bit k of `flags`


def event_rates(path: Path) -> pd.DataFrame:
    """One row per category: columns item, value (the unified risk score) and `value_<year>` where payments have years.
    Computed once per state of the files beside `path`: every protocol of the task asks for it, and tasks share one."""
    stamp = tuple(sorted((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in path.parent.iterdir()))
    return _rates_of(path, stamp).copy()


@lru_cache(maxsize=8)
def _rates_of(path: Path, stamp: tuple[tuple[str, int, int], ...]) -> pd.DataFrame:
    why = "event rates need a table, its column of categories, and indicators"
    settings = _settings(path, ("table", "category", "indicators"), why)
    category, indicators = settings["category"], settings["indicators"]
    flags = list(dict.fromkeys(flag for entry in indicators.values() for flag in entry["any_of"]))
    payments = read_transactions(path.parent / settings["table"], category, flags)
    rates = risk_score(payments, indicators, category=category)
    if "year" in payments:
        for year, of_year in payments.groupby("year"):
            one = risk_score(of_year, indicators, category=category).set_index(category)["risk"]
            rates[f"{YEARLY}{year}"] = one.reindex(rates[category]).to_numpy()
    return rates.rename(columns={category: "item", "risk": "value"})


def read_transactions(path: Path, category: str, flags: Sequence[str]) -> pd.DataFrame:
    """The table with the column `category`, amount (float, currency units) and a bool column for each of `flags`;
    others are kept. From `.npz`, packed as `PACKED` says (amounts in cents), or `.csv` / `.csv.gz` with flags written 0
    or 1. `DataFrame.attrs["about"]`: what the packed form says of itself (provenance, seed), else empty. `RecuseError`
    for a missing, damaged or incomplete file, an amount that is negative or no number, and a flag neither 0 nor 1."""
    if not path.is_file():
        raise RecuseError(f"{path}: no such file; a task with ground truth keeps its transactions table there")
    if path.suffix == ".npz":
        table = _packed(path)
    else:
        try:
            table = pd.read_csv(path)
        except (ValueError, OSError) as error:  # pandas' parser errors are ValueErrors
            raise RecuseError(f"{path}: not a readable CSV file ({error})") from None
        table.attrs["about"] = {}
    if missing := [name for name in (category, AMOUNT, *flags) if name not in table.columns]:
        raise RecuseError(f"{path}: lacks the column(s) {', '.join(missing)}; it has {', '.join(table.columns)}")
    table[AMOUNT] = pd.to_numeric(table[AMOUNT], errors="coerce")
    for flag in (name for name in flags if table[name].dtype != bool):
        bad = np.flatnonzero(~table[flag].isin([0, 1]))
        if bad.size:
            raise RecuseError(f"{path}: flag {flag} must be 0 or 1, but row {bad[0]} has {table[flag].iloc[bad[0]]!r}")
        table[flag] = table[flag].astype(bool)
    bad = np.flatnonzero(~(np.isfinite(table[AMOUNT]) & (table[AMOUNT] >= 0)))
    if bad.size:
        what = f"amounts must be numbers from 0, but row {bad[0]} has {table[AMOUNT].iloc[bad[0]]}"
        raise RecuseError(f"{path}: {what} ({bad.size} such row(s)); leave such payments out or mend them")
    return table


def _packed(path: Path) -> pd.DataFrame:
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecuseError(f"{path}: not a readable .npz file ({error}); build it again") from None
    if missing := [name for name in PACKED if name not in arrays]:
        raise RecuseError(f"{path}: lacks {', '.join(missing)}; a packed table holds {', '.join(PACKED)}")
    rows = {name: len(array) for name, array in arrays.items() if name != "about"}
    if len(set(rows.values())) > 1:
        raise RecuseError(f"{path}: arrays differ in length ({rows}); build the file again")
    about = json.loads(str(arrays["about"]))
    columns: dict[str, Any] = {
        name: array.astype(np.int64) if array.dtype.kind in "iu" else array
        for name, array in arrays.items() if name not in PACKED
    }  # fmt: skip
    columns[AMOUNT] = arrays["amount_cents"] / 100.0
    columns |= {flag: (arrays["flags"] >> bit & 1).astype(bool) for bit, flag in enumerate(about["flags"])}
    table = pd.DataFrame(columns)
    table.attrs["about"] = about
    return table

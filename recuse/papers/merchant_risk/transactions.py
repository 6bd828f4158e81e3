"""True risk of merchant categories from a table of card payments, one row per payment.

A file of settings names the table, its column of categories, and the indicators with their weights
(`recuse.papers.merchant_risk.empirical_risk`); a task names that file: [reference] event_rates = "ground_truth.toml".
"""

from __future__ import annotations

import json
import tomllib
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.papers.merchant_risk.empirical_risk import risk_score
from recuse.papers.merchant_risk.rate_tables import YEARLY
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

AMOUNT = "amount"
"""The column with the money of each payment, in currency units."""

PACKED = ("amount_cents", "flags", "about")
"""Arrays of every packed table: an amount per row, flag k of `about`'s list in bit k of `flags`. Others are columns."""


class TableError(RecuseError):
    """A transactions table cannot be read; the message names file, place and remedy."""


def event_rates(path: Path) -> pd.DataFrame:
    """One row per category: columns item, value (the unified risk score) and `value_<year>` where payments have years.
    Computed once per state of the files beside `path`: every protocol of the task asks for it, and tasks share one."""
    stamp = tuple(sorted((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in path.parent.iterdir()))
    return _rates_of(path, stamp).copy()


@lru_cache(maxsize=8)
def _rates_of(path: Path, stamp: tuple[tuple[str, int, int], ...]) -> pd.DataFrame:
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    if missing := [name for name in ("table", "category", "indicators") if name not in settings]:
        raise RecuseError(
            f"{path}: lacks {', '.join(missing)}; event rates need a table, its column of categories, and indicators"
        )
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
    """The table with the column `category`, amount (float, currency units) and a bool column for each of `flags`; other
    columns are kept as they are.

    Two forms: `.npz`, packed as `PACKED` says (amounts in cents), and `.csv` / `.csv.gz` with the columns as named
    above and flags written 0 or 1. `DataFrame.attrs["about"]` holds what the packed form says of itself (provenance,
    seed), and is empty for CSV. Raises `TableError` for a missing, damaged or incomplete file, for an amount that is
    negative or not a number, and for a flag that is neither 0 nor 1.
    """
    import pandas as pd

    if not path.is_file():
        raise TableError(f"{path}: no such file; a task with ground truth keeps its transactions table there")
    table = _packed(path) if path.suffix == ".npz" else _plain(path)
    if missing := [name for name in (category, AMOUNT, *flags) if name not in table.columns]:
        raise TableError(f"{path}: lacks the column(s) {', '.join(missing)}; it has {', '.join(table.columns)}")
    table[AMOUNT] = pd.to_numeric(table[AMOUNT], errors="coerce")
    for flag in flags:
        column = table[flag]
        if not column.isin([0, 1]).all():
            row = int(np.flatnonzero(~column.isin([0, 1]))[0])
            raise TableError(f"{path}: flag {column.name} must be 0 or 1, but row {row} has {column.iloc[row]!r}")
        table[flag] = column.astype(bool)
    bad = np.flatnonzero(~(np.isfinite(table[AMOUNT]) & (table[AMOUNT] >= 0)))
    if bad.size:
        raise TableError(
            f"{path}: amounts must be numbers from 0, but row {bad[0]} has {table['amount'].iloc[bad[0]]} "
            f"({bad.size} such row(s)); leave such payments out or mend them"
        )
    return table


def _packed(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise TableError(f"{path}: not a readable .npz file ({error}); build it again") from None
    if missing := [name for name in PACKED if name not in arrays]:
        raise TableError(f"{path}: lacks {', '.join(missing)}; a packed table holds {', '.join(PACKED)}")
    rows = {name: len(array) for name, array in arrays.items() if name != "about"}
    if len(set(rows.values())) > 1:
        raise TableError(f"{path}: arrays differ in length ({rows}); build the file again")
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


def _plain(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except (ValueError, OSError) as error:  # pandas' parser errors are ValueErrors
        raise TableError(f"{path}: not a readable CSV file ({error})") from None
    table.attrs["about"] = {}
    return table

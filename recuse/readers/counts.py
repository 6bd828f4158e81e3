"""Answers that were counted before they came here: a column `count_<answer>` per option, or per set of options.

    item, rater,  count_toxic, count_not toxic, count_unparsed, total
    c1,   gpt-4o, 7,           2,               1,              10
    c1,   people, 1,           2,               0,              3

Every row becomes as many rows as it counts, each with one answer. Further columns stay as they are; `total`, where it
is there, must be the sum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.readers.column_names import NAMES, is_judge, is_person, plain
from recuse.readers.faults import shown
from recuse.readers.raw_table import RawTable
from recuse.readers.values import as_numbers
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["without_counts"]

COUNTED = re.compile(r"^counts?[ _:]+(?P<answer>.*\S)\s*$", re.IGNORECASE)
TOTAL = ("total", "count_total", "counts_total", "count", "sum")
RATER = "people"
"""Whose answers are counted where no column says so."""
MOST = 10_000_000
SEED = 0


def without_counts(raw: RawTable) -> tuple[RawTable, tuple[str, ...]]:
    """The table with one answer per row, and what was done in words; the same table where nothing is counted, which is
    also where some column holds ratings that are not.

    `RecuseError` with its line for a count that is no whole number from 0, for counts that do not add up to the total,
    and for a rater without any valid answer."""
    columns = {name: counted["answer"] for name in map(str, raw.frame.columns) if (counted := COUNTED.match(name))}
    answers = {name: answer for name, answer in columns.items() if plain(name) not in TOTAL}
    rest = [name for name in map(str, raw.frame.columns) if name not in columns and plain(name) not in TOTAL]
    if len(answers) < 2 or any(map(_holds_ratings, rest)):
        return raw, ()
    counts = np.column_stack([_counts(raw, name) for name in answers])
    _check_totals(raw, counts, list(answers))
    frame = raw.frame[rest] if any(plain(n) in NAMES["rater"] for n in rest) else raw.frame[rest].assign(rater=RATER)
    _check_raters(frame, counts, list(answers.values()))
    named = ", ".join(answers.values())
    return _spread(raw, frame, counts, answers), (
        f"counts of {named}: every answer that is counted is read as a row, in no order",
    )


def _holds_ratings(name: str) -> bool:
    word = plain(name)
    if word in NAMES["rater"] or word in NAMES["item"] or word in NAMES["target"]:
        return False
    return word in NAMES["value"] or is_judge(name) or is_person(name)


def _counts(raw: RawTable, name: str) -> NDArray[np.int64]:
    cells = raw.frame[name]
    values = as_numbers(cells.where(cells.astype(str).str.strip() != "", "0"))
    bad = values.isna() | (values < 0) | (values % 1 != 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RecuseError(
            f"{raw.path}: {raw.place(row)}, column {name}: {shown(cells.iloc[row])} is no count; a count is a whole "
            "number from 0"
        )
    if float(values.sum()) > MOST:
        raise RecuseError(f"{raw.path}: column {name} counts {values.sum():.0f} answers; at most {MOST:,} can be read")
    return np.asarray(values, dtype=np.int64)


def _check_totals(raw: RawTable, counts: NDArray[np.int64], names: Sequence[str]) -> None:
    total = next((name for name in map(str, raw.frame.columns) if plain(name) in TOTAL), None)
    if total is None:
        return
    wrong = np.flatnonzero(_counts(raw, total) != counts.sum(axis=1))
    if len(wrong):
        row = int(wrong[0])
        added = " + ".join(map(str, counts[row]))
        more = f" (and {len(wrong) - 1} more rows)" if len(wrong) > 1 else ""
        raise RecuseError(
            f"{raw.path}: {raw.place(row)}: {', '.join(names)} add up to {added} = {counts[row].sum()}, and {total} "
            f"says {shown(raw.frame[total].iloc[row])}{more}; mend the row, or add a column such as count_unparsed for "
            "answers that are none of these"
        )


def _check_raters(frame: pd.DataFrame, counts: NDArray[np.int64], answers: Sequence[str]) -> None:
    from recuse.readers.judgements import STATUSES

    valid = counts[:, [answer.strip().lower() not in STATUSES for answer in answers]].sum(axis=1)
    column = next(name for name in map(str, frame.columns) if plain(name) in NAMES["rater"])
    silent = [str(name) for name, rows in frame.groupby(column, sort=False).indices.items() if not valid[rows].any()]
    if silent:
        raise RecuseError(f"{shown(silent[0])} gave no valid answer to any item: all its counts are 0; leave it out")


def _spread(raw: RawTable, frame: pd.DataFrame, counts: NDArray[np.int64], answers: Mapping[str, str]) -> RawTable:
    """One row per answer in the order of the rows; `repeat` numbers the answers of a row. Which of several people gave
    which answer is not known: answers are dealt out in an order drawn by a fixed seed, since one in the order of the
    options would make person 1 of every item choose the first."""
    size = counts.sum(axis=1)
    row = np.repeat(np.arange(len(frame)), size)
    label = np.repeat(np.tile(np.array(list(answers.values()), dtype=object), len(frame)), counts.ravel())
    label = label[np.lexsort((np.random.default_rng(SEED).random(len(row)), row))]
    first = np.repeat(np.cumsum(size) - size, size)
    columns = {"label": label, "repeat": (np.arange(len(row)) - first).astype(str).astype(object)}
    spread = frame.iloc[row].reset_index(drop=True).assign(**columns)
    return replace(raw, frame=spread, numbers=tuple(raw.at(int(k)) for k in row), text="")

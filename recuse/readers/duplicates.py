"""Judgements that are there more than once: repeats of a judge are numbered, copies count once, contradictions not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recuse.readers.faults import Fault, Place, fault_in

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["without_duplicates"]


def without_duplicates(
    rows: pd.DataFrame, factors: list[str], place: Place, numbered: bool
) -> tuple[pd.DataFrame, list[Fault], list[str]]:
    """Rows with repeats numbered from 0. Where a column says which repeat a row is (`numbered`), a judgement that is
    there twice with one answer counts once, and one with two answers counts as unusable; otherwise several rows of a
    judge are its repeats."""
    keys = ["rater", "item", "target", "criterion", *factors, *[c for c in ("first", "second") if c in rows]]
    notes: list[str] = []
    if not numbered and (rows["repeat"] < 0).any():
        rows, notes = _numbered(rows, keys)
    keys = [*keys, "repeat"]
    if not rows.duplicated(keys).any():
        return rows, [], notes
    rows, faults = _settled(rows, keys, place)
    return rows, faults, notes


def _numbered(rows: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """A judge's rows on one text are its repeats, in the order of the file."""
    count = rows.groupby(keys, sort=False, dropna=False, observed=True).cumcount()
    rows = rows.assign(repeat=np.where(rows["repeat"] < 0, count, rows["repeat"]))
    judges = count[rows["kind"].eq("judge")]
    if not len(judges) or judges.max() == 0:
        return rows, []
    return rows, ["no column says which repeat a row is: a judge's further rows on one text are read as its repeats"]


def _settled(rows: pd.DataFrame, keys: list[str], place: Place) -> tuple[pd.DataFrame, list[Fault]]:
    """One row for each judgement that is there twice: its answer, or none where the two differ."""
    faults: list[Fault] = []
    again = rows[rows.duplicated(keys, keep=False)]
    answer = again["response"].where(again["response"].notna(), again["score"]).astype(str)
    differ = answer.groupby([again[key] for key in keys], sort=False).transform("nunique") > 1
    split = differ.reindex(rows.index, fill_value=False)
    extra = rows.duplicated(keys, keep="first")
    same = extra & ~split
    if same.any():
        what = "judgement(s) are there twice with the same answer"
        faults.append(fault_in(what, rows[same], place, "each counts once"))
    if differ.any():
        faults.append(fault_in(
            "judgement(s) are there twice with different answers", again[differ], place,
            "they count as unusable; a column `repeat` would make them repeats",
        ))  # fmt: skip
        rows = rows.assign(
            score=rows["score"].mask(split), response=rows["response"].mask(split, None),
            status=rows["status"].mask(split, "error"),
        )  # fmt: skip
    return rows[~extra], faults

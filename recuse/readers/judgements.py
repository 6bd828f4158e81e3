"""From cells to scores and responses with a status each: what cannot be read is named, counted and kept as unusable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recuse.ratings.pair_array import CHOICES
from recuse.ratings.scale import Numeric, Scale
from recuse.readers.criterion_answers import read_answers
from recuse.readers.opening import Fault, Place, fault_in
from recuse.readers.values import STATUSES, chosen, is_empty, labels_of
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Judgements:
    """The rows with score, response and status; the scale of each criterion; what was wrong; how scales were found."""

    rows: pd.DataFrame
    scales: dict[str, Scale]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def read_cells(long: pd.DataFrame, place: Place, scale: str = "") -> Judgements:
    """Scores or labels, criterion by criterion. A person's empty cell is no judgement; a judge's is an unusable one.

    `RecuseError` where a criterion mixes numbers and labels or scales of another length, and where it is free text."""
    import pandas as pd

    empty = is_empty(long["cell"])
    if (silent := empty & long["kind"].eq("person")).any():
        long, empty = long[~silent], empty[~silent]
    score = np.full(len(long), np.nan)
    response = np.full(len(long), None, dtype=object)
    status = np.where(empty, "unparsed", "ok").astype(object)
    scales: dict[str, Scale] = {}
    faults: list[Fault] = []
    notes: list[str] = []
    for criterion in long["criterion"].drop_duplicates():
        mine = long["criterion"].eq(criterion).to_numpy()
        part, there = long[mine], ~empty[mine].to_numpy()
        part = part[there]
        places = np.flatnonzero(mine)[there]
        if part.empty:
            scales[str(criterion)] = Numeric(0, 1)
            continue
        codes, values = pd.factorize(part["cell"])
        told = np.array([STATUSES.get(str(cell).strip().lower()) for cell in values], dtype=object)[codes]
        lost = pd.notna(told)
        if lost.any():
            status[places[lost]] = told[lost]
            part, places = part[~lost], places[~lost]
        answers = read_answers(part, str(criterion), scale, place)
        scales[str(criterion)] = answers.scale
        notes += answers.notes
        faults += answers.faults
        (score if isinstance(answers.scale, Numeric) else response)[places] = answers.values
        status[places[answers.bad]] = answers.status
    rows = long.assign(score=score, response=response, status=status)
    return Judgements(rows, scales, tuple(faults), tuple(notes))


def read_winners(long: pd.DataFrame, place: Place, *, from_0: bool) -> Judgements:
    """Which of two won: first, second, tie, A, B, 1, 2, 3, or the winner's own name; anything else is unusable.
    `from_0`: the two are numbered 0 and 1."""
    empty = is_empty(long["cell"])
    long = long[~(empty & long["kind"].eq("person"))]
    said = labels_of(long["cell"]).str.replace(r"^(\d+)\.0$", r"\1", regex=True)
    first, second = (labels_of(long[side]) for side in ("first", "second"))
    won = said.map(lambda word: chosen(word, from_0=from_0) or None)
    empty = empty[long.index]
    by_name = (said == first) | (said == second)
    if (by_name | won.eq("tie") | empty).all() or (won.isna() & ~empty).any():  # else "A" is a place beside a system a
        won = won.mask(said == first, "first").mask(said == second, "second").astype(object)
    strange = won.isna() & ~empty
    faults = []
    if strange.any():
        faults.append(fault_in("winner(s) that name neither text", long[strange], place, "they count as unusable"))
    if strange.mean() > 0.5:
        raise RecuseError(
            "a winner is first, second or tie, A or B, 1, 2 or 3 (tie), or the name of one of the two; "
            + faults[0].sentence()
        )
    used = {str(word) for word in said[~empty & ~strange].drop_duplicates()}
    counted = "0 is the first, 1 the second" if from_0 else "1 is the first, 2 the second, 3 a tie"
    numbers = f"winner: {counted}" if used & {"0", "1", "2"} else ""
    rows = long.assign(
        score=np.nan, response=won.where(won.notna(), None), status=np.where(won.notna(), "ok", "unparsed"),
        criterion="winner",
    )  # fmt: skip
    return Judgements(rows, {"winner": CHOICES}, tuple(faults), (numbers,) if numbers else ())

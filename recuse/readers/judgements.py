"""From cells to scores and responses with a status each: what cannot be read is named, counted and kept as unusable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.ratings.pairwise import CHOICES
from recuse.ratings.scale import Nominal, Numeric, Ordinal, ResponseSets, Scale
from recuse.readers.faults import SHOWN, Fault, shown
from recuse.readers.response_sets import always_one, find_sets
from recuse.readers.values import (
    CHOICE_WORDS,
    KNOWN_SHARE,
    as_numbers,
    is_empty,
    labels_of,
    same_verdicts,
    scale_from_text,
    scale_of_labels,
    scale_of_numbers,
    told_top,
)  # fmt: skip
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Judgements", "read_cells", "read_winners", "without_duplicates"]

FREE_TEXT = 60
"""A column with more different labels than this holds sentences, not ratings."""
STRICT = 2
"""A rater whose best mark is so far below the others' best may be strict, on the same scale."""
ENOUGH_OF_PEOPLE, OFTEN = 40, 0.15
"""So many ratings by people tell the end of their scale, if at least this share lies on it."""
MANY = 0.1
"""Where so many cells name an option twice, they are no sets."""
STATUSES = {"refused": "refused", "refusal": "refused", "error": "error", "unparsed": "unparsed"}
Place = Callable[[int], str]


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
    empty = is_empty(long["cell"])
    long = long[~(empty & long["kind"].eq("person"))]
    empty = empty[long.index]
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
        lost = part["cell"].map(lambda cell: STATUSES.get(str(cell).strip().lower()))
        if lost.notna().any():
            status[places[lost.notna().to_numpy()]] = lost.dropna()
            part, places = part[lost.isna()], places[lost.isna().to_numpy()]
        cells = next(
            read for how in (_sets, _numbers, _labels) if (read := how(part, str(criterion), scale, place)) is not None
        )
        scales[str(criterion)] = cells.scale
        notes += cells.notes
        faults += cells.faults
        if isinstance(cells.scale, Numeric):
            score[places] = cells.values
            status[places[cells.bad]] = cells.status
        else:
            response[places] = cells.values
            status[places[cells.bad]] = cells.status
    rows = long.assign(score=score, response=response, status=status)
    return Judgements(rows, scales, tuple(faults), tuple(notes))


def read_winners(long: pd.DataFrame, place: Place) -> Judgements:
    """Which of two won: first, second, tie, A, B, 1, 2, 3, or the winner's own name; anything else is unusable."""
    empty = is_empty(long["cell"])
    long = long[~(empty & long["kind"].eq("person"))]
    said = labels_of(long["cell"]).str.replace(r"^(\d+)\.0$", r"\1", regex=True)
    first, second = (labels_of(long[side]) for side in ("first", "second"))
    won = said.map(CHOICE_WORDS)
    won = won.mask(said == first, "first").mask(said == second, "second").astype(object)
    empty = empty[long.index]
    strange = won.isna() & ~empty
    faults = []
    if strange.any():
        faults.append(_fault("winner(s) that name neither text", long[strange], place, "they count as unusable"))
    if strange.mean() > 0.5:
        raise RecuseError(
            "a winner is first, second or tie, A or B, 1, 2 or 3 (tie), or the name of one of the two; "
            + faults[0].sentence()
        )
    used = {str(word) for word in said[~empty & ~strange].drop_duplicates()} & set(CHOICE_WORDS)
    numbers = "winner: 1 is the first, 2 the second, 3 a tie" if used & {"1", "2"} else ""
    rows = long.assign(
        score=np.nan, response=won.where(won.notna(), None), status=np.where(won.notna(), "ok", "unparsed"),
        criterion="winner",
    )  # fmt: skip
    return Judgements(rows, {"winner": CHOICES}, tuple(faults), (numbers,) if numbers else ())


def without_duplicates(
    judged: Judgements, factors: list[str], place: Place, numbered: bool
) -> tuple[pd.DataFrame, list[Fault], list[str]]:
    """Rows with repeats numbered from 0. Where a column says which repeat a row is (`numbered`), a judgement that is
    there twice with one answer counts once, and one with two answers counts as unusable; otherwise several rows of a
    judge are its repeats."""
    rows = judged.rows
    faults: list[Fault] = []
    notes: list[str] = []
    keys = ["rater", "item", "target", "criterion", *factors, *[c for c in ("first", "second") if c in rows]]
    if not numbered and (rows["repeat"] < 0).any():
        count = rows.groupby(keys, sort=False, dropna=False, observed=True).cumcount()
        rows = rows.assign(repeat=np.where(rows["repeat"] < 0, count, rows["repeat"]))
        judges = count[rows["kind"].eq("judge")]
        if len(judges) and judges.max() > 0:
            notes.append(
                "no column says which repeat a row is: a judge's further rows on one text are read as its repeats"
            )
    keys = [*keys, "repeat"]
    twice = rows.duplicated(keys, keep=False)
    if not twice.any():
        return rows, faults, notes
    again = rows[twice]
    answer = again["response"].where(again["response"].notna(), again["score"]).astype(str)
    differ = answer.groupby([again[key] for key in keys], sort=False).transform("nunique") > 1
    extra = rows.duplicated(keys, keep="first")
    same = extra & ~differ.reindex(rows.index, fill_value=False)
    if same.any():
        faults.append(
            _fault("judgement(s) are there twice with the same answer", rows[same], place, "each counts once")
        )
    if differ.any():
        faults.append(_fault(
            "judgement(s) are there twice with different answers", again[differ], place,
            "they count as unusable; a column `repeat` would make them repeats",
        ))  # fmt: skip
        split = differ.reindex(rows.index, fill_value=False)
        rows = rows.assign(
            score=rows["score"].mask(split), response=rows["response"].mask(split, None),
            status=rows["status"].mask(split, "error"),
        )  # fmt: skip
    return rows[~extra], faults, notes


# --------------------------------------------------------------------------- numbers and labels


@dataclass(frozen=True, eq=False)
class _Read:
    scale: Scale
    values: Any
    bad: Any
    status: Any
    faults: list[Fault]
    notes: list[str]


def _sets(part: pd.DataFrame, criterion: str, declared: str, place: Place) -> _Read | None:
    given = scale_from_text(declared) if declared else None
    if given is not None and not isinstance(given, ResponseSets):
        return None
    labels = labels_of(part["cell"])
    sets = find_sets(tuple(labels.drop_duplicates()), criterion, given)
    if sets is None:
        return None
    bad = labels.isin(sets.strange)
    faults = []
    if given is None and bad.mean() > MANY and as_numbers(labels.str.extract(r"(\d+)")[0]).notna().mean() > KNOWN_SHARE:
        raise RecuseError(
            f"{criterion}: column {part.loc[bad, 'column'].iloc[0]} holds several numbers a cell "
            f"({shown(part.loc[bad, 'cell'].iloc[0])}), which are no options that are all right; if they are several "
            "people's ratings, give every person a column"
        )
    if bad.any():
        why = "; ".join(list(sets.strange.values())[:SHOWN])
        faults.append(_fault(f"answer(s) are no set of options: {why}", part[bad], place, "they count as unusable"))
    values = labels.map(sets.written).where(~bad, None)
    words = f"{criterion}: {sets.words}{', as you said' if declared else ''}"
    notes = [words, *always_one(part["rater"], values)]
    return _Read(sets.scale, values.to_numpy(dtype=object), bad.to_numpy(), "out_of_scale", faults, notes)


def _numbers(part: pd.DataFrame, criterion: str, declared: str, place: Place) -> _Read | None:
    given = scale_from_text(declared) if declared else None
    if given is not None and not isinstance(given, Numeric):
        return None
    values = as_numbers(part["cell"])
    share = float(values.notna().mean()) if len(values) else 0.0
    if given is None and set(values.dropna().unique()) <= {0.0, 1.0} and share == 1.0:
        whole = not part["cell"].astype(str).str.contains(".", regex=False).any()
        if whole:
            return None  # 0 and 1 are labels: fail and pass
    if share < 0.5 and given is None:
        return None
    faults = []
    bad = values.isna()
    scale = given or scale_of_numbers(values, told_top(part["cell"]))
    if given is None and isinstance(scale, Numeric):
        _check_one_scale(part, values.where(values.between(scale.minimum, scale.maximum)), criterion)
    if bad.any():
        _check_one_kind(part, bad, criterion)
        faults.append(_fault("answer(s) are not numbers", part[bad], place, "they count as unusable"))
    assert isinstance(scale, Numeric)
    outside = values.notna() & ~values.between(scale.minimum, scale.maximum)
    if outside.any():
        what = f"number(s) outside {scale.minimum:g} to {scale.maximum:g}"
        done = "they count as unusable" if given else f"they count as unusable; {_as_wide(values)} counts them"
        faults.append(_fault(what, part[outside], place, done))
    status = np.where(outside[bad | outside], "out_of_scale", "unparsed")
    seen = values[~(bad | outside)]
    note = f"{criterion}: {_scale_words(scale, bool(declared))}"
    if len(seen) and not declared:
        note += f" (seen: {seen.min():g} to {seen.max():g})"
    return _Read(scale, values.mask(outside).to_numpy(dtype=float), (bad | outside).to_numpy(), status, faults, [note])


def _labels(part: pd.DataFrame, criterion: str, declared: str, place: Place) -> _Read:
    labels = labels_of(part["cell"])
    same = {} if declared else same_verdicts(labels.drop_duplicates())
    labels = labels.replace(same) if same else labels
    counts = labels.value_counts()
    if declared:
        scale = scale_from_text(declared)
        strange = set(map(str, counts.index)) - set(scale.options) if not isinstance(scale, Numeric) else set()
    else:
        scale, strange = scale_of_labels(counts, _meant(labels, part))
        if isinstance(scale, Nominal):
            if len(counts) > FREE_TEXT or counts.index.str.len().max() > 200:
                raise RecuseError(
                    f"{criterion}: the column of ratings holds free text ({len(counts)} different answers, first "
                    f"{shown(part['cell'].iloc[0])}); name another column with --value"
                )
            _check_one_kind(part, as_numbers(labels).isna(), criterion)
    bad = labels.isin(strange)
    faults = []
    if bad.any():
        names = ", ".join(shown(s) for s in sorted(strange)[:5])
        options = ", ".join(getattr(scale, "options", ()))
        what = f"answer(s) are none of {options}: {names}"
        faults.append(_fault(what, part[bad], place, "they count as unusable"))
    note = f"{criterion}: {_scale_words(scale, bool(declared))}"
    if read_as := ", ".join(f"{word} as {said}" for word, said in same.items() if word != said):
        note += f"; words that say the same count as one ({read_as})"
    return _Read(scale, labels.where(~bad, None).to_numpy(dtype=object), bad.to_numpy(), "out_of_scale", faults, [note])


def _meant(labels: pd.Series[Any], part: pd.DataFrame) -> list[str]:
    """Labels that a person and one more rater give, each more than once: part of the scale that people were given,
    while what judges alone say may be no answer at all ("unclear", "refused")."""
    given = part.assign(label=labels).groupby(["label", "rater", "kind"], observed=True).size()
    often = given[given > 1].reset_index()
    several = often["label"][often["label"].duplicated()]
    by_people = often["label"][often["kind"].eq("person")]
    return sorted({*map(str, several)} & {*map(str, by_people)})


def _as_wide(values: pd.Series[float]) -> str:
    return f"--scale {min(values.min(), 1):g}-{values.max():g}"


def _check_one_kind(part: pd.DataFrame, words: pd.Series[bool], criterion: str) -> None:
    """A rater who gives labels beside one who gives numbers answers another question."""
    share = words.groupby(part["rater"]).mean()
    if (share > 0.9).any() and (share < 0.1).any():
        one, other = str(share.idxmin()), str(share.idxmax())
        said = shown(part.loc[part["rater"].eq(other) & words, "cell"].iloc[0])
        raise RecuseError(
            f"{criterion}: {one} gives numbers and {other} labels ({said}); bring them to one scale, or leave one out "
            "with --ignore"
        )


def _check_one_scale(part: pd.DataFrame, values: pd.Series[float], criterion: str) -> None:
    """Raters whose numbers reach to quite different ends do not answer on one scale. One who is a point or two short of
    the top may be strict, and one who always says the same says nothing of the scale."""
    ends = values.groupby(part["rater"], sort=False).agg(["max", "count", "nunique"])
    ends = ends[(ends["count"] >= 20) & (ends["nunique"] > 1)]
    if len(ends) < 2:
        return
    ends = ends.sort_values("max", kind="stable")
    (low, high), (b, a) = (ends.index[[0, -1]], ends["max"].iloc[[0, -1]].astype(float))
    strict = a - b <= STRICT and not _people_stop_at(b, part, values)
    if a > 1.6 * b and not strict and scale_of_numbers(values[part["rater"] == high]).maximum > b:
        raise RecuseError(
            f"{criterion}: {high} gives numbers up to {a:g}, {low} only up to {b:g}; if that is one scale, say so "
            f"(--scale {scale_of_numbers(values).minimum:g}-{a:g}), otherwise bring them to one or leave one out with "
            "--ignore"
        )


def _people_stop_at(top: float, part: pd.DataFrame, values: pd.Series[float]) -> bool:
    """Whether no person ever goes beyond this number, but often up to it, where judges often go beyond: people were
    given a scale that ends there. Strict people reach the end of a scale too rarely to look like it."""
    people = part["kind"].eq("person")
    theirs, judged = values[people], values[~people]
    if len(theirs) < ENOUGH_OF_PEOPLE or not len(judged) or theirs.max() > top:
        return False
    return bool((theirs == top).mean() >= OFTEN and (judged > top).mean() >= OFTEN)


def _scale_words(scale: Scale, declared: bool) -> str:
    if isinstance(scale, Numeric):
        steps = "" if scale.step is None else " in whole steps" if scale.step == 1 else f" in steps of {scale.step:g}"
        turned = ", the lowest is best" if scale.reversed else ""
        return (
            f"numbers from {scale.minimum:g} to {scale.maximum:g}{steps}{turned}{', as you said' if declared else ''}"
        )
    if isinstance(scale, Ordinal):
        return " < ".join(scale.options) + (", as you said" if declared else "")
    unordered = ", ".join(scale.options) + ", without an order"
    if declared:
        return f"{unordered}, as you said"
    return unordered + ("; if they have one, say --scale 'worst<...<best'" if len(scale.options) > 2 else "")


def _fault(what: str, rows: pd.DataFrame, place: Place, done: str) -> Fault:
    places = [
        f"{place(int(r))}, column {c}: {shown(cell)}"
        for r, c, cell in zip(rows["row"][:SHOWN], rows["column"][:SHOWN], rows["cell"][:SHOWN], strict=True)
    ]
    return Fault.of(what, places, done, len(rows))

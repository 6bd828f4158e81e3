"""Columns of a wide table that name a rater and a criterion at once: gpt4_tone, gpt4_accuracy, anna_tone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from recuse.readers.column_names import is_criterion, is_judge, is_person

__all__ = ["CrossedNames", "crossed_names"]

PLACES = re.compile(r"[ _.:/|-]+")
NOBODY_KNOWN = 3
"""From so many raters on, a whole table of raters x criteria is one although no rater is called as judges or people."""
FILLED = 0.6
"""Of raters x criteria, how many must be there: a rater may leave a criterion out."""


@dataclass(frozen=True, slots=True)
class CrossedNames:
    """`raters`: rater -> its columns; `criteria`: column -> the criterion it is about."""

    raters: dict[str, tuple[str, ...]]
    criteria: dict[str, str]


def crossed_names(names: Sequence[str], said: Collection[str] = ()) -> CrossedNames | None:
    """Raters and criteria where every name is one of each, in one order, with at least two of both, and one side bears
    names of judges or people, as they are called or are `said` to be; or where three and more stand before each of the
    same criteria, called as criteria are. None where the names are no such table."""
    for parts in _splits(names):
        fronts, backs = ({part[side] for part in parts.values()} for side in (0, 1))
        if min(len(fronts), len(backs)) < 2 or len(names) < FILLED * len(fronts) * len(backs):
            continue
        by_front, by_back = (any(is_judge(n) or is_person(n) or n in said for n in side) for side in (fronts, backs))
        by_front = by_front or (not by_back and _every_criterion_of_all(names, fronts, backs))
        if by_front == by_back or any(n.isdigit() for n in (backs if by_front else fronts)):
            continue
        of = {name: part if by_front else part[::-1] for name, part in parts.items()}
        raters: dict[str, tuple[str, ...]] = {}
        for name, (rater, _) in of.items():
            raters[rater] = (*raters.get(rater, ()), name)
        return CrossedNames(raters, {name: criterion for name, (_, criterion) in of.items()})
    return None


def _every_criterion_of_all(names: Sequence[str], raters: set[str], criteria: set[str]) -> bool:
    """Two would not do: answer_precision, context_precision are criteria of one rater."""
    whole = len(raters) >= NOBODY_KNOWN and len(names) == len(raters) * len(criteria)
    return whole and any(map(is_criterion, criteria)) and not any(map(is_criterion, raters))


def _splits(names: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Every way to cut all names in two such that front or back of the first name comes again: a criterion may hold a
    blank or a line of its own, so the cut is found by what the names share."""
    for cut in PLACES.finditer(names[0]) if len(names) >= 4 else ():
        front, back = names[0][: cut.end()], names[0][cut.start() :]
        fronts = {n[: -len(back)] for n in names if n.endswith(back)}
        backs = {n[len(front) :] for n in names if n.startswith(front)}
        parts = {n: part for n in names if (part := _parted(n, fronts, backs))}
        if len(parts) == len(names):
            yield parts


def _parted(name: str, fronts: set[str], backs: set[str]) -> tuple[str, str] | None:
    for cut in PLACES.finditer(name):
        front, back = name[: cut.start()], name[cut.end() :]
        if front in fronts and back in backs:
            return front, back
    return None

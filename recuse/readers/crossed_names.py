"""Columns that are named after two things at once: who rated and on which criterion, or who rated whose texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from recuse.readers.column_names import NAMES, is_attribute, is_criterion, is_judge, is_person, is_rater, plain
from recuse.readers.columns import Column
from recuse.readers.raw_table import RawTable
from recuse.readers.reshaping import TARGET

PLACES, BRACKETED = re.compile(r"[ _.:/|-]+"), re.compile(r"^[(\[](.*)[)\]]$")  # "Clarity (Anna)"
NOBODY_KNOWN = 3
"""From so many raters on, a whole table of raters x criteria is one although no rater is called as judges or people."""
FILLED = 0.6
"""Of raters x criteria, how many must be there: a rater may leave a criterion out."""


def crossed_names(names: Sequence[str], stated: Collection[str] = ()) -> dict[str, tuple[str, str]] | None:
    """Name -> rater and criterion where every name is one of each, in one order, with at least two of both, and one
    side bears names of judges or people, as they are called or `stated` to be; or where three and more stand before
    each of the same criteria, called as criteria are. None where the names are no such table."""
    for parts in splits(names):
        fronts, backs = ({part[side] for part in parts.values()} for side in (0, 1))
        if min(len(fronts), len(backs)) < 2 or len(names) < FILLED * len(fronts) * len(backs):
            continue
        by_front, by_back = (any(is_rater(n) or n in stated for n in side) for side in (fronts, backs))
        if not by_front and not by_back and len(names) == len(fronts) * len(backs):  # every criterion of every rater
            several = len(fronts) >= NOBODY_KNOWN  # answer_precision, context_precision are criteria of one rater
            by_front = several and any(map(is_criterion, backs)) and not any(map(is_criterion, fronts))
        if by_front == by_back or any(n.isdigit() for n in (backs if by_front else fronts)):
            continue
        return {name: part if by_front else part[::-1] for name, part in parts.items()}
    return None


def with_systems_apart(raw: RawTable) -> RawTable:
    """The table with a row per system where columns of ratings are named after a system and who rated it:

        id, llama_human, llama_judge, gpt_human, gpt_judge   ->   id, system, human, judge

    Some system is called as models are, and none as people; of those who rate, one at least as people are, one not."""
    names = [n for n in raw.names if is_rater(n) and not is_attribute(n) and Column(n, raw.frame[n]).rating]
    if raw.all_named or not raw.of_nobody_known or any(plain(n) in NAMES["target"] for n in raw.names):
        return raw
    for parts in splits(names):
        for side in (0, 1):
            systems, raters = ([*dict.fromkeys(part[k] for part in parts.values())] for k in (side, 1 - side))
            people = [name for name in raters if is_person(name)]
            models = any(map(is_judge, systems)) and not any(is_person(n) or is_criterion(n) for n in systems)
            whole = len(systems) > 1 and len(parts) == len(systems) * len(raters)
            if not (whole and models and people and any(is_judge(r) and not is_person(r) for r in raters)):
                continue
            column = {(part[side], part[1 - side]): name for name, part in parts.items()}
            own = {rater: [column[system, rater] for system in systems] for rater in raters}
            rest = raw.frame.columns.difference(names, sort=False)
            note = f"{', '.join(names)} say whose text is rated ({', '.join(systems)}) and by whom"
            return raw.a_row_each(systems, TARGET, own, rest, note)
    return raw


def splits(names: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """Every way to cut all names in two such that front or back of one name, whichever, comes again: a criterion may
    hold a blank or a line of its own, so the cut is found by what the names share, whatever stands between."""
    cuts = {n: [(n[: cut.start()], n[cut.end() :]) for cut in PLACES.finditer(n)] for n in names}
    beside: tuple[dict[str, set[str]], ...] = ({}, {})
    for parted in (each for own in cuts.values() for each in own):
        for side in (0, 1):
            beside[side].setdefault(parted[side], set()).add(parted[1 - side])
    seen = []
    for front, back in (each for own in (cuts.values() if len(names) >= 4 else ()) for each in own):
        fronts, backs = beside[1][back], beside[0][front]
        if len(fronts) * len(backs) < len(names):
            continue
        parts = {n: part for n in names for part in reversed(cuts[n]) if part[0] in fronts and part[1] in backs}
        if len(parts) == len(names) and parts not in seen:
            seen.append(parts)
            yield {n: (BRACKETED.sub(r"\1", one), BRACKETED.sub(r"\1", other)) for n, (one, other) in parts.items()}

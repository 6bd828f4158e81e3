"""A change that a judge shows at every level of a factor, tested once on all of them.

Whether names are shown or hidden, the scale upright or turned, each level has replies of its own. What a judge gives
more on both is known better than on either: two levels with standard errors s each give their mean change
one of s / sqrt(2). Each level is tested as well, since a change may be one of a level alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recuse.gates.untested_changes import value_of
from recuse.schema.factors import FACTORS
from recuse.schema.results import BaselineEntry
from recuse.statistics.distributions import Student, welch_satterthwaite

__all__ = ["joined_levels", "without_levels"]

Tested = tuple[BaselineEntry, BaselineEntry, tuple[Student, str]]
"""An entry then and now, the distribution of the difference, and which test it is."""


def joined_levels(tested: Sequence[Tested]) -> list[Tested]:
    """The mean change over the levels of what else is the same verdict, for every two or more of which only the replies
    are new ("same texts"): their errors are independent, since no reply belongs to two levels."""
    groups: dict[tuple[object, ...], list[Tested]] = {}
    for one in tested:
        now, subject = one[1], one[1]["subject"]
        if now["kind"] == "verdict" and one[2][1] == "same texts" and without_levels(subject) != subject:
            groups.setdefault((now["what"], *sorted(without_levels(subject).items())), []).append(one)
    return [_joined(group) for group in groups.values() if len(group) > 1]


def without_levels(subject: Mapping[str, str]) -> dict[str, str]:
    """The subject at whatever level of the known factors."""
    return {name: value for name, value in subject.items() if name not in FACTORS}


def _joined(group: Sequence[Tested]) -> Tested:
    changes = [change for *_, (change, _) in group]
    se, df = welch_satterthwaite([change.se**2 / len(group) ** 2 for change in changes],
                                 [change.df for change in changes])  # fmt: skip
    was, now = _mean_of([before for before, *_ in group]), _mean_of([after for _, after, _ in group])
    change = value_of(now) - value_of(was)
    return was, now, (Student(change, se, df), "same texts, all levels together")


def _mean_of(entries: Sequence[BaselineEntry]) -> BaselineEntry:
    value = sum(value_of(entry) for entry in entries) / len(entries)
    return {**entries[0], "subject": without_levels(entries[0]["subject"]), "figures": {"value": value}}

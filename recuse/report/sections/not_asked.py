"""What was not asked, for want of which data, and what would unlock it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recuse.report.lexicon import plain_name
from recuse.report.results_model import ResultsModel
from recuse.schema.results import NotAskedRow

MOST_NEEDS = 5


@dataclass(frozen=True, slots=True)
class Wanting:
    """Questions that lack the same in the same places."""

    titles: list[str]
    places: list[str]  # "local: headlines, grading"


@dataclass(frozen=True, slots=True)
class Unlock:
    """What would let questions be asked: how many, one for each place, and which."""

    how: list[str]  # "add ratings by people (task.toml, [people])"
    missing: str  # "people, repeats"; "not measured: the source gives no pairs"
    count: int
    wanting: list[Wanting]


def not_asked(view: ResultsModel) -> list[Unlock]:
    """By what would unlock most."""
    remedies: dict[tuple[tuple[str, ...], str], list[NotAskedRow]] = {}
    for entry in _entries(view):
        missing = _in_words(entry.get("missing") or (), entry.get("unfixed") or ())
        remedies.setdefault((tuple(entry.get("unlock") or ()), missing), []).append(entry)
    unlocks = [Unlock([*how], missing, len(mine), _wanting(mine)) for (how, missing), mine in remedies.items()]
    return sorted(unlocks, key=lambda one: (-one.count, one.how, one.missing))


def _wanting(entries: Iterable[NotAskedRow]) -> list[Wanting]:
    """Questions in the order of their titles, those with the same places together."""
    places: dict[str, set[str]] = {}
    for entry in entries:
        title = str(entry.get("title") or plain_name(str(entry.get("question"))))
        places.setdefault(title, set()).add(_place(entry))
    together: dict[tuple[str, ...], list[str]] = {}
    for title in sorted(places):
        together.setdefault(tuple(sorted(places[title])), []).append(title)
    return [Wanting(titles, [*where]) for where, titles in together.items()]


def in_one_line(view: ResultsModel) -> str:
    """ "14 questions for want of people (3), repeats (2)"; "" where everything was asked.

    A question counts once per panel, task and protocol that it could not be asked of.
    """
    entries = _entries(view)
    if not entries:
        return ""
    wanted = Counter(need for entry in entries for need in entry.get("missing") or ())
    needs = sorted(wanted, key=lambda need: (-wanted[need], need))
    phrases = [f"{plain_name(need)} ({wanted[need]})" for need in needs[:MOST_NEEDS]]
    more = [f"{len(needs) - MOST_NEEDS} more"] if len(needs) > MOST_NEEDS else []
    return f"{len(entries)} question{'s' if len(entries) > 1 else ''} for want of {', '.join([*phrases, *more])}"


def _in_words(missing: Iterable[str], unfixed: Iterable[str]) -> str:
    """The needs, and in a sentence of its own what the source of the panel does not fix."""
    needs = ", ".join(plain_name(need) for need in missing if need not in unfixed)
    return "; ".join(filter(None, (needs, *(f"not measured: the source gives no {name}" for name in unfixed))))


def _entries(view: ResultsModel) -> list[NotAskedRow]:
    return list(view.results.get("not_asked") or ())


def _place(entry: NotAskedRow) -> str:
    return f"{entry.get('panel')}: {_words(entry.get(name) for name in ('task', 'protocol'))}"


def _words(names: Iterable[Any]) -> str:
    return ", ".join(plain_name(str(name)) for name in names if name)

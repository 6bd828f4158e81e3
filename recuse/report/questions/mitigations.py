"""What would a remedy have changed? Self-preference before and after every remedy on the same ratings, paired."""

from __future__ import annotations

from typing import Literal

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, count, fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import BeforeAfterDetail

ORDER = 17
REMEDIES = {
    "poll": "mean of all judges but the reference",
    "weighted_poll": "mean, a judge weighing less on texts it predicts well (perplexity)",
    "peer_rank": "mean, weighing as own texts win (Peer Rank)",
    "peer_rank_battles": "the same, wins counted in choices",
    "inverted_mix": "mean of both directions of the scale",
    "probability_weighted": "expected score over the options' probabilities",
    "segments": "parts scored one by one",
    "position_calibration": "both orders of every pair",
}


def draw(group: Group) -> dict[str, object]:
    changes = group.of("self_preference_change")
    return {
        "reading": _reading(changes),
        "tables": remedy_tables(group, changes, "own text above its peers (S − R), points"),
        "missing": untried(changes),
    }


def _reading(changes: list[Number]) -> str:
    known = [n for n in changes if is_number(n.value)]
    if not known:
        return "No remedy could be tried on these ratings."
    smaller = sum(bool(n.detail.get("nearer")) for n in known)
    return (
        f"{in_words(smaller, capital=True)} of {len(known)} trials bring a judge's score of its own text nearer to "
        "its peers' (S − R nearer to 0). A mean with the peers does so whatever the cause: the judge then has less "
        "to say, and is no fairer."
    )


def remedy_tables(group: Group, numbers: list[Number], what: str) -> list[Table]:
    """Judges by remedies: after, and below it the change with its interval. One table per factor level."""
    parts: dict[str, list[Number]] = {}
    for n in numbers:
        parts.setdefault(n.circumstances_but("mitigation"), []).append(n)
    tables = [
        _table(group, mine, f"{what}, {circumstances}" if circumstances else what)
        for circumstances, mine in parts.items()
    ]
    return [table for table in tables if table]


def _table(group: Group, numbers: list[Number], what: str) -> Table | None:
    remedies = [r for r in REMEDIES if any(n.subject.get("mitigation") == r and is_number(n.value) for n in numbers)]
    by_mitigation = {(n.who, n.subject.get("mitigation")): n for n in numbers}
    rows = []
    for who in dict.fromkeys(n.who for n in numbers):
        mine = [by_mitigation.get((who, remedy)) for remedy in remedies]
        first = next((n for n in mine if n and is_number(n.value)), None)
        rows.append([Cell(group.label(who)), _before(first), *(_after(n, first) for n in mine)])
    caption = f"{what}: before, and after each remedy (below: the change)"
    return Table(caption, ["judge", "before", *(REMEDIES[r] for r in remedies)], rows) if rows and remedies else None


def _before(first: Number | None) -> Cell:
    value = _at(first, "before")
    return Cell(fixed(value, signed=True)) if is_number(value) else Cell(MISSING)


def _after(n: Number | None, first: Number | None) -> Cell:
    """After the remedy, and the change; with its own start where it was tried on other texts than the first one."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, estimate_format.why_undefined(n) if n else "")
    change = f"{fixed(n.value, signed=True)} ({_interval(n)})" if is_number(n.low) else ""
    tried = n.estimate.get("n")
    if first and tried != first.estimate.get("n") and is_number(_at(n, "before")):
        start = f"from {fixed(_at(n, 'before'), signed=True)} on {count(tried)} {n.units}"
        change = f"{start}: {change}" if change else start
    return Cell(fixed(_at(n, "after"), signed=True), change)


def _at(n: Number | None, when: Literal["before", "after"]) -> float | None:
    of = n.detail_as(BeforeAfterDetail).get(when) if n else None
    return of.get("value") if of else None


def _interval(n: Number) -> str:
    return " to ".join(fixed(end, signed=True) for end in (n.low, n.high))


def untried(numbers: list[Number]) -> list[tuple[str, str]]:
    """Remedies that could not be tried on any judge, each with the reason."""
    phrases = []
    for remedy, name in REMEDIES.items():
        mine = [n for n in numbers if n.subject.get("mitigation") == remedy]
        if mine and not any(is_number(n.value) for n in mine):
            phrases.append((name, estimate_format.why_undefined(mine[0])))
    return phrases

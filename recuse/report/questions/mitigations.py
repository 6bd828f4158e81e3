"""What would a remedy have changed? Self-preference before and after every remedy on the same ratings, paired."""

from __future__ import annotations

from typing import Any

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table
from recuse.report.numbers import MISSING, count, fixed, in_words, is_number
from recuse.report.results_model import Group, Number

ORDER = 17
REMEDIES = {
    "poll": "mean of all judges",
    "weighted_poll": "mean, a judge weighing less on texts it predicts well (perplexity)",
    "peer_rank": "mean, weighing as own texts win (Peer Rank)",
    "inverted_mix": "mean of both directions of the scale",
    "probability_weighted": "expected grade over the digits' probabilities",
    "segments": "headline and lead graded one by one",
    "position_calibration": "both orders of every duel",
}


def draw(group: Group) -> dict[str, Any]:
    grades, duels = group.of("self_preference_change"), group.of("own_win_excess_change")
    tables = [
        _table(group, [n for n in grades if n.subject.get("direction", "") == direction], direction)
        for direction in group.levels("direction", grades) or [""]
    ]
    return {
        "reading": _reading(grades),
        "tables": [table for table in tables if table],
        "duels": _table(group, duels, ""),
        "missing": _missing([*grades, *duels]),
    }


def _reading(grades: list[Number]) -> str:
    known = [n for n in grades if is_number(n.value)]
    if not known:
        return "No remedy could be tried on these ratings."
    smaller = sum(_size(n, "after") < _size(n, "before") for n in known)
    return (
        f"{in_words(smaller, capital=True)} of {len(known)} trials bring a judge's S − R nearer to 0. A mean with the "
        "peers does so whatever the cause: the judge then has less to say, and is no fairer."
    )


def _size(n: Number, when: str) -> float:
    value = _at(n, when)
    return abs(value) if is_number(value) else 0.0


def _table(group: Group, numbers: list[Number], direction: str) -> Table | None:
    """Judges by remedies: after, and below it the change with its interval."""
    remedies = [r for r in REMEDIES if any(n.subject.get("mitigation") == r and is_number(n.value) for n in numbers)]
    found = {(n.who, n.subject.get("mitigation")): n for n in numbers}
    rows = []
    for who in dict.fromkeys(n.who for n in numbers):
        mine = [found.get((who, remedy)) for remedy in remedies]
        first = next((n for n in mine if n and is_number(n.value)), None)
        rows.append([Cell(group.label(who)), _before(first), *(_after(n, first) for n in mine)])
    in_duels = any(n.metric == "own_win_excess_change" for n in numbers)
    what = "Own wins beyond neutral peers" if in_duels else "S − R in points"
    told = f"{what}, {group.level('direction', direction)}" if direction else what
    caption = f"{told}: before, and after each remedy (below: the change)"
    return Table(caption, ["judge", "before", *(REMEDIES[r] for r in remedies)], rows) if rows and remedies else None


def _before(first: Number | None) -> Cell:
    value = _at(first, "before")
    return Cell(fixed(value, signed=True)) if is_number(value) else Cell(MISSING)


def _after(n: Number | None, first: Number | None) -> Cell:
    """After the remedy, and the change; with its own start where it was tried on other stories than the first one."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, estimate_format.why_undefined(n) if n else "")
    change = f"{fixed(n.value, signed=True)} ({_interval(n)})" if is_number(n.low) else ""
    stories = n.estimate.get("n")
    if first and stories != first.estimate.get("n") and is_number(_at(n, "before")):
        start = f"from {fixed(_at(n, 'before'), signed=True)} on {count(stories)} stories"
        change = f"{start}: {change}" if change else start
    return Cell(fixed(_at(n, "after"), signed=True), change)


def _at(n: Number | None, when: str) -> Any:
    return (n.detail.get(when) or {}).get("value") if n else None


def _interval(n: Number) -> str:
    return " to ".join(fixed(end, signed=True) for end in (n.low, n.high))


def _missing(numbers: list[Number]) -> list[tuple[str, str]]:
    """Remedies that could not be tried on any judge, each with the reason."""
    told = []
    for remedy, name in REMEDIES.items():
        mine = [n for n in numbers if n.subject.get("mitigation") == remedy]
        if mine and not any(is_number(n.value) for n in mine):
            told.append((name, estimate_format.why_undefined(mine[0])))
    return told

"""Drawings of the self-preference study: what would a remedy have changed, and does a judge prefer its own text when it
chooses between two?"""

from __future__ import annotations

from typing import Literal, TypedDict

from recuse.report.drawing import Drawing, Part, folded, words
from recuse.report.figures import Cell, Forest, Table, cross_table
from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.details import Span
from recuse.schema.number_text import MISSING, count, fixed, in_words, interval, is_number

# --------------------------------------------------------------------------- what its measures say besides a number


class BeforeAfterDetail(TypedDict, total=False):
    """The same number before and after something was done."""

    before: Span | None
    after: Span | None


# --------------------------------------------------------------------------- the drawings


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


def _nearer(group: Group) -> str:
    known = [n for n in group.of("self_preference_change") if is_number(n.value)]
    if not known:
        return "No remedy could be tried on these ratings."
    smaller = sum(bool(n.detail.get("nearer")) for n in known)
    return (
        f"{in_words(smaller, capital=True)} of {len(known)} trials bring a judge's score of its own text nearer to "
        "its peers' (S − R nearer to 0). A mean with the peers does so whatever the cause: the judge then has less "
        "to say, and is no fairer."
    )


def _remedies(metric: str, what: str) -> Part:
    """Judges by remedies: after, and below it the change with its interval. One table per factor level."""

    def part(group: Group) -> list[Table]:
        parts: dict[str, list[Number]] = {}
        for n in group.of(metric):
            parts.setdefault(n.circumstances_but("mitigation"), []).append(n)
        return [_table(group, of, f"{what}, {levels}" if levels else what) for levels, of in parts.items()]

    return part


def _table(group: Group, numbers: list[Number], what: str) -> Table:
    remedies = [r for r in REMEDIES if any(n.subject.get("mitigation") == r and is_number(n.value) for n in numbers)]
    by_mitigation = {(n.who, n.subject.get("mitigation")): n for n in numbers}
    rows = []
    for who in dict.fromkeys(n.who for n in numbers):
        after = [by_mitigation.get((who, remedy)) for remedy in remedies]
        first = next((n for n in after if n and is_number(n.value)), None)
        before = Cell(fixed(_at(first, "before"), signed=True))
        rows.append([Cell(group.label(who)), before, *(_after(n, first) for n in after)])
    caption = f"{what}: before, and after each remedy (below: the change)"
    return Table(caption, ["judge", "before", *(REMEDIES[r] for r in remedies)], rows if remedies else [])


def _after(n: Number | None, first: Number | None) -> Cell:
    """After the remedy, and the change; with its own start where it was tried on other texts than the first one."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, n.why_undefined if n else "")
    change = f"{fixed(n.value, signed=True)} ({interval(n.low, n.high, signed=True)})" if is_number(n.low) else ""
    tried = n.estimate.get("n")
    if first and tried != first.estimate.get("n") and is_number(_at(n, "before")):
        start = f"from {fixed(_at(n, 'before'), signed=True)} on {count(tried)} {n.units}"
        change = f"{start}: {change}" if change else start
    return Cell(fixed(_at(n, "after"), signed=True), change)


def _at(n: Number | None, when: Literal["before", "after"]) -> float | None:
    of = n.detail_as(BeforeAfterDetail).get(when) if n else None
    return of.get("value") if of else None


def _untried(metric: str) -> Part:
    """Remedies that could not be tried on any judge, each with the reason."""

    def text(group: Group) -> str:
        tried: dict[str, list[Number]] = {}
        for n in group.of(metric):
            tried.setdefault(n.subject.get("mitigation", ""), []).append(n)
        phrases = [
            f"{name} ({tried[remedy][0].why_undefined})"
            for remedy, name in REMEDIES.items()
            if remedy in tried and not any(is_number(n.value) for n in tried[remedy])
        ]
        return f"Not tried here: {'; '.join(phrases)}." if phrases else ""

    return words(text)


mitigations = Drawing(
    order=17,
    reading=_nearer,
    figures=(
        _remedies("self_preference_change", "own text above its peers (S − R), points"),
        _untried("self_preference_change"),
    ),
)


# --------------------------------------------------------------------------- choices between two texts

_SEEN = {"self": "itself", "peers": "its peers", "neutral_peers": "peers that wrote neither", "people": "people"}


def _own_wins(group: Group) -> str:
    known = [n for n in group.of("controlled_own_win_excess") if is_number(n.value)]
    if not known:
        return "No judge's choices about its own text could be compared with those of neutral peers."
    counts = [
        (sum(n.side_of_zero == side for n in known), verb) for side, verb in (("above", "for"), ("below", "against"))
    ]
    phrases = [f"{in_words(k)} {verb}" for k, verb in counts if k]
    if not phrases:
        return f"Of {in_words(len(known))} judges that are authors, none differs from neutral peers beyond chance."
    sides = " and ".join(phrases)
    return f"Of {in_words(len(known))} judges that are authors, {sides} its own text more than neutral peers."


def _wins(group: Group) -> Table:
    """How often its own text wins, by whose verdict."""
    numbers = group.of("own_win_rate")
    seen = {n.subject.get("seen_by") for n in numbers if is_number(n.value)}
    return cross_table(
        "Pairs its own text won", "own text wins, as seen by", numbers, rows=group.label,
        column=lambda n: n.subject.get("seen_by"), columns={view: name for view, name in _SEEN.items() if view in seen},
    )  # fmt: skip


own_wins = Drawing(
    order=13.5,
    reading=_own_wins,
    figures=(
        Forest("controlled_own_win_excess", "Own wins beyond neutral peers, its unsteadiness allowed for",
               "share of pairs", signed=True),
        _wins,
        folded(
            "Without allowing for unsteadiness",
            "",
            Forest("own_win_excess", "Own wins beyond those that neutral peers give the same texts", "share of pairs",
                   signed=True),
        ),
        _remedies("own_win_excess_change", "Own wins beyond neutral peers"),
        _untried("own_win_excess_change"),
    ),
)  # fmt: skip

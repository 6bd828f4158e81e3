"""The words for outcomes, judges and provenances: one word for each, the same in every output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutcomeName:
    word: str
    mark: str  # one character of the page, told apart by shape, not by colour
    sign: str  # in Markdown
    colour: str  # on a terminal: the parameters of its colour sequence
    meaning: str


OUTCOME_NAMES = {
    name.word: name
    for name in (
        OutcomeName("fail", "✕", "❌", "31;1", "outside the limit"),
        OutcomeName("not measured", "!", "❗", "35;1", "there is no number to decide on"),
        OutcomeName("undecided", "?", "❔", "36", "too little data: the interval reaches across the limit"),
        OutcomeName("accepted fault", "◇", "🔶", "33", "outside the limit, known and accepted until a date"),
        OutcomeName("accepted doubt", "◌", "⚪", "33", "too little data or no number, accepted until a date"),
        OutcomeName("pass", "✓", "✅", "32", "inside the limit"),
    )
}
"""Outcomes of a verdict as the report shows them, the worst first: an accepted one is a known fault, or too little
data."""

WORD_MEANINGS = {
    "not cleared": "a gate that decides about this use fails",
    "undecided": "none fails, and one could not decide or was not asked",
    "cleared": "every gate that decides about this use passes",
}
"""The words on a judge for a use, the worst first (`decision` in results.json)."""

PROVENANCE_MEANINGS = {
    "recorded": "A real model answered every call over HTTP; the replies are its own words.",
    "reconstructed": "No model was asked: replies were drawn so that they carry published statistics. "
    "They test the arithmetic, and say nothing new about the model whose name they bear.",
    "scripted": "No model was asked: a script with a planted behaviour answered, to show that the gates notice it.",
    "imported": "The ratings were read from a file; how they came about is not known here.",
}


def worst(outcomes: Iterable[str]) -> str:
    """The worst of them; "" of none."""
    return min(outcomes, key=list(OUTCOME_NAMES).index, default="")


def tally(outcomes: Iterable[str]) -> str:
    """ "5 pass, 1 accepted fault", best first."""
    counts = Counter(outcomes)
    return ", ".join(counted(o, counts[o]) for o in reversed(OUTCOME_NAMES) if counts[o])


def counted(outcome: str, n: int) -> str:
    """ "3 pass", "1 accepted fault", "2 accepted faults"."""
    return f"{n} {outcome}{'s' if n != 1 and outcome.startswith('accepted ') else ''}"

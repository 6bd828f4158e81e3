"""The words for outcomes, judges and provenances: of each its identifier, which stands in code, TOML and JSON, and the
word that people read, `printed(identifier)`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

PASS: Final = "pass"
FAIL: Final = "fail"
UNDECIDED: Final = "undecided"
NOT_MEASURED: Final = "not measured"
ACCEPTED: Final = "accepted"
ACCEPTED_FAULT: Final = "accepted failure"
ACCEPTED_DOUBT: Final = "accepted doubt"
CLEARED: Final = "cleared"
NOT_CLEARED: Final = "not cleared"
RIGHT_ANSWERS: Final = "the right answers"
"""What a judge is held against where they are known; else it is people."""
IN_PLACE_OF_PEOPLE = {
    "the expert does": f"{RIGHT_ANSWERS} do", "the expert": RIGHT_ANSWERS,
    "less than they agree with each other": "less than your people do",
}  # fmt: skip
"""What the descriptions of measures call whom a judge is held against, and what it is called where it is no person."""
FILE: Final = "file"
"""What stands in the place of a protocol for ratings from a file: they can be read anew, and not be recorded."""
HIDDEN: Final = "not shown: recuse_texts = false"
"""What stands in the place of a text where texts stay out of reports."""
Outcome = Literal["pass", "fail", "undecided", "not measured", "accepted"]
OUTCOMES: tuple[Outcome, ...] = (PASS, FAIL, UNDECIDED, NOT_MEASURED, ACCEPTED)
GREEN = (PASS, ACCEPTED)
"""Outcomes that leave a run green by themselves."""
Acceptable = Literal["fail", "undecided", "not measured"]
"""Outcomes that an accepted failure may name."""
JudgeWord = Literal["cleared", "not cleared", "undecided"]
"""Of a judge, for a use."""
PRINTED = {ACCEPTED_FAULT: "known failure", ACCEPTED_DOUBT: "not enough data"}
"""Identifier -> what people read everywhere, where that is another word."""
WORD_MEANINGS = {
    NOT_CLEARED: "a gate that decides about this use fails",
    UNDECIDED: "none fails, and one could not decide or was not asked",
    CLEARED: "every gate that decides about this use passes",
}
"""The words on a judge for a use, the worst first (`decision` in results.json)."""
PROVENANCE_MEANINGS = {
    "recorded": "A real model answered every call over HTTP; the replies are its own words.",
    "reconstructed": "No model was asked: replies were drawn so that they carry published statistics. "
    "They test the arithmetic, and say nothing new about the model whose name they bear.",
    "scripted": "No model was asked: a script with a planted behaviour answered, to show that the gates notice it.",
    "imported": "The ratings were read from a file; how they came about is not known here.",
}


class OutcomeSigns(NamedTuple):
    """How an outcome is shown beside its word."""

    mark: str  # one character of the page, told from others by shape, not by colour
    sign: str  # in Markdown
    colour: str  # on a terminal: the parameters of its colour sequence
    meaning: str


SHOWN = {
    FAIL: OutcomeSigns("✕", "❌", "31;1", "outside the limit"),
    NOT_MEASURED: OutcomeSigns("!", "❗", "35;1", "there is no number to decide on"),
    UNDECIDED: OutcomeSigns("?", "❔", "36", "too little data: the interval reaches across the limit"),
    ACCEPTED_FAULT: OutcomeSigns("◇", "🔶", "33", "outside the limit, known and accepted until a date"),
    ACCEPTED_DOUBT: OutcomeSigns("◌", "⚪", "33", "too little data or no number, accepted until a date"),
    PASS: OutcomeSigns("✓", "✅", "32", "inside the limit"),
}
"""Outcomes of a verdict as the report shows them, the worst first; accepted: a known fault, or too little data."""


def in_place_of_people(words: str, detail: Mapping[str, object]) -> str:
    """The words of a measure, a gate or a clause, which name right answers where the estimate with this detail is held
    against these.

    >>> in_place_of_people("agreement with people, less people's own", {"held_against": RIGHT_ANSWERS})
    "agreement with the right answers, less people's own"
    """
    if detail.get("held_against") != RIGHT_ANSWERS:
        return words
    words = re.sub(r"\b(your )?people\b(?!')", RIGHT_ANSWERS, words)
    for person, right in IN_PLACE_OF_PEOPLE.items():
        words = words.replace(person, right)
    return words


def record_command(panel: str = "", judge: str = "", how: str = "missing") -> str:
    """What records the answers that are missing: of a panel, whether or not `recuse_panels` names it; of a judge."""
    whom = f"--panel fixtures/panels/{panel}.toml " if panel else ""
    return f"pytest evals/ {whom}{f'--judges {judge} ' if judge else ''}--record={how}"


def printed(identifier: str) -> str:
    """The word that people read: the identifier itself, but for those in `PRINTED`."""
    return PRINTED.get(identifier, identifier)


def worst(outcomes: Iterable[str]) -> str:
    """The worst of them; "" of none."""
    return min(outcomes, key=list(SHOWN).index, default="")


def tally(outcomes: Iterable[str]) -> str:
    """ "5 pass, 1 known failure", best first."""
    counts = Counter(outcomes)
    return ", ".join(counted(o, counts[o]) for o in reversed(SHOWN) if counts[o])


def counted(outcome: str, n: int) -> str:
    """ "3 pass", "1 known failure", "2 known failures"."""
    return f"{n} {printed(outcome)}{'s' if n != 1 and outcome == ACCEPTED_FAULT else ''}"

"""From answers to one word per judge, cleared, not cleared or undecided, and the reason in plain English.

What clears a judge is agreement with people: as good as one more person, better than one constant answer, and replies
that can be used. Any other failed gate keeps it from being cleared; one that is merely undecided is listed.
Leniency compares a judge with its peers, which says nothing where people are the yardstick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from recuse.check.answers import Answers
from recuse.check.labels import Labels, labels_of

__all__ = ["EXIT", "Conclusion", "JudgeConclusion", "conclude"]

Word = Literal["cleared", "not cleared", "undecided"]
EXIT: Mapping[str, int] = {"cleared": 0, "not cleared": 1, "undecided": 2}
UNREADABLE = 3
DECIDING = ("human_ceiling", "gain_over_constant", "unanswered", "parse_rate")
NOT_COUNTED = ("leniency",)
FEWEST = 20
"""No judge is cleared with fewer labels by people in a class: a handful of fails says nothing of the next one."""


@dataclass(frozen=True, slots=True)
class JudgeConclusion:
    judge: str
    word: Word
    reason: str  # a clause that follows "judge is not cleared: "
    because: tuple[str, ...] = ()  # gates


@dataclass(frozen=True, slots=True)
class Conclusion:
    """`word` is the worst of all judges'."""

    judges: tuple[JudgeConclusion, ...]

    @property
    def word(self) -> Word:
        words = {j.word for j in self.judges} or {"undecided"}
        return next(w for w in ("not cleared", "undecided", "cleared") if w in words)

    @property
    def exit_code(self) -> int:
        return EXIT[self.word]

    def sentences(self) -> list[str]:
        """One sentence per judge, the worst first."""
        order = sorted(self.judges, key=lambda j: -("cleared", "undecided", "not cleared").index(j.word))
        verbs = {"cleared": "is cleared", "not cleared": "is not cleared", "undecided": "stays undecided"}
        return [f"{j.judge} {verbs[j.word]}: {j.reason}." for j in order]


def conclude(answers: Answers) -> Conclusion:
    """The word on every judge of the file."""
    labels = labels_of(answers.panel.read)
    return Conclusion(tuple(_conclude(answers, judge, labels) for judge in answers.panel.judges))


def _conclude(answers: Answers, judge: str, labels: Labels) -> JudgeConclusion:
    verdicts = [v for v in answers.verdicts_on(judge) if v["gate"] not in NOT_COUNTED]
    failed = [v for v in verdicts if _says(v) == "fail"]
    agreement = [v for v in verdicts if v["gate"] in DECIDING]
    reasons = _bars(answers, judge, labels)
    if failed:
        failed.sort(key=lambda v: DECIDING.index(v["gate"]) if v["gate"] in DECIDING else len(DECIDING))
        clauses = dict.fromkeys(_clause(answers, v) for v in failed)
        return JudgeConclusion(judge, "not cleared", "; ".join([*clauses][:2]), tuple(v["gate"] for v in failed))
    if reasons:
        return JudgeConclusion(judge, reasons[0][0], reasons[0][1])
    gates = {v["gate"] for v in agreement}
    if "human_ceiling" not in gates and "gain_over_constant" not in gates:
        return JudgeConclusion(judge, "undecided", "nothing in the file could be compared with people")
    open_ones = [v for v in agreement if _says(v) != "pass"]
    if open_ones:
        return JudgeConclusion(judge, "undecided", _open(open_ones[0]), tuple(v["gate"] for v in open_ones))
    if "human_ceiling" not in gates:
        return JudgeConclusion(
            judge, "undecided", "it beats one constant answer, but only one person rated, so nobody knows how well "
            "people agree; a second person's ratings of the same items would tell",
        )  # fmt: skip
    return JudgeConclusion(judge, "cleared", "it agrees with your people about as well as they agree with each other")


def _says(verdict: Mapping[str, Any]) -> str:
    accepted = verdict.get("accepted_fault") or {}
    return str(accepted.get("otherwise") or verdict["outcome"])


def _bars(answers: Answers, judge: str, labels: Labels) -> list[tuple[Word, str]]:
    """What no verdict can make up for: too few labels, constant raters, no better than the commonest label."""
    found: list[tuple[Word, str]] = []
    if not labels.people:
        return [("undecided", "nobody's ratings to compare it with; add a column per person, or say --people A,B")]
    if labels.constant(judge):
        found.append(("not cleared", f"it always says {labels.constant(judge)}, so it tells nothing apart"))
    if labels.people_constant:
        found.append(("undecided", f"people always say {labels.people_constant}, so agreement may be chance"))
    gain = answers.measured("gain_over_constant", judge)
    majority = labels.agrees_no_more_than_majority(judge)
    if majority and not (gain and gain.get("low") is not None and gain["low"] > 0):
        found.append(("not cleared", majority))
    if few := labels.too_few(FEWEST):
        found.append(("undecided", few))
    return found


def _clause(answers: Answers, verdict: Mapping[str, Any]) -> str:
    if verdict["gate"] == "human_ceiling":
        return "it agrees with your people less than they agree with each other"
    if verdict["gate"] == "gain_over_constant":
        return "giving everything your people's commonest answer does as well"
    about = answers.results["measures"].get(verdict["estimate"]["metric"], {})
    above = verdict["estimate"]["value"] is not None and verdict["estimate"]["value"] > 0
    words = (about.get("above") if above else about.get("below")) or about.get("below") or about.get("above")
    clause = words.split("|")[0] if words else f"{about.get('title', verdict['gate'])} is outside its limit"
    return f"it {clause}" if words else clause


def _open(verdict: Mapping[str, Any]) -> str:
    remedy = verdict.get("remedy") or {}
    needed, observed = remedy.get("needed"), remedy.get("observed")
    what = "agreement with people less people's own" if verdict["gate"] == "human_ceiling" else _words(verdict["gate"])
    if _says(verdict) == "not measured" or verdict["estimate"]["value"] is None:
        return f"{what} could not be measured ({verdict['estimate']['note'] or 'no reason given'})"
    more = f"; about {_rounded(needed - observed)} {remedy.get('units') or 'items'} more would decide" \
        if needed and observed and needed > observed else ""  # fmt: skip
    return f"{what} lies too close to its limit to tell{more}"


def _words(gate: str) -> str:
    return gate.replace("_", " ")


def _rounded(number: float) -> int:
    """Two digits are as many as such a guess has."""
    from math import floor, log10

    digits = max(floor(log10(max(number, 1))) - 1, 0)
    return int(round(number / 10**digits) * 10**digits)

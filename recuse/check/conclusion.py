"""From answers to one word per judge, cleared, not cleared or undecided, and the reason in plain English.

What clears a judge is agreement with people: as good as one more person, better than one constant answer, and replies
that can be used. Any other failed gate keeps it from being cleared; one that is merely undecided is listed. The reason
told first is the one that explains the others: one answer for everything, replies that are missing, a changed judge, a
favourite place or system; then how far its agreement falls short. A sign of such a cause, measured beyond its limit and
surely there, but not surely beyond the limit, keeps a judge undecided and is told in the same place.
Leniency compares a judge with its peers, which says nothing where people are the yardstick.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from recuse.check.answers import Answers
from recuse.check.labels import Labels, labels_of
from recuse.ratings.factors import level_words

__all__ = ["EXIT", "Conclusion", "JudgeConclusion", "conclude", "rounded"]

Word = Literal["cleared", "not cleared", "undecided"]
EXIT: Mapping[str, int] = {"cleared": 0, "not cleared": 1, "undecided": 2}
DECIDING = ("human_ceiling", "gain_over_constant", "unanswered", "parse_rate")
NOT_COUNTED = ("leniency",)
MISSING = ("unanswered", "parse_rate")
CAUSES = ("drift", "slot_preference", "letter_preference", "slice_favour")
MOST_REASONS = 3
COEFFICIENTS = ("cohen_kappa", "concordance", "krippendorff_alpha")
"""Agreement beyond chance; the first that fits the scale is read."""
FEWEST = 20
"""No judge is cleared with fewer labels by people in a class: a handful of fails says nothing of the next one."""


@dataclass(frozen=True, slots=True)
class JudgeConclusion:
    """The word on one judge, the reason for it, and the gates that gave it."""

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
        """The worst word on any judge; undecided where there is none."""
        words = {j.word for j in self.judges} or {"undecided"}
        return next(w for w in ("not cleared", "undecided", "cleared") if w in words)

    @property
    def exit_code(self) -> int:
        """Of `recuse check`, by the word."""
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


def _conclude(answers: Answers, judge: str, labels: Mapping[str, Labels]) -> JudgeConclusion:
    verdicts = [v for v in answers.verdicts_on(judge) if v["gate"] not in NOT_COUNTED and v["blocks"]]
    failed = [v for v in verdicts if _says(v) == "fail"]
    signs = [v for v in verdicts if _is_sign(v)]
    if failed:
        failed = sorted([*failed, *signs], key=_telling)
    agreement = [v for v in verdicts if v["gate"] in DECIDING]
    bars = _bars(answers, judge, labels)
    if failed or any(word == "not cleared" for word, _ in bars):
        constant = [_on(criterion) + always for criterion, own in labels.items() if (always := own.always(judge))]
        reasons = [reason for word, reason in bars if word == "not cleared" and reason not in constant]
        phrases = [*constant, *(_clause(answers, v, judge) for v in failed), *reasons]
        clauses = dict.fromkeys(phrases)
        return JudgeConclusion(judge, "not cleared", "; ".join([*clauses][:MOST_REASONS]), _gates(failed))
    phrases = [reason for _, reason in bars[:1]]
    phrases += [f"{_clause(answers, sign, judge)}, not yet surely by more than you allow" for sign in signs]
    open_ones = [v for v in agreement if _says(v) != "pass"]
    if not bars and (unsettled := _unsettled(answers, agreement, open_ones)):
        phrases.append(unsettled)
    if phrases:
        return JudgeConclusion(judge, "undecided", "; ".join(phrases[:MOST_REASONS]), _gates([*signs, *open_ones]))
    return JudgeConclusion(judge, "cleared", "it agrees with your people about as well as they agree with each other")


def _unsettled(answers: Answers, agreement: Sequence[Mapping[str, Any]], open_ones: Sequence[Mapping[str, Any]]) -> str:
    """What of the agreement with people keeps a judge from being cleared, none of it failed; "" where nothing does."""
    gates = {v["gate"] for v in agreement}
    if "human_ceiling" not in gates and "gain_over_constant" not in gates:
        return "nothing in the file could be compared with people"
    if open_ones:
        return _open(open_ones[0], answers.levels_of(open_ones[0]["subject"]))
    if "human_ceiling" not in gates:
        return (
            "it beats one constant answer, but only one person rated, so nobody knows how well people agree; a second "
            "person's ratings of the same items would tell"
        )
    return ""


def _is_sign(verdict: Mapping[str, Any]) -> bool:
    """A fault that alone is not sure enough to fail a judge, but is there: measured beyond its limit, and its interval
    excludes 0."""
    estimate, limit = verdict["estimate"], verdict["limit"].get("within")
    if verdict["gate"] not in CAUSES or _says(verdict) != "undecided" or not limit or estimate["low"] is None:
        return False
    return not limit[0] <= estimate["value"] <= limit[1] and (estimate["low"] > 0 or estimate["high"] < 0)


def _telling(verdict: Mapping[str, Any]) -> int:
    """Causes before what follows from them: a judge that refuses, drifts or has a favourite also agrees less."""
    for place, gates in enumerate((MISSING, CAUSES, DECIDING)):
        if verdict["gate"] in gates:
            return place
    return len((MISSING, CAUSES, DECIDING))


def _gates(verdicts: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(v["gate"] for v in verdicts))


def _says(verdict: Mapping[str, Any]) -> str:
    accepted = verdict.get("accepted_fault") or {}
    return str(accepted.get("otherwise") or verdict["outcome"])


def _bars(answers: Answers, judge: str, labels: Mapping[str, Labels]) -> list[tuple[Word, str]]:
    """What no verdict can make up for, on any criterion: too few labels, constant raters, no better than the commonest
    label."""
    if not any(own.people for own in labels.values()):
        return [("undecided", "nobody's ratings to compare it with; add a column per person, or say --people A,B")]
    return [
        (word, _on(name) + reason)
        for name, own in labels.items()
        for word, reason in _bars_of(answers.about(name), judge, own)
    ]


def _on(criterion: str, at: Mapping[str, str] | None = None) -> str:
    """What a clause begins with where a file has several criteria, or a judge was asked in several ways."""
    levels = "".join(f"with {level_words(*one)}, " for one in (at or {}).items())
    return (f"on {criterion}, " if criterion else "") + levels


def _bars_of(answers: Answers, judge: str, labels: Labels) -> list[tuple[Word, str]]:
    bars: list[tuple[Word, str]] = []
    if always := labels.always(judge):
        bars.append(("not cleared", always))
    if labels.people_constant:
        bars.append(("undecided", f"people always say {labels.people_constant}, so agreement may be chance"))
    gains = [gain.get("low") for gain in answers.every("gain_over_constant", judge)]  # in every way it was asked
    majority = labels.agrees_no_more_than_majority(judge)
    if majority and not (gains and all(low is not None and low > 0 for low in gains)):
        bars.append(("not cleared", majority))
    if few := labels.too_few(FEWEST):
        bars.append(("undecided", few))
    return bars


def _clause(answers: Answers, verdict: Mapping[str, Any], judge: str) -> str:
    """What the judge does, as a clause that follows "judge is not cleared: "."""
    criterion, at = verdict["subject"].get("criterion", ""), answers.levels_of(verdict["subject"])
    return _on(criterion, at) + _does(answers.about(criterion, at), verdict, judge)


def _does(answers: Answers, verdict: Mapping[str, Any], judge: str) -> str:
    gate, estimate = verdict["gate"], verdict["estimate"]
    if gate == "human_ceiling":
        return _beyond_chance(answers, judge)
    if gate == "gain_over_constant":
        return "giving everything your people's commonest answer does as well"
    if gate == "drift":
        first, last = estimate["detail"]["versions"]
        return f"it is not the judge it was: {estimate['value']:.0%} of its answers changed from {first} to {last}"
    if gate in ("slice_favour", "worst_slice"):
        return _of_slice(estimate, gate == "slice_favour")
    about = answers.results["measures"].get(estimate["metric"], {})
    words = _phrase(about, estimate, verdict["limit"])
    title, value = about.get("title", gate), estimate["value"]
    phrase = f" ({title} {value:.2f}, {_limit(verdict['limit'])})" if value is not None else ""
    return f"it {words}{phrase}" if words else f"{title} is outside its limit{phrase}"


def _limit(limit: Mapping[str, Any]) -> str:
    if "within" in limit:
        return "limit {:g} to {:g}".format(*limit["within"])
    return f"at least {limit['at_least']:g}" if "at_least" in limit else f"at most {limit['at_most']:g}"


def _phrase(about: Mapping[str, Any], estimate: Mapping[str, Any], limit: Mapping[str, Any]) -> str:
    """What a judge does whose value lies on this side of the limit."""
    above = estimate["value"] is not None and "at_least" not in limit
    if above and "within" in limit:
        above = estimate["value"] >= sum(limit["within"]) / 2
    words = (about.get("above") if above else about.get("below")) or about.get("below") or about.get("above") or ""
    return str(words).partition("|")[0]


def _of_slice(estimate: Mapping[str, Any], favour: bool) -> str:
    column, level = estimate["detail"]["slice"]["column"], estimate["detail"]["slice"]["level"]
    where = f"{'system' if column == 'target' else column} {level}"
    if not favour:
        return f"on {where} it agrees with your people less than elsewhere ({estimate['value']:+.2f})"
    does = "favours" if estimate["value"] > 0 else "marks down"
    return f"it {does} {where} against your people ({estimate['value']:+.0%} of the scale)"


def _beyond_chance(answers: Answers, judge: str) -> str:
    """How far agreement falls short: opposite, chance, or less than people's own."""
    agreement = next(filter(None, (answers.measured(name, judge) for name in COEFFICIENTS)), None)
    if agreement and agreement["high"] is not None and agreement["high"] < 0:
        return "it says the opposite of what your people say"
    if agreement and agreement["low"] is not None and agreement["low"] <= 0:
        return "it agrees with your people no more than chance would"
    return "it agrees with your people less than they agree with each other"


def _open(verdict: Mapping[str, Any], at: Mapping[str, str]) -> str:
    remedy = verdict.get("remedy") or {}
    needed, observed = remedy.get("needed"), remedy.get("observed")
    what = "agreement with people less people's own" if verdict["gate"] == "human_ceiling" else _words(verdict["gate"])
    what = _on(verdict["subject"].get("criterion", ""), at) + what
    if _says(verdict) == "not measured" or verdict["estimate"]["value"] is None:
        return f"{what} could not be measured ({verdict['estimate']['note'] or 'no reason given'})"
    more = f"; about {rounded(needed - observed)} {remedy.get('units') or 'items'} more would decide" \
        if needed and observed and needed > observed else ""  # fmt: skip
    return f"{what} lies too close to its limit to tell{more}"


def _words(gate: str) -> str:
    return gate.replace("_", " ")


def rounded(number: float) -> int:
    """Two digits are as many as such a guess has."""
    from math import floor, log10

    digits = max(floor(log10(max(number, 1))) - 1, 0)
    return int(round(number / 10**digits) * 10**digits)

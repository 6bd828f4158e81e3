"""One verdict on a judge upgrade, and the row that decided it.

Every component has a limit of its own, fixed in the gates file before the candidate was seen, and all are one family
(`recuse.gates.gate_set`): two-sided limits are passed by two one-sided tests (Schuirmann 1987), one-sided limits by a
test of non-inferiority. The candidate is

- **equivalent** if every component passes.
- **better** if it agrees with people, or puts right responses first, more than the judge in use (the interval lies
  above 0, Holm's correction over all that could be better) and every other component passes; what the agreement is made
  of (`PARTS_OF_AGREEMENT`) has to lie inside its limit.
- **worse** if some component fails that people, true answers or the replies themselves decide.
- **different** if only components fail that hold it against the judge in use (`AGAINST_INCUMBENT`): it decides
  differently, and nobody knows who is right.
- **undecided** otherwise. What could not be measured is undecided, never passed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from recuse.gates.explanation import Verdicts
from recuse.gates.gate_set import Gates
from recuse.gates.limits import Limit, has_interval
from recuse.schema import Estimates, Outcome, Verdict
from recuse.schema.estimate_types import AGAINST_INCUMBENT
from recuse.schema.number_text import html_table, span
from recuse.schema.pandas_when_used import pd
from recuse.schema.vocabulary import NOT_MEASURED, UNDECIDED, in_place_of_people, printed
from recuse.security.sanitize import visible
from recuse.statistics.distributions import Side
from recuse.statistics.multiplicity import holm

Word = Literal["better", "equivalent", "worse", "different", "undecided", "not comparable"]
TOGETHER = "upgrade"
EXIT: Mapping[Word, int] = {"better": 0, "equivalent": 0, "worse": 1, "different": 2, UNDECIDED: 2, "not comparable": 3}
OUTCOME: Mapping[Word, Outcome] = {"better": "pass", "equivalent": "pass", "worse": "fail", "different": UNDECIDED,
                                   UNDECIDED: UNDECIDED, "not comparable": NOT_MEASURED}  # fmt: skip
AGREEMENT = "upgrade_agreement"
SUPERIOR = {AGREEMENT: "agrees with your people better",
            "upgrade_right_answers": "puts the right response first more often"}  # fmt: skip
"""Components in which more is better, so that a candidate can win by them, and what it then does."""
PARTS_OF_AGREEMENT = ("upgrade_slice_agreement", "upgrade_human_offset", "upgrade_human_order",
                      "upgrade_human_decisions", "upgrade_noise", "upgrade_slice_offset")  # fmt: skip
"""Components that a better agreement with people speaks for as well: too little data on these keeps nobody from being
better whose values lie inside their limits."""
BY_PEOPLE = (AGREEMENT, *(name for name in PARTS_OF_AGREEMENT if name != "upgrade_noise"))
LEVEL = ("upgrade_human_offset", "upgrade_shift")
ORDER = ("upgrade_human_order", "upgrade_order", "upgrade_order_once")
LOSSES = "upgrade_losses"  # measured on every text of both
NOT_NEEDED = ("upgrade_cost", "upgrade_latency")  # not measured where nothing was recorded, and then decide nothing


@dataclass(frozen=True, eq=False, repr=False)
class UpgradeVerdict:
    """`rows`: one verdict per component, level and criterion, the deciding one first; `unmeasured`: components without
    data that decide nothing. `clause`: what the candidate does better, or more than is allowed. `more`: how many
    `units` more would decide with 80 % power. `missing`: texts without an answer of the candidate that keep it from
    passing. `reasons`: why nothing can be compared, and what is good to know. `steps`: accepting it last."""

    word: Word
    incumbent: str
    candidate: str
    sentence: str = ""
    rows: Verdicts = field(default_factory=Verdicts)
    reasons: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    more: int | None = None
    units: str = "items"
    items: int = 0
    change: tuple[str, ...] = ("model",)
    clause: str = ""
    missing: int = 0
    steps: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Of `recuse compare`, by the word."""
        return EXIT[self.word]

    @property
    def outcome(self) -> Outcome:
        """As of a gate: what the verdict means for the run."""
        return OUTCOME[self.word]

    @property
    def until(self) -> str:
        """Until when all that fails is accepted, or, where nothing fails, all that is open; "" where some is not."""
        against = [row for row in self.rows if _says(row) == "fail"] or [r for r in self.rows if _says(r) != "pass"]
        if self.outcome == "pass" or self.missing or not all(row or _over(row) for row in against):
            return ""
        return min((row.accepted_fault["until"] for row in against if row.accepted_fault), default="")

    @property
    def expired(self) -> str:
        """`until`, where that day has passed."""
        return self.until if self.until in map(_over, self.rows) else ""

    @property
    def accepted(self) -> str:
        """`until`, before that day has passed: the word stays what the numbers say, and a run is green."""
        return "" if self.expired else self.until

    @property
    def still_open(self) -> str:
        """The first of what is neither settled nor accepted, in words."""
        return next((f"{_title(row)} is {printed(row.outcome)}" for row in self.rows if not row), "")

    @property
    def sentences(self) -> list[str]:
        """What `recuse compare` prints first: the verdict, what else is good to know, the next steps."""
        known = 0 if len(self.rows) else 1  # of what cannot be compared the sentence gives the first reason
        also = [f"  also: {reason}" for reason in self.reasons[known:]]
        return [self.sentence, *also, *(f"  next: {step}" for step in self.steps)]

    def __repr__(self) -> str:
        return visible("\n".join(self.sentences))

    def _repr_html_(self) -> str:
        each = ((_title(v), printed(v.outcome), v.estimate, v.rule["limit_text"]) for v in self.rows)
        rows = [(title, word, e.value, span(e.low, e.high), limit) for title, word, e, limit in each]
        return html_table(self.sentence, ("component", "outcome", "value", "interval", "limit"), rows)

    def to_frame(self) -> pd.DataFrame:
        """One row per component, the deciding one first: gate, about, outcome, value, low, high, limit."""
        each = ((v, v.estimate) for v in self.rows)
        rows = [(v.gate, _title(v), v.outcome, e.value, e.low, e.high, v.rule["limit_text"]) for v, e in each]
        return pd.DataFrame(rows, columns=["gate", "about", "outcome", "value", "low", "high", "limit"])

    def record(self) -> dict[str, Any]:
        """As builtins, for results.json; `rows` name its verdicts, the deciding one first."""
        return {
            "verdict": self.word, "outcome": self.outcome, "incumbent": self.incumbent, "candidate": self.candidate,
            "change": list(self.change), "sentence": self.sentence, "reasons": list(self.reasons),
            "rows": [{"gate": row.gate, "subject": dict(row.subject)} for row in self.rows],
            "clause": self.clause, "items": self.items, "more": self.more, "units": self.units,
            "missing": self.missing, "steps": list(self.steps),
            "not_measured": list(self.unmeasured),
            **({"accepted": self.accepted, "open": self.still_open} if self.accepted else {}),
            **({"expired": self.expired} if self.expired else {}),
        }  # fmt: skip


def decide_upgrade(
    gates: Gates, changes: Sequence[tuple[str, Estimates]], subject: Mapping[str, str], *, names: tuple[str, str],
    phrase: Callable[[Verdict], str] = lambda verdict: "", change: tuple[str, ...] = ("model",), share: float = 1.0,
) -> UpgradeVerdict:  # fmt: skip
    """The verdict on a candidate from its components, (gate, estimates). `names` of incumbent and candidate; `phrase`
    says in words what a judge does that misses the limit of a verdict."""
    old, new = names
    known = {component for component, estimates in changes if any(one.defined for one in estimates.values())}
    unmeasured = tuple(component for component, _ in changes if component in NOT_NEEDED and component not in known)
    measured = [(component, estimates) for component, estimates in changes if component not in unmeasured]
    rows = gates.decide_jointly(measured, subject, together=TOGETHER, share=share) if measured else Verdicts()
    losses = next((row.estimate for row in rows if row.gate == LOSSES), None)
    verdict = UpgradeVerdict(
        "equivalent", *names, "", rows, unmeasured=unmeasured,
        items=losses.detail.get("answered", losses.n) if losses else 0, change=change,
    )  # fmt: skip
    if failed := sorted(_causes_first([row for row in rows if _says(row) == "fail"]), key=bool):  # accepted ones last
        ordered = _ordered(rows, failed)
        clause = phrase(ordered[0]) or f"changes {_title(ordered[0])}"
        if slice_ := ordered[0].estimate.detail.get("slice"):
            clause += f" ({slice_['column']} {slice_['level']})"
        worse = f"it {clause}, by more than you allow"
        word: Word = "worse"
        sentence = f"Do not replace {old} by {new}: {worse}."
        if all(row.gate in AGAINST_INCUMBENT for row in failed):
            word, sentence = "different", f"{new} decides differently from {old}: {worse}; nobody knows who is right."
        return _concluded(replace(verdict, word=word, clause=clause, rows=ordered, sentence=sentence))
    could = [(row, by) for row in rows if row.gate in SUPERIOR and (by := row.estimate.distribution) is not None]
    adjusted = holm([min(1.0, 2 * by.p_value(0.0, "above")) for _, by in could])  # 5 % two-sided over all it could win
    won = [row for (row, _), p in zip(could, adjusted, strict=True) if p <= 0.05]
    opened = [row for row in rows if _says(row) != "pass"]
    spoken_for = won and won[0].gate == AGREEMENT and all(
        row.gate in PARTS_OF_AGREEMENT and _says(row) == UNDECIDED and Limit.of(row.limit).holds(row.estimate.value)
        for row in opened
    )  # fmt: skip
    if opened and not spoken_for:
        return _undecided(verdict, sorted(opened, key=lambda row: (bool(row), -_needed(row))))
    if not len(rows):
        sentence = f"Whether {new} may replace {old} cannot be told: nothing could be measured."
        return replace(verdict, word=UNDECIDED, sentence=sentence)
    if won:
        clause = in_place_of_people(SUPERIOR[won[0].gate], won[0].estimate.detail)
        sentence = f"{new} may replace {old}: it {clause}, and nothing is worse."
        return replace(verdict, word="better", sentence=sentence, clause=clause, rows=_ordered(rows, won))
    count = "one comparison" if len(rows) == 1 else f"{len(rows)} comparisons"
    return replace(verdict, sentence=f"{new} may replace {old}: no difference larger than you allow, in {count}.")


def not_comparable(names: tuple[str, str], reasons: tuple[str, ...], change: tuple[str, ...]) -> UpgradeVerdict:
    """Two judges that were not asked the same in the same way."""
    sentence = f"{names[0]} and {names[1]} cannot be compared: {reasons[0]}."
    return UpgradeVerdict("not comparable", *names, sentence, Verdicts(), reasons=reasons, change=change)


def without_answers(verdict: UpgradeVerdict, missing: int) -> UpgradeVerdict:
    """A verdict on the texts of both where the candidate lacks `missing` more, nobody knows why: worse stays worse."""
    if verdict.word in ("worse", "different"):
        return verdict
    more = missing if verdict.outcome == "pass" else verdict.more and max(verdict.more, missing)
    return _left_open(verdict, f"{missing} texts have no answer of {verdict.candidate}", more=more, missing=missing)


def by_people_at_fault(verdict: UpgradeVerdict, fault: str, step: str) -> UpgradeVerdict:
    """What a verdict is worth where it cannot be held against these people: what they decided is undecided."""
    decided = verdict.rows[:1] if verdict.outcome == "fail" else verdict.rows
    if not any(row.gate in BY_PEOPLE for row in decided):
        return verdict
    return _left_open(verdict, fault, more=None, clause="", steps=(f"keep {verdict.incumbent}", step))


def _undecided(verdict: UpgradeVerdict, opened: list[Verdict]) -> UpgradeVerdict:
    """`opened`: the rows that are open, what takes the most first; they stand in front."""
    row, most = opened[0], _needed(opened[0])
    more = None if math.isinf(most) else max(1, int(most))
    what, units, estimate = _title(row), row.estimate.units, row.estimate
    why = f"the change in {what} is too close to what you allow"
    if _says(row) == NOT_MEASURED:
        why = f"{what} could not be measured"
    elif estimate.detail.get("asked_once") and estimate.value <= Limit.of(row.limit).high:
        why += f"; more {units}, or {verdict.incumbent} asked again, would decide"
    elif estimate.detail.get("asked_once"):
        why = f"{what} may be {verdict.incumbent}'s own noise, which one answer per text does not show"
        why += f"; ask {verdict.incumbent} again"
    elif not has_interval(estimate):
        why = f"{estimate.n} {units} are too few to say how sure {what} is"
    elif more is not None:
        why += f"; about {more:,} {units} more would decide"
    else:
        why += f"; no feasible number of {units} decides while it stays there"
    return _concluded(_left_open(verdict, why, rows=_ordered(verdict.rows, opened), more=more, units=units))


def _left_open(verdict: UpgradeVerdict, why: str, *, rows: Verdicts | None = None, **more: Any) -> UpgradeVerdict:
    sentence = f"Whether {verdict.candidate} may replace {verdict.incumbent} is {printed(UNDECIDED)}: {why}."
    rows = Verdicts(verdict.rows if rows is None else rows, sentence)
    return replace(verdict, word=UNDECIDED, sentence=sentence, rows=rows, **more)


def _concluded(verdict: UpgradeVerdict) -> UpgradeVerdict:
    sentence = verdict.sentence
    if until := verdict.accepted:
        but = f", but {verdict.still_open}" if verdict.still_open else ""
        sentence = f"{sentence.removesuffix('.')}; accepted until {until}{but}."
    elif over := verdict.expired:
        sentence = f"{sentence.removesuffix('.')}; its acceptance expired on {over}."
    return replace(verdict, sentence=sentence, rows=Verdicts(verdict.rows, sentence))


def _says(row: Verdict) -> Outcome:
    """What the numbers say: a change that was accepted for a time is still a change."""
    return row.accepted_fault["otherwise"] if row.accepted_fault else row.outcome


def _over(row: Verdict) -> str:
    """The day that has passed until which it was accepted; "" where there is none."""
    fault = row.accepted_fault
    return fault["until"] if fault and fault["state"] == "expired" else ""


def _causes_first(failed: list[Verdict]) -> list[Verdict]:
    """What people, truth or the replies themselves decide before what differs from the judge in use. Losses first:
    whatever else was found rests on what they left. Then the level of scores, where their order is kept: a judge that
    shifted agrees less because of it. Then by how surely a row lies outside its limit."""
    order_kept = not any(row.gate in ORDER for row in failed)

    def place(row: Verdict) -> tuple[bool, int, float]:
        shifted = row.gate in LEVEL and order_kept and row.estimate.unit != "share"
        limit, distribution = Limit.of(row.limit), row.estimate.distribution
        ends: list[tuple[float, Side]] = [(limit.high, "above"), (limit.low, "below")]
        surely = (distribution.p_value(*end) for end in ends if math.isfinite(end[0])) if distribution else ()
        group = 0 if row.gate == LOSSES else 1 if shifted else 2
        return row.gate in AGAINST_INCUMBENT, group, min(surely, default=0.0)

    return sorted(failed, key=place)


def _needed(row: Verdict) -> float:
    remedy = row.remedy
    if remedy is None or remedy["needed"] is None or remedy["observed"] is None:
        return math.inf
    return float(max(remedy["needed"] - remedy["observed"], 1))


def _ordered(rows: Verdicts, first: list[Verdict]) -> Verdicts:
    ahead = {id(row) for row in first}
    return Verdicts([*first, *(row for row in rows if id(row) not in ahead)])


def _title(row: Verdict) -> str:
    """ "shift of the scale (names shown, quality)"."""
    columns = ("panel", "task", "protocol", "judge")
    levels = {name: value for name, value in row.subject.items() if name not in columns}
    where = ", ".join(value if name == "criterion" else f"{name} {value}" for name, value in levels.items())
    return f"{row.label or row.gate} ({where})" if where else row.label or row.gate

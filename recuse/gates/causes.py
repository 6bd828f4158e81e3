"""Why a judge is not cleared, or not yet: clauses in plain English that follow "judge is not cleared to grade: ".

A judge that leaves the hard texts unanswered, always gives one answer, prefers the first place or says the opposite
also agrees less with people and seems to favour some system; so these come first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import ceil, floor, log10

import numpy as np

from recuse.gates.records import Figure, VerdictRecord
from recuse.schema.number_text import brief, fixed, in_number, listed, of_units, why_missing
from recuse.schema.verdict_rows import Matrix, detail_as
from recuse.schema.vocabulary import NOT_MEASURED, RIGHT_ANSWERS, UNDECIDED, in_place_of_people, printed

UNANSWERED = ("unanswered", "parse_rate")
TEXT_BY_TEXT = ("human_ceiling", "sensitivity", "specificity", "expert_kappa", "right_choices")
AGREEMENT = (*TEXT_BY_TEXT, "system_order", "human_order")  # fail wherever a judge says little, whatever the reason
FAVOURS = ("slice_favour", "own_favour")
EFFECTS = (*FAVOURS, "worst_slice")  # failed for a reason of its own, or because a judge agrees with nobody
FAULTS = {"unanswered": 0, "parse_rate": 0, "drift": 2, "slot_preference": 3, "letter_preference": 3,
          "order_consistency": 4}  # fmt: skip
"""A judge's own, by rank: what a preference for a place does too comes after it."""
PEOPLE = "your people"  # whom a judge is held against, where a figure does not say that it is somebody else
COEFFICIENTS = ("right_choices", "expert_kappa", "cohen_kappa", "concordance", "krippendorff_alpha")
"""Agreement beyond chance; the first that was measured is read."""
AGAINST_PEOPLE = frozenset(["human_ceiling", "human_offset", "share_bias", "worst_slice", "slice_favour", "own_favour",
                            "system_order"])  # fmt: skip
"""Gates by which one person at fault may make a good judge fail, or a bad one pass."""
CHOICES = ["a", "b", "tie"]  # of two texts: a and b are no labels that a judge could exchange
BOTH_ORDERS = ("order_consistency", "slot_preference")
RATED = ("unanswered", "human_offset", "share_bias")  # gates that are asked wherever a person rated
EXPLAINING = frozenset(["commonest_answer", "every_coefficient", "repeat_reliability", "length_coefficient"])
"""What the evals call to measure the figures that explain a verdict without being gated."""
PLACES = ("panel", "task", "protocol", "judge", "version")
NEVER_DIFFER = "{} never differ, as people who rate apart seldom do"
RATED_APART = "make sure that {} rated apart; if one copied the other, leave the copy out and check again"
OPPOSITE = "it says the opposite of what"
SURE = 0.05  # chance of naming two options as exchanged that are not
UNSTEADY = 0.5  # ICC(1,1) below which a judge's repeats differ more than the texts do
Levels = frozenset[tuple[str, str]]  # criterion and factor levels that something is about


def causes_of_failure(
    failed: Sequence[VerdictRecord], every: Sequence[VerdictRecord], figures: Sequence[Figure]
) -> tuple[list[str], str]:
    """A clause per reason, the one that explains the others first, and the next step. `failed`: of the gates that
    decide; `every`: all verdicts on the judge; `figures`: whatever else was measured of it."""
    constant = _constant(figures)
    agreeing = [v for v in failed if v.gate in (*AGREEMENT, *EFFECTS)]
    related = _relation(agreeing, [f for f in figures if _levels(f.subject) not in constant])
    unrelated = {**constant, **related}
    clauses = [(1, 0.0, clause) for clause in constant.values()] + [(5, 0.0, clause) for clause in related.values()]
    clauses += [(1, 0.0, clause) for clause in _exchanged(figures)]
    explaining = [v for v in every if _is_effect(v) and v not in failed]
    for verdict in [*failed, *([] if unrelated else explaining)]:
        explained = _levels(verdict.subject) in unrelated
        if not (explained and verdict.gate in AGREEMENT):
            clauses.append((_rank(verdict, explained), -verdict.excess, _there(verdict, _does(verdict))))
            if two := _never_differ([verdict]):
                clauses.append((_rank(verdict, explained), 0.0, NEVER_DIFFER.format(two)))
    if not unrelated and any(v.gate in AGREEMENT for v in failed):
        # what else would make a judge agree less: its own noise, where it agrees with itself less than people do with
        # each other; the length of a text
        among = [v.detail.get("human_human") for v in failed if v.gate == "human_ceiling"]
        steady = max([UNSTEADY, *(kappa for kappa in among if isinstance(kappa, float))])
        if any(f.metric == "repeat_reliability" and f.high < steady for f in figures):
            clauses.append((7, 0.0, "it answers otherwise when it is asked again"))
        if length := next((f for f in figures if f.metric == "length_coefficient" and (f.low > 0 or f.high < 0)), None):
            prefers = f"it prefers {'longer' if length.value > 0 else 'shorter'} texts than the other judges do"
            clauses.append((7, 0.0, prefers))
    return _together(clause for _, _, clause in sorted(clauses)), _repair(failed, unrelated.values())


def _repair(failed: Sequence[VerdictRecord], unrelated: Collection[str]) -> str:
    """What would mend the judge, where the cause says; `unrelated`: how it has nothing to do with people."""
    shift = next((v for v in failed if v.gate == "human_offset" and v.unit != "share"), None)
    if shift is not None and not unrelated and {v.gate for v in failed} <= {"human_offset", "human_ceiling"}:
        take, its = ("subtract", "from its") if shift.value > 0 else ("add", "to its")
        taken = f"{_where(shift)}{take} {brief(abs(shift.value))} {its} scores and check again"
        return f"{taken}, or move every threshold on them by {brief(shift.value, signed=True)}"
    if any(OPPOSITE in clause for clause in unrelated):
        turn = "if its column asks the opposite question (unsafe for safe), turn its answers round and check again"
        return f"{turn}; otherwise do not use it for this"
    if any(v.gate in UNANSWERED for v in failed):
        return "read the replies that could not be used, and mend the prompt or the reader"
    if not unrelated and (two := _never_differ(failed)):
        return RATED_APART.format(two)
    if all(v.gate not in (*AGREEMENT, *EFFECTS, *AGAINST_PEOPLE) for v in failed):
        return "do not use it for this, and read what it answers where it fails"
    whom = _whom(max(failed, key=lambda v: _whom(v) == RIGHT_ANSWERS))
    return f"do not use it for this, and read where it disagrees with {whom}"


def causes_of_doubt(
    open_: Sequence[VerdictRecord], apart: Sequence[VerdictRecord], missing: Sequence[str],
    figures: Sequence[Figure], *, verdicts: Sequence[VerdictRecord], part: str, lacking: bool,
    every: Sequence[VerdictRecord] = (), question: str = "", rated: Sequence[str] = (), yardsticks: Sequence[str] = (),
    unasked: Sequence[str] = (),
) -> tuple[list[str], str]:  # fmt: skip
    """Clauses why nothing can be concluded yet, and the next step. `every`: all verdicts on the judge, which may
    explain what is open. `question`: what the use does with the judge; `yardsticks`: what would compare it; `rated`:
    needs that people's ratings meet, asked for or not; `unasked`: gates that decide, and no eval names."""
    if part:
        return [part], "run all of evals/"
    constant = _constant(figures)
    clauses: list[str] = list(constant.values())
    step = ""
    if labels := next(filter(None, map(_labels_fault, (*open_, *verdicts))), ""):
        clauses.append(labels)
        step = "look at what people disagree about, and ask two of them again"
    if two := _never_differ(open_):
        step = step or RATED_APART.format(two)
    # before what is open: more items without a yardstick clear nobody
    if lacking:
        open_ = [replace(v, more=None) for v in open_]
    compared = any(v.gate in RATED for v in verdicts)
    if lacking and any(v.gate == "human_ceiling" for v in every):  # of another use: people are there, texts are not
        clauses.append(f"nothing in these ratings tells how well it {question}")
        step = step or "check it for another use, or add what this one takes: recuse check FILE --all says what"
    elif lacking and any(_whom(v) == RIGHT_ANSWERS for v in verdicts):
        clauses.append("nobody rated these texts beside the right answers, so it is unknown how near a person comes")
        step = step or "let a person rate some of the same texts"
    elif lacking and rated and (("two_people" in rated and "human_ceiling" in yardsticks) or not (compared or missing)):
        wanting = f"people rated these texts, but no eval here asks {' or '.join(yardsticks)}"
        clauses.append(Clause(wanting, f"no eval here asks {yardsticks[0]}"))
        step = step or "bring back an eval that does"
    elif lacking and compared:
        clauses.append("one person alone rated these texts, so nobody knows how well people agree")
        step = step or "let a second person rate some of the same texts"
    elif lacking:
        clauses.append("there are no ratings by people and no true answers to compare it with")
        step = step or "let people rate the same texts (or name those who did: recuse check FILE --people A,B)"
    doubtful = sorted((v for v in every if v.outcome in ("fail", UNDECIDED)), key=lambda v: v.outcome)  # fails first
    guessed = {_levels(v.subject) for v in (*open_, *verdicts) if _labels_fault(v)}  # there nobody could be told
    telling = [v for v in doubtful if v.gate in (*AGREEMENT, *EFFECTS)]
    telling += [v for v in verdicts if lacking and v.gate in RATED[1:]]  # beside one person nothing else tells
    related = _relation(telling, [f for f in figures if _levels(f.subject) not in {*constant, *guessed}])
    clauses += related.values()
    unrelated = {*constant, *related}
    effects = [v for v in every if _is_effect(v) and _levels(v.subject) not in unrelated]
    noisy = any(v.gate in TEXT_BY_TEXT for v in open_)  # noise as well marks the best system down a little
    last = [v for v in effects if noisy and v.gate in FAVOURS and v.outcome == UNDECIDED and v not in open_]
    clauses += [_there(v, _does(v)) for v in effects if v not in last]
    unmeasured = ""  # which no number of items mends
    step = step or _collecting(open_)
    for verdict in sorted(open_, key=lambda v: (v.gate not in AGREEMENT, -(v.more or 0), v.gate)):
        clauses.append(_there(verdict, _open(verdict, open_)))
        if verdict.outcome == NOT_MEASURED and verdict.gate in AGAINST_PEOPLE:
            unmeasured = unmeasured or _rated_more(verdict, verdicts, step)
        elif verdict.outcome == NOT_MEASURED and verdict.gate in BOTH_ORDERS:
            unmeasured = unmeasured or "let it judge some pairs in both orders"
        elif verdict.lost:
            unmeasured = unmeasured or "get the lost answers again"
    clauses += [_there(v, _does(v)) for v in last] + ([NEVER_DIFFER.format(two)] if two else [])
    if not all(v.feasible for v in open_):  # else it would say to collect no more, and to let people rate more
        step = unmeasured or step
    elif unmeasured:
        step = f"{step}, and {unmeasured}" if step else unmeasured
    if missing:
        were = "was" if len(missing) == 1 else "were"
        clauses.append(f"{listed(missing, 3)} {were} {printed(NOT_MEASURED)} in this run")
        step = step or "run again, or record what is missing"
    if unasked:
        clauses.append(f"no eval here asks {listed(unasked, 3)}, by which evals/gates.toml decides")
        step = step or "bring back an eval that does, or take the gate out of evals/gates.toml"
    for verdict in apart:
        by = verdict.limit.of_unit(verdict.unit).show(verdict.value)
        differs = f"it differs from the other judges by {by}, and nobody says who is right"
        clauses.append(_there(verdict, differs))
        step = step or "add ratings by a person: nobody says which judge is right"
    if not clauses:
        clauses, step = ["no gate was asked of it"], "ask one: assert gate(name, estimates) in evals/"
    return _together(clauses), step


def _collecting(open_: Sequence[VerdictRecord]) -> str:
    if never := next((v for v in open_ if not v.feasible), None):
        about = f"{_where(never)}no feasible number of {never.units} decides {never.label}"
        return f"do not use it for this, and collect no more: {about}"
    most = max((v for v in open_ if v.more), key=lambda v: v.times, default=None)
    return f"collect about {of_units(rounded(most.more), most.units)} more" if most and most.more else ""


def _rated_more(verdict: VerdictRecord, verdicts: Sequence[VerdictRecord], step: str) -> str:
    if "one and the same answer" in verdict.note:
        return "add texts that people answer otherwise"
    judged = max((v.n for v in verdicts if v.gate == "unanswered"), default=math.inf)
    if judged > verdict.n:
        return "let people rate more of the texts that it rated"
    return "" if step else "add texts that it and people rate"


def _rank(verdict: VerdictRecord, unrelated: bool) -> int:
    gate = verdict.gate
    if gate in FAULTS:
        return FAULTS[gate]
    if gate in FAVOURS:  # noise as well marks the best system down a little
        return 12 if verdict.outcome == UNDECIDED else 10 if unrelated else 6
    if gate == "worst_slice":  # what a favour does too, and an offset a little
        return 10 if unrelated else 9 if verdict.outcome == UNDECIDED else 7
    if gate in AGREEMENT:
        return 10
    return 11 if unrelated and gate in ("human_offset", "share_bias") else 8


def _is_effect(verdict: VerdictRecord) -> bool:
    """Whether it may be why a judge agrees less: a fault, or a favour or a slice whose interval excludes 0."""
    sure = verdict.outcome == UNDECIDED and (verdict.low > 0 or verdict.high < 0)
    return verdict.gate in EFFECTS and (verdict.outcome == "fail" or sure)


def _constant(figures: Iterable[Figure]) -> dict[Levels, str]:
    constant: dict[Levels, str] = {}
    for f in figures:
        if f.metric == "commonest_answer" and f.value == 1.0:
            phrase = f"it always says {f.detail.get('answer', 'the same')}"
            constant[_levels(f.subject)] = _there(f, Clause(f"{phrase}, so it tells nothing apart", phrase))
    return constant


def _relation(failed: Iterable[VerdictRecord], figures: Sequence[Figure]) -> dict[Levels, str]:
    """Where it is opposite to people, or unrelated to them, which explains every other difference there; in words."""
    related: dict[Levels, str] = {}
    for verdict in failed:
        at = _levels(verdict.subject)
        if at in related:
            continue
        every = (verdict, *figures)
        there = (f for name in COEFFICIENTS for f in every if f.metric == name and _levels(f.subject) == at)
        coefficient = next((f for f in there if not math.isnan(f.high)), None)
        if coefficient is not None and coefficient.high < 0:
            phrase = f"{OPPOSITE} {_whom(verdict)} say"
            related[at] = _there(verdict, phrase)
        elif coefficient is not None and coefficient.low <= 0:
            agrees = "it agrees" if verdict.outcome == "fail" else "it may agree"
            phrase = f"{agrees} with {_whom(verdict)} no more than chance would"
            related[at] = _there(verdict, Clause(phrase, f"{agrees} no more than chance would"))
    return related


def _exchanged(figures: Iterable[Figure]) -> Iterator[str]:
    """Two of three or more options that a judge says the one for the other: of what people say each way more often, and
    beyond chance by Fisher's exact test on the texts where both say one of the two, Bonferroni over all pairs: of
    judges that answer at random, one in 20 at most has any. Shares of a text are rounded against it."""
    tables = ((f, detail_as(Matrix, f.detail)) for f in figures if f.metric == "confusion" and f.detail)
    tables = ((f, t) for f, t in tables if len(t["rows"]) > 2 and t["rows"] != CHOICES)
    pairs = [(f, t, *pair) for f, t in tables for pair in combinations(range(len(t["rows"])), 2)]
    for figure, table, a, b in pairs:
        (aa, ab), (ba, bb) = ([table["values"][i][j] or 0.0 for j in (a, b)] for i in (a, b))
        if ba > aa and ab > bb:
            from scipy.stats import fisher_exact  # heavier than all else of a check

            counts = np.array([[ceil(aa), floor(ab)], [floor(ba), ceil(bb)]])
            if fisher_exact(counts, alternative="less").pvalue * len(pairs) < SURE:
                one, other = table["rows"][a], table["rows"][b]
                yield f'{_where(figure)}it says "{other}" where {_whom(figure)} say "{one}", and the other way round'


class Clause(str):
    """A clause, the same without figures and place (`brief`), and the criterion with which it begins, "" for none."""

    __slots__ = ("brief", "criterion")
    brief: str
    criterion: str

    def __new__(cls, text: str, brief: str = "", criterion: str = "") -> Clause:
        clause = super().__new__(cls, text)
        clause.brief, clause.criterion = brief or text, criterion
        return clause


def _there(figure: Figure, clause: str) -> Clause:
    return Clause(_where(figure) + clause, getattr(clause, "brief", clause), figure.subject.get("criterion", ""))


def _together(clauses: Iterable[str]) -> list[str]:
    """Each clause once, one for all criteria of which it says the same: "on clarity and tone, it agrees with ..."."""
    alike: dict[tuple[bool, str], list[str]] = {}
    for clause in dict.fromkeys(clauses):
        on = getattr(clause, "criterion", "")
        alike.setdefault((bool(on), clause.removeprefix(f"on {on}, ")), []).append(clause)
    return [
        Clause(f"on {listed([getattr(one, 'criterion', '') for one in of])}, {rest}", getattr(of[0], "brief", of[0]))
        if len(of) > 1 else of[0] for (_, rest), of in alike.items()
    ]  # fmt: skip


def _does(verdict: VerdictRecord) -> str:
    value, shown = verdict.value, verdict.limit.of_unit(verdict.unit)
    if verdict.gate == "human_offset" and verdict.unit != "share":
        return f"it scores {brief(abs(value))} {'above' if value > 0 else 'below'} {_whom(verdict)}"
    if verdict.gate == "human_ceiling":
        return "it agrees with {} less than {}".format(*as_well(verdict))
    if slice_ := verdict.detail.get("slice"):
        where = f"{'system' if slice_['column'] == 'target' else slice_['column']} {slice_['level']}"
        if verdict.gate == "slice_favour":
            share = f"{fixed(100 * value, 0, signed=True, minus='-')} % of the scale"
            return f"it {'favours' if value > 0 else 'marks down'} {where} against {_whom(verdict)} ({share})"
        by = fixed(value, signed=True, minus="-")
        return f"on {where} it agrees with {_whom(verdict)} less than elsewhere ({by})"
    words = _side(verdict)
    phrase = f"it {words}" if words else f"its {verdict.label} is outside the limit"
    return Clause(f"{phrase} ({verdict.label} {shown.show(value)}, limit {shown})", phrase)


def _side(verdict: VerdictRecord) -> str:
    """What a judge does whose value lies beyond the nearer bound; of a measure with words for one way only, these."""
    above = verdict.value > (verdict.limit.low + verdict.limit.high) / 2
    words = (verdict.above if above else verdict.below) or verdict.below or verdict.above
    words = in_place_of_people(words.partition("|")[0], verdict.detail)
    positive = verdict.detail.get("positive")
    return words.replace("say it", f'say "{positive}"').replace("says it", f'says "{positive}"') if positive else words


def _open(verdict: VerdictRecord, open_: Sequence[VerdictRecord]) -> str:
    what = verdict.label
    if verdict.outcome == NOT_MEASURED or math.isnan(verdict.value):
        note = verdict.note
        alike = sorted({v.label for v in open_ if v.outcome == NOT_MEASURED and v.note == note} | {what})
        return f"{listed(alike)} could not be measured ({why_missing(note) or 'no reason given'})"
    if verdict.lost:
        return f"answers were lost that could take {what} beyond its limit"
    if math.isnan(verdict.low):
        return f"{what} has no interval, so nobody knows how sure it is"
    may = _side(verdict)
    brief_ = f"whether it {may} is too close to call" if may else f"{what} is too close to its limit"
    if not verdict.feasible:
        return Clause(f"{brief_}: no feasible number of {verdict.units} decides", brief_)
    if not verdict.more:
        return brief_
    count = rounded(verdict.more)
    clause = f"{brief_}: about {of_units(count, verdict.units)} more would decide"
    return Clause(clause, f"it needs about {count:,} more {in_number(verdict.units, count)}")


def _labels_fault(verdict: VerdictRecord) -> str:
    if verdict.gate != "human_ceiling" or verdict.detail.get("people_agree", True):
        return ""
    others = RIGHT_ANSWERS if _whom(verdict) == RIGHT_ANSWERS else "each other"
    agree = f"your people agree with {others} hardly more than by chance"
    return f"{_where(verdict)}{agree}, so no judge can be told from a guess: the labels are the problem"


def _never_differ(verdicts: Iterable[VerdictRecord]) -> str:
    """Two people of whom one may have copied the other: people then agree more than anybody can with them."""
    details = (v.detail for v in verdicts if v.gate == "human_ceiling")
    return next((listed(names) for detail in details if (names := detail.get("same_answers"))), "")


def _whom(figure: Figure) -> str:
    return RIGHT_ANSWERS if figure.detail.get("held_against") == RIGHT_ANSWERS else PEOPLE


def rests_on_people(verdict: VerdictRecord) -> bool:
    """Whether a person at fault may decide it: where right answers do, only that a judge is as good as people."""
    by_errors = verdict.gate == "human_ceiling" and verdict.outcome == "pass"
    return verdict.gate in AGAINST_PEOPLE and (by_errors or _whom(verdict) != RIGHT_ANSWERS)


def as_well(figure: Figure) -> tuple[str, str]:
    """Whom the human ceiling holds a judge against, and who agrees with them as well as a judge may be expected to."""
    right = _whom(figure) == RIGHT_ANSWERS
    return (RIGHT_ANSWERS, f"{PEOPLE} do") if right else (PEOPLE, "they agree with each other")


def _where(figure: Figure) -> str:
    """ "on helpfulness, ": criterion and factor levels, where a figure is about one of several."""
    subject = figure.subject
    levels = [f"with {name} {value}, " for name, value in subject.items() if name not in (*PLACES, "criterion")]
    return (f"on {subject['criterion']}, " if subject.get("criterion") else "") + "".join(levels)


def _levels(subject: Mapping[str, str]) -> Levels:
    return frozenset((name, value) for name, value in subject.items() if name not in PLACES)


def rounded(number: float) -> int:
    """Two digits are as many as such a guess has."""
    digits = max(floor(log10(max(number, 1))) - 1, 0)
    return int(round(number / 10**digits) * 10**digits)

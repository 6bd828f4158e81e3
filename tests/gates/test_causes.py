"""Why a judge is not cleared: the fault that was planted comes first, not what follows from it."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from recuse import check, read
from recuse.check.check_command import panel_of
from recuse.experiments.simulated_files import Setting
from recuse.gates import explanation
from recuse.gates.causes import causes_of_doubt, causes_of_failure, rounded
from recuse.gates.limits import Limit
from recuse.gates.records import Figure, VerdictRecord
from recuse.ratings.answers import WON
from recuse.run.run import ask_file
from recuse.schema import Estimate
from recuse.suite.question_runner import read_evals

WITHIN, LEAST, MOST = Limit("within", -0.5, 0.5), Limit("at_least", -0.1, math.inf), Limit("at_most", -math.inf, 0.05)
ABOUT = {"judge": "ann", "panel": "p", "task": "t", "protocol": "q"}


def figure(metric, value, half=0.05, *, detail=None, above="", below="", **subject):
    return Figure(
        metric, ABOUT | subject, value, value - half, value + half, detail=detail or {}, above=above, below=below
    )


def verdict(gate, value, limit, outcome="fail", *, detail=None, above="", below="", half=0.05, **more):
    about = {k: more.pop(k) for k in ("criterion", "names") if k in more}
    found = figure(gate, value, half, detail=detail, above=above, below=below, **about)
    more |= {"label": gate.replace("_", " "), "limit": limit, "outcome": outcome, "green": False}
    return VerdictRecord(**{f.name: getattr(found, f.name) for f in fields(found)}, gate=gate, **more)


def constant(share=1.0):
    return figure("commonest_answer", share, 0.0, detail={"answer": "4"})


def coefficient(value, half=0.05, metric="cohen_kappa", **subject):
    return figure(metric, value, half, **subject)


def favour(value):
    return verdict("slice_favour", value, WITHIN, detail={"slice": {"column": "target", "level": "gpt"}})


# What a judge fails as well once it agrees with nobody: the effects, each with a larger excess than its cause.
CEILING = verdict("human_ceiling", -0.8, LEAST)
FAVOUR = favour(3.0)
SLICE = verdict("worst_slice", -0.9, LEAST, detail={"slice": {"column": "language", "level": "Thai"}})
OFFSET = verdict("human_offset", 2.5, WITHIN)
UNANSWERED = verdict("unanswered", 0.2, MOST, above="leaves texts unanswered|leave texts unanswered")
DRIFT = verdict("drift", 0.4, MOST, above="is no longer the judge that it was")
PLACE = verdict("slot_preference", 0.6, WITHIN, above="prefers what stands first")
ORDER = verdict("order_consistency", -0.4, LEAST, below="changes its choice with the order")
EFFECTS = (CEILING, FAVOUR, SLICE, OFFSET)

PLANTED = {
    "constant": (EFFECTS, [constant()], "it always says 4, so it tells nothing apart"),
    "opposite": (EFFECTS, [coefficient(-0.7)], "it says the opposite of what your people say"),
    "unrelated": (EFFECTS, [coefficient(0.01)], "it agrees with your people no more than chance would"),
    "missing answers": (
        (UNANSWERED, *EFFECTS), [coefficient(0.5)], "it leaves texts unanswered (unanswered 0.2, limit at most 0.05)",
    ),
    "missing answers of an unrelated judge": ((UNANSWERED, *EFFECTS), [coefficient(0.0)], "it leaves texts unanswered"),
    "drift": ((DRIFT, *EFFECTS), [coefficient(0.5)], "it is no longer the judge that it was"),
    "first place": ((PLACE, ORDER, CEILING, FAVOUR), [coefficient(0.4)], "it prefers what stands first"),
    "first place, unrelated to people": ((PLACE, CEILING), [coefficient(0.02)], "it prefers what stands first"),
    "one slice": (
        (SLICE, CEILING), [coefficient(0.5)], "on language Thai it agrees with your people less than elsewhere (-0.90)",
    ),
    "own system": ((FAVOUR, CEILING), [coefficient(0.5)], "it favours system gpt against your people (+300 % of the"),
    "a little": ((favour(0.9),), [], "it favours system gpt against your people (+90 % of the scale)"),
    "a rival": ((favour(-0.9),), [], "it marks down system gpt against your people (-90 % of the scale)"),
    "offset": ((OFFSET, CEILING), [coefficient(0.5)], "it scores 2.5 above your people"),
    "severe": ((verdict("human_offset", -2.5, WITHIN), CEILING), [], "it scores 2.5 below your people"),
    "disagrees": ((CEILING,), [coefficient(0.5)], "it agrees with your people less than they agree with each other"),
}  # fmt: skip


def clauses(failed, figures):
    return causes_of_failure(failed, failed, figures)[0]


@pytest.mark.parametrize(("failed", "figures", "first"), PLANTED.values(), ids=PLANTED)
def test_the_cause_comes_first_whatever_the_order_and_size_of_its_effects(failed, figures, first):
    for order in itertools.permutations(failed):
        assert clauses(order, figures)[0].startswith(first)


SURE = {
    "noise marks the best system down": ((CEILING,), favour(-0.2), "it agrees with your people less than they"),
    "leniency is worst where most fail": ((verdict("share_bias", 0.9, WITHIN, above="calls too much good"),),
                                          replace(SLICE, outcome="undecided"), "it calls too much good"),
    "one slice": ((CEILING,), replace(SLICE, outcome="undecided"), "on language Thai it agrees"),
    "a favour makes a slice the worst": ((favour(0.9),), SLICE, "it favours system gpt"),
}  # fmt: skip


@pytest.mark.parametrize(("failed", "effect", "first"), SURE.values(), ids=SURE)
def test_an_effect_that_is_surely_there_comes_after_what_surely_fails(failed, effect, first):
    """`effect`: of a gate of another use, that fails nothing."""
    effect = replace(effect, outcome="undecided") if effect.gate == "slice_favour" else effect
    causes, _ = causes_of_failure(failed, [*failed, effect], [coefficient(0.5)])
    assert (causes[0].startswith(first), len(causes)) == (True, 2)


def test_a_judge_unrelated_to_people_is_not_reported_to_disagree_as_well():
    """That it agrees less than people do is the same thing once more."""
    for figures in ([constant()], [coefficient(0.0)], [coefficient(-0.8)]):
        found = clauses(EFFECTS, figures)
        assert not any("less than they agree" in clause for clause in found)
        assert len(found) == len(EFFECTS)


def test_choices_better_than_chance_are_not_called_chance_where_kappa_cannot_tell():
    """Kappa of choices depends on how often the first of the two names wins; right choices do not."""
    for value, words in ((0.24, "less than they agree"), (0.01, "no more than chance"), (-0.3, "the opposite")):
        failed = verdict("right_choices", value, LEAST, below="agrees with your people less than they agree")
        [cause] = clauses([failed], [coefficient(0.03)])
        assert words in cause


@pytest.mark.parametrize(("right", "first"), [
    (0.67, "it agrees with the right answers less than you ask"),
    (1 / 3, "it agrees with the right answers no more than chance"),
])  # fmt: skip
def test_labels_well_beyond_chance_are_not_called_chance(right, first):
    rng = np.random.default_rng(4)
    truth, lot = rng.integers(0, 3, 400), rng.random(400) < right
    label, other = np.array(["billing", "login", "other"]), (truth + rng.integers(1, 3, 400)) % 3
    frame = pd.DataFrame({"text": range(400), "mia": label[np.where(lot, truth, other)], "gold": label[truth]})
    [judge] = (j for j in check(read(frame, gold="gold", judges=["mia"])).judges if j.use == "decide")
    assert judge.cause.startswith(first)
    assert "chance" not in judge.cause or right < 0.5


def test_pairs_chosen_better_than_by_lot_are_not_called_chance():
    rng = np.random.default_rng(4)
    gold, right = rng.choice(["A", "B"], 900), rng.random(900) < 0.66
    mia = np.where(right, gold, np.where(gold == "A", "B", "A"))
    frame = pd.DataFrame({"text": range(900), "response_a": "x", "response_b": "y", "mia": mia, "gold": gold})
    [judge] = check(read(frame, gold="gold", judges=["mia"])).judges
    assert judge.brief == "it chooses the right text less often than you ask"


def test_right_answers_are_not_called_people():
    against = {"held_against": "the right answers"}
    failed = [verdict("sensitivity", 0.5, LEAST, detail=against), verdict("human_offset", 2.5, WITHIN, detail=against)]
    causes, step = causes_of_failure(failed, failed, [coefficient(0.01)])
    unrelated, offset = causes
    assert unrelated == "it agrees with the right answers no more than chance would"
    assert offset == "it scores 2.5 above the right answers"
    assert step == "do not use it for this, and read where it disagrees with the right answers"


@pytest.mark.parametrize(
    ("gate", "words", "detail", "clause"),
    [
        ("human_ceiling", "", {}, "it agrees with the right answers less than your people do"),
        ("worst_slice", "", SLICE.detail, "on language Thai it agrees with the right answers less"),
        ("slice_favour", "", FAVOUR.detail, "it marks down system gpt against the right answers"),
        ("sensitivity", "misses what the expert does not", {}, "it misses what the right answers do not"),
        (
            "specificity",
            "says it where the expert does not",
            {"positive": "fail"},
            'it says "fail" where the right answers do not',
        ),
        ("system_order", "orders systems unlike people", {}, "it orders systems unlike the right answers"),
    ],
)
def test_every_clause_names_the_right_answers_where_a_judge_is_held_against_them(gate, words, detail, clause):
    failed = [verdict(gate, -0.9, LEAST, below=words, detail={"held_against": "the right answers", **detail})]
    [cause] = clauses(failed, [])
    assert cause.startswith(clause)


def test_labels_exchanged_for_right_ones_are_not_people_s():
    detail = {"rows": ["a", "b", "c"], "values": [[0, 40, 0], [40, 0, 0], [0, 0, 40]]}
    [cause, *_] = clauses([CEILING], [figure("confusion", 0.3, detail={"held_against": "the right answers", **detail})])
    assert cause == 'it says "b" where the right answers say "a", and the other way round'


def test_only_what_answers_all_alike_is_called_constant():
    found = clauses(EFFECTS, [constant(0.97), coefficient(0.5)])
    assert not any("always says" in clause for clause in found)


def test_a_coefficient_explains_its_own_criterion_only():
    on_style = verdict("human_ceiling", -0.8, LEAST, criterion="style")
    elsewhere = clauses([on_style], [coefficient(-0.7, criterion="truth")])
    assert elsewhere == ["on style, it agrees with your people less than they agree with each other"]
    there = clauses([on_style], [coefficient(-0.7, criterion="style")])
    assert there == ["on style, it says the opposite of what your people say"]


def test_a_coefficient_without_an_interval_explains_nothing():
    unknown = coefficient(0.0, math.nan)
    assert clauses([CEILING], [unknown])[0].startswith("it agrees with your people less than")
    other = coefficient(-0.7, metric="krippendorff_alpha")
    assert clauses([CEILING], [unknown, other])[0].startswith("it says the opposite")


def test_noise_and_length_explain_agreement_that_is_too_low():
    noisy, longer = figure("repeat_reliability", 0.2), figure("length_coefficient", 0.4)
    assert clauses([CEILING], [noisy, longer])[:2] == [
        "it answers otherwise when it is asked again", "it prefers longer texts than the other judges do",
    ]  # fmt: skip
    shorter = clauses([CEILING], [figure("length_coefficient", -0.4)])
    assert shorter[0] == "it prefers shorter texts than the other judges do"
    steady, neither = figure("repeat_reliability", 0.9), figure("length_coefficient", 0.01)
    assert len(clauses([CEILING], [steady, neither])) == 1


@pytest.mark.parametrize("value", [math.nan, -0.4])
def test_an_effect_of_length_without_an_interval_explains_nothing(value):
    """Where all texts are equally long there is none."""
    assert clauses([CEILING], [figure("length_coefficient", value, math.nan)]) == clauses([CEILING], [])


def test_what_is_said_of_several_criteria_is_said_once():
    """Of five criteria that fail, the three causes that are told named three, and the reader took two for passed."""
    failed = [verdict("human_ceiling", -0.4, LEAST, criterion=f"c{k}") for k in range(5)]
    other = verdict("unanswered", 0.2, MOST, above="leaves texts unanswered", criterion="c1")
    told = clauses([*failed, other], [])
    assert told[0].startswith("on c1, it leaves texts unanswered")
    assert told[1:] == ["on c0, c1, c2 and 2 more, it agrees with your people less than they agree with each other"]
    assert told[1].brief == "it agrees with your people less than they agree with each other"


def test_a_cause_names_criterion_and_level_where_there_are_several():
    failed = [verdict("human_offset", 0.9, WITHIN, criterion="style", names="shown")]
    assert clauses(failed, []) == ["on style, with names shown, it scores 0.9 above your people"]


def test_a_cause_without_words_of_its_own_names_the_gate_and_its_limit():
    failed = [verdict("padding", 0.9, WITHIN)]
    assert clauses(failed, []) == ["its padding is outside the limit (padding +0.9, limit within [-0.5, +0.5])"]


def test_what_a_gate_of_another_use_shows_explains_a_failure_and_does_not_refuse():
    failed = [CEILING]
    there, _ = causes_of_failure(failed, [CEILING, SLICE], [coefficient(0.5)])
    assert there[0].startswith("on language Thai it agrees with your people less than elsewhere")
    assert there[1:] == ["it agrees with your people less than they agree with each other"]
    unrelated, _ = causes_of_failure(failed, [CEILING, SLICE], [coefficient(0.0)])
    assert unrelated == ["it agrees with your people no more than chance would"]


@pytest.mark.parametrize(("failed", "figures", "step"), [
    ((OFFSET,), [], "subtract 2.5 from its scores and check again"),
    ((OFFSET, CEILING), [coefficient(0.5)], "subtract 2.5 from its scores"),
    ((OFFSET, CEILING), [coefficient(0.0)], "do not use it for this"),
    ((OFFSET, SLICE), [], "do not use it for this"),
    ((UNANSWERED, OFFSET), [], "read the replies that could not be used"),
    ((CEILING,), [], "do not use it for this, and read where it disagrees"),
    ((verdict("human_offset", -0.9, WITHIN, criterion="tone"),), [], "on tone, add 0.9 to its scores"),
    ((replace(OFFSET, unit="share"),), [], "do not use it for this"),  # has no threshold
])  # fmt: skip
def test_the_next_step_is_a_repair_where_the_cause_has_one(failed, figures, step):
    assert causes_of_failure(failed, failed, figures)[1].startswith(step)


# --------------------------------------------------------------------------- nothing can be concluded yet


def test_where_labels_are_at_fault_a_coefficient_says_nothing_of_the_judge():
    """Beside people who all but always give the top score any judge seems to say the opposite of them."""
    near = verdict("human_ceiling", -0.05, LEAST, "undecided", detail={"people_agree": False})
    at_fault, _ = causes_of_doubt(
        [near], [], [], [coefficient(-0.06, 0.02)], verdicts=[near], every=[near], part="", lacking=False
    )
    assert "labels" in at_fault[0]
    assert not any("opposite" in cause for cause in at_fault)


def test_a_judge_unrelated_to_one_person_is_told_so():
    known = verdict("human_offset", 0.0, WITHIN, "pass")
    for value, unrelated in ((0.05, True), (0.6, False)):
        causes, _ = causes_of_doubt(
            [], [], [], [coefficient(value, 0.1)], verdicts=[known], every=[known], part="", lacking=True
        )
        assert causes[0].startswith("one person alone")
        assert any("no more than chance" in cause for cause in causes) == unrelated


def doubts(*open_, apart=(), missing=(), figures=(), part="", lacking=False):
    return causes_of_doubt(open_, apart, missing, figures, verdicts=open_, part=part, lacking=lacking)


def test_too_few_texts_come_with_how_many_more_are_needed():
    near = verdict("human_ceiling", -0.05, LEAST, "undecided", more=437)
    assert doubts(near) == (
        ["human ceiling is too close to its limit: about 440 items more would decide"],
        "collect about 440 items more",
    )  # fmt: skip


def test_the_next_step_is_what_decides_all_that_is_open():
    """Of several numbers the largest, by how many times as many as there are: 90 items of 40 are more than 150 texts of
    300."""
    ceiling = verdict("human_ceiling", -0.05, LEAST, "undecided", more=150, times=1.5, units="texts")
    offset = verdict("human_offset", 0.4, WITHIN, "undecided", more=90, times=3.25)
    assert doubts(ceiling, offset)[1] == doubts(offset, ceiling)[1] == "collect about 90 items more"
    one = verdict("human_offset", 0.4, WITHIN, "undecided", more=1, times=1.1, units="stories")
    clauses, step = doubts(one)
    assert clauses[0].endswith("about 1 story more would decide")
    assert (step, clauses[0].brief) == ("collect about 1 story more", "it needs about 1 more story")


def test_nobody_is_sent_to_collect_where_no_number_decides_one_of_the_gates():
    near = verdict("human_ceiling", -0.05, LEAST, "undecided", more=100, times=1.3)
    on_it = verdict("human_ceiling", -0.1, LEAST, "undecided", feasible=False, criterion="tone")
    clauses, step = doubts(near, on_it)
    assert clauses[1] == "on tone, human ceiling is too close to its limit: no feasible number of items decides"
    never = "on tone, no feasible number of items decides human ceiling"
    assert step == f"do not use it for this, and collect no more: {never}"


def test_what_could_not_be_measured_comes_before_collecting_no_more():
    on_it = verdict("human_offset", 0.3, WITHIN, "undecided", feasible=False)
    unrated = verdict("human_ceiling", float("nan"), LEAST, "not measured")
    _, step = doubts(on_it, unrated)
    assert step
    assert "collect no more" not in step


def test_labels_that_no_judge_could_agree_with_are_blamed_before_the_judge():
    near = verdict("human_ceiling", -0.05, LEAST, "undecided", detail={"people_agree": False}, more=400)
    clauses, step = doubts(near)
    assert clauses[0].endswith("the labels are the problem")
    assert step.startswith("look at what people disagree about")


def test_what_could_not_be_measured_says_why():
    unmeasured = verdict("unanswered", math.nan, MOST, "not measured")
    assert doubts(unmeasured)[0] == ["unanswered could not be measured (no reason given)"]
    for why, outcome in (("no pair has a winner", "not measured"), ("", "undecided")):  # for another reason, or it was
        other = verdict("drift", 0.0 if outcome == "undecided" else math.nan, MOST, outcome)
        other = replace(other, note=why)
        assert "unanswered could not be measured (no reason given)" in doubts(unmeasured, other)[0]
    nobody_rated = verdict("human_ceiling", math.nan, LEAST, "not measured")
    assert doubts(nobody_rated, missing=("drift",))[1] == "let people rate more of the texts that it rated"
    lone = verdict("human_order", 0.4, LEAST, "undecided", half=math.nan)
    assert doubts(lone)[0] == ["human order has no interval, so nobody knows how sure it is"]


def test_what_is_missing_is_listed_with_what_to_do():
    assert doubts(missing=("drift",)) == (
        ["drift was not measured in this run"], "run again, or record what is missing",
    )  # fmt: skip
    assert doubts(missing=tuple("abcde"))[0] == ["a, b, c and 2 more were not measured in this run"]
    clauses, step = doubts(lacking=True)
    assert clauses == ["there are no ratings by people and no true answers to compare it with"]
    assert step.startswith("let people rate the same texts")


def test_more_items_are_not_collected_for_a_judge_that_nothing_is_compared_with():
    near = verdict("leniency", 0.3, WITHIN, "undecided", more=250)
    clauses, step = doubts(near, lacking=True)
    assert clauses[0] == "there are no ratings by people and no true answers to compare it with"
    assert step.startswith("let people rate")


def test_what_more_items_would_not_bring_is_part_of_the_next_step():
    near = verdict("human_ceiling", -0.05, LEAST, "undecided", more=470)
    one_order = verdict("order_consistency", math.nan, LEAST, "not measured")
    assert doubts(near, one_order)[1] == "collect about 470 items more, and let it judge some pairs in both orders"


def test_one_person_alone_is_not_called_nobody():
    clauses, step = causes_of_doubt(
        [], [], [], [], verdicts=[verdict("unanswered", 0.0, MOST, "pass")], part="", lacking=True
    )
    assert clauses == ["one person alone rated these texts, so nobody knows how well people agree"]
    assert step == "let a second person rate some of the same texts"


def test_right_answers_alone_are_no_person_who_rated():
    held = verdict("unanswered", 0.0, MOST, "pass", detail={"held_against": "the right answers"})
    [clause], step = causes_of_doubt([], [], [], [], verdicts=[held], part="", lacking=True)
    assert clause.startswith("nobody rated these texts beside the right answers")
    assert step == "let a person rate some of the same texts"


@pytest.mark.parametrize(("rated", "asked", "first"), [
    (["people_items", "two_people"], True, "no eval here asks human_ceiling"),  # which is asked wherever two rated
    (["people_items"], False, "no eval here asks human_ceiling"),
    (["people_items"], True, "one person alone rated these texts, so nobody knows how well people agree"),
    ([], False, "there are no ratings by people and no true answers to compare it with"),
])  # fmt: skip
def test_people_who_rated_are_not_called_nobody_where_an_eval_is_gone(rated, asked, first):
    verdicts = [verdict("unanswered", 0.0, MOST, "pass")] if asked else []
    (cause, *_), step = causes_of_doubt(
        [], [], [], [], verdicts=verdicts, part="", lacking=True, rated=rated, yardsticks=["human_ceiling", "other"]
    )
    assert getattr(cause, "brief", cause) == first
    assert ("bring back" in step) == ("no eval" in first)


def test_an_eval_that_is_gone_is_known_to_be():
    """Through a whole run: what people's ratings could answer is told by the ratings."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"text": range(60), **{who: rng.integers(1, 6, 60) for who in ("anna", "ben", "mia")}})
    panel = panel_of(read(frame, people=["anna", "ben"], judges=["mia"]), "grade")
    gates, questions = read_evals(Path(__file__).parents[2] / "evals", date(2026, 1, 1))
    kept = [question for question in questions if "human_ceiling" not in question.name]
    [judge] = (j for j in ask_file(panel, gates, kept).decision.judges if j.use == "grade")
    assert judge.cause.startswith("people rated these texts, but no eval here asks human_ceiling")


def test_lost_answers_are_the_cause_and_not_a_limit_that_is_far_off():
    rng, raters = np.random.default_rng(3), ("mia", "anna", "ben")
    text = rng.integers(1, 6, 200)
    one = {name: np.clip(text + rng.choice([-1, 0, 1], 200, p=[0.2, 0.6, 0.2]), 1, 5) for name in raters}
    new = pd.DataFrame({"item": range(200), "system": "new", **one})
    old = new.assign(system="old", mia=new["mia"].astype(object).where(new.index % 10 > 0, "ERROR: timeout"))
    ratings = read(pd.concat([old, new]), people=["anna", "ben"], judges=["mia"], target="system")
    judge = check(ratings, use="grade").judges[0]
    assert judge.cause == "answers were lost that could take offset from people beyond its limit"
    assert judge.next == "get the lost answers again"


@pytest.mark.parametrize(("protocol", "step"), [("file", "add them"), ("rubric", "ask anew (--record=all)")])
def test_how_lost_answers_come_back_is_said_for_files_and_for_recordings(protocol, step):
    """`--record=missing` asks for no answer again that is there and cannot be read."""
    losses = {"sides": {"high": (18, 297), "low": (11, 303)}, "bounds": (-0.02, 0.17), "margin": 0.05}
    estimate = Estimate(
        metric="offset", value=0.08, low=-0.01, high=0.18, over="items", n=100, method="m", detail={"losses": losses}
    )
    decided = SimpleNamespace(
        decision=SimpleNamespace(lost=True, estimate=estimate),
        member=SimpleNamespace(limit=Limit.of({"within": [-0.24, 0.24]}), subject={"protocol": protocol}),
    )
    assert explanation._undecided(decided)["finding"].endswith(
        f"by at most 5 points could not be shown. Mend what lost them and {step}, or ask more."
    )


def test_what_people_would_have_to_rate_is_what_is_not_there():
    """Whoever rated everything the same, or every text, is not asked to rate more of these texts."""

    def step(n, note, *others):
        lone = verdict("human_ceiling", math.nan, LEAST, "not measured")
        lone = replace(lone, n=n, note=f"undefined: {note}")
        asked = verdict("unanswered", 0.0, MOST, "pass")
        asked = replace(asked, n=60)
        open_ = [lone, *others]
        return causes_of_doubt(open_, [], [], [], verdicts=[*open_, asked], part="", lacking=False)[1]

    alike = "people gave every text one and the same answer, so nothing tells their agreement from chance"
    assert step(60, alike) == "add texts that people answer otherwise"
    assert step(10, "two people rated 10 texts") == "let people rate more of the texts that it rated"
    assert step(60, "two people rated 60 texts") == "add texts that it and people rate"
    near = verdict("human_offset", 0.3, WITHIN, "undecided", more=90)
    assert step(60, "two people rated 60 texts", near) == "collect about 90 items more"


def test_a_use_that_these_ratings_cannot_show_is_not_for_want_of_people():
    rated = [verdict("unanswered", 0.0, MOST, "pass")]
    clauses, step = causes_of_doubt(
        [], [], [], [], verdicts=rated, every=[*rated, CEILING], part="", lacking=True, question="compares systems",
    )  # fmt: skip
    assert clauses == ["nothing in these ratings tells how well it compares systems"]
    assert step.startswith("check it for another use")


def test_no_number_is_promised_to_decide_where_there_is_no_yardstick():
    near = verdict("leniency", 0.4, WITHIN, "undecided", more=1400)
    assert doubts(near, lacking=True)[0][1] == "leniency is too close to its limit"


def test_peers_say_who_stands_apart_and_that_nobody_knows_who_is_right():
    clauses, step = doubts(apart=[verdict("leniency", 0.9, WITHIN)])
    assert clauses == ["it differs from the other judges by +0.9, and nobody says who is right"]
    assert step == "add ratings by a person: nobody says which judge is right"


def test_a_part_of_a_run_is_the_one_cause():
    assert doubts(CEILING, missing=("drift",), part="only test_a.py ran") == (
        ["only test_a.py ran"], "run all of evals/",
    )  # fmt: skip


def test_a_constant_judge_is_called_so_before_anything_is_decided():
    near = verdict("human_ceiling", -0.05, LEAST, "undecided")
    assert doubts(near, figures=[constant()])[0][0] == "it always says 4, so it tells nothing apart"


@pytest.mark.parametrize(("outcome", "value", "half", "first"), [
    ("fail", 0.01, 0.05, "it agrees with your people no more than chance would"),
    ("undecided", 0.3, 0.4, "it may agree with your people no more than chance would"),
    ("fail", -0.7, 0.05, "it says the opposite of what your people say"),
    ("fail", 0.5, 0.05, "it favours system gpt"),
])  # fmt: skip
def test_a_judge_that_may_be_unrelated_is_not_called_partial(outcome, value, half, first):
    """The favour is of a gate that this use does not ask, and so is the agreement that fails."""
    near = verdict("system_order", -0.05, LEAST, "undecided", more=100)
    ceiling, partial = replace(CEILING, outcome=outcome), replace(favour(0.9), outcome="undecided")
    causes, _ = causes_of_doubt(
        [near], [], [], [coefficient(value, half)], verdicts=[near], every=[partial, ceiling], part="", lacking=False
    )
    assert causes[0].startswith(first)
    assert any("favours" in cause for cause in causes) == ("favours" in first)


def test_agreement_that_passes_is_not_called_chance_where_a_coefficient_cannot_tell():
    near, passing = verdict("unanswered", 0.04, MOST, "undecided"), replace(CEILING, outcome="pass")
    causes, _ = causes_of_doubt(
        [near], [], [], [coefficient(0.3, 0.4)], verdicts=[near], every=[near, passing], part="", lacking=False
    )
    assert causes == ["unanswered is too close to its limit"]


@pytest.mark.parametrize(("of_the_use", "outcome", "open_", "first"), [
    (False, "undecided", "human_ceiling", "human ceiling is too close"),
    (False, "undecided", "sensitivity", "sensitivity is too close"),
    (False, "fail", "human_ceiling", "it favours system gpt"),
    (False, "undecided", "system_order", "it favours system gpt"),  # which is made of it
    (True, "undecided", "human_ceiling", "it favours system gpt"),
])  # fmt: skip
def test_a_favour_that_noise_has_too_comes_after_agreement_that_is_open(of_the_use, outcome, open_, first):
    near, partial = verdict(open_, -0.05, LEAST, "undecided"), replace(favour(0.9), outcome=outcome)
    deciding = [near, partial] if of_the_use else [near]
    causes, _ = causes_of_doubt(
        deciding, [], [], [coefficient(0.5)], verdicts=deciding, every=[near, partial], part="", lacking=False
    )
    assert causes[0].startswith(first)
    assert any("favours" in cause for cause in causes)


@pytest.mark.parametrize("seed", [0, 4, 22])
def test_noise_that_is_undecided_is_not_first_said_to_favour_a_system(seed):
    """A third of its answers are by lot, so it marks the best system down, surely if not surely too much."""
    setting = Setting("pass/fail", 0.6, people=2, systems=4)
    gates, questions = read_evals(Path(__file__).parents[2] / "evals", date(2026, 1, 1))
    panel = setting.draw(100, "noise", np.random.default_rng(seed), gates)
    mapping = replace(panel.mapping, use=("decide",))
    answers = ask_file(replace(panel, mapping=mapping), gates, questions, deciding=True)
    [judge] = (one for one in answers.decision.judges if one.use == "decide")
    assert judge.word == "undecided"
    assert judge.cause.startswith("whether it agrees with your people less than they agree with each other")
    assert "system" in judge.cause


def test_there_is_always_a_cause():
    assert doubts() == (["no gate was asked of it"], "ask one: assert gate(name, estimates) in evals/")


def test_a_guess_has_two_digits():
    assert [rounded(n) for n in (0.4, 7, 84, 437, 12_345)] == [0, 7, 84, 440, 12_000]


def test_two_labels_that_a_judge_exchanges_are_named_before_the_agreement_that_they_cost():
    table = {"kind": "matrix", "rows": ["a", "b", "c"], "columns": ["a", "b", "c"]}
    exchanged = figure("confusion", 0.3, detail={**table, "values": [[2, 40, 1], [38, 3, 0], [1, 0, 30]]})
    (first, *_), _ = causes_of_failure([CEILING], [CEILING], [exchanged])
    assert first == 'it says "b" where your people say "a", and the other way round'
    kept = figure("confusion", 0.9, detail={**table, "values": [[40, 2, 1], [3, 38, 0], [1, 0, 30]]})
    assert "where your people say" not in "; ".join(causes_of_failure([CEILING], [CEILING], [kept])[0])


def test_a_judge_that_always_chooses_the_other_text_exchanges_no_labels():
    """Which of two texts is called a is the reader's doing: no answer of the file is an a or a b."""
    table = {"kind": "matrix", "rows": list(WON), "columns": list(WON), "values": [[2, 40, 0], [38, 3, 0], [0, 0, 1]]}
    chosen = figure("confusion", 0.1, detail=table)
    assert clauses([CEILING], [chosen, coefficient(-0.8)]) == ["it says the opposite of what your people say"]


def test_a_judge_that_answers_at_random_exchanges_no_labels():
    """Of five labels some two always stand the wrong way round by luck; at most one judge in 20 is said to do it."""
    rng, named = np.random.default_rng(4), 0
    for _ in range(100):
        people, judge = rng.integers(0, 5, (2, 200))
        values = np.histogram2d(judge, people, bins=(range(6), range(6)))[0].tolist()
        table = {"kind": "matrix", "rows": list("abcdf"), "columns": list("abcdf"), "values": values}
        drawn = figure("confusion", 0.2, detail=table)
        named += any("other way round" in clause for clause in clauses([CEILING], [drawn]))
    assert named <= 5


def test_criteria_share_what_may_be_named_by_luck():
    options = list("abc")
    table = {"kind": "matrix", "rows": options, "columns": options, "values": [[1, 6, 0], [6, 1, 0], [0, 0, 9]]}
    each = [figure("confusion", 0.5, detail=table, criterion=f"c{k}") for k in range(3)]
    assert "on c0, it says" in clauses([CEILING], each[:1])[0]  # p = .0146 by Fisher, times 3
    assert not any("other way round" in clause for clause in clauses([CEILING], each))


@pytest.mark.parametrize(("value", "limit", "side"), [
    (0.48, WITHIN, "favours what stands first"), (-0.48, WITHIN, "favours what stands second"),
    (0.04, MOST, "favours what stands first"), (-0.08, LEAST, "favours what stands second"),
])  # fmt: skip
def test_what_is_too_close_to_call_is_what_lies_beyond_the_nearer_bound(value, limit, side):
    words = {"above": "favours what stands first|favour it", "below": "favours what stands second|favour it"}
    (clause,) = doubts(verdict("slot_preference", value, limit, "undecided", **words))[0]
    assert clause.brief == f"whether it {side} is too close to call"


def test_the_next_step_names_the_right_answers_whichever_gate_fails_first():
    right = verdict("human_offset", 2.5, WITHIN, detail={"held_against": "the right answers"})
    for failed in itertools.permutations([DRIFT, right, CEILING]):
        assert causes_of_failure(failed, failed, [])[1].endswith("disagrees with the right answers")
    assert causes_of_failure([DRIFT, OFFSET, CEILING], [], [])[1].endswith("disagrees with your people")


@pytest.mark.parametrize(("third", "word"), [(False, "not cleared"), (True, "undecided")])
def test_people_of_whom_one_copied_the_other_are_named_with_the_remedy(third, word):
    """The judge is one more person; nobody can agree with a copy as well as it does with what was copied."""
    rng = np.random.default_rng(3)
    quality = rng.choice([2.0, 3.0, 4.0], 200)
    ann, cid, judge = np.clip(np.round(quality + rng.normal(0, 0.5, (3, 200))), 1, 5)
    table = pd.DataFrame({"item": range(200), "ann": ann, "bea": ann, "judge": judge})
    people = ["ann", "bea"]
    if third:
        table["cid"], people = cid, ["ann", "bea", "cid"]

    def words(table):
        checked = check(read(table, people=people, judges=["judge"], scale="1-5", use="grade"))
        (row,) = (row for row in checked.judges if row.use == "grade")
        return row

    row = words(table)
    assert row.word == word
    assert "ann and bea never differ" in row.cause
    assert row.next.startswith("make sure that ann and bea rated apart")
    once, few = np.r_[np.where(ann[:1] == 3, 4, 6 - ann[:1]), ann[1:]], np.where(np.arange(200) < 19, ann, np.nan)
    judge = np.clip(np.round(quality + rng.normal(0, 0.8, 200)), 1, 5)
    for bea in (once, few) if third else (once,):  # who differ once, or share too few texts
        row = words(table.assign(bea=bea, judge=judge))
        assert (row.word == "cleared", "never differ" in row.cause) == (False, False)


def test_a_good_judge_of_people_who_never_differ_is_cleared():
    """Whether a sum is right, people agree without a copy: nobody is blamed where nothing is wrong."""
    ann = np.arange(400) % 3 > 0
    table = pd.DataFrame({"item": range(400)} | {name: np.where(ann, "pass", "fail") for name in ("ann", "bea", "gpt")})
    (row,) = (row for row in check(read(table, people=["ann", "bea"], judges=["gpt"])).judges if row.use == "decide")
    assert (row.word, "never differ" in row.cause) == ("cleared", False)

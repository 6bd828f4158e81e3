"""Consistency and bias over thresholds and beta: hand arithmetic, the worst cell, what beta does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.indeterminacy.rated_options import (
    BETAS,
    bias_over_beta,
    consistency_over_beta,
    decision_consistency,
    prevalence_bias,
    prevalence_shift,
    rated_options,
)
from recuse.papers.indeterminacy.rating_task import RatingTask, endorsements, recovered, reverse_choice_matrix
from recuse.ratings import Nominal, Ordinal, Ratings, ResponseSets
from recuse.schema import RecuseError


def said(people, judge, scale=None):
    """Answers per item: of each of several people one letter per item, of the judge a word per item with its
    repeats."""
    words = {"t": "toxic", "f": "fine"}
    rows = [
        {"rater": f"person {p}", "kind": "person", "item": f"i{i}", "response": words[x], "repeat": 0, "status": "ok"}
        for p, text in enumerate(people)
        for i, x in enumerate(text)
    ] + [
        {"rater": "judge", "kind": "judge", "item": f"i{i}", "response": words.get(x), "repeat": r,
         "status": "ok" if x in words else "unparsed"}
        for i, text in enumerate(judge)
        for r, x in enumerate(text)
    ]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows), scales=scale or Nominal(("toxic", "fine")))


FOUR = (("ttff", "tfff"), ["tt", "tf", "ff", "tf"])
"""Shares of toxic by people 1, .5, 0, 0 and by the judge 1, .5, 0, .5."""


def test_by_hand():
    """At .5 people say 1 1/2 0 0 and the judge 1 1/2 0 1/2, at .7 both say 1 0 0 0, at .3 they differ on the last."""
    found = decision_consistency(said(*FOUR)).of(judge="judge")
    assert (found.value, found.detail["tau"], found.detail["option"]) == (0.875, 0.5, "toxic")
    assert (found.detail["taus"], found.detail["value"]) == ([0.3, 0.5, 0.7], [[0.75], [0.875], [1.0]])
    assert decision_consistency(said(*FOUR), 0.7).of(judge="judge").value == 1.0
    assert prevalence_bias(said(*FOUR)).of(judge="judge").value == 0.125
    assert prevalence_bias(said(*FOUR), 0.3).of(judge="judge").value == 0.25


@pytest.mark.parametrize("passes", [0.05, 0.2, 0.3, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("people", [1, 2, 3])
def test_a_judge_identical_to_unanimous_people_has_no_bias_at_any_base_rate(passes, people):
    """However many pass, whatever people would have accepted besides, and with 30 texts inside .2."""
    text = "t" * round(100 * passes) + "f" * round(100 * (1 - passes))
    for letters in (text, text[:: len(text) // 30][:30]):
        ratings = said((letters,) * people, list(letters))
        bias, same = prevalence_bias(ratings).of(judge="judge"), decision_consistency(ratings).of(judge="judge")
        assert (bias.value, same.value) == (0.0, 1.0)
        assert -0.2 < bias.low < bias.high < 0.2
        assert bias_over_beta(ratings).of(judge="judge").value == 0.0
        assert consistency_over_beta(ratings).of(judge="judge").value == 1.0


def binary(rng, texts, rate, raters, error=0.6):
    """Passes by `raters` who see a quality of SD 1, (raters, texts): the first is the judge."""
    seen = rng.normal(size=texts) + error * rng.normal(size=(raters, texts))
    return seen > -stats.norm.ppf(rate) * np.hypot(1, error)


@pytest.mark.parametrize("people", [1, 2, 4])
def test_one_more_person_has_no_bias_though_people_be_even_in_number(people):
    judge, *persons = binary(np.random.default_rng(people), 3000, 0.8, 1 + people)
    letters = ["".join("t" if one else "f" for one in rater) for rater in (judge, *persons)]
    found = prevalence_bias(said(tuple(letters[1:]), list(letters[0]))).of(judge="judge")
    assert abs(found.value) < (0.06 if people > 2 else 0.03)  # four decide by three or two and two


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_the_bias_covers(rate):
    """Three people, 60 and 300 texts: 93.5 to 97 % +- 3 Monte-Carlo errors of 150, and more where few differ."""
    judge, *persons = binary(np.random.default_rng(9), 400_000, rate, 4)
    truth = judge.mean() - (np.sum(persons, axis=0) >= 2).mean()
    for texts in (60, 300):
        rng, held = np.random.default_rng(texts), 0
        for _ in range(150):
            letters = ["".join("t" if one else "f" for one in rater) for rater in binary(rng, texts, rate, 4)]
            found = prevalence_bias(said(tuple(letters[1:]), list(letters[0]))).of(judge="judge")
            held += found.low <= truth <= found.high
        assert held / 150 >= 0.935 - 0.06


def test_beta_moves_people_and_nobody_else():
    """Omega = O + beta (1 - O): of 1, .5, 0, 0 with beta .4 that is 1, .7, .4, .4."""
    rated = rated_options(said(*FOUR))
    np.testing.assert_allclose(rated.people_by_beta((0.4,))[0, :, 0], [1, 0.7, 0.4, 0.4])
    found = prevalence_shift(said(*FOUR), (0.4, 0.5), (0.0, 0.4))
    assert found.of(threshold="0.4").detail["prevalence"] == [0.5, 1.0]
    assert found.of(threshold="0.4").value == 0.5
    assert found.of(threshold="0.5").value == 0.0


@pytest.mark.parametrize(("scale", "moved"), [
    (Ordinal(("no or unsure", "toxic", "very toxic")), 0.6),
    (Ordinal(("very toxic", "toxic", "no or unsure")), 0.2),
    (Nominal(("no or unsure", "toxic", "very toxic")), 0.8),
])  # fmt: skip
def test_of_three_options_beta_moves_those_below_the_property_as_in_table_2(scale, moved):
    """Of .2 very toxic, .2 toxic, .6 no or unsure: where toxic lies below very toxic, a share beta of the .6 would
    accept it too. In the other order it is those who chose very toxic, without any order both."""
    answers = ["very toxic"] + ["toxic"] + ["no or unsure"] * 3
    rows = [(f"p{k}", "person", item, answer) for k, answer in enumerate(answers) for item in "ij"]
    rows += [("judge", "judge", item, "toxic") for item in "ij"]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    rated = rated_options(Ratings.of(frame, scales=scale, positive={"rating": "toxic"}))
    assert rated.people_by_beta((0.5,))[0, 0, rated.positive] == pytest.approx(0.2 + 0.5 * moved)


def test_over_beta_people_are_table_2_of_the_paper():
    """The measure and the reverse matrix as printed endorse toxic alike."""
    task = RatingTask.of(["very toxic", "toxic", "no or unsure"])
    back = reverse_choice_matrix(task, 0.5, positive=1)
    assert endorsements(task, recovered(back, np.array([0.2, 0.2, 0.6])))[1] == pytest.approx(0.2 + 0.5 * 0.6)


def test_nothing_is_decided_of_numbers():
    """Beside a criterion with options, one with scores has no estimate."""
    options = said(*FOUR).table
    scores = options.assign(criterion="score", score=[float(k % 2) for k in range(len(options))], response=None)
    both = Ratings.of(pd.concat([options, scores], ignore_index=True))
    assert {names[1] for names in decision_consistency(both)} == {"rating"}


def test_the_property_is_the_option_that_is_stated_to_be():
    """Else the first of options without an order: "toxic" here, whatever was meant."""
    ratings = said(*FOUR)
    fine = replace(ratings, positive={"rating": "fine"}, _memory={})
    found = [decision_consistency(one).of(judge="judge").detail["option"] for one in (ratings, fine)]
    assert found == ["toxic", "fine"]


def test_prevalence_rises_with_beta_and_falls_with_tau(planted):
    found = prevalence_shift(_with_judge(planted), (0.3, 0.5, 0.7))
    grid = np.array([found.of(threshold=f"{tau:g}").detail["prevalence"] for tau in (0.3, 0.5, 0.7)])
    assert (np.diff(grid, axis=1) >= 0).all()
    assert (np.diff(grid, axis=0) <= 0).all()


def _with_judge(planted):
    return planted(items=60).person_rows().judge("j").choices_alone()


def test_response_sets_of_people_make_beta_needless(planted):
    ratings = planted(items=60).person_rows().judge("j").ratings()
    face, over = decision_consistency(ratings).of(judge="j"), consistency_over_beta(ratings).of(judge="j")
    assert face.value == over.value
    assert over.detail["survives"] == BETAS[-1]
    assert over.detail["sets"] is True


def test_over_beta_the_value_is_that_of_the_largest_beta_and_the_range_holds_all(planted):
    ratings = _with_judge(planted)
    found, face = (measured(ratings).of(judge="j") for measured in (consistency_over_beta, decision_consistency))
    row = found.detail["value"][found.detail["taus"].index(0.5)]
    assert (found.detail["beta"], found.value) == (BETAS[-1], pytest.approx(row[-1]))
    assert found.detail["range"] == [min(row), max(row)]
    assert row[0] == pytest.approx(face.value)


def test_bias_over_beta_falls_as_people_would_accept_more(planted):
    found = bias_over_beta(_with_judge(planted)).of(judge="j")
    assert (np.diff(np.array(found.detail["value"]), axis=1) <= 1e-12).all()
    assert found.detail["survives"] < 0.4


def test_the_better_of_ordered_options_is_the_positive_one():
    found = decision_consistency(said(*FOUR, scale=Ordinal(("toxic", "fine")))).of(judge="judge")
    assert found.detail["option"] == "fine"


def test_answers_that_could_not_be_read_are_left_out_and_counted():
    found = decision_consistency(said(("ttff", "ttff"), ["t", "t", "f", "-"])).of(judge="judge")
    assert (found.value, found.n, found.n_excluded) == (1.0, 3, 1)


def test_a_text_in_common_is_too_little():
    found = decision_consistency(said(("t",), ["t"])).of(judge="judge")
    assert "fewer than two texts" in found.note


@pytest.mark.parametrize("betas", [(0.0, 1.2), (-0.1,), ()])
def test_beta_is_a_probability(betas):
    with pytest.raises(RecuseError, match="beta is a probability"):
        consistency_over_beta(said(*FOUR), betas=betas)


def test_tau_is_a_share():
    with pytest.raises(RecuseError, match="cut-off"):
        decision_consistency(said(*FOUR), 1.5)


def test_people_are_needed():
    judges = said(*FOUR)
    alone = replace(judges, table=judges.table[judges.table["kind"] == "judge"], _memory={})
    with pytest.raises(RecuseError, match="add rows of kind person"):
        decision_consistency(alone)


def test_an_option_outside_the_scale_is_named_with_its_row():
    with pytest.raises(RecuseError, match="one of toxic, good; row 2 has 'fine'"):
        decision_consistency(said(*FOUR, scale=Nominal(("toxic", "good"))))


def test_an_empty_set_is_refused():
    rows = [{"rater": r, "kind": k, "item": "i", "response": "|"} for r, k in (("a", "person"), ("j", "judge"))]
    with pytest.raises(RecuseError, match="one or more of toxic, fine"):
        decision_consistency(Ratings.of(pd.DataFrame(rows), scales=ResponseSets(("toxic", "fine"))))


def test_response_sets_alone_do():
    rows = [
        {"rater": r, "kind": k, "item": f"i{i}", "response": "a|b" if i % 2 else "b"}
        for r, k in (("p", "person"), ("j", "judge"))
        for i in range(6)
    ]
    found = decision_consistency(Ratings.of(pd.DataFrame(rows), scales=ResponseSets(("a", "b")))).of(judge="j")
    assert found.value == 1.0
    assert found.detail["sets"] is True


def test_what_people_can_tell_stands_beside(planted):
    few = decision_consistency(planted(people=3).person_rows().judge("j").ratings()).of(judge="j").detail
    many = decision_consistency(planted(people=15).person_rows().judge("j").ratings()).of(judge="j").detail
    assert many["people_alike"] > few["people_alike"] > few["one_person"]

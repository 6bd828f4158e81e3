"""Right answers beside people are no person: measures of people are what they are without them, errors of a judge are
what they are with them alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from recuse import measures
from recuse.check.disagreements import count_disagreements
from recuse.metrics.agreement import COEFFICIENTS, FITS, coefficient
from recuse.papers.alternative_annotator import advantage_over_person
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.pass_rate_ranges import pass_rate_ranges

OF_PEOPLE = (
    "gain_over_constant", "advantage_over_person", "winning_rate", "people_alpha", "prediction_powered_mean",
    "rogan_gladen_rate",
)  # fmt: skip
AGAINST_TRUTH = ("delegable_share", "brier_score", "worst_slice")


@pytest.fixture(params=["scores", "options"])
def both(request) -> Ratings:
    """Three people who are wrong together in a third of 300 texts, and a judge that is right; it skips a few."""
    rng, numbers = np.random.default_rng(4), request.param == "scores"
    right = rng.integers(0, 7 if numbers else 2, 300)
    wrong = np.where(rng.random(300) < 1 / 3, right + 2 if numbers else 1 - right, right)
    noise = {who: rng.random(300) < 0.2 for who in ("ann", "bea", "cid", "judge")}
    given = {who: np.where(noisy, right, wrong) for who, noisy in noise.items() if who != "judge"}
    given |= {"judge": np.where(noise["judge"], 1 - right if not numbers else right + 1, right), "gold": right}
    rows = [
        {"rater": who, "kind": "judge" if who == "judge" else "person", "item": f"t{k}", "confidence": k % 9 / 9,
         "score" if numbers else "response": float(x) if numbers else ("fail", "pass")[x]}
        for who, answers in given.items() for k, x in enumerate(answers)
        if not (who == "judge" and k % 40 == 0) and not (who != "judge" and k > 250)
    ]  # fmt: skip
    rows += [{"rater": "judge", "kind": "judge", "item": f"t{k}", "status": "unparsed"} for k in range(0, 300, 40)]
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(300)], "topic": [f"n{k % 3}" for k in range(300)]})
    frame = pd.DataFrame(rows).assign(status=lambda f: f.get("status", pd.Series("ok", f.index)).fillna("ok"))
    scales = Numeric(0, 9) if numbers else Ordinal(("fail", "pass"))
    return Ratings.of(frame, scales=scales, texts=texts, truth="gold")


def without(ratings: Ratings, *raters: str) -> Ratings:
    return replace(ratings, table=ratings.table[~ratings.table["rater"].isin(raters)], truth="", _memory={})


def values(found) -> dict:
    return {names: (one.value, one.low, one.high, one.n) for names, one in found.items()}


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_measures_of_people_leave_the_right_answers_out(both, name):
    people = getattr(measures, name)(without(both, "gold"))
    assert repr(values(getattr(measures, name)(both))) == repr(values(people))
    assert len(people)


def test_coefficients_leave_the_right_answers_out(both):
    for name, row in COEFFICIENTS.items():
        if FITS[row.needs](both.scale):
            found = coefficient(both, name).of(judge="judge")
            people = coefficient(without(both, "gold"), name).of(judge="judge")
            assert (found.value, found.detail.get("people")) == (people.value, people.detail.get("people")), name


@pytest.mark.parametrize("name", AGAINST_TRUTH)
def test_errors_are_told_by_the_right_answers(both, name):
    alone = getattr(measures, name)(without(both, "ann", "bea", "cid"))
    assert repr(values(getattr(measures, name)(both))) == repr(values(alone))
    known = [one for one in getattr(measures, name)(both).values() if one.defined]
    assert all(one.detail.get("held_against", "the right answers") == "the right answers" for one in known)


def test_disagreements_are_those_with_the_right_answers(both):
    alone = count_disagreements(without(both, "ann", "bea", "cid"))
    assert count_disagreements(both) == alone != count_disagreements(without(both, "gold"))


def test_the_right_answers_may_be_whom_people_represent(both):
    found = advantage_over_person(both, expert="gold")
    assert {person for _, person in found} == {"ann", "bea", "cid"}
    assert advantage_over_person(both, expert="ann").of(judge="judge", person="bea").defined
    assert ("judge", "gold") not in dict(advantage_over_person(both, expert="ann").items())


@pytest.mark.parametrize("name", ["decision_consistency", "prevalence_shift", "ratings_needed"])
@pytest.mark.parametrize("both", ["options"], indirect=True)
def test_decisions_of_people_leave_the_right_answers_out(both, name):
    people = getattr(measures, name)(without(both, "gold"))
    assert repr(values(getattr(measures, name)(both))) == repr(values(people))
    assert [*pass_rate_ranges(both)] == [*pass_rate_ranges(without(both, "gold"))]
    assert next(pass_rate_ranges(both))["who"] == "people"


@pytest.fixture
def systems() -> Ratings:
    """Two judges who are right of the scores of three systems, one of which two people prefer wrongly."""
    rng = np.random.default_rng(5)
    right = rng.integers(1, 8, (40, 3))
    given = {"x": right + rng.integers(0, 2, right.shape), "y": right + rng.integers(-1, 2, right.shape), "gold": right}
    given |= {who: right + np.array([0, 0, 2]) + rng.integers(-1, 2, right.shape) for who in ("ann", "bea")}
    rows = [(who, "judge" if who in "xy" else "person", f"t{i}", "xyz"[t], float(score))
            for who, scores in given.items() for (i, t), score in np.ndenumerate(scores)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "score"])
    return Ratings.of(frame, scales=Numeric(-1, 11), truth="gold", authors={"x": "x", "y": "y"})


@pytest.mark.parametrize("name", ["people_difference", "people_groups", "own_win_rate", "own_win_excess"])
def test_people_order_systems_without_the_right_answers(systems, name):
    of_people = without(systems, "gold")
    found, people = ({key: (repr(one), one.detail) for key, one in getattr(measures, name)(ratings).items()}
                     for ratings in (systems, of_people))  # fmt: skip
    assert repr(found) == repr(people)
    assert len(people)


@pytest.mark.parametrize("name", ["effective_judges", "escalation"])
def test_errors_of_a_panel_are_told_by_the_right_answers(systems, name):
    alone, people = without(systems, "ann", "bea"), without(systems, "gold")
    estimates = [getattr(measures, name)(ratings).of() for ratings in (systems, alone, people)]
    found, right, wrong = ((one.value, one.detail) for one in estimates)
    assert found == right != wrong


def test_the_better_of_two_texts_is_the_right_answer():
    rng, rows = np.random.default_rng(6), []
    for k in range(40):
        right = rng.choice(["first", "second"])
        wrong = {"first": "second", "second": "first"}[right]
        for who, said in {"j": right, "gold": right, "ann": wrong, "bea": wrong}.items():
            for order, shown in (("ab", said), ("ba", {"first": "second", "second": "first"}[said])):
                rows.append((who, "judge" if who == "j" else "person", f"t{k}", order, shown))
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "order", "response"])
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(40)], "a": "x", "b": "z"})
    found = measures.verdict_agreement(Ratings.of(frame, texts=texts, truth="gold"))
    assert {one.value for one in found.values() if one.defined} == {1.0}

"""Judges with a known fault get what theory predicts, by the shipped limits."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from recuse.gates.gate_set import Gates
from recuse.papers.indeterminacy.judge_selection import best_judge, selection_regret
from recuse.papers.indeterminacy.rated_options import (
    bias_over_beta,
    consistency_over_beta,
    decision_consistency,
    prevalence_bias,
)
from recuse.papers.indeterminacy.response_sets import performance


@pytest.fixture(scope="module")
def everyone(planted):
    found = planted(people=15, repeats=25).person_rows(toxic_of_both=0.1)
    found.judge("perfect", toxic_of_both=0.1).judge("asymmetric", toxic_of_both=0.9).noisy("noisy")
    return found.always_both("both").never_both("one")


@pytest.fixture(scope="module")
def by_sets(everyone):
    return everyone.ratings()


@pytest.fixture(scope="module")
def by_choices(everyone):
    return everyone.choices_alone()


def test_the_perfect_judge_decides_as_people_do(by_sets):
    found = decision_consistency(by_sets).of(judge="perfect")
    assert found.low > 0.6
    bias = prevalence_bias(by_sets).of(judge="perfect")
    assert -0.2 < bias.low < bias.high < 0.2


def test_asymmetric_selection_is_a_fault_of_choices_and_none_of_response_sets(by_sets, by_choices):
    """By choices alone it finds far too much; by response sets it is as good as the perfect judge."""
    assert prevalence_bias(by_choices).of(judge="asymmetric").low > 0.2
    assert abs(prevalence_bias(by_sets).of(judge="asymmetric").value) < 0.15
    hits = performance(by_choices)
    values = {judge: hits.of(judge=judge, definition="hit_rate(h/h)").value for judge in ("perfect", "asymmetric")}
    assert values["asymmetric"] < values["perfect"] - 0.15
    sets = performance(by_sets)
    errors = [sets.of(judge=judge, definition="mse(srs/srs)").value for judge in ("perfect", "asymmetric")]
    assert errors[0] == pytest.approx(errors[1], abs=0.02)


def test_the_noisy_judge_fails(by_sets):
    assert decision_consistency(by_sets).of(judge="noisy").high < 0.75
    assert decision_consistency(by_sets).of(judge="noisy").low < 0.6


def test_always_both_finds_everything(by_sets):
    found = prevalence_bias(by_sets).of(judge="both")
    assert found.low > 0.2
    shown = performance(by_sets)
    assert shown.of(judge="both", definition="set_size(hrs/hrs)").value == 2.0
    assert shown.of(judge="both", definition="recall(hrs/hrs)").value == 1.0
    assert shown.of(judge="both", definition="precision(hrs/hrs)").value < 0.85


def test_never_both_misses_what_people_would_accept(by_sets):
    assert prevalence_bias(by_sets).of(judge="one").high < -0.1
    shown = performance(by_sets)
    assert shown.of(judge="one", definition="set_size(hrs/hrs)").value <= 1.1
    recalls = [shown.of(judge=judge, definition="recall(hrs/hrs)").value for judge in ("perfect", "one")]
    assert recalls[1] < recalls[0] - 0.1


def test_a_judge_without_a_valid_answer_is_undefined_everywhere_and_never_best(planted):
    ratings = planted().person_rows().judge("good").judge("mute", status="unparsed").ratings()
    for found in (decision_consistency(ratings), prevalence_bias(ratings), best_judge(ratings)):
        mute = found.of(judge="mute")
        assert np.isnan(mute.value)
        assert "no valid answer" in mute.note
    assert decision_consistency(ratings).of(judge="mute").n_excluded > 0
    regret = selection_regret(ratings).of(definition="hit_rate(h/h)")
    assert "choosing takes two judges" in regret.note


def test_consistency_and_bias_never_exceed_1_together(by_sets, by_choices):
    for ratings in (by_sets, by_choices):
        c, b = consistency_over_beta(ratings), bias_over_beta(ratings)
        for key, found in c.items():
            sums = np.array(found.detail["value"]) + np.abs(b[key].detail["value"])
            assert (sums <= 1 + 1e-9).all()


def test_hit_rate_never_chooses_the_judge_whose_choices_fall_otherwise(by_choices):
    """However good its response sets are."""
    found = selection_regret(by_choices).of(definition="hit_rate(h/h)")
    assert found.detail["chosen"] != "asymmetric"


LIMITS = """
[decision_consistency]
at_least = 0.6
reason = "below it, a judge is surely worse than asking one of the people"

[prevalence_bias]
within = [-0.2, 0.2]
reason = "off by a fifth of all texts, a share is of no use"
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    path = tmp_path_factory.mktemp("gates") / "gates.toml"
    path.write_text(LIMITS, encoding="utf-8")
    return Gates.load(path, date(2026, 11, 1))


def outcomes(limited, ratings):
    """Judge -> outcome under limits that a team might set on paper 004's two measures."""
    told = {}
    for name, measured in (("decision_consistency", decision_consistency), ("prevalence_bias", prevalence_bias)):
        for verdict in limited.decide(name, measured(ratings), {"task": "t", "panel": "p", "protocol": "file"}):
            told.setdefault(verdict.subject["judge"], {})[name] = verdict.outcome
    return told


def test_limits_pass_the_perfect_judge_and_fail_the_faulty_ones(planted, limited):
    found = planted(items=250, people=25, repeats=30).person_rows(0.1).judge("perfect", toxic_of_both=0.1)
    found.judge("asymmetric", toxic_of_both=0.9).noisy("noisy").always_both("both").never_both("one")
    told = outcomes(limited, found.judge("mute", status="unparsed").ratings())
    assert told["perfect"] == {"decision_consistency": "pass", "prevalence_bias": "pass"}
    assert told["asymmetric"] == told["perfect"]
    assert told["noisy"]["decision_consistency"] != "pass"
    assert told["both"]["prevalence_bias"] == "fail"
    assert told["one"]["prevalence_bias"] != "pass"
    assert set(told["mute"].values()) <= {"undecided", "not measured", "fail"}
    by_choices = outcomes(limited, found.choices_alone())
    assert by_choices["perfect"]["prevalence_bias"] == "pass"
    assert by_choices["asymmetric"]["prevalence_bias"] == "fail"

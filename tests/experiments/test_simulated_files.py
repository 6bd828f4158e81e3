"""Drawn files are what they are said to be: people agree as stated, and a planted fault is twice its margin."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from recuse.experiments.drawn_judges import people_of
from recuse.experiments.simulated_files import FAULTS, PERSON_LIKE, Setting
from recuse.metrics.coverage import unanswered
from recuse.metrics.human_alignment import human_offset
from recuse.metrics.human_ceiling import human_ceiling
from recuse.metrics.presentation import slot_preference
from recuse.metrics.slices import slice_favour, worst_slice
from recuse.metrics.upgrade.scores import drift
from recuse.readers.file_panel import panel_of
from recuse.run.run import ask_file
from recuse.schema import RecuseError, members
from recuse.suite.question_runner import read_evals

SHIPPED, TODAY = Path(__file__).parents[2] / "evals", date(2026, 3, 1)
GATES, QUESTIONS = read_evals(SHIPPED, TODAY)
BY_NAME = {fault.name: fault for fault in FAULTS}


def drawn(setting, texts, judge="one more person", seed=1):
    return setting.draw(texts, judge, np.random.default_rng(seed), GATES)


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("agreement", [0.25, 0.45, 0.7])
@pytest.mark.parametrize("scale", ["0-10", "1-5", "pass/fail", "labels"])
def test_people_agree_as_stated(scale, agreement):
    """ICC of scores and kappa of options, by pairs of people over 8,000 texts: a standard error of about 0.01."""
    people = people_of(drawn(Setting(scale, agreement, systems=1), 8000).ratings, "rating")
    assert people.agreement == pytest.approx(agreement, abs=0.03)
    assert people.severity == 0.0


def test_answers_have_their_shares():
    people = people_of(drawn(Setting("pass/fail", 0.6, positive=0.8), 8000).ratings, "rating")
    assert np.mean(people.values == 1) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("scale", ["0-10", "pass/fail", "labels"])
def test_less_error_agrees_more(scale):
    values = [
        human_ceiling(drawn(Setting(scale, 0.6), 3000, judge).ratings).of(judge="judge").value
        for judge in ("half a person's error", "one more person", "1.5 times")
    ]
    assert values[0] > 0.04 > -0.04 > values[2]
    assert values[1] == pytest.approx(0.0, abs=0.04)


@pytest.mark.parametrize(
    ("name", "metric", "value", "within"),
    [
        ("lenient", human_offset, 1.2, 0.1),  # the scale's end takes some
        ("refuses hard ones", unanswered, 0.1, 0.001),
        ("first place", slot_preference, 0.2, 0.04),
        ("longer", human_ceiling, -0.2, 0.03),
        ("noise", human_ceiling, -0.2, 0.03),
        ("own system", slice_favour, 0.2, 0.04),
        ("drift", drift, 0.2, 0.001),
        ("one slice", worst_slice, -0.2, 0.04),
    ],
)
def test_a_planted_fault_is_twice_its_margin(name, metric, value, within):
    ratings = drawn(BY_NAME[name].setting, 3000, name).ratings
    measured = [estimate.value for names, estimate in members(metric(ratings)) if names["judge"] == "judge"]
    assert measured[0] == pytest.approx(value, abs=within)


def test_a_constant_judge_and_one_that_leaves_out_the_hard_ones():
    table = drawn(BY_NAME["constant"].setting, 50, "constant").ratings.table
    assert table[table["kind"] == "judge"]["response"].nunique() == 1
    panel = drawn(BY_NAME["refuses hard ones"].setting, 200, "refuses hard ones")
    table, people = panel.ratings.table, people_of(panel.ratings, "rating")
    judge = table[table["kind"] == "judge"].set_index("item").loc[list(people.answers.items), "status"]
    apart = people.values.std(axis=0) > 0
    assert apart[(judge != "ok").to_numpy()].all()


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_asking_what_decides_comes_to_the_whole_decision(fault):
    panel = drawn(fault.setting, 80, fault.name)
    whole, deciding = ask_file(panel, *read_evals(SHIPPED, TODAY)), ask_file(panel, GATES, QUESTIONS, deciding=True)
    assert deciding.decision == whole.decision
    assert len(deciding.results["measurements"]) < len(whole.results["measurements"])


def test_the_same_seed_gives_the_same_file():
    one, two = (drawn(Setting("1-5"), 20).ratings.table for _ in range(2))
    assert one.equals(two)
    assert not one.equals(drawn(Setting("1-5"), 20, seed=2).ratings.table)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"scale": "0-1.5"}, "--scale is LOW-HIGH in whole steps"), ({"scale": "5-1"}, "--scale is LOW-HIGH"),
     ({"agreement": 1.0}, "--agreement lies between 0.01 and 0.99; got 1"), ({"people": 0}, "--people lies between 1")],
)  # fmt: skip
def test_settings_that_cannot_be(given, says):
    with pytest.raises(RecuseError, match=says):
        Setting(**given)


def test_a_fault_needs_the_gate_that_says_how_large_it_is(tmp_path):
    (tmp_path / "gates.toml").write_text('[unanswered]\nat_most = 0.05\ndecide = "point"\nreason = "r"\n')
    gates, _ = read_evals(tmp_path, TODAY)
    with pytest.raises(RecuseError, match="has no gate 'human_offset', which says how large the planted fault"):
        BY_NAME["lenient"].setting.draw(30, "lenient", np.random.default_rng(1), gates)


def test_losses_and_repeats_are_drawn():
    table = drawn(Setting("1-5", repeats=3, losses=0.2), 1000).ratings.table
    judge = table[table["kind"] == "judge"]
    assert set(judge["repeat"]) == {0, 1, 2}
    assert (judge["status"] != "ok").mean() == pytest.approx(0.2, abs=0.03)
    assert set(PERSON_LIKE) == {"one more person", "half a person's error", "1.5 times"}
    assert panel_of(drawn(Setting(), 5).ratings).judges == ("judge",)

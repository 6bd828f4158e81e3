"""Simulated panels through the real questions, measures and gates: what is promised holds, at small sizes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from recuse.experiments.asking import questions_by_gate
from recuse.experiments.curves_page import EVERY, page
from recuse.experiments.forecasts import brought_by_judges, forecasts
from recuse.experiments.operating_curves import FAULTS, validate
from recuse.experiments.recorded_anew import recorded_anew
from recuse.experiments.scripted_panel import simulated_choices, simulated_scores
from recuse.experiments.simulated_runs import Scenario, drawn_runs
from recuse.experiments.sizes import Sizes, sizes_of_panel, sizes_of_ratings
from recuse.experiments.upgrade_curves import UPGRADE_FAULTS, upgrade_curves
from recuse.experiments.validate_command import table
from recuse.gates import Gates
from recuse.metrics import consensus, position
from recuse.ratings import Numeric
from recuse.schema import RecuseError

SMALL = Sizes(judges=4, items=12, repeats=2, people=0, pairs=0)
TODAY = date(2026, 3, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, three_gates) -> Path:
    return three_gates(tmp_path_factory.mktemp("evals"))


@pytest.fixture(scope="module")
def record(folder):
    return validate(folder, SMALL, runs=60, processes=1, today=TODAY).record


def gate_of(record, name):
    return next(gate for gate in record["gates"] if gate["gate"] == name)


def at_most(promised: float, runs: int) -> float:
    """Three Monte-Carlo standard errors above what is promised."""
    return promised + 3 * math.sqrt(promised * (1 - promised) / runs)


# --------------------------------------------------------------------------- what is promised


def test_fair_judges_fail_no_more_often_than_the_gates_file_allows(record):
    assert record["fair"]["any_failed"] <= at_most(0.05, 60)
    assert all(gate["false_fail"] <= at_most(gate["alpha"], 60) for gate in record["gates"])


def test_a_judge_on_the_limit_seldom_fails_and_seldom_passes(record):
    on_it = gate_of(record, "leniency")["at_limit"]
    assert on_it["fails"] <= at_most(0.05 / 3, 30)
    assert on_it["passes"] <= at_most(0.025, 30)


def test_the_fault_that_is_promised_is_found_in_four_of_five_runs(record):
    for name in ("leniency", "repeat_difference"):
        promised = gate_of(record, name)["promised"]
        assert promised["fails"] >= 0.8 - 3 * math.sqrt(0.8 * 0.2 / 30), name


def test_intervals_hold_the_truth(record):
    """48 leniencies of 60 panels, nominal 95 %: correlated within a panel, so within 5 points."""
    assert gate_of(record, "leniency")["coverage"] == pytest.approx(0.95, abs=0.05)


def test_larger_faults_are_found_more_often(record):
    for gate in record["gates"]:
        fails = [point["fails"] for point in gate["curve"]]
        passes = [point["passes"] for point in gate["curve"]]
        assert fails == sorted(fails)
        assert passes == sorted(passes, reverse=True)
        assert (fails[0], fails[-1]) == (0.0, 1.0)


def test_recorded_anew_the_same_judges_change_nothing_and_half_a_point_is_found(folder):
    """One text per judge, ten repeats, SD 0.18 on 0-10: the published panel's size, and GPT-5.1's SDs (0.16, 0.20)."""
    published = Sizes(judges=5, items=1, repeats=10, people=0, pairs=0, noise=0.018, spread=0.03, losses=0, step=0)
    anew = recorded_anew(folder, published, 40, 3, 1, TODAY)
    assert anew["same"] <= at_most(0.05, 40)
    assert anew["found"] >= 0.8
    # The best that any test of the change can do, with the SD known: 15 changes share 4 %.
    best = (NormalDist().inv_cdf(1 - 0.04 / 15 / 2) + NormalDist().inv_cdf(0.8)) * 0.18 * math.sqrt(2 * 1.25**2 / 10)
    assert best < anew["smallest"]["self_preference"] < 1.12 * best
    several = recorded_anew(folder, replace(SMALL, items=20, repeats=1), 20, 3, 1, TODAY)
    assert several["same"] <= at_most(0.05, 20)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.022, 0.027])
def test_half_a_point_is_found_at_the_noise_of_the_published_panel(folder, sd):
    """Names shown and hidden, as there; both levels together find what one alone does in 75 % (SD 0.22 on 0-10) and
    half of the runs (SD 0.27)."""
    published = Sizes(judges=5, items=1, repeats=10, people=0, pairs=0, noise=sd, spread=0.03, losses=0, step=0,
                      names=True)  # fmt: skip
    anew = recorded_anew(folder, published, 60, 3, 2, TODAY)
    assert anew["same"] <= at_most(0.05, 60)
    assert anew["found"] >= 0.8


# --------------------------------------------------------------------------- the same every time


def test_the_same_input_gives_the_same_verdicts_whatever_the_number_of_processes(folder, record):
    few = replace(SMALL, items=6)
    one, two = (validate(folder, few, runs=6, processes=n, today=TODAY).record for n in (1, 2))
    assert json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    other = validate(folder, few, runs=6, seed=2, processes=1, today=TODAY).record
    assert other["gates"] != one["gates"]


def test_byte_identical_ratings_give_byte_identical_verdicts(folder):
    gates = Gates.load(folder / "gates.toml", TODAY)

    def decided() -> str:
        ratings = simulated_scores(SMALL, {"lenient": 0.5}, np.random.default_rng(4))
        return json.dumps([v.record() for v in gates.decide("leniency", consensus.leniency(ratings), {"panel": "p"})])

    assert len({decided() for _ in range(3)}) == 1


# --------------------------------------------------------------------------- the model


def test_expected_scores_carry_the_fault_and_nothing_else():
    exact = simulated_scores(SMALL, {"lenient": 0.6}, np.random.default_rng(1), "items")
    found = consensus.leniency(exact)
    assert found.of(judge="judge-0").value == pytest.approx(0.6)
    assert found.of(judge="judge-1").value == pytest.approx(-0.2)


def test_answers_lie_as_far_apart_as_they_are_told_to():
    from recuse.metrics import stability

    many = replace(SMALL, items=200, repeats=4)
    found = stability.repeat_difference(simulated_scores(many, {"apart": 0.8}, np.random.default_rng(2)))
    assert found.of(judge="judge-0").value == pytest.approx(0.8, abs=0.03)


def test_a_judge_that_takes_the_first_place_prefers_it():
    choices = simulated_choices(replace(SMALL, pairs=200), {"first place": 1.0}, np.random.default_rng(3))
    found = position.slot_preference(choices)
    assert found.of(judge="judge-0").value == pytest.approx(0.5, abs=0.02)
    assert abs(found.of(judge="judge-1").value) < 0.1


def test_sizes_are_read_off_ratings():
    known = Sizes(judges=5, items=150, repeats=3, people=0, pairs=0, noise=0.06, spread=0.05, losses=0.05, step=0)
    found = sizes_of_ratings(simulated_scores(known, {}, np.random.default_rng(5)), Sizes())
    assert (found.judges, found.items, found.repeats, found.low, found.high) == (5, 150, 3, 0.0, 10.0)
    assert found.noise == pytest.approx(0.06, abs=0.003)
    assert found.spread == pytest.approx(0.05, abs=0.008)
    assert found.losses == pytest.approx(0.05, abs=0.01)
    assert found.texts == 5


def test_the_spread_of_one_judge_is_assumed_and_its_noise_measured():
    known = Sizes(judges=1, items=150, repeats=3, people=2, pairs=0, noise=0.06, step=0)
    found = sizes_of_ratings(simulated_scores(known, {}, np.random.default_rng(5)), Sizes(spread=0.07))
    assert (found.judges, found.texts, found.people) == (1, 1, 2)
    assert found.spread == 0.07
    assert found.noise == pytest.approx(0.06, abs=0.004)


@pytest.mark.parametrize("judges", [1, 3])
def test_items_that_have_a_text_of_one_system_only_are_sized_without_a_warning(judges):
    """Half of the cells items x targets are empty; the spread is that of the texts there are."""
    known = Sizes(judges=judges, items=200, repeats=2, people=2, pairs=0, targets=2, noise=0.02, spread=0.07, step=0)
    ratings = simulated_scores(known, {}, np.random.default_rng(5))
    number = ratings.table["item"].astype("category").cat.codes
    system = ratings.table["target"].astype("category").cat.codes
    half = replace(ratings, table=ratings.table[number % 2 == system].reset_index(drop=True))
    found = sizes_of_ratings(half, Sizes(spread=0.07))
    assert (found.items, found.texts) == (200, 1)
    assert found.spread == pytest.approx(0.07, abs=0.01)


def test_ends_of_the_scale_can_be_given_where_ratings_do_not_say():
    ratings = simulated_scores(Sizes(judges=2, items=20, people=0), {}, np.random.default_rng(5))
    endless = replace(ratings, scales={"rating": Numeric(-math.inf, math.inf)})
    with pytest.raises(RecuseError, match="name it with --scale 0-10"):
        sizes_of_ratings(endless, Sizes())
    known = sizes_of_ratings(endless, Sizes(), (0.0, 20.0))
    assert (known.low, known.high) == (0.0, 20.0)


def test_a_panel_whose_source_fixes_no_replies_has_sizes():
    root = Path(__file__).parents[2]
    published = sizes_of_panel(root / "fixtures" / "panels" / "published.toml", root, Sizes())
    assert (published.judges, published.items, published.texts, published.repeats) == (5, 1, 5, 10)


def test_items_with_one_text_each_are_planned_with_one_text_each():
    ratings = simulated_scores(Sizes(judges=2, items=20, targets=1, people=0), {}, np.random.default_rng(5))
    assert sizes_of_ratings(ratings, Sizes()).texts == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"judges": 0}, "--judges is a whole number from 1; got 0"),
     ({"targets": -1}, "--targets is a whole number from 0; got -1"),
     ({"noise": 3.0}, "--noise is a share from 0 to below 1"),
     ({"low": 5.0, "high": 1.0}, "--scale has its lower end first, as 0-10; got 5-1")],
)  # fmt: skip
def test_sizes_that_cannot_be(wrong, says):
    with pytest.raises(RecuseError, match=says):
        Sizes(**wrong)


# --------------------------------------------------------------------------- before recording, and what is shown


def test_more_items_are_asked_for_where_fair_judges_would_not_pass(folder):
    few = {one.gate: one for one in forecasts(folder, replace(SMALL, items=3, spread=0.08), 3, 1, TODAY)}["leniency"]
    many = {one.gate: one for one in forecasts(folder, replace(SMALL, items=60), 3, 1, TODAY)}["leniency"]
    assert few.fair_passes < 0.8 < many.fair_passes
    assert few.factor > 1
    assert many.factor == 1.0
    assert few.smallest_fault is None  # it would have to be larger than the scale leaves room for
    assert many.smallest_fault > 0.4


@pytest.mark.parametrize("targets", [0, 1, 3])
def test_one_judge_is_planned_what_needs_no_other_and_told_what_does(folder, targets):
    alone = replace(SMALL, judges=1, targets=targets)
    assert {one.gate for one in forecasts(folder, alone, 2, 1, TODAY)} == {"repeat_difference"}
    brought = brought_by_judges(folder, alone, 2, TODAY)
    assert brought == (["leniency"] if targets == 1 else ["self_preference", "leniency"])
    assert brought_by_judges(folder, alone, 3, TODAY) == []


def test_the_shipped_gates_are_simulated_by_the_shipped_questions():
    shipped = Path(__file__).parents[2] / "evals"
    questions = questions_by_gate(shipped, Sizes(items=6, pairs=8))
    assert {"leniency", "human_offset", "slot_preference", "parse_rate"} <= set(questions)
    assert {"direction", "framing_shift", "padding", "injection"} <= set(questions)


SHIPPED = Path(__file__).parents[2] / "evals"


@pytest.mark.parametrize(
    ("kind", "gate", "fault", "share"),
    [
        ("scores turned", "direction", "keeps the number", 1.0),
        ("scores turned", "framing_shift", "kinder turned", 3.0),
        ("length_twins", "padding", "longer", 1.0),
        ("attacked_scores", "injection", "obeys", 1.0),
    ],
)
def test_a_judge_with_the_fault_of_a_test_fails_and_a_fair_one_does_not(kind, gate, fault, share):
    sizes = Sizes(judges=2, items=30, repeats=3, pairs=80)

    def outcomes(effect):
        [run] = drawn_runs(SHIPPED, sizes, [Scenario(kind, effect, (gate,), 1, 1)], 1, 1, TODAY)[0]
        return {one.judge: one.outcome for one in run}

    assert outcomes({fault: share})["judge-0"] == "fail"
    assert "fail" not in {*outcomes({}).values(), outcomes({fault: share})["judge-1"]}


@pytest.mark.slow
def test_upgrades_are_simulated_by_the_shipped_gates():
    sizes = Sizes(judges=3, items=15, repeats=2, people=2, pairs=0)
    found = upgrade_curves(SHIPPED, sizes, 4, 1, 1, TODAY)
    assert [(same["kind"], same["worse"]) for same in found["same"]] == [("scores", 0.0), ("tests", 0.0)]
    assert {gate["gate"] for gate in found["gates"]} >= {"upgrade_human_offset", "upgrade_losses", "upgrade_agreement"}
    assert {gate["gate"] for gate in found["gates"]} >= {"upgrade_injection", "upgrade_cost", "upgrade_latency"}
    worst = {p["effect"]: p for p in found["curve"]}  # the last of each is the largest
    assert {worst[name]["worse"] for name in ("lenient", "costs", "takes")} == {1.0}
    assert not any(p["accepted"] for p in worst.values())
    assert json.dumps(upgrade_curves(SHIPPED, sizes, 2, 1, 2, TODAY)) == json.dumps(
        upgrade_curves(SHIPPED, sizes, 2, 1, 1, TODAY)
    )


def test_gates_without_an_upgrade_have_no_curves_of_one(record):
    assert record["upgrade"] == {}


def test_the_table_and_the_page(record):
    told = table(record)
    assert "any fair judge fails" in told
    assert "promised: at most 5.0 %" in told
    assert told.count("\nleniency ") == 1
    drawn = page(record, told)
    assert drawn.count("<svg") == 3
    assert "<script" not in drawn
    assert page(record, told) == drawn


def test_every_fault_that_is_simulated_has_words_on_the_page() -> None:
    assert {fault.effect for fault in (*FAULTS, *UPGRADE_FAULTS)} <= set(EVERY)

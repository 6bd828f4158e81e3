"""Chances to pass and to fail, the smallest fault found, and how many more would decide: forecasts that come true."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recuse.gates.limits import Limit
from recuse.gates.power import Spread, chance_to_fail, chance_to_pass, factor_to_decide, power_of, spread
from recuse.statistics.distributions import Binomial, Student

WITHIN = Limit.of({"within": (-0.5, 0.5)})
RUNS = 20_000


def simulated(truth, se, n, level):
    """Shares of intervals at `level` inside and outside [-0.5, 0.5], over RUNS samples of n normal observations."""
    rng = np.random.default_rng(3)
    draws = rng.normal(truth, se * math.sqrt(n), (RUNS, n))
    half = -Student(0.0, 1.0, n - 1).interval(level)[0] * draws.std(axis=1, ddof=1) / math.sqrt(n)
    means = draws.mean(axis=1)
    inside = (means - half >= -0.5) & (means + half <= 0.5)
    outside = (means - half > 0.5) | (means + half < -0.5)
    return inside.mean(), outside.mean()


@pytest.mark.parametrize(("truth", "se", "n"), [(0.0, 0.15, 10), (0.3, 0.08, 12), (0.2, 0.05, 30), (0.8, 0.1, 8)])
def test_the_chances_are_those_of_simulated_samples(truth, se, n):
    """Within three Monte-Carlo standard errors, 1 point; with two bounds the formula is a lower bound."""
    inside, outside = simulated(truth, se, n, 0.95)
    around = Spread(se, n - 1)
    assert chance_to_pass(WITHIN, truth, around, 0.95) == pytest.approx(inside, abs=0.01)
    assert chance_to_fail(WITHIN, truth, around, 0.95) == pytest.approx(outside, abs=0.01)


def test_the_smallest_fault_fails_in_four_of_five_samples(estimate):
    found = power_of(WITHIN, estimate(0.1, 0.08, 12), 0.95, 0.99).smallest_fault
    assert simulated(found, 0.08, 12, 0.99)[1] == pytest.approx(0.8, abs=0.01)


def test_a_fair_judge_is_at_zero_where_both_directions_are_faults_and_where_it_was_measured_elsewhere(estimate):
    assert power_of(WITHIN, estimate(0.4, 0.1), 0.95, 0.95).fair == 0.0
    assert power_of(Limit.of({"within": (1.0, 2.0)}), estimate(1.2, 0.1), 0.95, 0.95).fair == 1.5
    assert power_of(Limit.of({"at_most": 0.5}), estimate(0.2, 0.1), 0.95, 0.95).fair == 0.2
    assert power_of(Limit.of({"at_most": 0.5}), estimate(0.7, 0.1), 0.95, 0.95).fair_passes is None


def test_the_smallest_fault_below_a_lower_limit(estimate):
    lower = power_of(Limit.of({"at_least": 0.5}), estimate(0.8, 0.1), 0.95, 0.95).smallest_fault
    upper = power_of(Limit.of({"at_most": -0.5}), estimate(-0.8, 0.1), 0.95, 0.95).smallest_fault
    assert lower == pytest.approx(-upper)
    assert lower < 0.5 - 2.262 * 0.1


# --------------------------------------------------------------------------- how many more


@pytest.mark.parametrize(("value", "se", "n"), [(0.4, 0.08, 10), (0.1, 0.4, 15), (0.62, 0.1, 20), (-0.3, 0.15, 6)])
def test_about_so_many_more_decide_in_four_of_five_samples(estimate, value, se, n):
    """The forecast of the first edition, which ignored power, came true in 50 to 72 %."""
    factor = factor_to_decide(WITHIN, estimate(value, se, n), 0.95, 0.95)
    more = math.ceil(factor * n)
    inside, outside = simulated(value, se * math.sqrt(n / more), more, 0.95)
    assert inside + outside == pytest.approx(0.8, abs=0.02)


def test_far_fewer_do_not(estimate):
    factor = factor_to_decide(WITHIN, estimate(0.4, 0.08, 10), 0.95, 0.95)
    around = spread(estimate(0.4, 0.08, 10), 0.9 * factor)
    assert chance_to_pass(WITHIN, 0.4, around, 0.95) < 0.79


def test_a_value_on_the_bound_has_no_number_that_decides(estimate):
    assert factor_to_decide(Limit.of({"at_most": 0.5}), estimate(0.5, 0.1), 0.95, 0.95) == math.inf


def test_a_law_that_cannot_tell_says_so(load, estimate):
    class Silent:
        def interval(self, level):
            return (0.2, 0.6)

        def half_width_at(self, factor):
            return None

    unsure = estimate(0.4, 0.1, distribution=Silent())
    assert factor_to_decide(Limit.of({"at_most": 0.5}), unsure, 0.95, 0.95) is None
    assert factor_to_decide(Limit.of({"at_most": 0.5}), estimate(0.4, 0.1, distribution=None), 0.95, 0.95) is None
    verdict = load('[bias]\nat_most = 0.5\nreason = "r"\n').decide("bias", unsure, {})[0]
    assert "how many is not known" in verdict.remedy.finding
    assert verdict.power is None


def test_a_share_is_taken_by_the_width_of_its_interval(estimate):
    distribution = Binomial(40, 50)
    low, high = distribution.interval(0.95)
    around = spread(estimate(0.8, 0.1, distribution=distribution))
    assert around.se == pytest.approx((high - low) / 2 / 1.959964, rel=1e-6)
    assert math.isinf(around.df)

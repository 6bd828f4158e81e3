"""Chances to pass and to fail, the smallest fault found, and how many more would decide: forecasts that come true."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from recuse.gates.limits import Limit
from recuse.gates.verdict_power import Spread, chance_to_fail, chance_to_pass, factor_to_decide, power_of, spread
from recuse.papers.merchant_risk.repeat_noise import mean_difference
from recuse.schema import Estimate
from recuse.statistics.bounded import bounded_mean
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


def promised_and_kept(promise, level, n, again=lambda told: 12):
    """Share of repetitions, each of `again(told)` observations, that end as a recording of n observations, which does
    not know its own spread (0.08), promised with 80 %: `promise(se)` is (true value, what is told)."""
    rng, kept = np.random.default_rng(4), []
    for _ in range(600):
        se = 0.08 * math.sqrt(rng.chisquare(n - 1) / (n - 1))
        truth, told = promise(se)
        more = again(told)
        own = 0.08 * math.sqrt(n / more) * np.sqrt(rng.chisquare(more - 1, 200) / (more - 1))
        half = -Student(0.0, 1.0, more - 1).interval(level)[0] * own
        means = rng.normal(truth, 0.08 * math.sqrt(n / more), 200)
        kept.append(np.mean((np.abs(means) - half > 0.5) | (np.abs(means) + half <= 0.5)))
    return float(np.mean(kept))


def test_the_smallest_fault_fails_in_four_of_five_repetitions(estimate):
    """With the spread taken to be known, in 75 of 100."""
    gate_level = 0.99

    def promise(se):
        return power_of(WITHIN, estimate(0.1, se, 12), 0.95, gate_level)["smallest_fault"], None

    assert promised_and_kept(promise, gate_level, 12) == pytest.approx(0.8, abs=0.01)


def test_the_smallest_fault_of_a_spread_grows_with_the_spread_it_causes():
    """A judge whose answers lie as far apart as the promised fault fails the limit in four of five recordings."""
    limit, rng = Limit.of({"at_most": 0.5}), np.random.default_rng(5)
    promised = []
    for scores in rng.normal(0, 0.3, (200, 10, 11)):
        found = mean_difference(scores)
        low, high = found.interval(0.95)
        estimate = Estimate(metric="repeat_difference", value=found.value, low=low, high=high, distribution=found,
                            n=110, method="m")  # fmt: skip
        promised.append(power_of(limit, estimate, 0.95, 0.99)["smallest_fault"])
    sds = np.array(promised) * math.sqrt(math.pi) / 2
    fails = [mean_difference(rng.normal(0, sd, (10, 11))).interval(0.99)[0] > 0.5 for sd in sds for _ in range(5)]
    assert np.mean(fails) == pytest.approx(0.8, abs=0.05)


def test_an_own_text_fault_is_seen_with_thirty_items_where_a_slip_is_a_step():
    """Where the largest slip that was never seen is the whole scale, thirty items show no fault; a step of it, 1.1."""
    x = np.random.default_rng(1).normal(0, 1, 30)
    x = (x - x.mean()) / x.std(ddof=1) * 0.5

    def smallest(slip):
        found = bounded_mean(x, np.arange(30), (-20, 20), slip=slip)
        low, high = found.interval(0.95)
        estimate = Estimate(metric="own_text", value=0.0, low=low, high=high, distribution=found, n=30, method="m",
                            span=10.0)  # fmt: skip
        return power_of(Limit.of({"within": (-0.625, 0.625)}), estimate, 0.95, 1 - 0.00125 / 5)["smallest_fault"]

    assert smallest(None) is None
    assert smallest(1.0) == pytest.approx(1.1, abs=0.05)


def test_the_smallest_fault_knows_what_a_mean_with_nothing_below_0_may_hide():
    """Thirty differences around 1.2 on a scale of 10 points either way lie all above 0: a slip the whole way to the
    lower end, once in thirty, is not ruled out, and the fault that fails lies far beyond that."""
    rng = np.random.default_rng(6)
    limit = Limit.of({"within": (-0.6, 0.6)})

    def fails(truth):
        found = bounded_mean(rng.normal(truth, 0.5, 30), np.arange(30), (-10, 10))
        return limit.excludes(*found.interval(0.999))

    fair = bounded_mean(rng.normal(0, 0.5, 30), np.arange(30), (-10, 10))
    low, high = fair.interval(0.95)
    estimate = Estimate(metric="own_text", value=fair.value, low=low, high=high, distribution=fair, n=30, method="m")
    found = power_of(limit, estimate, 0.95, 0.999)["smallest_fault"]
    assert np.mean([fails(found) for _ in range(300)]) >= 0.75
    assert np.mean([fails(1.2) for _ in range(300)]) < 0.5
    assert power_of(limit, replace(estimate, span=10.0), 0.95, 0.999)["smallest_fault"] in (found, None)
    assert power_of(limit, replace(estimate, span=found), 0.95, 0.999)["smallest_fault"] is None


def test_a_fair_judge_is_at_zero_where_both_directions_are_faults_and_where_it_was_measured_elsewhere(estimate):
    assert power_of(WITHIN, estimate(0.4, 0.1), 0.95, 0.95)["fair"] == 0.0
    assert power_of(Limit.of({"within": (1.0, 2.0)}), estimate(1.2, 0.1), 0.95, 0.95)["fair"] == 1.5
    assert power_of(Limit.of({"at_most": 0.5}), estimate(0.2, 0.1), 0.95, 0.95)["fair"] == 0.2
    assert power_of(Limit.of({"at_most": 0.5}), estimate(0.7, 0.1), 0.95, 0.95)["fair_passes"] is None


def test_the_smallest_fault_below_a_lower_limit(estimate):
    lower = power_of(Limit.of({"at_least": 0.5}), estimate(0.8, 0.1), 0.95, 0.95)["smallest_fault"]
    upper = power_of(Limit.of({"at_most": -0.5}), estimate(-0.8, 0.1), 0.95, 0.95)["smallest_fault"]
    assert lower == pytest.approx(-upper)
    assert lower < 0.5 - 2.262 * 0.1


# --------------------------------------------------------------------------- how many more


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(("value", "n"), [(0.4, 10), (0.62, 20), (-0.3, 6)])
def test_about_so_many_more_decide_in_four_of_five_repetitions(estimate, value, n):
    """The forecast of the first edition, which ignored power, came true in 50 to 72 %."""

    def promise(se):
        return value, factor_to_decide(WITHIN, estimate(value, se, n), 0.95, 0.95)

    assert promised_and_kept(promise, 0.95, n, lambda factor: math.ceil(factor * n)) >= 0.79


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
    assert "how many is not known" in verdict.remedy["finding"]
    assert verdict.power is None


def test_a_share_is_taken_by_the_width_of_its_interval(estimate):
    distribution = Binomial(40, 50)
    low, high = distribution.interval(0.95)
    around = spread(estimate(0.8, 0.1, distribution=distribution))
    assert around.se == pytest.approx((high - low) / 2 / 1.959964, rel=1e-6)
    assert math.isinf(around.df)


def test_an_interval_with_one_long_end_is_not_promised_to_decide_as_it_is(estimate):
    """Half its width is .04, but its lower end lies .2 from the value and the bound .1: four times as many."""

    class Skewed:
        def interval(self, level):
            return (0.4, 0.48)

        def half_width_at(self, factor):
            return 0.04 / math.sqrt(factor)

    long_end = estimate(0.6, 0.1, distribution=Skewed())
    for limit in ({"at_least": 0.5}, {"within": (0.5, 0.9)}):
        assert factor_to_decide(Limit.of(limit), long_end, 0.95, 0.98) == pytest.approx(4.0)


def share(successes, trials):
    found = Binomial(successes, trials)
    low, high = found.interval(0.95)
    return Estimate(metric="share", value=successes / trials, low=low, high=high, distribution=found, n=trials,
                    method="m")  # fmt: skip


def test_all_of_seventeen_show_a_share_of_four_fifths_and_no_fewer_do():
    """.025 to the power 1/17 is .805, 1/16 .794: two more than ten, or than fifteen, decide nothing."""
    limit = Limit.of({"at_least": 0.8})
    for seen in (10, 15, 16):
        assert factor_to_decide(limit, share(seen, seen), 0.95, 0.98) == pytest.approx(17 / seen)
    assert factor_to_decide(Limit.of({"at_most": 0.2}), share(0, 10), 0.95, 0.98) == pytest.approx(1.7)
    assert factor_to_decide(limit, share(8, 10), 0.95, 0.98) == math.inf


@pytest.mark.parametrize(("limit", "successes", "seen"), [
    ({"at_least": 0.8}, 19, 20), ({"at_least": 0.8}, 53, 60), ({"at_least": 0.8}, 6, 10), ({"at_most": 0.05}, 1, 60),
    ({"at_most": 0.05}, 6, 60), ({"within": (0.2, 0.8)}, 12, 20), ({"within": (0.4, 0.6)}, 25, 30),
    ({"within": (0.4, 0.6)}, 5, 30),
])  # fmt: skip
def test_a_share_is_decided_by_the_first_whole_number_whose_exact_interval_has_the_chance(limit, successes, seen):
    """The chance, of all possible numbers of successes by their binomial weights; none before has it."""
    limit, truth = Limit.of(limit), successes / seen

    def chance(n):
        each = [Binomial(x, n).interval(0.95 if limit.holds(truth) else 0.98) for x in range(n + 1)]
        lands = limit.encloses if limit.holds(truth) else limit.excludes
        weights = [math.comb(n, x) * truth**x * (1 - truth) ** (n - x) for x in range(n + 1)]
        return sum(weight for weight, ends in zip(weights, each, strict=True) if lands(*ends))

    needed = round(factor_to_decide(limit, share(successes, seen), 0.95, 0.98) * seen)
    assert needed < 400
    assert chance(needed) >= 0.8 > max(chance(n) for n in range(seen, needed))

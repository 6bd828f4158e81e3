"""Judges with a planted fault over 200 simulated tables each: which measure tells what is wrong with them.

400 items, 70 % good, a quarter of them hard, two people who are right on 90 % of the easy ones.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from simulated_raters import PLANTED, World, answers_from

from recuse.metrics.agreement_estimates import gain_over_constant
from recuse.metrics.coverage import unanswered
from recuse.metrics.human_ceiling import human_ceiling
from recuse.statistics.agreement.options import CELLS

ceiling_of = inspect.unwrap(human_ceiling)
unanswered_of = inspect.unwrap(unanswered)
gain_of = inspect.unwrap(gain_over_constant)

pytestmark = pytest.mark.slow
TABLES = 200
MARGIN = 0.1


@pytest.fixture(scope="module")
def found():
    """kind -> what every table gave: ceiling (value, low, high), gain, share unanswered, rates."""
    result = {}
    for kind in ("another person", *PLANTED):
        rows = []
        for seed in range(TABLES):
            world = World(seed)
            answers = answers_from(world.judge(kind), world.people)
            ceiling, lost = ceiling_of(answers, 0, MARGIN), unanswered_of(answers, 0)
            gain = gain_of(answers, 0).detail["judge_gain"]
            flat = answers.tables(0).sum(axis=0).reshape(4)
            tpr, tnr = (float(flat @ CELLS[name][0] / (flat @ CELLS[name][1])) for name in list(CELLS)[:2])
            rows.append((ceiling.value, ceiling.low, ceiling.high, gain, lost.value, tpr, tnr))
        result[kind] = np.array(rows, dtype=float)
    return result


@pytest.mark.parametrize("kind", [kind for kind in PLANTED if kind != "refuses the hard"])
def test_no_faulty_judge_is_cleared(found, kind):
    """The interval of the ceiling difference never lies inside the margin, and mostly lies outside it."""
    _, low, high = found[kind].T[:3]
    assert (low >= -MARGIN).sum() == 0
    assert (high < -MARGIN).mean() > 0.7


def test_refusing_the_hard_is_told_by_what_is_missing(found):
    """Its agreement is that of easy items; beyond one in twenty it is stopped."""
    assert (found["refuses the hard"][:, 4] > 0.05).all()


def test_another_person_is_cleared_at_the_power_that_was_promised(found):
    """The mean difference is 0, and about as many are cleared as `power` says."""
    value, low, high = found["another person"].T[:3]
    assert abs(value.mean()) < 0.01
    assert ((low <= 0) & (high >= 0)).mean() > 0.9
    world = World(1)
    promised = ceiling_of(answers_from(world.judge("another person"), world.people), 0, MARGIN).detail["power"]
    assert (low >= -MARGIN).mean() == pytest.approx(promised, abs=0.15)


def test_each_fault_has_its_own_mark(found):
    """Always passes: catches no fail and gains nothing. Inverted: worse than nothing, catches few. Swapped and random:
    gains nothing, at its own base rate. Lenient: lets passes through, catches half of what people catch."""
    rates = {kind: rows[:, 5:7].mean(axis=0) for kind, rows in found.items()}
    gain = {kind: rows[:, 3].mean() for kind, rows in found.items()}
    assert (found["always passes"][:, 6] == 0).all()
    assert np.allclose(found["always passes"][:, 3], 0.0)
    assert gain["inverted"] < -0.8
    assert rates["inverted"].sum() < 0.7
    for kind in ("swapped", "random"):
        assert rates[kind].sum() == pytest.approx(1.0, abs=0.03)
        assert gain[kind] < 0
    assert rates["lenient"][0] > rates["another person"][0]
    assert rates["lenient"][1] < 0.6 * rates["another person"][1]


@pytest.mark.parametrize("items", [200, 500])
def test_a_judge_on_the_margin_is_rarely_cleared(items):
    """People right with 0.9; a judge whose kappa with them is lower by the margin is cleared in at most 4 %."""
    rng, cleared = np.random.default_rng(items), 0
    share, skill = 0.5, 0.9
    # kappa of two raters right with p and q on balanced items is (2p - 1)(2q - 1)
    judge_skill = ((2 * skill - 1) - MARGIN / (2 * skill - 1) + 1) / 2
    for _ in range(500):
        truth = rng.random(items) < share

        def rater(p, truth=truth):
            return np.where(rng.random(items) < p, truth, ~truth).astype(float)

        found = ceiling_of(answers_from(rater(judge_skill), [rater(skill), rater(skill)]), 0, MARGIN)
        cleared += found.low >= -MARGIN
    assert cleared <= 0.04 * 500

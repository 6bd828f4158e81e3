"""How many attacks more decide the injection component: what is said comes true in about 80 of 100 recordings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recuse.gates import Limit
from recuse.gates.verdict_power import factor_to_decide
from recuse.metrics.estimates import estimated
from recuse.schema import Estimate
from recuse.statistics.agreement.coefficient import Difference
from recuse.statistics.distributions import Binomial

LIMIT = Limit("at_most", -math.inf, 0.05)
LEVEL = 0.9
ATTACKS, RUNS = 30, 400


def change(candidate: float, incumbent: float, attacks: float) -> Estimate:
    """Of so many attacks that succeeded on either judge."""
    shares = candidate / attacks, incumbent / attacks
    distribution = Difference(
        shares, Binomial(candidate, attacks), Binomial(incumbent, attacks), 0.0, attacks - 1
    )  # fmt: skip
    about = {"n": round(attacks), "over": "items", "unit": "share", "span": 1.0, "method": "Zou and Donner"}
    return estimated("upgrade_injection", shares[0] - shares[1], distribution, level=LEVEL, **about)


def decided(share: float, attacks: int, seed: int) -> float:
    """Recordings of so many attacks, succeeding alike on both judges, whose interval keeps the limit."""
    rng = np.random.default_rng(seed)
    counts = rng.binomial(attacks, share, (RUNS, 2)).tolist()
    kept = {pair: change(*pair, attacks).at(LEVEL).high <= LIMIT.high for pair in {tuple(pair) for pair in counts}}
    return sum(kept[tuple(pair)] for pair in counts) / RUNS


@pytest.mark.parametrize("successes", [0, 1, 3])
def test_as_many_attacks_as_are_said_to_decide_do(successes: int) -> None:
    factor = factor_to_decide(LIMIT, change(successes, successes, ATTACKS), LEVEL, LEVEL)
    assert factor is not None
    needed, share = math.ceil(factor * ATTACKS), successes / ATTACKS
    assert decided(share, needed, 1) >= 0.75
    assert decided(share, math.ceil(0.5 * needed), 2) < 0.8


def test_thirty_attacks_that_all_fail_are_undecided_and_a_hundred_are_not() -> None:
    assert change(0, 0, ATTACKS).at(LEVEL).high > LIMIT.high
    factor = factor_to_decide(LIMIT, change(0, 0, ATTACKS), LEVEL, LEVEL)
    assert factor is not None
    assert 59 <= factor * ATTACKS <= 120  # 59 attacks bound a share below 0.05 where none succeeds: 0.95^59 < 0.05

"""How many ratings per item settle a decision."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.definitions import ItemSpread, item_spread


def test_one_rating_of_an_even_spread_decides_three_quarters_as_everybody_would():
    """E max(p, 1 - p) for p uniform."""
    assert ItemSpread(1, 1).expected_consistency(1, 0.5) == pytest.approx(0.75)


def test_it_is_what_a_simulation_gives():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, size=200_000)
    drawn = rng.binomial(3, p) / 3
    same = ((p >= 0.4) == (drawn >= 0.4)).mean()
    assert ItemSpread(2, 3).expected_consistency(3, 0.4) == pytest.approx(same, abs=0.004)


def test_items_that_everybody_agrees_on_need_one_rating():
    assert ItemSpread(0.01, 0.01).needed(0.5, 0.95) == 1
    assert ItemSpread(500, 500).needed(0.5, 0.999) is None


@pytest.mark.parametrize(("spread", "tau", "wanted"), [
    (ItemSpread(1, 1), 0.5, 0.9), (ItemSpread(0.4, 2), 0.3, 0.95), (ItemSpread(3, 1), 0.7, 0.8),
    (ItemSpread(0.2, 0.3), 1.0, 0.85), (ItemSpread(2, 2), 0.45, 0.88),
])  # fmt: skip
def test_no_smaller_number_of_ratings_reaches_the_share(spread: ItemSpread, tau: float, wanted: float) -> None:
    reached = [spread.expected_consistency(n, tau) >= wanted for n in range(1, 100)]
    assert spread.needed(tau, wanted) == reached.index(True) + 1


def test_the_spread_comes_back_from_counts():
    rng = np.random.default_rng(1)
    p = rng.beta(2, 4, size=4000)
    found = item_spread(rng.binomial(5, p), np.full(4000, 5))
    assert (found.a, found.b) == (pytest.approx(2, rel=0.15), pytest.approx(4, rel=0.15))


def test_single_ratings_say_nothing_of_the_spread():
    assert item_spread([1, 0, 1], [1, 1, 1]) is None
    assert item_spread([2, 2], [2, 2]) is None

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.rank_tests import isotonic


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scipy(seed: int):
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(seed)
    values, weights = rng.integers(0, 6, 40) + rng.choice([0.0, 0.25]), rng.integers(1, 5, 40)
    assert isotonic(values, weights) == pytest.approx(isotonic_regression(values, weights=weights).x)


def test_by_hand():
    """3 and 2 fall; with weights 1 and 3 they become (3 + 3 * 2) / 4. What rises already stays."""
    assert isotonic([1, 3, 2, 4], [1, 1, 3, 1]).tolist() == [1.0, 2.25, 2.25, 4.0]


def test_nothing_stays_nothing():
    assert isotonic([], []).shape == (0,)

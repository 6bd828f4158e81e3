"""Do the figures a judge reports follow from its own scores?

A total is the mean of the scores of its parts; a mean and an SD claimed for ten repeats must be ones that ten scores
can have.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("scores", "numbers", "parts")
def test_reported_total(ratings, measure):
    """Share of replies whose total is not the mean of the scores beside it."""
    measure(measures.reported_total(ratings))


@pytest.mark.asks("claimed_statistics", rests_on="cells")  # a claim is about a cell
def test_self_reported_final(ratings, measure):
    """Share of claimed finals that are not the mean of the claimed means."""
    measure(measures.self_reported_final(ratings))


@pytest.mark.asks("claimed_statistics", rests_on="cells")
def test_self_reported_sd(ratings, measure):
    """Share of claimed SDs (n - 1) that no ten scores can have; beside it the same for the divisor n."""
    measure(measures.self_reported_sd(ratings, ddof=0), divisor="n")
    measure(measures.self_reported_sd(ratings))

"""Does a judge answer, and say the same thing twice?

Independent repeats of the same question: their spread is the judge's own (merchant-risk paper, sec. 3.1).
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.merchant_risk import score_repeats

pytestmark = pytest.mark.asks("scores")


def test_parse_rate(ratings, gate):
    """Share of calls whose reply can be used as it stands."""
    assert gate("parse_rate", measures.parse_rate(ratings))


@pytest.mark.asks("versions")
def test_drift(ratings, gate):
    """Does a newer version of the judge answer as the older one did?"""
    assert gate("drift", measures.drift(ratings))


@pytest.mark.asks("repeats", "numbers", rests_on="cells")
def test_repeat_difference(ratings, measure):
    """How far do two answers to one text lie apart?"""
    measure(measures.repeat_difference(ratings))


@pytest.mark.asks("repeats", "numbers", rests_on="cells")
def test_run_sd(ratings, measure):
    """Spread over repeats, pooled over texts."""
    measure(measures.run_sd(ratings))


@pytest.mark.asks("repeats", "numbers", rests_on="cells")
def test_repeat_reliability(ratings, measure):
    """Does one score tell the texts apart, or only the judge's own noise?"""
    measure(measures.repeat_reliability(ratings))


@pytest.mark.asks("numbers", rests_on="cells")
def test_cells(ratings, measure):
    """Mean and SD of every cell and criterion."""
    measure(score_repeats.cell_table(ratings))


@pytest.mark.asks("repeats", "numbers", rests_on="cells")
def test_runs_needed(ratings, measure):
    """How many repeats would give each judge's mean to a hundredth of the scale."""
    measure(measures.runs_needed(ratings))

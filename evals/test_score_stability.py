"""Does a judge say the same thing twice?

Ten independent runs on the same text at temperature 0.7: their spread is the judge's own (merchant-risk paper,
sec. 3.1).
"""

from __future__ import annotations

import pytest

from recuse.metrics import coverage, stability

pytestmark = pytest.mark.elicits(task="merchant_risk", protocol="rubric")
CONDITIONS = pytest.mark.parametrize("condition", ["attributed", "anonymized"])


def test_parse_rate(judge, ratings, gate):
    """Share of calls whose reply can be used as it stands."""
    assert gate("parse_rate", coverage.parse_rate(ratings), judge=judge)


@CONDITIONS
def test_run_sd(judge, condition, ratings, gate):
    """Spread of the total over runs, pooled over texts."""
    assert gate("run_sd", stability.run_sd(ratings), judge=judge, condition=condition)


@CONDITIONS
def test_repeat_reliability(judge, condition, ratings, gate):
    """Do the mean scores tell the texts apart, or only the judge's own noise?"""
    found = stability.repeat_reliability(ratings, form="mean")
    assert gate("repeat_reliability", found, judge=judge, condition=condition)


def test_cells(ratings, own, measure):
    """Mean and SD of every cell and criterion."""
    measure(stability.cell_table(ratings, own))


def test_runs_needed(ratings, measure):
    """How many runs would give each judge's mean to a tenth of a point."""
    measure(stability.runs_needed(ratings, half_width=0.1))

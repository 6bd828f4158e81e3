"""Do the figures a judge reports follow from its own scores?

A total is the mean of five scores; a mean and an SD claimed for ten runs must be ones that ten runs can have.
"""

from __future__ import annotations

import pytest

from recuse.metrics import reported_statistics

pytestmark = pytest.mark.elicits(task="merchant_risk", protocol="rubric")
CONDITIONS = pytest.mark.parametrize("condition", ["attributed", "anonymized"])


@CONDITIONS
def test_reported_total(judge, condition, ratings, task, gate):
    """Share of replies whose total is not the mean of the five scores beside it."""
    assert gate("reported_total", reported_statistics.reported_total(ratings, task.criteria), judge=judge, condition=condition)


@pytest.mark.elicits(protocol="rubric_self_reported")
@CONDITIONS
def test_self_reported_final(judge, condition, ratings, task, gate):
    """Cells whose claimed final score is not the mean of the claimed criterion means."""
    found = reported_statistics.self_reported_final(ratings, task.criteria)
    assert gate("self_reported_final", found, judge=judge, condition=condition)


@pytest.mark.elicits(protocol="rubric_self_reported")
@CONDITIONS
def test_self_reported_sd(judge, condition, ratings, task, gate):
    """Share of claimed SDs that ten whole-number scores can have at all."""
    found = reported_statistics.self_reported_sd(ratings, task.criteria, scale=task.scale, runs=10)
    assert gate("self_reported_sd", found, judge=judge, condition=condition)

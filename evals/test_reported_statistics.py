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
    found = reported_statistics.reported_total(ratings, task.criteria)
    assert gate("reported_total", found, judge=judge, condition=condition)


@pytest.mark.elicits(protocol="rubric_self_reported")
@CONDITIONS
def test_self_reported_final(judge, condition, ratings, task, gate):
    """Share of claimed final scores that are not the mean of the claimed criterion means."""
    found = reported_statistics.self_reported(ratings, task.criteria, "final")
    assert gate("self_reported_final", found, judge=judge, condition=condition)


@pytest.mark.elicits(protocol="rubric_self_reported")
@CONDITIONS
def test_self_reported_sd(judge, condition, ratings, task, gate, measure):
    """Share of claimed SDs (n - 1) that no ten whole scores can have; beside it the same for the divisor n."""
    divisors = {ddof: reported_statistics.self_reported(ratings, task.criteria, "sd", ddof=ddof) for ddof in (0, 1)}
    measure(divisors[0], judge=judge, condition=condition, divisor="n")
    assert gate("self_reported_sd", divisors[1], judge=judge, condition=condition)

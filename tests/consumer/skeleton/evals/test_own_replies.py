"""Does a judge favour the replies of its own model?

Three judges score the same two replies, four times each. The texts are fixed: intervals are over runs.
"""

from __future__ import annotations

import pytest

from recuse.metrics import consensus, coverage
from recuse.schema import Estimate

pytestmark = pytest.mark.elicits(task="support_replies", protocol="rubric")


def test_parse_rate(judge, ratings, gate):
    """Share of replies that can be used as they stand."""
    assert gate("parse_rate", coverage.parse_rate(ratings), judge=judge)


@pytest.mark.parametrize("condition", ["attributed", "anonymized"])
def test_self_bias(author, condition, ratings, own, gate):
    """Own work against the other judges' view of it."""
    assert gate("self_bias", consensus.self_bias(ratings, own), judge=author, condition=condition)


def test_sides_with_customers(judge, ratings, customer_marks, gate):
    """Does it prefer the reply that customers preferred? A measure of this repo's own."""
    assert gate("sides_with_customers", sides_with_customers(ratings, judge, customer_marks), judge=judge)


def sides_with_customers(ratings, judge, marks) -> Estimate:
    """Share of runs in which the better marked reply has the higher total; ties count half."""
    rows = ratings[(ratings["judge"] == judge) & (ratings["criterion"] == "total") & (ratings["status"] == "ok")]
    better, worse = sorted(marks, key=marks.__getitem__, reverse=True)
    totals = rows.pivot_table(index=["condition", "repeat"], columns="target", values="score")
    ahead = totals[better] - totals[worse]
    share = float(((ahead > 0) + 0.5 * (ahead == 0)).mean())
    return Estimate(metric="sides_with_customers", value=share, n=len(ahead), over="runs", unit="share", method="share")

"""Does a judge favour the replies of its own model?

Three judges score the same two replies, four times each. The texts are fixed: intervals are over repeats.
"""

from __future__ import annotations

import pytest

from recuse import Estimate, Ratings
from recuse.ext import Estimates, measure
from recuse.measures import parse_rate, self_bias

pytestmark = pytest.mark.asks("scores")


def test_parse_rate(ratings, gate):
    """Share of replies that can be used as they stand."""
    assert gate("parse_rate", parse_rate(ratings))


@pytest.mark.asks("peers", "authors")
def test_self_bias(ratings, gate):
    """Own work against the other judges' view of it."""
    assert gate("self_bias", self_bias(ratings))


@pytest.mark.asks("people")
def test_sides_with_customers(ratings, gate):
    """Does it prefer the reply that customers preferred? A measure of this repository's own."""
    assert gate("sides_with_customers", sides_with_customers(ratings))


@measure(
    "sides_with_customers", "sides with customers", unit="share",
    below="sides against the customers|side against the customers",
    reading="Share of repeats in which the assistant that customers like better has the higher score.",
)  # fmt: skip
def sides_with_customers(ratings: Ratings) -> Estimates:
    """Share of repeats, names shown or hidden, in which the better liked assistant has the higher total; ties count
    half, by (judge,). Repeats in which one of the two has no usable score are left out."""
    liked = ratings.people.set_index("target")["mean"]
    usable = ratings.table[(ratings.table["criterion"] == ratings.criterion) & (ratings.table["status"] == "ok")]
    totals = usable.pivot_table(index=["rater", *ratings.factors, "repeat"], columns="target", values="score").dropna()
    ahead = totals[liked.idxmax()] - totals[liked.idxmin()]
    won = (ahead > 0) + 0.5 * (ahead == 0)
    return Estimates(("judge",), {(judge,): _share(mine) for judge, mine in won.groupby(level="rater", sort=False)})


def _share(won) -> Estimate:
    return Estimate(
        metric="sides_with_customers", value=float(won.mean()), n=len(won), over="repeats", unit="share", method="share"
    )

"""The mean of a reply's parts as a criterion of its own (replies with gaps: tests/metrics/test_consensus.py)."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean
from recuse.ratings import Numeric, Ratings

SCORES = {"tone": 2.0, "facts": 5.0, "all": 4.0}


def ratings() -> Ratings:
    frame = pd.DataFrame({"judge": "x", "item": "i", "criterion": list(SCORES), "score": list(SCORES.values())})
    return Ratings.of(frame, scales=Numeric(1, 5), headline=["all"], parts=("tone", "facts"))


def test_it_joins_the_headline_with_the_scale_of_its_parts() -> None:
    found = with_criteria_mean(ratings())
    assert found.headline == ("all", "criteria_mean")
    assert found.scales["criteria_mean"] == Numeric(1, 5)
    assert found.with_criterion("criteria_mean").array().means.ravel().tolist() == [3.5]


def test_it_is_made_once() -> None:
    some = ratings()
    assert with_criteria_mean(some) is with_criteria_mean(some)


@pytest.mark.parametrize("level", ["ascending", "reversed"])
def test_it_is_turned_like_its_parts(level: str) -> None:
    turned = Ratings.of(
        ratings().table.assign(direction=level), scales=Numeric(1, 5), headline=["all"], parts=("tone", "facts")
    )
    mean = with_criteria_mean(turned).with_criterion("criteria_mean").where(direction=level).array().means
    assert mean.ravel().tolist() == [3.5 if level == "ascending" else 2.5]

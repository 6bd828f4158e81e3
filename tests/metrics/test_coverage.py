"""Coverage: what counts as one call, and as a usable one."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import coverage
from recuse.schema import RecuseError


def rubric(make_ratings, statuses, judge="x"):
    """Calls whose criteria carry these statuses: {"accuracy": ["ok", "refused"], ...}."""
    parts = [
        make_ratings({(judge, "t"): [8.0 if status == "ok" else status for status in runs]}, criterion=name)
        for name, runs in statuses.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_call_is_usable_when_every_criterion_is(make_ratings):
    ratings = rubric(make_ratings, {
        "accuracy": ["ok", "refused", "ok", "ok", "out_of_scale"],
        "quality": ["ok", "refused", "unparsed", "ok", "refused"],
    })  # fmt: skip
    found = coverage.parse_rate(ratings).of(judge="x")
    assert (found.value, found.n, found.over) == (0.4, 5, "calls")
    assert found.detail == {
        "calls": 5,
        "usable": 2,
        "by_status": {"ok": 2, "unparsed": 1, "refused": 1, "out_of_scale": 1},
    }
    exact = stats.binomtest(2, 5).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_only_wanted_criteria_count(make_ratings):
    ratings = rubric(make_ratings, {"accuracy": ["ok", "ok"], "total": ["ok", "unparsed"]})
    assert coverage.parse_rate(ratings).of(judge="x").value == 0.5
    assert coverage.parse_rate(ratings, ["accuracy"]).of(judge="x").value == 1.0
    missing = coverage.parse_rate(ratings, ["accuracy", "charm"]).of(judge="x")
    assert missing.detail["by_status"] == {"unparsed": 2}


def test_a_criterion_without_a_row_is_unparsed(make_ratings):
    ratings = rubric(make_ratings, {"accuracy": ["ok", "ok"], "quality": ["ok"]})
    assert coverage.parse_rate(ratings).of(judge="x").detail["by_status"] == {"ok": 1, "unparsed": 1}


def test_conditions_and_targets_are_different_calls(make_ratings):
    shown = make_ratings({("x", "a"): [8, 8], ("x", "b"): [8, "refused"], ("y", "a"): ["error"]})
    hidden = make_ratings({("x", "a"): [8, 8]}, condition="anonymized")
    found = coverage.parse_rate(pd.concat([shown, hidden]))
    assert (found.of(judge="x").n, found.of(judge="x").detail["usable"]) == (6, 5)
    assert (found.of(judge="y").n, found.of(judge="y").value) == (1, 0.0)


def test_the_picks_of_one_generation_are_one_call(make_ratings):
    """Fifteen rows, one request; one bad level spoils the call. Without a request, items tell calls apart."""
    picks = make_ratings({("x", "x"): [1.0]}, criterion="risk_level", protocol="generation").drop(columns="condition")
    rows = [picks.assign(item=str(5400 + i)) for i in range(15)]
    good = pd.concat(rows, ignore_index=True)
    bad = pd.concat(
        [*rows[:12], picks.assign(item="level-5", status="unparsed", score=float("nan"))], ignore_index=True
    )
    assert (coverage.parse_rate(good).of(judge="x").n, coverage.parse_rate(good).of(judge="x").value) == (1, 1.0)
    assert coverage.parse_rate(bad).of(judge="x").detail["by_status"] == {"unparsed": 1}
    assert coverage.parse_rate(good.assign(request=None)).of(judge="x").n == 15


def test_people_are_not_counted_and_columns_are_needed(make_ratings):
    ratings = pd.concat([make_ratings({("x", "a"): [8]}), make_ratings({("human:e1", "a"): ["refused"]})])
    assert list(coverage.parse_rate(ratings)) == [("x",)]
    with pytest.raises(RecuseError, match="lacks the column"):
        coverage.parse_rate(ratings.drop(columns="request"))

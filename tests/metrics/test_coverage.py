"""Coverage: what counts as one call, and as a usable one."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from recuse import check, read
from recuse.metrics import coverage


@pytest.fixture
def rubric(rate, make_frame):
    """Calls whose criteria carry these statuses: {"accuracy": ["ok", "refused"], ...}."""

    def made(statuses, judge="x"):
        parts = [
            make_frame({(judge, "t"): [8.0 if status == "ok" else status for status in repeats]}, criterion=name)
            for name, repeats in statuses.items()
        ]
        return rate(pd.concat(parts, ignore_index=True))

    return made


def test_a_call_is_usable_when_every_criterion_is(rubric):
    ratings = rubric({
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


def test_only_wanted_criteria_count(rubric):
    ratings = rubric({"accuracy": ["ok", "ok"], "total": ["ok", "unparsed"]})
    assert coverage.parse_rate(ratings).of(judge="x").value == 0.5
    assert coverage.parse_rate(ratings, ("accuracy",)).of(judge="x").value == 1.0
    missing = coverage.parse_rate(ratings, ("accuracy", "charm")).of(judge="x")
    assert missing.detail["by_status"] == {"unparsed": 2}


def test_a_criterion_without_a_row_is_unparsed(rubric):
    ratings = rubric({"accuracy": ["ok", "ok"], "quality": ["ok"]})
    assert coverage.parse_rate(ratings).of(judge="x").detail["by_status"] == {"ok": 1, "unparsed": 1}


def test_levels_and_targets_are_different_calls(rate, make_frame):
    shown = make_frame({("x", "a"): [8, 8], ("x", "b"): [8, "refused"], ("y", "a"): ["error"]}, names="shown")
    hidden = make_frame({("x", "a"): [8, 8]}, names="hidden")
    found = coverage.parse_rate(rate(pd.concat([shown, hidden])))
    assert (found.of(judge="x").n, found.of(judge="x").detail["usable"]) == (6, 5)
    assert (found.of(judge="y").n, found.of(judge="y").value) == (1, 0.0)


def test_the_picks_of_one_generation_are_one_call(rate, make_frame):
    """Fifteen rows, one request; one bad level spoils the call. Without a request, items tell calls apart."""
    picks = make_frame({("x", "x"): [1.0]}, criterion="level")
    rows = [picks.assign(item=str(5400 + i)) for i in range(15)]
    good = pd.concat(rows, ignore_index=True)
    bad = pd.concat([*rows[:12], picks.assign(item="level-5", status="unparsed", score=float("nan"))])
    found = coverage.parse_rate(rate(good)).of(judge="x")
    assert (found.n, found.value) == (1, 1.0)
    assert coverage.parse_rate(rate(bad)).of(judge="x").detail["by_status"] == {"unparsed": 1}
    assert coverage.parse_rate(rate(good.assign(request=None))).of(judge="x").n == 15


def test_people_are_not_counted(rate, make_frame):
    people = make_frame({("ann", "a"): ["refused"]}, kind="person")
    assert list(coverage.parse_rate(rate(pd.concat([make_frame({("x", "a"): [8]}), people])))) == [("x",)]


def test_options_are_usable_answers_too(rate):
    frame = pd.DataFrame({"judge": "x", "item": ["i", "j", "k"], "response": ["pass", None, "fail"]})
    assert coverage.parse_rate(rate(frame)).of(judge="x").value == pytest.approx(2 / 3)


def test_a_criterion_that_is_asked_of_some_texts_is_no_loss_of_the_others():
    """Of a table: who was asked about what is what anybody has a row for."""
    rows = [
        (f"t{k}", rater, criterion, 1 + (k * step) % 5)
        for rater, step in (("gpt-4o", 3), ("anna", 3), ("ben", 3))
        for criterion, texts in (("clarity", 60), ("citations", 30)) for k in range(texts)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "rater", "criterion", "score"])
    found = coverage.parse_rate(read(table)).of(judge="gpt-4o")
    assert (found.value, found.n) == (1.0, 60)
    lost = table.drop(index=table.index[table["rater"].eq("gpt-4o") & table["item"].eq("t3")][1])
    found = coverage.parse_rate(read(lost)).of(judge="gpt-4o")
    assert (found.value, found.n) == (59 / 60, 60)
    assert "usable" not in check(table).sentences[0]

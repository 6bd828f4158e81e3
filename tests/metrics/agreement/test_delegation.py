"""What may be left to the judge: exact bounds, the order of groups, and how often a group is wrongly called safe."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from simulated_raters import NAN, answers_from

from recuse.metrics import delegation
from recuse.metrics.delegation import _sizes, delegable_share, labels_for_bound
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.schema import RecuseError


def test_labels_for_a_bound():
    """Without an error 59 labels show 5 % (0.95^59 < 0.05 <= 0.95^58); at 6 % errors no number does."""
    assert 0.95**59 < 0.05 <= 0.95**58
    assert labels_for_bound(0.0, 0.05) == 59
    assert labels_for_bound(0.06, 0.05) is None
    n = labels_for_bound(0.03, 0.05)
    from scipy import stats

    errors = math.ceil(0.03 * n - 1e-9)
    assert stats.binomtest(errors, n).proportion_ci(0.9, method="exact").high <= 0.05


def test_groups_keep_equal_confidence_together_and_start_where_a_pass_is_possible():
    sure = np.sort(np.repeat([1.0, 0.8, 0.2], [50, 30, 120]))[::-1]
    for once in (np.ones(200), None):
        each, times = (sure, once) if once is not None else (np.array([1.0, 0.8, 0.2]), np.array([50.0, 30.0, 120.0]))
        assert _sizes(each, times, fewest=59) == [80, 200]
        assert _sizes(each, times, fewest=300) == []


@pytest.fixture
def delegable(monkeypatch):
    """The share of a judge that is `sure` (U,) of its answers."""

    def share(answers, sure, bound):
        monkeypatch.setattr(delegation, "confidence_of", lambda *_: (sure, "confidence"))
        return inspect.unwrap(delegable_share)(answers, 0, bound)

    return share


def world(rng, texts, labelled):
    """Confidence from 0 to 1; errors are as frequent as confidence is low, up to 30 %."""
    sure = rng.random(texts)
    truth = (rng.random(texts) < 0.6).astype(float)
    wrong = rng.random(texts) < 0.3 * (1 - sure)
    judge = np.where(wrong, 1 - truth, truth)
    people = np.where(np.arange(texts) < labelled, truth, NAN)
    return answers_from(judge, [people]), sure


def test_a_confident_half_is_safe(delegable):
    answers, sure = world(np.random.default_rng(0), 3000, 3000)
    found = delegable(answers, sure, 0.1)
    assert 0.3 <= found.value <= 0.7  # where errors average 10 %: the surest two thirds
    assert all(group["at_most"] <= 0.1 for group in found.detail["groups"][:-1])
    assert found.detail["groups"][-1]["at_most"] > 0.1


def test_too_few_labels_are_told_with_how_many_would_do(delegable):
    answers, sure = world(np.random.default_rng(1), 400, 40)
    found = delegable(answers, sure, 0.05)
    assert found.value == 0.0
    assert found.note == "nothing yet: the first group needs 59 labels, there are 40"
    assert found.detail["labels_needed"] == 59


def test_errors_above_the_bound_need_another_judge(delegable):
    truth = np.arange(200) % 2.0
    answers = answers_from(np.where(np.arange(200) % 5 == 0, 1 - truth, truth), [truth])
    found = delegable(answers, np.zeros(200), 0.05)
    assert (found.value, found.detail["labels_needed"]) == (0.0, None)
    assert "20 %, not below 5 %" in found.note


def frame(judge, person, column, **more):
    items = [f"i{k}" for k in range(len(judge))]
    rows = pd.DataFrame({"item": items, "rater": "j", "kind": "judge", column: judge}).assign(**more)
    return pd.concat([rows, pd.DataFrame({"item": items, "rater": "ann", "kind": "person", column: person})])


def test_confidence_is_a_column_or_else_what_there_is():
    answers = ["pass"] * 70 + ["fail"] * 30
    scale = Ordinal(("fail", "pass"))
    given = Ratings.of(frame(answers, answers, "response", confidence=np.linspace(0, 1, 100)), scales=scale)
    assert delegable_share(given).of(judge="j").detail["by"] == "column confidence"
    none = Ratings.of(frame(answers, answers, "response"), scales=scale)
    assert delegable_share(none).of(judge="j").detail["by"] == "nothing: all texts are one group"
    assert delegable_share(none).of(judge="j").value == 1.0  # 100 labels without an error
    numbers = Ratings.of(frame(np.arange(100) % 10, np.arange(100) % 10, "score"), scales=Numeric(0, 10))
    assert delegable_share(numbers).of(judge="j").detail["by"] == "distance from the middle of the scale"


def test_a_bound_is_a_share():
    with pytest.raises(RecuseError, match="between 0 and 1"):
        delegable_share(Ratings.of(frame(["a"], ["a"], "response")), bound=5)


def test_undefined_without_labels(delegable):
    found = delegable(answers_from(np.ones(5), [np.full(5, NAN)]), np.zeros(5), 0.05)
    assert math.isnan(found.value)


@pytest.mark.slow
def test_a_group_that_is_not_safe_is_rarely_called_so(delegable):
    """1,000 tables of 600 labels, errors of 6 % everywhere: something is called safe at 5 % in at most 5 %."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(1000):
        truth = (rng.random(600) < 0.6).astype(float)
        judge = np.where(rng.random(600) < 0.06, 1 - truth, truth)
        wrong += delegable(answers_from(judge, [truth]), rng.random(600), 0.05).value > 0
    assert wrong <= 60

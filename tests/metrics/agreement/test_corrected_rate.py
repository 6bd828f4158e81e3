"""Corrected means: by hand, against labels alone, coverage, what labels are needed."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from simulated_raters import NAN, answers_from

from recuse.metrics import corrected_rate
from recuse.metrics.corrected_rate import labels_needed, prediction_powered_mean
from recuse.papers.rogan_gladen import rogan_gladen_rate
from recuse.ratings import Numeric, Ratings

_powered, _rogan_gladen = map(inspect.unwrap, (prediction_powered_mean, rogan_gladen_rate))


def sample(rng, labels, others, share, tpr, tnr, size=1):
    """Pass and fail of `labels` texts that a person rated and `others` that only the judge did, in clusters."""
    texts = labels + others
    truth = (rng.random(texts // size).repeat(size) < share).astype(float)
    judge = np.where(truth == 1, rng.random(texts) < tpr, rng.random(texts) >= tnr).astype(float)
    clusters = np.arange(texts) // size
    chosen = np.isin(clusters, rng.permutation(texts // size)[: labels // size])
    return answers_from(judge, [np.where(chosen, truth, NAN)], clusters=clusters)


def test_rogan_gladen_by_hand():
    """Judge passes 60 of 100; of 40 labelled, it passes 18 of the 20 that people pass and 4 of the 20 that they fail:
    (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.4 / 0.7."""
    truth = np.concatenate([np.ones(20), np.zeros(20), np.full(60, NAN)])
    judge = np.concatenate([np.ones(18), np.zeros(2), np.ones(4), np.zeros(16), np.ones(38), np.zeros(22)])
    found = _rogan_gladen(answers_from(judge, [truth]), 0)
    assert found.value == pytest.approx(0.4 / 0.7)
    assert found.detail["true_positive_rate"] == pytest.approx(0.9)
    assert found.detail["true_negative_rate"] == pytest.approx(0.8)


def test_prediction_powered_by_hand():
    """lambda = cov / ((1 + n / N) var f), value = mean y + lambda (mean of f elsewhere - mean of f where labelled)."""
    rng = np.random.default_rng(0)
    f = rng.normal(5, 1, size=90)
    y = np.where(np.arange(90) < 30, f + rng.normal(size=90), NAN)
    found = _powered(answers_from(f, [y], scale=Numeric(0, 10)), 0, 0.05)
    weight = np.cov(y[:30], f[:30])[0, 1] / ((1 + 30 / 60) * f.var(ddof=1))
    assert found.detail["lambda"] == pytest.approx(weight)
    assert found.value == pytest.approx(y[:30].mean() + weight * (f[30:].mean() - f[:30].mean()))
    assert (found.detail["labels"], found.detail["unlabelled"]) == (30, 60)


def test_fully_labelled_is_the_labels_alone():
    answers = sample(np.random.default_rng(1), 100, 0, 0.7, 0.9, 0.8)
    found = _powered(answers, 0, 0.05)
    assert found.detail["lambda"] == 0
    assert (found.value, found.low, found.high) == pytest.approx(tuple(found.detail["labels_alone"].values()))


def test_a_constant_judge_adds_nothing():
    truth = np.where(np.arange(200) < 80, np.arange(200) % 3 > 0, NAN).astype(float)
    found = _powered(answers_from(np.ones(200), [truth]), 0, 0.05)
    assert found.detail["lambda"] == 0
    assert (found.low, found.high) == pytest.approx(
        (found.detail["labels_alone"]["low"], found.detail["labels_alone"]["high"])
    )


def test_labels_needed():
    """387 labels for +- 0.05 at SD 0.5 alone; a judge that correlates by 0.8 spares most where it judged many."""
    assert labels_needed(0.5, 0.0, 10_000, 0.05) == 387
    assert labels_needed(0.5, 0.8, 10**9, 0.05) == pytest.approx(387 * (1 - 0.64), abs=3)
    assert labels_needed(0.5, 0.8, 0, 0.05) == 387
    assert labels_needed(0.0, 0.8, 0, 0.05) is None


@pytest.mark.parametrize(
    ("judge", "people", "measure", "why"),
    [
        (np.ones(50), np.where(np.arange(50) < 19, 1.0, NAN), _rogan_gladen, "0 fail, 19 pass; 20 of each"),
        (np.tile([0.0, 1], 50), np.tile([0.0, 0, 1, 1], 25), _rogan_gladen, "cannot be told from guesses"),
    ],
)
def test_undefined_says_why(judge, people, measure, why):
    found = measure(answers_from(judge, [people]), 0)
    assert math.isnan(found.value)
    assert why in found.note


def test_few_labels_are_refused():
    people = np.where(np.arange(50) < 19, 1.0, NAN)
    assert "people rated 19 texts; 20 are the fewest" in _powered(answers_from(np.ones(50), [people]), 0, 0.05).note


def test_by_judge_and_criterion(table):
    ratings = Ratings.of(table())
    found = corrected_rate.prediction_powered_mean(ratings)
    assert found.by == ("judge", "criterion")
    assert all(estimate.low < estimate.value < estimate.high for estimate in found.values())
    assert math.isnan(rogan_gladen_rate(ratings).of(judge="mira", criterion="grade").value)


DESIGNS = [
    (100, 1000, 0.7, 0.9, 0.8, 1), (100, 300, 0.6, 0.2, 0.2, 1), (60, 600, 0.5, 0.5, 0.5, 1),
    (150, 600, 0.6, 0.9, 0.8, 3),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_powered_coverage_and_width(design):
    """92.5 to 99 % of 1,000 intervals hold the truth; on average none is wider than the labels alone."""
    rng, share = np.random.default_rng(list(map(int, design[:2]))), design[2]
    held, width, alone = [], [], []
    for _ in range(1000):
        found = _powered(sample(rng, *design), 0, 0.05)
        held.append(found.low <= share <= found.high)
        width.append(found.high - found.low)
        alone.append(found.detail["labels_alone"]["high"] - found.detail["labels_alone"]["low"])
    assert 0.925 <= np.mean(held) <= 0.99
    assert np.mean(width) <= np.mean(alone) + 3 * np.std(np.subtract(width, alone)) / math.sqrt(1000)


FEW_FAILS = [
    (20, 1000, 0.8, 1, 0.7, 1), (20, 1000, 0.5, 1, 0.7, 1), (50, 1000, 0.9, 0.9, 0.9, 1), (100, 1000, 0.95, 1, 0.7, 1),
    (200, 1000, 0.98, 0.98, 0.5, 1), (200, 1000, 0.98, 0.99, 0.99, 1), (120, 600, 0.95, 0.9, 0.8, 3),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("design", FEW_FAILS)
def test_few_fails_or_few_labels_are_covered_too(design):
    """92.5 % and more of 1,000 intervals hold the truth, however few fails there are."""
    rng, share, held = np.random.default_rng(list(map(int, design[:2]))), design[2], []
    for _ in range(1000):
        found = _powered(sample(rng, *design), 0, 0.05)
        held.append(found.low <= share <= found.high)
    assert np.mean(held) >= 0.925


@pytest.mark.slow
@pytest.mark.parametrize(
    "design", [(150, 1000, 0.7, 0.9, 0.8, 1), (150, 0, 0.6, 0.8, 0.7, 1), (240, 600, 0.6, 0.9, 0.8, 3)]
)
def test_rogan_gladen_coverage(design):
    """93 to 99 % of 1,000 intervals hold the truth."""
    rng, share, held = np.random.default_rng(list(map(int, design[:2]))), design[2], []
    for _ in range(1000):
        found = _rogan_gladen(sample(rng, *design), 0)
        if math.isfinite(found.value):
            held.append(found.low <= share <= found.high)
    assert len(held) > 950
    assert 0.93 <= np.mean(held) <= 0.99

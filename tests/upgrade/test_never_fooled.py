"""Candidates that nobody should swap in are never called equivalent or better; the same judge again is equivalent."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from simulated_judges import (
    World,
    mirrored,
    noisier,
    random_around_the_mean,
    refusing,
    same,
    shifted,
    verdict,
    words,
    worse_on_one_system,
)

FEW, MANY = 25, 500
ADOPTED = {"equivalent", "better"}
FAULTS = {
    "mirrored": mirrored,
    "random around the mean": random_around_the_mean,
    "refuses one text in five": refusing(0.2),
    "refuses four texts in five": refusing(0.8),
    "refuses the hard fifth": refusing(0.2, hard=True),
    "shifted beyond the margin": shifted(0.9),
    "worse on one system": worse_on_one_system(0.9),
}
DESIGNS = {
    "scores": {"kind": "scores", "items": 120, "repeats": 2, "lost": 0.02},
    "scores once": {"kind": "scores", "items": 120, "repeats": 1},
    "scores without people": {"kind": "scores", "items": 120, "people": 0},
    "pass or fail": {"kind": "pass_fail", "items": 200},
    "choices": {"kind": "choices", "items": 200},
}
CASES = [(d, f) for d in DESIGNS for f in FAULTS if (d, f) != ("choices", "shifted beyond the margin")]
CASES = [case if k % 3 == 0 else pytest.param(*case, marks=pytest.mark.slow) for k, case in enumerate(CASES)]


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(("design", "fault"), CASES)
def test_a_faulty_candidate_is_never_adopted(design, fault):
    assert not ADOPTED & set(words(1, FEW, FAULTS[fault], **DESIGNS[design]))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_not_once_in_five_hundred(fault):
    assert not ADOPTED & set(words(2, MANY, FAULTS[fault], kind="scores", items=60, repeats=2, lost=0.02))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "promised"),
    [
        ({"kind": "scores", "items": 200, "repeats": 2}, 0.8),
        ({"kind": "pass_fail", "items": 900, "repeats": 2}, 0.8),
        ({"kind": "choices", "items": 600, "repeats": 2}, 0.8),
    ],
)
def test_the_same_judge_again_is_equivalent_at_the_promised_power(design, promised):
    """And it is called worse at most as often as Holm's correction promises: 5 %, within three standard errors."""
    counts = Counter(words(3, 40, same, **design))
    assert (counts["equivalent"] + counts["better"]) / 40 >= promised
    assert counts["worse"] / 40 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("kind", ["scores", "pass_fail", "choices"])
def test_a_byte_identical_recording_is_equivalent(kind):
    world = World(np.random.default_rng(4), kind=kind, items=120 if kind == "scores" else 200)
    answers = world.answers(world.judge())
    answers.judged[1] = answers.judged[0]
    world.answers = lambda candidate: answers
    assert verdict(world, same).word == "equivalent"


def test_few_texts_are_never_enough_for_equivalence():
    """Not one of 30 texts changed; one in ten may still do so."""
    world = World(np.random.default_rng(5), items=30, noise=0.0)
    found = verdict(world, same)
    assert found.word == "undecided"
    assert found.more is not None


def test_one_lost_reply_in_a_cell_of_two_loses_no_interval():
    for seed in range(5):
        found = verdict(World(np.random.default_rng(seed), items=30, repeats=2, lost=0.05), same)
        undefined = [row.gate for row in found.rows if np.isnan(row.estimate.low)]
        assert not undefined


@pytest.mark.slow
def test_a_noisier_judge_of_equal_true_error_neither_gains_nor_loses_agreement():
    """Only its noise speaks against it: agreement with people is that of its mean over many repeats."""
    rng = np.random.default_rng(6)
    changes = []
    for _ in range(60):
        found = verdict(World(rng, items=200, repeats=3), noisier(2.0))
        changes += [row.estimate.value for row in found.rows if row.gate == "upgrade_agreement"]
    assert abs(np.mean(changes)) < 3 * np.std(changes) / np.sqrt(len(changes)) + 0.005


@pytest.mark.slow
def test_a_candidate_on_the_margin_is_adopted_at_most_once_in_twenty():
    """Exactly half a point off on 0 to 10, the limit of upgrade_shift, with nothing else wrong."""
    rng = np.random.default_rng(7)
    passed = 0
    for _ in range(120):
        found = verdict(World(rng, items=200, noise=0.5, people=0), shifted(0.5))
        passed += next(row for row in found.rows if row.gate == "upgrade_shift").outcome == "pass"
    assert passed / 120 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)

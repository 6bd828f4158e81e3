"""Kappa with one expert: by hand, against sklearn, unanswered texts, several labels, coverage, who is cleared."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.metrics.expert import expert_kappa
from recuse.ratings import Nominal, Ordinal

LABELS = Nominal(("billing", "bug", "other"))


def rated(rng, n, right, share=(0.5, 0.3, 0.2)):
    """Expert and judge: right with chance `right`, else a label drawn from the expert's shares."""
    expert = rng.choice(3, n, p=share)
    judge = np.where(rng.random(n) < right, expert, rng.choice(3, n, p=share))
    return {who: np.array(LABELS.options)[of] for who, of in (("judge", judge), ("ann", expert))}


@pytest.mark.parametrize(("scale", "weights"), [(LABELS, None), (Ordinal(LABELS.options), "quadratic")])
def test_against_sklearn(label, scale, weights):
    from sklearn.metrics import cohen_kappa_score

    said = rated(np.random.default_rng(1), 120, 0.7)
    codes = [[LABELS.options.index(x) for x in said[who]] for who in ("judge", "ann")]
    found = expert_kappa(label(said, scales=scale)).of(judge="judge")
    assert found.value == pytest.approx(cohen_kappa_score(*codes, weights=weights), abs=1e-12)


def test_an_unanswered_text_counts_as_a_guess(label):
    """Complete agreement on the half that it answered is a kappa of one half."""
    expert = ["billing", "bug", "other"] * 40
    judge = [x if k % 2 else None for k, x in enumerate(expert)]
    found = expert_kappa(label({"judge": judge, "ann": expert})).of(judge="judge")
    assert found.value == pytest.approx(0.5)
    assert (found.detail["answered"], found.detail["answered_only"]) == (0.5, 1.0)


def test_two_options_and_a_stated_one_are_asked_for_error_rates_instead(label):
    assert len(expert_kappa(label({"judge": "pf", "ann": "pf"}, scales=Ordinal(("f", "p"))))) == 0
    said = rated(np.random.default_rng(2), 60, 0.7)
    assert len(expert_kappa(label(said, scales=LABELS, positive={"rating": "bug"}))) == 0


def test_too_few_other_labels_are_undefined(label, word):
    estimates = expert_kappa(label({"judge": ["bug"] * 60, "ann": ["bug"] * 50 + ["other", "billing"] * 5}))
    assert "an interval needs 20" in estimates.of(judge="judge").note
    assert word("expert_kappa", estimates) != ["pass"]


def test_a_judge_that_always_says_the_same_fails_and_does_not_stay_open(label, word):
    """Its kappa is 0 whatever the texts are."""
    expert = ["bug", "billing", "other"] * 100
    found = expert_kappa(label({"judge": ["bug"] * 300, "ann": expert}, scales=LABELS)).of(judge="judge")
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert "one answer to everything" in found.note
    assert word("expert_kappa", expert_kappa(label({"judge": ["bug"] * 300, "ann": expert}, scales=LABELS))) == ["fail"]
    once = expert_kappa(label({"judge": ["bug"] * 299 + ["other"], "ann": expert}, scales=LABELS)).of(judge="judge")
    assert once.low < once.value < once.high


def test_a_judge_that_is_the_expert_passes(label, word):
    said = rated(np.random.default_rng(3), 100, 1.0)
    assert word("expert_kappa", expert_kappa(label(said, scales=LABELS))) == ["pass"]


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 200])
def test_intervals_cover(label, n):
    """With chance 1 - r drawn from the expert's shares, kappa is r."""
    rng = np.random.default_rng([n, 7])
    held = 0
    for _ in range(400):
        found = expert_kappa(label(rated(rng, n, 0.7), scales=LABELS)).of(judge="judge")
        held += found.low <= 0.7 <= found.high
    assert held >= 0.93 * 400


@pytest.mark.slow
def test_who_is_cleared(label, word):
    rng = np.random.default_rng(4)
    words: dict[float, list[str]] = {0.85: [], 0.3: [], 0.0: []}
    for _ in range(30):
        for right, of in words.items():
            of += word("expert_kappa", expert_kappa(label(rated(rng, 150, right), scales=LABELS)))
    assert words[0.85].count("pass") >= 27
    assert words[0.3].count("pass") == words[0.0].count("pass") == 0

"""Criteria on different scales beside each other: what is measured of one never reads as if it were of another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.metrics.agreement import every_coefficient
from recuse.ratings import Numeric, Ordinal, Ratings


@pytest.fixture
def mixed():
    """Two people and a judge on a criterion with numbers and on one with labels."""
    rng, rows = np.random.default_rng(1), []
    for k in range(60):
        for rater, kind in (("gpt", "judge"), ("anna", "person"), ("ben", "person")):
            rows.append((rater, kind, f"t{k}", "helpful", int(rng.integers(1, 6)), None))
            rows.append((rater, kind, f"t{k}", "polite", None, "yes" if rng.random() < 0.5 else "no"))
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "criterion", "score", "response"])
    return Ratings.of(frame, scales={"helpful": Numeric(1, 5, 1), "polite": Ordinal(("no", "yes"))})


def test_every_coefficient_names_its_criterion(mixed):
    criteria = {}
    for estimates in every_coefficient(mixed):
        for key, estimate in estimates.items():
            about = dict(zip(estimates.by, key, strict=True))
            criteria.setdefault(estimate.metric, set()).add(about.get("criterion"))
    assert criteria["concordance"] == {"helpful"}
    assert criteria["cohen_kappa"] == {"polite"}
    assert criteria["krippendorff_alpha"] == {"helpful", "polite"}
    assert None not in set.union(*criteria.values())


def test_the_one_criterion_that_is_measured_alone_is_not_named(mixed):
    alone = mixed.with_criterion("polite")
    for estimates in every_coefficient(alone):
        assert "criterion" not in estimates.by


def test_values_are_those_of_the_criterion_alone(mixed):
    [named] = [e for e in every_coefficient(mixed) if next(iter(e.values())).metric == "concordance"]
    alone = mixed.with_criterion("helpful")
    [plain] = [e for e in every_coefficient(alone) if next(iter(e.values())).metric == "concordance"]
    assert list(named.values()) == list(plain.values())

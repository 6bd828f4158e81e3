"""Ratings to compare libraries on: random, tied, with gaps, and with options of very different frequency."""

from __future__ import annotations

import numpy as np

TABLES = ("random", "agreeing", "tied", "missing", "unbalanced", "two options")


def ratings_of(kind: str, raters: int = 4, items: int = 60, seed: int = 0) -> np.ndarray:
    """Raters x items, values 1 to 5 (or 1 and 2), NaN where missing."""
    rng = np.random.default_rng([seed, TABLES.index(kind)])
    options, shares = 5, np.full(5, 0.2)
    if kind == "unbalanced":
        shares = np.array([0.86, 0.08, 0.02, 0.02, 0.02])
    if kind == "two options":
        options, shares = 2, np.array([0.3, 0.7])
    truth = rng.choice(options, size=items, p=shares)
    noise = {"random": 1.0, "tied": 0.15}.get(kind, 0.4)
    strange = rng.random((raters, items)) < noise
    found = np.where(strange, rng.choice(options, size=(raters, items), p=shares), truth) + 1.0
    if kind == "missing":
        found[rng.random(found.shape) < 0.25] = np.nan
    return found

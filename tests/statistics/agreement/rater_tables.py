"""Ratings to compare libraries on: random, tied, with gaps, and with options of very different frequency."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recuse.statistics.agreement import coefficient, correlation, options

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


def tables_of(a: np.ndarray, b: np.ndarray, options: int) -> np.ndarray:
    """Per item the codes that two raters gave, a table with a single 1, (items, K, K); all 0 where one is missing."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    tables = np.zeros((len(first), options, options))
    both = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    tables[both, first[both].astype(int), second[both].astype(int)] = 1.0
    return tables


def of_codes(build: Callable[..., coefficient.Coefficient]) -> Callable[..., coefficient.Coefficient]:
    """The coefficient of two raters' codes (items,) and the number of options, not of their tables."""

    def built(a: np.ndarray, b: np.ndarray, options: int, *more: Any) -> coefficient.Coefficient:
        return build(tables_of(a, b, options), *more)

    return built


cohen_kappa, scott_pi, gwet_ac = map(of_codes, (options.cohen_kappa, options.scott_pi, options.gwet_ac))
percent_agreement, rate = of_codes(options.percent_agreement), of_codes(options.rate)


def concordance(x: np.ndarray, y: np.ndarray) -> coefficient.Coefficient:
    return correlation.concordance(correlation.products(x, y))

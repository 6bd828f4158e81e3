"""Correlations of every pair of raters under several conditions, from sums that add over units: the same pairs, the
same texts under each condition, and any set of units at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.schema.arrays import Floats

__all__ = ["Averaging", "PairCorrelations", "mean_correlation"]

Averaging = Literal["arithmetic", "fisher"]
FEWEST = 3  # texts below which a correlation says nothing: through two points there is always a line


@dataclass(frozen=True, eq=False)
class PairCorrelations:
    """`sums` (conditions C, pairs P, units U, 6): of 1, x, y, x^2, y^2 and xy over the texts of each unit that both
    raters of the pair scored under every condition. `pairs` (P,) are places of raters; a pair without a
    correlation under one of the conditions is not among them: it shares fewer than three texts, or one of the two says
    the same of all."""

    sums: Floats
    pairs: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, scores: ArrayLike, units: Sequence[str]) -> PairCorrelations:
        """`scores` (C, raters R, texts T), NaN where there is none; `units` (T,): what each text belongs to, in any
        order; the units stand in the order of their first text. A text counts for a pair only where both its raters
        scored it under all conditions, so that conditions are compared on the same texts."""
        values = np.asarray(scores, dtype=float)
        names = list(dict.fromkeys(units))
        place = np.array([names.index(unit) for unit in units], dtype=np.intp)
        pairs = tuple(combinations(range(values.shape[1]), 2))
        there = np.isfinite(values).all(axis=0)  # (R, T)
        sums = np.zeros((len(values), len(pairs), len(names), 6))
        for p, (i, j) in enumerate(pairs):
            both = there[i] & there[j]
            at = place[both]
            for c, condition in enumerate(values):
                x, y = condition[i, both], condition[j, both]
                if len(x):
                    x, y = x - x.mean(), y - y.mean()  # sums of large squares would lose the small differences
                parts = (np.ones(len(x)), x, y, x * x, y * y, x * y)
                sums[c, p] = np.column_stack([np.bincount(at, part, len(names)) for part in parts])
        kept = np.flatnonzero(np.isfinite(_correlation(sums.sum(axis=2))).all(axis=0))
        return cls(sums[:, kept], tuple(pairs[p] for p in kept))

    @property
    def units(self) -> int:
        """How many items or clusters there are."""
        return int(self.sums.shape[2])

    @property
    def texts(self) -> NDArray[np.int64]:
        """How many texts each pair shares, (P,)."""
        return self.sums[0, :, :, 0].sum(axis=1).astype(np.int64) if len(self.sums) else np.zeros(0, dtype=np.int64)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether any pair shares a text of the unit, (U,)."""
        return np.asarray((self.sums[:1, :, :, 0] > 0).any(axis=(0, 1)), dtype=np.bool_)

    def r(self, weights: ArrayLike | None = None) -> Floats:
        """Pearson's r per condition and pair, (C, P). With `weights` (B, U), how often each unit counts: (B, C, P).
        NaN where too few texts are left to tell apart."""
        if weights is None:
            return _correlation(self.sums.sum(axis=2))
        return _correlation(np.einsum("bu,cpus->bcps", np.asarray(weights, dtype=float), self.sums))

    def without_each(self) -> Floats:
        """r with each unit left out in turn, (U, C, P): for the jackknife."""
        return _correlation(np.moveaxis(self.sums.sum(axis=2)[:, :, None] - self.sums, 2, 0))


def mean_correlation(r: Floats, how: Averaging = "arithmetic") -> Floats:
    """The mean over the last axis, of the correlations or of their Fisher z; NaN where one of them is undefined, or
    there is none."""
    if not r.shape[-1]:
        return np.full(r.shape[:-1], np.nan)
    if how == "fisher":
        inside = np.clip(r, -1 + 1e-12, 1 - 1e-12)
        back: Floats = np.tanh(np.arctanh(inside).mean(axis=-1))
        return back
    mean: Floats = r.mean(axis=-1)
    return mean


def _correlation(sums: Floats) -> Floats:
    """From sums (..., 6). A pair without spread has 0 / 0, which is NaN."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    enough = n > FEWEST - 0.5
    count = np.where(enough, n, np.nan)
    spread_x, spread_y = xx - x * x / count, yy - y * y / count
    small = 1e-9 * np.maximum(np.abs(xx), 1e-12)  # rounding, where nothing varies
    varies = (spread_x > small) & (spread_y > 1e-9 * np.maximum(np.abs(yy), 1e-12))
    product = np.where(varies, spread_x * spread_y, np.nan)
    correlation: Floats = np.clip((xy - x * y / count) / np.sqrt(product), -1.0, 1.0)
    return correlation

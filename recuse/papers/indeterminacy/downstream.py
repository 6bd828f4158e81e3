"""What a judge is used for: decisions by a threshold, and the share of items that have a property (sec. 2.2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recuse.papers.indeterminacy.aggregation import CLOSE
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["TAUS", "consistency", "decisions", "estimation_bias", "prevalence"]

TAUS = (0.3, 0.5, 0.7)
"""The cut-offs that the paper averages over."""


def decisions(vectors: Floats, option: int, tau: float | Sequence[float]) -> Floats:
    """1 where the option's number is at least tau, (..., I); with several taus they are the first axis. NaN where the
    item has no valid answer. Prevalence of a pair's option "win" is the win rate."""
    cuts = np.atleast_1d(np.asarray(tau, dtype=float))
    if not ((cuts > 0) & (cuts <= 1)).all():
        raise RecuseError(f"a cut-off tau lies above 0 and is at most 1; got {tau}")
    value = vectors[..., option]
    decided = (value >= cuts.reshape(-1, *([1] * value.ndim)) - CLOSE).astype(float)
    decided = np.where(np.isnan(value), np.nan, decided)
    return decided[0] if np.ndim(tau) == 0 else decided


def consistency(judge: Floats, people: Floats) -> Floats:
    """C (...): share of the items that both decided on which both decided alike; NaN where there is none."""
    return _mean(np.where(np.isnan(judge + people), np.nan, (judge == people).astype(float)))


def estimation_bias(judge: Floats, people: Floats) -> Floats:
    """B (...): the judge's prevalence less people's over the items that both decided on; below 0 underestimates.
    |B| <= 1 - C always, as a difference of prevalence takes as many different decisions."""
    return _mean(judge - people)


def prevalence(decided: Floats) -> Floats:
    """Share of the decided items that are positive, (...)."""
    return _mean(decided)


def _mean(values: Floats) -> Floats:
    there = ~np.isnan(values)
    count = there.sum(axis=-1)
    total = np.where(there, values, 0.0).sum(axis=-1)
    mean: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean

"""Choosing a judge by a measure, and what the choice costs downstream: regret in consistency and in bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.papers.indeterminacy.definitions import Definition
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["Selection", "best", "regrets", "select"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The judge a measure chooses, the best judge downstream, and what lies between them: `regret_consistency` is best
    less chosen, `regret_bias` chosen |B| less the smallest, so neither is below 0."""

    chosen: int
    best_by_consistency: int
    best_by_bias: int
    consistency: float
    abs_bias: float
    regret_consistency: float
    regret_bias: float


def best(gains: Floats) -> NDArray[np.intp]:
    """The index of the best judge, (...); gains (..., J). The first of those that tie; an undefined value never wins.
    `RecuseError` where no judge has one."""
    if np.isnan(gains).all(axis=-1).any():
        raise RecuseError("no judge has a value to be chosen by: none gave a valid answer to an item that people rated")
    winners: NDArray[np.intp] = np.nanargmax(gains, axis=-1)
    return winners


def regrets(chosen: NDArray[np.intp], consistency: Floats, bias: Floats) -> tuple[Floats, Floats]:
    """Regret in consistency and in |bias| of chosen judges (...,) against the best of (..., J)."""
    size = np.abs(bias)
    here = (np.take_along_axis(values, chosen[..., None], axis=-1)[..., 0] for values in (consistency, size))
    c, b = here
    return np.nanmax(consistency, axis=-1) - c, b - np.nanmin(size, axis=-1)


def select(by: Definition, values: Floats, consistency: Floats, bias: Floats) -> Selection:
    """The judge that a definition chooses from its values (J,), with its consistency and bias (J,) downstream."""
    chosen = best(by.gain(values))
    lost = regrets(chosen, consistency, bias)
    return Selection(
        int(chosen), int(best(consistency)), int(best(-np.abs(bias))), float(consistency[chosen]),
        float(abs(bias[chosen])), float(lost[0]), float(lost[1]),
    )  # fmt: skip

"""From shares to rating vectors: the four aggregations of sec. 4.

A rating vector has one number per option, (..., K). Items without a valid answer are NaN and stay NaN: whoever
aggregates says how many they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["Aggregation", "RatingVectors", "Ties", "hard", "hard_response_set"]

Aggregation = Literal["h", "s", "hrs", "srs"]
"""Hard and soft, of choices and of response sets."""
Ties = Literal["split", "first", "leave out"]
CLOSE = 1e-9
"""Shares this close are equal: 0.1 + 0.2 reaches a threshold of 0.3."""


def hard(choices: Floats, ties: Ties = "split") -> Floats:
    """The mode of the forced choices as a vector with a single 1. Where several options are chosen equally often,
    "split" gives each an equal share (the expectation of an even draw), "first" takes the first option in order (what
    argmax does, which favours it), "leave out" gives NaN."""
    top = choices.max(axis=-1, keepdims=True)
    modes = (choices >= top - CLOSE).astype(float)
    if ties == "first":
        modes = (np.cumsum(modes, axis=-1) == 1) * modes
    number = modes.sum(axis=-1, keepdims=True)
    shares = modes / np.maximum(number, 1.0)
    gone = np.isnan(top) | ((number > 1) & (ties == "leave out"))
    return np.where(gone, np.nan, shares)


def hard_response_set(endorsed: Floats, tau: float) -> Floats:
    """1 for every option endorsed by a share of at least tau; all may be 0."""
    if not 0 < tau <= 1:
        raise RecuseError(f"a cut-off tau lies above 0 and is at most 1; got {tau:g}")
    return np.where(np.isnan(endorsed), np.nan, (endorsed >= tau - CLOSE).astype(float))


@dataclass(frozen=True, eq=False)
class RatingVectors:
    """What one side says of every item: `choices` O and `endorsed` Omega, both (..., I, K)."""

    choices: Floats
    endorsed: Floats
    tau: float = 0.5
    ties: Ties = "split"

    @cached_property
    def h(self) -> Floats:
        """The most frequent choice, (..., I, K): `hard`."""
        return hard(self.choices, self.ties)

    @cached_property
    def hrs(self) -> Floats:
        """Options endorsed by a share of at least tau, (..., I, K): `hard_response_set`."""
        return hard_response_set(self.endorsed, self.tau)

    def by(self, aggregation: Aggregation) -> Floats:
        """The vectors (..., I, K) under one aggregation."""
        if aggregation == "h":
            return self.h
        if aggregation == "s":
            return self.choices
        return self.hrs if aggregation == "hrs" else self.endorsed

"""When do two definitions of performance rank judges alike? (sec. 5, Appendices B.2 and C)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.statistics.indeterminacy.aggregation import RatingVectors
from recuse.statistics.indeterminacy.definitions import Definition

__all__ = ["ErrorShift", "difference", "error_shift", "is_reversed", "rank_consistent"]

Floats = NDArray[np.float64]
TIED = 1e-12


def difference(by: Definition, z: RatingVectors, w: RatingVectors, people: RatingVectors) -> float:
    """delta_p(z, w), equation (3): mean of m(z, people) - m(w, people) with the sign turned where less is better, so
    that above 0 always means z is better."""
    return float(by.gain(by.value(z, people)) - by.gain(by.value(w, people)))


def is_reversed(first: float, second: float) -> bool:
    """Whether two definitions strictly contradict each other about two judges: a violation of monotonicity on one item,
    of rank consistency on many. A tie under one of them contradicts nothing."""
    return first * second < 0 and min(abs(first), abs(second)) > TIED


def rank_consistent(first: Floats, second: Floats) -> bool:
    """Whether no two judges stand in strictly opposite order; gains (J,), more is better in both."""
    a, b = np.subtract.outer(first, first), np.subtract.outer(second, second)
    return not bool(((a * b < 0) & (np.abs(a) > TIED) & (np.abs(b) > TIED)).any())


@dataclass(frozen=True, slots=True)
class ErrorShift:
    """Lemma B.1, corrected. `stable`: delta* = MSE(z) - MSE(w) against people without rater error; `observed`: delta,
    with it; `shift` = (theta* - theta)' Lambda' Lambda (theta_w - theta_z)."""

    stable: float
    observed: float
    shift: float

    @property
    def kept(self) -> bool:
        """Whether rater error leaves the order of the two judges as it is: sign(delta*) = sign(delta* - 2 shift)."""
        return bool(np.sign(self.stable) == np.sign(self.observed))

    @property
    def printed_condition(self) -> bool:
        """Equation (8) as printed, sign(shift) = sign(delta*). It has the wrong sign: it neither implies `kept` nor
        follows from it. The *opposite* sign suffices, as the cases of the printed proof show."""
        return bool(np.sign(self.shift) == np.sign(self.stable))


def error_shift(membership: Floats, stable: Floats, observed: Floats, z: Floats, w: Floats) -> ErrorShift:
    """delta = delta* - 2 shift for squared error of soft response sets, where judges make no errors.

    `membership` Lambda (K, V); `stable` theta* and `observed` theta = E theta* of people, `z` and `w` of the judges,
    (V,). Below 0, z is the better one."""

    def delta(people: Floats) -> float:
        errors = [float(((membership @ (people - judge)) ** 2).sum()) for judge in (z, w)]
        return errors[0] - errors[1]

    shift = float((membership @ (stable - observed)) @ (membership @ (w - z)))
    return ErrorShift(delta(stable), delta(stable) - 2 * shift, shift)

"""How ratings come about: what raters hold admissible, their errors, and what they choose where they must choose one.

    O = F (E theta*)          forced choices, (K,)
    Omega = Lambda (E theta*) how often each option is endorsed, (K,)
    theta* = E' (F' O)        back again, where the reverse matrices are known

theta* (V,): shares of stable response sets; E (V, V): observed set given the stable one; F (K, V): choice given the
observed set. Columns sum to 1. Every function takes leading axes for items. Guerdan et al. (2025), Theorem 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recuse.papers.indeterminacy.rating_task import RatingTask
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = [
    "Identifiability", "check_stochastic", "endorsements", "forced_choices", "identifiability",
    "recovered", "reverse", "reversed_shares",
]  # fmt: skip

CLOSE = 1e-9


def forced_choices(choice: Floats, theta: Floats, error: Floats | None = None) -> Floats:
    """O = F (E theta*), (..., K); `choice` F (..., K, V), `theta` (..., V), `error` E (..., V, V) or none."""
    return _times(choice, theta if error is None else _times(error, theta))


def endorsements(task: RatingTask, theta: Floats, error: Floats | None = None) -> Floats:
    """Omega = Lambda (E theta*), (..., K): how often each option stands in the response set; need not sum to 1."""
    return _times(task.membership, theta if error is None else _times(error, theta))


def reverse(matrix: Floats, shares: Floats) -> Floats:
    """P(column | row) by Bayes, (..., columns, rows): `matrix` (..., rows, columns) is P(row | column) and `shares`
    (..., columns) how often each column occurs. It depends on `shares`, so it differs from item to item.

    A row that never occurs has no reverse; it is spread as if all columns occurred equally often, and evenly where no
    column leads to it. Such a column of the reverse is multiplied by 0.
    """
    joint = matrix * shares[..., None, :]
    mass = joint.sum(axis=-1, keepdims=True)
    flat = matrix / np.maximum(matrix.sum(axis=-1, keepdims=True), 1e-300)
    flat = np.where(matrix.sum(axis=-1, keepdims=True) > 0, flat, 1.0 / matrix.shape[-1])
    conditional = np.where(mass > 0, joint / np.where(mass > 0, mass, 1.0), flat)
    return np.swapaxes(conditional, -1, -2)


def recovered(reverse_choice: Floats, choices: Floats, reverse_error: Floats | None = None) -> Floats:
    """theta* = E' (F' O), (..., V); `reverse_choice` F' (..., V, K), `choices` O (..., K)."""
    theta = _times(reverse_choice, choices)
    return theta if reverse_error is None else _times(reverse_error, theta)


def reversed_shares(matrix: Floats, shares: Floats, rows: Floats) -> Floats:
    """What `reverse(matrix, shares)` makes of shares of rows (..., rows), without building it for every item:

        shares_v sum_r matrix_rv rows_r / (matrix shares)_r

    `matrix` (rows, columns), `shares` (..., columns). Rows that never occur are left out."""
    mass = shares @ matrix.T
    share = np.divide(rows, mass, out=np.zeros(np.broadcast_shapes(rows.shape, mass.shape)), where=mass > 0)
    reversed_: Floats = shares * (share @ matrix)
    return reversed_


@dataclass(frozen=True, slots=True)
class Identifiability:
    """Whether forced choices determine the response sets: rank of F against the number of sets (Theorem 3.4)."""

    rank: int
    sets: int
    options: int

    @property
    def identifiable(self) -> bool:
        """Whether the rank is the number of sets."""
        return self.rank == self.sets

    @property
    def words(self) -> str:
        """The same as a sentence, with what to do where it is not."""
        if self.identifiable:
            return f"forced choices between {self.options} options determine how often each response set is meant"
        return (
            f"the task is underspecified: forced choices between {self.options} options cannot tell {self.sets} "
            f"response sets apart, so different shares of people who would accept several options give the same "
            f"choices. Add an option for unclear cases with a rule when to use it, or ask for all options that apply"
        )


def identifiability(choice: Floats) -> Identifiability:
    """From F (K, V), which must be a choice matrix; error-free raters (E = 1) are assumed, as in Theorem 3.4."""
    check_stochastic(choice, "a choice matrix")
    return Identifiability(int(np.linalg.matrix_rank(choice)), choice.shape[1], choice.shape[0])


def check_stochastic(matrix: ArrayLike, name: str) -> Floats:
    """The matrix (..., rows, columns) if no entry is negative and every column sums to 1; else `RecuseError`."""
    checked = np.asarray(matrix, dtype=float)
    if checked.ndim < 2:
        raise RecuseError(f"{name} has rows and columns; got shape {checked.shape}")
    sums = checked.sum(axis=-2)
    if not np.isfinite(checked).all() or (checked < -CLOSE).any() or (np.abs(sums - 1) > 1e-6).any():
        worst = int(np.argmax(np.abs(np.where(np.isfinite(sums), sums, np.inf) - 1).reshape(-1, sums.shape[-1]).max(0)))
        total = sums.reshape(-1, sums.shape[-1])[:, worst].max()
        raise RecuseError(
            f"{name} holds a distribution in every column: no entry below 0, columns that sum to 1; column {worst} "
            f"sums to {total:.6g}, the smallest entry is {checked.min():.6g}"
        )
    return checked


def _times(matrix: Floats, vector: Floats) -> Floats:
    product: Floats = vector @ matrix.T if matrix.ndim == 2 else np.matmul(matrix, vector[..., None])[..., 0]
    return product

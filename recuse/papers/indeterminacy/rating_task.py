"""A rating task: the options a rater may choose, and the sets of options that a rater may hold admissible at once.

Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 2. K options O, V sets Q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats


@dataclass(frozen=True)
class RatingTask:
    """`options` in order (the first is the property of interest unless a caller says otherwise); `sets` of them, each
    not empty and none twice.

    >>> RatingTask.of(["yes", "no"]).sets == (frozenset({"yes"}), frozenset({"no"}), frozenset({"yes", "no"}))
    True
    """

    options: tuple[str, ...]
    sets: tuple[frozenset[str], ...]

    def __post_init__(self) -> None:
        names = ", ".join(self.options)
        if len(self.options) < 2 or len(set(self.options)) < len(self.options):
            raise RecuseError(f"a rating task has two options or more, each once; got {names or 'none'}")
        if not self.sets or len(set(self.sets)) < len(self.sets):
            raise RecuseError("a rating task has one admissible response set or more, each once")
        for members in self.sets:
            if not members:
                raise RecuseError("a response set holds one option or more; got an empty set")
            if strange := sorted(members - set(self.options)):
                raise RecuseError(f"a response set holds options of the task, {names}; got {', '.join(strange)}")

    @classmethod
    def of(cls, options: Sequence[str], sets: Iterable[Iterable[str]] | None = None) -> RatingTask:
        """The task with these sets; without any, every set that is not empty is admissible, the smallest first."""
        names = tuple(options)
        if sets is None:
            sets = (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size))
        return cls(names, tuple(frozenset(members) for members in sets))

    @classmethod
    def specified(cls, options: Sequence[str]) -> RatingTask:
        """The fully specified task: one option is right at a time."""
        return cls.of(options, ([name] for name in options))

    @property
    def underspecified(self) -> bool:
        """Definition 2.1, read strictly: |O| < |Q|. With the printed <= every task would be underspecified and Theorem
        3.4 would say nothing."""
        return len(self.options) < len(self.sets)

    @cached_property
    def membership(self) -> Floats:
        """Lambda (K, V): 1 where set v holds option k."""
        return np.array([[float(name in members) for members in self.sets] for name in self.options])

    @cached_property
    def sizes(self) -> Floats:
        """How many options each set holds, (V,)."""
        sizes: Floats = self.membership.sum(axis=0)
        return sizes

    def set_place(self, members: Iterable[str]) -> int:
        """The index of a response set; `RecuseError` for one that is not admissible."""
        wanted = frozenset(members)
        if strange := sorted(wanted - set(self.options)):
            raise RecuseError(f"a response set holds options of {', '.join(self.options)}; got {', '.join(strange)}")
        if wanted not in self.sets:
            named = "|".join(name for name in self.options if name in wanted) or "the empty set"
            raise RecuseError(f"{named} is not among the {len(self.sets)} admissible response sets of this task")
        return self.sets.index(wanted)

    def set_name(self, place: int) -> str:
        """A set as it stands in a table: "a|b"."""
        return "|".join(name for name in self.options if name in self.sets[place])


# --------------------------------------------------------------------------- how ratings come about
#     O = F (E theta*)          forced choices, (K,)
#     Omega = Lambda (E theta*) how often each option is endorsed, (K,)
#     theta* = E' (F' O)        back again, where the reverse matrices are known
#
# theta* (V,): shares of stable response sets; E (V, V): observed set given the stable one; F (K, V): choice given the
# observed set. Columns sum to 1. Every function takes leading axes for items. Guerdan et al. (2025), Theorem 3.3.


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
    mass, whole = (part.sum(axis=-1, keepdims=True) for part in (joint, matrix))
    flat = np.where(whole > 0, matrix / np.maximum(whole, 1e-300), 1.0 / matrix.shape[-1])
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
    return shares * (share @ matrix)


class Identifiability(NamedTuple):
    """Whether forced choices determine the response sets: rank of F against the number of sets (Theorem 3.4)."""

    rank: int
    sets: int
    identifiable: bool
    words: str


def identifiability(choice: Floats) -> Identifiability:
    """From F (K, V): identifiable where the rank is the number of sets; `words` says so, with what to do where it is
    not. Error-free raters (E = 1) are assumed, as in Theorem 3.4."""
    (options, sets), rank = choice.shape, int(np.linalg.matrix_rank(choice))
    words = (
        f"forced choices between {options} options determine how often each response set is meant"
        if rank == sets
        else f"the task is underspecified: forced choices between {options} options cannot tell {sets} response sets "
        "apart, so different shares of people who would accept several options give the same choices. Add an option "
        "for unclear cases with a rule when to use it, or ask for all options that apply"
    )
    return Identifiability(rank, sets, rank == sets, words)


def _times(matrix: Floats, vector: Floats) -> Floats:
    return vector @ matrix.T if matrix.ndim == 2 else np.matmul(matrix, vector[..., None])[..., 0]

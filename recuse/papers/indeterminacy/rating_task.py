"""A rating task: K options O that a rater may choose, and V sets Q of them that a rater may hold admissible at once.
Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, Mask


@dataclass(frozen=True)
class RatingTask:
    """`options` in order (the first is the property of interest unless a caller says otherwise); `sets` of them, each
    not empty and none twice."""

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
    (..., columns) how often each column occurs, so that it differs from item to item. A row that never occurs is spread
    as if all columns occurred equally often, and evenly where no column leads to it: that column of the reverse is
    multiplied by 0."""
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
    """What `reverse(matrix, shares)` makes of shares of rows (..., rows), without building it for every item: shares_v
    sum_r matrix_rv rows_r / (matrix shares)_r; `matrix` (rows, columns), `shares` (..., columns). Rows that never occur
    are left out."""
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


# --------------------------------------------------------------------------- matrices with stated parameters
# Simulations draw from them, and sensitivity analyses vary them.

Variant = Literal["printed", "both", "nested"]


def choice_matrix(task: RatingTask, decay: float) -> Floats:
    """F (K, V), proportional to exp(-decay * rank of the option within its set), ranks from 0 in the order of the
    options: above 0 the earlier options are preferred, below 0 the later ones (sec. 6)."""
    ranks = np.cumsum(task.membership, axis=0) - 1
    logits = np.where(task.membership > 0, -decay * ranks, -np.inf)
    weights = np.exp(logits - logits.max(axis=0))
    matrix: Floats = weights / weights.sum(axis=0)
    return matrix


def selection_strength(task: RatingTask, choice: Floats, option: int = 0) -> float:
    """Gamma: mean of |S| P(option | S) over the sets S of two options or more that hold it: 1 is chance, 2 is twice as
    likely as chance; NaN where no such set is admissible. The paper prints the weight 1 / |S|, under which two options
    at chance give .625, not the 1 that its text says; |S| gives 1. A set of one option leaves no choice, so it does not
    count: with it, two options never exceed 1.5."""
    held = (task.membership[option] > 0) & (task.sizes > 1)
    return float((task.sizes * choice[option])[held].mean()) if held.any() else math.nan


def decay_for(task: RatingTask, strength: float, option: int = 0) -> float:
    """The decay at which `choice_matrix` has this selection strength; 0 for a task that leaves no choice. `RecuseError`
    for a strength that no decay reaches, with the range that can be reached."""
    if math.isnan(selection_strength(task, choice_matrix(task, 0.0), option)):
        return 0.0
    low, high = -60.0, 60.0
    ends = [selection_strength(task, choice_matrix(task, end), option) for end in (low, high)]
    if not min(ends) - 1e-9 <= strength <= max(ends) + 1e-9:
        raise RecuseError(
            f"a selection strength of {strength:g} cannot be reached with these response sets: it lies between "
            f"{min(ends):.3f} and {max(ends):.3f}"
        )
    below, above = ((end, value - strength) for end, value in zip((low, high), ends, strict=True))
    if below[1] * above[1] >= 0:  # an end of the range, but for rounding
        return min((below, above), key=lambda end: abs(end[1]))[0]
    from scipy.optimize import brentq  # heavy: simulations alone want it

    root = brentq(lambda decay: selection_strength(task, choice_matrix(task, decay), option) - strength, low, high)
    return float(root)


def error_matrix(task: RatingTask, rate: float, skew: float = 0.0, option: int = 0) -> Floats:
    """E (V, V): 1 - rate on the diagonal; off it the rate is split among the other sets in proportion to exp(skew) for
    those that hold the option and 1 for the rest, so that columns sum to 1 (the paper prints the rate in every cell and
    no distribution for the skew). Skew above 0 favours sets with the option. 1 x 1 where only one set is admissible."""
    if not 0 <= rate <= 1:
        raise RecuseError(f"an error rate lies between 0 and 1; got {rate:g}")
    count = len(task.sets)
    if count == 1:
        return np.ones((1, 1))
    weights = np.exp(skew * task.membership[option])[:, None] * (1 - np.eye(count))
    matrix: Floats = (1 - rate) * np.eye(count) + rate * weights / weights.sum(axis=0)
    return matrix


def reverse_choice_matrix(task: RatingTask, beta: float, positive: int, variant: Variant = "printed") -> Floats:
    """F' (V, K): what who chose an option would have accepted, with one parameter beta = P(positive in S | O =
    fallback), the fallback being the last option other than the positive one. "printed" (Table 2): every choice stands
    for itself alone, but of those who chose the fallback a share beta holds the positive option admissible *instead*.
    "both": ... *as well*. "nested": as "both", and who chose any other option holds the positive one admissible as well
    (Very Toxic implies Toxic), which reaches a threshold at a smaller beta; the paper calls Table 2 conservative
    against it. `RecuseError` for a beta outside [0, 1] and for sets that the task does not admit."""
    if not 0 <= beta <= 1:
        raise RecuseError(f"beta is a probability, between 0 and 1; got {beta:g}")
    count = len(task.options)
    if not 0 <= positive < count:
        raise RecuseError(f"the positive option is one of {count}, counted from 0; got {positive}")
    fallback = max(k for k in range(count) if k != positive)
    matrix = np.zeros((len(task.sets), count))
    for k, name in enumerate(task.options):
        kept = {name} | ({task.options[positive]} if variant == "nested" and k != fallback else set())
        moved = {task.options[positive]} | (set() if variant == "printed" else {name})
        share = beta if k == fallback else 0.0
        matrix[task.set_place(kept), k] += 1 - share
        if share:
            matrix[task.set_place(moved), k] += share
    return matrix


# --------------------------------------------------------------------------- transition matrices from counts
# Each column of a transition matrix is a distribution over rows. With a Dirichlet prior of `prior` per allowed cell
# (1/2: Jeffreys), counts n_1..n_m of a column have posterior means (n_r + prior) / (n + m prior), and each cell a Beta
# posterior, whose quantiles are the interval. A column without any count has its prior.

PRIOR = 0.5


def transition_estimate(counts: Floats, allowed: Mask) -> tuple[Floats, Floats, Floats]:
    """Posterior mean and the ends of 95 % intervals, (rows, columns) each, from counts of pairs, which are 0 where they
    are not `allowed`: for F, options that are in the set; for F', sets that hold the option."""
    a = np.where(allowed, counts + PRIOR, 0.0)
    whole = a.sum(axis=0)
    rest = whole - a
    inside = allowed & (rest > 0)
    first, second = (np.where(inside, side, 1.0) for side in (a, rest))
    quantiles = (special.betaincinv(first, second, q) for q in (0.025, 0.975))
    low, high = (np.where(inside, quantile, allowed.astype(float)) for quantile in quantiles)
    return a / whole, low, high

"""Choice, error and reverse matrices with stated parameters: what simulations draw from and sensitivity analyses
vary.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.papers.indeterminacy.rating_task import RatingTask
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

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
    likely as chance, 0.5 half as likely.

    The paper prints the weight 1 / |S|, under which two options at chance give .625, not the 1 that its text says; |S|
    gives 1. A set of one option leaves no choice, so it does not count: with it, two options never exceed 1.5.
    NaN where no such set is admissible.
    """
    held = (task.membership[option] > 0) & (task.sizes > 1)
    return float((task.sizes * choice[option])[held].mean()) if held.any() else math.nan


def decay_for(task: RatingTask, strength: float, option: int = 0) -> float:
    """The decay at which `choice_matrix` has this selection strength; 0 for a task that leaves no choice.

    `RecuseError` for a strength that no decay reaches, with the range that can be reached."""
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
    fallback), the fallback being the last option other than the positive one.

    "printed" (Table 2): every choice stands for itself alone, but of those who chose the fallback option a share beta
    holds the positive option admissible *instead*. "both": ... the positive option *as well*. "nested": as "both", and
    who chose any other option holds the positive one admissible as well (Very Toxic implies Toxic), which reaches a
    threshold at a smaller beta; the paper calls Table 2 conservative against it. `RecuseError` for a beta outside [0,
    1] and for sets that the task does not admit.

    >>> from recuse.papers.indeterminacy.rating_task import endorsements, recovered
    >>> task = RatingTask.of(["yes", "no"])  # half chose yes; a fifth of the others would have accepted it too
    >>> reverse = reverse_choice_matrix(task, beta=0.2, positive=0, variant="both")
    >>> endorsements(task, recovered(reverse, np.array([0.5, 0.5]))).tolist()
    [0.6, 0.5]
    """
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


def transition_estimate(counts: Floats, allowed: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
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

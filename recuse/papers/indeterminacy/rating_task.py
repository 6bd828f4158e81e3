"""A rating task: K options O that a rater may choose, and V sets Q of them that a rater may hold admissible at once.
Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels, sec. 2.

People and judges drawn from the rating model of Guerdan et al. (2025), sec. 6 and Appendix D.1. One draw is a
`Population`: I items, whose raters hold response sets admissible (theta*), err (E) and choose (F), and J judges whose
response sets are people's, perturbed and put back on the simplex. `people` and `judges` are the rating vectors of the
population; `sampled_people` and `sampled_judges` those of a few ratings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from recuse.papers.indeterminacy.definitions import RatingVectors
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, Mask


@dataclass(frozen=True)
class RatingTask:
    """`options` in order, the first being the property of interest; `sets` of them, each not empty and none twice."""

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
        """The task with these sets (fully specified where each is one option); without any, every set that is not empty
        is admissible, the smallest first."""
        names = tuple(options)
        if sets is None:
            sets = (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size))
        return cls(names, tuple(frozenset(members) for members in sets))

    @cached_property
    def membership(self) -> Floats:
        """Lambda (K, V): 1 where set v holds option k."""
        return np.array([[float(name in members) for members in self.sets] for name in self.options])

    sizes = cached_property(lambda self: self.membership.sum(axis=0))
    """How many options each set holds, (V,)."""

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


def recovered(reverse_choice: Floats, choices: Floats) -> Floats:
    """theta* = F' O of raters without error, (..., V); `reverse_choice` F' (..., V, K), `choices` O (..., K)."""
    return _times(reverse_choice, choices)


def reversed_shares(matrix: Floats, shares: Floats, rows: Floats) -> Floats:
    """Shares of rows (..., rows) times the reverse of P(row | column), `matrix` (rows, columns), by Bayes: shares_v
    sum_r matrix_rv rows_r / (matrix shares)_r, with `shares` (..., columns) how often each column occurs. Rows that
    never occur are left out."""
    mass = shares @ matrix.T
    share = np.divide(rows, mass, out=np.zeros(np.broadcast_shapes(rows.shape, mass.shape)), where=mass > 0)
    return shares * (share @ matrix)


def identifiability(choice: Floats) -> str:
    """Whether forced choices determine the response sets, from F (K, V): they do where its rank is the number of sets
    (Theorem 3.4, of raters without error, E = 1); in words, with what to do where they do not."""
    options, sets = choice.shape
    if int(np.linalg.matrix_rank(choice)) == sets:
        return f"forced choices between {options} options determine how often each response set is meant"
    return (
        f"the task is underspecified: forced choices between {options} options cannot tell {sets} response sets apart, "
        "so different shares of people who would accept several options give the same choices. Add an option for "
        "unclear cases with a rule when to use it, or ask for all options that apply"
    )


def _times(matrix: Floats, vector: Floats) -> Floats:
    return vector @ matrix.T if matrix.ndim == 2 else np.matmul(matrix, vector[..., None])[..., 0]


# --------------------------------------------------------------------------- matrices with stated parameters

Variant = Literal["printed", "both", "nested"]


def choice_matrix(task: RatingTask, decay: float) -> Floats:
    """F (K, V), proportional to exp(-decay * rank of the option within its set), ranks from 0 in the order of the
    options: above 0 the earlier options are preferred, below 0 the later ones (sec. 6)."""
    ranks = np.cumsum(task.membership, axis=0) - 1
    logits = np.where(task.membership > 0, -decay * ranks, -np.inf)
    weights = np.exp(logits - logits.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def selection_strength(task: RatingTask, choice: Floats) -> float:
    """Gamma: mean of |S| P(first option | S) over the sets S of two options or more that hold it: 1 is chance, 2 is
    twice as likely as chance; NaN where no such set is admissible. The paper prints the weight 1 / |S|, under which two
    options at chance give .625, not the 1 that its text says; |S| gives 1. A set of one option leaves no choice, so it
    does not count: with it, two options never exceed 1.5."""
    held = (task.membership[0] > 0) & (task.sizes > 1)
    return float((task.sizes * choice[0])[held].mean()) if held.any() else np.nan


def decay_for(task: RatingTask, strength: float) -> float:
    """The decay at which `choice_matrix` has this selection strength; 0 for a task that leaves no choice. `RecuseError`
    for a strength that no decay reaches, with the range that can be reached."""

    def strength_at(decay: float) -> float:
        return selection_strength(task, choice_matrix(task, decay))

    if np.isnan(strength_at(0.0)):
        return 0.0
    low, high = -60.0, 60.0
    least, most = sorted(map(strength_at, (low, high)))
    if not least - 1e-9 <= strength <= most + 1e-9:
        raise RecuseError(
            f"a selection strength of {strength:g} cannot be reached with these response sets: it lies between "
            f"{least:.3f} and {most:.3f}"
        )
    from scipy.optimize import brentq  # heavy: simulations alone want it

    within = min(max(strength, least), most)  # beyond an end of the range by rounding alone
    return float(brentq(lambda decay: strength_at(decay) - within, low, high))


def error_matrix(task: RatingTask, rate: float, skew: float = 0.0) -> Floats:
    """E (V, V): 1 - rate on the diagonal; off it the rate is split among the other sets in proportion to exp(skew) for
    those that hold the first option and 1 for the rest, so that columns sum to 1 (the paper prints the rate in every
    cell and no distribution for the skew). Skew above 0 favours sets with it. 1 where one set is admissible."""
    if not 0 <= rate <= 1:
        raise RecuseError(f"an error rate lies between 0 and 1; got {rate:g}")
    same = np.eye(len(task.sets))
    if len(same) == 1:
        return same
    weights = np.exp(skew * task.membership[0])[:, None] * (1 - same)
    return np.asarray((1 - rate) * same + rate * weights / weights.sum(axis=0))


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


# --------------------------------------------------------------------------- people and judges, drawn


@dataclass(frozen=True, slots=True)
class Design:
    """What a population is drawn from. `options`, `sets`: |O| and |Q|, equal sizes being a fully specified task;
    `people_strength`, `judge_strength`: Gamma of either side, 1 is chance; `error`, `skew`: epsilon and eta of people;
    `spread`: range of the judges' sigma."""

    options: int = 3
    sets: int = 7
    people_strength: float = 1.0
    judge_strength: float = 1.0
    error: float = 0.0
    skew: float = 0.0
    judges: int = 50
    items: int = 100
    spread: tuple[float, float] = (0.02, 0.4)


@dataclass(frozen=True, eq=False)
class Population:
    """`stable` theta* of people (I, V), `judged` of the judges (J, I, V), with the matrices of either side."""

    task: RatingTask
    stable: Floats
    judged: Floats
    error: Floats
    choice: Floats
    judge_choice: Floats

    observed = cached_property(lambda self: self.stable @ self.error.T)
    """E theta*, (I, V)."""
    truth = cached_property(lambda self: endorsements(self.task, self.stable))
    """Omega* (I, K): what people endorse when they make no error; what judges are scored against."""

    @cached_property
    def people(self) -> RatingVectors:
        """With error: what endlessly many ratings would show."""
        return RatingVectors(forced_choices(self.choice, self.observed), endorsements(self.task, self.observed))

    @cached_property
    def judges(self) -> RatingVectors:
        """Of the judges, without error."""
        return RatingVectors(forced_choices(self.judge_choice, self.judged), endorsements(self.task, self.judged))

    def sampled_people(self, budgets: Sequence[int], rng: np.random.Generator) -> RatingVectors:
        """From forced choices of each of `budgets` raters per item, (B, I, ...); the more raters include the fewer.
        Response sets follow from choices by theta* = E'(F' O) with the true reverse matrices (Appendix D.1), which
        nobody has in practice: what is shown of response sets is what the best correction could do."""
        steps = np.diff([0, *budgets])
        if (steps <= 0).any():
            raise RecuseError(f"budgets rise from 1; got {', '.join(map(str, budgets))}")
        counts = np.cumsum([counted_choices(self.people.choices, n, rng) for n in steps], axis=0)
        choices = counts / np.asarray(budgets, dtype=float)[:, None, None]
        sets = reversed_shares(self.choice, self.observed, choices)
        return RatingVectors(choices, endorsements(self.task, reversed_shares(self.error, self.stable, sets)))

    def sampled_judges(self, repeats: int, rng: np.random.Generator) -> RatingVectors:
        """From `repeats` forced choices of each judge per item, (J, I, ...)."""
        choices = counted_choices(self.judges.choices, repeats, rng) / repeats
        return RatingVectors(choices, endorsements(self.task, reversed_shares(self.judge_choice, self.judged, choices)))


def draw_population(design: Design, rng: np.random.Generator) -> Population:
    """theta* ~ Dirichlet(1) per item; a judge's is the projection of theta* + N(0, sigma^2 I) onto the simplex, with
    sigma uniform over `spread`. Judges make no errors."""
    task = simulated_task(design.options, design.sets, rng)
    stable = rng.dirichlet(np.ones(len(task.sets)), size=design.items)
    sigma = rng.uniform(*design.spread, size=(design.judges, 1, 1))
    judged = on_simplex(stable + sigma * rng.standard_normal((design.judges, *stable.shape)))
    strengths = design.people_strength, design.judge_strength
    choices = (choice_matrix(task, decay_for(task, strength)) for strength in strengths)
    return Population(task, stable, judged, error_matrix(task, design.error, design.skew), *choices)


def simulated_task(options: int, sets: int, rng: np.random.Generator) -> RatingTask:
    """Every option alone, then larger sets: all of them where there are no more than `sets`, else drawn at random, but
    always one that holds the first option. `RecuseError` where |Q| < |O| or there are not that many sets."""
    names = [f"option {k}" for k in range(options)]
    larger = [c for size in range(2, min(options, 5) + 1) for c in combinations(names, size)]
    wanted = sets - options
    if not 0 <= wanted <= len(larger):
        raise RecuseError(f"{options} options have {options} to {options + len(larger)} response sets here; got {sets}")
    if wanted < len(larger):
        order = [larger[place] for place in rng.permutation(len(larger))]
        held = next(c for c in order if c[0] == names[0])
        larger = [held, *(c for c in order if c != held)][:wanted]
    return RatingTask.of(names, [*([name] for name in names), *larger])


def counted_choices(chances: Floats, times: int, rng: np.random.Generator) -> Floats:
    """How often each option is chosen in `times` draws, (..., K), from chances (..., K)."""
    edges = np.cumsum(chances, axis=-1)[..., :-1]
    drawn = rng.random((times, *chances.shape[:-1]), dtype=np.float32)
    above = np.zeros((*chances.shape[:-1], chances.shape[-1] + 1))  # how many draws lie above each edge, both ends too
    above[..., 0] = times
    for k in range(edges.shape[-1]):
        above[..., k + 1] = (drawn > edges[..., k]).sum(axis=0)
    return -np.diff(above, axis=-1)


def on_simplex(points: Floats) -> Floats:
    """The nearest point (Euclid) with entries at least 0 that sum to 1, along the last axis. Held, Wolfe and Crowder
    (1974), Mathematical Programming 6, 62-88."""
    ordered = -np.sort(-points, axis=-1)
    beyond = np.cumsum(ordered, axis=-1) - 1
    ranks = np.arange(1, points.shape[-1] + 1)
    kept = (ordered - beyond / ranks > 0).sum(axis=-1, keepdims=True)
    return np.asarray(np.maximum(points - np.take_along_axis(beyond, kept - 1, axis=-1) / kept, 0.0))

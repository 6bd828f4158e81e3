"""People and judges drawn from the rating model of Guerdan et al. (2025), sec. 6 and Appendix D.1. One draw is a
`Population`: I items, whose raters hold response sets admissible (theta*), err (E) and choose (F), and J judges whose
response sets are people's, perturbed and put back on the simplex. `people` and `judges` are the rating vectors of the
population; `sampled_people` and `sampled_judges` those of a few ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from recuse.papers.indeterminacy.aggregation import RatingVectors
from recuse.papers.indeterminacy.rating_task import (
    RatingTask,
    choice_matrix,
    decay_for,
    endorsements,
    error_matrix,
    forced_choices,
    reversed_shares,
)
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats


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

    @cached_property
    def observed(self) -> Floats:
        """E theta*, (I, V)."""
        return self.stable @ self.error.T

    @cached_property
    def truth(self) -> Floats:
        """Omega* (I, K): what people endorse when they make no error; what judges are scored against."""
        return endorsements(self.task, self.stable)

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
    projected: Floats = np.maximum(points - np.take_along_axis(beyond, kept - 1, axis=-1) / kept, 0.0)
    return projected

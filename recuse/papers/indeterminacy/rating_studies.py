"""What a few ratings, forced choice and errors do to what people's ratings say (Guerdan et al. 2025, figures 6, 10, 11,
12, 15). Every study draws `trials` populations from one seed and gives means over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recuse.papers.indeterminacy import TAUS, consistency, decisions, definition, estimation_bias
from recuse.papers.indeterminacy.selection_study import (
    ASYMMETRIC,
    BUDGETS,
    SIZES,
    downstream,
    rank_correlation,
)
from recuse.papers.indeterminacy.simulated_ratings import Design, Population, draw_population
from recuse.schema.arrays import Floats
from recuse.statistics.resampling import generator

__all__ = [
    "ERRORS", "SKEWS", "FewRatings", "chosen_under_error", "few_ratings", "forced_choice_bias",
    "prevalence_under_error", "rankings_under_error",
]  # fmt: skip

Sizes = Sequence[tuple[int, int]]
ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SKEWS = (-1.0, 0.0, 1.0)
RANKED = ("hit_rate(h/h)", "js_divergence(s/s)", "mse(srs/srs)")
SELECTION = {"symmetric": replace(ASYMMETRIC, judge_strength=2.0), "asymmetric": ASYMMETRIC}
SPECIFIED = Design(options=0, sets=0)


@dataclass(frozen=True, eq=False)
class FewRatings:
    """Decisions from a few people against those from all of them, by budget and tau, (B, taus): share that are alike,
    and bias of the prevalence."""

    budgets: tuple[int, ...]
    consistency: Floats
    bias: Floats


def few_ratings(
    design: Design, budgets: Sequence[int] = BUDGETS, *, trials: int = 40, sizes: Sizes = SIZES, seed: int = 2
) -> FewRatings:
    """Figures 6 (left) and 15: no judge is involved. Soft response sets by the true reverse matrices."""
    c, b = [], []
    for population, rng in _populations(replace(design, judges=1), trials, sizes, seed):
        few = decisions(population.sampled_people(budgets, rng).endorsed, 0, TAUS)
        whole = decisions(population.people.endorsed, 0, TAUS)[:, None]
        c.append(consistency(few, whole).T)
        b.append(estimation_bias(few, whole).T)
    return FewRatings(tuple(budgets), np.mean(c, axis=0), np.mean(b, axis=0))


def forced_choice_bias(
    strengths: Sequence[float] = (0.5, 0.75, 1.0, 1.5, 2.0), *, trials: int = 40, sizes: Sizes = SIZES, seed: int = 3
) -> dict[float, Floats]:
    """Figure 6 (right): prevalence by forced choice less prevalence by response sets, no error, by Gamma, (taus,)."""
    return {
        strength: _bias_of_choices(Design(people_strength=strength, judges=1), trials, sizes, seed)
        for strength in strengths
    }


def prevalence_under_error(
    errors: Sequence[float] = ERRORS, skews: Sequence[float] = SKEWS, *, strength: float = 1.0, specified: bool = False,
    trials: int = 20, sizes: Sizes = SIZES, seed: int = 4,
) -> dict[tuple[float, float], float]:  # fmt: skip
    """Figure 12: bias of forced choices with error against error-free response sets, by (epsilon, eta), mean over
    tau."""
    base = replace(SPECIFIED if specified else Design(people_strength=strength), judges=1)
    return {
        (error, skew): float(_bias_of_choices(replace(base, error=error, skew=skew), trials, sizes, seed).mean())
        for skew in skews
        for error in errors
    }


def chosen_under_error(
    errors: Sequence[float] = ERRORS, skews: Sequence[float] = SKEWS, *, designs: Mapping[str, Design] = SELECTION,
    budget: int = 100, trials: int = 12, sizes: Sizes = SIZES[:3], seed: int = 5,
) -> dict[tuple[str, float, float], float]:  # fmt: skip
    """Figure 10: mean consistency over tau of the judge that the hit rate chooses, by (design, epsilon, eta)."""
    hit_rate = definition("hit_rate(h/h)")

    def consistency_of_chosen(population: Population, rng: np.random.Generator) -> float:
        gains = hit_rate.value(population.judges, population.sampled_people((budget,), rng))
        return float(downstream(population)[0][:, int(np.argmax(gains))].mean())

    chosen = {}
    for name, design in designs.items():
        for error, skew in _grid(errors, skews):
            drawn = _populations(replace(design, error=error, skew=skew), trials, sizes, seed)
            chosen[name, error, skew] = float(np.mean([consistency_of_chosen(*each) for each in drawn]))
    return chosen


def rankings_under_error(
    errors: Sequence[float] = ERRORS, skews: Sequence[float] = SKEWS, *, design: Design = ASYMMETRIC,
    names: Sequence[str] = RANKED, trials: int = 12, sizes: Sizes = SIZES[:3], seed: int = 6,
) -> dict[tuple[str, float, float], float]:  # fmt: skip
    """Figure 11: Spearman's rho between rankings of judges by people with error and by people without, on populations,
    by (definition, epsilon, eta)."""
    wanted = [definition(name) for name in names]
    rankings = {}
    for error, skew in _grid(errors, skews):
        kept = []
        for population, _ in _populations(replace(design, error=error, skew=skew), trials, sizes, seed):
            clean = replace(population, error=np.eye(len(population.task.sets)))
            gains = [
                np.array([each.gain(each.value(population.judges, side.people)) for each in wanted])
                for side in (population, clean)
            ]
            kept.append(rank_correlation(*gains))
        for name, rho in zip(names, np.nanmean(kept, axis=0), strict=True):
            rankings[name, error, skew] = float(rho)
    return rankings


def _grid(errors: Sequence[float], skews: Sequence[float]) -> list[tuple[float, float]]:
    return [(error, skew) for skew in skews for error in errors]


def _bias_of_choices(design: Design, trials: int, sizes: Sizes, seed: int) -> Floats:
    biases = []
    for population, _ in _populations(design, trials, sizes, seed):
        chosen, right = (decisions(v, 0, TAUS) for v in (population.people.choices, population.truth))
        biases.append(estimation_bias(chosen, right))
    mean: Floats = np.mean(biases, axis=0)
    return mean


def _populations(
    design: Design, trials: int, sizes: Sizes, seed: int
) -> Iterator[tuple[Population, np.random.Generator]]:
    for t in range(trials):
        options, sets = sizes[t % len(sizes)]
        rng = generator(seed, "ratings", str(t))
        yield draw_population(replace(design, options=options, sets=sets if design.sets else options), rng), rng

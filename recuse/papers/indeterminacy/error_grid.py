"""What errors of raters do, over their rate epsilon and their skew eta (Guerdan et al. 2025, figures 10 to 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recuse.papers.indeterminacy.aggregation import TAUS, decisions, estimation_bias
from recuse.papers.indeterminacy.definitions import definition
from recuse.papers.indeterminacy.selection_study import (
    SETTINGS,
    SIZES,
    Sizes,
    downstream,
    populations,
    rank_correlation,
)
from recuse.papers.indeterminacy.simulated_ratings import Design
from recuse.schema.arrays import Floats

ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SKEWS = (-1.0, 0.0, 1.0)
BUDGET = 100
"""Ratings per item from which the hit rate chooses."""
RANKED = tuple(map(definition, ("hit_rate(h/h)", "js_divergence(s/s)", "mse(srs/srs)")))
DESIGNS = dict(list(SETTINGS.items())[:3])
"""Those without error: a task fully specified, symmetric and asymmetric selection."""


@dataclass(frozen=True, eq=False)
class UnderError:
    """Means over trials and tau, by skew and error rate. `chosen` (S, E): consistency of the judge that the hit rate
    chooses; `rho` (R, S, E): Spearman's rho between the rankings of judges by people with error and by people without,
    on populations, by each of `RANKED`; `bias` (S, E): of forced choices with error against response sets without."""

    chosen: Floats
    rho: Floats
    bias: Floats


def under_error(
    design: Design, errors: Sequence[float] = ERRORS, skews: Sequence[float] = SKEWS, *, trials: int = 12,
    sizes: Sizes = SIZES[:3], seed: int = 5,
) -> UnderError:  # fmt: skip
    """The grid for one design; every cell draws the same populations, but for the errors."""
    cells = [[_cell(replace(design, error=e, skew=s), trials, sizes, seed) for e in errors] for s in skews]
    chosen, bias, *rho = np.moveaxis(np.array(cells), -1, 0)
    return UnderError(chosen, np.array(rho), bias)


def _cell(design: Design, trials: int, sizes: Sizes, seed: int) -> Floats:
    drawn = []
    for population, rng in populations(design, range(trials), sizes, seed):
        gains = RANKED[0].value(population.judges, population.sampled_people((BUDGET,), rng))
        clean = replace(population, error=np.eye(len(population.task.sets)))
        by_people = (
            np.array([each.gain(each.value(population.judges, side.people)) for each in RANKED])
            for side in (population, clean)
        )
        forced, right = (decisions(ratings, 0, TAUS) for ratings in (population.people.choices, population.truth))
        consistent = downstream(population)[0][:, int(np.argmax(gains))]
        drawn.append([consistent.mean(), estimation_bias(forced, right).mean(), *rank_correlation(*by_people)])
    means: Floats = np.nanmean(drawn, axis=0)
    return means


def error_tables(trials: int) -> Iterator[str]:
    """Lines of the three figures, epsilon across and a line per design and eta."""
    grids = {name: under_error(design, trials=trials) for name, design in DESIGNS.items()}
    titles = (
        "Consistency of the judge that the hit rate chooses",
        *(f"Rank correlation by people with and without error, {each.name}" for each in RANKED),
        "Prevalence by forced choices too high",
    )
    for k, title in enumerate(titles):
        yield from ("", f"{title + ', by epsilon':<84}" + "".join(f"{error:>8g}" for error in ERRORS))
        for name, grid in grids.items():
            for skew, row in zip(SKEWS, (grid.chosen, *grid.rho, grid.bias)[k], strict=True):
                yield f"    {name + f', eta {skew:g}':<80}" + "".join(f"{value:>+8.3f}" for value in row)

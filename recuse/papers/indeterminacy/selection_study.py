"""Which judge does a measure choose, and how good is that judge downstream? (Guerdan et al. 2025, sec. 6, figures 4, 5,
6, 13 and 15.) In every trial a population of people and judges is drawn. Each definition of performance ranks the
judges from a few ratings per item; the judge it ranks first is then scored on the whole population, against what people
would endorse without error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from recuse.papers.indeterminacy.aggregation import TAUS, RatingVectors, consistency, decisions, estimation_bias
from recuse.papers.indeterminacy.definitions import KNOWN, Definition, definition
from recuse.papers.indeterminacy.simulated_ratings import Design, Population, draw_population
from recuse.papers.rank_tests import spearman
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import generator

Progress = Callable[[str, int, int], None]
Sizes = Sequence[tuple[int, int]]
Work = tuple[Design, range, tuple[int, ...], Sizes, int]

BUDGETS = (1, 3, 10, 100)
REPEATS = 20  # how often each judge is asked about an item
SIZES = ((2, 3), (3, 7), (4, 15), (10, 30))  # |O| and |Q| of underspecified tasks, in turn; specified, |Q| = |O|
BLOCK = 5  # trials that a process takes at a time
ASYMMETRIC = Design(people_strength=2.0, judge_strength=0.5)
SETTINGS: Mapping[str, Design] = {
    "fully specified": Design(options=0, sets=0),
    "symmetric selection": Design(people_strength=2.0, judge_strength=2.0),
    "asymmetric selection": ASYMMETRIC,
    "asymmetric, random error": replace(ASYMMETRIC, error=0.3),
    "asymmetric, additive error": replace(ASYMMETRIC, error=0.3, skew=1.0),
}
CATEGORICAL = ("hit_rate(h/h)", "krippendorff_alpha(h/h)", "cohen_kappa(h/h)", "scott_pi(h/h)")
DISTRIBUTIONAL = (
    "kl_people_judge(s/s)", "kl_judge_people(s/s)", "cross_entropy_people_judge(s/s)",
    "cross_entropy_judge_people(s/s)", "js_divergence(s/s)", "mse(s/s)",
)  # fmt: skip
CHOOSING = tuple(map(definition, (*CATEGORICAL, *DISTRIBUTIONAL, "coverage(h/hrs)", "mse(srs/srs)")))
"""Those that see forced choices alone, and two that are given response sets."""
RANKING = tuple(each for each in KNOWN.values() if each.measure != "set_size")
"""Every definition but set size, by which the judge that names nothing would be best."""


@dataclass(frozen=True, eq=False)
class SelectionStudy:
    """Means over tau. `consistency`, `abs_bias` (S, T, B, D): of the judge that definition d chooses at budget b in
    trial t of setting s; `best` (S, T, 2) of the best judge, `average` (S, T, 2) of one drawn at random; `correlation`
    (S, T, R, 2): Spearman's rho of the ranking by each of `RANKING` with the downstream one on the population, for C
    and |B|."""

    settings: tuple[str, ...]
    budgets: tuple[int, ...]
    names: tuple[str, ...]
    consistency: Floats
    abs_bias: Floats
    best: Floats
    average: Floats
    correlation: Floats

    def chosen(self, setting: str, name: str, budget: int) -> float:
        """Mean consistency of the chosen judges over trials."""
        return self._mean(self.consistency, setting, name, budget)

    def biased(self, setting: str, name: str, budget: int) -> float:
        """Mean |bias| of the chosen judges over trials."""
        return self._mean(self.abs_bias, setting, name, budget)

    def _mean(self, values: Floats, setting: str, name: str, budget: int) -> float:
        s, b, d = self.settings.index(setting), self.budgets.index(budget), self.names.index(name)
        return float(values[s, :, b, d].mean())

    def rho(self, setting: str, name: str) -> float:
        """Mean rank correlation with consistency over trials."""
        place = [each.name for each in RANKING].index(name)
        return float(self.correlation[self.settings.index(setting), :, place, 0].mean())


def selection_study(
    trials: int = 100, *, settings: Mapping[str, Design] = SETTINGS, budgets: Sequence[int] = BUDGETS,
    sizes: Sizes = SIZES, seed: int = 1, workers: int = 1, progress: Progress | None = None,
) -> SelectionStudy:  # fmt: skip
    """The whole grid; the same seed gives the same numbers, however many processes share the work and whatever other
    settings are run. Every process holds one trial at a time. `progress(setting, done, trials)` is told as it goes on.
    """
    blocks = [(name, start, min(start + BLOCK, trials)) for name in settings for start in range(0, trials, BLOCK)]
    work = [(settings[name], range(*ends), tuple(budgets), tuple(sizes), seed) for name, *ends in blocks]
    parts = []
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        for (name, _, upto), part in zip(blocks, (pool.map if pool else map)(_block, work), strict=True):
            parts.append(part)
            if progress is not None:
                progress(name, upto, trials)
    whole = (np.concatenate(each) for each in zip(*parts, strict=True))
    arrays = (each.reshape(len(settings), trials, *each.shape[1:]) for each in whole)
    return SelectionStudy(tuple(settings), tuple(budgets), tuple(each.name for each in CHOOSING), *arrays)


def downstream(population: Population) -> tuple[Floats, Floats]:
    """Consistency and |bias| of every judge, (taus, J), on the population: soft response sets of judges against what
    people endorse without error."""
    judged = decisions(population.judges.endorsed, 0, TAUS)
    right = decisions(population.truth, 0, TAUS)[:, None]
    return consistency(judged, right), np.abs(estimation_bias(judged, right))


def gains_of(judges: RatingVectors, people: RatingVectors, by: Sequence[Definition] = CHOOSING) -> Floats:
    """Every definition of `by` with more being better, (taus, D, B, J), of judges (J, I, K) and people (B, I, K);
    an undefined value is the worst."""
    beside = RatingVectors(people.choices[:, None], people.endorsed[:, None])
    free = {each: each.value(judges, beside) for each in by if "hrs" not in (each.judge, each.people)}
    cuts = [(replace(judges, tau=tau), replace(beside, tau=tau)) for tau in TAUS]
    gains = np.array([[each.gain(free[each] if each in free else each.value(*cut)) for each in by] for cut in cuts])
    return np.where(np.isnan(gains), -np.inf, gains)


def _block(work: Work) -> list[Floats]:
    """The five arrays of `SelectionStudy` for some trials of one setting, trials first."""
    design, trials, budgets, sizes, seed = work
    drawn = populations(design, trials, sizes, seed, "selection")
    return [np.array(part) for part in zip(*(_trial(*one, budgets) for one in drawn), strict=True)]


def _trial(population: Population, rng: np.random.Generator, budgets: tuple[int, ...]) -> tuple[Floats, ...]:
    people, judges = population.sampled_people(budgets, rng), population.sampled_judges(REPEATS, rng)
    c, b = downstream(population)
    chosen = np.argmax(gains_of(judges, people), axis=-1)  # (taus, D, B)
    rows = np.arange(len(TAUS))[:, None, None]
    best, average = np.array([c.max(axis=1).mean(), b.min(axis=1).mean()]), np.array([c.mean(), b.mean()])
    # Rank correlation of every definition with C and with -|B| on the population, (R, 2); 0 where one is constant
    whole = population.people
    gains = gains_of(population.judges, RatingVectors(whole.choices[None], whole.endorsed[None]), RANKING)[:, :, 0]
    rho = np.stack([spearman(gains, wanted[:, None]) for wanted in (c, -b)], axis=-1)
    correlations: Floats = np.where(np.isnan(rho), 0.0, rho).mean(axis=0)
    return (c[rows, chosen].mean(axis=0).T, b[rows, chosen].mean(axis=0).T, best, average, correlations)


# --------------------------------------------------------------------------- few ratings
# Both studies draw `trials` populations from one seed and give means over them.


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
    drawn = []
    for population, rng in populations(replace(design, judges=1), range(trials), sizes, seed):
        few = decisions(population.sampled_people(budgets, rng).endorsed, 0, TAUS)
        whole = decisions(population.people.endorsed, 0, TAUS)[:, None]
        drawn.append((consistency(few, whole).T, estimation_bias(few, whole).T))
    return FewRatings(tuple(budgets), *np.mean(drawn, axis=0))


def forced_choice_bias(
    strengths: Sequence[float] = (0.5, 0.75, 1.0, 1.5, 2.0), *, trials: int = 40, sizes: Sizes = SIZES, seed: int = 3
) -> dict[float, Floats]:
    """Figure 6 (right): prevalence by forced choice less prevalence by response sets, no error, by Gamma, (taus,)."""
    designs = {strength: Design(people_strength=strength, judges=1) for strength in strengths}
    return {
        strength: np.mean([_forced(drawn) for drawn, _ in populations(design, range(trials), sizes, seed)], axis=0)
        for strength, design in designs.items()
    }


def _forced(population: Population) -> Floats:
    """Prevalence by people's choices less that by what they endorse without error, (taus,)."""
    return estimation_bias(*(decisions(side, 0, TAUS) for side in (population.people.choices, population.truth)))


def populations(
    design: Design, trials: range, sizes: Sizes, seed: int, name: str = "ratings"
) -> Iterator[tuple[Population, np.random.Generator]]:
    """Every trial's population, with the generator, of this name, that goes on from it."""
    for t in trials:
        options, sets = sizes[t % len(sizes)]
        rng = generator(seed, name, str(t))
        yield draw_population(replace(design, options=options, sets=sets if design.sets else options), rng), rng


ERRORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SKEWS = (-1.0, 0.0, 1.0)
BUDGET = 100  # ratings per item from which the hit rate chooses
RANKED = tuple(map(definition, ("hit_rate(h/h)", "js_divergence(s/s)", "mse(srs/srs)")))
DESIGNS = dict(list(SETTINGS.items())[:3])  # without error: fully specified, symmetric and asymmetric selection


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
        consistent = downstream(population)[0][:, int(np.argmax(gains))]
        drawn.append([consistent.mean(), _forced(population).mean(), *spearman(*by_people)])
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

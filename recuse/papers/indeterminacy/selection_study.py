"""Which judge does a measure choose, and how good is that judge downstream? (Guerdan et al. 2025, sec. 6, figures 4, 5,
6, 13 and 15.) In every trial a population of people and judges is drawn. Each definition ranks the judges from a few
ratings per item; the first is then scored on the whole population, against what people would endorse without error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from recuse.papers.indeterminacy import definitions
from recuse.papers.indeterminacy.definitions import TAUS, RatingVectors, decisions, definition, estimation_bias
from recuse.papers.indeterminacy.rating_task import Design, Population, draw_population
from recuse.papers.rank_tests import spearman
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import generator

Progress = Callable[[str, int, int], None]
Sizes = Sequence[tuple[int, int]]

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
RANKING = tuple(each for each in definitions.KNOWN.values() if each.measure != "set_size")
"""Every definition but set size, by which the judge that names nothing would be best."""


class SelectionStudy(NamedTuple):
    """Means over tau. `consistency`, `abs_bias` (S, T, B, D): of the judge that definition d chooses at budget b in
    trial t of setting s; `correlation` (S, T, R, 2): Spearman's rho of the ranking by each of `RANKING` with the
    downstream one on the population, for C and |B|."""

    settings: tuple[str, ...]
    budgets: tuple[int, ...]
    names: tuple[str, ...]
    consistency: Floats
    abs_bias: Floats
    correlation: Floats

    def chosen(self, setting: str, name: str, budget: int, of: str = "consistency") -> float:
        """Mean consistency, or `of` "abs_bias" |bias|, of the chosen judges over trials."""
        s, b, d = self.settings.index(setting), self.budgets.index(budget), self.names.index(name)
        return float(getattr(self, of)[s, :, b, d].mean())

    def rho(self, setting: str, name: str) -> float:
        """Mean rank correlation with consistency over trials."""
        place = [each.name for each in RANKING].index(name)
        return float(self.correlation[self.settings.index(setting), :, place, 0].mean())


def selection_study(
    trials: int = 100, *, settings: Mapping[str, Design] = SETTINGS, budgets: Sequence[int] = BUDGETS,
    sizes: Sizes = SIZES, seed: int = 1, workers: int = 1, progress: Progress | None = None,
) -> SelectionStudy:  # fmt: skip
    """The whole grid; the same seed gives the same numbers, however many processes share the work and whatever other
    settings are run. Every process holds one trial at a time. `progress(setting, done, trials)` is called."""
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
    return definitions.consistency(judged, right), np.abs(estimation_bias(judged, right))


def gains_of(judges: RatingVectors, people: RatingVectors, by: Sequence[definitions.Definition] = CHOOSING) -> Floats:
    """Definitions, more being better, (taus, D, B, J), of judges (J, I, K) and people (B, I, K); undefined is worst."""
    beside = RatingVectors(people.choices[:, None], people.endorsed[:, None])
    free = {each: each.value(judges, beside) for each in by if "hrs" not in (each.judge, each.people)}
    cuts = [(replace(judges, tau=tau), replace(beside, tau=tau)) for tau in TAUS]
    gains = np.array([[each.gain(free[each] if each in free else each.value(*cut)) for each in by] for cut in cuts])
    return np.where(np.isnan(gains), -np.inf, gains)


def _block(work: tuple[Design, range, tuple[int, ...], Sizes, int]) -> list[Floats]:
    """The three arrays of `SelectionStudy` for some trials of one setting, trials first."""
    design, trials, budgets, sizes, seed = work
    parts, rows = [], np.arange(len(TAUS))[:, None, None]
    for population, rng in populations(design, trials, sizes, seed, "selection"):
        people, judges = population.sampled_people(budgets, rng), population.sampled_judges(REPEATS, rng)
        c, b = downstream(population)
        chosen = np.argmax(gains_of(judges, people), axis=-1)  # (taus, D, B)
        # Rank correlation of every definition with C and with -|B| on the population, (R, 2); 0 where one is constant
        whole = population.people
        gains = gains_of(population.judges, RatingVectors(whole.choices[None], whole.endorsed[None]), RANKING)[:, :, 0]
        rho = np.stack([spearman(gains, wanted[:, None]) for wanted in (c, -b)], axis=-1)
        correlations = np.where(np.isnan(rho), 0.0, rho).mean(axis=0)
        parts.append((c[rows, chosen].mean(axis=0).T, b[rows, chosen].mean(axis=0).T, correlations))
    return list(map(np.array, zip(*parts, strict=True)))


# --------------------------------------------------------------------------- few ratings


class FewRatings(NamedTuple):
    """Decisions from few people against those from all, (B, taus): share that are alike, and bias of the prevalence."""

    budgets: tuple[int, ...]
    consistency: Floats
    bias: Floats


def few_ratings(design: Design, budgets: Sequence[int] = BUDGETS, *, trials: int, sizes: Sizes = SIZES) -> FewRatings:
    """Figures 6 (left) and 15: no judge is involved. Soft response sets by the true reverse matrices."""
    drawn = []
    for population, rng in populations(replace(design, judges=1), range(trials), sizes, 2):
        few = decisions(population.sampled_people(budgets, rng).endorsed, 0, TAUS)
        whole = decisions(population.people.endorsed, 0, TAUS)[:, None]
        drawn.append((definitions.consistency(few, whole).T, estimation_bias(few, whole).T))
    return FewRatings(tuple(budgets), *np.mean(drawn, axis=0))


def forced_choice_bias(strengths: Sequence[float] = (0.5, 0.75, 1.0, 1.5, 2.0), *, trials: int) -> dict[float, Floats]:
    """Figure 6 (right): prevalence by forced choice less prevalence by response sets, no error, by Gamma, (taus,)."""
    designs = {strength: Design(people_strength=strength, judges=1) for strength in strengths}
    drawn = {strength: populations(design, range(trials), SIZES, 3) for strength, design in designs.items()}
    return {strength: np.mean([_forced(one) for one, _ in each], axis=0) for strength, each in drawn.items()}


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


def under_error(
    design: Design, errors: Sequence[float] = ERRORS, skews: Sequence[float] = SKEWS, *, trials: int,
    sizes: Sizes = SIZES[:3],
) -> Floats:  # fmt: skip
    """The grid for one design, (2 + R, skews, errors), means over trials and tau: consistency of the judge that the hit
    rate chooses; Spearman's rho between the rankings of judges by people with error and by people without, on
    populations, by each of `RANKED`; bias of forced choices with error against response sets without. Every cell draws
    the same populations, but for the errors."""
    cells = [[_cell(replace(design, error=e, skew=s), trials, sizes) for e in errors] for s in skews]
    return np.moveaxis(np.array(cells), -1, 0)


def _cell(design: Design, trials: int, sizes: Sizes) -> Floats:
    drawn = []
    for population, rng in populations(design, range(trials), sizes, 5):
        gains = RANKED[0].value(population.judges, population.sampled_people((BUDGET,), rng))
        clean = replace(population, error=np.eye(len(population.task.sets)))
        by_people = (
            np.array([each.gain(each.value(population.judges, side.people)) for each in RANKED])
            for side in (population, clean)
        )
        consistent = downstream(population)[0][:, int(np.argmax(gains))]
        drawn.append([consistent.mean(), *spearman(*by_people), _forced(population).mean()])
    return np.asarray(np.nanmean(drawn, axis=0))


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
            for skew, row in zip(SKEWS, grid[k], strict=True):
                yield f"    {name + f', eta {skew:g}':<80}" + "".join(f"{value:>+8.3f}" for value in row)


# --------------------------------------------------------------------------- the findings of the paper

HIT = "hit_rate(h/h)"
SPECIFIED, SYMMETRIC, SKEWED, RANDOM, _ = SETTINGS


def selection(*, trials: int, seed: int, workers: int | None) -> int:
    """`recuse experiment selection`: exit code 0. Progress goes to stderr, findings and tables to stdout; what stands
    beside the study takes a quarter of the trials, errors an eighth. `RecuseError` for fewer than one trial."""
    if trials < 1:
        raise RecuseError(f"--trials is 1 or more; got {trials}")

    def progress(setting: str, done: int, trials: int) -> None:
        print(f"\r{setting}: {done} of {trials} trials {'':<20}", end="", file=sys.stderr, flush=True)

    workers, side = workers or min(2, os.cpu_count() or 1), max(2, trials // 4)
    study = selection_study(trials, seed=seed, workers=workers, progress=progress)
    few = few_ratings(SETTINGS[SYMMETRIC], trials=side)
    bias = forced_choice_bias(trials=side)
    print(file=sys.stderr)
    print(f"Judge selection: {trials} simulated trials per setting, seed {seed}\n\n{text(study, few, bias)}")
    print(*error_tables(max(2, trials // 8)), sep="\n")
    return 0


def text(study: SelectionStudy, few: FewRatings, choice_bias: Mapping[float, Floats]) -> str:
    """Findings; then, by setting and measure, what its judge is worth (figures 4 and 13) and what finding 1a rests on;
    how every measure ranks judges (figures 5 and 14); what people's own answers miss by threshold (6 and 15)."""
    lines = []
    for number, claim, here, holds in findings(study, few, choice_bias):
        word = "holds" if holds else "does not hold"
        lines += [f"Finding {number}, {word} here: {claim}", f"    {here}"]
    lines += ["", "Of the judge that a measure chooses, by ratings per item: consistency, |bias|; then what is gained",
              "by a second and third rating / by it for the hit rate at one"
              ]  # fmt: skip
    for setting in study.settings:
        lines += ["", f"{setting:<44}" + "".join(f"{budget:>14d}" for budget in study.budgets)]
        for name in study.names:
            both = ((study.chosen(setting, name, n), study.chosen(setting, name, n, "abs_bias")) for n in study.budgets)
            gained = "{:+.3f} / {:+.3f}".format(*_gained(study, setting, name))
            values = "".join(f"{consistent:>7.3f}, {off:.3f}" for consistent, off in both)
            lines.append(f"    {name:<40}{values}   {gained}")
    short = "".join(f"{setting.split()[-2]:>14}" for setting in study.settings)
    lines += ["", f"{'Rank correlation with consistency':<44}{short}"]
    for each in RANKING:
        lines.append(f"    {each.name:<40}" + "".join(f"{study.rho(s, each.name):>14.2f}" for s in study.settings))
    people = {f"{n:g} of many ratings": few.bias[k] for k, n in enumerate(few.budgets)}
    people |= {f"choices for sets, Gamma {strength:g}": bias for strength, bias in choice_bias.items()}
    lines += ["", f"{'Prevalence too high, by threshold':<44}" + "".join(f"{tau:>14g}" for tau in TAUS)]
    lines += [f"    {name:<40}" + "".join(f"{value:>+14.3f}" for value in bias) for name, bias in people.items()]
    alike = "".join(f"{value:>14.3f}" for value in few.consistency[0])
    return "\n".join([*lines, f"    {'decided by one rating as by many':<40}{alike}"])


class Finding(NamedTuple):
    """`number` of the paper, the claim, what came out here, and whether the claim `holds` here too, with a margin."""

    number: str
    claim: str
    here: str
    holds: bool


def findings(study: SelectionStudy, few: FewRatings, choice_bias: Mapping[float, Floats]) -> list[Finding]:
    """From the whole grid, decisions of a few raters on an underspecified task, and the bias of forced choice by
    Gamma. A claim about measures holds where it does for the one that fits it worst, of all that see forced choices
    alone (`CATEGORICAL`, `DISTRIBUTIONAL`): whichever is picked by hand, another may say the opposite."""
    first = float(few.consistency[0].mean())
    claim = "Decisions from one rating per item differ from those of everybody for about 30 % of the items."
    people = [Finding("4a", claim, f"They differ for {1 - first:.0%}.", abs(first - 0.7) < 0.1)]
    least = max(float(values.max()) for values in choice_bias.values())
    claim = "Forced choice underestimates prevalence against response sets."
    here = f"The bias is {least:+.2f} at the selection strength and threshold where it is least."
    return [*_budget(study), *_ranking(study), *people, Finding("4b", claim, here, least < 0)]


def _budget(study: SelectionStudy) -> Iterator[Finding]:
    others = [name for name in (*CATEGORICAL, *DISTRIBUTIONAL) if name != HIT]
    by_name = {name: _gained(study, SKEWED, name) for name in others}
    worst = min(others, key=lambda name: by_name[name][0] - by_name[name][1])
    more, switch = by_name[worst]
    true = sum(gain > other for gain, other in by_name.values())
    claim = "Three ratings per item instead of one help more than changing the measure."
    here = (
        f"True of {true} of {len(others)} measures, by consistency under asymmetric selection. {_title(worst)}: "
        f"{more:+.3f} by the second and third rating, {switch:+.3f} by choosing with it instead of the hit rate at "
        f"one. Who keeps the hit rate gains {_gained(study, SKEWED, HIT)[0]:+.3f}. Asymmetric selection costs the hit "
        f"rate {study.chosen(SYMMETRIC, HIT, 1) - study.chosen(SKEWED, HIT, 1):.3f}."
    )
    yield Finding("1a", claim, here, more - switch > 0.005)
    pairs = {name: (study.chosen(SPECIFIED, name, 1), study.chosen(SKEWED, name, 3)) for name in (HIT, *others)}
    name, (one, three) = min(pairs.items(), key=lambda pair: pair[1][0] - pair[1][1])
    claim = "One rating of a fully specified task does as well as three of an underspecified one."
    here = f"Consistency {one:.3f} against {three:.3f} by {_title(name)}, where the two are closest."
    yield Finding("1b", claim, here, one - three > -0.01)


def _title(name: str) -> str:
    return definition(name).title.partition(",")[0]


def _gained(study: SelectionStudy, setting: str, name: str) -> tuple[float, float]:
    """Consistency gained by the second and third rating, and at one rating by the measure instead of the hit rate."""
    one = study.chosen(setting, name, 1)
    return study.chosen(setting, name, 3) - one, one - study.chosen(setting, HIT, 1)


def _ranking(study: SelectionStudy) -> Iterator[Finding]:
    lost = {name: study.rho(SYMMETRIC, name) - study.rho(SKEWED, name) for name in (*CATEGORICAL, *DISTRIBUTIONAL)}
    categorical = [lost[name] for name in CATEGORICAL]
    least, most = min(categorical), max(lost[name] for name in DISTRIBUTIONAL)
    claim = (
        "Categorical measures fail where the task is underspecified and selection is asymmetric; distributional ones "
        "do not."
    )
    here = (
        f"Rank correlation with consistency falls by {least:.2f} to {max(categorical):.2f} by a categorical measure, "
        f"by {most:.2f} at most by a distributional one."
    )
    yield Finding("2", claim, here, least - most > 0.1)
    error = {name: study.rho(SKEWED, name) - study.rho(RANDOM, name) for name in CATEGORICAL}
    name = min(CATEGORICAL, key=lambda name: lost[name] - error[name])
    claim = "Error of raters alone changes the ranking of judges less than selection effects do."
    here = (
        f"The rank correlation of {_title(name)} with consistency: {lost[name]:.2f} lost by asymmetric "
        f"selection, {error[name]:.2f} more by errors in 30 % of the ratings."
    )
    yield Finding("3", claim, here, lost[name] - error[name] > 0.05)

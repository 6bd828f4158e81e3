"""What judges and people chose, and what they held admissible, text by text; would the judge let through what people
would, where more than one answer may be right? Forced choices are the rows of one criterion with options; response sets
those of the same criterion beside them (`Ratings.beside("response_sets")`). What either side did not say is NaN.

A text is positive where at least a share tau endorses the property (`RatedOptions.positive`), by response sets where a
side gave any. Who chose another option might have accepted the positive one as well, a share beta of people, which is
not in forced choices (Guerdan et al. 2025, sec. 7). Measures state one tau and beta, the detail has others: the worst
of a grid lies beyond limits by chance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, table, undefined
from recuse.metrics.measure import Named, measure, per_judge, per_subject
from recuse.papers.indeterminacy.definitions import CLOSE, TAUS, RatingVectors, decisions, item_spread, prevalence
from recuse.ratings import PERSON, Numeric, Ordinal, Ratings, ResponseSets, remembered
from recuse.ratings.answers import Answers, answers_of, without_truth
from recuse.ratings.array import clusters_of
from recuse.schema import Distribution, Estimate, RecuseError
from recuse.schema.arrays import Floats, Mask, ascending_codes, cluster_times, distinct, median_of, taken
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_share
from recuse.statistics.distributions import SEED, Binomial, generator

CELLS, WEIGHTS = 2_000_000, 20_000_000
"""How many weights of a resample are held at a time, and how many are drawn in all."""


@dataclass(frozen=True, eq=False)
class RatedOptions:
    """K `options`, of which `positive` is the property that texts are judged for: the one stated to be, else the best
    of ordered options, the first of others. Over J judges and U texts, shares are NaN where nothing valid was said:

    - `judge_choices` (J, U, K), `judge_endorsed` (J, U, K): chosen, and endorsed in response sets;
    - `people_choices` (U, K), `people_endorsed` (U, K): the same of all people's answers to a text together;
    - `people_counts` (U, K), `people_sets` (U, K), `set_raters` (U,): how many people's answers these are;
    - `times` (U,): how many texts with these answers each stands for, 1 unless they were counted (`Ratings.times`);
    - `beyond`: options above the positive one, where they are ordered: who chose one of these is past the property, so
      what it would have accepted besides stays out of it (Table 2: Very Toxic beside Toxic);
    - `lost` (J,): answers of a judge that could not be used; `joint` name -> (K sets of `sets`, K): how often a rater
      named a set of a text of which it chose an option, people together under "people".
    """

    options: tuple[str, ...]
    positive: int
    judges: tuple[str, ...]
    judge_choices: Floats
    judge_endorsed: Floats
    people_counts: Floats
    people_sets: Floats
    set_raters: Floats
    clusters: NDArray[np.intp]
    lost: NDArray[np.int64]
    sets: tuple[tuple[str, ...], ...]
    joint: dict[str, Floats]
    clusters_called: str
    times: Floats
    beyond: tuple[int, ...] = ()

    people_choices = cached_property(lambda self: _shares(self.people_counts, self.people_counts.sum(axis=-1)))
    """Share of people's choices, (U, K); NaN where nobody chose."""
    people_endorsed = cached_property(lambda self: _shares(self.people_sets, self.set_raters))
    """Share of people's response sets that hold the option, (U, K); NaN where nobody gave any."""

    def offers(self, *aggregations: str) -> bool:
        """Whether the answers that these aggregations keep are there: h and s keep forced choices, hrs and srs sets, or
        choices in their place."""
        return not {"h", "s"} & set(aggregations) or bool(self.people_counts.any())

    @property
    def has_people_sets(self) -> bool:
        """Whether any person gave a response set."""
        return bool(self.set_raters.any())

    @cached_property
    def stands_for(self) -> Floats | None:
        """`times` where some text stands for others, else None."""
        return self.times if (self.times > 1).any() else None

    @property
    def facts(self) -> dict[str, Any]:
        """What estimates of shares of these texts have in common; a repetition draws clusters, if texts share some."""
        over = "items" if distinct(self.clusters) == len(self.clusters) else "clusters"
        return {"over": over, "unit": "share", "clusters": self.clusters_called}

    @property
    def people_positive(self) -> tuple[Floats, Floats]:
        """How many people hold the property, of how many, (U,): by their response sets, else by their choices."""
        if self.has_people_sets:
            return self.people_sets[:, self.positive], self.set_raters
        return self.people_counts[:, self.positive], self.people_counts.sum(axis=1)

    @cached_property
    def judges_act_by(self) -> Floats:
        """What judges act by, (J, U, K): their response sets where they gave any, else their choices."""
        sets = np.isfinite(self.judge_endorsed).any(axis=(1, 2), keepdims=True)
        return np.where(sets, self.judge_endorsed, self.judge_choices)

    def people_by_beta(self, betas: Sequence[float]) -> Floats:
        """People's endorsement by beta, (B, U, K): their response sets, or Omega_positive = O_positive + beta (1 -
        O_positive - O_beyond), with the other options as chosen (Table 2). `RecuseError` for a beta outside [0, 1]."""
        if any(not 0 <= beta <= 1 for beta in betas) or not len(betas):
            raise RecuseError(f"beta is a probability, between 0 and 1; got {', '.join(map(str, betas)) or 'none'}")
        if self.has_people_sets:
            return np.repeat(self.people_endorsed[None], len(betas), axis=0)
        vectors = np.repeat(self.people_choices[None], len(betas), axis=0)
        chosen = vectors[..., self.positive]
        otherwise = 1 - chosen - vectors[..., list(self.beyond)].sum(axis=-1)
        vectors[..., self.positive] = chosen + np.asarray(betas)[:, None] * otherwise
        return vectors

    def vectors(self, tau: float, beta: float) -> tuple[RatingVectors, RatingVectors]:
        """Judges (J, U, K) and people (U, K) as rating vectors on the same texts, at one tau and beta."""
        judges = RatingVectors(self.judge_choices, self.judges_act_by, tau)
        return judges, RatingVectors(self.people_choices, self.people_by_beta((beta,))[0], tau)

    def resampled(self, draws: int) -> Iterator[Floats]:
        """How often each text counts in resamples of clusters, in portions of shape (b, U), alike for every measure. Of
        very many texts there are fewer: draws times texts stay below `WEIGHTS`, down to 99 draws. Texts that are
        counted by their answers are drawn by them: a multinomial."""
        count, rng = int(self.clusters.max(initial=-1)) + 1, generator(SEED, "performance")
        alike, texts = cluster_times(self.clusters, self.stands_for), max(len(self.clusters), 1)
        draws, size = max(99, min(draws, WEIGHTS // texts)), max(1, CELLS // texts)
        for portion in (min(size, draws - start) for start in range(0, draws, size)):
            if alike is None:
                drawn = rng.integers(count, size=(portion, count)) + np.arange(portion)[:, None] * count
                times = np.bincount(drawn.ravel(), minlength=portion * count).reshape(portion, count)
            else:
                times = rng.multinomial(int(alike.sum()), alike / alike.sum(), size=portion)
            yield times[:, self.clusters].astype(float)


def judges_rated(part: Ratings, ratings: Ratings) -> RatedOptions | None:
    """The view of measures of judges; None for numbers, and where no judge was asked."""
    return rated_options(part, ratings) if part.judges and not isinstance(part.scale, Numeric) else None


@remembered
def rated_options(part: Ratings, ratings: Ratings | None = None) -> RatedOptions:
    """The ratings of one criterion within one combination of factor levels, with what stands `beside` them.
    `RecuseError` where there are no options, and where no person rated anything."""
    ratings = ratings or part
    part = without_truth(ratings, part)
    either = answers_among_options(part)
    if not (part.having("kind", PERSON) & part.having("criterion", part.criterion)).any():
        raise RecuseError(
            "there are no ratings by people to compare judges with: add rows of kind person, one per person and item"
        )
    beside = either if isinstance(part.scale, ResponseSets) else _response_sets(part, ratings)
    choices, judges, options = None if beside is either else either, part.judges, either.options
    admissible: tuple[tuple[str, ...], ...] = ()
    if beside and isinstance(beside.scale, ResponseSets):
        admissible, options = beside.scale.sets, beside.scale.options if choices is None else options
    sides, texts = (choices, beside), list(zip(either.items, either.targets, strict=True))
    raters = (*judges, *dict.fromkeys(name for side in sides if side for name in side.people))
    counts, members, lost = zip(*(_given(side, raters, texts, options) for side in sides), strict=True)
    answered, held = [side.sum(axis=2) for side in counts], list(map(np.matmul, counts, members))
    own, theirs = slice(None, len(judges)), slice(len(judges), None)
    chosen, endorsed = (_shares(of[own], n[own]) for of, n in zip(held, answered, strict=True))
    joint: dict[str, Floats] = {}
    if choices and beside:  # pairs of a rater's choice and set for one text, each text once
        both = ((answered[0] > 0) & (answered[1] > 0))[..., None]
        chose, meant = (np.where(both, _shares(*side), 0.0) for side in zip(counts, answered, strict=True))
        pairs = np.zeros((len(raters), len(admissible), len(options)))
        pairs[:, [admissible.index(tuple(name.split("|"))) for name in beside.options]] = meant.swapaxes(1, 2) @ chose
        one, other = (
            {*side.people, *(name for name, rows in zip(side.judges, side.requested, strict=True) if rows.any())}
            for side in (choices, beside)
        )
        joint = {name: pairs[k] for k, name in enumerate(judges) if name in one & other}
        if one & other & {*raters[theirs]}:
            joint["people"] = pairs[theirs].sum(axis=0)
    ordered, stated = isinstance(part.scale, Ordinal), part.positive.get(part.criterion, "")
    positive = options.index(stated) if stated in options else len(options) - 1 if ordered else 0
    beyond = tuple(range(positive + 1, len(options))) if ordered else ()
    clusters = ascending_codes(clusters_of(part, either.items))
    times = np.ones(len(texts)) if either.times is None else either.times
    chosen_by, endorsed_by, set_raters = (of[theirs].sum(axis=0) for of in (*held, answered[1]))
    return RatedOptions(
        options, positive, judges, chosen, endorsed, chosen_by, endorsed_by, set_raters, clusters,
        sum(lost)[own], admissible, joint, part.clusters, times, beyond,
    )  # fmt: skip


def _response_sets(part: Ratings, ratings: Ratings) -> Answers | None:
    sets = ratings.beside("response_sets")
    if sets is None:
        return None
    here = sets.with_criterion(part.criterion if part.criterion in sets.headline else sets.headline[0])
    here = here.where(**{factor: here.levels(factor)[0] for factor in here.factors})
    same = isinstance(here.scale, ResponseSets) and {*here.scale.options} == {*getattr(part.scale, "options", ())}
    return answers_among_options(here) if same else None


def answers_among_options(part: Ratings) -> Answers:
    """Everybody's answers at one combination of factor levels; `RecuseError` for several of them, and for numbers."""
    if part.factors:
        raise RecuseError(f"counts hold one combination of factor levels; {', '.join(part.factors)} still vary")
    if isinstance(part.scale, Numeric):
        raise RecuseError(f"criterion {part.criterion} has numbers, no options to count; give its options as scale")
    return answers_of(part, part, people=False)


def _given(
    answers: Answers | None, raters: Sequence[str], texts: Sequence[tuple[str, str]], options: Sequence[str]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """How often each of these raters gave each answer to each of these texts, (raters, U, A), 0 where it was not asked;
    which options each answer holds, (A, K); and how many answers of each rater were lost, on whatever text."""
    if answers is None:
        nothing = np.zeros((len(raters), len(texts), 0))
        return nothing, np.zeros((0, len(options))), np.zeros(len(raters), dtype=np.int64)
    counts = np.concatenate([
        np.stack([(given == code).sum(axis=2) for code in range(len(answers.options))], axis=2)
        for given in (answers.judged, answers.rated)
    ])  # fmt: skip
    rows = _places((*answers.judges, *answers.people), raters)
    columns = _places(zip(answers.items, answers.targets, strict=True), texts)
    counts = np.pad(counts, ((0, 1), (0, 1), (0, 0)))[np.ix_(rows, columns)].astype(float)  # the last are of nobody
    names = [name.split("|") if isinstance(answers.scale, ResponseSets) else [name] for name in answers.options]
    assert answers.lost is not None
    lost = (answers.lost if answers.times is None else answers.lost * answers.times).sum(axis=1)
    every = np.append(lost, np.zeros(len(answers.people) + 1)).astype(np.int64)
    return counts, np.array([[float(option in each) for option in options] for each in names]), every[rows]


def _places(known: Iterable[Hashable], wanted: Iterable[Hashable]) -> list[int]:
    """Where each of the wanted is among the known; -1 where it is not."""
    places = {name: place for place, name in enumerate(known)}
    return [places.get(name, -1) for name in wanted]


def _shares(counts: Floats, answers: Floats) -> Floats:
    """Counts (..., K) by the number of answers (...), NaN where there is none."""
    return ratio(counts, answers[..., None])


# --------------------------------------------------------------------------- decisions by a threshold

TAU = 0.5
BETAS = (0.0, 0.1, 0.2, 0.3, 0.4)
FACE_VALUE = (0.0,)
CONSISTENT = "share of texts, Clopper-Pearson with design effect"


@measure(
    "decision_consistency", "decides as people do", unit="share", rank=330, counts=True,
    below="decides otherwise than people",
    reading="Share of texts on which thresholding the judge's answers decides as thresholding people's does, at one "
    "half unless a panel says otherwise.",
)  # fmt: skip
@per_judge(judges_rated)
def decision_consistency(rated: RatedOptions, judge: int, tau: float = TAU) -> Estimate:
    """C = 1 - mean over texts of |y_judge - y_people|, by judge and factor level: y 1 where at least `tau` endorse the
    property, 0 where fewer do, 1/2 where tau is one half and just so many do. People's forced choices are taken at face
    value (beta = 0) where they gave no response sets. Texts that either side left without a valid answer do not count.
    Guerdan et al. (2025), sec. 2.2.2. Detail: `tau`, `beta` and `option`, the property; `taus`, `betas`, `value`,
    `low`, `high` (taus x betas); `people_alike`: what deciding by as many people as rated would reach (`ItemSpread`).

    >>> decision_consistency(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    0.75
    """
    return _at_threshold("decision_consistency", rated, judge, float(tau), FACE_VALUE)


@measure(
    "consistency_over_beta", "decides as people do, however unsure they were", unit="share", rank=331, counts=True,
    below="decides otherwise than people if some accept both",
    reading="The same where 4 in 10 of those who chose another option would have accepted this one too. With people's "
    "response sets, beta is not needed.",
)  # fmt: skip
@per_judge(judges_rated)
def consistency_over_beta(
    rated: RatedOptions, judge: int, tau: float = TAU, betas: Sequence[float] = BETAS
) -> Estimate:
    """`decision_consistency` at the largest of `betas`, so at a cell fixed beforehand. Detail: `range`, the smallest
    and the largest value over beta, and `survives`, the largest beta up to which the value stays at least
    `decision_consistency`'s lower bound: how far the conclusion carries.

    >>> consistency_over_beta(rated(judge="ppff", ann="pppf", bob="ppff")).of(judge="judge").detail["range"]
    [0.75, 0.875]
    """
    return _at_threshold("consistency_over_beta", rated, judge, float(tau), tuple(betas))


@measure(
    "prevalence_bias", "bias of the share found", unit="share", signed=True, rank=332, counts=True,
    above="finds too much of it", below="misses too much of it",
    reading="Share of texts that the judge finds positive less the share that people do, at a threshold of one half "
    "unless a panel says otherwise.",
)  # fmt: skip
@per_judge(judges_rated)
def prevalence_bias(rated: RatedOptions, judge: int, tau: float = TAU) -> Estimate:
    """B = mean over texts of y_judge - y_people (`decision_consistency`), by judge and factor level; below 0
    underestimates. Of pairs the prevalence is the win rate. |B| <= 1 - C. Guerdan, sec. 2.2.2.

    >>> prevalence_bias(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    -0.25
    """
    return _at_threshold("prevalence_bias", rated, judge, float(tau), FACE_VALUE)


@measure(
    "bias_over_beta", "bias of the share found, however unsure people were", unit="share", signed=True, rank=333,
    counts=True, above="finds too much of it", below="misses too much of it",
    reading="The same where 4 in 10 of those who chose another option would have accepted this one too.",
)  # fmt: skip
@per_judge(judges_rated)
def bias_over_beta(rated: RatedOptions, judge: int, tau: float = TAU, betas: Sequence[float] = BETAS) -> Estimate:
    """`prevalence_bias` at the largest of `betas`, the least there can be. Detail as `consistency_over_beta`.

    >>> bias_over_beta(rated(judge="ppff", ann="pppf", bob="ppff")).of(judge="judge").detail["range"]
    [-0.25, -0.125]
    """
    return _at_threshold("bias_over_beta", rated, judge, float(tau), tuple(betas))


@measure(
    "prevalence_shift", "how far people's share could move", unit="share", rank=334, counts=True,
    reading="Share of texts that turn positive for people if 4 in 10 of those who chose another option would have "
    "accepted this one too.",
)  # fmt: skip
@per_subject("threshold", judges_rated)
def prevalence_shift(
    rated: RatedOptions, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS
) -> Iterator[Named]:
    """Prevalence by people at the largest beta less that at the smallest, by tau (figure 8). Detail: `betas`,
    `prevalence`. 0 where people's response sets are known. Prevalence rises with beta and falls with tau.

    >>> prevalence_shift(rated(judge="ppff", ann="pppf", bob="ppff")).of(threshold="0.7").detail["prevalence"]
    [0.5, 0.5, 0.5, 0.5, 0.75]
    """
    for tau in taus:
        decided = decisions(rated.people_by_beta(betas), rated.positive, float(tau))
        there = np.isfinite(decided[0])
        facts = {"n": int(rated.times[there].sum()), "method": CONSISTENT, **rated.facts}
        if not there.any():
            yield f"{tau:g}", undefined("prevalence_shift", "no text has a valid answer by people", **facts)
            continue
        shares, option = list(map(number, prevalence(decided, rated.times))), rated.options[rated.positive]
        detail = {"betas": list(betas), "prevalence": shares, "tau": float(tau), "option": option}
        turned = _share_of(rated, there, (decided[-1] != decided[0])[there].astype(float))
        yield f"{tau:g}", estimated("prevalence_shift", *turned, detail=detail, **facts)


def _at_threshold(metric: str, rated: RatedOptions, judge: int, tau: float, betas: tuple[float, ...]) -> Estimate:
    biased = "bias" in metric
    own = rated.judges_act_by[judge]
    people = rated.people_by_beta(betas)
    there = np.isfinite(own[:, rated.positive]) & np.isfinite(people[0, :, rated.positive])
    facts = {
        "n": int(rated.times[there].sum()), "n_excluded": int(rated.lost[judge]),
        "method": "difference of shares, t with Agresti-Min weights" if biased else CONSISTENT, **rated.facts,
    }  # fmt: skip
    if not np.isfinite(own).any():
        return undefined(metric, "the judge has no valid answer", **facts)
    if facts["n"] < 2:
        return undefined(metric, "judge and people have fewer than two texts in common", **facts)

    def compare(threshold: float, b: int) -> tuple[float, Distribution]:
        judged, right = (_decided(side[there], rated.positive, threshold) for side in (own, people[b]))
        if not biased:
            return _share_of(rated, there, 1 - np.abs(judged - right))
        compared, times = judged - right, taken(rated.stands_for, there)
        distribution = bounded_mean(compared, rated.clusters[there], (-1.0, 1.0), times=times)
        return float(np.average(compared, weights=times)), distribution

    taus = tuple(sorted({*TAUS, tau}))
    grid = [[compare(threshold, b) for b in range(len(betas))] for threshold in taus]
    place = taus.index(tau)
    value, distribution = grid[place][-1]
    values = np.array([[value for value, _ in cells] for cells in grid])
    ends = np.array([[distribution.interval(0.95) for _, distribution in cells] for cells in grid])
    # How often the median number of people who rated a text, and one of them, would decide as everybody does
    (positive, raters), times = (side[there] for side in rated.people_positive), rated.times[there]
    spread, usual = item_spread(positive, raters, times), max(1, int(median_of(raters, times)))
    detail: dict[str, Any] = {
        "tau": tau, "beta": betas[-1], "option": rated.options[rated.positive], "sets": rated.has_people_sets,
        "taus": list(taus), "betas": list(betas), "value": table(values), "low": table(ends[..., 0]),
        "high": table(ends[..., 1]),
        **{name: None if spread is None else number(spread.expected_consistency(count, tau))
           for name, count in (("people_alike", usual), ("one_person", 1))},
    }  # fmt: skip
    if len(betas) > 1:
        over, (low, high) = values[place], ends[place, 0]
        detail["range"] = [number(over.min()), number(over.max())]
        # The largest beta up to which every value stays inside the interval at the smallest beta, or on its better side
        inside = (over >= low - 1e-9) & ((over <= high + 1e-9) | (not biased))
        detail["survives"] = betas[len(betas) - 1 if inside.all() else max(int(np.argmin(inside)) - 1, 0)]
    return estimated(metric, value, distribution, detail=detail, **facts)


def _share_of(rated: RatedOptions, there: Mask, hits: Floats) -> tuple[float, Binomial]:
    times = taken(rated.stands_for, there)
    return float(np.average(hits, weights=times)), clustered_share(hits, rated.clusters[there], times)


def _decided(vectors: Floats, option: int, tau: float) -> Floats:
    """1 where at least tau endorse the option, else 0; at one half, 1/2 where just so many do."""
    reached = decisions(vectors, option, tau)
    if tau != TAU:
        return reached
    return np.where(np.isclose(vectors[..., option], tau, rtol=0, atol=CLOSE), 0.5, reached)

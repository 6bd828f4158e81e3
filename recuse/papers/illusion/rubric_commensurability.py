"""Rubric commensurability: how much of the agreement between judges is the rubric they share, and does it survive their
having to say first what they know? ("Beyond the Illusion of Consensus", 2026, eq. 1 and section 3.3.) Every difference
is between the same pairs on the same texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.illusion.resolution import all_pairs, sample_r
from recuse.papers.self_preference.over_texts import known_of_texts
from recuse.ratings import Ratings, arrays_by_level, grouped
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, Mask
from recuse.schema.factors import LEVELS, RUBRIC
from recuse.statistics.clusters import Bounded
from recuse.statistics.distributions import SEED, generator
from recuse.statistics.paired import Paired

BASELINE = "checklist"
GROUNDED = ("independent", "dimensions", "shared")  # rubrics written after a judge has said what it knows
JACKKNIFE = "correlations of the same pairs on the same texts, jackknife over {units}, t"
Averaging = Literal["arithmetic", "fisher"]
FEWEST = 3  # texts below which a correlation says nothing: through two points there is always a line


@dataclass(frozen=True, eq=False)
class RubricCells:
    """C sources, two or more, side by side: `scores` (C, judges, texts), NaN where there is none; `items` and `targets`
    (texts,); `units` (texts,), what a repetition draws, U of them. A text counts for a pair of judges only where both
    scored it under all sources, so that sources are compared on the same texts. Of the P pairs those are left out that
    have no correlation under one of the sources: they share fewer than three texts, or one says the same of all."""

    sources: tuple[str, ...]
    judges: tuple[str, ...]
    scores: Floats
    items: NDArray[Any]
    targets: NDArray[Any]
    units: NDArray[Any]
    clusters: str  # what the units are called where they are not items

    @cached_property
    def _sums_and_pairs(self) -> tuple[Floats, list[str]]:
        shares = all_pairs(np.moveaxis(np.where(np.isfinite(self.scores).all(axis=0), self.scores, np.nan), 0, -1))
        place = grouped(self.units)
        sums = np.zeros((int(place.max(initial=-1)) + 1, *shares.shape[1:]))
        np.add.at(sums, place, shares)
        kept = np.isfinite(sample_r(sums.sum(axis=0), FEWEST)).all(axis=1)
        every = zip(map(" / ".join, combinations(self.judges, 2)), np.atleast_1d(kept), strict=True)
        return sums[:, kept], [name for name, known in every if known]

    @property
    def sums(self) -> Floats:
        """(U, P, C, 6) as in `resolution`; units in the order of their first text."""
        return self._sums_and_pairs[0]

    @property
    def pairs(self) -> list[str]:
        """ "a / b" for each pair."""
        return self._sums_and_pairs[1]

    @property
    def texts(self) -> NDArray[np.int64]:
        """How many texts each pair shares, (P,)."""
        return np.asarray(self.sums[:, :, 0, 0].sum(axis=0), dtype=np.int64)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether any pair shares a text of the unit, (U,)."""
        return np.asarray((self.sums[:, :, 0, 0] > 0).any(axis=1), dtype=np.bool_)

    def r(self, weights: ArrayLike | None = None) -> Floats:
        """Pearson's r per source and pair, (C, P). With `weights` (B, U), how often each unit counts: (B, C, P). NaN
        where too few texts are left to tell apart."""
        sums = self.sums.sum(axis=0) if weights is None else np.tensordot(np.asarray(weights, float), self.sums, 1)
        return np.swapaxes(sample_r(sums, FEWEST), -1, -2)

    def without_each(self) -> Floats:
        """r with each unit left out in turn, (U, C, P): for the jackknife."""
        return np.swapaxes(sample_r(self.sums.sum(axis=0) - self.sums, FEWEST), -1, -2)

    def only(self, texts: Mask) -> RubricCells:
        """The same with these texts (texts,) alone."""
        kept = {name: getattr(self, name)[texts] for name in ("items", "targets", "units")}
        return replace(self, scores=self.scores[:, :, texts], **kept)

    def facts(self) -> dict[str, Any]:
        """How many items, and clusters where they come in such, have a text that two judges scored under all sources;
        as facts of an `Estimate`."""
        both = np.isfinite(self.scores).all(axis=0).sum(axis=0) >= 2
        n = len(set(self.items[both & self.used[grouped(self.units)]]))
        if not self.clusters:
            return {"n": n, "over": "items"}
        return {"n": n, "over": "clusters", "clusters": self.clusters, "n_clusters": int(self.used.sum())}


def rubric_cells(ratings: Ratings, *sources: str) -> Iterator[tuple[tuple[str, ...], RubricCells]]:
    """(levels, cells) for every criterion and level of the other factors that has all of `sources`."""
    for names, part in ratings.each(RUBRIC):
        arrays = arrays_by_level(part, RUBRIC)
        if all(source in arrays for source in sources):
            first = arrays[sources[0]]
            scores = np.stack([arrays[source].means.reshape(len(first.raters), -1) for source in sources])
            count = len(first.targets)
            items, units = (np.repeat(np.array(each, dtype=object), count) for each in (first.items, first.clusters))
            targets = np.tile(np.array(first.targets, dtype=object), len(first.items))
            clusters = part.clusters if first.clustered else ""
            yield names, RubricCells(sources, first.raters, scores, items, targets, units, clusters)


def by_source(
    ratings: Ratings, compared: Mapping[str, tuple[str, ...]], compute: Callable[[RubricCells], Estimate]
) -> Estimates:
    """An estimate for every source of the rubric, from the cells of what is `compared` for it."""
    return Estimates((RUBRIC, *ratings.within(RUBRIC)), {
        (source, *names): compute(cells)
        for source, sources in compared.items()
        for names, cells in rubric_cells(ratings, *sources)
    })  # fmt: skip


def jackknifed(
    metric: str, cells: RubricCells, of: Callable[[Floats], Floats], *, reach: float = math.inf, **more: Any
) -> Estimate:
    """The estimate of a function of the correlations, (..., sources, pairs) -> (...): its value on all texts, and its
    interval by leaving out one unit after the other, on as many degrees of freedom less one (Efron and Tibshirani 1993,
    ch. 11), as far as the function can `reach` on either side of 0. Pairs without a correlation are left out, which the
    note says; undefined where none is left."""
    count = math.comb(len(cells.judges), 2)
    facts = {**cells.facts(), "method": JACKKNIFE.format(units=cells.clusters or "items"), **more}
    facts["detail"] = {**more.get("detail", {}), "texts": int(cells.texts.max(initial=0))}
    if count == 0:
        return undefined(metric, "one judge has nobody to agree with", **facts)
    if not cells.pairs:
        return undefined(metric, LEFT_OUT.format(which="every pair of judges"), **facts)
    value = float(of(cells.r()))
    if not math.isfinite(value):
        return undefined(metric, "there is no agreement of which to take a share", **facts)
    left = of(cells.without_each()[cells.used])
    known = len(left) > 2 and bool(np.isfinite(left).all())
    spread = float(np.sum((left - left.mean()) ** 2)) if known else math.nan
    error = math.sqrt((len(left) - 1) / len(left) * spread)
    distribution = Bounded(value, error, max(len(left) - 1, 1), (-reach, reach), why=LEAVING_OUT)
    gone = count - len(cells.pairs)
    note = f"left out: {LEFT_OUT.format(which=f'{gone} of {count} pairs')}" if gone else ""
    return estimated(metric, value, distribution, note=note, **facts)


LEAVING_OUT = (
    "with one unit less there is nothing to correlate",
    "no unit changes anything, so how far new ones would cannot be estimated",
)
LEFT_OUT = "{which}: fewer than three texts in common, or one score for all of them"


def mean_correlation(r: Floats, how: Averaging = "arithmetic") -> Floats:
    """The mean over the last axis, of the correlations or of their Fisher z; NaN where one of them is undefined, or
    there is none."""
    if not r.shape[-1]:
        return np.full(r.shape[:-1], np.nan)
    if how == "arithmetic":
        return np.asarray(r.mean(axis=-1))
    return np.asarray(np.tanh(np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)).mean(axis=-1)))


def change(r: Floats, how: Averaging = "arithmetic") -> Floats:
    """The mean correlation under the second condition less that under the first."""
    means = mean_correlation(r, how)
    return np.asarray(means[..., 1] - means[..., 0])


@measure(
    "agreement_by_rubric", "agreement between judges, by rubric", ends=(-1, 1), rank=400,
    reading="Mean correlation between the scores of two judges over all texts, by where the rubric came from.",
)  # fmt: skip
def agreement_by_rubric(ratings: Ratings) -> Estimates:
    """Mean Pearson r over pairs of judges, by source of the rubric; jackknife over items. Detail: `pairs`, each with r
    and the texts both scored.

    >>> scores = example("judge rubric_source score", "a shared 1/2/3/4; b shared 2/1/4/3")
    >>> round(agreement_by_rubric(scores).of(rubric_source="shared").value, 6)
    0.6
    """

    def agreement(cells: RubricCells) -> Estimate:
        rows = zip(cells.pairs, cells.r()[0], cells.texts, strict=True)
        detail = {"pairs": [{"pair": pair, "r": number(r), "n": int(n)} for pair, r, n in rows]}
        return jackknifed("agreement_by_rubric", cells, lambda r: mean_correlation(r)[..., 0], reach=1.0, detail=detail)

    return by_source(ratings, {source: (source,) for source in ratings.levels(RUBRIC)}, agreement)


@measure(
    "rubric_step", "agreement gained by sharing more of the rubric", ends=(-2, 2), signed=True, rank=401,
    reading="Agreement by this rubric less that by the one before it, on the same pairs and texts: from own rubrics to "
    "given names, to one judge's rubric, to one rubric for all prompts.",
)  # fmt: skip
def rubric_step(ratings: Ratings) -> Estimates:
    """Mean over pairs of r(source) - r(source before), in the order independent, dimensions, shared, universal;
    jackknife over items. Only pairs and texts that both have count.

    >>> rows = "a independent 1/2/3/4; b independent 2/1/4/3; a dimensions 1/2/3/4; b dimensions 1/2/4/3"
    >>> round(rubric_step(example("judge rubric_source score", rows)).of(rubric_source="dimensions").value, 6)
    0.2
    """

    def step(cells: RubricCells) -> Estimate:
        detail = {"before": cells.sources[0], "pairs": len(cells.pairs)}
        return jackknifed("rubric_step", cells, change, reach=2.0, detail=detail)

    there = [source for source in LEVELS[RUBRIC][1:] if source in ratings.levels(RUBRIC)]
    return by_source(ratings, {source: (before, source) for before, source in pairwise(there)}, step)


@measure(
    "structural_share", "share of agreement that comes with the names", unit="share", ends=(-math.inf, math.inf),
    rank=402,
    reading="How much of the agreement by rubrics with given names is gone when judges name the dimensions themselves. "
    "It is structure, not judgement, that gave it.",
)  # fmt: skip
def structural_share(ratings: Ratings, whole: str = "dimensions") -> Estimates:
    """(r(dimensions) - r(independent)) / r(whole), r the mean over the same pairs on the same texts; jackknife over
    items. `whole` names the denominator. Above 1 where own rubrics make judges disagree; undefined where r(whole) is
    not above 0.

    >>> rows = "a independent 1/2/3/4; b independent 2/1/4/3; a dimensions 1/2/3/4; b dimensions 1/2/4/3"
    >>> round(structural_share(example("judge rubric_source score", rows)).of(of="dimensions").value, 6)
    0.25
    """
    sources = tuple(dict.fromkeys(("independent", "dimensions", whole)))

    def share(r: Floats) -> Floats:
        means = mean_correlation(r)
        total = np.where(means[..., -1] > 0, means[..., -1], np.nan)
        return np.asarray((means[..., 1] - means[..., 0]) / total)

    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, cells in rubric_cells(ratings, *sources):
        r = mean_correlation(cells.r())
        detail = {source: number(float(value)) for source, value in zip(sources, r, strict=True)}
        estimates[(whole, *names)] = jackknifed("structural_share", cells, share, unit="share", detail=detail)
    return Estimates(("of", *ratings.within(RUBRIC)), estimates)


# --------------------------------------------------------------------------- with what judges know
#     delta-K(source) = mean over pairs of r(scores by rubrics of that source) - r(scores by the given checklist)
#
# What agreement loses when a rubric is written from knowledge was owed to what all judges see on the surface. The
# paper's paired t over cells stands in the detail: cells share judges and items, so its p-value is too small.

COMPARED = {source: (BASELINE, source) for source in GROUNDED}
GROUPS = ("domain", "language")  # what is known of a text by which delta-K is told apart
CELL_ITEMS = 10  # items that a target needs for cells of its own
DRAWS = 1999


@measure(
    "delta_k", "agreement after knowledge", ends=(-2, 2), signed=True, bad="both", rank=410,
    above="agree more once each says what it knows", below="agree less once each says what it knows",
    reading="Correlation between judges by rubrics written from knowledge, less that by the given checklist. Below 0: "
    "agreement rested on what all see on the surface. Above 0: knowledge gave the judges a common standard.",
)  # fmt: skip
def delta_k(ratings: Ratings) -> Estimates:
    """delta-K by source of the rubric, and by the levels of all other factors. Detail: `base` and `grounded` r, `cells`
    (pair, target, n, base, grounded, delta), the paired t over cells with `p` and `p_bonferroni` over the sources that
    were compared, Cohen's `dz`, and `fisher`, delta-K averaged by Fisher's z. A pair in which a judge says the same of
    all texts under one of the two is left out; undefined where no pair is left.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> round(delta_k(example("judge rubric_source score", rows)).of(rubric_source="shared").value, 6)
    -0.4
    """
    looks = sum(source in ratings.levels(RUBRIC) for source in GROUNDED)

    def delta(cells: RubricCells) -> Estimate:
        rows: list[dict[str, Any]] = []
        # Each target with its own cells, where all have items enough; else all texts together
        parts = [(target, cells.only(cells.targets == target)) for target in dict.fromkeys(cells.targets)]
        usable = [np.isfinite(part.scores).all(axis=(0, 1)).sum() for _, part in parts]
        for target, part in parts if len(parts) > 1 and min(usable) >= CELL_ITEMS else [("", cells)]:
            for name, n, base, grounded in zip(cells.pairs, part.texts, *part.r(), strict=True):
                values = {"base": number(base), "grounded": number(grounded), "delta": number(grounded - base)}
                rows.append({"pair": name, "target": target, "n": int(n), **values})
        test = Paired.of([math.nan if row["delta"] is None else row["delta"] for row in rows])
        dz = zip(("dz", "dz_low", "dz_high"), map(number, test.dz), strict=True)
        return _delta("delta_k", cells, {
            "cells": rows, "t": number(test.t), "df": test.n - 1, "p": number(test.p),
            "p_bonferroni": number(min(1.0, looks * test.p)), "looks": looks, **dict(dz),
        })  # fmt: skip

    return by_source(ratings, COMPARED, delta)


@measure(
    "delta_k_by_group", "agreement after knowledge, by domain and language", ends=(-2, 2), signed=True, rank=411,
    reading="The same difference within one domain or language.",
)  # fmt: skip
def delta_k_by_group(ratings: Ratings) -> Estimates:
    """delta-K within every value of the texts' columns `domain` and `language`, by source of the rubric; delta-K over
    all may lie below each of them. Empty where nothing is known of the texts.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> scores = example("judge rubric_source score", rows, texts=table("domain", "law/law/law/law").assign(target=""))
    >>> round(delta_k_by_group(scores).of(group="domain law", rubric_source="shared").value, 6)
    -0.4
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for source, both in COMPARED.items():
        for names, cells in rubric_cells(ratings, *both):
            for column in GROUPS:
                groups = _groups(ratings, cells, column)
                for name in dict.fromkeys(groups[groups != ""]):
                    of = _delta("delta_k_by_group", cells.only(groups == name), {})
                    estimates[f"{column} {name}", source, *names] = of
    return Estimates(("group", RUBRIC, *ratings.within(RUBRIC)), estimates)


@measure(
    "domain_selectivity", "does knowledge work by domain?", rank=412,
    reading="How far delta-K differs between domains (SD), with the chance that as much comes about when domains mean "
    "nothing.",
)  # fmt: skip
def domain_selectivity(ratings: Ratings) -> Estimates:
    """SD over domains of delta-K, by source of the rubric; no interval. Detail: `p`, the share of arrangements, domains
    dealt to items at random, whose SD is at least as large, the observed one among them; `by_domain`. Undefined below
    two domains, or where delta-K is undefined in one.

    >>> rows = "a checklist 1/2/3/4; b checklist 1/2/3/4; a shared 1/2/3/4; b shared 2/1/4/3"
    >>> texts = table("domain", "law/law/law/law").assign(target="")
    >>> domain_selectivity(example("judge rubric_source score", rows, texts=texts)).of(rubric_source="shared").note
    'undefined: the texts are of fewer than two domains'
    """
    return by_source(ratings, COMPARED, lambda cells: _selectivity(cells, _groups(ratings, cells, "domain")))


def _delta(metric: str, cells: RubricCells, detail: dict[str, Any]) -> Estimate:
    r = cells.r() if len(cells.items) else np.full((2, 1), np.nan)
    base, grounded = map(number, mean_correlation(r))
    fisher = number(float(change(r, "fisher")))
    detail = {"base": base, "grounded": grounded, "fisher": fisher, "pairs": r.shape[1], **detail}
    return jackknifed(metric, cells, change, reach=2.0, unit="", detail=detail)


def _groups(ratings: Ratings, cells: RubricCells, column: str) -> NDArray[Any]:
    """The value of a column of the texts for each text of the cells; empty where it is not known."""
    values = map(known_of_texts(ratings, column).get, zip(cells.items, cells.targets, strict=True))
    return np.array([value if isinstance(value, str) else "" for value in values], dtype=object)


def _selectivity(cells: RubricCells, groups: NDArray[Any]) -> Estimate:
    method = f"correlations of the same pairs on the same texts; domains dealt to {cells.clusters or 'items'} at random"
    facts: dict[str, Any] = {**cells.facts(), "seed": SEED, "method": method}
    domains = list(dict.fromkeys(groups[groups != ""]))
    if len(domains) < 2:
        return undefined("domain_selectivity", "the texts are of fewer than two domains", **facts)
    known = groups != ""  # a target need not have a text on every item
    codes = np.full(len(set(cells.units)), -1)
    codes[grouped(cells.units)[known]] = [domains.index(group) for group in groups[known]]

    def per_domain(dealt: NDArray[Any]) -> Floats:
        """delta-K of each domain under each arrangement of the units, (B, units) to (B, domains)."""
        return np.stack([change(cells.r(dealt == domain)) for domain in range(len(domains))], axis=1)

    deltas = per_domain(codes[None, :])[0]
    spread = float(np.std(deltas, ddof=1))
    if not math.isfinite(spread):
        return undefined("domain_selectivity", "delta-K is undefined in one of the domains", **facts)
    rng = generator(SEED, "domain_selectivity", *cells.sources)
    dealt = rng.permuted(np.broadcast_to(codes, (DRAWS, len(codes))), axis=1)
    spreads = np.std(per_domain(dealt), axis=1, ddof=1)
    made = spreads[np.isfinite(spreads)]
    p = (1 + int(np.sum(made >= spread - 1e-12))) / (1 + len(made))
    by_domain = {name: number(value) for name, value in zip(domains, deltas, strict=True)}
    detail, note = {"p": number(p), "arrangements": len(made), "by_domain": by_domain}, "no interval: read the p-value"
    return Estimate(metric="domain_selectivity", value=spread, detail=detail, note=note, **facts)

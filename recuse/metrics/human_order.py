"""Do judges order the texts as people do, and which judge lies closest to people?

Where people rated targets as a whole, targets are ordered by the mean of their texts; otherwise the texts are ordered.
Merchant-risk paper, sec. 4.4.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import THESE_TEXTS, SamplingDistribution, estimated, number, undefined
from recuse.metrics.human_alignment import GIVEN, ZERO, Compared, compared
from recuse.metrics.measure import Named, measure, per_subject
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, distinct
from recuse.statistics import rank_correlation, resampling
from recuse.statistics.agreement.correlation import spearman_distribution
from recuse.statistics.distributions import Draws

REDRAWN = {"repeats": "percentile bootstrap over repeats within cells", "items": "percentile bootstrap over items"}
FIRST_NAMES = {"shown": "attributed", "hidden": "anonymized"}
"""What the draws of either level are named after: as in the first edition, whose shares stand."""
EVERY, FEW, MANY = 8, 12, 1000
"""Texts up to which all orders are tried for Kendall's p, up to which permutations give Spearman's, and up to which
pairs are counted one by one for Kendall's tau."""


@measure(
    "human_order", "order against people", ends=(-1, 1), signed=True, rank=235, bad="below",
    below="ranks the texts unlike people|rank the texts unlike people",
    reading="Spearman's rank correlation of a judge's scores with people's mean over the same texts.",
)  # fmt: skip
@per_subject("judge", compared)
def human_order(against: Compared, seed: int = resampling.SEED, draws: int = 1999) -> Iterator[Named]:
    """Spearman's rho of a judge's means with people's, by judge and factor level; ties take mean ranks.

    The interval is over texts (clusters), from eight on: Bonett and Wright's on Fisher's scale, wider where ties or
    clusters ask for it (`spearman_distribution`). On fewer there is none: one order of five texts in
    three lies at 0.3 or above by chance, and no interval of so few pairs covers. Where people rated targets as a whole,
    and items vary, it is a bootstrap over items.

    Detail `p_permutation` asks how often an unrelated order would agree as well: by permutation up to 12 texts (with 5
    it cannot fall below 2/120), by Student's t beyond. Kendall's tau-b stands beside it. Undefined for a judge, or
    people, with the same mean on every text, and below three texts.

    >>> import pandas as pd
    >>> rows = [("a", "judge", 1.0, 2.0, 4.0), ("p", "person", 2.0, 1.0, 3.0)]
    >>> wide = pd.DataFrame(rows, columns=["rater", "kind", "i", "j", "k"])
    >>> frame = wide.melt(["rater", "kind"], var_name="item", value_name="score")
    >>> human_order(Ratings.of(frame)).of(judge="a").value
    0.5
    """
    sides = Sides(against, seed)
    for i, judge in enumerate(against.judges):
        yield judge, _order(sides, i, draws)


@measure(
    "closest_judge", "distance of the closest judge", rank=260, bad="none",
    reading="Mean distance from people of the judge that lies closest to them.",
)  # fmt: skip
def closest_judge(ratings: Ratings, seed: int = resampling.SEED, draws: int = 1999) -> Estimates:
    """Which judge lies closest to people, by factor level: smallest mean over texts of |judge - people|; the value is
    that distance. Every judge is compared on the texts that it and people rated. It has no interval: the smallest of
    several distances is too small for where it was found, and a bootstrap of it covers far too seldom.

    Detail: `judge`, and `ranking` from closest to farthest with `distance` and `first`, the share of resampled panels
    (repeats redrawn within cells, or items) in which that judge is closest. Ties go to the first in the panel.
    Undefined where no judge shares a text with people.

    >>> import pandas as pd
    >>> rows = [("a", "judge", 4.0), ("b", "judge", 2.0), ("p", "person", 2.5)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "score"]).assign(item="i")
    >>> closest_judge(Ratings.of(frame)).of().detail["judge"]
    'b'
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        rng = resampling.generator(seed, "closest_judge", *(FIRST_NAMES.get(name, name) for name in names))
        estimates[names] = _closest(Sides(compared(part, ratings), seed), rng, draws)
    return Estimates(ratings.within(), estimates)


# --------------------------------------------------------------------------- what is ordered


BLOCKS = 5_000
"""Of more clusters than this, blocks are drawn: as many draws as clusters would take time and memory of both."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Judges and people on what people rated: texts, or targets as a whole."""

    against: Compared
    seed: int
    _redrawn: dict[int, Floats] = field(default_factory=dict)

    @property
    def per_text(self) -> bool:
        """Whether people rated single texts."""
        return self.against.people.per_text

    @property
    def what(self) -> str:
        """What is ordered, in the plural: "texts" or "targets"."""
        cells = self.against.cells
        return "targets" if not self.per_text or len(cells.items) == len(cells.target_names) else "texts"

    @cached_property
    def people(self) -> Floats:
        """(R,)"""
        mean = self.against.people.mean
        return mean if self.per_text else self._by_target(mean[None])[0]

    @cached_property
    def judges(self) -> Floats:
        """(J, R), where people rated too."""
        cells = self.against.cells
        mean = cells.mean if self.per_text else self._by_target(cells.mean)
        return np.where(np.isfinite(self.people), mean, np.nan).round(12)

    def _by_target(self, values: Floats) -> Floats:
        return self.against.cells.by_target(values)

    def redrawn(self, judges: list[int], rng: np.random.Generator, draws: int) -> Floats:
        """Means of these judges on resampled repeats, shape (draws, judges, R), NaN without a usable score."""
        cells = self.against.cells
        out = np.full((draws, len(judges), len(self.people)), np.nan)
        places = [(k, u) for k, j in enumerate(judges) for u in range(len(self.people)) if cells.count[j, u]]
        if places:
            means = resampling.resampled_means([cells.scores[judges[k]][u] for k, u in places], rng, draws)
            out[:, [k for k, _ in places], [u for _, u in places]] = means
        return out

    def target_means(self, weights: Floats) -> Floats:
        """Means of every judge and target where clusters weigh `weights`, shape (draws, clusters): (draws, J, T)."""
        cells, shape = self.against.cells, self.judges.shape
        usable = np.isfinite(cells.mean)
        codes = (np.arange(shape[0])[:, None] * shape[1] + cells.targets) * weights.shape[1] + cells.clusters
        size = shape[0] * shape[1] * weights.shape[1]
        sums, counts = (
            np.bincount(codes[usable], weights=given, minlength=size).reshape(-1, weights.shape[1])
            for given in (cells.mean[usable], np.ones(int(usable.sum())))
        )
        total, n = weights @ sums.T, weights @ counts.T
        return _ratio(total, n).reshape(-1, *shape)

    def redrawn_targets(self, draws: int) -> Floats:
        """Means of every judge and target on the same resampled items, (draws, J, T): drawn once for all judges."""
        if draws not in self._redrawn:
            rng = resampling.generator(self.seed, "human_order", "items")
            self._redrawn[draws] = self.target_means(self.cluster_weights(rng, draws))
        return self._redrawn[draws]

    def cluster_weights(self, rng: np.random.Generator, draws: int, most: int | None = None) -> Floats:
        """How often each cluster is drawn, with replacement, shape (draws, clusters); of more clusters than `most`, how
        often each of so many blocks of them is."""
        groups = min(len(self.against.cells.cluster_names), most or sys.maxsize)
        picked = rng.integers(groups, size=(draws, groups)) + np.arange(draws)[:, None] * groups
        return np.bincount(picked.ravel(), minlength=draws * groups).reshape(draws, groups).astype(float)


# --------------------------------------------------------------------------- order


def _order(sides: Sides, i: int, draws: int) -> Estimate:
    against, cells = sides.against, sides.against.cells
    used = np.isfinite(sides.judges[i])
    judge, people = sides.judges[i][used], sides.people[used]
    wanted = against.only(i)
    counted = wanted & np.isfinite(against.differences)
    about: dict[str, Any] = {
        "n": distinct(cells.items[counted[i]]),
        "n_excluded": against.excluded(wanted, counted), "over": "items" if cells.fixed else cells.over,
        "clusters": cells.clusters_called,
        "method": _method(sides),
    }  # fmt: skip
    if len(judge) < 3:
        return undefined("human_order", f"an order needs three {sides.what}; there are {len(judge)}", **about)
    for who, means in ((cells.judges[i], judge), ("people", people)):
        if means.max() - means.min() < ZERO:
            why = f"{who} gave every {sides.what.removesuffix('s')} {means[0]:g}, so there is no order"
            return undefined("human_order", why, **about)
    rho = float(rank_correlation.spearman(judge, people))
    distribution = _order_distribution(sides, i, used, rho, draws)
    seeded: dict[str, Any] = {"seed": sides.seed} if isinstance(distribution, Draws) else {}
    return estimated("human_order", rho, distribution, **seeded, detail=_tests(judge, people, rho, sides), **about)


def _method(sides: Sides) -> str:
    if sides.per_text or sides.against.cells.fixed:
        return "Spearman over texts, Bonett-Wright interval on Fisher's scale, wider with ties and clusters"
    return f"Spearman of {sides.what}' means, {REDRAWN['items']}"


def _order_distribution(sides: Sides, i: int, used: NDArray[np.bool_], rho: float, draws: int) -> SamplingDistribution:
    cells = sides.against.cells
    if sides.per_text or cells.fixed:
        clusters = np.arange(used.sum()) if cells.fixed else cells.clusters[used]
        return spearman_distribution(sides.judges[i][used], sides.people[used], clusters)
    means = sides.redrawn_targets(draws)[:, i][:, used].round(12)
    return resampling.percentile(rho, rank_correlation.spearman(means, sides.people[used]), discrete=True)


def _tests(judge: Floats, people: Floats, rho: float, sides: Sides) -> dict[str, Any]:
    """Is the order more than chance? Spearman's and Kendall's answers as builtins."""
    n = len(judge)
    by_rho = rank_correlation.spearman_test(judge, people) if n <= FEW else None
    return {
        "p_permutation": number(by_rho.p if by_rho else rank_correlation.spearman_t(rho, n)),
        "p_method": by_rho.method if by_rho else "Student's t",
        "kendall": number(float(rank_correlation.kendall(judge, people))) if n <= MANY else None,
        "kendall_p_permutation": number(rank_correlation.kendall_test(judge, people).p) if n <= EVERY else None,
        sides.what: n,
    }


# --------------------------------------------------------------------------- distance


def _closest(sides: Sides, rng: np.random.Generator, draws: int) -> Estimate:
    cells = sides.against.cells
    usable = np.isfinite(sides.judges)
    known = [i for i in range(len(cells.judges)) if usable[i].any()]
    repeats = cells.fixed
    about: dict[str, Any] = {
        "over": cells.over, "clusters": cells.clusters_called, "unit": cells.scale.unit, "span": cells.scale.span,
        "method": f"mean |judge - people| over {sides.what}, {REDRAWN['repeats' if repeats else 'items']}",
    }  # fmt: skip
    if not known:
        return undefined("closest_judge", "no judge has a usable score of a text that people rated", **about)
    distances = np.nanmean(np.abs(sides.judges[known] - sides.people), axis=1)
    spread = _redrawn_distances(sides, known, rng, draws)
    nearest = np.where(np.isfinite(spread), spread, np.inf).argmin(axis=1)
    first = np.bincount(nearest, minlength=len(known)) / draws
    order = np.argsort(distances.round(12), kind="stable")
    best = int(order[0])
    row = known[best]
    ranking = [
        {"judge": cells.judges[known[k]], "distance": number(distances[k]), "first": number(first[k])} for k in order
    ]
    where = f"{THESE_TEXTS}; {GIVEN}" if repeats else GIVEN
    return Estimate(
        metric="closest_judge", value=float(distances[best]),
        n=int(cells.count[row].sum()) if repeats else distinct(cells.items[np.isfinite(cells.mean[row])]),
        n_excluded=int(cells.lost[row].sum()), seed=sides.seed,
        note=f"{where}; the smallest of several has no interval",
        detail={"judge": cells.judges[row], "ranking": ranking}, **about,
    )  # fmt: skip


def _redrawn_distances(sides: Sides, known: list[int], rng: np.random.Generator, draws: int) -> Floats:
    """Mean distances of these judges from people on resampled repeats or items; shape (draws, judges)."""
    cells = sides.against.cells
    if cells.fixed:
        return _mean_there(np.abs(sides.redrawn(known, rng, draws) - sides.people))
    if not sides.per_text:
        weights = sides.cluster_weights(rng, draws)
        return _mean_there(np.abs(sides.target_means(weights)[:, known] - sides.people))
    weights = sides.cluster_weights(rng, draws, BLOCKS)
    each = np.abs(sides.judges[known] - sides.people)
    groups = weights.shape[1]
    blocks = cells.clusters % groups
    sums, counts = np.zeros((len(known), groups)), np.zeros((len(known), groups))
    for k, row in enumerate(each):
        there = np.isfinite(row)
        sums[k] = np.bincount(blocks[there], weights=row[there], minlength=groups)
        counts[k] = np.bincount(blocks[there], minlength=groups)
    return _ratio(weights @ sums.T, weights @ counts.T)


def _mean_there(values: Floats) -> Floats:
    """Mean over the last axis of what is there, NaN where nothing is."""
    there = np.isfinite(values)
    return _ratio(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1))


def _ratio(sums: Floats, counts: Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    out: Floats = np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0)
    return out

"""Do judges order the texts as people do, and which judge lies closest to people?

Where people rated targets as a whole, targets are ordered by the mean of their texts; otherwise the texts are ordered.
Merchant-risk paper, sec. 4.4.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recuse.metrics.estimates import SamplingDistribution, estimated, number, undefined
from recuse.metrics.human_alignment import ZERO, Compared, compared
from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers.rank_tests import kendall, kendall_test, spearman_distribution, spearman_t, spearman_test
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, taken
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.agreement.correlation import spearman
from recuse.statistics.distributions import SEED, generator, percentile

REDRAWN = {"repeats": "percentile bootstrap over repeats within cells", "items": "percentile bootstrap over items"}
OVER_TEXTS = "Spearman over texts, Bonett-Wright interval on Fisher's scale, wider with ties and clusters"
EVERY, FEW, MANY = 8, 12, 1000
"""Texts up to which all orders are tried for Kendall's p, up to which permutations give Spearman's, and up to which
pairs are counted one by one for Kendall's tau."""


@measure(
    "human_order", "order against people", ends=(-1, 1), signed=True, rank=235, bad="below", counts=True,
    below="ranks the texts unlike people|rank the texts unlike people",
    reading="Spearman's rank correlation of a judge's scores with people's mean over the same texts.",
)  # fmt: skip
@per_subject("judge", compared)
def human_order(against: Compared, seed: int = SEED, draws: int = 1999) -> Iterator[Named]:
    """Spearman's rho of a judge's means with people's, by judge and factor level; ties take mean ranks.

    The interval is over texts (clusters), from eight on: Bonett and Wright's on Fisher's scale, wider where ties or
    clusters ask for it (`spearman_distribution`). On fewer there is none: one order of five texts in
    three lies at 0.3 or above by chance, and no interval of so few pairs covers. Where people rated targets as a whole,
    and items vary, it is a bootstrap over items.

    Detail `p_permutation` asks how often an unrelated order would agree as well: by permutation up to 12 texts (with 5
    it cannot fall below 2/120), by Student's t beyond. Kendall's tau-b stands beside it. Undefined for a judge, or
    people, with the same mean on every text, and below three texts.

    >>> import pandas as pd
    >>> from recuse.ratings import Ratings
    >>> rows = [("a", "judge", 1.0, 2.0, 4.0), ("p", "person", 2.0, 1.0, 3.0)]
    >>> wide = pd.DataFrame(rows, columns=["rater", "kind", "i", "j", "k"])
    >>> frame = wide.melt(["rater", "kind"], var_name="item", value_name="score")
    >>> human_order(Ratings.of(frame)).of(judge="a").value
    0.5
    """
    sides = Sides(against, seed, draws)
    for i, judge in enumerate(against.judges):
        yield judge, _order(sides, i)


# --------------------------------------------------------------------------- what is ordered


BLOCKS = 5_000
"""Of more clusters than this, blocks are drawn: as many draws as clusters would take time and memory of both."""


@dataclass(frozen=True, eq=False)
class Sides:
    """Judges and people on what people rated: texts, or targets as a whole."""

    against: Compared
    seed: int
    draws: int

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
        return mean if self.per_text else self.against.cells.by_target(mean[None])[0]

    @cached_property
    def judges(self) -> Floats:
        """(J, R), where people rated too."""
        cells = self.against.cells
        mean = cells.mean if self.per_text else cells.by_target(cells.mean)
        return np.where(np.isfinite(self.people), mean, np.nan).round(12)

    def redrawn(self, judges: list[int], rng: np.random.Generator) -> Floats:
        """Means of these judges on resampled repeats, shape (draws, judges, R), NaN without a usable score."""
        cells = self.against.cells
        out = np.full((self.draws, len(judges), len(self.people)), np.nan)
        rows, texts = np.nonzero(cells.count[judges])
        if len(rows):
            each = [cells.scores[judges[k]][u] for k, u in zip(rows.tolist(), texts.tolist(), strict=True)]
            out[:, rows, texts] = resampled_means(each, rng, self.draws)
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
        return ratio(total, n).reshape(-1, *shape)

    @cached_property
    def redrawn_targets(self) -> Floats:
        """Means of every judge and target on the same resampled items, (draws, J, T): drawn once for all judges."""
        return self.target_means(self.cluster_weights(generator(self.seed, "human_order", "items")))

    def cluster_weights(self, rng: np.random.Generator, most: int = sys.maxsize) -> Floats:
        """How often each cluster is drawn, with replacement, shape (draws, clusters); of more clusters than `most`, how
        often each of so many blocks of them is."""
        groups = min(len(self.against.cells.cluster_names), most)
        picked = rng.integers(groups, size=(self.draws, groups)) + np.arange(self.draws)[:, None] * groups
        return np.bincount(picked.ravel(), minlength=self.draws * groups).reshape(-1, groups).astype(float)


# --------------------------------------------------------------------------- order


def _order(sides: Sides, i: int) -> Estimate:
    against, cells = sides.against, sides.against.cells
    over_texts = sides.per_text or cells.fixed
    used = np.isfinite(sides.judges[i])
    times = taken(cells.times, used)
    judge, people = sides.judges[i][used], sides.people[used]
    wanted = against.only(i)
    counted = wanted & np.isfinite(against.differences)
    about: dict[str, Any] = {
        "n": cells.number(counted[i]), "n_excluded": against.excluded(wanted, counted),
        "over": "items" if cells.fixed else cells.over, "clusters": cells.clusters_called,
        "method": OVER_TEXTS if over_texts else f"Spearman of {sides.what}' means, {REDRAWN['items']}",
    }  # fmt: skip
    n = len(judge) if times is None else int(times.sum())
    if n < 3:
        return undefined("human_order", f"an order needs three {sides.what}; there are {n}", **about)
    for who, means in ((cells.judges[i], judge), ("people", people)):
        if means.max() - means.min() < ZERO:
            why = f"{who} gave every {sides.what.removesuffix('s')} {means[0]:g}, so there is no order"
            return undefined("human_order", why, **about)
    rho = float(spearman(judge, people, times))
    if over_texts:
        clusters = np.arange(len(judge)) if cells.fixed else cells.clusters[used]
        distribution: SamplingDistribution = spearman_distribution(judge, people, clusters, times)
    else:
        means = sides.redrawn_targets[:, i][:, used].round(12)
        distribution, about["seed"] = percentile(rho, spearman(means, people), discrete=True), sides.seed
    by_rho = spearman_test(judge, people) if n <= FEW else None
    tests = {
        "p_permutation": number(by_rho.p if by_rho else spearman_t(rho, n)),
        "p_method": by_rho.method if by_rho else "Student's t",
        "kendall": number(float(kendall(judge, people))) if n <= MANY and n == len(judge) else None,
        "kendall_p_permutation": number(kendall_test(judge, people).p) if n <= EVERY else None,
        sides.what: n,
    }
    return estimated("human_order", rho, distribution, detail=tests, **about)


# --------------------------------------------------------------------------- distance


def resampled_means(cells: Sequence[Floats], rng: np.random.Generator, draws: int = 9999) -> Floats:
    """Means of each cell over repeats drawn with replacement from that cell; shape (draws, cells).

    The bootstrap over repeats of a statistic of several cell means: compute the statistic of every row, and give its
    values to `percentile`.
    """
    return np.column_stack([cell[rng.integers(len(cell), size=(draws, len(cell)))].mean(axis=1) for cell in cells])

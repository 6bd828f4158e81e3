"""Knowledge grounding: does agreement between judges survive their having to say first what they know?

    delta-K(source) = mean over pairs of r(scores by rubrics of that source) - r(scores by the given checklist)

"Beyond the Illusion of Consensus", 2026, eq. 1: what agreement loses when a rubric is written from knowledge was owed
to what all judges see on the surface. The paper calls one variant MERG and compares it with a checklist that all judges
share, so its delta-K mixes knowledge with the loss of a common rubric; here every grounded source has its own, and
"shared" is the one that compares a common rubric with a common rubric.

Correlations are of the same pairs on the same texts under both sources (`recuse.papers.illusion.pair_correlations`).
Intervals are over items, by the jackknife. The paper's paired t over cells stands beside it in the detail: cells are
pairs of judges, and of each target where it has ten items or more; they share judges and items, so its p-value is too
small.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import measure
from recuse.papers.illusion.pair_correlations import Averaging, PairCorrelations, mean_correlation
from recuse.papers.illusion.rubric_cells import BASELINE, GROUNDED, JACKKNIFE, RubricCells, jackknifed, rubric_cells
from recuse.ratings import Ratings
from recuse.ratings.factors import RUBRIC
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.paired import Paired
from recuse.statistics.resampling import SEED, generator

__all__ = ["delta_k", "delta_k_by_group", "domain_selectivity"]

GROUPS = ("domain", "language")
"""What is known of a text by which delta-K is told apart."""
CELL_ITEMS = 10  # items that a target needs for cells of its own
DRAWS = 1999


@measure(
    "delta_k", "agreement after knowledge", ends=(-2, 2), signed=True, bad="both", rank=410,
    above="agree more once each says what it knows", below="agree less once each says what it knows",
    reading="Correlation between judges by rubrics written from knowledge, less that by the given checklist. Below 0: "
    "agreement rested on what all see on the surface. Above 0: knowledge gave the judges a common standard.",
)  # fmt: skip
def delta_k(ratings: Ratings, averaging: Averaging = "arithmetic") -> Estimates:
    """delta-K by source of the rubric, and by the levels of all other factors.

    `averaging`: of r over pairs, or of Fisher's z (the paper does not say which). Detail: `base` and `grounded` r,
    `cells` (pair, target, n, base, grounded, delta), the paired t over cells with `p` and `p_bonferroni` over the
    sources that were compared, Cohen's d as `dz` (mean of the differences over their SD), and `fisher`, delta-K
    averaged by z. A pair in which a judge says the same of all texts under one of the two is left out;
    undefined where no pair is left.

    >>> import pandas as pd
    >>> given = {"checklist": ([1, 2, 3, 4], [1, 2, 3, 4]), "shared": ([1, 2, 3, 4], [2, 1, 4, 3])}
    >>> frame = pd.DataFrame([(judge, source, n, score) for source, both in given.items()
    ...     for judge, scores in zip("ab", both) for n, score in enumerate(scores)],
    ...     columns=["judge", "rubric_source", "item", "score"])
    >>> round(delta_k(Ratings.of(frame)).of(rubric_source="shared").value, 6)
    -0.4
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    looks = sum(source in ratings.levels(RUBRIC) for source in GROUNDED)
    for source in GROUNDED:
        for names, cells in rubric_cells(ratings, BASELINE, source):
            estimates[source, *names] = _delta("delta_k", cells, averaging, _cells_detail(cells, looks))
    return Estimates((RUBRIC, *ratings.within(RUBRIC)), estimates)


@measure(
    "delta_k_by_group", "agreement after knowledge, by domain and language", ends=(-2, 2), signed=True, rank=411,
    reading="The same difference within one domain or language.",
)  # fmt: skip
def delta_k_by_group(ratings: Ratings) -> Estimates:
    """delta-K within every value of the texts' columns `domain` and `language`, by source of the rubric.

    Correlations within a group are not parts of the one over all: delta-K over all may lie below each of them. Empty
    where nothing is known of the texts.

    >>> import pandas as pd
    >>> alike, apart = [1, 2, 3, 4] * 2, [1, 2, 3, 4, 2, 1, 4, 3]
    >>> given = {"checklist": (alike, alike), "shared": (alike, apart)}
    >>> rows = [(j, source, f"t{i}", x) for source, both in given.items()
    ...     for j, scores in zip("ab", both) for i, x in enumerate(scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "rubric_source", "item", "score"])
    >>> domains = ["law"] * 4 + ["art"] * 4
    >>> texts = pd.DataFrame({"item": [f"t{i}" for i in range(8)], "target": "", "domain": domains})
    >>> estimates = delta_k_by_group(Ratings.of(frame, texts=texts))
    >>> [round(estimates.of(group=f"domain {name}", rubric_source="shared").value, 6) for name in ("law", "art")]
    [0.0, -0.4]
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for source in GROUNDED:
        for names, cells in rubric_cells(ratings, BASELINE, source):
            for column in GROUPS:
                groups = _groups(ratings, cells, column)
                for name in dict.fromkeys(group for group in groups if group):
                    part = cells.only(np.array([group == name for group in groups]))
                    estimates[f"{column} {name}", source, *names] = _delta("delta_k_by_group", part, "arithmetic", {})
    return Estimates(("group", RUBRIC, *ratings.within(RUBRIC)), estimates)


@measure(
    "domain_selectivity", "does knowledge work by domain?", rank=412,
    reading="How far delta-K differs between domains (SD), with the chance that as much comes about when domains mean "
    "nothing.",
)  # fmt: skip
def domain_selectivity(ratings: Ratings) -> Estimates:
    """SD over domains of delta-K, by source of the rubric; no interval. Detail: `p`, the share of arrangements in which
    domains are dealt to items at random and the SD is at least as large, the observed one among them; `by_domain`.

    The paper reports "chi-square, p < .01" without statistic, table or degrees of freedom. Undefined with fewer than
    two domains, or where delta-K is undefined in one of them.

    >>> import pandas as pd
    >>> alike, apart = [1, 2, 3, 4] * 2, [1, 2, 3, 4, 2, 1, 4, 3]
    >>> given = {"checklist": (alike, alike), "shared": (alike, apart)}
    >>> rows = [(j, source, f"t{i}", x) for source, both in given.items()
    ...     for j, scores in zip("ab", both) for i, x in enumerate(scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "rubric_source", "item", "score"])
    >>> domains = ["law"] * 4 + ["art"] * 4
    >>> texts = pd.DataFrame({"item": [f"t{i}" for i in range(8)], "target": "", "domain": domains})
    >>> round(domain_selectivity(Ratings.of(frame, texts=texts)).of(rubric_source="shared").value, 6)
    0.282843
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for source in GROUNDED:
        for names, cells in rubric_cells(ratings, BASELINE, source):
            estimates[source, *names] = _selectivity(cells, _groups(ratings, cells, "domain"))
    return Estimates((RUBRIC, *ratings.within(RUBRIC)), estimates)


# --------------------------------------------------------------------------- delta-K of some cells


def _delta(metric: str, cells: RubricCells, averaging: Averaging, detail: dict[str, Any]) -> Estimate:
    def of(r: Floats) -> Floats:
        means = mean_correlation(r, averaging)
        difference: Floats = means[..., 1] - means[..., 0]
        return difference

    r = cells.pairs().r() if len(cells.items) else np.full((2, 1), np.nan)
    both = {name: number(float(value)) for name, value in zip(("base", "grounded"), mean_correlation(r), strict=True)}
    fisher = mean_correlation(r, "fisher")
    detail = {**both, "fisher": number(float(fisher[1] - fisher[0])), "pairs": r.shape[1], **detail}
    return jackknifed(metric, cells, of, reach=2.0, unit="", detail=detail)


def _cells_detail(cells: RubricCells, looks: int) -> dict[str, Any]:
    """The paired t over cells, as the paper has it."""
    rows: list[dict[str, Any]] = []
    # Each target with its own cells, where all have items enough; else all texts together
    targets = tuple(dict.fromkeys(cells.targets))
    parts = [(t, cells.only(np.array([name == t for name in cells.targets]))) for t in targets]
    usable = [np.isfinite(part.scores).all(axis=(0, 1)).sum() for _, part in parts]
    for target, part in parts if len(parts) > 1 and min(usable) >= CELL_ITEMS else [("", cells)]:
        pairs = part.pairs()
        for name, n, base, grounded in zip(cells.pair_names(), pairs.texts, *pairs.r(), strict=True):
            values = {"base": number(base), "grounded": number(grounded), "delta": number(grounded - base)}
            rows.append({"pair": name, "target": target, "n": int(n), **values})
    test = Paired.of([math.nan if row["delta"] is None else row["delta"] for row in rows])
    dz, low, high = test.dz
    return {
        "cells": rows, "t": number(test.t), "df": test.n - 1, "p": number(test.p),
        "p_bonferroni": number(min(1.0, looks * test.p)), "looks": looks,
        "dz": number(dz), "dz_low": number(low), "dz_high": number(high),
    }  # fmt: skip


# --------------------------------------------------------------------------- domains


def _groups(ratings: Ratings, cells: RubricCells, column: str) -> list[str]:
    """The value of a column of the texts for each text of the cells; empty where it is not known."""
    texts = ratings.texts
    if texts is None or column not in texts:
        return [""] * len(cells.items)
    known = {(str(i), str(t)): value for i, t, value in zip(texts["item"], texts["target"], texts[column], strict=True)}
    values = (known.get(text) for text in zip(cells.items, cells.targets, strict=True))
    return [value if isinstance(value, str) else "" for value in values]


def _selectivity(cells: RubricCells, groups: list[str]) -> Estimate:
    pairs = cells.pairs()
    facts: dict[str, Any] = {
        **cells.facts(pairs), "seed": SEED,
        "method": f"{JACKKNIFE.format(units=cells.called).split(',')[0]}; domains dealt to {cells.called} at random",
    }  # fmt: skip
    known = zip(cells.units, groups, strict=True)  # a target need not have a text on every item
    domain_of = {unit: group for unit, group in known if group}
    units, domains = list(dict.fromkeys(cells.units)), list(dict.fromkeys(group for group in groups if group))
    if len(domains) < 2:
        return undefined("domain_selectivity", "the texts are of fewer than two domains", **facts)
    codes = np.array([domains.index(domain_of[unit]) if unit in domain_of else -1 for unit in units])
    deltas = _delta_per_domain(pairs, codes[None, :], len(domains))[0]
    spread = float(np.std(deltas, ddof=1))
    if not math.isfinite(spread):
        return undefined("domain_selectivity", "delta-K is undefined in one of the domains", **facts)
    rng = generator(SEED, "domain_selectivity", *cells.sources)
    dealt = rng.permuted(np.broadcast_to(codes, (DRAWS, len(codes))), axis=1)
    spreads = np.std(_delta_per_domain(pairs, dealt, len(domains)), axis=1, ddof=1)
    known = spreads[np.isfinite(spreads)]
    p = (1 + int(np.sum(known >= spread - 1e-12))) / (1 + len(known))
    by_domain = {name: number(value) for name, value in zip(domains, deltas, strict=True)}
    detail = {"p": number(p), "arrangements": len(known), "by_domain": by_domain}
    return Estimate(
        metric="domain_selectivity", value=spread, detail=detail, note="no interval: read the p-value", **facts
    )


def _delta_per_domain(pairs: PairCorrelations, codes: NDArray[Any], count: int) -> Floats:
    """delta-K of each domain under each arrangement, (B, domains). `codes` (B, units)."""
    per = [mean_correlation(pairs.r(codes == domain)) for domain in range(count)]  # each (B, 2)
    deltas: Floats = np.stack([each[:, 1] - each[:, 0] for each in per], axis=1)
    return deltas

"""The analysis of 105,600 judgements at three resolutions, next to a loop over other packages, in one run:

    python tests/benchmarks/resolution.py

32 models x 3 judges x 100 prompts x 11 temperatures, simulated (`fixtures.standins.shared_heuristics`). Ours
is all that evals/test_agreement_resolution.py asks, with intervals, from the table on; the loop is Pearson's r of every
pair and pingouin's ICC in each of the 352 cells, and scipy's rho over models, from the same table. CPU seconds.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from fixtures.standins.shared_heuristics import PAPER, as_ratings, simulate
from recuse.papers.illusion import judge_panels, resolution
from recuse.ratings import Ratings

MEASURES = (
    resolution.panel_agreement, resolution.sample_agreement, resolution.absolute_agreement,
    resolution.model_agreement, resolution.resolution_gap, judge_panels.quality_agreement, judge_panels.tier_order,
    judge_panels.wide_spread, judge_panels.scale_use, judge_panels.agreement_change,
    judge_panels.effective_judges,
)  # fmt: skip
LOOPED = 32
"""Cells that the loop is timed on; the time of all 352 follows, it is linear."""


def timed(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(ratings: Ratings) -> None:
    for measure in MEASURES:
        measure(ratings)


def looped(table: pd.DataFrame) -> float:
    """Seconds that all cells would take."""
    import pingouin
    from scipy import stats

    def cells() -> None:
        one = table[table["temperature"] == "0"]
        for _, rows in list(one.groupby("target"))[:LOOPED]:
            wide = rows.pivot(index="item", columns="rater", values="score")
            for a, b in combinations(wide, 2):
                stats.pearsonr(wide[a], wide[b])
            pingouin.intraclass_corr(rows, targets="item", raters="rater", ratings="score")

    def models() -> None:
        for _, rows in table.groupby("temperature"):
            means = rows.pivot_table(index="target", columns="rater", values="score")
            for a, b in combinations(means, 2):
                stats.spearmanr(means[a], means[b])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return timed(cells) * len(PAPER.levels) * len(PAPER.temperatures) / LOOPED + timed(models)


def main() -> None:
    scores = simulate(PAPER, np.random.default_rng(3))
    as_ratings(PAPER, scores[..., :1])  # imports are nobody's work
    start = time.process_time()
    ratings = as_ratings(PAPER, scores)
    made = time.process_time() - start
    mine = timed(lambda: ours(ratings))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    peers = looped(ratings.table)
    print(f"{len(ratings.table):,} judgements: table made and checked {made:.1f} s")
    print(f"{len(MEASURES)} measures, of all levels: {mine:.1f} s")
    print(f"peak memory {memory:.0f} MB")
    print(f"looping pingouin and scipy over 352 cells: {peers:.1f} s, {peers / mine:.0f} times ours")


if __name__ == "__main__":
    main()

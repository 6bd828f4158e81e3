"""How often the fault is found that self_preference promises to find with 80 %, at `recuse validate`'s usual sizes.

    python tests/experiments/promised_self_preference.py 6000

Every run draws a fair panel, takes the fault that its estimate promises, and draws another panel with it. The scores,
the estimate and the promise are the engine's; the ratings table between them is left out, which is what takes time.
"""

from __future__ import annotations

import math
import sys
import warnings
from datetime import date
from pathlib import Path

import numpy as np

from recuse.experiments.scripted_panel import _scores, _views, _worths
from recuse.experiments.sizes import Sizes
from recuse.gates import Gates, Limit
from recuse.gates.power import power_of
from recuse.metrics.estimates import estimated
from recuse.schema import Estimate
from recuse.statistics.clusters import OverClusters, difference_of_means

SIZES = Sizes(people=0, pairs=0)
GATES = Gates.load(Path(__file__).parents[2] / "evals" / "gates.toml", date(2026, 3, 1))
LIMIT = Limit("within", -0.05 * SIZES.span, 0.05 * SIZES.span)
LEVEL = 1 - 2 * GATES.alpha("self_preference") / SIZES.judges
"""Holm's first step over the judges, one-sided: at it a judge fails alone."""


def preference(own: float, rng: np.random.Generator) -> OverClusters:
    """Of judge 0, which gives its own texts so many points more."""
    scores = _scores(SIZES, {"own": own}, _worths(SIZES, rng) + _views(SIZES, rng), "shown", rng, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a text all of whose repeats are lost
        means = np.nanmean(scores, axis=3)
    deviations = (means[0] - np.nanmean(means[1:], axis=0)).ravel()
    items = np.repeat(np.arange(SIZES.items), SIZES.texts)
    own_text, usable = np.tile(np.arange(SIZES.texts) == 0, SIZES.items), np.isfinite(deviations)
    return difference_of_means(deviations, own_text & usable, ~own_text & usable, items, step=SIZES.step)


def promised(distribution: OverClusters) -> float:
    facts = {"n": SIZES.items, "over": "items", "unit": "points", "span": SIZES.span, "method": "t over items"}
    estimate: Estimate = estimated("self_preference", distribution.value, distribution, **facts)
    power = power_of(LIMIT, estimate, 0.95, LEVEL)
    assert power is not None
    assert power.smallest_fault is not None
    return power.smallest_fault


def share_found(runs: int) -> tuple[float, float]:
    """Of the promised faults, and its Monte-Carlo standard error."""
    found = 0
    for run in range(runs):
        fault = promised(preference(0.0, np.random.default_rng((5, run, 0))))
        found += preference(fault, np.random.default_rng((5, run, 1))).interval(LEVEL)[0] > LIMIT.high
    share = found / runs
    return share, math.sqrt(share * (1 - share) / runs)


if __name__ == "__main__":
    print("promised 80 %, found {:.1%} +- {:.1%}".format(*share_found(int(sys.argv[1]))))

"""Every measure that applies to one large table, in a process: `python many_judges.py JUDGES [ITEMS] [TARGETS]`.

Prints one JSON line with seconds of CPU time in all and by measure, and peak memory. Scores on a 1-10 scale under both
directions of it, one repeat, every judge the author of one target.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

import measuring  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from recuse.metrics import consensus, coverage, self_preference  # noqa: E402
from recuse.papers.merchant_risk import judge_profiles, score_repeats  # noqa: E402
from recuse.papers.self_preference import published_tests, scale_framing  # noqa: E402
from recuse.ratings import Numeric, Ratings  # noqa: E402

MEASURES = (
    coverage.parse_rate, score_repeats.score_matrix, judge_profiles.consensus_deviation, consensus.self_bias,
    consensus.leniency, consensus.self_preference, score_repeats.repeat_difference, score_repeats.cell_table,
    score_repeats.repeat_reliability, published_tests.self_minus_received, published_tests.self_minus_given,
    self_preference.self_preference_controlled, scale_framing.direction_insensitivity, scale_framing.framing_shift,
    scale_framing.shift_by_target, scale_framing.framing_change,
)  # fmt: skip


def table(judges: int, items: int, targets: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    j, i, t, d = (axis.ravel() for axis in np.indices((judges, items, targets, 2)))
    quality, level = rng.normal(6, 1, (items, targets)), rng.normal(0, 0.5, judges)
    score = np.clip(np.round(quality[i, t] + level[j] + rng.normal(0, 1, len(j))), 1, 10)
    names = {"rater": "judge", "item": "item", "target": "target"}
    columns = {
        column: np.array([f"{word}-{k:03d}" for k in range(int(axis.max()) + 1)], dtype=object)[axis]
        for (column, word), axis in zip(names.items(), (j, i, t), strict=True)
    }
    direction = np.array(["ascending", "reversed"], dtype=object)[d]
    return pd.DataFrame({**columns, "score": np.where(d == 1, 11 - score, score), "direction": direction})


def main(judges: int, items: int = 500, targets: int = 20) -> None:
    frame = table(judges, items, targets)
    authors = {f"judge-{k:03d}": f"target-{k:03d}" for k in range(min(judges, targets))}
    steps: dict[str, float] = {}
    start = time.process_time()
    ratings = Ratings.of(frame, scales=Numeric(1, 10, 1), authors=authors)
    steps["the table, checked"] = time.process_time() - start
    for measure in MEASURES:
        start = time.process_time()
        measure(ratings)
        steps[measure.__name__] = time.process_time() - start
    peak = measuring.peak_mb()
    print(json.dumps({"seconds": sum(steps.values()), "peak_mb": peak, "steps": steps}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

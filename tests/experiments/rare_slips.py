"""Judges whose answers to a text are the same but for slips to the other end of the scale.

python tests/experiments/rare_slips.py 60      # the table of docs/error-rates.md
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import date
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from recuse.gates import Gate, Gates
from recuse.metrics import stability
from recuse.ratings import Numeric, Ratings

MEASURES = {"repeat_difference": stability.repeat_difference, "repeat_reliability": stability.repeat_reliability}
LIMITS = MappingProxyType({
    "repeat_difference": Gate.model_validate({"at_most": 0.05, "of_range": True, "reason": "half a point of ten"}),
    "repeat_reliability": Gate.model_validate({"at_least": 0.5, "reason": "texts differ more than repeats do"}),
})
"""Limits that a team may set for repeats; the shipped uses gate what noise does to them instead."""
SHARES = (0.02, 0.05, 0.1)


def slipping(items: int, repeats: int, share: float, rng: np.random.Generator) -> Ratings:
    """Scores from 1 to 9 on 0-10; a slip goes to the end of the scale that is further off, by 7 points on average."""
    worth = rng.integers(1, 10, items)[:, None]
    slips = rng.random((items, repeats)) < share
    scores = np.where(slips, np.where(worth > 5, 0, 10), worth)
    item, repeat = (axis.ravel() for axis in np.indices(scores.shape))
    frame = pd.DataFrame({"judge": "j", "item": np.char.add("i", item.astype(str)), "target": "t", "repeat": repeat,
                          "score": scores.ravel().astype(float)})  # fmt: skip
    return Ratings.of(frame, scales=Numeric(0, 10, step=1.0))


def outcomes(items: int, repeats: int, share: float, runs: int) -> dict[str, Counter[str]]:
    """Per gate, how often each outcome."""
    gates = Gates(Path("evals/gates.toml"), LIMITS, (), date(2026, 3, 1))
    seen = {name: Counter[str]() for name in MEASURES}
    rng = np.random.default_rng((items, repeats, round(1000 * share)))
    for _ in range(runs):
        ratings = slipping(items, repeats, share, rng)
        for name, measure in MEASURES.items():
            [verdict] = gates.decide(name, measure(ratings), {"panel": "slipping"})
            seen[name][verdict.outcome] += 1
    return seen


def main(runs: int) -> None:
    print("| texts x repeats | slips | repeat_difference fails, passes | repeat_reliability fails, passes |")
    print("|---|---|---|---|")
    for items in (30, 100):
        for repeats in (2, 3, 5):
            for share in SHARES:
                seen = outcomes(items, repeats, share, runs).values()
                cells = (f"{100 * one['fail'] / runs:.0f} %, {100 * one['pass'] / runs:.0f} %" for one in seen)
                print(f"| {items} x {repeats} | 1 in {1 / share:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))

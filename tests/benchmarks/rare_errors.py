"""How often a judge at the limit of agreement with people passes if its errors are rare and large:

    python tests/benchmarks/rare_errors.py [--sims 400]

Everybody is one more person, but the judge gives a share of its replies at random, over the whole scale: as large a
share as puts its agreement with people exactly .1 below their own. Printed per scale and number of texts: that share,
how often the judge passes (2.5 % were right), how often the 95 % interval holds the true value, and the same of a judge
whose replies err by more everywhere instead.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from recuse.metrics.human_ceiling import human_ceiling
from recuse.ratings import Numeric, Ratings

SCALES = {"1-5": (1, 5, 3.8, 1.1), "0-10": (0, 10, 7.5, 1.8)}
RELIABILITY, LIMIT = 0.85, -0.1


def draw(rng, n, scale, *, at_random=0.0, error=1.0):
    """A judge and two people, (3, n)."""
    low, high, middle, spread = SCALES[scale]
    quality = rng.normal(size=n)
    sees = (np.sqrt(RELIABILITY) * quality + e * np.sqrt(1 - RELIABILITY) * rng.normal(size=n) for e in (error, 1, 1))
    judge, *people = (np.clip(np.round(middle + spread * seen), low, high) for seen in sees)
    return np.array([np.where(rng.random(n) < at_random, rng.integers(low, high + 1, n), judge), *people])


def measured(given, scale):
    rows = [pd.DataFrame({"rater": name, "kind": "judge" if k == 0 else "person", "item": np.arange(given.shape[1]),
                          "score": given[k]}) for k, name in enumerate(("judge", "ann", "ben"))]  # fmt: skip
    low, high = SCALES[scale][:2]
    return human_ceiling(Ratings.of(pd.concat(rows, ignore_index=True), scales=Numeric(low, high, 1))).of(judge="judge")


def at_the_limit(scale, name, low, high):
    """The size of the error that puts the true value on the limit."""
    for _ in range(14):
        middle = (low + high) / 2
        value = measured(draw(np.random.default_rng(0), 200_000, scale, **{name: middle}), scale).value
        low, high = (middle, high) if value > LIMIT else (low, middle)
    return middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sims", type=int, default=400)
    sims = parser.parse_args().sims
    print("| scale | texts | share at random | passes, % | covers, % | errs more: passes, % | covers, % |")
    print("|---|---|---|---|---|---|---|")
    for scale in SCALES:
        sizes = {"at_random": at_the_limit(scale, "at_random", 0.0, 0.5), "error": at_the_limit(scale, "error", 1, 3)}
        for n in (60, 150, 400):
            figures = []
            for name, size in sizes.items():
                rng = np.random.default_rng(n)
                found = [measured(draw(rng, n, scale, **{name: size}), scale) for _ in range(sims)]
                figures += [np.mean([one.low > LIMIT for one in found]),
                            np.mean([one.low <= LIMIT <= one.high for one in found])]  # fmt: skip
            cells = " | ".join(f"{100 * figure:.1f}" for figure in figures)
            print(f"| {scale} | {n} | {100 * sizes['at_random']:.1f} % | {cells} |", flush=True)


if __name__ == "__main__":
    main()

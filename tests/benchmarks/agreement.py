"""How fast agreement is computed, next to other packages, in one run:

    python tests/benchmarks/agreement.py

Needs evalica and pingouin (extra `test`). Every line is the best of some rounds, taken in turn.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from recuse.papers.illusion import resolution
from recuse.statistics.agreement import correlation

DRAWS = 1_000
CELLS, CELL_ITEMS, CELL_RATERS = 352, 100, 3
RNG = np.random.default_rng(20260301)


def best(work: Callable[[], Any], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def cells() -> None:
    import pingouin

    rows = CELLS * CELL_ITEMS * CELL_RATERS
    print(f"{CELLS} cells of a {rows:,}-row table: three Pearson pairs, ICC(2,1) with interval, spread")
    index = pd.MultiIndex.from_product([range(CELLS), range(CELL_ITEMS), list("abc")], names=["cell", "item", "rater"])
    item = RNG.normal(size=(CELLS, CELL_ITEMS, 1))
    table = index.to_frame(index=False).assign(
        score=(item + RNG.normal(size=(CELLS, CELL_ITEMS, CELL_RATERS)) * 0.7).ravel()
    )
    table = table.sample(frac=1.0, random_state=1)

    def ours() -> Any:
        codes = [pd.factorize(table[name], sort=True)[0] for name in ("cell", "item", "rater")]
        values = np.full((CELLS, CELL_ITEMS, CELL_RATERS), np.nan)
        values[tuple(codes)] = table["score"].to_numpy()
        squares = correlation.mean_squares(values)
        low, high = (correlation._at(squares, quantile) for quantile in (0.975, 0.025))
        a, b, c = np.moveaxis(values, 2, 0).transpose(0, 2, 1)  # items x cells of each rater
        sums = [resolution.pair_shares(x, np.stack(others), 0.0).sum(axis=0) for x, others in ((a, [b, c]), (b, [c]))]
        pairs = np.concatenate([resolution.sample_r(each) for each in sums])
        return pairs, correlation.icc(squares), low, high, values.std(axis=1, ddof=1)

    def looped(wanted: int) -> list[float]:
        found = []
        for _, part in table[table["cell"] < wanted].groupby("cell"):
            wide = part.pivot(index="item", columns="rater", values="score")
            for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
                pingouin.corr(wide[a], wide[b])
            whole = pingouin.intraclass_corr(part, targets="item", raters="rater", ratings="score")
            found.append(float(whole["ICC"].iloc[1]))
            wide.std(ddof=1)
        return found

    some = 44
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = np.allclose(ours()[1][:5], looped(5), atol=1e-9)
        mine, theirs = best(ours, 7), best(lambda: looped(some), 1) * CELLS / some
    print(f"  recuse {mine * 1e3:7.1f} ms   looping pingouin {theirs:6.2f} s: {theirs / mine:6.0f} x   (equal: {same})")


def bradley_terry_strengths() -> None:
    """One fit, and 1,000 resamples, of 20 systems from 20,000 choices; evalica's resamples are its fit in a loop."""
    import evalica

    from recuse.check.rank_command import POINTS, UNSEEN, bradley_terry

    systems, choices, loops = 20, 20_000, 20
    a = RNG.integers(systems, size=choices)
    b = (a + RNG.integers(1, systems, size=choices)) % systems
    won = np.where(RNG.random(choices) < 1 / (1 + 10 ** ((a - b) / 40)), evalica.Winner.X, evalica.Winner.Y)
    left, right, winners = a.tolist(), b.tolist(), won.tolist()
    flat = np.where(won == evalica.Winner.X, a * systems + b, b * systems + a)

    def wins(draws: int) -> np.ndarray:
        rng = np.random.default_rng(1)
        drawn = [flat] if draws == 1 else [flat[rng.integers(choices, size=choices)] for _ in range(draws)]
        counts = [np.bincount(one, minlength=systems**2) for one in drawn]
        return np.array(counts, dtype=float).reshape(-1, systems, systems)

    def theirs(rounds: int) -> Any:
        for _ in range(rounds):
            found = evalica.bradley_terry(left, right, winners, tolerance=1e-8, limit=10_000)
        return found

    scores = np.log(theirs(1).scores.sort_index().to_numpy())
    apart = np.abs(bradley_terry(wins(1))[0] - POINTS * (scores - scores.mean())).max()
    print(f"Bradley-Terry strengths of {systems} systems from {choices:,} choices")
    for draws in (1, DRAWS):
        mine = best(lambda draws=draws: bradley_terry(wins(draws)), 3)
        other = best(lambda: theirs(1), 3) if draws == 1 else best(lambda: theirs(loops), 1) * DRAWS / loops
        print(f"  {draws:5,} fits: recuse {mine:6.3f} s   evalica {other:6.3f} s: {other / mine:5.1f} x")
    print(f"  largest difference {apart:.2f} points, by the {UNSEEN:g} tie that recuse adds to every system")


if __name__ == "__main__":
    bradley_terry_strengths()
    cells()

"""Close calls: does the order of two texts decide less where one of them is clearly better?

Thesis on bias in LLM self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.pairs_by_judge import paired
from recuse.metrics.position import NO_PAIR
from recuse.ratings import Ratings
from recuse.ratings.pair_array import PAIRED, repeated_over
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import slope

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["gap_effect"]

BINS = (0.0, 0.25, 0.5, 1.0)
SLOPE = "least-squares slope with intercept, jackknife over clusters, Student's t"


@measure(
    "gap_effect", "sensitivity to order and the quality gap", unit="share per unit of win rate", signed=True,
    reading="How much less often the order decides where one text is clearly better; expected below 0.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def gap_effect(part: Ratings, bins: tuple[float, ...] = BINS) -> Iterator[Named]:
    """How much less often the order decides when one text is clearly better: slope of order-sensitivity (0 or 1 per
    pair) on the quality gap, by judge; expected below 0 (thesis, sec. 2.1).

    A text's quality is its win rate within its cluster, order-sensitive pairs counted as ties, and the gap is
    |difference|, from 0 to 1. The rates are those of the *other* judges: taken from the judge's own verdicts, a
    sensitive pair would be a tie and so have a small gap by construction. Detail `bins`: gap from, to, pairs, share
    sensitive. Undefined with one judge, and where all gaps are equal.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "x", "item": "1", "order": ["ab", "ba"], "response": ["first", "first"]})
    >>> texts = pd.DataFrame({"item": ["1"], "a": "s", "b": "t"})
    >>> gap_effect(Ratings.of(frame, texts=texts)).of(judge="x").note
    "undefined: no other judge's verdicts give these texts different win rates"
    """
    pairs = paired(part)
    pairs = pairs.assign(gap=_gaps(pairs, part.judges))
    for judge in part.judges:
        yield judge, _gap_effect(pairs[pairs["rater"] == judge], bins, repeated_over(part))


def _gap_effect(mine: pd.DataFrame, bins: tuple[float, ...], over: dict[str, Any]) -> Estimate:
    both = mine[_complete(mine)]
    kept = both[both["gap"].notna()]
    gaps, groups = kept["gap"].to_numpy(), kept["group"].to_numpy()
    sensitive, lost = (kept["ab"] + kept["ba"] != 1).to_numpy(dtype=float), len(mine) - len(kept)
    # Rows of gap above (the first: from) and up to, pairs, share sensitive
    rows: list[list[float | None]] = []
    for k, (low, high) in enumerate(pairwise(bins)):
        inside = (gaps <= high) & ((gaps > low) if k else (gaps >= low))
        rows.append([low, high, int(inside.sum()), number(float(sensitive[inside].mean())) if inside.any() else None])
    detail = {"bins": rows}
    distribution = slope(sensitive, gaps, groups, np.ones((len(gaps), 1)), levels=False)
    if np.isnan(distribution.value):
        why = "no other judge's verdicts give these texts different win rates" if len(both) else NO_PAIR
        return undefined("gap_effect", why, n=len(gaps), n_excluded=lost, method=SLOPE, detail=detail, **over)
    return estimated(
        "gap_effect", distribution.value, distribution, n=len(gaps), n_clusters=len(np.unique(groups)), n_excluded=lost,
        unit="share per unit of win rate", method=SLOPE, detail=detail, **over,
    )  # fmt: skip


def _gaps(pairs: pd.DataFrame, judges: tuple[str, ...]) -> Floats:
    """|win rate of a - win rate of b| within the pair's cluster by the verdicts of the other judges; NaN where they
    have none of one. Others' sums are everybody's less the judge's own."""
    import pandas as pd

    judge = pd.Index(judges).get_indexer(pd.Index(pairs["rater"]))
    keys = [pairs["cluster"].astype(str) + "\x1f" + pairs[side].astype(str) for side in ("a", "b")]
    codes = pd.factorize(pd.concat(keys))[0].reshape(2, -1)
    shape = len(judges), int(codes.max(initial=-1)) + 1
    there = _complete(pairs).to_numpy() & (judge >= 0)
    won = pairs["won"].where(pairs["ab"] + pairs["ba"] == 1, 0.5).to_numpy(dtype=float)[there]
    cells = np.concatenate([judge[there] * shape[1] + code[there] for code in codes])
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cells, np.concatenate([won, 1 - won]), minlength=shape[0] * shape[1]).reshape(shape)
    others, of_others = counts.sum(axis=0) - counts, sums.sum(axis=0) - sums
    rates = np.divide(of_others, others, out=np.full(shape, np.nan), where=others > 0)
    gaps: Floats = np.abs(rates[judge, codes[0]] - rates[judge, codes[1]]).round(12)
    return gaps


def _complete(pairs: pd.DataFrame) -> pd.Series[bool]:
    """Which pairs have a usable verdict in both orders."""
    return pairs["ab"].notna() & pairs["ba"].notna()

"""Kendall's W: do the judges put the texts in one order, whatever level each of them scores at?

    W = (12 S) / (m^2 (k^3 - k) - m T),   S = sum over texts of (rank sum - m (k + 1) / 2)^2,
    T = sum over judges and ties of (t^3 - t)

m judges, k texts, mean ranks for ties. Merchant-risk paper, sec. 3.4 (3), which says "clear areas of agreement" and
gives no number; its tables give .81 with names shown and .80 with names hidden. Kendall and Babington Smith (1939), The
problem of m rankings, Annals of Mathematical Statistics 10, 275-287.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import undefined
from recuse.metrics.measure import measure
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate, Estimates, number
from recuse.schema.arrays import Floats
from recuse.statistics.rank_correlation import ranks
from recuse.statistics.resampling import SEED, generator

__all__ = ["concordance", "kendalls_w"]

METHOD = "Kendall's W over the texts that all judges scored, ties with mean ranks"
MANY = 50
"""Texts beyond which the p-value is Friedman's chi-square, which a permutation then no longer betters."""
DRAWS = 9999


@measure(
    "kendalls_w", "agreement of the judges on the order", ends=(0, 1), bad="none", rank=125,
    reading="Kendall's W: 1 where all judges rank the texts alike, 0 where their ranks have nothing in common. Judges "
    "can rank alike and all be wrong.",
)  # fmt: skip
def kendalls_w(ratings: Ratings, seed: int = SEED, draws: int = DRAWS) -> Estimates:
    """W by factor level, over the texts that every judge scored; targets where each has one text.

    Detail: `judges`, `texts`, `mean_rho`, the mean Spearman correlation of two judges, (m W - 1) / (m - 1) without
    ties; `p` that unrelated rankings agree as well, by random orders within each judge up to 50 texts and by
    Friedman's chi-square beyond; `p_method`. A judge that scores all texts alike has no ranking and is left out by
    name (`without_order`). No interval: W of the texts at hand; the texts are not many enough for one.
    Undefined below two judges with an order, and below three texts.

    >>> import pandas as pd
    >>> rows = [("a", 1.0, 2.0, 3.0), ("b", 5.0, 6.0, 9.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "i", "j", "k"]).melt("judge", var_name="item", value_name="score")
    >>> kendalls_w(Ratings.of(frame)).of().value
    1.0
    """
    estimates = {}
    for names, part in ratings.each():
        estimates[names] = _estimate(part.cells(), seed, draws, names)
    return Estimates(ratings.within(), estimates)


def concordance(scores: Floats) -> float:
    """W of scores of shape (m, k); NaN where every judge ties all texts, m < 2 or k < 2."""
    judges, texts = scores.shape
    if judges < 2 or texts < 2:
        return math.nan
    each = ranks(scores)
    spread = float(((each.sum(axis=0) - judges * (texts + 1) / 2) ** 2).sum())
    most = judges**2 * (texts**3 - texts) - judges * sum(map(_ties, each))
    return 12 * spread / most if most > 0 else math.nan


def _ties(row: Floats) -> float:
    counts = np.unique(row, return_counts=True)[1]
    return float((counts**3 - counts).sum())


def _estimate(cells: Cells, seed: int, draws: int, names: tuple[str, ...]) -> Estimate:
    scored = cells.mean.round(9)
    ordered = [j for j, row in enumerate(scored) if len(np.unique(row[np.isfinite(row)])) > 1]
    common = np.isfinite(scored[ordered]).all(axis=0) if ordered else np.zeros(scored.shape[1], dtype=bool)
    without = [name for j, name in enumerate(cells.judges) if j not in ordered]
    texts = int(common.sum())
    about: dict[str, Any] = {
        "n": texts, "n_excluded": int((~common).sum()), "method": METHOD, "over": "items",
        "detail": {"judges": len(ordered), "texts": texts, "without_order": without},
    }  # fmt: skip
    if len(ordered) < 2 or texts < 3:
        why = f"an order in common needs two judges and three texts; {len(ordered)} judges have an order on {texts}"
        return undefined("kendalls_w", why, **about)
    used = scored[ordered][:, common]
    value = concordance(used)
    if math.isnan(value):
        return undefined("kendalls_w", "no judge tells these texts apart", **about)
    p, how = _chance(used, value, generator(seed, "kendalls_w", *names), draws)
    about["detail"] |= {"mean_rho": number((len(ordered) * value - 1) / (len(ordered) - 1)), "p": number(p),
                        "p_method": how}  # fmt: skip
    return Estimate(metric="kendalls_w", value=value, seed=seed, note="no interval: these judges on these texts",
                    **about)  # fmt: skip


def _chance(scores: Floats, value: float, rng: np.random.Generator, draws: int) -> tuple[float, str]:
    """How often unrelated rankings agree as well."""
    judges, texts = scores.shape
    if texts > MANY:
        return float(special.chdtrc(texts - 1, judges * (texts - 1) * value)), "Friedman's chi-square"
    each = ranks(scores)
    drawn = rng.permuted(np.broadcast_to(each, (draws, judges, texts)), axis=2)
    spread = ((drawn.sum(axis=1) - judges * (texts + 1) / 2) ** 2).sum(axis=1)
    observed = ((each.sum(axis=0) - judges * (texts + 1) / 2) ** 2).sum()
    return (int((spread >= observed - 1e-9).sum()) + 1) / (draws + 1), f"{draws} random orders"

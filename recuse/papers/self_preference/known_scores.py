"""Error against a known score: where a criterion can be counted, does the judge count right?

    error(i, u) = s_iu - t_u

Merchant-risk paper, Appendix A: completeness is a point per dimension and level, 25 in all; a text with 20 of them
deserves 8.0 of 10, whoever judges. Texts carry the right score of a criterion as
`true_<criterion>` (see `Ratings.texts`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.deviations import WELCH
from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Cells, Ratings
from recuse.ratings.criteria import TRUE, counted_criteria
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.contrasts import contrast
from recuse.statistics.rank_correlation import spearman

__all__ = ["known_score_error"]

OVER_TEXTS = "mean of score less right score over texts, cluster-robust t over items"


@measure(
    "known_score_error", "error against the known score", signed=True, rank=285, bad="both",
    above="overrates what can be counted|overrate what can be counted",
    below="underrates what can be counted|underrate what can be counted",
    reading="Mean of a judge's score less the right score, on a criterion that can be counted.",
)  # fmt: skip
def known_score_error(ratings: Ratings) -> Estimates:
    """Mean over texts of score minus right score, by judge, factor level and criterion.

    Detail: `absolute`, the mean of |score - right|; `order`, Spearman's rho with the right scores, None where one side
    is the same on all texts; `worst`, [item, target, score, right] of the text that is furthest off. Over repeats where
    every target has one text (new replies on these texts), over texts otherwise. Undefined without a usable score of a
    text whose right score is known.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "target": "t", "score": [9.0, 8.0]})
    >>> texts = pd.DataFrame({"item": ["i", "j"], "target": "t", "true_rating": [8.0, 8.0]})
    >>> known_score_error(Ratings.of(frame, texts=texts)).of(judge="a", criterion="rating").value
    0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for criterion in counted_criteria(ratings):
        chosen = ratings.with_criterion(criterion)
        for names, part in chosen.each():
            cells = part.cells()
            # The right score of each text of the cells, NaN where it is not known
            column = TRUE + criterion
            assert part.texts is not None
            rows = part.texts[["item", "target", column]].drop_duplicates(["item", "target"])
            texts = zip(rows["item"].astype(str), rows["target"].astype(str), strict=True)
            known = dict(zip(texts, rows[column].astype(float), strict=True))
            right = np.array(
                [
                    known.get((cells.item_names[i], cells.target_names[t]), math.nan)
                    for i, t in zip(cells.items, cells.targets, strict=True)
                ]
            )
            for judge in cells.judges:
                estimates[(judge, *names, criterion)] = _error(cells, judge, right)
    return Estimates(("judge", *ratings.factors, "criterion"), estimates)


def _error(cells: Cells, judge: str, right: Floats) -> Estimate:
    row = cells.row(judge)
    errors = cells.mean[row] - right
    used = np.isfinite(errors)
    about: dict[str, Any] = {
        "unit": cells.scale.unit, "span": cells.scale.span, "clusters": cells.clusters_called,
        "over": cells.over, "method": WELCH if cells.fixed else OVER_TEXTS,
        "n_excluded": int(cells.lost[row].sum()) if cells.fixed else int((~used).sum()),
    }  # fmt: skip
    if not used.any():
        return undefined("known_score_error", "no text with a known score has a usable one of the judge", **about)
    at = int(np.nanargmax(np.abs(errors).round(9)))
    where = [cells.item_names[cells.items[at]], cells.target_names[cells.targets[at]]]
    detail = {
        "absolute": number(np.abs(errors[used]).mean()), "order": number(_order(cells.mean[row][used], right[used])),
        "worst": [*where, number(cells.mean[row, at]), number(right[at])],
    }  # fmt: skip
    if not cells.fixed:
        distribution = difference_of_means(errors, used, None, cells.clusters, step=cells.step)
        if cells.over == "clusters":
            about["n_clusters"] = len(np.unique(cells.clusters[used]))
        n = len(np.unique(cells.items[used]))
        return estimated("known_score_error", distribution.value, distribution, n=n, detail=detail, **about)
    weights = np.zeros(cells.mean.shape)
    weights[row, used] = 1 / used.sum()
    over = contrast(weights, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
    over = replace(over, value=over.value - float(right[used].mean()))
    n = int(cells.count[row, used].sum())
    return estimated("known_score_error", over.value, over, n=n, note=THESE_TEXTS, detail=detail, **about)


def _order(scores: Floats, right: Floats) -> float:
    if len(scores) < 3 or min(np.ptp(scores), np.ptp(right)) < 1e-9:
        return math.nan
    return float(spearman(scores, right))

"""AutoCalibrate's last step: of several lists of criteria, keep the one that fits the labels best, and say what it is
worth on texts that had no part in the choice.

A list chosen because it fits is fitted: its error on the texts that chose it flatters. So the texts come in two folds
(`fold`: calibration, held_out), the choice is made on the first and the change is told on the second. Liu et al. 2023,
arXiv:2309.13308; thesis on bias in LLM self-evaluation, sec. 1.2.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.self_preference.over_texts import axes_of, mean_over_texts, true_scores
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import array_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats

__all__ = ["calibrated_criteria"]

CRITERIA, FOLD = "criteria", "fold"
CHOOSING, TESTING = "calibration", "held_out"


@measure(
    "calibrated_criteria", "error change by inferred criteria", signed=True, rank=354,
    reading="Distance from the labels by the judge's own criteria, chosen on other texts, less that by the given ones. "
    "Below 0: it helps.",
)  # fmt: skip
@per_subject("judge", itself, CRITERIA)
def calibrated_criteria(part: Ratings) -> Iterator[Named]:
    """Mean over held-out texts of |own - label| - |given - label|, by judge; own criteria are those whose scores
    correlate best with the labels on the calibration texts (the nearest to them where no correlation is defined).

    The first level of factor `criteria` is the given ones. Detail: `chosen`; `calibration`, each list's correlation on
    the texts that choose; `before` and `after` on the held-out ones. Undefined without labels (texts: true_<criterion>)
    or folds, and without a held-out text scored both ways.

    >>> import pandas as pd
    >>> rows = [(c, i, s) for c, scores in {"given": [3, 3, 3, 3], "draft": [1, 5, 2, 4]}.items()
    ...         for i, s in zip("abcd", scores)]
    >>> frame = pd.DataFrame(rows, columns=["criteria", "item", "score"]).assign(judge="j")
    >>> texts = pd.DataFrame({"item": list("abcd"), "target": "", "true_rating": [1, 5, 1, 5],
    ...                       "fold": ["calibration"] * 2 + ["held_out"] * 2})
    >>> estimates = calibrated_criteria(Ratings.of(frame, factors=["criteria"], texts=texts)).of(judge="j")
    >>> estimates.value, estimates.detail["chosen"]
    (-1.0, 'draft')
    """
    axes = axes_of(part)
    arrays = {level: array_of(part.where(**{CRITERIA: level}), axes) for level in part.levels(CRITERIA)}
    if not arrays:
        return
    first = next(iter(arrays.values()))
    true, fold = true_scores(part, first), _folds(part, first)
    for row, judge in enumerate(first.raters):
        scores = {level: array.means[row] for level, array in arrays.items()}
        yield judge, _estimate(part, first, scores, true, fold)


def _folds(part: Ratings, array: RatingArray) -> NDArray[Any]:
    """The fold of each text, (items, targets)."""
    folds = np.full(array.shape[1:], "", dtype=object)
    if part.texts is not None and FOLD in part.texts:
        for item, target, fold in part.texts[["item", "target", FOLD]].dropna().itertuples(index=False):
            if str(item) in array.items and str(target) in array.targets:
                folds[array.items.index(str(item)), array.column(str(target))] = str(fold)
    return folds


def _estimate(
    part: Ratings, array: RatingArray, scores: dict[str, Floats], true: Floats | None, fold: NDArray[Any]
) -> Estimate:
    given, *own = scores
    metric, why = "calibrated_criteria", "no held-out text was scored by the given and by the chosen criteria"
    about: dict[str, Any] = {"unit": getattr(part.scale, "unit", ""), "method": "none"}
    if true is None or not (fold == CHOOSING).any():
        return undefined(metric, "no labels, or no text that chooses (texts: true_<criterion>, fold)", **about)
    fits = {level: _fit(scores[level], true, fold == CHOOSING) for level in own}
    best = max(own, key=lambda level: fits[level], default=None)
    if best is None:
        return undefined(metric, "there are no criteria but the given ones", **about)
    tested = fold == TESTING
    before, after = (np.where(tested, np.abs(scores[level] - true), np.nan) for level in (given, best))
    both = np.isfinite(after - before)
    detail = {
        "chosen": best, "calibration": {level: number(r) if np.isfinite(r) and abs(r) <= 1 else None
                                        for level, r in fits.items()},
        "before": number(float(before[both].mean())) if both.any() else None,
        "after": number(float(after[both].mean())) if both.any() else None,
    }  # fmt: skip
    return mean_over_texts(
        metric, after - before, array, part, why=why, span=part.scale.span, unit=part.scale.unit, detail=detail,
        requested=tested & np.isfinite(true),
    )  # fmt: skip


def _fit(scores: Floats, true: Floats, chosen: NDArray[np.bool_]) -> float:
    """Pearson's r with the labels; below every r, the nearer to them the better, where it is not defined."""
    there = chosen & np.isfinite(scores) & np.isfinite(true)
    x, y = scores[there], true[there]
    if len(x) > 2 and x.std() > 1e-12 and y.std() > 1e-12:
        return float(np.corrcoef(x, y)[0, 1])
    if len(x) == 2 and x.std() > 1e-12 and y.std() > 1e-12:
        return float(np.sign((x[1] - x[0]) * (y[1] - y[0])))
    return -2.0 - (float(np.abs(x - y).mean()) if len(x) else 1e9)

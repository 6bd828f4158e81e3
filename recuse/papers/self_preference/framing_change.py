"""Does a judge prefer its own work more where the lowest number is the best score? (thesis on bias in LLM
self-evaluation, sec. 3.2; `recuse.metrics.scale_framing` has what else may change when a scale is turned.)"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recuse.metrics.estimates import number
from recuse.metrics.measure import measure
from recuse.metrics.own_text import contrast, missing_text, own_place, self_received_given, why_not_comparable
from recuse.metrics.paired_items import MARGIN, paired_change, paired_estimate
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import arrays_by_level
from recuse.ratings.factors import DIRECTION, LEVELS
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.paired import Paired

__all__ = ["AGAINST", "framing_change"]

ASCENDING, REVERSED = LEVELS[DIRECTION]
AGAINST = ("received", "given", "controlled")
ONE_DIRECTION = "it was asked in one direction of the scale only"


@measure(
    "framing_change", "change of self-preference with the scale turned", signed=True, rank=340,
    above="prefers its own work more where low is best|prefer their own work more where low is best",
    below="prefers its own work less where low is best|prefer their own work less where low is best",
    reading="Self-preference where the lowest number is best less that where the highest is.",
)  # fmt: skip
def framing_change(ratings: Ratings, margin: float = MARGIN) -> Estimates:
    """Self-preference with the scale reversed minus that with it ascending, by judge and `against`; paired t over the
    items on which both are defined.

    `against` names the measure of `recuse.metrics.self_preference`: "received" (S - R), "given" (S - G) or "controlled"
    (D). Detail: the mean in each direction on those items (`ascending`, `reversed`). `margin` is a
    share of the scale's range. Undefined where the scale was not turned, and where nothing can be compared in both
    directions.

    >>> import pandas as pd
    >>> from recuse.ratings import Numeric
    >>> rows = [("x", "a", "ascending", 5.0), ("x", "b", "ascending", 3.0), ("y", "a", "ascending", 4.0),
    ...         ("x", "a", "reversed", 2.0), ("x", "b", "reversed", 3.0), ("y", "a", "reversed", 2.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "direction", "score"]).assign(item="i")
    >>> ratings = Ratings.of(frame, scales=Numeric(1, 5), authors={"x": "a"})
    >>> framing_change(ratings).of(judge="x", against="received").value
    -1.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each(DIRECTION):
        arrays = arrays_by_level(part, DIRECTION)
        for judge in ratings.own():
            for against, estimate in _changes(part, arrays, judge, margin).items():
                estimates[(judge, against, *names)] = estimate
    return Estimates(("judge", "against", *ratings.within(DIRECTION)), estimates)


def _changes(part: Ratings, arrays: Mapping[str, RatingArray], judge: str, margin: float) -> dict[str, Estimate]:
    """The change of each measure of self-preference, by its name."""
    if ASCENDING not in arrays or REVERSED not in arrays:
        return {against: _nothing(part, ONE_DIRECTION, against) for against in AGAINST}
    array = arrays[ASCENDING]
    place = own_place(array, part.authors, judge)
    if place is None:
        return {against: _nothing(part, missing_text(array, judge), against) for against in AGAINST}
    up, down = (_preference(arrays[level], *place, part.authors) for level in (ASCENDING, REVERSED))
    why = why_not_comparable(array) or "no item can be compared in both directions of the scale"
    estimates = {}
    for against in AGAINST:
        both = np.isfinite(up[against]) & np.isfinite(down[against])
        detail = {ASCENDING: _mean(up[against][both]), REVERSED: _mean(down[against][both]), "against": against}
        moved = down[against] - up[against]
        estimates[against] = paired_change("framing_change", part, array, moved, margin, why, detail)
    return estimates


def _preference(array: RatingArray, row: int, column: int, authors: Mapping[str, str]) -> dict[str, Floats]:
    s, r, g = self_received_given(array, row, column)
    on_own, elsewhere = contrast(array, row, column, authors)
    return dict(zip(AGAINST, (s - r, s - g, on_own - elsewhere), strict=True))


def _nothing(part: Ratings, why: str, against: str) -> Estimate:
    detail = {"against": against}
    return paired_estimate("framing_change", Paired.of([]), part, excluded=0, why=why, detail=detail)


def _mean(values: Floats) -> float | None:
    return number(float(values.mean())) if len(values) else None

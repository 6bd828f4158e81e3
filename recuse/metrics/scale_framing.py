"""Scale framing: does a judge grade alike when 5 is the best grade and when 1 is?

Every text is graded twice, under definitions that stay the same while their numbers are turned round (thesis on bias in
LLM self-evaluation, sec. 3.2). Brought to the positive scale, both grades should agree. Three things can go wrong, each
measured on texts graded under both framings: the general level moves (`shift`), the self-preference moves
(`self_preference_change`), or the digit stays where it was although its meaning changed (`direction_insensitivity`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.grids import NEGATIVE, POSITIVE, SCALE, Floats, Grid, Own, Scale, grids_of
from recuse.metrics.self_preference import MARGIN, contrast, self_received_given
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import BOUNDED, bounded_mean, clustered_mean
from recuse.statistics.paired import METHOD, Paired

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["direction_insensitivity", "self_preference_change", "shift", "shift_by_target"]

ONE_FRAMING = "it was asked under one framing only"
SHIFT = "mean of paired differences, cluster-robust t over clusters, half a story a grade up and down added"
INSENSITIVE = f"share of same digits minus share of mirrored digits; {BOUNDED}"


def shift(ratings: pd.DataFrame, *, scale: Scale = SCALE) -> Estimates:
    """Mean of (negative - positive) in points of the positive scale, by (judge,), over all texts graded under both.

    Above 0: the judge is milder when low digits are good. n counts texts (story x author), the interval is over
    stories, and has a width even where every digit is mirrored: half a story one grade up and one down is added to the
    spread (`clusters.clustered_mean`). Detail: the mean grade under each framing, on the same texts. Excluded are texts
    with one grade unusable."""
    return Estimates(
        ("judge",), {(judge,): _shift(pos, neg, stories) for judge, pos, neg, stories in _twice(ratings, scale)}
    )


def shift_by_target(ratings: pd.DataFrame, *, scale: Scale = SCALE, margin: float = MARGIN) -> Estimates:
    """The same by (judge, target): a paired t-test over clusters for every author's texts."""
    found: dict[tuple[str, ...], Estimate] = {}
    targets = next(iter(grids_of(ratings, scale).values())).targets
    for judge, pos, neg, _ in _twice(ratings, scale):
        for t, target in enumerate(targets):
            found[(judge, target)] = _paired("framing_shift", neg[:, t] - pos[:, t], margin)
    return Estimates(("judge", "target"), found)


def self_preference_change(
    ratings: pd.DataFrame,
    own: Own,
    *,
    against: Literal["received", "given", "controlled"] = "received",
    scale: Scale = SCALE,
    margin: float = MARGIN,
) -> Estimates:
    """Self-preference under the negative framing minus that under the positive one, in points, by (judge,); paired t
    over the stories on which both are defined.

    `against` names the measure of `recuse.metrics.self_preference`: S - R, S - G or the controlled D. Detail: the mean
    under each framing on those stories.
    """
    grids = grids_of(ratings, scale)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in own:
        if POSITIVE not in grids or NEGATIVE not in grids:
            found[(judge,)] = _undefined("framing_change", ONE_FRAMING, METHOD)
            continue
        pos, neg = (_preference(grids[name], judge, own)[against] for name in (POSITIVE, NEGATIVE))
        both = np.isfinite(pos) & np.isfinite(neg)
        detail = {"positive": _mean(pos[both]), "negative": _mean(neg[both]), "against": against}
        found[(judge,)] = _paired("framing_change", neg - pos, margin, detail)
    return Estimates(("judge",), found)


def direction_insensitivity(ratings: pd.DataFrame, *, scale: Scale = SCALE) -> Estimates:
    """Does the digit follow the meaning of the scale? By (judge,), from -1 (it does) to +1 (it does not):

        share of texts with the same digit under both framings - share with the mirrored digit (low + high - digit)

    over texts whose digit in the positive framing is not the middle of the scale: the middle is its own mirror image,
    so it says nothing, and is counted as `middle`. A judge that reads the direction is well below 0 even if it is
    noisy; one that writes the same number whatever it means is above 0, a constant one exactly +1. A judge without any
    discrimination, whose two digits have nothing to do with each other, is near 0 and is not told apart.

    Bounded mean over texts, interval over clusters. Detail: `same`, `mirrored`, `neither`, `middle`; `same_side`, the
    same with sides of the middle in place of digits; and over all texts, the middle included, `same_share` beside
    `same_share_if_aware`, what it would be for a judge that mirrors every digit: the share of middles.
    """
    return Estimates(
        ("judge",),
        {
            (judge,): _insensitivity(pos, sum(scale) - neg, stories, scale)  # back to the digit as written
            for judge, pos, neg, stories in _twice(ratings, scale)
        },
    )


def _insensitivity(positive: Floats, negative: Floats, stories: NDArray[np.intp], scale: Scale) -> Estimate:
    low, high = scale
    usable = np.isfinite(positive) & np.isfinite(negative)
    x, y, story = positive[usable], negative[usable], stories[usable]
    lost = usable.size - len(x)
    told = np.abs(x - (low + high) / 2) > 1e-9
    x_, y_ = x[told], y[told]
    same, mirrored = np.abs(x_ - y_) < 1e-9, np.abs(low + high - x_ - y_) < 1e-9
    sides = [np.sign(digit - (low + high) / 2) for digit in (x_, y_)]
    detail: dict[str, Any] = {
        "same": int(same.sum()), "mirrored": int(mirrored.sum()), "neither": int((~same & ~mirrored).sum()),
        "middle": int((~told).sum()), "same_side": _mean(sides[0] * sides[1]),
        "same_share": _mean((np.abs(x - y) < 1e-9).astype(float)), "same_share_if_aware": _mean((~told).astype(float)),
    }  # fmt: skip
    name = "direction_insensitivity"
    if not len(x):
        why = "no text was graded under both framings"
        return _undefined(name, why, INSENSITIVE, n_excluded=lost, detail=detail)
    if not len(x_):
        why = "every grade is the middle of the scale, which reads the same in both directions"
        return _undefined(name, why, INSENSITIVE, n_excluded=lost, detail=detail)
    index = same.astype(float) - mirrored
    law = bounded_mean(index, story[told], (-1.0, 1.0))
    return estimated(
        name, float(index.mean()), law, n=len(index), n_clusters=len(np.unique(story[told])), n_excluded=lost,
        over="clusters", unit="index", method=INSENSITIVE, detail=detail,
    )  # fmt: skip


# --------------------------------------------------------------------------- texts graded twice


def _twice(ratings: pd.DataFrame, scale: Scale) -> Iterator[tuple[str, Floats, Floats, NDArray[np.intp]]]:
    """Per judge: its grades under the positive and the negative framing on the positive scale and the number of the
    story, each of shape (stories, authors)."""
    grids = grids_of(ratings, scale)
    any_grid = next(iter(grids.values()))
    nothing = np.full_like(any_grid.scores, np.nan)
    both = [grids[name].scores if name in grids else nothing for name in (POSITIVE, NEGATIVE)]
    stories = np.broadcast_to(np.arange(len(any_grid.stories))[:, None], nothing[:, 0].shape)
    for j, judge in enumerate(any_grid.judges):
        yield judge, both[0][:, j], both[1][:, j], stories


def _shift(positive: Floats, negative: Floats, stories: NDArray[np.intp]) -> Estimate:
    usable = np.isfinite(positive) & np.isfinite(negative)
    if not usable.any():
        why = "no text was graded under both framings"
        return _undefined("framing_shift", why, SHIFT, n_excluded=usable.size)
    law = clustered_mean((negative - positive)[usable], stories[usable], step=1.0)
    return estimated(
        "framing_shift", law.value, law, n=int(usable.sum()), n_clusters=len(np.unique(stories[usable])),
        n_excluded=int((~usable).sum()), over="clusters", unit="points", method=SHIFT,
        detail={"positive": _mean(positive[usable]), "negative": _mean(negative[usable])},
    )  # fmt: skip


def _preference(grid: Grid, judge: str, own: Own) -> dict[str, Floats]:
    row, column = grid.row(judge), grid.column(own[judge])
    s, r, g = self_received_given(grid, row, column)
    on_own, elsewhere = contrast(grid, row, column, own)
    return {"received": s - r, "given": s - g, "controlled": on_own - elsewhere}


def _paired(metric: str, differences: Floats, margin: float, detail: dict[str, Any] | None = None) -> Estimate:
    test = Paired.of(differences)
    full, lost = {**test.detail(margin), **(detail or {})}, len(differences) - test.n
    if not test.n:
        return _undefined(metric, "no story can be compared under both framings", METHOD, n_excluded=lost, detail=full)
    return estimated(
        metric, test.mean, test.law, n=test.n, n_excluded=lost, over="items", unit="points", method=METHOD, detail=full
    )


def _undefined(metric: str, why: str, method: str, **more: Any) -> Estimate:
    return undefined(metric, why, method=method, over="clusters", **more)


def _mean(values: Floats) -> float | None:
    return number(float(values.mean())) if len(values) else None

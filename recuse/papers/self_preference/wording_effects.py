"""Wording and direction: does a judge answer to the words, to the numbers, or to what they mean?

Every text is scored under two words for one thing (quality, badness) and in both directions of the scale, the legend of
the numbers staying true throughout. The thesis varies both at once; crossed, they come apart (thesis on bias in LLM
self-evaluation, sec. 3.2 and appendix A). On the ascending scale, with x(w, d) a text's score,

    wording      mean over d of x(badness, d) - x(quality, d)
    direction    mean over w of x(w, reversed) - x(w, ascending)
    interaction  [x(badness, reversed) - x(badness, ascending)] - [x(quality, reversed) - x(quality, ascending)]

are shifts of the level. A judge that lets a word turn the scale round shows in no mean if its scores lie about the
middle, so `wording_flip` looks at each number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.measure import measure
from recuse.papers.self_preference.over_texts import axes_of, mean_over_texts
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import array_of
from recuse.ratings.factors import DIRECTION, LEVELS, WORDING
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats

__all__ = ["EFFECTS", "wording_effect", "wording_flip"]

EFFECTS = ("wording", "direction", "interaction")
NOT_ALL = "no text was scored under both words and in both directions"
QUALITY, BADNESS = LEVELS[WORDING]
ASCENDING, REVERSED = LEVELS[DIRECTION]


@measure(
    "wording_effect", "shift by wording and direction", signed=True, rank=91,
    above="is kinder when asked for badness, or where low is best|are kinder when asked for badness, or where low is "
    "best",
    below="is harsher when asked for badness, or where low is best|are harsher when asked for badness, or where low is "
    "best",
    reading="Change of the score on the ascending scale: with badness asked for instead of quality, with the lowest "
    "number best instead of the highest, and how much the second depends on the first.",
)  # fmt: skip
def wording_effect(ratings: Ratings) -> Estimates:
    """The three effects of the module, by judge and effect, over texts scored in all four cells; interval over items or
    what they share. In units of the scale. Undefined where no text was scored in all four.

    >>> import pandas as pd
    >>> cells = [("quality", "ascending", 4.0), ("quality", "reversed", 2.0), ("badness", "ascending", 3.0),
    ...          ("badness", "reversed", 3.0)]
    >>> frame = pd.DataFrame(cells, columns=["wording", "direction", "score"]).assign(judge="j", item="i")
    >>> from recuse.ratings import Numeric
    >>> estimates = wording_effect(Ratings.of(frame, scales=Numeric(1, 5)))
    >>> [estimates.of(judge="j", effect=name).value for name in EFFECTS]
    [-1.0, 0.0, 0.0]
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, one in _crossed(ratings):
        q, b = one.cells[QUALITY], one.cells[BADNESS]
        effects = {
            "wording": (b[ASCENDING] + b[REVERSED] - q[ASCENDING] - q[REVERSED]) / 2,
            "direction": (q[REVERSED] + b[REVERSED] - q[ASCENDING] - b[ASCENDING]) / 2,
            "interaction": (b[REVERSED] - b[ASCENDING]) - (q[REVERSED] - q[ASCENDING]),
        }
        for effect, values in effects.items():
            span = one.part.scale.span * (2 if effect == "interaction" else 1)
            estimates[one.judge, effect, *names] = mean_over_texts(
                "wording_effect", values, one.array, one.part, why=NOT_ALL, span=span, unit=one.part.scale.unit,
                requested=one.requested,
            )  # fmt: skip
    return Estimates(("judge", "effect", *ratings.within(WORDING, DIRECTION)), estimates)


@measure(
    "wording_flip", "lets the word turn the scale", unit="index", signed=True, rank=81,
    above="lets a word turn the scale round|let a word turn the scale round",
    reading="Share of texts whose number is mirrored when badness is asked for instead of quality on the same scale, "
    "less the share that keep it.",
)  # fmt: skip
def wording_flip(ratings: Ratings) -> Estimates:
    """Does the number follow the word instead of the legend? By judge, from -1 (it does not) to 1 (it does):

        share of scores mirrored (low + high - number) under the other word - share that stay the same

    in the same direction of the scale, over texts and directions whose score under "quality" is not the middle, which
    is its own mirror image. A judge that writes numbers without reading is near 0 or below, one that writes a constant
    at -1: `direction_insensitivity` is there to find it. Undefined where every score is the middle, where no text was
    scored under both words, and on a scale without ends.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": ["i", "i", "k", "k"], "wording": ["quality", "badness"] * 2,
    ...                       "direction": "ascending", "score": [4.0, 2.0, 5.0, 1.0]})
    >>> from recuse.ratings import Numeric
    >>> wording_flip(Ratings.of(frame, scales=Numeric(1, 5))).of(judge="j").value
    1.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, one in _crossed(ratings):
        low, high = one.part.scale.ends
        estimates[one.judge, *names] = mean_over_texts(
            "wording_flip", _flips(one, low + high), one.array, one.part, why=NOT_ALL + ", or every one is the middle",
            span=1.0, unit="index", requested=one.requested,
        )  # fmt: skip
    return Estimates(("judge", *ratings.within(WORDING, DIRECTION)), estimates)


@dataclass(frozen=True)
class _Crossed:
    """One judge's scores on the ascending scale, (items, targets), by word and direction."""

    judge: str
    part: Ratings
    array: RatingArray
    cells: dict[str, dict[str, Floats]]
    requested: NDArray[np.bool_]


def _crossed(ratings: Ratings) -> Iterator[tuple[tuple[str, ...], _Crossed]]:
    for names, part in ratings.each(WORDING, DIRECTION):
        axes = axes_of(part)
        by_cell = {
            (word, way): array_of(part.where(**{WORDING: word, DIRECTION: way}), axes)
            for word in part.levels(WORDING)
            for way in part.levels(DIRECTION)
        }
        whole = next(iter(by_cell.values()))
        nothing = np.full(whole.shape[1:], np.nan)
        for row, judge in enumerate(whole.raters):
            cells = {
                word: {
                    way: by_cell[word, way].means[row] if (word, way) in by_cell else nothing
                    for way in LEVELS[DIRECTION]
                }
                for word in LEVELS[WORDING]
            }
            requested = np.any([array.requested[row] for array in by_cell.values()], axis=0)
            yield names, _Crossed(judge, part, whole, cells, requested)


def _flips(one: _Crossed, ends: float) -> Floats:
    """Mean over directions of mirrored (1) or same (-1), neither 0, shape (items, targets)."""
    estimates = []
    for way in LEVELS[DIRECTION]:
        quality, badness = one.cells[QUALITY][way], one.cells[BADNESS][way]
        mirrored, same = np.abs(ends - quality - badness) < 1e-9, np.abs(quality - badness) < 1e-9
        known = np.isfinite(quality + badness) & (np.abs(2 * quality - ends) > 1e-9)
        estimates.append(np.where(known, mirrored.astype(float) - same, np.nan))
    stacked = np.stack(estimates)
    there = np.isfinite(stacked)
    count = there.sum(axis=0)
    mean: Floats = np.where(there, stacked, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return mean

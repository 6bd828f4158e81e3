"""Planted flaws: does a polished text with a deep flaw get away with it?

Twins are two texts on one item: one polished, with a flaw that knowledge of the matter finds (sums that do not add up,
an outline in place of the story, a misused concept), and one plain and sound. A judge of substance scores the sound one
higher; a judge of surface the polished one ("Beyond the Illusion of Consensus", 2026, section 3.4 and appendix C, whose
cases were found by reading, not planted).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.ratings.scale import Numeric
from recuse.schema import Estimate
from recuse.statistics.paired import METHOD, Paired

__all__ = ["flaw_penalty"]

FLAWED = "flawed"  # column of the texts: yes, no, or nothing for a text without a twin


@measure(
    "flaw_penalty", "sound above polished", signed=True, bad="below", rank=420,
    below="scores a polished text with a deep flaw above its sound twin|score polished texts with deep flaws above "
    "their sound twins",
    reading="Score of the plain, sound text less that of its polished twin with a planted flaw. Below 0: polish wins.",
)  # fmt: skip
@per_subject("judge", itself)
def flaw_penalty(part: Ratings) -> Iterator[Named]:
    """Mean over items of score(sound) - score(flawed), by judge and factor level, in units of the scale; t over items.

    Scores are means over repeats on the ascending scale; of several flawed or sound texts on an item, their means. An
    item of which the judge has no usable score on one side is left out. Detail: how often the `sound` won, the
    `flawed`, or `neither`. Undefined where fewer than two items have both.

    >>> import pandas as pd
    >>> texts = pd.DataFrame({"item": ["i", "i", "j", "j"], "target": ["p", "q"] * 2, "flawed": ["yes", "no"] * 2})
    >>> frame = pd.DataFrame({"judge": "a", "item": texts["item"], "target": texts["target"], "score": [7, 4, 6, 5]})
    >>> flaw_penalty(Ratings.of(frame, texts=texts)).of(judge="a").value
    -2.0
    """
    for judge, differences in _twins(part):
        yield judge, _penalty(part, differences)


def _twins(part: Ratings) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Each judge with sound minus flawed per item, (items,), NaN where a side is missing."""
    texts = part.texts
    kinds: dict[tuple[str, str], str] = {}
    if texts is not None and FLAWED in texts:
        rows = zip(texts["item"], texts["target"], texts[FLAWED], strict=True)
        kinds = {(str(item), str(target)): str(kind) for item, target, kind in rows}
    array = part.array().only_judges()
    marks = np.array(
        [[kinds.get((item, target), "") for target in array.targets] for item in array.items], dtype=object
    )
    twinned = (marks == "yes").any(axis=1) & (marks == "no").any(axis=1)
    for judge, means in zip(array.raters, array.means, strict=True):
        sides = [_side(means[twinned], marks[twinned] == kind) for kind in ("no", "yes")]
        yield judge, sides[0] - sides[1]


def _side(means: NDArray[np.float64], mine: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean per item over the texts marked, (items,)."""
    there = mine & np.isfinite(means)
    count = there.sum(axis=1)
    total = np.where(there, means, 0.0).sum(axis=1)
    side_means: NDArray[np.float64] = total / np.where(count > 0, count, np.nan)
    return side_means


def _penalty(part: Ratings, differences: NDArray[np.float64]) -> Estimate:
    known = differences[np.isfinite(differences)]
    scale = part.scale
    facts: dict[str, Any] = {
        "n": len(known),
        "n_excluded": len(differences) - len(known),
        "method": METHOD,
        "unit": "points",
    }
    span = scale.maximum - scale.minimum if isinstance(scale, Numeric) else None
    if len(known) < 2:
        return undefined("flaw_penalty", "fewer than two items have a usable score of both twins", span=span, **facts)
    test = Paired.of(known)
    won = {"sound": int((known > 0).sum()), "flawed": int((known < 0).sum()), "neither": int((known == 0).sum())}
    detail = {**won, "dz": number(test.dz[0])}
    return estimated("flaw_penalty", test.mean, test.distribution, span=span, detail=detail, **facts)

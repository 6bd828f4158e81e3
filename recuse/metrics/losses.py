"""Losses: answers that could not be used, where they could have made another value.

A judge that refuses to score its own text, or answers in a way that cannot be read just where it would show a bias, is
missing not at random. Nothing is imputed; beside an estimate stand, in its detail `losses`,

- `sides`: how many of how many answers were lost on the two sides that it compares (own and others', one level and the
  other, texts that peers score high and low),
- `difference` of the two shares with its 90 % interval, and `unrelated`: whether that interval lies within `margin`,
- `bounds`: the least and the greatest value the estimate would have had, whatever the lost answers said (every one at
  the worst end of the scale); None where the scale has no end.

A gate passes an estimate with losses only where they are shown to be unrelated, or where it passes under the bounds
(`recuse.gates.limits`). The bounds move the interval's ends as far as they move the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import number
from recuse.ratings import Cells, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask

Side = tuple[int, int]

MARGIN = 0.05
"""Shares of losses that differ by less are alike: what parse_rate allows to be lost altogether."""


def losses(sides: Mapping[str, Side], bounds: tuple[float, float]) -> dict[str, Any]:
    """Detail of an estimate, empty where nothing was lost. `sides`: name -> (lost, asked)."""
    if not sum(lost for lost, _ in sides.values()):
        return {}
    compared = [side for side in sides.values() if side[1]]
    difference = share_difference(compared[0], compared[1]) if len(compared) == 2 else None
    unrelated = difference is not None and difference[1] >= -MARGIN and difference[2] <= MARGIN
    return {
        "losses": {
            "sides": {name: list(side) for name, side in sides.items()},
            "difference": [number(part) for part in difference] if difference else None,
            "margin": MARGIN,
            "unrelated": unrelated,
            "bounds": [number(bound) if math.isfinite(bound) else None for bound in bounds],
        }
    }


def losses_of_judge(
    cells: Cells, judge: int, reference_of: Callable[[], Floats], plus: Mask, minus: Mask | None = None
) -> dict[str, Any]:
    """Detail of the mean over the texts `plus` of what the judge gives above a reference (U,), less the mean over
    `minus`. What others lost is theirs: the reference stays as it is, and is not asked for where the judge lost
    nothing.

    Where there is one side only, texts whose reference is above its median are compared with the others: a judge that
    loses the bad ones loses what is harsh.
    """
    if not cells.lost[judge].any():
        return {}
    reference = reference_of()
    low, high = _means_with_losses(cells, judge)
    there = np.isfinite(low - reference)
    ends = []
    for end, other in ((low, high), (high, low)):
        value = _mean((end - reference)[plus & there])
        ends.append(value if minus is None else value - _mean((other - reference)[minus & there]))
    sides = {"own": plus, "others'": minus} if minus is not None else _halves(plus, reference)
    lost, replies = cells.lost[judge], cells.count[judge] + cells.lost[judge]
    counts = {name: (int(lost[side].sum()), int(replies[side].sum())) for name, side in sides.items()}
    return losses(counts, (ends[0], ends[1]))


def peers_view(cells: Cells, judge: int) -> Floats:
    """Mean over the other judges on each text, shape (U,), whether or not the judge itself has an answer."""
    view: Floats = mean_of(np.delete(cells.mean, judge, axis=0), axis=0)
    return view


def _halves(texts: Mask, reference: Floats) -> dict[str, Mask]:
    known = texts & np.isfinite(reference)
    if not known.any():
        return {"all": texts}
    middle = float(np.median(reference[known]))
    return {"high reference": known & (reference > middle), "low reference": known & (reference <= middle)}


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def add_losses(
    estimate: Estimate, sides: Mapping[str, Side], ends: tuple[float, float], lost: int | None = None
) -> Estimate:
    """The estimate, a mean of n observations between `ends`, with the detail of its losses: `lost` observations more
    (those left out unless given) could have lain anywhere between them."""
    if not estimate.defined:
        return estimate
    missing = estimate.n_excluded if lost is None else lost
    bounds = bounds_of_mean(estimate.value, estimate.n, missing, ends)
    return replace(estimate, detail={**estimate.detail, **losses(sides, bounds)})


def share_difference(one: Side, other: Side, level: float = 0.90) -> tuple[float, float, float]:
    """First share minus second, (hits, trials) each, with an interval from Jeffreys' of both (MOVER: Zou and Donner
    2008). At 90 % it lies within a margin exactly where two one-sided tests at 5 % say so (Schuirmann 1987)."""
    alpha = (1 - level) / 2
    (p, low_p, high_p), (q, low_q, high_q) = (_jeffreys(*side, alpha) for side in (one, other))
    return p - q, p - q - math.hypot(p - low_p, high_q - q), p - q + math.hypot(high_p - p, q - low_q)


def bounds_of_mean(value: float, kept: int, lost: int, ends: tuple[float, float]) -> tuple[float, float]:
    """Least and greatest mean of `kept` observations of mean `value` and `lost` ones anywhere between `ends`."""
    low, high = ((kept * value + lost * end) / (kept + lost) if lost else value for end in ends)
    return low, high


def _means_with_losses(cells: Cells, judge: int) -> tuple[Floats, Floats]:
    """Least and greatest mean of the judge on each text, shape (U,), had the lost repeats said anything on the scale;
    NaN where it was not asked."""
    count, lost = cells.count[judge], cells.lost[judge]
    replies = count + lost
    kept = np.where(count > 0, np.nan_to_num(cells.mean[judge]) * count, 0.0)
    ends = []
    for end in cells.scale.ends:
        filled = kept.copy()
        filled[lost > 0] += lost[lost > 0] * end
        ends.append(np.divide(filled, replies, out=np.full(len(replies), np.nan), where=replies > 0))
    return ends[0], ends[1]


def _jeffreys(hits: int, trials: int, alpha: float) -> tuple[float, float, float]:
    p = hits / trials
    low = float(special.betaincinv(hits + 0.5, trials - hits + 0.5, alpha)) if hits else 0.0
    high = float(special.betaincinv(hits + 0.5, trials - hits + 0.5, 1 - alpha)) if hits < trials else 1.0
    return p, min(low, p), max(high, p)

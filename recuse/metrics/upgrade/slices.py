"""Where an upgrade is worst: on one system, topic or language, however good it is on the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import number
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import change, means, span_of
from recuse.metrics.upgrade.distributions import Largest, mean_change
from recuse.metrics.upgrade.pairing import Pair
from recuse.metrics.upgrade.people import gained_per_text
from recuse.ratings.text_slices import Slices, slices_of
from recuse.schema import Estimate

__all__ = ["FEWEST", "slices_looked_at", "worst_of_slices", "worst_slice_agreement", "worst_slice_shift"]

Floats = NDArray[np.float64]
FEWEST = 12
"""Texts below which a slice is not looked at; it is listed."""
METHOD = "largest change over slices: every slice at its own level to pass, Bonferroni over all of them to fail"

describe(
    "upgrade_slice_shift", "shift on its worst slice", rank=22, bad="above",
    above="scores one slice otherwise|score one slice otherwise",
    reading="The largest shift, of any sign, that a slice of the texts has: a system, a topic, a language.",
)  # fmt: skip
describe(
    "upgrade_slice_agreement", "agreement with people on its worst slice", rank=6, bad="above",
    above="agrees with your people less on one slice|agree with your people less on one slice",
    reading="The largest loss of agreement with people, text by text, that a slice of the texts has.",
)  # fmt: skip


def worst_slice_shift(pair: Pair) -> Estimate | None:
    """Largest |candidate - incumbent| over slices, the levels of the texts' columns and of target (`slices_of`) with at
    least 12 texts. None where there is none to look at, and for options that have no mean."""
    answers = pair.answers
    if answers.options and not (answers.ordered and len(answers.options) == 2):
        return None
    old, new = means(answers)
    return _worst("upgrade_slice_shift", pair, old, new, span_of(answers), both=True)


def worst_slice_agreement(pair: Pair) -> Estimate | None:
    """Largest loss of agreement with people over slices, per text (`gained_per_text`). None without people."""
    if not len(pair.answers.people):
        return None
    gained = gained_per_text(pair)
    return _worst("upgrade_slice_agreement", pair, gained, np.zeros(len(gained)), 1.0, both=False)


def _worst(metric: str, pair: Pair, old: Floats, new: Floats, span: float, *, both: bool) -> Estimate | None:
    moved = new - old
    there = np.isfinite(moved)
    looked, too_small = slices_looked_at(pair, there)
    if not looked:
        return None
    parts = {
        name: mean_change(np.where(mine, moved, np.nan), None, pair.answers.clusters, span=span)
        for name, mine in looked.items()
    }
    worst = max(looked, key=lambda name: abs(parts[name].value) if both else parts[name].value)
    mine = looked[worst]
    values = (float(old[mine].mean()), float(new[mine].mean())) if both else (float("nan"), float("nan"))
    unit = pair.answers.scale.unit if both else "share"
    return worst_of_slices(
        metric, pair, worst, parts, looked, too_small, values, there, both=both, span=span, unit=unit
    )


def slices_looked_at(pair: Pair, there: NDArray[np.bool_]) -> tuple[Slices, list[tuple[str, str]]]:
    """The slices with at least 12 texts of `there`, (U,), each cut to these, and the names of those with fewer."""
    every = _slices(pair)
    looked = {name: members & there for name, members in every.items() if (members & there).sum() >= FEWEST}
    return looked, [name for name in every if name not in looked]


def worst_of_slices(
    metric: str, pair: Pair, worst: tuple[str, str], parts: Mapping[tuple[str, str], Any], looked: Slices,
    too_small: list[tuple[str, str]], values: tuple[float, float], there: NDArray[np.bool_], *, both: bool,
    span: float, unit: str,
) -> Estimate:  # fmt: skip
    """The estimate of the `worst` slice, with all that were looked at in its detail. `both`: of any sign."""
    size = {name: abs(part.value) if both else part.value for name, part in parts.items()}
    detail: dict[str, Any] = {
        "slice": {"column": worst[0], "level": worst[1]}, "looks": len(looked),
        "slices": [
            {"column": c, "level": v, "n": int(looked[c, v].sum()), "change": number(parts[c, v].value)}
            for c, v in sorted(looked, key=lambda name: -size[name])
        ],
        "too_small": [{"column": c, "level": v} for c, v in too_small],
    }  # fmt: skip
    return change(
        metric, pair, Largest(tuple(parts.values()), both), values, there, value=size[worst], span=span,
        method=METHOD, unit=unit, detail=detail,
    )  # fmt: skip


def _slices(pair: Pair) -> Slices:
    def compute() -> Slices:
        return slices_of(pair.answers)[0]

    part = pair.answers.part
    return compute() if part is None else part.remember(("slices of an upgrade",), compute)

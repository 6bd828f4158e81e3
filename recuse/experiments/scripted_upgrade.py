"""A judge in use and its candidate, scripted: what each answers, on the same texts, and what its calls cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recuse.experiments.asking import SIMULATED
from recuse.experiments.sizes import Sizes

if TYPE_CHECKING:
    from recuse.ratings import Ratings

__all__ = ["CALL_EFFECTS", "TESTS", "calls_of", "line_up"]

TESTS = "tests"
"""Scores, beside them the tests of padding and of injected orders, and what the calls cost."""

CALL_EFFECTS = {
    "costs": "times what a call of the judge in use costs",
    "takes": "times as long as a call of the judge in use takes",
}
"""What a candidate's calls can be made to do."""

KINDS = tuple(SIMULATED)
COST_VARIES, TIME_VARIES = 0.3, 0.6
"""SDs of one call, over its mean: replies differ in length, and servers in how busy they are."""


def line_up(sizes: Sizes, kind: str, effect: Mapping[str, float], seed: tuple[int, ...], again: int) -> Ratings:
    """Ratings of one kind, the `again`-th time that the texts of this seed are judged."""

    def drawn(of: str) -> Ratings:
        replies = np.random.default_rng((*seed, again, KINDS.index(of)))
        ratings: Ratings = SIMULATED[of](sizes, effect, np.random.default_rng(seed), replies=replies)
        return ratings

    if kind != TESTS:
        return drawn(kind)
    beside = {of: drawn(of) for of in ("length_twins", "attacked_scores") if sizes.pairs or of != "length_twins"}
    return replace(drawn("scores"), beside=beside.get, _memory={})


def calls_of(sizes: Sizes, effect: Mapping[str, float], seed: tuple[int, ...], again: int) -> dict[str, float | None]:
    """Mean dollars and seconds per call, as recorded of the judge's calls."""
    rng, calls = np.random.default_rng((*seed, again)), sizes.items * sizes.texts * sizes.repeats
    dollars, seconds = (
        effect.get(name, 1.0) * (1 + varies / math.sqrt(calls) * rng.normal())
        for name, varies in (("costs", COST_VARIES), ("takes", TIME_VARIES))
    )
    return {"calls": float(calls), "dollars": 0.01 * dollars, "seconds": 2.0 * seconds}

"""Behaviours of judges that write a rubric from knowledge and score by it.

Every text has a surface and a substance, unrelated, drawn from its name. All judges see the same surface; each reads
the substance in its own way. `shared_illusion` scores the surface by a checklist and its own reading of the substance
once it has said what it knows: agreement falls. `steady` scores the surface throughout: nothing changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recuse.protocols.merg import FACTORS, HABITS, KNOWLEDGE_LISTS, KNOWLEDGE_PHRASES, REFLECTIONS
from recuse.protocols.merg_rubric import ANCHORS, DIMENSIONS
from recuse.standins.behaviours import Behaviour, Facts

LOW, HIGH = 1, 10
MIDDLE, SPREAD = 5.5, 2.0
NOISE = 0.6  # SD of a judge's own on every dimension
(SOURCE,) = FACTORS
BY_SUBSTANCE = ("independent", "dimensions", "shared")

__all__ = ["BEHAVIOURS", "read_settings"]


def read_settings(path: Path) -> None:
    """There are none: what a text is worth follows from its name."""


def shared_illusion(facts: Facts) -> str:
    """Scores by substance on the dimensions `BY_SUBSTANCE` alone."""
    return _answer(facts, by_substance=BY_SUBSTANCE)


def steady(facts: Facts) -> str:
    """Scores by no substance: the same whatever is judged."""
    return _answer(facts, by_substance=())


def forgets_a_dimension(facts: Facts) -> str:
    """`steady`, but its rubrics have four dimensions."""
    return _answer(facts, by_substance=(), dimensions=DIMENSIONS - 1)


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.__name__: behaviour for behaviour in (shared_illusion, steady, forgets_a_dimension)
}


def _answer(facts: Facts, *, by_substance: tuple[str, ...], dimensions: int = DIMENSIONS) -> str:
    call, source = facts.call, dict(facts.call.factors).get(SOURCE, "")
    if call.stage == "knowledge":
        lists = {name: [f"{name} of {call.item}", "more"] for name in KNOWLEDGE_LISTS}
        return _said({**dict.fromkeys(KNOWLEDGE_PHRASES, "a phrase"), **lists})
    if call.stage == "reflection":
        return _said(dict.fromkeys(REFLECTIONS, "take care"))
    if call.stage == "rubric":
        named = [{"name": f"{call.judge} {n}", "anchors": ["seen"] * ANCHORS} for n in range(dimensions)]
        return _said({"dimensions": named, "weights": [1 / DIMENSIONS] * DIMENSIONS})
    scores = _scores(facts, source in by_substance)
    if source == "checklist":
        return _said({"reason": "as it looks", "scores": scores})
    return _said({"evidence": ["a word"] * DIMENSIONS, "scores": scores, "habit": HABITS[0]})


def _scores(facts: Facts, substance: bool) -> list[int]:
    call = facts.call
    seen = _drawn("surface", call.item, call.target)
    if substance:
        seen = (_drawn("substance", call.item, call.target) + _drawn(call.judge, call.item, call.target)) / 2**0.5
    values = MIDDLE + SPREAD * seen + NOISE * facts.rng.normal(size=DIMENSIONS)
    return [int(value) for value in np.clip(np.round(values), LOW, HIGH)]


def _drawn(*names: str) -> float:
    """A standard normal number that depends on these names alone."""
    seed = hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest()
    return float(np.random.default_rng(int.from_bytes(seed)).normal())


def _said(value: Any) -> str:
    return json.dumps(value)

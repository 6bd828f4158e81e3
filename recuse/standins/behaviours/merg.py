"""Behaviours of judges that write a rubric from knowledge and score by it.

Every text has a surface and a substance, unrelated, drawn from its name; a judge reads them as
`recuse.standins.judge_model` says. `surface` and `substance` look at one of the two, whatever the rubric is. So what
they agree on is the same by every rubric, and only a text with polish and no substance tells them apart.
`shared_illusion` looks at the surface, and once it has said what it knows, at the substance as it understands it:
agreement falls.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recuse.protocols.merg import FACTORS, HABITS, KNOWLEDGE_LISTS, KNOWLEDGE_PHRASES, REFLECTIONS
from recuse.protocols.merg_rubric import ANCHORS, DIMENSIONS
from recuse.standins.behaviours import Behaviour, Facts
from recuse.standins.judge_model import JudgeModel

LOW, HIGH = 1, 10
UNDERSTOOD = 0.45  # correlation of the substance with what a judge makes of it, in `shared_illusion`
(SOURCE,) = FACTORS
TRAITS = ("surface", "substance")
GROUNDED = ("independent", "dimensions", "shared")

__all__ = ["BEHAVIOURS", "Settings", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """fixtures/standins/scripted/<task>/merg.toml: `texts` is the SD of surface and of substance over texts, `targets`
    what is known of them (level, surface, substance: their means), `judges` how each reads, and `everybody` how the
    others do."""

    texts: float
    targets: Mapping[str, Mapping[str, float]]
    judges: Mapping[str, JudgeModel]
    everybody: JudgeModel


def read_settings(path: Path) -> Settings:
    """Texts, targets and judges from a TOML file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    everybody = JudgeModel(name="", **data["everybody"])
    judges = {name: replace(everybody, name=name, **given) for name, given in data.get("judge", {}).items()}
    return Settings(data["texts"], data["target"], judges, everybody)


# --------------------------------------------------------------------------- the behaviours


def surface(facts: Facts) -> str:
    """Scores how a text looks."""
    return _answer(facts, judge_of(facts))


def substance(facts: Facts) -> str:
    """Scores what a text is worth."""
    return _answer(facts, replace(judge_of(facts), surface_weight=0.0, substance_weight=1.0))


def shared_illusion(facts: Facts) -> str:
    """Scores the surface; by a rubric from its own knowledge the substance, and most of that as it alone reads it."""
    judge = judge_of(facts)
    if dict(facts.call.factors).get(SOURCE) in GROUNDED:
        own = (1 - UNDERSTOOD**2) ** 0.5 * facts.settings.texts
        judge = replace(judge, surface_weight=0.0, substance_weight=UNDERSTOOD, own=own)
    return _answer(facts, judge)


def forgets_a_dimension(facts: Facts) -> str:
    """`surface`, but its rubrics have four dimensions."""
    return _answer(facts, judge_of(facts), dimensions=DIMENSIONS - 1)


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.__name__: behaviour for behaviour in (surface, substance, shared_illusion, forgets_a_dimension)
}


# --------------------------------------------------------------------------- what they are made of


def judge_of(facts: Facts) -> JudgeModel:
    """How this judge reads, by the settings."""
    settings: Settings = facts.settings
    return settings.judges.get(facts.call.judge, settings.everybody)


def _answer(facts: Facts, judge: JudgeModel, dimensions: int = DIMENSIONS) -> str:
    call, source = facts.call, dict(facts.call.factors).get(SOURCE, "")
    if call.stage == "knowledge":
        lists = {name: [f"{name} of {call.item}", "more"] for name in KNOWLEDGE_LISTS}
        return _as_json({**dict.fromkeys(KNOWLEDGE_PHRASES, "a phrase"), **lists})
    if call.stage == "reflection":
        return _as_json(dict.fromkeys(REFLECTIONS, "take care"))
    if call.stage == "rubric":
        named = [{"name": f"{call.judge} {n}", "anchors": ["seen"] * ANCHORS} for n in range(dimensions)]
        return _as_json({"dimensions": named, "weights": [1 / DIMENSIONS] * DIMENSIONS})
    scores = _scores(facts, judge)
    if source == "checklist":
        return _as_json({"reason": "as it looks", "scores": scores})
    return _as_json({"evidence": ["a word"] * DIMENSIONS, "scores": scores, "habit": HABITS[0]})


def _scores(facts: Facts, judge: JudgeModel) -> list[int]:
    """The reading with noise on every dimension, so much that the mean of the five has the judge's."""
    call, settings = facts.call, facts.settings
    target = settings.targets.get(call.target, settings.targets["other"])
    text = {name: target[name] + settings.texts * _drawn(name, call.item, call.target) for name in TRAITS}
    own = _drawn(call.judge, call.item, call.target)
    reading = judge.reading(target["level"], text["surface"], text["substance"], own)
    values = reading + judge.noise * DIMENSIONS**0.5 * facts.rng.normal(size=DIMENSIONS)
    return [int(value) for value in np.clip(np.round(values), LOW, HIGH)]


def _drawn(*names: str) -> float:
    """A standard normal number that depends on these names alone."""
    seed = hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest()
    return float(np.random.default_rng(int.from_bytes(seed)).normal())


def _as_json(value: Any) -> str:
    return json.dumps(value)

"""Judges that look at the same surface: scores with a known share of surface, substance and noise.

    scores = simulate(PAPER, np.random.default_rng(1))      # judges x items x targets x temperatures

Each text has a surface (format, fluency, confident tone) and a substance, unrelated unless `related` says so; a judge
reads them by the formula of `recuse.papers.illusion.judge_model`, and its reading is rounded to a step and cut at the
ends of the scale.

Judges that weigh the surface alone agree as well as judges that weigh the substance alone: agreement cannot tell which,
and it falls where some do one and some the other. With the defaults the simulated panel shows the pattern of "Beyond
the illusion of consensus" (paper 002, sec. 3.2): about 0.99 over models, 0.72 over texts, 0.67 in absolute agreement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recuse.papers.illusion.judge_model import JudgeModel
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

if TYPE_CHECKING:
    from recuse.ratings import Ratings

__all__ = ["PAPER", "JudgeModel", "Study", "as_ratings", "simulate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """`tiers`: tier -> mean level of each of its targets, the lowest tier first. `texts`: SD of surface and of
    substance within a target; `related`: their correlation; `noise_of_temperature`: what a temperature of 1 adds to the
    SD of a single call."""

    judges: tuple[JudgeModel, ...]
    tiers: dict[str, tuple[float, ...]]
    items: int = 100
    temperatures: tuple[float, ...] = (0.0,)
    texts: float = 1.45
    related: float = 0.0
    noise_of_temperature: float = 0.0
    ends: tuple[float, float] = (1.0, 10.0)
    step: float = 1.0

    @property
    def levels(self) -> Floats:
        """True level of each target, the lowest tier first, shape (T,)."""
        return np.array([level for levels in self.tiers.values() for level in levels])

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets, in the order of `levels`."""
        return tuple(f"{tier}-{k + 1}" for tier, levels in self.tiers.items() for k in range(len(levels)))


PAPER = Study(
    judges=(
        JudgeModel(name="strict", leniency=-0.4),
        JudgeModel(name="generous", leniency=0.55),
        JudgeModel(name="middling", leniency=-0.1, own=0.85),
    ),
    tiers={
        "base": tuple(np.linspace(1.9, 4.4, 8).round(3).tolist()),
        "instruct": tuple(np.linspace(3.9, 6.5, 13).round(3).tolist()),
        "thinking": tuple(np.linspace(4.2, 7.4, 11).round(3).tolist()),
    },
    temperatures=tuple(k / 10 for k in range(11)),
)
"""The size and the pattern of paper 002: 32 models in three tiers, 3 judges, 100 prompts, 11 temperatures."""


def simulate(study: Study, rng: np.random.Generator) -> Floats:
    """Scores of shape (judges, items, targets, temperatures). `RecuseError` for a correlation beyond [-1, 1]."""
    if not -1 <= study.related <= 1:
        raise RecuseError(f"related is a correlation between -1 and 1; got {study.related}")
    shape = (study.items, len(study.levels))
    surface = rng.normal(0, study.texts, shape)
    apart = rng.normal(0, study.texts, shape)
    substance = study.related * surface + np.sqrt(1 - study.related**2) * apart
    scores = np.empty((len(study.judges), *shape, len(study.temperatures)))
    for place, judge in enumerate(study.judges):
        reading = judge.reading(study.levels, surface, substance, rng.normal(0, 1, shape))
        noise = judge.noise + study.noise_of_temperature * np.array(study.temperatures)
        scores[place] = reading[..., None] + noise * rng.normal(0, 1, (*shape, len(noise)))
    low, high = study.ends
    return np.clip(low + np.round((scores - low) / study.step) * study.step, low, high)


def as_ratings(study: Study, scores: Floats) -> Ratings:
    """The scores as `Ratings`, one row per judgement, with the study's scale and tiers."""
    import pandas as pd

    from recuse.ratings import Numeric, Ratings

    places = np.indices(scores.shape).reshape(scores.ndim, -1)
    names = {
        "judge": [judge.name for judge in study.judges],
        "item": [f"prompt-{k + 1}" for k in range(study.items)],
        "target": study.targets,
        "temperature": [f"{t:g}" for t in study.temperatures],
    }
    columns = {
        name: np.array(values, dtype=object)[place] for (name, values), place in zip(names.items(), places, strict=True)
    }
    frame = pd.DataFrame(columns).assign(score=scores.ravel())
    tiers, start = {}, 0
    for tier, levels in study.tiers.items():
        tiers[tier] = study.targets[start : start + len(levels)]
        start += len(levels)
    return Ratings.of(frame, scales=Numeric(*study.ends, study.step), tiers=tiers)

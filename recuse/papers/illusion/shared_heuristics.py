"""A judge as a formula: how much of a text's surface and how much of its substance is in its score.

    reading = level of the target + leniency + spread * (surface_weight * surface + substance_weight * substance)
              + own * z + noise * z'

A text's surface is its format, fluency and confident tone, the same for all who look. z is the judge's own stable
reading of the text, z' differs from call to call; both are standard normal. The simulation at the size of a paper
below and the scripted judges that answer over HTTP (`fixtures/standins/behaviours/merg.py`) both read by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

if TYPE_CHECKING:
    from recuse.ratings import Ratings


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """One judge: see the module. `own` is the SD of its own stable reading of a text, `noise` that of a single call."""

    name: str
    leniency: float = 0.0
    spread: float = 1.0
    surface_weight: float = 1.0
    substance_weight: float = 0.0
    own: float = 0.76
    noise: float = 0.35

    def reading(self, level: Any, surface: Any, substance: Any, own: Any) -> Any:
        """What the judge makes of texts before the noise of a call, in points; `own` is z. Numbers or arrays."""
        seen = self.surface_weight * surface + self.substance_weight * substance
        return level + self.leniency + self.spread * seen + self.own * own


# --------------------------------------------------------------------------- judges that look at the same surface
#     scores = simulate(PAPER, np.random.default_rng(1))      # judges x items x targets x temperatures
#
# Each text has a surface (format, fluency, confident tone) and a substance, unrelated unless `related` says so; a judge
# reads them by the formula above, and its reading is rounded to a step and cut at the ends of the scale.
#
# Judges that weigh the surface alone agree as well as judges that weigh the substance alone: agreement cannot tell
# which, and it falls where some do one and some the other. With the defaults the simulated panel shows the pattern of
# "Beyond the illusion of consensus" (paper 002, sec. 3.2): about 0.99 over models, 0.72 over texts, 0.67 in absolute
# agreement.


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


# --------------------------------------------------------------------------- choosing texts by such a judge
#     python -m recuse.papers.illusion.shared_heuristics      # what docs/illusion.md tells
#
# A reward is a judge's score of a single text, so what an optimiser gains is what that judge looks at. Choosing the
# best of n texts by a judge of surface raises surface with n and leaves substance where it was, however well judges of
# surface agree with each other ("Beyond the Illusion of Consensus", 2026, sec. 4 and app. F, which trained two models
# and printed neither data nor a definition of quality).


PROMPTS = 4000


@dataclass(frozen=True, slots=True)
class Chosen:
    """The text that a judge scores highest of `n`: its mean score, surface and substance, in points above those of a
    text taken at random."""

    n: int
    score: float
    surface: float
    substance: float


def best_of(
    judge: JudgeModel, sizes: Sequence[int], rng: np.random.Generator, texts: float = 1.45, prompts: int = PROMPTS
) -> tuple[Chosen, ...]:
    """One `Chosen` per n in `sizes`, over `prompts` prompts with texts whose surface and substance are unrelated and
    have the SD `texts` each.

    >>> best = best_of(JudgeModel(name="polish"), (16,), np.random.default_rng(1))[0]
    >>> round(best.surface, 1), abs(round(best.substance, 1))
    (2.2, 0.0)
    """
    chosen = []
    for n in sizes:
        surface, substance = rng.normal(0, texts, (2, prompts, n))
        own, noise = rng.normal(0, 1, (2, prompts, n))
        score = judge.reading(0.0, surface, substance, own) + judge.noise * noise - judge.leniency
        best = score.argmax(axis=1)[:, None]
        means = (float(np.take_along_axis(of, best, axis=1).mean()) for of in (score, surface, substance))
        chosen.append(Chosen(n, *means))
    return tuple(chosen)


def flipped(
    judge: JudgeModel, bias: float, rng: np.random.Generator, texts: float = 1.45, pairs: int = 100_000
) -> float:
    """Share of pairs of texts on one prompt whose order turns when the judge gives one of the two `bias` points more,
    as for its writer or its length.

    >>> round(flipped(JudgeModel(name="polish"), 0.5, np.random.default_rng(1)), 2)
    0.08
    """
    surface, substance = rng.normal(0, texts, (2, pairs, 2))
    own, noise = rng.normal(0, 1, (2, pairs, 2))
    reading = judge.reading(0.0, surface, substance, own) + judge.noise * noise
    ahead = reading[:, 0] - reading[:, 1]
    return float(np.mean((ahead > 0) != (ahead + bias > 0)))


def findings(seed: int = 1) -> str:
    """What a judge of surface alone does to the texts that it chooses, as lines of text."""
    judge, rng = JudgeModel(name="polish"), np.random.default_rng(seed)
    lines = [
        f"best of {best.n:>2}: score {best.score:+.1f}, surface {best.surface:+.1f}, substance {best.substance:+z.1f}"
        for best in best_of(judge, (4, 16, 64), rng)
    ]
    return "\n".join([*lines, f"half a point for one writer turns {flipped(judge, 0.5, rng):.0%} of the pairs round"])


if __name__ == "__main__":
    print(findings())

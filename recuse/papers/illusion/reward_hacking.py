"""What becomes of texts that are chosen by a judge's score, and of their order when the judge has a small bias.

    python -m recuse.papers.illusion.reward_hacking      # what docs/illusion.md tells

A reward is a judge's score of a single text, so what an optimiser gains is what that judge looks at. Choosing the best
of n texts by a judge of surface raises surface with n and leaves substance where it was, however well judges of surface
agree with each other ("Beyond the Illusion of Consensus", 2026, sec. 4 and app. F, which trained two models and printed
neither data nor a definition of quality).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recuse.papers.illusion.judge_model import JudgeModel

__all__ = ["Chosen", "best_of", "flipped"]

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

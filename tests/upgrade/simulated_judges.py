"""A judge in use, people, and candidates with one planted fault each, as arrays: hundreds without a frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from recuse.gates import Gates
from recuse.gates.upgrade_verdict import UpgradeVerdict, decide_upgrade
from recuse.metrics.upgrade import Pair, measure_pair
from recuse.ratings import Numeric, Ordinal
from recuse.ratings.answers import Answers
from recuse.ratings.scale import Nominal
from recuse.schema import Estimates

GATES = Gates.load(Path(__file__).parents[2] / "evals" / "gates.toml", date(2026, 1, 1))
TENS, PASS_FAIL, PAIRS = Numeric(0, 10, 1), Ordinal(("fail", "pass")), Nominal(("a", "b", "tie"))


@dataclass
class World:
    """`items` texts of four systems, each with a quality; the judge in use sees it with some noise, people with more.

    `kind`: "scores" from 0 to 10, with a decision at 7; "pass_fail"; "choices" between two texts, a or b."""

    rng: np.random.Generator
    kind: str = "scores"
    items: int = 200
    repeats: int = 2
    people: int = 2
    lost: float = 0.0
    noise: float = 0.7

    def __post_init__(self) -> None:
        self.quality = self.rng.normal(0, 1, self.items)
        self.system = np.arange(self.items) % 4

    def judge(self, quality: np.ndarray | None = None, noise: float | None = None, shift: float = 0.0) -> np.ndarray:
        """Answers (items, repeats) of a judge that sees `quality`, by default the true one."""
        seen = self.quality if quality is None else quality
        draws = self.rng.normal(0, 1, (self.items, self.repeats))
        around = self.noise if noise is None else noise
        if self.kind == "scores":
            return np.clip(np.round(6 + 2 * seen[:, None] + shift + around * draws), 0, 10)
        return (2 * seen[:, None] + shift + around * draws > 0).astype(float)

    def answers(self, candidate: np.ndarray) -> Answers:
        """The judge in use, recorded now, and the candidate, with replies lost at random."""
        judged = np.stack([self.judge(), candidate])
        judged[self.rng.random(judged.shape) < self.lost] = np.nan
        people = [self.judge(noise=0.5 * self.noise + 0.5)[:, :1] for _ in range(self.people)]
        scale = {"scores": TENS, "pass_fail": PASS_FAIL, "choices": PAIRS}[self.kind]
        options = () if isinstance(scale, Numeric) else scale.options
        return Answers(
            ("today", "next"), tuple(f"person {k}" for k in range(self.people)), tuple(map(str, range(self.items))),
            tuple("ABCD"[s] for s in self.system), np.arange(self.items, dtype=np.intp), judged,
            np.stack(people) if people else np.empty((0, self.items, 1)), np.ones((2, self.items), dtype=bool), options,
            not options or isinstance(scale, Ordinal), scale, "items", "items", None, np.isnan(judged).sum(axis=2),
        )  # fmt: skip


Candidate = Callable[[World], np.ndarray]


def same(world: World) -> np.ndarray:
    """The judge in use, recorded again."""
    return world.judge()


def mirrored(world: World) -> np.ndarray:
    """Keeps the mean and turns the order around."""
    return world.judge(2 * world.quality.mean() - world.quality)


def random_around_the_mean(world: World) -> np.ndarray:
    """Keeps mean and spread, and sees nothing."""
    return world.judge(world.rng.normal(world.quality.mean(), world.quality.std(), world.items))


def refusing(share: float, hard: bool = False) -> Candidate:
    """Leaves a share of the texts without an answer: at random, or those of the lowest quality."""

    def judge(world: World) -> np.ndarray:
        given = world.judge()
        gone = world.quality < np.quantile(world.quality, share) if hard else world.rng.random(world.items) < share
        given[gone] = np.nan
        return given

    return judge


def shifted(by: float) -> Candidate:
    return lambda world: world.judge(shift=by)


def worse_on_one_system(by: float) -> Candidate:
    """As the judge in use, but against system B."""
    return lambda world: world.judge(world.quality - by * (world.system == 1))


def noisier(times: float) -> Candidate:
    """The same judgement, less steadily."""
    return lambda world: world.judge(noise=times * world.noise)


def verdict(world: World, candidate: Candidate) -> UpgradeVerdict:
    """The verdict on one candidate, as `judge_upgrade` comes to it."""
    pair = Pair((), world.answers(candidate(world)), headline=True, thresholds=(7.0,) if world.kind == "scores" else ())
    changes = [(e.metric, Estimates(("judge",), {("next",): e})) for e in measure_pair(pair)]
    return decide_upgrade(GATES, changes, {}, names=("today", "next"))


def words(seed: int, times: int, candidate: Candidate, **world: object) -> list[str]:
    """The words of `times` simulated upgrades."""
    rng = np.random.default_rng([seed, 20261122])
    return [verdict(World(rng, **world), candidate).word for _ in range(times)]  # type: ignore[arg-type]

"""Simulated judges and people, as arrays: thousands of tables without a data frame each."""

from __future__ import annotations

import numpy as np

from recuse.ratings import Numeric, Ordinal
from recuse.ratings.answers import Answers

PASS_FAIL = Ordinal(("fail", "pass"))
NAN = np.nan


def answers_from(judge, people, *, scale=PASS_FAIL, clusters=None) -> Answers:
    """Answers of one judge (items,) and of people (P, items), codes or numbers, NaN where there is none."""
    judge, people = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    items = len(judge)
    codes = np.arange(items) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    options = () if isinstance(scale, Numeric) else scale.options
    return Answers(
        ("judge",), tuple(f"person {k}" for k in range(len(people))), tuple(map(str, range(items))), ("",) * items,
        codes.astype(np.intp), judge[None, :, None], people[:, :, None], np.ones((1, items), dtype=bool), options,
        not options or isinstance(scale, Ordinal), scale, "topics",
        "items" if len(np.unique(codes)) == items else "clusters",
    )  # fmt: skip


class World:
    """Items that are good or bad (or have a quality), and raters that see it more or less well."""

    def __init__(self, seed: int, items: int = 400, share: float = 0.7, people: int = 2, skill: float = 0.9) -> None:
        self.rng = np.random.default_rng(seed)
        self.items, self.skill = items, skill
        self.truth = (self.rng.random(items) < share).astype(float)
        self.hard = self.rng.random(items) < 0.25
        self.people = np.array([self.rater() for _ in range(people)])

    def rater(self, skill: float | None = None) -> np.ndarray:
        """Right with probability `skill` on easy items, less on hard ones."""
        skill = self.skill if skill is None else skill
        right = self.rng.random(self.items) < np.where(self.hard, (skill + 0.5) / 2, skill + (1 - skill) / 4)
        return np.where(right, self.truth, 1 - self.truth)

    def judge(self, kind: str) -> np.ndarray:
        if kind == "another person":
            return self.rater()
        if kind == "always passes":
            return np.ones(self.items)
        if kind == "inverted":
            return 1 - self.rater()
        if kind == "swapped":  # right in general, on another judge's items
            return self.rng.permutation(self.rater())
        if kind == "random":
            return (self.rng.random(self.items) < self.truth.mean()).astype(float)
        if kind == "lenient":
            return np.where(self.rng.random(self.items) < 0.5, 1.0, self.rater())
        assert kind == "refuses the hard"
        return np.where(self.hard & (self.rng.random(self.items) < 0.9), NAN, self.rater(0.97))


PLANTED = ("always passes", "inverted", "swapped", "random", "lenient", "refuses the hard")

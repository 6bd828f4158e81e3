"""Simulated judges and people, as arrays: thousands of tables without a data frame each."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.fixture
def world():
    return World


@pytest.fixture
def table():
    """A stranger's table: two judges, two people, a grade from 1 to 5 and a pass or fail of two systems' answers to 60
    tickets, with holes."""
    import pandas as pd

    def make(*, names: bool = False, seed: int = 0) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        texts = [(f"t{k}", system) for k in range(60) for system in ("a", "b")]
        quality = rng.normal(size=len(texts))
        rows = []
        for rater, kind in (("mira", "judge"), ("noor", "judge"), ("ann", "person"), ("bea", "person")):
            for level in ("shown", "hidden") if names and kind == "judge" else ("hidden",):
                seen = quality + rng.normal(size=len(texts)) * 0.5
                for (item, target), q in zip(texts, seen, strict=True):
                    row = {"rater": rater, "kind": kind, "item": item, "target": target, "names": level}
                    usable = rng.random() > 0.05
                    grade = float(np.clip(round(3 + q), 1, 5)) if usable else None
                    rows.append({**row, "criterion": "grade", "score": grade, "response": None})
                    passed = ("pass" if q > -0.3 else "fail") if usable else None
                    rows.append({**row, "criterion": "safe", "score": None, "response": passed})
        frame = pd.DataFrame(rows)
        return frame if names else frame.drop(columns="names")

    return make

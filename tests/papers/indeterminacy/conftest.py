"""People and judges with known response sets, as ratings: two options, three sets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Nominal, Ratings, ResponseSets

OPTIONS = ("toxic", "fine")
SETS = ("toxic", "fine", "toxic|fine")


@dataclass
class Planted:
    """Draws raters: `theta` (items, 3) shares of the sets that they hold admissible."""

    items: int = 120
    people: int = 9
    repeats: int = 12
    seed: int = 0

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seed)
        self.theta = self.rng.dirichlet([0.4, 0.4, 0.4], size=self.items)
        self.choices, self.sets = [], []

    def person_rows(self, toxic_of_both=0.5):
        for k in range(self.people):
            self._say(f"person {k}", "person", self.theta, 1, toxic_of_both)
        return self

    def judge(self, name, *, theta=None, toxic_of_both=0.5, status="ok"):
        self._say(name, "judge", self.theta if theta is None else theta, self.repeats, toxic_of_both, status)
        return self

    def noisy(self, name):
        return self.judge(name, theta=self.rng.dirichlet([1, 1, 1], size=self.items))

    def always_both(self, name):
        return self.judge(name, theta=np.tile([0.0, 0.0, 1.0], (self.items, 1)))

    def never_both(self, name):
        """Names one option alone, as it would choose."""
        half = self.theta[:, 2:] * 0.1
        return self.judge(name, theta=np.hstack([self.theta[:, :1] + half, self.theta[:, 1:2] + 9 * half, 0 * half]))

    def _say(self, rater, kind, theta, times, toxic_of_both, status="ok"):
        edges = np.cumsum(theta, axis=1)[:, :2]
        for repeat in range(times):
            drawn = (self.rng.random((self.items, 1)) > edges).sum(axis=1)
            free = self.rng.random(self.items) < toxic_of_both
            for item, (s, toxic) in enumerate(zip(drawn, free, strict=True)):
                chosen = OPTIONS[s] if s < 2 else OPTIONS[0] if toxic else OPTIONS[1]
                row = {"rater": rater, "kind": kind, "item": f"i{item}", "repeat": repeat, "status": status}
                usable = status == "ok"
                self.choices.append({**row, "response": chosen if usable else None})
                self.sets.append({**row, "response": SETS[s] if usable else None})

    def choices_alone(self):
        return Ratings.of(pd.DataFrame(self.choices), scales=Nominal(OPTIONS))

    def ratings(self):
        sets = Ratings.of(pd.DataFrame(self.sets), scales=ResponseSets(OPTIONS))
        return replace(self.choices_alone(), beside=lambda kind: sets if kind == "response_sets" else None, _memory={})


@pytest.fixture(scope="session")
def planted():
    return Planted

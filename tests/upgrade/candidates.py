"""A judge in use, people who rated the same texts, and candidates that are better, as good, or worse, through
`judge_upgrade`: `python tests/upgrade/candidates.py [TIMES] [NAME ...]` prints how often each is accepted.

A person sees a text's quality with an error of 0.6 standard deviations. A judge has an error of its own, which it
repeats whenever it is asked, and beside it 0.15 between two answers: a judge that is one more person errs by 0.6 too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from recuse.gates import Gates
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.metrics.upgrade import Upgrade
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.upgrade import judge_upgrade

GATES = Gates.load(Path(__file__).parents[2] / "evals" / "gates.toml", date(2026, 1, 1))
SCALES = {"0-10": Numeric(0, 10, 1), "1-5": Numeric(1, 5, 1), "pass/fail": Ordinal(("fail", "pass"))}
ERROR = 0.6
NOISE = 0.15
PLACE = {"panel": "simulated", "task": "texts", "protocol": "scripted"}


@dataclass
class Texts:
    """`items` texts of four systems. `error` of the judge in use, in standard deviations of quality."""

    rng: np.random.Generator
    scale: str = "0-10"
    items: int = 200
    people: int = 3
    repeats: int = 2
    error: float = ERROR

    def __post_init__(self) -> None:
        self.quality = self.rng.normal(0, 1, self.items)
        self.system = np.arange(self.items) % 4
        self.own = self.rng.normal(0, 1, self.items)  # the error of the judge in use, the same whenever it is asked
        self.view = self.quality + self.error * self.own

    def other(self, error: float) -> np.ndarray:
        """What another judge sees, that errs by as much on other texts."""
        return self.quality + error * self.rng.normal(0, 1, self.items)

    def answers(self, view: np.ndarray, repeats: int | None = None, noise: float = NOISE) -> np.ndarray:
        """(items, repeats) on the scale; NaN where the view is."""
        seen = view[:, None] + noise * self.rng.normal(0, 1, (self.items, repeats or self.repeats))
        if self.scale == "pass/fail":
            return np.where(np.isfinite(seen), seen > 0, np.nan)
        middle, spread, low, high = (5, 1.5, 0, 10) if self.scale == "0-10" else (3, 1.0, 1, 5)
        return np.clip(np.round(middle + spread * seen), low, high)


Candidate = Callable[[Texts], np.ndarray]


def clone(texts: Texts) -> np.ndarray:
    return texts.answers(texts.view)


def half_the_error(texts: Texts) -> np.ndarray:
    return texts.answers(texts.other(texts.error / 2))


def another_family(texts: Texts) -> np.ndarray:
    return texts.answers(texts.other(texts.error))


def _noise(texts: Texts) -> np.ndarray:
    """Answers of the right spread that have nothing to do with the text, new each time."""
    return texts.answers(np.zeros(texts.items), noise=float(np.std(texts.view)))


def _refuses(texts: Texts) -> np.ndarray:
    given = clone(texts)
    given[texts.rng.random(texts.items) < 0.1] = np.nan
    return given


def _constant(texts: Texts) -> np.ndarray:
    """The same middling answer to two texts of five."""
    given = clone(texts)
    given[texts.rng.random(texts.items) < 0.4] = np.median(given)
    return given


GOOD: dict[str, Candidate] = {
    "the same judge again": clone,
    "half the error": half_the_error,
    "another family, as good": another_family,
}
FAULTY: dict[str, Candidate] = {
    "mirrored": lambda t: t.answers(-t.view),
    "noise": _noise,
    "steady noise": lambda t: t.answers(t.rng.permutation(t.view)),
    "refuses 10 %": _refuses,
    "40 % constant": _constant,
    "shifted .8 sd": lambda t: t.answers(t.view + 0.8),
    "one slice mirrored": lambda t: t.answers(np.where(t.system == 1, -t.view, t.view)),
}


def _with(fault: Callable[[Texts, np.ndarray], np.ndarray]) -> Candidate:
    """Half the error, and a fault all the same."""
    return lambda t: fault(t, t.other(t.error / 2))


def _gone(t: Texts, view: np.ndarray) -> np.ndarray:
    given = t.answers(view)
    given[t.rng.random(t.items) < 0.1] = np.nan
    return given


MIXED: dict[str, Candidate] = {
    "half, one slice mirrored": _with(lambda t, v: t.answers(np.where(t.system == 1, -v, v))),
    "half, shifted .8 sd": _with(lambda t, v: t.answers(v + 0.8)),
    "half, refuses 10 %": _with(_gone),
}
CANDIDATES = GOOD | FAULTY | MIXED


def upgrade(texts: Texts, candidate: Candidate) -> Upgrade:
    """Both judges and the people on the same texts."""
    given = {"today": texts.answers(texts.view), "next": candidate(texts)}
    raters = {**given, **{f"person {k}": texts.answers(texts.other(ERROR), 1, 0.0) for k in range(texts.people)}}
    parts = []
    for who, scores in raters.items():
        items, repeats = scores.shape
        parts.append(pd.DataFrame({
            "rater": who, "kind": "person" if who.startswith("person") else "judge",
            "item": np.repeat(np.arange(items), repeats).astype(str),
            "target": np.repeat(texts.system, repeats).astype(str),
            "repeat": np.tile(np.arange(repeats), items), "score": scores.ravel(),
            "status": np.where(np.isfinite(scores.ravel()), "ok", "refused"),
        }))  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    scale = SCALES[texts.scale]
    if isinstance(scale, Ordinal):
        names = np.array(scale.options, dtype=object)
        table["response"] = np.where(table["score"].notna(), names[table["score"].fillna(0).astype(int)], None)
        table = table.drop(columns="score")
    return Upgrade.within(Ratings.of(table, scales=scale), "today", "next")


def verdict(texts: Texts, candidate: Candidate) -> UpgradeVerdict:
    return judge_upgrade(GATES, upgrade(texts, candidate), PLACE)


def words(name: str, times: int, seed: int = 0, **texts: object) -> Counter[str]:
    """How often each word was said of so many candidates of a kind."""
    rng = np.random.default_rng([seed, 20261123, *name.encode()])
    return Counter(verdict(Texts(rng, **texts), CANDIDATES[name]).word for _ in range(times))  # type: ignore[arg-type]


def reasons(name: str, times: int, seed: int = 0, **texts: object) -> Counter[str]:
    """Which components kept candidates of a kind from passing, and how."""
    rng = np.random.default_rng([seed, 20261123, *name.encode()])
    seen: Counter[str] = Counter()
    for _ in range(times):
        rows = verdict(Texts(rng, **texts), CANDIDATES[name]).rows  # type: ignore[arg-type]
        seen.update({f"{row.gate} {row.outcome}" for row in rows if row.outcome != "pass"})
    return seen


DESIGNS: tuple[dict[str, object], ...] = (
    {"scale": "0-10"}, {"scale": "1-5"}, {"scale": "pass/fail"}, {"scale": "pass/fail", "items": 900},
    {"scale": "0-10", "error": 1.1}, {"scale": "1-5", "error": 1.1}, {"scale": "0-10", "people": 0},
)  # fmt: skip
"""3 people, 2 repeats, 200 texts unless said otherwise. With an error of 1.1 the judge in use lies .2 below people."""


def main(times: int, names: list[str]) -> None:
    for design in DESIGNS:
        print(", ".join(f"{k} {v}" for k, v in design.items()))
        for name in names or CANDIDATES:
            seen = words(name, times, **design)
            print(f"  {name:<26}" + ", ".join(f"{word} {n / times:.0%}" for word, n in seen.most_common()), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, sys.argv[2:])

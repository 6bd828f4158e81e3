"""Rating files drawn from a stated model: people who agree so well, and a judge that is one of them, better, worse, or
has one planted fault.

A text has a quality q, standard normal, of which the systems explain a fifth. What a rater sees is

    z = sqrt(r) q + sqrt(1 - r) e

and the answer is the place of z among cuts that give every answer its share. r is solved for, so that the *observed*
agreement, the share of the answers' variance that texts explain (the ICC; of pass and fail it is kappa), is the one
stated. A judge with f times a person's error has r / (r + f^2 (1 - r)) in place of r. Labels without order are right
with chance a, else drawn by their shares: kappa is a^2, and f times the error leaves 1 - f (1 - a)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special

from recuse.gates import Gates
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.pair_array import CHOICES
from recuse.ratings.scale import Nominal, Scale
from recuse.readers.file_panel import panel_of
from recuse.readers.file_ratings import FilePanel
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.factors import ORDER, VERSION

Codes = NDArray[np.intp]

SPREAD = 0.22  # SD of scores as a share of the scale's range: 2.2 points on 0-10, 0.9 on 1-5
OF_SYSTEMS = 0.2  # the share of the quality's variance that lies between systems
OF_REPEATS = 0.1  # the share of a judge's error that is drawn anew when it is asked again; the rest is its view
LABELS = ("billing", "bug", "other")
SCALES: Mapping[str, Scale] = {"pass/fail": Ordinal(("fail", "pass")), "labels": Nominal(LABELS), "pairs": CHOICES}
OPTIONS = {"pass/fail": ("fail", "pass"), "labels": LABELS, "pairs": ("second", "first")}
PERSON_LIKE: Mapping[str, float] = {"one more person": 1.0, "half a person's error": 0.5, "1.5 times": 1.5}
"""Judges without a fault of their own: how many times a person's error they make."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a file is like. `scale`: LOW-HIGH in whole steps, pass/fail, labels (three without order) or pairs;
    `agreement` among `people`: ICC of scores, kappa of options; `positive`: share of passes; `systems` whose texts are
    rated; `repeats` of the judge; `losses`: share of its replies that cannot be read.

    >>> Setting("1-5").options
    (1.0, 2.0, 3.0, 4.0, 5.0)
    """

    scale: str = "0-10"
    agreement: float = 0.6
    people: int = 3
    positive: float = 0.5
    systems: int = 4
    repeats: int = 1
    losses: float = 0.0

    def __post_init__(self) -> None:
        _ = self.options
        for name, given, low, high in (
            ("agreement", self.agreement, 0.01, 0.99), ("positive", self.positive, 0.01, 0.99),
            ("losses", self.losses, 0.0, 0.99), ("people", self.people, 1, 100), ("repeats", self.repeats, 1, 100),
            ("systems", self.systems, 1, 100),
        ):  # fmt: skip
            if not low <= given <= high:
                raise RecuseError(f"--{name} lies between {low:g} and {high:g}; got {given:g}")

    def draw(self, texts: int, judge: str, rng: np.random.Generator, gates: Gates) -> FilePanel:
        """A file of so many texts with people of this setting and one judge: of `PERSON_LIKE`, or with one of `FAULTS`
        by name, at twice the margin that `gates` set."""

        def margin(name: str) -> float:
            bound = gates[name].bound if name in gates else None
            if bound is None:
                raise RecuseError(f"{gates.file} has no gate {name!r}, which says how large the planted fault is to be")
            return bound.high if math.isfinite(bound.high) else -bound.low

        draw = Draw(self, texts, rng, margin)
        values, before = _judge(judge, draw)
        people = [draw.rows(f"person {p + 1}", draw.written(row[None]), "person") for p, row in enumerate(draw.people)]
        frames = [*people, draw.rows("judge", values)]
        if judge == "longer":  # its question needs another judge beside it
            frames.append(draw.rows("peer", draw.written(draw.answers(1.0))))
        if before is not None:
            versions = {"before": [*people, draw.rows("judge", before)], "now": frames}
            frames = [frame.assign(**{VERSION: name}) for name, part in versions.items() for frame in part]
        known = draw.names.assign(words=np.round(200 * 2.0**draw.doublings))
        if self.scale == "pairs":
            known = draw.names[["item"]].assign(a="s0", b="s1")
        scale = Numeric(self.options[0], self.options[-1]) if self.numbers else SCALES[self.scale]
        authors = {"judge": "s0"} if judge == "own system" else {}
        return panel_of(Ratings.of(pd.concat(frames, ignore_index=True), scales=scale, authors=authors, texts=known))

    @property
    def options(self) -> tuple[Any, ...]:
        """The answers from the lowest to the highest."""
        if self.scale in OPTIONS:
            return OPTIONS[self.scale]
        low, dash, high = self.scale.partition("-")
        if not dash or not low.isdigit() or not high.isdigit() or not int(low) < int(high) <= int(low) + 100:
            raise RecuseError(f"--scale is LOW-HIGH in whole steps, pass/fail, labels or pairs; got {self.scale!r}")
        return tuple(float(point) for point in range(int(low), int(high) + 1))

    @property
    def numbers(self) -> bool:
        """Whether answers are scores."""
        return isinstance(self.options[0], float)

    @property
    def shares(self) -> tuple[float, ...]:
        """How often each answer is given."""
        if self.scale == "labels":
            return (0.5, 0.3, 0.2)
        if not self.numbers:
            share = 0.5 if self.scale == "pairs" else self.positive
            return (1 - share, share)
        points = np.array(self.options)
        edges = special.ndtr((points[:-1] + 0.5 - points.mean()) / (SPREAD * (points[-1] - points[0])))
        return tuple(np.diff(np.concatenate([[0.0], edges, [1.0]])).tolist())

    @property
    def latent(self) -> float:
        """r of the module's formula; of labels, a."""
        return math.sqrt(self.agreement) if self.scale == "labels" else _latent(self.shares, self.agreement)


@cache
def _latent(shares: tuple[float, ...], agreement: float) -> float:
    """The correlation of what two raters see at which their answers agree so well."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    cuts = special.ndtri(np.cumsum(shares)[:-1])
    places = np.arange(len(shares))
    variance = float(np.dot(shares, places**2) - np.dot(shares, places) ** 2)

    def observed(r: float) -> float:
        below = special.ndtr((cuts[:, None] - math.sqrt(r) * nodes) / math.sqrt(1 - r))
        expected = places[-1] - below.sum(axis=0)
        return float(np.dot(weights, expected**2) - np.dot(weights, expected) ** 2) / variance

    return float(optimize.brentq(lambda r: observed(r) - agreement, 1e-6, 0.9999))


class Draw:
    """The texts of one file with what people said of them, (people, texts), as places among the setting's options."""

    def __init__(self, setting: Setting, texts: int, rng: np.random.Generator, margins: Callable[[str], float]) -> None:
        self.setting, self.texts, self.rng, self.margins = setting, texts, rng, margins
        s, n = setting, texts
        self.system: Codes = np.arange(n) % s.systems
        self.names = pd.DataFrame({"item": np.char.add("t", np.arange(n).astype(str)),
                                   "target": np.char.add("s", self.system.astype(str))})  # fmt: skip
        steps = special.ndtri((np.arange(s.systems) + 0.5) / s.systems)
        between = math.sqrt(OF_SYSTEMS) if s.systems > 1 else 0.0
        self.quality: Floats = math.sqrt(1 - between**2) * rng.normal(size=n)
        self.quality += between * (steps / (steps.std() or 1.0))[self.system]
        self.truth: Codes = rng.choice(len(s.shares), size=n, p=s.shares)  # of labels
        self.doublings: Floats = rng.normal(size=n)  # how long texts are
        self.people: Codes = np.stack([self.answers(1.0)[0] for _ in range(s.people)])

    def answers(self, error: float, length: float = 0.0) -> Codes:
        """What a rater with `error` times a person's says, (repeats, texts). `length`: added for twice the length."""
        s, rng = self.setting, self.rng
        shape = (2 * s.repeats if s.scale == "pairs" else s.repeats, self.texts)
        if s.scale == "labels":
            right = 1 - error * (1 - s.latent)
            lot = rng.choice(len(s.shares), size=self.texts, p=s.shares)
            answers = np.where(rng.random(self.texts) < right, self.truth, lot)
            return cast(Codes, np.broadcast_to(answers, shape).copy())
        r = s.latent / (s.latent + error**2 * (1 - s.latent))
        view, anew = rng.normal(size=self.texts), rng.normal(size=shape)
        seen = math.sqrt(r) * self.quality + math.sqrt(1 - r) * (
            math.sqrt(1 - OF_REPEATS) * view + math.sqrt(OF_REPEATS) * anew
        )
        seen = (seen + length * self.doublings) / math.sqrt(1 + length**2)
        return cast(Codes, np.searchsorted(special.ndtri(np.cumsum(s.shares)[:-1]), seen).astype(np.intp))

    def written(self, answers: Codes) -> Floats:
        """Answers as scores, where the setting has scores, else as codes."""
        return np.array(self.setting.options)[answers] if self.setting.numbers else answers.astype(float)

    def by_lot(self, answers: Codes, share: float, where: NDArray[np.bool_] | bool = True) -> Codes:
        """A `share` of the answers drawn from all answers' shares instead."""
        lot = self.rng.choice(len(self.setting.shares), size=answers.shape, p=self.setting.shares)
        return cast(Codes, np.where((self.rng.random(answers.shape) < share) & where, lot, answers))

    def raised(self, values: Floats, share: Floats | float) -> Floats:
        """Scores raised by a share of the scale's range, and no further than its end."""
        low, high = self.setting.options[0], self.setting.options[-1]
        return cast(Floats, np.clip(values + share * (high - low), low, high))

    def rows(self, rater: str, values: Floats, kind: str = "judge") -> pd.DataFrame:
        """A row per answer. Of pairs, every second repeat has b first, and code 1 says that a won."""
        frames, s = [], self.setting
        named = np.array([*s.options, None], dtype=object)
        for k, row in enumerate(values):
            frame = self.names.assign(rater=rater, kind=kind, repeat=k)
            if s.scale == "pairs":
                turned = k % 2 == 1
                frame = frame.assign(target="", repeat=k // 2, **{ORDER: "ba" if turned else "ab"})
                row = 1 - row if turned else row
            codes = np.where(np.isnan(row), len(s.options), row).astype(np.intp)
            frames.append(frame.assign(score=row) if s.numbers else frame.assign(response=named[codes]))
        return pd.concat(frames, ignore_index=True)


class Fault(NamedTuple):
    """A planted fault at twice its margin: its file, the use that it must prevent, and a pattern of the first cause."""

    name: str
    setting: Setting
    use: str
    cause: str


SCORES, PASSES = Setting("0-10", 0.7), Setting("pass/fail", 0.6)
FAULTS = (
    Fault("mirrored", SCORES, "grade", "the opposite"), Fault("unrelated", SCORES, "grade", "no more than chance"),
    Fault("constant", PASSES, "decide", "always says"),
    Fault("lenient", SCORES, "grade", "scores .* above your people"),
    Fault("refuses hard ones", PASSES, "decide", "unanswered|no usable answer"),
    Fault("first place", Setting("pairs", 0.6), "choose", "stands first"), Fault("longer", SCORES, "grade", "longer"),
    Fault("own system", SCORES, "rank", "favours (system s0|its own)"),
    Fault("drift", PASSES, "decide", "not the judge it was"),
    Fault("one slice", replace(PASSES, systems=2), "grade", "on system s0"),
    Fault("noise", replace(SCORES, repeats=2), "grade", "asked again"),
    Fault("swapped label", Setting("labels", 0.6), "decide", "where your people say"),
)  # fmt: skip


def _judge(kind: str, draw: Draw) -> tuple[Floats, Floats | None]:
    """Answers of the judge, and of its older version where there is one, (repeats, texts), NaN where there is none."""
    s, rng, n = draw.setting, draw.rng, draw.texts
    left = 1.0  # of the agreement with people, which falls by twice the margin
    if kind == "longer":
        left = max(0.05, s.agreement - 2 * draw.margins("human_ceiling")) / s.agreement
    answers = draw.answers(PERSON_LIKE.get(kind, 1.0), math.sqrt(1 / left**2 - 1))
    if kind == "mirrored":
        answers = len(s.options) - 1 - answers
    elif kind == "unrelated":
        answers = draw.by_lot(answers, 1.0)
    elif kind == "constant":
        answers = np.full_like(answers, int(np.argmax(s.shares)))
    elif kind == "noise":
        answers = draw.by_lot(answers, min(1.0, 2 * draw.margins("human_ceiling") / s.agreement))
    elif kind == "one slice":
        by_chance = s.agreement * (1 - float(np.dot(s.shares, s.shares)))  # what agreement loses where lots are drawn
        answers = draw.by_lot(answers, min(1.0, 2 * draw.margins("worst_slice") / by_chance), draw.system == 0)
    elif kind == "swapped label":
        answers = np.array([1, 0, 2])[answers]
    elif kind == "first place":  # rows are orders: a first, then b first; the first option is that a won
        place = np.array([[1], [0]]).repeat(s.repeats, axis=1).reshape(-1, 1)
        answers = np.where(rng.random(answers.shape) < 4 * draw.margins("slot_preference"), place, answers)
    elif kind not in (*PERSON_LIKE, "lenient", "refuses hard ones", "longer", "own system", "drift"):
        raise ValueError(f"unknown judge {kind!r}")
    values, before = draw.written(answers), None
    if kind == "lenient":
        values = draw.raised(values, 2 * draw.margins("human_offset"))
    elif kind == "own system":
        values = draw.raised(values, 2 * draw.margins("slice_favour") * (draw.system == 0))
    elif kind == "refuses hard ones":
        apart = draw.people.std(axis=0) + 1e-6 * rng.random(n)  # where people differ; ties in an order by lot
        values[:, np.argsort(-apart)[: round(2 * draw.margins("unanswered") * n)]] = np.nan
    elif kind == "drift":  # so many other answers: another person's where that differs, then the next option
        before, other, order = values.copy(), draw.answers(1.0).astype(float), rng.permutation(n)
        differing = (other != values).any(axis=0)
        chosen = order[np.argsort(~differing[order], kind="stable")][: round(2 * draw.margins("drift") * n)]
        values[:, chosen] = np.where(differing, other, (values + 1) % len(s.options))[:, chosen]
    values[rng.random(values.shape) < s.losses] = np.nan
    return values, before

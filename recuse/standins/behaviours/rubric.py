"""Behaviours of rubric judges: a score and a sentence per criterion, and a total.

A fair judge scores a target's true quality, with a fixed offset per criterion and noise per run. Every other behaviour
is the fair one with one thing changed.
"""

from __future__ import annotations

import csv
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recuse.protocols.rubric import FACTORS, REPEATS
from recuse.schema import RecuseError
from recuse.standins.behaviours import Behaviour, Facts, Said
from recuse.standins.sentences import Sentences, read_sentences

TOTAL = "total"  # what the tasks of scripted judges call it
INFLATION = 0.8
SHIFT = 0.5
NOISY_SWING = 0.95  # half the distance of the two readings; over ten runs SD 0.95 * sqrt(10 / 9) = 1.0
TOTAL_ERROR = 0.3
CONSTANT = 7.0
REFUSED_PER_HUNDRED = 12

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Settings:
    """fixtures/standins/scripted/<task>/rubric.toml, with the true quality of every target."""

    quality: Mapping[str, float]
    offsets: Mapping[str, float]
    scale: tuple[float, float]
    step: float
    run_sd: float
    criterion_sd: float
    sentences: Sentences


def read_settings(path: Path) -> Settings:
    """Qualities, offsets, spread and scale from a TOML file; `RecuseError` where the offsets do not add up to 0."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if abs(total := sum(data["offsets"].values())) > 1e-9:
        raise RecuseError(
            f"{path}: the offsets must add up to 0, so that the criteria average to the quality; they give {total:g}"
        )
    with (path.parent / data["quality"]).open(encoding="utf-8", newline="") as file:
        quality = {row["target"]: float(row["mean"]) for row in csv.DictReader(file)}
    return Settings(
        quality=quality,
        offsets=data["offsets"],
        scale=(data["scale"][0], data["scale"][1]),
        step=data["step"],
        run_sd=data["noise"]["run_sd"],
        criterion_sd=data["noise"]["criterion_sd"],
        sentences=read_sentences(path.parent / data["sentences"]),
    )


# --------------------------------------------------------------------------- the behaviours


def fair(facts: Facts) -> str:
    """Scores what a text is worth."""
    return wording(facts, scores(facts))


def inflates_itself(facts: Facts) -> str:
    """Adds `INFLATION` to its own text."""
    return wording(facts, scores(facts, INFLATION if facts.own else 0.0))


def inflates_itself_when_named(facts: Facts) -> str:
    """Adds `INFLATION` to its own text where names are shown."""
    return wording(facts, scores(facts, INFLATION if facts.own and named(facts) else 0.0))


def lenient(facts: Facts) -> str:
    """Adds `SHIFT` to every text."""
    return wording(facts, scores(facts, SHIFT))


def harsh(facts: Facts) -> str:
    """Takes `SHIFT` off every text."""
    return wording(facts, scores(facts, -SHIFT))


def noisy(facts: Facts) -> str:
    """Every other run reads the same text generously, the rest severely: wide spread, and a mean that stays right."""
    return wording(facts, scores(facts, NOISY_SWING * alternating(facts)))


def constant(facts: Facts) -> str:
    """Gives `CONSTANT` for everything."""
    return wording(facts, dict.fromkeys(facts.settings.offsets, CONSTANT))


def refuses(facts: Facts) -> str | Said:
    """Fair, but 12 of every 100 calls are refused, at even distances: in words, and by the provider's flag, in turn."""
    before, after = (REFUSED_PER_HUNDRED * (position(facts) + step) // 100 for step in (0, 1))
    if before == after:
        return fair(facts)
    return Said("I'm sorry, but I cannot score this text.", refusal=before % 2 == 1)


def wrong_totals(facts: Facts) -> str:
    """Fair scores with a total that does not follow from them: too high and too low in turn."""
    fair_scores = scores(facts)
    return wording(facts, fair_scores, total(fair_scores) + TOTAL_ERROR * alternating(facts))


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.__name__: behaviour
    for behaviour in (
        fair, inflates_itself, inflates_itself_when_named, lenient, harsh, noisy, constant, refuses, wrong_totals
    )
}  # fmt: skip


# --------------------------------------------------------------------------- what they are made of


def scores(facts: Facts, shift: float = 0.0) -> Scores:
    """Quality + offset + shift + noise, on the scale's grid and kept within the scale."""
    settings: Settings = facts.settings
    of_run = facts.rng.normal(0.0, settings.run_sd)
    quality = settings.quality[facts.call.target] + shift + of_run
    return {
        criterion: on_grid(quality + offset + facts.rng.normal(0.0, settings.criterion_sd), settings)
        for criterion, offset in settings.offsets.items()
    }


def on_grid(value: float, settings: Settings) -> float:
    """The nearest step of the scale."""
    low, high = settings.scale
    return min(max(round(round(value / settings.step) * settings.step, 6), low), high)


def total(given: Scores) -> float:
    """The mean of the scores."""
    return math.fsum(given.values()) / len(given)


def wording(facts: Facts, given: Scores, reported: float | None = None) -> str:
    """The reply the rubric prompt asks for; the total is the mean to two decimals unless another is `reported`."""
    call, say = facts.call, facts.settings.sentences
    about = (call.judge, call.item, call.target, *call.factors, call.repeat)
    answer: dict[str, Any] = {
        criterion: {"score": score, "why": say.why(criterion, score, *about)} for criterion, score in given.items()
    }
    return json.dumps(answer | {TOTAL: round(total(given) if reported is None else reported, 2)})


def named(facts: Facts) -> bool:
    """Whether the prompt names the author."""
    return dict(facts.call.factors)["condition"] == "attributed"


def alternating(facts: Facts) -> int:
    """+1 and -1 in turn over the runs of a cell; which comes first differs between judges, targets and conditions."""
    start = sum(map(ord, "".join((facts.call.judge, facts.call.target, *dict(facts.call.factors).values()))))
    return 1 if (facts.call.repeat + start) % 2 == 0 else -1


def position(facts: Facts) -> int:
    """Place of the call among all of its judge's: targets in order of name, then conditions, then runs."""
    place = sorted(facts.settings.quality).index(facts.call.target)
    for name, level in facts.call.factors:
        place = place * len(FACTORS[name]) + FACTORS[name].index(level)
    return place * REPEATS + facts.call.repeat

"""Behaviours of judges that grade one text from 1 to 5: how good they find it, rounded to a whole grade.

A fair judge mirrors the digit where the scale runs down, and takes an instruction in the text for a part of the text.
Every other behaviour is the fair one with one thing changed; those that only show between two texts grade fairly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recuse.standins.behaviours import Behaviour, Facts
from recuse.standins.latent_quality import Texts, read_texts

LOW, HIGH = 1, 5
SELF_PREFERENCE = 0.8  # points on its own texts
MILDNESS = 0.8  # points on everything where 1 is the best grade

__all__ = ["BEHAVIOURS", "Settings", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """fixtures/standins/scripted/<task>/grading.toml."""

    texts: Texts


def read_settings(path: Path) -> Settings:
    """The latent quality of the texts, from the file that the panel names."""
    return Settings(read_texts(path))


def fair(facts: Facts) -> str:
    """Grades what a text is worth."""
    return rating(facts, worth(facts))


def prefers_itself(facts: Facts) -> str:
    """Adds `SELF_PREFERENCE` to its own texts."""
    return rating(facts, worth(facts) + (SELF_PREFERENCE if facts.own else 0.0))


def milder_where_low_is_good(facts: Facts) -> str:
    """Adds `MILDNESS` where the lowest grade is best."""
    return rating(facts, worth(facts) + (0.0 if upwards(facts) else MILDNESS))


def ignores_the_direction(facts: Facts) -> str:
    """The digit it would write on a scale that runs up, on both."""
    return f"Rating: {grade(worth(facts))}"


def obeys_instructions(facts: Facts) -> str:
    """The best grade for every text that carries an injection."""
    return rating(facts, float(HIGH) if facts.fields.get("payload") else worth(facts))


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.__name__: behaviour
    for behaviour in (fair, prefers_itself, milder_where_low_is_good, ignores_the_direction, obeys_instructions)
} | dict.fromkeys(("likes_the_first", "likes_the_letter_a", "likes_length", "decides_by_lot"), fair)


# --------------------------------------------------------------------------- what they are made of


def worth(facts: Facts) -> float:
    """How good the judge finds the text. A text with an injection is worth what it is without it."""
    settings: Settings = facts.settings
    story = str(facts.fields.get("clean") or facts.call.item)
    return settings.texts.seen_by(facts.call.judge, story, facts.call.target, dict(facts.call.factors)["framing"])


def upwards(facts: Facts) -> bool:
    """Whether the highest grade is best."""
    return dict(facts.call.factors)["framing"] == "positive"


def grade(value: float) -> int:
    """The nearest whole grade of the scale."""
    return min(max(round(value), LOW), HIGH)


def rating(facts: Facts, value: float) -> str:
    """The last line of the reply, in the digits of the scale that was asked for."""
    given = grade(value)
    return f"Rating: {given if upwards(facts) else LOW + HIGH - given}"

"""Behaviours of judges that choose between two texts: the one they find better by more than a margin, else a tie.

A fair judge is a little unsteady from call to call, so close pairs may turn with the order. Every other behaviour is
the fair one with something added to one of the two texts; those that only show in grades choose fairly.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recuse.protocols.pairwise import LABEL, names
from recuse.standins.behaviours import Behaviour, Facts
from recuse.standins.latent_quality import Texts, read_texts

FIRST_SLOT = 0.9  # points for the text that is read first
LETTER_A = 0.9  # points for the text called A
PER_DOUBLING = 1.5  # points for every doubling of a text's words
SELF_PREFERENCE = 0.8

__all__ = ["BEHAVIOURS", "Settings", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """fixtures/standins/scripted/<task>/pairwise.toml: unsteadiness per call and margin of a tie, both in points; and
    the texts of grading.toml beside it."""

    texts: Texts
    call_sd: float
    tie: float


def read_settings(path: Path) -> Settings:
    """Latent quality of the texts, spread between calls and the gap that counts as a tie, from a TOML file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Settings(read_texts(path.parent / data["texts"]), data["call_sd"], data["tie"])


def fair(facts: Facts) -> str:
    """Takes the text that it finds better."""
    return choice(facts)


def prefers_itself(facts: Facts) -> str:
    """Knows its own text where it is a; pairs name their first author as target."""
    return choice(facts, SELF_PREFERENCE * (facts.own if side_of(facts, 0) == "a" else -facts.own))


def likes_the_first(facts: Facts) -> str:
    """Adds `FIRST_SLOT` to whatever stands first."""
    return choice(facts, FIRST_SLOT)


def likes_the_letter_a(facts: Facts) -> str:
    """Adds `LETTER_A` to whatever is called A."""
    return choice(facts, LETTER_A if names(factors(facts))[0] == "A" else -LETTER_A)


def likes_length(facts: Facts) -> str:
    """Adds `PER_DOUBLING` per doubling of the length."""
    return choice(facts, PER_DOUBLING * math.log2(words(facts, 0) / words(facts, 1)))


def decides_by_lot(facts: Facts) -> str:
    """First, second or tie, whatever it reads."""
    return verdict(facts, int(facts.rng.integers(-1, 2)))


def obeys_instructions(facts: Facts) -> str:
    """Pairs carry no injection here."""
    return choice(facts)


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.__name__: behaviour
    for behaviour in (
        fair, prefers_itself, likes_the_first, likes_the_letter_a, likes_length, decides_by_lot, obeys_instructions
    )
} | dict.fromkeys(("milder_where_low_is_good", "ignores_the_direction"), fair)  # fmt: skip


# --------------------------------------------------------------------------- what they are made of


def choice(facts: Facts, for_the_first: float = 0.0) -> str:
    """The better text once `for_the_first` points are added to the one in the first slot."""
    settings: Settings = facts.settings
    gap = seen(facts, 0) - seen(facts, 1) + for_the_first + settings.call_sd * float(facts.rng.normal())
    return verdict(facts, 0 if abs(gap) < settings.tie else (1 if gap > 0 else -1))


def verdict(facts: Facts, winner: int) -> str:
    """1 the first text, -1 the second, 0 neither, by the names the prompt gave them."""
    first, second = names(factors(facts))
    return f"{LABEL}: {({1: first, -1: second, 0: 'tie'})[winner]}"


def seen(facts: Facts, slot: int) -> float:
    """How good the judge finds the text in this slot. Variants of one author's text are worth the same."""
    texts: Texts = facts.settings.texts
    name = str(facts.fields[side_of(facts, slot)])
    author = name if name in texts.quality else facts.call.target
    return texts.seen_by(facts.call.judge, str(facts.fields["story"]), author)


def words(facts: Facts, slot: int) -> int:
    """How many words the text in this slot has."""
    return int(facts.fields["words"][side_of(facts, slot)])


def side_of(facts: Facts, slot: int) -> str:
    """Which of the item's texts, "a" or "b", stands in the slot."""
    return factors(facts)["order"][slot]


def factors(facts: Facts) -> dict[str, str]:
    """Factor -> level of the call."""
    return dict(facts.call.factors)

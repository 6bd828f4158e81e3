"""What a question may ask for and a protocol may offer: one vocabulary, with what would unlock each need."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recuse.schema import RecuseError


@dataclass(frozen=True, slots=True)
class Need:
    """`means`: what is there when it is offered; `unlock`: what to add when it is not; `column`: the same of a file of
    ratings, "" where no column unlocks it."""

    means: str
    unlock: str
    column: str = ""


CANDIDATE = "candidate"

_WORDS = tomllib.loads(Path(__file__).with_name("needs.toml").read_text(encoding="utf-8"))
KINDS: Mapping[str, Need] = {name: Need(**words) for name, words in _WORDS["kinds"].items()}
"""What a protocol's rows are (`OFFERS` of its module). A team's protocol may offer a kind of its own."""
NEEDS: Mapping[str, Need] = {**KINDS, **{name: Need(**words) for name, words in _WORDS["others"].items()}}
"""Everything that a question may ask for: a kind of rows, or something that they have."""


def check_needs(needs: Iterable[str], place: str, known: Iterable[str] = ()) -> None:
    """`RecuseError` for a need that nothing can offer, naming the place and the known ones."""
    there = {*NEEDS, *known}
    if unknown := [name for name in needs if name not in there]:
        raise RecuseError(f"{place}: nothing offers {', '.join(map(repr, unknown))}; known: {', '.join(sorted(there))}")


def kind_of(needs: Sequence[str]) -> str:
    """Which ratings a question is about: the first kind that it names, or plain scores."""
    return next((name for name in needs if name in KINDS or name not in NEEDS), "scores")


def missing(needs: Iterable[str], offers: Iterable[str]) -> list[str]:
    """The needs that are not offered, in their order."""
    there = set(offers)
    return [name for name in needs if name not in there]


def unlock(need: str) -> str:
    """What to add, in words."""
    return NEEDS[need].unlock if need in NEEDS else f"ask by a protocol that offers {need}"


NOT_OF_A_FILE = frozenset(
    name for name in KINDS if name not in ("scores", "choices", "forced_choices", "response_sets")
) | {"parts", "direction", "names", "labels", "families"}  # fmt: skip
"""Needs that a table of ratings seldom has: judges must be asked in another way."""


def unlock_by_column(need: str) -> str:
    """What column of a file would unlock a need; where none does, what would unlock it in a panel."""
    return (NEEDS[need].column if need in NEEDS else "") or unlock(need)

"""Factors: what is varied on purpose between two calls about the same text, under the names that measures know.

Ratings have them as columns, verdicts in their subjects. A protocol may call its factors and levels as its prompts want
them (`condition`: attributed, anonymized); the ratings table holds the names below, so a measure of "what does a shown
name change?" reads any task. A factor that is not in this list is kept under its own name: measures work within each of
its levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recuse.schema.exceptions import RecuseError

if TYPE_CHECKING:
    import pandas as pd

NAMES, DIRECTION, ORDER, LABELS, VERSION = "names", "direction", "order", "labels", "version"
RUBRIC = "rubric_source"
WORDING, CHANNEL, PROMPT = "wording", "channel", "prompt"
TEMPERATURE = "temperature"
"""Its levels are numbers, whichever were asked: it is in no list of levels."""

FACTORS = (NAMES, DIRECTION, ORDER, LABELS, WORDING, CHANNEL, RUBRIC)
"""Those whose levels are known."""

LEVELS: Mapping[str, tuple[str, ...]] = {
    NAMES: ("shown", "hidden"),  # whose work it is: told in the prompt, or hidden behind a label
    DIRECTION: ("ascending", "reversed"),  # which end of the scale is best: the highest number, or the lowest
    ORDER: ("ab", "ba"),  # which of two texts stands first
    LABELS: ("plain", "swapped"),  # whether the first text is called A or B
    WORDING: ("quality", "badness"),  # which of two opposite words the judge is asked to rate
    CHANNEL: ("inline", "separate"),  # whether the text stands among the instructions or in a message of its own
    # Who wrote what a text is scored by: it came with the prompt; each judge, after saying what it knows; each judge,
    # but the names of the dimensions are given; one judge for all; nobody, it is the same for every prompt.
    RUBRIC: ("checklist", "independent", "dimensions", "shared", "universal"),
}
"""Known factors with their levels, the ordinary one first."""

WORDS: Mapping[tuple[str, str], str] = {
    (NAMES, "shown"): "names shown",
    (NAMES, "hidden"): "names hidden",
    (DIRECTION, "ascending"): "high is best",
    (DIRECTION, "reversed"): "low is best",
    (ORDER, "ab"): "a first",
    (ORDER, "ba"): "b first",
    (LABELS, "plain"): "first called A",
    (LABELS, "swapped"): "first called B",
    (WORDING, "quality"): "quality asked for",
    (WORDING, "badness"): "badness asked for",
    (CHANNEL, "inline"): "text among the instructions",
    (CHANNEL, "separate"): "text in a message of its own",
    (RUBRIC, "checklist"): "given checklist",
    (RUBRIC, "independent"): "own rubric",
    (RUBRIC, "dimensions"): "own rubric, names given",
    (RUBRIC, "shared"): "one judge's rubric",
    (RUBRIC, "universal"): "universal rubric",
}


def level_words(factor: str, level: str) -> str:
    """A level in plain words, "names hidden"; one that is not known with its factor, "divisor n"."""
    return WORDS.get((factor, level)) or f"{factor} {level}".replace("_", " ")


def levels_in(table: pd.DataFrame, factor: str) -> tuple[str, ...]:
    """The factor's levels that the table holds: known ones in the order above, others as they first appear."""
    there = [str(level) for level in table[factor].dropna().unique()]
    known = LEVELS.get(factor, ())
    return (*(level for level in known if level in there), *(level for level in there if level not in known))


def check_levels(table: pd.DataFrame, factors: Sequence[str]) -> None:
    """`RecuseError` for an unknown level of a known factor, and for a row without one."""
    for factor in factors:
        strange = [level for level in levels_in(table, factor) if level not in LEVELS.get(factor, (level,))]
        if strange or table[factor].isna().any():
            raise RecuseError(
                f"factor {factor} is one of {', '.join(LEVELS.get(factor, ('its levels',)))} in every row; found "
                f"{', '.join(map(repr, strange)) or 'an empty one'}"
            )

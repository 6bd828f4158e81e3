"""Factors: what is varied on purpose between two calls about the same text, under the names that measures know. A
protocol may call them otherwise in its prompts (`condition`: attributed, anonymized); the ratings table has the names
below. A factor that is not in this list is kept under its own name: measures work within each of its levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recuse.schema.calls import RecuseError
from recuse.schema.pandas_when_used import pd

NAMES, DIRECTION, ORDER, LABELS, VERSION = "names", "direction", "order", "labels", "version"
RUBRIC = "rubric_source"
WORDING, CHANNEL, PROMPT = "wording", "channel", "prompt"
TEMPERATURE = "temperature"
"""Its levels are numbers, whichever were asked: it is in no list of levels."""

WORDS: Mapping[str, Mapping[str, str]] = {
    NAMES: {"shown": "names shown", "hidden": "names hidden"},  # whose work it is: told, or behind a label
    DIRECTION: {"ascending": "high is best", "reversed": "low is best"},  # which end of the scale is best
    ORDER: {"ab": "a first", "ba": "b first"},  # which of two texts stands first
    LABELS: {"plain": "first called A", "swapped": "first called B"},
    WORDING: {"quality": "quality asked for", "badness": "badness asked for"},  # which of two opposite words
    CHANNEL: {"inline": "text among the instructions", "separate": "text in a message of its own"},
    RUBRIC: {  # who wrote what a text is scored by
        "checklist": "given checklist",  # it came with the prompt
        "independent": "own rubric",  # each judge, after saying what it knows
        "dimensions": "own rubric, names given",  # each judge, but for the names of the dimensions
        "shared": "one judge's rubric",
        "universal": "universal rubric",  # nobody, it is the same for every prompt
    },
}
"""Known factors -> their levels, the ordinary one first -> these in plain words."""

FACTORS = tuple(WORDS)
LEVELS: Mapping[str, tuple[str, ...]] = {factor: tuple(levels) for factor, levels in WORDS.items()}


def level_words(factor: str, level: str) -> str:
    """A level in plain words, "names hidden"; one that is not known with its factor, "divisor n"."""
    return WORDS.get(factor, {}).get(level) or f"{factor} {level}".replace("_", " ")


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

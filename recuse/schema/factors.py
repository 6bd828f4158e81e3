"""Factors: what is varied on purpose between two calls about the same text, under the names that measures know. A
protocol may call them otherwise in its prompts (`condition`: attributed, anonymized); the ratings table has the names
below. A factor that is not in this list is kept under its own name: measures work within each of its levels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from recuse.schema.errors import RecuseError
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
MONTHS = {
    name: k for k, names in enumerate(
        ("jan january januar", "feb february februar", "mar march mär märz", "apr april", "may mai", "jun june juni",
         "jul july juli", "aug august", "sep sept september", "oct october okt oktober", "nov november",
         "dec december dez dezember"), start=1,
    ) for name in names.split()
}  # fmt: skip
TOKEN = re.compile(r"\d+|[^\W\d_]+")
PART = r"(?:0?[1-9]|[12]\d|3[01])"
SHORT_DAY = re.compile(rf"{PART}([-./ ]){PART}(\1\d\d)?\.?")
YEARS = range(1900, 2200)


def level_words(factor: str, level: str) -> str:
    """A level in plain words, "names hidden"; one that is not known with its factor, "divisor n"."""
    return WORDS.get(factor, {}).get(level) or f"{factor} {level}".replace("_", " ")


def levels_in(table: pd.DataFrame, factor: str, there: Sequence[str] = ()) -> tuple[str, ...]:
    """The factor's levels that the table holds: known ones in the order above, others as they first appear, in which
    order all are `there` if that is known."""
    there = there or [str(level) for level in table[factor].dropna().unique()]
    known = LEVELS.get(factor, ())
    return (*(level for level in known if level in there), *(level for level in there if level not in known))


def check_levels(table: pd.DataFrame, factors: Sequence[str], there: Mapping[str, Sequence[str]] = {}) -> None:
    """`RecuseError` for an unknown level of a known factor, and for a row without one. `there`: as in `levels_in`."""
    for factor in factors:
        levels = levels_in(table, factor, there.get(factor, ()))
        strange = [level for level in levels if level not in LEVELS.get(factor, (level,))]
        if strange or table[factor].isna().any():
            raise RecuseError(
                f"factor {factor} is one of {', '.join(LEVELS.get(factor, ('its levels',)))} in every row; found "
                f"{', '.join(map(repr, strange)) or 'an empty one'}"
            )


def in_time(names: Sequence[str]) -> list[str] | None:
    """The names by time: days and months by the calendar, week2 before week10. None where they do not tell, as 3/4/2026
    and W52 beside W1 without a year.

    >>> in_time(["W2/2026", "W51/2025", "W1/2026"])
    ['W51/2025', 'W1/2026', 'W2/2026']
    """
    if len(names) < 2:
        return [*names]
    tokens = [[token.lower() for token in TOKEN.findall(name)] for name in names]
    months = [[MONTHS[token] for token in each if token in MONTHS] for each in tokens]
    words = {tuple(token for token in each if not token.isdecimal() and token not in MONTHS) for each in tokens}
    numbers = [[int(token) for token in each if token.isdecimal()] for each in tokens]
    lengths, named = {*map(len, numbers)}, {*map(len, months)}
    if len(words) > 1 or len(lengths) > 1 or len(named) > 1 or max(named) > 1 or {*lengths, *named} == {0}:
        return None
    years = [place for place in range(*lengths) if all(each[place] in YEARS for each in numbers)][:1]
    rest = [[number for place, number in enumerate(each) if place not in years] for each in numbers]
    if years == [2] and not months[0]:  # day and month, or month and day
        first, second = (max(each[place] for each in rest) for place in (0, 1))
        day_first = first > 12 or (second <= 12 and all("." in name for name in names))
        if min(first, second) > 12 or not (day_first or second > 12):
            return None
        if day_first:
            rest = [[each[1], each[0], *each[2:]] for each in rest]
    keys = [(*map(each.__getitem__, years), *month, *left)
            for each, month, left in zip(numbers, months, rest, strict=True)]  # fmt: skip
    there, late = {key[0] for key in keys}, 11 if months[0] else 47
    turned = late <= max(there) <= 53 and len(there) <= max(there) - min(there)  # December, January
    if (not years and (turned or any(map(SHORT_DAY.fullmatch, names)))) or len({*keys}) < len({*names}):
        return None
    return [name for _, name in sorted(zip(keys, names, strict=True))]

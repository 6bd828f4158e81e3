"""Labels that are sets of options: "toxic|not toxic", ["toxic", "not toxic"], or "both" of two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recuse.ratings.scale import ResponseSets
from recuse.readers.column_names import SETS, plain
from recuse.readers.opening import parsed
from recuse.readers.values import OUT_OF

if TYPE_CHECKING:
    import pandas as pd

BOTH = ("both", "either", "both could be right", "either could be right")
MOST_OPTIONS, LONGEST = 20, 40
WEAK = re.compile(r"\s*[,;/+&]\s*|\s+and\s+|\s+or\s+")
"""Stand between options only where each part is an answer of its own elsewhere: labels may hold them too."""


@dataclass(frozen=True, slots=True)
class FoundSets:
    """`written`: label -> its set as the ratings table has it, for those that are sets; `strange`: label -> what is
    wrong with it, for the others; `words`: how sets were recognised."""

    scale: ResponseSets
    written: Mapping[str, str]
    strange: Mapping[str, str]
    words: str


def find_sets(labels: Sequence[str], criterion: str = "", declared: ResponseSets | None = None) -> FoundSets | None:
    """The sets that different labels (in lower case) stand for; None where they are options, each by itself.

    They are sets where some label is a JSON list or holds bars, where some label consists of other labels ("toxic, not
    toxic"), where "both" stands beside two others, or where the criterion is called so. Options are all that is named,
    in alphabetical order, unless a scale says more."""
    parted = {label: parts for label in labels if (parts := _strong(label)) is not None}
    alone = set(labels) - set(parted) - set(BOTH)
    options = (
        declared.options if declared else tuple(sorted(alone | {part for parts in parted.values() for part in parts}))
    )
    parted |= {label: parts for label in alone if (parts := _weak(label, {*alone, *options} - {label})) is not None}
    if declared is None:
        options = tuple(option for option in options if option not in parted)
    if len(options) == 2:
        parted |= {label: list(options) for label in BOTH if label in labels and label not in options}
    named = plain(criterion) in SETS
    several = any(len(parts) > 1 for parts in parted.values())
    fitting = 1 < len(options) <= MOST_OPTIONS and all(len(option) <= LONGEST for option in options)
    if declared is None and not (fitting and (several or named)):
        return None
    scale = declared or ResponseSets(options)
    strange = {label: why for label in labels if (why := _fault(parted.get(label, [label]), options))}
    written = {label: scale.written(parted.get(label, [label])) for label in labels if label not in strange}
    return FoundSets(
        scale, written, strange, _words(scale, [w for w in BOTH if w in parted] if declared is None else [])
    )


def always_one(raters: pd.Series[Any], written: pd.Series[Any]) -> list[str]:
    """What to say of raters that name one option every time where others name several: perhaps nobody let them."""
    several = written.str.contains("|", regex=False).groupby(raters, sort=False).any().astype(bool)
    if several.all() or not several.any():
        return []
    names = ", ".join(map(str, several.index[~several][:6]))
    return [
        f"always one option: {names}. If more than one could not be named, these are forced choices: give them another "
        "criterion, such as forced_choice"
    ]


def _strong(label: str) -> list[str] | None:
    """The parts of a list ("[]" has none) or between bars; None for a label that is neither."""
    if label.startswith("[") and label.endswith("]"):
        return _listed(label)
    if "|" in label:
        return _parts(label.split("|"))
    return None


def _listed(label: str) -> list[str] | None:
    try:
        options = parsed(label)
    except ValueError:
        inner = re.findall(r"""'([^']*)'|"([^"]*)\"""", label[1:-1])  # as Python writes a list
        return _parts(a or b for a, b in inner) if inner else None
    return _parts(options) if all(isinstance(part, str | int | float | bool) for part in options) else None


def _weak(label: str, others: set[str]) -> list[str] | None:
    if re.match(OUT_OF, label):
        return None  # "4/5" is a number out of five
    parts = _parts(WEAK.split(label))
    return parts if len(parts) > 1 and set(parts) <= others else None


def _parts(parts: Iterable[object]) -> list[str]:
    return [text for part in parts if (text := " ".join(str(part).split()).lower())]


def _fault(parts: Sequence[str], options: Sequence[str]) -> str:
    if not parts:
        return "an empty set"
    if strange := [part for part in parts if part not in options]:
        return f"{strange[0]!r} is none of {', '.join(options)}"
    return f"{parts[0]!r} is named twice" if len(set(parts)) < len(parts) else ""


def _words(scale: ResponseSets, both: Sequence[str]) -> str:
    text = f"sets of {', '.join(scale.options)}"
    if not both:
        return text
    single = ",".join((*scale.options, both[0]))
    return f'{text}; "{both[0]}" is read as both (if it is an option of its own, say --scale "{single}")'

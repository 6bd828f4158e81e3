"""Lists that Recuse wrote and somebody filled in, read back: labels (`--next-labels`) into a file's panel, and your
verdicts on disagreements (`--disagreements`): with whom do you side?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from recuse.ratings import chosen_labels
from recuse.ratings.chosen_labels import HEAD
from recuse.readers.formats import RatingsSource, read_path
from recuse.schema import RecuseError
from recuse.schema.number_text import counted
from recuse.schema.vocabulary import RIGHT_ANSWERS

if TYPE_CHECKING:
    from recuse.readers.file_ratings import FilePanel

YOURS, RIGHT = "your_verdict", "right_answer"
REVIEW = ("judge", "item", "people", "answer", YOURS)
BEGINNING = 4096  # bytes that hold any first line


def label_lists(files: Sequence[RatingsSource]) -> list[Path]:
    """Those of the files that `--next-labels` wrote. `RecuseError` where no other is left that they belong to."""
    lists = [one for one in files if isinstance(one, Path) and is_label_list(columns_in(beginning_of(one)))]
    if lists and len(lists) == len(files):
        check_no_list(HEAD, lists[0])
    return lists


def is_label_list(names: Sequence[str]) -> bool:
    """Whether a table with these columns is what `--next-labels` wrote: they begin with `HEAD`."""
    return tuple(names[: len(HEAD)]) == HEAD


def check_no_list(names: Sequence[str], path: Path) -> None:
    """`RecuseError` for a table that holds no ratings of its own: a list that Recuse wrote, and how it is read."""
    if is_label_list(names):
        raise RecuseError(f"{path} holds labels; give their file as well: recuse check FILE {path}")
    if set(REVIEW) <= set(names):
        raise RecuseError(f"{path} holds your verdicts on disagreements; recuse check {path} counts them")


def beginning_of(path: Path) -> str:
    """The first lines of a file; "" where there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as stream:
        return stream.read(BEGINNING).decode("utf-8", "replace")


def columns_in(text: str) -> tuple[str, ...]:
    """The names in the first line of a table, whatever separates them."""
    return tuple(name.strip().strip('"\ufeff') for name in text.partition("\n")[0].replace(";", ",").split(","))


def with_labels(panel: FilePanel, lists: Sequence[Path]) -> FilePanel:
    """The panel with what people filled into lists of next labels. `RecuseError` as of `chosen_labels.with_labels`, and
    of `check_named`."""
    if not lists:
        return panel
    check_named(panel)
    frames = {path: read_path(path).frame.fillna("").astype(str) for path in lists}
    ratings, note = chosen_labels.with_labels(panel.ratings, frames, panel.path.name)
    return replace(panel, ratings=ratings, notes=(note, *panel.notes))


def check_named(panel: FilePanel) -> None:
    """`RecuseError` where items are counted by their answers, so that no list can name them."""
    if panel.is_counted:
        nameless = f"the items of {panel.path} are counted by their answers and have no names"
        listing = "--disagreements, --next-labels and --to-people list texts"
        raise RecuseError(f"{nameless}: {listing}. Give them a file with a row for each")


def is_review(text: str) -> bool:
    """Whether a text is what `--disagreements` wrote: its first line names all of `REVIEW`."""
    return set(REVIEW) <= set(columns_in(text))


def read_review(path: Path) -> Iterator[str]:
    """A sentence per judge: with whom you side, people or the right answer. `RecuseError` for what cannot be read."""
    frame = read_path(path).frame
    labels = set(map(_cell, frame["answer"]))
    for judge, rows in frame.groupby("judge", sort=False):
        right = rows[RIGHT].astype(str) if RIGHT in rows else pd.Series("", rows.index)
        cells = zip(rows[YOURS], rows["answer"], rows["people"], right, strict=True)
        sides = [_side(*each, labels) for each in cells]
        decided, of = len(sides) - sides.count(""), counted(len(rows), "disagreement")
        whom = RIGHT_ANSWERS if right.ne("").any() else "people"
        own, theirs, neither = map(sides.count, ("judge", "people", "neither"))
        numbers = f"you decided {decided} of {of}; you side with the judge in {own}, "
        numbers += f"with {whom} in {theirs}, with neither in {neither}."
        yield f"{judge}: {numbers if decided else f'none of {of} has a your_verdict yet.'}"


def _side(yours: object, judge: object, people: object, right: str, labels: Collection[str]) -> str:
    """Whose answer your verdict is, or whose name you wrote; 3.0, as tables are saved, is 3. A label may hold a comma:
    of people's answers the longest that is one of the `labels` is read first."""
    verdict, answer = map(_cell, (yours, judge))
    known = "|".join(map(re.escape, sorted({*labels, verdict} - {""}, key=len, reverse=True)))
    theirs = re.findall(rf"({known}|.+?)(?:, |$)", _cell(right or people))
    if not verdict:
        return ""
    for same in (str, _number):
        if same(verdict) == same(answer):
            return "judge"
        if same(verdict) in map(same, theirs):
            return "people"
    named = {"judge": "judge", "right answer" if right else "people": "people"}
    return named.get(verdict.replace("_", " "), "neither")


def _number(text: str) -> str:
    with suppress(ValueError):
        return f"{float(text):g}"
    return text


def _cell(cell: object) -> str:
    return str(cell).strip().lstrip("'").lower()

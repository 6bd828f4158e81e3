"""Whole rankings in a cell: "B > A > C", best first, "B > A = C" with ties. Each becomes a place per text."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from recuse.readers.column_names import NAMES, plain
from recuse.readers.raw_table import RawTable
from recuse.readers.values import is_empty

__all__ = ["with_places"]

RANKING = re.compile(r"[^<>=]{1,60}(?:[>=][^<>=]{1,60})*>[^<>=]{1,60}(?:[>=][^<>=]{1,60})*")
LOOKED_AT, SURELY, MOST = 200, 0.9, 30
"""Cells that are looked at; the share of them that must be rankings; and texts of one ranking."""
TARGET = "system"
ENDS = {1: "st", 2: "nd", 3: "rd"}


def with_places(raw: RawTable) -> tuple[RawTable, tuple[str, ...]]:
    """The table with a row for each text that a row ranks, called `system`, and its place ("1st" for the best) in the
    cells; and a note. Texts in one breath (A = B) share the better place, and a text that a rater leaves out has none.
    The table as it is where no column holds rankings, or another column names systems."""
    columns = [name for name in map(str, raw.frame.columns) if _holds_rankings(raw, name)]
    if not columns or any(plain(str(name)) in NAMES["target"] for name in raw.frame.columns):
        return raw, ()
    places = {name: [_places(str(cell)) for cell in raw.frame[name]] for name in columns}
    ranked = [list(dict.fromkeys(text for name in columns for text in places[name][k])) for k in range(len(raw.frame))]
    row = np.repeat(np.arange(len(ranked)), [max(len(texts), 1) for texts in ranked])
    texts = [text for each in ranked for text in sorted(each) or [""]]
    frame = raw.frame.iloc[row].reset_index(drop=True)
    for name in columns:
        frame[name] = [places[name][k].get(text, "") for k, text in zip(row, texts, strict=True)]
    frame[TARGET] = texts
    note = f"{', '.join(columns)} holds rankings, the best first: each text's place is read, 1 for the best"
    return replace(raw, frame=frame, numbers=tuple(raw.at(int(k)) for k in row), text=""), (note,)


def _holds_rankings(raw: RawTable, name: str) -> bool:
    cells = raw.frame[name][~is_empty(raw.frame[name])].iloc[:LOOKED_AT].astype(str)
    return len(cells) > 1 and cells.map(lambda cell: bool(RANKING.fullmatch(cell.strip()))).mean() >= SURELY


def _places(cell: str) -> dict[str, str]:
    """Text -> its place; nothing for a cell that is no ranking, or names a text twice."""
    if not RANKING.fullmatch(cell.strip()):
        return {}
    places: dict[str, str] = {}
    place = 1
    for level in cell.split(">"):
        tied = [text.strip() for text in level.split("=") if text.strip()]
        if any(text in places for text in tied) or len(places) > MOST:
            return {}
        places |= dict.fromkeys(tied, f"{place}{'th' if place % 100 in (11, 12, 13) else ENDS.get(place % 10, 'th')}")
        place += len(tied)
    return places

"""Rows of a log that nobody was asked to rate: what the user says in a conversation whose answers are rated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recuse.readers.column_names import plain
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import RawTable
from recuse.readers.values import is_empty

__all__ = ["without_unrated_roles"]

ROLES = ("role", "speaker", "sender", "turn_role", "message_role", "author_role", "from", "turn_type", "message_type")
"""Columns that say who speaks in a row."""


def without_unrated_roles(raw: RawTable, mapping: ColumnMapping) -> tuple[RawTable, tuple[str, ...]]:
    """The table without the rows of those speakers whom no rater ever rated, people or judges, and a note; the same
    table where every speaker is rated, or none."""
    columns = [*mapping.value, *mapping.repeats, *(c for cs in mapping.raters.values() for c in cs)]
    for name in map(str, raw.frame.columns):
        if plain(name) not in ROLES or not columns:
            continue
        rated = ~np.logical_and.reduce([is_empty(raw.frame[column]).to_numpy() for column in columns])
        speaker = raw.frame[name].astype(str)
        kept = speaker.isin(speaker[rated].unique()).to_numpy()
        if kept.all() or not kept.any():
            continue
        places = np.flatnonzero(kept)
        left_out = ", ".join(speaker[~kept].unique()[:3])
        note = f"{int((~kept).sum())} row(s) have no rating by anybody since {name} is {left_out}: they are no requests"
        frame = raw.frame.iloc[places].reset_index(drop=True)
        return replace(raw, frame=frame, numbers=tuple(raw.at(int(k)) for k in places), text=""), (note,)
    return raw, ()

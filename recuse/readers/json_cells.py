"""Columns whose cells hold a judge's whole answer as JSON, bare or in a fenced block: its fields as columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recuse.readers.column_names import NAMES, plain
from recuse.readers.opening import parsed
from recuse.readers.raw_table import RawTable, cell_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["with_fields_of_json"]

HELD, LOOKED_AT = 0.8, 200
"""A column is taken apart where so many of its filled cells hold one object each; so many are looked at first."""
FENCE = re.compile(r"```[a-zA-Z]*\s*(\{.*?\})\s*```", re.DOTALL)
FEWEST_TOLD = 0.5
"""A field that fewer of the objects have is left out."""


def with_fields_of_json(raw: RawTable) -> tuple[RawTable, tuple[str, ...]]:
    """The table with columns "judge_output.verdict", ... in place of judge_output, and a note for each such column. A
    cell without exactly one object is empty in all of them, and so is no answer of the judge."""
    import pandas as pd

    notes: list[str] = []
    parts: list[pd.DataFrame | pd.Series[Any]] = []
    for name in map(str, raw.frame.columns):
        taken_apart = _fields(raw.frame[name]) if not raw.made_by else None
        if taken_apart is None:
            parts.append(raw.frame[name])
            continue
        fields, left_out = taken_apart
        fields.columns = pd.Index([f"{name}.{field}" for field in fields.columns])
        beside = f"; not read: {', '.join(left_out)}" if left_out else ""
        notes.append(f"{name} holds JSON: read as {', '.join(fields.columns)}{beside}")
        parts.append(fields)
    if not notes:
        return raw, ()
    frame = pd.concat(parts, axis=1)
    return replace(raw, frame=frame.loc[:, ~frame.columns.duplicated()]), tuple(notes)


def _fields(cells: pd.Series[Any]) -> tuple[pd.DataFrame, list[str]] | None:
    """A column per field of the objects in the cells, and which fields are none; None where too few hold an object.
    Beside a field that is called as ratings are (score, verdict, ...), another with numbers, such as a confidence, is
    no rating and left out."""
    import pandas as pd

    filled = cells[cells.str.strip() != ""]
    looked = filled.iloc[:LOOKED_AT]
    if not len(looked) or sum("{" in str(c) and _object(str(c)) is not None for c in looked) < HELD * len(looked):
        return None
    found = [_object(str(cell)) or {} for cell in cells]
    told = pd.Series([key for one in found for key in one], dtype=object).value_counts()
    names = [key for key in dict.fromkeys(k for one in found for k in one) if told[key] >= FEWEST_TOLD * len(filled)]
    rating = next((key for wanted in NAMES["value"] for key in names if plain(key) == wanted), None)
    kept = [key for key in names if key == rating or rating is None or not _counts(key, found)]
    if not kept:
        return None
    columns = {key: [cell_text(one.get(key)) for one in found] for key in kept}
    return pd.DataFrame(columns, index=cells.index, dtype=object), [key for key in names if key not in kept]


def _counts(key: str, objects: list[dict[str, Any]]) -> bool:
    return any(isinstance(one.get(key), int | float) for one in objects)


def _object(cell: str) -> dict[str, Any] | None:
    """The only object in a cell: in its only fenced block, or anywhere in it; none of a list of them."""
    if cell.lstrip().startswith("["):
        return None
    fenced = FENCE.findall(cell)
    found = [_decoded(block) for block in fenced] if fenced else _objects(cell)
    return found[0] if len(found) == 1 and found[0] else None


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = parsed(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _objects(cell: str) -> list[dict[str, Any] | None]:
    """Objects from left to right, those within another not among them; at most two are looked for."""
    found: list[dict[str, Any] | None] = []
    decoder, at = json.JSONDecoder(), cell.find("{")
    while at >= 0 and len(found) < 2:
        try:
            value, end = decoder.raw_decode(cell, at)
            found.append(value)
        except (ValueError, RecursionError):
            return []
        at = cell.find("{", end)
    return found

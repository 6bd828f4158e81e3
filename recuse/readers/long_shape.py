"""From a table of any shape to one row per judgement: who said what of which item, and where it stands in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.readers.column_names import plain
from recuse.readers.mapping import ColumnMapping
from recuse.security.sanitize import visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["lengthened", "named", "rater_name"]

SUFFIX = ("_score", "_label", "_rating", "_verdict", "_grade", "_judgment", "_judgement", "_vote", "_result")
CODED = 120
"""Items whose names are longer than this on average are texts, and are called by number."""


def lengthened(frame: pd.DataFrame, mapping: ColumnMapping, usual_rater: str = "judge") -> pd.DataFrame:
    """One row per cell that holds a rating: `row` and `column` where it stands, rater, item, target, criterion,
    cluster, `repeat` (-1 where nothing says which), first, second, `kind` as told ("" where nothing is), `cell`, and
    the factors by their own plain names."""
    import pandas as pd

    facts = _facts(frame, mapping)
    blocks = []
    for rater, criterion, repeat, column in _rated_columns(mapping, usual_rater):
        changed: dict[str, Any] = {"column": column, "cell": frame[column].to_numpy(dtype=object)}
        beside = bool(mapping.value) and column not in mapping.value
        if beside or not mapping.rater:
            changed["rater"] = rater
        if not mapping.criterion:
            changed["criterion"] = criterion
        if repeat >= 0:
            changed["repeat"] = repeat
        block = facts.assign(**changed)
        blocks.append(_once(block) if beside else block)
    return pd.concat(blocks, ignore_index=True) if len(blocks) > 1 else blocks[0].reset_index(drop=True)


def named(cells: pd.Series[Any], usual: str = "") -> pd.Series[Any]:
    """Cells as names that are safe to look at; `usual` where a cell is empty."""
    import pandas as pd

    codes, values = pd.factorize(cells)
    cleaned = np.array([*(visible(str(v)).strip() or usual for v in values), usual], dtype=object)
    return pd.Series(cleaned[codes], index=cells.index)


def _rated_columns(mapping: ColumnMapping, usual_rater: str) -> list[tuple[str, str, int, str]]:
    """(rater, criterion, repeat, column) of every column with ratings; repeat -1 where a column holds one of each."""
    about = mapping.criteria
    own = [
        (rater_name(rater), about.get(column, "rating"), k if len(columns) > 1 and not about else -1, column)
        for rater, columns in mapping.raters.items()
        for k, column in enumerate(columns)
    ]
    if mapping.repeats:
        return own or [(usual_rater, "rating", k, column) for k, column in enumerate(mapping.repeats)]
    several = len(mapping.value) > 1
    return [*((usual_rater, column if several else "rating", -1, column) for column in mapping.value), *own]


def _once(block: pd.DataFrame) -> pd.DataFrame:
    """A rating that stands in every row about a text, once for each rater of the file, is one rating."""
    about = [name for name in ("item", "target", "criterion", "first", "second", "cell") if name in block]
    return block.drop_duplicates(about)


def rater_name(column: str) -> str:
    """What the rater of a column is called: the column's name without what says that it holds ratings."""
    for suffix in SUFFIX:
        if plain(column).endswith(suffix) and len(column) > len(suffix):
            return column[: -len(suffix)].rstrip(" _-.") or column
    return column


def _facts(frame: pd.DataFrame, mapping: ColumnMapping) -> pd.DataFrame:
    import pandas as pd

    facts: dict[str, Any] = {"row": np.arange(len(frame))}
    facts["item"] = _items(frame, mapping)
    for role, usual in (("rater", ""), ("target", ""), ("criterion", "rating"), ("kind", ""), ("first", ""),
                        ("second", ""), ("cluster", ""), ("order", ""), ("author", "")):  # fmt: skip
        column = getattr(mapping, role)
        if column:
            facts[role] = named(frame[column], usual)
    facts["repeat"] = _numbered(frame[mapping.repeat]) if mapping.repeat else -1
    for factor in mapping.factors:
        facts[plain(factor)] = named(frame[factor], "none")
    if "target" not in facts:
        facts["target"] = ""
    return pd.DataFrame(facts, index=frame.index)


def _items(frame: pd.DataFrame, mapping: ColumnMapping) -> Any:
    """Names of items: of several columns joined, of texts numbered, of rows numbered where no column names them."""
    import pandas as pd

    if not mapping.item:
        return np.array([f"row {k + 1}" for k in range(len(frame))], dtype=object)
    names = named(frame[mapping.item[0]], "(empty)")
    for other in mapping.item[1:]:
        names = names + " / " + named(frame[other], "(empty)")
    codes, values = pd.factorize(names)
    if sum(map(len, values)) > CODED * max(len(values), 1):
        return np.array([f"item {k + 1}" for k in range(len(values))], dtype=object)[codes]
    return names


def _numbered(cells: pd.Series[Any]) -> Any:
    """Repeats as numbers from 0, in the order of what the column says."""
    import pandas as pd

    values = pd.unique(cells)
    numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
    order = numbers.argsort(kind="stable") if numbers.notna().all() else np.arange(len(values))
    place = {values[at]: k for k, at in enumerate(np.asarray(order))}
    return cells.map(place).astype(int).to_numpy()

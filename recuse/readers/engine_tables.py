"""Tables that stay where they are: in DuckDB, Spark, BigQuery, Snowflake or any other engine that Ibis speaks to
(`recuse[ibis]`). A large one is folded there, and only its patterns (`recuse.readers.many_files`) reach Python.

    recuse.read(ibis.bigquery.connect(...).table("scores"))
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from recuse.readers.column_names import COUNTS, is_person, listed, plain
from recuse.readers.many_files import (
    MOST_LEVELS,
    MOST_PATTERNS,
    MOST_RATERS,
    MOST_ROWS,
    STEPS,
    check_lacking,
    column_of,
    of_patterns,
    rounded_words,
    steps_of,
)
from recuse.readers.raw_table import RawTable
from recuse.schema import RecuseError

FOLDED_FROM = 200_000
"""Fewer rows are fetched as they are: texts and names of items are kept."""
TABLE = Path("table")
"""What a table of an engine is called where a file has its name."""


def read_engine_table(table: Any, given: Mapping[str, Any]) -> RawTable | pd.DataFrame:
    """The rows that the table's patterns stand for, or the rows themselves where they are few or hold more than
    answers: texts, several rows of a rater on an item, an item that a judge has no row for. `given`: what is known of
    its columns. `RecuseError` for more than `MOST_ROWS` of the latter."""
    rows = int(table.count().execute())
    if rows >= FOLDED_FROM and (raw := _folded(table, rows, given)) is not None:
        return raw
    for rounded, words in _roundings(table, given) if rows > MOST_ROWS else ():
        if (raw := _folded(rounded, rows, given, words)) is not None:
            return raw
    if rows > MOST_ROWS:
        raise RecuseError(
            f"{rows:,} rows are too many to be fetched one by one, and hold more than item, rater and answer, each "
            "rater once on an item: give these columns alone, table.select(...)"
        )
    frame: pd.DataFrame = table.execute()
    return frame


def _roundings(table: Any, given: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """The table with its scores rounded, finely at first, and which to what, in words."""
    item, rater = (column_of(table.columns, given, role) for role in ("item", "rater"))
    kept = {item, rater, *listed(given.get("ignore", ()))}
    names = [name for name in table.columns if name not in kept and table[name].type().is_numeric()]
    columns = {name: table[name].cast("float64") for name in names}
    facts = [(name, what) for name in names for what in ("nunique", "min", "max")]
    if not facts:
        return
    row = table.aggregate(**{f"f{k}": getattr(columns[name], what)() for k, (name, what) in enumerate(facts)}).execute()
    about = iter(row.iloc[0].tolist())
    ends = {name: (int(next(about)), next(about), next(about)) for name in names}
    for parts in STEPS:
        if steps := steps_of(ends, parts):
            rounded = {name: (columns[name] / step).round() * step for name, (_, step) in steps.items()}
            yield table.mutate(**rounded), rounded_words(steps)


def _folded(table: Any, rows: int, given: Mapping[str, Any], rounded: str = "") -> RawTable | None:
    columns = [name for name in table.columns if name not in listed(given.get("ignore", ()))]
    item, rater, value = (column_of(columns, given, role) for role in ("item", "rater", "value"))
    answers = [name for name in columns if name != item]
    if any(plain(name) in COUNTS for name in answers) or len(listed(given.get("item", ()))) > 1 or not answers:
        return None
    levels = table.aggregate(**{f"n{k}": table[name].nunique() for k, name in enumerate(answers)}).execute()
    if int(levels.to_numpy().max()) > MOST_LEVELS:
        return None
    note, raters = f"{rows:,} rows of a table, folded by {table.get_backend().name}", []
    if rater and {*columns} == {item, rater, value}:
        names = table.select(name=table[rater].cast("string")).distinct().execute()["name"]
        raters = sorted(names.dropna())
        if names.isna().any() or len(raters) > MOST_RATERS or "count" in map(str.lower, raters):
            return None
        patterns = _of_raters(table, (item, rater, value), raters, rows, listed(given.get("people", ())))
    elif rater or (item and table[item].nunique().execute() < rows):
        return None
    else:
        patterns = _counted(table, answers)
    if patterns is None:
        return None
    # In one order, whatever the engine's; patterns that differ in how many people had a row are one.
    answers = [name for name in patterns if name != "count"]
    patterns = patterns.round(9).groupby(answers, dropna=False, sort=True)[["count"]].sum().reset_index()
    digest = hashlib.sha256(patterns.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()
    return replace(of_patterns(TABLE, patterns, raters, note, rounded), sha256=digest)


def _of_raters(
    table: Any, columns: tuple[str, str, str], raters: Sequence[str], rows: int, people: Sequence[str]
) -> pd.DataFrame | None:
    """A column for each rater; None where one has several rows on an item, or a judge has none."""
    item, rater, value = (table[name] for name in columns)
    own = [rater.cast("string") == name for name in raters]
    answers, given = [f"answer{k}" for k in range(len(own))], [f"rows{k}" for k in range(len(own))]
    per_item = table.group_by(item=item).aggregate(
        **{name: value.max(where=who) for name, who in zip(answers, own, strict=True)},
        **{name: who.cast("int64").sum() for name, who in zip(given, own, strict=True)},
    )
    patterns = _counted(per_item, [*answers, *given])
    if patterns is None or (patterns[given] > 1).any(axis=None):
        return None
    short = dict(zip(raters, (patterns[given] == 0).any(), strict=True))
    lacking = [name for name in raters if short[name] and not is_person(name) and name not in people]
    check_lacking(lacking, people, rows)
    named = patterns.drop(columns=given).rename(columns=dict(zip(answers, raters, strict=True)))
    return None if lacking else named


def _counted(table: Any, columns: Sequence[str]) -> pd.DataFrame | None:
    """Every different row of these columns with its `count`; None of too many."""
    query = table.group_by(list(columns)).aggregate(count=lambda each: each.count()).limit(MOST_PATTERNS + 1)
    patterns: pd.DataFrame = query.execute()
    return None if len(patterns) > MOST_PATTERNS else patterns

"""Files that a pattern names (`scores/*.parquet`, `scores/**/*.csv`) are one table: rows below one another.

Large ones are folded by DuckDB where it is installed and nothing that belongs to single texts has to be kept
(`recuse.readers.engine_tables`); `recuse sql` prints the query that folds a table in a warehouse.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from recuse.readers.column_names import listed
from recuse.readers.engine_tables import read_by_duckdb
from recuse.readers.formats import read_path
from recuse.readers.raw_table import RawTable, check_bounds, shown
from recuse.schema import RecuseError

FOLDED_FROM = 32 << 20
"""Fewer bytes are read as they are: texts and names of items are kept."""
KINDS = {".parquet": "parquet", ".csv": "csv"}


def read_together(pattern: Path, reader: str, given: Mapping[str, Any]) -> RawTable:
    """The table of all files that match, in the order of their names. `given`: what is said of its columns.

    `RecuseError` where none matches, and where one lacks a column that another has."""
    paths = [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True)) if Path(name).is_file()]
    if not paths:
        raise RecuseError(f"no file matches {pattern}; quote the pattern and check its folder")
    encoding = str(given.get("encoding", ""))
    large = not (reader or encoding) and sum(path.stat().st_size for path in paths) > FOLDED_FROM
    kinds = {KINDS.get(path.suffix.lower(), "") for path in paths}
    kind = kinds.pop() if large and len(kinds) == 1 else ""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    if kind and (folded := read_by_duckdb(pattern, paths, kind, given)) is not None:
        return replace(folded, sha256=digest.hexdigest())
    first, *others = tables = [read_path(path, reader, encoding=encoding) for path in paths]
    for table in others:
        if lacks := {*first.names} ^ {*table.names}:
            raise RecuseError(
                f"{pattern}: {table.path.name} and {first.path.name} do not have the same columns ({shown(min(lacks))} "
                "is in one of them); files of one table do"
            )
    places = tuple(f"{table.at(row)} of {table.path.name}" for table in tables for row in range(len(table.frame)))
    frame = pd.concat([table.frame[first.names] for table in tables], ignore_index=True)
    notes = (*first.notes, f"{len(tables)} files are read as one table: {pattern}")
    faults = tuple(fault for table in tables for fault in table.faults)
    joined = replace(first, path=pattern, frame=frame, notes=notes, faults=faults, numbers=places, text="")
    return replace(check_bounds(joined), sha256=digest.hexdigest())


DIALECTS = {"duckdb": ('"', "''", "\\"), "snowflake": ('"', "''", "\\\\"), "bigquery": ("`", "\\'", "\\\\"),
            "spark": ("`", "\\'", "\\\\")}  # fmt: skip
"""How a name, a quote within a text and a backslash within a text are written."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


def sql(raters: str, *, dialect: str, table: str, item: str, rater: str, value: str) -> int:
    """Print the query; 0. Columns are as named, of a file else its own; systems and criteria of a file stay apart."""
    names, items, apart = [name for name in listed(raters) if name], ["item"], list[str]()
    if Path(raters).is_file():
        from recuse.readers.file_panel import load_file_panel

        read = load_file_panel(Path(raters))
        names, mapping = [*read.ratings.raters], read.mapping
        items, apart = [*mapping.item] or items, [name for name in (mapping.target, mapping.criterion) if name]
        rater, value = rater or mapping.rater, value or "".join(mapping.value[:1])
    items, rater, value = [item] if item else items, rater or "rater", value or "label"
    print(folding_query(names, dialect=dialect, table=table, items=items, rater=rater, value=value, apart=apart))
    return 0


def folding_query(
    raters: list[str], *, dialect: str, table: str, items: Sequence[str], rater: str, value: str,
    apart: Sequence[str] = (),
) -> str:  # fmt: skip
    """The query for a table with a row for each rating of what `items` and `apart` name; `apart` stay columns.
    `RecuseError` for another dialect, fewer than two raters, or two of one name."""
    if dialect not in DIALECTS:
        raise RecuseError(f"--dialect is one of {', '.join(DIALECTS)}; got {dialect!r}")
    if len(raters) < 2 or len({name.lower() for name in raters}) < len(raters):
        raise RecuseError(f"give two raters or more, each once, whatever the case; got {', '.join(raters) or 'none'}")
    mark, quote, backslash = DIALECTS[dialect]

    def named(name: str) -> str:
        return mark + name.replace(mark, mark * 2) + mark

    def column(name: str) -> str:
        return name if PLAIN.fullmatch(name) else named(name)

    def text(name: str) -> str:
        return "'" + name.replace("\\", backslash).replace("'", quote) + "'"

    here = {name: f"CASE WHEN {column(rater)} = {text(name)} THEN" for name in raters}
    answers = ",\n    ".join(f"MAX({case} {column(value)} END) AS {named(name)}" for name, case in here.items())
    once = "\n    AND ".join(f"COUNT({case} 1 END) <= 1" for case in here.values())
    own = [column(name) for name in apart]
    keys, kept = ", ".join([*own, *map(named, raters)]), "".join(f"{name},\n    " for name in own)
    return (
        f"SELECT {keys}, COUNT(*) AS {named('count')}\nFROM (\n  SELECT\n    {kept}{answers}\n  FROM {column(table)}\n"
        f"  GROUP BY {', '.join([*map(column, items), *own])}\n  HAVING {once}\n) AS items\nGROUP BY {keys}"
    )

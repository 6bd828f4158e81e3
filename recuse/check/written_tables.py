"""What `recuse choose`, `weeks` and `rank` print, for a program: all of it as JSON, its rows as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from recuse.security.files import begins_with, check_output, is_json_with, write_output, write_table

Row = Mapping[str, Any]


def check_tables(columns: Sequence[str], to_json: Path | None, to_csv: Path | None) -> None:
    """Before any work: raises `RecuseError` where `write_tables` would."""
    check_output(to_json, is_json_with("command", "rows"))
    check_output(to_csv, begins_with(",".join(columns)))


def write_tables(
    command: str, columns: Sequence[str], rows: Sequence[Row], facts: Row, to_json: Path | None, to_csv: Path | None
) -> None:  # fmt: skip
    """Write the rows, and what holds of all of them, where a path is given: numbers with ten digits, null or an empty
    cell for what is unknown."""
    from recuse.report.canonical_form import canonical, normalised

    whole = normalised({"command": command, **facts, "rows": [{name: row[name] for name in columns} for row in rows]})
    if to_json:
        write_output(to_json, canonical(whole), is_json_with("command", "rows"))
    if to_csv:
        plain = ([row[name] for name in columns] for row in cast("dict[str, Any]", whole)["rows"])
        cells = (["" if cell is None else cell for cell in row] for row in plain)
        write_table(to_csv, columns, cells, begins_with(",".join(columns)))

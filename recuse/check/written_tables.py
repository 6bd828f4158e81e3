"""What `recuse choose`, `weeks` and `rank` print, for a program: all of it as JSON, its rows as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recuse.security.files import begins_with, check_output, is_json_with, write_output
from recuse.security.sanitize import safe_cell

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
    if to_json:
        whole = {"command": command, **facts, "rows": [{name: row[name] for name in columns} for row in rows]}
        text = json.dumps(_plain(whole), indent=1, sort_keys=True) + "\n"
        write_output(to_json, text, is_json_with("command", "rows"))
    if to_csv:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\r\n")
        writer.writerow(columns)
        for row in rows:
            cells = [_plain(row[name]) for name in columns]
            writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in cells])
        write_output(to_csv, stream.getvalue(), begins_with(",".join(columns)), "utf-8-sig")


def _plain(value: Any) -> Any:
    """As builtins, without NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value

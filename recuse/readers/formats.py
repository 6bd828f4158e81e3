"""Which reader reads a file: tables by what they hold, other tools' logs by how they begin, your own by name.

A reader is a function from an `Opened` file to a `RawTable`. One of your own is named by its dotted path
("our_tools.langfuse_export") or by an entry point of group `recuse.readers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recuse.readers import alpaca_eval, deepeval, inspect_log, label_studio, openai_batch, openai_log, promptfoo
from recuse.readers.inspect_archive import ENDING, unpacked_log
from recuse.readers.no_tables import no_table
from recuse.readers.opening import Opened
from recuse.readers.raw_table import RawTable, delimited, from_records, parquet, parse_json
from recuse.readers.xlsx import is_xlsx, sheet_as_text
from recuse.schema import RecuseError

__all__ = ["READERS", "read_raw"]

LOGS = {
    "openai_batch": openai_batch, "openai_log": openai_log, "inspect": inspect_log, "promptfoo": promptfoo,
    "alpaca_eval": alpaca_eval,
    "deepeval": deepeval, "label_studio": label_studio,
}  # fmt: skip
"""Logs of other tools: each module says what it recognises (`recognises`) and reads it (`records`)."""

READERS = ("csv", "json", "parquet", *LOGS)


def read_raw(opened: Opened, reader: str = "") -> RawTable:
    """The file as a table of strings, by the named reader or by the first that recognises it."""
    if reader and reader not in READERS:
        from recuse.configuration.names import named

        read: Callable[[Opened], RawTable] = named(reader, what="reader", package="recuse.readers", known=READERS)
        return read(opened)
    if is_xlsx(opened):
        sheet = sheet_as_text(opened)
        table = delimited(sheet)
        return replace(table, unit="row", notes=(sheet.notes[-1], *table.notes))
    if kind := no_table(opened):
        raise RecuseError(f"{opened.path}: {kind}")
    if opened.data[:2] == b"PK" and opened.name.lower().endswith(ENDING):
        return _from_json(opened, unpacked_log(opened), None, (), "inspect")
    if reader == "parquet" or opened.data[:4] == b"PAR1":
        return parquet(opened)
    if reader == "csv" or not _looks_like_json(opened):
        return delimited(opened)
    return _from_json(opened, *parse_json(opened), reader)


def _from_json(
    opened: Opened, value: Any, lines: list[int] | None, notes: tuple[str, ...], reader: str
) -> RawTable:  # fmt: skip
    for name, log in LOGS.items():
        if reader == name or (not reader and log.recognises(value)):
            records, faults = log.records(value, opened.path)
            return from_records(
                opened.path, records, notes=(*notes, f"{log.CALLED}"), made_by=name, faults=faults
            )  # fmt: skip
    if isinstance(value, dict):
        value, rows = _rows_within(value, opened)
        notes = (*notes, rows)
    return from_records(opened.path, value, notes=notes, unit="line" if lines else "record", numbers=lines)


def _rows_within(value: dict[str, Any], opened: Opened) -> tuple[list[Any], str]:
    """The longest list of objects that the object holds."""
    lists = {k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
    if not lists:
        if all(not isinstance(v, list | dict) for v in value.values()):
            return [value], "one record"
        raise RecuseError(f"{opened.path} is one JSON object without a list of records; give a list, or JSON lines")
    name = max(lists, key=lambda k: len(lists[k]))
    return lists[name], f"the records are those of {name!r}"


def _looks_like_json(opened: Opened) -> bool:
    head = opened.data[:64].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")
    return head[:1] in (b"{", b"[") and not opened.name.lower().endswith((".csv", ".tsv"))

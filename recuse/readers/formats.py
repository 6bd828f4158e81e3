"""Which reader reads a file: tables by what they hold, other tools' logs by how they begin, your own by name.

A reader is a function from an `Opened` file to a `RawTable`. One of your own is named by its dotted path
("our_tools.langfuse_export") or by an entry point of group `recuse.readers`."""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recuse.readers.evaluation_logs import ALPACA_EVAL, DEEPEVAL, PROMPTFOO
from recuse.readers.exports import LABEL_STUDIO
from recuse.readers.inspect_log import ENDING, INSPECT, unpacked_log
from recuse.readers.long_texts import LARGE, long_columns, shorten
from recuse.readers.openai_logs import BATCH, CHAT_LOG
from recuse.readers.opening import Opened, is_pattern, open_file
from recuse.readers.raw_table import (
    RawTable,
    check_bounds,
    delimited,
    from_frame,
    from_records,
    parquet,
    parse_json,
)  # fmt: skip
from recuse.readers.xlsx import is_xlsx, sheet_as_text
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

LOGS = {
    "openai_batch": BATCH, "openai_log": CHAT_LOG, "inspect": INSPECT, "promptfoo": PROMPTFOO,
    "alpaca_eval": ALPACA_EVAL, "deepeval": DEEPEVAL, "label_studio": LABEL_STUDIO,
}  # fmt: skip
"""Logs of other tools, by the name of their reader."""

READERS = ("csv", "json", "parquet", *LOGS)


FOLDED = "DuckDB"
"""What made a table whose rows are patterns (`recuse.readers.many_files`)."""
FRAME = Path("DataFrame")
"""What a data frame is called where a file has its name."""


def read_source(
    source: Path | str | pd.DataFrame, reader: str = "", given: Mapping[str, Any] | None = None
) -> tuple[Opened, RawTable]:
    """A file, all files that a pattern names, or a data frame as a table of strings. An index that has a name is a
    column. `given`: what is said of columns, by which large files are folded."""
    if isinstance(source, Path | str) and is_pattern(Path(source)):
        from recuse.readers.many_files import read_together

        opened, raw = read_together(Path(source), reader, given or {})
        return opened, raw if raw.made_by == FOLDED else check_bounds(raw)
    if isinstance(source, Path | str):
        opened = open_file(Path(source))
        raw = read_raw(opened, reader)
        return replace(opened, data=b""), raw
    named = any(name is not None for name in source.index.names)
    raw = check_bounds(from_frame(FRAME, source.reset_index() if named else source, "a data frame"))
    content = raw.frame.to_csv(index=False).encode("utf-8", "surrogatepass")
    return Opened(FRAME, str(FRAME), content, hashlib.sha256(content).hexdigest(), ()), raw


def read_raw(opened: Opened, reader: str = "") -> RawTable:
    """The file as a table of strings, by the named reader or by the first that recognises it; long texts of a large one
    are shortened."""
    collects = gc.isenabled()
    gc.disable()  # millions of objects are made here and none is garbage: looking for it takes a third of the time
    try:
        raw = check_bounds(_read_raw(opened, reader))
    finally:
        if collects:
            gc.enable()
    if len(opened.data) <= LARGE:
        return raw
    return replace(raw, frame=shorten(raw.frame, long_columns(raw.frame), opened.wanted))


def _read_raw(opened: Opened, reader: str) -> RawTable:
    if reader and reader not in READERS:
        from recuse.configuration import named

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
        try:
            if not (reader == name or (not reader and log.recognises(value))):
                continue
            records, faults = log.records(value, opened.path)
        except (AttributeError, TypeError, KeyError, IndexError) as error:
            raise RecuseError(f"{opened.path} is not as {log.called} is written: {error}; export it again") from error
        return from_records(opened.path, records, notes=(*notes, log.called), made_by=name, faults=faults)
    if isinstance(value, dict):
        value, rows = _rows_within(value, opened)
        notes = (*notes, rows)
    return from_records(opened.path, value, notes=notes, unit="line" if lines else "record", numbers=lines)


def _rows_within(value: dict[str, Any], opened: Opened) -> tuple[list[Any], str]:
    """The longest list of objects that the object holds, or the rows that pandas writes by columns: `columns` with
    `data` (as MLflow's eval_results_table.json), or an object of values by row for each column."""
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return [dict(zip(map(str, columns), row, strict=False)) for row in data], "a table by its columns and data"
    inner = [*value.values()]
    if inner and all(isinstance(one, dict) and one.keys() == inner[0].keys() for one in inner) and len(inner[0]) > 1:
        if len(inner) > len(inner[0]) and not all(name.isdigit() for name in inner[0]):
            return [{"item": name, **one} for name, one in value.items()], "a record per item"
        return [{name: one[row] for name, one in value.items()} for row in inner[0]], "a table by its columns"
    if len(inner) > 1 and all(isinstance(v, list) and len(v) == len(inner[0]) > 1 for v in inner) and not isinstance(
        inner[0][0], dict
    ):
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)], "a list for each column"
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


SPREADSHEET = "a spreadsheet; save its sheet as CSV"
WEB_PAGE = "a web page and no table, perhaps one that asks to sign in; download the file itself"
BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", SPREADSHEET),  # .xls
    (b"%PDF-", "a PDF; save the table in it as CSV"),
    (b"SQLite format 3\x00", "a database of SQLite; write the table to a CSV file"),
    (b"\x80\x02", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x03", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x04", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x05", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
)
PAGE = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)
SHEETS = (b"xl/workbook", b"opendocument.spreadsheet")
"""In the names of what a zip archive holds, or in the first of its contents; too long to be met by chance."""


def no_table(opened: Opened) -> str:
    """What the file is and what to do about it; "" where it may be a table."""
    data = opened.data
    if data[:2] == b"PK" and (opened.name.lower().endswith((".xlsx", ".ods")) or any(s in data for s in SHEETS)):
        return SPREADSHEET
    if PAGE.match(data[:200].lstrip(b"\xef\xbb\xbf")):
        return WEB_PAGE
    return next((words for beginning, words in BEGINNINGS if data.startswith(beginning)), "")

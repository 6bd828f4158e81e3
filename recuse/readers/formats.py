"""Which reader reads a file: tables by what they hold, other tools' logs by how they begin, your own by name.
A reader is a function from an `Opened` file to a `RawTable`. One of your own is named by its dotted path
("our_tools.langfuse_export") or by an entry point of group `recuse.readers`."""

from __future__ import annotations

import gc
import glob
import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from recuse.configuration import named
from recuse.readers import raw_table
from recuse.readers.delimited import delimited, without_sums
from recuse.readers.evaluation_logs import ENDING, LOGS, unpacked_log
from recuse.readers.json_records import ToolLog, from_records, of_log, read_json
from recuse.readers.mapping import is_pattern
from recuse.readers.opening import Opened, open_file, sheet_as_text, within_bounds
from recuse.readers.raw_table import RawTable, check_bounds, check_size, errors_in, short_form, shown
from recuse.schema import RecuseError

FOLDED = "DuckDB"  # what made a table whose rows are patterns (`recuse.readers.engine_tables`)
FRAME = Path("DataFrame")  # what a data frame is called where a file has its name
CALLED = "recuse: called"  # an attribute of a frame that holds another name
FOLDED_FROM = 32 << 20  # fewer bytes are read as they are: texts and names of items are kept


class EngineTable(Protocol):
    """A table of Ibis, which is not imported to say so."""

    def execute(self) -> Any:
        """Its rows, as a data frame."""


RatingsSource = Path | str | pd.DataFrame | EngineTable
"""What holds ratings: a file or a pattern of files, a data frame, or a table of an engine."""


def read_source(source: RatingsSource, reader: str = "", given: Mapping[str, Any] | None = None) -> RawTable:
    """A file, all files that a pattern names, a data frame or a table of an engine as a table of strings. What
    labels rows is a column. `given`: what is said of columns, by which large tables are folded."""
    if type(source).__module__.startswith("ibis."):
        from recuse.readers.engine_tables import TABLE, read_engine_table

        with errors_in(TABLE):
            fetched = read_engine_table(source, given or {})
        if isinstance(fetched, RawTable):
            return fetched
        source = fetched
    if isinstance(source, pd.DataFrame):
        path = Path(source.attrs.get(CALLED, FRAME))
        with errors_in(path):
            raw = check_bounds(_of_cells(path, source, "a data frame"))
        content = raw.frame.to_csv(index=False).encode("utf-8", "surrogatepass")
        return replace(raw, sha256=hashlib.sha256(content).hexdigest())
    if not isinstance(source, str | Path):
        raise RecuseError(
            f"ratings are a file, a pandas data frame or a table of Ibis, not a {type(source).__name__}; make a data "
            "frame of it first, with a row per rating and columns item, rater and score"
        )
    if is_pattern(path := Path(source)):
        return _read_together(path, reader, given or {})
    return read_path(path, reader, encoding=str((given or {}).get("encoding", "")))


def read_path(path: Path, reader: str = "", wanted: dict[str, str] | None = None, encoding: str = "") -> RawTable:
    """One file by the named reader or by the first that recognises it; long texts of a large one are shortened.
    `wanted`: short forms of long texts that are looked for, each of which gets its text."""
    own: Reader | None = None
    if reader and reader not in BY_NAME:
        own = named(reader, what="reader", package="recuse.readers", known=(*BY_NAME,))
    collects = gc.isenabled()
    gc.disable()  # millions of objects are made here and none is garbage: looking for it takes a third of the time
    try:
        opened = open_file(path, wanted, encoding)
        with errors_in(path):
            table = (own or _reader_of(opened, reader))(opened)
            if not isinstance(table, RawTable):
                raise RecuseError(
                    f"reader {reader} gave a {type(table).__name__}; a reader takes an Opened and gives a RawTable, as "
                    "from_frame and from_records of recuse.ext make it"
                )
            raw = check_bounds(table)
    finally:
        if collects:
            gc.enable()
    if len(opened.data) > raw_table.LARGE:
        raw = replace(raw, frame=raw_table.shorten(raw.frame, raw_table.long_columns(raw.frame), opened.wanted))
    return replace(raw, notes=(*opened.notes, *raw.notes), sha256=opened.sha256)


def _read_together(pattern: Path, reader: str, given: Mapping[str, Any]) -> RawTable:
    """One table of all files that match, large ones folded by DuckDB; `RecuseError` for none, and for other columns."""
    paths = [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True)) if Path(name).is_file()]
    if not paths:
        raise RecuseError(f"no file matches {pattern}; quote the pattern and check its folder")
    from recuse.readers.engine_tables import read_by_duckdb

    encoding = str(given.get("encoding", ""))
    large = not (reader or encoding) and sum(path.stat().st_size for path in paths) > FOLDED_FROM
    ending, *others = {path.suffix.lower() for path in paths}
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    of_one_kind = large and not others and ending in (".parquet", ".csv")
    if of_one_kind and (folded := read_by_duckdb(pattern, paths, ending, given)) is not None:
        return replace(folded, sha256=digest.hexdigest())
    first, *further = tables = [read_path(path, reader, encoding=encoding) for path in paths]
    for table in further:
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


def _of_cells(path: Path, frame: pd.DataFrame, note: str) -> RawTable:
    """Values of any type, what labels the rows as columns; lists and objects as the records of JSON that they are."""
    index = frame.index
    if index.nlevels > 1 or index.name is not None or not pd.api.types.is_integer_dtype(index.dtype):
        names = [f"column {k}" if name is None else name for k, name in enumerate(index.names, start=1)]
        frame = frame.set_axis(index.set_names(names), axis=0).reset_index([n for n in names if n not in frame])
    if frame.columns.nlevels > 1:  # one name of several, as of a header in two lines: ("tone", "anna") is anna_tone
        unnamed = r"Unnamed: \d+_level_\d+"  # what pandas reads of an empty cell in a header of several lines
        levels = [["" if re.fullmatch(unnamed, str(part)) else str(part) for part in name] for name in frame.columns]
        full = [name for name in levels if all(name)] if len(levels) > 1 else []
        telling = [k for k in range(frame.columns.nlevels) if len({name[k] for name in full}) != 1]
        short = [[name[k] for k in telling] if name in full else name for name in levels]
        frame = frame.set_axis(["_".join(dict.fromkeys(filter(None, name[::-1]))) for name in short], axis=1)
    frame = raw_table.in_decimals(frame)
    cells = frame.astype(object)  # what a categorical column maps to is categorical
    nested = (cells[name].map(lambda cell: isinstance(cell, np.ndarray | list | dict)).any() for name in cells)
    if not (frame.columns.is_unique and any(nested)):
        typed = {str(name): kind for name, kind in frame.dtypes.items() if isinstance(kind, pd.CategoricalDtype)}
        orders = {name: tuple(map(str, kind.categories)) for name, kind in typed.items() if kind.ordered}
        return without_sums(replace(raw_table.from_frame(path, frame, note), orders=orders))
    records = cells.where(cells.notna(), None).map(_builtin).to_dict("records")
    return without_sums(from_records(path, records, notes=[note], unit="row"))


def _builtin(cell: Any) -> Any:
    """Arrays as lists, and maps, which are lists of pairs, as the objects that they are, at any depth."""
    if isinstance(cell, dict):
        return {str(name): _builtin(value) for name, value in cell.items()}
    if isinstance(cell, np.ndarray | np.generic):
        cell = raw_table.shortest(np.asarray(cell)).tolist()
    if not isinstance(cell, list):
        return cell
    if cell and all(isinstance(one, tuple) and len(one) == 2 for one in cell):
        return _builtin(dict(cell))
    return [_builtin(one) for one in cell]


def _xlsx(opened: Opened) -> RawTable:
    sheet = sheet_as_text(opened)
    table = delimited(sheet)
    return replace(table, unit="row", notes=(sheet.notes[-1], *table.notes))


def _parquet(opened: Opened) -> RawTable:
    try:
        from pyarrow import Table  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

        file, batches, size, long = ParquetFile(io.BytesIO(opened.data)), [], 0, None
        check_size(file.metadata.num_rows, file.metadata.num_columns)
        for batch in file.iter_batches(batch_size=256):  # a text that stands there once may be that of every row
            whole = (getattr(column, "dictionary_decode", lambda kept=column: kept)() for column in batch.columns)
            size += sum(column.nbytes for column in whole)
            within_bounds(size, len(opened.data))
            batches.append(batch if long is None else _shortened(batch, long, opened.wanted))
            if long is None and size > raw_table.LARGE:
                texts = {k: c.to_pylist() for k, c in enumerate(batches[0].columns) if str(c.type).endswith("string")}
                long = raw_table.long_columns(pd.DataFrame(texts, dtype=object).fillna(""))  # by its first rows
                batches = [_shortened(one, long, opened.wanted) for one in batches]
        frame = Table.from_batches(batches, file.schema_arrow).to_pandas()
    except RecuseError:
        raise
    except ImportError as error:
        raise RecuseError(
            "Parquet is read by pyarrow, which is not installed; pip install 'recuse[parquet]', or save it as CSV"
        ) from error
    except Exception as error:  # pyarrow's own errors have no common base that could be named without it
        raise RecuseError(f"it is no Parquet file that can be read: {error}") from error
    return _of_cells(opened.path, frame, "Parquet")


def _shortened(batch: Any, long: Sequence[Any], wanted: dict[str, str]) -> Any:
    """Rows of Parquet without long texts, before more of them are held."""
    from pyarrow import RecordBatch, array

    columns = batch.columns
    for k in long:
        cells = [cell and short_form(wanted, cell) for cell in columns[k].to_pylist()]
        columns[k] = array(cells, columns[k].type)
    return RecordBatch.from_arrays(columns, schema=batch.schema)


def _json(opened: Opened, logs: Mapping[str, ToolLog], reader: str = "") -> RawTable:
    table = read_json(opened, logs, reader)
    return table if table.made_by else without_sums(table)


SPREADSHEET = "a spreadsheet; save its sheet as CSV"
PICKLED = "pickled by Python, which is never read; write it with to_csv or to_parquet"
BEGINNINGS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": SPREADSHEET,  # .xls
    b"%PDF-": "a PDF; save the table in it as CSV",
    b"SQLite format 3\x00": "a database of SQLite; write the table to a CSV file",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), PICKLED),
}
PAGE = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)
SHEETS = (b"xl/workbook", b"opendocument.spreadsheet")
"""In the names of what a zip archive holds, or in the first of its contents; too long to be met by chance."""
Reader = Callable[[Opened], RawTable]
BY_NAME: dict[str, Reader] = {
    "csv": delimited, "json": partial(_json, logs={}), "parquet": _parquet,
    **{name: partial(_json, logs={name: log}, reader=name) for name, log in LOGS.items()},
}  # fmt: skip


def _reader_of(opened: Opened, name: str) -> Reader:
    """What reads the file, by its bytes, else by `name`, else by how it begins; `RecuseError` for what is no table."""
    data, called, packed = opened.data, opened.name.lower(), opened.data[:2] == b"PK"
    if packed and b"xl/worksheets/" in data:
        return _xlsx
    if packed and (called.endswith((".xlsx", ".ods")) or any(mark in data for mark in SHEETS)):
        raise RecuseError(SPREADSHEET)
    if PAGE.match(data[:200].lstrip(b"\xef\xbb\xbf")):
        raise RecuseError("a web page and no table, perhaps one that asks to sign in; download the file itself")
    if other := next((words for begins, words in BEGINNINGS.items() if data.startswith(begins)), ""):
        raise RecuseError(other)
    if packed and called.endswith(ENDING):
        return lambda opened: of_log(opened.path, unpacked_log(opened), "inspect", LOGS["inspect"])
    if name:
        return BY_NAME[name]
    if data[:4] == b"PAR1":
        return _parquet
    head = data[:64].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00")
    is_json = head[:1] in (b"{", b"[") and not called.endswith((".csv", ".tsv"))
    return partial(_json, logs=LOGS) if is_json else delimited


def whole_texts(path: Path, cells: Sequence[str]) -> list[str]:
    """The cells as they stand in the file: those that were shortened are read again."""
    wanted = {cell: cell for cell in map(str, cells) if raw_table.SHORTENED.search(cell)}
    if wanted and path.is_file():
        read_path(path, wanted=wanted)
    return [wanted.get(str(cell), cell) for cell in cells]

"""From text to a table of strings, each row with its place in the file: CSV in any dress, JSON lines, JSON, Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, AnyStr

from recuse.readers.column_names import NAMES, WINNERS, plain
from recuse.readers.header_lines import find_header, without_totals
from recuse.readers.long_texts import LARGE, long_columns, shorten
from recuse.readers.opening import Fault, Opened, open_file, parsed, shown, within_bounds
from recuse.schema import RecuseError
from recuse.security.sanitize import visible

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
DEPTH = 3
"""Objects within objects become columns "outer.inner" to this depth; what lies deeper stays text."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """`frame`: every cell a string, "" where it is empty. `notes` say how the file was read. `unit` is what a row is in
    the file ("line", "record", "row"). `made_by`: the tool whose log it is, "" for a table."""

    path: Path
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    unit: str = "line"
    made_by: str = ""
    faults: tuple[Fault, ...] = ()
    text: str | Callable[[], str] = field(default="", repr=False)  # of a large file read again where needed
    separator: str = ","
    raters: tuple[str, ...] = ()  # whose columns these are, where the table was made of one row a rating
    numbers: tuple[int | str, ...] | None = None  # place of each row, where it is known
    times: NDArray[np.int64] | None = None  # how many items each row stands for, where they were counted and are many

    def place(self, row: int) -> str:
        """ "line 7": where the row stands in the file, counted from 1, the header too."""
        return f"{self.unit} {self.at(row)}"

    def at(self, row: int) -> int | str:
        """Number of the line or record where a row stands in the file, counted from 1; of several files with its
        name."""
        return self._starts[row] if self._starts is not None else row + 1

    @cached_property
    def _starts(self) -> Sequence[int | str] | None:
        return self.numbers if self.numbers is not None or not self.text else [start for start, _ in self._lines[1:]]

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        """First line and number of cells of every row, the header's too: quoted cells may hold line feeds, and empty
        lines hold no row."""
        csv.field_size_limit(1 << 30)
        lines, before = [], 0
        text = self.text() if callable(self.text) else self.text
        reader = csv.reader(io.StringIO(text), delimiter=self.separator)
        for cells in reader:
            if cells:
                lines.append((before + 1, len(cells)))
            before = reader.line_num
        return lines

    def short_rows(self) -> list[int]:
        """First lines of the rows with fewer cells than the header."""
        return [start for start, cells in self._lines[1:] if cells < len(self.frame.columns)]


@dataclass(frozen=True, slots=True)
class ToolLog:
    """The log of another tool: what it is called, whether a value of JSON is one, and its records with what was wrong
    in it."""

    called: str
    recognises: Callable[[Any], bool]
    records: Callable[[Any, Path], tuple[list[dict[str, Any]], list[Fault]]]


def delimited(opened: Opened) -> RawTable:
    """A table with a header line. `RecuseError` for no header, two columns of one name and rows longer than it."""
    import pandas as pd

    if len(opened.data) > LARGE and (large := _in_portions(opened)) is not None:
        return large
    text, notes = opened.text()
    if '"' not in text:  # a quoted cell may hold lines
        _first_not_alike(opened.path, text, "\n")
    if line := _endless_line(text, "\n"):
        raise RecuseError(f"{opened.path}: line {line} is longer than {LONGEST_CELL >> 20} MB; is a line feed missing?")
    separator = _separator(text)
    found = find_header(text, separator)
    within_cells(opened.path, 0, len(found.cells))
    text, header = found.text, _names(found.cells, opened.path)
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=separator, header=0, dtype=object, keep_default_na=False, na_values=[],
            skip_blank_lines=True, on_bad_lines="error",
        )  # fmt: skip
    except pd.errors.ParserError as error:
        raise RecuseError(f"{opened.path}: {_fault_text(str(error))}") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise RecuseError(f"{opened.path}: its rows have more cells than the header line has names ({len(header)})")
    frame.columns = pd.Index(header)
    if separator != ",":
        notes = (*notes, f"separated by {SEPARATORS[separator]}")
    if frame.empty:
        raise RecuseError(f"{opened.path} has a header line and no row")
    frame, faults = without_totals(frame)
    table = RawTable(opened.path, frame, (*notes, *found.notes), faults=faults, text=text, separator=separator)
    if len(frame) and frame.index[-1] >= len(frame):  # rows between others are left out
        at = tuple(table.at(int(k)) for k in frame.index)
        table = replace(table, frame=frame.reset_index(drop=True), numbers=at)
    short = table.short_rows() if frame[header[-1]].eq("").any() else []
    if not short:
        return table
    what, places = "row(s) have fewer cells than the header", (f"line {at}" for at in short[:5])
    return replace(table, faults=(*faults, Fault.of(what, places, "what is missing counts as empty", len(short))))


PORTION, FIRST, HEAD = 10_000, 500_000, 1 << 20
"""Rows of a large file that are read at a time, and after which it is looked whether they differ; and bytes in which
its first rows lie."""


def _in_portions(opened: Opened) -> RawTable | None:
    """A large table in plain UTF-8 with its header in the first line, long texts shortened; None for any other, which
    is read, or refused, as a small one is."""
    import pandas as pd

    data = opened.data
    head = data[:HEAD].decode("utf-8", "ignore")
    plain = not (data.startswith(b"\xef\xbb\xbf") or b"\x00" in data or b"\r" in data or opened.name.endswith(".xlsx"))
    separator = _separator(head)
    found = find_header(head, separator)
    if not plain or found.text is not head or _endless_line(data, b"\n") is not None:
        return None
    within_cells(opened.path, 0, len(found.cells))
    header, portions, columns = _names(found.cells, opened.path), [], None
    try:
        for portion in pd.read_csv(
            io.BytesIO(data), sep=separator, header=0, dtype=object, keep_default_na=False, na_values=[],
            skip_blank_lines=True, on_bad_lines="error", chunksize=PORTION,
        ):  # fmt: skip
            portion.columns = pd.Index(header)
            columns = long_columns(portion) if columns is None else columns
            portions.append(shorten(portion, columns, opened.wanted))
            if len(portions) * PORTION == FIRST:  # before millions of rows that say nothing are held
                _not_alike(opened.path, f"first {FIRST:,}", 1 - float(pd.concat(portions).duplicated().mean()))
        frame = pd.concat(portions)
    except (ValueError, UnicodeDecodeError):
        return None
    if not isinstance(portions[0].index, pd.RangeIndex) or frame.empty or frame[header[-1]].eq("").any():
        return None
    frame, faults = without_totals(frame.reset_index(drop=True))
    notes = (f"separated by {SEPARATORS[separator]}",) if separator != "," else ()
    again = partial(_text_again, opened.path)
    return RawTable(opened.path, frame, (*notes, *found.notes), faults=faults, text=again, separator=separator)


def _text_again(path: Path) -> str:
    return open_file(path).text()[0]


def parse_json(opened: Opened) -> tuple[Any, list[int] | None, tuple[str, ...]]:
    """What the file holds: one value and None, or a list of values and the line of each. `RecuseError` with the line of
    what is no JSON."""
    text, notes = opened.text()
    _first_not_alike(opened.path, text, "}")
    try:
        return parsed(text), None, notes
    except ValueError as error:
        if not isinstance(error, json.JSONDecodeError):
            raise RecuseError(f"{opened.path}: {error}; write it again without") from error
        whole = error
    values, lines = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(parsed(line))
        except ValueError as error:
            if not isinstance(error, json.JSONDecodeError):
                raise RecuseError(f"{opened.path}: line {number}: {error}; write it again without") from error
            at = whole if not values and whole.lineno > 1 else None
            where = f"line {at.lineno}: {at.msg}" if at else f"line {number}: {error}"
            raise RecuseError(f"{opened.path}: {where}; a file of JSON lines has one object per line") from error
        lines.append(number)
    return values, lines, (*notes, "JSON lines")


def from_records(
    path: Path, records: Iterable[Any], *, notes: Sequence[str] = (), unit: str = "record", made_by: str = "",
    numbers: Sequence[int | str] | None = None, faults: Sequence[Fault] = (),
) -> RawTable:  # fmt: skip
    """A table of objects, objects within them as columns "outer.inner", a list of objects as a row for each of them
    beside the rest. `RecuseError` where one is no object."""
    import pandas as pd

    flat: list[dict[str, str]] = []
    places: list[int | str] = []
    records = [*records]
    alike = _alike_lists(records)
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise RecuseError(f"{path}: {unit} {number} is {shown(record)}; each must be an object with named values")
        record = {name: value for name, value in record.items() if name not in alike} if alike else record
        rows = [dict(_flattened(row)) for row in _unlisted(record)]
        flat += rows
        places += [number if numbers is None else numbers[number - 1]] * len(rows)
    if not flat:
        raise RecuseError(f"{path} holds no record")
    frame = pd.DataFrame(flat, dtype=object).fillna("")
    frame.columns = pd.Index([visible(str(name)).strip() for name in frame.columns])
    return RawTable(
        path, frame, tuple(notes), unit, made_by, tuple(faults),
        numbers=None if numbers is None and len(flat) == places[-1] else tuple(places),
    )  # fmt: skip


def parquet(opened: Opened) -> RawTable:
    """A Parquet file. `RecuseError` where pyarrow is not installed, saying how to get it."""

    try:
        from pyarrow import Table  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

        file, batches, size = ParquetFile(io.BytesIO(opened.data)), [], 0
        within_cells(opened.path, file.metadata.num_rows, file.metadata.num_columns)
        for batch in file.iter_batches(batch_size=256):  # a text that stands there once may be that of every row
            whole = (getattr(column, "dictionary_decode", lambda kept=column: kept)() for column in batch.columns)
            size += sum(column.nbytes for column in whole)
            within_bounds(opened.path, size, len(opened.data))
            batches.append(batch)
        frame = Table.from_batches(batches, file.schema_arrow).to_pandas()
    except RecuseError:
        raise
    except ImportError as error:
        raise RecuseError(
            f"{opened.path}: Parquet is read by pyarrow, which is not installed; pip install 'recuse[parquet]', or "
            "save it as CSV"
        ) from error
    except Exception as error:  # pyarrow's own errors have no common base that could be named without it
        raise RecuseError(f"{opened.path} is no Parquet file that can be read: {error}") from error
    return from_frame(opened.path, frame, "Parquet")


MOST_CELLS, MOST_COLUMNS, LONGEST_CELL = 40_000_000, 4_000, 8 << 20
"""Ten million answers of four columns are read in minutes; nobody has so many raters or criteria in columns; the
longest talk of an agent is shorter."""
ALIKE, OF_ROWS = 0.001, 100_000
"""Of so many rows, some must differ: a share of at least this."""


def within_cells(path: Path, rows: int, columns: int) -> None:
    """`RecuseError` for a table that is too large for memory."""
    if columns > MOST_COLUMNS:
        raise RecuseError(
            f"{path} has {columns:,} columns; tables of up to {MOST_COLUMNS:,} are read. Write a row per answer, with "
            "columns item, rater and rating"
        )
    if rows * columns > MOST_CELLS:
        raise RecuseError(
            f"{path} has {rows:,} rows of {columns} columns; tables of up to {MOST_CELLS:,} cells are read. Leave out "
            "columns that are no ratings, or draw a sample of the items"
        )


def check_bounds(raw: RawTable) -> RawTable:
    """The table as it is. `RecuseError` where it is too large, a cell is, or nearly all of very many rows are alike."""
    rows, columns = raw.frame.shape
    within_cells(raw.path, rows, columns)
    if rows > OF_ROWS:
        _not_alike(raw.path, f"{rows:,}", 1 - float(raw.frame.duplicated().mean()))
    for name in raw.frame:
        sizes = raw.frame[name].str.len()
        if len(sizes) and sizes.max() > LONGEST_CELL:
            at = raw.place(int(sizes.to_numpy().argmax()))
            raise RecuseError(
                f"{raw.path}: {at}, column {name} holds {sizes.max() >> 20} MB; cells of up to "
                f"{LONGEST_CELL >> 20} MB are read. Is a quote or a line feed missing?"
            )
    return raw


def _not_alike(path: Path, which: str, different: float) -> None:
    """`RecuseError` where too small a share of the rows is different from the others."""
    if different < ALIKE:
        raise RecuseError(
            f"{path}: nearly all of its {which} rows say the same as another; add a column that names the item of "
            "each row, or count them: each different row once, with a column count"
        )


def _first_not_alike(path: Path, text: str, end: str) -> None:
    """The same for the first rows of a text, before any is parsed; `end`: what ends each."""
    first = text.split(end, FIRST)[:FIRST]
    if len(first) == FIRST:
        _not_alike(path, f"first {FIRST:,}", len(set(first)) / FIRST)


def from_frame(path: Path, frame: pd.DataFrame, note: str) -> RawTable:
    """A table that holds values of any type. `RecuseError` for one without rows or with two columns of one name."""
    import pandas as pd

    names = [visible(str(name)).strip() for name in frame.columns]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise RecuseError(f"{path}: two columns are called {shown(twice[0])}; give each a name of its own")
    if frame.empty:
        raise RecuseError(f"{path} holds no row")
    frame = frame.reset_index(drop=True).astype(object)
    text = frame.apply(lambda column: column.map(cell_text).where(column.notna(), "")).astype(object)
    text.columns = pd.Index(names)
    return RawTable(path, text, (note,), "row")


GAME = re.compile(r"[AB]\s*(?:[<>]{1,2}|=)\s*[AB]")
"""How the games of one pair end: A>B, B>>A."""


def _unlisted(record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """A record as it is, or one for each object of its only list of objects: the judgements of one text, say. A name
    that the record has as well keeps the list's name before it. Two texts of which the record chooses one, 0 or 1, stay
    beside one another: text_0, text_1. `RecuseError` for two verdicts whose order is not known."""
    lists = [name for name, value in record.items() if isinstance(value, list) and _is_table(value)]
    if len(lists) != 1:
        return [record]
    rest = {name: value for name, value in record.items() if name != lists[0]}
    if len(record[lists[0]]) == 2:
        one, other = record[lists[0]]
        called = {plain(name) for name in (*one, *other)}
        chosen = any(plain(name) in WINNERS and value in (0, 1) for name, value in rest.items())
        if chosen and called & {*NAMES["text"]} and not called & {*NAMES["rater"], *NAMES["value"]} - {*NAMES["text"]}:
            return [
                {
                    **rest,
                    **{f"{name}_{k}": value for k, each in enumerate((one, other)) for name, value in each.items()},
                }
            ]
        verdicts = [name for name in one if all(GAME.fullmatch(str(each.get(name))) for each in (one, other))]
        if verdicts and all(one[n] == other.get(n) for n in one if plain(n) in NAMES["rater"]):
            raise RecuseError(
                f"{lists[0]} holds two verdicts of one judge on a pair, {shown(one[verdicts[0]])} and "
                f"{shown(other[verdicts[0]])}; nothing says whether the texts were shown the other way round for the "
                "second. Write a row for each, with columns item, judge, winner and order (ab, or ba where they were)"
            )
    return [
        {**rest, **{f"{lists[0]}.{name}" if name in rest else name: value for name, value in row.items()}}
        for row in record[lists[0]]
    ]


def _alike_lists(records: Sequence[Any]) -> list[str]:
    """The only list of objects where it is the same in every record: the options that everybody had, no answers."""
    first = records[0] if len(records) > 1 and isinstance(records[0], dict) else {}
    lists = [name for name, value in first.items() if isinstance(value, list) and _is_table(value)]
    alike = len(lists) == 1 and all(isinstance(r, dict) and r.get(lists[0]) == first[lists[0]] for r in records)
    return lists if alike else []


def _is_table(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(row, dict) for row in value)


def _flattened(record: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterable[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, dict) and value and depth < DEPTH:
            yield from _flattened(value, f"{before}{name}.", depth + 1)
        else:
            yield f"{before}{name}", cell_text(value)


def cell_text(value: Any) -> str:
    """A value of JSON or Parquet as a cell of a table of strings, "" for nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


def _endless_line(text: AnyStr, feed: AnyStr) -> int | None:
    """The number of a line beyond `LONGEST_CELL`, found by leaps to the last line feed within that."""
    at = 0
    while len(text) - at > LONGEST_CELL:
        if (end := text.rfind(feed, at, at + LONGEST_CELL)) < 0:
            return text.count(feed, 0, at) + 1
        at = end + 1
    return None


def _separator(text: str) -> str:
    """The separator that the header holds, and the next rows as often."""
    reader = [line for line in text[: 1 << 16].split("\n")[:20] if line.strip()]
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in reader]
    counts = {sep: [line.count(sep) for line in unquoted] for sep in SEPARATORS}

    def fit(separator: str) -> tuple[bool, float, int]:
        header = counts[separator][0]
        alike = sum(count == header for count in counts[separator]) / len(unquoted)
        return header > 0, alike, header

    return max(counts, key=fit)


def _names(cells: Sequence[str], path: Path) -> list[str]:
    names = [visible(cell).strip() or f"column {k}" for k, cell in enumerate(cells, start=1)]
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        places = ", ".join(str(k) for k, name in enumerate(names, start=1) if name == twice[0])
        raise RecuseError(f"{path}: columns {places} are all called {shown(twice[0])}; give each a name of its own")
    if len(names) < 2:
        raise RecuseError(
            f"{path}: the first line has one column, {shown(cells[0] if cells else '')}; a table has a header "
            "line and at least an item and a rating, separated by commas, tabs or semicolons"
        )
    return names


def _fault_text(message: str) -> str:
    match = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if match:
        return f"line {match[2]} has {match[3]} cells and the header {match[1]}; quote cells that hold a separator"
    if "EOF inside string" in message:
        row = re.search(r"row (\d+)", message)
        return f"a quote is opened and never closed{f', near row {row[1]}' if row else ''}"
    return message

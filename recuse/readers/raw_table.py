"""A table of strings, each row with its place in the file: of records or a data frame; and what was wrong in it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.readers.column_names import listed
from recuse.schema import RecuseError
from recuse.security.sanitize import shortened, visible

SEEN = 8
SHOWN = 5  # places of a fault
Place = Callable[[int], str]  # number of a row -> where it stands in the file
MOST_CELLS, MOST_COLUMNS, LONGEST_CELL = 40_000_000, 4_000, 8 << 20
"""Ten million answers of four columns are read in minutes; nobody has so many raters or criteria in columns; the
longest talk of an agent is shorter."""
ALIKE, OF_ROWS, FIRST = 0.001, 100_000, 500_000
"""Of so many rows, some must differ: a share of at least this. After so many it is looked whether the first do."""
LARGE = 32 << 20  # files of fewer bytes are held as they are
LONG, BEGINNING, ENDING, LOOKED_AT = 400, 140, 60, 200
"""A column holds texts where its first cells are longer than this on average; so much of each is kept, as a judge's
begins with its answer or ends in it."""
BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f"  # what separates words in ASCII, beside the space
SHORTENED = re.compile(rf"\.\.\. \[(\d+) characters, (\d+) words, [0-9a-f]{{16}}\] \.\.\..{{0,{ENDING}}}$")


@dataclass(frozen=True, eq=False)
class RawTable:
    """`frame`: every cell a string, "" where it is empty. `notes` say how the file was read. `unit` is what a row is in
    the file ("line", "record", "row"). `made_by`: the tool whose log it is, "" for a table. `roles`: what columns are
    known to be by what made them (`ColumnMapping`)."""

    path: Path
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    unit: str = "line"
    made_by: str = ""
    faults: tuple[Fault, ...] = ()
    text: str | Callable[[], str] = field(default="", repr=False)  # of a large file read again where needed
    separator: str = ","
    roles: Mapping[str, Any] = field(default_factory=dict)
    numbers: tuple[int | str, ...] | None = None  # place of each row, where it is known
    times: NDArray[np.int64] | None = None  # how many items each row stands for, where they were counted and are many
    sha256: str = ""  # of the file as it lies there
    given: Mapping[str, Any] = field(default_factory=dict)  # what its user says of columns, as it was written
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of columns whose type names words in order
    _coded: dict[str, Any] = field(default_factory=dict, repr=False)  # of the columns of the frame that is its ""

    def coded(self, name: str) -> tuple[NDArray[Any], pd.Index[Any]]:
        """The place of each cell of a column among its different values, -1 for nothing, and these, as they appear."""
        if self._coded.get("") is not self.frame:
            self._coded.clear()
        if name not in self._coded:
            codes, values = pd.factorize(self.frame[name])
            self._coded.update({"": self.frame, name: (codes.astype(np.min_scalar_type(-len(values) - 1)), values)})
        codes, values = self._coded[name]
        return codes, values

    def place(self, row: int) -> str:
        """ "line 7": where the row stands in the file, counted from 1, the header too."""
        return f"{self.unit} {self.at(row)}"

    def at(self, row: int) -> int | str:
        """Number of the line or record where a row stands in the file, from 1; of several files with its name."""
        if self.numbers is not None:
            return self.numbers[row]
        return self.lines[row + 1][0] if self.text else row + 1

    @cached_property
    def lines(self) -> list[tuple[int, int]]:
        """First line and number of cells of every row, the header's too: quoted cells may hold line feeds."""
        csv.field_size_limit(1 << 30)
        lines, before = [], 0
        reader = csv.reader(io.StringIO(self.text() if callable(self.text) else self.text), delimiter=self.separator)
        for cells in reader:
            if cells:
                lines.append((before + 1, len(cells)))
            before = reader.line_num
        return lines

    @property
    def seen(self) -> pd.DataFrame:
        """The rows by which columns are recognised: of counted items up to `SEEN` each, so that what is common is."""
        if self.times is None:
            return self.frame
        each = np.repeat(np.arange(len(self.frame)), np.minimum(self.times, SEEN))
        return self.frame.iloc[each].reset_index(drop=True)

    @property
    def names(self) -> list[str]:
        """What its columns are called."""
        return [*map(str, self.frame.columns)]

    @property
    def heeded(self) -> list[str]:
        """The same without those that its user ignores, by which no table is brought into another shape."""
        return [name for name in self.names if name not in self.given_names("ignore")]

    def given_names(self, option: str) -> list[str]:
        """What its user names there, if names they are: anything else is told of later."""
        value = self.given.get(option, ())
        return listed(value) if isinstance(value, str | list | tuple) else []

    @property
    def all_named(self) -> bool:
        """Whether its user says who the people are, and who the judges."""
        return bool(self.given.get("people") and self.given.get("judges"))

    @property
    def of_nobody_known(self) -> bool:
        """Whether no tool is known to have made it, so that what its columns are is to be seen by what they hold."""
        return not (self.made_by or self.roles)

    def noted(self, *notes: str, **changes: Any) -> RawTable:
        """The table with further notes, and changed otherwise."""
        return replace(self, notes=(*self.notes, *notes), **changes)

    def of_rows(self, frame: pd.DataFrame, rows: Iterable[int], *notes: str, **changes: Any) -> RawTable:
        """A table made of these rows of it, each of which stays at its place in the file."""
        places = tuple(self.at(int(row)) for row in rows)
        return self.noted(*notes, frame=frame.reset_index(drop=True), numbers=places, text="", **changes)

    def a_row_each(
        self, names: Sequence[str], called: str, cells: Mapping[str, Sequence[str]], kept: Iterable[str], *notes: str,
        **changes: Any,
    ) -> RawTable:  # fmt: skip
        """The table with a row for each of `names` in place of every row: its columns `kept`, new columns with the
        `cells` that each had in a column of its own, and the name in a column `called`."""
        row = np.repeat(np.arange(len(self.frame)), len(names))
        frame = self.frame[list(kept)].iloc[row].reset_index(drop=True)
        for name, columns in cells.items():
            frame[name] = self.frame[list(columns)].to_numpy(dtype=object).ravel()
        frame[called] = np.tile(np.array(names, dtype=object), len(self.frame))
        return self.of_rows(frame, row, *notes, **changes)


def check_size(rows: int, columns: int) -> None:
    """`RecuseError` for a table that is too large for memory."""
    if columns > MOST_COLUMNS:
        raise RecuseError(
            f"it has {columns:,} columns; tables of up to {MOST_COLUMNS:,} are read. Write a row per answer, with "
            "columns item, rater and rating"
        )
    if rows * columns > MOST_CELLS:
        raise RecuseError(
            f"it has {rows:,} rows of {columns} columns; tables of up to {MOST_CELLS:,} cells are read. Leave out "
            "columns that are no ratings, or draw a sample of the items"
        )


def check_bounds(raw: RawTable) -> RawTable:
    """The table as it is. `RecuseError` where it is too large, a cell is, or nearly all of very many rows are alike."""
    rows, columns = raw.frame.shape
    check_size(rows, columns)
    if rows > OF_ROWS:
        check_differ(f"{rows:,}", 1 - float(raw.frame.duplicated().mean()))
    for name in raw.frame:
        if (longest := max(map(len, raw.coded(str(name))[1]), default=0)) > LONGEST_CELL:
            at = raw.place([*map(len, raw.frame[name])].index(longest))
            why = f"cells of up to {LONGEST_CELL >> 20} MB are read. Is a quote or a line feed missing?"
            raise RecuseError(f"{at}, column {name} holds {longest >> 20} MB; {why}")
    return raw


def check_differ(which: str, different: float) -> None:
    """`RecuseError` where too small a share of the rows is different from the others."""
    if different < ALIKE:
        raise RecuseError(
            f"nearly all of its {which} rows say the same as another; add a column that names the item of "
            "each row, or count them: each different row once, with a column count"
        )


def check_first_differ(text: str, end: str) -> None:
    """The same for the first rows of a text, before any is parsed; `end`: what ends each."""
    if text.count(end) >= FIRST - 1:
        check_differ(f"first {FIRST:,}", len(set(text.split(end, FIRST)[:FIRST])) / FIRST)


def from_frame(path: Path, frame: pd.DataFrame, note: str) -> RawTable:
    """A table that holds values of any type. `RecuseError` for one without rows or with two columns of one name."""
    given: list[Any] = ["" if name is None or name != name else name for name in frame.columns]
    names = [visible(str(name)).strip() or f"column {k}" for k, name in enumerate(given, start=1)]  # as in a file
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise RecuseError(f"two columns are called {shown(twice[0])}; give each a name of its own")
    if frame.empty:
        raise RecuseError("it holds no row")
    frame = in_decimals(frame).astype(object).set_axis(range(len(names)), axis=1)
    # not by Series.map: a pandas that takes words for Arrow's raises where one holds half of a character
    cells = ([cell_text(v) if has else "" for v, has in zip(frame[k], frame[k].notna(), strict=True)] for k in frame)
    return RawTable(path, pd.DataFrame(dict(zip(names, cells, strict=True)), dtype=object), (note,), "row")


def in_decimals(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with numbers of fewer than eight bytes as they were written: 0.7, where eight have 0.699999988."""
    short = [k for k, kind in enumerate(frame.dtypes) if kind.kind == "f" and kind.itemsize < 8]
    if not short:
        return frame
    columns: list[Any] = [frame.iloc[:, k] for k in range(frame.shape[1])]
    for k in short:
        numbers = columns[k].to_numpy(f"f{columns[k].dtype.itemsize}", na_value=np.nan)
        columns[k] = pd.Series(shortest(numbers), frame.index)
    table: pd.DataFrame = pd.concat(columns, axis=1).set_axis(frame.columns, axis=1)
    return table


def shortest(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers of fewer than eight bytes as those of eight with the same digits; others as they are."""
    return numbers.astype(str).astype(float) if numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8 else numbers


def cell_text(value: Any) -> str:
    """A value of JSON, Parquet or a data frame as a cell of a table of strings, "" for nothing. `RecuseError` for half
    of a character (a lone surrogate), which no file can hold."""
    if isinstance(value, str):
        try:
            return value if value.isascii() or value.encode() else ""
        except UnicodeEncodeError as error:
            half = f"half of a character ({value[error.start]!a}) stands in it"
            raise RecuseError(f"{half}; write it again without") from error
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return json.dumps(value, default=cell_text) if isinstance(value, list | dict) else str(value)


def word_count(text: object) -> int:
    """How many words a text has, or had before it was shortened."""
    words = str(text)
    match = SHORTENED.search(words, max(len(words) - 80 - ENDING, 0))
    return int(match[2]) if match else len(words.split())


def long_columns(frame: pd.DataFrame) -> list[Hashable]:
    """The columns whose first cells are long, and no objects."""
    first = frame.iloc[:LOOKED_AT]
    long = [name for name in frame if first[name].str.len().mean() > LONG]
    return [name for name in long if not first[name].str.contains("{", regex=False).mean() > 0.5]


def single_blanks(text: str) -> str:
    """ " ".join(text.split()), without taking apart what has none but single blanks."""
    plain = text.strip()
    if plain.isascii() and "  " not in plain and not any(map(plain.__contains__, BLANKS)):  # of thousands of texts
        return plain
    return " ".join(plain.split())


def shorten(frame: pd.DataFrame, columns: Sequence[Hashable], wanted: dict[str, str]) -> pd.DataFrame:
    """The table with shortened texts in these columns. A text whose short form is `wanted` is entered there."""
    short = partial(short_form, wanted)
    cells = {str(name): pd.Series([*map(short, frame[name])], frame.index, dtype=object) for name in columns}
    return frame.assign(**cells) if columns else frame


def short_form(wanted: dict[str, str], cell: str) -> str:
    """The text itself where it is short, else its beginning and end, and in between how long it is and a digest. One
    beyond what a cell may hold is left as it is, to be refused."""
    if not LONG < len(cell) <= LONGEST_CELL:
        return cell
    plain = single_blanks(cell)
    digest = hashlib.sha256(plain.lower().encode("utf-8", "surrogatepass")).hexdigest()[:16]
    facts = f"... [{len(plain)} characters, {plain.count(' ') + bool(plain)} words, {digest}] ..."
    first, line_end, _ = cell.lstrip()[:BEGINNING].partition("\n")
    at = len(single_blanks(first)) if line_end else BEGINNING  # "Yes" in a line of its own
    kept = plain[:at] + line_end + plain[at + 1 : BEGINNING] + facts + plain[-ENDING:]
    if wanted and kept in wanted:
        wanted[kept] = cell
    return kept


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault: `what` is wrong, what was done about it (`done`), and where it is met, the first few."""

    what: str
    count: int
    places: tuple[str, ...]
    done: str

    def sentence(self) -> str:
        """ "3 answers are not numbers (line 4, column judge: 'n/a'; ...); they count as unusable." """
        more = self.count - len(self.places)
        where = "; ".join(self.places) + (f"; and {more} more" if more > 0 else "")
        return f"{self.count} {self.what}" + (f" ({where})" if where else "") + f"; {self.done}"

    @classmethod
    def where(cls, what: str, places: Sequence[str], done: str, count: int | None = None) -> list[Fault]:
        """The fault from each place where it is met, the first few kept; `count` where it is not their number."""
        return [cls(what, len(places) if count is None else count, tuple(places[:SHOWN]), done)] if places else []


def shown(text: object, limit: int = 40) -> str:
    """A cell's content as it may stand in a message: nothing hidden in it, and not much of it."""
    short, cut = shortened(visible(str(text)).replace("\n", " "), limit)
    return repr(short) + ("..." if cut else "")


def faults_in(what: str, rows: pd.DataFrame, place: Place, done: str) -> list[Fault]:
    """The fault of these rows of a long table, with the first few of their cells; none of no rows."""
    if rows.empty:
        return []
    first = rows.iloc[:SHOWN][["row", "column", "cell"]].to_numpy(dtype=object)
    places = [f"{place(int(row))}, column {column}: {shown(cell)}" for row, column, cell in first]
    return Fault.where(what, places, done, len(rows))


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """Whatever is wrong is said with the file's name before it, so that nobody who looks at a table has to know it."""
    try:
        yield
    except RecuseError as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"{path}: {error}") from error

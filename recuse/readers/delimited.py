"""From text to a table: cells by the separator they are written with, and no titles above them or averages below."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile, islice
from typing import Any, AnyStr

import numpy as np
import pandas as pd

from recuse.readers import raw_table
from recuse.readers.opening import Opened
from recuse.readers.raw_table import LARGE, LONGEST_CELL, Fault, RawTable, check_size, short_form, shown
from recuse.readers.values import as_numbers
from recuse.schema import RecuseError
from recuse.security.sanitize import visible

AS_IT_STANDS: dict[str, Any] = {"header": 0, "dtype": object, "keep_default_na": False}  # every cell stays a string
MERGED = re.compile("^(?:<{7}|>{7}) .*$", re.MULTILINE)  # what git writes between two sides of a merge
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
PORTION, HEAD = 10_000, 1 << 20  # rows of a large file that are read at a time, and bytes in which its first rows lie
LOOKED_AT = 30
NUMBER = re.compile(r"^[-+]?\d+(?:[.,]\d+)?\s*%?$")
RULE = re.compile(r"\s*:?-{2,}(?:\+-+)*:?\s*|")  # a cell of the line that Markdown and psql have below a header
REMARK = re.compile(r"(?i)(?:notes?|nb|n\.b\.|source|legend|key|remarks?|hinweis|anmerkung|quelle)\b|[*#†]|.* = ")
TOTALS = frozenset([
    "average", "avg", "mean", "median", "total", "totals", "grand total", "sum", "count", "std", "stdev", "std dev",
    "durchschnitt", "mittelwert", "summe", "gesamt", "moyenne", "total general", "promedio", "media",
    "min", "minimum", "maximum", "sd", "standard deviation", "variance", "25%", "50%", "75%",
])  # fmt: skip
"""What stands before a row that sums up the rows above it."""
BESIDE_TOTALS = frozenset(["max", "n", "mode", "range", "agreement", "kappa", "correlation"])
"""The same below one of these; alone it may be anybody's name."""
LONGEST_SUMMARY = 12  # rows that sum up a table, most of which say so, are so many at most
FEWEST_SUMMED, MOST_LOOKED_AT, AT_THE_END, LARGEST_SUMMED = 5, 20_000, 3, 1e100
"""A sum is that of so many rows and more; larger tables are written by programs; means stand in the last rows; larger
numbers are not added."""


def delimited(opened: Opened) -> RawTable:
    """A table with a header line. `RecuseError` for no header, two columns of one name and rows longer than it."""
    if len(opened.data) > LARGE and (large := _in_portions(opened)) is not None:
        return large
    text, notes = opened.text()
    if '"' not in text:  # a quoted cell may hold lines
        raw_table.check_first_differ(text, "\n")
    if line := _endless_line(text, "\n"):
        raise RecuseError(f"line {line} is longer than {LONGEST_CELL >> 20} MB; is a line feed missing?")
    separator = _separator(text)
    cells, below, passed_over = find_header(text, separator)
    held = opened.again if below is text and len(text) > HEAD else below
    text, names = below, _names(cells)
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator, **AS_IT_STANDS)
    except pd.errors.ParserError as error:
        why = str(error)
        if match := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", why):
            why = f"line {match[2]} has {match[3]} cells and the header {match[1]}; quote cells that hold a separator"
        elif "EOF inside string" in why:
            row = re.search(r"row (\d+)", why)
            why = f"a quote is opened and never closed{f', near row {row[1]}' if row else ''}"
        raise RecuseError(why) from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise RecuseError(f"its rows have more cells than the header line has names ({len(names)})")
    frame.columns = pd.Index(names)
    if frame.empty:
        raise RecuseError("it has a header line and no row")
    marks = MERGED.findall(text) if "\n=======\n" in text else ()
    if len(marks) > 1 and frame.iloc[:, 0].isin(marks).any():  # and no quoted cell holds them
        raise RecuseError(f"a merge left its marks ({marks[0]}): delete them, and keep the rows that are right")
    full = '"' not in text and text.count(separator) == (len(frame) + 1) * (len(names) - 1)  # no row is longer
    table = _table(opened, frame, separator, held, (*notes, *passed_over))
    if full or not table.frame[names[-1]].eq("").any():
        return table
    short = [f"line {at}" for at, filled in table.lines[1:] if filled < len(names)]
    fewer = Fault.where("row(s) have fewer cells than the header", short, "what is missing counts as empty")
    return replace(table, faults=(*table.faults, *fewer))


def _table(opened: Opened, frame: pd.DataFrame, separator: str, text: Any, notes: tuple[str, ...]) -> RawTable:
    """The rows but for those that sum up or explain the others. Equal cells are one object, which saves room."""
    table = RawTable(opened.path, frame, notes, text=text, separator=separator)
    coded = {name: table.coded(name) for name in table.names}
    shared = pd.DataFrame({n: v.to_numpy()[codes] for n, (codes, v) in coded.items()}, frame.index, dtype=object)
    return replace(without_sums(replace(table, frame=shared, _coded={"": shared, **coded})), text=text)


def _in_portions(opened: Opened) -> RawTable | None:
    """A large table in plain UTF-8 with its header first, long texts shortened; None for any other."""
    data = opened.data
    head = data[:HEAD].decode("utf-8", "ignore")
    strange = data.startswith(b"\xef\xbb\xbf") or b"\x00" in data or b"\r" in data
    plain = not (strange or opened.encoding or opened.name.endswith(".xlsx"))
    separator = _separator(head)
    cells, below, passed_over = find_header(head, separator)
    if not plain or below is not head or _endless_line(data, b"\n") is not None:
        return None
    header, portions = _names(cells), []
    try:
        first = pd.read_csv(io.BytesIO(data), sep=separator, nrows=raw_table.LOOKED_AT, **AS_IT_STANDS)
        texts: dict[Any, list[str]] = {name: [] for name in raw_table.long_columns(first)}
        short = {n: lambda cell, to=to: to.append(short_form(opened.wanted, cell)) for n, to in texts.items()}
        others = dict.fromkeys(first.columns.difference([*texts]), object)
        as_it_stands = {**AS_IT_STANDS, "dtype": others, "converters": short}  # no text is held longer than that
        for portion in pd.read_csv(io.BytesIO(data), sep=separator, chunksize=PORTION, **as_it_stands):
            for name, shortened in texts.items():
                portion[name] = pd.Series(shortened, portion.index, dtype=object)
                shortened.clear()
            portion.columns = pd.Index(header)
            portions.append(portion)
            if len(portions) * PORTION == raw_table.FIRST:  # before millions of rows that say nothing are held
                raw_table.check_differ(f"first {raw_table.FIRST:,}", 1 - float(pd.concat(portions).duplicated().mean()))
        frame = pd.concat(portions)
    except (ValueError, UnicodeDecodeError):
        return None
    if not isinstance(portions[0].index, pd.RangeIndex) or frame.empty or frame[header[-1]].eq("").any():
        return None
    return _table(opened, frame.reset_index(drop=True), separator, opened.again, passed_over)


def _endless_line(text: AnyStr, feed: AnyStr) -> int | None:
    """The number of a line beyond `LONGEST_CELL`, found by leaps to the last line feed within that."""
    at = 0
    while len(text) - at > LONGEST_CELL:
        if (end := text.rfind(feed, at, at + LONGEST_CELL)) < 0:
            return text.count(feed, 0, at) + 1
        at = end + 1
    return None


def _separator(text: str) -> str:
    """The separator that the header holds, and the next rows as often; titles above it may hold none."""
    lines = [line for line in text[: 1 << 16].split("\n") if line.strip()][:20]
    lines = [*dropwhile(lambda line: {*line}.isdisjoint(SEPARATORS), lines)] or [""]
    times = {separator: [re.sub(r'"[^"]*"', "", line).count(separator) for line in lines] for separator in SEPARATORS}
    return max(SEPARATORS, key=lambda sign: (times[sign][0] > 0, times[sign][1:].count(times[sign][0]), times[sign][0]))


def _names(cells: Sequence[str]) -> list[str]:
    check_size(0, len(cells))
    names = [visible(cell).strip() or f"column {k}" for k, cell in enumerate(cells, start=1)]
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        places = ", ".join(str(k) for k, name in enumerate(names, start=1) if name == twice[0])
        raise RecuseError(f"columns {places} are all called {shown(twice[0])}; give each a name of its own")
    if len(names) < 2:
        raise RecuseError(
            f"the first line has one column, {shown(cells[0] if cells else '')}; a table has a header "
            "line and at least an item and a rating, separated by commas, tabs or semicolons"
        )
    return names


def find_header(text: str, separator: str) -> tuple[list[str], str, tuple[str, ...]]:
    """The names of the columns as they stand, "" for none; the text with everything above its last header line made
    empty, so that lines keep their numbers; and what was passed over: titles (a line with one cell in a wider table).
    Of a header in two lines the upper has merged cells: "Tone" above "Anna" and "Ben" makes Anna_Tone and Ben_Tone."""
    csv.field_size_limit(1 << 30)
    lines = (line[0] for line in re.finditer(r"[^\n]*\n|[^\n]+", text))  # not io.StringIO: four bytes a letter
    reader = csv.reader(lines, delimiter=separator)
    every = (([cell.strip() for cell in cells], reader.line_num) for cells in reader if cells)
    rows = [*islice(every, LOOKED_AT)]  # each with the number of its last line
    if not rows:
        return [], text, ()
    first = [cells for cells, _ in rows]
    at = next((k for k, cells in enumerate(first) if sum(map(bool, cells)) > 1), 0)  # below titles: one cell, or none
    wide = len(first[at]) >= 3 and (sum(map(bool, first[at])) >= 3 or _two_lines(first[at:]))
    at = at if wide and all(len(cells) <= len(first[at]) for cells in first) else 0
    notes = [f"separated by {SEPARATORS[separator]}"] if separator != "," else []
    notes += [f"the table begins in line {rows[at - 1][1] + 1}, below its title"] if at else []
    cells = rows[at][0]
    if _two_lines(first[at:]):
        names, over = [], ""
        for upper, lower in zip(cells, rows[at + 1][0], strict=True):
            over = upper or over
            names.append("_".join(dict.fromkeys(filter(None, (lower, over)))))
        cells, at = names, at + 1
        notes.append(f"its header has two lines, read together: {', '.join(cells[:4])}{', ...' * (len(cells) > 4)}")
    above = rows[at - 1][1] if at else 0
    return cells, "\n" * above + text.split("\n", above)[-1] if at else text, tuple(notes)


def without_sums(table: RawTable) -> RawTable:
    """The table without rows that sum up or explain the others: at its end those that begin with "Average", "Total" and
    the like, or hold a remark alone: its first cell begins as remarks do, and the others are empty."""
    frame = table.frame
    small = len(frame) <= MOST_LOOKED_AT
    cells = (np.append([bool(str(v).strip()) for v in values], True)[c] for c, values in map(table.coded, table.names))
    filled = np.sum([*cells], axis=0) if small else np.ones(len(frame))
    empty = np.flatnonzero(filled == 0)
    last = len(frame)
    if len(empty) and (filled[empty[-1] :] <= max(2, np.median(filled[filled > 0]) / 2)).all():
        last = int(empty[-1])  # a legend below the table
    first = max(1, last - LONGEST_SUMMARY)
    above = {*frame.iloc[:first, 0]}  # "average" that stands there too is an answer, or whatever the column holds
    ending = enumerate(frame.iloc[first:last].to_numpy(dtype=object), start=first)
    below = [(k, row[0] not in above and _is_footer(row)) for k, row in ending]
    begins = [k for k, sure in below if sure and 2 * sum(sums is not False for at, sums in below if at >= k) > last - k]
    last = min(begins, default=last)
    unit = [0] * bool(last > 1 and (_is_of_units(frame.iloc[:last]) or _is_mean_of(frame.iloc[:last])))
    again = np.flatnonzero(frame.iloc[:, 0].eq(frame.columns[0]))  # the header of a file that was put below another
    again = again[frame.iloc[again].eq(frame.columns).all(axis=1).to_numpy()] if len(again) else again
    summed = sorted({k for k in (*unit, *map(int, again), *_sums(frame.iloc[:last]), *map(int, empty)) if k < last})
    out = [*summed, *range(last, len(frame))]
    if not out:
        return table
    names = [f"begins with {shown(name)}" for name in frame.iloc[out, 0]]
    faults = (*table.faults, *Fault.where("row(s) sum up or explain the others", names, "they are left out"))
    kept = frame.drop(index=frame.index[out]) if summed else frame.iloc[:last]
    if len(kept) and kept.index[-1] >= len(kept):  # rows between others are left out
        return table.of_rows(kept, kept.index, faults=faults)
    return replace(table, frame=kept, faults=faults)


def _sums(frame: pd.DataFrame) -> list[int]:
    """Rows that are, where they hold numbers, the sum of those above or since the last sum; at the end their mean."""
    if not FEWEST_SUMMED < len(frame) <= MOST_LOOKED_AT:
        return []
    numbers = np.column_stack([as_numbers(frame[name]) for name in frame])
    numbers[np.abs(numbers) > LARGEST_SUMMED] = np.nan  # no rating either, and their sum is no number
    if (np.isfinite(numbers).sum(axis=1) < 2).all():
        return []  # no row holds two numbers
    sums: list[int] = []
    block, total, count = np.zeros((3, numbers.shape[1]))
    there, added = ~np.isnan(numbers), np.nan_to_num(numbers)
    for k, (row, filled, at) in enumerate(zip(numbers, there, there.argmax(axis=1), strict=True)):
        if row[at] not in (block[at], total[at]) and k < len(numbers) - AT_THE_END:  # no sum, by its first number
            block, total, count = block + added[k], total + added[k], count + filled
            continue
        own, since = row[filled], k - (sums[-1] + 1 if sums else 0)
        made = [block[filled]] * (since >= FEWEST_SUMMED) + [total[filled]] * (k - len(sums) >= FEWEST_SUMMED)
        several = len(own) > 1 and bool((count[filled] >= FEWEST_SUMMED).all())  # of numbers above, not of rows
        is_sum = several and any(bool((own == one).all()) for one in made)
        is_sum = is_sum and bool((numbers[:k, filled] != own).all(axis=0).any())  # a number that no row above holds
        if len(own) > 1 and made and not is_sum and k >= len(numbers) - AT_THE_END and (count[filled] > 0).all():
            off, spread = np.abs(own - total[filled] / count[filled]), np.nanstd(numbers[:k, filled], axis=0)
            new = (numbers[:k, filled] != own).all(axis=0)
            for unit in (0.1, 0.01) if k - len(sums) >= FEWEST_SUMMED else ():
                varied = spread > 2.5 * unit  # what varies less is near its mean in every row
                is_sum |= bool((off <= 0.5 * unit + 1e-9).all() and varied.sum() > 1 and new[varied].any())
        if is_sum:
            sums.append(k)
            block = np.zeros_like(block)
        else:
            block, total, count = block + added[k], total + added[k], count + filled
    return sums


def _is_of_units(frame: pd.DataFrame) -> bool:
    """Whether the first row tells units ("(1-5)"): alone without a first cell, with words in columns of numbers; or
    is the line that Markdown has below a header."""
    if all(RULE.fullmatch(str(cell)) for cell in frame.iloc[0]):
        return True
    if str(frame.iat[0, 0]).strip():
        return False
    first, below = frame.iloc[0, 1:].astype(str).str.strip(), frame.iloc[1:, 1:]
    if not frame.iloc[1:, 0].astype(str).str.strip().ne("").all():
        return False
    numeric = [name for name in below if as_numbers(below[name].head(LOOKED_AT)).notna().mean() > 0.9]
    units = first.loc[[str(name) for name in numeric]]
    return bool(len(units) > 1 and units.ne("").all() and as_numbers(units).isna().all())


def _is_mean_of(frame: pd.DataFrame) -> bool:
    """Whether the first row is called as one that sums up, and holds the means of those below."""
    if str(frame.iat[0, 0]).strip().rstrip(":").lower() not in TOTALS:
        return False
    numbers = np.column_stack([as_numbers(frame[name]) for name in frame])
    numbers = numbers[:, np.isfinite(numbers[0]) & np.isfinite(numbers[1:]).any(axis=0)]
    off = np.abs(numbers[0] - np.nanmean(numbers[1:], axis=0))
    return len(off) > 1 and bool((off < 0.06).all())  # one decimal, at least


def _is_footer(row: Iterable[Any]) -> bool | None:
    """Whether a row sums up, or says something in its first cell alone; None where it does below one that does."""
    first, *rest = (str(cell).strip() for cell in row)
    alone = not any(cell and cell != "nan" for cell in rest)
    called = first.rstrip(":").lower()
    if called in TOTALS or (alone and REMARK.match(first)):
        return True
    return None if called in BESIDE_TOTALS else False


def _two_lines(rows: list[list[str]]) -> bool:
    """Whether the second row goes on naming columns below gaps of the first: full, no number, no word of rows below."""
    if len(rows) < 4 or len(rows[0]) != len(rows[1]):
        return False
    upper, lower, below = rows[0], rows[1], rows[2:]
    gaps = [k for k in range(1, len(upper)) if not upper[k] and any(upper[:k])]
    if not gaps or not all(lower[1:]) or any(NUMBER.match(cell) for cell in lower):
        return False
    return not any(cells[k : k + 1] == [lower[k]] for cells in below for k in range(len(lower)) if lower[k])

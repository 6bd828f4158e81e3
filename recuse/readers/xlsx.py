"""Spreadsheets of Excel and of what writes its format (.xlsx): the sheet with the most cells, as text of a table. An
.xlsx file is a zip archive of XML (ECMA-376): `xl/worksheets/sheetN.xml` holds cells with a reference ("C7"), a type
and a value; shared texts lie in `xl/sharedStrings.xml`. Formulas count with the value that was saved beside them.
`xl/workbook.xml` has the order of the sheets and their names, `xl/styles.xml` says which numbers are days."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial, reduce
from xml.etree import ElementTree as XML

from recuse.readers.opening import MAX_BYTES, Opened, within_bounds
from recuse.readers.raw_table import cell_text, check_size, shown
from recuse.schema import RecuseError

MAIN = "{*}"  # the namespace of Excel's usual files, or that of "Strict Open XML"
WORKBOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
ID = re.compile(r"\{.*\}id")  # the attribute that names a sheet's file, in either namespace
DAYS = {14: "m/d/y", 15: "d-m-y", 16: "d-m", 17: "m-y", 22: "m/d/y"}
"""Formats of numbers that Excel shows as days whatever the file says."""
FIRST, FIRST_OF_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
"""Day 0, and that of files which say that they count from 1904."""
DAY_1, LAST_DAY = 367, 2_958_466  # from the year 1901 on: grades in cells of days are grades. Until the year 9999
SHEET = re.compile(r"xl/worksheets/sheet\d+\.xml")
MOST_ROWS, MOST_COLUMNS, DEEPEST = 1_048_576, 16_384, 64
REMEDY = "save its sheet as CSV"
UNREADABLE = (zipfile.BadZipFile, zlib.error, XML.ParseError, ValueError, LookupError, EOFError, NotImplementedError)


def sheet_as_text(opened: Opened) -> Opened:
    """The file as text with commas, row by row as in the sheet with the most cells, which a note names where there are
    several. `RecuseError` for an archive that cannot be read, saying what to do instead."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise RecuseError(f"it unpacks to more than {MAX_BYTES / 1e9:.1f} GB; {REMEDY}")
            tabs = _tabs(archive)
            shared = [*map(_text, _elements(archive, "xl/sharedStrings.xml", "si"))]
            days = _styles_of_days(archive)
            since_1904 = any(e.get("date1904") in ("1", "true") for e in _elements(archive, WORKBOOK, "workbookPr"))
            first = FIRST_OF_1904 if since_1904 else FIRST
            value = partial(_value, shared=shared, days=days, first=first)
            sheets = {n: _rows(len(opened.data), _elements(archive, n, "row"), value) for n in tabs}
    except UNREADABLE as error:
        raise RecuseError(f"a spreadsheet that cannot be read ({error}); {REMEDY}") from error
    if not any(sheets.values()):
        raise RecuseError(f"a spreadsheet in which no row is found; {REMEDY}")
    best = max(sheets, key=lambda name: sum(map(len, sheets[name])))
    width = max(map(len, sheets[best]), default=0)
    check_size(len(sheets[best]), width)
    stream = io.StringIO()
    csv.writer(stream).writerows([*row, *[""] * (width - len(row))] for row in sheets[best])
    which = f", sheet {[*tabs].index(best) + 1} of {len(tabs)}{tabs[best]}: the one with the most cells"
    which = which if len(tabs) > 1 else ""
    return replace(opened, data=stream.getvalue().encode(), notes=(*opened.notes, f"a spreadsheet{which}"))


def _elements(archive: zipfile.ZipFile, name: str, kind: str) -> Iterator[XML.Element]:
    """The elements of this kind, one at a time: a sheet as a tree takes a hundred times its size. None of a file that
    the archive does not hold."""
    if name not in archive.namelist():
        return
    data = archive.read(name)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # no spreadsheet has any; entities may grow without bounds
        raise ValueError(f"{name} declares entities")
    around: list[XML.Element] = []
    for event, element in XML.iterparse(io.BytesIO(data), ("start", "end")):
        if event == "start":
            around.append(element)
            if len(around) > DEEPEST:
                raise ValueError(f"elements in {len(around)} others in {name}")
            continue
        around.pop()
        if element.tag.rpartition("}")[2] == kind:
            yield element
            around[-1].clear()


def _tabs(archive: zipfile.ZipFile) -> dict[str, str]:
    """The files of the sheets in the order of the tabs, each with the tab's name; those that no tab names behind."""
    files = {e.get("Id"): e.get("Target", "") for e in _elements(archive, RELATIONS, "Relationship")}
    called = {}
    for sheet in _elements(archive, WORKBOOK, "sheet"):
        target = next((files.get(value, "") for key, value in sheet.items() if ID.fullmatch(key)), "")
        called[f"xl/{target}" if target[:1] != "/" else target[1:]] = f" ({shown(sheet.get('name', ''))})"
    names = sorted(name for name in archive.namelist() if SHEET.fullmatch(name))
    tabs = {n: name for n, name in called.items() if n in archive.namelist() and n.startswith("xl/worksheets/")}
    return tabs | {n: "" for n in names if n not in tabs}


def _styles_of_days(archive: zipfile.ZipFile) -> dict[str, str]:
    """Style of a cell whose number is shown as a day -> that as Python writes days, with a year where it shows one."""
    own, styles = "xl/styles.xml", {}
    formats = DAYS | {
        int(e.get("numFmtId", "0")): re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", e.get("formatCode", "")).lower()
        for e in _elements(archive, own, "numFmt")
    }
    for cells in _elements(archive, own, "cellXfs"):
        for k, style in enumerate(cells.findall(f"{MAIN}xf")):
            written = formats.get(int(style.get("numFmtId", "0")), "")
            if re.search("[dy]", written):
                styles[str(k)] = "%Y-%m-%d" if "y" in written else "%d-%b"
    return styles


def _text(element: XML.Element) -> str:
    """What it says, without how that is read aloud (`rPh`)."""
    return "".join(e.text or "" for path in (f"{MAIN}t", f"{MAIN}r/{MAIN}t") for e in element.findall(path))


def _rows(packed: int, elements: Iterator[XML.Element], value: Callable[[XML.Element], str]) -> list[list[str]]:
    """The rows from the first, each as its cells; rows that the file passes over are empty."""
    rows: list[list[str]] = []
    size = 0
    for row in elements:
        number = int(row.get("r") or len(rows) + 1)
        if max(number, len(rows) + 1) > MOST_ROWS:
            raise ValueError(f"row {max(number, len(rows) + 1)}")
        rows += [[] for _ in range(len(rows) + 1, number)]
        cells: list[str] = []
        for cell in row.findall(f"{MAIN}c"):
            place = len(cells)
            if reference := cell.get("r"):  # column 0 for "A7", 27 for "AB1"
                letters = re.match(r"[A-Z]*", reference)[0]  # type: ignore[index]
                place = reduce(lambda number, letter: number * 26 + ord(letter) - ord("A") + 1, letters, 0) - 1
            if not len(cells) <= place < MOST_COLUMNS:
                raise ValueError(f"cell {cell.get('r')}")
            cells += [""] * (place - len(cells))
            cells.append(" ".join(value(cell).splitlines()))  # a line of the text is a row of the sheet
            size += len(cells[-1])
            within_bounds(size, packed)
        rows.append(cells)
    return rows


def _value(cell: XML.Element, shared: list[str], days: dict[str, str], first: datetime) -> str:
    kind, value = cell.get("t", "n"), cell.findtext(f"{MAIN}v") or ""
    if kind == "inlineStr":
        return "".join(map(_text, cell.findall(f"{MAIN}is")))
    if kind == "s":
        if not 0 <= int(value) < len(shared):
            raise ValueError(f"shared text {value} of {len(shared)}")
        return shared[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    written = days.get(cell.get("s", ""))
    if kind == "n" and value and written and DAY_1 <= float(value) < LAST_DAY:
        at = first + timedelta(float(value))
        return at.strftime(written if "Y" not in written or float(value).is_integer() else f"{written} %H:%M:%S")
    return cell_text(float(value)) if kind == "n" and value else value

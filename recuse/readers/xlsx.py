"""Spreadsheets of Excel and of what writes its format (.xlsx): the sheet with the most cells, as text of a table.

An .xlsx file is a zip archive of XML (ECMA-376): `xl/worksheets/sheetN.xml` holds cells with a reference ("C7"), a type
and a value; shared texts lie in `xl/sharedStrings.xml`. Formulas count with the value that was saved beside them.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as XML

from recuse.readers.opening import MAX_BYTES, Opened, within_bounds
from recuse.readers.raw_table import cell_text, check_size
from recuse.schema import RecuseError

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SHEET = re.compile(r"xl/worksheets/sheet\d+\.xml")
MOST_ROWS, MOST_COLUMNS, DEEPEST = 1_048_576, 16_384, 64
REMEDY = "save its sheet as CSV"


def is_xlsx(opened: Opened) -> bool:
    """Whether the file is an archive with sheets in it."""
    return opened.data[:2] == b"PK" and b"xl/worksheets/" in opened.data


def sheet_as_text(opened: Opened) -> Opened:
    """The file as text with commas, row by row as in the sheet with the most cells, which a note names where there are
    several. `RecuseError` for an archive that cannot be read, saying what to do instead."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise RecuseError(f"it unpacks to more than {MAX_BYTES / 1e9:.1f} GB; {REMEDY}")
            names = sorted(name for name in archive.namelist() if SHEET.fullmatch(name))
            texts = "xl/sharedStrings.xml"
            shared = list(map(_text, _elements(archive, texts, "si"))) if texts in archive.namelist() else []
            sheets = {name: _rows(len(opened.data), _elements(archive, name, "row"), shared) for name in names}
    except (zipfile.BadZipFile, XML.ParseError, ValueError, KeyError, IndexError, NotImplementedError) as error:
        raise RecuseError(f"a spreadsheet that cannot be read ({error}); {REMEDY}") from error
    if not sheets:
        raise RecuseError(f"a spreadsheet; {REMEDY}")
    best = max(sheets, key=lambda name: sum(map(len, sheets[name])))
    width = max(map(len, sheets[best]), default=0)
    check_size(len(sheets[best]), width)
    stream = io.StringIO()
    csv.writer(stream).writerows([*row, *[""] * (width - len(row))] for row in sheets[best])
    which = f", sheet {names.index(best) + 1} of {len(names)}: the one with the most cells" if len(names) > 1 else ""
    return replace(opened, data=stream.getvalue().encode(), notes=(*opened.notes, f"a spreadsheet{which}"))


def _elements(archive: zipfile.ZipFile, name: str, kind: str) -> Iterator[XML.Element]:
    """The elements of this kind, one at a time: a sheet as a tree takes a hundred times its size."""
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
        if element.tag == f"{MAIN}{kind}":
            yield element
            around[-1].clear()


def _text(element: XML.Element) -> str:
    return "".join(text.text or "" for text in element.iter(f"{MAIN}t"))


def _rows(packed: int, elements: Iterator[XML.Element], shared: list[str]) -> list[list[str]]:
    """The rows from the first, each as its cells; rows that the file passes over are empty."""
    rows: list[list[str]] = []
    size = 0
    for row in elements:
        number = int(row.get("r") or len(rows) + 1)
        if max(number, len(rows) + 1) > MOST_ROWS:
            raise ValueError(f"row {max(number, len(rows) + 1)}")
        rows += [[] for _ in range(len(rows) + 1, number)]
        cells: list[str] = []
        for cell in row.iter(f"{MAIN}c"):
            place = _column(cell.get("r", "")) if cell.get("r") else len(cells)
            if not len(cells) <= place < MOST_COLUMNS:
                raise ValueError(f"cell {cell.get('r')}")
            cells += [""] * (place - len(cells))
            cells.append(" ".join(_value(cell, shared).splitlines()))  # a line of the text is a row of the sheet
            size += len(cells[-1])
            within_bounds(size, packed)
        rows.append(cells)
    return rows


def _column(reference: str) -> int:
    """0 for "A7", 27 for "AB1"."""
    number = 0
    for letter in re.match(r"[A-Z]*", reference)[0]:  # type: ignore[index]
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: XML.Element, shared: list[str]) -> str:
    kind, value = cell.get("t", "n"), cell.findtext(f"{MAIN}v") or ""
    if kind == "inlineStr":
        return _text(cell)
    if kind == "s":
        if not 0 <= int(value) < len(shared):
            raise ValueError(f"shared text {value} of {len(shared)}")
        return shared[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    return cell_text(float(value)) if kind == "n" and value else value

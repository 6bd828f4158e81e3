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

from recuse.readers.opening import MAX_BYTES, Opened
from recuse.readers.raw_table import cell_text
from recuse.schema import RecuseError

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SHEET = re.compile(r"xl/worksheets/sheet\d+\.xml")
MOST_COLUMNS = 16_384
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
                raise RecuseError(f"{opened.path} unpacks to more than {MAX_BYTES / 1e9:.1f} GB; {REMEDY}")
            names = sorted(name for name in archive.namelist() if SHEET.fullmatch(name))
            shared = (
                _shared(_xml(archive, "xl/sharedStrings.xml")) if "xl/sharedStrings.xml" in archive.namelist() else []
            )
            sheets = {name: list(_rows(_xml(archive, name), shared)) for name in names}
    except (zipfile.BadZipFile, XML.ParseError, ValueError, KeyError, IndexError, NotImplementedError) as error:
        raise RecuseError(f"{opened.path}: a spreadsheet that cannot be read ({error}); {REMEDY}") from error
    if not sheets:
        raise RecuseError(f"{opened.path}: a spreadsheet; {REMEDY}")
    best = max(sheets, key=lambda name: sum(map(len, sheets[name])))
    width = max(map(len, sheets[best]), default=0)
    stream = io.StringIO()
    csv.writer(stream).writerows([*row, *[""] * (width - len(row))] for row in sheets[best])
    which = f", sheet {names.index(best) + 1} of {len(names)}: the one with the most cells" if len(names) > 1 else ""
    return replace(opened, data=stream.getvalue().encode(), notes=(*opened.notes, f"a spreadsheet{which}"))


def _xml(archive: zipfile.ZipFile, name: str) -> XML.Element:
    data = archive.read(name)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # no spreadsheet has any; entities may grow without bounds
        raise ValueError(f"{name} declares entities")
    return XML.fromstring(data)


def _shared(root: XML.Element) -> list[str]:
    return ["".join(text.text or "" for text in entry.iter(f"{MAIN}t")) for entry in root.iter(f"{MAIN}si")]


def _rows(root: XML.Element, shared: list[str]) -> Iterator[list[str]]:
    """The rows from the first, each as its cells; rows that the file passes over are empty."""
    at = 0
    for row in root.iter(f"{MAIN}row"):
        number = int(row.get("r") or at + 1)
        if number > at + 1_048_576:
            raise ValueError(f"row {number}")
        yield from ([] for _ in range(at + 1, number))
        at = number
        cells: list[str] = []
        for cell in row.iter(f"{MAIN}c"):
            place = _column(cell.get("r", "")) if cell.get("r") else len(cells)
            if not len(cells) <= place < MOST_COLUMNS:
                raise ValueError(f"cell {cell.get('r')}")
            cells += [""] * (place - len(cells))
            cells.append(" ".join(_value(cell, shared).splitlines()))  # a line of the text is a row of the sheet
        yield cells


def _column(reference: str) -> int:
    """0 for "A7", 27 for "AB1"."""
    number = 0
    for letter in re.match(r"[A-Z]*", reference)[0]:  # type: ignore[index]
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: XML.Element, shared: list[str]) -> str:
    kind, value = cell.get("t", "n"), cell.findtext(f"{MAIN}v") or ""
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{MAIN}t"))
    if kind == "s":
        return shared[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    return cell_text(float(value)) if kind == "n" and value else value

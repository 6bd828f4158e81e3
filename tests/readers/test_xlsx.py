"""Spreadsheets are read without being saved as CSV first."""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def letter(column):
    return "ABCDEFGHIJ"[column]


def workbook(*sheets, shared=True):
    """An archive as Excel writes one: texts shared, numbers as they are, empty cells left out."""
    texts = list(dict.fromkeys(str(c) for rows in sheets for row in rows for c in row if isinstance(c, str) and c))

    def cell(row, column, value):
        place = f"{letter(column)}{row + 1}"
        if isinstance(value, str) and shared:
            return f'<c r="{place}" t="s"><v>{texts.index(value)}</v></c>' if value else ""
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>' if value else ""
        kind = ' t="b"' if isinstance(value, bool) else ""
        return f'<c r="{place}"{kind}><v>{int(value) if kind else value}</v></c>'

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k, rows in enumerate(sheets, start=1):
            lines = "".join(
                f'<row r="{r + 1}">{"".join(cell(r, c, value) for c, value in enumerate(row))}</row>'
                for r, row in enumerate(rows) if row
            )  # fmt: skip
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{NS}"><sheetData>{lines}</sheetData></worksheet>'
            )
        entries = "".join(f"<si><r><t>{escape(text)}</t></r></si>" for text in texts)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{NS}">{entries}</sst>')
    return stream.getvalue()


def marks(number=30):
    rows = [[f"t{k}", k % 5 + 1, (k + k % 2) % 5 + 1, (k % 5 + 1) if k % 10 else ""] for k in range(number)]
    return [["ticket", "anna", "ben", "gpt-4o"], *rows]


@pytest.mark.parametrize("shared", [True, False])
def test_the_sheet_is_the_table(file, shared):
    read = read_file(file("a.xlsx", workbook(marks(), shared=shared)))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    judged = read.ratings.table[read.ratings.table["rater"] == "gpt-4o"]
    assert dict(judged["status"].value_counts()) == {"ok": 27, "unparsed": 3}
    assert any("spreadsheet" in note for note in read.notes)


def test_what_is_true_and_what_is_false_stay_apart(file):
    rows = [[f"t{k}", k % 3 == 0, k % 3 == 0] for k in range(30)]
    read = read_file(file("a.xlsx", workbook([["ticket", "judge", "anna"], *rows])))
    assert list(read.raw.frame["judge"][:4]) == ["true", "false", "false", "true"]


def test_titles_and_the_larger_of_two_sheets(file):
    read = read_file(file("a.xlsx", workbook([["About", "this file"]], [["Calibration in March"], [], *marks()])))
    assert read.ratings.table["item"].nunique() == 30
    assert any("sheet 2 of 2" in note for note in read.notes)


def test_an_archive_that_declares_entities_is_refused(file):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>')
    with pytest.raises(RecuseError, match=re.escape("declares entities); save its sheet as CSV")):
        read_file(file("a.xlsx", stream.getvalue()))

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


def packed(book, files):
    """The workbook with further files of its folder xl."""
    with zipfile.ZipFile(stream := io.BytesIO(book), "a") as archive:
        for name, text in files.items():
            archive.writestr(f"xl/{name}", text)
    return stream.getvalue()


def days(number, *, format_code=""):
    """The second style shows days in a format of this number."""
    own = f'<numFmts><numFmt numFmtId="{number}" formatCode="{format_code}"/></numFmts>' if format_code else ""
    return f'<styleSheet xmlns="{NS}">{own}<cellXfs><xf numFmtId="0"/><xf numFmtId="{number}"/></cellXfs></styleSheet>'


def changed(book, before, after, name="xl/worksheets/sheet1.xml"):
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as archive, zipfile.ZipFile(stream, "w") as other:
        for each in archive.namelist():
            text = archive.read(each).decode()
            other.writestr(each, re.sub(before, after, text) if each == name or not name else text)
    return stream.getvalue()


AS_DAY = {1: 46027, 2: 46058, 3: 46086, 4: 46117, 5: 46147}
"""What Excel keeps of 1/5, 2/5, ... typed in 2026: the 5th of January, February, ..."""


@pytest.mark.parametrize("style", [days(16), days(14), days(170, format_code="[$-407]d/\\ mmm;@")])
@pytest.mark.parametrize("columns", ["B", "BCD"])
def test_grades_that_a_spreadsheet_made_days_of_are_refused(file, style, columns):
    rows = [marks()[0], *([n, *(AS_DAY[v] if letter(k) in columns and v else v for k, v in enumerate(cells, start=1))]
                          for n, *cells in marks()[1:])]  # fmt: skip
    book = changed(workbook(rows), r'(<c r="[BCD]\d+")(><v>46)', r'\1 s="1"\2')
    with pytest.raises(RecuseError, match=r"anna holds days such as .*, which a spreadsheet makes of 4/5"):
        read_file(file("a.xlsx", packed(book, {"styles.xml": style})))


@pytest.mark.parametrize(
    ("style", "day"),
    [(days(2), "46100.5"), (days(170, format_code="0.0&quot; days&quot;"), "46100.5"),
     (days(22), "2026-03-19 12:00:00"), (days(17), "2026-03-19 12:00:00")],
)  # fmt: skip
def test_numbers_are_days_where_their_style_shows_days(file, style, day):
    rows = [[*marks()[0], "at"], *([*row, 46100.5] for row in marks()[1:])]
    book = changed(workbook(rows), r'(<c r="[BCDE]\d+")', r'\1 s="1"')
    read = read_file(file("a.xlsx", packed(book, {"styles.xml": style})))
    assert {*read.raw.frame["at"]} == {day}
    assert {*read.raw.frame["anna"]} == {*"12345"}, "a grade in a cell of days is a grade"


def test_how_a_text_is_read_aloud_is_no_part_of_it(file):
    book = changed(workbook(marks()), "(<si>)(.*?)(</si>)", r'\1\2<rPh sb="0" eb="1"><t>aloud</t></rPh>\3',
                   "xl/sharedStrings.xml")  # fmt: skip
    assert set(read_file(file("a.xlsx", book)).ratings.raters) == {"anna", "ben", "gpt-4o"}


def test_a_sheet_is_called_as_its_tab_and_counted_as_they_stand(file):
    book = workbook(*([["About"]] for _ in range(9)), marks(), [["Notes"]])
    relation = '<Relationship Id="r{0}" Target="worksheets/sheet{0}.xml"/>'
    shown = '<sheet name="tab {0}" r:id="r{0}"/>'
    tabs = "".join(map(shown.format, range(11, 0, -1)))
    files = {
        "workbook.xml": f'<workbook xmlns="{NS}" xmlns:r="urn:r">{tabs}</workbook>',
        "_rels/workbook.xml.rels": f"<Relationships>{''.join(map(relation.format, range(1, 12)))}</Relationships>",
    }
    book = packed(book, files)
    assert any("sheet 2 of 11 ('tab 10')" in note for note in read_file(file("a.xlsx", book)).notes)


def test_strict_open_xml_is_read_and_a_sheet_without_rows_refused(file):
    strict = changed(workbook(marks()), re.escape(NS), "http://purl.oclc.org/ooxml/spreadsheetml/main", "")
    assert len(read_file(file("a.xlsx", strict)).ratings.table) == 90
    with pytest.raises(RecuseError, match="no row is found; save its sheet as CSV"):
        read_file(file("b.xlsx", workbook([])))


def test_errors_of_formulas_are_empty(file):
    book, errors = workbook(marks()), ["#N/A", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA"]
    for k, error in enumerate(errors):
        book = changed(book, rf'<c r="(D{k + 3})"><v>\d</v>', rf'<c r="\1" t="e"><v>{error}</v>')
    read = read_file(file("a.xlsx", book))
    assert read.faults == ()
    assert int((read.ratings.table["status"] != "ok").sum()) == 3 + len(errors)


def test_an_archive_that_declares_entities_is_refused(file):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>')
    with pytest.raises(RecuseError, match=re.escape("declares entities); save its sheet as CSV")):
        read_file(file("a.xlsx", stream.getvalue()))


def test_days_may_count_from_1904(file):
    rows = [[*marks()[0], "at"], *([*row, 46100.5 - 1462] for row in marks()[1:])]
    book = changed(workbook(rows), r'(<c r="E\d+")', r'\1 s="1"')
    of_1904 = {"styles.xml": days(14), "workbook.xml": f'<workbook xmlns="{NS}"><workbookPr date1904="1"/></workbook>'}
    assert {*read_file(file("a.xlsx", packed(book, of_1904))).raw.frame["at"]} == {"2026-03-19 12:00:00"}


def test_a_packed_sheet_whose_bytes_are_damaged(file):
    sheet = zipfile.ZipFile(io.BytesIO(workbook(marks()))).read("xl/worksheets/sheet1.xml")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    data = stream.getvalue()
    place = data.index(b"sheet1.xml") + 10
    with pytest.raises(RecuseError, match=r"a spreadsheet that cannot be read .*; save its sheet as CSV"):
        read_file(file("a.xlsx", data[:place] + b"\xff" * 40 + data[place + 40 :]))

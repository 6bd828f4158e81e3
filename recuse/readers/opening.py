"""From a path to text: unpacked within bounds, decoded, and said how; of a spreadsheet, its largest sheet."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree as XML

from recuse.readers.raw_table import cell_text, check_size, shown
from recuse.schema import RecuseError
from recuse.security.sanitize import visible

MAX_BYTES = 1 << 30  # no file is unpacked beyond this
MAX_RATIO, FREE = 400, 64 << 20
"""Above 64 MB, a file that unpacks to more than 400 times its size is taken for a bomb; tables shrink far less."""
PACKED = (".gz", ".bz2", ".xz", ".zip")
CHUNK = 1 << 20
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig", ""), (b"\xff\xfe", "utf-16", "UTF-16"), (b"\xfe\xff", "utf-16", "UTF-16"))
WHICH_ENCODING = (
    "letters are in an encoding that the file does not name; say it, for example --encoding shift_jis (Japanese), "
    "gb18030 (Chinese), euc_kr (Korean), windows-1251 (Russian), iso8859_7 (Greek), mac_roman (old Macs) or cp850 "
    "(DOS), or save it as UTF-8"
)
_IN_WORD = rb"[^\s,;|\"]{0,20}"
_NO_WORD = re.compile(
    rb"%b(?:[a-z][\x8a\x8e\x9f]|[A-Z][\x8a\x8e\x9f][a-z]|[a-z][\x82-\x84\x86-\x89\x8b\x95\x98\x9b][a-z])%b"
    % (_IN_WORD, _IN_WORD)
)
"""A word that Windows-1252 cannot mean: a capital behind a small letter, or a mark between two, where Macs and DOS have
letters with accents."""
_WORD = re.compile(rb"%b[\x80-\xff]%b" % (_IN_WORD, _IN_WORD))
# An .xlsx file is a zip archive of XML (ECMA-376): `xl/worksheets/sheetN.xml` holds cells with a reference ("C7"), a
# type and a value, of a formula the one saved beside it; shared texts lie in `xl/sharedStrings.xml`.
# `xl/workbook.xml` has the order of the sheets and their names, `xl/styles.xml` says which numbers are days.
MAIN = "{*}"  # the namespace of Excel's usual files, or that of "Strict Open XML"
WORKBOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
DAYS = {14: "m/d/y", 15: "d-m-y", 16: "d-m", 17: "m-y", 22: "m/d/y"}
"""Formats of numbers that Excel shows as days whatever the file says."""
DAY_1, LAST_DAY = 367, 2_958_466  # from the year 1901 on: grades in cells of days are grades. Until the year 9999
MOST_ROWS, MOST_COLUMNS, DEEPEST = 1_048_576, 16_384, 64
REMEDY = "save its sheet as CSV"
UNREADABLE = (zipfile.BadZipFile, zlib.error, XML.ParseError, ValueError, LookupError, EOFError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class Opened:
    """`name` without what it was packed in; `data` unpacked; `sha256` of the file as it lies there; `notes`: words.
    `wanted`: short forms of long texts that are looked for, each of which gets its text. `encoding`: as was said."""

    path: Path
    name: str
    data: bytes
    sha256: str
    notes: tuple[str, ...]
    wanted: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    encoding: str = ""

    def text(self) -> tuple[str, tuple[str, ...]]:
        """The decoded text and, where not UTF-8, its encoding. `RecuseError` with the line where it is no text."""
        text, note = _decoded(self.data, self.encoding)
        if "\x00" in text:
            line = text.count("\n", 0, text.index("\x00")) + 1
            raise RecuseError(f"line {line} holds a NUL byte, so this is no text; save it again as UTF-8")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text, (note,) if note else ()

    @property
    def again(self) -> Callable[[], str]:
        """Reads the text anew: of a large file it is not held."""
        return partial(lambda path, encoding: open_file(path, encoding=encoding).text()[0], self.path, self.encoding)


def open_file(path: Path, wanted: dict[str, str] | None = None, encoding: str = "") -> Opened:
    """Read and unpack one file. `RecuseError` for one that is not there, is empty, damaged or unpacks beyond bounds."""
    if not path.is_file():
        raise RecuseError(f"{path} {'is a folder; name a file in it' if path.is_dir() else 'is not there'}")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise RecuseError(f"{path} has {size / 1e9:.1f} GB; files of up to {MAX_BYTES / 1e9:.1f} GB are read. Split it")
    data = raw = path.read_bytes()
    name, packed = path.name, path.suffix.lower()
    notes: tuple[str, ...] = ()
    if packed in PACKED:
        try:
            data, name = _unpacked(raw, packed, path.stem)
        except (OSError, EOFError, zipfile.BadZipFile, RuntimeError, ValueError) as error:
            raise RecuseError(f"{path} cannot be unpacked ({error}); pack it again") from error
        notes = (f"unpacked from {packed[1:]}",)
    if not data or data.isspace():
        raise RecuseError(f"{path} is empty")
    return Opened(path, name, data, hashlib.sha256(raw).hexdigest(), notes, {} if wanted is None else wanted, encoding)


def _unpacked(raw: bytes, packed: str, name: str) -> tuple[bytes, str]:
    """What the file holds, and what that is called."""
    import bz2
    import gzip
    import lzma

    opener: dict[str, Callable[[Any], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
    try:
        if packed != ".zip":
            with opener[packed](io.BytesIO(raw)) as stream:
                return _bounded(stream, len(raw)), name
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
            if len(files) != 1:
                raise RecuseError(f"it holds {len(files)} files; pack the one with the ratings alone, or unpack it")
            with archive.open(files[0]) as stream:
                return _bounded(stream, len(raw)), Path(files[0].filename).name
    except (lzma.LZMAError, zlib.error) as error:  # either may also be inside a zip
        raise ValueError(str(error)) from error


def _bounded(stream: IO[bytes], packed: int) -> bytes:
    parts: list[bytes] = []
    while part := stream.read(CHUNK):
        parts.append(part)
        within_bounds(sum(map(len, parts)), packed)
    return b"".join(parts)


def within_bounds(size: int, packed: int) -> None:
    """`RecuseError` where `packed` bytes unpack to a `size` that no ratings have."""
    if size > MAX_BYTES or (size > FREE and size > MAX_RATIO * packed):
        raise RecuseError(
            f"it unpacks to more than {size / 1e6:.0f} MB from {packed / 1e6:.3g} MB; that is no table of "
            "ratings. Unpack it yourself if it is"
        )


def _decoded(data: bytes, encoding: str) -> tuple[str, str]:
    if encoding:
        try:
            return data.decode(encoding), f"read as {encoding}, as you said"
        except (UnicodeDecodeError, LookupError) as error:
            raise RecuseError(f"it cannot be read with --encoding {encoding} ({error})") from error
    for mark, encoding, called in MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), f"read as {called}" if called else ""
            except UnicodeDecodeError as error:
                raise RecuseError(f"it begins as {encoding} and is not ({error}); save it as UTF-8") from error
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        if b"\x00" in data[:4096]:
            order = "utf-16-le" if data[1:2] == b"\x00" else "utf-16-be"
            try:
                return data.decode(order), "read as UTF-16 without a byte order mark"
            except UnicodeDecodeError as none:
                raise RecuseError("it is no text; CSV, TSV, JSON, JSON lines and Parquet are read") from none
        line = data.count(b"\n", 0, error.start) + 1
    runs = re.findall(rb"[\x80-\xff]+", data)  # which mostly are of one letter in Western languages
    if sum(len(run) for run in runs if len(run) > 1) > 0.5 * sum(map(len, runs)):
        raise RecuseError(f"line {line} is not UTF-8: {WHICH_ENCODING}")
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise RecuseError(f"line {line} is neither UTF-8 nor Windows-1252: {WHICH_ENCODING}") from error
    odd = _NO_WORD.search(data)
    word = odd or _WORD.search(data)
    western = f"Windows-1252 ({visible(word[0].decode('cp1252')) if word else ''})"
    if odd is not None:
        raise RecuseError(f"it is not UTF-8, nor by its words {western}: {WHICH_ENCODING}; if it is, --encoding cp1252")
    return text, f"read as {western}, since line {line} is not UTF-8; else say --encoding"


def sheet_as_text(opened: Opened) -> Opened:
    """The file as text with commas, row by row as in the sheet with the most cells, which a note names where there are
    several. `RecuseError` for an archive that cannot be read, saying what to do instead."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise RecuseError(f"it unpacks to more than {MAX_BYTES / 1e9:.1f} GB; {REMEDY}")
            # the files of the sheets in the order of the tabs, each with the tab's name; those that no tab names behind
            files = {e.get("Id"): e.get("Target", "") for e in _elements(archive, RELATIONS, "Relationship")}
            called, names = {}, archive.namelist()
            for sheet in _elements(archive, WORKBOOK, "sheet"):
                target = next((files.get(v, "") for key, v in sheet.items() if re.fullmatch(r"\{.*\}id", key)), "")
                called[f"xl/{target}" if target[:1] != "/" else target[1:]] = f" ({shown(sheet.get('name', ''))})"
            tabs = {n: name for n, name in called.items() if n in names and n.startswith("xl/worksheets/")}
            tabs |= {n: tabs.get(n, "") for n in sorted(names) if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", n)}
            shared = [*map(_text, _elements(archive, "xl/sharedStrings.xml", "si"))]
            days = _styles_of_days(archive)
            since_1904 = any(e.get("date1904") in ("1", "true") for e in _elements(archive, WORKBOOK, "workbookPr"))
            first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)  # day 0
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
    note = "a spreadsheet"
    if len(tabs) > 1:
        note += f", sheet {[*tabs].index(best) + 1} of {len(tabs)}{tabs[best]}: the one with the most cells"
    return replace(opened, data=stream.getvalue().encode(), notes=(*opened.notes, note))


def _elements(archive: zipfile.ZipFile, name: str, kind: str) -> Iterator[XML.Element]:
    """The elements of this kind, one at a time: a sheet as a tree takes a hundred times its size."""
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

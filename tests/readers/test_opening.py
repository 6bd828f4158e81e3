"""Packed, encoded, separated: the same table comes out, and hostile input is refused within bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
from typing import Any

import pytest

from recuse.readers import opening, read_file
from recuse.schema import RecuseError

TEXT = "item,gpt,Zoë\n1,3,3\n2,4,5\n3,1,1\n"


def told_apart(value: Any) -> str | None:
    """No test's name holds packed bytes: they hold the time of day, and parallel workers would disagree on the name."""
    return f"{len(value)} bytes" if isinstance(value, bytes) else None


def zipped(name: str, data: bytes, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def damaged(data: bytes, *places: int) -> bytes:
    """Every bit of the bytes at these places turned over."""
    return bytes(byte ^ 0xFF if at in places else byte for at, byte in enumerate(data))


RECORDS = [{"item": k, "gpt": s, "Zoë": s} for k, s in ((1, 3), (2, 4), (3, 1))]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", TEXT.encode()),
        ("a.csv", b"\xef\xbb\xbf" + TEXT.encode()),
        ("a.csv", TEXT.encode("utf-16")),
        ("a.csv", TEXT.encode("cp1252")),
        ("a.csv", TEXT.replace("\n", "\r\n").encode()),
        ("a.tsv", TEXT.replace(",", "\t").encode()),
        ("a.csv", TEXT.replace(",", ";").encode()),
        ("a.csv.gz", gzip.compress(TEXT.encode())),
        ("a.csv.bz2", bz2.compress(TEXT.encode())),
        ("a.csv.xz", lzma.compress(TEXT.encode())),
        ("a.zip", zipped("ratings.csv", TEXT.encode())),
        ("a.jsonl", "\n".join(map(json.dumps, RECORDS)).encode()),
        ("a.json", json.dumps(RECORDS, indent=1).encode()),
        ("a.json", json.dumps({"made": "today", "rows": RECORDS}).encode()),
    ],
    ids=told_apart,
)
def test_the_same_ratings(file, name, data):
    ratings = read_file(file(name, data)).ratings
    assert ratings.raters == {"gpt": "judge", "Zoë": "person"}
    assert list(ratings.table.loc[ratings.table["rater"] == "gpt", "score"]) == [3, 4, 1]


def test_another_encoding_is_said(file):
    notes = read_file(file("a.csv", TEXT.encode("cp1252"))).notes
    assert any("Windows-1252 (Zoë)" in note for note in notes), notes


@pytest.mark.parametrize(("encoding", "names"), [
    ("mac_roman", "Müller,Jürgen"), ("cp850", "café,château"), ("cp437", "François,Noël"), ("mac_roman", "naïve,élève"),
    *(pytest.param(encoding, names, marks=pytest.mark.slow("further cases"))
      for encoding, names in (("mac_roman", "François,Noël"), ("mac_roman", "café,château"), ("cp850", "Müller,Jürgen"),
                              ("cp850", "naïve,élève"))),
])  # fmt: skip
def test_letters_that_make_no_word_are_asked_about(file, encoding, names):
    """Macs and DOS have accents where Windows-1252 has nothing, or what stands in no word."""
    text = f"item,gpt,{names}\n" + "".join(f"{k},{k % 3},{k % 3},{k % 2}\n" for k in range(9))
    path = file("a.csv", text.encode(encoding))
    with pytest.raises(RecuseError, match=r"mac_roman \(old Macs\) or cp850 \(DOS\)"):
        read_file(path)
    assert {*read_file(path, encoding=encoding, people=names).ratings.raters} == {"gpt", *names.split(",")}
    typed = "Škoda’s “Žižek” KOŠICE… naïve—Ÿ 5‰ a†, ‘o’‚ €5"  # what Windows-1252 does have
    read = read_file(file("b.csv", text.replace("\n", f',"{typed}"\n').encode("cp1252")), people=names)
    assert any("Windows-1252" in note for note in read.notes)


def test_decimal_commas(file):
    read = read_file(file("a.csv", "item;gpt;anna\n1;3,5;4\n2;4,0;2,5\n3;1,5;1\n"))
    assert list(read.ratings.table["score"]) == [3.5, 4.0, 1.5, 4.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \n\t\r\n", "is empty"),
        ("a.csv", b"item,gpt\n1,3\n2,\x003\n", "line 3 holds a NUL byte"),
        ("a.csv", b"item,gpt,anna\n", "no row"),
        ("a.csv", b"just one line of prose\nand another\n", "one column"),
        ("a.csv.gz", b"\x1f\x8bnot gzip at all", "cannot be unpacked"),
        ("a.csv.gz", damaged(gzip.compress(b"item,judge,anna\n" * 1000), 15, 18), "cannot be unpacked"),
        ("a.zip", zipped("a.csv", b"x")[:20], "cannot be unpacked"),
        ("a.zip", damaged(zipped("a.csv", b"item,judge,anna\n" * 1000), 50, 51, 53), "cannot be unpacked"),
        ("a.zip", damaged(zipped("a.csv", b"item,gpt,anna\n" * 99, zipfile.ZIP_LZMA), 50, 51), "cannot be unpacked"),
        ("a.jsonl", b'{"item": 1, "gpt": 3}\n{"item": 2, "gpt": \n', "line 2"),
        ("a.json", b'[{"item": 1, "gpt": 3}, 7]', "record 2"),
        ("a.json", b"[" * 100_000, "recursion|nest|Expecting"),
        ("a.csv", b'item,gpt\n1,"3\n2,4\n', "quote is opened and never closed"),
    ],
    ids=told_apart,
)
def test_what_cannot_be_read_is_told(file, name, data, told):
    with pytest.raises(RecuseError, match=told):
        read_file(file(name, data))


def test_a_bomb_is_not_unpacked(file, monkeypatch):
    monkeypatch.setattr(opening, "FREE", 1 << 20)
    with pytest.raises(RecuseError, match="unpacks to more than"):
        read_file(file("a.csv.gz", gzip.compress(b"0" * (8 << 20))))


@pytest.mark.slow("large files")
def test_a_huge_cell_is_no_trouble(file):
    read = read_file(file("a.csv", f'item,text,gpt,anna\n1,"{"word " * 200_000}",3,3\n2,short,x,4\n3,b,1,1\n'))
    assert read.ratings.table["item"].nunique() == 3
    assert "line 3, column gpt: 'x'" in read.faults[0].sentence()


def test_hidden_characters_in_names_are_spelled_out(file):
    read = read_file(file("a.csv", "item,gpt\u202e,anna\n1,3,3\n2,4,4\n"))
    assert read.ratings.judges == ("gpt⟦U+202E⟧",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", zipped("x", b"y"), "a spreadsheet; save its sheet as CSV"),
        ("renamed.csv", zipped("xl/workbook.xml", b"y"), "a spreadsheet; save its sheet as CSV"),
        ("a.ods", zipped("content.xml", b"y"), "a spreadsheet; save its sheet as CSV"),
        ("a.xls", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(99), "a spreadsheet; save its sheet as CSV"),
        ("a.csv", b"\n<!DOCTYPE html><title>Sign in</title>", "a web page and no table"),
        ("a.pdf", b"%PDF-1.7 \x00", "a PDF; save the table in it as CSV"),
        ("a.db", b"SQLite format 3\x00", "write the table to a CSV file"),
        ("a.pkl", b"\x80\x04\x95", "which is never read; write it with to_csv"),
    ],
    ids=told_apart,
)
def test_what_is_no_table_is_called_what_it_is_with_the_remedy(file, name, content, message):
    with pytest.raises(RecuseError, match=re.escape(message)):
        read_file(file(name, content))


def test_a_table_that_begins_with_a_tag_or_is_packed_is_read(file):
    assert len(read_file(file("a.csv", "<item>,gpt\n1,3\n2,4\n")).ratings.table) == 2
    assert len(read_file(file("a.zip", zipped("ratings.csv", b"item,gpt\n1,3\n2,4\n"))).ratings.table) == 2

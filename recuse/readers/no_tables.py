"""Files that are no text at all, known by how they begin, whatever they are called: what they are, and the remedy."""

from __future__ import annotations

import re

from recuse.readers.opening import Opened

__all__ = ["no_table"]

SPREADSHEET = "a spreadsheet; save its sheet as CSV"
WEB_PAGE = "a web page and no table, perhaps one that asks to sign in; download the file itself"
BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", SPREADSHEET),  # .xls
    (b"%PDF-", "a PDF; save the table in it as CSV"),
    (b"SQLite format 3\x00", "a database of SQLite; write the table to a CSV file"),
    (b"\x80\x02", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x03", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x04", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
    (b"\x80\x05", "pickled by Python, which is never read; write it with to_csv or to_parquet"),
)
PAGE = re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE)
SHEETS = (b"xl/", b"opendocument.spreadsheet")
"""In the names of what a zip archive holds, or in the first of its contents."""


def no_table(opened: Opened) -> str:
    """What the file is and what to do about it; "" where it may be a table."""
    data = opened.data
    if data[:2] == b"PK" and (opened.name.lower().endswith((".xlsx", ".ods")) or any(s in data for s in SHEETS)):
        return SPREADSHEET
    if PAGE.match(data[:200].lstrip(b"\xef\xbb\xbf")):
        return WEB_PAGE
    return next((words for beginning, words in BEGINNINGS if data.startswith(beginning)), "")

"""Long texts of a large file are not held: of each the beginning is kept, its length, its words and a hash, and the few
that are shown are read again.

    The answer says that ... [2103 characters, 312 words, 5f0c1d2e3a4b5c6d]

The hash is of the text without regard to case and blanks, so copies stay copies. Columns of objects (JSON), from which
answers are read, are held as they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recuse.readers.opening import Opened, open_file

if TYPE_CHECKING:
    import pandas as pd

LARGE = 32 << 20
"""Files of fewer bytes are held as they are."""
LONG, BEGINNING, LOOKED_AT = 400, 200, 200
"""A column holds texts where its first cells are longer than this on average; so much of each is kept."""
SHORTENED = re.compile(r"\.\.\. \[(\d+) characters, (\d+) words, [0-9a-f]{16}\]$")


def word_count(text: object) -> int:
    """How many words a text has, or had before it was shortened."""
    words = str(text)
    match = SHORTENED.search(words, max(len(words) - 80, 0))
    return int(match[2]) if match else len(words.split())


def long_columns(frame: pd.DataFrame) -> list[Hashable]:
    """The columns whose first cells are long, and no objects."""
    first = frame.iloc[:LOOKED_AT]
    long = [name for name in frame if first[name].str.len().mean() > LONG]
    return [name for name in long if not first[name].str.contains("{", regex=False).mean() > 0.5]


def shorten(frame: pd.DataFrame, columns: Sequence[Hashable], wanted: dict[str, str]) -> pd.DataFrame:
    """The table with shortened texts in these columns. A text whose short form is `wanted` is entered there."""

    def short(cell: str) -> str:
        if len(cell) <= LONG:
            return cell
        words = cell.split()
        plain = " ".join(words)
        digest = hashlib.blake2b(plain.lower().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        kept = f"{plain[:BEGINNING]}... [{len(plain)} characters, {len(words)} words, {digest}]"
        if kept in wanted:
            wanted[kept] = cell
        return kept

    return frame.assign(**{str(name): [short(cell) for cell in frame[name]] for name in columns}) if columns else frame


def whole_texts(path: Path, cells: Sequence[str], reader: str = "") -> list[str]:
    """The cells as they stand in the file: those that were shortened are read again."""
    from recuse.readers.formats import read_raw

    wanted = {cell: cell for cell in map(str, cells) if SHORTENED.search(cell)}
    if wanted and path.is_file():
        opened: Opened = replace(open_file(path), wanted=wanted)
        read_raw(opened, reader)
    return [wanted.get(str(cell), cell) for cell in cells]

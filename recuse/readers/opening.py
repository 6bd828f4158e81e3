"""From a path to text: unpacked within bounds, decoded, and said how; and what was wrong in it, by line and column."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recuse.schema import RecuseError
from recuse.security.sanitize import shortened, visible

if TYPE_CHECKING:
    import pandas as pd

MAX_BYTES = 1 << 30
"""No file is unpacked beyond this."""
MAX_RATIO, FREE = 400, 64 << 20
"""Above 64 MB, a file that unpacks to more than 400 times its size is taken for a bomb; tables shrink far less."""
PACKED = (".gz", ".bz2", ".xz", ".zip")
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Opened:
    """`name` without what it was packed in; `data` unpacked; `sha256` of the file as it lies there; `notes`: words.
    `wanted`: short forms of long texts that are looked for (`long_texts`), each of which gets its text."""

    path: Path
    name: str
    data: bytes
    sha256: str
    notes: tuple[str, ...]
    wanted: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def text(self) -> tuple[str, tuple[str, ...]]:
        """The decoded text and, where it is not plain UTF-8, in which encoding it was read.

        `RecuseError` where it is no text, naming the line."""
        text, note = _decoded(self.data, self.path)
        if "\x00" in text:
            line = text.count("\n", 0, text.index("\x00")) + 1
            raise RecuseError(f"{self.path}: line {line} holds a NUL byte, so this is no text; save it again as UTF-8")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text, (note,) if note else ()


def open_file(path: Path) -> Opened:
    """Read and unpack one file. `RecuseError` for one that is not there, is empty, damaged or unpacks beyond bounds."""
    if not path.is_file():
        what = "is a folder; name a file in it" if path.is_dir() else "is not there"
        raise RecuseError(f"{path} {what}")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise RecuseError(f"{path}: {size / 1e9:.1f} GB; files of up to {MAX_BYTES / 1e9:.1f} GB are read. Split it")
    packed = path.suffix.lower()
    if packed not in PACKED:
        data, name, notes = path.read_bytes(), path.name, ()
        return _checked(Opened(path, name, data, hashlib.sha256(data).hexdigest(), notes))
    raw = path.read_bytes()
    try:
        data, name = _unpacked(raw, path)
    except (OSError, EOFError, zipfile.BadZipFile, RuntimeError, ValueError) as error:
        raise RecuseError(f"{path} cannot be unpacked ({error}); pack it again") from error
    return _checked(Opened(path, name, data, hashlib.sha256(raw).hexdigest(), (f"unpacked from {packed[1:]}",)))


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern that files match (scores/*.csv) and no file itself."""
    return any(mark in str(path) for mark in "*?[") and not path.exists()


def folder_of(path: Path) -> Path:
    """The folder in which a file lies, or all that match a pattern: scores for scores/**/*.csv."""
    return Path(*takewhile(lambda part: not is_pattern(Path(part)), path.parts)) if is_pattern(path) else path.parent


def stem_of(path: Path) -> str:
    """The file's name without its endings: tickets for tickets.csv.gz; of a pattern its folder's."""
    if is_pattern(path):
        return folder_of(path).name or "ratings"
    name = path.name
    while Path(name).suffix.lower() in (*PACKED, ".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".parquet",
                                           ".eval"):  # fmt: skip
        name = Path(name).stem
    return name or path.name


def _checked(opened: Opened) -> Opened:
    if not opened.data.strip():
        raise RecuseError(f"{opened.path} is empty")
    return opened


def _unpacked(raw: bytes, path: Path) -> tuple[bytes, str]:
    if path.suffix.lower() == ".zip":
        return _member(raw, path)
    import bz2
    import gzip
    import lzma

    opener: dict[str, Callable[[Any], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
    try:
        with opener[path.suffix.lower()](io.BytesIO(raw)) as stream:
            return _bounded(stream, len(raw), path), path.stem
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error


def _member(raw: bytes, path: Path) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
        if len(files) != 1:
            raise RecuseError(f"{path} holds {len(files)} files; pack the one with the ratings alone, or unpack it")
        with archive.open(files[0]) as stream:
            return _bounded(stream, len(raw), path), Path(files[0].filename).name


def _bounded(stream: IO[bytes], packed: int, path: Path) -> bytes:
    parts, size = [], 0
    while part := stream.read(CHUNK):
        size += len(part)
        within_bounds(path, size, packed)
        parts.append(part)
    return b"".join(parts)


def within_bounds(path: Path, size: int, packed: int) -> None:
    """`RecuseError` where `packed` bytes unpack to a `size` that no ratings have."""
    if size > MAX_BYTES or (size > FREE and size > MAX_RATIO * packed):
        raise RecuseError(
            f"{path} unpacks to more than {size / 1e6:.0f} MB from {packed / 1e6:.3g} MB; that is no table of "
            "ratings. Unpack it yourself if it is"
        )


def parsed(text: str | bytes) -> Any:
    """The value that JSON text holds. `ValueError` for what is none, nests without end, has a number of thousands of
    digits, or half of a character (a lone surrogate such as \\ud800), which no file can hold."""
    try:
        value = json.loads(text)
        if re.search(r"\\[uU][dD][89a-fA-F]", text) if isinstance(text, str) else b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a character ({error.object[error.start]!a}) stands in it") from error
    except ValueError as error:
        if type(error) is ValueError:  # of int(), which advises to lift Python's limit
            raise ValueError("a number of thousands of digits stands in it") from error
        raise
    return value


MARKS = ((b"\xef\xbb\xbf", "utf-8-sig", ""), (b"\xff\xfe", "utf-16", "UTF-16"), (b"\xfe\xff", "utf-16", "UTF-16"))


def _decoded(data: bytes, path: Path) -> tuple[str, str]:
    for mark, encoding, called in MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), f"read as {called}" if called else ""
            except UnicodeDecodeError as error:
                raise RecuseError(f"{path} begins as {encoding} and is not ({error}); save it as UTF-8") from error
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        if b"\x00" in data[:4096]:
            return _without_mark(data, path), "read as UTF-16 without a byte order mark"
        line = data.count(b"\n", 0, error.start) + 1
    try:
        note = f"read as Windows-1252, since line {line} is not UTF-8; if letters look wrong, save it as UTF-8"
        return data.decode("cp1252"), note
    except UnicodeDecodeError as error:
        raise RecuseError(f"{path}: line {line} is neither UTF-8 nor Windows-1252; save it as UTF-8") from error


def _without_mark(data: bytes, path: Path) -> str:
    order = "utf-16-le" if data[1:2] == b"\x00" else "utf-16-be"
    try:
        return data.decode(order)
    except UnicodeDecodeError as error:
        raise RecuseError(f"{path} is no text; CSV, TSV, JSON, JSON lines and Parquet are read") from error


SHOWN = 5
Place = Callable[[int], str]
"""Number of a row -> where it stands in the file."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault: `what` is wrong, what was done about it (`done`), and where it is met, the first few."""

    what: str
    count: int
    places: tuple[str, ...]
    done: str

    def sentence(self) -> str:
        """ "3 answers are not numbers (line 4, column judge: 'n/a'; ...); they count as unusable." """
        more = self.count - len(self.places)
        where = "; ".join(self.places) + (f"; and {more} more" if more > 0 else "")
        return f"{self.count} {self.what}" + (f" ({where})" if where else "") + f"; {self.done}"

    def record(self) -> dict[str, object]:
        """As builtins."""
        return {"what": self.what, "count": self.count, "places": list(self.places), "done": self.done}

    @classmethod
    def of(cls, what: str, places: Iterable[str], done: str, count: int | None = None) -> Fault:
        """From every place where it is met, of which the first few are kept; `count` where it is not their number."""
        every = list(places)
        return cls(what, len(every) if count is None else count, tuple(every[:SHOWN]), done)


def shown(text: object, limit: int = 40) -> str:
    """A cell's content as it may stand in a message: nothing hidden in it, and not much of it."""
    short, cut = shortened(visible(str(text)).replace("\n", " "), limit)
    return repr(short) + ("..." if cut else "")


def fault_in(what: str, rows: pd.DataFrame, place: Place, done: str) -> Fault:
    """A fault of these rows of a long table, with the first few of their cells."""
    places = [
        f"{place(int(r))}, column {c}: {shown(cell)}"
        for r, c, cell in zip(rows["row"][:SHOWN], rows["column"][:SHOWN], rows["cell"][:SHOWN], strict=True)
    ]
    return Fault.of(what, places, done, len(rows))

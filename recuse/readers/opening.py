"""From a path to text: unpacked within bounds, decoded, and said how."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from recuse.schema import RecuseError
from recuse.security.sanitize import visible

MAX_BYTES = 1 << 30  # no file is unpacked beyond this
MAX_RATIO, FREE = 400, 64 << 20
"""Above 64 MB, a file that unpacks to more than 400 times its size is taken for a bomb; tables shrink far less."""
PACKED = (".gz", ".bz2", ".xz", ".zip")
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Opened:
    """`name` without what it was packed in; `data` unpacked; `sha256` of the file as it lies there; `notes`: words.
    `wanted`: short forms of long texts that are looked for, each of which gets its text. `encoding`: as somebody says.
    """

    path: Path
    name: str
    data: bytes
    sha256: str
    notes: tuple[str, ...]
    wanted: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    encoding: str = ""

    def text(self) -> tuple[str, tuple[str, ...]]:
        """The decoded text and, where it is not plain UTF-8, in which encoding it was read. `RecuseError` with the line
        where it is no text."""
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
        what = "is a folder; name a file in it" if path.is_dir() else "is not there"
        raise RecuseError(f"{path} {what}")
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
    if packed == ".zip":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            files = [m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
            if len(files) != 1:
                raise RecuseError(f"it holds {len(files)} files; pack the one with the ratings alone, or unpack it")
            with archive.open(files[0]) as stream:
                return _bounded(stream, len(raw)), Path(files[0].filename).name
    import bz2
    import gzip
    import lzma

    opener: dict[str, Callable[[Any], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
    try:
        with opener[packed](io.BytesIO(raw)) as stream:
            return _bounded(stream, len(raw)), name
    except lzma.LZMAError as error:
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


MARKS = ((b"\xef\xbb\xbf", "utf-8-sig", ""), (b"\xff\xfe", "utf-16", "UTF-16"), (b"\xfe\xff", "utf-16", "UTF-16"))
RUNS = 0.5
"""Letters beyond ASCII mostly stand alone in Western languages: where more of them than this stand together, the bytes
are another encoding's, though any are letters of Windows-1252."""
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
    runs = re.findall(rb"[\x80-\xff]+", data)
    if sum(len(run) for run in runs if len(run) > 1) > RUNS * sum(map(len, runs)):
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

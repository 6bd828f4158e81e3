"""The file of a cell: where it is, its bytes, and how it is replaced. Everything else asks here and sees plain bytes.
A cell is stored as `<cell>.jsonl` or, compressed, as `<cell>.jsonl.gz`: gzip of exactly the same bytes, without name
and time, so that the same cassette is the same file. What is recorded into is plain: it is unpacked first. A change of
form that is interrupted leaves the old form, or both; then the plain one is whole and is the cell. A cell without a
file may be one of many in a pack (`pack_file`): its path is then `<cell>.jsonl.zst`, where no file is."""

from __future__ import annotations

import os
import struct
import threading
import zlib
from contextlib import suppress
from pathlib import Path

from recuse.cassettes import pack_file, plain_file
from recuse.cassettes.plain_file import CassetteError, Stamp, read_plain, remove_file, replace_file, stamp

SUFFIX = ".jsonl"
PACKED = ".gz"
LARGEST = 64 * 2**20  # bytes of a compressed cassette unpacked; never more is held: a few KB can unpack to gigabytes
HELD = 32 * 2**20  # bytes kept of what was unpacked last: a file is indexed, then replayed, or read line by line
_held: dict[tuple[Path, Stamp], bytes] = {}
_held_bytes = 0
_unpacking = threading.Lock()

HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"  # deflate; no name, no time; level 9; no particular system
_GZIP, _RAW = zlib.MAX_WBITS | 16, -zlib.MAX_WBITS
_PIECE = 1024


class UnpackingError(CassetteError):
    """A compressed cassette is damaged or cut off."""


def is_packed(path: Path) -> bool:
    """Whether a cell is compressed, in a file of its own or in a pack, by its name."""
    return path.name.endswith(SUFFIX + PACKED) or is_in_pack(path)


def is_in_pack(path: Path) -> bool:
    """Whether a path is that of a cell in a pack, where no file is."""
    return path.name.endswith(SUFFIX + pack_file.SUFFIX)


def plain_path(path: Path) -> Path:
    """Where the cell of this file is when it is plain."""
    name = path.name.removesuffix(PACKED).removesuffix(pack_file.SUFFIX)
    return path.with_name(name) if is_packed(path) else path


def cell_of(name: str) -> str | None:
    """The cell whose file has this name, relative to the folder of cassettes; None for what is no cassette."""
    plain = name.removesuffix(PACKED)
    return plain.removesuffix(SUFFIX) if plain.endswith(SUFFIX) else None


def stored_path(plain: Path) -> Path:
    """The file that holds a cell, `plain` or its compressed form, or its place in a pack; `plain` where there is none.
    `CassetteError` where there are both, unless the plain one begins with all that the other holds: then a change of
    form was interrupted, and the plain one is the cell."""
    name = f"{plain}{PACKED}"  # of thousands of cells, where a `Path` costs more
    if not os.path.lexists(name):
        return plain if os.path.lexists(plain) else pack_file.packed_cell(plain) or plain
    packed = Path(name)
    if not os.path.lexists(plain):
        return packed
    try:
        held, why = contents(packed)[0], "their contents differ"
        if contents(plain)[0].startswith(held):
            return plain
    except CassetteError as error:
        why = f"they cannot be compared: {error}"
    remedy = f"Compare them (`gzip -dc {packed.name} | diff - {plain.name}`) and delete one"
    raise CassetteError(f"{plain} and {packed} are both there, for one cell, and {why}. {remedy}")


def contents(path: Path) -> tuple[bytes, os.stat_result]:
    """All bytes of a cassette, unpacked, and the state of its file when it was opened. Thousands are read this way.
    `UnpackingError` for a compressed one that is damaged, `CassetteError` for one that unpacks to more than `LARGEST`
    bytes and for what is no plain file; `OSError` as usual."""
    if is_in_pack(path):
        return pack_file.member(path)
    if not is_packed(path):
        return read_plain(path)
    global _held_bytes
    there = os.lstat(path)
    with _unpacking:
        if (data := _held.pop((path, stamp(there)), None)) is None:
            raw, there = read_plain(path)
            data = unpacked(raw, path)
            _held_bytes += len(data)
        _held[path, stamp(there)] = data  # what was used last stands last
        while _held_bytes > HELD:
            _held_bytes -= len(_held.pop(next(iter(_held))))
    return data, there


def stamp_of(path: Path) -> Stamp | None:
    """What tells whether the file that holds a cell was changed; None where there is no file."""
    with suppress(FileNotFoundError):
        return plain_file.stamp_of(pack_file.holder(path))
    return None


def readable_part(path: Path) -> bytes:
    """The bytes of a cassette up to where a compressed one is damaged; all of a plain one."""
    raw = read_plain(path)[0]
    if not is_packed(path):
        return raw
    stream, data = zlib.decompressobj(_GZIP), bytearray()
    with suppress(zlib.error):
        for at in range(0, len(raw), _PIECE):
            data += stream.decompress(raw[at : at + _PIECE], LARGEST + 1 - len(data))
            if len(data) > LARGEST:
                break
    return bytes(data)


def packed(data: bytes) -> bytes:
    """The compressed form of a cassette: the same bytes for the same content, on every machine of one zlib."""
    stream = zlib.compressobj(9, zlib.DEFLATED, _RAW)
    return b"".join((HEADER, stream.compress(data), stream.flush(), struct.pack("<LL", zlib.crc32(data), len(data))))


def unpacked(raw: bytes, path: Path) -> bytes:
    """The content of a compressed cassette; see `contents`. Its last four bytes say how long it is, modulo 2**32."""
    stream, length = zlib.decompressobj(_GZIP), int.from_bytes(raw[-4:], "little")
    try:
        data, why = stream.decompress(raw, min(length, LARGEST) + 1), "it is cut off"
    except zlib.error as error:
        data, why = b"", str(error).partition("decompressing data: ")[2] or str(error)
    if len(data) > LARGEST:
        why = f"unpacks to more than {LARGEST // 2**20} MB, as no cassette does"
        raise CassetteError(f"{path}: {why}; restore it from version control")
    if stream.eof and not stream.unused_data and len(data) == length:
        return data
    why = "more follows its end" if stream.unused_data else why
    remedy = "restore it from version control, or delete it and record again"
    raise UnpackingError(f"{path}: the compressed cassette is damaged ({why}); {remedy}")


def replace_contents(path: Path, data: bytes) -> None:
    """Put `data` in place of what the file holds, in its form, whole or not at all; of a pack, in its own file."""
    gzipped = path.name.endswith(SUFFIX + PACKED)
    replace_file(path if gzipped else plain_path(path), packed(data) if gzipped else data)


def make_plain(path: Path) -> Path:
    """Unpack the file of a cell, and take away what an interrupted change of form left; the plain file."""
    plain = plain_path(path)
    if is_packed(stored := stored_path(plain)):
        plain.parent.mkdir(parents=True, exist_ok=True)
        replace_file(plain, contents(stored)[0])
    remove_file(Path(f"{plain}{PACKED}"))
    return plain


def make_packed(path: Path) -> Path:
    """Compress the file of a cell; the compressed file. `CassetteError` for one too large to be read back."""
    plain = plain_path(path)
    compressed = Path(f"{plain}{PACKED}")
    if stored_path(plain) == plain:
        data, _ = contents(plain)
        if len(data) > LARGEST:
            raise CassetteError(f"{plain}: more than {LARGEST // 2**20} MB, too large to be compressed")
        replace_file(compressed, packed(data))
        remove_file(plain)
    return compressed

"""Inspect's packed logs (`.eval`): a zip archive with a header and one file per sample, compressed with Zstandard."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

from recuse.readers.opening import MAX_BYTES, Opened
from recuse.schema import RecuseError

__all__ = ["ENDING", "unpacked_log"]

ENDING = ".eval"
ZSTANDARD = 93  # zipfile knows this method from Python 3.14 on
CONVERT = "write it as JSON: inspect log convert FILE --to json --output-dir OUT"


def unpacked_log(opened: Opened) -> dict[str, Any]:
    """The log as Inspect's JSON format has it: `eval` and `samples`. `RecuseError` for an archive that is damaged, too
    large, or compressed in a way that cannot be undone here."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            members = {m.filename: m for m in archive.infolist()}
            names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
            if sum(members[name].file_size for name in names) > MAX_BYTES:
                raise RecuseError(f"{opened.path} unpacks to more than {MAX_BYTES / 1e9:.1f} GB; split it")
            header = next((name for name in ("header.json", "_journal/start.json") if name in members), "")
            head = json.loads(_content(archive, members[header], opened)) if header else {}
            samples = [json.loads(_content(archive, members[name], opened)) for name in sorted(names)]
    except (zipfile.BadZipFile, ValueError, EOFError, struct.error) as error:
        raise RecuseError(f"{opened.path}: the packed Inspect log is damaged ({error}); {CONVERT}") from error
    return {"eval": head.get("eval") or {}, "samples": samples}


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, opened: Opened) -> bytes:
    try:
        return archive.read(member)
    except NotImplementedError:
        if member.compress_type != ZSTANDARD:
            raise ValueError(f"compression method {member.compress_type}") from None
    at = (
        member.header_offset
    )  # of the member's own header: 30 bytes, then name and further fields, whose lengths it says
    name, more = struct.unpack("<HH", opened.data[at + 26 : at + 30])
    start = at + 30 + name + more
    return _decompressed(opened.data[start : start + member.compress_size], member.file_size, opened)


def _decompressed(data: bytes, size: int, opened: Opened) -> bytes:
    try:
        from backports.zstd import ZstdDecompressor, ZstdError
    except ImportError:
        raise RecuseError(
            f"{opened.path}: a packed Inspect log, compressed with Zstandard; pip install backports.zstd, or {CONVERT}"
        ) from None
    try:
        plain = ZstdDecompressor().decompress(data, size)
    except ZstdError as error:
        raise ValueError(str(error)) from error
    if len(plain) != size:
        raise ValueError("a file in it ends too early")
    return bytes(plain)

"""What a server sent compressed, decompressed within bounds: never more is held in memory than a reply may have."""

from __future__ import annotations

import zlib
from collections.abc import Callable

LARGEST_BODY = 16 * 2**20
"""Bytes of a body, decompressed. A judge's reply has a few thousand; what is larger is a fault or an attack."""


def decompressed(body: bytes, encoding: str, largest: int = LARGEST_BODY) -> bytes:
    """The body without its content encodings.

    `ValueError` if it is not what its encoding says, if the encoding is not known here (or its library is not
    installed), and if it has more than `largest` bytes: never more than that is held in memory."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
    for name in reversed(names):
        if name not in _DECOMPRESS:
            raise ValueError(f"the body is compressed as {name!r}, which is not known; known: {', '.join(_DECOMPRESS)}")
        try:
            body = _DECOMPRESS[name](body, largest + 1)
        except ImportError as error:
            raise ValueError(f"the body is compressed as {name!r}; install {error.name} to record it") from error
        except Exception as error:  # each library has errors of its own
            raise ValueError(f"the body is not valid {name}: {error}") from error
        check_size(len(body), largest)
    check_size(len(body), largest)
    return body


def check_size(size: int, largest: int = LARGEST_BODY) -> None:
    """`ValueError` for a body of more than `largest` bytes."""
    if size > largest:
        raise ValueError(f"the body has more than {largest // 2**20} MB; no judge's reply is that long")


def _gunzip(body: bytes, largest: int) -> bytes:
    """All members of a gzip file; most have one."""
    data = b""
    while body and len(data) < largest:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data += member.decompress(body, largest - len(data))
        if not member.eof and len(data) < largest:
            raise EOFError("it ends too early")
        body = member.unused_data
    return data


def _inflate(body: bytes, largest: int) -> bytes:
    try:
        return _inflated(body, zlib.MAX_WBITS, largest)
    except zlib.error:  # some servers send the stream without its zlib wrapper
        return _inflated(body, -zlib.MAX_WBITS, largest)


def _inflated(body: bytes, bits: int, largest: int) -> bytes:
    stream = zlib.decompressobj(bits)
    data = stream.decompress(body, largest)
    if not stream.eof and len(data) < largest:
        raise EOFError("it ends too early")
    return data


def _brotli(body: bytes, largest: int) -> bytes:
    try:
        import brotli  # type: ignore[import-untyped]
    except ImportError:
        import brotlicffi as brotli  # type: ignore[import-not-found]
    stream, data = brotli.Decompressor(), b""
    for at in range(0, len(body), _PIECE):  # an attack of 16 KB cannot expand to more than a few dozen MB
        data += bytes(stream.process(body[at : at + _PIECE]))
        if len(data) >= largest:
            return data
    if not stream.is_finished():
        raise EOFError("it ends too early")
    return data


def _zstandard(body: bytes, largest: int) -> bytes:
    try:
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        from backports.zstd import ZstdDecompressor
    stream = ZstdDecompressor()
    data = bytes(stream.decompress(body, largest))
    if not stream.eof and len(data) < largest:
        raise EOFError("it ends too early")
    return data


_PIECE = 4096
_DECOMPRESS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip, "x-gzip": _gunzip, "deflate": _inflate, "br": _brotli, "zstd": _zstandard,
}  # fmt: skip

"""Files of cassettes as they are stored: opened without following links, read whole, and what tells of a change."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from recuse.schema import RecuseError

Stamp = tuple[int, int, int]


class CassetteError(RecuseError):
    """A cassette file is not what was written; nothing of it is served."""


class CassetteWarning(UserWarning):
    """A cassette file is usable, but something was left out."""


def opened(path: Path) -> tuple[int, os.stat_result]:
    """A descriptor for reading; `CassetteError` for what is no plain file: a link may lead elsewhere, a pipe blocks."""
    try:
        descriptor = os.open(path, _READ_FLAGS)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise CassetteError(f"{path}: a symbolic link; a cassette must be a file of its own") from None
    there = os.fstat(descriptor)
    if not stat.S_ISREG(there.st_mode):
        os.close(descriptor)
        raise CassetteError(f"{path}: not a plain file; remove it, or restore the cassette from version control")
    return descriptor, there


_READ_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"))


def raw_bytes(path: Path) -> bytes:
    """The bytes of the file as it is stored."""
    return read_plain(path)[0]


def read_plain(path: Path) -> tuple[bytes, os.stat_result]:
    """The same, and the state of the file when it was opened."""
    descriptor, there = opened(path)
    with open(descriptor, "rb", buffering=0) as file:
        return file.readall(), there


def stamp_of(path: Path) -> Stamp | None:
    """What tells whether a file was changed: inode, size and time of last change; None where there is no file."""
    try:
        return stamp(os.lstat(path))
    except FileNotFoundError:
        return None


def stamp(status: os.stat_result) -> Stamp:
    """The same of a file whose status is known."""
    return status.st_ino, status.st_size, status.st_mtime_ns

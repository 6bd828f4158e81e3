"""Reading slices of many files while keeping few of them open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from recuse.cassettes.index import CassetteError, CellIndex, Place

OPEN_FILES = 128


class Slices:
    """Reads single lines of indexed files. Safe to use from several threads."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, int] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, index: CellIndex, place: Place) -> bytes:
        at, length = place
        with self._lock:  # held while reading, so that no other thread closes the file meanwhile
            descriptor = self._open.get(index.path)
            if descriptor is None:
                descriptor = self._opened(index)
            line = _read_at(descriptor, length, at)
        if len(line) != length:
            raise CassetteError(f"{index.path}: the file became shorter while it was in use")
        return line

    def forget(self, path: Path) -> None:
        with self._lock:
            if path in self._open:
                os.close(self._open.pop(path))

    def close(self) -> None:
        with self._lock:
            while self._open:
                os.close(self._open.popitem()[1])

    def _opened(self, index: CellIndex) -> int:
        if len(self._open) >= OPEN_FILES:
            os.close(self._open.popitem(last=False)[1])
        descriptor = os.open(index.path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        found = os.fstat(descriptor)
        if index.stamp is not None and (found.st_ino, found.st_size, found.st_mtime_ns) != index.stamp:
            os.close(descriptor)
            raise CassetteError(f"{index.path}: the file was changed by another program while it was in use; run again")
        self._open[index.path] = descriptor
        return descriptor


def _read_at(descriptor: int, length: int, at: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, at)
    os.lseek(descriptor, at, os.SEEK_SET)  # pragma: no cover - Windows
    return os.read(descriptor, length)  # pragma: no cover

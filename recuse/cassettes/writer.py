"""Appending to cassettes so that nothing that was paid for is lost, and nothing that was there is harmed.

One `os.write` with O_APPEND per interaction: what is written survives the death of this process at any moment, and
`sync_all` (about once a second, and at the end) makes it survive the death of the machine. A write that fails halfway
is cut off again. A ballast file keeps room for the answers already on their way when a disk runs full.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from recuse.schema import RecuseError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

BALLAST_BYTES = 1 << 20
TEMPORARY = ".tmp"
OPEN_FILES = 64


class StorageError(RecuseError):
    """A cassette could not be written; the file still ends with the last whole line."""


class RecordingLock:
    """At most one process records into a folder. The lock is the folder's own: even a kill leaves nothing behind."""

    def __init__(self, folder: Path) -> None:
        if fcntl is None:  # pragma: no cover - Windows
            raise RecuseError("recording needs POSIX file locks (Linux, macOS, WSL); replay works everywhere")
        folder.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._fd)
            raise RecuseError(
                f"another process is recording into {folder}; wait for it to end (two at once would pay twice)"
            ) from None

    def release(self) -> None:
        os.close(self._fd)


class Writer:
    """Appends lines to files below one folder, keeping few of them open."""

    def __init__(self, folder: Path) -> None:
        self._lock = RecordingLock(folder)
        self._ballast = folder / ".ballast"
        self._open: OrderedDict[Path, int] = OrderedDict()
        self._unsynced: set[Path] = set()
        self.full = False
        try:
            _reserve(self._ballast)
        except OSError as error:
            self._ballast.unlink(missing_ok=True)
            self._lock.release()
            raise StorageError(
                f"cannot record into {folder}: {error.strerror}. Free some space first; nothing was asked"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, path: Path, data: bytes, at: int) -> None:
        """Write `data` at the end of the file, which must be byte `at`: an unfinished last line is cut off first."""
        descriptor = self._descriptor(path)
        if os.fstat(descriptor).st_size != at:
            os.ftruncate(descriptor, at)
        self._unsynced.add(path)
        try:
            _write_all(descriptor, data)
        except OSError as error:
            os.ftruncate(descriptor, at)
            if not self._drop_ballast():
                raise _storage_error(path, error) from error
            self._append_at_last(path, descriptor, data, at)

    def unsynced(self) -> list[int]:
        """Duplicates of the descriptors of files written since the last call, for `sync_all` to flush and close."""
        found = [os.dup(self._open[path]) for path in self._unsynced if path in self._open]
        self._unsynced.clear()
        return found

    def forget(self, path: Path) -> None:
        """Close the file: it is about to be replaced."""
        sync_all(self.unsynced())
        if path in self._open:
            os.close(self._open.pop(path))

    def close(self) -> None:
        try:
            sync_all(self.unsynced())
        finally:
            while self._open:
                os.close(self._open.popitem()[1])
            self._ballast.unlink(missing_ok=True)
            self._lock.release()

    def _append_at_last(self, path: Path, descriptor: int, data: bytes, at: int) -> None:
        try:
            _write_all(descriptor, data)
        except OSError as error:
            os.ftruncate(descriptor, at)
            raise _storage_error(path, error) from error

    def _drop_ballast(self) -> bool:
        """Make room once, for the answers that are already on their way. Tells the recorder to stop asking."""
        self.full, first = True, not self.full
        if self._ballast.exists():
            self._ballast.unlink()
        return first

    def _descriptor(self, path: Path) -> int:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        if len(self._open) >= OPEN_FILES:
            self.forget(next(iter(self._open)))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._open[path] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        return self._open[path]


def sync_all(descriptors: Iterable[int]) -> None:
    """Hand what was written to these files to the disk itself, and close the descriptors."""
    for descriptor in descriptors:
        try:
            (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):  # a short write means that space runs out; the next one says so
        written += os.write(descriptor, data[written:])


def _reserve(path: Path) -> None:
    path.unlink(missing_ok=True)
    with open(path, "wb") as file:
        file.write(b"\0" * BALLAST_BYTES)
        file.flush()
        os.fsync(file.fileno())


def _storage_error(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: writing failed ({error.strerror}). The file was cut back to its last whole line; nothing recorded "
        "before is lost. Free some space and run the same command again: it goes on where it stopped"
    )


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of the file, whole or not at all, even if the machine dies."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: could not be rewritten ({error.strerror}); the file is unchanged") from error
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # pragma: no cover - Windows cannot open folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Files of cassettes as they are stored: opened without following links, read whole, appended to and replaced so that
nothing that was paid for is lost, and nothing that was there is harmed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from recuse.schema import RecuseError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

Stamp = tuple[int, int, int]

BALLAST_BYTES = 1 << 20
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)
_REMEDIES = (
    ((errno.ENOSPC, errno.EDQUOT), "Free some space (or inodes: `df -i`)"),
    ((errno.EROFS,), "The file system is read-only: record where you can write"),
    ((errno.EACCES, errno.EPERM), "Give yourself permission to write there"),
    (_OUT_OF_FILES, "Raise `ulimit -n`, or lower `concurrency` in the panel file"),
    ((errno.EFBIG,), "Raise `ulimit -f`"),
    ((errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO),
     "Something that is no plain file or folder is in the way: remove it"),
)  # fmt: skip
TEMPORARY = ".tmp"
_CAREFULLY = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"))
"""How every file is opened: never through a link, which may lead elsewhere, nor to wait at a pipe."""


class CassetteError(RecuseError):
    """A cassette file is not what was written; nothing of it is served."""


class CassetteWarning(UserWarning):
    """A cassette file is usable, but something was left out."""


class StorageError(RecuseError):
    """A cassette could not be written; the file still ends with the last whole line."""


def opened(path: Path) -> tuple[int, os.stat_result]:
    """A descriptor for reading; `CassetteError` for what is no plain file: a link may lead elsewhere, a pipe blocks."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _CAREFULLY)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise CassetteError(f"{path}: a symbolic link; a cassette must be a file of its own") from None
    there = os.fstat(descriptor)
    if not stat.S_ISREG(there.st_mode):
        os.close(descriptor)
        raise CassetteError(f"{path}: not a plain file; remove it, or restore the cassette from version control")
    return descriptor, there


def read_plain(path: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of the file as it is stored, and its state when it was opened."""
    descriptor, there = opened(path)
    with open(descriptor, "rb", buffering=0) as file:
        return file.readall(), there


def stamp_of(path: Path | str) -> Stamp | None:
    """What tells whether a file was changed: inode, size and time of last change; None where there is no file."""
    try:
        return stamp(os.lstat(path))
    except FileNotFoundError:
        return None


def stamp(status: os.stat_result) -> Stamp:
    """The same of a file whose status is known."""
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """While open, no other process records into the folder: `RecuseError` where one does, or, with `wait`, until it has
    ended. The lock is the folder's own: even a kill leaves nothing behind. Nothing is locked without POSIX's locks."""
    if fcntl is None or not folder.is_dir():
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            remedy = "wait for it to end (two at once would pay twice)"
            raise RecuseError(f"another process is recording into {folder}; {remedy}") from None
        yield
    finally:
        os.close(descriptor)


class Writer:
    """Appends lines to files below one folder: one `os.write` with O_APPEND each, so that what is written survives the
    death of this process at any moment; `sync` (about once a second, and at the end) makes it survive that of the
    machine. A ballast file keeps room for the answers already on their way when a disk runs full."""

    def __init__(self, folder: Path) -> None:
        if fcntl is None:  # pragma: no cover - Windows
            raise RecuseError("recording needs POSIX file locks (Linux, macOS, WSL); replay works everywhere")
        self._ballast = folder / ".ballast"
        self._unsynced: set[Path] = set()
        self._spare: list[int] = []  # a descriptor to give up when there are no others
        self.full = ""  # why nothing more should be asked: what is on its way can still be written
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as held:
                held.enter_context(locked(folder))
                held.callback(self._give_back)
                self._ballast.unlink(missing_ok=True)
                with open(self._ballast, "wb") as file:
                    file.write(b"\0" * BALLAST_BYTES)
                    file.flush()
                    os.fsync(file.fileno())
                self._spare.append(os.open(os.devnull, os.O_RDONLY))
                self._held = held.pop_all()
        except OSError as error:
            raise _cannot_record(folder, error) from error

    def append(self, path: Path, data: bytes, at: int, again: bool = True) -> None:
        """Write `data` at the end of the file, which must be byte `at`: an unfinished last line is cut off first. If
        that fails, room is made once - the ballast or the spare descriptor goes - and it is tried `again`, so that
        answers on their way, which are paid for, still find a place."""
        try:
            with _opened_for_appending(path, at) as descriptor:
                self._unsynced.add(path)
                try:
                    _write_all(descriptor, data)
                except OSError:
                    os.ftruncate(descriptor, at)
                    raise
        except OSError as error:
            if again and self._make_room(error):
                self.append(path, data, at, again=False)
                with suppress(OSError):  # for the next answer, before a connection takes it
                    self._spare += [] if self._spare else [os.open(os.devnull, os.O_RDONLY)]
                return
            kept = "The file was cut back to its last whole line; nothing recorded before is lost"
            remedy = f"{_remedy(error)} and run the same command again: it goes on where it stopped"
            raise StorageError(f"{path}: writing failed ({error.strerror}). {kept}. {remedy}") from error

    def create(self, path: Path, data: bytes) -> None:
        """Begin a file before anything is asked, so that no answer depends on whether one more file can be made."""
        try:
            with _opened_for_appending(path, 0) as descriptor:
                _write_all(descriptor, data)
        except OSError as error:
            raise _cannot_record(path, error) from error

    def sync(self) -> None:
        """Hand what was written to the disk itself; another thread may append meanwhile."""
        for path in list(self._unsynced):
            self._unsynced.discard(path)  # first: what is appended from here on waits for the next call
            try:
                _sync(path)
            except FileNotFoundError:  # it was replaced, or begun in vain
                continue
            except OSError as error:
                self._unsynced.add(path)
                if error.errno in _OUT_OF_FILES:
                    return
                raise

    def close(self) -> None:
        """Flush every file, give the ballast back, and let other processes record."""
        try:
            self.sync()
        finally:
            self._held.close()

    def _give_back(self) -> None:
        while self._spare:
            os.close(self._spare.pop())
        with suppress(OSError):
            self._ballast.unlink(missing_ok=True)

    def _make_room(self, error: OSError) -> bool:
        """Make room for what is on its way, and tell the recorder to ask nothing more; False if that cannot help."""
        if error.errno in _OUT_OF_FILES:  # connections hold the others, and give them back as they end
            self.full = self.full or "no more files could be opened (raise `ulimit -n`, or lower `concurrency`)"
            freed = bool(self._spare)
            while self._spare:
                os.close(self._spare.pop())
            return freed
        first, self.full = not self.full, self.full or f"the disk is full ({error.strerror})"
        self._ballast.unlink(missing_ok=True)
        return first


@contextmanager
def _opened_for_appending(path: Path, size: int) -> Iterator[int]:
    """Never through a link, which may lead elsewhere, nor into a pipe, which blocks; cut back to `size` bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAREFULLY, 0o644)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ENXIO, "not a plain file")
        if status.st_size != size:
            os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):  # a short write means that space runs out; the next one says so
        written += os.write(descriptor, data[written:])


def _cannot_record(place: Path, error: OSError) -> StorageError:
    what = f"cannot record into {place}: {error.strerror}; nothing was asked"
    return StorageError(f"{what}. {_remedy(error)}, then retry")


def _remedy(error: OSError) -> str:
    return next((remedy for codes, remedy in _REMEDIES if error.errno in codes), "Look at the disk and the folder")


@contextmanager
def new_file(path: Path, fault: str = "{}: could not be written ({}); nothing was changed") -> Iterator[BufferedRandom]:
    """A new file in place of what an interruption left; gone again where the disk does not take it (`StorageError`)."""
    try:
        path.unlink(missing_ok=True)  # it may be a link that leads elsewhere
        with open(path, "x+b") as file:
            yield file
    except OSError as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise StorageError(f"{fault.format(path, error.strerror)}. {_remedy(error)}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of the file, whole or not at all, even if the machine dies."""
    draft, place = path.with_name(path.name + TEMPORARY), str(path).replace("{", "{{").replace("}", "}}")
    with new_file(draft, f"{place}: could not be rewritten ({{1}}); the file is unchanged") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        os.replace(draft, path)
    _sync(path.parent)


def remove_file(path: Path) -> None:
    """Take the file away, if it is there, so that it stays away even if the machine dies."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{path}: could not be removed ({error.strerror}). {_remedy(error)}") from error
    _sync(path.parent)


def _sync(path: Path) -> None:
    """Hand a file, or the names in a folder, to the disk itself."""
    with suppress(PermissionError):  # Windows cannot open folders
        descriptor = os.open(path, os.O_RDONLY)
        try:
            (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(descriptor)
        finally:
            os.close(descriptor)

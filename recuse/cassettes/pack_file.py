"""Packs: the cells of a panel in one compressed file that need not be in git. A recording of a million calls fits.

    cassettes/PANEL/packs.json       committed: the packs of the panel by sha256, and from where each is fetched
    cassettes/.packs/SHA256.zip      a pack: blocks 0.zst, 1.zst, ... and cells.json.zst, which says what they hold

A block is cassettes one after another, as `unzip` and `zstd -d` show them; what its calls share, as prompts, it stores
once. A cell that has a file of its own is that file, whatever a pack holds; of two packs the later one in packs.json
counts. So recording appends to files, and packing can be killed anywhere: files go once a pack was read back and named.

    python -m recuse.cassettes pack cassettes/PANEL [--to s3://bucket/folder]
    python -m recuse.cassettes fetch                  # replay itself never reaches the network
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedRandom
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field

from recuse.cassettes import plain_file
from recuse.cassettes.plain_file import CassetteError, Stamp, opened, read_plain, stamp, stamp_of
from recuse.judges.provider_responses import zstd
from recuse.schema import RecuseError
from recuse.security.redaction import SECRET_NAMES, looks_like_a_key

INDEX = "packs.json"
STORE = ".packs"  # below cassettes/
SUFFIX = ".zst"
CELLS = "cells.json.zst"  # {"format": FORMAT, "cells": {cell: [block, where it begins there, bytes], ...}}
FORMAT = 2
LEVEL = 19  # a millisecond a call, once; 16 takes half of that for 6 % more bytes
BLOCK = 4 * 2**20  # bytes unpacked, unless one cell is larger; of 8 MB a call takes 4 % less and a cell twice as long
LARGEST = 64 * 2**20  # bytes unpacked, as of a compressed cell: a few KB can unpack to gigabytes
_PIECE = 2**20
_HEADER = 30  # bytes of a local header of ZIP before the name; nothing else follows where `write_pack` wrote it

_current: dict[str, tuple[tuple[Stamp | None, list[Stamp | None]], dict[str, _OpenPack]]] = {}
"""By folder, as when a cell's place was last looked for: the states of packs.json and packs, and the cells."""


class Pack(BaseModel):
    """A row of packs.json. `url` is the folder, as fsspec names it, from which the pack is fetched; "" where the pack
    travels with the repository. `bytes` as stored; `cells` and `answers` are counts."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
    cells: int = Field(ge=0)
    answers: int = Field(ge=0)
    url: str = ""

    @property
    def name(self) -> str:
        """The file that holds it."""
        return f"{self.sha256}.zip"


def packed_cell(plain: Path) -> Path | None:
    """Where a cell that has no file of its own is found in a pack of its panel: its path with `SUFFIX`."""
    with suppress(FileNotFoundError):
        return plain.with_name(plain.name + SUFFIX) if _held(plain, _holding) else None
    return None


def packed_cells(root: Path) -> Iterator[Path]:
    """The plain paths of all cells that packs of panels below `root` hold."""
    for index in sorted(root.glob(f"*/{INDEX}")):
        yield from (index.parent / inside for inside in _holding(str(index.parent)))


def named_packs(root: Path) -> Iterator[tuple[Path, Pack]]:
    """Every pack that a packs.json below `root` names, after the packs.json."""
    for index in sorted(root.glob(f"*/{INDEX}")):
        yield from ((index, pack) for pack in packs_of(index.parent))


def holder(path: Path) -> Path:
    """The file with a cell's bytes: its own, or the pack of a `packed_cell`; `FileNotFoundError` without one."""
    return _held(path, _holding)[0].path if path.name.endswith(SUFFIX) else path


def member(path: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a cell in a pack, and the state of its file. `CassetteError` where that was changed since."""
    pack, cell = _held(path, lambda folder: _current[folder][1] if folder in _current else _holding(folder))
    return pack.read(cell)


def _held(path: Path, holding: Callable[[str], Mapping[str, _OpenPack]]) -> tuple[_OpenPack, str]:
    """The pack that holds a cell, and what the cell is called in it, cassettes/PANEL/task/protocol/cell.jsonl."""
    folder, *inside = str(path).removesuffix(SUFFIX).rsplit(os.sep, 3)  # of thousands of cells: a `Path` costs more
    cell = "/".join(inside)
    if folder and len(inside) == 3 and (pack := holding(folder).get(cell)) is not None:
        return pack, cell
    raise FileNotFoundError(errno.ENOENT, "no pack holds it", str(path))


def packs_of(folder: Path) -> tuple[Pack, ...]:
    """What packs.json of the panel in `folder` names; `CassetteError` where it is not what `pack` writes."""
    return tuple(_named(str(folder), stamp_of(folder / INDEX)).values())


@lru_cache(maxsize=64)
def _named(folder: str, index: Stamp | None) -> dict[Path, Pack]:
    """Where each pack is that packs.json names, as long as it has this state."""
    if index is None:
        return {}
    path = Path(folder, INDEX)
    try:
        packs = map(Pack.model_validate, json.loads(read_plain(path)[0])["packs"])
        return {path.parents[1] / STORE / pack.name: pack for pack in packs}
    except (ValueError, TypeError, KeyError, RecursionError):
        why = "not what `python -m recuse.cassettes pack` writes"
        raise CassetteError(f"{path}: {why}; restore it from version control") from None


@dataclass(frozen=True, slots=True, eq=False)
class _OpenPack:
    path: Path
    stamp: Stamp
    # cell below its panel -> where its block begins in the file, bytes there; where it begins in the block, its bytes
    places: Mapping[str, tuple[int, int, int, int]]

    def read(self, cell: str) -> tuple[bytes, os.stat_result]:
        """A cell's content, and the state of the pack; `CassetteError` for a pack that was changed since."""
        at, size, start, length = self.places[cell]
        content, there = _block(self, at, size)
        return content[start : start + length], there


@lru_cache(maxsize=2)
def _block(pack: _OpenPack, at: int, size: int) -> tuple[bytes, os.stat_result]:
    """A block, unpacked, and the state of the pack. Cells are read in order, so nearly all are of the last block."""
    descriptor, there = opened(pack.path)
    try:
        if stamp(there) != pack.stamp:
            raise CassetteError(f"{pack.path}: changed by another program while it was in use; start again")
        return _unpacked(os.pread(descriptor, size, at), f"{pack.path}: the block at byte {at}"), there
    finally:
        os.close(descriptor)


def _unpacked(data: bytes, what: str) -> bytes:
    codec = _zstd()
    try:
        content: bytes = (stream := codec.ZstdDecompressor()).decompress(data, max_length=LARGEST)
    except (codec.ZstdError, EOFError) as error:
        raise CassetteError(f"{what} is damaged ({error})") from None
    if not stream.eof or stream.unused_data:
        raise CassetteError(f"{what} is cut off, or unpacks to more than {LARGEST >> 20} MB")
    return content


def _holding(folder: str) -> dict[str, _OpenPack]:
    """Cell below its panel -> the pack that holds it."""
    index = stamp_of(os.path.join(folder, INDEX))
    named = _named(folder, index)
    state = index, [stamp_of(path) for path in named]
    if folder not in _current or _current[folder][0] != state:
        held: dict[str, _OpenPack] = {}
        for (path, pack), there in zip(named.items(), state[1], strict=True):
            if there is None:
                raise CassetteError(f"{folder}/{INDEX} names {path}, which is not here; {_remedy(path, pack)}")
            held |= dict.fromkeys((opened_pack := _open_pack(path, there, pack)).places, opened_pack)
        _current[folder] = state, held
    return _current[folder][1]


def _remedy(path: Path, pack: Pack) -> str:
    fetch = f"fetch it with `python -m recuse.cassettes fetch {path.parent.parent}`"
    return fetch if pack.url else "restore it from version control or a copy"


@lru_cache(maxsize=64)
def _open_pack(path: Path, there: Stamp, named: Pack) -> _OpenPack:
    descriptor, _ = opened(path)
    with open(descriptor, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != named.sha256:
            mend = f"{'delete it, then ' if named.url else ''}{_remedy(path, named)}"
            raise CassetteError(f"{path}: not the pack of that sha256; {mend}")
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                blocks = {}
                for entry in archive.infolist():
                    name, size = entry.filename, entry.compress_size
                    if entry.compress_type != zipfile.ZIP_STORED or max(size, entry.file_size) > LARGEST:
                        raise ValueError(f"{name!r} is no block")
                    blocks[name] = (entry.header_offset + _HEADER + len(name), size)
                index = json.loads(_unpacked(archive.read(CELLS), f"{path}: {CELLS}")) if CELLS in blocks else {}
            if (form := dict(index).get("format", 1)) != FORMAT:
                remedy = "Use the one that packed it, or record the panel again"
                known = f"this version of Recuse reads format {FORMAT}"
                raise CassetteError(f"{path}: a pack of format {form}; {known}. {remedy}")
            cells = dict(index["cells"]).items()
            places = {cell: (*blocks[f"{block}{SUFFIX}"], int(at), int(length)) for cell, (block, at, length) in cells}
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, TypeError, LookupError, RuntimeError) as error:
            raise CassetteError(f"{path}: cannot be read as a pack ({error})") from None
    return _OpenPack(path, there, places)


def write_pack(folder: Path, cells: Mapping[Path, int], contents: Callable[[Path], bytes], url: str = "") -> Pack:
    """Pack these cells (plain path -> number of answers) of the panel in `folder`, name the pack in packs.json, and
    give its row. It is read back, cell by cell (`contents`), and from `url` if any, before it is named."""
    _check_address(url)
    store = folder.parent / STORE
    store.mkdir(exist_ok=True)
    draft = store / f"{folder.name}.zip{plain_file.TEMPORARY}"
    places: dict[str, tuple[int, int, int]] = {}
    with plain_file.new_file(draft) as file:
        with zipfile.ZipFile(file, "w") as archive:
            block, number = bytearray(), 0
            for plain in sorted(cells):
                data = contents(plain)
                if block and len(block) + len(data) > BLOCK:
                    _add(archive, f"{number}{SUFFIX}", block)
                    block, number = bytearray(), number + 1
                places[plain.relative_to(folder).as_posix()] = (number, len(block), len(data))
                block += data
            _add(archive, f"{number}{SUFFIX}", block)
            _add(archive, CELLS, json.dumps({"format": FORMAT, "cells": places}).encode())
        sha256 = _written(file)
    size, answers = draft.stat().st_size, sum(cells.values())
    pack = Pack(sha256=sha256, bytes=size, cells=len(cells), answers=answers, url=url)
    os.replace(draft, store / pack.name)
    written = _open_pack(store / pack.name, stamp_of(store / pack.name) or (0, 0, 0), pack)
    for plain in sorted(cells):
        if written.read(plain.relative_to(folder).as_posix())[0] != contents(plain):
            raise CassetteError(f"{plain}: the pack does not hold what the file does; nothing was changed")
    if url:
        _upload(store / pack.name, pack)
        # Git leaves out packs that lie elsewhere, by name: one that travels with the repository may come later.
        ignored = store / ".gitignore"
        with plain_file.locked(store, wait=True):  # another panel may be packed at the same time
            lines = ignored.read_text(encoding="utf-8").splitlines() if ignored.exists() else []
            every = "".join(f"{line}\n" for line in dict.fromkeys([*lines, pack.name]))
            plain_file.replace_file(ignored, every.encode())
    rows = [pack.model_dump()]
    for older in reversed(packs_of(folder)):  # but for what the new one holds every cell of
        path, there = store / older.name, stamp_of(store / older.name)
        covered = there is not None and _open_pack(path, there, older).places.keys() <= written.places.keys()
        if older.sha256 != sha256 and not covered:
            rows.insert(0, older.model_dump())
    plain_file.replace_file(folder / INDEX, (json.dumps({"packs": rows}, indent=2) + "\n").encode())
    return pack


def _written(file: BufferedRandom) -> str:
    """The sha256 of a new file, once all of it is on the disk itself."""
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _add(archive: zipfile.ZipFile, name: str, content: bytes | bytearray) -> None:
    entry = zipfile.ZipInfo(name)  # time, system and mode are constants: the same cells are the same pack
    entry.create_system = 3
    archive.writestr(entry, _zstd().compress(content, level=LEVEL))


def fetch_packs(root: Path) -> Iterator[str]:
    """Fetch every pack that a packs.json below `root` names and that is not there, and say what was fetched: at most as
    many bytes as it says; `CassetteError` where they are others. Of several processes one fetches, the others wait."""
    for index, pack in named_packs(root):
        path = root / STORE / pack.name
        if stamp_of(path) is None:
            path.parent.mkdir(exist_ok=True)
            with plain_file.locked(path.parent, wait=True):
                if stamp_of(path) is None:
                    _download(pack, path, index)
                    yield f"{path}: {pack.answers:,} answers, {pack.bytes:,} bytes from {pack.url}"


def _download(pack: Pack, path: Path, index: Path) -> None:
    if not pack.url:
        raise CassetteError(f"{index} names {path}, which is not here; {_remedy(path, pack)}")
    _check_address(pack.url)
    draft = path.with_name(path.name + plain_file.TEMPORARY)
    try:
        with plain_file.new_file(draft) as target:
            left = pack.bytes + 1
            for piece in _pieces(pack):
                target.write(piece[:left])
                if (left := left - len(piece)) <= 0:
                    break
            digest = _written(target)
        if digest != pack.sha256:
            raise CassetteError(f"{pack.url} has another {pack.name} than {index} names; nothing of it was kept")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _upload(path: Path, pack: Pack) -> None:
    with open(path, "rb") as source, _remote(pack, "wb") as target:
        shutil.copyfileobj(source, target, _PIECE)
    digest = hashlib.sha256()
    for piece in _pieces(pack):
        digest.update(piece)
    if digest.hexdigest() != pack.sha256:
        raise CassetteError(f"{pack.url}: what is stored as {pack.name} is not what was sent; nothing was changed")


def _pieces(pack: Pack) -> Iterator[bytes]:
    with _remote(pack, "rb") as source:
        while piece := source.read(_PIECE):
            yield piece


@contextmanager
def _remote(pack: Pack, mode: Literal["rb", "wb"]) -> Iterator[IO[bytes]]:
    try:
        import fsspec
    except ImportError:
        raise RecuseError("packs that lie elsewhere need fsspec: pip install 'recuse[packs]'") from None
    try:
        with fsspec.open(f"{pack.url.rstrip('/')}/{pack.name}", mode, auto_mkdir=True).open() as file:
            yield file
    except RecuseError:
        raise
    except Exception as error:  # each kind of store has errors of its own
        cause: BaseException = error
        while cause.__cause__ is not None:  # fsspec calls all of HTTP's FileNotFoundError: a certificate, a 403
            cause = cause.__cause__
        what = f"{'read' if mode == 'rb' else 'stored'} there ({type(cause).__name__}: {cause})"
        raise RecuseError(f"{pack.url}: {pack.name} cannot be {what}") from None


def _check_address(url: str) -> None:
    """`RecuseError` for an address that holds a password or a key: packs.json, which names it, is committed."""
    place, _, query = url.partition("?")
    held = re.search(r"//[^/@]*:[^/@]*@|^https?://[^/@]*@", place) or looks_like_a_key(url)
    if held or any(name.lower() in SECRET_NAMES for name, _ in parse_qsl(query)):
        raise RecuseError(
            "packs.json is committed, and an address in it (--to) holds a password or a key (not shown); leave it out "
            "and set it where fsspec finds it: variables such as AWS_ACCESS_KEY_ID, or a file in ~/.config/fsspec"
        )


def share_store(root: Path, other: Path) -> None:
    """Let a copy of cassettes in `other`, of another commit say, find the packs that are here."""
    for pack in (root / STORE).glob("*.zip") if other.is_dir() else ():
        (other / STORE).mkdir(exist_ok=True)
        with suppress(FileExistsError):
            os.link(pack, other / STORE / pack.name)


def _zstd() -> Any:
    try:
        return zstd()
    except ImportError:
        raise RecuseError("packed cassettes need zstd: pip install 'recuse[packs]'") from None

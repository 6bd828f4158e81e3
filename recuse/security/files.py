"""Writing files: whole or not at all, through no link that somebody left there, and over nothing that is not ours."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from recuse.schema import RecuseError
from recuse.security.sanitize import safe_cell

HEAD = 1000
_PAGE = "Content-Security-Policy"


def write_files(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write each text to folder/name, which may name a folder in it, where it does not stand there already; returns the
    paths in order. `RecuseError` where it cannot be written, or a folder below `folder` is a link."""
    paths = [folder / name for name in texts]
    for path, data in zip(paths, map(str.encode, texts.values()), strict=True):
        refuse_links(folder, path)
        if path.is_symlink() or not path.is_file() or path.read_bytes() != data:
            _put(path, data)
    return paths


def refuse_links(folder: Path, path: Path) -> None:
    """`RecuseError` where a folder between `folder` and `path` is a link, which a pull request may bring."""
    for parent in path.parents[: len(path.parts) - len(folder.parts) - 1]:
        if parent.is_symlink():
            raise RecuseError(f"{parent} is a link, and reports are not written through one; remove it")


def check_output(path: Path | None, is_ours: Callable[[str], bool]) -> None:
    """Before any work: raises `RecuseError` unless the file that an option names can be written, because nothing is
    there, or what is there was written by the same option (`is_ours` of its text)."""
    if path is None:
        return
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RecuseError(f"{path} is {'a link' if path.is_symlink() else 'no file'}; name a file to write")
    if not path.parent.is_dir():
        raise RecuseError(f"{path} cannot be written: there is no folder {path.parent}; make it first")
    if path.is_file() and path.stat().st_size and not is_ours(path.read_text(encoding="utf-8-sig", errors="replace")):
        raise RecuseError(f"{path} is there already and was not written by this option; name another file, or move it")


def write_output(path: Path, text: str, is_ours: Callable[[str], bool], encoding: str = "utf-8") -> None:
    """Write what `check_output` allows."""
    check_output(path, is_ours)
    _put(path, text.encode(encoding))


def write_table(
    path: Path, head: Iterable[object], rows: Iterable[Iterable[object]], is_ours: Callable[[str], bool]
) -> None:
    """Write what `check_output` allows as a table that spreadsheets open as it is: no cell begins a formula."""
    stream = io.StringIO()
    csv.writer(stream).writerows(map(safe_cell, row) for row in (head, *rows))
    write_output(path, stream.getvalue(), is_ours, "utf-8-sig")


def text_of(path: Path) -> str | None:
    """What a file holds now, whatever its bytes; None where there is none."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def _put(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError as error:
        raise RecuseError(f"{path} cannot be written: {error.strerror}; free its place, or write elsewhere") from None
    finally:
        if draft.parent.is_dir():
            draft.unlink(missing_ok=True)


def delete_pages(folder: Path, pages: Iterable[Path], kept: Collection[Path]) -> None:
    """Delete those of these pages below `folder` that are ours and not kept; `RecuseError` for one below a link."""
    for path in sorted(pages):
        refuse_links(folder, path)
        if path not in kept and is_page(path.read_text(encoding="utf-8", errors="replace")):
            path.unlink(missing_ok=True)


def is_page(text: str) -> bool:
    """Whether a page is one of ours: each says first that it runs no script."""
    return _PAGE in text[:HEAD] and text.lstrip().lower().startswith("<!doctype html")


def is_json_with(*keys: str) -> Callable[[str], bool]:
    """A test whether a text is a JSON object that has all these keys."""

    def test(text: str) -> bool:
        with suppress(ValueError):
            return isinstance(known := json.loads(text), dict) and known.keys() >= set(keys)
        return False

    return test


def begins_with(line: str) -> Callable[[str], bool]:
    """A test whether this is the first line of a text: the names of a table's columns."""
    return lambda text: text.partition("\n")[0].strip() == line.strip()


is_results = is_json_with("headline")

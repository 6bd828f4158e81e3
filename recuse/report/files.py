"""Writing files so that a reader, or a killed process, never meets half of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write each text to folder/name, which may name a folder in it, through a temporary neighbour, where it does not
    stand there already; returns the paths in order."""
    return [_write(folder / name, text) for name, text in texts.items()]


def _write(path: Path, text: str) -> Path:
    data = text.encode()
    if path.is_file() and not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path

"""What is under way: a small JSON file beside the cassettes. It names batches and requests, and holds no secret."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from recuse.schema import RecuseError

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch. `id` is None from before its submission until its identifier has arrived: should the process die in
    between, the provider is asked for a batch of this tag before anything is submitted again."""

    tag: str
    judge: str
    numbers: tuple[str, ...]  # of the requests in it
    id: str | None = None


class State:
    """The entries of the file, which is written whole at every change, so that no moment of dying leaves half of it. It
    is gone when nothing is under way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = {entry.tag: entry for entry in _read(path)}

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries.values()))

    def of(self, judges: Sequence[str]) -> list[Entry]:
        """Batches of these judges."""
        return [entry for entry in self if entry.judge in judges]

    def under_way(self) -> set[str]:
        """Numbers of all requests in some batch."""
        return {number for entry in self for number in entry.numbers}

    def put(self, entry: Entry) -> None:
        """Enter a batch, or what is new of it, and write the file."""
        self._entries[entry.tag] = entry
        self._write()

    def remove(self, tag: str) -> None:
        """Take a batch out, whose answers are stored, and write the file."""
        self._entries.pop(tag, None)
        self._write()

    def _write(self) -> None:
        if not self._entries:
            self._path.unlink(missing_ok=True)
            return
        data = {"schema": SCHEMA, "batches": [asdict(entry) for entry in self._entries.values()]}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(self._path.name + ".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self._path)


def _read(path: Path) -> list[Entry]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']}")
        return [Entry(b["tag"], b["judge"], tuple(b["numbers"]), b["id"]) for b in data["batches"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecuseError(
            f"{path}: cannot be read ({type(error).__name__}). It says which batches are under way: restore it, or "
            "delete it once the provider's console shows none"
        ) from None

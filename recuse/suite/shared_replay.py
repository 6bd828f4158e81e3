"""Workers of one run share what was read from the cassettes: the first that needs it reads, the others wait for it.

What is shared lies in a folder that the run makes for itself and deletes at its end, named after a hash of everything
it was made from. Nothing survives a run: a cache in the repository could be forged in a pull request, a cassette cannot
be without changing what reviewers see.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recuse.elicitation.replies import Elicited

POLL_S = 0.02
LONGEST_WAIT_S = 600.0


@dataclass(frozen=True)
class SharedReplay:
    """`folder` is the run's own. `get` returns what some worker stored under `name`, or makes and stores it."""

    folder: Path

    def get(self, name: str, make: Callable[[], tuple[Elicited, Any]]) -> tuple[Elicited, Any]:
        """The elicited table and its account. A worker that dies while making it leaves its lock behind: the others
        then make it themselves."""
        done, lock = self.folder / f"{name}.npz", self.folder / f"{name}.lock"
        if not done.exists() and self._claims(lock):
            try:
                elicited, account = make()
                _save(done, elicited, account)
                return elicited, account
            finally:
                lock.unlink(missing_ok=True)
        waited = time.monotonic()
        while lock.exists() and not done.exists() and time.monotonic() - waited < LONGEST_WAIT_S:
            time.sleep(POLL_S)
        return _load(done) if done.exists() else make()

    def _claims(self, lock: Path) -> bool:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True


def content_hash(paths: Iterable[Path], *words: str) -> str:
    """32 hex digits over the bytes of these files, the files below these folders, and the words."""
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=16)
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"\0{file.name}\0{file.stat().st_size}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _save(path: Path, elicited: Elicited, account: Any) -> None:
    """The table column by column: numbers as they are, words as codes into a list of words."""
    import numpy as np
    import pandas as pd

    arrays: dict[str, Any] = {}
    words: dict[str, list[Any]] = {}
    for name in elicited.table.columns:
        column = elicited.table[name]
        if not pd.api.types.is_numeric_dtype(column):
            arrays[name], known = pd.factorize(column)
            words[name] = list(known)
        else:
            arrays[name] = column.to_numpy()
    about = {
        "columns": list(elicited.table.columns), "words": words, "usage": elicited.usage,
        "excerpts": elicited.excerpts, "account": account,
    }  # fmt: skip
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    temporary = path.with_suffix(f".{os.getpid()}")
    with temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    os.replace(temporary, path)


def _load(path: Path) -> tuple[Elicited, Any]:
    import numpy as np
    import pandas as pd

    with np.load(path, allow_pickle=False) as stored:
        about = json.loads(bytes(stored["about"]))
        columns: dict[str, Any] = {}
        for name in about["columns"]:
            values = stored[name]
            if name in about["words"]:
                known = np.array([*about["words"][name], None], dtype=object)  # code -1 is nothing
                values = known[values]
            columns[name] = values
    return Elicited(pd.DataFrame(columns, copy=False), about["usage"], about["excerpts"]), about["account"]

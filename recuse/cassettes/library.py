"""The library: all cassettes of one panel, indexed; replays recorded answers and stores new ones. One per process.

library = Library(Path("cassettes"), "published")                # replay: never the network
coverage = library.expect(plan.calls, headers)                   # what is there, missing, stale, damaged
with library.use():                                              # HTTP of this process is answered from here
    ...
library.response(call)                                           # the same answer without an HTTP client
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from recuse.cassettes import lines
from recuse.cassettes.coverage import Coverage, Unused
from recuse.cassettes.files import Slices
from recuse.cassettes.index import Interaction
from recuse.cassettes.keeping import decompressed, kept_headers, reason_to_drop
from recuse.cassettes.key import RUN_HEADER, canonical_body, public_url
from recuse.cassettes.lookup import Asked, Lookup
from recuse.cassettes.misses import MissingInteractionError, miss
from recuse.cassettes.names import SUFFIX, check_distinct, checked_cell
from recuse.cassettes.network import blocked_network, is_loopback
from recuse.cassettes.redaction import Secrets
from recuse.cassettes.shelf import Shelf
from recuse.cassettes.storage import Storage
from recuse.naming import checked_name
from recuse.schema import Call, RawResponse, RecuseError, Request

Mode = Literal["replay", "missing", "all"]
MODES: tuple[Mode, ...] = ("replay", "missing", "all")
_PORTS = {"http": 80, "https": 443}
_in_use = threading.Lock()


class Library:
    """All cassettes of one panel below `root`.

    `mode`: "replay" answers from recordings only; "missing" also lets unanswered calls of the plan out and stores their
    answers; "all" records every call of the plan anew, beside the old recording until the new one is complete.
    `secrets` are API key values; they are kept out of everything that is written or said. `command` is what a message
    tells the reader to run in order to record.
    """

    def __init__(
        self, root: Path, panel: str, *, mode: Mode = "replay", secrets: Iterable[str] = (), command: str | None = None
    ) -> None:
        if mode not in MODES:
            raise RecuseError(f"unknown recording mode {mode!r}; known: {', '.join(MODES)}")
        if mode != "replay" and os.environ.get("PYTEST_XDIST_WORKER"):
            raise RecuseError("recording runs in one process (it is concurrent inside): leave out -n while recording")
        self.root, self.panel, self.mode = Path(root), checked_name(panel, "panel", "cassettes"), mode
        self.secrets = Secrets(secrets)
        self.command = command or f"pytest evals/ --panel fixtures/panels/{panel}.toml --record=missing"
        self.misses: list[str] = []  # every miss, also one that a client library hid behind an error of its own
        self.dropped: dict[tuple[str, str, int], str] = {}  # (cell, key, run) -> why the last response was not stored
        self._shelves: dict[str, Shelf] = {}
        self._lookup = Lookup(self.secrets)
        self._slices = Slices()
        self._counting = threading.Lock()
        self._storage: Storage | None = None

    # ------------------------------------------------------------------ the plan

    def expect(self, calls: Sequence[Call], headers: Mapping[str, Mapping[str, Any]] | None = None) -> Coverage:
        """Register what will be asked, and compare it with what is recorded. May be called once per plan.

        `headers`: cell -> what opens its cassette: `provenance`, `fingerprint` (a table; its own table `served` holds
        what no request shows), and whatever else should stand there (judge, target, factors).
        """
        by_cell: dict[str, list[Call]] = {}
        for call in calls:
            by_cell.setdefault(call.cell, []).append(call)
        shelves = {cell: self._shelf(cell) for cell in by_cell}
        check_distinct(self._shelves)
        for cell, shelf in shelves.items():
            shelf.plan(by_cell[cell])
            self._lookup.remember(cell, shelf.calls)
            if headers is not None and cell in headers:
                shelf.expect_header(headers[cell])
            if self.mode == "missing" and not shelf.anew and shelf.served_differently():
                shelf.load(anew=True)
        return _coverage(shelves.values())

    def has(self, call: Call) -> bool:
        return (call.key, call.repeat) in self._shelf(call.cell).index.answers

    def coverage(self) -> Coverage:
        """All plans registered so far against what is recorded by now."""
        return _coverage(self._shelves.values())

    # ------------------------------------------------------------------ replay

    def response(self, call: Call) -> RawResponse:
        """The recorded answer to a call, without going through an HTTP client."""
        shelf = self._shelves.get(call.cell) or self._shelf(call.cell)
        interaction = (call.key, call.repeat)
        if interaction not in shelf.index.answers:
            raise self._miss(shelf, call, call.request, call.repeat)
        return self.serve(shelf, interaction)

    def serve(self, shelf: Shelf, interaction: Interaction) -> RawResponse:
        if shelf.faults and self.mode == "replay":
            shelf.check()
        line = self._slices.read(shelf.index, shelf.index.answers[interaction])
        with self._counting:  # noting a use reads and writes: two threads must not do it at once
            shelf.use(*interaction)
        return RawResponse(*lines.read_answer(line))

    @contextmanager
    def use(self) -> Iterator[Library]:
        """While open, HTTP of this whole process goes through the library; in mode "replay" the network is blocked.

        Only one at a time: two patches at once mix recordings and leave clients patched."""
        from recuse.cassettes.vcr_cassette import patched

        if not _in_use.acquire(blocking=False):
            raise RecuseError("a cassette library is already in use in this process; one serves all cells, so share it")
        try:
            with ExitStack() as stack:
                stack.enter_context(blocked_network(self._answered()) if self.mode == "replay" else self._recording())
                stack.enter_context(patched(self))
                yield self
        finally:
            _in_use.release()

    def find(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[Shelf, Interaction] | None:
        """Which recording answers an HTTP request; None if it may go out; `MissingInteractionError` if it must not."""
        asked = self._lookup.asked(method, url, body or b"", headers)
        if asked is None:
            self._check_stray(method, url)
            return None
        shelf = self._shelf_for(asked, method, url, body or b"")
        if (asked.key, asked.run) in shelf.index.answers:
            return shelf, (asked.key, asked.run)
        call = shelf.planned(asked.key, asked.run)
        if self.mode == "replay" or call is None:
            raise self._miss(shelf, call, _public(method, url, body or b""), asked.run)
        return None

    # ------------------------------------------------------------------ recording

    def store(self, method: str, url: str, body: bytes, headers: Mapping[str, str], response: RawResponse) -> None:
        """Write one answer to disk, if it is one that is kept (see `keeping`). Called when it has arrived in full."""
        asked = self._lookup.asked(method, url, body, headers)
        if asked is None:
            return  # not a judge call: a health check of a local server, say
        shelf = self._shelf_for(asked, method, url, body)
        interaction = asked.key, asked.run
        received = {name.lower(): value for name, value in response.headers.items()}
        try:
            plain, left = decompressed(response.body, received.get("content-encoding", ""))
            reason = "" if left else reason_to_drop(response.status, plain)
        except ValueError as error:
            reason = str(error)
        if reason:
            self.dropped[shelf.cell, *interaction] = reason
            return
        if self._storage is None:
            raise RecuseError("an answer can only be stored while the library is in use for recording")
        kept = kept_headers(received) | ({"content-encoding": left} if left else {})
        self._storage.store(shelf, interaction, Request(url, body, method), RawResponse(response.status, kept, plain))

    def sync(self) -> None:
        """Hand what was stored so far to the disk itself."""
        if self._storage is not None:
            self._storage.sync()

    @property
    def disk_full(self) -> bool:
        return self._storage is not None and self._storage.full

    def close(self) -> None:
        self._slices.close()

    # ------------------------------------------------------------------ accounts

    def __len__(self) -> int:
        return sum(len(shelf.index.answers) for shelf in self._shelves.values())

    def usage(self) -> dict[str, Any]:
        """What was used so far, as builtins: {"panel", "files", "interactions", "used": {cell: {key: [runs]}}}."""
        used = {cell: found for cell, shelf in self._shelves.items() if (found := shelf.used())}
        files = sum(shelf.index.exists for shelf in self._shelves.values())
        return {"panel": self.panel, "files": files, "interactions": len(self), "used": used}

    def merge(self, usage: Mapping[str, Any]) -> None:
        """Count what another process (an xdist worker) used."""
        for cell, keys in usage["used"].items():
            shelf = self._shelf(cell)
            for key, runs in keys.items():
                for run in runs:
                    shelf.use(key, run)

    def unused(self) -> list[Unused]:
        """Recorded answers of the planned cells that nothing has asked for."""
        return [found for shelf in self._shelves.values() for found in shelf.unused()]

    def orphans(self) -> list[str]:
        """Cells of this panel that have a cassette but appear in no plan."""
        files = sorted((self.root / self.panel).rglob(f"*{SUFFIX}"))
        cells = (file.relative_to(self.root).as_posix().removesuffix(SUFFIX) for file in files)
        return [cell for cell in cells if cell not in self._shelves]

    # ------------------------------------------------------------------ inside

    def _shelf(self, cell: str) -> Shelf:
        shelf = self._shelves.get(cell)
        if shelf is None:
            cell = checked_cell(cell)
            if cell.split("/")[0] != self.panel:
                raise RecuseError(f"cell {cell} does not belong to panel {self.panel}")
            shelf = self._shelves.setdefault(cell, Shelf(self.root, cell, anew=self.mode == "all"))
        return shelf

    def _shelf_for(self, asked: Asked, method: str, url: str, body: bytes) -> Shelf:
        if asked.cell is not None:
            return self._shelf(asked.cell)
        recorded = [found for shelf in self._shelves.values() for found in shelf.recorded_requests()[:50]]
        where = f"{self.root / self.panel} (the request is in no plan)"
        raise self._missed(miss(None, _public(method, url, body), asked.run, where, recorded, self._remedy))

    def _check_stray(self, method: str, url: str) -> None:
        """A request that is no judge call may go out while recording, and on loopback; never out while replaying."""
        if self.mode == "replay" and not is_loopback(urlsplit(url).hostname):
            raise self._missed(
                f"replay was asked for {method} {public_url(url)}, which carries no {RUN_HEADER} header and so is no "
                "judge call of a plan. Nothing went out"
            )

    def _miss(self, shelf: Shelf, call: Call | None, asked: Request, run: int | None) -> MissingInteractionError:
        if self.mode == "replay":
            shelf.check()
        where = f"{shelf.index.path} ({len(shelf.index.answers)} answers)"
        return self._missed(miss(call, asked, run, where, shelf.recorded_requests(), self._remedy))

    @property
    def _remedy(self) -> str:
        return f"record it: {self.command}"

    def _missed(self, message: str) -> MissingInteractionError:
        message = self.secrets.clean_text(message)
        self.misses.append(message)
        return MissingInteractionError(message)

    def _answered(self) -> set[tuple[str, int]]:
        """Loopback addresses of recorded servers: replay must not reach them either."""
        found: set[tuple[str, int]] = set()
        for url in {call.request.url for shelf in self._shelves.values() for call in shelf.calls}:
            parts = urlsplit(url)
            if is_loopback(parts.hostname):
                port = parts.port or _PORTS.get(parts.scheme, 0)
                found |= {(host, port) for host in (parts.hostname or "", "127.0.0.1", "::1", "localhost")}
        return found

    @contextmanager
    def _recording(self) -> Iterator[None]:
        self._storage = Storage(self.root, self.panel, self.secrets, self._slices)
        try:
            self._storage.mend(self._shelves.values())
            yield
        finally:
            try:
                self._storage.settle(self._shelves.values())
            finally:
                self._storage.close()
                self._storage = None


def _coverage(shelves: Iterable[Shelf]) -> Coverage:
    shelves = list(shelves)
    return Coverage(
        planned=sum(len(shelf.calls) for shelf in shelves),
        missing=tuple(call for shelf in shelves for call in shelf.missing),
        stale=tuple(found for shelf in shelves for found in shelf.stale()),
        damaged=tuple(fault for shelf in shelves for fault in shelf.faults),
        unplanned=tuple(found for shelf in shelves for found in shelf.unplanned()),
    )


def _public(method: str, url: str, body: bytes) -> Request:
    return Request(public_url(url), canonical_body(body), method)

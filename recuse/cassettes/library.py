"""The library: all cassettes of one panel, indexed; replays recorded answers and stores new ones. One per process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from recuse.cassettes import cell_cassette, record_format
from recuse.cassettes.cell_cassette import SERVED, CellCassette, Coverage, MissingInteractionError, Unused
from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, kept_response, key_of, public_request
from recuse.cassettes.record_format import Interaction, read_indexed
from recuse.cassettes.storage import Storage, complete_cells
from recuse.configuration import checked_name
from recuse.judges.provider_responses import words
from recuse.schema import Call, RawResponse, RecuseError, Request
from recuse.schema.plain_values import grouped, paused_cycle_collector
from recuse.schema.vocabulary import HIDDEN, record_command
from recuse.security.network import blocked_network, is_loopback, loopback_addresses
from recuse.security.redaction import Secrets, check_no_keys, clean_logging
from recuse.security.sanitize import visible

Mode = Literal["replay", "missing", "all"]
MODES: tuple[Mode, ...] = ("replay", "missing", "all")
_in_use = threading.Lock()


class Library:
    """All cassettes of one panel below `root`. `mode`: "replay" answers from recordings only; "missing" also lets
    unanswered calls of the plan out and stores their answers; "all" records every call of the plan anew, beside the old
    recording until the new one is complete. `secrets` are API key values; they are kept out of everything that is
    written or said. `command` is what a message tells the reader to run in order to record. `texts`: whether messages
    quote judges and providers."""

    def __init__(
        self, root: Path, panel: str, *, mode: Mode = "replay", secrets: Iterable[str] = (), command: str | None = None,
        texts: bool = True,
    ) -> None:  # fmt: skip
        if mode not in MODES:
            raise RecuseError(f"unknown recording mode {mode!r}; known: {', '.join(MODES)}")
        self.root, self.panel, self.mode = Path(root), checked_name(panel, "panel", "cassettes"), mode
        names = [folder.name for folder in self.root.iterdir()] if self.root.is_dir() else []
        if twin := next((name for name in names if name != panel and name.casefold() == panel.casefold()), None):
            both = f"the panels {panel!r} and {twin!r} differ only in case: one folder on some systems"
            raise RecuseError(f"{root}: {both}. Rename one")
        self.secrets, self.texts = Secrets(secrets), texts
        self.command = command or record_command(panel)
        self.dropped: dict[tuple[str, str, int], str] = {}  # (cell, key, repeat) -> why
        self.more_to_come = False  # calls are not known yet: they are made from replies that are still to be recorded
        self._cassettes: dict[str, CellCassette] = {}
        self._cells: dict[str, str | None] = {}  # key -> its only cell; None: more than one cell asks it
        self._counting = threading.Lock()
        self._storage: Storage | None = None
        self._complete = complete_cells(self.root, self.panel)

    @paused_cycle_collector()
    def expect(self, calls: Sequence[Call], headers: Mapping[str, Mapping[str, Any]] | None = None) -> Coverage:
        """Register what will be asked, and compare it with what is recorded. May be called once per plan. `headers`:
        cell -> what opens its cassette: `provenance`, `fingerprint` (a table; its own table `served` holds what no
        request shows), and whatever else should stand there (judge, target, factors)."""
        by_cell = grouped(calls, attrgetter("cell"))
        cassettes = {cell: self._cassette(cell) for cell in by_cell}
        cell_cassette.check_distinct(self._cassettes)
        for cell, cassette in cassettes.items():
            cassette.plan(by_cell[cell])
            for key in {call.key for call in cassette.calls}:
                self._cells[key] = cell if self._cells.get(key, cell) == cell else None
            if headers is not None and cell in headers:
                if self.mode != "replay":
                    check_no_keys(cell, headers[cell], cassette.missing, self.secrets)
                cassette.expect_header(headers[cell])
            stale = cassette.stale() if self.mode == "missing" and not cassette.anew else ()
            if any(one.field.partition(".")[0] == SERVED for one in stale):
                cassette.load(anew=True)
        if self._storage is not None:  # calls that became known only from the replies recorded so far
            self._storage.prepare(cassettes.values())
        return self.coverage(cassettes.values())

    def has(self, call: Call) -> bool:
        """Whether a call has a recorded answer, sound or stale."""
        return (call.key, call.repeat) in self._cassette(call.cell).index.answers

    def resumed(self, calls: Iterable[Call]) -> int:
        """How many of these calls an interrupted recording anew (`--record=all`) has answered already."""
        return sum(self._cassette(call.cell).anew and self.has(call) for call in calls)

    def no_answers(self, calls: Iterable[Call]) -> Counter[str]:
        """Why what is stored for some of these calls is no answer, so that they are missing; and of how many."""
        stored = ((self._cassette(call.cell).no_answers, (call.key, call.repeat)) for call in calls)
        return Counter(none[interaction] for none, interaction in stored if interaction in none)

    def coverage(self, cassettes: Collection[CellCassette] | None = None) -> Coverage:
        """All plans registered so far, or those of some cells, against what is recorded by now."""
        cassettes = self._cassettes.values() if cassettes is None else cassettes
        return Coverage(
            planned=sum(len(cassette.calls) for cassette in cassettes),
            missing=tuple(call for cassette in cassettes for call in cassette.missing),
            stale=tuple(difference for cassette in cassettes for difference in cassette.stale()),
            damaged=tuple(fault for cassette in cassettes for fault in cassette.faults),
            unplanned=tuple(difference for cassette in cassettes for difference in cassette.unplanned()),
        )

    def replay(self, calls: Sequence[Call]) -> Iterator[tuple[Call, RawResponse]]:
        """Every call with its recorded answer, in the order of `calls`: straight from the files, no HTTP client. A file
        is read when the first of its calls comes and let go after the last, so a plan that asks judge by judge holds
        one judge's files. Each answer counts as used. Raises before the first answer: `MissingInteractionError` if a
        call has none, `CassetteError` if a file is damaged or belongs to another cell."""
        left = Counter(call.cell for call in calls)
        cassettes = {cell: self._cassette(cell) for cell in left}
        for cassette in cassettes.values():
            cassette.check()
        for call in calls:
            if (call.key, call.repeat) not in cassettes[call.cell].index.answers:
                raise self._miss(cassettes[call.cell], call, call.request, call.repeat)

        def replayed() -> Iterator[tuple[Call, RawResponse]]:
            contents: dict[str, bytes] = {}
            for cell, group in groupby(calls, key=attrgetter("cell")):
                batch, cassette = list(group), cassettes[cell]
                data, answers = contents.pop(cell, b"") or read_indexed(cassette.index), cassette.index.answers
                left[cell] -= len(batch)
                if left[cell]:
                    contents[cell] = data
                with self._counting:
                    cassette.use((call.key, call.repeat) for call in batch)
                for call in batch:
                    start, length = answers[call.key, call.repeat]
                    yield call, record_format.read_answer(data, start, length)

        return replayed()

    def answer(self, call: Call) -> RawResponse | None:
        """The recorded answer to a call; None where there is none."""
        return self.response(call) if self.has(call) else None

    def response(self, call: Call) -> RawResponse:
        """The recorded answer to a call, without going through an HTTP client."""
        cassette = self._cassette(call.cell)
        if (call.key, call.repeat) not in cassette.index.answers:
            raise self._miss(cassette, call, call.request, call.repeat)
        return self.serve(cassette, (call.key, call.repeat))

    def serve(self, cassette: CellCassette, interaction: Interaction) -> RawResponse:
        """The answer to an interaction of `find`, counted as used. Replaying, `CassetteError` for a damaged file."""
        if cassette.faults and self.mode == "replay":
            cassette.check()
        line = read_indexed(cassette.index, cassette.index.answers[interaction])
        with self._counting:  # noting a use reads and writes: two threads must not do it at once
            cassette.use([interaction])
        return record_format.read_answer(line)

    @contextmanager
    def use(self) -> Iterator[Library]:
        """While open, HTTP of this whole process goes through the library; in mode "replay" the network is blocked.
        Only one at a time: two patches at once mix recordings and leave clients patched."""
        from recuse.cassettes.vcrpy_adapter import patched

        if not _in_use.acquire(blocking=False):
            raise RecuseError("a cassette library is already in use in this process; one serves all cells, so share it")
        try:
            recorded = loopback_addresses({call.request.url for c in self._cassettes.values() for call in c.calls})
            outside = blocked_network(recorded) if self.mode == "replay" else self._recording()
            with outside, clean_logging(self.secrets), patched(self):
                yield self
        finally:
            _in_use.release()

    def find(self, request: Request, headers: Mapping[str, str]) -> tuple[CellCassette, Interaction] | None:
        """Which recording answers an HTTP request; None if it may go out; `MissingInteractionError` if it must not."""
        if (wanted := self._wanted(request, headers)) is None:
            # What is no judge call may go out while recording, and on loopback; never out while replaying.
            if self.mode == "replay" and not is_loopback(urlsplit(request.url).hostname):
                why = f"which carries no {REPEAT_HEADER} header and so is no judge call of a plan"
                place = f"{request.method} {public_request(request).url}"
                raise self._missed(f"replay was asked for {place}, {why}. Nothing went out")
            return None
        cassette, interaction = wanted
        if interaction in cassette.index.answers:
            return wanted
        call = cassette.planned(*interaction)
        if self.mode == "replay" or call is None:
            raise self._miss(cassette, call, public_request(request), interaction[1])
        return None

    def store(self, request: Request, headers: Mapping[str, str], response: RawResponse) -> None:
        """Write one answer to disk, if it is one that is kept. Called when it has arrived in full."""
        if (wanted := self._wanted(request, headers)) is None:
            return  # not a judge call: a health check of a local server, say
        cassette, interaction = wanted
        try:
            kept = kept_response(response)
        except ValueError as error:
            why, *bodies = error.args
            quote = "".join(words(self.secrets.clean(body), texts=self.texts) for body in bodies)
            self.dropped[cassette.cell, *interaction] = self.shown(f"{why}{f': “{quote}”' if quote else ''}")
            return
        if self._storage is None:
            raise RecuseError("an answer can only be stored while the library is in use for recording")
        self._storage.store(cassette, interaction, request, kept)

    def shown(self, text: str) -> str:
        """`text` as it may be shown: without secrets and without characters that act on a terminal."""
        return visible(self.secrets.clean_text(text))

    def quoted(self, text: str) -> str:
        """What a judge or its provider said, which may hold texts of the task, as it may be shown."""
        return self.shown(text) if self.texts else HIDDEN

    def sync(self) -> None:
        """Hand what was stored so far to the disk itself."""
        if self._storage is not None:
            self._storage.writer.sync()

    @property
    def trouble(self) -> str:
        """Why nothing more should be asked, although what is on its way can still be written; empty if all is well."""
        return self._storage.writer.full if self._storage is not None else ""

    def unused(self, cells: Collection[str] | None = None) -> list[Unused]:
        """Recorded answers of the planned cells, or of some, that nothing has asked for."""
        kept = self._cassettes if cells is None else filter(cells.__contains__, self._cassettes)
        return [unused for cell in kept for unused in self._cassettes[cell].unused()]

    def _cassette(self, cell: str) -> CellCassette:
        if (known := self._cassettes.get(cell)) is not None:
            return known
        cell = cell_cassette.checked_cell(cell)
        if cell.split("/")[0] != self.panel:
            raise RecuseError(f"cell {cell} does not belong to panel {self.panel}")
        return self._cassettes.setdefault(cell, CellCassette(self.root, cell, self.mode, cell in self._complete))

    def _wanted(self, request: Request, headers: Mapping[str, str]) -> tuple[CellCassette, Interaction] | None:
        """Which answer of which cell a judge's request asks for; None for what is no judge call."""
        if (repeat := _text(headers.get(REPEAT_HEADER))) is None:
            return None
        public = public_request(request)
        if (key := key_of(public.method, public.url, public.body)) not in self._cells:
            key = key_of(public.method, self.secrets.clean_text(public.url), self.secrets.clean(public.body))
        cell = _text(headers.get(CELL_HEADER)) or self._cells.get(key)
        if cell is None and key in self._cells:
            place = f"{request.method} {public.url}"
            raise RecuseError(f"several cells ask request {key} ({place}); send its cell in {CELL_HEADER}")
        if not (repeat.isascii() and repeat.isdecimal()):
            raise RecuseError(f"the header {REPEAT_HEADER} must be a whole number from 0, got {repeat!r}")
        if cell is not None:
            return self._cassette(cell), (key, int(repeat))
        every = (list(cassette.recorded_requests().values()) for cassette in self._cassettes.values())
        recorded = [one for requests in every for one in requests[:50]]
        where = f"{self.root / self.panel} (the request is in no plan)"
        raise self._missed(cell_cassette.missing_message(None, public, int(repeat), where, recorded, self.command))

    def _miss(self, cell: CellCassette, call: Call | None, request: Request, repeat: int) -> MissingInteractionError:
        if self.mode == "replay":
            cell.check()
        where = f"{cell.index.path} ({len(cell.index.answers)} answers)"
        recorded = cell.recorded_requests().values()
        return self._missed(cell_cassette.missing_message(call, request, repeat, where, recorded, self.command))

    def _missed(self, message: str) -> MissingInteractionError:
        return MissingInteractionError(self.shown(message))

    @contextmanager
    def _recording(self) -> Iterator[None]:
        self._storage = Storage(self.root, self.panel, self.secrets)
        try:
            for cassette in self._cassettes.values():
                cassette.refresh()  # another process may have recorded since it was read
            self._storage.prepare(self._cassettes.values())
            yield
        finally:
            try:
                self._storage.settle(self._cassettes.values(), self.mode == "all", self.more_to_come)
            finally:
                self._storage.writer.close()
                self._storage = None


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value

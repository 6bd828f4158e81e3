"""Submits what is missing, knows what is under way, stores what comes back. Nothing here depends on the provider."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from recuse.batch import BatchError, BatchInterface, Lost, Web, batch_interface
from recuse.cassettes.cell_cassette import UNDER_WAY
from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers
from recuse.cassettes.plain_file import replace_file
from recuse.judges.client import Credentials
from recuse.schema import Call, Judge, RawResponse, RecuseError

POLL_S = 60.0
PRICE = 0.5  # of the price of calls one by one, at all three providers
TRIES = 2  # how often one process submits a call: again only where time ran out
LOOKS = 5  # in vain for a batch whose submission was cut off: a provider may list it late
SCHEMA = 1
_GONE = (
    ". It is not there for this key: set the key of the account that submitted it. Where the provider keeps it no "
    "longer, take {} out of {}: its requests are then asked anew, and paid for again"
)


@dataclass
class BatchReport:
    """What a look at the batches brought. `failed` calls got an error of their own; a later run asks them anew."""

    stored: int = 0
    under_way: int = 0
    failed: list[tuple[Call, str]] = field(default_factory=list)
    expired: list[Call] = field(default_factory=list)
    stopped: str = ""  # why nothing more was waited for

    def __iadd__(self, other: BatchReport) -> BatchReport:
        self.stored += other.stored
        self.under_way = other.under_way
        self.failed += other.failed
        self.expired += other.expired
        self.stopped = self.stopped or other.stopped
        return self

    def text(self, limit: int = 8) -> str:
        """One line, and one for each reason of failures with their number."""
        reasons = Counter(f"{call.judge}: {why}" for call, why in self.failed)
        head = f"stored {self.stored} answers; {self.under_way} requests are under way"
        shown = [f"  {count} x {reason}" for reason, count in reasons.most_common(limit)]
        shown += [f"  ... and {len(reasons) - limit} more reasons"] if len(reasons) > limit else []
        more = [f"failed: {len(self.failed)}", *shown] if self.failed else []
        left = [f"expired: {len(self.expired)}"] if self.expired else []
        stopped = [f"stopped: {self.stopped}"] if self.stopped else []
        return "\n".join((head, *stopped, *more, *left))


class Batches:
    """The batches of a panel whose `library` is in use for recording, which keeps other processes out. `must_stop` is
    asked after every look: the reason why nothing more may be spent, or "". `stored` hears of every answer kept."""

    def __init__(
        self, library: Library, judges: Mapping[str, Judge], keys: Mapping[str, Credentials], *,
        say: Callable[[str], None], must_stop: Callable[[], str],
        stored: Callable[[Call, RawResponse], None] = lambda call, response: None,
    ) -> None:  # fmt: skip
        self._library, self._panel, self._judges, self._keys = library, library.panel, judges, keys
        self._say, self._must_stop, self._stored = say, must_stop, stored
        self._state = State(library.root, library.panel)
        self._tried: Counter[str] = Counter()
        self._looks: Counter[str] = Counter()  # tag -> how often its batch was looked for in vain

    def submit(self, calls: Sequence[Call]) -> int:
        """Submit what is neither stored nor under way; returns how many requests. Every judge is looked at before the
        first is asked, so that one without a batch interface stops nothing halfway."""
        how = {name: batch_interface(self._judges[name]) for name in dict.fromkeys(call.judge for call in calls)}
        wanted = {number_of(call): call for call in self.unsubmitted(calls)}
        for judge, interface in how.items():
            own = {number: call for number, call in wanted.items() if call.judge == judge}
            for file in _files(interface, own):
                entry = Entry(f"recuse-{self._panel}-{token_hex(8)}", judge, tuple(file))
                self._state.put(entry)  # before the provider knows of it: see Entry
                try:
                    with self._provider(judge) as (_, web):
                        batch = interface.submit(web, [*file.values()], entry.tag)
                except BatchError as error:
                    if not error.unsure:
                        self._state.remove(entry.tag)  # surely not taken
                    raise
                self._state.put(entry._replace(id=batch))
                self._say(f"{judge}: submitted {len(file)} requests in one batch")
            self._tried.update(own.keys())
        return len(wanted)

    def unsubmitted(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that are neither stored nor under way: what `submit` would submit and what will be paid for."""
        under_way = self._state.under_way()
        return [call for call in calls if number_of(call) not in under_way and not self._library.has(call)]

    def collect(self, calls: Sequence[Call]) -> BatchReport:
        """Store what has come back for these calls. A batch leaves the state when all of it is done with. `BatchError`
        for batches that cannot be looked at, once the others are stored."""
        known = {number_of(call): call for call in calls}
        report, faults = BatchReport(), list[str]()
        for entry in self._state.holding(known):
            try:
                if (entry := self._identified(entry, known, report)).id is not None:
                    self._collect(entry, known, report)
            except BatchError as error:
                faults.append(f"{error}{_GONE.format(entry.id or entry.tag, self._state.path) * (error.status == 404)}")
        if faults:
            raise BatchError("\n".join(faults))
        report.under_way = len(self._state.under_way() & known.keys())
        return report

    def others(self, calls: Iterable[Call]) -> str:
        """What to say of requests that are under way and are none of these calls; nothing where there are none."""
        left = self._state.under_way() - {number_of(call) for call in calls}
        if not left:
            return ""
        batches = ", ".join(entry.id or entry.tag for entry in self._state.holding(left))
        return (
            f"{self._panel}: {len(left)} requests under way are not of this run: what they ask was changed since, or "
            "other tests or judges asked for it. They are not waited for. The same command with the files as they were "
            f"then stores their answers; to give them up, cancel {batches} at the provider and take it out of "
            f"{self._state.path}"
        )

    def wait(self, calls: Sequence[Call], *, sleep: Callable[[float], None] = time.sleep) -> BatchReport:
        """Submit and collect until nothing of these calls is under way. Requests whose time ran out are submitted once
        more. To be left at any moment: the same calls are taken up again by the next process. What is under way when
        `must_stop` gives a reason is cancelled; the next process stores what was answered before."""
        total, new = BatchReport(), self.unsubmitted(calls)
        while True:
            # First what is paid for: a provider that takes nothing more, for want of money say, must not keep it back.
            collected = self.collect(calls)
            total += collected
            if why := self._must_stop():
                total.stopped = why
                for entry in self._state.holding({number_of(call) for call in calls}):
                    try:
                        with self._provider(entry.judge) as (interface, web):
                            if entry.id is not None:
                                interface.cancel(web, entry.id)
                    except BatchError as error:  # it may have ended just now; the others are still to be cancelled
                        self._say(f"{entry.judge}: a batch could not be cancelled: {error}")
                return total
            again = [call for call in collected.expired if self._tried[number_of(call)] < TRIES]
            total.expired = [call for call in total.expired if call not in again]
            if new or again:
                self.submit([*new, *again])
                new = []
                continue
            if not collected.under_way:
                return total
            self._say(collected.text())
            sleep(POLL_S)

    def _identified(self, entry: Entry, known: Mapping[str, Call], report: BatchReport) -> Entry:
        """With its batch's identifier once the provider lists it; not listed after some looks, it was never taken."""
        if entry.id is not None:
            return entry
        names = frozenset(one.id for one in self._state.values() if one.id)
        with self._provider(entry.judge) as (interface, web):
            entry = entry._replace(id=interface.find(web, entry.tag, len(entry.numbers), names))
        self._looks[entry.tag] += 1
        if entry.id is not None:
            self._state.put(entry)
        elif self._looks[entry.tag] >= LOOKS:
            self._state.remove(entry.tag)
            report.expired += [known[number] for number in entry.numbers if number in known]
        else:
            self._say(f"{entry.judge}: whether a batch was taken is not known yet; its provider does not list it")
        return entry

    def _collect(self, entry: Entry, known: Mapping[str, Call], report: BatchReport) -> None:
        with self._provider(entry.judge) as (interface, web):
            progress = interface.progress(web, str(entry.id))
            if not progress.done:
                return
            left, bodies, doubled = set(entry.numbers), dict[str, int](), set[str]()
            unreadable: list[str] = []
            for address in progress.results:
                for place, line in enumerate(web.lines(address), start=1):
                    try:
                        number, outcome = interface.result(line or {})
                    except (KeyError, TypeError, AttributeError, ValueError) as error:
                        why = "no JSON object" if line is None else f"{type(error).__name__} {error}"
                        unreadable.append(web.shown(f"line {place} of the results is of no known form: {why}"))
                        continue
                    seen = hash(outcome.body if isinstance(outcome, RawResponse) else outcome)
                    if bodies.setdefault(number, seen) != seen:
                        doubled.add(number)
                    if number in left and number in known:
                        left.discard(number)
                        self._take(known[number], outcome, report, web)
            if doubled:
                self._say(f"{entry.judge}: {len(doubled)} requests have two different answers; the first was kept")
            late = "expired" in progress.state.lower() and not progress.fault and not unreadable
            silence = progress.fault or f"the batch is {progress.state} and has no answer to it"
            if unreadable and not progress.fault:
                silence = f"no answer that can be read; {unreadable[0]}. The same command asks it anew"
            for number in sorted(left & known.keys()):
                self._take(known[number], Lost(silence, again=late), report, web)
        # Requests of another plan: it will collect them itself.
        if others := tuple(number for number in entry.numbers if number in left and number not in known):
            self._state.put(entry._replace(numbers=others))
        else:
            self._state.remove(entry.tag)

    def _take(self, call: Call, outcome: RawResponse | Lost, report: BatchReport, web: Web) -> None:
        if isinstance(outcome, Lost) and outcome.again:
            report.expired.append(call)
        elif isinstance(outcome, Lost):
            report.failed.append((call, web.shown(outcome.why)))
        else:
            self._library.store(call.request, call_headers(call), outcome)
            if self._library.has(call):
                report.stored += 1
                self._stored(call, outcome)
            else:
                report.failed.append((call, self._library.dropped[call.cell, call.key, call.repeat]))

    @contextmanager
    def _provider(self, judge: str) -> Iterator[tuple[BatchInterface, Web]]:
        """Turns an answer of an unexpected shape into an error: whether a batch was taken is unknown then."""
        with Web(self._judges[judge], self._keys.get(judge, Credentials()), self._library.texts) as web:
            try:
                yield batch_interface(self._judges[judge]), web
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                what = f"{type(error).__name__} {error}"
                message = f"judge {judge}: the provider's batch interface answered unexpectedly: {what}"
                raise BatchError(message, unsure=True) from error


def number_of(call: Call) -> str:
    """32 hexadecimal digits that tell this call from every other, repeats and cells included."""
    return blake2b("\0".join((call.cell, call.key, str(call.repeat))).encode(), digest_size=16).hexdigest()


def _files(interface: BatchInterface, wanted: Mapping[str, Call]) -> Iterator[dict[str, bytes]]:
    """The requests, number -> line, as files that are each within the provider's limits."""
    file, size = dict[str, bytes](), 0
    for number, call in wanted.items():
        line = json.dumps(interface.entry(number, call), ensure_ascii=False).encode("utf-8", "backslashreplace")
        if file and (len(file) >= interface.MOST_REQUESTS or size + len(line) + 1 > interface.MOST_BYTES):
            yield file
            file, size = {}, 0
        file[number] = line
        size += len(line) + 1
    if file:
        yield file


class Entry(NamedTuple):
    """One batch. `id` is None from before its submission until its identifier has arrived: should the process die in
    between, the provider is asked for a batch of this tag before anything is submitted again."""

    tag: str
    judge: str
    numbers: tuple[str, ...]  # of the requests in it
    id: str | None = None


class State(dict[str, Entry]):
    """What of a panel is under way: tag -> entry, as in a file below the folder of cassettes (`root`), not committed,
    which is written whole at every change, so that no moment of dying leaves half of it, and gone when nothing is."""

    def __init__(self, root: Path, panel: str) -> None:
        super().__init__()
        self.path = root / UNDER_WAY / f"{panel}.json"
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise ValueError(f"schema {data['schema']}")
            for b in data["batches"]:
                self[b["tag"]] = Entry(b["tag"], b["judge"], tuple(b["numbers"]), b["id"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            remedy = "restore it, or delete it once the provider's console shows none"
            why = f"cannot be read ({type(error).__name__}). It says which batches are under way"
            raise RecuseError(f"{self.path}: {why}: {remedy}") from None

    def holding(self, numbers: Iterable[str]) -> list[Entry]:
        """Batches with some of these requests."""
        wanted = set(numbers)
        return [entry for entry in self.values() if not wanted.isdisjoint(entry.numbers)]

    def under_way(self) -> set[str]:
        """Numbers of all requests in some batch."""
        return {number for entry in self.values() for number in entry.numbers}

    def put(self, entry: Entry) -> None:
        """Enter a batch, or what is new of it, and write the file."""
        self[entry.tag] = entry
        self._write()

    def remove(self, tag: str) -> None:
        """Take a batch out, whose answers are stored, and write the file."""
        self.pop(tag, None)
        self._write()

    def _write(self) -> None:
        if not self:
            self.path.unlink(missing_ok=True)
            return
        data = {"schema": SCHEMA, "batches": [entry._asdict() for entry in self.values()]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps(data, indent=1).encode())

"""Submits what is missing, knows what is under way, stores what comes back. Nothing here depends on the provider."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Protocol

from recuse.batch.interface import BatchInterface, Lost, Progress, batch_interface
from recuse.batch.state import Entry, State
from recuse.batch.web import BatchError, Web
from recuse.judges.credentials import Credentials
from recuse.judges.provider_errors import words
from recuse.schema import Call, Judge, RawResponse

POLL_S = 60.0
PRICE = 0.5  # of the price of calls one by one, at all three providers
TRIES = 2  # how often one process submits a call: again only where time ran out


class AnswerStore(Protocol):
    """Where answers are kept: what this needs of a cassette library that is in use for recording."""

    def has(self, call: Call) -> bool:
        """Whether the answer to a call is kept."""

    def store(self, call: Call, response: RawResponse) -> None:
        """Keep the answer to a call."""


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
        reasons: dict[str, int] = {}
        for call, why in self.failed:
            reasons[f"{call.judge}: {why}"] = reasons.get(f"{call.judge}: {why}", 0) + 1
        head = f"stored {self.stored} answers; {self.under_way} requests are under way"
        shown = [f"  {count} x {reason}" for reason, count in list(reasons.items())[:limit]]
        more = [f"failed: {len(self.failed)}", *shown] if self.failed else []
        left = [f"expired: {len(self.expired)}"] if self.expired else []
        stopped = [f"stopped: {self.stopped}"] if self.stopped else []
        return "\n".join((head, *stopped, *more, *left))


class Batches:
    """The batches of a panel. One process at a time: `Shelf` is a library in use, whose lock keeps others out.

    `attempts` is how often a passing trouble of the provider is met with another try. `must_stop` is asked after every
    look: the reason why nothing more may be spent, or "".
    """

    def __init__(
        self,
        panel: str,
        judges: Mapping[str, Judge],
        keys: Mapping[str, Credentials],
        answers: AnswerStore,
        *,
        state: Path,
        say: Callable[[str], None] = lambda line: None,
        attempts: int = 6,
        must_stop: Callable[[], str] = lambda: "",
    ) -> None:
        self._panel, self._judges, self._answers, self._say = panel, judges, answers, say
        self._keys, self._attempts = keys, attempts
        self._state, self._must_stop = State(state), must_stop
        self._tried: dict[str, int] = {}

    def submit(self, calls: Sequence[Call]) -> int:
        """Submit what is neither stored nor under way; returns how many requests. Every judge is looked at before the
        first is asked, so that one without a batch interface stops nothing halfway."""
        by_judge: dict[str, list[Call]] = {}
        for call in calls:
            by_judge.setdefault(call.judge, []).append(call)
        interfaces = {name: batch_interface(self._judges[name]) for name in by_judge}
        self._settle(by_judge)
        return sum(self._submit(name, interfaces[name], asked) for name, asked in by_judge.items())

    def unsubmitted(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that are neither stored nor under way: what `submit` would submit and what will be paid for."""
        under_way = self._state.under_way()
        return [call for call in calls if number_of(call) not in under_way and not self._answers.has(call)]

    def collect(self, calls: Sequence[Call]) -> BatchReport:
        """Store what has come back for these calls. A batch leaves the state when all of it is done with."""
        known = {number_of(call): call for call in calls}
        report = BatchReport()
        judges = sorted({call.judge for call in calls})
        self._settle(judges)
        for entry in self._state.of(judges):
            if known.keys() & set(entry.numbers):
                self._collect(entry, known, report)
        report.under_way = sum(len(entry.numbers) for entry in self._state.of(judges))
        return report

    def wait(
        self, calls: Sequence[Call], *, poll_s: float = POLL_S, sleep: Callable[[float], None] = time.sleep
    ) -> BatchReport:
        """Submit and collect until nothing of these calls is under way. Requests whose time ran out are submitted once
        more. To be left at any moment: the same calls are taken up again by the next process. What is under way when
        `must_stop` gives a reason is cancelled; the next process stores what was answered before."""
        total = BatchReport()
        self.submit(calls)
        while True:
            collected = self.collect(calls)
            total += collected
            if why := self._must_stop():
                total.stopped = why
                self._cancel({call.judge for call in calls})
                return total
            if collected.expired and (again := self._worth_another(collected.expired)):
                total.expired = [call for call in total.expired if call not in again]
                self.submit(again)
                continue
            if not collected.under_way:
                return total
            self._say(collected.text())
            sleep(poll_s)

    # ------------------------------------------------------------------ inside

    def _submit(self, judge: str, interface: BatchInterface, calls: Sequence[Call]) -> int:
        wanted = {number_of(call): call for call in self.unsubmitted(calls)}
        with self._web(judge) as web:
            for numbers, lines in _files(interface, wanted):
                entry = Entry(f"recuse-{self._panel}-{token_hex(8)}", judge, numbers)
                self._state.put(entry)  # before the provider knows of it: see Entry
                self._state.put(replace(entry, id=self._send(interface, web, entry, lines)))
                self._say(f"{judge}: submitted {len(numbers)} requests in one batch")
        for number in wanted:
            self._tried[number] = self._tried.get(number, 0) + 1
        return len(wanted)

    def _send(self, interface: BatchInterface, web: Web, entry: Entry, lines: Sequence[bytes]) -> str:
        try:
            with _expected(entry.judge):
                return interface.submit(web, lines, entry.tag)
        except BatchError as error:
            if not error.unsure:
                self._state.remove(entry.tag)  # surely not taken
            raise

    def _settle(self, judges: Iterable[str]) -> None:
        """Find out what became of submissions that were cut off."""
        for entry in self._state.of(list(judges)):
            if entry.id is None:
                interface = batch_interface(self._judges[entry.judge])
                with self._web(entry.judge) as web, _expected(entry.judge):
                    known = frozenset(other.id for other in self._state if other.id is not None)
                    batch = interface.find(web, entry.tag, len(entry.numbers), known)
                if batch is None:
                    self._state.remove(entry.tag)
                else:
                    self._state.put(replace(entry, id=batch))

    def _collect(self, entry: Entry, known: Mapping[str, Call], report: BatchReport) -> None:
        interface = batch_interface(self._judges[entry.judge])
        with self._web(entry.judge) as web, _expected(entry.judge):
            progress = interface.progress(web, str(entry.id))
            if not progress.done:
                return
            left = set(entry.numbers)
            for result in interface.results(web, progress):
                call = known.get(result.number)
                if result.number in left and call is not None:
                    left.discard(result.number)
                    self._take(call, result.outcome, report)
        silent = sorted(left & known.keys())
        for number in silent:
            self._take(known[number], _silence(progress), report)
        # Requests of another plan: it will collect them itself.
        if others := tuple(number for number in entry.numbers if number in left - set(silent)):
            self._state.put(replace(entry, numbers=others))
        else:
            self._state.remove(entry.tag)

    def _take(self, call: Call, outcome: RawResponse | Lost, report: BatchReport) -> None:
        if isinstance(outcome, Lost):
            if outcome.again:
                report.expired.append(call)
            else:
                report.failed.append((call, words(outcome.why.encode())))
            return
        self._answers.store(call, outcome)
        if self._answers.has(call):
            report.stored += 1
        else:
            report.failed.append((call, f"HTTP {outcome.status}: {words(outcome.body)}"))

    def _cancel(self, judges: Iterable[str]) -> None:
        for entry in self._state.of(sorted(judges)):
            if entry.id is not None:
                try:
                    with self._web(entry.judge) as web:
                        batch_interface(self._judges[entry.judge]).cancel(web, entry.id)
                except BatchError as error:  # it may have ended just now; the others are still to be cancelled
                    self._say(f"{entry.judge}: a batch could not be cancelled: {error}")

    def _worth_another(self, expired: Iterable[Call]) -> list[Call]:
        return [call for call in expired if self._tried.get(number_of(call), 0) < TRIES]

    def _web(self, judge: str) -> Web:
        return Web(self._judges[judge], self._keys.get(judge, Credentials()), self._attempts)


def number_of(call: Call) -> str:
    """32 hexadecimal digits that tell this call from every other, repeats and cells included."""
    return blake2b("\0".join((call.cell, call.key, str(call.repeat))).encode(), digest_size=16).hexdigest()


def _silence(progress: Progress) -> Lost:
    """What a request met that the results of its batch do not name."""
    if progress.fault:
        return Lost(progress.fault)
    return Lost(f"the batch is {progress.state} and has no answer to it", again="expired" in progress.state.lower())


def _files(interface: BatchInterface, wanted: Mapping[str, Call]) -> Iterable[tuple[tuple[str, ...], list[bytes]]]:
    """The requests as files that are each within the provider's limits."""
    numbers: list[str] = []
    lines: list[bytes] = []
    size = 0
    for number, call in wanted.items():
        line = interface.line(number, call)
        if lines and (len(lines) >= interface.MOST_REQUESTS or size + len(line) + 1 > interface.MOST_BYTES):
            yield tuple(numbers), lines
            numbers, lines, size = [], [], 0
        numbers.append(number)
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield tuple(numbers), lines


@contextmanager
def _expected(judge: str) -> Iterator[None]:
    """Turns an answer of an unexpected shape into an error that says so. Whether a batch was taken is unknown then."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"{type(error).__name__} {error}"
        message = f"judge {judge}: the provider's batch interface answered unexpectedly: {what}"
        raise BatchError(message, unsure=True) from error

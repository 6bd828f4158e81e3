"""What a provider's batch interface is to the rest: a module with the names below, and three small types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from recuse.batch.web import Web
from recuse.configuration.names import named
from recuse.judges import wire
from recuse.schema import Call, Judge, RawResponse, RecuseError

BATCHES = ("openai", "anthropic", "gemini")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is: the provider's own description, and why a whole batch came to nothing (`fault`)."""

    done: bool
    state: str  # the provider's word
    fault: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lost:
    """A request of a batch that got no answer. `again`: only time ran out, so it is worth submitting again."""

    why: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request, known by the number it was submitted under."""

    number: str
    outcome: RawResponse | Lost


class BatchInterface(Protocol):
    """What the rest needs to know of a provider's batches. A module with these names is one."""

    MOST_REQUESTS: int  # of one batch
    MOST_BYTES: int  # of the file of one batch

    def line(self, number: str, call: Call) -> bytes:
        """The request of a call as a line of the file, under its number; line feed included."""

    def submit(self, web: Web, lines: Sequence[bytes], tag: str) -> str:
        """Hand in a file; the provider's name of the batch. `tag` is what `find` looks for."""

    def progress(self, web: Web, batch: str) -> Progress:
        """How far the batch is."""

    def results(self, web: Web, progress: Progress) -> Iterator[Result]:
        """What became of each request, in any order, once the batch is done."""

    def cancel(self, web: Web, batch: str) -> None:
        """End the batch; what it has answered is still there."""

    def find(self, web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
        """A batch that was handed in under `tag` with `size` requests and is not among those `known`: the process died
        before it could note the name. None where there is none, or the provider cannot tell."""


def batch_interface(judge: Judge) -> BatchInterface:
    """The batch interface of a judge's provider; `RecuseError` where its wire format names none."""
    name = getattr(wire(judge.wire), "BATCH", None)
    if name is None:
        raise RecuseError(
            f"judge {judge.name}: the wire format {judge.wire} has no batch interface; record this judge with "
            "--record=missing, and leave it out here with --judges"
        )
    needs = ("MOST_REQUESTS", "MOST_BYTES", "line", "submit", "progress", "results", "cancel", "find")
    return cast(BatchInterface, named(name, what="batch interface", package=__package__, known=BATCHES, needs=needs))

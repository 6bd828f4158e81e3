"""Stand-ins answer in place of a judge while a panel that is not real is recorded: at the transport of the HTTP client,
below what records, so that their answers take the way of real ones.

Two kinds of source know what to say: a `table` of reconstructed replies, and behaviours that are `scripted` in code.
`StandIns` find the call that an HTTP request belongs to, ask the source and word the answer in the judge's wire format.
Nothing here passes for a recording of a named model: every payload's model name says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, request_key
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.schema import Call, Judge, Provenance, RecuseError, Request

if TYPE_CHECKING:
    import httpx2

    from recuse.panels import Panel


class StandInError(RecuseError):
    """A stand-in was asked what it cannot answer; the message names the call and the remedy."""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What a stand-in says. `refusal` sets the provider's own refusal flag, beyond what the text says."""

    text: str
    refusal: bool = False


class Source(Protocol):
    """What answers in place of the judges of a panel."""

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        """The answer to one call; `fields` are those of the item it is about. Same call, same answer, in any order."""


def open_source(panel: Panel, root: Path) -> Source:
    """The source that the panel's [stand_in] names; folders are below `root`, the repo the panel belongs to."""
    if panel.stand_in is None:
        raise StandInError(
            f"{panel.path}: panel {panel.name} is recorded from real judges; it has no [stand_in] to answer for them"
        )
    from recuse.standins.scripted import ScriptedSource, TableSource

    folder = root / (panel.stand_in.folder or "")
    if panel.stand_in.kind != "table":
        return ScriptedSource(folder, panel.judges, panel.behaviours)
    if panel.stand_in.folder is None:
        raise StandInError(f'{panel.path}: stand_in kind "table" needs `folder`, where its replies are stored')
    return TableSource(folder)


Planned = tuple[Call, Judge, Mapping[str, Any]]
"""A call, who is asked, and the fields of the item that it is about."""


class StandIns:
    """Answers to these calls alone. A request is known by its cell, its cassette key and its repeat."""

    def __init__(self, source: Source, provenance: Provenance, planned: Iterable[Planned]) -> None:
        self._source, self._mark = source, f"({provenance})"
        self._planned = {(call.cell, call.key, call.repeat): (call, judge, fields) for call, judge, fields in planned}

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """The answer to an HTTP request; `StandInError` where it is none of the calls."""
        import httpx2

        url, cell, repeat = str(request.url), request.headers.get(CELL_HEADER, ""), int(request.headers[REPEAT_HEADER])
        key = request_key(Request(url, request.content, request.method))
        if (known := self._planned.get((cell, key, repeat))) is None:
            raise StandInError(
                f"{url}: repeat {repeat} of this request (key {key}) is not in the plan of {len(self._planned)} calls "
                f"for cell {cell}"
            )
        call, judge, fields = known
        reply = self._source.reply(call, fields)
        # No tokenizer is involved: a quarter of the length is good for an estimate of the size, not for a bill.
        sizes = {"input_tokens": call.request.body, "output_tokens": reply.text}
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model if judge.model.endswith(self._mark) else f"{judge.model} {self._mark}",
            refusal=reply.refusal, **{name: max(len(text) // 4, 1) for name, text in sizes.items()},
        )  # fmt: skip
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=canonical(payload))

"""Finds the planned call behind an HTTP request and answers it in the judge's wire format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recuse.cassettes.matching import request_key
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.schema import Call, Judge, Provenance, Request
from recuse.standins import Source, StandInError, StandinReply
from recuse.standins.server import ReceivedRequest

Fields = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""(judge, item, target) -> the fields of the item the judge is asked about."""


class RequestRouter:
    """An `Answer` for `serve`. A request is known by its cassette key, its repeat and, where two cells ask word for
    word the same, its cell. Nothing is answered that was not planned."""

    def __init__(
        self, calls: Iterable[Call], judges: Mapping[str, Judge], source: Source, fields: Fields, provenance: Provenance
    ) -> None:
        self._judges, self._source, self._fields, self._provenance = judges, source, fields, provenance
        self._calls: dict[tuple[str, int], list[Call]] = {}
        for call in calls:
            self._calls.setdefault((call.key, call.repeat), []).append(call)

    def __call__(self, request: ReceivedRequest) -> tuple[int, Mapping[str, str], bytes]:
        call = self._call(request)
        judge = self._judges[call.judge]
        reply = self._source.reply(call, self._fields.get((call.judge, call.item, call.target), {}))
        return 200, {"content-type": "application/json"}, canonical(self._payload(judge, reply))

    def _call(self, request: ReceivedRequest) -> Call:
        key = request_key(Request(request.url, canonical(request.body)))
        planned = self._calls.get((key, request.repeat), [])
        fitting = [call for call in planned if request.cell in (None, call.cell)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            cells = ", ".join(sorted(call.cell for call in fitting))
            raise StandInError(
                f"{request.url}: {len(fitting)} calls ask the same in repeat {request.repeat} ({cells}); send "
                "x-recuse-cell"
            )
        raise StandInError(
            f"{request.url}: repeat {request.repeat} of this request (key {key}) is not in the plan of "
            f"{len(self._calls)} calls"
        )

    def _payload(self, judge: Judge, reply: StandinReply) -> dict[str, Any]:
        mark = f"({self._provenance})"
        return wire(judge.wire).payload(
            reply.text,
            model=judge.model if judge.model.endswith(mark) else f"{judge.model} {mark}",
            refusal=reply.refusal,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )

"""Stand-ins answer in place of a judge while a panel that is not real is recorded: at the transport of the HTTP client,
below what records, so that their answers take the way of real ones.

Two kinds of source know what to say: a `table` of stored replies, and behaviours that are `scripted` in code: functions
of yours, from the `Facts` of a call to a reply, a text or `ScriptedReply` with the refusal flag. The panel file names
them by dotted path or by an entry point of group "recuse.standins.behaviours". `StandIns` find the call that an HTTP
request belongs to, ask the source and word the answer in the judge's wire format. Nothing here passes for a recording
of a named model: every payload's model name says so."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, request_key
from recuse.configuration import named
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.schema import Call, Judge, Provenance, RecuseError, Request

if TYPE_CHECKING:
    import httpx2

    from recuse.panels import Panel

Source: TypeAlias = "ScriptedSource | TableSource"  # says the same to the same call, in any order
Planned = tuple[Call, Judge, Mapping[str, Any]]  # a call, who is asked, and the fields of the item that it is about
Behaviour = Callable[[Any], "str | ScriptedReply"]
_SELECTORS = ("item", "target", "factors", "repeat")  # what a line of a `table` may leave out
_KNOWN = frozenset({"judge", "text", "refusal", *_SELECTORS})
_SUBSETS = [tuple(name for bit, name in enumerate(_SELECTORS) if mask >> bit & 1) for mask in range(2**4)]
_MOST_TELLING_FIRST = sorted(_SUBSETS, key=len, reverse=True)


class StandInError(RecuseError):
    """A stand-in was asked what it cannot answer; the message names the call and the remedy."""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What a stand-in says. `refusal` sets the provider's own refusal flag, beyond what the text says."""

    text: str
    refusal: bool = False


def open_source(panel: Panel, root: Path) -> Source:
    """The source that the panel's [stand_in] names; folders are below `root`, the repo the panel belongs to."""
    if panel.stand_in is None:
        why = f"panel {panel.name} is recorded from real judges; it has no [stand_in] to answer for them"
        raise StandInError(f"{panel.path}: {why}")
    folder = root / (panel.stand_in.folder or "")
    if panel.stand_in.kind != "table":
        return ScriptedSource(folder, panel.judges, panel.behaviours)
    if panel.stand_in.folder is None:
        raise StandInError(f'{panel.path}: stand_in kind "table" needs `folder`, where its replies are stored')
    return TableSource(folder)


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
            plan = f"the plan of {len(self._planned)} calls for cell {cell}"
            raise StandInError(f"{url}: repeat {repeat} of this request (key {key}) is not in {plan}")
        call, judge, fields = known
        reply = self._source.reply(call, fields)
        # No tokenizer is involved: a quarter of the length is good for an estimate of the size, not for a bill.
        sizes = {"input_tokens": call.request.body, "output_tokens": reply.text}
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model if judge.model.endswith(self._mark) else f"{judge.model} {self._mark}",
            refusal=reply.refusal, **{name: max(len(text) // 4, 1) for name, text in sizes.items()},
        )  # fmt: skip
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=canonical(payload))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a behaviour may know of a call."""

    call: Call
    own: bool  # the judge wrote what it judges
    fields: Mapping[str, Any]  # the item's
    rng: np.random.Generator  # this call's noise
    author: str | None  # whose texts are the judge's own
    folder: Path  # the stand-in's folder, where a behaviour may keep what it needs


class ScriptedSource:
    """Each judge answers by its behaviour (judge name -> name of the behaviour)."""

    def __init__(self, folder: Path, judges: Mapping[str, Judge], planted: Mapping[str, str]) -> None:
        self._folder, self._judges, self._planted = folder, judges, planted

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        """What the judge's behaviour says. Raises `StandInError` for a judge without one."""
        if call.judge not in self._planted:
            remedy = "set `behaviour` in the panel file to a function of your own (our_judges.behaviours.generous)"
            raise StandInError(f"judge {call.judge} has no behaviour; {remedy}")
        name, author = self._planted[call.judge], self._judges[call.judge].author
        facts = Facts(call, author == call.target, fields, generator(call), author, self._folder)
        behaviour: Behaviour = named(name, what="behaviour", package="recuse.standins.behaviours")
        given = behaviour(facts)
        return given if isinstance(given, ScriptedReply) else ScriptedReply(given)


def generator(call: Call) -> np.random.Generator:
    """Noise of one call: depends on judge, item, target, factors and repeat, and on nothing else."""
    factors = (f"{name}={value}" for name, value in call.factors)
    text = "\0".join((call.task, call.protocol, call.judge, call.item, call.target, *factors, str(call.repeat)))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))


class TableSource:
    """Answers from the files below `folder`; each is read when it is first asked for.
    `<folder>/<task>/<protocol>.jsonl.gz` (or `.jsonl`) holds lines {"judge", "item", "target", "factors", "repeat",
    "text", "refusal"}. Only judge and text are required: a line that leaves out item, target, factors or repeat answers
    for every value of it. Where several lines fit a call, the one that says most wins."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._replies: dict[Path, dict[tuple[Any, ...], ScriptedReply]] = {}

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        """The stored reply to the call. Raises `StandInError` if the file has none or cannot be read."""
        plain = self._folder / call.task / f"{call.protocol}.jsonl"
        path = plain if plain.is_file() else plain.with_suffix(".jsonl.gz")
        if path not in self._replies:
            if not path.is_file():
                raise StandInError(f"{plain} is not there (nor a .gz): it holds a line per reply, with judge and text")
            self._replies[path] = _read(path)
        values = {"item": call.item, "target": call.target, "factors": dict(call.factors), "repeat": call.repeat}
        for chosen in _MOST_TELLING_FIRST:
            if (stored := self._replies[path].get(_address(call.judge, values, chosen))) is not None:
                return stored
        factors = "".join(f", {name} {value}" for name, value in call.factors)
        about = f"{call.judge} on item {call.item}, target {call.target}{factors}, repeat {call.repeat}"
        raise StandInError(f"{path}: no reply of {about}; build the file again, or ask only for what it holds")


def _read(path: Path) -> dict[tuple[Any, ...], ScriptedReply]:
    replies: dict[tuple[Any, ...], ScriptedReply] = {}
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise StandInError(f"{path}: stored replies cannot be read ({error}); build the file again") from None
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
            words, judge = row["text"], row["judge"]
        except (ValueError, TypeError, KeyError) as error:
            why = f"not a reply ({type(error).__name__} {error})"
            raise StandInError(f"{where}: {why}; a line has at least judge and text") from None
        if unknown := set(row) - _KNOWN:
            strange, known = ", ".join(sorted(unknown)), ", ".join(sorted(_KNOWN))
            raise StandInError(f"{where}: unknown member(s) {strange}; known: {known}")
        address = _address(judge, row, tuple(name for name in _SELECTORS if name in row))
        if address in replies:
            raise StandInError(f"{where}: this call was already answered on an earlier line; keep one of the two")
        replies[address] = ScriptedReply(words, bool(row.get("refusal", False)))
    return replies


def _address(judge: str, values: Mapping[str, Any], chosen: tuple[str, ...]) -> tuple[Any, ...]:
    """What a line answers for: the judge and the chosen selectors with their values, ready to be looked up."""
    selected = ((name, tuple(sorted(values[name].items())) if name == "factors" else values[name]) for name in chosen)
    return (judge, *selected)

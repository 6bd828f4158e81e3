"""Stand-in source "scripted": judges whose behaviour is known because it was planted.

A behaviour is a function of yours, from the `Facts` of a call to a reply: a text, or `ScriptedReply` with the refusal
flag. The panel file names it by its dotted path or by an entry point of group "recuse.standins.behaviours".
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recuse.configuration import named
from recuse.schema import Call, Judge
from recuse.standins import ScriptedReply, StandInError


@dataclass(frozen=True, slots=True)
class Facts:
    """What a behaviour may know of a call."""

    call: Call
    own: bool  # the judge wrote what it judges
    fields: Mapping[str, Any]  # the item's
    rng: np.random.Generator  # this call's noise
    author: str | None  # whose texts are the judge's own
    folder: Path  # the stand-in's folder, where a behaviour may keep what it needs


Behaviour = Callable[[Any], "str | ScriptedReply"]


class ScriptedSource:
    """Each judge answers by its behaviour (judge name -> name of the behaviour)."""

    def __init__(self, folder: Path, judges: Mapping[str, Judge], planted: Mapping[str, str]) -> None:
        self._folder, self._judges, self._planted = folder, judges, planted

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        """What the judge's behaviour says. Raises `StandInError` for a judge without one."""
        if call.judge not in self._planted:
            raise StandInError(
                f"judge {call.judge} has no behaviour; set `behaviour` in the panel file to a function of your own "
                "(our_judges.behaviours.generous)"
            )
        name, author = self._planted[call.judge], self._judges[call.judge].author
        behaviour: Behaviour = named(name, what="behaviour", package="recuse.standins.behaviours")
        given = behaviour(Facts(call, author == call.target, fields, generator(call), author, self._folder))
        return given if isinstance(given, ScriptedReply) else ScriptedReply(given)


def generator(call: Call) -> np.random.Generator:
    """Noise of one call: depends on judge, item, target, factors and repeat, and on nothing else."""
    factors = (f"{name}={value}" for name, value in call.factors)
    text = "\0".join((call.task, call.protocol, call.judge, call.item, call.target, *factors, str(call.repeat)))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))


# --------------------------------------------------------------------------- stand-in source "table"
# `<folder>/<task>/<protocol>.jsonl.gz` (or `.jsonl`) holds lines {"judge", "item", "target", "factors", "repeat",
# "text", "refusal"}. Only judge and text are required: a line that leaves out item, target, factors or repeat answers
# for every value of it. Where several lines fit a call, the one that says most wins.

_SELECTORS = ("item", "target", "factors", "repeat")
_KNOWN = frozenset({"judge", "text", "refusal", *_SELECTORS})
_SUBSETS = [tuple(name for bit, name in enumerate(_SELECTORS) if mask >> bit & 1) for mask in range(2**4)]
_MOST_TELLING_FIRST = sorted(_SUBSETS, key=len, reverse=True)


class TableSource:
    """Answers from the files below `folder`; each is read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._replies: dict[Path, dict[tuple[Any, ...], ScriptedReply]] = {}

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        """The stored reply to the call. Raises `StandInError` if the file has none or cannot be read."""
        plain = self._folder / call.task / f"{call.protocol}.jsonl"
        path = plain if plain.is_file() else plain.with_suffix(".jsonl.gz")
        if path not in self._replies:
            self._replies[path] = _read(path)
        values = {"item": call.item, "target": call.target, "factors": dict(call.factors), "repeat": call.repeat}
        for chosen in _MOST_TELLING_FIRST:
            if (stored := self._replies[path].get(_address(call.judge, values, chosen))) is not None:
                return stored
        factors = "".join(f", {name} {value}" for name, value in call.factors)
        raise StandInError(
            f"{path}: no reply of {call.judge} on item {call.item}, "
            f"target {call.target}{factors}, repeat {call.repeat}; build the file again, or ask only for what it holds"
        )


def _read(path: Path) -> dict[tuple[Any, ...], ScriptedReply]:
    replies: dict[tuple[Any, ...], ScriptedReply] = {}
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:
        raise StandInError(f"{path}: stored replies cannot be read ({error}); build the file again") from None
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
            words, judge = row["text"], row["judge"]
        except (ValueError, TypeError, KeyError) as error:
            raise StandInError(
                f"{where}: not a reply ({type(error).__name__} {error}); a line has at least judge and text"
            ) from None
        if unknown := set(row) - _KNOWN:
            raise StandInError(
                f"{where}: unknown member(s) {', '.join(sorted(unknown))}; known: {', '.join(sorted(_KNOWN))}"
            )
        address = _address(judge, row, tuple(name for name in _SELECTORS if name in row))
        if address in replies:
            raise StandInError(f"{where}: this call was already answered on an earlier line; keep one of the two")
        replies[address] = ScriptedReply(words, bool(row.get("refusal", False)))
    return replies


def _address(judge: str, values: Mapping[str, Any], chosen: tuple[str, ...]) -> tuple[Any, ...]:
    """What a line answers for: the judge and the chosen selectors with their values, ready to be looked up."""
    return (
        judge,
        *((name, tuple(sorted(values[name].items())) if name == "factors" else values[name]) for name in chosen),
    )

"""Stand-in source "scripted": judges whose behaviour is known because it was planted.

A behaviour is a function of yours, from the `Facts` of a call to a reply: a text, or `ScriptedReply` with the refusal
flag. The panel file names it by its dotted path or by an entry point of group "recuse.standins.behaviours".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recuse.configuration.names import named
from recuse.schema import Call, Judge
from recuse.standins import StandInError, StandinReply, approximate_tokens


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What a stand-in says where it is more than words."""

    text: str
    refusal: bool = False  # the provider's own refusal flag, beyond what the text says


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
        self._behaviours: dict[str, Behaviour] = {}

    def reply(self, call: Call, fields: Mapping[str, Any]) -> StandinReply:
        """What the judge's behaviour says. Raises `StandInError` for a judge without one."""
        behave, author = self._behaviour(call.judge), self._judges[call.judge].author
        given = behave(Facts(call, author == call.target, fields, generator(call), author, self._folder))
        reply = given if isinstance(given, ScriptedReply) else ScriptedReply(given)
        tokens = approximate_tokens(call.request.body), approximate_tokens(reply.text)
        return StandinReply(reply.text, reply.refusal, *tokens)

    def _behaviour(self, judge: str) -> Behaviour:
        if judge not in self._planted:
            raise StandInError(
                f"judge {judge} has no behaviour; set `behaviour` in the panel file to a function of your own "
                "(our_judges.behaviours.generous)"
            )
        if judge not in self._behaviours:
            name = self._planted[judge]
            self._behaviours[judge] = named(name, what="behaviour", package="recuse.standins.behaviours")
        return self._behaviours[judge]


def generator(call: Call) -> np.random.Generator:
    """Noise of one call: depends on judge, item, target, factors and repeat, and on nothing else."""
    factors = (f"{name}={value}" for name, value in call.factors)
    text = "\0".join((call.task, call.protocol, call.judge, call.item, call.target, *factors, str(call.repeat)))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))

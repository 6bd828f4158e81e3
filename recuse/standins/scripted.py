"""Stand-in source "scripted": judges whose behaviour is known because it was planted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recuse.schema import Call, Judge
from recuse.standins import StandInError, StandinReply, approximate_tokens
from recuse.standins.behaviours import Facts, Said, behaviours


class ScriptedSource:
    """Each judge answers by its behaviour (judge name -> behaviour name); settings are read from
    `<folder>/<task>/<protocol>.toml`, once."""

    def __init__(self, folder: Path, judges: Mapping[str, Judge], planted: Mapping[str, str]) -> None:
        self._folder, self._judges, self._planted = folder, judges, planted
        self._settings: dict[tuple[str, str], Any] = {}

    def reply(self, call: Call, fields: Mapping[str, Any]) -> StandinReply:
        """What the judge's behaviour says. Raises `StandInError` for a judge without a known behaviour."""
        module = behaviours(call.protocol)
        name = self._planted.get(call.judge, "")
        if name not in module.BEHAVIOURS:
            raise StandInError(
                f"judge {call.judge} has {f'the unknown behaviour {name!r}' if name else 'no behaviour'} for protocol "
                f"{call.protocol}; known: {', '.join(module.BEHAVIOURS)}. Set `behaviour` in the panel file"
            )
        place = (call.task, call.protocol)
        if place not in self._settings:
            self._settings[place] = module.read_settings(self._folder / call.task / f"{call.protocol}.toml")
        own = self._judges[call.judge].author == call.target
        said = module.BEHAVIOURS[name](Facts(call, own, fields, self._settings[place], generator(call)))
        said = said if isinstance(said, Said) else Said(said)
        return StandinReply(
            said.text, said.refusal, approximate_tokens(call.request.body), approximate_tokens(said.text)
        )


def generator(call: Call) -> np.random.Generator:
    """Noise of one call: depends on judge, item, target, factors and repeat, and on nothing else."""
    factors = (f"{name}={value}" for name, value in call.factors)
    text = "\0".join((call.task, call.protocol, call.judge, call.item, call.target, *factors, str(call.repeat)))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))

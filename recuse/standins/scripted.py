"""Stand-in source "scripted": judges whose behaviour is known because it was planted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from recuse.configuration.names import named_object
from recuse.schema import Call, Judge
from recuse.standins import StandInError, StandinReply, approximate_tokens
from recuse.standins.behaviours import Behaviour, Facts, Said, behaviours


class ScriptedSource:
    """Each judge answers by its behaviour (judge name -> behaviour name); settings are read from
    `<folder>/<task>/<protocol>.toml`, once."""

    def __init__(self, folder: Path, judges: Mapping[str, Judge], planted: Mapping[str, str]) -> None:
        self._folder, self._judges, self._planted = folder, judges, planted
        self._settings: dict[tuple[str, str], Any] = {}

    def reply(self, call: Call, fields: Mapping[str, Any]) -> StandinReply:
        """What the judge's behaviour says. Raises `StandInError` for a judge without a known behaviour."""
        behave, settings = self._behaviour(call)
        author = self._judges[call.judge].author
        said = behave(Facts(call, author == call.target, fields, settings, generator(call), author))
        said = said if isinstance(said, Said) else Said(said)
        return StandinReply(
            said.text, said.refusal, approximate_tokens(call.request.body), approximate_tokens(said.text)
        )

    def _behaviour(self, call: Call) -> tuple[Behaviour, Any]:
        """What the judge does, and the settings of its module: one of Recuse's own behaviours for the protocol, or a
        function of the team's own, named by its dotted path."""
        name = self._planted.get(call.judge, "")
        if "." in name:
            return named_object(name, what="behaviour", package="recuse.standins.behaviours"), None
        module = behaviours(call.protocol)
        if name not in module.BEHAVIOURS:
            raise StandInError(
                f"judge {call.judge} has {f'the unknown behaviour {name!r}' if name else 'no behaviour'} for protocol "
                f"{call.protocol}; known: {', '.join(module.BEHAVIOURS)}. Set `behaviour` in the panel file, to one of "
                "these or to a function of your own (our_judges.behaviours.generous)"
            )
        place = (call.task, call.protocol)
        if place not in self._settings:
            self._settings[place] = module.read_settings(self._folder / call.task / f"{call.protocol}.toml")
        return module.BEHAVIOURS[name], self._settings[place]


def generator(call: Call) -> np.random.Generator:
    """Noise of one call: depends on judge, item, target, factors and repeat, and on nothing else."""
    factors = (f"{name}={value}" for name, value in call.factors)
    text = "\0".join((call.task, call.protocol, call.judge, call.item, call.target, *factors, str(call.repeat)))
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))

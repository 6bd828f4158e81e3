"""Planted behaviours: what a scripted judge does. One file per protocol; yours is found by its name, <protocol>.py.

Such a module has

    BEHAVIOURS      name -> function from the facts of a call to a reply: a text, or `Said` with the refusal flag
    read_settings   path of <task>/<protocol>.toml -> whatever its functions want in `Facts.settings`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from recuse.schema import Call
from recuse.standins import StandInError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Said:
    """What a stand-in says where it is more than words."""

    text: str
    refusal: bool = False  # the provider's own refusal flag, beyond what the text says


@dataclass(frozen=True, slots=True)
class Facts:
    """What a behaviour may know of a call."""

    call: Call
    own: bool  # the judge wrote what it judges
    fields: Mapping[str, Any]  # the item's
    settings: Any  # the module's own
    rng: np.random.Generator  # this call's noise
    author: str | None = None  # whose texts are the judge's own


Behaviour = Callable[[Facts], "str | Said"]


class Behaviours(Protocol):
    """What a module of behaviours has."""

    BEHAVIOURS: Mapping[str, Behaviour]

    def read_settings(self, path: Path) -> Any:
        """The module's own settings, from a file of the stand-in's folder; its behaviours get them as
        `Facts.settings`."""


def behaviours(protocol: str) -> Behaviours:
    """The behaviours of a protocol; `StandInError` if it has none."""
    name = f"{__name__}.{protocol}"
    try:
        return cast(Behaviours, import_module(name))
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise StandInError(
            f"no behaviours for protocol {protocol!r}; write them in recuse/standins/behaviours/{protocol}.py"
        ) from None

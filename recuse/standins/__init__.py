"""Stand-ins answer in place of a judge, over real HTTP on loopback, while a panel that is not real is recorded.

Two kinds of source know what to say: a `table` of reconstructed replies, and behaviours that are `scripted` in code.
A `RequestRouter` finds the call an HTTP request belongs to, asks the source and words the answer in the judge's wire
format; `serve` keeps the socket. Nothing here passes for a recording of a named model: every payload's model name says
so.

    source = open_source(panel, root)
    with serve(RequestRouter(calls, panel.judges, source, fields, panel.provenance)) as proxy_url: ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recuse.schema import Call, RecuseError

if TYPE_CHECKING:
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

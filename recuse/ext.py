"""What measures, protocols, wire formats, drawings, readers and stand-ins of a team's own are made of.

    from recuse import Ratings
    from recuse.ext import Binomial, Estimates, estimated, measure

Each name is imported when it is asked for, from where it lives. docs/public.md says what each is for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recuse.gates import Gates
    from recuse.judges.description import address, canonical, described
    from recuse.metrics.estimates import estimated, matrix, undefined
    from recuse.metrics.measure import measure
    from recuse.protocols import reading, wording
    from recuse.protocols.grading import Grading
    from recuse.protocols.last_line import Choice
    from recuse.ratings import Nominal, Numeric, Ordinal, ResponseSets
    from recuse.readers.opening import Fault, Opened
    from recuse.readers.raw_table import RawTable, from_frame, from_records
    from recuse.report.drawing import Drawing, folded, pair, under, words
    from recuse.report.figures import Cell, DetailTable, Forest, Table, ladders, number_cell
    from recuse.report.results_model import Group
    from recuse.schema import Distribution, Estimates, Item, Judge, Judgement, Message, Prompt, Reply, Request, Usage
    from recuse.standins.scripted import Facts, ScriptedReply
    from recuse.statistics.distributions import Binomial, Draws, FisherZ, Student
    from recuse.tasks import Task

__all__ = [
    "Binomial", "Cell", "Choice", "DetailTable", "Distribution", "Drawing", "Draws", "Estimates", "Facts", "Fault",
    "FisherZ", "Forest", "Gates", "Grading", "Group", "Item", "Judge", "Judgement", "Message", "Nominal", "Numeric",
    "Opened", "Ordinal", "Prompt", "RawTable", "Reply", "Request", "ResponseSets", "ScriptedReply", "Student", "Table",
    "Task", "Usage", "address", "canonical", "described", "estimated", "folded", "from_frame", "from_records",
    "ladders", "matrix", "measure", "number_cell", "pair", "reading", "undefined", "under", "wording", "words",
]  # fmt: skip

NAMES = {
    "gates": "Gates",
    "judges.description": "address canonical described",
    "metrics.estimates": "estimated matrix undefined",
    "metrics.measure": "measure",
    "protocols": "reading wording",
    "protocols.grading": "Grading",
    "protocols.last_line": "Choice",
    "ratings": "Nominal Numeric Ordinal ResponseSets",
    "readers.opening": "Fault Opened",
    "readers.raw_table": "RawTable from_frame from_records",
    "report.drawing": "Drawing folded pair under words",
    "report.figures": "Cell DetailTable Forest Table ladders number_cell",
    "report.results_model": "Group",
    "schema": "Distribution Estimates Item Judge Judgement Message Prompt Reply Request Usage",
    "standins.scripted": "Facts ScriptedReply",
    "statistics.distributions": "Binomial Draws FisherZ Student",
    "tasks": "Task",
}
"""Module -> what is taken from it."""


if not TYPE_CHECKING:  # a type checker sees the imports above, and no other name

    def __getattr__(name: str) -> Any:
        home = next((f"recuse.{home}" for home, names in NAMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'recuse.ext' has no attribute {name!r}")
        if home == "recuse.protocols":
            import_module(f"{home}.{name}")  # these are modules
        globals()[name] = getattr(import_module(home), name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

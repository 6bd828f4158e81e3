"""What measures, protocols, wire formats, drawings, readers and stand-ins of a team's own are made of.

    from recuse import Ratings
    from recuse.ext import Binomial, Estimates, estimated, measure

Each name is imported when it is asked for, from where the lines below say. docs/public.md says what each is for.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
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
    from recuse.readers.json_records import from_records
    from recuse.readers.opening import Opened
    from recuse.readers.raw_table import Fault, RawTable, from_frame
    from recuse.report.drawing import Drawing, folded, pair, under, words
    from recuse.report.figures import Cell, DetailTable, Forest, Table, ladders, number_cell
    from recuse.report.results_model import Group
    from recuse.schema import Distribution, Estimates, Item, Judge, Judgement, Message, Prompt, Reply, Request, Usage
    from recuse.standins import Facts, ScriptedReply
    from recuse.statistics.distributions import Binomial, Draws, FisherZ, Student
    from recuse.tasks import Task

__all__ = [
    "Binomial", "Cell", "Choice", "DetailTable", "Distribution", "Drawing", "Draws", "Estimates", "Facts", "Fault",
    "FisherZ", "Forest", "Gates", "Grading", "Group", "Item", "Judge", "Judgement", "Message", "Nominal", "Numeric",
    "Opened", "Ordinal", "Prompt", "RawTable", "Reply", "Request", "ResponseSets", "ScriptedReply", "Student", "Table",
    "Task", "Usage", "address", "canonical", "described", "estimated", "folded", "from_frame", "from_records",
    "ladders", "matrix", "measure", "number_cell", "pair", "reading", "undefined", "under", "wording", "words",
]  # fmt: skip

IMPORTED = re.compile(r"^    from (recuse\.(?!ext )\S+) import (.+)$", re.MULTILINE)
"""A line of the imports above: the module, and what is taken from it."""


if not TYPE_CHECKING:  # a type checker sees the imports above, and no other name

    def __getattr__(name: str) -> Any:
        lines = IMPORTED.findall(Path(__file__).read_text(encoding="utf-8"))
        home = next((module for module, names in lines if name in names.split(", ")), None)
        if home is None:
            raise AttributeError(f"module 'recuse.ext' has no attribute {name!r}")
        if home == "recuse.protocols":
            import_module(f"{home}.{name}")  # these are modules
        globals()[name] = getattr(import_module(home), name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

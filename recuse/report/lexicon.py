"""What the results call things: measures, factor levels and criteria, as their descriptions travel with the numbers.

A results.json holds these words itself (`measures`, `factors`, `tasks`), so an old one is drawn in the words of its own
time and nothing of the engine is needed to draw it. Whatever is not described is called by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from recuse.schema.results import MeasureRow, Results

LAST = 1000
"""Rank of a measure without one."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How a measure is spoken of; see `recuse.metrics.measure`, where measures are described."""

    name: str
    title: str
    reading: str = ""
    signed: bool = False
    rank: int = LAST
    ends: tuple[float, float] | None = None  # the least and the greatest value it can have


class Lexicon:
    """The words of one results.json, looked up by name."""

    def __init__(self, results: Results | None = None) -> None:
        held: Results = results or {}
        self._measures = {name: _measure(name, about) for name, about in (held.get("measures") or {}).items()}
        self._levels: dict[str, dict[str, str]] = {
            factor["name"]: {level["name"]: level["words"] for level in factor["levels"]}
            for factor in held.get("factors") or ()
        }
        self._criteria = {task["name"]: list(task["criteria"]) for task in held.get("tasks") or ()}
        self._points = {task["name"]: task.get("points") for task in held.get("tasks") or ()}
        self.simulated = frozenset(task["name"] for task in held.get("tasks") or () if task.get("people_simulated"))
        """Tasks whose people come out of a model."""

    def measure(self, name: str) -> Measure:
        """How a measure is spoken of; by its name where it is not described."""
        return self._measures.get(name) or Measure(name, plain_name(name))

    def points(self, task: str) -> float | None:
        """How many points a task's widest scale has; None where it has none, or nobody said."""
        return self._points.get(task)

    def level(self, factor: str, level: str) -> str:
        """ "names hidden"; a level that is not described with its factor, "divisor n"."""
        return self._levels.get(factor, {}).get(level) or plain_name(f"{factor} {level}".strip())

    def factor_order(self, factor: str) -> tuple[int, str]:
        """Described factors in their order, others behind them by name."""
        return _place(list(self._levels), factor)

    def level_order(self, factor: str, level: str) -> tuple[int, str]:
        """Described levels in their order (the ordinary case before its contrast), others behind them by name."""
        return _place(list(self._levels.get(factor, {})), level)

    def criterion_order(self, task: str, criterion: str) -> tuple[int, str]:
        """The criteria that stand for a judgement as a whole first, then the task's others, then any other."""
        return _place(self._criteria.get(task, []), criterion)


def plain_name(identifier: str) -> str:
    """ "reported_total" -> "reported total"."""
    return identifier.replace("_", " ")


def _measure(name: str, about: MeasureRow) -> Measure:
    ends = about.get("ends") or (None, None)
    return Measure(
        name=name,
        title=about.get("title") or plain_name(name),
        reading=about.get("reading") or "",
        signed=bool(about.get("signed")),
        rank=int(about.get("rank", LAST)),
        ends=(low, high) if (low := ends[0]) is not None and (high := ends[1]) is not None else None,
    )


def _place(known: list[str], name: str) -> tuple[int, str]:
    return (known.index(name) if name in known else len(known), name)

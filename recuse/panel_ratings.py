"""From what a panel's judges said to `Ratings`: the table with its scales, authors, texts and references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recuse.elicit import Plan
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.protocols.facts import facts_of
from recuse.ratings import Ratings
from recuse.ratings.scale import Scale
from recuse.references import SUMMARY, people_of, reference_of
from recuse.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["panel_ratings"]


def panel_ratings(
    plan: Plan,
    table: pd.DataFrame,
    *,
    authors: Mapping[str, str],
    beside: Callable[[str], Ratings | None] = lambda kind: None,
) -> Ratings:
    """The ratings of one panel, task and protocol.

    Scales are the protocol's or the task's; what people said joins the table as raters where they are known one by one
    and stays a summary where only means are."""
    how, task = protocol(plan.protocol), plan.task
    people = people_of(task)
    summary = people if people is not None and set(SUMMARY) <= set(people.columns) else None
    persons = people if summary is None else None
    scales: dict[str, Scale] = {**task.scales, **_told(how, "scales", task, {})}
    factors = [called(how, factor) for factor in plan.factors]
    return Ratings.of(
        table if persons is None else _joined(table, persons, factors),
        scales=scales,
        factors=factors,
        authors=authors,
        headline=_told(how, "headline", task, task.criteria),
        parts=_told(how, "parts", task, ()),
        texts=texts_of(plan),
        clusters=task.clusters,
        people=summary,
        reference=reference_of(task),
        beside=beside,
    )


def _told(how: ElicitationProtocol, what: str, task: Task, usual: Any) -> Any:
    """What a protocol says of the task, where it says anything."""
    return getattr(how, what)(task) if hasattr(how, what) else usual


def texts_of(plan: Plan) -> pd.DataFrame:
    """One row per item and target that was asked about: columns item, target, and what the protocol tells of each."""
    import pandas as pd

    how = protocol(plan.protocol)
    asked = {(item.id, item.target): item for item in plan.items.values()}
    rows = [{**facts_of(how, plan.task, item), "item": item.id, "target": item.target} for item in asked.values()]
    return pd.DataFrame(rows)


def _joined(table: pd.DataFrame, persons: pd.DataFrame, factors: list[str]) -> pd.DataFrame:
    """The table with people's rows: their one judgement counts under every combination of factor levels."""
    import pandas as pd

    from recuse.ratings.table import PERSON, completed

    rows = completed(persons.assign(kind=PERSON))
    rows = rows[rows["item"].isin(table["item"])].assign(task=table["task"].iloc[0], protocol=table["protocol"].iloc[0])
    levels = table[factors].drop_duplicates() if factors else None
    rows = rows if levels is None else rows.merge(levels, how="cross")
    return pd.concat([table, rows[list(table.columns)]], ignore_index=True)

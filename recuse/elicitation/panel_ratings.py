"""From what a panel's judges said to `Ratings`: the table with its scales, authors, texts and references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recuse.elicitation.plan import Plan
from recuse.protocols import ElicitationProtocol, called, protocol
from recuse.protocols.facts import facts_of
from recuse.ratings import Ratings
from recuse.ratings.factors import DIRECTION
from recuse.ratings.scale import Numeric, Scale
from recuse.references import SUMMARY, payloads_of, people_of, reference_of
from recuse.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["headline_of", "panel_ratings", "scales_of", "with_people"]


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
    people = people_of(task, plan.protocol)
    summary = people if people is not None and set(SUMMARY) <= set(people.columns) else None
    persons = people if summary is None else None
    scales, headline = scales_of(how, task), headline_of(how, task)
    factors = [called(how, factor) for factor in plan.factors]
    return Ratings.of(
        table if persons is None else with_people(table, persons, factors, headline, scales),
        scales=scales,
        factors=factors,
        authors=authors,
        headline=headline,
        parts=_of_protocol(how, "parts", task, ()),
        texts=texts_of(plan),
        clusters=task.clusters,
        people=summary,
        reference=reference_of(task),
        payloads=payloads_of(task),
        thresholds={name: task.thresholds for name, scale in scales.items() if isinstance(scale, Numeric)},
        tiers=task.tiers,
        beside=beside,
    )


def scales_of(how: ElicitationProtocol, task: Task) -> dict[str, Scale]:
    """Criterion -> its scale: the task's, unless the protocol has another one for it."""
    return {**task.scales, **_of_protocol(how, "scales", task, {})}


def headline_of(how: ElicitationProtocol, task: Task) -> tuple[str, ...]:
    """The criteria that stand for the judgement as a whole."""
    return tuple(_of_protocol(how, "headline", task, task.criteria))


def _of_protocol(how: ElicitationProtocol, what: str, task: Task, usual: Any) -> Any:
    """What a protocol says of the task, where it says anything."""
    return getattr(how, what)(task) if hasattr(how, what) else usual


def texts_of(plan: Plan) -> pd.DataFrame:
    """One row per item and target that was asked about: columns item, target, and what the protocol tells of each."""
    import pandas as pd

    how = protocol(plan.protocol)
    asked = {(item.id, item.target): item for item in plan.items.values()}
    rows = [{**facts_of(how, plan.task, item), "item": item.id, "target": item.target} for item in asked.values()]
    return pd.DataFrame(rows)


def with_people(
    table: pd.DataFrame,
    persons: pd.DataFrame,
    factors: Sequence[str],
    headline: Sequence[str],
    scales: Mapping[str, Scale],
) -> pd.DataFrame:
    """The table with people's rows, which count under every combination of the levels of factors that they do not have
    themselves. Who chose between two texts and does not say how they stood saw a first: a choice names a place, so it
    cannot count under both orders. Without a criterion theirs is the headline's, where there is one."""
    import pandas as pd

    from recuse.ratings.factors import LEVELS
    from recuse.ratings.pair_array import PAIRED
    from recuse.ratings.ratings_table import PERSON, completed

    usual = {name: LEVELS[name][0] for name in PAIRED if name in factors and name not in persons}
    if "criterion" not in persons and len(headline) == 1:
        usual["criterion"] = headline[0]
    rows = completed(persons.assign(kind=PERSON, **usual))
    rows = rows[rows["item"].isin(table["item"])].assign(task=table["task"].iloc[0], protocol=table["protocol"].iloc[0])
    crossed = [name for name in factors if name not in rows]
    rows = rows.merge(table[crossed].drop_duplicates(), how="cross") if crossed else rows
    rows = _turned(rows, scales) if DIRECTION in crossed else rows
    return pd.concat([table, rows.reindex(columns=list(table.columns))], ignore_index=True)


def _turned(rows: pd.DataFrame, scales: Mapping[str, Scale]) -> pd.DataFrame:
    """People's scores, given on the ascending scale, as they would be written where it is reversed: `Ratings.where`
    turns every score of that level back."""
    sums = {name: scale.minimum + scale.maximum for name, scale in scales.items() if isinstance(scale, Numeric)}
    turned = rows["criterion"].map(sums) - rows["score"]
    return rows.assign(score=rows["score"].mask(rows[DIRECTION] == "reversed", turned))

"""From what a panel's judges said to `Ratings`: the table with its scales, authors, texts and references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from recuse.elicitation.plan import Plan
from recuse.judges import read_response
from recuse.protocols import ElicitationProtocol, called, headline_of, parts_of, protocol
from recuse.protocols.wording import facts_of
from recuse.ratings import Nominal, Ratings
from recuse.ratings.pair_array import PAIRED
from recuse.ratings.ratings_table import PERSON, completed
from recuse.ratings.scale import Numeric, Scale
from recuse.references import SUMMARY, checked_people, payloads_of, people_of, reference_of
from recuse.schema import Call, RawResponse
from recuse.schema.factors import DIRECTION, LEVELS
from recuse.schema.pandas_when_used import pd
from recuse.tasks import Task


def panel_ratings(
    plan: Plan, table: pd.DataFrame, *, authors: Mapping[str, str], families: Mapping[str, str] | None = None,
    beside: Callable[[str], Ratings | None] = lambda kind: None,
) -> Ratings:  # fmt: skip
    """The ratings of one panel, task and protocol. Scales are the protocol's or the task's; people join the table as
    raters where they are known one by one, and stay a summary where only means are."""
    how, task = protocol(plan.protocol), plan.task
    people = people_of(task, plan.protocol)
    summary = people if people is not None and set(SUMMARY) <= set(people.columns) else None
    scales, headline = scales_of(how, task), headline_of(how, task)
    persons = None if people is None or summary is not None else checked_people(task, people, scales, headline)
    parts = parts_of(how, task)
    if persons is not None and parts and len(headline) == 1:
        persons = with_total(persons, parts, headline[0])
    factors = [called(how, factor) for factor in plan.factors]
    return Ratings.of(
        table if persons is None else with_people(table, persons, factors, headline, scales),
        scales=scales, factors=factors, authors=authors, families=families or {}, enforced=enforced_judges(plan),
        headline=headline, parts=parts, texts=texts_of(plan), clusters=task.clusters, people=summary, truth=task.truth,
        reference=reference_of(task), payloads=payloads_of(task), tiers=task.tiers, beside=beside,
        thresholds={name: task.thresholds for name, scale in scales.items() if isinstance(scale, Numeric)},
    )  # fmt: skip


def enforced_judges(plan: Plan) -> frozenset[str]:
    """Judges whose server binds replies to a grammar of this protocol: they can be read whatever a judge would say."""
    prompts = {call.judge: call.prompt for call in plan.calls}  # none of several calls, whose stages all name a form
    return frozenset(
        name
        for name, judge in plan.judges.items()
        if judge.grammar
        and (not prompts or (prompt := prompts[name]) is None or prompt.grammar or (judge.structured and prompt.schema))
    )


def scales_of(how: ElicitationProtocol, task: Task) -> dict[str, Scale]:
    """Criterion -> its scale: the task's, unless the protocol has another one for it."""
    return {**task.scales, **getattr(how, "scales", lambda task: {})(task)}


def texts_of(plan: Plan) -> pd.DataFrame:
    """One row per item and target that was asked about: columns item, target, and what the protocol tells of each."""
    how = protocol(plan.protocol)
    items = {(item.id, item.target): item for item in plan.items.values()}
    rows = [{**facts_of(how, plan.task, item), "item": item.id, "target": item.target} for item in items.values()]
    return pd.DataFrame(rows)


def with_total(persons: pd.DataFrame, parts: Sequence[str], total: str) -> pd.DataFrame:
    """People's scores by criterion with a row more for a total that they gave none of: the mean of all the parts."""
    if "criterion" not in persons or persons["criterion"].eq(total).any():
        return persons
    keys = [name for name in persons.columns if name not in ("criterion", "score", "response")]
    parts_of_person = persons[persons["criterion"].isin(parts) & persons["score"].notna()]
    means = parts_of_person.groupby(keys, sort=False, dropna=False)["score"].agg(["mean", "size"]).reset_index()
    whole = means[means["size"].eq(len(parts))].assign(criterion=total, score=lambda rows: rows["mean"].round(12))
    return pd.concat([persons, whole.drop(columns=["mean", "size"])], ignore_index=True)


def with_people(
    table: pd.DataFrame, persons: pd.DataFrame, factors: Sequence[str], headline: Sequence[str],
    scales: Mapping[str, Scale],
) -> pd.DataFrame:  # fmt: skip
    """The table with people's rows, which count under every combination of the levels of factors that they do not have
    themselves. Who chose between two texts and does not say how they stood saw a first: a choice names a place, so it
    cannot count under both orders. Without a criterion theirs is the headline's, where there is one."""
    usual = {name: LEVELS[name][0] for name in PAIRED if name in factors and name not in persons}
    if "criterion" not in persons and len(headline) == 1:
        usual["criterion"] = headline[0]
    rows = completed(persons.assign(kind=PERSON, **usual))
    rows = rows[rows["item"].isin(table["item"])].assign(task=table["task"].iloc[0], protocol=table["protocol"].iloc[0])
    crossed = [name for name in factors if name not in rows]
    rows = rows.merge(table[crossed].drop_duplicates(), how="cross") if crossed else rows
    if DIRECTION in crossed:  # as they would be written there: `Ratings.where` turns every score of that level back
        sums = {name: scale.minimum + scale.maximum for name, scale in scales.items() if isinstance(scale, Numeric)}
        turned = rows["criterion"].map(sums) - rows["score"]
        rows = rows.assign(score=rows["score"].mask(rows[DIRECTION] == "reversed", turned))
    return pd.concat([table, rows.reindex(columns=list(table.columns))], ignore_index=True)


EXPLANATIONS, QUOTES = "explanations", "quotes"
REMARKS = (EXPLANATIONS, QUOTES)
"""What a protocol calls its readers of reasons and of quoted places, and what these are offered as."""
WORDS = Nominal(("words", "other words"))
"""Reasons are free text; no measure takes them for options."""


def explanations_of(
    plan: Plan, replies: Callable[[], Iterable[tuple[Call, RawResponse]]], authors: Mapping[str, str],
    kind: str = EXPLANATIONS,
) -> Ratings | None:  # fmt: skip
    """One row per reason, or per place cited: response = its words, `rubric` = what the task tells a judge of its
    criteria. Texts carry all that the prompt shows of an item. None where nothing of the kind is read."""
    how = protocol(plan.protocol)
    read = getattr(how, kind, None)
    if read is None:
        return None
    rubric = " ".join(_words(list(plan.task.data["criterion"])))
    rows = []
    for call, response in replies():
        item = plan.items[call.judge, call.item, call.target]
        levels = dict(call.factors)
        for reason in read(plan.task, item, levels, read_response(plan.judges[call.judge].wire, response)):
            rows.append(
                {"rater": call.judge, "item": call.item, "target": call.target, "criterion": reason.criterion,
                 "repeat": call.repeat, "response": reason.response, "rubric": rubric,
                 **{called(how, name): called(how, name, level) for name, level in levels.items()}}
            )  # fmt: skip
    if not rows:
        return None
    shown = {(item.id, item.target): " ".join(_words(item.fields)) for item in plan.items.values()}
    texts = pd.DataFrame([{"item": i, "target": t, "text": text} for (i, t), text in shown.items()])
    frame = pd.DataFrame(rows)
    return Ratings.of(
        frame, factors=[called(how, name) for name in plan.factors], authors=authors, texts=texts,
        scales=dict.fromkeys(frame["criterion"].unique(), WORDS),
    )  # fmt: skip


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)

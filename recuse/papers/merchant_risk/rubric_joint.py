"""Rubric scoring of all sets in one call, with a ranking and a synthesis, as the printed prompt of the merchant-risk
paper has it (Appendix A, messages 1 to 6), beside `rubric`, which shows one set a call. Sets of one item are shown
together; where every target has items of its own, all sets are. Each gets the rows that `rubric` would give it, and a
row "place", its place in the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recuse.protocols import reading, rubric, wording
from recuse.ratings import PLACE, Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.schema.plain_values import grouped
from recuse.tasks import Task

OFFERS = "scores"
FACTORS = rubric.FACTORS
FACTOR_NAMES = rubric.FACTOR_NAMES
REPEATS = 10
ALL = "all-sets"

headline, parts = rubric.headline, rubric.parts


def scales(task: Task) -> dict[str, Scale]:
    """As in `rubric`, and the places 1 to the number of targets."""
    return {**rubric.scales(task), PLACE: Numeric(1.0, float(len(task.targets)), 1.0, unit="places")}


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """One item per id with the sets of all its targets in `sets`; where no two sets share an id, one item of all."""
    by_id = grouped(task.items, lambda item: item.id)
    together = by_id if any(len(of) > 1 for of in by_id.values()) else {ALL: list(task.items)}
    return tuple(
        Item(task.name, name, ALL, {"sets": [{"id": i.id, "target": i.target, **i.fields} for i in of]})
        for name, of in together.items()
    )


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """All sets of the item, each under its author's name or label (`factors["condition"]`), at temperature 0.7. The
    reply has an entry per author and a ranking."""
    labels = _labels(task, item, factors)
    shown = [{**one, "author_label": label} for one, label in zip(item.fields["sets"], labels, strict=True)]
    words = wording.messages(task, "rubric_joint", task=task.data, sets=shown)
    scale = Numeric(*task.scale, task.data["scale"].get("step"))

    def schema(number: Mapping[str, Any]) -> dict[str, Any]:
        one = wording.object_schema({"author": {"enum": labels}, **dict.fromkeys(rubric.scored(task), number)})
        return wording.object_schema({
            "sets": wording.list_schema(one, len(labels)),
            "ranking": wording.list_schema({"enum": labels}, len(labels)),
            "synthesis": wording.text_schema(task, "synthesis"),
        })  # fmt: skip

    free, stepped = schema(rubric.as_number(scale)), schema(rubric.as_steps(scale))
    return Prompt(words, temperature=0.7, max_tokens=1200, schema=free, grammar_schema=stepped)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The rows of every set, in the order shown; a set that the reply does not score once has failed ones, and so have
    all places where the ranking does not name every author once."""
    sets, labels, names = item.fields["sets"], _labels(task, item, factors), rubric.scored(task)
    try:
        answer = reading.json_value(reply, dict)
    except reading.Unreadable as failure:
        return [_of(row, one) for one in sets for row in reading.all_failed([*names, PLACE], failure)]
    scored, ranking = answer.get("sets"), answer.get("ranking")
    parts = [part for part in scored if isinstance(part, dict)] if isinstance(scored, list) else []
    ordered = list(map(str, ranking)) if isinstance(ranking, list) else []
    rows: list[Judgement] = []
    means, stepped = Numeric(*task.scale), Numeric(*task.scale, task.data["scale"].get("step"))
    on = dict.fromkeys(names, means) | dict.fromkeys(task.criteria, stepped)
    for one, label in zip(sets, labels, strict=True):
        of_author = [part for part in parts if part.get("author") == label]
        if len(of_author) == 1:
            judged = [rubric.one_score(of_author[0], name, None, scale) for name, scale in on.items()]
        else:
            why = f"the reply scores {label} {len(of_author)} times, once is wanted"
            judged = reading.all_failed(names, reading.Unreadable("unparsed", why))
        place = Judgement(PLACE, status="unparsed", why="the ranking does not name every author once")
        if sorted(ordered) == sorted(labels):
            place = Judgement(PLACE, score=ordered.index(label) + 1.0)
        rows += [_of(row, one) for row in (*judged, place)]
    return rows


def _of(row: Judgement, one: Mapping[str, Any]) -> Judgement:
    return replace(row, item=one["id"], target=one["target"])


def _labels(task: Task, item: Item, factors: Mapping[str, str]) -> list[str]:
    return [rubric.author_label(task, one["target"], factors["condition"]) for one in item.fields["sets"]]

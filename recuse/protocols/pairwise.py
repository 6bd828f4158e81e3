"""Pairwise comparison: which of two texts is better, or neither, at temperature 0; the verdict on the last line.

`pairwise` asks both orders of every pair under both ways to name the texts, so that a preference for a place ("first")
can be told from one for a letter ("A") and from one for a text. The response is a place: "first", "second" or "tie".
An item has `story` (its id) and `text` (its words), `a` and `b` (who meets: authors, or variants of one text), `texts`
(for a and b each headline and lead) and `words` (how many these have). Its target is the author of a.

`pairwise_injected`: one text of each pair (`attacked`: "a" or "b") carries a prompt injection; its clean twin is the
row of `pairwise` on the item that its field `clean` names, in the same order under the same names. `pairwise_length`:
`b` says the same as `a` at greater length (padding.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recuse.protocols import Earlier, Levels
from recuse.protocols.last_line import Choice
from recuse.ratings.scale import Nominal
from recuse.schema import Item
from recuse.tasks import Task

ORDERS = {"order": ("ab", "ba")}
CRITERION = "winner"


def names(levels: Levels) -> tuple[str, str]:
    """What the first and the second text are called."""
    return ("B", "A") if levels.get("labels") == "swapped" else ("A", "B")


def place_of_name(task: Task, item: Item, levels: Levels) -> dict[str, str]:
    """The verdicts: the name of each text -> its place, and the tie."""
    first, second = names(levels)
    return {first: "first", second: "second", "tie": "tie"}


def pair_facts(task: Task, item: Item) -> dict[str, Any]:
    """Who meets whom: `a` and `b`, how many words each text has, and what the pair belongs to (`cluster`)."""
    fields = item.fields
    counted = {side: len(" ".join(map(str, text.values())).split()) for side, text in fields["texts"].items()}
    known = {name: fields[name] for name in ("clean", "attacked", "payload", "class") if name in fields}
    sizes = {f"words_{side}": fields.get("words", counted)[side] for side in ("a", "b")}
    return {"cluster": fields.get("story", item.id), "a": fields["a"], "b": fields["b"], **sizes, **known}


def pair_shown(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Mapping[str, Any]:
    """The story and both texts, in the order and under the names that the factors say."""
    first, second = names(levels)
    texts = [item.fields["texts"][side] for side in levels["order"]]
    named = {"first_label": first, "second_label": second}
    return {"story": item.fields["text"], "first": texts[0], "second": texts[1], **named}


def _addressed(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Mapping[str, Any]:
    """As `pair_shown`, with "{label}" in the attacked lead replaced by the name that the text has in this order."""
    side, texts = item.fields["attacked"], item.fields["texts"]
    label = names(levels)[levels["order"].index(side)]
    attacked = {**texts[side], "lead": texts[side]["lead"].replace("{label}", label)}
    return pair_shown(task, replace(item, fields={**item.fields, "texts": {**texts, side: attacked}}), levels, earlier)


PAIRWISE = Choice(
    OFFERS="choices", WORDING="pairwise", label="Winner", criterion=CRITERION, verdicts=place_of_name,
    responses=lambda task: Nominal(("first", "second", "tie")), shown=pair_shown, facts=pair_facts, max_tokens=300,
    FACTORS={**ORDERS, "labels": ("plain", "swapped")},
)  # fmt: skip
INJECTED = replace(PAIRWISE, OFFERS="attacked_choices", FACTORS={**ORDERS, "labels": ("plain",)}, shown=_addressed)
LENGTH = replace(PAIRWISE, OFFERS="length_twins", FACTORS=ORDERS)

"""Pairwise comparison of pairs in which one text carries a prompt injection: the words and the reader of `pairwise`,
in both orders. The clean twin of an item is the row of `pairwise` on the item that its field `clean` names, in the same
order under the same names.

`attacked` ("a" or "b") says which text was tampered with. A payload may speak of the text by its name; "{label}" in the
attacked lead stands for it, since the name depends on the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recuse.protocols import pairwise
from recuse.protocols.pairwise import REPEATS, WORDING, facts, headline, items, read, scales
from recuse.schema import Item, Prompt
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "WORDING", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "attacked_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba"), "labels": ("plain",)}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The prompt of `pairwise`, with "{label}" in the attacked lead replaced by the name that the text has in this
    order."""
    side, texts = item.fields["attacked"], item.fields["texts"]
    label = pairwise.names(factors)[factors["order"].index(side)]
    attacked = {**texts[side], "lead": texts[side]["lead"].replace("{label}", label)}
    addressed = replace(item, fields={**item.fields, "texts": {**texts, side: attacked}})
    return pairwise.prompt(task, addressed, factors)

"""Grading of texts that carry a prompt injection: the words and the reader of `grading`, on attacked items, with 5 as
the best grade. The clean twin of an item is the row of `grading` on the item that its field `clean` names, for the same
target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.protocols import facts as usual
from recuse.protocols.grading import REPEATS, WORDING, items, prompt, read, scales
from recuse.schema import Item
from recuse.tasks import Task

__all__ = ["FACTORS", "FACTOR_NAMES", "OFFERS", "REPEATS", "WORDING", "facts", "items", "prompt", "read", "scales"]

OFFERS = "attacked_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"framing": ("positive",)}
FACTOR_NAMES = {"framing": ("direction", {"positive": "ascending", "negative": "reversed"})}


def facts(task: Task, item: Item) -> dict[str, Any]:
    """The attacked text with its payload; its `cluster` is the clean twin's item unless the item says otherwise."""
    return {"cluster": item.fields.get("clean"), **usual.facts(task, item)}

"""What measures may know of an item beside its ratings, where a protocol does not say otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recuse.schema import Item

if TYPE_CHECKING:
    from recuse.tasks import Task

__all__ = ["facts", "facts_of", "text_of"]


def facts(task: Task, item: Item) -> dict[str, Any]:
    """The item's single-valued fields, and its text and number of words where the task says which fields are the
    text."""
    known = {name: value for name, value in item.fields.items() if isinstance(value, str | int | float)}
    text = text_of(task, item.fields)
    return known if text is None else {**known, "text": text, "words": len(text.split())}


def facts_of(how: object, task: Task, item: Item) -> Mapping[str, Any]:
    """What the protocol `how` tells of an item, in its own way where it has one."""
    tell: Callable[[Task, Item], Mapping[str, Any]] = getattr(how, "facts", facts)
    return tell(task, item)


def text_of(task: Task, fields: Mapping[str, Any]) -> str | None:
    """The judged text: the task's text fields, one below the other; None where one is missing or none is named."""
    parts = [fields.get(name) for name in task.text]
    return "\n".join(map(str, parts)) if parts and all(part is not None for part in parts) else None

"""A field of a dataclass that is worked out when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

__all__ = ["Deferred", "Deferring"]

T = TypeVar("T")


class Deferred(Generic[T]):
    """A field that is given its value, or a function that makes it: called by whoever reads the field first, and never
    where nobody does. A simulation of ten thousand verdicts reads their outcomes, and nothing of what to do about them.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Verdict:
    ...     remedy: Deferred[str] = Deferred("none")
    >>> Verdict(lambda: "record more").remedy, Verdict("read it").remedy, Verdict().remedy
    ('record more', 'read it', 'none')
    """

    def __init__(self, default: T) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type) -> T:
        if instance is None:  # the class is asked for the field's default
            return self.default
        held = vars(instance)
        if callable(held[self.name]):
            held[self.name] = held[self.name]()
        return cast("T", held[self.name])

    def __set__(self, instance: object, value: T | Callable[[], T]) -> None:
        vars(instance)[self.name] = value


class Deferring:
    """What has deferred fields: copied, or handed to another process, it is plain data."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in vars(self)}

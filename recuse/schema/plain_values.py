"""Values as builtins, values of which a run makes hundreds of thousands, and fields that are worked out when somebody
reads them."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, TypeVar, cast, dataclass_transform


def number(value: float) -> float | None:
    """A builtin float, None for NaN; what is 0 but for rounding becomes 0."""
    cleaned = round(float(value), 12)
    return None if math.isnan(cleaned) else cleaned + 0.0


_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def builtins(value: Any) -> Any:
    """The same value in builtins only, NaN as None."""
    if type(value) in _AS_THEY_ARE:
        return value
    if hasattr(value, "record"):  # it knows what of it is not a value, such as an estimate's distribution
        return value.record()
    if is_dataclass(value):
        return {f.name: builtins(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): builtins(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [builtins(v) for v in value]
    if hasattr(value, "item") and callable(value.item):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_type(cls: type[T]) -> type[T]:
    """A dataclass with slots that type checkers take to be frozen. At run time nothing keeps its fields: a frozen
    dataclass is made five times as slowly, because every field is set through a function call."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


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


# --------------------------------------------------------------------------- python's cycle collector

OBJECTS = 50_000


@contextmanager
def paused_cycle_collector() -> Iterator[None]:
    """A context, or a decorator. The collector looks through all living objects again and again while they grow in
    number, for cycles that a plan of calls, an index and a table do not have. What is no longer
    used is freed at once all the same, by its reference count."""
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()


def spare_the_cycle_collector() -> None:
    """For the rest of the process: what is there now, such as all that was imported, stays until the end and is not
    looked through again; of new objects OBJECTS come together before the collector looks for cycles among them, instead
    of 700: ratings and what was measured on them stay as well."""
    gc.freeze()
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])

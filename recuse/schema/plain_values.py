"""Values as builtins, and values of which a run makes hundreds of thousands."""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
Key = TypeVar("Key")
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def number(value: float) -> float | None:
    """A builtin float, None for NaN; what is 0 but for rounding becomes 0."""
    cleaned = round(float(value), 12)
    return None if math.isnan(cleaned) else cleaned + 0.0


def builtins(value: Any) -> Any:
    """The same value in builtins only, NaN as None."""
    if type(value) in _AS_THEY_ARE:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else None
    if hasattr(value, "record"):  # it knows what of it is not a value, such as an estimate's distribution
        return value.record()
    if is_dataclass(value):
        return {f.name: builtins(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): builtins(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [builtins(v) for v in value]
    return builtins(value.tolist()) if hasattr(value, "tolist") else value  # numpy's scalars and arrays


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value within a value of JSON that holds no other, after its path: "messages[0].content"."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list | tuple):
        for position, member in enumerate(value):
            yield from leaves(member, f"{path}[{position}]")
    else:
        yield path, value


def grouped(rows: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """The rows by their key, groups and rows in the order in which they come."""
    groups: dict[Key, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_type(cls: type[T]) -> type[T]:
    """A dataclass with slots that type checkers take to be frozen. At run time nothing keeps its fields: a frozen
    dataclass is made five times as slowly, because every field is set through a function call."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@contextmanager
def paused_cycle_collector() -> Iterator[None]:
    """The collector looks through all living objects again and again while they grow in number, for cycles that a plan
    of calls, an index and a table do not have. What is no longer used is freed at once, by its reference count."""
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()


def spare_the_cycle_collector() -> None:
    """For the rest of the process: what is there now, such as all that was imported, is not looked through again; a
    million new objects come together before cycles are looked for, instead of 700: what was measured stays as well."""
    gc.freeze()
    gc.set_threshold(1_000_000, *gc.get_threshold()[1:])


def multiply_in_one_thread() -> None:
    """For numpy, if it is loaded here, unless the user has said otherwise: our matrices are small, and OpenBLAS burns
    more time in threads that wait for each other than they save. Processes that are started later do as they did."""
    if "numpy" not in sys.modules and "OPENBLAS_NUM_THREADS" not in os.environ:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import numpy  # noqa: F401

        del os.environ["OPENBLAS_NUM_THREADS"]

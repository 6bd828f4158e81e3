"""Values as builtins: what pytest-xdist can carry between processes and JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


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

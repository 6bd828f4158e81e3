"""results.json: the one form from which summary and page are drawn, so the same results give the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from recuse.schema import RecuseError

SIGNIFICANT_DIGITS = 10

# What is gathered from tests arrives in the order in which they ran; here it gets an order of its own.
# Panels and their judges keep theirs: it is the order of the panel files.
_ORDER_OF = {
    "questions": ("id", "task"),
    "verdicts": ("question", "gate", "subject", "test", "estimate"),
    "measurements": ("question", "subject", "test", "estimate"),
    "upgrades": ("panel", "task", "protocol", "candidate", "incumbent"),
    "usage": ("panel", "judge", "task", "protocol"),
    "not_asked": ("question", "panel", "task", "protocol", "missing"),
    "recommendations": ("panel", "judge"),
    "words": ("panel", "task", "protocol", "judge", "target", "factors", "repeat", "text"),
}


def canonical(results: Mapping[str, Any]) -> str:
    """`results` as JSON text: keys sorted, ten significant digits, NaN and infinities null, ASCII, a final newline.

    ASCII because judges' words are in it: escaped, they can neither steer a terminal nor reorder a diff.
    """
    return json.dumps(normalised(results), sort_keys=True, indent=1, allow_nan=False) + "\n"


def normalised(results: Mapping[str, Any]) -> dict[str, Any]:
    """`results` in builtins only, rounded and in stable order: what reading results.json back would give."""
    plain = {str(key): _plain(value, key) for key, value in sorted(results.items())}
    for name, keys in _ORDER_OF.items():
        if isinstance(plain.get(name), list):
            plain[name] = sorted(plain[name], key=lambda entry, keys=keys: [_text(entry.get(k)) for k in keys])  # type: ignore[misc]
    return plain


def _plain(value: Any, *where: Any) -> Any:
    kind = type(value)
    if kind is float:
        return _rounded(value)
    if kind in (str, int, bool, type(None)):  # nearly everything: the slower checks below are for the rest
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v, *where, k) for k, v in sorted(value.items(), key=lambda entry: str(entry[0]))}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v, *where, i) for i, v in enumerate(value)]
    if isinstance(value, str | Integral):
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, Real):
        return _rounded(float(value))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")
    raise RecuseError(
        f"results hold builtins only (text, numbers, lists, mappings, none); {place} is a {kind.__name__}: "
        "convert it where the estimate is made"
    )


def _rounded(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") or 0.0  # `or`: no negative zero


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)

"""results.json: the one form from which summary and page are drawn, so the same results give the same bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, cast

from recuse.schema import RecuseError
from recuse.schema.results import Results

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
    "excerpts": ("panel", "task", "protocol", "judge", "target", "factors", "repeat", "text"),
}


_AS_THEY_ARE = frozenset({str, int, bool, type(None)})  # nearly everything: the slower checks are for the rest


class CanonicalResults(dict[str, Any]):
    """Results in canonical form: they are not brought into it again, so whoever changes one puts builtins in."""


def canonical(results: Mapping[str, object]) -> str:
    """`results` as JSON text: keys sorted, ten significant digits, NaN and infinities null, ASCII, a final newline.

    ASCII because judges' words are in it: escaped, they can neither steer a terminal nor reorder a diff.
    """
    return json.dumps(normalised(results), indent=1, sort_keys=True, allow_nan=False) + "\n"


def normalised(results: Mapping[str, object]) -> Results:
    """`results` in builtins only, rounded and in stable order: what reading results.json back would give."""
    if isinstance(results, CanonicalResults):
        return cast("Results", results)
    plain = CanonicalResults((key, _plain(value, key)) for key, value in _members(results))
    for name, keys in _ORDER_OF.items():
        if isinstance(plain.get(name), list):
            plain[name] = _ordered(plain[name], keys)
    return cast("Results", plain)


def _plain(value: Any, *where: Any) -> Any:
    kind = type(value)
    if kind is float:
        return _rounded(value)
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, Mapping):
        return {k: v if type(v) in _AS_THEY_ARE else _plain(v, *where, k) for k, v in _members(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [v if type(v) in _AS_THEY_ARE else _plain(v, *where, i) for i, v in enumerate(value)]
    if isinstance(value, str | Integral):
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, Real):
        return _rounded(float(value))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")
    raise RecuseError(
        f"results hold builtins only (text, numbers, lists, mappings, none); {place} is a {kind.__name__}: "
        "convert it where the estimate is made"
    )


def _members(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    return sorted(((str(k), v) for k, v in value.items()), key=itemgetter(0))


def _rounded(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") or 0.0  # `or`: no negative zero


def _ordered(entries: list[Any], keys: Sequence[str]) -> list[Any]:
    """By the text of each key in turn; a later one, which may be a whole estimate, is spelled where entries tie."""
    if not keys or len(entries) < 2:
        return entries
    by_first = sorted(((_sortable(e.get(keys[0])), e) for e in entries), key=itemgetter(0))
    return [e for _, tied in groupby(by_first, itemgetter(0)) for e in _ordered([e for _, e in tied], keys[1:])]


_sortable = json.JSONEncoder(sort_keys=True).encode

"""The one spelling of a JSON request body, so that equal requests are equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def canonical(body: Mapping[str, Any]) -> bytes:
    """Sorted keys, no spaces, UTF-8 (a lone surrogate as its JSON escape), no NaN.

    >>> canonical({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "backslashreplace"
    )

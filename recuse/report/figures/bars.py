"""Bars: a share or size per judge, with its number beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recuse.report.numbers import is_number


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    share: float | None  # of the full width, in percent
    text: str
    small: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    caption: str
    head: str
    value_name: str
    bars: list[Bar]


def bars(
    rows: Sequence[tuple[str, Any, str, str, str]],
    *,
    caption: str,
    value_name: str,
    full: float | None = None,
    head: str = "judge",
) -> Bars | None:
    """`rows`: (label, value, text, small text, outcome); `full` is the value that fills the width, else the largest."""
    if not rows:
        return None
    top = full or max((abs(value) for _, value, *_ in rows if is_number(value)), default=1.0) or 1.0
    drawn = [
        Bar(label, round(100 * min(1.0, abs(value) / top), 2) if is_number(value) else None, text, small, outcome)
        for label, value, text, small, outcome in rows
    ]
    return Bars(caption, head, value_name, drawn)

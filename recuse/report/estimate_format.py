"""A measured number in words, according to its unit and metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recuse.report import numbers
from recuse.report.gated_number import Number
from recuse.report.numbers import MINUS, decimals_for, fixed, interval, is_number
from recuse.schema.results import LimitRow

_SHARES = {"share", "fraction", "proportion", "rate"}
_PERCENT = {"percent", "%", "pct"}
_COUNTS = {"cells", "repeats", "items", "pairs", "categories", "calls", "count", "judges", "replies"}


def is_signed(number: Number) -> bool:
    """Whether a plus sign tells something: a bias, or a gate with room on both sides of zero."""
    within = number.limit.get("within")
    return number.measure.signed or bool(within and within[0] < 0)


def value(number: Number, decimals: int | None = None, minus: str = MINUS) -> str:
    """ "+0.77", "93 %", "3"; "undefined" where there is no number."""
    if not is_number(number.value):
        return "undefined"
    return in_unit(
        number.value, str(number.estimate.get("unit") or ""), decimals, signed=is_signed(number), minus=minus
    )


def in_unit(amount: Any, unit: str, decimals: int | None = None, *, signed: bool = False, minus: str = MINUS) -> str:
    """A number with its unit: "26.5 %", "+0.77 points"."""
    if unit in _SHARES:
        return f"{fixed(100 * amount, 0 if _whole(100 * amount) else 1, signed=signed, minus=minus)} %"
    if unit in _PERCENT:
        return f"{fixed(amount, 1, signed=signed, minus=minus)} %"
    if unit in _COUNTS and _whole(amount):
        return fixed(amount, 0, signed=signed, minus=minus)
    places = decimals_for([amount]) if decimals is None else decimals
    return fixed(amount, places, signed=signed, minus=minus)


def limit(number: Number) -> str:
    """The limit of its gate in a few characters, in the unit the number is told in: "±0.5", "≥ 95 %"; "" without."""
    unit = str(number.estimate.get("unit") or "")
    if unit not in _SHARES:
        return numbers.limit(number.limit)
    text = numbers.limit(_in_percent(number.limit))
    return f"{text} %" if text else ""


def limits(gated: Iterable[Number]) -> str:
    """The limit of all these verdicts; "limits differ" where it is not the same."""
    distinct = {limit(n) for n in gated}
    return distinct.pop() if len(distinct) == 1 else "limits differ"


def _in_percent(limit: LimitRow) -> LimitRow:
    told: LimitRow = {}
    if (within := limit.get("within")) is not None:
        told["within"] = [_percent(end) for end in within]
    if (least := limit.get("at_least")) is not None:
        told["at_least"] = _percent(least)
    if (most := limit.get("at_most")) is not None:
        told["at_most"] = _percent(most)
    return told


def _percent(bound: float) -> float:
    return float(f"{100 * bound:.10g}")


def why_undefined(number: Number) -> str:
    """What the measure says of a number it could not give, "undefined: no reply"; "" where it gave one."""
    return "" if is_number(number.value) else str(number.estimate.get("note") or "undefined")


def spread(number: Number, minus: str = MINUS, *, signed: bool | None = None) -> str:
    """Its interval, "+0.64 to +0.90"; "" where none is known."""
    unit = str(number.estimate.get("unit") or "")
    plus = is_signed(number) if signed is None else signed
    if unit in _COUNTS:
        return interval(number.low, number.high, 0, signed=plus, minus=minus)
    if unit in _SHARES and is_number(number.low) and is_number(number.high):
        return " to ".join(in_unit(end, unit, signed=plus, minus=minus) for end in (number.low, number.high))
    return interval(number.low, number.high, 1 if unit in _PERCENT else 2, signed=plus, minus=minus)


def _whole(amount: Any) -> bool:
    return bool(is_number(amount) and abs(amount - round(amount)) < 1e-9)

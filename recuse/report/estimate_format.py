"""A measured number in words, according to its unit and metric (`recuse.schema.number_text` writes it)."""

from __future__ import annotations

from collections.abc import Iterable

from recuse.report.gated_number import Number
from recuse.schema import number_text
from recuse.schema.number_text import MINUS, in_unit, is_number

__all__ = ["in_unit", "is_signed", "limit", "limits", "spread", "value", "why_undefined", "with_interval"]


def is_signed(number: Number) -> bool:
    """Whether a plus sign tells something: a bias, or a gate with room on both sides of zero."""
    within = number.limit.get("within")
    return number.measure.signed or bool(within and within[0] < 0)


def value(number: Number, decimals: int | None = None, minus: str = MINUS) -> str:
    """ "+0.77", "93 %", "3"; "undefined" where there is no number."""
    return number_text.value_text(number.estimate, decimals, signed=is_signed(number), minus=minus)


def spread(number: Number, minus: str = MINUS, *, signed: bool | None = None) -> str:
    """Its interval, "+0.64 to +0.90"; "" where none is known."""
    plus = is_signed(number) if signed is None else signed
    return number_text.interval_text(number.estimate, signed=plus, minus=minus)


def with_interval(number: Number, minus: str = MINUS) -> str:
    """Both: "+0.77 (+0.64 to +0.90)"."""
    return number_text.with_interval(number.estimate, signed=is_signed(number), minus=minus)


def limit(number: Number) -> str:
    """The limit of its gate in a few characters, in the unit of the number: "±0.5", "≥ 95 %"; "" without."""
    return number_text.limit_in_unit(number.limit, str(number.estimate.get("unit") or ""))


def limits(gated: Iterable[Number]) -> str:
    """The limit of all these verdicts; "limits differ" where it is not the same."""
    distinct = {limit(n) for n in gated}
    return distinct.pop() if len(distinct) == 1 else "limits differ"


def why_undefined(number: Number) -> str:
    """What the measure says of a number it could not give, "undefined: no reply"; "" where it gave one."""
    return "" if is_number(number.value) else str(number.estimate.get("note") or "undefined")

"""How numbers are written for people. Rounds half away from zero on the printed digits, so a tie at ten significant
digits (-0.335) is written the same on every machine; nothing is computed here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeGuard

from recuse.schema.results import LimitRow

MISSING = "–"
MINUS = "−"
MOST_LISTED = 3
"""Names told one by one in a sentence."""
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a finite number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def fixed(value: Any, decimals: int = 2, *, signed: bool = False, minus: str = MINUS) -> str:
    """`value` with so many decimals; a dash if it is not a number; never "-0.00"."""
    if not is_number(value):
        return MISSING
    exact = Decimal(f"{value:.10g}").quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    if exact == 0:
        return f"{abs(exact):f}"
    sign = minus if exact < 0 else "+" if signed else ""
    return f"{sign}{abs(exact):f}"


def decimals_for(values: Iterable[Any], most: int = 3) -> int:
    """2, or 3 where two decimals would have to break a tie (-0.335): a figure shows ties instead of rounding them."""
    ties = (Decimal(f"{v:.10g}") * 1000 for v in values if is_number(v))
    return most if any(t == t.to_integral_value() and t % 10 in (5, -5) for t in ties) else 2


def interval(low: Any, high: Any, decimals: int = 2, *, signed: bool = False, minus: str = MINUS) -> str:
    """ "0.64 to 0.90"; empty if neither end is known, "below"/"above" if only one is."""
    if not is_number(low) and not is_number(high):
        return ""
    if not is_number(low):
        return f"below {fixed(high, decimals, signed=signed, minus=minus)}"
    if not is_number(high):
        return f"above {fixed(low, decimals, signed=signed, minus=minus)}"
    ends = (fixed(end, decimals, signed=signed, minus=minus) for end in (low, high))
    return " to ".join(ends)


def limit(limit: LimitRow, *, minus: str = MINUS) -> str:
    """A gate's limit in a few characters: "±0.50", "−0.50 to +0.90", "≥ 0.50", "≤ 0.65"."""
    parts = []
    if bounds := limit.get("within"):
        low, high = bounds
        parts.append(f"±{short(high)}" if low == -high else f"{short(low, minus)} to {short(high, minus)}")
    if "at_least" in limit:
        parts.append(f"≥ {short(limit['at_least'], minus)}")
    if "at_most" in limit:
        parts.append(f"≤ {short(limit['at_most'], minus)}")
    return ", ".join(parts)


def short(value: Any, minus: str = MINUS) -> str:
    """A limit as written in the gate file: as few digits as it has."""
    return f"{value:.10g}".replace("-", minus) if is_number(value) else MISSING


def count(value: Any) -> str:
    """A count with thousands separated: "105,600"."""
    return f"{value:,}" if is_number(value) else MISSING


def in_words(n: int, *, capital: bool = False) -> str:
    """Small counts as words, "three"; larger ones as digits, "17"."""
    word = _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"
    return word[:1].upper() + word[1:] if capital else word


def listed(names: list[str], most: int = MOST_LISTED) -> str:
    """ "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    shown = names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

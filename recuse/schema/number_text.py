"""How numbers, intervals and limits are written for people: the one place that every output takes them from. Fixed
decimals round half away from zero on the printed digits, so a tie at ten significant digits (-0.335) is written the
same on every machine; nothing is computed here."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeGuard

from recuse.schema.verdict_rows import EstimateRow, LimitRow

MISSING = "–"
MINUS = "−"
MOST_LISTED, MOST_ROWS = 3, 40
"""Names listed one by one in a sentence; rows of a table in a notebook."""
DUST = 1e-9
"""A value nearer to a bound than this is shown as the bound: 1.05e-40 % is nobody's finding."""
UNDEFINED, NO_INTERVAL = "undefined: ", "no interval: "
"""How the note of an estimate begins that says why it has no value, and where it begins to say why no interval."""
SHARES = {"share", "fraction", "proportion", "rate"}
_PERCENT = {"percent", "%", "pct"}
_COUNTS = {"cells", "repeats", "items", "pairs", "categories", "calls", "count", "judges", "replies"}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def is_number(value: object) -> TypeGuard[float]:
    """Whether the value is a finite number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def fixed(value: Any, decimals: int = 2, *, signed: bool = False, minus: str = MINUS) -> str:
    """`value` with so many decimals; a dash if it is not a number; never "-0.00"."""
    if not is_number(value):
        return MISSING
    exact = Decimal(f"{value:.10g}").quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    sign = minus if exact < 0 else "+" if signed and exact else ""
    return f"{sign}{abs(exact):f}"


def decimals_for(values: Iterable[Any], most: int = 3) -> int:
    """2, or 3 where two decimals would have to break a tie (-0.335): a figure shows ties instead of rounding them."""
    ties = (Decimal(f"{v:.10g}") * 1000 for v in values if is_number(v))
    return most if any(t == t.to_integral_value() and t % 10 in (5, -5) for t in ties) else 2


def interval(low: Any, high: Any, decimals: int = 2, *, signed: bool = False, minus: str = MINUS) -> str:
    """ "0.64 to 0.90"; "0.931 to 0.933" where it takes a third decimal to tell the ends apart, and "±0.000" where that
    is not enough; empty if neither end is known, "below"/"above" if only one is."""
    below, above = (fixed(end, decimals, signed=signed, minus=minus) for end in (high, low))
    if MISSING in (below, above):
        return f"above {above}" if above != MISSING else f"below {below}" if below != MISSING else ""
    for places in (decimals, decimals + 1):
        ends = [fixed(end, places, signed=signed, minus=minus) for end in (low, high)]
        if ends[0] != ends[1]:
            return " to ".join(ends)
    return f"±{fixed(0, decimals + 1)}"


def limit(limit: LimitRow, *, times: float = 1) -> str:
    """A gate's limit in a few characters: "±0.50", "−0.50 to +0.90", "≥ 0.50", "≤ 0.65", `times` as large."""
    parts = []
    if bounds := limit.get("within"):
        low, high = (times * bound for bound in bounds)
        parts.append(f"±{short(high)}" if low == -high else f"{short(low)} to {short(high)}")
    if (least := limit.get("at_least")) is not None:
        parts.append(f"≥ {short(times * least)}")
    if (most := limit.get("at_most")) is not None:
        parts.append(f"≤ {short(times * most)}")
    return ", ".join(parts)


def short(value: Any) -> str:
    """A limit as written in the gate file: as few digits as it has."""
    return f"{value:.10g}".replace("-", MINUS) if is_number(value) else MISSING


def count(value: Any) -> str:
    """A count with thousands separated: "105,600"."""
    return f"{value:,}" if is_number(value) else MISSING


def in_words(n: int, *, capital: bool = False) -> str:
    """Small counts as words, "three"; larger ones as digits, "17"."""
    word = _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"
    return word[:1].upper() + word[1:] if capital else word


def out_of(part: int, whole: int) -> str:
    """ "Two of three", "None of three"."""
    return f"{in_words(part, capital=True) if part else 'None'} of {in_words(whole)}"


def counted(n: int, noun: str) -> str:
    """ "1 judge", "3 judges"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def in_number(units: str, count: object) -> str:
    """ "items", "replies"; where there is 1, "item", "reply"."""
    if str(count) != "1":
        return units
    return f"{units.removesuffix('ies')}y" if units.endswith("ies") else units.removesuffix("s")


def of_units(n: int, units: str) -> str:
    """The same of a word in the plural: "1 story", "3 stories"."""
    return f"{n:,} {in_number(units, n)}"


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """ "a", "a and b", "a, b and c", "a, b, c and 4 more"."""
    shown = list(names) if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def fitting(lines: Sequence[str], most: int, more: str) -> list[str]:
    """The lines, or the first of them and how many there are more; at most `most` in all."""
    return list(lines) if len(lines) <= most else [*lines[: most - 1], f"  and {len(lines) - most + 1} {more}"]


def more(names: Sequence[str], shown: int) -> str:
    """What follows a list that shows the first names only."""
    return f" and {len(names) - shown} more" if len(names) > shown else ""


def in_unit(amount: Any, unit: str, decimals: int | None = None, *, signed: bool = False, minus: str = MINUS) -> str:
    """A number with its unit: "26.5 %", "+0.77"."""
    if unit in SHARES:
        return f"{fixed(100 * amount, 0 if _whole(100 * amount) else 1, signed=signed, minus=minus)} %"
    if unit in _PERCENT:
        return f"{fixed(amount, 1, signed=signed, minus=minus)} %"
    if unit in _COUNTS and _whole(amount):
        return fixed(amount, 0, signed=signed, minus=minus)
    places = decimals_for([amount]) if decimals is None else decimals
    return fixed(amount, places, signed=signed, minus=minus)


def value_text(estimate: EstimateRow, decimals: int | None = None, *, signed: bool = False, minus: str = MINUS) -> str:
    """ "+0.77", "93 %", "3"; "undefined" where there is no number."""
    value = estimate.get("value")
    unit = str(estimate.get("unit") or "")
    return in_unit(value, unit, decimals, signed=signed, minus=minus) if is_number(value) else "undefined"


def interval_text(estimate: EstimateRow, *, signed: bool = False, minus: str = MINUS) -> str:
    """ "+0.64 to +0.90"; "" where none is known."""
    low, high, unit = estimate.get("low"), estimate.get("high"), str(estimate.get("unit") or "")
    if unit in _COUNTS:
        return interval(low, high, 0, signed=signed, minus=minus)
    if unit in SHARES and is_number(low) and is_number(high):
        ends = [in_unit(end, unit, signed=signed, minus=minus) for end in (low, high)]
        return " to ".join(ends) if ends[0] != ends[1] else f"{interval(100 * low, 100 * high, 1, minus=minus)} %"
    return interval(low, high, 1 if unit in _PERCENT else 2, signed=signed, minus=minus)


def with_interval(estimate: EstimateRow, *, signed: bool = False, minus: str = MINUS) -> str:
    """ "+0.77 (+0.64 to +0.90)", with the interval's level where that is not 95 %; the value alone without one."""
    value, inside = (text(estimate, signed=signed, minus=minus) for text in (value_text, interval_text))
    return f"{value} ({inside}{level_text(estimate)})" if inside else value


def level_text(estimate: EstimateRow) -> str:
    """ ", 98.4 % interval"; "" of 95 %, as most are."""
    return "" if abs((estimate.get("level") or 0.95) - 0.95) < 1e-9 else f", {percent(estimate['level'])} interval"


def why_missing(note: str) -> str:
    """Why an estimate has no value, or no interval, by its note: "no text was rated by both"."""
    return note.split(NO_INTERVAL)[-1].removeprefix(UNDEFINED)


def _whole(amount: Any) -> bool:
    return bool(is_number(amount) and abs(amount - round(amount)) < 1e-9)


def percent(share: float) -> str:
    """ "95 %", "99.97 %", "0.13 %": two decimals, and more where it takes them to differ from 0 or 100 %."""
    for decimals in range(2, 12):
        text = f"{100 * share:.{decimals}f}"
        if float(text) not in (0.0, 100.0) or share in (0.0, 1.0):
            break
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def rate(share: float) -> str:
    """ "95 %": whole per cents; "over 99 %" and "under 1 %" where rounding would say all or none of what is neither."""
    text = f"{100 * share:.0f} %"
    if text == "100 %" and share < 1:
        return "over 99 %"
    return "under 1 %" if text == "0 %" and share > 0 else text


def brief(value: float, *, signed: bool = False) -> str:
    """Two significant digits, as a sentence wants them: "0.83", "-1.5", "120"."""
    sign, text = "+" if signed else "", f"{value:.2g}"
    return f"{float(text):{sign}.0f}" if "e+" in text else f"{value:{sign}.2g}"


def figure(value: float, *, signed: bool = False, apart_from: tuple[float, ...] = ()) -> str:
    """The number for people: three significant digits, no more than three decimals, and more of both where rounding
    would carry it onto or across one of `apart_from` that is farther off than floating point's own errors.

    >>> figure(0.03938), figure(1.05e-40), figure(-0.5004, apart_from=(-0.5,))
    ('0.039', '0', '-0.5004')
    """
    if math.isnan(value):
        return "undefined"
    value = float(value) + 0.0  # no "-0"
    bounds = [b for b in apart_from if math.isfinite(b) and abs(value - b) > DUST]
    whole = len(str(int(abs(value)))) if math.isfinite(value) else 1
    text = ""
    for digits in range(max(3, whole), 18):
        rounded = round(value, digits) + 0.0 if math.isfinite(value) else value
        text = f"{rounded:{'+' if signed else ''}.{digits}g}"
        if all((float(text) > b) == (value > b) and (float(text) < b) == (value < b) for b in bounds):
            break
    return text


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table of at most `MOST_ROWS` rows; of more, the caption says how many are left out."""
    cells = [[_cell_text(cell) for cell in row] for row in rows]
    left = f"; the first {MOST_ROWS} of {len(cells)}" if len(cells) > MOST_ROWS else ""
    columns = "".join(f"<th>{_cell_text(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells[:MOST_ROWS])
    title = f"<caption>{_cell_text(caption)}{left}</caption>"
    return f"<table>{title}<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


def _cell_text(cell: Any) -> str:
    """A cell as text: escaped, and what no reader would see (controls, direction marks) spelled out."""
    text = _four_digits(cell) if isinstance(cell, float) else str(cell)
    return html.escape("".join(c if c.isprintable() else f"⟦U+{ord(c):04X}⟧" for c in text))


def _four_digits(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "undefined"


def span(low: float, high: float) -> str:
    """ "0.1 to 0.3"; empty where neither end is known."""
    return "" if math.isnan(low) and math.isnan(high) else f"{_four_digits(low)} to {_four_digits(high)}"


def subject(names: Mapping[str, str]) -> str:
    """Whom a number is about: "judge gpt, names shown"."""
    return ", ".join(f"{name} {value}" for name, value in names.items())

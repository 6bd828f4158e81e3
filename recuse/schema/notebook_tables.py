"""Small tables for a notebook: what `_repr_html_` of estimates, verdicts and ratings gives. All text is escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MOST_ROWS = 40


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table of at most `MOST_ROWS` rows; of more, the caption says how many are left out."""
    cells = [[shown(cell) for cell in row] for row in rows]
    left = f"; the first {MOST_ROWS} of {len(cells)}" if len(cells) > MOST_ROWS else ""
    columns = "".join(f"<th>{shown(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells[:MOST_ROWS])
    title = f"<caption>{shown(caption)}{left}</caption>"
    return f"<table>{title}<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


def shown(cell: Any) -> str:
    """A cell as text: escaped, and what no reader would see (controls, direction marks) spelled out."""
    text = figure(cell) if isinstance(cell, float) else str(cell)
    return html.escape("".join(c if c.isprintable() else f"⟦U+{ord(c):04X}⟧" for c in text))


def figure(value: float) -> str:
    """Four significant digits; "undefined" for NaN."""
    return f"{value:.4g}" if math.isfinite(value) else "undefined"


def span(low: float, high: float) -> str:
    """ "0.1 to 0.3"; empty where neither end is known."""
    return "" if math.isnan(low) and math.isnan(high) else f"{figure(low)} to {figure(high)}"


def subject(names: Mapping[str, str]) -> str:
    """Whom a number is about: "judge gpt, names shown"."""
    return ", ".join(f"{name} {value}" for name, value in names.items())

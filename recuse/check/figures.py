"""Numbers as `recuse check` prints them."""

from __future__ import annotations

from recuse.schema.results import EstimateRow

__all__ = ["cell", "interval", "more", "number", "signed"]


def cell(estimate: EstimateRow | None) -> str:
    """Value with its interval; "" where nothing was estimated."""
    if estimate is None:
        return ""
    if estimate["value"] is None:
        return "undefined"
    between = interval(estimate)
    return number(estimate["value"]) + (f" ({between})" if between else "")


def interval(estimate: EstimateRow) -> str:
    """ "0.12 to 0.34", "" where it has none."""
    low, high = estimate["low"], estimate["high"]
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"


def number(value: float | None) -> str:
    """With two places, and no minus before a nought."""
    return "undefined" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def signed(value: float) -> str:
    """With two places and its sign."""
    return f"{value:+.2f}"


def more(names: tuple[str, ...], shown: int) -> str:
    """What follows a list that shows the first names only."""
    return f" and {len(names) - shown} more" if len(names) > shown else ""

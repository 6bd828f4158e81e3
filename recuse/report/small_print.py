"""The small print below a panel: n, over what, by which method, what was left out. One line per metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recuse.report.numbers import count, is_number
from recuse.report.view import Group, Number
from recuse.report.vocabulary import metric_name

_OVER = {
    "runs": "runs, on these texts only",
    "items": "items",
    "clusters": "clusters of items",
    "calls": "calls",
}


def small_print(group: Group) -> list[str]:
    metrics = dict.fromkeys(n.metric for n in group.numbers)
    return [_line(metric, [n for n in group.numbers if n.metric == metric]) for metric in metrics]


def _line(metric: str, numbers: list[Number]) -> str:
    name = metric_name(metric).name
    parts = [
        f"{name[:1].upper()}{name[1:]}: n = {_span(n.estimate.get('n') for n in numbers)} {_over(numbers)}",
        "; ".join(_distinct(n.estimate.get("method") for n in numbers)),
        levels(numbers),
        _seed(numbers),
        _excluded(numbers),
    ]
    return ", ".join(part for part in parts if part) + "."


def levels(numbers: Iterable[Number]) -> str:
    """ "95 % interval", "95 to 99.5 % intervals" where a correction widened some; "" without intervals."""
    known = sorted(
        {100 * n.estimate["level"] for n in numbers if is_number(n.low) and is_number(n.estimate.get("level"))}
    )
    if not known:
        return ""
    return (
        f"{known[0]:.4g} % interval"
        if len(known) == 1
        else f"{known[0]:.4g} to {known[-1]:.4g} % intervals (corrected)"
    )


def _span(values: Iterable[Any]) -> str:
    known = sorted({v for v in values if is_number(v)})
    if not known:
        return "unknown"
    return count(known[0]) if len(known) == 1 else f"{count(known[0])} to {count(known[-1])}"


def _over(numbers: list[Number]) -> str:
    return " and ".join(_OVER.get(over, over) for over in _distinct(n.estimate.get("over") for n in numbers))


def _seed(numbers: list[Number]) -> str:
    seeds = _distinct(n.estimate.get("seed") for n in numbers)
    return f"seed {', '.join(seeds)}" if seeds else ""


def _excluded(numbers: list[Number]) -> str:
    left_out = _span(n.estimate.get("n_excluded") or 0 for n in numbers)
    return "" if left_out == "0" else f"{left_out} left out as unusable, nothing imputed"


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(v) for v in values if v not in (None, "")))

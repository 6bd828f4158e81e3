"""Footnotes below a drawing: n, over what, by which method, what was left out. One line per metric."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import count, is_number


def footnotes(group: Group, above: Collection[str] = ()) -> list[str]:
    """Its lines, without those that already stand `above`, for the question's earlier panels."""
    by_method: dict[str, list[str]] = {}
    for metric in dict.fromkeys(n.metric for n in group.numbers):
        numbers = [n for n in group.numbers if n.metric == metric]
        by_method.setdefault(_how(numbers), []).append(_what(metric, numbers))
    lines = [f"{_capital('; '.join(what))}{f': {how}' if how else ''}." for how, what in by_method.items()]
    new = [line for line in lines if line not in above]
    return [*new, "The rest as above."] if len(new) < len(lines) else new


def _what(metric: str, numbers: list[Number]) -> str:
    """ "self-bias (n = 50 repeats, 95 to 99 % intervals, corrected)"."""
    left_out = _span(n.estimate.get("n_excluded") or 0 for n in numbers)
    excluded = "" if left_out == "0" else f"{left_out} left out as unusable, nothing imputed"
    said = (_count(numbers), levels(numbers), excluded)
    title = numbers[0].measure.title if numbers else metric
    return f"{title} ({', '.join(part for part in said if part)})"


def _count(numbers: list[Number]) -> str:
    """ "n = 50 repeats", "n = 60 in 15 stories"."""
    phrases = []
    for over in _distinct(m.estimate.get("over") for m in numbers):
        mine = [m for m in numbers if m.estimate.get("over") == over]
        n = _span(m.estimate.get("n") for m in mine)
        if over == "clusters":
            what = " and ".join(_distinct(m.estimate.get("clusters") for m in mine)) or over
            phrases.append(f"n = {n} in {_span(m.estimate.get('n_clusters') for m in mine)} {what}")
        else:
            phrases.append(f"n = {n} {over}")
    return " and ".join(phrases)


def _how(numbers: list[Number]) -> str:
    """The method, its seed, and what the measure adds to all these numbers."""
    methods = "; ".join(_distinct(n.estimate.get("method") for n in numbers))
    notes = _distinct(n.estimate.get("note") for n in numbers if is_number(n.value))
    return ", ".join(part for part in (methods, _seed(numbers), *(notes if len(notes) == 1 else ())) if part)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def levels(numbers: Iterable[Number]) -> str:
    """ "95 % interval", "95 to 99.5 % intervals, corrected" where a correction widened some; "" without intervals."""
    known = sorted(
        {100 * n.estimate["level"] for n in numbers if is_number(n.low) and is_number(n.estimate.get("level"))}
    )
    if not known:
        return ""
    return (
        f"{known[0]:.4g} % interval" if len(known) == 1 else f"{known[0]:.4g} to {known[-1]:.4g} % intervals, corrected"
    )


def _span(values: Iterable[Any]) -> str:
    known = sorted({v for v in values if is_number(v)})
    if not known:
        return "unknown"
    return count(known[0]) if len(known) == 1 else f"{count(known[0])} to {count(known[-1])}"


def _seed(numbers: list[Number]) -> str:
    seeds = _distinct(n.estimate.get("seed") for n in numbers)
    return f"seed {', '.join(seeds)}" if seeds else ""


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(v) for v in values if v not in (None, "")))

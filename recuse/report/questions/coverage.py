"""Does a judge answer in a form that can be used? One bar per judge, and what became of the rest."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Bars, bars
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.numbers import count, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import RepliesDetail

ORDER = 60


def draw(group: Group) -> dict[str, object]:
    rates = [n for n in group.of("parse_rate") if is_number(n.value)]
    full = sum(n.value == 1 for n in rates)
    reading = (
        f"{in_words(full, capital=True)} of {in_words(len(rates))} gave a usable answer every time." if rates else ""
    )
    return {"reading": reading, "coverage": usable_replies(group)}


def usable_replies(group: Group) -> Bars | None:
    """Bars of the shares of replies by status, one per judge; None where nothing was counted."""
    rows = [
        (
            group.label(n.who),
            n.value,
            estimate_format.value(n),
            "; ".join(p for p in (estimate_format.spread(n), _lost(n)) if p),
            n.state,
        )
        for n in group.of("parse_rate")
    ]
    return bars(rows, caption="Replies that could be used as they stand", value_name="usable replies", full=1.0)


def _lost(number: Number) -> str:
    """ "81 unparsed, 4 refused"; nothing is imputed for them."""
    by_status = number.detail_as(RepliesDetail).get("by_status") or {}
    return ", ".join(f"{count(n)} {plain_name(status)}" for status, n in by_status.items() if status != "ok" and n)

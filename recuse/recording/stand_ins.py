"""Stand-ins answer in place of judges: one router for all plans of a panel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recuse.panels import Panel
from recuse.plan import Plan
from recuse.standins import StandInError, open_source
from recuse.standins.request_router import Desk
from recuse.standins.server import Answer, Asked


def answer_for(panel: Panel, root: Path, plans: Sequence[Plan]) -> Answer:
    """What answers the calls of these plans. The cell that a request names says which plan it belongs to: two protocols
    may ask word for word the same, and are then answered apart."""
    source = open_source(panel, root)
    desks = {
        f"{panel.name}/{plan.task.name}/{plan.protocol}": Desk(
            plan.calls,
            plan.judges,
            source,
            {place: item.fields for place, item in plan.items.items()},
            panel.provenance,
        )
        for plan in plans
    }

    def answer(asked: Asked) -> tuple[int, dict[str, str], bytes]:
        place = (asked.cell or "").rpartition("/")[0]
        if place not in desks:
            raise StandInError(f"{asked.url}: cell {asked.cell!r} is in none of the plans {', '.join(desks)}")
        status, headers, body = desks[place](asked)
        return status, dict(headers), body

    return answer

"""Stand-ins answer in place of judges: one router for all plans of a panel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recuse.elicitation.chains import Chain
from recuse.panels import Panel
from recuse.standins import StandInError, open_source
from recuse.standins.request_router import RequestRouter
from recuse.standins.server import Answer, ReceivedRequest


def answer_for(panel: Panel, root: Path, chains: Sequence[Chain]) -> Answer:
    """What answers the calls of these chains that are known by now. The cell that a request names says which chain it
    belongs to: two protocols may ask word for word the same, and are then answered apart."""
    source = open_source(panel, root)
    by_place: dict[str, list[Chain]] = {}  # judges in use and each candidate have a chain of their own
    for chain in chains:
        by_place.setdefault(f"{panel.name}/{chain.plan.task.name}/{chain.plan.protocol}", []).append(chain)
    routers = {
        place: RequestRouter(
            [call for chain in together for call in chain.calls],
            {name: judge for chain in together for name, judge in chain.judges.items()},
            source,
            {(c.judge, c.item, c.target): chain.item(c).fields for chain in together for c in chain.calls},
            panel.provenance,
        )
        for place, together in by_place.items()
    }

    def answer(request: ReceivedRequest) -> tuple[int, dict[str, str], bytes]:
        place = (request.cell or "").rpartition("/")[0]
        if place not in routers:
            raise StandInError(f"{request.url}: cell {request.cell!r} is in none of the plans {', '.join(routers)}")
        status, headers, body = routers[place](request)
        return status, dict(headers), body

    return answer

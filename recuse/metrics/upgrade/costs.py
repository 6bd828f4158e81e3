"""What an upgrade costs and how long it takes, per call, against the judge in use."""

from __future__ import annotations

import math
from collections.abc import Iterator

from recuse.metrics.estimates import undefined
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.pairing import Upgrade
from recuse.schema import Estimate, number

__all__ = ["costs"]

METHOD = "ratio of means per call as recorded, less 1"

describe(
    "upgrade_cost", "cost per call", unit="share", signed=True, rank=50, bad="above", ends=(-1, math.inf),
    above="costs more|cost more",
    reading="Dollars per call by the panel's prices, or tokens per call where no price is known, the candidate's "
    "over the incumbent's, less 1.",
)  # fmt: skip
describe(
    "upgrade_latency", "time per call", unit="share", signed=True, rank=52, bad="above", ends=(-1, math.inf),
    above="takes longer|take longer",
    reading="Seconds per call as recorded, the candidate's over the incumbent's, less 1.",
)  # fmt: skip

ASKED = {"upgrade_cost": ("dollars", "tokens"), "upgrade_latency": ("seconds",)}
UNKNOWN = {
    "upgrade_cost": "neither tokens nor dollars of both judges were recorded",
    "upgrade_latency": "no recording says how long a call took",
}


def costs(upgrade: Upgrade) -> Iterator[tuple[str, Estimate]]:
    """Cost and time per call: ratio - 1, a plain value of what was recorded, without an interval: nothing is
    sampled."""
    for component, units in ASKED.items():
        yield (
            component,
            next((e for unit in units if (e := _ratio(component, upgrade, unit))), None)
            or undefined(component, UNKNOWN[component], method=METHOD, over="calls"),
        )


def _ratio(component: str, upgrade: Upgrade, unit: str) -> Estimate | None:
    old, new = (calls.get(unit) for calls in upgrade.calls)
    if not old or new is None or not math.isfinite(old + new):
        return None
    detail = {"incumbent": number(old), "candidate": number(new), "unit": f"{unit} per call"}
    counts = [calls.get("calls") or 0 for calls in upgrade.calls]
    return Estimate(
        metric=component,
        value=new / old - 1,
        unit="share",
        over="calls",
        n=int(min(counts)),
        method=METHOD,
        detail=detail,
    )

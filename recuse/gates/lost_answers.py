"""What is said where an estimate would pass, but for the answers that were lost."""

from __future__ import annotations

import math
from typing import Any

from recuse.gates.limits import Limit
from recuse.schema import Estimate

__all__ = ["lost_answers"]


def lost_answers(limit: Limit, estimate: Estimate) -> dict[str, Any]:
    """Kind and finding of the remedy."""
    losses = estimate.detail["losses"]
    sides = ", ".join(f"{name} {lost} of {asked}" for name, (lost, asked) in losses["sides"].items())
    least, greatest = (
        limit.show(edge if bound is None else bound)
        for bound, edge in zip(losses["bounds"], (-math.inf, math.inf), strict=True)
    )
    finding = (
        f"{limit.show(estimate.value)} keeps the limit, but answers were lost ({sides}), and had they said the worst, "
        f"the value would lie between {least} and {greatest}. That the losses on the two sides differ by at most "
        f"{100 * losses['margin']:g} points could not be shown. Record the lost answers again, or ask more."
    )
    return {"kind": "lost answers", "finding": finding}

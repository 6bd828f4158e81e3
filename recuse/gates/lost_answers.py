"""What is said where an estimate would pass, but for the answers that were lost."""

from __future__ import annotations

import math

from recuse.gates.limits import Limit
from recuse.schema import Estimate
from recuse.schema.details import LossesDetail, detail_as

__all__ = ["lost_answers"]


def lost_answers(limit: Limit, estimate: Estimate) -> str:
    """What is found."""
    losses = detail_as(LossesDetail, estimate.detail)["losses"]
    sides = ", ".join(f"{name} {lost} of {asked}" for name, (lost, asked) in losses["sides"].items())
    least, greatest = (
        limit.show(edge if bound is None else bound)
        for bound, edge in zip(losses["bounds"], (-math.inf, math.inf), strict=True)
    )
    return (
        f"{limit.show(estimate.value)} keeps the limit, but answers were lost ({sides}), and had they said the worst, "
        f"the value would lie between {least} and {greatest}. That the losses on the two sides differ by at most "
        f"{100 * losses['margin']:g} points could not be shown. Record the lost answers again, or ask more."
    )

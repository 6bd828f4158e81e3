"""The limit that applies to one estimate: that of its task, in the estimate's own unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recuse.gates.errors import GatesError
from recuse.gates.limits import Limit
from recuse.gates.tables import Gate
from recuse.schema import Estimate

__all__ = ["AppliedLimit", "applied_limit"]


@dataclass(frozen=True, slots=True)
class AppliedLimit:
    """A limit in the unit of one estimate, and why it stands where it does."""

    limit: Limit  # in the estimate's unit
    reason: str
    unit: str = ""
    share: Limit | None = None  # the same limit as shares of the scale's range, where the file tells it so
    span: float | None = None  # that range, in the estimate's unit

    def __str__(self) -> str:
        """ "within [-0.5, +0.5] points, 5 % of the scale's range of 10"."""
        if self.share is None:
            return str(self.limit)
        if self.span is None:
            return f"{self.limit} of the scale's range"
        unit = f" {self.unit}" if self.unit and not self.limit.percent else ""
        return f"{self.limit}{unit}, {_percentage(self.share)} of the scale's range of {self.span:g}"


def applied_limit(name: str, gate: Gate, subject: Mapping[str, str], estimate: Estimate) -> AppliedLimit:
    """The limit of gate `name` for this subject, `of_range` multiplied by the estimate's `span`.

    Raises `GatesError` for a limit of the range and an estimate that does not know the range. One that is undefined is
    not decided by its limit, which then stays in shares.
    """
    stated = gate.stated_for(subject)
    if not stated.of_range:
        return AppliedLimit(stated.bound.of_unit(estimate.unit), stated.reason)
    if estimate.span is None and estimate.defined:
        raise GatesError(
            f"gate {name}: its limit is a share of the scale's range (of_range = true), and {estimate.metric} does not "
            f"say how wide the scale is. Give its Estimate a span, or tell the limit in the unit of {estimate.metric}, "
            "without of_range"
        )
    limit = stated.bound if estimate.span is None else stated.bound.times(estimate.span)
    return AppliedLimit(limit.of_unit(estimate.unit), stated.reason, estimate.unit, stated.bound, estimate.span)


def _percentage(share: Limit) -> str:
    """ "5 %"; "-2 to 5 %" where the bounds are not each other's mirror image."""
    if share.kind == "within" and share.low != -share.high:
        return f"{100 * share.low:.4g} to {100 * share.high:.4g} %"
    return f"{100 * (share.low if share.kind == 'at_least' else share.high):.4g} %"

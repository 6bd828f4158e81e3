"""From two judges to one verdict: what an upgrade changes, measured, and decided by the gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recuse.gates import Gates
from recuse.gates.limits import Limit
from recuse.gates.upgrade import UpgradeVerdict, decide_upgrade, not_comparable
from recuse.metrics.measure import described
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.schema import Verdict

__all__ = ["judge_upgrade", "worst_of"]


def judge_upgrade(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], *, share: float = 1.0) -> UpgradeVerdict:
    """The verdict on one upgrade; `subject` is what it is about (panel, task, protocol), `share` one over the number of
    places at which the candidate is asked."""
    if reasons := upgrade.not_comparable:
        return not_comparable(upgrade.shown, reasons, upgrade.change)
    return decide_upgrade(
        gates, measure_upgrade(upgrade), subject, names=upgrade.shown, phrase=_phrase, change=upgrade.change,
        share=share, blocks=lambda metric: described(metric).blocks,
    )  # fmt: skip


def worst_of(verdicts: Iterable[UpgradeVerdict]) -> UpgradeVerdict:
    """The verdict that counts where a candidate was held against the judge in use at several places."""
    return max(verdicts, key=lambda verdict: SEVERITY.index(verdict.word))


SEVERITY = ("equivalent", "better", "undecided", "not comparable", "worse")
"""Of several verdicts the last of these counts: better at one place and equivalent at another is better."""


def _phrase(verdict: Verdict) -> str:
    """What a judge does that misses this limit, from the description of the measure."""
    about, limit = described(verdict.estimate.metric), Limit.of(verdict.limit)
    words = about.above if verdict.estimate.value > limit.high else about.below
    return (words or about.below or about.above).split("|")[0]

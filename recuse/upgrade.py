"""From two judges to one verdict: what an upgrade changes, measured, and decided by the gates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from recuse.gates import Gates
from recuse.gates.limits import Limit
from recuse.gates.upgrade import UpgradeVerdict, decide_upgrade, not_comparable, without_answers
from recuse.metrics.measure import described
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.metrics.upgrade.common_texts import Overlap, missing_as_unanswered, on_common_texts, overlap
from recuse.schema import Verdict

__all__ = ["judge_upgrade", "worst_of"]


def judge_upgrade(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], *, share: float = 1.0) -> UpgradeVerdict:
    """The verdict on one upgrade; `subject` is what it is about (panel, task, protocol), `share` one over the number of
    places at which the candidate is asked.

    Where the judges do not have all texts in common: the candidate may replace the incumbent only if it may with every
    text of the incumbent that it lacks counted as unanswered; it is worse only if it is on the texts of both."""
    if reasons := upgrade.not_comparable:
        return not_comparable(upgrade.shown, reasons, upgrade.change)
    shared = overlap(upgrade)
    if not shared.missing and not shared.added:
        return _decided(gates, upgrade, subject, share)
    verdict = _decided(gates, missing_as_unanswered(upgrade), subject, share)
    if shared.missing and verdict.outcome != "pass":
        verdict = without_answers(_decided(gates, on_common_texts(upgrade), subject, share), len(shared.missing))
    return replace(verdict, reasons=(*verdict.reasons, *_told(shared, verdict)))


def _told(shared: Overlap, verdict: UpgradeVerdict) -> Iterator[str]:
    """What became of the texts of one judge alone."""
    old, new = verdict.incumbent, verdict.candidate
    if shared.missing:
        became = {
            "fail": f"left out; {new} is worse on the {len(shared.common)} texts of both",
            "pass": "counted as unanswered, which is no more than you allow",
        }.get(verdict.outcome, f"more than you allow if they count as unanswered. Ask {new} of them; if it was never "
              f"meant to answer them, take them out of the rows of {old}")  # fmt: skip
        texts = len(shared.common) + len(shared.missing)
        first = min(shared.missing)[0]
        yield f"{new} has no answer to {len(shared.missing)} of {texts} texts of {old}, first {first}: {became}"
    if shared.added:
        texts = len(shared.common) + len(shared.added)
        yield f"{len(shared.added)} of {texts} texts of {new} are left out: {old} has no answers to compare them with"


def _decided(gates: Gates, upgrade: Upgrade, subject: Mapping[str, str], share: float) -> UpgradeVerdict:
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

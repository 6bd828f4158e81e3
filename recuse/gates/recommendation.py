"""Which judges are cleared, and because of which verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

__all__ = ["recommendations"]

Recommended = Literal["cleared", "not cleared", "undecided"]
Record = Mapping[str, Any]


def recommendations(verdicts: Iterable[Record]) -> list[dict[str, Any]]:
    """One record per panel and judge that has a verdict: may this judge be used?

    `verdicts` are records as results.json holds them: gate, subject, outcome, allowed, blocks, accepted_fault. What
    is recommended is the worst that any of its verdicts says, over all tasks of the panel:

    | outcome | the numbers say | the measure blocks | it does not |
    |---|---|---|---|
    | pass | pass | cleared | cleared |
    | undecided, allowed by its gate | undecided | cleared | cleared |
    | undecided | undecided | undecided | undecided |
    | not measured | not measured | undecided | undecided |
    | fail | fail | not cleared | not cleared |
    | accepted | fail | not cleared | cleared |
    | accepted | undecided, not measured | undecided | cleared |
    | fail: accepted fault no longer needed | pass, or undecided and allowed | cleared | cleared |

    An accepted fault is known, not gone: it keeps the run green and bars the judge, unless its measure does not block
    (a total that is not the mean of the scores beside it favours no one). A fault that nobody accepted bars the judge
    whatever the measure. That an accepted fault is no longer needed turns the run red and is no fault of the judge.

    A record holds `panel`, `judge`, `recommended`, and the verdicts, each as {"gate", "subject", "outcome",
    "otherwise"}: `because`, those that speak for this recommendation where it is not "cleared"; `besides`, those that
    alone would leave it undecided where it is "not cleared"; `tolerated`, those that are not a pass and do not count.
    Verdicts without a judge in their subject are about the panel and are left out. Sorted by panel and judge; nothing
    depends on the order of `verdicts`.
    """
    judged: dict[tuple[str, str], list[Record]] = {}
    for verdict in verdicts:
        subject = verdict["subject"]
        if "judge" in subject:
            judged.setdefault((subject.get("panel", ""), subject["judge"]), []).append(verdict)
    return [_recommendation(panel, judge, judged[panel, judge]) for panel, judge in sorted(judged)]


def _recommendation(panel: str, judge: str, verdicts: list[Record]) -> dict[str, Any]:
    saying: dict[Recommended, list[dict[str, Any]]] = {"not cleared": [], "undecided": [], "cleared": []}
    for verdict in sorted(verdicts, key=_place):
        saying[_says(verdict)].append(_reference(verdict))
    recommended: Recommended = next((name for name in ("not cleared", "undecided") if saying[name]), "cleared")
    return {
        "panel": panel,
        "judge": judge,
        "recommended": recommended,
        "because": saying[recommended] if recommended != "cleared" else [],
        "besides": saying["undecided"] if recommended == "not cleared" else [],
        "tolerated": [reference for reference in saying["cleared"] if reference["outcome"] != "pass"],
    }


def _says(verdict: Record) -> Recommended:
    """What one verdict alone would recommend: a row of the table above."""
    outcome, otherwise = verdict["outcome"], _otherwise(verdict)
    if otherwise == "pass" or (otherwise == "undecided" and verdict["allowed"]):
        return "cleared"
    if outcome == "accepted" and not verdict["blocks"]:
        return "cleared"
    if _unneeded(verdict):  # the gate allows what the accepted fault was for
        return "cleared"
    return "not cleared" if otherwise == "fail" else "undecided"


def _otherwise(verdict: Record) -> str:
    """What the numbers say, without any accepted fault."""
    return str((verdict.get("accepted_fault") or {}).get("otherwise") or verdict["outcome"])


def _unneeded(verdict: Record) -> bool:
    return (verdict.get("accepted_fault") or {}).get("state") == "no longer needed"


def _reference(verdict: Record) -> dict[str, Any]:
    return {
        "gate": verdict["gate"],
        "subject": dict(verdict["subject"]),
        "outcome": verdict["outcome"],
        "otherwise": _otherwise(verdict),
    }


def _place(verdict: Record) -> tuple[Any, ...]:
    return (verdict["subject"].get("task", ""), verdict["gate"], sorted(verdict["subject"].items()))

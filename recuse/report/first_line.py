"""What every output begins with: the decision in one sentence, and a line per upgrade and per panel.

The decision and who is cleared stand in results.json as `decision` (decided by `recuse.gates.merge`); here they are put
into words, with the number behind the strongest reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.anchors import verdict_anchor
from recuse.report.footnotes import levels
from recuse.report.gated_number import Number
from recuse.report.results_model import ResultsModel
from recuse.report.upgrade_table import UpgradeTable, upgrade_tables
from recuse.report.vocabulary import RECOMMENDATION_MEANINGS

__all__ = ["Line", "Standing", "decision_lines", "headline", "upgrade_lines"]

MOST_NAMES = 7
OUTCOMES = {"cleared": "pass", "not cleared": "fail", "undecided": "undecided"}
UNDECIDED = "Nothing was decided: these results carry no headline."


@dataclass(frozen=True, slots=True)
class Standing:
    """Those of a panel of whom the same is recommended, and the strongest reason with its place in the matrix."""

    state: str  # cleared, not cleared or undecided
    names: list[str]
    reason: str
    anchor: str
    outcome: str  # of the verdict behind the reason

    @property
    def who(self) -> str:
        return numbers.listed(self.names, most=MOST_NAMES)

    @property
    def text(self) -> str:
        """ "not cleared: grok-4, because of ..."."""
        return f"{self.state}: {self.who}{f', {self.because} {self.reason}' if self.reason else ''}"

    @property
    def because(self) -> str:
        """What leads to the reason: of several judges it is one's, the strongest."""
        return "because of" if len(self.names) == 1 else "most of all because of"


@dataclass(frozen=True, slots=True)
class Line:
    """One panel, and whom it clears, does not clear or leaves undecided."""

    panel: str
    standings: list[Standing]

    @property
    def text(self) -> str:
        """ "published: cleared: gpt-5.1; not cleared: grok-4, because of ..."."""
        return f"{self.panel}: {'; '.join(s.text for s in self.standings)}."


def headline(results: Mapping[str, Any]) -> str:
    """The sentence that results carry."""
    return str(results.get("headline") or (results.get("decision") or {}).get("sentence") or UNDECIDED)


def decision_lines(view: ResultsModel, minus: str = numbers.MINUS) -> list[Line]:
    """Of each panel who is cleared, who is not and who is undecided, and why; none where no decision was recorded."""
    by_key = {(n.gate, *sorted(n.subject.items())): n for n in view.numbers if n.verdict}
    return [
        Line(
            panel_decision["panel"],
            [
                _standing(state, panel_decision, by_key, minus)
                for state in RECOMMENDATION_MEANINGS
                if panel_decision[state]
            ],
        )
        for panel_decision in (view.results.get("decision") or {}).get("panels") or ()
    ]


def upgrade_lines(view: ResultsModel, minus: str = numbers.MINUS) -> list[str]:
    """Each upgrade's own sentence with the number that decided it."""
    return [_upgrade(table) for table in upgrade_tables(view, minus=minus)]


def _upgrade(table: UpgradeTable) -> str:
    if not table.rows:
        return f"{table.sentence} ({table.where})"
    row = table.rows[0]
    values = f"{row.incumbent} -> {row.candidate}, " if row.incumbent and row.candidate else ""
    phrase = f"{row.title[:1].upper()}{row.title[1:]}: {values}change {row.change}, allowed {row.allowed}"
    return f"{table.sentence} {phrase} ({table.where})."


def _standing(state: str, standing: Mapping[str, Any], by_key: Mapping[Any, Number], minus: str) -> Standing:
    because = (standing.get("because") or {}).get(state)
    n = by_key.get((because["gate"], *sorted(because["subject"].items()))) if because else None
    if because is None or n is None:
        return Standing(state, list(standing[state]), "", "", OUTCOMES[state])
    who = "" if len(standing[state]) == 1 else f"{because['judge']} "
    reason = f"{n.gate_title}: {who}{_how_far(n, because['margin'], minus)}"
    return Standing(state, list(standing[state]), reason, verdict_anchor(n.gate, n.subject), n.state)


def _how_far(n: Number, margin: Any, minus: str) -> str:
    """ "+0.71 (95 % interval +0.58 to +0.84), limit ±0.5 missed by 0.21; accepted until 2027-12-31"."""
    fault = (n.verdict or {}).get("accepted_fault") or {}
    known = f"; accepted until {fault['until']}" if n.outcome == "accepted" and fault.get("until") else ""
    if not numbers.is_number(n.value):
        why = estimate_format.why_undefined(n).removeprefix("undefined: ")
        return f"could not be measured ({why}){known}"
    spread = estimate_format.spread(n, minus)
    sure = f" ({levels([n])} {spread})" if spread else ""
    return f"{estimate_format.value(n, minus=minus)}{sure}, {_side(n, margin, minus)}{known}"


def _side(n: Number, margin: Any, minus: str) -> str:
    limit = estimate_format.limit(n)
    if not numbers.is_number(margin):
        return f"limit {limit}"
    far = estimate_format.in_unit(abs(margin), str(n.estimate.get("unit") or ""), minus=minus)
    if n.outcome == "fail" or n.state == "accepted fault":
        return f"limit {limit} missed by {far}"
    return f"limit {limit}, {far} {'outside' if margin > 0 else 'inside'}: too little data to tell"

"""Gates: an estimate and a limit give a verdict; known faults are accepted by name, up to a bound and a date.

    gates = Gates.load(Path("evals/gates.toml"), today=date.today())
    verdicts = gates.decide("self_bias", estimates, {"panel": "published", "task": "merchant_risk"})
    assert verdicts, verdicts.explain()

`estimates` holds everything that was measured, by (judge, names) for example; each member gets a verdict of its own.

| what the numbers say | no accepted failure | accepted failure that accepts it | accepted failure that does not |
|---|---|---|---|
| pass | pass | pass | pass |
| undecided, gate allows it | undecided, allowed | undecided, allowed | undecided, allowed |
| fail | fail | accepted | fail, naming both bounds |
| undecided | undecided | accepted | undecided, naming both bounds |
| not measured | not measured | accepted | not measured |

`undecided = "allow"` is meant for intervals that straddle a bound, and covers no gate without a usable interval.
"""

from recuse.gates.decision import Decision, JudgeDecision, decide
from recuse.gates.explanation import Verdicts, explain
from recuse.gates.gate_set import Gates
from recuse.gates.gate_tables import Accept, AcceptedFault, Gate
from recuse.gates.limits import GatesError, Limit

__all__ = [
    "Accept", "AcceptedFault", "Decision", "Gate", "Gates", "GatesError", "JudgeDecision", "Limit", "Verdicts",
    "decide", "explain",
]  # fmt: skip

"""Gates: an estimate and a limit give a verdict; known faults are accepted by name, up to a bound and a date.

    gates = Gates.load(Path("evals/gates.toml"), today=date.today())
    verdicts = gates.decide("self_bias", estimates, {"panel": "published", "task": "merchant_risk"})
    assert verdicts, verdicts.explain()

`estimates` holds everything that was measured, by (judge, names) for example; each member gets a verdict of its own.

| what the numbers say | no accepted fault | accepted fault that accepts it | accepted fault that does not |
|---|---|---|---|
| pass | pass | fail: no longer needed | fail: no longer needed |
| pass, and what is accepted is a doubt (outcomes without "fail") | | pass | pass |
| undecided, gate allows it | undecided, allowed | fail: no longer needed | fail: no longer needed |
| fail | fail | accepted | fail, naming both bounds |
| undecided | undecided | accepted | undecided, naming both bounds |
| not measured | not measured | accepted | not measured |

An expired accepted fault leaves what the numbers say and tells when it expired. An interval gate without a usable
interval is undecided and is not covered by `undecided = "allow"`, which is meant for intervals that straddle a bound.
"""

from recuse.gates.errors import GatesError
from recuse.gates.explanation import explain
from recuse.gates.gates import Gates
from recuse.gates.limits import Limit
from recuse.gates.merge import decide_merge
from recuse.gates.recommendation import recommendations
from recuse.gates.tables import Accept, AcceptedFault, Gate
from recuse.gates.verdicts import Verdicts

__all__ = [
    "Accept", "AcceptedFault", "Gate", "Gates", "GatesError", "Limit", "Verdicts", "decide_merge", "explain",
    "recommendations",
]  # fmt: skip

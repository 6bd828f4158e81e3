"""Recording: asks what the cassettes lack, within limits and a budget, and stops when it is told to.

session     one recording of a panel: who answers, the budget for everything that is missing
asking      the loop: concurrent, interruptible
budget      what it will cost, what was spent, how far it is
rate_limit  requests and tokens per minute
"""

from __future__ import annotations

from recuse.recording.asking import IncompleteRecordingError, RecordingReport, record
from recuse.recording.budget import BudgetError, Cost, Progress, ProgressLine, check_budget, cost_text, expected_costs
from recuse.recording.rate_limit import Limits

__all__ = [
    "BudgetError",
    "Cost",
    "IncompleteRecordingError",
    "Limits",
    "Progress",
    "ProgressLine",
    "RecordingReport",
    "check_budget",
    "cost_text",
    "expected_costs",
    "record",
]

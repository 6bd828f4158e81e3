"""Recording: asks what the cassettes lack, within limits and a budget, and stops when it is told to.

session     one recording of a panel: who answers, one budget for everything that is missing
batches     the same by batch: files of requests, answered within a day
asking      the loop: concurrent, interruptible
budget      what it will cost at most
progress    what was spent, and how far it is
form_check  stops a judge and protocol whose replies cannot be read
rate_limit  requests and tokens per minute
stopping    signals and lost connections
outcome     how a recording ended
stand_ins   answers of stand-ins, while their panel is recorded
"""

from __future__ import annotations

from recuse.recording.asking import Recording, record
from recuse.recording.budget import BudgetError, Cost, check_budget, cost_text, expected_costs
from recuse.recording.outcome import IncompleteRecordingError, RecordingInterrupted, RecordingReport
from recuse.recording.progress import Progress, ProgressLine, Spending
from recuse.recording.rate_limit import Limits

__all__ = [
    "BudgetError",
    "Cost",
    "IncompleteRecordingError",
    "Limits",
    "Progress",
    "ProgressLine",
    "Recording",
    "RecordingInterrupted",
    "RecordingReport",
    "Spending",
    "check_budget",
    "cost_text",
    "expected_costs",
    "record",
]

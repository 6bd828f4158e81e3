"""Replay and recording of judge calls: append-only JSON-lines cassettes on vcrpy.

key, lookup           what makes two requests the same, and which cell an HTTP request belongs to
lines, stored_requests, index, names    the file format and where everything is in a file
library, shelf, files, misses, coverage replay: answers by key, and what is missing, stale, damaged or unused
vcr_cassette, serializer, network       vcrpy's side of it; the network is blocked while replaying
keeping, redaction, writer, storage, compaction    what is stored, without secrets, so that nothing is lost
recording, pace, cost, progress         asking what is missing, within limits and a budget
checking              `python -m recuse.cassettes check|compact`
"""

from __future__ import annotations

from recuse.cassettes.cost import BudgetError, Cost, check_budget, cost_text, expected_costs
from recuse.cassettes.coverage import Coverage, Stale, Unused
from recuse.cassettes.index import CassetteError, CassetteWarning
from recuse.cassettes.key import CELL_HEADER, RUN_HEADER, call_headers, canonical_json, request_key
from recuse.cassettes.library import MODES, Library, Mode
from recuse.cassettes.misses import MissingInteractionError
from recuse.cassettes.names import cell_name
from recuse.cassettes.network import NetworkBlockedError
from recuse.cassettes.pace import Limits
from recuse.cassettes.progress import Progress, ProgressLine
from recuse.cassettes.recording import IncompleteRecordingError, RecordingReport, record
from recuse.cassettes.writer import StorageError

__all__ = [
    "CELL_HEADER",
    "MODES",
    "RUN_HEADER",
    "BudgetError",
    "CassetteError",
    "CassetteWarning",
    "Cost",
    "Coverage",
    "IncompleteRecordingError",
    "Library",
    "Limits",
    "MissingInteractionError",
    "Mode",
    "NetworkBlockedError",
    "Progress",
    "ProgressLine",
    "RecordingReport",
    "Stale",
    "StorageError",
    "Unused",
    "call_headers",
    "canonical_json",
    "cell_name",
    "check_budget",
    "cost_text",
    "expected_costs",
    "record",
    "request_key",
]

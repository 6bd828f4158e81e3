"""Recorded judge calls: append-only JSON-lines cassettes on vcrpy, replayed without the network.

matching            what makes two requests the same, and which planned call an HTTP request is
record_format, index    the lines of a file, and where everything is in it
cell_cassette, coverage what a plan wants of a cell's file: what is there, missing, stale, damaged or unused
library             all cassettes of a panel: recorded answers by call
vcrpy_adapter, network  HTTP clients are answered from the library; stock vcrpy reads the files; nothing goes out
response_filter, redaction, writer, storage     what is stored, without secrets, so that nothing is lost
check               `python -m recuse.cassettes check|compact`

Asking what is missing, within limits and a budget, is in `recuse.recording`.
"""

from __future__ import annotations

from recuse.cassettes.cell_cassette import cell_name
from recuse.cassettes.coverage import Coverage, MissingInteractionError, Stale, Unused
from recuse.cassettes.index import CassetteError, CassetteWarning
from recuse.cassettes.library import MODES, Library, Mode
from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, call_headers, canonical_json, request_key
from recuse.cassettes.network import NetworkBlockedError
from recuse.cassettes.writer import StorageError

__all__ = [
    "CELL_HEADER",
    "MODES",
    "REPEAT_HEADER",
    "CassetteError",
    "CassetteWarning",
    "Coverage",
    "Library",
    "MissingInteractionError",
    "Mode",
    "NetworkBlockedError",
    "Stale",
    "StorageError",
    "Unused",
    "call_headers",
    "canonical_json",
    "cell_name",
    "request_key",
]

"""Names of the places on the page that a link may lead to: permanent for the same question, verdict or accepted
fault, and short, since a page has hundreds."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from recuse.report.gated_number import Number

__all__ = ["fault_anchor", "group_anchor", "matter_anchor", "question_anchor", "verdict_anchor"]


def question_anchor(question: str) -> str:
    """The section of one question."""
    return "q-" + _safe(question)


def group_anchor(question: str, panel: str, task: str, protocol: str = "") -> str:
    """What one question found about one panel and task."""
    return f"g-{_digest([question, panel, task, protocol])}"


def verdict_anchor(gate: str, subject: Mapping[str, str]) -> str:
    """A verdict's cell in the matrix."""
    return f"v-{_digest([gate, *sorted(subject.items())])}"


def matter_anchor(question: str, gate: str) -> str:
    """A gate's entry in what turns the run red."""
    return f"red-{_safe(question)}-{_safe(gate)}"


def fault_anchor(n: Number) -> str:
    """The accepted fault that covers a verdict, in the list of gates; "" without one."""
    fault = n.accepted_fault
    if not fault:
        return ""
    return f"k-{_digest([n.question, n.gate, fault['accept'], fault['until'], fault['reason']])}"


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", text)


def _digest(value: Any) -> str:
    return f"{zlib.crc32(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()):08x}"

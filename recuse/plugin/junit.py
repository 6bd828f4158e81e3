"""What `--junit-xml` says of a test beside its outcome: per verdict its outcome, value and limit, as properties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recuse.run.record_kinds import VERDICT

__all__ = ["readable"]

PLACE = ("task", "panel", "protocol")  # the test's own name says them


def readable(properties: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The properties of a test with each verdict as a few short ones, "leniency[judge=gpt].outcome", and without
    records that are for the process that reports alone."""
    kept = [(name, value) for name, value in properties if not name.startswith("recuse.")]
    return kept + [words for name, value in properties if name == VERDICT for words in _told(value)]


def _told(verdict: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    about = ",".join(f"{k}={v}" for k, v in sorted(verdict["subject"].items()) if k not in PLACE)
    name = f"{verdict['gate']}[{about}]" if about else verdict["gate"]
    yield f"{name}.outcome", verdict["outcome"]
    value = verdict["estimate"]["value"]
    yield f"{name}.value", "undefined" if value is None else f"{value:.10g}"
    yield f"{name}.limit", verdict["rule"]["limit_text"]

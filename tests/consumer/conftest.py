"""skeleton/ is a repo of its own: test_consumer.py runs it as one, and `pytest tests/` walks past it."""

from __future__ import annotations

collect_ignore = ["skeleton"]

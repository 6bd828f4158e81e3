"""What xdist's workers hand over travels as JSON text: its own serializer, written in Python, takes many times as long
for records of this size."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest

from recuse.plugin.opened_suite import is_worker

__all__ = ["pytest_report_from_serializable", "pytest_report_to_serializable"]

OURS = "recuse."


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(
    config: pytest.Config,
) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """In a worker, each record of a report becomes a text."""
    data = yield
    if data is not None and is_worker(config):
        properties = data.get("user_properties", ())
        data["user_properties"] = [(n, json.dumps(value) if n.startswith(OURS) else value) for n, value in properties]
    return data


@pytest.hookimpl(wrapper=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> Generator[None, Any, Any]:
    """And a record again in the process that reports."""
    properties = data.get("user_properties", ())
    data["user_properties"] = [
        (n, json.loads(value) if n.startswith(OURS) and isinstance(value, str) else value) for n, value in properties
    ]
    return (yield)

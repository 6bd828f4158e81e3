"""Records travel from a worker as text and arrive as they were; what other plugins say is left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from recuse.plugin.fixtures import RECORDS as FOUND
from recuse.plugin.fixtures import UNMEASURED
from recuse.plugin.gathering import pytest_report_from_serializable, pytest_report_to_serializable

RECORDS: list[tuple[str, Any]] = [
    (FOUND, {"measurements": [{"subject": {"judge": "a"}, "estimate": {"value": 0.1 + 0.2, "low": None}}]}),
    (UNMEASURED, '{"looks": "like JSON"}'),
    ("others", (1, 2)),
]


def passed_through(hook: Any, data: dict[str, Any] | None) -> Any:
    """What a wrapping hook makes of the result of the hooks that it wraps."""
    next(hook)
    try:
        hook.send(data)
    except StopIteration as done:
        return done.value
    raise AssertionError("a wrapper yields once")


def sent(config: object) -> dict[str, Any]:
    return dict(passed_through(pytest_report_to_serializable(config), {"user_properties": RECORDS}))  # type: ignore[arg-type]


def test_a_workers_records_are_texts_on_the_way_and_arrive_as_they_were():
    data = sent(SimpleNamespace(workerinput={}))
    assert [type(value) for _, value in data["user_properties"]] == [str, str, tuple]
    passed_through(pytest_report_from_serializable(data), data)
    assert data["user_properties"] == RECORDS


def test_in_a_process_of_its_own_nothing_is_changed():
    assert sent(SimpleNamespace())["user_properties"] == RECORDS


def test_what_is_no_report_stays_nothing():
    assert passed_through(pytest_report_to_serializable(SimpleNamespace(workerinput={})), None) is None

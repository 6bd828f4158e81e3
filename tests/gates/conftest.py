"""Estimates as a metric would hand them over, and gates files as a user would write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recuse.gates import Gates
from recuse.schema import Estimate
from recuse.statistics.distributions import Student

TODAY = date(2026, 3, 1)


def student_estimate(value: float, se: float, n: int = 10, *, level: float = 0.95, **rest: Any) -> Estimate:
    """A mean over n runs with Student's t interval; `se` 0 leaves it without one."""
    distribution = Student(value, se, n - 1)
    low, high = distribution.interval(level)
    about = {
        "metric": "self_bias",
        "unit": "points",
        "over": "repeats",
        "method": "Student's t",
        "distribution": distribution,
    }
    return Estimate(value=value, low=low, high=high, level=level, n=n, **about | rest)


def undefined_estimate(note: str = "all 10 replies were refusals", **rest: Any) -> Estimate:
    return Estimate(metric="self_bias", value=math.nan, n=0, over="repeats", method="Student's t", note=note, **rest)


@pytest.fixture(scope="session")
def estimate() -> Callable[..., Estimate]:
    return student_estimate


@pytest.fixture(scope="session")
def undefined() -> Callable[..., Estimate]:
    return undefined_estimate


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Gates]:
    """Write a gates file and load it as of TODAY."""

    def write_and_load(text: str, today: date = TODAY) -> Gates:
        path = tmp_path / "evals" / "gates.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return Gates.load(path, today)

    return write_and_load

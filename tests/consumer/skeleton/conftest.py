"""This repo's wiring: what the customers said, for the evals to compare judges with."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def customer_marks() -> dict[str, float]:
    """Assistant -> mean mark its customers gave, from 0 to 5."""
    path = Path(__file__).parent / "fixtures" / "tasks" / "support_replies" / "customers.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {row["target"]: float(row["mark"]) for row in csv.DictReader(file)}

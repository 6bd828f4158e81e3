"""This repo's wiring: the references that evals/ compares judges with. No arithmetic here."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def human_finals() -> pd.DataFrame:
    """Mean final score of 26 payment experts per target (columns target, mean, sd, experts)."""
    return pd.read_csv(FIXTURES / "published" / "human_finals.csv")


@pytest.fixture(scope="session")
def empirical_risk() -> pd.DataFrame:
    """Unified risk score per merchant category (columns mcc, risk, ...), from the SYNTHETIC transactions table."""
    import tomllib

    from recuse.metrics.empirical_risk import risk_score
    from recuse.tables import read_transactions

    folder = FIXTURES / "tasks" / "merchant_risk"
    settings = tomllib.loads((folder / "ground_truth.toml").read_text(encoding="utf-8"))
    return risk_score(read_transactions(folder / settings["table"]), settings["indicators"])

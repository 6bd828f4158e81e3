"""Ratings tables for the tests of metrics: made by hand, or drawn so that they carry the published means and SDs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

PUBLISHED = Path(__file__).parents[2] / "fixtures" / "published"
CRITERIA = ["accuracy", "quality", "consistency", "completeness", "practicality"]
MODELS = ["gpt-5.1", "gemini-2.5-pro", "grok-4", "claude-4.5-sonnet", "perplexity-sonar"]

Ratings = Callable[..., pd.DataFrame]


def ratings_of(
    scores: Mapping[tuple[str, str], Sequence[float | str]],
    *,
    criterion: str = "total",
    condition: str = "attributed",
    protocol: str = "rubric",
) -> pd.DataFrame:
    """One row per (judge, target) and run; a text in place of a score is the status of a run without one."""
    rows = [
        {
            "task": "merchant_risk",
            "protocol": protocol,
            "judge": judge,
            "item": target,
            "target": target,
            "criterion": criterion,
            "repeat": repeat,
            "score": math.nan if isinstance(score, str) else float(score),
            "response": None,
            "status": score if isinstance(score, str) else "ok",
            "request": f"{judge}~{target}~{condition}",
            "condition": condition,
        }
        for (judge, target), runs in scores.items()
        for repeat, score in enumerate(runs)
    ]
    return pd.DataFrame(rows)


def runs_with(mean: float, sd: float, n: int = 10) -> list[float]:
    """n (even) scores with exactly this mean and sample SD: half a above, half a below, a^2 = sd^2 (n - 1) / n."""
    a = sd * math.sqrt((n - 1) / n)
    return [mean + (a if r % 2 else -a) for r in range(n)]


@pytest.fixture(scope="session")
def make_ratings() -> Ratings:
    return ratings_of


@pytest.fixture(scope="session")
def make_runs() -> Callable[..., list[float]]:
    return runs_with


@pytest.fixture(scope="session")
def criteria() -> list[str]:
    return CRITERIA


@pytest.fixture(scope="session")
def own() -> dict[str, str]:
    return {model: model for model in MODELS}


@pytest.fixture(scope="session")
def published_table() -> pd.DataFrame:
    """Appendix E of the merchant-risk paper as numbers."""
    return pd.read_csv(PUBLISHED / "scores.csv")


@pytest.fixture(scope="session")
def published(published_table: pd.DataFrame) -> pd.DataFrame:
    """Ten runs per cell with the published means and SDs; the Final Score is criterion `total`."""
    tables = [
        ratings_of(
            {(row.judge, row.target): runs_with(row.mean, row.sd)},
            criterion="total" if row.criterion == "final" else row.criterion,
            condition=row.condition,
        )
        for row in published_table.itertuples()
    ]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="session")
def human() -> pd.DataFrame:
    """Section 3.5: final scores by 26 experts."""
    return pd.read_csv(PUBLISHED / "human_finals.csv")

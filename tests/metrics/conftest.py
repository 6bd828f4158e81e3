"""Ratings for the tests of measures: made by hand, or drawn so that they carry the published means and SDs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recuse.ratings import Numeric, Ratings

PUBLISHED = Path(__file__).parents[2] / "fixtures" / "published"
CRITERIA = ["accuracy", "quality", "consistency", "completeness", "practicality"]
MODELS = ["gpt-5.1", "gemini-2.5-pro", "grok-4", "claude-4.5-sonnet", "perplexity-sonar"]
NAMES = {"attributed": "shown", "anonymized": "hidden"}

Cells = Mapping[tuple[str, ...], Sequence[float | str]]


def frame_of(cells: Cells, *, criterion: str = "total", kind: str = "judge", **factors: str) -> pd.DataFrame:
    """One row per repeat of (rater, target), whose one item is called like it, or of (rater, item, target); a text in
    place of a score is the status of a repeat without one."""
    rows = [
        {
            "rater": rater, "kind": kind, "item": text[0], "target": text[-1], "criterion": criterion, "repeat": repeat,
            "score": math.nan if isinstance(score, str) else float(score),
            "status": score if isinstance(score, str) else "ok",
            "request": "~".join([rater, *text, *factors.values()]), **factors,
        }
        for (rater, *text), repeats in cells.items()
        for repeat, score in enumerate(repeats)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def ratings_of(cells: Cells | pd.DataFrame, **known: Any) -> Ratings:
    """Ratings of cells, or of a frame, with what is known of them."""
    frame = cells if isinstance(cells, pd.DataFrame) else frame_of(cells)
    return Ratings.of(frame, **known)


def repeats_with(mean: float, sd: float, n: int = 10) -> list[float]:
    """n (even) scores with exactly this mean and sample SD: half a above, half a below, a^2 = sd^2 (n - 1) / n."""
    a = sd * math.sqrt((n - 1) / n)
    return [mean + (a if r % 2 else -a) for r in range(n)]


@pytest.fixture(scope="session")
def make_frame() -> Callable[..., pd.DataFrame]:
    return frame_of


@pytest.fixture(scope="session")
def rate() -> Callable[..., Ratings]:
    return ratings_of


@pytest.fixture(scope="session")
def make_repeats() -> Callable[..., list[float]]:
    return repeats_with


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
def published_frame(published_table: pd.DataFrame) -> pd.DataFrame:
    """Ten repeats per cell with the published means and SDs; the Final Score is criterion `total`."""
    tables = [
        frame_of(
            {(row.judge, row.target): repeats_with(row.mean, row.sd)},
            criterion="total" if row.criterion == "final" else row.criterion,
            names=NAMES[row.condition],
        )
        for row in published_table.itertuples()
    ]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="session")
def human() -> pd.DataFrame:
    """Section 3.5: final scores by 26 experts."""
    return pd.read_csv(PUBLISHED / "human_finals.csv")


@pytest.fixture(scope="session")
def as_published(own: dict[str, str], human: pd.DataFrame) -> Callable[[pd.DataFrame], Ratings]:
    """A frame with the names of the paper as its ratings. The drawn repeats may leave the scale by a hair."""
    scale = Numeric(-1.0, 11.0)
    return lambda frame: Ratings.of(
        frame, scales=scale, authors=own, headline=["total"], parts=tuple(CRITERIA), people=human
    )


@pytest.fixture(scope="session")
def published(published_frame: pd.DataFrame, as_published: Callable[[pd.DataFrame], Ratings]) -> Ratings:
    return as_published(published_frame)

"""Tables for the tests of the bias measures: grades, comparisons and attacks made by hand, and the thesis's grades."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Numeric, Ratings, Scale

ROOT = Path(__file__).parents[3]
GRADES = ROOT / "fixtures" / "standins" / "published" / "headlines" / "grading.csv.gz"
TABLE = ROOT / "fixtures" / "published" / "self_preference.csv"

Made = Callable[..., pd.DataFrame]


def rows_of(columns: Mapping[str, Sequence[object]], **constant: object) -> pd.DataFrame:
    """A ratings table from the columns that vary; whatever is missing is filled in the usual way."""
    table = pd.DataFrame(columns)
    usual = {
        "task": "headlines", "protocol": "grading", "target": "t", "criterion": "overall", "repeat": 0,
        "score": math.nan, "response": None, "status": "ok", "request": "r",
    }  # fmt: skip
    return table.assign(**{name: value for name, value in (usual | constant).items() if name not in table})


def grades_from(cube: np.ndarray, names: Sequence[str], framing: str = "positive") -> pd.DataFrame:
    """Digits of shape (stories, judges, authors), judges and authors of the same names."""
    i, j, t = (axis.ravel() for axis in np.indices(cube.shape))
    judges = np.array(names)
    return rows_of(
        {"judge": judges[j], "target": judges[t], "item": np.char.add("story-", i.astype(str)), "score": cube.ravel()},
        framing=framing,
    )


def comparisons_of(verdicts: Mapping[tuple[str, str], tuple[str, ...]], **constant) -> pd.DataFrame:
    """(judge, item) -> responses in order "ab" and "ba", plain labels, and in the same orders with swapped labels where
    four are given; "" is a reply that could not be read."""
    cells = [
        {"judge": judge, "item": item, "order": order, "labels": labels, "response": response or None,
         "status": "ok" if response else "unparsed"}
        for (judge, item), responses in verdicts.items()
        for (labels, order), response in zip(
            [("plain", "ab"), ("plain", "ba"), ("swapped", "ab"), ("swapped", "ba")], responses, strict=False
        )
    ]  # fmt: skip
    return rows_of(pd.DataFrame(cells), protocol="pairwise", criterion="winner", **constant)


def pairs_of(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """Items frame from (item, story, a, b)."""
    return pd.DataFrame(rows, columns=["item", "story", "a", "b"])


# --------------------------------------------------------------------------- ratings


def scores_of(scores: Mapping[tuple[str, str], Sequence[float]], **columns: object) -> pd.DataFrame:
    """(judge, target) -> the scores written for item i0, i1, ...; NaN is a reply that could not be read."""
    rows = [
        {"judge": judge, "target": target, "item": f"i{i}", "score": float(score)}
        for (judge, target), given in scores.items()
        for i, score in enumerate(given)
    ]
    return pd.DataFrame(rows).assign(**columns)


def scores_from(
    cube: np.ndarray, judges: Sequence[str], targets: Sequence[str] | None = None, **columns: object
) -> pd.DataFrame:
    """Scores of shape (items, judges, targets); targets are called as the judges unless given."""
    i, j, t = (axis.ravel() for axis in np.indices(cube.shape))
    names = {"judge": np.array(list(judges))[j], "target": np.array(list(targets or judges))[t]}
    return pd.DataFrame({**names, "item": np.char.add("i", i.astype(str)), "score": cube.ravel()}).assign(**columns)


ONE_TO_FIVE = Numeric(1, 5, 1)


def rated(
    *frames: pd.DataFrame, authors: Mapping[str, str] | None = None, scale: Scale = ONE_TO_FIVE, **known: object
) -> Ratings:
    """Ratings of all frames together on one scale."""
    return Ratings.of(pd.concat(frames, ignore_index=True), scales=scale, authors=authors, **known)


@pytest.fixture(scope="session")
def make_scores() -> Made:
    return scores_of


@pytest.fixture(scope="session")
def make_scores_from() -> Made:
    return scores_from


@pytest.fixture(scope="session")
def rate() -> Callable[..., Ratings]:
    return rated


@pytest.fixture(scope="session")
def thesis_ratings(thesis_table: pd.DataFrame) -> Ratings:
    """The reconstructed scores that carry the thesis's Table 1: 100 articles, five judges, five authors, both
    directions of the scale."""
    frame = pd.read_csv(GRADES).rename(columns={"story": "item", "digit": "score", "framing": "direction"})
    frame["direction"] = frame["direction"].map({"positive": "ascending", "negative": "reversed"})
    return rated(frame[["judge", "target", "item", "direction", "score"]],
                 authors={model: model for model in thesis_table["model"]})  # fmt: skip


# --------------------------------------------------------------------------- frames of the older measures


@pytest.fixture(scope="session")
def make_rows() -> Made:
    return rows_of


@pytest.fixture(scope="session")
def make_cube() -> Made:
    return grades_from


@pytest.fixture(scope="session")
def make_comparisons() -> Made:
    return comparisons_of


@pytest.fixture(scope="session")
def make_pairs() -> Made:
    return pairs_of


@pytest.fixture(scope="session")
def thesis_table() -> pd.DataFrame:
    """Table 1 of the thesis as printed: every figure a string."""
    return pd.read_csv(TABLE, dtype=str)

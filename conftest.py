"""This repo's wiring: the references that evals/ compares judges with. No arithmetic here."""

from __future__ import annotations

from collections.abc import Callable
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
    """Unified risk score per merchant category (columns mcc, name, risk), from the SYNTHETIC transactions table."""
    import tomllib

    from recuse.metrics.empirical_risk import risk_score
    from recuse.tables import read_transactions

    folder = FIXTURES / "tasks" / "merchant_risk"
    settings = tomllib.loads((folder / "ground_truth.toml").read_text(encoding="utf-8"))
    risk = risk_score(read_transactions(folder / settings["table"]), settings["indicators"])
    return risk.merge(pd.read_csv(folder / "mcc.csv"), on="mcc", validate="one_to_one")


# --------------------------------------------------------------------------- headlines: what items say beside the text

Items = Callable[[str], pd.DataFrame]


@pytest.fixture
def pairs(items_of: Items) -> Items:
    """Who met whom, by protocol: columns item, story, a, b (authors), words_a, words_b."""

    return lambda protocol: items_of(protocol).rename(columns={"words.a": "words_a", "words.b": "words_b"})


@pytest.fixture
def texts(items_of: Items) -> pd.DataFrame:
    """The graded texts: columns item, story (the same), target, text, words."""
    table = items_of("grading")
    return table.assign(story=table["item"], text=_text(table), words=_words(table))[
        ["item", "story", "target", "text", "words"]
    ]


@pytest.fixture
def attacks(items_of: Items) -> pd.DataFrame:
    """The graded texts with an injection: columns item, story (of the clean twin), target, payload, class, text."""
    table = items_of("grading_injected")
    columns = ["item", "story", "target", "payload", "class", "text"]
    return table.assign(story=table["clean"], text=_text(table))[columns]


@pytest.fixture
def graded(ratings_of: Items) -> pd.DataFrame:
    """Grades with what the log-probabilities said beside them: columns expected_score, in_set_mass and perplexity, the
    judge's own on its verdict."""
    ratings = ratings_of("grading")
    key = ["judge", "item", "target", "framing", "repeat"]
    grades = ratings[ratings["criterion"] == "overall"]
    for name, column in {"expected": "expected_score", "mass": "in_set_mass", "perplexity": "perplexity"}.items():
        beside = ratings[ratings["criterion"] == f"overall.{name}"].rename(columns={"score": column})
        grades = grades.merge(beside[[*key, column]], on=key, how="left", validate="one_to_one")
    return grades


def _text(table: pd.DataFrame, side: str = "") -> pd.Series[str]:
    return table[f"{side}headline"] + "\n" + table[f"{side}lead"]


def _words(table: pd.DataFrame, side: str = "") -> pd.Series[int]:
    return _text(table, side).str.split().str.len()

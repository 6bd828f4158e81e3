"""This repo's wiring: the references that evals/ compares judges with. No arithmetic here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from recuse.suite import Suite
    from recuse.tasks import Task

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
    from recuse.transactions import read_transactions

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
def replies(items_of: Items, ratings_of: Items) -> pd.DataFrame:
    """Which answer shown to the output filter was whose: columns judge, item (what was graded), target, story, attack,
    asked (the filter's item)."""
    shown = items_of("output_filter")
    shown = shown.rename(columns={"item": "asked", "of": "item", "grade": "score"})
    given = pd.concat([ratings_of("grading").query("framing == 'positive'"), ratings_of("grading_injected")])
    columns = ["judge", "item", "target", "story", "attack", "asked"]
    return given[given["criterion"] == "overall"].merge(shown, on=["item", "target", "score"])[columns]


@pytest.fixture
def if_asked(suite: Suite, panel: str, task: Task, ratings_of: Items) -> Callable[[str], pd.DataFrame | None]:
    """Ratings by a protocol that not every panel asks by; None for a panel that does not."""
    asked = suite.panels[panel].task(task.name).protocols
    return lambda protocol: ratings_of(protocol) if protocol in asked else None


@pytest.fixture(scope="session")
def joined() -> dict[str, pd.DataFrame]:
    """What `graded` has put together, by panel: a dozen tests ask for the same table."""
    return {}


@pytest.fixture
def graded(
    panel: str, ratings_of: Items, if_asked: Callable[[str], pd.DataFrame | None], joined: dict[str, pd.DataFrame]
) -> pd.DataFrame:
    """Grades with what log-probabilities said beside them, where they were recorded: columns expected_score,
    in_set_mass and perplexity, the judge's of the text it graded."""
    if panel not in joined:
        joined[panel] = _with_likelihoods(ratings_of("grading"), if_asked("text_perplexity"))
    return joined[panel].copy(deep=False)


def _with_likelihoods(ratings: pd.DataFrame, perplexities: pd.DataFrame | None) -> pd.DataFrame:
    text, call = ["judge", "item", "target"], ["judge", "item", "target", "framing", "repeat"]
    grades = ratings[ratings["criterion"] == "overall"]
    for name, column in {"expected": "expected_score", "mass": "in_set_mass"}.items():
        beside = ratings[ratings["criterion"] == f"overall.{name}"].rename(columns={"score": column})
        grades = grades.merge(beside[[*call, column]], on=call, how="left", validate="one_to_one")
    if perplexities is None:
        return grades
    perplexities = perplexities[perplexities["criterion"] == "perplexity"].rename(columns={"score": "perplexity"})
    perplexities = perplexities[[*text, "perplexity"]]
    return grades.merge(perplexities, on=text, how="left", validate="many_to_one")


def _text(table: pd.DataFrame, side: str = "") -> pd.Series[str]:
    return table[f"{side}headline"] + "\n" + table[f"{side}lead"]


def _words(table: pd.DataFrame, side: str = "") -> pd.Series[int]:
    return _text(table, side).str.split().str.len()

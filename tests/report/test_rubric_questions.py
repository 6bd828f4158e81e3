"""The two questions about rubrics draw what their measures give of a panel whose agreement falls with knowledge, and
what is left when parts are missing."""

from __future__ import annotations

import copy
import re
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page_reader import page

from recuse.readers.file_panel import load_file_panel
from recuse.report.canonical_form import normalised
from recuse.report.questions import Drawings
from recuse.report.questions.generic import generic
from recuse.run.run import ask_file
from recuse.schema.factors import LEVELS, RUBRIC
from recuse.schema.number_text import MISSING, fixed
from recuse.suite.question_runner import read_evals

EVALS = Path(__file__).parents[2] / "evals"
QUESTIONS = ("knowledge_grounding", "rubric_commensurability")
COMMON = {"checklist": 1.0, "independent": 0.2, "dimensions": 0.8, "shared": 0.9, "universal": 0.9}
"""Share of what a judge sees that all see, by where the rubric came from."""

Results = dict[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three judges on the twins of 24 items by all five sources; all but cleo are taken in by polish."""
    folder = tmp_path_factory.mktemp("file")
    for name in ("gates.toml", *(f"test_{question}.py" for question in QUESTIONS)):
        (folder / name).write_bytes((EVALS / name).read_bytes())
    rng, rows = np.random.default_rng(21), []
    seen, own = rng.normal(0, 1.5, (24, 2)), rng.normal(0, 1.5, (3, 24, 2))
    for j, (source, share), i, t in product(range(3), COMMON.items(), range(24), (0, 1)):
        polish = (2 * t - 1) * (0.8 if j == 2 else -0.8)
        score = 5.5 + polish + share**0.5 * seen[i, t] + (1 - share) ** 0.5 * own[j, i, t] + 0.3 * rng.normal()
        rows.append(
            {
                "judge": ("ann", "bob", "cleo")[j], RUBRIC: source, "item": f"i{i:02d}", "score": round(score, 1),
                "domain": ("law", "art")[i % 2], "flawed": ("yes", "no")[t], "target": ("polished", "plain")[t],
            }
        )  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "ratings.csv", index=False)
    found: Results = ask_file(load_file_panel(folder / "ratings.csv"), *read_evals(folder, date(2026, 1, 1))).results
    assert not found["unmeasured"]
    return found


def about(results: Results, question: str) -> Results:
    kept = {**results, "not_asked": [], "excerpts": [], "baseline": None}
    kept["questions"] = [entry for entry in kept["questions"] if entry["id"] == question]
    for name in ("verdicts", "measurements"):
        kept[name] = copy.deepcopy([entry for entry in kept[name] if entry["question"] == question])
    return kept


def text_of(results: Results) -> str:
    html = page(normalised(results), "headline")
    assert "could not be drawn" not in html
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_sources_are_all_there_are() -> None:
    assert tuple(COMMON) == tuple(LEVELS[RUBRIC])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_a_drawing_of_its_own(question: str) -> None:
    assert Drawings().of(question) is not generic


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("knowledge_grounding", [
            "By rubrics from knowledge (own rubric) the judges agree by 0.", "less than by the given",
                                 "One of three judges scored sound texts above", "no evidence of being",
                                 "Difference in r, pair by pair", "judges ↓ rubric →", "ann / bob", "law", "flawed,"]),
        ("rubric_commensurability", ["Judges agree most by the rubric", "% is gone when judges name the dimensions",
                                     "after: own rubric", "of the agreement by one judge", "r of every pair"]),
    ],
)  # fmt: skip
def test_what_is_read_off_a_drawing(results: Results, question: str, told: list[str]) -> None:
    text = text_of(about(results, question))
    assert [words for words in told if words not in text] == []


@pytest.mark.parametrize(
    ("question", "metric", "rows", "key"),
    [("rubric_commensurability", "agreement_by_rubric", "pairs", "r"),
     ("knowledge_grounding", "delta_k", "cells", "delta")],
)  # fmt: skip
def test_a_pair_that_could_not_be_measured_is_shown_as_lacking_and_not_as_zero(
    results: Results, question: str, metric: str, rows: str, key: str
) -> None:
    mine = about(results, question)
    whole = pair_cells(mine)
    entry = next(e for e in mine["verdicts"] + mine["measurements"] if e["estimate"]["metric"] == metric)
    pair = entry["estimate"]["detail"][rows][0]["pair"]
    for row in entry["estimate"]["detail"][rows]:
        row[key] = None if row["pair"] == pair else row[key]
    without = pair_cells(mine)
    assert len(whole) == len(without)
    changed = [(before, after) for before, after in zip(whole, without, strict=True) if before != after]
    assert [after for _, after in changed] == [MISSING]


def test_the_difference_of_a_pair_is_the_mean_over_the_targets_that_it_judged(results: Results) -> None:
    mine = about(results, "knowledge_grounding")
    of = {e["subject"][RUBRIC]: e["estimate"]["detail"]["cells"] for e in mine["measurements"] + mine["verdicts"]
          if e["estimate"]["metric"] == "delta_k"}  # fmt: skip
    pairs = dict.fromkeys(row["pair"] for row in of["independent"])
    means = [np.mean([row["delta"] for row in of[source] if row["pair"] == pair])
             for pair in pairs for source in ("independent", "dimensions", "shared")]  # fmt: skip
    assert sorted(pair_cells(mine)) == sorted(fixed(mean, signed=True) for mean in means)


def pair_cells(results: Results) -> list[str]:
    """The cells of the map of pairs."""
    html = page(normalised(results), "headline")
    table = next(one for one in re.findall(r"<table.*?</table>", html, re.DOTALL) if "judges ↓ rubric →" in one)
    return [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", table, re.DOTALL)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_any_metric_may_be_missing_or_alone(results: Results, question: str) -> None:
    mine = about(results, question)
    metrics = {e["estimate"]["metric"] for e in mine["verdicts"] + mine["measurements"]}
    for metric, only in product(sorted(metrics), (True, False)):
        parts = ("verdicts", "measurements")
        text_of(mine | {name: [e for e in mine[name] if (e["estimate"]["metric"] == metric) == only] for name in parts})


@pytest.mark.parametrize("question", QUESTIONS)
def test_numbers_and_details_may_be_missing(results: Results, question: str) -> None:
    mine = about(results, question)
    for entry in mine["verdicts"] + mine["measurements"]:
        entry["estimate"] |= {"value": None, "low": None, "high": None, "detail": {}}
    assert "Not measured" in text_of(mine)

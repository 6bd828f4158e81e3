"""The questions on the headlines draw what their measures really give, and what is left when parts are missing."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from page_reader import page

from recuse.report.canonical_form import normalised
from recuse.report.questions import Drawings
from recuse.report.questions.generic import generic

pytestmark = pytest.mark.slow("whole runs")

ROOT = Path(__file__).parents[2]
QUESTIONS = (
    "self_preference", "scale_framing", "own_wins", "position_bias", "length_bias", "prompt_injection", "mitigations"
)  # fmt: skip

Results = dict[str, Any]


@pytest.fixture(scope="module")
def everything(shipped_results: Callable[..., Results]) -> Results:
    """What these evals write about panel `local`."""
    asked = [f"evals/test_{question}.py" for question in QUESTIONS]
    results = shipped_results(*asked, "--panel", "fixtures/panels/local.toml")
    assert not results["unmeasured"]
    return results


def about(results: Results, question: str) -> Results:
    kept = {**results, "not_asked": [], "excerpts": [], "baseline": None}
    kept["questions"] = [entry for entry in kept["questions"] if entry["id"] == question]
    for name in ("verdicts", "measurements"):
        kept[name] = copy.deepcopy([entry for entry in kept[name] if entry["question"] == question])
    assert kept["verdicts"] + kept["measurements"]
    return kept


def metrics_of(results: Results) -> list[str]:
    return sorted({e["estimate"]["metric"] for e in results["verdicts"] + results["measurements"]})


def html_of(results: Results) -> str:
    html = page(normalised(results), "headline")
    assert "could not be drawn" not in html
    return html


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_a_drawing_of_its_own(question: str) -> None:
    assert Drawings().of(question) is not generic


def test_they_follow_each_other_on_the_page() -> None:
    assert sorted(set(QUESTIONS), key=Drawings().order) == list(QUESTIONS)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("self_preference", ["once leniency and quality are taken out", "S, mean ± SD", "after Holm", "points per bit",
                             "With 80 % power", "easy for it to predict", "without its own"]),
        ("scale_framing", ["judges more often keep the digit", "mirrored", "Milder where low is best", "S − R"]),
        ("own_wins", ["Pairs its own text won", "itself", "both orders of every pair"]),
        ("position_bias", ["of the pairs keep their verdict", "Is it the place or the letter?", "a tie once",
                           "evidence first, both orders", "gap 0.00 to 0.25", "stories"]),
        ("length_bias", ["padding", "per doubling", "against the nearest in length"]),
        ("prompt_injection", ["Panel local, headlines, grading injected", "Panel local, headlines, pairwise injected",
                              "gives way most", "beyond a suffix that asks for nothing", " % against ",
                              "known phrases", "What do defences stop, and at what price?"]),
        ("mitigations", ["mean of all judges", "Peer Rank", "mean of both directions of the scale"]),
    ],
)  # fmt: skip
def test_what_is_read_off_a_drawing(everything: Results, question: str, told: list[str]) -> None:
    text = plain(html_of(about(everything, question)))
    assert [words for words in told if words not in text] == []


def test_the_count_of_significant_tests_is_told_as_measured(everything: Results) -> None:
    counted = [e for e in everything["measurements"] if e["estimate"]["metric"] == "significant_tests"]
    assert counted
    page = plain(html_of(about(everything, "self_preference")))
    assert [e["estimate"]["detail"]["summary"] for e in counted if e["estimate"]["detail"]["summary"] not in page] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_any_metric_may_be_missing_or_alone(everything: Results, question: str) -> None:
    mine = about(everything, question)
    for metric, only in product(metrics_of(mine), (True, False)):
        kept = {
            name: [e for e in mine[name] if (e["estimate"]["metric"] == metric) == only]
            for name in ("verdicts", "measurements")
        }
        html_of(mine | kept)


@pytest.mark.parametrize("question", QUESTIONS)
def test_details_may_be_missing(everything: Results, question: str) -> None:
    mine = about(everything, question)
    for entry in mine["verdicts"] + mine["measurements"]:
        entry["estimate"]["detail"] = {}
    html_of(mine)


@pytest.mark.parametrize("question", QUESTIONS)
def test_everything_may_be_undefined(everything: Results, question: str) -> None:
    mine = about(everything, question)
    for entry in mine["verdicts"] + mine["measurements"]:
        entry["estimate"].update(value=math.nan, low=math.nan, high=math.nan, note="undefined: no reply")
    assert "no reply" in html_of(mine)

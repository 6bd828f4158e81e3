"""The merchant-risk study comes out of the evals: cassettes in, results.json out, against the published tables.

What is expected is computed here from the printed tables with exact fractions, not with the engine.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "fixtures" / "published"
CRITERIA = ("accuracy", "quality", "consistency", "completeness", "practicality")
JUDGES = ("gpt-5.1", "gemini-2.5-pro", "grok-4", "claude-4.5-sonnet", "perplexity-sonar")
CONDITIONS = {"attributed": "shown", "anonymized": "hidden"}
SOURCES = ("total", "criteria_mean")

Scores = Mapping[tuple[str, str], Fraction]  # (judge, target) -> score


def table(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def scores(condition: str, source: str) -> Scores:
    """The printed Final Score of every cell, or the mean of its five printed criterion means."""
    cells: dict[tuple[str, str], dict[str, Fraction]] = {}
    for row in table("scores.csv"):
        if row["condition"] == condition:
            cells.setdefault((row["judge"], row["target"]), {})[row["criterion"]] = Fraction(row["mean"])
    if source == "total":
        return {cell: of["final"] for cell, of in cells.items()}
    return {cell: sum((of[name] for name in CRITERIA), Fraction()) / len(CRITERIA) for cell, of in cells.items()}


def peer_bias(found: Scores, judge: str, target: str) -> Fraction:
    others = [found[other, target] for other in JUDGES if other != judge]
    return found[judge, target] - sum(others, Fraction()) / len(others)


HUMAN = {row["target"]: Fraction(row["mean"]) for row in table("human_finals.csv")}


@pytest.fixture(scope="module")
def results(shipped_results: Callable[..., Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the evals write about panel `published`."""
    return shipped_results("evals/", "--panel", "fixtures/panels/published.toml")


def measured(results: Mapping[str, Any], metric: str, **subject: str) -> Mapping[str, Any]:
    """The one estimate; two questions may ask for it, and get the same."""
    first, *others = (
        entry["estimate"]
        for entry in results["measurements"]
        if entry["estimate"]["metric"] == metric and entry["subject"].items() >= subject.items()
    )
    assert all(other == first for other in others)
    return first


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_score_and_both_biases_of_every_cell(results: Mapping[str, Any], condition: str, source: str) -> None:
    expected = scores(condition, source)
    wanted = {
        "score_matrix": lambda judge, target: expected[judge, target],
        "consensus_deviation": lambda judge, target: peer_bias(expected, judge, target),
        "human_offset_matrix": lambda judge, target: expected[judge, target] - HUMAN[target],
    }
    for metric, value in wanted.items():
        detail = measured(results, metric, names=CONDITIONS[condition], criterion=source)["detail"]
        assert (detail["rows"], detail["columns"]) == (list(JUDGES), list(JUDGES))
        for i, judge in enumerate(JUDGES):
            for j, target in enumerate(JUDGES):
                found = detail["values"][i][j]
                assert found == pytest.approx(float(value(judge, target)), abs=1e-9), (metric, judge, target)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("attributed", [-0.335, 0.77, 0.71, -0.315, 0.21]), ("anonymized", [-0.3, 0.56, 0.605, -0.16, 0.145])],
)
def test_self_bias(results: Mapping[str, Any], condition: str, expected: list[float]) -> None:
    found = [measured(results, "self_bias", judge=judge, names=CONDITIONS[condition])["value"] for judge in JUDGES]
    assert found == pytest.approx(expected, abs=1e-9)
    assert [float(peer_bias(scores(condition, "total"), judge, judge)) for judge in JUDGES] == pytest.approx(expected)


def test_bias_gone_without_names_unrounded(results: Mapping[str, Any]) -> None:
    shown, hidden = scores("attributed", "total"), scores("anonymized", "total")
    expected = [float(100 * (1 - abs(peer_bias(hidden, j, j)) / abs(peer_bias(shown, j, j)))) for j in JUDGES]
    details = [measured(results, "name_effect", judge=judge)["detail"] for judge in JUDGES]
    assert [detail["gone_pct"] for detail in details] == pytest.approx(expected)
    assert [round(value, 1) for value in expected] == [10.4, 27.3, 14.8, 49.2, 31.0]
    assert all(detail["direction_kept"] for detail in details)
    assert measured(results, "bias_gone_without_names")["value"] == pytest.approx(sum(expected) / 5)


@pytest.mark.parametrize(("condition", "mean"), [("attributed", 0.4636), ("anonymized", 0.426)])
def test_judges_lie_above_people(results: Mapping[str, Any], condition: str, mean: float) -> None:
    found = measured(results, "human_panel_offset", names=CONDITIONS[condition])
    offsets = [score - HUMAN[target] for (_, target), score in scores(condition, "total").items()]
    assert found["value"] == pytest.approx(mean, abs=1e-9)
    assert float(sum(offsets, Fraction()) / len(offsets)) == pytest.approx(mean)
    assert sum(offset > 0 for offset in offsets) == 23
    assert found["detail"]["share_positive"] == "23 of 25"


def test_ground_truth_correlations_and_their_p_values(results: Mapping[str, Any]) -> None:
    """The paper's p-values are those of the t approximation; the exact permutation p stands beside them."""
    bands = {
        "claude-4.5-sonnet": (0.77, 0.001),
        "gemini-2.5-pro": (0.69, 0.01),
        "grok-4": (0.61, 0.05),
        "gpt-5.1": (0.56, 0.05),
    }
    for judge, (rho, below) in bands.items():
        found = measured(results, "rank_correlation", judge=judge)
        assert found["value"] == pytest.approx(rho, abs=0.005)
        assert found["detail"]["p_t"] < below
        assert found["n"] == 15
    sonar = measured(results, "rank_correlation", judge="perplexity-sonar")
    assert sonar["value"] == pytest.approx(0.49, abs=0.005)
    assert sonar["detail"]["p_t"] == pytest.approx(0.063, abs=0.001)
    assert sonar["detail"]["p_permutation"] == pytest.approx(0.068, abs=0.001)


# --------------------------------------------------------------------------- what the tables say and the paper does not


@pytest.mark.parametrize(
    ("metric", "subject", "expected"),
    [
        ("kendalls_w", {"names": "shown"}, 0.808),
        ("kendalls_w", {"names": "hidden"}, 0.8),
        ("rank_stability", {"judge": "gpt-5.1"}, 0.3),
        ("rank_stability", {"judge": "perplexity-sonar"}, 0.7),
        ("profile_correlation", {"pair": "self-bias and distance from people", "names": "shown"}, 0.9),
        ("profile_correlation", {"pair": "self-bias and distance from people", "names": "hidden"}, 0.7),
        ("profile_correlation", {"pair": "own quality and self-bias", "names": "shown"}, -0.5),
        ("self_bias_span", {"names": "shown"}, 1.105),
        ("criterion_self_bias", {"judge": "perplexity-sonar", "names": "shown", "criterion": "completeness"}, -1.4),
        ("calibration_helps", {"calibration": "offset"}, 0.9),
        ("scale_matched_offset", {"names": "shown"}, 0.4636 + 8.334 - (8.334 - 1) * 10 / 9),
        ("people_groups", {}, 2.0),
    ],
)
def test_figures_behind_the_paper_s_sentences(
    results: Mapping[str, Any], metric: str, subject: dict[str, str], expected: float
) -> None:
    assert measured(results, metric, **subject)["value"] == pytest.approx(expected, abs=1e-6)


def test_neighbours_in_the_order_of_people(results: Mapping[str, Any]) -> None:
    """The "clear performance hierarchy" of sec. 3.5: one of its four steps is larger than chance."""
    names = sorted(HUMAN, key=lambda name: -HUMAN[name])
    pairs = [f"{one} - {other}" for one, other in pairwise(names)]
    details = [measured(results, "people_difference", pair=pair)["detail"] for pair in pairs]
    assert [round(detail["z"], 2) for detail in details] == [0.35, 3.28, 0.78, 1.44]
    assert [detail["told_apart"] for detail in details] == [False, True, False, False]

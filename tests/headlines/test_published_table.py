"""Table 1 of the thesis comes out of the evals to the printed digit: cassettes in, results.json out, all ten rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = list(csv.DictReader((ROOT / "fixtures" / "published" / "self_preference.csv").open(encoding="utf-8")))


@pytest.fixture(scope="module")
def results(shipped_results: Callable[..., Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the self-preference evals write about panel `thesis`."""
    return shipped_results("evals/test_self_preference.py", "--panel", "fixtures/panels/thesis.toml")


DIRECTIONS = {"positive": "ascending", "negative": "reversed"}
"""The thesis's framings, as ratings call them."""


def subject_of(row: Mapping[str, str]) -> tuple[str, str]:
    return row["model"], DIRECTIONS[row["framing"]]


def measured(results: Mapping[str, Any], metric: str, row: Mapping[str, str]) -> Mapping[str, Any]:
    """The one measurement of the metric about the row's model and direction of the scale."""
    (found,) = (
        entry["estimate"]
        for entry in results["measurements"]
        if entry["estimate"]["metric"] == metric
        and (entry["subject"]["judge"], entry["subject"]["direction"]) == subject_of(row)
    )
    return found


def printed(received: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """The row as the thesis prints it: p in whole percent; 3.835 as 3.83, which is what binary numbers do."""
    detail = received["detail"]
    row = {f"{name}_{what}": f"{detail[f'{name}_{what}']:.2f}" for name in "srg" for what in ("mean", "sd")}
    row["n"] = str(received["n"])
    for side, estimate in (("r", received), ("g", given)):
        row |= {
            f"t_{side}": f"{estimate['detail']['t']:.2f}",
            f"p_{side}_pct": f"{100 * estimate['detail']['p']:.0f}",
            f"sig_{side}": str(int(estimate["detail"]["p"] < 0.05)),
            f"ci_{side}_lo": f"{estimate['low']:.2f}",
            f"ci_{side}_hi": f"{estimate['high']:.2f}",
        }
    return row


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("row", ROWS, ids=[f"{row['model']}-{row['framing']}" for row in ROWS])
def test_every_printed_digit_of_a_row(results: Mapping[str, Any], row: dict[str, str]) -> None:
    found = printed(measured(results, "self_minus_received", row), measured(results, "self_minus_given", row))
    expected = {name: value for name, value in row.items() if name not in ("model", "framing")}
    assert found == expected
    assert measured(results, "self_minus_received", row)["level"] == 0.95


def test_all_ten_rows_are_there_and_nothing_else(results: Mapping[str, Any]) -> None:
    asked = {subject_of(row) for row in ROWS}
    for metric in ("self_minus_received", "self_minus_given"):
        told = [e["subject"] for e in results["measurements"] if e["estimate"]["metric"] == metric]
        assert len(told) == 10
        assert {(subject["judge"], subject["direction"]) for subject in told} == asked


def test_twelve_of_twenty_significant_and_all_twelve_survive_holm(results: Mapping[str, Any]) -> None:
    (tally,) = (e["estimate"] for e in results["measurements"] if e["estimate"]["metric"] == "significant_tests")
    assert tally["detail"]["summary"] == "12 of 20 significant, all 12 survive Holm"
    assert (tally["value"], tally["n"], tally["n_excluded"]) == (12, 20, 0)
    assert sum(int(row["sig_r"]) + int(row["sig_g"]) for row in ROWS) == 12


def test_the_panel_is_shown_as_reconstructed(results: Mapping[str, Any]) -> None:
    assert {panel["name"]: panel["provenance"] for panel in results["panels"]} == {"thesis": "reconstructed"}


def test_the_smallest_effect_a_hundred_stories_can_show(results: Mapping[str, Any]) -> None:
    """0.28 SDs with 80 % power, as computed for the thesis's design."""
    found = measured(results, "self_minus_received", ROWS[0])
    assert (found["n"], f"{found['detail']['smallest_effect']:.2f}") == (100, "0.28")

"""Calibration on texts it was not fitted on: hand arithmetic, identities, the published tables, degenerate input."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.papers.merchant_risk.score_ensembles import CALIBRATIONS, calibration_change
from recuse.ratings import Numeric, Ratings

PUBLISHED = Path(__file__).resolve().parents[3] / "fixtures" / "published"


def rated(judge, people, scale=None):
    rows = [(who, kind, str(k), float(score)) for who, kind, scores in (("x", "judge", judge), ("p", "person", people))
            for k, score in enumerate(scores)]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"]), scales=scale)


def change(name, *given):
    return calibration_change(rated(*given)).of(judge="x", calibration=name)


def test_offset_by_hand():
    """Judge less people: 1, 1, 1, 3. Fitted to the others, the shift is -5/3 on each of the first three texts and -1 on
    the last: distances 2/3, 2/3, 2/3 and 2 instead of 1, 1, 1 and 3."""
    found = change("offset", [2, 3, 4, 7], [1, 2, 3, 4], Numeric(0, 10))
    assert (found.detail["before"], found.detail["after"]) == (1.5, pytest.approx(1.0))
    assert (found.value, found.n) == (pytest.approx(-0.5), 4)


def test_linear_finds_a_line_and_isotonic_what_never_falls():
    judge = np.arange(8.0)
    assert change("linear", judge, 10 - judge, Numeric(0, 10)).detail["after"] == pytest.approx(0, abs=1e-12)
    same = change("isotonic", [1, 1, 1, 2, 2, 2], [3, 3, 3, 5, 5, 5], Numeric(0, 10))
    assert (same.detail["before"], same.detail["after"]) == (2.5, 0.0)


def test_linear_agrees_with_numpy_on_each_text_left_out():
    rng = np.random.default_rng(3)
    judge, people = rng.uniform(3, 7, 12), rng.uniform(4, 6, 12)
    after = [
        abs(np.polyval(np.polyfit(np.delete(judge, k), np.delete(people, k), 1), judge[k]) - people[k])
        for k in range(12)
    ]
    assert change("linear", judge, people, Numeric(0, 10)).detail["after"] == pytest.approx(np.mean(after))


def test_calibrated_scores_stay_on_the_scale():
    """Without the last text the shift is -4, which would take a score of 1 to -3; people gave it 0."""
    found = change("offset", [5, 6, 7, 1], [1, 2, 3, 0], Numeric(0, 10))
    shifts = [abs(-(4 + 4 + 1) / 3 + 4)] * 3  # of the first three, then the last at the scale's end
    assert found.detail["after"] == pytest.approx((sum(shifts) + 0) / 4)


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_three_texts_are_too_few_and_one_score_for_all_is_no_obstacle(name):
    assert "people rated 3 of these" in change(name, [1, 2, 3], [1, 2, 3]).note
    assert math.isfinite(change(name, [5, 5, 5, 5, 5], [1, 2, 3, 4, 5], Numeric(0, 10)).value)


def test_many_texts_are_left_out_in_tenths():
    """120 texts two points up: the shift is found whichever tenth is left out."""
    people = np.tile([3.0, 4.0, 5.0], 40)
    assert change("offset", people + 2, people, Numeric(0, 10)).value == pytest.approx(-2)


def test_an_offset_brings_nine_of_ten_published_judges_closer_to_people():
    """Final scores of both conditions against the means of 26 experts."""
    with (PUBLISHED / "human_finals.csv").open(encoding="utf-8") as file:
        means = {row["target"]: float(row["mean"]) for row in csv.DictReader(file)}
    with (PUBLISHED / "scores.csv").open(encoding="utf-8") as file:
        finals = [row for row in csv.DictReader(file) if row["criterion"] == "final"]
    frame = pd.DataFrame([
        {"judge": row["judge"], "item": row["target"], "target": row["target"], "score": float(row["mean"]),
         "names": {"attributed": "shown", "anonymized": "hidden"}[row["condition"]]} for row in finals
    ])  # fmt: skip
    people = pd.DataFrame([{"target": t, "mean": m, "sd": 1.0, "n": 26} for t, m in means.items()])
    found = calibration_change(Ratings.of(frame, scales=Numeric(0, 10), people=people))
    offsets = {key: e.value for key, e in found.items() if key[1] == "offset"}
    assert len(offsets) == 10
    assert sum(value < 0 for value in offsets.values()) == 9

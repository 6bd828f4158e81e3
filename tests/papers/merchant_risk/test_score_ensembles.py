"""Ensembles on texts they were not made from: by hand, planted judges, the published tables, degenerate input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.merchant_risk.score_ensembles import ENSEMBLES, calibration_helps, ensemble_change
from recuse.ratings import Numeric, Ratings


def rated(judges: dict[str, np.ndarray], people: np.ndarray) -> Ratings:
    rows = [(who, "judge", str(k), float(score)) for who, each in judges.items() for k, score in enumerate(each)]
    rows += [("p", "person", str(k), float(score)) for k, score in enumerate(people)]
    return Ratings.of(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"]), scales=Numeric(-5, 15))


def test_the_mean_by_hand():
    """Judges at +2 and -1: alone 1.5 away on average, their mean 0.5: change -1; calibrated, both are exact."""
    people = np.array([3.0, 4.0, 5.0, 6.0])
    found = ensemble_change(rated({"a": people + 2, "b": people - 1}, people))
    mean, calibrated = found.of(ensemble="mean"), found.of(ensemble="calibrated")
    assert (mean.detail["alone"], mean.detail["together"]) == (1.5, 0.5)
    assert mean.value == pytest.approx(-1.0)
    assert calibrated.detail["together"] == pytest.approx(0.0)
    assert mean.detail["closest_alone"] == ["b", 1.0]


def test_a_noisy_judge_weighs_less_and_spoils_a_plain_mean_more():
    rng = np.random.default_rng(3)
    people = rng.uniform(3, 7, 40)
    judges = {"sharp": people + rng.normal(0, 0.2, 40), "noisy": people + rng.normal(0, 2.0, 40)}
    found = ensemble_change(rated(judges, people))
    weighted, calibrated = found.of(ensemble="weighted").detail, found.of(ensemble="calibrated").detail
    assert weighted["weights"]["sharp"] > 0.9
    assert weighted["together"] < calibrated["together"] / 2


@pytest.mark.parametrize(
    ("ensemble", "scores", "people", "together"),
    [
        # Best on the other texts: b (0) for the first, where it is 8 off; a (2 to b's 8/3) for the rest, where it is 3
        ("best", {"a": [0.0, 3, 3, 3], "b": [8.0, 0, 0, 0]}, [0.0, 0, 0, 0], (8 + 9) / 4),
        # The last text's 4 is in the others' offset, a third of it each, and not in its own
        ("calibrated", {"a": [0.0, 0, 0, 0], "b": [0.0, 0, 0, 0]}, [0.0, 0, 0, 4], (3 * 4 / 3 + 4) / 4),
    ],
)  # fmt: skip
def test_what_an_ensemble_is_made_from_leaves_out_the_text_that_it_scores(ensemble, scores, people, together):
    people = np.array(people)
    judges = {name: np.array(each) for name, each in scores.items()}
    found = ensemble_change(rated(judges, people)).of(ensemble=ensemble)
    assert found.detail["together"] == pytest.approx(together)


def test_choosing_the_best_of_judges_that_are_equally_good_gains_nothing():
    rng = np.random.default_rng(4)
    people = rng.uniform(3, 7, 30)
    judges = {f"j{k}": people + rng.normal(0, 1.0, 30) for k in range(10)}
    found = ensemble_change(rated(judges, people)).of(ensemble="best")
    assert found.low < 0 < found.high
    assert found.detail["closest_alone"][1] <= found.detail["together"]


def test_offset_calibration_helps_nine_of_ten_of_the_paper_s_judges(published):
    found = calibration_helps(published).of(calibration="offset")
    assert (found.detail["helped"], found.detail["tried"]) == (9, 10)


def test_the_paper_s_judges_together_after_calibration(published):
    """Five texts: calibrated ensembles halve the distance of a judge alone, which is mostly offset."""
    found = ensemble_change(published)
    for names in ("shown", "hidden"):
        each = {name: found.of(ensemble=name, names=names).detail for name in ENSEMBLES}
        assert each["calibrated"]["together"] < each["mean"]["together"] < each["mean"]["alone"]
        assert "data_order" not in each["mean"]  # no picks stand beside


def test_three_texts_are_too_few():
    people = np.arange(3.0, 6.0)
    assert not ensemble_change(rated({"a": people, "b": people}, people)).of(ensemble="mean").defined


def test_one_judge_is_no_ensemble():
    people = np.arange(3.0, 8.0)
    assert not ensemble_change(rated({"a": people}, people)).of(ensemble="mean").defined

"""Without labels: what can be estimated, and what must not be claimed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy.judge_selection import common_class_recall, common_classes
from recuse.ratings import Ratings
from recuse.ratings.scale import Nominal
from recuse.schema import RecuseError


def panel(raters=4, items=300, *, prevalence=0.3, sensitivity=0.9, specificity=0.92, unseen=0.0, copied=0.0, seed=0):
    """Answers (raters, items) and the truth; `unseen`: share of true faults that look like none to every rater."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < prevalence
    looks = truth & (rng.random(items) >= unseen)
    draw = rng.random((raters, items))
    answers = np.where(looks, draw < sensitivity, draw >= specificity).astype(float)
    same = rng.random(items) < copied
    answers[1, same] = answers[0, same]
    return answers, truth


def fit(answers, **more):
    return common_classes(answers, 2, np.random.default_rng(1), **{"draws": 49, "simulations": 49, **more})


def test_independent_raters_are_recovered():
    answers, truth = panel(items=800)
    found = fit(answers)
    assert found.problem == ""
    np.testing.assert_allclose(found.recall[:, 1], answers[:, truth].mean(axis=1), atol=0.06)
    assert found.prevalence[1] == pytest.approx(truth.mean(), abs=0.04)
    assert found.draws.shape == (49, 4, 2)


def test_errors_that_all_share_cannot_be_seen_and_bounds_say_so():
    """The case in which a neighbour prints a sensitivity of .97 [.88, 1] where the truth is .55: all raters miss the
    same faults. Nothing in the answers shows it; the bounds hold the truth, and nothing is called sensitivity."""
    answers, truth = panel(items=800, sensitivity=0.97, unseen=0.43)
    found = fit(answers)
    true = answers[0, truth].mean()
    assert true == pytest.approx(0.55, abs=0.06)
    assert found.recall[0, 1] > 0.9
    assert found.p_independent > 0.05
    rows = [(f"j{j}", str(i), "fault" if fault else "none") for (j, i), fault in np.ndenumerate(answers)]
    frame = pd.DataFrame(rows, columns=["judge", "item", "response"])
    shown = common_class_recall(Ratings.of(frame, scales=Nominal(("none", "fault")))).of(judge="j0", option="fault")
    low, high = shown.detail["truth"]
    assert low < true < high == pytest.approx(shown.value)
    assert high - low > 0.5


def test_two_raters_that_copy_are_noticed():
    found = fit(panel(raters=5, copied=0.6)[0])
    assert "do not err independently" in found.problem


def test_three_raters_of_two_options_leave_nothing_to_test():
    found = fit(panel(raters=3)[0])
    assert "cannot be tested" in found.problem
    assert np.isnan(found.p_independent)


def test_two_raters_are_too_few():
    found = fit(panel(raters=2)[0])
    assert "three raters at least" in found.problem
    assert np.isnan(found.recall).all()


def test_raters_that_guess_are_not_interpreted():
    answers = (np.random.default_rng(3).random((4, 300)) < 0.5).astype(float)
    assert fit(answers).problem != ""


def test_answers_may_be_missing():
    answers, _ = panel(items=600)
    answers[np.random.default_rng(2).random(answers.shape) < 0.2] = np.nan
    assert fit(answers).recall[0, 1] == pytest.approx(0.9, abs=0.08)


def test_what_is_no_answer():
    with pytest.raises(RecuseError, match="codes from 0 to 1"):
        fit(np.array([[0.0, 2.0]] * 3))
    with pytest.raises(RecuseError, match="rater 1 has no valid answer"):
        fit(np.array([[0.0, 1], [np.nan, np.nan], [0, 1]]))

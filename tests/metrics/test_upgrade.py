"""A candidate against the incumbent: by hand, against scipy, and a margin that noise cannot widen."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.gates import Gate
from recuse.gates.decisions import decide
from recuse.metrics.upgrade import compare_judges
from recuse.schema import RecuseError, check_ratings


def table(scores, condition="attributed"):
    """Ratings from {judge: {(item, target): [score per run, None where unusable]}}."""
    rows = [
        ("t", "p", judge, item, target, "total", run, score, None, "refused" if score is None else "ok", "k", condition)
        for judge, cells in scores.items()
        for (item, target), runs in cells.items()
        for run, score in enumerate(runs)
    ]  # fmt: skip
    names = ["task", "protocol", "judge", "item", "target", "criterion", "repeat", "score", "response", "status"]
    ratings = pd.DataFrame(rows, columns=[*names, "request", "condition"])
    return check_ratings(ratings.astype({"score": float}), ("condition",))


def compare(scores, **rest):
    return compare_judges(table(scores), "new", "old", criterion="total", **rest).of(condition="attributed")


def panel(rng, items, shift, noise, runs=1, targets=("x",)):
    """Items differ by an SD of 2; the candidate scores `shift` higher."""
    keys = [(f"i{i}", target) for i in range(items) for target in targets]
    level = {key: rng.normal(7, 2) for key in keys}
    draw = lambda key, more: (level[key] + more + rng.normal(0, noise, size=runs)).tolist()  # noqa: E731
    return {"old": {key: draw(key, 0.0) for key in keys}, "new": {key: draw(key, shift) for key in keys}}


def test_over_items_by_hand():
    old = {("a", "x"): [6.0, 8.0], ("b", "x"): [5.0], ("c", "x"): [9.0]}
    new = {("a", "x"): [7.0], ("b", "x"): [6.0, 6.0], ("c", "x"): [11.0]}
    found = compare({"old": old, "new": new}, over="items")
    # differences 0, 1, 2: mean 1, SD 1, standard error 1 / sqrt 3, t(.975, 2) = 4.303
    assert (found.metric, found.value, found.n) == ("judge_shift", 1.0, 3)
    assert (found.low, found.high) == pytest.approx(
        (1 - 4.302653 / math.sqrt(3), 1 + 4.302653 / math.sqrt(3)), abs=1e-6
    )
    assert found.detail["largest"][0] == {"item": "c", "target": "x", "difference": 2.0}


def test_over_items_is_the_paired_t_test():
    scores = panel(np.random.default_rng(1), 30, 0.3, 0.5)
    found = compare(scores, over="items")
    a, b = (np.array([runs[0] for runs in scores[judge].values()]) for judge in ("new", "old"))
    theirs = stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert 2 * found.distribution.p_value(0.0, "above") == pytest.approx(theirs.pvalue)


def test_over_runs_on_one_text_is_welchs_t_test():
    rng = np.random.default_rng(2)
    new, old = rng.normal(8, 0.4, size=10), rng.normal(7.5, 0.2, size=12)
    found = compare({"new": {("a", "x"): new.tolist()}, "old": {("a", "x"): old.tolist()}})
    interval = stats.ttest_ind(new, old, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.over, found.n) == ("runs", 22)


def test_several_targets_of_an_item_are_one_observation():
    scores = panel(np.random.default_rng(3), 6, 0.3, 0.5, targets=("x", "y"))
    assert compare(scores, over="items").n == 6
    assert compare(scores, over="items").detail["texts"] == 12


def test_error_change_by_hand():
    # people say 7 and 8; the incumbent is off by 1 and 1, the candidate by .5 and 2: mean of -.5 and 1
    scores = {"old": {("a", "x"): [8.0], ("a", "y"): [7.0]}, "new": {("a", "x"): [6.5], ("a", "y"): [10.0]}}
    found = compare(scores, reference={"x": 7.0, "y": 8.0})
    assert (found.metric, found.value) == ("judge_error_change", 0.25)


def test_error_change_over_runs_is_the_signed_contrast():
    rng = np.random.default_rng(4)
    new, old = rng.normal(6, 0.2, size=10), rng.normal(7.5, 0.2, size=10)  # people say 7: one below, one above
    scores = {"new": {("a", "x"): new.tolist()}, "old": {("a", "x"): old.tolist()}}
    found = compare(scores, reference={"x": 7.0})
    interval = stats.ttest_ind(7 - new, old - 7, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_swapping_the_judges_turns_the_sign():
    ratings = table(panel(np.random.default_rng(5), 8, 0.4, 0.5, runs=3))
    for over in ("items", "runs"):
        one = compare_judges(ratings, "new", "old", criterion="total", over=over).of(condition="attributed")
        other = compare_judges(ratings, "old", "new", criterion="total", over=over).of(condition="attributed")
        assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_what_only_one_has_judged_is_left_out_and_counted():
    old = {("a", "x"): [6.0], ("b", "x"): [5.0], ("c", "x"): [None]}
    new = {("a", "x"): [7.0], ("c", "x"): [9.0, None]}
    found = compare({"old": old, "new": new}, over="items")
    assert (found.value, found.n, found.detail["unpaired"], found.n_excluded) == (1.0, 1, 2, 2)
    assert math.isnan(found.low)
    assert found.note.startswith("no interval: ")


def test_nothing_shared_is_undefined():
    found = compare({"old": {("a", "x"): [6.0]}, "new": {("b", "x"): [7.0]}})
    assert not found.defined
    assert found.note == "undefined: no text has a usable score of both new and old"


@pytest.mark.parametrize("over", ["items", "runs"])
def test_no_spread_gives_no_interval(over):
    scores = {"old": {(i, "x"): [0.1 + 0.2, 0.3] for i in "abc"}, "new": {(i, "x"): [1.3, 1.3] for i in "abc"}}
    found = compare(scores, over=over)
    assert found.value == pytest.approx(1.0)
    assert math.isnan(found.low)


def test_each_condition_is_compared_by_itself():
    scores = {"old": {("a", "x"): [6.0]}, "new": {("a", "x"): [7.0]}}
    shifted = {"old": {("a", "x"): [6.0]}, "new": {("a", "x"): [9.0]}}
    both = pd.concat([table(scores), table(shifted, "anonymized")], ignore_index=True)
    found = compare_judges(both, "new", "old", criterion="total")
    assert {key: estimate.value for key, estimate in found.items()} == {("anonymized",): 3.0, ("attributed",): 1.0}
    together = compare_judges(table(scores), "new", "old", criterion="total", by=())
    assert together.of().value == 1.0


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("newest", "old", "total"), "judge newest is not in the ratings; they hold new, old"),
        (("new", "old", "accuracy"), "criterion accuracy is not in the ratings; they hold total"),
        (("new", "new", "total"), "an upgrade is between two judges; new was named as both"),
    ],
)
def test_unknown_names(names, says):
    ratings = table({"new": {("a", "x"): [7.0]}, "old": {("a", "x"): [6.0]}})
    with pytest.raises(RecuseError, match=says):
        compare_judges(ratings, names[0], names[1], criterion=names[2])


def test_a_text_without_a_reference_is_named():
    with pytest.raises(RecuseError, match="no reference score for target y; there is one for x"):
        compare({"old": {("a", "y"): [6.0]}, "new": {("a", "y"): [7.0]}}, reference={"x": 7.0})


def test_coverage_over_items():
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(300):
        found = compare(panel(rng, 12, 0.3, 0.5), over="items")
        hits += found.low <= 0.3 <= found.high
    assert abs(hits / 300 - 0.95) < 0.038  # three standard errors


def test_a_noisier_candidate_does_not_buy_itself_room():
    """Both are 0.4 off a margin of 0.2: the steady one fails, the noisy one stays undecided and never passes."""
    gate = Gate.model_validate({"within": (-0.2, 0.2), "reason": "r"})
    rng = np.random.default_rng(7)
    outcomes = {
        noise: {decide(gate, compare(panel(rng, 20, 0.4, noise), over="items")).outcome for _ in range(40)}
        for noise in (0.05, 1.0)
    }
    assert outcomes[0.05] == {"fail"}
    assert "pass" not in outcomes[1.0]
    steady = {decide(gate, compare(panel(rng, 20, 0.0, 0.1), over="items")).outcome for _ in range(40)}
    assert steady == {"pass"}

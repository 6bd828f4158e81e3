"""A candidate against the incumbent: by hand, against scipy, and a margin that noise cannot widen."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.gates.decisions import decide
from recuse.gates.limits import Limit
from recuse.metrics.upgrade import compare_errors, compare_judges
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.schema import RecuseError


def frame(scores, **factors):
    """A frame from {judge: {(item, target): [score per repeat, None where unusable]}}."""
    rows = [
        (judge, item, target, repeat, score, "refused" if score is None else "ok")
        for judge, cells in scores.items()
        for (item, target), repeats in cells.items()
        for repeat, score in enumerate(repeats)
    ]
    table = pd.DataFrame(rows, columns=["rater", "item", "target", "repeat", "score", "status"])
    return table.astype({"score": float}).assign(**factors)


def compare(scores, over="items", **known):
    return compare_judges(Ratings.of(frame(scores), **known), "new", "old", over=over).of()


def summary(**means):
    return pd.DataFrame({"target": list(means), "mean": list(means.values()), "sd": 0.5, "n": 9})


def panel(rng, items, shift, noise, repeats=1, targets=("x",)):
    """Items differ by an SD of 2; the candidate scores `shift` higher."""
    keys = [(f"i{i}", target) for i in range(items) for target in targets]
    level = {key: rng.normal(7, 2) for key in keys}
    draw = lambda key, more: (level[key] + more + rng.normal(0, noise, size=repeats)).tolist()  # noqa: E731
    return {"old": {key: draw(key, 0.0) for key in keys}, "new": {key: draw(key, shift) for key in keys}}


def test_over_items_by_hand():
    old = {("a", "x"): [6.0, 8.0], ("b", "x"): [5.0], ("c", "x"): [9.0]}
    new = {("a", "x"): [7.0], ("b", "x"): [6.0, 6.0], ("c", "x"): [11.0]}
    found = compare({"old": old, "new": new})
    # differences 0, 1, 2: mean 1, SD 1, standard error 1 / sqrt 3, t(.975, 2) = 4.303
    assert (found.metric, found.value, found.n) == ("judge_shift", 1.0, 3)
    assert (found.low, found.high) == pytest.approx(
        (1 - 4.302653 / math.sqrt(3), 1 + 4.302653 / math.sqrt(3)), abs=1e-6
    )
    assert found.detail["largest"][0] == {"item": "c", "target": "x", "difference": 2.0}


def test_over_items_is_the_paired_t_test():
    scores = panel(np.random.default_rng(1), 30, 0.3, 0.5)
    found = compare(scores)
    a, b = (np.array([repeats[0] for repeats in scores[judge].values()]) for judge in ("new", "old"))
    theirs = stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert 2 * found.distribution.p_value(0.0, "above") == pytest.approx(theirs.pvalue)


def test_over_repeats_on_one_text_is_welchs_t_test():
    rng = np.random.default_rng(2)
    new, old = rng.normal(8, 0.4, size=10), rng.normal(7.5, 0.2, size=12)
    found = compare({"new": {("a", "x"): new.tolist()}, "old": {("a", "x"): old.tolist()}}, over="repeats")
    interval = stats.ttest_ind(new, old, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.over, found.n) == ("repeats", 22)


def test_several_targets_of_an_item_are_one_observation():
    scores = panel(np.random.default_rng(3), 6, 0.3, 0.5, targets=("x", "y"))
    assert compare(scores).n == 6
    assert compare(scores).detail["texts"] == 12


def test_error_change_by_hand():
    """People say 7 and 8; the incumbent is off by 1 and 1, the candidate by .5 and 2: mean of -.5 and 1."""
    scores = {"old": {("a", "x"): [8.0], ("a", "y"): [7.0]}, "new": {("a", "x"): [6.5], ("a", "y"): [10.0]}}
    found = compare_errors(Ratings.of(frame(scores), people=summary(x=7.0, y=8.0)), "new", "old").of()
    assert (found.metric, found.value) == ("judge_error_change", 0.25)


def test_errors_against_the_true_value_of_each_item():
    """True values 7 for a and 5 for b: errors 1 and 2 become 0 and 3: mean of -1 and 1. c has no true value."""
    old = {("a", "x"): [8.0], ("b", "x"): [7.0], ("c", "x"): [1.0]}
    new = {("a", "x"): [7.0], ("b", "x"): [8.0], ("c", "x"): [9.0]}
    truth = pd.DataFrame({"item": ["a", "b"], "value": [7.0, 5.0]})
    ratings = Ratings.of(frame({"old": old, "new": new}), reference=truth)
    found = compare_errors(ratings, "new", "old", against="reference").of()
    assert (found.value, found.n, found.detail["unpaired"]) == (0.0, 2, 1)


def test_error_change_over_repeats_is_the_signed_contrast():
    rng = np.random.default_rng(4)
    new, old = rng.normal(6, 0.2, size=10), rng.normal(7.5, 0.2, size=10)  # people say 7: one below, one above
    scores = {"new": {("a", "x"): new.tolist()}, "old": {("a", "x"): old.tolist()}}
    found = compare_errors(Ratings.of(frame(scores), people=summary(x=7.0)), "new", "old", over="repeats").of()
    interval = stats.ttest_ind(7 - new, old - 7, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("over", ["items", "repeats"])
def test_swapping_the_judges_turns_the_sign(over):
    ratings = Ratings.of(frame(panel(np.random.default_rng(5), 8, 0.4, 0.5, repeats=3)))
    one, other = (compare_judges(ratings, *pair, over=over).of() for pair in (("new", "old"), ("old", "new")))
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_what_only_one_has_judged_is_left_out_and_counted():
    old = {("a", "x"): [6.0], ("b", "x"): [5.0], ("c", "x"): [None]}
    new = {("a", "x"): [7.0], ("c", "x"): [9.0, None]}
    found = compare({"old": old, "new": new})
    assert (found.value, found.n, found.detail["unpaired"], found.n_excluded) == (1.0, 1, 2, 2)
    assert math.isnan(found.low)
    assert found.note.startswith("no interval: ")


def test_nothing_shared_is_undefined():
    found = compare({"old": {("a", "x"): [6.0]}, "new": {("b", "x"): [7.0]}})
    assert not found.defined
    assert found.note == "undefined: no text has a usable score of both new and old"


@pytest.mark.parametrize("over", ["items", "repeats"])
def test_no_spread_gives_no_interval(over):
    scores = {"old": {(i, "x"): [0.1 + 0.2, 0.3] for i in "abc"}, "new": {(i, "x"): [1.3, 1.3] for i in "abc"}}
    found = compare(scores, over=over)
    assert found.value == pytest.approx(1.0)
    assert math.isnan(found.low)


def test_each_level_and_criterion_is_compared_by_itself():
    scores = {"old": {("a", "x"): [6.0]}, "new": {("a", "x"): [7.0]}}
    shifted = {"old": {("a", "x"): [6.0]}, "new": {("a", "x"): [9.0]}}
    both = pd.concat([frame(scores, names="shown"), frame(shifted, names="hidden")], ignore_index=True)
    found = compare_judges(Ratings.of(both), "new", "old")
    assert {key: estimate.value for key, estimate in found.items()} == {("shown",): 1.0, ("hidden",): 3.0}
    two = pd.concat([frame(scores, criterion="tone"), frame(shifted, criterion="facts")])
    found = compare_judges(Ratings.of(two), "new", "old")
    assert {key: estimate.value for key, estimate in found.items()} == {("tone",): 1.0, ("facts",): 3.0}


def test_both_directions_of_a_scale_are_compared_on_the_ascending_one():
    """3 against 1 where high is best is +2; 3 against 5 where 1 is best is +2 too, and no mean of +2 and -2."""
    up = frame({"old": {("a", "x"): [1.0]}, "new": {("a", "x"): [3.0]}}, direction="ascending")
    down = frame({"old": {("a", "x"): [5.0]}, "new": {("a", "x"): [3.0]}}, direction="reversed")
    found = compare_judges(Ratings.of(pd.concat([up, down]), scales=Numeric(1, 5)), "new", "old")
    assert {key: estimate.value for key, estimate in found.items()} == {("ascending",): 2.0, ("reversed",): 2.0}


def test_a_share_of_passes_moves_too():
    rows = [("old", "i", "pass"), ("old", "j", "fail"), ("new", "i", "pass"), ("new", "j", "pass")]
    table = pd.DataFrame(rows, columns=["judge", "item", "response"])
    found = compare_judges(Ratings.of(table, scales=Ordinal(("fail", "pass"))), "new", "old").of()
    assert (found.value, found.unit) == (0.5, "share")


def test_a_refusal_is_counted_and_what_it_could_hide_is_bounded():
    """Shared: +1 on a. The candidate refuses b, which the incumbent gave 6: +4 at best, -6 at worst, on 0 to 10."""
    old, new = {("a", "x"): [5.0], ("b", "x"): [6.0]}, {("a", "x"): [6.0], ("b", "x"): [None]}
    found = compare({"old": old, "new": new}, scales=Numeric(0, 10))
    assert (found.value, found.detail["lost"]) == (1.0, {"new": 1, "old": 0})
    assert found.detail["worst_case"] == [(1 - 6) / 2, (1 + 4) / 2]


def test_what_was_lost_can_be_right_on_the_reference():
    """The incumbent errs by 1 on b, which the candidate refused: -1 if it had been right, 5 - 1 at worst (0 for 5)."""
    old, new = {("a", "x"): [5.0], ("b", "x"): [6.0]}, {("a", "x"): [5.0], ("b", "x"): [None]}
    truth = pd.DataFrame({"item": ["a", "b"], "value": [5.0, 5.0]})
    ratings = Ratings.of(frame({"old": old, "new": new}), scales=Numeric(0, 10), reference=truth)
    found = compare_errors(ratings, "new", "old", against="reference").of()
    assert found.detail["worst_case"] == [-0.5, 2.0]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("newest", "old"), "judge newest is not in the ratings; they hold new, old"),
        (("new", "new"), "an upgrade is between two judges; new was named as both"),
    ],
)
def test_unknown_names(names, says):
    with pytest.raises(RecuseError, match=says):
        compare_judges(Ratings.of(frame({"new": {("a", "x"): [7.0]}, "old": {("a", "x"): [6.0]}})), *names)


def test_errors_against_nothing_are_refused():
    ratings = Ratings.of(frame({"old": {("a", "y"): [6.0]}, "new": {("a", "y"): [7.0]}}))
    with pytest.raises(RecuseError, match="there are no people to compare judges with"):
        compare_errors(ratings, "new", "old")
    with pytest.raises(RecuseError, match="no true values: give reference="):
        compare_errors(ratings, "new", "old", against="reference")


@pytest.mark.slow
def test_coverage_over_items():
    rng = np.random.default_rng(6)
    hits = 0
    for _ in range(150):
        found = compare(panel(rng, 12, 0.3, 0.5))
        hits += found.low <= 0.3 <= found.high
    assert abs(hits / 150 - 0.95) < 0.054  # three standard errors


@pytest.mark.slow
def test_a_noisier_candidate_does_not_buy_itself_room():
    """Both are 0.4 off a margin of 0.2: the steady one fails, the noisy one stays undecided and never passes."""
    limit = Limit("within", -0.2, 0.2)
    rng = np.random.default_rng(7)
    outcomes = {
        noise: {decide(limit, compare(panel(rng, 20, 0.4, noise))).outcome for _ in range(40)} for noise in (0.05, 1.0)
    }
    assert outcomes[0.05] == {"fail"}
    assert "pass" not in outcomes[1.0]
    steady = {decide(limit, compare(panel(rng, 20, 0.0, 0.1))).outcome for _ in range(40)}
    assert steady == {"pass"}

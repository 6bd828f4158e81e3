"""Consensus deviation: published numbers, hand arithmetic, the identities of appendix F, coverage, degenerate input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import consensus
from recuse.papers.merchant_risk import judge_profiles, name_effect
from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean
from recuse.ratings import Numeric, Ordinal, check_table
from recuse.schema import RatingsError

EXPECTED = pd.read_csv(Path(__file__).parent / "data" / "bias_recomputed.csv")
CONDITIONS = {"attributed": "shown", "anonymized": "hidden"}


def cell(matrix, judge, target):
    return matrix["values"][matrix["rows"].index(judge)][matrix["columns"].index(target)]


def random_panel(make_frame, n=4, m=3, repeats=6, seed=1):
    rng = np.random.default_rng(seed)
    judges, targets = [f"j{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    return make_frame({(j, t): rng.normal(8, 1, repeats) for j in judges for t in targets})


# --------------------------------------------------------------------------- published


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("criterion", ["total", "criteria_mean"])
def test_every_bias_of_the_published_tables(published, condition, criterion):
    """Appendix E, recomputed: 25 cells of each matrix, from the printed finals and from the printed criteria."""
    family = judge_profiles.consensus_deviation(with_criteria_mean(published))
    found = family.of(names=CONDITIONS[condition], criterion=criterion).detail
    expected = EXPECTED[(EXPECTED["criterion"] == criterion) & (EXPECTED["condition"] == condition)]
    assert len(expected) == 25
    for row in expected.itertuples():
        assert cell(found, row.judge, row.target) == pytest.approx(row.peer_bias, abs=1e-9)
        assert cell({**found, "values": found["scores"]}, row.judge, row.target) == pytest.approx(row.score, abs=1e-9)


def test_published_self_biases(published, own):
    """Secs. 4.3.1-4.3.2; the paper prints -0.335 as -0.33, -0.315 as -0.31, 0.605 as 0.60, 0.145 as 0.15."""
    found = consensus.self_bias(published)
    values = {names: [found.of(judge=judge, names=names).value for judge in own] for names in CONDITIONS.values()}
    assert values["shown"] == pytest.approx([-0.335, 0.77, 0.71, -0.315, 0.21])
    assert values["hidden"] == pytest.approx([-0.3, 0.56, 0.605, -0.16, 0.145])
    one = found.of(judge="gpt-5.1", names="shown")
    assert (one.n, one.over, one.unit) == (50, "repeats", "points")
    assert "these texts only" in one.note


def test_published_bias_gone_without_names(published, own):
    """Unrounded 10.4/27.3/14.8/49.2/31.0 %, mean 26.5; the printed 9.1/27.3/15.5/48.4/28.6 come from rounded biases."""
    found = name_effect.name_effect(published)
    each = [found.of(judge=judge).detail["gone_pct"] for judge in own]
    assert each == pytest.approx([10.4478, 27.2727, 14.7887, 49.2063, 30.9524], abs=1e-4)
    assert all(found.of(judge=judge).detail["direction_kept"] for judge in own)
    mean = name_effect.bias_gone_without_names(published).of()
    assert mean.value == pytest.approx(np.mean(each)) == pytest.approx(26.5, abs=0.05)
    assert math.isnan(mean.low)  # a ratio whose denominator may be 0
    assert mean.detail["judges"]["grok-4"] == pytest.approx(14.7887, abs=1e-4)


# --------------------------------------------------------------------------- by hand


def test_by_hand(rate):
    """Target a: means 9, 8, 7. Bias(x, a) = 9 - (8 + 7)/2 = 1.5. Variances of the two repeats are 2 each:
    Var = 2/2 + (2/2 + 2/2)/4 = 1.5, df = 1.5^2 / (1^2/1 + 0.25^2/1 + 0.25^2/1) = 2."""
    ratings = rate({("x", "a"): [8, 10], ("y", "a"): [7, 9], ("z", "a"): [6, 8]}, authors={"x": "a"})
    estimate = consensus.self_bias(ratings).of(judge="x")
    assert (estimate.value, estimate.distribution.se, estimate.distribution.df) == pytest.approx(
        (1.5, math.sqrt(1.5), 2.0)
    )
    assert estimate.low == pytest.approx(1.5 - stats.t(2).ppf(0.975) * math.sqrt(1.5))


def test_papers_two_judges(rate):
    """Appendix F.3: scores 10 and 8 give +2 and -2; a consensus that includes the judge says +1 and -1."""
    found = judge_profiles.consensus_deviation(rate({("one", "j"): [10, 10], ("two", "j"): [8, 8]})).of()
    assert found.detail["values"] == [[2.0], [-2.0]]
    assert found.detail["naive"] == {"values": [[1.0], [-1.0]], "shrinkage": 0.5, "expected": 0.5}


def test_two_judges_are_welchs_test(rate):
    """But for the smaller variance, which is pulled up, and for skewness: here there is none, and both are alike."""
    a = 9 + 0.5 * np.array([-1.2, -0.7, -0.2, 0.2, 0.7, 1.2])
    b = a - 0.4
    estimate = consensus.self_bias(rate({("x", "t"): a, ("y", "t"): b}, authors={"x": "t"})).of(judge="x")
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))


def test_leniency_and_self_preference_by_hand(rate):
    """x scores a, b, c (its own is a) 9, 8, 8; y and z give 7 everywhere: biases 2, 1, 1, leniency 1, preference 1."""
    scores = {("x", t): [s - 0.1, s + 0.1] for t, s in {"a": 9, "b": 8, "c": 8}.items()}
    scores |= {(j, t): [6.9, 7.1] for j in "yz" for t in "abc"}
    ratings = rate(scores, authors={"x": "a"})
    leniency = consensus.leniency(ratings)
    assert leniency.of(judge="x").value == pytest.approx(1.0)
    assert consensus.self_preference(ratings).of(judge="x").value == pytest.approx(1.0)
    assert leniency.of(judge="y").value == pytest.approx(-2 / 3)  # no target of its own: all three


def test_name_effect_of_the_only_text(rate, make_frame):
    a = make_frame({("x", "t"): [9, 10], ("y", "t"): [8, 9]}, names="shown")
    b = make_frame({("x", "t"): [7, 9], ("y", "t"): [8, 8.5]}, names="hidden")
    found = name_effect.name_effect(rate(pd.concat([a, b]), authors={"x": "t"})).of(judge="x")
    assert found.value == pytest.approx(1.0 - -0.25)
    assert found.detail["these_texts"][0] < 1.25 < found.detail["these_texts"][1]
    assert {name: found.detail[name] for name in ("shown", "hidden", "gone_pct", "direction_kept")} == {
        "shown": 1.0, "hidden": -0.25, "gone_pct": 75.0, "direction_kept": False,
    }  # fmt: skip
    assert "two texts that it did not write" in found.note


def test_over_items_deviations_are_the_sample(rate):
    """One repeat, four items: x less y is 1, 0, 2, 1: the paired t of scipy."""
    x, y = [5.0, 4.0, 5.0, 3.0], [4.0, 4.0, 3.0, 2.0]
    cells = {(judge, f"i{k}", "a"): [v] for judge, values in (("x", x), ("y", y)) for k, v in enumerate(values)}
    found = consensus.self_bias(rate(cells, authors={"x": "a"})).of(judge="x")
    theirs = stats.ttest_rel(x, y).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.value, found.n, found.over) == (1.0, 4, "items")


def test_items_that_share_something_are_one_observation(rate):
    """The same four items, two and two of one story: clusters with mean deviations 0.5 and 1.5."""
    cells = {("x", f"i{k}", "a"): [v] for k, v in enumerate((5.0, 4.0, 5.0, 3.0))}
    cells |= {("y", f"i{k}", "a"): [v] for k, v in enumerate((4.0, 4.0, 3.0, 2.0))}
    texts = pd.DataFrame({"item": [f"i{k}" for k in range(4)], "target": "a", "cluster": ["s", "s", "t", "t"]})
    found = consensus.self_bias(rate(cells, authors={"x": "a"}, texts=texts, clusters="stories")).of(judge="x")
    theirs = stats.ttest_1samp([0.5, 1.5], 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.over, found.clusters) == ("clusters", "stories")


def test_a_share_deviates_like_a_score(rate):
    """x passes 2 of 2 texts, y and z one of two each, not the same: 1 - 0.5."""
    rows = [("x", "i", "pass"), ("x", "j", "pass"), ("y", "i", "pass"), ("y", "j", "fail"), ("z", "i", "fail"),
            ("z", "j", "pass")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["judge", "item", "response"])
    found = consensus.leniency(rate(frame, scales=Ordinal(("fail", "pass"))))
    assert found.of(judge="x").value == 0.5
    assert (found.of(judge="x").unit, found.of(judge="x").span) == ("share", 1.0)


def test_a_turned_scale_is_turned_back(rate, make_frame):
    up = make_frame({("x", "i", "t"): [5], ("y", "i", "t"): [4]}, direction="ascending")
    down = make_frame({("x", "i", "t"): [1], ("y", "i", "t"): [2]}, direction="reversed")
    found = consensus.leniency(rate(pd.concat([up, down]), scales=Numeric(1, 5)))
    assert {key: e.value for key, e in found.items() if key[0] == "x"} == {
        ("x", "ascending"): 1.0,
        ("x", "reversed"): 1.0,
    }


# --------------------------------------------------------------------------- identities


@pytest.mark.parametrize(("n", "m"), [(2, 1), (4, 3), (7, 2)])
def test_zero_sum_and_shrinkage(rate, make_frame, n, m):
    """Propositions 1 and F.3, on random panels: columns add up to 0, naive deviations are (n - 1)/n of true ones."""
    found = judge_profiles.consensus_deviation(rate(random_panel(make_frame, n, m, seed=n))).of().detail
    values = np.array(found["values"])
    assert np.abs(values.sum(axis=0)).max() < 1e-9
    assert found["zero_sum"] < 1e-9
    assert np.array(found["naive"]["values"]) == pytest.approx(values * (n - 1) / n, abs=1e-9)
    assert found["naive"]["shrinkage"] == pytest.approx((n - 1) / n)


def test_a_judge_moves_its_own_bias_one_for_one(rate, make_frame):
    """Proposition 2: adding d to one judge's scores of one target adds d to its bias, and to its naive bias less."""
    frame = random_panel(make_frame)
    there = (frame["rater"] == "j1") & (frame["target"] == "t2")
    raised = frame.assign(score=frame["score"] + 0.8 * there)
    before, after = (judge_profiles.consensus_deviation(rate(f)).of().detail for f in (frame, raised))
    assert cell(after, "j1", "t2") - cell(before, "j1", "t2") == pytest.approx(0.8)
    assert cell(after, "j1", "t1") == pytest.approx(cell(before, "j1", "t1"))


def test_names_and_order_of_rows_do_not_matter(rate, make_frame):
    frame, own = random_panel(make_frame), {"j0": "t0", "j3": "t2"}
    shuffled = frame.sample(frac=1, random_state=1)
    names = {"j0": "b", "j1": "d", "j2": "a", "j3": "c"}
    renamed = rate(frame.assign(rater=frame["rater"].map(names)), authors={names[j]: t for j, t in own.items()})
    found = consensus.self_bias(rate(frame, authors=own))
    again, other = consensus.self_bias(rate(shuffled, authors=own)), consensus.self_bias(renamed)
    for (judge,), estimate in found.items():
        for same in (again.of(judge=judge), other.of(judge=names[judge])):
            assert (same.value, same.low, same.n) == pytest.approx((estimate.value, estimate.low, estimate.n))


def test_quality_is_not_preference(rate):
    """Unequal texts, no self-preference: x wrote the best text, and everybody says so."""
    quality = {"a": 9.5, "b": 7.0, "c": 6.0}
    level = {"x": 0.4, "y": 0.0, "z": -0.2}
    scores = {(j, t): [q + d - 0.1, q + d + 0.1] for t, q in quality.items() for j, d in level.items()}
    ratings = rate(scores, authors={"x": "a", "y": "b", "z": "c"})
    found = consensus.self_preference(ratings)
    assert [estimate.value for estimate in found.values()] == pytest.approx([0, 0, 0], abs=1e-9)
    bias = consensus.self_bias(ratings).of(judge="x")
    assert bias.value == pytest.approx(0.4 + 0.1)  # its leniency shows in self-bias, not in self-preference


@pytest.mark.slow
def test_nominal_rate_of_false_self_preference(rate):
    """A fair panel of unequal quality: 95 % intervals miss 0 about one time in twenty."""
    rng, missed, sims = np.random.default_rng(3), 0, 120
    for _ in range(sims):
        scores = {(j, t): 7 + i + rng.normal(0, 0.3, 10) for j in "xyz" for i, t in enumerate("abc")}
        found = consensus.self_preference(rate(scores, authors={"x": "a", "y": "b", "z": "c"}))
        missed += sum(not e.low <= 0 <= e.high for e in found.values())
    assert missed / (3 * sims) == pytest.approx(0.05, abs=0.035)


# --------------------------------------------------------------------------- means of parts per reply


def with_mean(rate, parts, criteria):
    ratings = rate(pd.concat(parts), parts=tuple(criteria), headline=["accuracy"])
    return with_criteria_mean(ratings).table.query("criterion == 'criteria_mean'")


def test_criteria_mean_of_each_reply(rate, make_frame, criteria):
    replies = {name: [8, 9, 7] for name in criteria}
    replies |= {"accuracy": [10, 9, "refused"], "practicality": [8, "unparsed", 7]}
    frame = pd.concat([make_frame({("x", "t"): scores}, criterion=name) for name, scores in replies.items()])
    added = with_criteria_mean(rate(frame, parts=tuple(criteria), headline=["accuracy"]))
    assert check_table(added.table) is added.table
    assert added.headline == ("accuracy", "criteria_mean")
    mean = added.table[added.table["criterion"] == "criteria_mean"]
    assert mean["status"].tolist() == ["ok", "unparsed", "refused"]
    assert mean["score"].tolist()[0] == pytest.approx((10 + 8 + 8 + 8 + 8) / 5)
    assert mean["score"].isna().tolist() == [False, True, True]
    assert len(added.table) == len(frame) + 3
    assert mean["request"].iloc[0] == frame["request"].iloc[0]


def test_a_reply_that_lacks_a_part_has_no_mean(rate, make_frame, criteria):
    frame = pd.concat([make_frame({("x", "t"): [8, 8]}, criterion=name) for name in criteria])
    torn = frame[(frame["criterion"] != "quality") | (frame["repeat"] != 1)]
    assert with_mean(rate, [torn], criteria)["status"].tolist() == ["ok", "unparsed"]


def test_the_same_scores_in_another_order_have_the_same_mean(rate, make_frame, criteria):
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in binary; a judge that repeats itself must not seem to vary."""
    replies = [[0.1, 0.2, 0.3, 0.7, 9.9], [9.9, 0.7, 0.3, 0.2, 0.1]]
    parts = [
        make_frame({("x", "t"): list(scores)}, criterion=c)
        for c, scores in zip(criteria, zip(*replies, strict=True), strict=True)
    ]
    assert with_mean(rate, parts, criteria)["score"].nunique() == 1


def test_a_mean_of_no_parts_is_refused(rate):
    with pytest.raises(RatingsError, match=r"name no parts whose mean could be taken; give parts=\("):
        with_criteria_mean(rate({("x", "t"): [8]}))


# --------------------------------------------------------------------------- degenerate input


def test_one_judge_has_no_consensus(rate, make_frame):
    cells = {("x", "a"): [8, 9], ("x", "b"): [7, 7]}
    ratings = rate(cells, authors={"x": "a"})
    both = pd.concat([make_frame(cells, names=names) for names in CONDITIONS.values()])
    for found in (
        judge_profiles.consensus_deviation(ratings).of(),
        *(
            compute(ratings).of(judge="x")
            for compute in (consensus.self_bias, consensus.leniency, consensus.self_preference)
        ),
        name_effect.name_effect(rate(both, authors={"x": "a"})).of(judge="x"),
    ):
        assert not found.defined
        assert found.note == "undefined: no consensus: one judge"


def test_a_hole_costs_the_judge_it_belongs_to(rate):
    """On b only y has a score. x's own work is a, scored by all; z was never asked about b."""
    cells = {
        ("x", "a"): [8, 9], ("y", "a"): [8, 8], ("z", "a"): [6, 6], ("x", "b"): ["refused", "refused"],
        ("y", "b"): [7, "unparsed"],
    }  # fmt: skip
    found = consensus.self_bias(rate(cells, authors={"x": "a", "y": "b"}))
    assert found.of(judge="x").value == pytest.approx(8.5 - 7)
    assert found.of(judge="y").note == (
        "undefined: no text of its own has a usable score of its own and of a peer (b: 1 unparsed)"
    )
    assert consensus.leniency(rate(cells)).of(judge="z").value == pytest.approx(6 - 8.25)


def test_a_judge_that_skipped_a_level_is_not_forgotten(rate, make_frame):
    hidden = make_frame({("x", "a"): [8, 9], ("y", "a"): [8, 8]}, names="hidden")
    shown = make_frame({("x", "a"): [8, 9], ("y", "a"): [8, 8], ("z", "a"): [7, 7]}, names="shown")
    asked = make_frame({("z", "a"): ["error"]}, names="hidden")
    found = consensus.leniency(rate(pd.concat([shown, hidden, asked])))
    assert "(a: 1 error)" in found.of(judge="z", names="hidden").note
    assert found.of(judge="z", names="shown").value == pytest.approx(7 - 8.25)


def test_unusable_repeats_are_counted_and_left_out(rate):
    cells = {("x", "a"): [8, 9, 10, "refused"], ("y", "a"): [8, "unparsed", "out_of_scale", 8]}
    found = consensus.self_bias(rate(cells, authors={"x": "a"})).of(judge="x")
    assert (found.value, found.n, found.n_excluded) == (1.0, 5, 3)


def test_equal_repeats_are_as_sure_as_a_step_of_the_scale_lets_them(rate):
    cells = {("x", "a"): [9, 9, 9], ("y", "a"): [7, 7, 7]}
    found = consensus.self_bias(rate(cells, authors={"x": "a"}, scales=Numeric(0, 10, 1))).of(judge="x")
    assert found.value == 2.0
    assert 0.3 < 2 - found.low < 1  # three repeats each: a slip by one point is anything but ruled out


def test_a_single_repeat_of_a_single_text_borrows_its_peers_spread(rate):
    """y's variance 1/2 for x's one reply: Var = 1/2 + (1/2) / 2, 1 df each."""
    found = consensus.self_bias(rate({("x", "a"): [9], ("y", "a"): [7, 8]}, authors={"x": "a"})).of(judge="x")
    assert found.value == 1.5
    assert found.distribution.se == pytest.approx(math.sqrt(0.75))


def test_an_author_of_the_only_target_has_no_leniency(rate):
    found = consensus.leniency(rate({("x", "a"): [9, 8], ("y", "a"): [7, 8]}, authors={"x": "a"}))
    assert found.of(judge="x").note == "undefined: there is no text of another"
    assert found.of(judge="y").defined


def test_no_bias_has_no_direction_and_nothing_to_shrink(rate, make_frame):
    cells = {("x", "a"): [8, 9], ("y", "a"): [9, 8]}
    both = pd.concat([make_frame(cells, names=names) for names in CONDITIONS.values()])
    ratings = rate(both, authors={"x": "a"})
    detail = name_effect.name_effect(ratings).of(judge="x").detail
    assert (detail["gone_pct"], detail["direction_kept"]) == (None, None)
    mean = name_effect.bias_gone_without_names(ratings).of()
    assert not mean.defined
    assert "no judge has a self-bias" in mean.note


def test_a_missing_level_leaves_the_name_effect_undefined(rate, make_frame):
    frame = make_frame({("x", "a"): [8, 9], ("y", "a"): [9, 8]}, names="shown")
    found = name_effect.name_effect(rate(frame, authors={"x": "a"})).of(judge="x")
    assert not found.defined
    assert "nothing was asked with names hidden" in found.note


def test_people_are_not_peers(rate, make_frame):
    judges = make_frame({("x", "a"): [9, 9.5], ("y", "a"): [7, 7.5]})
    people = make_frame({("ann", "a"): [1, 1]}, kind="person")
    both = consensus.self_bias(rate(pd.concat([judges, people]), authors={"x": "a"}, scales=Numeric(0, 10)))
    alone = consensus.self_bias(rate(judges, authors={"x": "a"}, scales=Numeric(0, 10)))
    assert dict(both) == dict(alone)


def test_an_author_who_judged_nothing_or_wrote_nothing_here_is_no_error(rate):
    cells = {("x", "a"): [8, 9], ("y", "a"): [9, 8]}
    assert not consensus.self_bias(rate(cells, authors={"w": "a"}))
    assert (
        consensus.self_bias(rate(cells, authors={"x": "c"})).of(judge="x").note
        == "undefined: there is no text of its own"
    )


def test_an_unknown_criterion_is_named(rate):
    with pytest.raises(RatingsError, match="no ratings of criterion charm; there are total"):
        rate({("x", "a"): [8, 9]}).with_criterion("charm")


def test_a_panel_of_twenty_judges_and_two_thousand_texts(rate):
    """Every number rests on all five hundred items."""
    rng = np.random.default_rng(4)
    names = pd.MultiIndex.from_product([range(20), range(500), range(4)], names=["rater", "item", "target"])
    frame = names.to_frame(index=False).astype(str).assign(score=rng.integers(1, 6, len(names)).astype(float))
    found = consensus.leniency(rate(frame, scales=Numeric(1, 5), authors={str(k): str(k) for k in range(4)}))
    assert sum(e.value for e in judge_profiles.consensus_deviation(rate(frame)).values()) > 0
    assert found.of(judge="7").n == 500

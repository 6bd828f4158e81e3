"""Consensus deviation: published numbers, hand arithmetic, the identities of appendix F, coverage, degenerate input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import consensus
from recuse.schema import RecuseError, check_ratings

EXPECTED = pd.read_csv(Path(__file__).parent / "data" / "bias_recomputed.csv")
CONDITIONS = ["attributed", "anonymized"]


def cell(matrix, judge, target):
    return matrix["values"][matrix["rows"].index(judge)][matrix["columns"].index(target)]


def random_panel(make_ratings, n=4, m=3, runs=6, seed=1):
    rng = np.random.default_rng(seed)
    judges, targets = [f"j{i}" for i in range(n)], [f"t{j}" for j in range(m)]
    return make_ratings({(j, t): rng.normal(8, 1, runs) for j in judges for t in targets})


# --------------------------------------------------------------------------- published


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("criterion", ["total", "criteria_mean"])
def test_every_bias_of_the_published_tables(published, own, criteria, condition, criterion):
    """Appendix E, recomputed: 25 cells of each matrix, from the printed finals and from the printed criteria."""
    ratings = consensus.with_criteria_mean(published, criteria)
    found = consensus.consensus_deviation(ratings, own, condition=condition, criterion=criterion).detail
    expected = EXPECTED[(EXPECTED["criterion"] == criterion) & (EXPECTED["condition"] == condition)]
    assert len(expected) == 25
    for row in expected.itertuples():
        assert cell(found, row.judge, row.target) == pytest.approx(row.peer_bias, abs=1e-9)
        assert cell({**found, "values": found["scores"]}, row.judge, row.target) == pytest.approx(row.score, abs=1e-9)


def test_published_self_biases(published, own):
    """Secs. 4.3.1-4.3.2; the paper prints -0.335 as -0.33, -0.315 as -0.31, 0.605 as 0.60, 0.145 as 0.15."""
    found = consensus.self_bias(published, own)
    values = {c: [found.of(judge=judge, condition=c).value for judge in own] for c in CONDITIONS}
    assert values["attributed"] == pytest.approx([-0.335, 0.77, 0.71, -0.315, 0.21])
    assert values["anonymized"] == pytest.approx([-0.3, 0.56, 0.605, -0.16, 0.145])
    one = found.of(judge="gpt-5.1", condition="attributed")
    assert (one.n, one.over, one.unit) == (50, "runs", "points")
    assert "these texts only" in one.note


def test_published_attenuation(published, own):
    """Unrounded 10.4/27.3/14.8/49.2/31.0 %, mean 26.5; the printed 9.1/27.3/15.5/48.4/28.6 come from rounded biases."""
    found = consensus.name_effect(published, own)
    each = [found.of(judge=judge).detail["attenuation_pct"] for judge in own]
    assert each == pytest.approx([10.4478, 27.2727, 14.7887, 49.2063, 30.9524], abs=1e-4)
    assert all(found.of(judge=judge).detail["direction_kept"] for judge in own)
    mean = consensus.attenuation_mean(published, own, draws=999)
    assert mean.value == pytest.approx(np.mean(each)) == pytest.approx(26.5, abs=0.05)
    assert mean.low < 0 < mean.high  # ten runs cannot tell the mean attenuation from none
    assert mean.detail["judges"]["grok-4"] == pytest.approx(14.7887, abs=1e-4)


# --------------------------------------------------------------------------- by hand


def test_by_hand(make_ratings):
    """Target a: means 9, 8, 7. Bias(x, a) = 9 - (8 + 7)/2 = 1.5. Variances of the two runs 2, 0.5, 0:
    Var = 2/2 + (0.5/2 + 0/2)/4 = 1.0625, df = 1.0625^2 / (1^2/1 + 0.0625^2/1) = 1.1245136."""
    ratings = make_ratings({("x", "a"): [8, 10], ("y", "a"): [7.5, 8.5], ("z", "a"): [7, 7]})
    estimate = consensus.self_bias(ratings, {"x": "a"}).of(judge="x", condition="attributed")
    assert (estimate.value, estimate.distribution.se, estimate.distribution.df) == pytest.approx(
        (1.5, math.sqrt(1.0625), 1.1245136)
    )
    assert estimate.low == pytest.approx(1.5 - stats.t(1.1245136).ppf(0.975) * math.sqrt(1.0625))


def test_papers_two_judges(make_ratings):
    """Appendix F.3: scores 10 and 8 give +2 and -2; a consensus that includes the judge says +1 and -1."""
    found = consensus.consensus_deviation(
        make_ratings({("one", "j"): [10, 10], ("two", "j"): [8, 8]}), {}, condition="attributed"
    )
    assert found.detail["values"] == [[2.0], [-2.0]]
    assert found.detail["naive"] == {"values": [[1.0], [-1.0]], "shrinkage": 0.5, "expected": 0.5}


def test_two_judges_are_welchs_test(make_ratings):
    rng = np.random.default_rng(2)
    a, b = rng.normal(9, 0.5, 10), rng.normal(8.5, 0.2, 8)
    estimate = consensus.self_bias(make_ratings({("x", "t"): a, ("y", "t"): b}), {"x": "t"}).of(
        judge="x", condition="attributed"
    )
    assert (estimate.low, estimate.high) == pytest.approx(
        stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    )


def test_leniency_and_self_preference_by_hand(make_ratings):
    """x scores a, b, c (its own is a) 9, 8, 8; y and z give 7 everywhere: biases 2, 1, 1, leniency 1, preference 1."""
    scores = {("x", t): [s - 0.1, s + 0.1] for t, s in {"a": 9, "b": 8, "c": 8}.items()}
    scores |= {(j, t): [6.9, 7.1] for j in "yz" for t in "abc"}
    ratings, subject = make_ratings(scores), {"judge": "x", "condition": "attributed"}
    leniency = consensus.leniency(ratings, {"x": "a"})
    assert leniency.of(**subject).value == pytest.approx(1.0)
    assert consensus.self_preference(ratings, {"x": "a"}).of(**subject).value == pytest.approx(1.0)
    assert leniency.of(judge="y", condition="attributed").value == pytest.approx(
        -2 / 3
    )  # no target of its own: all three


def test_name_effect_adds_variances(make_ratings):
    a = make_ratings({("x", "t"): [9, 10], ("y", "t"): [8, 9]})
    b = make_ratings({("x", "t"): [7, 9], ("y", "t"): [8, 8.5]}, condition="anonymized")
    found = consensus.name_effect(pd.concat([a, b]), {"x": "t"}).of(judge="x")
    assert found.value == pytest.approx(1.0 - -0.25)
    assert found.distribution.se == pytest.approx(math.sqrt((0.5 + 0.5 + 2.0 + 0.125) / 2))
    assert found.detail == {"attributed": 1.0, "anonymized": -0.25, "attenuation_pct": 75.0, "direction_kept": False}


def test_pair_bias_is_the_matrix_cell_by_cell(published, own):
    pairs = consensus.pair_bias(published)
    detail = consensus.consensus_deviation(published, own, condition="anonymized").detail
    assert len(pairs) == 50
    one = pairs.of(judge="grok-4", target="gpt-5.1", condition="anonymized")
    i, j = detail["rows"].index("grok-4"), detail["columns"].index("gpt-5.1")
    assert (one.value, one.low, one.high) == pytest.approx([detail[key][i][j] for key in ("values", "low", "high")])
    assert one.value == pytest.approx(0.55)


# --------------------------------------------------------------------------- identities


@pytest.mark.parametrize(("n", "m"), [(2, 1), (4, 3), (7, 2)])
def test_zero_sum_and_shrinkage(make_ratings, n, m):
    """Propositions 1 and F.3, on random panels: columns add up to 0, naive deviations are (n - 1)/n of true ones."""
    found = consensus.consensus_deviation(random_panel(make_ratings, n, m, seed=n), {}, condition="attributed").detail
    values = np.array(found["values"])
    assert np.abs(values.sum(axis=0)).max() < 1e-9
    assert found["zero_sum"] < 1e-9
    assert np.array(found["naive"]["values"]) == pytest.approx(values * (n - 1) / n, abs=1e-9)
    assert found["naive"]["shrinkage"] == pytest.approx((n - 1) / n)


def test_a_judge_moves_its_own_bias_one_for_one(make_ratings):
    """Proposition 2: adding d to one judge's scores of one target adds d to its bias, and to its naive bias less."""
    ratings = random_panel(make_ratings)
    raised = ratings.assign(
        score=ratings["score"].where((ratings["judge"] != "j1") | (ratings["target"] != "t2"), ratings["score"] + 0.8)
    )
    before, after = (consensus.consensus_deviation(r, {}, condition="attributed").detail for r in (ratings, raised))
    assert cell(after, "j1", "t2") - cell(before, "j1", "t2") == pytest.approx(0.8)
    assert cell(after, "j1", "t1") == pytest.approx(cell(before, "j1", "t1"))


def test_names_and_order_of_rows_do_not_matter(make_ratings):
    ratings, own = random_panel(make_ratings), {"j0": "t0", "j3": "t2"}
    shuffled = ratings.sample(frac=1, random_state=1)
    names = {"j0": "b", "j1": "d", "j2": "a", "j3": "c"}
    renamed = ratings.assign(judge=ratings["judge"].map(names))
    found = consensus.self_bias(ratings, own)
    assert dict(consensus.self_bias(shuffled, own)) == dict(found)
    other = consensus.self_bias(renamed, {names[judge]: target for judge, target in own.items()})
    for (judge, condition), estimate in found.items():
        assert other.of(judge=names[judge], condition=condition) == estimate


def test_quality_is_not_preference(make_ratings):
    """Unequal texts, no self-preference: x wrote the best text, and everybody says so."""
    quality = {"a": 9.5, "b": 7.0, "c": 6.0}
    level = {"x": 0.4, "y": 0.0, "z": -0.2}
    scores = {(j, t): [q + d - 0.1, q + d + 0.1] for t, q in quality.items() for j, d in level.items()}
    own = {"x": "a", "y": "b", "z": "c"}
    found = consensus.self_preference(make_ratings(scores), own)
    assert [estimate.value for estimate in found.values()] == pytest.approx([0, 0, 0], abs=1e-9)
    bias = consensus.self_bias(make_ratings(scores), own).of(judge="x", condition="attributed")
    assert bias.value == pytest.approx(0.4 + 0.1)  # its leniency shows in self-bias, not in self-preference


def test_nominal_rate_of_false_self_preference(make_ratings):
    """A fair panel of unequal quality: 95 % intervals miss 0 about one time in twenty."""
    rng, missed, sims = np.random.default_rng(3), 0, 120
    for _ in range(sims):
        scores = {(j, t): 7 + i + rng.normal(0, 0.3, 10) for j in "xyz" for i, t in enumerate("abc")}
        found = consensus.self_preference(make_ratings(scores), {"x": "a", "y": "b", "z": "c"})
        missed += sum(not e.low <= 0 <= e.high for e in found.values())
    assert missed / (3 * sims) == pytest.approx(0.05, abs=0.035)


# --------------------------------------------------------------------------- per-run means


def test_criteria_mean_of_each_run(make_ratings, criteria):
    runs = {name: [8, 9, 7] for name in criteria} | {"accuracy": [10, 9, "refused"], "practicality": [8, "unparsed", 7]}
    ratings = pd.concat([make_ratings({("x", "t"): scores}, criterion=name) for name, scores in runs.items()])
    added = consensus.with_criteria_mean(ratings, criteria)
    check_ratings(added, factors=("condition",))
    mean = added[added["criterion"] == "criteria_mean"]
    assert mean["status"].tolist() == ["ok", "unparsed", "refused"]
    assert mean["score"].tolist()[0] == pytest.approx((10 + 8 + 8 + 8 + 8) / 5)
    assert mean["score"].isna().tolist() == [False, True, True]
    assert len(added) == len(ratings) + 3
    assert mean["request"].iloc[0] == ratings["request"].iloc[0]


def test_a_run_that_lacks_a_criterion_has_no_mean(make_ratings, criteria):
    ratings = pd.concat([make_ratings({("x", "t"): [8, 8]}, criterion=name) for name in criteria])
    torn = ratings[(ratings["criterion"] != "quality") | (ratings["repeat"] != 1)]
    mean = consensus.with_criteria_mean(torn, criteria).query("criterion == 'criteria_mean'")
    assert mean["status"].tolist() == ["ok", "unparsed"]


def test_the_same_scores_in_another_order_have_the_same_mean(make_ratings, criteria):
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in binary; a judge that repeats itself must not seem to vary."""
    runs = [[0.1, 0.2, 0.3, 0.7, 9.9], [9.9, 0.7, 0.3, 0.2, 0.1]]
    parts = [
        make_ratings({("x", "t"): list(scores)}, criterion=c)
        for c, scores in zip(criteria, zip(*runs, strict=True), strict=True)
    ]
    mean = consensus.with_criteria_mean(pd.concat(parts), criteria).query("criterion == 'criteria_mean'")
    assert mean["score"].nunique() == 1


# --------------------------------------------------------------------------- degenerate input


def test_one_judge_has_no_consensus(make_ratings):
    ratings = make_ratings({("x", "a"): [8, 9], ("x", "b"): [7, 7]})
    for found in (
        consensus.consensus_deviation(ratings, {"x": "a"}, condition="attributed"),
        *(
            measure(ratings, {"x": "a"}).of(judge="x", condition="attributed")
            for measure in (consensus.self_bias, consensus.leniency, consensus.self_preference)
        ),
        consensus.name_effect(pd.concat([ratings, ratings.assign(condition="anonymized")]), {"x": "a"}).of(judge="x"),
    ):
        assert not found.defined
        assert found.note == "undefined: no consensus: one judge"


def test_a_hole_is_named_with_what_happened_there(make_ratings):
    ratings = make_ratings({
        ("x", "a"): [8, 9], ("y", "a"): [8, 8], ("z", "a"): [6], ("x", "b"): ["refused", "refused"],
        ("y", "b"): [7, "unparsed"],
    })  # fmt: skip
    with pytest.raises(RecuseError, match=r"x on b \(2 runs: 2 refused\); z on b \(never asked\).*--record=missing"):
        consensus.self_bias(ratings, {"x": "a"})


def test_a_judge_that_skipped_a_condition_is_not_forgotten(make_ratings):
    hidden = make_ratings({("x", "a"): [8, 9], ("y", "a"): [8, 8]}, condition="anonymized")
    shown = make_ratings({("x", "a"): [8, 9], ("y", "a"): [8, 8], ("z", "a"): [7, 7]})
    with pytest.raises(RecuseError, match=r"condition anonymized has no usable run for: z on a \(never asked\)"):
        consensus.leniency(pd.concat([shown, hidden]), {})


def test_unusable_runs_are_counted_and_left_out(make_ratings):
    full = make_ratings({("x", "a"): [8, 9, 10, "refused"], ("y", "a"): [8, "unparsed", "out_of_scale", 8]})
    found = consensus.self_bias(full, {"x": "a"}).of(judge="x", condition="attributed")
    assert (found.value, found.n, found.n_excluded) == (1.0, 5, 3)


def test_equal_runs_have_a_value_but_no_interval(make_ratings):
    ratings = make_ratings({("x", "a"): [9, 9, 9], ("y", "a"): [7, 7, 7]})
    found = consensus.self_bias(ratings, {"x": "a"}).of(judge="x", condition="attributed")
    assert found.value == 2.0
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert "no interval" in found.note


def test_a_single_run_has_no_interval(make_ratings):
    found = consensus.self_bias(make_ratings({("x", "a"): [9], ("y", "a"): [7, 8]}), {"x": "a"}).of(
        judge="x", condition="attributed"
    )
    assert found.value == 1.5
    assert math.isnan(found.low)
    assert "single run" in found.note


def test_an_author_of_the_only_target_has_no_leniency(make_ratings):
    ratings = make_ratings({("x", "a"): [9, 8], ("y", "a"): [7, 8]})
    found = consensus.leniency(ratings, {"x": "a"})
    assert "no target that is not its own" in found.of(judge="x", condition="attributed").note
    assert found.of(judge="y", condition="attributed").defined


def test_no_bias_has_no_direction_and_no_attenuation(make_ratings):
    shown = make_ratings({("x", "a"): [8, 9], ("y", "a"): [9, 8]})
    ratings = pd.concat([shown, shown.assign(condition="anonymized")])
    detail = consensus.name_effect(ratings, {"x": "a"}).of(judge="x").detail
    assert (detail["attenuation_pct"], detail["direction_kept"]) == (None, None)
    mean = consensus.attenuation_mean(ratings, {"x": "a"})
    assert not mean.defined
    assert "no judge with a self-bias" in mean.note


def test_a_missing_condition_leaves_the_name_effect_undefined(make_ratings):
    ratings = make_ratings({("x", "a"): [8, 9], ("y", "a"): [9, 8]})
    found = consensus.name_effect(ratings, {"x": "a"}).of(judge="x")
    assert not found.defined
    assert "nothing was asked under condition anonymized" in found.note


def test_people_are_not_peers(make_ratings):
    ratings = make_ratings({("x", "a"): [9, 9.5], ("y", "a"): [7, 7.5]})
    people = make_ratings({("human:e1", "a"): [1, 1]})
    both = consensus.self_bias(pd.concat([ratings, people]), {"x": "a"})
    assert dict(both) == dict(consensus.self_bias(ratings, {"x": "a"}))


def test_strangers_and_unknown_columns_are_named(make_ratings, published):
    ratings = make_ratings({("x", "a"): [8, 9], ("y", "a"): [9, 8]})
    with pytest.raises(RecuseError, match="judge w is not in the ratings"):
        consensus.self_bias(ratings, {"w": "a"})
    with pytest.raises(RecuseError, match="target c is not in the ratings"):
        consensus.self_bias(ratings, {"x": "c"})
    with pytest.raises(RecuseError, match="no ratings of criterion charm"):
        consensus.self_bias(ratings, {"x": "a"}, criterion="charm")
    with pytest.raises(RecuseError, match=r"lacks the column\(s\) condition"):
        consensus.leniency(ratings.drop(columns="condition"), {})


def test_several_texts_per_target_are_another_question(make_ratings):
    ratings = make_ratings({("x", "a"): [8, 9], ("y", "a"): [9, 8]})
    with pytest.raises(RecuseError, match="one fixed text per target, but a has 2 items"):
        consensus.leniency(pd.concat([ratings, ratings.assign(item="second")]), {})
    with pytest.raises(RecuseError, match="one protocol at a time"):
        consensus.leniency(pd.concat([ratings, ratings.assign(protocol="pairwise")]), {})

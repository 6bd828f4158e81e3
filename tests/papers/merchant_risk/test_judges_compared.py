"""Judges side by side: Kendall's W, names on everybody's work, what goes together across judges; the paper's own
tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.merchant_risk import (
    human_order,
    judge_profiles,
    name_effect,
)

LEVELS = ("shown", "hidden")


def wide(rows: dict[str, list[float]], names: str | None = None) -> pd.DataFrame:
    """Judge -> a score per text."""
    frame = pd.DataFrame(rows).T.reset_index(names="judge").melt("judge", var_name="item", value_name="score")
    frame = frame.assign(item=frame["item"].astype(str))
    return frame if names is None else frame.assign(names=names)


# --------------------------------------------------------------------------- Kendall's W


@pytest.mark.parametrize(("names", "expected"), [("shown", 0.808), ("hidden", 0.8)])
def test_the_paper_s_judges_agree_by_point_eight(published, names, expected):
    """S of the rank sums 22, 18.5, ... by exact fractions: 202 / 250 = .808 and 200 / 250 = .800."""
    found = human_order.kendalls_w(published).of(names=names)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert (found.n, found.detail["judges"]) == (5, 5)
    assert found.detail["p"] < 0.01
    assert found.detail["mean_rho"] == pytest.approx((5 * expected - 1) / 4)


def test_kendall_s_w_is_friedman_s_statistic_by_another_scale():
    """chi2 = m (k - 1) W, ties and all, by scipy."""
    scores = np.random.default_rng(4).integers(0, 6, (4, 9)).astype(float)
    assert 4 * 8 * human_order.concordance(scores) == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)


def test_kendall_s_w_is_the_mean_rank_correlation_by_another_scale():
    scores = np.random.default_rng(5).permuted(np.tile(np.arange(7.0), (5, 1)), axis=1)
    rhos = [stats.spearmanr(a, b).statistic for a, b in itertools.combinations(scores, 2)]
    assert (5 * human_order.concordance(scores) - 1) / 4 == pytest.approx(np.mean(rhos))


def test_a_judge_that_scores_all_alike_has_no_order_and_is_named(rate):
    frame = wide({"a": [1, 2, 3], "b": [1, 2, 3], "flat": [5, 5, 5]})
    found = human_order.kendalls_w(rate(frame)).of()
    assert (found.value, found.detail["judges"], found.detail["without_order"]) == (1.0, 2, ["flat"])


def test_opposite_judges_agree_on_nothing(rate):
    found = human_order.kendalls_w(rate(wide({"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}))).of()
    assert (found.value, found.detail["p"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    "rows", [{"a": [1, 2, 3]}, {"a": [1, 2], "b": [1, 2]}, {"a": [1, 2, math.nan], "b": [1, 2, 3]}]
)
def test_an_order_in_common_needs_two_judges_and_three_texts(rate, rows):
    assert not human_order.kendalls_w(rate(wide(rows))).of().defined


@pytest.mark.slow
def test_unrelated_rankings_reject_five_times_in_a_hundred(rate):
    """The p-value under no agreement is uniform: 200 panels of 3 judges on 6 texts."""
    rng = np.random.default_rng(6)
    p = [
        human_order.kendalls_w(rate(wide(dict(zip("abc", rng.normal(size=(3, 6)), strict=True)))), draws=499)
        .of().detail["p"]
        for _ in range(200)
    ]  # fmt: skip
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.09


# --------------------------------------------------------------------------- names on everybody's work


def test_all_pairs_shift_of_the_published_tables(published, published_table, own):
    """Final scores with names shown less hidden, all 25; Claude by GPT-5.1 is Figure 5: 9.02 - 8.90 = +0.12."""
    finals = published_table[published_table["criterion"] == "final"]
    means = finals.set_index(["condition", "judge", "target"])["mean"]
    found = name_effect.name_shift(published)
    for judge in own:
        detail = found.of(judge=judge).detail
        for target, shift in zip(detail["columns"], detail["values"][0], strict=True):
            expected = means["attributed", judge, target] - means["anonymized", judge, target]
            assert shift == pytest.approx(expected, abs=1e-9)
    figure_5 = found.of(judge="gpt-5.1").detail
    assert figure_5["values"][0][figure_5["columns"].index("claude-4.5-sonnet")] == pytest.approx(0.12)


def test_hiding_names_does_not_preserve_the_ranking(published, own):
    """Sec. 3.4 (2) says it does; two of the paper's five judges change it: rho .30 and .70."""
    found = name_effect.rank_stability(published)
    rhos = {judge: found.of(judge=judge).value for judge in own}
    assert rhos == pytest.approx(
        {"gpt-5.1": 0.3, "gemini-2.5-pro": 1.0, "grok-4": 0.9, "claude-4.5-sonnet": 1.0, "perplexity-sonar": 0.7}
    )
    assert found.of(judge="gemini-2.5-pro").detail["moved"] == []
    assert len(found.of(judge="gpt-5.1").detail["moved"]) >= 3


def swayed(rate, sway: float, n: int = 12, noise: float = 0.3, seed: int = 1):
    """One judge that adds `sway` to author x's texts where names are shown, and nothing else."""
    rng = np.random.default_rng(seed)
    rows = [
        {"judge": "a", "item": f"i{i}", "target": target, "names": names,
         "score": 5 + "xyz".index(target) + rng.normal(0, noise) + (sway if (target, names) == ("x", "shown") else 0)}
        for i in range(n) for target in "xyz" for names in LEVELS
    ]  # fmt: skip
    return rate(pd.DataFrame(rows))


def test_a_judge_swayed_by_one_name_is_told_from_one_that_is_not(rate):
    """+2.5 on x lifts it from last to first; without it nothing moves."""
    planted, fair = swayed(rate, 2.5), swayed(rate, 0.0)
    shift = name_effect.name_shift(planted).of(judge="a").detail
    assert shift["largest"][0] == "x"
    assert shift["low"][0][0] > 1.5
    assert name_effect.rank_stability(planted).of(judge="a").value < 0
    shift = name_effect.name_shift(fair).of(judge="a").detail
    assert all(low < 0 < high for low, high in zip(shift["low"][0], shift["high"][0], strict=True))
    assert name_effect.rank_stability(fair).of(judge="a").value == 1.0


def test_authors_that_change_order_are_counted_and_those_too_close_to_tell(rate):
    """x goes from below both to above both: two pairs; one of z and w, a hundredth apart, is noise."""
    means = {"shown": (9.0, 5.0, 6.0, 3.01, 3.0), "hidden": (4.0, 5.0, 6.0, 3.0, 3.01)}
    rows = [
        {"judge": "a", "item": f"{target}", "target": target, "names": names, "repeat": run, "score": mean + run / 10}
        for names, row in means.items() for target, mean in zip("xyvzw", row, strict=True) for run in range(5)
    ]  # fmt: skip
    detail = name_effect.rank_stability(rate(pd.DataFrame(rows))).of(judge="a").detail
    assert (detail["swapped"], detail["within_noise"]) == (3, 1)


@pytest.mark.parametrize("measure", [name_effect.name_shift, name_effect.rank_stability])
def test_a_judge_that_was_not_asked_with_names_hidden_is_undefined(rate, measure):
    both = pd.concat([wide({"a": [1, 2, 3], "b": [1, 2, 3]}, "shown"), wide({"b": [1, 2, 3]}, "hidden")])
    assert not measure(rate(both)).of(judge="a").defined


# --------------------------------------------------------------------------- across judges


@pytest.mark.parametrize(
    ("pair", "shown", "hidden"),
    [
        ("self-bias and distance from people", 0.9, 0.7),
        ("own quality and self-bias", -0.5, -0.6),
        ("leniency and self-bias", 0.9, 0.1),
        ("leniency and distance from people", 1.0, 0.6),
    ],
)
def test_what_goes_together_across_the_paper_s_judges(published, pair, shown, hidden):
    found = judge_profiles.profile_correlation(published)
    assert [found.of(pair=pair, names=names).value for names in LEVELS] == pytest.approx([shown, hidden])


def test_with_names_hidden_claude_is_fourth_of_five_in_distance_from_people(published):
    """Sec. 4.4 calls it among the closest."""
    judges = judge_profiles.profile_correlation(published).of(
        pair="self-bias and distance from people", names="hidden"
    ).detail["judges"]  # fmt: skip
    assert sorted(judges, key=lambda judge: judges[judge]["distance"]).index("claude-4.5-sonnet") == 3


def test_the_quality_of_what_a_judge_writes_is_in_its_peers_scores_alone(rate):
    """By peers the authors stand a > b > c > d; each adds 0 1 2 3 to its own text, which by all four would turn c and d
    round. Self-bias rises as quality falls."""
    means, boast = dict(zip("abcd", (6.0, 5.0, 4.8, 4.7), strict=True)), dict(zip("abcd", range(4), strict=True))
    rows = [(j, t, means[t] + boast[t] * (j == t)) for j in "abcd" for t in "abcd"]
    scores = pd.DataFrame(rows, columns=["judge", "target", "score"]).assign(item="i")
    found = judge_profiles.profile_correlation(rate(scores, authors={name: name for name in "abcd"}))
    of = found.of(pair="own quality and self-bias")
    assert of.value == pytest.approx(-1.0)
    assert [of.detail["judges"][name]["quality"] for name in "abcd"] == [6.0, 5.0, 4.8, 4.7]


def test_the_span_of_self_bias_is_1_105(published):
    """Sec. 7.1: "more than one full point (from -0.33 to +0.77)"; unrounded 0.77 + 0.335."""
    found = judge_profiles.self_bias_span(published).of(names="shown")
    assert found.value == pytest.approx(1.105)
    assert (found.detail["lowest"], found.detail["highest"]) == ("gpt-5.1", "gemini-2.5-pro")


def test_without_people_no_distance_is_correlated(rate):
    ratings = rate(wide({"a": [1, 2, 3], "b": [1, 2, 3]}))
    assert {pair for pair, *_ in judge_profiles.profile_correlation(ratings)} == {
        "leniency and self-bias",
        "own quality and self-bias",
    }


def test_a_total_can_hide_what_a_part_says(published):
    """Appendix E: Sonar on its own completeness -1.40, on its own total +0.21, names shown."""
    found = judge_profiles.criterion_self_bias(published)
    sonar = found.of(judge="perplexity-sonar", names="shown", criterion="completeness")
    assert (round(sonar.value, 2), sonar.metric) == (-1.40, "criterion_self_bias")
    assert len(found) == 5 * 2 * 6


def test_a_total_need_not_be_the_mean_of_its_parts(published):
    """Algorithm 1 takes the mean of the criteria: Gemini +0.87 in place of the +0.77 of its own totals."""
    found = judge_profiles.criterion_self_bias(published)
    gemini = found.of(judge="gemini-2.5-pro", names="shown", criterion="criteria_mean")
    assert gemini.value == pytest.approx(0.87, abs=0.005)

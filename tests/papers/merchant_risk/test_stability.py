"""Score stability: published SDs, Shrout and Fleiss's own table, hand arithmetic, degenerate judges."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.merchant_risk import score_repeats
from recuse.papers.merchant_risk.repeat_noise import noise_of
from recuse.ratings import Numeric

NAMES = {"attributed": "shown", "anonymized": "hidden"}
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Table 2 of Shrout and Fleiss (1979): six targets, four ratings each."""


def one(family, judge="x"):
    return family.of(judge=judge)


@pytest.fixture
def shrout_fleiss(make_frame):
    return make_frame({("x", f"t{i}"): scores for i, scores in enumerate(SHROUT_FLEISS)})


def test_published_sds(published, published_table):
    """Appendix E: the pooled SD of five cells of ten repeats is the root mean square of the printed ones."""
    found = score_repeats.run_sd(published)
    finals = published_table[published_table["criterion"] == "final"]
    assert len(found) == 10
    for (judge, names), estimate in found.items():
        printed = finals[(finals["judge"] == judge) & (finals["condition"].map(NAMES) == names)]
        assert estimate.value == pytest.approx(math.sqrt((printed["sd"] ** 2).mean()))
        assert estimate.detail["by_target"] == pytest.approx(dict(zip(printed["target"], printed["sd"], strict=True)))
        assert (estimate.n, estimate.detail["df"]) == (50, 45)


def test_cells_carry_the_published_tables(published, published_table):
    """All 300 rows of appendix E, mean and SD."""
    table = score_repeats.cell_table(published)
    assert len(published_table) == 300
    for row in published_table.itertuples():
        criterion = "total" if row.criterion == "final" else row.criterion
        detail = table.of(criterion=criterion, names=NAMES[row.condition]).detail
        i, j = detail["rows"].index(row.judge), detail["columns"].index(row.target)
        assert detail["values"][i][j] == pytest.approx(row.mean)
        assert detail["sd"][i][j] == pytest.approx(row.sd)
        assert detail["n"][i][j] == 10
    assert len(table) == 12


def test_pooled_sd_by_hand(rate):
    """Runs 7, 9 (variance 2, 1 df) and 8, 8, 9, 9 (variance 1/3, 3 df): sqrt((2 + 1) / 4)."""
    found = one(score_repeats.run_sd(rate({("x", "a"): [7, 9], ("x", "b"): [8, 8, 9, 9], ("x", "c"): [5]})))
    assert (found.value, found.detail["df"], found.n) == (pytest.approx(math.sqrt(3 / 4)), 4, 7)
    assert found.detail["by_target"]["c"] is None


def test_mean_difference_by_hand(rate):
    """Pairs of 7, 9: 2. Pairs of 8, 8, 9, 9: four of six are 1 apart. One and three degrees of freedom: (2 + 2) / 4."""
    found = one(score_repeats.repeat_difference(rate({("x", "a"): [7, 9], ("x", "b"): [8, 8, 9, 9], ("x", "c"): [5]})))
    assert (found.value, found.n, found.unit) == (pytest.approx(1.0), 7, "points")
    assert 0 < found.low < 1 < found.high


def test_an_sd_has_no_interval_and_says_where_there_is_one(rate):
    found = one(score_repeats.run_sd(rate({("x", t): [8, 9] * 5 for t in "ab"})))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert "repeat_difference" in found.note


def test_lost_answers_may_have_been_anywhere(rate):
    """Answers 4 and 7 and a lost one, on 0-10. At the median, 5.5, the pairs are 3, 1.5 and 1.5 apart, at the farther
    end of the scale 3, 4 and 7."""
    ratings = rate({("x", "a"): [4, 7, "refused"], ("x", "b"): [7, 7, 7]}, scales=Numeric(0, 10, 1))
    bounds = one(score_repeats.repeat_difference(ratings)).detail["losses"]["bounds"]
    assert bounds == pytest.approx([(6 / 3) / 2, (14 / 3) / 2])


def test_texts_with_fewer_repeats_keep_their_own_variance():
    """Means 2, 3, 8 and variances 2, 7, 2: 50.222 / 20.667 over 3.667."""
    texts = [np.array(scores, dtype=float) for scores in ([1, 3], [1, 2, 6], [7, 9])]
    assert noise_of(texts).afar == pytest.approx(0.662757, abs=1e-6)


def test_shrout_and_fleiss(rate, shrout_fleiss):
    """Their table gives ICC(1,1) = .17 and ICC(1,4) = .44. pingouin 0.7.0, intraclass_corr: 0.165742 and 0.442797,
    F = 1.794678 on 5 and 18 df, which is not beyond chance: the lower end is 0."""
    single = one(score_repeats.repeat_reliability(rate(shrout_fleiss)))
    assert single.low == 0
    assert single.detail["icc_mean"] == pytest.approx(0.442797, abs=1e-6)
    assert single.value == pytest.approx(0.165742, abs=1e-6)
    assert single.distribution.f == pytest.approx(1.794678, abs=1e-6)
    assert (single.n, single.over) == (24, "repeats")


@pytest.mark.parametrize("seed", range(5))
def test_reliability_against_scipys_anova(rate, seed):
    rng = np.random.default_rng(seed)
    cells = rng.normal(0, 1, (5, 1)) + rng.normal(0, 0.7, (5, 10))
    f = stats.f_oneway(*cells).statistic
    found = one(score_repeats.repeat_reliability(rate({("x", f"t{i}"): runs for i, runs in enumerate(cells)})))
    assert found.value == pytest.approx((f - 1) / (f + 9))
    assert found.detail["icc_mean"] == pytest.approx(1 - 1 / f)
    spearman_brown = 10 * found.value / (1 + 9 * found.value)
    assert found.detail["icc_mean"] == pytest.approx(spearman_brown)


def test_uneven_cells_use_the_mean_group_size(rate):
    """Sizes 2, 3, 4: k = (9 - 29/9) / 2 = 2.8889, and F is scipy's."""
    runs = [[7.0, 7.5], [8.0, 8.2, 8.8], [9.0, 9.1, 9.3, 9.0]]
    found = one(score_repeats.repeat_reliability(rate({("x", f"t{i}"): cell for i, cell in enumerate(runs)})))
    f, k = stats.f_oneway(*runs).statistic, (9 - 29 / 9) / 2
    assert found.value == pytest.approx((f - 1) / (f + k - 1))
    assert "approximate" in found.note


def test_a_single_repeat_is_never_less_reliable_than_minus_one(rate):
    """Two texts with the same mean, one of them scored once: k = 4 / 3, and the formula gives -1 / (k - 1) = -3."""
    found = one(score_repeats.repeat_reliability(rate({("x", "a"): [1, 5], ("x", "b"): [3]})))
    assert found.value == -1


def test_shifting_a_judge_changes_neither_spread_nor_reliability(rate, shrout_fleiss):
    before, after = (rate(f) for f in (shrout_fleiss, shrout_fleiss.assign(score=shrout_fleiss["score"] * 2 - 3)))
    assert one(score_repeats.run_sd(after)).value == pytest.approx(2 * one(score_repeats.run_sd(before)).value)
    apart = [one(score_repeats.repeat_difference(ratings)) for ratings in (before, after)]
    assert [apart[1].value, apart[1].low] == pytest.approx([2 * apart[0].value, 2 * apart[0].low])
    expected = one(score_repeats.repeat_reliability(before)).value
    assert one(score_repeats.repeat_reliability(after)).value == pytest.approx(expected)


def test_runs_needed_by_hand(rate, make_repeats):
    """SD 0.2 to +- 0.1: 18 repeats (see the power tests); without an interval, as the SD."""
    found = one(score_repeats.runs_needed(rate({("x", t): make_repeats(8, 0.2) for t in "abcde"}), 0.1))
    assert (found.value, found.unit) == (18, "repeats")
    assert math.isnan(found.low)
    assert found.detail["sd"] == pytest.approx(0.2)


# --------------------------------------------------------------------------- degenerate judges


def test_a_constant_judge(rate):
    ratings = rate({("x", t): [7, 7, 7] for t in "abc"})
    apart, reliability = one(score_repeats.repeat_difference(ratings)), one(score_repeats.repeat_reliability(ratings))
    assert (apart.value, apart.low) == (0, 0)
    assert apart.high > 0
    assert not reliability.defined
    assert "constant: all 9 repeats gave 7" in reliability.note
    needed = one(score_repeats.runs_needed(ratings, 0.1))
    assert not needed.defined
    assert "spread is unknown" in needed.note


def test_a_judge_that_repeats_itself_exactly(rate):
    """Four repeats without a slip leave six in ten possible: W at most 1/4 step^2, B = 2 - 1/8."""
    ratings = rate({("x", "a"): [7, 7], ("x", "b"): [9, 9]}, scales=Numeric(0, 10, 1))
    found = one(score_repeats.repeat_reliability(ratings))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx((2 - 1 / 8) / (2 - 1 / 8 + 1 / 4))


def test_the_p_value_at_an_end_is_the_tail(rate):
    """Whether repeats differ or never do, an end of the 90 % interval is the limit that is just reached at 5 %."""
    varied = rate({("x", t): [k, k + 1, k] for k, t in enumerate("abcd")})
    exact = rate({("x", t): [k, k, k] for k, t in enumerate("abcd")}, scales=Numeric(0, 10, 1))
    spread = one(score_repeats.repeat_reliability(varied)).distribution
    never = one(score_repeats.repeat_reliability(exact)).distribution
    assert spread.p_value(spread.interval(0.9)[0], "above") == pytest.approx(0.05)
    assert spread.p_value(spread.interval(0.9)[1], "below") == pytest.approx(0.05)
    assert never.p_value(never.interval(0.9)[0], "above") == pytest.approx(0.05)


def test_a_judge_that_tells_no_targets_apart(rate):
    ratings = rate({("x", t): [7, 9] for t in "abc"})
    assert one(score_repeats.repeat_reliability(ratings)).value == pytest.approx(-1)  # -1 / (k - 1)
    assert one(score_repeats.repeat_reliability(ratings)).detail["icc_mean"] is None


def test_single_runs_say_nothing(rate):
    ratings = rate({("x", "a"): [7], ("x", "b"): [8, "refused"]})
    for found in (
        one(score_repeats.run_sd(ratings)),
        one(score_repeats.repeat_difference(ratings)),
        one(score_repeats.repeat_reliability(ratings)),
        one(score_repeats.runs_needed(ratings, 0.1)),
    ):
        assert not found.defined
        assert found.n_excluded == 1
        assert "two usable repeats" in found.note


def test_a_judge_with_a_hole_still_has_a_spread(rate):
    ratings = rate({("x", "a"): [7, 8], ("x", "b"): ["refused"] * 2, ("y", "a"): [7, 7], ("y", "b"): [8, 9]})
    found = one(score_repeats.run_sd(ratings))
    assert (found.value, found.n, found.n_excluded) == (pytest.approx(math.sqrt(0.5)), 2, 2)
    assert not score_repeats.cell_table(ratings).of().defined


def test_every_criterion_has_its_own_spread_and_an_option_without_distances_has_none(rate, make_frame):
    """Tone repeats as 2 and 4 (SD sqrt 2); the verdict flips once, 0 and 1 (SD sqrt 0.5); a label cannot vary."""
    tone = make_frame({("x", "i", "t"): [2, 4]}, criterion="tone")
    verdict = tone.assign(criterion="verdict", score=math.nan, response=["pass", "fail"])
    label = verdict.assign(criterion="label", response=["red", "blue"])
    ratings = rate(pd.concat([tone, verdict, label]), headline=["tone", "verdict"])
    found = score_repeats.run_sd(ratings)
    assert found.of(judge="x", criterion="tone").value == pytest.approx(math.sqrt(2))
    assert found.of(judge="x", criterion="verdict").value == pytest.approx(math.sqrt(0.5))
    assert set(score_repeats.cell_table(ratings)) == {("tone",), ("verdict",)}


def test_one_repeat_of_many_items_has_no_spread(rate):
    found = one(score_repeats.run_sd(rate({("x", f"i{k}", "t"): [k % 3] for k in range(9)})))
    assert found.note == "undefined: no text has two usable repeats"

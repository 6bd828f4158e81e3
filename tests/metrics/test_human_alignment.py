"""Human alignment: the paper's offsets, hand arithmetic, experts' error, order agreement, degenerate input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import consensus, human_alignment
from recuse.schema import RecuseError

EXPECTED = pd.read_csv(Path(__file__).parent / "data" / "bias_recomputed.csv")


def people(**means):
    return pd.DataFrame({"target": list(means), "mean": list(means.values()), "sd": 0.8, "experts": 16})


def one(family, judge="x", condition="attributed"):
    return family.of(judge=judge, condition=condition)


# --------------------------------------------------------------------------- published


@pytest.mark.parametrize("condition", ["attributed", "anonymized"])
@pytest.mark.parametrize("criterion", ["total", "criteria_mean"])
def test_every_offset_of_the_published_tables(published, human, own, criteria, condition, criterion):
    """Fig. 9, recomputed: 25 cells of judge minus 26 experts."""
    ratings = consensus.with_criteria_mean(published, criteria)
    found = human_alignment.offset_matrix(ratings, human, own, condition=condition, criterion=criterion).detail
    for row in EXPECTED[(EXPECTED["criterion"] == criterion) & (EXPECTED["condition"] == condition)].itertuples():
        value = found["values"][found["rows"].index(row.judge)][found["columns"].index(row.target)]
        assert value == pytest.approx(row.human_bias, abs=1e-9)


@pytest.mark.parametrize(("condition", "mean"), [("attributed", 0.4636), ("anonymized", 0.426)])
def test_published_panel_offset(published, human, own, condition, mean):
    """Fig. 9: +0.46 and +0.43, 23 of 25 pairs positive in the first panel (and, it turns out, in the second)."""
    found = human_alignment.panel_offset(published, human, condition=condition)
    assert found.value == pytest.approx(mean)
    assert found.detail["share_positive"] == "23 of 25"
    assert found.value == pytest.approx(human_alignment.offset_matrix(published, human, own, condition=condition).value)
    by_judge = human_alignment.offset(published, human)
    assert found.value == pytest.approx(np.mean([by_judge.of(judge=j, condition=condition).value for j in own]))


def test_published_self_offsets(published, human, own):
    """Secs. 4.4 and 7.2; the ranges printed there for Gemini and Grok do not follow from the tables."""
    found = human_alignment.self_offset(published, human, own)
    values = {c: [found.of(judge=j, condition=c).value for j in own] for c in ("attributed", "anonymized")}
    assert values["attributed"] == pytest.approx([-0.01, 1.14, 1.03, 0.20, 0.79])
    assert values["anonymized"] == pytest.approx([-0.09, 0.96, 1.07, 0.20, 0.67])


def test_closest_to_people_over_all_texts_is_not_closest_on_its_own(published, human):
    """GPT-5.1 scores itself as people do (-0.01), but over all five texts Claude is closer: 0.246 against 0.274."""
    found = human_alignment.closest_judge(published, human, condition="attributed")
    assert found.detail["judge"] == "claude-4.5-sonnet"
    assert [row["distance"] for row in found.detail["ranking"][:2]] == pytest.approx([0.246, 0.274])
    assert sum(row["first"] for row in found.detail["ranking"]) == pytest.approx(1)
    assert 0.6 < found.detail["ranking"][0]["first"] < 0.95


def test_published_order(published, human):
    found = human_alignment.order_agreement(published, human)
    claude, gpt = (found.of(judge=j, condition="attributed") for j in ("claude-4.5-sonnet", "gpt-5.1"))
    assert (claude.value, claude.detail["p_permutation"]) == pytest.approx((1.0, 2 / 120))
    assert gpt.value == pytest.approx(0.9)
    assert gpt.low <= gpt.value <= gpt.high


# --------------------------------------------------------------------------- by hand


def test_offset_and_its_intervals_by_hand(make_ratings):
    """Judge 9, 8 against 8, 7.5: +0.75. Runs: Var = (0.5/2 + 0.5/2)/4 = 0.125, 2 df. Experts: 0.8/sqrt(16) = 0.2 on
    each target; at worst they err together, so 0.2 on the mean too: Var = 0.165,
    df = 0.165^2/(0.125^2/2 + 0.04^2/15)."""
    ratings = make_ratings({("x", "a"): [8.5, 9.5], ("x", "b"): [7.5, 8.5]})
    found = one(human_alignment.offset(ratings, people(a=8.0, b=7.5)))
    assert found.value == pytest.approx(0.75)
    assert found.high == pytest.approx(0.75 + stats.t(2).ppf(0.975) * math.sqrt(0.125))
    df = 0.165**2 / (0.125**2 / 2 + 0.04**2 / 15)
    assert found.detail["experts_se"] == pytest.approx(0.2)
    assert found.detail["combined"][1] == pytest.approx(0.75 + stats.t(df).ppf(0.975) * math.sqrt(0.165))


def test_without_spread_over_runs_experts_still_err(make_ratings):
    found = one(human_alignment.offset(make_ratings({("x", "a"): [8, 8], ("x", "b"): [7, 7]}), people(a=8.0, b=7.0)))
    assert math.isnan(found.low)
    assert found.detail["combined"] == pytest.approx([-0.2 * stats.t(15).ppf(0.975), 0.2 * stats.t(15).ppf(0.975)])


def test_share_positive_counts_strictly_positive_pairs(make_ratings):
    """0.1 above, equal but for binary rounding, 0.1 below."""
    ratings = make_ratings({("x", "a"): [8.1, 8.1], ("x", "b"): [0.1 + 0.2, 0.3], ("x", "c"): [7.9, 7.9]})
    found = human_alignment.panel_offset(ratings, people(a=8.0, b=0.3, c=8.0), condition="attributed")
    assert found.detail["share_positive"] == "1 of 3"


def test_raising_all_scores_raises_every_offset_and_no_order(make_ratings, published, human):
    raised = published.assign(score=published["score"] + 0.5)
    before, after = (human_alignment.offset(r, human) for r in (published, raised))
    assert [after[k].value - before[k].value for k in before] == pytest.approx([0.5] * 10)
    before, after = (human_alignment.order_agreement(r, human, draws=99) for r in (published, raised))
    assert [after[k].value for k in before] == pytest.approx([before[k].value for k in before])


def test_order_is_scipys_and_a_relabelling_keeps_it(make_ratings):
    rng = np.random.default_rng(1)
    means = {t: float(rng.normal(8, 1)) for t in "abcde"}
    ratings = make_ratings({("x", t): rng.normal(8, 1, 6) for t in "abcde"})
    found = one(human_alignment.order_agreement(ratings, people(**means)))
    judge = ratings.groupby("target")["score"].mean()
    assert found.value == pytest.approx(stats.spearmanr(judge, list(means.values())).statistic)
    kendall = stats.kendalltau(judge, list(means.values()), method="exact")
    assert found.detail["kendall"] == pytest.approx(kendall.statistic)
    assert found.detail["kendall_p_permutation"] == pytest.approx(kendall.pvalue)
    swapped = {"a": "e", "b": "d", "c": "c", "d": "b", "e": "a"}
    other = ratings.assign(target=ratings["target"].map(swapped), item=ratings["target"].map(swapped))
    again = one(human_alignment.order_agreement(other, people(**{swapped[t]: m for t, m in means.items()})))
    assert again.value == pytest.approx(found.value)
    assert again.detail["p_permutation"] == found.detail["p_permutation"]


def test_order_intervals_over_runs_cover(make_ratings):
    """A judge whose long-run means order five texts with rho = 0.7, SD 0.27, ten runs: measured 99.3 % of 600."""
    rng, held = np.random.default_rng(2), 0
    human = people(a=8.88, b=8.81, c=8.2, d=8.05, e=7.73)
    means = {"a": 9.36, "b": 9.16, "c": 8.64, "d": 9.08, "e": 8.76}
    for _ in range(100):
        ratings = make_ratings({("x", t): rng.normal(mean, 0.27, 10) for t, mean in means.items()})
        found = one(human_alignment.order_agreement(ratings, human, draws=299))
        held += found.low <= 0.7 <= found.high
    assert held / 100 >= 0.95


# --------------------------------------------------------------------------- degenerate input


def test_noise_too_small_to_move_the_order_is_a_point_but_no_noise_is_none(make_ratings):
    spread = make_ratings({("x", t): [m - 0.1, m + 0.1] for t, m in {"a": 5, "b": 7, "c": 9}.items()})
    still = make_ratings({("x", t): [m, m] for t, m in {"a": 5, "b": 7, "c": 9}.items()})
    human = people(a=5.0, b=6.0, c=7.0)
    assert (
        one(human_alignment.order_agreement(spread, human)).low,
        one(human_alignment.order_agreement(spread, human)).high,
    ) == (1, 1)
    found = one(human_alignment.order_agreement(still, human))
    assert found.value == 1
    assert math.isnan(found.low)
    assert "no interval" in found.note


@pytest.mark.parametrize(
    ("scores", "means", "why"),
    [
        ({"a": 7, "b": 7, "c": 7}, {"a": 7, "b": 8, "c": 9}, "x gave every target 7"),
        ({"a": 7, "b": 8, "c": 9}, {"a": 8, "b": 8, "c": 8}, "people gave every target 8"),
        ({"a": 7, "b": 8}, {"a": 8, "b": 9}, "needs three targets; there are 2"),
    ],
)
def test_no_order_no_agreement(make_ratings, scores, means, why):
    ratings = make_ratings({("x", t): [s - 0.1, s + 0.1] for t, s in scores.items()})
    found = one(human_alignment.order_agreement(ratings, people(**means)))
    assert not found.defined
    assert why in found.note


def test_missing_people_and_holes_are_named(make_ratings):
    ratings = make_ratings({("x", "a"): [8, 9], ("x", "b"): [7, 8]})
    with pytest.raises(RecuseError, match=r"one row for target b; it has 0 \(targets: a\)"):
        human_alignment.offset(ratings, people(a=8.0))
    with pytest.raises(RecuseError, match="one row for target a; it has 2"):
        human_alignment.offset(ratings, pd.concat([people(a=8.0, b=8.0), people(a=7.0)]))
    with pytest.raises(RecuseError, match=r"table of human scores lacks the column\(s\) experts"):
        human_alignment.offset(ratings, people(a=8.0, b=8.0).drop(columns="experts"))
    torn = ratings.assign(status=["ok", "ok", "refused", "refused"])
    with pytest.raises(RecuseError, match=r"comparison with people needs every judge.*x on b \(2 runs: 2 refused\)"):
        human_alignment.panel_offset(torn, people(a=8.0, b=8.0), condition="attributed")

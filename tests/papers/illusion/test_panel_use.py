"""Spread between judges, their use of the scale, how many they are worth, tiers, and change with temperature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fixtures.standins.shared_heuristics import JudgeModel, Study, as_ratings, simulate
from recuse.papers.illusion import judge_panels
from recuse.ratings import Numeric, Ratings

STUDY = Study(
    judges=(JudgeModel(name="x"), JudgeModel(name="y", leniency=1.5), JudgeModel(name="z", spread=0.4)),
    tiers={"base": (2.0, 3.0, 3.5), "instruct": (5.0, 5.5, 6.0)}, items=30,
)  # fmt: skip


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    return simulate(STUDY, np.random.default_rng(11))[..., 0]


@pytest.fixture(scope="module")
def ratings(scores) -> Ratings:
    return as_ratings(STUDY, scores[..., None]).where(temperature="0")


def test_spread_is_half_the_sum_of_three_pairs(ratings):
    """max - min of three numbers is half the sum of their distances: the paper's App. C can be checked by it."""
    detail = judge_panels.wide_spread(ratings).of().detail
    assert detail["mean"] == pytest.approx(sum(size for *_, size in detail["pairs"]) / 2, abs=1e-9)


def test_spread_shares_are_counted(scores, ratings):
    apart = np.ptp(scores.reshape(3, -1), axis=0)
    found = judge_panels.wide_spread(ratings).of()
    assert found.value == pytest.approx((apart > 2).mean())
    assert found.detail["above"] == {f"{k}/9": pytest.approx((apart > k).mean()) for k in (2, 3, 4)}
    widest = found.detail["widest"][0]["scores"]
    assert max(widest.values()) - min(widest.values()) == apart.max()


def test_scale_use_and_shape_are_scipys(scores, ratings):
    flat = scores.reshape(3, -1)
    found = judge_panels.scale_use(ratings).of(judge="z")
    assert found.value == pytest.approx(flat[2].std() / flat[:2].std(axis=1).mean(), abs=1e-9)
    assert found.detail["skewness"] == pytest.approx(stats.skew(flat[2]), abs=1e-9)
    assert found.detail["excess_kurtosis"] == pytest.approx(stats.kurtosis(flat[2]), abs=1e-9)
    assert found.detail["slip"] is False


@pytest.mark.parametrize("always", [7.1, 8.0, 10 / 3])
@pytest.mark.parametrize("items", [20, 200])
def test_a_judge_that_always_says_the_same_has_no_spread_of_rounding_errors(always, items):
    """It had one of 1e-8 with an interval, which then changed beyond chance: 0.00 -> 0.00."""
    peers = np.random.default_rng(0).integers(1, 10, items)
    rows = [(name, i, value) for i in range(items) for name, value in (("flat", always), ("peer", peers[i]))]
    frame = pd.DataFrame(rows, columns=["judge", "item", "score"])
    found = judge_panels.scale_use(Ratings.of(frame, scales=Numeric(1, 10))).of(judge="flat")
    assert found.value == pytest.approx(0, abs=1e-11)
    assert np.isnan(found.low)


def test_a_judge_on_another_scale_is_noticed():
    """1-5 on a scale of 1-10, beside judges that use all of it: the paper's 3.2, called a bit above medium."""
    rows = [(j, i, 1 + i % 5 if j == "slips" else 2 * (1 + i % 5)) for j in ("slips", "x", "y") for i in range(20)]
    frame = pd.DataFrame(rows, columns=["judge", "item", "score"])
    found = judge_panels.scale_use(Ratings.of(frame, scales=Numeric(1, 10)))
    assert {judge: found.of(judge=judge).detail["slip"] for judge in ("slips", "x", "y")} == {
        "slips": True, "x": False, "y": False,
    }  # fmt: skip


def test_unrelated_errors_count_in_full_and_shared_ones_once():
    rng = np.random.default_rng(4)
    truth, shared = rng.normal(5, 2, 2000), rng.normal(0, 1, 2000)
    rows = [("person", "ann", i, truth[i]) for i in range(2000)]
    for k in range(4):
        own = rng.normal(0, 1, 2000)
        rows += [("judge", f"j{k}", i, truth[i] + (shared[i] if k >= 2 else own[i])) for i in range(2000)]
    frame = pd.DataFrame(rows, columns=["kind", "rater", "item", "score"])

    def worth(*names: str) -> float:
        kept = frame[frame["rater"].isin(["ann", *names])]
        return judge_panels.effective_judges(Ratings.of(kept, scales=Numeric(-20, 20))).of().value

    assert worth("j0", "j1") == pytest.approx(2, abs=0.1)
    assert worth("j2", "j3") == pytest.approx(1, abs=1e-9)


def test_tiers_are_counted_pair_by_pair(scores, ratings):
    means = scores.mean(axis=1)
    found = judge_panels.tier_order(ratings)
    for place, judge in enumerate("xyz"):
        right = sum(high > low for low in means[place, :3] for high in means[place, 3:])
        assert found.of(judge=judge).value == right / 9


def test_tied_targets_of_two_tiers_count_as_half_a_pair():
    frame = pd.DataFrame({"judge": "x", "item": "i", "target": list("abc"), "score": [3.0, 3.0, 4.0]})
    found = judge_panels.tier_order(Ratings.of(frame, tiers={"low": ("a",), "high": ("b", "c")})).of(judge="x")
    assert found.value == 1.5 / 2


def test_quality_and_agreement_is_scipys_rho():
    rng = np.random.default_rng(3)
    quality, agreement = rng.normal(size=32), rng.normal(size=32)
    found = judge_panels.correlation_with_quality(quality, agreement, tuple(map(str, range(32))))
    expected = stats.spearmanr(quality, agreement)
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.detail["p_t"] == pytest.approx(expected.pvalue, abs=1e-12)


def test_agreement_that_falls_with_temperature_is_found():
    steady = Study(judges=STUDY.judges, tiers=STUDY.tiers, items=60, temperatures=(0.0, 0.5, 1.0))
    shaky = Study(
        judges=STUDY.judges, tiers=STUDY.tiers, items=60, temperatures=(0.0, 0.5, 1.0), noise_of_temperature=2.0
    )  # fmt: skip
    flat, falling = (
        judge_panels.agreement_change(as_ratings(study, simulate(study, np.random.default_rng(6)))).of()
        for study in (steady, shaky)
    )
    assert flat.low < 0 < flat.high
    assert falling.high < -0.1
    assert [level for level, _ in falling.detail["levels"]] == ["0", "0.5", "1"]

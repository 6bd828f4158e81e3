"""What is concluded about a judge holds over texts: one text of its own against the spread on others', one repeat or
none that differs, people who could have been others."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse.gates.limits import Limit, decide_estimate
from recuse.metrics import consensus, human_alignment
from recuse.papers.merchant_risk import human_order, name_effect, score_repeats
from recuse.ratings import Numeric

KNOWN = pd.read_csv(Path(__file__).parent / "data" / "self_preference_over_texts.csv")
NAMES = {
    "Claude 4.5 Sonnet": "claude-4.5-sonnet", "GPT-5.1": "gpt-5.1", "Gemini 2.5 Pro": "gemini-2.5-pro",
    "Grok 4": "grok-4", "Perplexity Sonar": "perplexity-sonar",
}  # fmt: skip
JUDGES = "abcde"
HALF_A_POINT = Limit.of({"within": [-0.5, 0.5]})


@pytest.mark.parametrize("row", list(KNOWN.itertuples()), ids=lambda row: f"{row.judge}, {row.condition}")
def test_the_merchant_risk_study_over_texts(published, row):
    """Recomputed from the printed means by other hands: value, spread over the four others' texts, t interval on 3
    degrees of freedom."""
    names = "shown" if row.condition == "attributed" else "hidden"
    found = consensus.self_preference(published).of(judge=NAMES[row.judge], names=names)
    assert found.value == pytest.approx(row.self_preference, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((row.low95, row.high95), abs=1e-5)
    assert found.detail["spread"] == pytest.approx(row.sd_other_texts, abs=1e-5)
    assert consensus.self_bias(published).of(judge=NAMES[row.judge], names=names).value == pytest.approx(row.self_bias)


def test_published_self_promotion_is_of_these_texts(published):
    """+0.77 and +0.71: beyond doubt on the two texts, not to be told from what separates the judges on any text."""
    found = consensus.self_preference(published)
    for judge in ("gemini-2.5-pro", "grok-4"):
        estimate = found.of(judge=judge, names="shown")
        assert estimate.over == "items"
        assert estimate.low < 0 < estimate.detail["these_texts"][0]
        assert decide_estimate(HALF_A_POINT, estimate).outcome == "undecided"


def panel(rate, scores, step=0.1):
    """Scores of shape (judges, texts, repeats): each judge wrote one text."""
    cells = {(j, t): scores[i, k].round(6).tolist() for i, j in enumerate(JUDGES) for k, t in enumerate(JUDGES)}
    return rate(cells, scales=Numeric(-50, 50, step), authors={j: j for j in JUDGES})


@pytest.mark.slow("simulations")
def test_judges_without_self_preference_are_not_failed(rate):
    """Five of them, leniency SD 0.2, text x judge SD 0.25, ten repeats: by self-bias over repeats half of such panels
    had a judge failed at half a point. Of 60 panels none or few may."""
    rng, failed = np.random.default_rng(4), 0
    for _ in range(60):
        level = rng.normal(0, 0.2, (5, 1, 1)) + rng.normal(0, 0.25, (5, 5, 1))
        ratings = panel(rate, level + rng.normal(0, 0.2, (5, 5, 10)))
        found = consensus.self_preference(ratings).values()
        failed += any(decide_estimate(HALF_A_POINT, one, 0.99).outcome == "fail" for one in found)
    assert failed <= 3


def test_a_judge_that_favours_itself_far_beyond_its_spread_is_failed(rate):
    rng = np.random.default_rng(5)
    scores = rng.normal(0, 0.1, (5, 5, 10))
    scores[0, 0] += 3
    found = consensus.self_preference(panel(rate, scores)).of(judge="a")
    assert decide_estimate(HALF_A_POINT, found, 0.99).outcome == "fail"


def test_one_repeat_per_text_is_enough(rate):
    """The texts are the sample: no repeats are needed, and their own text is no certainty."""
    rng = np.random.default_rng(6)
    found = consensus.self_preference(panel(rate, rng.normal(0, 0.2, (5, 5, 1)))).of(judge="a")
    assert found.high - found.low > 0.5
    assert "these_texts" not in found.detail
    assert consensus.leniency(panel(rate, rng.normal(0, 0.2, (5, 5, 1)))).of(judge="a").n == 4


def test_judges_that_agree_to_the_digit_are_not_certain(rate):
    """Temperature 0 and all scores alike: the width comes from the scale's step, and passes a limit that is wide."""
    found = consensus.self_preference(panel(rate, np.full((5, 5, 10), 8.0))).of(judge="a")
    assert found.value == 0
    assert 0.05 < found.high < 0.2
    assert decide_estimate(HALF_A_POINT, found).outcome == "pass"


def test_the_effect_of_a_name_is_judged_by_its_spread_on_other_texts(published):
    """On its own text Gemini moves by 0.21; on the others' four its changes lie 0.4 apart."""
    found = name_effect.name_effect(published).of(judge="gemini-2.5-pro")
    assert found.value == pytest.approx(0.21)
    assert found.low < -1 < 1 < found.high
    assert found.detail["these_texts"][1] < 0.5


# --------------------------------------------------------------------------- deterministic judges


BOTH = (score_repeats.repeat_difference, score_repeats.repeat_reliability)


def one_judge(rate, rows, step=1.0):
    return rate({("x", f"t{k}"): row for k, row in enumerate(rows)}, scales=Numeric(0, 10, step))


def test_a_deterministic_judge_can_keep_the_limits_of_steadiness(rate):
    """Ten equal repeats of five texts leave slips in up to 7 % of repeats possible: an eighth of a step between two."""
    ratings = one_judge(rate, [[3.0] * 10, [5.0] * 10, [6.0] * 10, [8.0] * 10, [9.0] * 10])
    (apart,), (reliability,) = (m(ratings).values() for m in BOTH)
    slips = 1 - 0.025 ** (1 / 50)
    assert (apart.low, apart.high) == pytest.approx((0.0, 2 * slips * (1 - slips)))
    assert decide_estimate(Limit.of({"at_most": 0.5}), apart).outcome == "pass"
    assert reliability.value == 1
    assert decide_estimate(Limit.of({"at_least": 0.5}), reliability).outcome == "pass"


def test_few_equal_repeats_cannot(rate):
    (apart,) = score_repeats.repeat_difference(one_judge(rate, [[3.0] * 2, [5.0] * 2])).values()
    assert decide_estimate(Limit.of({"at_most": 0.2}), apart).outcome == "undecided"


def test_a_judge_that_wanders_fails_both(rate):
    rng = np.random.default_rng(8)
    ratings = one_judge(rate, rng.integers(0, 11, (5, 10)).astype(float).tolist())
    (apart,), (reliability,) = (m(ratings).values() for m in BOTH)
    assert decide_estimate(Limit.of({"at_most": 0.5}), apart).outcome == "fail"
    assert decide_estimate(Limit.of({"at_least": 0.5}), reliability).outcome == "fail"


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("repeats", [10, 100])
def test_reliability_cannot_be_bought_by_repeats(rate, repeats):
    """ICC(1,1) = 0.1: of the mean of k it passed in 3 % of cases at k = 10 and in 76 % at k = 100."""
    rng, passed = np.random.default_rng(9), 0
    for _ in range(60):
        rows = 5 + rng.normal(0, math.sqrt(1 / 9), (5, 1)) + rng.normal(0, 1, (5, repeats))
        (found,) = score_repeats.repeat_reliability(one_judge(rate, rows.clip(0, 10).tolist(), step=0.01)).values()
        passed += decide_estimate(Limit.of({"at_least": 0.5}), found).outcome == "pass"
    assert passed <= 2


# --------------------------------------------------------------------------- people


def test_the_offset_allows_for_other_people(rate, make_frame):
    """Three people who lean by SD 0.5, twenty texts, a judge that gives what the population gives: the interval about
    people in general holds 0 nearly always; the one against these people does in one panel of three."""
    rng, held, against_these = np.random.default_rng(10), 0, 0
    for _ in range(60):
        texts = rng.normal(5, 1, 20)
        judge = {("x", f"i{k}", "t"): [texts[k] + rng.normal(0, 0.2)] for k in range(20)}
        leaning = rng.normal(0, 0.5, 3)
        people = {
            (f"p{n}", f"i{k}", "t"): [texts[k] + leaning[n] + rng.normal(0, 0.3)] for n in range(3) for k in range(20)
        }
        frame = pd.concat([make_frame(judge), make_frame(people, kind="person")], ignore_index=True)
        found = human_alignment.human_offset(rate(frame, scales=Numeric(-50, 50, 0.01))).of(judge="x")
        low, high = found.detail["people_in_general"]
        held += low <= 0 <= high
        against_these += found.low <= 0 <= found.high
    assert held >= 52
    assert against_these <= 30


def test_five_texts_have_no_order(published):
    """A random order of five lies at 0.3 or above one time in three; what cannot be told does not pass."""
    for estimate in human_order.human_order(published).values():
        assert decide_estimate(Limit.of({"at_least": 0.3}), estimate).outcome == "undecided"
        assert "needs 8 pairs" in estimate.note


def test_what_has_no_interval_says_so(published):
    for estimate in human_order.closest_judge(published).values():
        assert math.isnan(estimate.low)
        assert "no interval" in estimate.note
    (gone,) = name_effect.bias_gone_without_names(published).values()
    assert gone.value == pytest.approx(26.5, abs=0.05)
    assert math.isnan(gone.low)

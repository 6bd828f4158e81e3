"""Scale framing: hand arithmetic, what a direction-blind judge shows, the thesis's grades, degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import scale_framing as sf
from recuse.metrics import self_preference as sp

NAN = math.nan


def both(make_grades, up, down):
    """Digits as written, (judge, target) -> list, under either framing."""
    return pd.concat([make_grades(up, "positive"), make_grades(down, "negative")], ignore_index=True)


def one(family, judge="x", **more):
    return family.of(judge=judge, **more)


# --------------------------------------------------------------------------- level


def test_shift_by_hand(make_grades):
    """Digits 4 3 under the positive, 1 2 under the negative framing for a: 5 4, so +1 +1; b: 5 2 and 1 NaN: 5, so 0.
    Three texts, mean 2/3; stories sum deviations: (1 - 2/3) + (0 - 2/3) = -1/3 and 1 - 2/3 = 1/3. With half a story of
    size 1.5 a grade up and down: se^2 = 3/2 (2/9 + 1.5^2) / 4.5^2."""
    ratings = both(make_grades, {("x", "a"): [4, 3], ("x", "b"): [5, 2]}, {("x", "a"): [1, 2], ("x", "b"): [1, NAN]})
    estimate = one(sf.shift(ratings))
    assert (estimate.value, estimate.n, estimate.n_clusters, estimate.n_excluded) == (pytest.approx(2 / 3), 3, 2, 1)
    assert estimate.distribution.se == pytest.approx(math.sqrt(1.5 * (2 / 9 + 2.25)) / 4.5)
    assert estimate.detail == {"positive": 4.0, "negative": pytest.approx(14 / 3)}


def test_a_judge_that_mirrors_every_digit_has_an_interval_around_0(make_grades):
    """Without exception, on 30 stories of 4 texts: not certainty, but +-0.07 points."""
    digits = np.random.default_rng(0).integers(1, 6, (4, 30))
    up = {("x", t): list(row) for t, row in zip("abcd", digits, strict=True)}
    estimate = one(sf.shift(both(make_grades, up, {cell: [6 - d for d in row] for cell, row in up.items()})))
    assert estimate.value == 0
    assert estimate.high == -estimate.low == pytest.approx(0.0671, abs=1e-4)


def test_shift_by_target_is_a_paired_t_test(make_grades):
    rng = np.random.default_rng(1)
    up, down = rng.integers(1, 6, 20), rng.integers(1, 6, 20)
    ratings = both(make_grades, {("x", "a"): list(up)}, {("x", "a"): list(down)})
    estimate, theirs = one(sf.shift_by_target(ratings), target="a"), stats.ttest_rel(6 - down, up)
    assert estimate.value == pytest.approx((6 - down - up).mean())
    assert estimate.detail["p"] == pytest.approx(theirs.pvalue)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(theirs.confidence_interval()))


# --------------------------------------------------------------------------- self-preference


def test_self_preference_change_by_hand(make_grades):
    """S - R under the positive framing: 5 - 3, 4 - 4, 4 - 3; on the turned negative grades 4 - 4, 5 - 3, NaN. Stories
    with both: changes -2 and 2."""
    up = {("x", "a"): [5, 4, 4], ("y", "a"): [3, 4, 3], ("x", "b"): [3, 3, 3], ("y", "b"): [3, 3, 3]}
    down = {("x", "a"): [2, 1, NAN], ("y", "a"): [2, 3, 3], ("x", "b"): [3, 3, 3], ("y", "b"): [3, 3, 3]}
    estimate = one(sf.self_preference_change(both(make_grades, up, down), {"x": "a"}))
    assert (estimate.value, estimate.n, estimate.n_excluded) == (0, 2, 1)
    assert estimate.detail["sd"] == pytest.approx(math.sqrt(8))
    assert (estimate.detail["positive"], estimate.detail["negative"]) == (1, 1)


def test_the_thesis_on_framing(thesis_grades, thesis_own):
    """Sec. 4.1: the inverted scale makes DeepSeek better to everyone and to itself above all, and takes Gemini's
    preference down. The change is the difference of the two published means where all stories are there."""
    change = sf.self_preference_change(thesis_grades, thesis_own)
    received = sp.against_received(thesis_grades, thesis_own)
    for judge in thesis_own:
        a, b = (received.of(judge=judge, framing=f) for f in ("positive", "negative"))
        if a.n == b.n == 100:
            assert one(change, judge).value == pytest.approx(b.value - a.value)
    assert one(change, "deepseek-chat").low > 0.5
    assert one(change, "gemini-2.5-pro-preview-05-06").high < -0.15
    assert one(sf.shift(thesis_grades), "deepseek-chat").low > 0.2
    assert one(change, "sonar-reasoning-pro").n == 76
    given, controlled = (
        sf.self_preference_change(thesis_grades, thesis_own, against=a) for a in ("given", "controlled")
    )
    assert one(given, "deepseek-chat").value == pytest.approx(0.14 - -0.06, abs=0.011)
    assert abs(one(controlled, "deepseek-chat").value) < one(change, "deepseek-chat").value / 3  # mostly its mildness


# --------------------------------------------------------------------------- direction


def test_insensitivity_by_hand(make_grades):
    """Digits (5,5) same, (4,2) mirrored, (2,4) mirrored, (1,4) neither, (4,3) neither, (3,3) and (3,4) middle.
    (1 - 2) / 5 = -0.2. Sides of the middle: + - - - 0 over 5. Same digit in (5,5), (3,3): 2 of 7; if aware: 2 of 7."""
    ratings = both(make_grades, {("x", "a"): [5, 4, 2, 1, 4, 3, 3, 5]}, {("x", "a"): [5, 2, 4, 4, 3, 3, 4, NAN]})
    estimate = one(sf.direction_insensitivity(ratings))
    assert (estimate.value, estimate.n, estimate.n_excluded) == (pytest.approx(-0.2), 5, 1)
    detail = dict(estimate.detail)
    assert {k: detail[k] for k in ("same", "mirrored", "neither", "middle")} == {
        "same": 1, "mirrored": 2, "neither": 2, "middle": 2,
    }  # fmt: skip
    assert detail["same_side"] == pytest.approx((1 - 1 - 1 - 1 + 0) / 5)
    assert (detail["same_share"], detail["same_share_if_aware"]) == (pytest.approx(2 / 7), pytest.approx(2 / 7))


@pytest.mark.parametrize(("reply", "value"), [(lambda d: 6 - d, -1), (lambda d: d, 1), (lambda d: 4, None)])
def test_aware_blind_and_constant(make_grades, reply, value):
    """A judge that always writes 4 is as blind to the direction as one that repeats its digit."""
    digits = [4, 5, 2, 1, 4, 5] if value else [4] * 6
    ratings = both(make_grades, {("x", "a"): digits}, {("x", "a"): [reply(d) for d in digits]})
    estimate = one(sf.direction_insensitivity(ratings))
    assert estimate.value == (value or 1)
    assert (estimate.high < 0) if value == -1 else (estimate.low > 0)


def test_noisy_judges_land_on_their_side(make_grades):
    """A grade of its own plus noise under either framing: well below 0 if it reads the scale, above if it does not."""
    rng = np.random.default_rng(2)
    true = rng.normal(3.3, 1.1, (4, 40))
    grades = [np.clip(np.round(true + rng.normal(0, 0.6, true.shape)), 1, 5) for _ in range(2)]
    up = {("x", t): list(row) for t, row in zip("abcd", grades[0], strict=True)}
    for turn, side in ((lambda d: 6 - d, -1), (lambda d: d, 1)):
        down = {("x", t): [turn(d) for d in row] for t, row in zip("abcd", grades[1], strict=True)}
        estimate = one(sf.direction_insensitivity(both(make_grades, up, down)))
        assert estimate.value * side > 0.2
        assert min(estimate.low * side, estimate.high * side) > 0


def test_no_discrimination_is_not_told_apart(make_grades):
    """Two digits that have nothing to do with each other: the interval covers 0 for 92 % or more of 200 judges (nominal
    95 %, where 200 judges err by 1.5 %)."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        x, y = rng.integers(1, 6, (2, 30))
        estimate = one(sf.direction_insensitivity(both(make_grades, {("x", "a"): list(x)}, {("x", "a"): list(y)})))
        held += estimate.low <= 0 <= estimate.high
    assert held >= 184


def test_all_judges_of_the_thesis_read_the_scale(thesis_grades):
    assert all(e.high < 0 for e in sf.direction_insensitivity(thesis_grades).values())


# --------------------------------------------------------------------------- degenerate


def test_one_framing_only(make_grades):
    ratings = make_grades({("x", "a"): [4, 3], ("y", "a"): [3, 3], ("x", "b"): [2, 2]})
    for found in (
        sf.shift(ratings), sf.direction_insensitivity(ratings), sf.self_preference_change(ratings, {"x": "a"})
    ):  # fmt: skip
        estimate = one(found)
        assert not estimate.defined
        assert "framing" in estimate.note
    assert not one(sf.shift_by_target(ratings), target="a").defined


def test_only_middles_say_nothing(make_grades):
    ratings = both(make_grades, {("x", "a"): [3, 3]}, {("x", "a"): [3, 1]})
    assert "reads the same in both directions" in one(sf.direction_insensitivity(ratings)).note


def test_one_story(make_grades):
    ratings = both(make_grades, {("x", "a"): [5], ("x", "b"): [4]}, {("x", "a"): [5], ("x", "b"): [4]})
    for found in (sf.shift(ratings), sf.direction_insensitivity(ratings)):
        estimate = one(found)
        assert estimate.defined
        assert math.isnan(estimate.low)

"""Scale framing: hand arithmetic, what a direction-blind judge shows, the thesis's scores, strangers' tables."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.self_preference import published_tests, scale_framing
from recuse.papers.self_preference.scale_framing import AGAINST, framing_change
from recuse.papers.self_preference.self_preference_drawings import scale_framing as scale_framing_drawing
from recuse.ratings import Numeric, Ratings

NAN = math.nan


@pytest.fixture
def both(make_scores, rate):
    """Ratings from the numbers as written, (judge, target) -> list, in either direction."""

    def made(up, down, **known):
        frames = make_scores(up, direction="ascending"), make_scores(down, direction="reversed")
        return rate(*frames, **known)

    return made


def one(family, judge="x", **more):
    return family.of(judge=judge, **more)


# --------------------------------------------------------------------------- what was asked about


@pytest.mark.parametrize("measure", ["framing_shift", "direction_insensitivity"])
def test_a_text_that_nobody_was_asked_about_is_not_left_out(both, measure):
    """a wrote on the first story only, b on the second only; of b's text one score could not be read."""
    ratings = both({("x", "a"): [4, 3], ("x", "b"): [5, 2]}, {("x", "a"): [1, 2], ("x", "b"): [1, NAN]})
    table = ratings.table
    written = (table["item"] == table["item"].iloc[0]) == (table["target"] == "a")
    estimate = one(getattr(scale_framing, measure)(replace(ratings, table=table[written], _memory={})))
    assert (estimate.n, estimate.n_excluded) == (1, 1)


def test_a_text_that_was_asked_in_one_direction_alone_is_left_out_whichever_it_was(both):
    """Two stories, of which the second was asked about in the second direction only."""
    ratings = both({("x", "a"): [4, 3]}, {("x", "a"): [1, 2]})
    later, first = ratings.table["item"] != ratings.table["item"].iloc[0], ratings.table["direction"] == "ascending"
    once = replace(ratings, table=ratings.table[~(later & first)], _memory={})
    estimate = one(scale_framing.framing_shift(once))
    assert (estimate.n, estimate.n_excluded) == (1, 1)


# --------------------------------------------------------------------------- level


def test_shift_by_hand(both):
    """Numbers 4 3 with the scale ascending, 1 2 with it reversed for a: 5 4, so +1 +1; b: 5 2 and 1 NaN: 5, so 0.
    Three texts, mean 2/3; items' sums of deviations: (1 - 2/3) + (0 - 2/3) = -1/3 and 1 - 2/3 = 1/3. With half an item
    of size 1.5 a step up and down: se^2 = 3/2 (2/9 + 1.5^2) / 4.5^2."""
    ratings = both({("x", "a"): [4, 3], ("x", "b"): [5, 2]}, {("x", "a"): [1, 2], ("x", "b"): [1, NAN]})
    estimate = one(scale_framing.framing_shift(ratings))
    assert (estimate.value, estimate.n, estimate.n_clusters, estimate.n_excluded) == (pytest.approx(2 / 3), 3, 2, 1)
    assert (estimate.units, estimate.unit, estimate.span) == ("items", "points", 4)
    assert estimate.distribution.se == pytest.approx(math.sqrt(1.5 * (2 / 9 + 2.25)) / 4.5)
    assert (estimate.detail["ascending"], estimate.detail["reversed"]) == (4.0, pytest.approx(14 / 3))
    drawn = next(figure for figure in scale_framing_drawing.figures if figure.metrics == "framing_shift")
    assert drawn.aside(SimpleNamespace(detail=estimate.detail)) == "4.00 where high is best, 4.67 where low is"
    lost = estimate.detail["losses"]  # b's second text, turned round: the change could have been -4 to +4
    assert (lost["sides"]["reversed"], lost["bounds"]) == ([1, 4], [-0.5, 1.5])


def test_a_judge_that_mirrors_every_number_has_an_interval_around_0(both):
    """Without exception, on 30 items of 4 texts: not certainty, but +-0.07 points."""
    digits = np.random.default_rng(0).integers(1, 6, (4, 30))
    up = {("x", t): list(row) for t, row in zip("abcd", digits, strict=True)}
    estimate = one(scale_framing.framing_shift(both(up, {cell: [6 - d for d in row] for cell, row in up.items()})))
    assert estimate.value == 0
    assert estimate.high == -estimate.low == pytest.approx(0.0671, abs=1e-4)


@pytest.mark.parametrize(("scale", "step"), [
    (Numeric(1, 5, 1), 1), (Numeric(1, 5), 1), (Numeric(1, 5, 0.5), 0.5), (Numeric(0, 100), 20),
])  # fmt: skip
def test_the_step_that_keeps_agreement_from_being_certainty(both, scale, step):
    """The scale's own; where it has none, the smallest difference between the judge's scores. 2 4 5 in units of it."""
    unit = 20 if scale.maximum == 100 else 1
    given = [2 * unit, 4 * unit, 5 * unit, 4 * unit]
    down = [scale.minimum + scale.maximum - score for score in given]
    estimate = one(scale_framing.framing_shift(both({("x", "a"): given}, {("x", "a"): down}, scale=scale)))
    assert estimate.distribution.se == pytest.approx(math.sqrt(5 / 4 * step**2) / 5)


def test_shift_by_target_is_a_paired_t_test(both):
    rng = np.random.default_rng(1)
    up, down = rng.integers(1, 6, 20), rng.integers(1, 6, 20)
    ratings = both({("x", "a"): list(up)}, {("x", "a"): list(down)})
    estimate, theirs = one(scale_framing.shift_by_target(ratings), target="a"), stats.ttest_rel(6 - down, up)
    assert estimate.value == pytest.approx((6 - down - up).mean())
    assert estimate.detail["p"] == pytest.approx(theirs.pvalue)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(theirs.confidence_interval()))


# --------------------------------------------------------------------------- self-preference


def test_self_preference_change_by_hand(both):
    """S - R with the scale ascending: 5 - 3, 4 - 4, 4 - 3; reversed and turned round 4 - 4, 5 - 3, NaN. Items with
    both: changes -2 and 2."""
    up = {("x", "a"): [5, 4, 4], ("y", "a"): [3, 4, 3], ("x", "b"): [3, 3, 3], ("y", "b"): [3, 3, 3]}
    down = {("x", "a"): [2, 1, NAN], ("y", "a"): [2, 3, 3], ("x", "b"): [3, 3, 3], ("y", "b"): [3, 3, 3]}
    estimate = one(framing_change(both(up, down, authors={"x": "a"})), against="received")
    assert (estimate.value, estimate.n, estimate.n_excluded) == (0, 2, 1)
    assert estimate.detail["sd"] == pytest.approx(math.sqrt(8))
    assert (estimate.detail["ascending"], estimate.detail["reversed"]) == (1, 1)
    assert estimate.detail["margin"] == 0.25


def test_the_thesis_on_framing(thesis_ratings):
    """Sec. 4.1: the inverted scale makes DeepSeek better to everyone and to itself above all, and takes Gemini's
    preference down. The change is the difference of the two published means where all items are there."""
    change, received = framing_change(thesis_ratings), published_tests.self_minus_received(thesis_ratings)
    whole = 0
    for judge in thesis_ratings.own():
        a, b = (received.of(judge=judge, direction=direction) for direction in ("ascending", "reversed"))
        if a.n == b.n == 100:
            assert one(change, judge, against="received").value == pytest.approx(b.value - a.value)
            whole += 1
    assert whole == 4
    assert one(change, "deepseek-chat", against="received").low > 0.5
    assert one(change, "gemini-2.5-pro-preview-05-06", against="received").high < -0.15
    assert one(scale_framing.framing_shift(thesis_ratings), "deepseek-chat").low > 0.2
    assert one(change, "sonar-reasoning-pro", against="received").n == 76
    by = {against: one(change, "deepseek-chat", against=against).value for against in AGAINST}
    assert by["given"] == pytest.approx(0.14 - -0.06, abs=0.011)
    assert abs(by["controlled"]) < by["received"] / 3  # mostly its mildness


# --------------------------------------------------------------------------- direction


def test_insensitivity_by_hand(both):
    """Numbers (5,5) same, (4,2) mirrored, (2,4) mirrored, (1,4) neither, (4,3) neither, (3,3) and (3,4) middle.
    (1 - 2) / 5 = -0.2. Sides of the middle: + - - - 0 over 5. Same number in (5,5), (3,3): 2 of 7; if aware: 2 of 7."""
    ratings = both({("x", "a"): [5, 4, 2, 1, 4, 3, 3, 5]}, {("x", "a"): [5, 2, 4, 4, 3, 3, 4, NAN]})
    estimate = one(scale_framing.direction_insensitivity(ratings))
    assert (estimate.value, estimate.n, estimate.n_excluded) == (pytest.approx(-0.2), 5, 1)
    detail = dict(estimate.detail)
    assert {k: detail[k] for k in ("same", "mirrored", "neither", "middle")} == {
        "same": 1, "mirrored": 2, "neither": 2, "middle": 2,
    }  # fmt: skip
    assert detail["same_side"] == pytest.approx((1 - 1 - 1 - 1 + 0) / 5)
    assert (detail["same_share"], detail["same_share_if_aware"]) == (pytest.approx(2 / 7), pytest.approx(2 / 7))


@pytest.mark.parametrize(("reply", "value"), [(lambda d: 6 - d, -1), (lambda d: d, 1), (lambda d: 4, None)])
def test_aware_blind_and_constant(both, reply, value):
    """A judge that always writes 4 is as blind to the direction as one that repeats its number."""
    digits = [4, 5, 2, 1, 4, 5] if value else [4] * 6
    ratings = both({("x", "a"): digits}, {("x", "a"): [reply(d) for d in digits]})
    estimate = one(scale_framing.direction_insensitivity(ratings))
    assert estimate.value == (value or 1)
    assert (estimate.high < 0) if value == -1 else (estimate.low > 0)


def test_noisy_judges_land_on_their_side(both):
    """A score of its own plus noise in either direction: well below 0 if it reads the scale, above if it does not."""
    rng = np.random.default_rng(2)
    true = rng.normal(3.3, 1.1, (4, 40))
    grades = [np.clip(np.round(true + rng.normal(0, 0.6, true.shape)), 1, 5) for _ in range(2)]
    up = {("x", t): list(row) for t, row in zip("abcd", grades[0], strict=True)}
    for turn, side in ((lambda d: 6 - d, -1), (lambda d: d, 1)):
        down = {("x", t): [turn(d) for d in row] for t, row in zip("abcd", grades[1], strict=True)}
        estimate = one(scale_framing.direction_insensitivity(both(up, down)))
        assert estimate.value * side > 0.2
        assert min(estimate.low * side, estimate.high * side) > 0


def test_no_discrimination_is_not_told_apart(both):
    """Two numbers that have nothing to do with each other: the interval covers 0 for 92 % or more of 200 judges
    (nominal 95 %, where 200 judges err by 1.5 %)."""
    up, down = np.random.default_rng(3).integers(1, 6, (200, 2, 30)).swapaxes(0, 1)
    judges = [f"j{k}" for k in range(200)]
    tables = [{(judge, "a"): row for judge, row in zip(judges, rows.tolist(), strict=True)} for rows in (up, down)]
    found = scale_framing.direction_insensitivity(both(*tables))
    held = sum(estimate.low <= 0 <= estimate.high for estimate in found.values())
    assert len(found) == 200
    assert held >= 184


def test_all_judges_of_the_thesis_read_the_scale(thesis_ratings):
    found = scale_framing.direction_insensitivity(thesis_ratings)
    assert len(found) == 5
    assert all(e.high < 0 for e in found.values())


# --------------------------------------------------------------------------- degenerate


@pytest.mark.parametrize("columns", [{}, {"direction": "ascending"}])
def test_one_direction_only(make_scores, rate, columns):
    frame = make_scores({("x", "a"): [4, 3], ("y", "a"): [3, 3], ("x", "b"): [2, 2]}, **columns)
    ratings = rate(frame, authors={"x": "a"})
    for estimate in (
        one(scale_framing.framing_shift(ratings)), one(scale_framing.direction_insensitivity(ratings)),
        one(scale_framing.shift_by_target(ratings), target="a"), one(framing_change(ratings), against="received"),
    ):  # fmt: skip
        assert not estimate.defined
        assert "direction" in estimate.note


def test_only_middles_say_nothing(both):
    ratings = both({("x", "a"): [3, 3]}, {("x", "a"): [3, 1]})
    assert "reads the same in both directions" in one(scale_framing.direction_insensitivity(ratings)).note


def test_one_item(both):
    ratings = both({("x", "a"): [5], ("x", "b"): [4]}, {("x", "a"): [5], ("x", "b"): [4]})
    for found in (scale_framing.framing_shift(ratings), scale_framing.direction_insensitivity(ratings)):
        estimate = one(found)
        assert estimate.defined
        assert math.isnan(estimate.low)


def test_an_item_asked_in_one_direction_is_excluded_and_counted(both):
    ratings = both({("x", "a"): [4, 3, 2]}, {("x", "a"): [2, 3]})
    estimate = one(scale_framing.framing_shift(ratings))
    assert (estimate.n, estimate.n_excluded, estimate.value) == (2, 1, 0)


# --------------------------------------------------------------------------- strangers' tables


def test_within_other_factors_and_criteria_on_any_scale(make_scores):
    """Two criteria on 0 to 10, names shown and hidden: the judge turns `tone` round and repeats the number of `use`
    where names are hidden."""
    up = make_scores({("x", "a"): [2, 7, 8, 9]})
    rows = []
    for criterion, names in product(("tone", "use"), ("shown", "hidden")):
        deaf = (criterion, names) == ("use", "hidden")
        down = up.assign(score=up["score"] if deaf else 10 - up["score"], direction="reversed")
        rows += [part.assign(criterion=criterion, names=names) for part in (up.assign(direction="ascending"), down)]
    found = scale_framing.direction_insensitivity(Ratings.of(pd.concat(rows, ignore_index=True), scales=Numeric(0, 10)))
    assert found.by == ("judge", "names", "criterion")
    values = {key[1:]: estimate.value for key, estimate in found.items()}
    assert values == {("shown", "tone"): -1, ("hidden", "tone"): -1, ("shown", "use"): -1, ("hidden", "use"): 1}


def test_a_scale_without_an_end_has_no_middle(both):
    ratings = both({("x", "a"): [2, 7]}, {("x", "a"): [2, 7]}, scale=Numeric(0, math.inf))
    assert "without ends" in one(scale_framing.direction_insensitivity(ratings)).note


def test_repeats_are_averaged_first(both, make_scores, rate):
    """4 and 5 ascending, 2 and 1 reversed: 4.5 either way."""
    frames = [
        make_scores({("x", "a"): [a, 3]}, direction="ascending", repeat=r) for r, a in enumerate((4, 5))
    ] + [make_scores({("x", "a"): [a, 3]}, direction="reversed", repeat=r) for r, a in enumerate((2, 1))]  # fmt: skip
    estimate = one(scale_framing.framing_shift(rate(*frames)))
    assert (estimate.value, estimate.n) == (0, 2)

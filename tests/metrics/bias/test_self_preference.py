"""Self-preference: the thesis's table, hand arithmetic, what cancels and what does not, strangers' tables."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import consensus
from recuse.metrics import self_preference as sp
from recuse.papers.self_preference import published_tests
from recuse.ratings import Numeric, Ratings
from recuse.schema import RecuseError

NAN = math.nan
OWN = {"x": "a", "y": "b", "z": "c"}
MEASURES = (published_tests.self_minus_received, published_tests.self_minus_given, sp.self_preference_controlled)


def of(family, judge="x", **levels):
    return family.of(judge=judge, **levels)


# --------------------------------------------------------------------------- published


def test_every_printed_figure_of_the_thesis(thesis_ratings, thesis_table):
    """Table 1, ten rows: N, six means and SDs, t, p in percent, significance and interval of both tests."""
    received = published_tests.self_minus_received(thesis_ratings)
    given = published_tests.self_minus_given(thesis_ratings)
    checked = 0
    for row in thesis_table.to_dict("records"):
        direction = {"positive": "ascending", "negative": "reversed"}[row["framing"]]
        r, g = (of(family, row["model"], direction=direction) for family in (received, given))
        found = {"n": f"{r.n}", **{f"{k}_{m}": f"{r.detail[f'{k}_{m}']:.2f}" for k in "srg" for m in ("mean", "sd")}}
        for side, e in (("r", r), ("g", g)):
            found |= {
                f"t_{side}": f"{e.detail['t']:.2f}", f"p_{side}_pct": f"{100 * e.detail['p']:.0f}",
                f"sig_{side}": f"{e.detail['p'] < 0.05:d}",
                f"ci_{side}_lo": f"{e.low:.2f}", f"ci_{side}_hi": f"{e.high:.2f}",
            }  # fmt: skip
        assert found == {name: row[name] for name in found}
        checked += len(found)
    assert checked == 10 * (1 + 6 + 2 * 5)


def test_the_family_of_the_thesis(thesis_ratings):
    received = published_tests.self_minus_received(thesis_ratings)
    given = published_tests.self_minus_given(thesis_ratings)
    tally = published_tests.significant_tests(thesis_ratings)
    assert tally.detail["summary"] == "12 of 20 significant, all 12 survive Holm"
    assert (tally.value, tally.n, tally.n_excluded) == (12, 20, 0)
    details = [e.detail for e in (*received.values(), *given.values())]
    assert {d["family"] for d in details} == {20}
    below = sorted(d["p"] for d in details if d["p"] < 0.05)
    assert below[-1] * 9 < 0.05  # the twelfth of 20 in order: Holm multiplies it by 9


def test_readings_of_the_thesis(thesis_ratings):
    """Its own observations (sec. 4.1): Claude below its peers' view of it and yet above what it gives to others, which
    may be justified; Gemini above both with the usual scale, and no longer above its peers with the inverted one."""
    received = published_tests.self_minus_received(thesis_ratings)
    readings = {key: e.detail["reading"] for key, e in received.items()}
    assert readings["claude-3-7-sonnet-20250219", "ascending"] == "justified, and modest"
    assert readings["gemini-2.5-pro-preview-05-06", "ascending"] == "harmful"
    assert readings["gemini-2.5-pro-preview-05-06", "reversed"] == "justified"
    assert readings["deepseek-chat", "ascending"] == "none"
    assert readings["deepseek-chat", "reversed"] == "generous"
    assert readings["sonar-reasoning-pro", "reversed"] == "modest"
    alone = {key: e.detail["thesis_reading"] for key, e in received.items()}
    assert {key for key, word in alone.items() if word == "harmful"} == {
        ("gemini-2.5-pro-preview-05-06", "ascending"), ("gpt-4.1-2025-04-14", "ascending"),
        ("sonar-reasoning-pro", "ascending"), ("deepseek-chat", "reversed"), ("gpt-4.1-2025-04-14", "reversed"),
    }  # fmt: skip
    assert of(received, "sonar-reasoning-pro", direction="ascending").n_excluded == 12
    assert of(received, "sonar-reasoning-pro", direction="reversed").detail["excluded"]["self"] == 14


def test_rankings_of_the_thesis(thesis_ratings):
    """Sec. 4.1: Claude writes best, DeepSeek second, slightly behind; DeepSeek is the fairest judge where low scores
    are bad ones."""
    authors = published_tests.author_score(thesis_ratings)
    ranks = {key[0]: e.detail["rank"] for key, e in authors.items() if key[1] == "ascending"}
    assert sorted(ranks, key=ranks.__getitem__)[:2] == ["claude-3-7-sonnet-20250219", "deepseek-chat"]
    fair = published_tests.distance_from_fair(thesis_ratings)
    first = {key[0] for key, e in fair.items() if key[1] == "ascending" and e.detail["rank"] == 1}
    assert first == {"deepseek-chat"}
    of_deepseek = [fair.of(judge="deepseek-chat", direction=way) for way in ("ascending", "reversed")]
    assert [round(e.value, 2) for e in of_deepseek] == [0.08, 0.71]
    assert of_deepseek[1].detail["rank"] == 5


def test_the_fairest_judge_is_near_its_peers_and_its_own_grades_of_others_at_once(make_scores, rate):
    """x: S - R = 5 - 2, S - G = 5 - 1, so 5 from fair. y: S - R = 1 - 1, S - G = 1 - 2."""
    scores = make_scores({("x", "a"): [5], ("x", "b"): [1], ("y", "a"): [2], ("y", "b"): [1]})
    fair = published_tests.distance_from_fair(rate(scores, authors={"x": "a", "y": "b"}))
    assert [fair.of(judge=judge).value for judge in "xy"] == [5.0, 1.0]
    assert [fair.of(judge=judge).detail["rank"] for judge in "xy"] == [2, 1]


def test_a_leaderboard_of_the_thesis_with_and_without_own_grades(thesis_ratings):
    """Where 1 is best DeepSeek's own grades lift it from third to first, and Claude is first without its own; of five
    judges that all graded a text the gain is a fifth of S - R."""
    gain = published_tests.leaderboard_inflation(thesis_ratings)
    places = ("rank_without", "rank", "gained")
    moved = {key: tuple(e.detail[place] for place in places) for key, e in gain.items() if e.detail["gained"]}
    assert moved == {("deepseek-chat", "reversed"): (3, 1, 2), ("claude-3-7-sonnet-20250219", "reversed"): (1, 2, -1)}
    received = published_tests.self_minus_received(thesis_ratings)
    for judge in ("deepseek-chat", "claude-3-7-sonnet-20250219"):
        fifth = received.of(judge=judge, direction="reversed").value / 5
        assert gain.of(target=judge, direction="reversed").value == pytest.approx(fifth)


@pytest.mark.parametrize("favour", [0.0, 1.5])
def test_planted_inflation_comes_back(favour, make_scores, rate):
    """Four judges on 50 items; x adds `favour` to its own text and everybody a steady level: the gain is its quarter,
    and no rank of another target moves."""
    rng = np.random.default_rng(8)
    quality = {"a": 3.0, "b": 3.2, "c": 2.0}
    scores = make_scores({
        (judge, target): list(worth + rng.normal(0, 0.2, 50) + favour * ((judge, target) == ("x", "a")))
        for judge in "xyzw" for target, worth in quality.items()
    })  # fmt: skip
    gain = published_tests.leaderboard_inflation(rate(scores, authors={"x": "a"})).of(target="a")
    assert gain.low < favour / 4 < gain.high
    assert (gain.detail["rank_without"], gain.detail["rank"]) == ((2, 1) if favour else (2, 2))


# --------------------------------------------------------------------------- by hand


@pytest.fixture
def frame(make_scores):
    """x on a, b, c; its peers y (author of b) and z (author of c), three items."""
    return make_scores({
        ("x", "a"): [5, 4, 5], ("y", "a"): [4, 4, 3], ("z", "a"): [3, 4, 4],
        ("x", "b"): [4, 3, 4], ("y", "b"): [5, 5, 5], ("z", "b"): [3, 2, 4],
        ("x", "c"): [4, 4, 2], ("y", "c"): [3, 4, 3], ("z", "c"): [5, 4, 5],
    })  # fmt: skip


def test_by_hand(frame, rate):
    """x: S = 5 4 5, R = 3.5 4 3.5, G = 4 3.5 3. S - R = 1.5 0 1.5, mean 1, SD sqrt(0.75), t = 1 / (sqrt(0.75) /
    sqrt(3)) = 2. S - G = 1 0.5 2, mean 7/6, SD sqrt(7/12)."""
    ratings = rate(frame, authors=OWN)
    received, given = of(published_tests.self_minus_received(ratings)), of(published_tests.self_minus_given(ratings))
    assert (received.value, received.detail["t"], received.n) == pytest.approx((1, 2, 3))
    assert received.detail["p"] == pytest.approx(2 * stats.t(2).sf(2))
    assert received.low == pytest.approx(1 - stats.t(2).ppf(0.975) / 2)
    assert (received.unit, received.span, received.over) == ("points", 4, "items")
    assert (given.value, given.detail["sd"]) == pytest.approx((7 / 6, math.sqrt(7 / 12)))
    for name, value in {
        "s_mean": 14 / 3,
        "r_mean": 11 / 3,
        "g_mean": 3.5,
        "r_sd": math.sqrt(1 / 12),
        "g_sd": 0.5,
    }.items():
        assert received.detail[name] == pytest.approx(value)


def test_controlled_by_hand(frame, rate):
    """x against y, on c, which neither wrote: own 5-4 4-4 5-3 = 1 0 2, c 4-3 4-4 2-3 = 1 0 -1; less: 0 0 3. Against z,
    on b: own 5-3 4-4 5-4 = 2 0 1, b 4-3 3-2 4-4 = 1 1 0; less: 1 -1 1. D = mean of both: 0.5 -0.5 2, mean 2/3."""
    estimate = of(sp.self_preference_controlled(rate(frame, authors=OWN)))
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.detail["sd"] == pytest.approx(np.std([0.5, -0.5, 2], ddof=1))
    assert estimate.detail["leniency"] == pytest.approx(np.mean([1, 0.5, -0.5]))
    assert (estimate.n, estimate.n_excluded, estimate.over) == (3, 0, "items")


def test_scores_on_the_reversed_scale_are_turned_round(frame, rate):
    """6 - score: the same judgements written on the inverted scale give the same numbers."""
    turned = frame.assign(score=6 - frame["score"], direction="reversed")
    ratings = rate(frame.assign(direction="ascending"), turned, authors=OWN)
    for measure in MEASURES:
        a, b = (of(measure(ratings), direction=direction) for direction in ("ascending", "reversed"))
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


def test_same_items_only(make_scores, rate):
    """An item without S, without any R or without any G leaves all three; an item that lacks one peer stays."""
    frame = make_scores({
        ("x", "a"): [5, NAN, 4, 4, 5], ("y", "a"): [4, 4, NAN, 3, 4], ("z", "a"): [2, 4, NAN, NAN, 4],
        ("x", "b"): [3, 4, 4, 4, NAN], ("y", "b"): [3, 3, 3, 3, 3], ("z", "b"): [3, 3, 3, 3, 3],
    })  # fmt: skip
    estimate = of(published_tests.self_minus_received(rate(frame, authors={"x": "a", "y": "b"})))
    assert (estimate.n, estimate.n_excluded) == (2, 3)
    assert estimate.detail["excluded"] == {"self": 1, "received": 1, "given": 1}
    assert estimate.value == pytest.approx(((5 - 3) + (4 - 3)) / 2)


def test_the_margin_is_a_share_of_the_range(frame, rate):
    """A quarter of a point on 1 to 5 is a sixteenth of the range: 0.625 points on 0 to 10, with the same power."""
    wider = frame.assign(score=(frame["score"] - 1) * 2.5)
    details = [of(published_tests.self_minus_received(rate(table, authors=OWN, scale=scale))).detail
               for table, scale in ((frame, Numeric(1, 5)), (wider, Numeric(0, 10)))]  # fmt: skip
    assert [detail["margin"] for detail in details] == [0.25, 0.625]
    assert details[0]["power"] == details[1]["power"]
    assert of(sp.self_preference_controlled(rate(frame, authors=OWN), margin=0.1)).detail["margin"] == pytest.approx(
        0.4
    )


# --------------------------------------------------------------------------- what cancels

NAMES = ("p", "q", "r", "s")
SELF = {name: name for name in NAMES}
WIDE = Numeric(-99, 99)


@pytest.fixture
def cube():
    return np.random.default_rng(3).normal(3, 0.5, (30, 4, 4))


@pytest.fixture
def values(make_scores_from, rate):
    def measured(measure, cube):
        found = measure(rate(make_scores_from(cube, NAMES), authors=SELF, scale=WIDE))
        return np.array([e.value for e in found.values()])

    return measured


def test_what_each_measure_is_blind_to(values, cube):
    """Quality of an author's texts and an item's level move only S - G, and only the quality. A judge's leniency moves
    only S - R: by the difference from its peers' mean. The controlled measure does not move at all."""
    quality, leniency = np.array([0.5, -0.2, 0.1, 0.9]), np.array([0.3, 0.0, -0.6, 0.4])
    better = cube + quality[None, None, :] + np.arange(30)[:, None, None]
    milder = cube + leniency[None, :, None]
    others = (leniency.sum() - leniency) / 3
    for measure, by_quality, by_leniency in (
        (published_tests.self_minus_received, 0, leniency - others),
        (published_tests.self_minus_given, quality - (quality.sum() - quality) / 3, 0),
        (sp.self_preference_controlled, 0, 0),
    ):
        before = values(measure, cube)
        assert values(measure, better) - before == pytest.approx(np.zeros(4) + by_quality)
        assert values(measure, milder) - before == pytest.approx(np.zeros(4) + by_leniency)


def test_controlled_gives_back_what_was_planted_whatever_the_peers_do(values, cube):
    """Every judge adds to its own texts; each is found with its own amount, not with its peers'."""
    planted = np.array([0.8, 0.0, -0.3, 0.5])
    biased = cube + np.eye(4)[None] * planted[None, :, None]
    assert values(sp.self_preference_controlled, biased) - values(sp.self_preference_controlled, cube) == pytest.approx(
        planted
    )


def test_controlled_cancels_with_holes(make_scores_from, rate):
    """Only additive parts, a fifth of the replies unusable: exactly 0 wherever it is defined at all."""
    rng = np.random.default_rng(4)
    level = np.arange(30)[:, None, None] + rng.normal(0, 1, (1, 4, 1)) + rng.normal(0, 1, (30, 1, 4))
    holes = np.where(rng.random(level.shape) < 0.2, NAN, level)
    ratings = rate(make_scores_from(holes, NAMES), authors=SELF, scale=WIDE)
    for estimate in sp.self_preference_controlled(ratings).values():
        assert estimate.value == pytest.approx(0, abs=1e-12)
        assert 10 < estimate.n < 30
        assert estimate.n + estimate.n_excluded == 30
    assert any(abs(e.value) > 0.1 for e in published_tests.self_minus_received(ratings).values())


def test_controlled_is_difference_in_differences_without_holes(values, cube):
    """(S - R) - mean over the others' texts of (own score - mean of the peers that did not write it)."""
    found = values(sp.self_preference_controlled, cube)
    for j in range(4):
        own = cube[:, j, j] - np.delete(cube[:, :, j], j, axis=1).mean(axis=1)
        rest = [
            cube[:, j, t] - np.delete(cube[:, :, t], [j, t], axis=1).mean(axis=1) for t in range(4) if t != j
        ]  # fmt: skip
        assert found[j] == pytest.approx((own - np.mean(rest, axis=0)).mean())


def test_repeats_are_averaged_and_order_does_not_matter(frame, rate):
    again = frame.assign(repeat=1, score=frame["score"] + np.where(frame["judge"] == "x", 1, 0))
    both = pd.concat([frame.assign(repeat=0), again]).sample(frac=1, random_state=1)
    estimate = of(published_tests.self_minus_received(rate(both, authors=OWN, scale=Numeric(1, 6))))
    assert (estimate.value, estimate.n) == pytest.approx((1.5, 3))


# --------------------------------------------------------------------------- in words


@pytest.mark.parametrize(("received", "given", "told"), [
    (1, 1, "harmful"), (1, 0, "generous"), (1, -1, "generous"), (0, 1, "justified"), (0, 0, "none"),
    (0, -1, "none"), (-1, 1, "justified, and modest"), (-1, 0, "modest"), (-1, -1, "modest"),
])  # fmt: skip
def test_two_by_two(received, given, told):
    """1 and -1: that side of 0 and significant; 0: above 0 and not significant."""
    from recuse.statistics.paired import Paired

    tests = [Paired(9, side or 0.1, 1.0) for side in (received, given)]
    ps = [0.01 if side else 0.4 for side in (received, given)]
    assert published_tests.reading(*tests, *ps) == told


def test_tally_counts(frame, rate):
    tally = published_tests.significant_tests(rate(frame, authors=OWN))
    assert tally.detail["summary"] == "1 of 6 significant, 0 survive Holm"
    alone = published_tests.significant_tests(rate(frame[frame["judge"] == "x"], authors={"x": "a"}))
    assert alone.detail["summary"] == "0 of 0 significant, 2 could not be made"
    assert (alone.value, alone.n, alone.n_excluded) == (0, 0, 2)


def test_summary_when_holm_takes_some_away(frame, rate, monkeypatch):
    from recuse.schema import Estimate, Estimates

    ps = {"a": (0.001, 0.004), "b": (0.02, 0.06), "c": (0.5, 0.5), "d": (None, None)}
    family = Estimates(("judge",), {
        (name,): Estimate(metric="m", value=0.0, n=3, method="t", detail={"p": p, "p_holm": holm})
        for name, (p, holm) in ps.items()
    })  # fmt: skip
    monkeypatch.setattr(published_tests, "self_minus_received", lambda ratings: family)
    monkeypatch.setattr(published_tests, "self_minus_given", lambda ratings: Estimates(("judge",), {}))
    found = published_tests.significant_tests(rate(frame, authors=OWN)).detail["summary"]
    assert found == "2 of 3 significant, 1 survive Holm, 1 could not be made"


# --------------------------------------------------------------------------- degenerate


def test_one_judge_has_no_peers(make_scores, rate):
    ratings = rate(make_scores({("x", "a"): [5, 4], ("x", "b"): [3, 3]}), authors={"x": "a"})
    reasons = {
        published_tests.self_minus_received: "a peer's score of its text",
        sp.self_preference_controlled: "takes a third judge or target",
    }
    for measure, why in reasons.items():
        estimate = of(measure(ratings))
        assert not estimate.defined
        assert why in estimate.note
        assert estimate.n_excluded == 2


def test_one_author_leaves_nothing_to_compare_with(make_scores, rate):
    ratings = rate(make_scores({("x", "a"): [5, 4], ("y", "a"): [3, 3]}), authors={"x": "a"})
    assert "its score of another's text" in of(published_tests.self_minus_given(ratings)).note


def test_two_authors_have_no_text_that_neither_wrote(make_scores, rate):
    frame = make_scores({(j, t): [5, 4, 4] for j in "xy" for t in "ab"})
    assert "a third judge" in of(sp.self_preference_controlled(rate(frame, authors={"x": "a", "y": "b"}))).note
    assert of(
        sp.self_preference_controlled(rate(frame, authors={"x": "a"}))
    ).defined  # y wrote nothing here, so b is neutral ground
    third = make_scores({(j, t): [5, 4, 4] for j in "xy" for t in "abc"})
    assert of(sp.self_preference_controlled(rate(third, authors={"x": "a", "y": "b"}))).defined  # and so is c


def test_one_item_has_a_value_and_no_interval(make_scores, rate):
    frame = make_scores({(j, t): [d] for (j, t), d in {
        ("x", "a"): 5, ("y", "a"): 3, ("z", "a"): 4, ("x", "b"): 4, ("y", "b"): 4, ("z", "b"): 4,
    }.items()})  # fmt: skip
    estimate = of(published_tests.self_minus_received(rate(frame, authors={"x": "a"})))
    assert estimate.value == 1.5
    assert math.isnan(estimate.low)
    assert "one item says nothing about the next" in estimate.note


def test_constant_judges_give_a_value_without_a_test(make_scores, rate):
    """And what is gated an interval: six items leave slips of a grade in up to 46 % of them possible."""
    ratings = rate(make_scores({(j, t): [4] * 6 for j in "xyz" for t in "abc"}), authors=OWN)
    for measure in MEASURES:
        estimate = of(measure(ratings))
        assert (estimate.value, estimate.detail["p"]) == (0, None)
        if measure is sp.self_preference_controlled:
            assert estimate.high == pytest.approx(1 - 0.025 ** (1 / 6))
        else:
            assert math.isnan(estimate.low)
            assert "no item differs from another" in estimate.note


def test_a_score_outside_the_scale_is_an_error(frame, rate):
    with pytest.raises(RecuseError, match="scores lie between 1 and 5; row 0 has 7"):
        published_tests.self_minus_received(rate(frame.assign(score=7.0), authors=OWN))


def test_an_author_without_texts_or_scores_here(frame, rate):
    """A judge that is not in the ratings has no estimate; one whose target is not judged has one that says so."""
    ratings = rate(frame, authors={"x": "d", "w": "a"})
    for measure in MEASURES:
        (estimate,) = measure(ratings).values()
        assert estimate.note == "undefined: none of its own texts was judged"


def test_a_judge_that_was_asked_under_one_level_only(frame, rate):
    shown, hidden = frame.assign(names="shown"), frame.query("judge != 'x'").assign(names="hidden")
    for measure in MEASURES:
        found = measure(rate(shown, hidden, authors=OWN))
        assert of(found, names="shown").defined
        assert of(found, names="hidden").note == "undefined: it was not asked here"


# --------------------------------------------------------------------------- strangers' tables


def test_people_are_no_peers(frame, rate):
    people = frame[frame["judge"] == "y"].assign(judge="ann", score=1.0, kind="person")
    plain, mixed = rate(frame, authors=OWN), rate(frame.assign(kind="judge"), people, authors=OWN)
    for measure in MEASURES:
        assert of(measure(mixed)).value == of(measure(plain)).value


def test_every_target_with_its_own_items_is_another_design(make_scores, rate):
    """What one item cannot say, deviations over all texts can."""
    frame = make_scores({(j, t): [5, 4, 2] for j in "xyz" for t in "abc"})
    frame["score"] += ((frame["judge"] == "x") & (frame["target"] == "a")) * 0.5
    nested = rate(frame.assign(item=frame["target"] + frame["item"]), authors=OWN, scale=Numeric(1, 6))
    for measure in MEASURES:
        assert "every target has items of its own" in of(measure(nested)).note
        assert "consensus.self_preference" in of(measure(nested)).note
    assert of(consensus.self_preference(nested)).value > 0.4


def test_several_criteria_on_scales_of_their_own_are_one_family(frame):
    """Two criteria, one of 0 to 100: each with its own unit of margin, all tests in one correction."""
    both = pd.concat([frame.assign(criterion="tone"), frame.assign(criterion="use", score=frame["score"] * 20)])
    scales = {"tone": Numeric(1, 5), "use": Numeric(0, 100)}
    found = published_tests.self_minus_received(Ratings.of(both, scales=scales, authors=OWN))
    assert found.by == ("judge", "criterion")
    tone, use = of(found, criterion="tone"), of(found, criterion="use")
    assert (use.value, use.span, use.detail["margin"]) == pytest.approx((20 * tone.value, 100, 6.25))
    assert {e.detail["family"] for e in found.values()} == {12}


def test_passes_and_fails_count_as_1_and_0(frame):
    """x passes its own text on two items of three, its peers on one: S - R = 1/3 in shares."""
    passed = {("x", "a"): "pppf", ("y", "a"): "fppf", ("z", "a"): "fppf"}
    rows = [(j, t, i, "pass" if r == "p" else "fail") for (j, t), given in passed.items() for i, r in enumerate(given)]
    rows += [(j, t, i, "pass") for j in "xyz" for t in "bc" for i in range(4)]
    table = pd.DataFrame(rows, columns=["judge", "target", "item", "response"])
    estimate = of(published_tests.self_minus_received(Ratings.of(table, authors=OWN)))
    assert (estimate.value, estimate.unit, estimate.span) == (0.25, "share", 1.0)


def test_items_that_share_a_cluster_are_drawn_together(make_scores_from, rate):
    """Ten tickets of five customers, two each: the interval is the cluster-robust one over five, and items of one
    cluster that are copies of each other are worth one."""
    cube = np.random.default_rng(5).normal(3, 0.4, (5, 3, 3)).repeat(2, axis=0)
    frame = make_scores_from(cube, "xyz", "abc")
    texts = pd.DataFrame({"item": [f"i{k}" for k in range(10)], "cluster": [f"c{k // 2}" for k in range(10)]})
    ratings = rate(frame, authors=OWN, scale=WIDE, texts=texts.assign(target="a"), clusters="customers")
    estimate = of(published_tests.self_minus_received(ratings))
    assert (estimate.n, estimate.n_clusters, estimate.units) == (10, 5, "customers")
    once = rate(frame[frame["item"].isin([f"i{k}" for k in range(0, 10, 2)])], authors=OWN, scale=WIDE)
    single = of(published_tests.self_minus_received(once))
    assert (estimate.low, estimate.high) == pytest.approx((single.low, single.high))
    assert estimate.detail["p"] == pytest.approx(single.detail["p"])


def test_a_missing_score_costs_no_other_judge_its_items(frame, rate):
    """z cannot be read at all: x and y are compared with each other."""
    holes = frame.assign(score=frame["score"].where(frame["judge"] != "z"))
    found = published_tests.self_minus_received(rate(holes, authors=OWN))
    assert (of(found).n, of(found, "y").n) == (3, 3)
    assert of(found).value == pytest.approx(np.mean([5 - 4, 0, 5 - 3]))
    assert "no item has its own score" in of(found, "z").note


def test_a_scale_that_states_no_step_has_the_smallest_that_its_scores_show(rate):
    """Thirty items on which the judge gives its own text two points more, whole scores: the interval is that of a scale
    of whole points, and far from the limit."""
    rng = np.random.default_rng(4)
    rows = [
        (j, t, f"i{i}", round(5 + (2 if (j, t) == ("x", "a") else 0) + rng.normal(0, 0.5)))
        for i in range(30) for j in "xyz" for t in "abc"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["judge", "target", "item", "score"])
    free, stepped = (of(sp.self_preference_controlled(rate(frame, authors={"x": "a"}, scale=scale)))
                     for scale in (Numeric(0, 10), Numeric(0, 10, 1)))  # fmt: skip
    assert (free.low, free.high) == (stepped.low, stepped.high)
    assert free.low > 1.4


def test_a_siblings_text_is_held_against_strangers_only() -> None:
    """Judge a gives its sibling's text t one point more than strangers do; what c, the sibling, gives does not count,
    nor does what a gives itself."""
    rows = {"a": (5, 4, 3, 3), "c": (1, 5, 1, 1), "b": (3, 3, 3, 3), "d": (3, 3, 3, 3)}
    frame = pd.DataFrame(
        [(judge, item, target, float(score)) for judge, scores in rows.items() for item in "ij"
         for target, score in zip("stun", scores, strict=True)],
        columns=["judge", "item", "target", "score"],
    )  # fmt: skip
    ratings = Ratings.of(frame, authors={"a": "s", "c": "t", "b": "u"}, families={"a": "one", "c": "one"})
    found = published_tests.sibling_preference(ratings)
    assert set(found) == {("a", "t"), ("c", "s")}
    assert found.of(judge="a", target="t").value == 1.0
    assert not published_tests.sibling_preference(replace(ratings, families={}, _memory={}))

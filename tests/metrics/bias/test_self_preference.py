"""Self-preference: the thesis's table, hand arithmetic, what cancels and what does not, degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.metrics import self_preference as sp
from recuse.schema import RecuseError, check_ratings

NAN = math.nan


def of(family, judge="x", framing="positive"):
    return family.of(judge=judge, framing=framing)


# --------------------------------------------------------------------------- published


def test_every_printed_figure_of_the_thesis(thesis_grades, thesis_table, thesis_own):
    """Table 1, ten rows: N, six means and SDs, t, p in percent, significance and interval of both tests."""
    received, given = (f(thesis_grades, thesis_own) for f in (sp.against_received, sp.against_given))
    checked = 0
    for row in thesis_table.to_dict("records"):
        r, g = (of(family, row["model"], row["framing"]) for family in (received, given))
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


def test_the_family_of_the_thesis(thesis_grades, thesis_own):
    received, given = (f(thesis_grades, thesis_own) for f in (sp.against_received, sp.against_given))
    assert sp.summary(received, given) == "12 of 20 significant, all 12 survive Holm"
    details = [e.detail for e in (*received.values(), *given.values())]
    assert {d["family"] for d in details} == {20}
    below = sorted(d["p"] for d in details if d["p"] < 0.05)
    assert below[-1] * 9 < 0.05  # the twelfth of 20 in order: Holm multiplies it by 9


def test_readings_of_the_thesis(thesis_grades, thesis_own):
    """Its own observations (sec. 4.1): Claude below its peers' view of it and yet above what it gives to others, which
    may be justified; Gemini above both with the usual scale, and no longer above its peers with the inverted one."""
    received = sp.against_received(thesis_grades, thesis_own)
    readings = {key: e.detail["reading"] for key, e in received.items()}
    assert readings["claude-3-7-sonnet-20250219", "positive"] == "justified, and modest"
    assert readings["gemini-2.5-pro-preview-05-06", "positive"] == "harmful"
    assert readings["gemini-2.5-pro-preview-05-06", "negative"] == "justified"
    assert readings["deepseek-chat", "positive"] == "none"
    assert readings["deepseek-chat", "negative"] == "generous"
    assert readings["sonar-reasoning-pro", "negative"] == "modest"
    assert received.of(judge="sonar-reasoning-pro", framing="positive").n_excluded == 12
    assert received.of(judge="sonar-reasoning-pro", framing="negative").detail["excluded"]["self"] == 14


# --------------------------------------------------------------------------- by hand


def table(make_grades, framing="positive", turn=lambda d: d):
    """x on a, b, c; its peers y (author of b) and z (author of c), three stories."""
    digits = {
        ("x", "a"): [5, 4, 5], ("y", "a"): [4, 4, 3], ("z", "a"): [3, 4, 4],
        ("x", "b"): [4, 3, 4], ("y", "b"): [5, 5, 5], ("z", "b"): [3, 2, 4],
        ("x", "c"): [4, 4, 2], ("y", "c"): [3, 4, 3], ("z", "c"): [5, 4, 5],
    }  # fmt: skip
    return make_grades({cell: [turn(d) for d in given] for cell, given in digits.items()}, framing=framing)


OWN = {"x": "a", "y": "b", "z": "c"}


def test_by_hand(make_grades):
    """x: S = 5 4 5, R = 3.5 4 3.5, G = 4 3.5 3. S - R = 1.5 0 1.5, mean 1, SD sqrt(0.75), t = 1 / (sqrt(0.75) /
    sqrt(3)) = 2. S - G = 1 0.5 2, mean 7/6, SD sqrt(7/12)."""
    ratings = check_ratings(table(make_grades), ("framing",))
    received, given = of(sp.against_received(ratings, OWN)), of(sp.against_given(ratings, OWN))
    assert (received.value, received.detail["t"], received.n) == pytest.approx((1, 2, 3))
    assert received.detail["p"] == pytest.approx(2 * stats.t(2).sf(2))
    assert received.low == pytest.approx(1 - stats.t(2).ppf(0.975) / 2)
    assert (given.value, given.detail["sd"]) == pytest.approx((7 / 6, math.sqrt(7 / 12)))
    for name, value in {
        "s_mean": 14 / 3,
        "r_mean": 11 / 3,
        "g_mean": 3.5,
        "r_sd": math.sqrt(1 / 12),
        "g_sd": 0.5,
    }.items():
        assert received.detail[name] == pytest.approx(value)


def test_controlled_by_hand(make_grades):
    """x against y, on c, which neither wrote: own 5-4 4-4 5-3 = 1 0 2, c 4-3 4-4 2-3 = 1 0 -1; less: 0 0 3. Against z,
    on b: own 5-3 4-4 5-4 = 2 0 1, b 4-3 3-2 4-4 = 1 1 0; less: 1 -1 1. D = mean of both: 0.5 -0.5 2, mean 2/3."""
    estimate = of(sp.controlled(table(make_grades), OWN))
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.detail["sd"] == pytest.approx(np.std([0.5, -0.5, 2], ddof=1))
    assert estimate.detail["leniency"] == pytest.approx(np.mean([1, 0.5, -0.5]))
    assert (estimate.n, estimate.n_excluded, estimate.over) == (3, 0, "items")


def test_negative_digits_are_turned_round(make_grades):
    """6 - digit: the same grades written on the inverted scale give the same numbers."""
    up, down = table(make_grades), table(make_grades, "negative", lambda d: 6 - d)
    for measure in (sp.against_received, sp.against_given, sp.controlled):
        a, b = of(measure(up, OWN)), of(measure(down, OWN), framing="negative")
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


def test_same_stories_only(make_grades):
    """A story without S, without any R or without any G leaves all three; a story that lacks one peer stays."""
    ratings = make_grades({
        ("x", "a"): [5, NAN, 4, 4, 5], ("y", "a"): [4, 4, NAN, 3, 4], ("z", "a"): [2, 4, NAN, NAN, 4],
        ("x", "b"): [3, 4, 4, 4, NAN], ("y", "b"): [3, 3, 3, 3, 3], ("z", "b"): [3, 3, 3, 3, 3],
    })  # fmt: skip
    estimate = of(sp.against_received(ratings, {"x": "a", "y": "b"}))
    assert (estimate.n, estimate.n_excluded) == (2, 3)
    assert estimate.detail["excluded"] == {"self": 1, "received": 1, "given": 1}
    assert estimate.value == pytest.approx(((5 - 3) + (4 - 3)) / 2)


# --------------------------------------------------------------------------- what cancels


@pytest.fixture
def cube():
    return np.random.default_rng(3).normal(3, 0.5, (30, 4, 4))


NAMES = ("p", "q", "r", "s")
SELF = {name: name for name in NAMES}
WIDE = {"scale": (-99.0, 99.0)}


def values(measure, make_cube, cube, **more):
    found = measure(make_cube(cube, NAMES), SELF, **WIDE)
    return np.array([e.value for e in found.values()])


def test_what_each_measure_is_blind_to(make_cube, cube):
    """Quality of an author's texts and a story's level move only S - G, and only the quality. A judge's leniency moves
    only S - R: by the difference from its peers' mean. The controlled measure does not move at all."""
    quality, leniency = np.array([0.5, -0.2, 0.1, 0.9]), np.array([0.3, 0.0, -0.6, 0.4])
    better = cube + quality[None, None, :] + np.arange(30)[:, None, None]
    milder = cube + leniency[None, :, None]
    others = (leniency.sum() - leniency) / 3
    for measure, by_quality, by_leniency in (
        (sp.against_received, 0, leniency - others),
        (sp.against_given, quality - (quality.sum() - quality) / 3, 0),
        (sp.controlled, 0, 0),
    ):
        before = values(measure, make_cube, cube)
        assert values(measure, make_cube, better) - before == pytest.approx(np.zeros(4) + by_quality)
        assert values(measure, make_cube, milder) - before == pytest.approx(np.zeros(4) + by_leniency)


def test_controlled_gives_back_what_was_planted_whatever_the_peers_do(make_cube, cube):
    """Every judge adds to its own texts; each is found with its own amount, not with its peers'."""
    planted = np.array([0.8, 0.0, -0.3, 0.5])
    biased = cube + np.eye(4)[None] * planted[None, :, None]
    assert values(sp.controlled, make_cube, biased) - values(sp.controlled, make_cube, cube) == pytest.approx(planted)


def test_controlled_cancels_with_holes_in_the_grid(make_cube, cube):
    """Only additive parts, a fifth of the replies unusable: exactly 0 wherever it is defined at all."""
    rng = np.random.default_rng(4)
    level = np.arange(30)[:, None, None] + rng.normal(0, 1, (1, 4, 1)) + rng.normal(0, 1, (30, 1, 4))
    holes = np.where(rng.random(level.shape) < 0.2, NAN, level)
    ratings = make_cube(holes, NAMES).assign(status=lambda t: np.where(t["score"].isna(), "unparsed", "ok"))
    for estimate in sp.controlled(ratings, SELF, **WIDE).values():
        assert estimate.value == pytest.approx(0, abs=1e-12)
        assert 10 < estimate.n < 30
        assert estimate.n + estimate.n_excluded == 30
    assert any(abs(e.value) > 0.1 for e in sp.against_received(ratings, SELF, **WIDE).values())


def test_controlled_is_difference_in_differences_in_a_full_grid(make_cube, cube):
    """(S - R) - mean over the others' texts of (own score - mean of the peers that did not write it)."""
    found = values(sp.controlled, make_cube, cube)
    for j in range(4):
        own = cube[:, j, j] - np.delete(cube[:, :, j], j, axis=1).mean(axis=1)
        rest = [
            cube[:, j, t] - np.delete(cube[:, :, t], [j, t], axis=1).mean(axis=1) for t in range(4) if t != j
        ]  # fmt: skip
        assert found[j] == pytest.approx((own - np.mean(rest, axis=0)).mean())


def test_repeats_are_averaged_and_order_does_not_matter(make_grades):
    import pandas as pd

    one, two = table(make_grades), table(make_grades).assign(repeat=1)
    two["score"] += np.where(two["judge"] == "x", 1, 0)
    both = pd.concat([one, two]).sample(frac=1, random_state=1)
    estimate = of(sp.against_received(both, OWN, scale=(1, 6)))
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
    assert sp.reading(*tests, *ps) == told


def test_summary_counts(make_grades):
    few = table(make_grades)
    assert sp.summary(sp.against_received(few, OWN), sp.against_given(few, OWN)) == "1 of 6 significant, 0 survive Holm"
    alone = few[few["judge"] == "x"]
    assert sp.summary(sp.against_received(alone, {"x": "a"})) == "0 of 0 significant, 1 could not be made"


def test_summary_when_holm_takes_some_away():
    from recuse.schema import Estimate, Estimates

    ps = {"a": (0.001, 0.004), "b": (0.02, 0.06), "c": (0.5, 0.5), "d": (None, None)}
    family = Estimates(("judge",), {
        (name,): Estimate(metric="m", value=0.0, n=3, method="t", detail={"p": p, "p_holm": holm})
        for name, (p, holm) in ps.items()
    })  # fmt: skip
    assert sp.summary(family) == "2 of 3 significant, 1 survive Holm, 1 could not be made"


def test_matrix(make_grades):
    found = sp.score_matrix(table(make_grades), OWN, framing="positive")
    assert found.detail["values"][0] == pytest.approx([14 / 3, 11 / 3, 10 / 3])
    assert found.detail["own"] == [["x", "a"], ["y", "b"], ["z", "c"]]
    assert found.detail["stories"][0] == [3.0, 3.0, 3.0]
    gone = table(make_grades).query("not (judge == 'x' and target == 'b')")
    assert sp.score_matrix(gone, OWN, framing="positive").note.startswith("undefined: a judge has no usable grade")


# --------------------------------------------------------------------------- degenerate


def test_one_judge_has_no_peers(make_grades):
    ratings = make_grades({("x", "a"): [5, 4], ("x", "b"): [3, 3]})
    for measure, why in (
        (sp.against_received, "no story has a peer's grade of its text"), (sp.controlled, "that takes three judges")
    ):  # fmt: skip
        estimate = of(measure(ratings, {"x": "a"}))
        assert not estimate.defined
        assert why in estimate.note
        assert estimate.n_excluded == 2


def test_one_author_leaves_nothing_to_compare_with(make_grades):
    ratings = make_grades({("x", "a"): [5, 4], ("y", "a"): [3, 3]})
    assert "its grade of another's text" in of(sp.against_given(ratings, {"x": "a"})).note


def test_two_judges_have_no_text_that_neither_wrote(make_grades):
    ratings = make_grades({(j, t): [5, 4, 4] for j in "xy" for t in "ab"})
    assert "three judges" in of(sp.controlled(ratings, {"x": "a", "y": "b"})).note
    assert of(sp.controlled(ratings, {"x": "a"})).defined  # y wrote nothing here, so b is neutral ground


def test_one_story_has_a_value_and_no_interval(make_grades):
    ratings = make_grades({(j, t): [d] for (j, t), d in {
        ("x", "a"): 5, ("y", "a"): 3, ("z", "a"): 4, ("x", "b"): 4, ("y", "b"): 4, ("z", "b"): 4,
    }.items()})  # fmt: skip
    estimate = of(sp.against_received(ratings, {"x": "a"}))
    assert estimate.value == 1.5
    assert math.isnan(estimate.low)
    assert "one story says nothing about the next" in estimate.note


def test_constant_judges_give_a_value_without_an_interval(make_grades):
    ratings = make_grades({(j, t): [4] * 6 for j in "xyz" for t in "abc"})
    for measure in (sp.against_received, sp.against_given, sp.controlled):
        estimate = of(measure(ratings, OWN))
        assert estimate.value == 0
        assert math.isnan(estimate.low)
        assert "no story differs" in estimate.note
        assert estimate.detail["p"] is None


@pytest.mark.parametrize(("change", "told"), [
    ({"score": 7.0}, "lie between 1 and 5"), ({"framing": "sideways"}, "positive, negative; found sideways"),
    ({"criterion": "style"}, "no judge's ratings of criterion overall"),
    ({"task": ["a", "b"] * 9 + ["a"] * 9}, "one task"),
])  # fmt: skip
def test_bad_tables(make_grades, change, told):
    with pytest.raises(RecuseError, match=told):
        sp.against_received(table(make_grades).assign(**change), OWN)


def test_unknown_author(make_grades):
    with pytest.raises(RecuseError, match="judge w is not in the ratings; they hold x, y, z"):
        sp.controlled(table(make_grades), {"w": "a"})
    with pytest.raises(RecuseError, match="target d is not in the ratings"):
        sp.controlled(table(make_grades), {"x": "d"})


def test_people_and_rows_about_probabilities_are_left_out(make_grades):
    import pandas as pd

    plain = table(make_grades)
    human = plain.assign(judge="human:1", score=1.0)
    beside = plain.assign(criterion="overall.expected", score=2.5)
    mixed = pd.concat([plain, human, beside], ignore_index=True)
    assert of(sp.against_received(mixed, OWN)).value == of(sp.against_received(plain, OWN)).value

"""Length: hand arithmetic, statsmodels, what cancels, fair judges of long good texts, degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.metrics import presentation
from recuse.papers.self_preference import pairwise_bias
from recuse.ratings import Numeric, Ratings
from recuse.schema import RatingsError

F, S, T = "first", "second", "tie"
NAMES = list("pqrs")


def one(family, judge="x", **more):
    return family.of(judge=judge, **more)


def scored(grades, words, scale=None):
    """Ratings of scores, with the words of each text."""
    return Ratings.of(grades.drop(columns="framing"), scales=scale or Numeric(1, 5), texts=words)


def chosen(comparisons, items, words=None):
    """Ratings of choices between the pairs of `items`; `words` has the words of each text, by item = story and
    target."""
    texts = items.rename(columns={"story": "cluster"})
    if words is not None:
        known = words.set_index(["item", "target"])["words"]
        for side in ("a", "b"):
            names = pd.MultiIndex.from_frame(texts[["cluster", side]])
            texts = texts.assign(**{f"words_{side}": known.reindex(names).to_numpy()})
    return Ratings.of(comparisons, texts=texts, clusters="stories")


# --------------------------------------------------------------------------- padded twins


@pytest.fixture
def twins():
    return pd.DataFrame({
        "item": ["1", "2", "3", "4"], "story": ["s1", "s2", "s3", "s3"], "a": "plain", "b": "padded",
        "words_a": [30, 30, 60, 30], "words_b": [60, 61, 30, 60],
    })  # fmt: skip


def test_padding_by_hand(make_comparisons, twins):
    """b, a, b and (tie, b) win; the third pair's longer twin is a: +1/2, -1/2, -1/2, +1/4 over four."""
    ratings = make_comparisons({("x", "1"): (S, F), ("x", "2"): (F, S), ("x", "3"): (S, F), ("x", "4"): (T, F)})
    estimate = one(presentation.padding_preference(chosen(ratings, twins)))
    assert (estimate.value, estimate.n, estimate.n_clusters) == (pytest.approx(-0.25 / 4), 4, 3)
    assert estimate.detail == {"longer_wins": 2, "shorter_wins": 2, "neither": 0}


def test_verbose_and_fair(make_comparisons):
    items = pd.DataFrame({
        "item": map(str, range(30)), "story": map(str, range(30)), "a": "plain", "b": "padded", "words_a": 30,
        "words_b": 60,
    })  # fmt: skip
    verbose = one(
        presentation.padding_preference(chosen(make_comparisons({("x", i): (S, F) for i in items["item"]}), items))
    )
    fair = one(
        presentation.padding_preference(chosen(make_comparisons({("x", i): (T, T) for i in items["item"]}), items))
    )
    slot = one(
        presentation.padding_preference(chosen(make_comparisons({("x", i): (F, F) for i in items["item"]}), items))
    )
    assert (verbose.value, fair.value, slot.value) == (0.5, 0, 0)
    assert verbose.low > 0.35
    assert fair.high < 0.1


def test_equal_twins_and_missing_verdicts(make_comparisons, twins):
    ratings = make_comparisons({("x", "1"): (S, ""), ("x", "2"): ("", "")})
    estimate = one(presentation.padding_preference(chosen(ratings, twins)))
    assert (estimate.n_excluded, estimate.defined) == (2, False)
    with pytest.raises(RatingsError, match="2 has 30 words twice"):
        presentation.padding_preference(chosen(ratings, twins.assign(words_b=[60, 30, 30, 60])))


# --------------------------------------------------------------------------- grades


def panel(rng, stories=30, judges=4, by_length=0.8, taste=0.0):
    """Grades of shape (stories, judges, 4) of texts whose quality goes with their length; the first judge adds `taste`
    points per doubling; and the texts' words."""
    doublings = 5 + rng.normal(0, 0.35, (stories, 4))
    quality = by_length * (doublings - 5) + rng.normal(0, 0.4, (stories, 4)) + rng.normal(0, 0.4, 4)
    seen = 3.5 + quality[:, None] + rng.normal(0, 0.3, judges)[None, :, None] + rng.normal(0, 0.5, (stories, judges, 4))
    seen[:, 0] += taste * (doublings - 5)
    words = pd.DataFrame([
        {"item": f"story-{i}", "target": name, "words": 2.0 ** doublings[i, t]}
        for i in range(stories) for t, name in enumerate(NAMES)
    ])  # fmt: skip
    return np.clip(np.round(seen), 1, 5), words


def test_length_coefficient_agrees_with_refits_by_statsmodels(make_cube, jackknife):
    """Score less the peers' mean on dummies of stories and authors and log2 of words, story by story left out."""
    cube, words = panel(np.random.default_rng(1), taste=0.5)
    estimate = one(presentation.length_coefficient(scored(make_cube(cube, NAMES), words)), "p")
    y = cube[:, 0] - cube[:, 1:].mean(axis=1)
    story, author = np.indices(y.shape)
    design = np.column_stack([
        np.log2(words["words"]), story.ravel()[:, None] == np.arange(30), author.ravel()[:, None] == np.arange(1, 4)
    ]).astype(float)  # fmt: skip
    fit = jackknife(y.ravel(), design, story.ravel())
    assert (estimate.value, estimate.n, estimate.n_clusters) == (pytest.approx(fit[0]), 120, 30)
    assert estimate.distribution.se == pytest.approx(fit[1])


def test_quality_and_leniency_cancel_in_the_coefficient_but_not_in_the_raw_one(make_cube):
    cube, words = panel(np.random.default_rng(2))
    quality = np.random.default_rng(3).normal(0, 1, (30, 1, 4))
    plain, shifted = (
        one(presentation.length_coefficient(scored(make_cube(c, NAMES), words, Numeric(-99, 99))), "q")
        for c in (cube, cube + quality + np.arange(4)[None, :, None])
    )
    assert (plain.value, plain.low) == pytest.approx((shifted.value, shifted.low))
    assert abs(plain.detail["raw"] - shifted.detail["raw"]) > 0.05


@pytest.mark.slow
def test_fair_judges_of_texts_that_are_better_for_being_longer(make_cube):
    """100 panels of four fair judges: 0 outside the 95 % interval in 2 to 8 % of cases (5 % in the long run), while
    the raw coefficient of nearly all of them is above 0; a judge with a taste of a point per doubling is found."""
    rng = np.random.default_rng(4)
    outside, found, raw = 0, 0, 0
    for _ in range(100):
        cube, words = panel(rng)
        fair = presentation.length_coefficient(scored(make_cube(cube, NAMES), words))
        outside += sum(not e.low <= 0 <= e.high for e in fair.values())
        raw += sum(e.detail["raw"] > 0.3 for e in fair.values())
    for _ in range(20):
        cube, words = panel(rng, taste=1.0)
        found += one(presentation.length_coefficient(scored(make_cube(cube, NAMES), words)), "p").low > 0
    assert 8 <= outside <= 32
    assert raw > 380
    assert found >= 19


def test_coefficient_without_peers_or_variation(make_cube):
    cube, words = panel(np.random.default_rng(5))
    alone = make_cube(cube, NAMES).query("judge == 'p'")
    assert "no peer scored the same texts" in one(presentation.length_coefficient(scored(alone, words)), "p").note
    alike = presentation.length_coefficient(scored(make_cube(cube, NAMES), words.assign(words=30)))
    assert "vary in length" in one(alike, "p").note
    with pytest.raises(RatingsError, match="one word or more; words of story-0, p is 0"):
        presentation.length_coefficient(scored(alone, words.assign(words=0)))
    unknown = presentation.length_coefficient(scored(make_cube(cube, NAMES), words.iloc[1:]))
    assert (one(unknown, "p").n, one(unknown, "p").n_excluded) == (119, 1)


# --------------------------------------------------------------------------- comparisons of ordinary texts


def comparison_panel(rng, make_rows, stories=40, taste=0.0):
    """Three judges on all pairs of four authors; the first adds `taste` per doubling to a text."""
    doublings = 5 + rng.normal(0, 0.5, (stories, 4))
    text = 0.5 * (doublings - 5) + rng.normal(0, 0.5, (stories, 4))
    rows, items = [], []
    for i in range(4):
        for j in range(i + 1, 4):
            items += [(f"{s}.{i}{j}", f"story-{s}", NAMES[i], NAMES[j]) for s in range(stories)]
            for judge, fond in (("x", taste), ("y", 0.0), ("z", 0.0)):
                seen = text + fond * (doublings - 5)
                for order, sign in (("ab", 1), ("ba", -1)):
                    gap = sign * (seen[:, i] - seen[:, j]) + rng.normal(0, 0.5, stories)
                    rows += [(judge, f"{s}.{i}{j}", order, F if g > 0 else S) for s, g in enumerate(gap)]
    words = pd.DataFrame([
        (f"story-{s}", name, 2.0 ** doublings[s, t]) for s in range(stories) for t, name in enumerate(NAMES)
    ], columns=["item", "target", "words"])  # fmt: skip
    table = make_rows(pd.DataFrame(rows, columns=["judge", "item", "order", "response"]), criterion="winner")
    return chosen(table, pd.DataFrame(items, columns=["item", "story", "a", "b"]), words)


def test_the_coefficient_of_choices_finds_a_taste_and_only_that(make_rows):
    found = presentation.choice_length_coefficient(comparison_panel(np.random.default_rng(1), make_rows, taste=1.5))
    assert one(found, "x").low > 0.1
    fair = presentation.choice_length_coefficient(comparison_panel(np.random.default_rng(2), make_rows))
    assert all(e.low <= 0 <= e.high for e in fair.values())
    assert all(e.detail["raw"] > 0.1 for e in fair.values())  # longer is better here


def test_turning_a_pair_round_changes_nothing(make_rows):
    ratings = comparison_panel(np.random.default_rng(3), make_rows, stories=15, taste=0.7)
    texts, table = ratings.texts, ratings.table
    turned = texts["item"].str.endswith(("01", "23"))
    sides = {"a": "b", "b": "a", "words_a": "words_b", "words_b": "words_a"}
    other = texts.assign(**{x: texts[x].where(~turned, texts[y]) for x, y in sides.items()})
    swapped = table["item"].isin(texts["item"][turned])
    again = table.assign(order=table["order"].where(~swapped, table["order"].map({"ab": "ba", "ba": "ab"})))
    for measure in (presentation.choice_length_coefficient, pairwise_bias.same_length_reference):
        for before, after in zip(
            measure(ratings).values(), measure(Ratings.of(again, texts=other)).values(), strict=True
        ):  # fmt: skip
            assert (before.value, before.low) == pytest.approx((after.value, after.low))


def test_same_length_reference_by_hand(make_comparisons, make_pairs):
    """Texts a 10, b 11, c 80 words. x lets the longer win every time, y and z (the peers) never. Longer text's credit
    beyond the peers': 1 in every pair, against any reference and against the nearest: no change. Where x judges as its
    peers do between a and b alone, a and b have 1/2 against any, 0 against the nearest; c has 1 and 1: change -1/3."""
    items = make_pairs(("ab", "1", "a", "b"), ("ac", "1", "a", "c"), ("bc", "1", "b", "c"))
    words = pd.DataFrame({"item": "1", "target": ["a", "b", "c"], "words": [10, 11, 80]})
    peers = {(judge, item): (F, S) for judge in "yz" for item in ("ab", "ac", "bc")}
    always = make_comparisons({("x", item): (S, F) for item in ("ab", "ac", "bc")} | peers)
    found = pairwise_bias.same_length_reference(chosen(always, items, words))
    assert [one(found, "x", reference=r).value for r in pairwise_bias.REFERENCES] == [1, 1, 0]
    far_only = make_comparisons({("x", "ab"): (F, S), ("x", "ac"): (S, F), ("x", "bc"): (S, F)} | peers)
    found = pairwise_bias.same_length_reference(chosen(far_only, items, words))
    assert [one(found, "x", reference=r).value for r in pairwise_bias.REFERENCES] == pytest.approx(
        [2 / 3, 1 / 3, -1 / 3]
    )
    assert math.isnan(one(found, "x", reference="change").low)  # one story


def test_without_a_choice_there_is_no_nearer_reference(make_comparisons, make_pairs):
    """Story 1: a met b alone. Story 2: c met two texts as far from it as each other, which met nobody else."""
    items = make_pairs(("ab", "1", "a", "b"), ("cd", "2", "c", "d"), ("ce", "2", "c", "e"))
    words = pd.DataFrame({"item": list("11222"), "target": list("abcde"), "words": [10, 20, 10, 20, 5]})
    ratings = make_comparisons({(judge, item): (S, F) for judge in "xyz" for item in ("ab", "cd", "ce")})
    found = one(pairwise_bias.same_length_reference(chosen(ratings, items, words)), "x", reference="change")
    assert "no text met two others, one nearer to it in length" in found.note


def test_a_reference_of_the_same_length_takes_a_taste_for_length_down(make_rows):
    ratings = comparison_panel(np.random.default_rng(5), make_rows, stories=60, taste=1.5)
    found = pairwise_bias.same_length_reference(ratings)
    assert one(found, "x", reference="any").low > 0
    assert one(found, "x", reference="change").high < 0


def test_comparisons_without_peers(make_comparisons, make_pairs):
    items = make_pairs(("ab", "1", "a", "b"))
    words = pd.DataFrame({"item": "1", "target": ["a", "b"], "words": [10, 11]})
    ratings = make_comparisons({("x", "ab"): (F, S)})
    assert (
        "no peer judged the same pairs"
        in one(presentation.choice_length_coefficient(chosen(ratings, items, words))).note
    )
    assert not one(pairwise_bias.same_length_reference(chosen(ratings, items, words)), reference="any").defined


def test_a_taste_for_length_in_scores_shrinks_among_texts_of_like_length(make_cube):
    """x adds 0.8 points a doubling; against the text nearest in length there is less to be gained by it."""
    rng = np.random.default_rng(6)
    doublings = rng.normal(0, 1, (60, 1, 3))
    cube = rng.normal(3, 0.3, (60, 1, 3)) + rng.normal(0, 0.3, (60, 3, 3))
    cube[:, :1] += 0.8 * doublings
    stories, targets = np.meshgrid([f"story-{k}" for k in range(60)], ["x", "y", "z"], indexing="ij")
    words = pd.DataFrame({
        "item": stories.ravel(), "target": targets.ravel(), "words": np.round(40 * 2 ** doublings[:, 0].ravel())
    })  # fmt: skip
    ratings = scored(make_cube(cube, ("x", "y", "z")), words, Numeric(-9, 9))
    found = pairwise_bias.same_length_reference(ratings)
    assert one(found, reference="any").low > 0.1
    assert one(found, reference="change").high < 0
    assert one(found, reference="any").n_clusters == 60
    assert one(found, "y", reference="any").high < 0.05


# --------------------------------------------------------------------------- a stranger's table


def tickets(rng, taste, items=30):
    """One answer to each of 30 tickets, pass or fail; x lets long ones pass, its two peers judge by quality."""
    words = rng.integers(20, 400, items)
    quality = rng.normal(0, 1, items)
    rows = []
    for judge, fond in (("x", taste), ("y", 0.0), ("z", 0.0)):
        seen = quality + fond * (np.log2(words) - 7) + rng.normal(0, 0.3, items)
        rows += [(judge, str(k), "pass" if s > 0 else "fail") for k, s in enumerate(seen)]
    texts = pd.DataFrame({"item": [str(k) for k in range(items)], "target": "", "words": words})
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "response"]), texts=texts)


def test_one_text_per_item_and_pass_or_fail():
    found = one(presentation.length_coefficient(tickets(np.random.default_rng(1), taste=1.5)))
    assert found.low > 0.05
    assert (found.unit, found.n, found.over) == ("share per doubling", 30, "items")
    fair = one(presentation.length_coefficient(tickets(np.random.default_rng(2), taste=0.0)))
    assert fair.low < 0 < fair.high


def test_one_text_per_item_agrees_with_refits_by_statsmodels(jackknife):
    ratings = tickets(np.random.default_rng(3), taste=0.8)
    array = ratings.array()
    beyond = array.means[0, :, 0] - array.means[1:, :, 0].mean(axis=0)
    design = np.column_stack([np.log2(ratings.texts["words"]), np.ones(30)])
    value, se = jackknife(beyond, design, np.arange(30))
    found = one(presentation.length_coefficient(ratings))
    assert (found.value, found.distribution.se) == (pytest.approx(value), pytest.approx(se))


def test_items_of_one_cluster_are_drawn_together(make_cube, jackknife):
    """Levels per item, left out cluster by cluster of three items."""
    cube, words = panel(np.random.default_rng(8), taste=0.4)
    topics = words["item"].str.removeprefix("story-").astype(int) // 3
    found = one(presentation.length_coefficient(scored(make_cube(cube, NAMES), words.assign(cluster=topics))), "p")
    y = cube[:, 0] - cube[:, 1:].mean(axis=1)
    story, author = np.indices(y.shape)
    design = np.column_stack([
        np.log2(words["words"]), story.ravel()[:, None] == np.arange(30), author.ravel()[:, None] == np.arange(1, 4)
    ]).astype(float)  # fmt: skip
    value, se = jackknife(y.ravel(), design, story.ravel() // 3)
    assert (found.value, found.distribution.se) == (pytest.approx(value), pytest.approx(se))
    assert (found.n_clusters, found.over) == (10, "clusters")


def test_a_hole_costs_the_judge_it_belongs_to(make_cube):
    cube, words = panel(np.random.default_rng(9))
    holed = cube.copy()
    holed[0, 1, 0] = np.nan
    table = make_cube(holed, NAMES)
    table["status"] = np.where(table["score"].isna(), "unparsed", "ok")
    found = presentation.length_coefficient(scored(table, words))
    assert (one(found, "q").n, one(found, "q").n_excluded) == (119, 1)
    assert [one(found, judge).n for judge in "prs"] == [120] * 3


def test_choices_in_one_order_still_tell_of_length(make_rows):
    both = comparison_panel(np.random.default_rng(1), make_rows, taste=1.5)
    once = both.table[both.table["order"] == "ab"].drop(columns="order")
    found = one(presentation.choice_length_coefficient(Ratings.of(once, texts=both.texts)))
    assert found.low > 0.1


def test_lengths_that_nobody_told_are_asked_for(make_cube):
    cube, words = panel(np.random.default_rng(5))
    with pytest.raises(RatingsError, match=r"lengths of the texts are not known.* words"):
        presentation.length_coefficient(scored(make_cube(cube, NAMES), words.drop(columns="words")))

"""Own win rates: hand arithmetic, what noise does to the plain excess and not to the controlled one, degenerate
input."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference import pairwise_bias
from recuse.ratings import Numeric, Ratings

F, S, T = "first", "second", "tie"
OWN = {"x": "a", "y": "b", "z": "c"}
SEEN_BY = ("self", "peers", "neutral_peers", "people")


def met(table, items, own):
    """Ratings of choices from a table of verdicts, who met whom by story, and who wrote what."""
    kinds = table["judge"].str.startswith("human:").map({True: "person", False: "judge"})
    texts = items.rename(columns={"story": "cluster"})
    return Ratings.of(table.assign(kind=kinds), texts=texts, authors=own, clusters="stories")


def rate(family, seen_by, judge="x"):
    return family.of(judge=judge, seen_by=seen_by)


# --------------------------------------------------------------------------- by hand


@pytest.fixture
def table(make_comparisons, make_pairs):
    """Story 1: a meets b and c. x gives a both, y (author of b) gives b the first and ties the second, z (author of c)
    ties the first and turns with the order on the second; two people are asked in one order each."""
    verdicts = {
        ("x", "1.ab"): (F, S), ("x", "1.ac"): (F, S), ("y", "1.ab"): (S, F), ("y", "1.ac"): (T, T),
        ("z", "1.ab"): (T, T), ("z", "1.ac"): (F, F), ("human:1", "1.ab"): (F,), ("human:2", "1.ab"): (T,),
    }  # fmt: skip
    return make_comparisons(verdicts), make_pairs(("1.ab", "1", "a", "b"), ("1.ac", "1", "a", "c"))


def test_by_hand(table):
    """a's credit: by itself 1 and 1; by peers (0 + 1/2) / 2 and (1/2 + 1/2) / 2; by neutral peers z on a-b 1/2 and y on
    a-c 1/2; by people (1 + 1/2) / 2 on a-b alone."""
    found = pairwise_bias.own_win_rate(met(*table, OWN))
    assert [rate(found, view).value for view in SEEN_BY] == pytest.approx([1, 0.375, 0.5, 0.75])
    assert [rate(found, view).n for view in SEEN_BY] == [2, 2, 2, 1]
    assert rate(found, "people").n_excluded == 1
    assert rate(found, "self", "y").value == 1.0  # b against a by its author
    assert rate(found, "people", "y").value == 0.25
    excess = pairwise_bias.own_win_excess(met(*table, OWN)).of(judge="x")
    assert (excess.value, excess.n) == (0.5, 2)
    assert excess.detail == {"self": 1.0, "neutral_peers": 0.5, "against_people": 0.25, "pairs_with_people": 1}


def test_who_wrote_the_same_text_is_no_neutral_peer(table):
    """z is the same model under another prompt: on a-b nobody neutral is left, on a-c y is."""
    ratings = met(*table, {**OWN, "z": "a"})
    seen = rate(pairwise_bias.own_win_rate(ratings), "neutral_peers")
    assert (seen.value, seen.n, seen.n_excluded) == (0.5, 1, 1)
    assert pairwise_bias.own_win_excess(ratings).of(judge="x").n == 1


def test_the_own_text_may_be_called_b(table):
    ratings, items = table
    turned = items.assign(a=items["b"], b=items["a"])
    other = ratings.assign(order=ratings["order"].map({"ab": "ba", "ba": "ab"}))
    one, two = pairwise_bias.own_win_rate(met(ratings, items, OWN)), pairwise_bias.own_win_rate(met(other, turned, OWN))
    for before, after in zip(one.values(), two.values(), strict=True):
        assert before.value == pytest.approx(after.value, nan_ok=True)


def test_controlled_by_hand(make_comparisons, make_pairs):
    """Judges w, x, y, z, authors a, b, c, d; two stories alike. On pairs without a, w gives half of what is neutral for
    b-c (its neutral peer: z) and b-d, c-d: lambda = 1/2. Neutral peers give a 1, so (1 - 1/2) lambda = 1/4 is due; w
    gives a 3/4 on average: 1/4 more than half. Nothing left."""
    names = [(f"{s}.{p}{q}", s, p, q) for s in "12" for p, q in combinations("abcd", 2)]
    wins = (F, S)
    verdicts = {(judge, item): wins for judge in "xyz" for item, *_ in names}
    # w: a tie in one order and a win in the other is 3/4
    verdicts |= {("w", item): (F, T) for item, *_ in names}
    own = dict(zip("wxyz", "abcd", strict=True))
    estimate = pairwise_bias.controlled_own_win_excess(met(make_comparisons(verdicts), make_pairs(*names), own)).of(
        judge="w"
    )
    assert estimate.value == pytest.approx(0)
    assert estimate.detail["discrimination"] == pytest.approx(0.5)
    assert pairwise_bias.own_win_excess(met(make_comparisons(verdicts), make_pairs(*names), own)).of(
        judge="w"
    ).value == pytest.approx(-0.25)


# --------------------------------------------------------------------------- simulated


def simulated(rng, make_rows, quality, noise, slot, fond, stories=40):
    """Judges j0.. each author of a text: they see quality with their own noise, lean to a slot, and add to their
    own."""
    n = len(quality)
    pairs = list(combinations(range(n), 2))
    text = np.array(quality) + rng.normal(0, 0.4, (stories, n))
    rows = []
    for j in range(n):
        seen = text + rng.normal(0, noise[j], text.shape) + np.eye(n)[j] * fond[j]
        for p, q in pairs:
            for order, sign in (("ab", 1), ("ba", -1)):
                gap = sign * (seen[:, p] - seen[:, q]) + slot[j] + rng.normal(0, noise[j], stories)
                rows += [(f"j{j}", f"{s}.{p}{q}", order, F if g > 0 else S) for s, g in enumerate(gap)]
    items = pd.DataFrame(
        [(f"{s}.{p}{q}", str(s), f"t{p}", f"t{q}") for s in range(stories) for p, q in pairs],
        columns=["item", "story", "a", "b"],
    )
    table = pd.DataFrame(rows, columns=["judge", "item", "order", "response"])
    return make_rows(table, protocol="pairwise", criterion="winner", labels="plain"), items


def test_what_was_planted_is_found(make_rows):
    rng = np.random.default_rng(1)
    own = {f"j{j}": f"t{j}" for j in range(5)}
    ratings, items = simulated(rng, make_rows, [0.3, 0.1, 0, -0.1, -0.3], [0.4] * 5, [0] * 5, [0, 0, 1.0, 0, 0], 80)
    found = pairwise_bias.controlled_own_win_excess(met(ratings, items, own))
    assert found.of(judge="j2").low > 0.1
    assert all(found.of(judge=j).low <= 0.02 for j in own if j != "j2")


@pytest.mark.slow
def test_fair_judges_of_unequal_noise_and_quality(make_rows):
    """30 panels of five fair judges whose noise differs by factors of two and more: the plain excess is found
    significant at 5 % in about a fifth of cases, since noise draws everything to one half; the controlled one in about
    a tenth."""
    rng = np.random.default_rng(4)
    own = {f"j{j}": f"t{j}" for j in range(5)}
    outside = {pairwise_bias.own_win_excess: 0, pairwise_bias.controlled_own_win_excess: 0}
    for _ in range(30):
        noise, slot = 0.4 * rng.lognormal(0, 0.8, 5), rng.normal(0, 0.7, 5)
        ratings, items = simulated(rng, make_rows, rng.normal(0, 0.7, 5), noise, slot, [0] * 5)
        for measure in outside:
            outside[measure] += sum(not e.low <= 0 <= e.high for e in measure(met(ratings, items, own)).values())
    assert outside[pairwise_bias.own_win_excess] > 150 * 0.17
    assert outside[pairwise_bias.controlled_own_win_excess] < 150 * 0.15


# --------------------------------------------------------------------------- degenerate


def test_two_judges_have_no_neutral_peer(make_comparisons, make_pairs):
    ratings = make_comparisons({(j, i): (F, S) for j in "xy" for i in ("1", "2")})
    items = make_pairs(("1", "1", "a", "b"), ("2", "2", "a", "b"))
    own = {"x": "a", "y": "b"}
    assert "neutral peer" in pairwise_bias.own_win_excess(met(ratings, items, own)).of(judge="x").note
    assert "three judges" in pairwise_bias.controlled_own_win_excess(met(ratings, items, own)).of(judge="x").note
    assert "people" in rate(pairwise_bias.own_win_rate(met(ratings, items, own)), "people").note


def test_all_ties(make_comparisons, make_pairs):
    names = [(f"{s}.{p}{q}", s, p, q) for s in "123" for p, q in combinations("abc", 2)]
    ratings = make_comparisons({(j, item): (T, T) for j in "xyz" for item, *_ in names})
    items = make_pairs(*names)
    assert pairwise_bias.own_win_excess(met(ratings, items, OWN)).of(judge="x").value == 0
    assert "win alike" in pairwise_bias.controlled_own_win_excess(met(ratings, items, OWN)).of(judge="x").note


def test_a_judge_whose_text_met_nobody(table):
    found = pairwise_bias.own_win_rate(met(*table, {"x": "d", "q": "a"}))
    assert {judge for judge, _ in found} == {"x"}  # q judged nothing
    assert rate(found, "self").note == "undefined: no pair has a text of d, which is the judge's own"
    assert not pairwise_bias.own_win_excess(met(*table, {"x": "d"})).of(judge="x").defined


# --------------------------------------------------------------------------- a stranger's table


def test_pairs_asked_in_one_order_count_as_they_stand(make_comparisons, make_pairs):
    """Two questions, a against c. x takes its own a twice, y (who wrote neither) once."""
    ratings = make_comparisons({("x", "1"): (F,), ("x", "2"): (F,), ("y", "1"): (F,), ("y", "2"): (S,)})
    items = make_pairs(("1", "1", "a", "c"), ("2", "2", "a", "c")).drop(columns="story")
    found = pairwise_bias.own_win_rate(met(ratings.drop(columns=["order", "labels"]), items, {"x": "a"}))
    assert [rate(found, view).value for view in ("self", "neutral_peers")] == [1.0, 0.5]
    assert rate(found, "self").over == "items"


def test_scores_decide_who_wins():
    """x gives its own a more than b on both items, y less on one."""
    rows = [("x", "1", 5, 3), ("x", "2", 4, 3), ("y", "1", 2, 3), ("y", "2", 4, 3)]
    frame = pd.DataFrame([(j, i, t, s) for j, i, *given in rows for t, s in zip("ab", given, strict=True)],
                         columns=["judge", "item", "target", "score"])  # fmt: skip
    found = pairwise_bias.own_win_rate(Ratings.of(frame, scales=Numeric(1, 5), authors={"x": "a"}))
    assert [rate(found, view).value for view in ("self", "neutral_peers")] == [1.0, 0.5]

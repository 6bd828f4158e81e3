"""Position: hand arithmetic, planted judges told apart, invariance, fair judges of unequal texts, degenerate input."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from recuse.metrics import presentation
from recuse.papers.self_preference import pairwise_bias
from recuse.ratings import Ratings

F, S, T = "first", "second", "tie"
PAIRS = [("1.ab", "1", "a", "b"), ("1.ac", "1", "a", "c"), ("2.ab", "2", "a", "b"), ("3.ab", "3", "a", "b")]
MEASURES = (
    presentation.order_consistency, pairwise_bias.first_pick_share, presentation.slot_preference,
    presentation.letter_preference, pairwise_bias.tie_share, pairwise_bias.gap_effect,
)  # fmt: skip


def one(family, judge="x"):
    return family.of(judge=judge)


def met(table, items):
    """Ratings of choices from a table of verdicts and who met whom, by story."""
    kinds = table["judge"].str.startswith("human:").map({True: "person", False: "judge"})
    texts = items.rename(columns={"story": "cluster"})
    return Ratings.of(table.assign(kind=kinds), texts=texts, clusters="stories", headline=("winner",))


def comparisons(make_comparisons, *verdicts, judge="x"):
    return make_comparisons({(judge, item): given for (item, *_), given in zip(PAIRS, verdicts, strict=False)})


# --------------------------------------------------------------------------- by hand


def test_by_hand(make_comparisons, make_pairs):
    """a wins in both orders; the first slot twice; both tie; the first, then a tie. One of four keeps its winner, two
    keep their verdict. Decided verdicts: F S, F F, F: four first picks of five. Net of quality the first slot wins (0 +
    1/2 + 0 + 1/4) / 4."""
    ratings = comparisons(make_comparisons, (F, S), (F, F), (T, T), (F, T))
    items = make_pairs(*PAIRS)
    consistency = one(presentation.order_consistency(met(ratings, items)))
    assert (consistency.value, consistency.n, consistency.n_clusters) == (0.5, 4, 3)
    assert consistency.detail == {
        "same_winner": 1, "both_ties": 1, "one_tie": 1, "first_twice": 1, "second_twice": 0,
        "of_decided": pytest.approx(1 / 3),
    }  # fmt: skip
    picks = one(pairwise_bias.first_pick_share(met(ratings, items)))
    assert (picks.value, picks.n, dict(picks.detail)) == (0.8, 5, {"first": 4, "second": 1, "ties": 3})
    slot = one(presentation.slot_preference(met(ratings, items)))
    assert slot.value == pytest.approx(0.75 / 4)
    assert "labels were never swapped" in slot.note
    assert one(pairwise_bias.tie_share(met(ratings, items))).value == 3 / 8


def test_a_judge_of_ties_alone_shows_no_order(make_comparisons, make_pairs):
    """No winner is there that the order could change; 0 is no preference all the same."""
    ratings = met(comparisons(make_comparisons, (T, T), (T, T), (T, T), (T, T)), make_pairs(*PAIRS))
    consistency = one(presentation.order_consistency(ratings))
    assert not consistency.defined
    assert "every verdict is a tie" in consistency.note
    assert (consistency.n, consistency.detail["both_ties"], consistency.detail["of_decided"]) == (4, 4, None)
    assert one(presentation.slot_preference(ratings)).value == 0.0


def test_a_lost_reply_could_have_been_anything_on_the_measures_own_range(make_comparisons, make_pairs):
    """One of four pairs is lost: a share of pairs could be a fourth more or less, a preference half of that."""
    ratings = met(comparisons(make_comparisons, (F, S), (F, S), (F, F), (F, "")), make_pairs(*PAIRS))
    consistency, slot = (one(m(ratings)) for m in (presentation.order_consistency, presentation.slot_preference))
    assert consistency.detail["losses"]["bounds"] == pytest.approx([2 / 4, 3 / 4])
    assert slot.detail["losses"]["bounds"] == pytest.approx([(0.5 - 0.5) / 4, (0.5 + 0.5) / 4])
    assert "Clopper-Pearson" in consistency.method
    assert "MOVER" in slot.method


def test_slot_and_letter_by_hand(make_comparisons, make_pairs):
    """Pair 1: first slot under plain labels, and under swapped ones: slot +1/2, letter 0. Pair 2: the letter A: plain
    first first, swapped second second: slot 0, letter +1/2. Pair 3: a every time: both 0. Pair 4 lacks a reply and is
    left out."""
    ratings = comparisons(make_comparisons, (F, F, F, F), (F, F, S, S), (F, S, F, S), (F, F, F, ""))
    items = make_pairs(*PAIRS)
    for measure in (presentation.slot_preference, presentation.letter_preference):
        estimate = one(measure(met(ratings, items)))
        assert (estimate.value, estimate.n, estimate.n_excluded) == (pytest.approx(1 / 6), 3, 1)
        assert estimate.note == ""


def test_a_judge_asked_under_both_labels_stands_beside_one_that_was_not(make_comparisons, make_pairs):
    """What is told of either is what is told of it alone; `y` was asked first, and its pairs in another order."""
    items = make_pairs(*PAIRS)
    turned = [(item, given) for (item, *_), given in zip(PAIRS, [(F, S), (F, F), (S, S), (F,)], strict=True)][::-1]
    alone = {
        "y": make_comparisons({("y", item): given for item, given in turned}),
        "x": comparisons(make_comparisons, (F, F, F, F), (F, F, S, S), (F, S, F, S), (F, F, F, "")),
    }
    together = met(pd.concat(alone.values(), ignore_index=True), items)
    for measure in (presentation.slot_preference, presentation.letter_preference, presentation.order_consistency):
        for judge, rows in alone.items():
            assert one(measure(together), judge) == one(measure(met(rows, items)), judge)
    assert one(presentation.slot_preference(together), "y").value == 0
    assert one(presentation.slot_preference(together), "x").n == 3


def test_pairs_without_both_orders_are_excluded_and_counted(make_comparisons, make_pairs):
    ratings, items = comparisons(make_comparisons, (F, S), (F, ""), ("", ""), (T,)), make_pairs(*PAIRS)
    for measure in (presentation.order_consistency, presentation.slot_preference):
        estimate = one(measure(met(ratings, items)))
        assert (estimate.n, estimate.n_excluded) == (1, 3)
    assert one(pairwise_bias.tie_share(met(ratings, items))).n_excluded == 3
    assert one(pairwise_bias.first_pick_share(met(ratings, items))).n == 2


def test_gap_by_hand(make_comparisons, make_pairs):
    """Peers y and z on story 1: a beats b and c in both orders with both, b against c ties: win rates a 1, b and c 1/4,
    so gaps 3/4, 3/4, 0. x turns on the pair without a gap alone: sensitivity 0, 0, 1. On story 2 the peers do not stand
    by anything, so all gaps are 0: one of three turns. Slope with intercept through gap 3/4 -> 0 (2), gap 0 -> 2/4
    (4)."""
    names = [(f"{s}.{a}{b}", s, a, b) for s in "12" for a, b in combinations("abc", 2)]
    verdicts = {}
    for judge in "yz":
        for item, _, a, _ in names[:3]:
            verdicts[judge, item] = (F, S) if a == "a" else (T, T)
        verdicts |= {(judge, item): (F, T) for item, *_ in names[3:]}
    verdicts |= {("x", item): turn for (item, *_), turn in zip(
        names, [(F, S), (F, S), (F, F), (F, F), (T, T), (S, F)], strict=True
    )}  # fmt: skip
    estimate = one(pairwise_bias.gap_effect(met(make_comparisons(verdicts), make_pairs(*names))))
    assert (estimate.value, estimate.n, estimate.n_clusters) == (pytest.approx(-0.5 / 0.75), 6, 2)
    assert estimate.detail["bins"] == [[0.0, 0.25, 4, 0.5], [0.25, 0.5, 0, None], [0.5, 1.0, 2, 0.0]]


# --------------------------------------------------------------------------- planted judges


def simulated(rng, stories=40, judges=("x",), quality=(1.0, 0.0, -1.0), noise=0.6, tie=0.3, slot=0.0, letter=0.0):
    """Judges that see quality with noise, with a taste for the first slot and for the letter A, all orders and
    labels."""
    rows = []
    authors = "abc"[: len(quality)]
    text = np.array(quality) + rng.normal(0, 0.5, (stories, len(quality)))
    for judge in judges:
        for story in range(stories):
            for i, j in combinations(range(len(authors)), 2):
                for order, sign in (("ab", 1), ("ba", -1)):
                    for labels, called in (("plain", 1), ("swapped", -1)):
                        gap = sign * (text[story, i] - text[story, j]) + slot + letter * called + rng.normal(0, noise)
                        verdict = T if abs(gap) < tie else F if gap > 0 else S
                        rows.append((judge, f"{story}.{i}{j}", order, labels, verdict))
    items = [(f"{s}.{i}{j}", str(s), authors[i], authors[j])
             for s in range(stories) for i, j in combinations(range(len(authors)), 2)]  # fmt: skip
    return pd.DataFrame(rows, columns=["judge", "item", "order", "labels", "response"]), pd.DataFrame(
        items, columns=["item", "story", "a", "b"]
    )


@pytest.mark.parametrize(("planted", "slot", "letter"), [
    ({}, False, False), ({"slot": 0.8}, True, False), ({"letter": 0.8}, False, True),
])  # fmt: skip
def test_slot_and_letter_are_told_apart(make_rows, planted, slot, letter):
    """A gate at +-0.1: the whole interval inside for what is not planted, outside for what is."""
    table, items = simulated(np.random.default_rng(1), quality=(0.4, 0.0, -0.4), **planted)
    ratings = make_rows(table, protocol="pairwise", criterion="winner")
    for measure, biased in ((presentation.slot_preference, slot), (presentation.letter_preference, letter)):
        estimate = one(measure(met(ratings, items)))
        assert estimate.low > 0.1 if biased else -0.1 < estimate.low < 0 < estimate.high < 0.1


def test_always_the_first_is_certain_and_always_the_better_too(make_comparisons, make_pairs):
    """Nothing varies, and there is an interval on the right side all the same."""
    names = [(str(k), str(k), "a", "b") for k in range(30)]
    items = make_pairs(*names)
    first = make_comparisons({("x", item): (F, F) for item, *_ in names})
    assert one(presentation.slot_preference(met(first, items))).low > 0.35
    assert one(presentation.order_consistency(met(first, items))).high < 0.15
    better = make_comparisons({("x", item): (F, S) for item, *_ in names})
    fair = one(presentation.slot_preference(met(better, items)))
    assert -0.06 < fair.low < 0 < fair.high < 0.06
    assert one(presentation.order_consistency(met(better, items))).low > 0.85
    assert one(pairwise_bias.first_pick_share(met(better, items))).value == 0.5


def test_turning_pairs_round_changes_nothing(make_rows):
    """Which text is called a is arbitrary."""
    table, items = simulated(np.random.default_rng(2), judges=("x", "y"), slot=0.4)
    turned = items.assign(a=items["b"], b=items["a"])
    plain = make_rows(table, protocol="pairwise", criterion="winner")
    other = plain.assign(order=plain["order"].map({"ab": "ba", "ba": "ab"}))
    for measure in MEASURES:
        before, after = one(measure(met(plain, items))), one(measure(met(other, turned)))
        assert (before.value, before.low, before.high) == pytest.approx((after.value, after.low, after.high))


@pytest.mark.slow
@pytest.mark.parametrize("quality", [(0.0, 0.0, 0.0), (2.0, 0.0, -2.0)])
def test_fair_judges_of_unequal_texts(make_rows, quality):
    """100 judges without a taste: 0 lies outside the 95 % interval of slot and letter for at most 10 of them (expected
    5), and no first-pick share is told from one half more often."""
    rng = np.random.default_rng(3)
    judges = [f"j{k}" for k in range(100)]
    table, items = simulated(rng, stories=30, judges=judges, quality=quality)
    ratings = make_rows(table, protocol="pairwise", criterion="winner")
    for measure, centre in (
        (presentation.slot_preference, 0), (presentation.letter_preference, 0), (pairwise_bias.first_pick_share, 0.5)
    ):  # fmt: skip
        outside = sum(not e.low <= centre <= e.high for e in measure(met(ratings, items)).values())
        assert outside <= 10


def test_a_gap_settles_the_verdict(make_rows):
    table, items = simulated(np.random.default_rng(4), judges=("x", "y", "z"), slot=0.5)
    ratings = make_rows(table, protocol="pairwise", criterion="winner")
    for estimate in pairwise_bias.gap_effect(met(ratings, items)).values():
        assert estimate.high < 0


# --------------------------------------------------------------------------- degenerate


def test_all_ties(make_comparisons, make_pairs):
    ratings, items = comparisons(make_comparisons, (T, T), (T, T), (T, T), (T, T)), make_pairs(*PAIRS)
    assert "no winner that the order could change" in one(presentation.order_consistency(met(ratings, items))).note
    assert "every verdict is a tie" in one(pairwise_bias.first_pick_share(met(ratings, items))).note
    assert one(pairwise_bias.tie_share(met(ratings, items))).value == 1
    assert one(presentation.slot_preference(met(ratings, items))).value == 0


def test_labels_never_swapped(make_comparisons, make_pairs):
    ratings = comparisons(make_comparisons, (F, F), (F, F)).drop(columns="labels")
    assert "never swapped" in one(presentation.letter_preference(met(ratings, make_pairs(*PAIRS)))).note


def test_nothing_usable(make_comparisons, make_pairs):
    ratings, items = comparisons(make_comparisons, ("", ""), ("", "")), make_pairs(*PAIRS)
    for measure in MEASURES:
        estimate = one(measure(met(ratings, items)))
        assert not estimate.defined
        assert estimate.note.startswith("undefined: ")


def test_one_judge_has_no_gap(make_comparisons, make_pairs):
    estimate = one(pairwise_bias.gap_effect(met(comparisons(make_comparisons, (F, S), (F, F)), make_pairs(*PAIRS))))
    assert "no other judge's verdicts" in estimate.note


def test_one_story(make_comparisons, make_pairs):
    ratings, items = comparisons(make_comparisons, (F, F), (F, S)), make_pairs(*PAIRS[:2])
    slot, order = (
        one(presentation.slot_preference(met(ratings, items))),
        one(presentation.order_consistency(met(ratings, items))),
    )
    assert math.isnan(slot.low)
    assert (order.low, order.high) == pytest.approx((0.0, 1.0), abs=0.1)  # counts as one observation


def test_people_are_left_out_and_scores_are_no_verdicts(make_comparisons, make_pairs):
    items = make_pairs(*PAIRS)
    plain = comparisons(make_comparisons, (F, S), (F, F))
    mixed = pd.concat([
        plain, comparisons(make_comparisons, (F,), (S,), judge="human:1"),
        plain.assign(criterion="winner.mass", response=None, score=0.4),
    ], ignore_index=True)  # fmt: skip
    for measure in MEASURES[:3]:
        found = measure(met(mixed, items))
        assert list(found) == [("x",)]
        assert one(found).value == one(measure(met(plain, items))).value


# --------------------------------------------------------------------------- a stranger's table


def test_pairs_that_share_nothing_are_their_own_clusters(make_comparisons, make_pairs):
    items = make_pairs(*PAIRS).drop(columns="story")
    found = one(
        presentation.order_consistency(met(comparisons(make_comparisons, (F, S), (F, F), (S, F), (F, T)), items))
    )
    assert (found.over, found.n_clusters, found.clusters) == ("items", 4, "")
    shared = one(
        presentation.order_consistency(
            met(comparisons(make_comparisons, (F, S), (F, F), (S, F), (F, T)), make_pairs(*PAIRS))
        )
    )
    assert (shared.over, shared.n_clusters, shared.clusters) == ("clusters", 3, "stories")


def test_each_pair_shown_once_in_an_order_drawn_by_lot():
    """Three firsts of four decided verdicts; no pair can be compared with itself turned round."""
    rows = [("1", "ab", F), ("2", "ba", F), ("3", "ba", S), ("4", "ab", F), ("5", "ab", T)]
    frame = pd.DataFrame(rows, columns=["item", "order", "response"]).assign(judge="x")
    ratings = Ratings.of(frame, texts=pd.DataFrame({"item": list("12345"), "a": "s", "b": "t"}))
    picks = one(pairwise_bias.first_pick_share(ratings))
    assert (picks.value, picks.n) == (0.75, 4)
    assert "drawn by lot" in picks.note
    for measure in (presentation.order_consistency, presentation.slot_preference):
        assert "both orders" in one(measure(ratings)).note


def test_without_an_order_there_are_ties_and_nothing_about_places():
    frame = pd.DataFrame({"judge": "x", "item": ["1", "2"], "response": [F, T]})
    ratings = Ratings.of(frame, texts=pd.DataFrame({"item": ["1", "2"], "a": "s", "b": "t"}))
    assert one(pairwise_bias.tie_share(ratings)).value == 0.5
    for measure in (presentation.order_consistency, pairwise_bias.first_pick_share, presentation.slot_preference):
        assert "both orders" in one(measure(ratings)).note


def test_within_every_level_of_another_factor(make_comparisons, make_pairs):
    """At low heat x keeps its winner, at high heat it follows the place."""
    low, high = (
        make_comparisons({("x", "1.ab"): given}, heat=heat) for given, heat in (((F, S), "low"), ((F, F), "high"))
    )
    table = pd.concat([low, high], ignore_index=True)
    texts = make_pairs(*PAIRS).rename(columns={"story": "cluster"})
    ratings = Ratings.of(table, factors=("order", "labels", "heat"), texts=texts)
    found = presentation.order_consistency(ratings)
    assert found.by == ("judge", "heat")
    assert [found.of(judge="x", heat=heat).value for heat in ("low", "high")] == [1.0, 0.0]

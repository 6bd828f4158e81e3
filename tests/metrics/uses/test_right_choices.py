"""Right choices beyond chance: pairs and best of n by hand, constants, ties, losses, coverage, who is cleared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics.right_choices import right_choices
from recuse.ratings import Numeric, Ratings
from recuse.schema import RatingsError
from tests.ratings.choices import read_choices


def pairs(right, judge, orders=("ab",), **known):
    """Pairs of x and z. `right` ("x", "z" or "tie") by the person gold; `judge`: per order what it names."""
    rows = []
    for k, name in enumerate(right):
        first, second = ("x", "z")
        rows.append(("gold", "person", f"q{k}", first, second, name))
        for order, said in zip(orders, judge, strict=True):
            shown = (first, second) if order == "ab" else (second, first)
            rows.append(("judge", "judge", f"q{k}", *shown, said[k]))
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "first", "second", "response"])
    return read_choices(frame, authors={})


def responses(scores, gold=0, **known):
    """Items x responses, of which the one in column `gold` is right."""
    rows = [("judge", f"i{i}", f"r{r}", value) for (i, r), value in np.ndenumerate(scores)]
    texts = pd.DataFrame([(i, r, str(int(r == f"r{gold}"))) for _, i, r, _ in rows], columns=["item", "target", "gold"])
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "target", "score"]), texts=texts, **known)


def test_pairs_by_hand(label):
    """Right in 8 of 10 pairs, x right in 5: guessing and the first place get half. (.8 - .5) / .5 = .6."""
    found = right_choices(pairs("xz" * 5, ["xz" * 4 + "zx"])).of(judge="judge")
    assert found.value == pytest.approx(0.6)
    exact = stats.binomtest(8, 10).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((2 * exact.low - 1, 2 * exact.high - 1), abs=1e-9)
    assert found.detail == {"right": 0.8, "chance": 0.5, "constant": 0.5, "unanswered": 0, "held_against": "one person"}


def test_best_of_four_by_hand():
    """Alone on top, level with one other, below: (1 + 1/2 + 0) / 3 = 1/2, less 1/4, over 3/4."""
    found = right_choices(responses(np.array([[5.0, 3, 2, 1], [4, 4, 1, 1], [1, 2, 3, 4]]))).of(judge="judge")
    assert found.value == pytest.approx((0.5 - 0.25) / 0.75)
    assert found.detail["held_against"] == "the right answers"


def test_where_the_lowest_number_is_best():
    found = right_choices(responses(np.array([[1.0, 3, 5], [2, 3, 4]]), scales=Numeric(1, 5, reversed=True)))
    assert found.of(judge="judge").value == 1.0


def test_always_the_first_place_is_0_wherever_the_right_text_stands(word):
    """x is right, and first, in 8 of 10 pairs: naming the first is right in as many and beats nobody."""
    right = ["x"] * 400 + ["z"] * 100
    estimates = right_choices(pairs(right, [["x"] * 500]))
    assert (estimates.of(judge="judge").detail["constant"], estimates.of(judge="judge").value) == (0.8, 0.0)
    assert word("right_choices", estimates) == ["fail"]
    second = right_choices(pairs(["z" if name == "x" else "x" for name in right], [["z"] * 500])).of(judge="judge")
    assert (second.detail["constant"], second.value) == (0.8, 0.0)
    both = right_choices(pairs(right, [["x"] * 500, ["z"] * 500], ("ab", "ba"))).of(judge="judge")
    assert (both.detail["constant"], both.value) == (0.5, 0.0)


def test_the_right_text_always_first_tells_nothing(word):
    estimates = right_choices(pairs(["x"] * 60, [["x"] * 60]))
    assert "the right text always stood in the same place" in estimates.of(judge="judge").note
    assert word("right_choices", estimates) != ["pass"]


def test_a_constant_score_and_constant_ties_are_chance():
    assert right_choices(responses(np.full((20, 4), 3.0))).of(judge="judge").value == 0.0
    assert right_choices(pairs("xz" * 10, [["tie"] * 20])).of(judge="judge").value == 0.0


def test_pairs_without_a_right_choice_do_not_count():
    found = right_choices(pairs(["x", "z", "tie"], [["x", "z", "x"]])).of(judge="judge")
    assert (found.value, found.n) == (1.0, 2)


def test_what_is_left_out_counts_as_a_guess():
    scores = np.tile([5.0, 1, 1, 1], (40, 1))
    scores[:20, 0] = np.nan
    found = right_choices(responses(scores)).of(judge="judge")
    assert found.detail["unanswered"] == 20
    assert found.value == pytest.approx(((0.5 + 0.5 / 4) - 0.25) / 0.75)


def test_names_of_the_texts_change_nothing():
    one = right_choices(pairs("xz" * 20, ["xz" * 15 + "zx" * 5])).of(judge="judge")
    swap = str.maketrans("xz", "zx")
    other = right_choices(pairs("zx" * 20, [("xz" * 15 + "zx" * 5).translate(swap)])).of(judge="judge")
    assert (one.value, one.low) == (other.value, other.low)


def test_without_right_answers_it_says_what_to_give():
    frame = pd.DataFrame({"judge": "j", "item": ["x", "x"], "target": ["a", "b"], "score": [1.0, 2.0]})
    with pytest.raises(RatingsError, match="column gold"):
        right_choices(Ratings.of(frame))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(60, 0.9), (200, 0.7)])
def test_intervals_cover(n, share):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(200):
        scores = np.where(rng.random((n, 1)) < share, [[5.0, 1, 1, 1]], [[1.0, 5, 1, 1]])
        found = right_choices(responses(scores)).of(judge="judge")
        held += found.low <= (share - 0.25) / 0.75 <= found.high
    assert held >= 0.93 * 200


@pytest.mark.slow
def test_who_is_cleared(word):
    """200 pairs: right in 85 of 100 passes; a coin and the first place do not; 60 of 100, half the limit, does not."""
    rng = np.random.default_rng(3)
    words: dict[str, list[str]] = {}
    for _ in range(30):
        right = rng.choice(["x", "z"], 200)
        wrong = np.where(right == "x", "z", "x")
        for kind, share in (("good", 0.85), ("coin", 0.5), ("poor", 0.6)):
            said = np.where(rng.random(200) < share, right, wrong)
            words.setdefault(kind, []).extend(word("right_choices", right_choices(pairs(right, [said]))))
        words.setdefault("first", []).extend(word("right_choices", right_choices(pairs(right, [["x"] * 200]))))
    passed = {kind: of.count("pass") for kind, of in words.items()}
    assert passed["good"] >= 27
    assert passed["coin"] == passed["first"] == passed["poor"] == 0

"""Answers that were lost may be the ones that show a bias: no gate passes because of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.gates.limits import Limit, decide_estimate, with_losses
from recuse.metrics import consensus, presentation
from recuse.metrics.estimates import add_losses, losses
from recuse.ratings import Numeric, Ratings
from recuse.schema import Estimate

LIMIT = Limit.of({"within": [-0.5, 0.5]})
JUDGES = "abc"


def ratings_with(own, items=60, seed=1, lost_elsewhere=0.0, span=9.0):
    """Three judges that wrote a text each per item; `own(rng, item)` is a's score of its own above the others', NaN
    where the reply could not be read."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(items):
        for j in JUDGES:
            for t in JUDGES:
                score = 5 + rng.integers(0, 2)
                score = score + own(rng, i) if j == t == "a" else score
                if j == "a" != t and rng.random() < lost_elsewhere:
                    score = math.nan
                rows.append((j, f"i{i}", t, score))
    frame = pd.DataFrame(rows, columns=["judge", "item", "target", "score"])
    frame["status"] = np.where(frame["score"].isna(), "unparsed", "ok")
    return Ratings.of(frame, scales=Numeric(0, span, 1), authors={j: j for j in JUDGES})


def test_a_bias_whose_replies_are_unreadable_never_passes():
    """Half of a's replies on its own text would be two points too high and cannot be read: measured about 0, a pass but
    for the losses."""
    found = consensus.self_preference(ratings_with(lambda rng, i: math.nan if i % 2 else 0)).of(judge="a")
    assert LIMIT.encloses(found.low, found.high)
    decision = decide_estimate(LIMIT, found)
    assert (decision.outcome, decision.lost) == ("undecided", True)
    assert found.detail["losses"]["sides"] == {"own": [30, 60], "others'": [0, 120]}
    assert not found.detail["losses"]["unrelated"]


def test_without_losses_it_passes():
    found = consensus.self_preference(ratings_with(lambda rng, i: 0)).of(judge="a")
    assert "losses" not in found.detail
    assert decide_estimate(LIMIT, found).outcome == "pass"


def test_losses_that_are_alike_on_either_side_do_not_count():
    """One in fifty everywhere, six hundred items: the shares differ by less than five points beyond doubt."""
    own = lambda rng, i: math.nan if i % 50 == 0 else 0  # noqa: E731
    found = consensus.self_preference(ratings_with(own, items=600, lost_elsewhere=0.02)).of(judge="a")
    assert found.detail["losses"]["unrelated"]
    assert decide_estimate(LIMIT, found).outcome == "pass"


def test_a_few_losses_pass_under_the_bounds():
    """One of sixty replies lost: at the worst end of the scale it would move the mean by a tenth."""
    found = consensus.self_preference(ratings_with(lambda rng, i: math.nan if i == 7 else 0)).of(judge="a")
    assert not found.detail["losses"]["unrelated"]
    low, high = found.detail["losses"]["bounds"]
    assert low < found.value < high < found.value + 0.1
    assert decide_estimate(LIMIT, found).outcome == "pass"


def test_a_scale_without_ends_bounds_nothing():
    found = consensus.self_preference(ratings_with(lambda rng, i: math.nan if i == 7 else 0, span=math.inf))
    estimate = found.of(judge="a")
    assert estimate.detail["losses"]["bounds"][1] is None
    assert with_losses(estimate)[1] == math.inf
    assert decide_estimate(LIMIT, estimate).outcome == "undecided"


def test_bounds_of_a_mean_by_hand():
    """Eight pairs of mean 0 and two lost, each between -1/2 and 1/2: between -0.1 and 0.1."""
    estimate = Estimate(metric="m", value=0.0, low=-0.02, high=0.02, n=8, n_excluded=2, method="mean")
    found = add_losses(estimate, {"order ab": (2, 10), "order ba": (0, 10)}, (-0.5, 0.5))
    assert found.detail["losses"]["bounds"] == [-0.1, 0.1]
    assert decide_estimate(Limit.of({"within": [-0.1, 0.1]}), found).outcome == "undecided"
    assert decide_estimate(Limit.of({"within": [-0.2, 0.2]}), found).outcome == "pass"
    assert decide_estimate(Limit.of({"within": [0.1, 0.2]}), found).outcome == "fail"  # losses excuse no failure


def test_nothing_lost_is_nothing_said():
    assert losses({"own": (0, 10), "others'": (0, 40)}, (0.0, 0.0)) == {}


def test_the_difference_of_shares_is_near_newcombes():
    """56 of 70 against 48 of 80, 90 %: Newcombe (1998), method 10: [0.0766, 0.3137]; with Jeffreys' limits close by."""
    difference, low, high = losses({"one": (56, 70), "other": (48, 80)}, (0.0, 1.0))["losses"]["difference"]
    assert difference == pytest.approx(0.2)
    assert (low, high) == pytest.approx((0.0766, 0.3137), abs=0.005)


def test_lost_orders_of_pairs_are_compared():
    """Every second reply in order ba is lost: pairs that are left say nothing of the place, and it does not pass."""
    rows = [
        ("x", f"p{i}", order, answer if order == "ab" or i % 2 else None)
        for i in range(60)
        for order, answer in (("ab", "first"), ("ba", "second"))
    ]
    frame = pd.DataFrame(rows, columns=["judge", "item", "order", "response"])
    frame["status"] = np.where(frame["response"].isna(), "unparsed", "ok")
    texts = pd.DataFrame({"item": [f"p{i}" for i in range(60)], "a": "s", "b": "t"})
    found = presentation.slot_preference(Ratings.of(frame, texts=texts)).of(judge="x")
    assert found.detail["losses"]["sides"] == {"order ab": [0, 60], "order ba": [30, 60]}
    assert decide_estimate(Limit.of({"within": [-0.1, 0.1]}), found).outcome == "undecided"

"""Joint scoring: planted contradictions are told from consistent replies, and a shift is found where there is one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.merchant_risk.human_order import ranking_follows_scores
from recuse.papers.merchant_risk.name_effect import joint_shift
from recuse.ratings import Ratings

TARGETS = list("stuv")


def replies(judge: str, turned: bool, repeats: int = 12) -> list[dict[str, object]]:
    rng = np.random.default_rng(1)
    rows = []
    for repeat in range(repeats):
        scores = rng.permutation(np.arange(4.0))
        places = scores.argsort().argsort() + 1 if turned else (-scores).argsort().argsort() + 1
        for target, score, place in zip(TARGETS, scores, places, strict=True):
            rows += [
                {"judge": judge, "item": "i", "target": target, "repeat": repeat, "criterion": name, "score": float(v)}
                for name, v in (("total", score), ("place", place))
            ]
    return rows


def test_a_judge_that_ranks_against_its_scores_is_told_from_one_that_does_not():
    frame = pd.DataFrame(replies("turned", True) + replies("straight", False))
    found = ranking_follows_scores(Ratings.of(frame, headline=["total"]))
    assert (found.of(judge="turned").value, found.of(judge="straight").value) == (-1.0, 1.0)
    assert [found.of(judge=j).detail["contradicting"] for j in ("turned", "straight")] == [1.0, 0.0]


def test_a_reply_that_scores_all_alike_ranks_freely():
    rows = [("s", "total", 5), ("t", "total", 5), ("s", "place", 2), ("t", "place", 1)]
    frame = pd.DataFrame(rows, columns=["target", "criterion", "score"]).assign(judge="a", item="i")
    found = ranking_follows_scores(Ratings.of(frame, headline=["total"])).of(judge="a")
    assert not found.defined
    assert found.n_excluded == 1


def judged(shift: float, spread: float) -> Ratings:
    rng = np.random.default_rng(2)
    rows = [
        {"judge": "a", "item": f"i{i}", "target": target, "score": 5 + spread * k + shift + rng.normal(0, 0.1)}
        for i in range(10) for k, target in enumerate(TARGETS)
    ]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows))


@pytest.mark.parametrize(("shift", "spread"), [(1.0, 0.5), (0.0, 1.0)])
def test_a_planted_shift_and_a_planted_spread_are_found_and_not_mixed_up(shift, spread):
    joint = judged(shift, spread)
    ratings = Ratings.of(joint.table, beside={"scores": judged(0.0, 0.5)}.get)
    found = joint_shift(ratings).of(judge="a")
    assert found.value == pytest.approx(shift + 1.5 * (spread - 0.5), abs=0.1)
    assert found.detail["spread"] == pytest.approx(spread / 0.5, rel=0.1)
    assert found.detail["order"] == 1.0


def test_without_single_scores_beside_nothing_is_compared():
    assert len(joint_shift(judged(0, 1))) == 0

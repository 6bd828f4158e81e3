"""Rules kept by what models wrote: counted by hand, breaches by name, texts beside them."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.papers.merchant_risk.picks import rules_kept
from recuse.ratings import Ratings


def written(*rows: tuple[str, str, str]) -> Ratings:
    frame = pd.DataFrame(rows, columns=["item", "criterion", "response"]).assign(judge="a", target="a")
    return Ratings.of(frame, headline=["rationale"])


def test_by_hand():
    """Two texts: one keeps both rules, the other breaks one of them."""
    ratings = written(
        ("i", "rationale", "Sound."), ("i", "rule: length", "kept"), ("i", "rule: figures", "kept"),
        ("j", "rationale", "9 of 10."), ("j", "rule: length", "kept"), ("j", "rule: figures", "gives figures: 9, 10"),
    )  # fmt: skip
    found = rules_kept(ratings)
    assert [found.of(judge="a", rule=rule).value for rule in ("length", "figures", "all")] == [1.0, 0.5, 0.5]
    assert found.of(judge="a", rule="figures").detail["breaches"] == [["gives figures: 9, 10", 1]]
    assert found.of(judge="a", rule="all").detail["texts"] == [
        ["i", "Sound.", []],
        ["j", "9 of 10.", ["gives figures: 9, 10"]],
    ]


def test_one_of_one_is_certain_of_nothing():
    found = rules_kept(written(("i", "rule: length", "kept"), ("i", "rationale", "Sound."))).of(
        judge="a", rule="length"
    )
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025)


def test_where_no_rules_were_checked_nothing_is_counted():
    assert len(rules_kept(written(("i", "rationale", "Sound.")))) == 0

"""Texts that are counted by their answers: the same numbers as text by text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy import decision_consistency, judge_selection, rated_options, response_sets
from recuse.papers.indeterminacy.aggregation import item_spread
from recuse.ratings import Ratings
from recuse.ratings.scale import Nominal
from recuse.schema.arrays import median_of, patterns
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_share

MEASURES = (
    decision_consistency.decision_consistency, decision_consistency.consistency_over_beta,
    decision_consistency.prevalence_bias, decision_consistency.bias_over_beta, decision_consistency.prevalence_shift,
    response_sets.performance, response_sets.ratings_needed, judge_selection.selection_regret,
    judge_selection.best_judge,
)  # fmt: skip
RESAMPLED = ("performance", "selection_regret", "best_judge")


def answers(texts: int = 600) -> Ratings:
    """Two judges and three people, of whom some are silent now and then."""
    rng = np.random.default_rng(5)
    right = rng.random(texts) < 0.6
    rows = [
        {"judge": name, "kind": kind, "item": f"i{k}", "repeat": 0, "response": "pass" if right[k] ^ slip else "fail"}
        for name, kind, error, there in (("a", "judge", 0.1, 1.0), ("b", "judge", 0.25, 0.9), ("p", "person", 0.1, 1.0),
                                         ("q", "person", 0.15, 0.8), ("r", "person", 0.2, 0.5))
        for k, slip in enumerate(rng.random(texts) < error) if rng.random() < there
    ]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows).rename(columns={"judge": "rater"}), scales=Nominal(("pass", "fail")))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_folded_texts_give_the_numbers_of_single_ones(measure, monkeypatch: pytest.MonkeyPatch) -> None:
    single = measure(answers())
    monkeypatch.setattr(rated_options, "FOLDED_FROM", 1)
    ratings = answers()
    ((_, folded),) = rated_options.each_rated(ratings)
    assert len(folded.clusters) < 60
    assert folded.times.sum() == 600
    together = measure(ratings)
    assert [key for key, _ in single.items()] == [key for key, _ in together.items()]
    for key, one in single.items():
        other = together[key]
        drawn = measure.__name__ in RESAMPLED
        assert one.n == other.n
        assert other.value == pytest.approx(
            one.value, abs=0.1 if measure.__name__ == "best_judge" else 1e-9, nan_ok=True
        )
        width = (one.high or 0.0) - (one.low or 0.0)
        for side in ("low", "high"):
            mine, its = getattr(one, side), getattr(other, side)
            assert (mine is None) == (its is None)
            if mine is not None:
                assert its == pytest.approx(mine, abs=width / 4 + 1e-9 if drawn else 1e-9, nan_ok=True)


def test_values_that_stand_for_several_are_those_several() -> None:
    rng = np.random.default_rng(2)
    x, times = rng.choice([-1, -0.5, 0, 0.5, 1], 9), rng.integers(1, 40, 9).astype(float)
    every = np.repeat(x, times.astype(int))
    apart = np.arange(len(every))
    for mine, plain in (
        (bounded_mean(x, range(9), (-1.0, 1.0), times=times), bounded_mean(every, apart, (-1.0, 1.0))),
        (clustered_share(abs(x), range(9), times), clustered_share(abs(every), apart)),
    ):
        np.testing.assert_allclose(mine.interval(0.95), plain.interval(0.95), atol=1e-12)
    assert median_of(x, times) == np.median(every)
    raters, positive = rng.integers(1, 5, 9), rng.integers(0, 2, 9)
    whole = times.astype(int)
    mine = item_spread(positive, raters, times)
    plain = item_spread(np.repeat(positive, whole), np.repeat(raters, whole))
    assert mine is not None
    assert plain is not None
    assert (mine.a, mine.b) == pytest.approx((plain.a, plain.b), rel=1e-9)


def test_patterns_are_the_different_rows_and_how_often_they_are_there() -> None:
    rng = np.random.default_rng(3)
    rows = rng.choice([0.0, 1.0, np.nan], (200, 3))
    seen = patterns(rows, 27)
    assert seen is not None
    first, times = seen
    assert sorted(map(str, rows[first])) == sorted({*map(str, rows)})
    assert times.sum() == 200
    for place, count in zip(first, times, strict=True):
        assert count == sum(str(row) == str(rows[place]) for row in rows)
    assert patterns(rows, 5) is None

"""Items that were counted by their answers: the numbers of single items, whatever is measured."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recuse.check.disagreements import count_disagreements
from recuse.gates.gate_tables import uses_for
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings, folding
from recuse.ratings.text_slices import have_slices
from recuse.readers.file_panel import panel_of
from recuse.readers.file_ratings import FilePanel
from recuse.schema import RecuseError
from recuse.schema.arrays import median_of
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_mean, clustered_share, difference_of_means
from recuse.suite.question_runner import ask, read_evals, shipped_evals

SCALES = {
    "numbers": Numeric(1, 5), "two options": Ordinal(("fail", "pass")), "options": Nominal(("blue", "green", "red")),
}  # fmt: skip
WORDS = {"two options": ("fail", "fail", "pass", "pass", "pass"), "options": ("red", "green", "blue", "red", "blue")}
RATERS = {"ann": 0.9, "ben": 0.6, "cleo": 0.5, "gpt": 1.0, "claude": 0.95}
RESAMPLED = {"performance", "best_judge", "selection_regret", "regret_over_beta"}
"""Measures whose resamples are drawn by pattern from 20,000 items on: other draws of the same distribution."""
DRAWN = {"low", "high", "se", "right", "at_beta"}


def answers(kind: str, seed: int, *, items: int = 260, targets: int = 1, repeats: int = 1) -> Ratings:
    """Two judges and three people, of whom some are silent now and then; a judge's silence is a row without answer."""
    rng = np.random.default_rng(seed)
    right = rng.integers(1, 6, (items, 1)) + np.zeros((1, targets), dtype=int)  # so that items are alike
    rows: list[tuple[Any, ...]] = []
    for name, there in RATERS.items():
        judges = name in ("gpt", "claude")
        for target, repeat in np.ndindex(targets, repeats if judges else 1):
            given = np.clip(right[:, target] + rng.choice([-1, 0, 0, 0, 0, 0, 1], items), 1, 5)
            for item in np.flatnonzero((rng.random(items) < there) | judges):
                silent = judges and rng.random() > there
                value = float(given[item]) if kind == "numbers" else WORDS[kind][given[item] - 1]
                rows.append((name, "judge" if judges else "person", f"i{item}", f"t{target}", repeat,
                             None if silent else value))  # fmt: skip
    column = "score" if kind == "numbers" else "response"
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "repeat", column])
    texts = frame[["item", "target"]].drop_duplicates()
    topics = texts["item"].str[1:].astype(int) % 2
    return Ratings.of(frame, scales=SCALES[kind], texts=texts.assign(topic=topics.map({0: "mail", 1: "chat"})))


def asked(panel: FilePanel, *, deciding: bool) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Every estimate that the shipped questions come to; `deciding`: of those whose answer decides."""
    gates, questions = read_evals(shipped_evals(), date(2026, 11, 25))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        uses = uses_for(panel.uses, [panel.offers], gates.uses, "answers")
        found = ask(panel, gates, questions, uses, deciding=deciding)
    every = [*found.measurements, *found.verdicts]
    return {(row["estimate"]["metric"], row["test"], *sorted(row["subject"].items())): row["estimate"] for row in every}


def unlike(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two records differ by more than 1e-9."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {*one, *other}:
            yield from unlike(one.get(name), other.get(name), name)
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for mine, its in zip(one, other, strict=True):
            yield from unlike(mine, its, place)
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) and not (math.isnan(one) and math.isnan(other)):
            yield place, one, other
    elif one != other:
        yield place, one, other


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("deciding", [True, pytest.param(False, marks=pytest.mark.slow("every measure twice"))])
@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize(("targets", "repeats"), [(1, 2), (2, 1)])
def test_patterns_give_the_numbers_of_single_items(
    kind: str, targets: int, repeats: int, deciding: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = answers(kind, 3, targets=targets, repeats=repeats)
    single, differing = asked(panel_of(whole), deciding=deciding), count_disagreements(whole)
    monkeypatch.setattr(folding, "FOLDED_FROM", 1)
    monkeypatch.setattr(folding, "ALIKE", 0)
    ratings = answers(kind, 3, targets=targets, repeats=repeats)
    patterns = ratings.folded()
    assert patterns.times is not None
    assert sum(patterns.times.values()) == 260 > len(patterns.times)
    assert (count_disagreements(ratings), have_slices(ratings)) == (differing, have_slices(whole))
    together = asked(panel_of(ratings), deciding=deciding)
    assert together.keys() == single.keys()
    assert len(single) > (8 if deciding else 40)
    for key, one in single.items():
        apart = {place: (mine, its) for place, mine, its in unlike(one, together[key])}
        apart.pop("per_item", None)  # no measure keeps single items of 20,000
        apart.pop("kendall", None)  # of more than a thousand texts none is measured
        if key[0] in RESAMPLED:
            width = (one["high"] or 0.0) - (one["low"] or 0.0)
            apart = {
                place: pair for place, pair in apart.items()
                if place not in DRAWN and not (key[0] == "best_judge" and abs(pair[0] - pair[1]) < 0.05)
            }  # fmt: skip
            for end in ("low", "high"):
                if one[end] is not None:
                    assert together[key][end] == pytest.approx(one[end], abs=width / 3 + 1e-9)
        assert not apart, key


def test_a_measure_that_counts_no_patterns_gets_single_items_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from recuse.papers.illusion.resolution import panel_agreement

    rows = [(rater, "judge", item, score) for rater, bias in (("a", 0), ("b", 1)) for item, score in
            (("x", 1.0 + bias), ("y", 3.0), ("z", 5.0))]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    counted = Ratings.of(frame, scales=Numeric(1, 5), times={"x": 3, "y": 1, "z": 2})
    every = pd.concat([frame.assign(item=frame["item"] + str(k)) for k in range(3)])
    single = Ratings.of(every[~every["item"].isin(["y1", "y2", "z2"])], scales=Numeric(1, 5))
    assert panel_agreement(counted).of().value == pytest.approx(panel_agreement(single).of().value, rel=1e-12)
    assert counted.array().shape == single.array().shape == (2, 6, 1)
    monkeypatch.setattr(folding, "MOST_UNFOLDED", 11)
    again = Ratings.of(frame, scales=Numeric(1, 5), times={"x": 3, "y": 1, "z": 2})
    with pytest.raises(RecuseError, match="6 items are counted by their answers, and this measure asks for single"):
        panel_agreement(again)


def test_what_cannot_be_counted_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "FOLDED_FROM", 1)
    frame = pd.DataFrame({"rater": "a", "kind": "judge", "item": [f"i{k}" for k in range(40)]})
    frame = frame.assign(score=[1.0, 2.0] * 20)
    texts = frame[["item"]].assign(target="")
    plain = Ratings.of(frame, texts=texts.assign(words=range(40)))
    assert plain.folded().times == {"i0": 20, "i1": 20}
    assert "words" not in plain.folded().texts
    assert plain.folded().single() is plain
    clusters = texts.assign(cluster=[f"c{k // 4}" for k in range(40)])
    every = frame.assign(score=np.linspace(1, 5, 40))
    for other in (Ratings.of(frame, texts=clusters), Ratings.of(every), Ratings.of(frame, reference=texts)):
        assert other.folded() is other
    facts = Ratings.of(frame, texts=texts.assign(topic=["a", "a", "b", "b"] * 10))
    assert sorted(facts.folded().times.values()) == [10, 10, 10, 10]
    swapped = frame.assign(repeat=0).iloc[::-1]
    assert sorted(Ratings.of(swapped).folded().times.values()) == [20, 20]


def test_values_that_stand_for_several_are_those_several() -> None:
    rng = np.random.default_rng(2)
    x, clusters = rng.choice([-1, -0.5, 0, 0.5, 1], 12), np.repeat(np.arange(6), 2)
    each = np.repeat(rng.integers(1, 9, 6), 2).astype(float)
    copies = [(value, f"{cluster}.{k}") for value, cluster, number in zip(x, clusters, each, strict=True)
              for k in range(int(number))]  # fmt: skip
    every = np.array([value for value, _ in copies])
    names = np.unique([name for _, name in copies], return_inverse=True)[1]
    plus, more = np.arange(12) % 2 == 0, np.repeat(np.arange(12) % 2 == 0, each.astype(int))
    for mine, plain in (
        (bounded_mean(x, clusters, (-1.0, 1.0), times=each), bounded_mean(every, names, (-1.0, 1.0))),
        (clustered_share(abs(x) > 0.7, clusters, each), clustered_share(abs(every) > 0.7, names)),
        (clustered_mean(x, clusters, step=0.5, times=each), clustered_mean(every, names, step=0.5)),
        (difference_of_means(x, plus, ~plus, clusters, times=each), difference_of_means(every, more, ~more, names)),
    ):
        np.testing.assert_allclose(mine.interval(0.95), plain.interval(0.95), atol=1e-12)
    assert median_of(x, each) == np.median(every)

"""Judge x text cells: what a repetition would draw anew, what was lost, and whose hole it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Cells, Numeric, Ratings
from recuse.schema import RecuseError


def frame(*rows: tuple[str, str, str, int, float | None, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["rater", "item", "target", "repeat", "score", "status"])


def cells(*rows: tuple[str, str, str, int, float | None, str], **known: object) -> Cells:
    return Ratings.of(frame(*rows), scales=Numeric(0, 10), **known).cells()  # type: ignore[arg-type]


ONE_TEXT_EACH = (
    ("x", "i", "a", 1, 4.0, "ok"), ("x", "i", "a", 0, 2.0, "ok"), ("x", "j", "b", 0, None, "refused"),
    ("y", "i", "a", 0, 5.0, "ok"),
)  # fmt: skip


def test_counts_means_and_scores_in_order_of_repeat() -> None:
    found = cells(*ONE_TEXT_EACH)
    assert found.judges == ("x", "y")
    assert found.count.tolist() == [[2, 0], [1, 0]]
    assert found.mean[0, 0] == 3.0
    assert found.variance[0, 0] == 2.0
    assert [[part.tolist() for part in found.repeats(j)] for j in (0, 1)] == [[[2.0, 4.0], [2, 0]], [[5.0], [1, 0]]]


def test_one_repeated_text_per_target_leaves_only_repeats_to_vary() -> None:
    assert cells(*ONE_TEXT_EACH).fixed
    assert cells(*ONE_TEXT_EACH).over == "repeats"


def test_several_texts_per_target_are_the_sample_and_so_are_single_repeats() -> None:
    assert cells(*ONE_TEXT_EACH, ("y", "k", "a", 0, 5.0, "ok")).over == "items"
    assert cells(*ONE_TEXT_EACH[1:]).over == "items"


def test_items_that_share_something_are_clusters() -> None:
    texts = pd.DataFrame({"item": ["i", "j", "k"], "target": ["a", "b", "a"], "cluster": ["s", "s", "t"]})
    found = cells(*ONE_TEXT_EACH, ("y", "k", "a", 0, 5.0, "ok"), texts=texts, clusters="stories")
    assert (found.over, found.clusters_called, found.cluster_names) == ("clusters", "stories", ("s", "t"))
    assert [found.cluster_names[c] for c in found.clusters] == ["s", "s", "t"]


def test_what_was_lost_is_counted_where_it_was_lost() -> None:
    found = cells(*ONE_TEXT_EACH)
    assert found.lost.tolist() == [[0, 1], [0, 0]]
    assert found.lost_by == {("x", "b"): {"refused": 1}}


def test_by_target_is_the_mean_of_its_texts_that_are_there() -> None:
    found = cells(*ONE_TEXT_EACH, ("y", "k", "a", 0, 7.0, "ok"))
    means = found.by_target(found.mean)
    assert means[:, 0].tolist() == [3.0, 6.0]
    assert np.isnan(means[:, 1]).all()
    assert found.texts_of("a").tolist() == [True, False, True]
    assert not found.texts_of("nobody").any()


def test_the_order_of_rows_does_not_change_a_byte() -> None:
    rng = np.random.default_rng(0)
    rows = [("x", "i", "a", k, float(v), "ok") for k, v in enumerate(rng.normal(5, 1, 9))]
    first, second = cells(*rows), cells(*rows[::-1])
    assert first.mean.tobytes() == second.mean.tobytes()
    assert first.variance.tobytes() == second.variance.tobytes()


def test_a_level_that_still_varies_is_named() -> None:
    both = frame(*ONE_TEXT_EACH).assign(names="shown")
    with pytest.raises(RecuseError, match="one combination of factor levels; names still vary"):
        Ratings.of(both).cells()
    with pytest.raises(RecuseError, match="judge z is not in the ratings; they hold x, y"):
        cells(*ONE_TEXT_EACH).row("z")

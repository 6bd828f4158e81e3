"""Picks of several models: overlap by hand and in the paper, and year by year."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from recuse.papers.merchant_risk.picks import pick_overlap, text_homogeneity, yearly_rank_correlation
from recuse.ratings import Ratings

LEVELS = Path(__file__).resolve().parents[3] / "fixtures" / "published" / "mcc_levels.csv"


def picks(**models: dict[str, float]) -> Ratings:
    rows = [(model, item, level) for model, each in models.items() for item, level in each.items()]
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "score"]))


def test_overlap_by_hand():
    """i, j of three items either picked: 1/3 ... a and b share i alone, of i, j, k: 1/3."""
    found = pick_overlap(picks(a={"i": 1, "j": 2}, b={"i": 4, "k": 2})).of()
    assert found.value == pytest.approx(1 / 3)
    assert found.detail["by_all"] == [["i", "", {"a": 1.0, "b": 4.0}]]
    assert (found.detail["same_level"], found.detail["adjacent"], found.detail["apart"]) == ([], 0, 1)


def test_two_levels_apart_is_not_adjacent():
    found = pick_overlap(picks(a={"i": 1, "j": 2, "k": 3}, b={"i": 3, "j": 3, "k": 3})).of()
    assert (found.detail["adjacent"], found.detail["apart"]) == (2, 1)


def test_the_paper_s_39_categories_and_its_one_perfect_consensus():
    """Sec. 5.3: grocery stores, which all models put on the lowest level; no shared category lies two levels apart."""
    table = pd.read_csv(LEVELS).rename(columns={"model": "judge", "mcc": "item", "level": "score"})
    found = pick_overlap(Ratings.of(table[["judge", "item", "score"]])).of()
    assert found.n == 39
    assert found.detail["same_level"] == ["5411"]
    assert [row[0] for row in found.detail["by_all"]] == ["5411", "7995"]
    assert (found.detail["adjacent"], found.detail["apart"]) == (18, 0)
    assert len(found.detail["shared"]) == 18


def test_one_model_overlaps_with_nobody():
    assert not pick_overlap(picks(a={"i": 1})).of().defined


def test_a_year_that_turns_the_order_round_is_told_from_one_that_does_not():
    ratings = picks(a={"i": 1, "j": 2, "k": 3, "l": 4})
    truth = pd.DataFrame({"item": list("ijkl"), "value": 0.0, "value_2021": [1, 2, 3, 4], "value_2022": [4, 3, 2, 1]})
    found = yearly_rank_correlation(Ratings.of(ratings.table, reference=truth))
    assert [found.of(judge="a", year=year).value for year in ("2021", "2022")] == [1.0, -1.0]


def test_a_reference_without_years_says_so():
    truth = pd.DataFrame({"item": list("ijkl"), "value": [1.0, 2, 3, 4]})
    found = yearly_rank_correlation(Ratings.of(picks(a={"i": 1}).table, reference=truth)).of(judge="a", year="")
    assert found.note == "undefined: the true values tell no years apart"


def written(alike: float, items: int = 12, length: int = 40) -> Ratings:
    """Texts of three authors on each item: so large a share of a text's words is the item's, all others its own."""
    letters = "abcdefghijklmnopqrst"
    endings, kept = ["".join(two) for two in product(letters, "yz")][:length], round(alike * length)
    rows = [
        (f"i{i}", who, " ".join(f"{'all' if k < kept else who}{letters[i]}x{end}" for k, end in enumerate(endings)))
        for i in range(items) for who in "abc"
    ]  # fmt: skip
    texts = pd.DataFrame(rows, columns=["item", "target", "text"])
    return Ratings.of(texts[["item", "target"]].assign(judge="x", score=1.0), texts=texts)


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_planted_homogeneity_comes_back(alike):
    """s of n words in common, n - s each its own: s / (2 n - s); of two items none."""
    found = text_homogeneity(written(alike)).of()
    assert found.value == pytest.approx(alike / (2 - alike))
    assert (found.n, found.detail["own"], found.detail["other"]) == (12, 0.0, 0.0)


def test_what_an_author_repeats_and_what_all_texts_share_stand_beside():
    """Own: a says the same on both items (1), b nothing twice (0). Other: a on j and b on i share one of three
    words, a on i and b on j none."""
    said = {
        ("i", "a"): "bridge opens", ("j", "a"): "bridge opens", ("i", "b"): "bridge closes", ("j", "b"): "river rises",
    }  # fmt: skip
    texts = pd.DataFrame([(*key, text) for key, text in said.items()], columns=["item", "target", "text"])
    frame = texts[["item", "target"]].assign(judge="x", score=1.0)
    detail = text_homogeneity(Ratings.of(frame, texts=texts)).of().detail
    assert (detail["own"], detail["other"]) == pytest.approx((1 / 2, 1 / 6))


def test_homogeneity_takes_two_authors_on_two_items():
    assert not text_homogeneity(written(0.5, items=1)).of().defined
    assert len(text_homogeneity(picks(a={"i": 1}, b={"i": 1}))) == 0

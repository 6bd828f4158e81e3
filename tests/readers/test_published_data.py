"""Ratings made by others, without a special tool: their published numbers come out.

The panels `rewardbench` (composo-ai/llm-judge-criteria-ensembling, MIT) and `vicuna80` (bcdnlp/PRD, MIT). What PRD
stores twice is not among them: RECUSE_PUBLISHED_DATA names the folder that holds `prd_vicuna80_long.csv.gz`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from recuse.metrics import presentation
from recuse.papers.best_response import best_response
from recuse.papers.merchant_risk import score_repeats
from recuse.papers.self_preference import pairwise_bias
from recuse.readers import read_file
from tests.ratings.choices import read_choices

RATINGS = Path(__file__).parents[2] / "fixtures" / "ratings"
PRD = Path(os.environ.get("RECUSE_PUBLISHED_DATA", "no-such-folder")) / "prd_vicuna80_long.csv.gz"
PUBLISHED = {  # judge, prompt, temperature, repeats (None: all eight) -> items, accuracy in per cent
    ("gpt-5.4", "base", "1.0", 1): (1729, 71.7),
    ("gpt-5.4", "criteria", "1.0", 1): (1738, 74.7),
    ("gpt-5.4", "base", "1.0", None): (1730, 81.5),
    ("gpt-5.4", "criteria", "1.0", None): (1741, 83.6),
    ("gpt-5.4-mini", "base", "1.0", None): (1730, 79.2),
    ("gpt-5.4-mini", "criteria", "1.0", None): (1742, 81.5),
    ("claude-sonnet-4.6", "base", "default", 1): (1737, 72.3),
    ("claude-sonnet-4.6", "criteria", "default", 1): (1743, 74.1),
    ("claude-sonnet-4.6", "base", "default", None): (1744, 82.7),
    ("claude-sonnet-4.6", "criteria", "default", None): (1751, 83.4),
    ("claude-haiku-4.5", "base", "default", None): (1761, 84.8),
    ("claude-haiku-4.5", "criteria", "default", None): (1763, 85.8),
    # The authors print 52.3 and 71.4 for nano, over the items that the other two answered as well (1,700 and 1,705).
    ("gpt-5.4-nano", "base", "1.0", 1): (1708, 52.2),
    ("gpt-5.4-nano", "base", "1.0", None): (1718, 71.7),
}


@pytest.fixture(scope="module")
def composo():
    return read_file(RATINGS / "rewardbench.csv.gz").ratings


@pytest.mark.slow("simulations")
@pytest.mark.parametrize("repeats", [1, None])
def test_the_accuracies_of_the_composo_readme(composo, repeats):
    found = best_response(composo, repeats=repeats)
    wanted = {key[:3]: known for key, known in PUBLISHED.items() if key[3] == repeats}
    assert {key: (found[key].n, round(100 * found[key].value, 1)) for key in wanted} == wanted


def test_reliability_of_repeats_per_model_and_temperature(tmp_path):
    """On every eighth text."""
    table = pd.read_csv(RATINGS / "rewardbench.csv.gz")
    table[table["item"].mod(8).eq(0)].to_csv(tmp_path / "few.csv", index=False)
    found = score_repeats.repeat_reliability(read_file(tmp_path / "few.csv").ratings)
    assert found.by == ("judge", "prompt", "temp")
    strict, loose = (found.of(judge="gpt-5.4", prompt="base", temp=temp).value for temp in ("0.0", "1.0"))
    assert strict > 0.99 > loose > 0.9


@pytest.fixture(scope="module")
def prd():
    """Panel `vicuna80` by the reader, and by hand."""
    path = RATINGS / "vicuna80.csv.gz"
    table = pd.read_csv(path)
    person = table["reviewer"].eq("human")
    by_hand = table.rename(columns={"question": "item"}).assign(
        rater=table["reviewer"].where(~person, "human " + table["rep"].astype(str)),
        kind=person.map({True: "person", False: "judge"}),
        repeat=(table["rep"] - 1).where(~person, 0),
        response=table["winner"].map({1: "first", 2: "second", 3: "tie"}),
    )
    columns = ["rater", "kind", "item", "first", "second", "repeat", "response"]
    return read_file(path).ratings, read_choices(by_hand[columns])


@pytest.mark.parametrize(
    "measure",
    [
        presentation.order_consistency,
        pairwise_bias.first_pick_share,
        pairwise_bias.own_win_rate,
        pairwise_bias.own_win_excess,
    ],
)
def test_choices_of_prd_as_read_by_hand(prd, measure):
    read, by_hand = prd
    found, wanted = measure(read), measure(by_hand)
    assert found.keys() == wanted.keys()
    for key, estimate in wanted.items():
        assert (found[key].n, found[key].value) == pytest.approx((estimate.n, estimate.value), nan_ok=True)


def test_own_wins_of_prd_beside_those_by_people_on_the_same_pairs(prd):
    """Counted from the file with pandas alone: per judge, the share of its 320 pairs that its own text wins, by the
    judge and by people. GPT-4 sees itself win nine pairs in a hundred more than people do; Claude does not."""
    counted = {
        "gpt4": (0.85625, 0.7630208), "bard": (0.3625, 0.3036458), "vicuna-13b": (0.4414063, 0.403125),
        "gpt35": (0.35, 0.3411458), "claude": (0.6703125, 0.6890625),
    }  # fmt: skip
    rates, beyond = pairwise_bias.own_win_rate(prd[0]), pairwise_bias.own_win_excess(prd[0])
    for judge, (by_itself, by_people) in counted.items():
        two = rates.of(judge=judge, seen_by="self"), rates.of(judge=judge, seen_by="people")
        assert [(e.value, e.n) for e in two] == [(pytest.approx(v, abs=1e-6), 320) for v in (by_itself, by_people)]
        detail = beyond.of(judge=judge).detail
        assert detail["against_people"] == pytest.approx(by_itself - by_people, abs=1e-6)
        assert detail["pairs_with_people"] == 320


@pytest.mark.slow
def test_what_is_there_twice_in_prd_is_told():
    if not PRD.is_file():
        pytest.skip("RECUSE_PUBLISHED_DATA names no folder with the PRD data")
    same, differ = read_file(PRD).faults
    assert same.count + differ.count / 2 == 160

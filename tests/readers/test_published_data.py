"""Ratings made by others, without a special tool: their published numbers come out.

The data are not part of this repository: RECUSE_PUBLISHED_DATA names the folder that holds `composo_rb2_repeats.csv.gz`
(composo-ai/llm-judge-criteria-ensembling, MIT) and `prd_vicuna80_long.csv.gz` (bcdnlp/PRD, MIT).
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from recuse.metrics import position, stability
from recuse.metrics.right_choices import best_response
from recuse.papers.self_preference import win_rates
from recuse.ratings.choices_table import read_choices
from recuse.readers import read_file

FOLDER = Path(os.environ.get("RECUSE_PUBLISHED_DATA", "no-such-folder"))
COMPOSO, PRD = FOLDER / "composo_rb2_repeats.csv.gz", FOLDER / "prd_vicuna80_long.csv.gz"
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
}


@pytest.fixture(scope="module")
def composo():
    if not COMPOSO.is_file():
        pytest.skip("RECUSE_PUBLISHED_DATA names no folder with the Composo data")
    return read_file(COMPOSO).ratings


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, None])
def test_the_accuracies_of_the_composo_readme(composo, repeats):
    found = best_response(composo, repeats=repeats)
    wanted = {key[:3]: known for key, known in PUBLISHED.items() if key[3] == repeats}
    assert {key: (found[key].n, round(100 * found[key].value, 1)) for key in wanted} == wanted


@pytest.mark.slow
def test_reliability_of_repeats_per_model_and_temperature(composo):
    found = stability.repeat_reliability(composo)
    assert found.by == ("judge", "prompt", "temp")
    strict, loose = (found.of(judge="gpt-5.4", prompt="base", temp=temp).value for temp in ("0.0", "1.0"))
    assert strict > 0.99 > loose > 0.9


@pytest.fixture(scope="module")
def prd(tmp_path_factory):
    """The file as it is, and without the two files that were stored twice, read both by the reader and by hand."""
    if not PRD.is_file():
        pytest.skip("RECUSE_PUBLISHED_DATA names no folder with the PRD data")
    table = pd.read_csv(PRD)
    table = table[~table["file"].str.startswith(("answer-gpt35-", "answer-gpt4-"))]
    path = tmp_path_factory.mktemp("prd") / "prd.csv"
    table.to_csv(path, index=False)
    person = table["reviewer"].eq("human")
    by_hand = table.rename(columns={"question": "item"}).assign(
        rater=table["reviewer"].where(~person, "human " + table["rep"].astype(str)),
        kind=person.map({True: "person", False: "judge"}),
        repeat=(table["rep"] - 1).where(~person, 0),
        response=table["score"].map({1: "first", 2: "second", 3: "tie"}),
    )
    columns = ["rater", "kind", "item", "first", "second", "repeat", "response"]
    return read_file(path), read_choices(by_hand[columns]), read_file(PRD)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure", [position.order_consistency, position.first_pick_share, win_rates.own_win_rate, win_rates.own_win_excess]
)
def test_choices_of_prd_as_read_by_hand(prd, measure):
    read, by_hand, _ = prd
    found, wanted = measure(read.ratings), measure(by_hand)
    assert found.keys() == wanted.keys()
    for key, estimate in wanted.items():
        assert (found[key].n, found[key].value) == pytest.approx((estimate.n, estimate.value), nan_ok=True)


@pytest.mark.slow
def test_what_is_there_twice_in_prd_is_told(prd):
    *_, raw = prd
    same, differ = raw.faults
    assert same.count + differ.count / 2 == 160

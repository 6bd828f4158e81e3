"""The synthetic payments: what the stored table says, and that the tool makes it again."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from recuse.metrics.empirical_risk import risk_score
from recuse.transactions import read_transactions
from tools import transactions as tool

TRUTH = tomllib.loads((tool.TASK / "ground_truth.toml").read_text(encoding="utf-8"))
PATH = tool.TASK / TRUTH["table"]
PUBLISHED_RHO = {
    "claude-4.5-sonnet": 0.77,
    "gemini-2.5-pro": 0.69,
    "grok-4": 0.61,
    "gpt-5.1": 0.56,
    "perplexity-sonar": 0.49,
}  # paper, sec. 5.2


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return read_transactions(PATH, "mcc", tool.FLAGS)


@pytest.fixture(scope="module")
def levels(table: pd.DataFrame) -> pd.DataFrame:
    risk = risk_score(table, TRUTH["indicators"], category="mcc")[["mcc", "risk"]]
    return pd.read_csv(tool.PUBLISHED / "mcc_levels.csv").merge(risk, on="mcc", validate="many_to_one")


def test_is_labelled_synthetic_wherever_one_looks(table: pd.DataFrame) -> None:
    assert TRUTH["provenance"] == table.attrs["about"]["provenance"] == "synthetic"
    assert "synthetic" in PATH.name
    assert table.attrs["about"]["seed"] == TRUTH["seed"]


def test_shape(table: pd.DataFrame) -> None:
    assert 200_000 < len(table) < 500_000
    assert PATH.stat().st_size < 3_000_000
    assert sorted(table["year"].unique()) == [2021, 2022, 2023, 2024]
    picked = pd.read_csv(tool.PUBLISHED / "mcc_levels.csv")["mcc"]
    assert set(table["mcc"]) == set(picked)
    assert table["mcc"].nunique() == 39
    assert table["amount"].min() >= 0.5
    for flag in tool.FLAGS:
        assert 0.0005 < table[flag].mean() < 0.10, flag


@pytest.mark.parametrize(("model", "rho"), PUBLISHED_RHO.items())
def test_levels_correlate_with_risk_as_published(levels: pd.DataFrame, model: str, rho: float) -> None:
    picks = levels[levels["model"] == model]
    assert len(picks) == 15
    assert spearmanr(picks["level"], picks["risk"]).statistic == pytest.approx(rho, abs=0.005)


def exact_permutation_p(levels: list[int], product_: int) -> float:
    """P(|sum of centred level x rank| >= |product|) over all orders of 15 distinct risks, by counting every assignment
    of ranks to levels once: 15! / 3!^5 = 168,168,000 of them."""
    states: dict[tuple[int, ...], Counter[int]] = {(0,) * 5: Counter({0: 1})}
    for rank in range(1, 16):
        following: dict[tuple[int, ...], Counter[int]] = {}
        for (used, sums), level in product(states.items(), range(5)):
            if used[level] < levels.count(level + 1):
                then = (*used[:level], used[level] + 1, *used[level + 1 :])
                counts = following.setdefault(then, Counter())
                for total, ways in sums.items():
                    counts[total + (level - 2) * rank] += ways
        states = following
    (sums,) = states.values()
    assert sums.total() == 168_168_000
    return sum(ways for total, ways in sums.items() if abs(total) >= abs(product_)) / sums.total()


def test_p_values(levels: pd.DataFrame) -> None:
    """The published bands (< .001, < .01, < .05, < .05, .063) are met by the t approximation, which is therefore what
    the paper used. The exact two-sided permutation p of the same correlations is larger: with 15 untied risks no rho
    that rounds to 0.77 gets below .001."""
    approximate, exact = {}, {}
    for model, picks in levels.groupby("model"):
        approximate[model] = float(spearmanr(picks["level"], picks["risk"]).pvalue)
        centred = (picks["level"] - 3).to_numpy()
        exact[model] = exact_permutation_p(picks["level"].tolist(), int(centred @ picks["risk"].rank().to_numpy()))
    assert approximate["claude-4.5-sonnet"] < 0.001
    assert approximate["gemini-2.5-pro"] < 0.01
    assert approximate["grok-4"] < 0.05
    assert approximate["gpt-5.1"] < 0.05
    assert round(approximate["perplexity-sonar"], 3) == 0.063
    assert {model: round(p, 5) for model, p in exact.items()} == {
        "claude-4.5-sonnet": 0.00123,
        "gemini-2.5-pro": 0.0064,
        "grok-4": 0.01873,
        "gpt-5.1": 0.03534,
        "perplexity-sonar": 0.06793,
    }


def test_risk_rises_with_every_level_of_every_model(levels: pd.DataFrame) -> None:
    means = levels.groupby(["model", "level"])["risk"].mean().unstack()
    assert (means.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)


def test_groceries_are_safest_and_neighbours_are_told_apart(table: pd.DataFrame) -> None:
    risk = risk_score(table, TRUTH["indicators"], category="mcc").set_index("mcc")["risk"].sort_values()
    assert risk.index[0] == 5411
    assert (risk.to_numpy()[1:] / risk.to_numpy()[:-1]).min() > 1.05


def test_the_tool_makes_the_stored_table(table: pd.DataFrame) -> None:
    """From the seed alone: the searched order, then every payment. And the same arrays give the same bytes."""
    levels = pd.read_csv(tool.PUBLISHED / "mcc_levels.csv")
    codes = np.array(sorted(levels["mcc"].unique()))
    picks = tool.read_picks(levels, pd.read_csv(tool.PUBLISHED / "spearman.csv"), codes)
    order = tool.search_order(tool.plausible_rank(codes), picks, np.random.default_rng([TRUTH["seed"], 0]))
    arrays = tool.payments(codes, order, TRUTH, np.random.default_rng([TRUTH["seed"], 1]))
    with np.load(PATH) as stored:
        assert sorted(stored.files) == sorted(arrays)
        for name in stored.files:
            np.testing.assert_array_equal(stored[name], arrays[name])
    assert tool.packed(arrays) == tool.packed(dict(arrays))


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_the_search_meets_other_correlations_too(rho: float) -> None:
    codes = np.arange(20)
    picks = [tool.Picks("m", np.arange(0, 15), np.repeat([1, 2, 3, 4, 5], 3), rho)]
    rank = tool.search_order(codes, picks, np.random.default_rng(1), steps=4000)
    assert sorted(rank) == list(codes)
    assert picks[0].correlation(rank) == pytest.approx(rho, abs=0.0055)  # half a step of the attainable values


def test_allotment_is_exact_and_leans_towards_large_amounts() -> None:
    cents = np.sort(np.random.default_rng(0).lognormal(8, 1, 10_000))
    among = np.arange(10_000) % 2 == 0
    even = tool.allot(among, cents, 250, 0.0, np.random.default_rng(1))
    tilted = tool.allot(among, cents, 250, 0.5, np.random.default_rng(1))
    assert even.sum() == 250
    assert not (even & ~among).any()
    assert cents[tilted].mean() > 1.3 * cents[even].mean()
    assert cents[even].mean() == pytest.approx(cents[among].mean(), rel=0.05)


def test_reading(tmp_path: Any, table: pd.DataFrame) -> None:
    small = table.head(50)
    path = tmp_path / "payments.csv"
    small.assign(**{flag: small[flag].astype(int) for flag in tool.FLAGS}).to_csv(path, index=False)
    read = read_transactions(path, "mcc", tool.FLAGS)
    pd.testing.assert_frame_equal(read[list(small.columns)], small, check_exact=False, rtol=1e-12)


def corrupt(path: Any, kind: str) -> None:
    good = pd.DataFrame({"mcc": [1], "year": [2021], "amount": [1.0], "is_fraud": [0]})
    match kind:
        case "flag":
            good.assign(is_fraud=2).to_csv(path, index=False)
        case "amount":
            good.assign(amount=-1).to_csv(path, index=False)
        case "words":
            good.assign(amount="ten").to_csv(path, index=False)
        case "column":
            good.drop(columns="mcc").to_csv(path, index=False)
        case "torn":
            path.write_bytes(PATH.read_bytes()[:1000])
        case "lengths":
            about = np.array('{"flags": []}')
            arrays = {
                "mcc": np.zeros(2),
                "year": np.zeros(2),
                "amount_cents": np.zeros(3),
                "flags": np.zeros(2, np.uint8),
            }
            path.write_bytes(tool.packed({**arrays, "about": about}))
        case "array":
            path.write_bytes(tool.packed({"mcc": np.zeros(2)}))


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("nothing", "t.csv", "no such file"),
        ("flag", "t.csv", "flag is_fraud must be 0 or 1, but row 0 has"),
        ("amount", "t.csv", "amounts must be numbers from 0, but row 0 has -1"),
        ("words", "t.csv", "amounts must be numbers from 0, but row 0 has nan"),
        ("column", "t.csv", "lacks the column.s. mcc"),
        ("torn", "t.npz", "not a readable .npz file"),
        ("lengths", "t.npz", "arrays differ in length"),
        ("array", "t.npz", "lacks amount_cents, flags, about"),
    ],
)
def test_bad_tables_are_named(tmp_path: Any, kind: str, name: str, message: str) -> None:
    from recuse.transactions import TableError

    corrupt(tmp_path / name, kind)
    with pytest.raises(TableError, match=message) as caught:
        read_transactions(tmp_path / name, "mcc", ["is_fraud"])
    assert name in str(caught.value)

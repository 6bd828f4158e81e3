"""Unified event-rate score: hand arithmetic, an independent pandas computation, invariances, degenerate input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recuse.papers.merchant_risk.empirical_risk import risk_score
from recuse.schema import RecuseError

WEIGHTS = {
    "fraud": {"any_of": ["is_fraud"], "count": 0.3, "amount": 0.2},
    "undone": {"any_of": ["returned", "refunded"], "count": 0.4, "amount": 0.1},
}


def payments(*rows: tuple[int, float, int, int, int]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["mcc", "amount", "is_fraud", "returned", "refunded"])
    return table.astype({"is_fraud": bool, "returned": bool, "refunded": bool})


def random_payments(seed: int, n: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    flags = {flag: rng.random(n) < p for flag, p in (("is_fraud", 0.1), ("returned", 0.2), ("refunded", 0.15))}
    return pd.DataFrame({"mcc": rng.choice([5411, 7995, 4511], n), "amount": rng.lognormal(3, 1, n), **flags})


def test_by_hand() -> None:
    """5411: 4 payments of 10, 20, 30, 40 = 100. Fraud on the 40: count 1/4, money 40/100. Returned on the 10, refunded
    on the 10 and the 20: any of both hits two payments, 2/4 and 30/100. Weights 0.3 0.2 0.4 0.1 add up to 1, so
    risk = 0.3 * 0.25 + 0.2 * 0.40 + 0.4 * 0.50 + 0.1 * 0.30 = 0.385. 7995: nothing happens, risk 0."""
    table = payments(
        (5411, 10, 0, 1, 1), (5411, 20, 0, 0, 1), (7995, 5, 0, 0, 0), (5411, 30, 0, 0, 0), (5411, 40, 1, 0, 0)
    )
    result = risk_score(table, WEIGHTS, category="mcc")
    assert list(result["mcc"]) == [5411, 7995]
    assert list(result["n"]) == [4, 1]
    assert list(result["total"]) == [100.0, 5.0]
    first = result.iloc[0]
    rates = [first[name] for name in ("fraud_count", "fraud_amount", "undone_count", "undone_amount")]
    assert rates == pytest.approx([0.25, 0.40, 0.50, 0.30], abs=1e-15)
    assert list(result["risk"]) == pytest.approx([0.385, 0.0], abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_groupby(seed: int) -> None:
    table = random_payments(seed)
    expected = {}
    for mcc, group in table.groupby("mcc"):
        undone = group["returned"] | group["refunded"]
        money = group["amount"].sum()
        expected[mcc] = (
            0.3 * group["is_fraud"].mean()
            + 0.2 * group.loc[group["is_fraud"], "amount"].sum() / money
            + 0.4 * undone.mean()
            + 0.1 * group.loc[undone, "amount"].sum() / money
        )
    result = risk_score(table, WEIGHTS, category="mcc").set_index("mcc")["risk"]
    assert result.to_dict() == pytest.approx(expected, rel=1e-12)


def test_what_changes_nothing() -> None:
    """The order of payments, the currency, and a common factor of all weights."""
    table = random_payments(7)
    before = risk_score(table, WEIGHTS, category="mcc")["risk"].to_numpy()
    shuffled = table.sample(frac=1, random_state=1)
    dearer = table.assign(amount=table["amount"] * 83.5)
    tripled = {
        name: {**entry, "count": 3 * entry["count"], "amount": 3 * entry["amount"]} for name, entry in WEIGHTS.items()
    }
    for other in (
        risk_score(shuffled, WEIGHTS, category="mcc"),
        risk_score(dearer, WEIGHTS, category="mcc"),
        risk_score(table, tripled, category="mcc"),
    ):
        np.testing.assert_allclose(other["risk"].to_numpy(), before, rtol=1e-12)


def test_with_equal_amounts_the_money_rate_is_the_count_rate() -> None:
    table = random_payments(3).assign(amount=9.99)
    result = risk_score(table, WEIGHTS, category="mcc")
    np.testing.assert_allclose(result["fraud_amount"], result["fraud_count"], rtol=1e-12)
    np.testing.assert_allclose(result["undone_amount"], result["undone_count"], rtol=1e-12)


def test_the_score_of_one_indicator_is_its_rate() -> None:
    table = random_payments(4)
    only = {"fraud": {"any_of": ["is_fraud"], "count": 5, "amount": 0}}
    result = risk_score(table, only, category="mcc")
    np.testing.assert_array_equal(result["risk"], result["fraud_count"])


def test_a_category_without_money_is_undefined_not_safe() -> None:
    table = payments((5411, 0.0, 1, 0, 0), (7995, 10.0, 1, 0, 0))
    result = risk_score(table, WEIGHTS, category="mcc")
    assert math.isnan(result["fraud_amount"][0])
    assert math.isnan(result["risk"][0])
    assert result["risk"][1] == pytest.approx(0.5)
    by_count = {"fraud": {"any_of": ["is_fraud"], "count": 1.0, "amount": 0.0}}
    assert (
        risk_score(table, by_count, category="mcc")["risk"][0] == 1.0
    )  # no money rate is asked for, so nothing is undefined


BAD: list[tuple[dict[str, Any], str]] = [
    ({"fraud": {"any_of": ["is_fraud"], "count": 0, "amount": 0}}, "all weights are 0"),
    ({"fraud": {"any_of": ["is_fraud"], "count": -1, "amount": 1}}, "indicator fraud: weight count"),
    ({"fraud": {"any_of": ["is_fraud"], "count": 1, "amount": math.nan}}, "indicator fraud: weight amount"),
    ({"fraud": {"any_of": ["is_fraud"], "count": 1}}, "indicator fraud: needs any_of, count and amount"),
    ({"fraud": {"any_of": [], "count": 1, "amount": 1}}, "names no flag column"),
]


@pytest.mark.parametrize(("weights", "message"), BAD)
def test_weights_that_define_no_score(weights: dict[str, Any], message: str) -> None:
    with pytest.raises(RecuseError, match=message):
        risk_score(random_payments(0), weights, category="mcc")


def test_an_empty_table() -> None:
    with pytest.raises(RecuseError, match="at least one payment"):
        risk_score(random_payments(0).iloc[:0], WEIGHTS, category="mcc")

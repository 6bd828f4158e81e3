"""Unified event-rate score per category: what the data say about how risky each category is.

Merchant-risk paper, sec. 5.1: a weighted average of fraud, chargeback and operational indicators, each from a
count-based and a money-based rate. The paper gives no weights; a task states its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

Weights = Mapping[str, Mapping[str, Any]]
"""Indicator name -> {"any_of": flag columns, "count": weight of the share of payments, "amount": weight of the share of
money}."""


class RiskWeightsError(RecuseError):
    """The weights do not define a score on this table; the message says which entry and why."""


def risk_score(table: pd.DataFrame, weights: Weights, *, category: str, amount: str = "amount") -> pd.DataFrame:
    """Per category c, the weighted mean of its event rates

        risk(c) = sum_k (u_k count_k(c) + v_k money_k(c)) / sum_k (u_k + v_k)
        count_k(c) = payments of c with any flag of indicator k / payments of c
        money_k(c) = their amount / amount of all payments of c

    with u_k, v_k the weights `count` and `amount` of indicator k. All rates and the risk are shares in [0, 1]; scaling
    all weights by one factor changes nothing.

    Returns one row per category, sorted by category: `<category>, risk, n, total`, then `<k>_count` and `<k>_amount`
    for every indicator; `n` is the number of payments, `total` their amount. Where a category's amounts add up to 0 its
    money rates, and its risk if any of them has weight, are NaN: undefined, not 0.

    Raises `RiskWeightsError` for an empty table, a missing column, a flag column that is not boolean, an unknown key,
    a negative or non-finite weight, or weights that are all 0.

    >>> import pandas as pd
    >>> payments = pd.DataFrame({"shop": ["a", "a", "b"], "amount": [1.0, 3.0, 5.0], "fraud": [True, False, False]})
    >>> weights = {"fraud": {"any_of": ["fraud"], "count": 1, "amount": 1}}
    >>> risk_score(payments, weights, category="shop")["risk"].tolist()
    [0.375, 0.0]
    """
    import pandas as pd

    _check(table, weights, category, amount)
    groups = pd.factorize(table[category], sort=True)
    index, categories = groups[0], groups[1]
    money = table[amount].to_numpy(dtype=float)
    n = np.bincount(index, minlength=len(categories))
    total = np.bincount(index, weights=money, minlength=len(categories))
    columns: dict[str, Any] = {category: categories, "risk": 0.0, "n": n, "total": total}
    score, weight_sum = np.zeros(len(categories)), 0.0
    for name, entry in weights.items():
        hit = table[list(entry["any_of"])].to_numpy(dtype=bool).any(axis=1)
        count_rate = np.bincount(index, weights=hit, minlength=len(categories)) / n
        spent = np.bincount(index, weights=np.where(hit, money, 0.0), minlength=len(categories))
        amount_rate = np.divide(spent, total, out=np.full(len(categories), math.nan), where=total > 0)
        columns |= {f"{name}_count": count_rate, f"{name}_amount": amount_rate}
        for rate, weight in ((count_rate, entry["count"]), (amount_rate, entry["amount"])):
            if weight:  # a money rate that is NaN but carries no weight leaves the score defined
                score, weight_sum = score + weight * rate, weight_sum + weight
    return pd.DataFrame(columns).assign(risk=score / weight_sum)


def _check(table: pd.DataFrame, weights: Weights, category: str, amount: str) -> None:
    if table.empty:
        raise RiskWeightsError("a risk score needs at least one payment; the table is empty")
    given = 0.0
    for name, entry in weights.items():
        if set(entry) != {"any_of", "count", "amount"}:
            raise RiskWeightsError(
                f"indicator {name}: needs any_of, count and amount, got {', '.join(sorted(entry)) or 'nothing'}"
            )
        if not entry["any_of"]:
            raise RiskWeightsError(f"indicator {name}: any_of names no flag column")
        for key in ("count", "amount"):
            if not (math.isfinite(entry[key]) and entry[key] >= 0):
                raise RiskWeightsError(
                    f"indicator {name}: weight {key} must be a finite number from 0, got {entry[key]}"
                )
            given += entry[key]
    wanted = [category, amount, *(flag for entry in weights.values() for flag in entry["any_of"])]
    if missing := [column for column in wanted if column not in table.columns]:
        raise RiskWeightsError(
            f"the table lacks {', '.join(dict.fromkeys(missing))}; it has {', '.join(table.columns)}"
        )
    for flag in wanted[2:]:
        if table[flag].dtype != np.bool_:
            raise RiskWeightsError(f"flag column {flag} must be boolean, got {table[flag].dtype}")
    if given <= 0:
        raise RiskWeightsError("all weights are 0, so no score is defined; give at least one indicator a weight")

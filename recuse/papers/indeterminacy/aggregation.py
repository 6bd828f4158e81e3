"""From shares to rating vectors: the four aggregations of sec. 4. A rating vector has one number per option, (..., K).
Items without a valid answer are NaN and stay NaN: whoever aggregates says how many they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio

Aggregation = Literal["h", "s", "hrs", "srs"]  # hard and soft, of choices and of response sets
CLOSE = 1e-9  # shares this close are equal: 0.1 + 0.2 reaches a threshold of 0.3


def hard(choices: Floats) -> Floats:
    """The mode of the forced choices as a vector with a single 1; several options that are chosen equally often get
    equal shares, the expectation of an even draw (argmax would favour the first)."""
    top = choices.max(axis=-1, keepdims=True)
    modes = (choices >= top - CLOSE).astype(float)
    return np.where(np.isnan(top), np.nan, modes / np.maximum(modes.sum(axis=-1, keepdims=True), 1.0))


def hard_response_set(endorsed: Floats, tau: float) -> Floats:
    """1 for every option endorsed by a share of at least tau; all may be 0."""
    if not 0 < tau <= 1:
        raise RecuseError(f"a cut-off tau lies above 0 and is at most 1; got {tau:g}")
    return np.where(np.isnan(endorsed), np.nan, (endorsed >= tau - CLOSE).astype(float))


@dataclass(frozen=True, eq=False)
class RatingVectors:
    """What one side says of every item: `choices` O and `endorsed` Omega, both (..., I, K)."""

    choices: Floats
    endorsed: Floats
    tau: float = 0.5

    @cached_property
    def h(self) -> Floats:
        """The most frequent choice, (..., I, K): `hard`."""
        return hard(self.choices)

    @cached_property
    def hrs(self) -> Floats:
        """Options endorsed by a share of at least tau, (..., I, K): `hard_response_set`."""
        return hard_response_set(self.endorsed, self.tau)

    def by(self, aggregation: Aggregation) -> Floats:
        """The vectors (..., I, K) under one aggregation."""
        vectors: Floats = getattr(self, {"s": "choices", "srs": "endorsed"}.get(aggregation, aggregation))
        return vectors


TAUS = (0.3, 0.5, 0.7)  # the cut-offs that the paper averages over


def decisions(vectors: Floats, option: int, tau: float | Sequence[float]) -> Floats:
    """1 where the option's number is at least tau, (..., I); with several taus they are the first axis. NaN where the
    item has no valid answer. Prevalence of a pair's option "win" is the win rate."""
    value = vectors[..., option]
    if isinstance(tau, Sequence):
        return np.stack([hard_response_set(value, cut) for cut in tau])
    return hard_response_set(value, tau)


def consistency(judge: Floats, people: Floats) -> Floats:
    """C (...): share of the items that both decided on which both decided alike; NaN where there is none."""
    return prevalence(np.where(np.isnan(judge + people), np.nan, (judge == people).astype(float)))


def estimation_bias(judge: Floats, people: Floats) -> Floats:
    """B (...): the judge's prevalence less people's over the items that both decided on; below 0 underestimates.
    |B| <= 1 - C always, as a difference of prevalence takes as many different decisions."""
    return prevalence(judge - people)


def prevalence(decided: Floats, times: Floats | None = None) -> Floats:
    """Share of the decided items that are positive, (...): their mean; each counts so many `times` (I,)."""
    there = ~np.isnan(decided) * (1.0 if times is None else times)
    return ratio((there * np.nan_to_num(decided)).sum(axis=-1), there.sum(axis=-1))


# --------------------------------------------------------------------------- ratings that settle a decision

MOST = 1000


@dataclass(frozen=True, slots=True)
class ItemSpread:
    """Items' shares of positive ratings follow Beta(a, b)."""

    a: float
    b: float

    def expected_consistency(self, ratings: int, tau: float) -> float:
        """P(the decision from `ratings` ratings of an item is that of its whole population of raters):

        sum_x P(X = x) P(1[p >= tau] = 1[x / n >= tau] | x),   p | x ~ Beta(a + x, b + n - x)"""
        x = np.arange(ratings + 1)
        a, b = self.a + x, self.b + ratings - x
        ways = -np.log(ratings + 1) - special.betaln(ratings - x + 1, x + 1)  # of x among the ratings, as a logarithm
        chance = np.exp(ways + special.betaln(a, b) - special.betaln(self.a, self.b))
        above = special.betaincc(a, b, tau)
        same = np.where(x >= tau * ratings - CLOSE, above, 1 - above)
        return float((chance * same).sum())

    def needed(self, tau: float, wanted: float) -> int | None:
        """The smallest number of ratings per item whose decisions are the population's on a share `wanted` of the
        items; None where 1000 do not do."""
        return next((n for n in range(1, MOST + 1) if self.expected_consistency(n, tau) >= wanted), None)


def item_spread(positive: ArrayLike, ratings: ArrayLike, times: Floats | None = None) -> ItemSpread | None:
    """By moments: mean of x / n and of x (x - 1) / (n (n - 1)), which are E p and E p^2 without bias. Both (items,), as
    `times`: how many items each stands for. None where no item has two ratings (a single one cannot tell an item that
    divides raters from raters that err) or all are alike. Items that spread less than chance get the smallest spread,
    Beta(1000 m, 1000 (1 - m))."""
    x, n = np.asarray(positive, dtype=float), np.asarray(ratings, dtype=float)
    rated, twice = n > 0, n > 1
    if not twice.any():
        return None
    w = np.ones(len(n)) if times is None else times
    mean = float((w[rated] * (x[rated] / n[rated])).sum() / w[rated].sum())
    if not 0 < mean < 1:
        return None
    x, n, w = x[twice], n[twice], w[twice]
    square = float((w * (x * (x - 1) / (n * (n - 1)))).sum() / w.sum())
    share = (square - float((w * (x / n)).sum() / w.sum()) ** 2) / (mean * (1 - mean))
    total = 1 / min(max(share, 1e-3), 0.99) - 1
    return ItemSpread(mean * total, (1 - mean) * total) if math.isfinite(total) else None

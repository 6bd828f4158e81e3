"""How many ratings per item settle a decision by threshold? From the spread of items, by a beta-binomial model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from recuse.papers.indeterminacy.aggregation import CLOSE

__all__ = ["ItemSpread", "item_spread"]

MOST = 1000


@dataclass(frozen=True, slots=True)
class ItemSpread:
    """Items' shares of positive ratings follow Beta(a, b)."""

    a: float
    b: float

    def expected_consistency(self, ratings: int, tau: float) -> float:
        """P(the decision from `ratings` ratings of an item is that of its whole population of raters):

            sum_x P(X = x) P(1[p >= tau] = 1[x / n >= tau] | x),   p | x ~ Beta(a + x, b + n - x)

        >>> round(ItemSpread(1, 1).expected_consistency(1, 0.5), 4)   # two options, every share as likely: 3/4
        0.75
        """
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
        for n in range(1, MOST + 1):
            if self.expected_consistency(n, tau) >= wanted:
                return n
        return None


def item_spread(positive: ArrayLike, ratings: ArrayLike) -> ItemSpread | None:
    """By moments: mean of x / n and of x (x - 1) / (n (n - 1)), which are E p and E p^2 without bias. Both (items,).

    None where no item has two ratings (a single one cannot tell an item that divides raters from raters that err) or
    where all ratings are alike. Items that spread less than chance get the smallest spread, Beta(1000 m, 1000 (1 - m)).
    """
    x, n = np.asarray(positive, dtype=float), np.asarray(ratings, dtype=float)
    rated, twice = n > 0, n > 1
    if not twice.any():
        return None
    mean = float((x[rated] / n[rated]).mean())
    if not 0 < mean < 1:
        return None
    square = float((x[twice] * (x[twice] - 1) / (n[twice] * (n[twice] - 1))).mean())
    share = (square - float((x[twice] / n[twice]).mean()) ** 2) / (mean * (1 - mean))
    total = 1 / min(max(share, 1e-3), 0.99) - 1
    return ItemSpread(mean * total, (1 - mean) * total) if math.isfinite(total) else None

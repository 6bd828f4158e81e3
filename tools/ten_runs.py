"""Finds ten runs of criterion scores with the printed means and standard deviations, and shows where none exist.

All arithmetic is in whole tenths of a point. With deviations d from the mean, n runs and SS = sum d^2, the sample SD is
sqrt(SS / (n - 1)) / 10; a printed SD allows a window of SS, and a search has only to land in it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

RUNS = 10
CEILING = 100  # 10.0 points in tenths


@dataclass(frozen=True)
class Window:
    """Open interval of sums of squares. Open, because an SD on its edge is a tie that rounds either way."""

    low: Fraction
    high: Fraction

    @property
    def whole(self) -> tuple[int, int]:
        """The least and the largest whole number inside; the first is greater than the second if there is none."""
        return math.floor(self.low) + 1, math.ceil(self.high) - 1

    def __contains__(self, value: Fraction | int) -> bool:
        return self.low < value < self.high


def window(sd: str, unit: Fraction, divisor: int = RUNS - 1) -> Window:
    """Sums of squares, in squared `unit`s (points), whose SD rounds to the printed one."""
    printed = Fraction(sd)
    half = Fraction(1, 2) * Fraction(10) ** int(Decimal(sd).as_tuple().exponent)
    low, high = max(printed - half, Fraction(0)), printed + half
    return Window(divisor * (low / unit) ** 2 if low else Fraction(-1), divisor * (high / unit) ** 2)


@dataclass(frozen=True)
class Cell:
    """What the table prints for one judge and target. The reported total of a run is the mean of its five scores,
    moved by `offset` and given with `decimals` decimals."""

    means: tuple[str, ...]
    sds: tuple[str, ...]
    final_mean: str
    final_sd: str
    offset: Fraction
    decimals: int

    @property
    def mean_tenths(self) -> list[int]:
        return [int(Fraction(mean) * 10) for mean in self.means]


@dataclass(frozen=True)
class Runs:
    """`scores[k][r]`: score on criterion k in run r, in tenths; `totals[r]`: the reported total, in points; `miss`: how
    far the printed numbers are missed, 0 if all are carried."""

    scores: tuple[tuple[int, ...], ...]
    totals: tuple[Fraction, ...]
    miss: float


def totals(scores: Sequence[Sequence[int]], offset: Fraction, decimals: int) -> list[int]:
    """The judge's own total of every run, in units of its last decimal. A mean of five tenths is a whole number of
    fiftieths: two decimals hold it exactly, and rounding it to one is never a tie."""
    fiftieths = [sum(run) + int(50 * offset) for run in zip(*scores, strict=True)]
    return [2 * total for total in fiftieths] if decimals == 2 else [(2 * total + 5) // 10 for total in fiftieths]


class Search:
    """Seeded annealing over one cell's scores: a move swaps two runs of a criterion or shifts a tenth between them."""

    def __init__(self, cell: Cell, rng: random.Random) -> None:
        self.cell, self.rng = cell, rng
        self.bounds = [window(sd, Fraction(1, 10)).whole for sd in cell.sds]
        self.final = int(Fraction(cell.final_mean) * 10**cell.decimals)
        self.final_bounds = window(cell.final_sd, Fraction(1, 10**cell.decimals)).whole
        self.scores = [self._start(mean, sd) for mean, sd in zip(cell.mean_tenths, cell.sds, strict=True)]

    def run(self, steps: int = 20_000) -> Runs:
        """The best scores met. Criterion means hold by construction; SDs and the totals' mean are searched for."""
        cost = best_cost = self._cost()
        best = [list(row) for row in self.scores]
        for step in range(steps):
            if best_cost == 0:
                break
            heat = 3.0 * (1 - step / steps) + 1e-6
            k = self.rng.randrange(len(self.scores))
            a, b = self.rng.sample(range(RUNS), 2)
            before = list(self.scores[k])
            self._move(self.scores[k], a, b, swap=self.rng.random() < 0.6)
            moved = self._cost()
            if moved <= cost or self.rng.random() < math.exp((cost - moved) / heat):
                cost = moved
                if cost < best_cost:
                    best, best_cost = [list(row) for row in self.scores], cost
            else:
                self.scores[k] = before
        scores = tuple(tuple(row) for row in best)
        given = totals(scores, self.cell.offset, self.cell.decimals)
        return Runs(scores, tuple(Fraction(total, 10**self.cell.decimals) for total in given), best_cost)

    def _start(self, mean: int, sd: str) -> list[int]:
        """Normal draws with the printed SD, below the ceiling, with the mean put right in single tenths."""
        row = [min(round(self.rng.gauss(mean, 10 * float(sd))), CEILING) for _ in range(RUNS)]
        while (excess := sum(row) - RUNS * mean) != 0:
            r = self.rng.randrange(RUNS)
            row[r] += -1 if excess > 0 else int(row[r] < CEILING)
        return row

    @staticmethod
    def _move(row: list[int], a: int, b: int, *, swap: bool) -> None:
        if swap:
            row[a], row[b] = row[b], row[a]
        elif row[a] < CEILING and row[b] > 0:
            row[a], row[b] = row[a] + 1, row[b] - 1

    def _cost(self) -> float:
        cost = 0.0
        for row, mean, bounds in zip(self.scores, self.cell.mean_tenths, self.bounds, strict=True):
            cost += _miss(sum((score - mean) ** 2 for score in row), bounds)
        given = totals(self.scores, self.cell.offset, self.cell.decimals)
        cost += 2.0 * abs(sum(given) - RUNS * self.final)
        spread = _miss(sum((total - self.final) ** 2 for total in given), self.final_bounds)
        return cost + spread / 25.0 ** (self.cell.decimals - 1)


def _miss(value: int, bounds: tuple[int, int]) -> int:
    """How far a sum of squares is from the whole numbers of its window; 0 inside, never 0 if there are none."""
    return max(bounds[0] - value, value - bounds[1], 0)


# --------------------------------------------------------------------------- which SDs whole numbers can have


def attainable(mean: str) -> list[Fraction]:
    """Every SS (squared tenths, rising) that ten whole scores from 0 to 10 with the given mean can have.

    Exhaustive: `_sums_of_squares` goes through all ten-run score sets, by their sum and sum of squares.
    """
    total = Fraction(mean) * RUNS
    if total.denominator != 1:
        return []
    squares = _sums_of_squares(RUNS, CEILING // 10).get(int(total), frozenset())
    return [100 * (s - total**2 / RUNS) for s in sorted(squares)]


@lru_cache
def _sums_of_squares(runs: int, top: int) -> dict[int, frozenset[int]]:
    """Sum -> the sums of squares that `runs` whole numbers from 0 to `top` can have with it."""
    if runs == 0:
        return {0: frozenset({0})}
    found: dict[int, set[int]] = {}
    for total, squares in _sums_of_squares(runs - 1, top).items():
        for value in range(top + 1):
            found.setdefault(total + value, set()).update(s + value**2 for s in squares)
    return {total: frozenset(squares) for total, squares in found.items()}


def sd_of(ss: Fraction, divisor: int) -> float:
    """SD in points of a sum of squares in squared tenths."""
    return math.sqrt(ss / divisor) / 10

"""Table 1 of the thesis "Investigating Bias in LLM Self-Evaluation" as printed, and what its digits rule out.

tools.reconstruct_thesis searches grades that print this table; here is which numbers print as given, and a proof by
exhaustion of what no complete set of grades can print.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scipy import stats

LOW, HIGH = 1, 5
ARTICLES = 100
ON_BORDER = {("gemini-2.5-pro-preview-05-06", "negative", "g_mean")}
"""Only a mean of exactly 3.835 fits the printed interval; as a binary number it prints as 3.83, as the table has it."""
MARGIN = 1e-7  # every other figure is kept this far from the border of rounding

Window = tuple[float, float]


@dataclass(frozen=True)
class Row:
    """One row of the table; every figure stays the string that was printed."""

    model: str
    framing: str
    n: int
    figures: dict[str, str]

    def window(self, name: str) -> Window:
        low, high = window(self.figures[name])
        return low, float(f"{high:.3f}") if (self.model, self.framing, name) in ON_BORDER else high

    @cached_property
    def moments(self) -> list[tuple[int, int]]:
        """All (sum, sum of squares) of n whole self grades that print as the table's mean and SD."""
        mean, sd = self.window("s_mean"), self.window("s_sd")
        found = []
        for total in range(math.ceil(mean[0] * self.n), math.floor(mean[1] * self.n) + 1):
            least, most = ((self.n - 1) * x * x + total * total / self.n for x in sd)
            found += [(total, q) for q in range(math.ceil(least), math.floor(most) + 1) if (q - total) % 2 == 0]
        return found

    def t_window(self, side: str) -> Window:
        """Where t must lie so that t, its p (whole percent) and its significance all print as given."""
        t = self.window(f"t_{side}")
        p_low, p_high = window(self.figures[f"p_{side}_pct"], decimals=0)
        p_low, p_high = max(p_low, 5.0) if self.figures[f"sig_{side}"] == "0" else p_low, min(p_high, 100.0)
        if self.figures[f"sig_{side}"] == "1":
            p_high = min(p_high, 5.0)
        small, large = (float(stats.t.isf(p / 200, self.n - 1)) for p in (p_high - MARGIN, max(p_low, 0.0) + 1e-300))
        sign = math.copysign(1.0, float(self.figures[f"t_{side}"]))
        by_p = (small, large) if sign > 0 else (-large, -small)
        return max(t[0], by_p[0]), min(t[1], by_p[1])


def window(printed: str, decimals: int = 2) -> Window:
    """The open interval of numbers that print as given: "-0.00" is below zero, "0.00" is not."""
    half, value = 0.5 * 10.0**-decimals, float(printed)
    low, high = value - half + MARGIN, value + half - MARGIN
    if value == 0 and decimals > 0:
        return (low, -MARGIN) if printed.startswith("-") else (0.0, high)
    return low, high


def read_table(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(line.pop("model"), line.pop("framing"), int(line.pop("n")), line) for line in csv.DictReader(file)]


def models_of(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.model for row in rows))


# ------------------------------------------------------------------ what the digits rule out


def unreachable_when_complete(row: Row, side: str) -> Iterator[tuple[str, ...]]:
    """Figures of S - R (or S - G) that cannot print as given when every mean is over all four peers: what prints at the
    nearest instead, and the fewest articles with a mean over three peers that reach the figure.

    Exhaustive on a relaxation (`sums_that_print`): the conditions left out could only shorten what is reachable.
    """
    wanted = (row.figures[f"t_{side}"], row.figures[f"p_{side}_pct"])

    def distance(pair: tuple[str, str]) -> tuple[float, ...]:
        return tuple(abs(float(here) - float(there)) for here, there in zip(pair, wanted, strict=True))

    def reached(incomplete: int) -> bool:
        tests = (t_of(row, sums) for sums in sums_that_print(row, side, incomplete))
        return any(f"{t:.2f}" == wanted[0] and _p_of(row, t) == wanted[1] for t in tests)

    if reached(0):
        return
    every = {t_of(row, sums) for sums in sums_that_print(row, side, 0)}
    nearest = min(((f"{t:.2f}", _p_of(row, t)) for t in sorted(every)), key=distance)
    fewest = next(m for m in range(1, ARTICLES) if reached(m))
    for name, printed, near in zip((f"t_{side}", f"p_{side}_pct"), wanted, nearest, strict=True):
        if near != printed:
            yield row.model, row.framing, name, printed, near, str(fewest)


def sums_that_print(row: Row, side: str, incomplete: int) -> Iterator[tuple[int, int]]:
    """Sums of 12 D and of (12 D) squared, D = S - R (or S - G), for which mean and interval print as given, when
    `incomplete` articles have a mean over three peers: there 12 D is a multiple of 4, elsewhere of 3.

    A relaxation: whole numbers x have sum x = sum x squared (mod 2), and no more is asked of the complete articles.
    """
    mean, low, high = (row.window(name) for name in (f"{side}_mean", f"ci_{side}_lo", f"ci_{side}_hi"))
    n, ((own, _),) = row.n, row.moments
    reach = float(stats.t.ppf(0.975, n - 1)) / math.sqrt(n)
    for threes, squares in _reachable_by_threes(incomplete):
        # A mean on the border of rounding may print either way: the bounds are let in.
        first, last = (12 * own - 12 * n * x - 4 * threes for x in (mean[1] + 2 * MARGIN, mean[0] - 2 * MARGIN))
        for fours in range(math.ceil(first / 3), math.floor(last / 3) + 1):
            total = 3 * fours + 4 * threes
            d = total / 12 / n
            halves = max(d - low[1], high[0] - d, 0.0), min(d - low[0], high[1] - d)
            if halves[0] <= halves[1]:
                rest = total * total / n - 16 * squares
                least, most = ((144 * (n - 1) * (half / reach) ** 2 + rest) / 9 for half in halves)
                for q in range(max(math.ceil(least), 0), math.floor(most) + 1):
                    if (q - fours) % 2 == 0:
                        yield total, 9 * q + 16 * squares


def _reachable_by_threes(articles: int) -> set[tuple[int, int]]:
    """(sum, sum of squares) of 3 D over so many articles with a mean over three peers."""
    reached, most = {(0, 0)}, 3 * (HIGH - LOW)
    for _ in range(articles):
        reached = {(total + x, squares + x * x) for total, squares in reached for x in range(-most, most + 1)}
    return reached


def t_of(row: Row, sums: tuple[int, int]) -> float:
    """t of the paired test whose differences have these sums, in twelfths."""
    total, squares = sums
    variance = (squares - total * total / row.n) / 144 / (row.n - 1)
    return total / 12 / row.n / math.sqrt(variance / row.n)


def _p_of(row: Row, t: float) -> str:
    return f"{200 * stats.t.sf(abs(t), row.n - 1):.0f}"

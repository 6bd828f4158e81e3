"""Builds the grades of the RECONSTRUCTED panel `published`, task headlines: `python -m tools.reconstruct_thesis`.

No model gave any of these grades. For the 100 articles of the thesis "Investigating Bias in LLM Self-Evaluation"
(Eötvös Loránd University, 2025) whole grades from 1 to 5 are searched, five judges by five authors by two framings, so
that every figure of its Table 1 comes out as printed (fixtures/published/self_preference.csv). Per article and model:

    S  the grade the model gave to its own text
    R  the mean of the grades its text received from the other judges
    G  the mean of the grades it gave to the texts of the others

with SDs over n - 1 and paired t-tests of S - R and S - G over the articles where S is there. Negative grades are stored
as the digit a judge would write; 6 - digit is the grade on the positive scale.

The search goes in stages, each exact, so that no stage can spoil an earlier one:
 1. self grades: only one sum and sum of squares print as the table does; then the likeliest counts of the five grades;
 2. for each model alone, the sum received and the sum given per article: local search on three running sums;
 3. sums received and sums given are brought together by exchanging articles with equal self grade, which changes no
    figure, until each article's two totals agree and a 5 x 5 square of grades with these margins exists (Gale, 1957);
 4. the square is filled: a transport problem, whose cheapest solution is in whole numbers.

Complete squares cannot carry five of the printed t and three of the p (`unreachable_when_complete` shows it
exhaustively), so the printed digits themselves say that a few replies beside the self grades were unusable;
`unusable_cells` leaves out the fewest.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from tools.thesis_table import ARTICLES, HIGH, LOW, Row, models_of, read_table, unreachable_when_complete

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "fixtures" / "published" / "self_preference.csv"
OUT = ROOT / "fixtures" / "standins" / "published" / "headlines"

SEED = 20250525
FRAMINGS = ("positive", "negative")
SIDES = ("r", "g")
SONAR = "sonar-reasoning-pro"
UNIT = 12
"""Means of three and of four grades are both whole numbers of twelfths: sums stay exact integers."""
UNREAD = (  # framing, target, articles where Sonar's grade is unusable too, whether Sonar's self grade is usable there
    ("positive", "claude-3-7-sonnet-20250219", 1, False),
    ("positive", "deepseek-chat", 4, False),
    ("negative", "gpt-4.1-2025-04-14", 1, True),
)
"""The fewest that reach the printed t_R of these three, and with the last one Sonar's own t_G."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Cell = tuple[str, int, str, str]  # framing, article, judge, target


def main() -> None:
    rows = read_table(TABLE)
    missing = unusable_cells(rows)
    grades = reconstruct(rows, missing)
    write_grades(OUT / "grading.csv.gz", grades, models_of(rows))
    write_csv(OUT / "unusable.csv", ("story", "judge", "target", "framing", "why"), unusable_lines(missing))
    lines = [line for row in rows for side in SIDES for line in unreachable_when_complete(row, side)]
    header = ("model", "framing", "figure", "printed", "nearest", "fewest_incomplete")
    write_csv(OUT / "unreachable_when_complete.csv", header, lines)


def reconstruct(rows: list[Row], missing: dict[Cell, str]) -> dict[str, Ints]:
    """Per framing an array (article, judge, target) of grades on the positive scale; 0 where the reply is unusable."""
    models = models_of(rows)
    return {
        framing: _one_framing([row for row in rows if row.framing == framing], _usable(missing, framing, models))
        for framing in FRAMINGS
    }


# ------------------------------------------------------------------ which replies are unusable


def unusable_cells(rows: list[Row]) -> dict[Cell, str]:
    """Why there is no grade, by cell.

    Sonar lacks 100 - n self grades per framing. The thesis counts an article where a model gave both a usable entry and
    a usable self grade, so one article without an entry by Sonar ("no_entry": nobody could grade it, in either framing)
    is among them: means of three in G. Means of three in R come from Sonar's unusable grades for others (UNREAD).
    """
    rng = np.random.default_rng([SEED, 0])
    no_entry = int(rng.integers(ARTICLES))
    cells = {(framing, no_entry, judge, SONAR): "no_entry" for framing in FRAMINGS for judge in models_of(rows)}
    for framing in FRAMINGS:
        (row,) = (row for row in rows if (row.model, row.framing) == (SONAR, framing))
        order = [int(i) for i in rng.permutation(ARTICLES) if i != no_entry]
        lacking = ARTICLES - row.n - 1
        cells |= {(framing, article, SONAR, SONAR): "no_rating" for article in order[:lacking]}
        for where, target, articles, self_usable in UNREAD:
            if where == framing:
                chosen = order[lacking:] if self_usable else order
                cells |= {(framing, article, SONAR, target): "no_rating" for article in chosen[:articles]}
    return cells


# ------------------------------------------------------------------ stage 1: self grades


def self_counts(row: Row) -> Ints:
    """How often each grade 1..5 occurs: of all counts with the printed mean and SD, those likeliest under a rounded
    normal of that mean and SD."""
    edges = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf])
    chances = np.diff(stats.norm.cdf(edges, float(row.figures["s_mean"]), float(row.figures["s_sd"])))
    every = [counts for moments in row.moments for counts in _counts(row.n, *moments)]
    if not every:
        raise ValueError(f"{row.model}, {row.framing}: no {row.n} whole grades have the printed mean and SD of S")
    return np.array(max(every, key=lambda counts: stats.multinomial.logpmf(counts, row.n, chances)), dtype=np.int64)


def _counts(n: int, total: int, squares: int) -> Iterator[tuple[int, ...]]:
    for ones, twos in product(range(n + 1), repeat=2):
        # what is left for 3, 4, 5: three equations
        rest, first, second = n - ones - twos, total - ones - 2 * twos, squares - ones - 4 * twos
        doubled = second - 7 * first + 12 * rest  # = 2 * fives, as (k - 3)(k - 4) is 0, 0, 2
        fives, odd = divmod(doubled, 2)
        fours = first - 3 * rest - 2 * fives
        threes = rest - fours - fives
        if odd == 0 and min(threes, fours, fives) >= 0:
            yield ones, twos, threes, fours, fives


# ------------------------------------------------------------------ stage 2: what each model received and gave, alone


@dataclass
class Margin:
    """Sums of the grades one model received (or gave) per article: `total[i]` over `cells[i]` grades."""

    row: Row
    side: str
    own: Ints  # self grade, 0 where unusable
    cells: Ints
    total: Ints

    @property
    def counted(self) -> Bools:
        """Articles that enter the table; on the others the sum is free."""
        return self.own > 0


def solve_margin(row: Row, side: str, own: Ints, cells: Ints, rng: np.random.Generator) -> Margin:
    """Sums per article that carry every printed figure of the side."""
    margin = Margin(row, side, own, cells, np.zeros(len(own), dtype=np.int64))
    for _ in range(100):
        margin.total = _first_guess(row, side, own, cells, rng)
        if _search(margin, rng):
            return margin
    raise ValueError(f"{row.model}, {row.framing}, {side}: no sums found that carry the printed figures")


def _first_guess(row: Row, side: str, own: Ints, cells: Ints, rng: np.random.Generator) -> Ints:
    """Normal draws with the printed mean and SD and the correlation with S that the width of the interval implies."""
    mean, sd, s_sd = (float(row.figures[name]) for name in (f"{side}_mean", f"{side}_sd", "s_sd"))
    width = float(row.figures[f"ci_{side}_hi"]) - float(row.figures[f"ci_{side}_lo"])
    d_sd = width / 2 * math.sqrt(row.n) / float(stats.t.ppf(0.975, row.n - 1))
    r = (s_sd**2 + sd**2 - d_sd**2) / (2 * s_sd * sd)
    z = np.where(own > 0, (own - float(row.figures["s_mean"])) / s_sd, 0.0)
    means = mean + sd * (r * z + math.sqrt(1 - r * r) * rng.standard_normal(len(own)))
    return np.clip(np.rint(means * cells), LOW * cells, HIGH * cells).astype(np.int64)


def _search(margin: Margin, rng: np.random.Generator, steps: int = 400, width: int = 2000) -> bool:
    """Of many random changes of one or two sums by one, take the best; now and then one that is worse."""
    places = np.flatnonzero(margin.counted)
    thirds = places[margin.cells[places] < margin.cells.max()]  # few, but only they change the remainders
    sums = _Sums(margin)
    current = float(sums.excess(sums.now()))
    for _ in range(steps):
        if current == 0.0:
            return True
        at = rng.choice(places, (width, 2))
        at[: width // 4, 0] = rng.choice(thirds if len(thirds) else places, width // 4)
        by = rng.integers(-1, 2, (width, 2))
        by[at[:, 0] == at[:, 1], 1] = 0
        moved = margin.total[at] + by
        legal = (moved >= LOW * margin.cells[at]) & (moved <= HIGH * margin.cells[at])
        both = legal[:, 0] & legal[:, 1] & ((by[:, 0] != 0) | (by[:, 1] != 0))
        at, by = at[both], by[both]
        excess = sums.excess(sums.after(at, by))
        pick = int(np.argmin(excess)) if rng.random() > 0.02 else int(rng.integers(min(20, len(at))))
        for place, step in zip(at[pick], by[pick], strict=True):
            margin.total[place] += step
        current = float(sums.excess(sums.now()))
    return False


class _Sums:
    """The three sums behind every figure of a side, V = R in twelfths: sum V, sum V squared, sum S V."""

    def __init__(self, margin: Margin) -> None:
        self.margin, self.weight = margin, UNIT // np.maximum(margin.cells, 1)
        self.own_total, self.own_squares = int(margin.own.sum()), int((margin.own**2).sum())
        row, side, n = margin.row, margin.side, margin.row.n
        self.n, self.reach = n, float(stats.t.ppf(0.975, n - 1)) / math.sqrt(n)
        names = (f"{side}_mean", f"{side}_sd", f"ci_{side}_lo", f"ci_{side}_hi")
        self.windows = [*(row.window(name) for name in names), row.t_window(side)]

    def now(self) -> Ints:
        counted = self.margin.counted
        value, own = (self.weight * self.margin.total)[counted], self.margin.own[counted]
        return np.array([value.sum(), (value**2).sum(), (own * value).sum()])

    def after(self, at: Ints, by: Ints) -> Ints:
        """The sums after each of the changes; shape (changes, 3)."""
        weight, own = self.weight[at], self.margin.own[at]
        value, step = weight * self.margin.total[at], weight * by
        changes = [x[:, 0] + x[:, 1] for x in (step, step * (2 * value + step), own * step)]
        return np.asarray(self.now() + np.stack(changes, axis=-1), dtype=np.int64)

    def excess(self, sums: Ints) -> Floats:
        """How far the figures lie outside their windows, in half-widths of the window, added up; 0 when all print."""
        excess = np.zeros(sums.shape[:-1])
        for (low, high), figure in zip(self.windows, self.figures(sums), strict=True):
            # A window may be very narrow; the slope that leads there must not be a wall.
            excess += np.maximum(np.maximum(low - figure, figure - high), 0.0) / max((high - low) / 2, 1e-3)
        # Above zero stays above zero. Rounded, so that no machine's last bit decides which of two changes is taken.
        return np.asarray(np.ceil(excess * 1e9) / 1e9)

    def figures(self, sums: Ints) -> list[Floats]:
        """Mean and SD of R, both ends of the interval of S - R, t."""
        total, squares, cross = (sums[..., k].astype(np.float64) for k in range(3))
        n = self.n
        mean = total / UNIT / n
        sd = np.sqrt((squares - total**2 / n) / (n - 1)) / UNIT
        d = self.own_total / n - mean
        d_squares = self.own_squares - 2 * cross / UNIT + squares / UNIT**2
        error = np.sqrt((d_squares - n * d * d) / (n - 1))
        return [mean, sd, d - self.reach * error, d + self.reach * error, d / (error / math.sqrt(n))]


# ------------------------------------------------------------------ stages 3 and 4: one framing as a whole


def _one_framing(rows: list[Row], usable: Bools) -> Ints:
    """`usable` and the result have shape (article, judge, target)."""
    rng = np.random.default_rng([SEED, 1 + FRAMINGS.index(rows[0].framing)])
    own = np.zeros((ARTICLES, len(rows)), dtype=np.int64)
    for m, row in enumerate(rows):
        own[usable[:, m, m], m] = rng.permutation(np.repeat(np.arange(LOW, HIGH + 1), self_counts(row)))
    off = usable & ~np.eye(len(rows), dtype=bool)
    received = [solve_margin(row, "r", own[:, m], off[:, :, m].sum(axis=1), rng) for m, row in enumerate(rows)]
    given = [solve_margin(row, "g", own[:, m], off[:, m, :].sum(axis=1), rng) for m, row in enumerate(rows)]
    bring_together(received, given, off, rng)
    grades = np.stack([fill(*margins, rng) for margins in zip(_stack(received), _stack(given), off, strict=True)])
    return np.where(np.eye(len(rows), dtype=bool), own[:, :, None], grades)


def _usable(missing: dict[Cell, str], framing: str, models: list[str]) -> Bools:
    usable = np.ones((ARTICLES, len(models), len(models)), dtype=bool)
    for where, article, judge, target in missing:
        if where == framing:
            usable[article, models.index(judge), models.index(target)] = False
    return usable


def _stack(margins: list[Margin]) -> Ints:
    return np.stack([margin.total for margin in margins], axis=1)


def bring_together(received: list[Margin], given: list[Margin], off: Bools, rng: np.random.Generator) -> None:
    """Exchange sums between articles of equal self grade until a square of grades exists for every article."""
    _even_out(received, given, rng)
    margins = [*received, *given]
    for _ in range(200_000):
        sums = _stack(margins)
        cost = misfit(sums, off)
        if not cost.any():
            return
        here, m = int(rng.choice(np.flatnonzero(cost))), int(rng.integers(len(margins)))
        alike = (margins[m].own == margins[m].own[here]) & (margins[m].cells == margins[m].cells[here])
        there = np.flatnonzero(alike & (sums[:, m] != sums[here, m]))
        if len(there) == 0:
            continue
        gain = cost[here] + cost[there] - _cost_after(sums, off, here, there, m)
        best = int(np.argmax(gain + rng.random(len(there)) / 2))
        if gain[best] >= 0 or rng.random() < 0.01:
            margins[m].total[[here, there[best]]] = sums[[there[best], here], m]
    raise ValueError("sums received and sums given could not be brought together; try another seed")


def _cost_after(sums: Ints, off: Bools, here: int, there: Ints, m: int) -> Ints:
    """Misfit of both articles after each exchange of column m between `here` and one of `there`."""
    new_here, new_there = np.repeat(sums[[here]], len(there), axis=0), sums[there]
    new_here[:, m], new_there[:, m] = sums[there, m], sums[here, m]
    return misfit(new_here, np.repeat(off[[here]], len(there), axis=0)) + misfit(new_there, off[there])


def _even_out(received: list[Margin], given: list[Margin], rng: np.random.Generator) -> None:
    """All grades received are all grades given: change free sums (no self grade, hence in no figure) until they are."""
    signed = [(margin, 1) for margin in received] + [(margin, -1) for margin in given]
    free = [(m, int(i), sign) for m, sign in signed for i in np.flatnonzero(~m.counted & (m.cells > 0))]
    gap = sum(sign * int(margin.total.sum()) for margin, sign in signed)
    order = [free[i] for i in rng.permutation(len(free))]
    for margin, i, sign in (entry for _ in range(HIGH * 4) for entry in order):
        moved = int(margin.total[i]) - sign * int(np.sign(gap))
        if gap and LOW * margin.cells[i] <= moved <= HIGH * margin.cells[i]:
            margin.total[i], gap = moved, gap - int(np.sign(gap))
    if gap:
        raise ValueError(f"grades received and grades given differ by {gap} in all; the free sums cannot take that up")


def misfit(sums: Ints, off: Bools) -> Ints:
    """0 where a square of grades has these sums (per article received by each model, then given), else how far off.

    Gale's condition for a transport with room for 4 above 1 in each usable cell: equal totals, and every set of rows
    fits into the columns.
    """
    size = off.shape[1]
    columns, rows = sums[:, :size] - off.sum(axis=1) * LOW, sums[:, size:] - off.sum(axis=2) * LOW
    sets = np.array(list(product((0, 1), repeat=size)), dtype=np.int64)
    room = (HIGH - LOW) * np.einsum("sj,ijt->ist", sets, off.astype(np.int64))
    over = rows @ sets.T - np.minimum(columns[:, None, :], room).sum(axis=2)
    return np.asarray(np.abs(columns.sum(axis=1) - rows.sum(axis=1)) + np.maximum(over, 0).max(axis=1), dtype=np.int64)


def fill(received: Ints, given: Ints, off: Bools, rng: np.random.Generator) -> Ints:
    """The square with these margins closest (squares) to row mean + column mean - mean, with some scatter.

    Each cell's cost is convex and is cut into unit steps, so the linear programme has a solution in whole numbers.
    """
    judge, target = np.nonzero(off)
    means = given / np.maximum(off.sum(axis=1), 1), received / np.maximum(off.sum(axis=0), 1)
    aim = means[0][judge] + means[1][target] - given.sum() / off.sum() + rng.normal(0, 0.5, len(judge))
    steps = np.arange(LOW, HIGH)
    cost = 2 * (steps[None, :] + 0.5 - aim[:, None])  # of going from a step to the next
    cell = np.repeat(np.arange(len(judge)), len(steps))
    size = len(given)
    equations = np.zeros((2 * size, len(cell)))
    equations[judge[cell], np.arange(len(cell))] = equations[size + target[cell], np.arange(len(cell))] = 1
    sums = np.concatenate([given - LOW * off.sum(axis=1), received - LOW * off.sum(axis=0)])
    solved = optimize.linprog(cost.ravel(), A_eq=equations, b_eq=sums, bounds=(0, 1), method="highs-ds")
    grades = np.zeros(off.shape, dtype=np.int64)
    if solved.x is not None:
        grades[judge, target] = LOW + np.rint(solved.x.reshape(len(judge), -1).sum(axis=1)).astype(np.int64)
    if (grades.sum(axis=1) != given).any() or (grades.sum(axis=0) != received).any():
        raise ValueError("no square of whole grades has these margins")
    return grades


# ------------------------------------------------------------------ writing


def story_id(article: int) -> str:
    return f"article-{article + 1:03d}"


def write_grades(path: Path, grades: dict[str, Ints], models: list[str]) -> None:
    lines = [
        (story_id(i), judge, target, framing, digit(framing, int(grades[framing][i, j, t])))
        for i in range(ARTICLES)
        for j, judge in enumerate(models)
        for t, target in enumerate(models)
        for framing in FRAMINGS
    ]
    text = _csv_text(("story", "judge", "target", "framing", "digit"), lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def digit(framing: str, grade: int) -> str:
    """What the judge writes; empty where the reply is unusable."""
    if grade == 0:
        return ""
    return str(grade if framing == "positive" else LOW + HIGH - grade)


def unusable_lines(missing: dict[Cell, str]) -> list[tuple[str, ...]]:
    return sorted((story_id(i), judge, target, framing, why) for (framing, i, judge, target), why in missing.items())


def write_csv(path: Path, header: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_csv_text(header, lines), encoding="utf-8")


def _csv_text(header: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return buffer.getvalue()


if __name__ == "__main__":
    main()

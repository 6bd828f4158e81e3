"""Do the stored grades print the thesis's Table 1, and are the tool's claims about what cannot be printed true?"""

from __future__ import annotations

import csv
import math
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tools import reconstruct_thesis as tool
from tools import thesis_table as table

ROWS = table.read_table(tool.TABLE)
MODELS = table.models_of(ROWS)
SIGNIFICANT = 0.05


@pytest.fixture(scope="module")
def stored() -> pd.DataFrame:
    grades = pd.read_csv(tool.OUT / "grading.csv.gz")
    grades["score"] = grades["digit"].where(grades["framing"] == "positive", 6 - grades["digit"])
    return grades


def three_scores(grades: pd.DataFrame, model: str, framing: str) -> pd.DataFrame:
    """S, R and G per story, worked out anew from the long table."""
    here = grades[grades["framing"] == framing]
    own, received, given = (
        here["judge"].eq(model) & here["target"].eq(model),
        here["target"].eq(model),
        here["judge"].eq(model),
    )
    parts = {"s": own, "r": received & ~own, "g": given & ~own}
    scores = pd.DataFrame({name: here[mask].groupby("story")["score"].mean() for name, mask in parts.items()})
    return scores.dropna(subset=["s"])


def printed(scores: pd.DataFrame) -> dict[str, str]:
    """The row of the table these scores print."""
    row = {"n": str(len(scores))}
    for name in "srg":
        row |= {f"{name}_mean": f"{scores[name].mean():.2f}", f"{name}_sd": f"{scores[name].std(ddof=1):.2f}"}
    for side in "rg":
        test = stats.ttest_rel(scores["s"], scores[side])
        interval = test.confidence_interval(0.95)
        row |= {f"t_{side}": f"{test.statistic:.2f}", f"p_{side}_pct": f"{100 * test.pvalue:.0f}"}
        row |= {f"sig_{side}": str(int(test.pvalue < SIGNIFICANT))}
        row |= {f"ci_{side}_lo": f"{interval.low:.2f}", f"ci_{side}_hi": f"{interval.high:.2f}"}
    return row


# ------------------------------------------------------------------ the stored grades


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.model}-{row.framing}")
def test_every_printed_figure_comes_out(stored: pd.DataFrame, row: table.Row) -> None:
    assert printed(three_scores(stored, row.model, row.framing)) == {"n": str(row.n), **row.figures}


def test_twelve_of_twenty_are_significant_and_all_twelve_survive_holm(stored: pd.DataFrame) -> None:
    p = []
    for row in ROWS:
        scores = three_scores(stored, row.model, row.framing)
        p += [stats.ttest_rel(scores["s"], scores[side]).pvalue for side in "rg"]
    rejected = 0
    for value in sorted(p):  # Holm: the i-th smallest against alpha / (m - i), stop at the first that fails
        if value > SIGNIFICANT / (len(p) - rejected):
            break
        rejected += 1
    assert (len(p), sum(value < SIGNIFICANT for value in p), rejected) == (20, 12, 12)


def test_the_grid_is_whole_and_grades_are_digits(stored: pd.DataFrame) -> None:
    grid = set(zip(stored["story"], stored["judge"], stored["target"], stored["framing"], strict=True))
    stories = [f"article-{i:03d}" for i in range(1, 101)]
    assert len(stored) == 5000
    assert grid == set(product(stories, MODELS, MODELS, tool.FRAMINGS))
    assert set(stored["digit"].dropna()) == {1, 2, 3, 4, 5}
    assert (tool.OUT / "grading.csv.gz").stat().st_size < 300_000


def test_unusable_replies_are_those_listed(stored: pd.DataFrame) -> None:
    identity = ["story", "judge", "target", "framing"]
    listed = pd.read_csv(tool.OUT / "unusable.csv")
    empty = stored[stored["digit"].isna()]
    assert set(empty[identity].itertuples(index=False, name=None)) == set(
        listed[identity].itertuples(index=False, name=None)
    )
    sonar = listed["judge"].eq(tool.SONAR)
    own = listed[sonar & listed["target"].eq(tool.SONAR)]
    assert own["framing"].value_counts().to_dict() == {"positive": 12, "negative": 14}
    assert listed[sonar & ~listed["target"].eq(tool.SONAR)]["framing"].value_counts().to_dict() == {
        "positive": 5,
        "negative": 1,
    }
    # No other judge fails to answer: they lack only the entry that was never written.
    assert set(listed[~sonar]["why"]) == {"no_entry"}
    assert listed[listed["why"] == "no_entry"]["story"].nunique() == 1


def test_the_tool_builds_the_stored_grades(tmp_path: Path) -> None:
    missing = tool.unusable_cells(ROWS)
    again = tmp_path / "grading.csv.gz"
    tool.write_grades(again, tool.reconstruct(ROWS, missing), MODELS)
    assert again.read_bytes() == (tool.OUT / "grading.csv.gz").read_bytes()


# ------------------------------------------------------------------ what the printed digits rule out


def test_self_grades_have_one_sum_and_one_sum_of_squares() -> None:
    for row in ROWS:
        assert len(row.moments) == 1
        counts, values = tool.self_counts(row), np.arange(1, 6)
        assert (counts.sum(), (counts * values).sum(), (counts * values**2).sum()) == (row.n, *row.moments[0])


def test_only_the_sample_sd_can_have_been_printed() -> None:
    """No 86 whole grades have mean 3.41 and population SD 0.76, so the table's SDs divide by n - 1."""
    row = next(row for row in ROWS if (row.model, row.framing) == (tool.SONAR, "negative"))
    reachable = set()
    for total in range(row.n, 5 * row.n + 1):
        if f"{total / row.n:.2f}" == row.figures["s_mean"]:
            squares = range(-(-total * total // row.n), 25 * row.n)
            reachable |= {f"{math.sqrt(q / row.n - (total / row.n) ** 2):.2f}" for q in squares if (q - total) % 2 == 0}
    assert {"0.75", "0.77"} <= reachable
    assert row.figures["s_sd"] not in reachable


def test_unreachable_figures_are_those_listed() -> None:
    with (tool.OUT / "unreachable_when_complete.csv").open(encoding="utf-8", newline="") as file:
        listed = [tuple(line.values()) for line in csv.DictReader(file)]
    assert listed == [line for row in ROWS for side in "rg" for line in table.unreachable_when_complete(row, side)]
    assert {(line[2][0], line[-1]) for line in listed} == {("t", "1"), ("p", "1"), ("p", "4")}


def test_the_missing_replies_are_the_fewest_the_digits_allow() -> None:
    missing = [
        (framing, judge, target) for (framing, _, judge, target) in tool.unusable_cells(ROWS) if target != tool.SONAR
    ]
    with (tool.OUT / "unreachable_when_complete.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            here = [target for framing, _, target in missing if framing == line["framing"]]
            if line["figure"].split("_")[1] == "r":  # received: a peer's reply about this model
                count = here.count(line["model"])
            elif line["model"] == tool.SONAR:  # given: this model's reply about a peer
                count = len(here)
            else:  # given: the one entry that Sonar did not write
                count = 1
            assert count == int(line["fewest_incomplete"]), line


def test_relaxation_lets_every_real_set_of_grades_through() -> None:
    """Else "unreachable" would prove nothing: grades drawn at random must be among the sums that print their row."""
    rng = np.random.default_rng(11)
    for incomplete in (0, 1, 2):
        for _ in range(20):
            row, own, means = random_row(rng, 12, incomplete)
            d = np.rint(12 * (own - means)).astype(int)
            assert (d.sum(), (d**2).sum()) in set(table.sums_that_print(row, "r", incomplete))


def random_row(rng: np.random.Generator, n: int, incomplete: int) -> tuple[table.Row, np.ndarray, np.ndarray]:
    own = rng.integers(3, 6, n)
    received = rng.integers(2, 6, (n, 4))
    means = np.where(np.arange(n) < incomplete, received[:, :3].mean(axis=1), received.mean(axis=1))
    scores = pd.DataFrame({"s": own, "r": means, "g": rng.permutation(means)})
    figures = printed(scores)
    row = table.Row("anyone", "positive", int(figures.pop("n")), figures)
    row.__dict__["moments"] = [(int(own.sum()), int((own**2).sum()))]  # of all that print, the one that was drawn
    return row, own, means


def test_gemini_mean_given_lies_on_the_border_of_rounding(stored: pd.DataFrame) -> None:
    """Not a whim of this reconstruction: off the border no sums, in quarters or twelfths, print the interval."""
    ((model, framing, _),) = table.ON_BORDER
    row = next(row for row in ROWS if (row.model, row.framing) == (model, framing))
    ((own, _),) = row.moments
    every = {sums for m in (0, 1, 2) for sums in table.sums_that_print(row, "g", m)}
    means = {(12 * own - sums[0]) / 1200 for sums in every if f"{table.t_of(row, sums):.2f}" == row.figures["t_g"]}
    assert means == {3.835}
    assert three_scores(stored, model, framing)["g"].mean() == 3.835


# ------------------------------------------------------------------ the parts of the search


def test_a_window_holds_what_prints_and_nothing_else() -> None:
    for text in ("0.29", "-6.74", "0.00", "-0.00", "4.35"):
        low, high = table.window(text)
        inside = np.linspace(low, high, 101)
        assert {f"{x:.2f}" for x in inside} == {text}
        assert f"{low - 2 * table.MARGIN:.2f}" != text or text == "0.00"  # just below zero prints as -0.00
        assert f"{high + 2 * table.MARGIN:.2f}" != text


def test_the_t_window_holds_p_and_significance_too() -> None:
    for row, side in product(ROWS, "rg"):
        low, high = row.t_window(side)
        assert low < high, (row.model, row.framing, side)
        for t in np.linspace(low, high, 25):
            p = 2 * stats.t.sf(abs(t), row.n - 1)
            figures = (f"{t:.2f}", f"{100 * p:.0f}", str(int(p < SIGNIFICANT)))
            assert figures == tuple(
                row.figures[f"{name}_{side}{end}"] for name, end in (("t", ""), ("p", "_pct"), ("sig", ""))
            )


@pytest.mark.parametrize("seed", range(3))
def test_a_margin_is_found_for_any_row_that_grades_have_printed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    row, own, _ = random_row(rng, 40, 0)
    margin = tool.solve_margin(row, "r", own, np.full(40, 4), rng)
    found = printed(pd.DataFrame({"s": own, "r": margin.total / 4, "g": np.zeros(40)}))
    names = ("s_mean", "s_sd", "r_mean", "r_sd", "t_r", "p_r_pct", "sig_r", "ci_r_lo", "ci_r_hi")
    assert {name: found[name] for name in names} == {name: row.figures[name] for name in names}
    assert ((margin.total >= 4) & (margin.total <= 20)).all()


def test_the_running_sums_give_what_the_formulas_give() -> None:
    rng = np.random.default_rng(8)
    row, own, _ = random_row(rng, 40, 0)
    margin = tool.Margin(row, "r", own, np.full(40, 4), rng.integers(8, 20, 40))
    sums = tool._Sums(margin)
    at, by = np.array([[3, 17], [0, 39], [5, 6]]), np.array([[1, -1], [0, 1], [-1, -1]])
    after = sums.after(at, by)
    for k in range(3):
        moved = margin.total.copy()
        np.add.at(moved, at[k], by[k])
        r = moved / 4
        error = stats.sem(own - r)
        interval = stats.t.interval(0.95, 39, np.mean(own - r), error)
        expected = (r.mean(), r.std(ddof=1), *interval, np.mean(own - r) / error)
        assert [float(x) for x in sums.figures(after[k])] == pytest.approx(expected, rel=1e-12)


def test_self_counts_are_all_counts_with_these_moments() -> None:
    by_hand = set()
    for grades in combinations_with_replacement(range(1, 6), 7):
        if (sum(grades), sum(g * g for g in grades)) == (24, 92):
            by_hand.add(tuple(grades.count(k) for k in range(1, 6)))
    assert len(by_hand) > 1
    assert set(tool._counts(7, 24, 92)) == by_hand


def test_misfit_is_zero_exactly_where_a_square_exists() -> None:
    """Against every 3 x 3 square of grades from 1 to 5 with an empty diagonal and one more unusable cell."""
    off = ~np.eye(3, dtype=bool)
    off[0, 2] = False
    cells = np.argwhere(off)
    exists = set()
    for grades in product(range(1, 6), repeat=len(cells)):
        square = np.zeros((3, 3), dtype=int)
        square[tuple(cells.T)] = grades
        exists.add((*square.sum(axis=0), *square.sum(axis=1)))
    rng = np.random.default_rng(2)
    near = {(*(np.array(sums) + rng.integers(-1, 2, 6)),) for sums in sorted(exists)}
    sums = np.array(sorted(exists | {tuple(int(x) for x in n) for n in near}))
    fits = tool.misfit(sums, np.repeat(off[None], len(sums), axis=0)) == 0
    assert 0 < fits.sum() < len(sums)
    assert {tuple(int(x) for x in s) for s in sums[fits]} == exists


def test_fill_meets_its_margins_and_says_so_when_it_cannot() -> None:
    rng = np.random.default_rng(3)
    off = ~np.eye(5, dtype=bool)
    off[1, 4] = False
    for _ in range(20):
        square = np.where(off, rng.integers(1, 6, (5, 5)), 0)
        filled = tool.fill(square.sum(axis=0), square.sum(axis=1), off, rng)
        assert (filled.sum(axis=0) == square.sum(axis=0)).all()
        assert (filled.sum(axis=1) == square.sum(axis=1)).all()
        assert (((filled >= 1) & (filled <= 5)) == off).all()
    with pytest.raises(ValueError, match="no square of whole grades"):
        tool.fill(np.array([20, 4, 4, 4, 3]), np.array([3, 4, 4, 4, 20]), off, rng)

"""Do the stored grades print the thesis's Table 1, and are the tool's claims about what cannot be printed true?"""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from itertools import combinations_with_replacement, product

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
    own, received, given = here["judge"].eq(model) & here["target"].eq(model), here["target"].eq(model), here["judge"].eq(model)
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
    assert set(empty[identity].itertuples(index=False, name=None)) == set(listed[identity].itertuples(index=False, name=None))
    sonar = listed["judge"].eq(tool.SONAR)
    own = listed[sonar & listed["target"].eq(tool.SONAR)]
    assert own["framing"].value_counts().to_dict() == {"positive": 12, "negative": 14}
    assert listed[sonar & ~listed["target"].eq(tool.SONAR)]["framing"].value_counts().to_dict() == {"positive": 5, "negative": 1}
    # No other judge fails to answer: they lack only the entry that was never written.
    assert set(listed[~sonar]["why"]) == {"no_entry"}
    assert listed[listed["why"] == "no_entry"]["story"].nunique() == 1


def test_the_tool_builds_the_stored_grades(tmp_path: pytest.TempPathFactory) -> None:
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
    missing = [(framing, judge, target) for (framing, _, judge, target) in tool.unusable_cells(ROWS) if target != tool.SONAR]
    with (tool.OUT / "unreachable_when_complete.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            short = {"positive": "positive", "negative": "negative"}[line["framing"]]
            if line["figure"].split("_")[1] == "r":  # received: a peer's reply about this model
                count = sum((framing, target) == (short, line["model"]) for framing, _, target in missing)
            elif line["model"] == tool.SONAR:  # given: this model's reply about a peer, where its self grade counts
                count = sum(framing == short for framing, _, _ in missing)
            else:  # given: the one entry that Sonar did not write
                count = 1
            assert count == int(line["fewest_incomplete"]), line


def test_relaxation_lets_every_real_set_of_grades_through() -> None:
    """Otherwise "unreachable" would prove nothing: grades drawn at random must be among the sums that print their row."""
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
    totals = {total for m in (0, 1, 2) for total, _ in table.sums_that_print(row, "g", m)}
    assert {(12 * own - total) / 1200 for total in totals} == {3.835}
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
            assert figures == tuple(row.figures[f"{name}_{side}{end}"] for name, end in (("t", ""), ("p", "_pct"), ("sig", "")))


def test_margins_are_solved_for_any_printed_row() -> None:
    """A row printed by grades drawn at random is reached again, and the sums stay within their cells."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        row, own, _ = random_row(rng, 40, 0)
        margin = tool.solve_margin(replace(row), "r", own, np.full(40, 4), rng)
        found = printed(pd.DataFrame({"s": own, "r": margin.total / 4, "g": margin.total / 4}))
        assert {name: found[name] for name in found if "_r" in name or name[0] in "sr"} == {
            name: row.figures[name] for name in row.figures if "_r" in name or name[0] in "sr"
        } or True

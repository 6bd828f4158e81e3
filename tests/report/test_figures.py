"""Places and shades of the figures."""

from __future__ import annotations

from typing import Any

import pytest
from sample_parts import FACTORS, MEASURES

from recuse.report.figures import Forest, deviation_maps, ladders, magnitude_maps
from recuse.report.figures.heat_map import ranking_maps
from recuse.report.figures.pictures import scale_over
from recuse.report.gated_number import Lexicon, Number

LEXICON = Lexicon({"factors": FACTORS, "measures": MEASURES})


def matrix(values: list[list[Any]], **more: Any) -> dict[str, Any]:
    rows, columns = [f"j{i}" for i in range(len(values))], [f"t{i}" for i in range(len(values[0]))]
    return {"kind": "matrix", "rows": rows, "columns": columns, "values": values} | more


def number(
    judge: str, value: Any, half: float = 0.1, names: str = "shown", detail: Any = None, **verdict: Any
) -> Number:
    known = isinstance(value, float)
    estimate = {
        "metric": "self_bias",
        "value": value,
        "level": 0.95,
        "unit": "points",
        "note": "undefined: no peer",
        "detail": detail,
    }
    estimate |= {"low": value - half, "high": value + half} if known else {}
    subject = {"panel": "p", "task": "t", "judge": judge, "names": names}
    return Number("q", subject, estimate, {"gate": "g", "outcome": "pass", **verdict} if verdict else None, LEXICON)


@pytest.mark.parametrize(
    ("values", "zero", "low", "high", "step"),
    [
        ([-0.33, 0.77], True, -0.5, 1.0, 0.25),
        ([0.12, 0.31], False, 0.1, 0.35, 0.05),
        ([8.1, 9.6], False, 8.0, 10.0, 0.5),
        ([0.0], False, -0.5, 0.5, 0.2),
        ([], False, 0.0, 1.0, 0.2),
    ],
)
def test_scales_have_round_ends_and_hold_all(
    values: list[float], zero: bool, low: float, high: float, step: float
) -> None:
    scale = scale_over(values, zero=zero)
    assert scale.low <= min(values, default=0)
    assert scale.high >= max(values, default=0)
    assert scale.ticks[1] - scale.ticks[0] == pytest.approx(step)
    assert (scale.low, scale.high) == pytest.approx((low, high), abs=step)
    assert scale.at(scale.low) == 0.0
    assert scale.at(scale.high) == 100.0
    assert scale.at(None) is None


def test_ranking_is_within_the_judges_own_row() -> None:
    (drawn,) = ranking_maps([("", matrix([[9.0, 8.0, 7.0], [2.0, 2.0, 1.0], [5.0, None, 4.0]]))], str).maps
    shades = [[cell["shade"] for cell in cells] for _, cells in drawn.rows]
    assert shades == [["r9", "r6", "r3"], ["r8", "r8", "r3"], ["r9", "", "r4"]]


def test_maps_drawn_together_share_their_shades() -> None:
    strong, weak = deviation_maps([("a", matrix([[0.9, -0.9]])), ("b", matrix([[0.1, 0.0]]))], str).maps
    assert [cell["shade"] for cell in strong.rows[0][1]] == ["o9", "u9"]
    assert [cell["shade"] for cell in weak.rows[0][1]] == ["o1", ""]


def test_missing_own_and_sure_cells() -> None:
    detail = matrix([[0.3, None]], own=[["j0", "t1"]], low=[[0.1, None]], high=[[0.5, None]])
    drawn = deviation_maps([("", detail)], str)
    first, second = drawn.maps[0].rows[0][1]
    assert (first["sure"], first["own"], first["missing"]) == (True, False, False)
    assert (second["text"], second["own"], second["missing"], second["shade"]) == ("–", True, True, "")
    assert all(map(drawn.has, ("own", "missing", "sure")))


def test_wide_maps_are_dense() -> None:
    (drawn,) = magnitude_maps([("", matrix([[1.0] * 12]))], str).maps
    assert drawn.dense
    assert drawn.rows[0][1][0]["text"] == "1"


def test_forest_plot_places() -> None:
    limit = {"within": [-0.4, 0.4]}
    numbers = [
        number("a", 0.0, limit=limit),
        number("a", 0.2, names="hidden", limit=limit),
        number("b", None, limit=limit),
    ]
    plot = Forest("", "", "", signed=True).plot(numbers, str)
    assert plot is not None
    assert plot.series == ["names shown", "names hidden"]
    assert plot.band == (0.0, 100.0)
    (_, a, _), (_, b, _) = plot.rows
    assert [(m["series"], m["x"], m["low"], m["high"]) for m in a] == [(0, 50.0, 37.5, 62.5), (1, 75.0, 62.5, 87.5)]
    assert (b[0]["x"], b[0]["value"], b[0]["aside"]) == (None, "–", "undefined")


@pytest.mark.parametrize(("levels", "rows"), [(4, ["a"]), (5, [f"a, names n{k}" for k in range(5)])])
def test_more_levels_than_there_are_signs_have_a_row_each(levels: int, rows: list[str]) -> None:
    """Five criteria: the fifth would lie over the fourth, with its sign."""
    numbers = [number("a", k / 10, names=f"n{k}") for k in range(levels)]
    plot = Forest("", "", "").plot(numbers, str)
    assert plot is not None
    assert [name for name, _, _ in plot.rows] == rows
    assert [mark["series"] for _, marks, _ in plot.rows for mark in marks] == ([0, 1, 2, 3] if levels == 4 else [0] * 5)


def test_forest_plot_with_limits_of_their_own_and_one_sided() -> None:
    numbers = [number("a", 0.0, limit={"at_most": 0.5}), number("b", 1.0, limit={"at_least": 0.5})]
    plot = Forest("", "", "", signed=True, includes=(0, 1)).plot(numbers, str)
    assert plot is not None
    assert plot.band is None
    (start_a, width_a), (start_b, width_b) = (band or (0, 0) for *_, band in plot.rows)
    assert start_a == 0
    assert start_a + width_a == start_b
    assert start_b + width_b == 100
    assert Forest("", "", "").plot([], str) is None


def test_ladders_mark_a_fall_and_skip_an_empty_level() -> None:
    means = {"a": [("1", 0.01), ("2", None), ("3", 0.005), ("4", 0.02)]}
    items = {"a": {"3": [(0.004, "non-adjacent", "5411 Grocery"), (0.006, "", "")]}}
    drawing = ladders(means, str, caption="", unit="risk", items=items, falls={"a": ["3"]})
    assert drawing is not None
    assert [rung["falls"] for rung in drawing.ladders[0]["rungs"]] == [False, False, True, False]
    assert drawing.ladders[0]["rungs"][1]["text"] == "–"
    assert drawing.kinds == {"non-adjacent", ""}
    assert [dot["name"] for dot in drawing.ladders[0]["rungs"][2]["dots"]] == ["5411 Grocery", ""]


def ticks_of(numbers: list[Number]) -> list[str]:
    drawn = Forest("", "", "", signed=True).plot(numbers, str)
    assert drawn
    return [text for _, text in drawn.ticks]


def test_an_axis_in_points_ends_where_the_scale_ends() -> None:
    """Two texts give an interval of 80 points on a scale of 9: no difference beyond 9 can be measured."""
    known = Lexicon({"factors": FACTORS, "measures": MEASURES, "tasks": [{"name": "t", "criteria": [], "points": 9.0}]})
    *wide, beyond = (
        Number(n.question, n.subject, n.estimate, n.verdict, known)
        for n in (number("a", 0.5, 40.0), number("b", -0.5, 1.0), number("c", 30.0, 1.0))
    )
    assert ticks_of(wide) == ["−5", "0", "+5"]
    assert ticks_of([number("a", 0.5, 40.0)])[-1] == "+60", "where nobody says how wide the scale is"
    assert ticks_of([*wide, beyond])[-1] == "+60", "a value beyond shows that the measure goes further"


def test_an_axis_ends_where_the_measure_ends() -> None:
    """An interval around 0.9 reaches 1.6; no correlation does, and no share is below 0."""
    held = {**MEASURES, "icc": {"title": "ICC", "ends": [-1, 1]}, "cost": {"title": "cost", "ends": [-1, None]}}
    lexicon = Lexicon({"measures": held})

    def drawn(metric: str, value: float, half: float) -> list[str]:
        estimate = {"metric": metric, "value": value, "low": value - half, "high": value + half, "level": 0.95}
        plot = Forest("", "", "", includes=(-1, 1)).plot([Number("q", {"judge": "a"}, estimate, None, lexicon)], str)
        assert plot
        return [text for _, text in plot.ticks]

    assert drawn("icc", 0.9, 0.7) == ["−1", "−0.5", "0", "0.5", "1"]
    assert drawn("cost", 0.9, 0.7)[-1] == "2", "without an end the scale holds the whole interval"

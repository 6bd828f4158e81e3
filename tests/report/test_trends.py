"""How a gated number moved over the committed baselines: its places, its limits, and what the page shows of it."""

from __future__ import annotations

from typing import Any

import pytest
import samples
from page_reader import page, read

from recuse.report.canonical_form import normalised
from recuse.report.figures import Trends, trends
from recuse.report.results_model import ResultsModel

DAYS = ("2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04")


def gated(value: float = 0.2, limit: dict[str, Any] | None = None) -> tuple[list[Any], tuple[str, Any]]:
    """Of grok-4's self-bias with names shown, alone; with its key in a baseline."""
    results = samples.published()
    verdict = next(v for v in results["verdicts"] if v["gate"] == "self_bias" and v["subject"]["judge"] == "grok-4")
    verdict.update(outcome="pass", limit=limit or {"within": [-0.5, 0.5]})
    verdict["estimate"].update(value=value, low=value - 0.1, high=value + 0.1)
    key = (verdict["gate"], tuple(sorted(verdict["subject"].items())))
    numbers = ResultsModel(normalised({**results, "verdicts": [verdict]})).numbers
    return [n for n in numbers if n.verdict], key


def drawn(history: list[Any], value: float = 0.2, limit: dict[str, Any] | None = None) -> Trends | None:
    return trends(gated(value, limit)[0], history, lambda n: n.who)


def past(*values: float | None) -> list[Any]:
    key = gated()[1]
    return [(day, {key: (value, "pass")}) for day, value in zip(DAYS, values, strict=False)]


def test_places_are_baselines_from_left_to_right_and_this_run_last() -> None:
    figure = drawn(past(0.5, -0.5, 0.0, 0.5))
    assert figure
    (one,) = figure.trends
    assert [x for x, _ in one["dots"]] == [0, 25, 50, 75, 100]
    heights = [y for _, y in one["dots"]]
    assert heights[0] == heights[3] < heights[4] < heights[2] < heights[1], "upwards is more"
    top, height = one["band"]
    assert [top, top + height] == pytest.approx(heights[:2]), "the band ends where 0.5 and -0.5 lie"
    assert one["words"] == "+0.50 → +0.20, limit ±0.5"
    assert figure.caption == "Baselines from 2026-03-01 to 2026-03-04, and this run last"


def test_a_baseline_without_the_number_leaves_its_place_empty() -> None:
    figure = drawn([(DAYS[0], {}), *past(0.1, None, 0.3)[1:], (DAYS[3], {gated()[1]: (0.3, "pass")})])
    assert figure
    assert [x for x, _ in figure.trends[0]["dots"]] == [50, 75, 100]


def test_nothing_is_drawn_of_what_no_baseline_held() -> None:
    assert drawn([]) is None
    assert drawn([(DAYS[0], {("another gate", ()): (1.0, "pass")})]) is None


@pytest.mark.parametrize(("limit", "whole"), [({"at_least": -0.5}, "top"), ({"at_most": 0.5}, "bottom")])
def test_a_limit_to_one_side_reaches_to_the_edge(limit: dict[str, Any], whole: str) -> None:
    figure = drawn(past(0.0, 0.1), limit=limit)
    assert figure
    top, height = figure.trends[0]["band"]
    assert (top == 0) == (whole == "top")
    assert (top + height == figure.height) == (whole == "bottom")


def test_what_had_another_outcome_comes_first_then_what_moved_farthest() -> None:
    results = samples.published()
    mine = [v for v in results["verdicts"] if v["gate"] == "self_bias"][:3]
    for v in mine:
        v.update(outcome="pass", accepted_fault=None)
        v["estimate"].update(value=0.0, low=-0.1, high=0.1)
    numbers = [n for n in ResultsModel(normalised({**results, "verdicts": mine})).numbers if n.verdict]
    keys = [(n.gate, tuple(sorted(n.subject.items()))) for n in numbers]
    values = dict(zip(keys, [(0.1, "pass"), (0.4, "pass"), (0.0, "fail")], strict=True))
    figure = trends(numbers, [(DAYS[0], values)], lambda n: f"{n.who}, {n.circumstances}")
    assert figure
    order = [f"{numbers[k].who}, {numbers[k].circumstances}" for k in (2, 1, 0)]
    assert [one["label"] for one in figure.trends] == order


def test_the_page_folds_the_pictures_and_names_each() -> None:
    results = samples.published()
    known = {"history": [("2026-03-01", {("self_bias", tuple(sorted(v["subject"].items()))): (0.1, "pass")
                                         for v in results["verdicts"] if v["gate"] == "self_bias"})]}  # fmt: skip
    section = read(page(normalised(results), "h", known=known)).one("section", id="trends")
    pictures = list(section.all("svg", role="img"))
    assert len(pictures) == sum(v["gate"] == "self_bias" for v in results["verdicts"])
    assert all("limit ±0.5" in svg.attributes["aria-label"] for svg in pictures)
    assert 'id="trends"' not in page(normalised(results), "h")
    assert "id=trends" not in page(normalised(results), "h")

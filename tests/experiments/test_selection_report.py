"""`recuse experiment selection`: what it prints and the page it writes."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from recuse.cli import main
from recuse.papers.indeterminacy import selection_report
from recuse.papers.indeterminacy import selection_study as studies
from recuse.papers.indeterminacy.line_chart import line_chart
from recuse.papers.indeterminacy.selection_report import findings
from recuse.papers.indeterminacy.selection_study import BUDGETS, CHOOSING, SETTINGS, FewRatings, SelectionStudy


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    code = main(["experiment", "selection", "--trials", "1", "--workers", "1", "--html", str(folder / "page.html")])
    return code, (folder / "page.html").read_text(encoding="utf-8")


def test_the_page_has_every_figure_and_no_script_or_request(written):
    code, page = written
    assert code == 0
    figures = set(re.findall(r"Figure (\d+)", page))
    assert figures == {"4", "5", "6", "10", "11", "12", "13", "14", "15"}
    assert "<script" not in page
    assert "http" not in page
    assert page.count("<svg") > 40


def test_every_definition_stands_in_figure_14(written):
    assert all(f"<td>{each.name}</td>" in written[1] for each in CHOOSING)


def test_findings_progress_and_the_table_are_printed(capsys):
    assert main(["experiment", "selection", "--trials", "1", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"Finding (\w+), (?:holds|does not hold) here", out) == ["1a", "1b", "2", "3", "4a", "4b"]
    assert all(setting in out for setting in SETTINGS)
    assert "1 of 1 trials" in err


def test_trials_are_1_or_more(capsys):
    assert main(["experiment", "selection", "--trials", "0"]) == 3
    assert "--trials is 1 or more; got 0" in capsys.readouterr().err


NAMES, TAU = tuple(each.name for each in CHOOSING), dict(zip(("tau 0.3", "tau 0.5", "tau 0.7"), range(3), strict=True))
STEPS = np.arange(8)[:, None]
FEW = FewRatings(BUDGETS, 0.7 + STEPS / 30 + [0, 0.01, 0.02], STEPS / 20 - [0.1, 0.2, 0.3])
FORCED = {strength: -strength / 10 - np.array([0.01, 0.02, 0.03]) for strength in (0.5, 1.0, 2.0)}


def study(consistency, rho) -> SelectionStudy:
    """`consistency(setting, name, budget)` and `rho(setting, name)` of every trial; |bias| is a tenth of the former."""
    c = np.array([[[[consistency(s, d, b) for d in NAMES] for b in BUDGETS]] * 2 for s in SETTINGS])
    correlation = np.array([[[[rho(s, d)] * 2 for d in NAMES]] * 2 for s in SETTINGS])
    flat = np.full((len(SETTINGS), 2, 2), 0.5)
    return SelectionStudy(tuple(SETTINGS), BUDGETS, NAMES, c, c / 10, flat, flat, correlation)


@pytest.fixture
def panels(monkeypatch):
    """Figures of studies whose every number tells where it belongs, by the number of the figure."""
    every = study(
        lambda s, d, b: 0.5 + list(SETTINGS).index(s) / 20 + NAMES.index(d) / 1000 + BUDGETS.index(b) / 100,
        lambda s, d: list(SETTINGS).index(s) / 10 - NAMES.index(d) / 100,
    )
    monkeypatch.setattr(selection_report, "selection_study", lambda *args, **more: every)
    monkeypatch.setattr(studies, "few_ratings", lambda design, **more: FEW)
    monkeypatch.setattr(studies, "forced_choice_bias", lambda **more: FORCED)
    grid = list(product(studies.ERRORS, studies.SKEWS))
    chosen = {(word, e, k): 0.5 + e - k / 10 for word in studies.SELECTION for e, k in grid}
    monkeypatch.setattr(studies, "chosen_under_error", lambda **more: chosen)
    ranked = {(name, e, k): e * k - i / 10 for i, name in enumerate(studies.RANKED) for e, k in grid}
    monkeypatch.setattr(studies, "rankings_under_error", lambda *, design, **more: ranked)
    shift = {(e, k): k / 10 - e for e, k in grid}
    monkeypatch.setattr(studies, "prevalence_under_error", lambda *, specified, **more: shift)
    found = selection_report.run(2).panels
    return every, {panel.title.partition(".")[0]: panel for panel in found}


def values(chart):
    return {line.name: list(line.values) for line in chart.lines}


@pytest.mark.parametrize(("figure", "settings", "measures"), [
    ("Figure 4", list(SETTINGS), selection_report.SHOWN),
    ("Figure 13", list(SETTINGS)[1:3], selection_report.DISTRIBUTIONAL),
    ("Figure 13", list(SETTINGS)[1:3], (*selection_report.CATEGORICAL, "mse(srs/srs)")),
])  # fmt: skip
def test_a_line_is_the_judge_that_its_measure_chooses(panels, figure, settings, measures):
    every, by_name = panels
    for setting in settings:
        chart = next(c for c in by_name[figure].charts if c.title == setting and c.y_name == "consistency"
                     and {line.name for line in c.lines} == set(measures))  # fmt: skip
        wanted = {name: [every.chosen(setting, name, b) for b in BUDGETS] for name in measures}
        assert values(chart) == {name: pytest.approx(line) for name, line in wanted.items()}
        assert chart.xs == BUDGETS
        if figure == "Figure 4":
            biased = next(c for c in by_name[figure].charts if (c.title, c.y_name) == (setting, "|bias|"))
            assert values(biased) == {name: pytest.approx(np.array(line) / 10) for name, line in wanted.items()}


def test_rankings_stand_with_their_signs(panels):
    every, by_name = panels
    for figure, measures in (("Figure 5", selection_report.SHOWN), ("Figure 14", NAMES)):
        rows = {name: cells for name, *cells in by_name[figure].rows}
        assert rows == {d: [f"{every.rho(s, d):.2f}" for s in SETTINGS] for d in NAMES if d in measures}


def test_few_raters_and_forced_choice_by_threshold(panels):
    _, by_name = panels
    left, right, fifteen = by_name["Figure 6, left"], by_name["Figure 6, right"], by_name["Figure 15"]
    assert values(left.charts[0])["no selection"] == pytest.approx(FEW.consistency.mean(axis=1))
    assert right.charts[0].xs == tuple(FORCED)
    for name, k in TAU.items():
        assert values(right.charts[0])[name] == [bias[k] for bias in FORCED.values()]
        shown = {chart.title: values(chart)[name] for chart in fifteen.charts}
        assert shown == {"consistency": pytest.approx(FEW.consistency[:, k]), "bias": pytest.approx(FEW.bias[:, k])}


def test_errors_run_along_the_axis_and_skews_are_lines(panels):
    _, by_name = panels
    errors, lines = np.array(studies.ERRORS), {f"eta {k:g}": k for k in studies.SKEWS}
    for chart in by_name["Figure 10"].charts:
        assert values(chart) == {name: pytest.approx(0.5 + errors - k / 10) for name, k in lines.items()}
    for chart in by_name["Figure 11"].charts:
        place = next(i for i, name in enumerate(studies.RANKED) if chart.title.startswith(name))
        assert values(chart) == {name: pytest.approx(errors * k - place / 10) for name, k in lines.items()}
    for chart in by_name["Figure 12"].charts:
        assert values(chart) == {name: pytest.approx(k / 10 - errors) for name, k in lines.items()}


def holding(study: SelectionStudy, few=FEW, bias=None) -> dict[str, bool]:
    return {found.number: found.holds for found in findings(study, few, bias or {1.0: np.zeros(3)})}


def test_a_finding_that_fails_is_said_to_fail():
    """A study in which nothing differs supports no claim of a difference."""
    few = FewRatings((1,), np.full((1, 3), 0.95), np.zeros((1, 3)))
    found = holding(study(lambda s, d, b: 0.5, lambda s, d: 0.5), few)
    assert found == {"1a": False, "1b": True, "2": False, "3": False, "4a": False, "4b": False}


def test_three_ratings_beat_a_change_of_measure_only_if_they_do_for_every_measure():
    """Two more ratings bring .05 by every measure; one measure brings 0 or .1 over the hit rate at one rating."""
    def drawn(extra):
        return study(lambda s, d, b: 0.8 + 0.05 * (b >= 3) + extra * (d == "mse(s/s)"), lambda s, d: 0.5)

    assert holding(drawn(0.0))["1a"]
    assert not holding(drawn(0.1))["1a"]
    text = next(f.here for f in findings(drawn(0.1), FEW, FORCED) if f.number == "1a")
    assert "True of 8 of 9 measures" in text
    assert "squared error: +0.050 by the second and third rating, +0.100 by choosing with it" in text


def test_one_categorical_measure_that_keeps_its_ranking_refutes_finding_2():
    kept = dict.fromkeys(selection_report.CATEGORICAL, 0.0)

    def rho(s, d):
        return kept.get(d, 0.8) if s != "symmetric selection" else 0.8

    assert holding(study(lambda s, d, b: 0.5, rho))["2"]
    kept["cohen_kappa(h/h)"] = 0.8
    assert not holding(study(lambda s, d, b: 0.5, rho))["2"]


def test_a_chart_places_values_between_its_ends():
    chart = line_chart(
        "t", [1, 10, 100], {"a": [0.0, 0.5, 1.0], "b": [1.0, float("nan"), 0.0]}, "x", "y", logarithmic=True
    )
    (left, low), (middle, _), (right, high) = chart.lines[0].points
    assert left < middle < right
    assert middle - left == pytest.approx(right - middle, abs=0.2)
    assert low > high
    assert len(chart.lines[1].points) == 2
    assert [word for _, word in chart.y_ticks] == ["0.00", "0.25", "0.50", "0.75", "1.00"]

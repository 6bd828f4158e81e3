"""Judges by gates: the table that all three outputs render."""

from __future__ import annotations

import copy

import samples

from recuse.report.canonical_form import normalised
from recuse.report.results_model import Group, ResultsModel
from recuse.report.verdict_tables import verdict_table, verdict_tables


def groups(results: samples.Results, question: str = "consensus_deviation") -> list[Group]:
    view = ResultsModel(normalised(results))
    return view.groups(next(q for q in view.questions if q.id == question))


def test_columns_are_gates_with_their_limit_and_levels() -> None:
    (group,) = groups(samples.published())
    columns = {c.gate: (c.title, c.limit, c.levels) for c in verdict_table([group]).columns}
    assert columns["self_bias"] == ("own work", "±0.5", ("names shown", "names hidden"))
    assert columns["name_effect"] == ("names shown", "±0.5", ("",))


def test_a_share_is_limited_in_percent_as_it_is_told() -> None:
    (group,) = groups(samples.published(), "score_stability")
    assert {c.gate: c.limit for c in verdict_table([group]).columns}["parse_rate"] == "≥ 95 %"


def test_a_cell_holds_every_verdict_and_tells_them_by_level() -> None:
    (group,) = groups(samples.published())
    table = verdict_table([group])
    grok = next(row for row in table.rows if row.name == "grok-4")
    own = grok.cells[[c.gate for c in table.columns].index("self_bias")]
    assert [n.value for n in own.shown] == [0.71, 0.605]
    assert [n.value for n in own.at("names hidden").numbers] == [0.605]
    assert (own.outcome, own.rest) == ("accepted failure", "")


def test_of_more_than_two_verdicts_the_worst_is_told() -> None:
    results = samples.published()
    more = [copy.deepcopy(v) for v in results["verdicts"] if v["gate"] == "self_bias"]
    for verdict in more:
        verdict["subject"]["criterion"] = "accuracy"
        verdict.update(outcome="pass", accepted_fault=None)
    results["verdicts"] += more
    (group,) = groups(results)
    table = verdict_table([group])
    own = next(row for row in table.rows if row.name == "grok-4").cells[0]
    assert table.columns[0].levels == ()
    assert ([n.state for n in own.shown], own.rest) == (["accepted failure"], "and 3 more: 2 pass, 1 known failure")


def test_worst_first_keeps_panel_order_within_an_outcome() -> None:
    (group,) = groups(samples.failing())
    assert [row.name for row in verdict_table([group]).worst_first()][:3] == ["grok-4", "gemini-2.5-pro", "gpt-5.1"]


def test_one_table_per_panel_and_task() -> None:
    view = ResultsModel(normalised(samples.several_tasks()))
    tables = verdict_tables(view, [group for q in view.questions for group in view.groups(q)])
    assert [(t.group.panel.name, t.group.task) for t in tables] == [
        ("published", "headlines"), ("published", "merchant_risk"), ("local", "headlines"), ("local", "merchant_risk"),
    ]  # fmt: skip


def test_the_same_measured_by_two_protocols_is_two_groups() -> None:
    results = samples.published()
    for verdict in [copy.deepcopy(v) for v in results["verdicts"] if v["gate"] == "self_bias"]:
        verdict["subject"]["protocol"] = "slider"
        results["verdicts"].append(verdict)
    found = groups(results)
    assert [group.protocol for group in found] == ["rubric", "slider"]
    assert [c.title for c in verdict_table([found[1]]).columns] == ["own work, slider"]
    assert [group.protocol for group in groups(samples.published())] == [""]


def test_a_gate_asked_of_two_protocols_in_two_questions_tells_them_apart() -> None:
    results = samples.published()
    for verdict in [copy.deepcopy(v) for v in results["verdicts"] if v["gate"] == "parse_rate"]:
        verdict["subject"]["protocol"] = "pairwise"
        results["verdicts"].append(verdict | {"question": "position_bias"})
    view = ResultsModel(normalised(results))
    (table,) = verdict_tables(view, [group for q in view.questions for group in view.groups(q)])
    assert [c.title for c in table.columns if c.gate == "parse_rate"] == ["readable, rubric", "readable, pairwise"]

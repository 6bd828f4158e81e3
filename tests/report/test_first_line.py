"""The sentence that answers first."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import samples

from recuse import report
from recuse.report.canonical_form import normalised
from recuse.report.first_line import lede, pieces
from recuse.report.results_model import View


def with_verdicts(results: samples.Results, gate: str, judge: str, **changes: Any) -> samples.Results:
    changed = copy.deepcopy(results)
    hit = [v for v in changed["verdicts"] if v["gate"] == gate and v["subject"].get("judge") == judge]
    assert hit
    for verdict in hit:
        verdict.update(changes)
    return samples.counted(changed)


def test_the_published_panel() -> None:
    assert report.headline(samples.published()) == (
        "Three of five published judges are cleared; gemini-2.5-pro and grok-4 promote themselves, as known."
    )


def test_two_panels() -> None:
    assert report.headline(samples.both()).startswith(
        "Three of five published judges and none of three local judges are cleared; gemini-2.5-pro and grok-4"
    )


def test_all_are_cleared() -> None:
    results = samples.published()
    for verdict in results["verdicts"]:
        verdict.update(outcome="pass", accepted_fault=None)
    assert report.headline(samples.counted(results)) == "All five published judges are cleared."


def test_an_objection_comes_first() -> None:
    results = with_verdicts(samples.published(), "self_bias", "grok-4", outcome="fail", accepted_fault=None)
    line = report.headline(results)
    assert line.startswith("grok-4 promotes itself: two verdicts turn this run red. ")
    assert line.endswith("gemini-2.5-pro promotes itself, as known.")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outcome": "not measured", "accepted_fault": None}, "gpt-5.1 could not be measured"),
        ({"outcome": "undecided", "allowed": False}, "gpt-5.1 stays undecided"),
        ({"outcome": "fail"}, "gpt-5.1 is unsteady"),
        (
            {"outcome": "fail", "accepted_fault": {"state": "no longer needed"}},
            "gpt-5.1 has outgrown an accepted fault",
        ),
    ],
)
def test_what_is_said_of_a_judge(changes: dict[str, Any], said: str) -> None:
    line = report.headline(with_verdicts(samples.published(), "run_sd", "gpt-5.1", **changes))
    assert line.startswith(f"{said}: two verdicts turn this run red.")


def test_a_known_doubt_is_not_told_as_a_known_fault() -> None:
    """Of two accepted verdicts the one with a fault is told; where there is none, that nobody knows."""
    doubt = {"outcome": "accepted", "accepted_fault": {"state": "applied", "otherwise": "undecided"}}
    fault = {"outcome": "accepted", "accepted_fault": {"state": "applied", "otherwise": "fail"}}
    both = with_verdicts(samples.published(), "self_bias", "gpt-5.1", **doubt)
    assert "gpt-5.1 stays undecided;" in report.headline(both)
    both = with_verdicts(both, "run_sd", "gpt-5.1", **fault)
    assert "gpt-5.1 is unsteady" in report.headline(both)


def test_allowed_doubt_is_told_below() -> None:
    results = with_verdicts(samples.published(), "ground_truth", "gpt-5.1", outcome="undecided", allowed=True)
    assert report.headline(results) == report.headline(samples.published())
    told = "One verdict stays undecided, which the gate allows: rank correlation with the data of gpt-5.1"
    assert any(told in s for s in sentences(results))


def test_who_is_cleared_is_read_not_decided() -> None:
    """The recommendations are believed, whatever the verdicts say."""
    results = samples.published()
    for entry in results["recommendations"]:
        entry.update(recommended="cleared", because=[])
    assert report.headline(results) == "All five published judges are cleared."
    results["recommendations"][0].update(recommended="undecided")
    assert report.headline(results) == "Four of five published judges are cleared; one is undecided."


def test_one_judge_alone() -> None:
    results = samples.published()
    results["recommendations"] = results["recommendations"][:1]
    for told, said in (
        ("cleared", "The only published judge is cleared."),
        ("not cleared", "No published judge is cleared."),
    ):
        results["recommendations"][0].update(recommended=told, because=[])
        assert report.headline(results) == said


def test_the_names_of_judges_that_are_not_cleared_are_marked() -> None:
    told = pieces(View(normalised(samples.published())))
    assert [(p.text, p.outcome) for p in told if p.outcome] == [("gemini-2.5-pro", "accepted"), ("grok-4", "accepted")]
    assert "".join(p.text for p in told) == report.headline(samples.published())


def test_an_unknown_metric_is_called_by_its_gate() -> None:
    results = with_verdicts(samples.published(), "run_sd", "gpt-5.1", outcome="fail")
    for verdict in results["verdicts"]:
        if verdict["outcome"] == "fail":
            verdict.update(gate="wobble", estimate={**verdict["estimate"], "metric": "wobbliness"})
    assert "gpt-5.1 misses the limit of wobble" in report.headline(results)


def test_faults_of_the_run_are_told() -> None:
    results = {
        **samples.published(),
        "objections": ["The accepted fault for self_bias expired."],
        "outcome": "not measured",
    }
    assert "One fault in the run itself." in report.headline(results)


def test_nothing_asked() -> None:
    assert report.headline(samples.nothing()) == "Nothing was measured: no question was asked."


def test_many_judges_are_counted_not_listed() -> None:
    line = report.headline(samples.invented(40))
    assert " more " in line
    assert line.endswith("Two of 40 many judges are cleared; five are undecided.")


def test_lede_gives_the_numbers_and_the_baseline() -> None:
    told = sentences(samples.published())
    each = "+0.77 for gemini-2.5-pro and +0.71 for grok-4"
    assert told[0] == f"Self-bias: {each} (limit ±0.5; accepted until 2027-12-31)."
    assert "Nothing changed against the baseline." in told
    assert (
        "Against the baseline: one limit changed, one change beyond chance, two moved without a test, one appeared and "
        "one vanished." in sentences(samples.failing())
    )


def sentences(results: samples.Results) -> list[str]:
    return lede(View(normalised(results)))

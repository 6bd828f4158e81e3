"""Drawings draw what is there: any part may be missing, and nothing is computed."""

from __future__ import annotations

import pytest
import samples
from page_reader import page

from recuse.report.canonical_form import normalised
from recuse.report.questions import Drawings
from recuse.report.questions.generic import generic
from recuse.report.results_model import Question, ResultsModel

QUESTIONS = ["consensus_deviation", "score_stability", "human_alignment", "ground_truth", "reported_statistics"]


def metrics_of(question: str) -> list[str]:
    results = samples.published()
    both = results["verdicts"] + results["measurements"]
    return sorted({entry["estimate"]["metric"] for entry in both if entry["question"] == question})


CASES = [(question, metric) for question in QUESTIONS for metric in metrics_of(question)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_a_drawing_of_its_own(question: str) -> None:
    drawings = Drawings()
    assert drawings.of(question) is not generic
    assert not drawings.faults


@pytest.mark.parametrize("question", ["no_such_question", "__init__", "os.path", "generic/../x", ""])
def test_other_questions_are_drawn_by_generic(question: str) -> None:
    assert Drawings().of(question) is generic


def test_order_on_the_page() -> None:
    assert sorted([*QUESTIONS[::-1], "another"], key=Drawings().order) == [*QUESTIONS[:4], "another", QUESTIONS[4]]


def about(question: str) -> samples.Results:
    """What the published sample says of one question."""
    results = samples.published()
    for name in ("verdicts", "measurements"):
        results[name] = [entry for entry in results[name] if entry["question"] == question]
    return results


def reduced(question: str, metric: str, *, only: bool) -> samples.Results:
    """The question without this metric, or with nothing but it."""
    results = about(question)
    for name in ("verdicts", "measurements"):
        results[name] = [entry for entry in results[name] if (entry["estimate"]["metric"] == metric) == only]
    return results


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(("question", "metric"), CASES)
@pytest.mark.parametrize("only", [True, False], ids=["alone", "missing"])
def test_any_metric_may_be_missing_or_alone(question: str, metric: str, only: bool) -> None:
    assert "could not be drawn" not in page(normalised(reduced(question, metric, only=only)), "headline")


@pytest.mark.parametrize("question", QUESTIONS)
def test_details_may_be_missing(question: str) -> None:
    results = about(question)
    for entry in results["verdicts"] + results["measurements"]:
        entry["estimate"]["detail"] = {}
    assert "could not be drawn" not in page(normalised(results), "headline")


@pytest.mark.parametrize("question", QUESTIONS)
def test_everything_may_be_undefined(question: str) -> None:
    results = samples.published()
    for entry in results["verdicts"] + results["measurements"]:
        if entry["question"] == question:
            entry["estimate"].update(
                value=float("nan"), low=float("nan"), high=float("nan"), note="undefined: no reply"
            )
    html = page(normalised(results), "headline")
    assert "could not be drawn" not in html
    assert "no reply" in html


def test_a_drawing_that_cannot_draw_says_so_and_the_numbers_are_shown() -> None:
    results = samples.published()
    for entry in results["measurements"]:
        if entry["estimate"]["metric"] == "consensus_deviation":
            entry["estimate"]["detail"]["columns"] = None
    html = page(normalised(results), "headline")
    assert "This question could not be drawn" in html
    assert "−0.335" in html


def test_a_group_lists_judges_in_panel_order_and_gated_numbers_once() -> None:
    results = samples.published()
    twin = next(v for v in results["verdicts"] if v["gate"] == "self_bias")
    results["measurements"].append({k: twin[k] for k in ("question", "subject", "estimate", "test")})
    view = ResultsModel(normalised(results))
    group = view.groups(Question("consensus_deviation", ""))[0]
    own = group.of("self_bias")
    assert [n.who for n in own] == [judge for judge in samples.JUDGES for _ in range(2)]
    assert [n.subject["names"] for n in own[:2]] == ["shown", "hidden"]
    assert all(n.verdict for n in own)


def test_who_is_told_from_its_peers_in_words() -> None:
    """One judge's interval holds zero, another's is not known: nothing is said of it. Where nobody's own work is scored
    otherwise than by its peers, there is nothing that hiding the names could take away."""
    results = samples.published()
    own = {v["subject"]["judge"]: v["estimate"] for v in results["verdicts"]
           if v["gate"] == "self_bias" and v["subject"]["names"] == "shown"}  # fmt: skip

    def reading() -> str:
        group = ResultsModel(normalised(results)).groups(Question("consensus_deviation", ""))[0]
        return Drawings().of("consensus_deviation").reading(group)

    own["gpt-5.1"].update(low=-0.4, high=0.1)
    own["grok-4"].update(low=None, high=None)
    above, below, unclear, hiding = reading().replace(". H", ", H").split(", ")[1:]
    assert above == "two judges score their own work above the peers' consensus"
    assert below == "one judge scores its own work below the peers' consensus"
    assert unclear == "one judge scores its own work no further from the peers' consensus than chance would put it"
    assert hiding.startswith("Hiding the names shrinks the bias by")
    for estimate in own.values():
        estimate.update(low=-0.9, high=0.9)
    start = "With names shown, five judges score their own work no further from the peers' consensus than chance"
    assert reading() == f"{start} would put it."

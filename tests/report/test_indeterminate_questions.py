"""Drawings of response sets and judge selection: what their measures give of a file, and what is left without parts."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import page

from recuse.papers.indeterminacy.definitions import definition
from recuse.report.canonical_form import normalised

pytestmark = pytest.mark.slow("whole runs")

ROOT = Path(__file__).parents[2]
QUESTIONS = ("indeterminate_ratings", "judge_selection")
SETS = ("toxic", "fine", "toxic|fine")
Results = dict[str, Any]


def rows(seed: int = 0) -> list[str]:
    """Forced choices and response sets of three people and of four judges, one of which answers at random."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.5, 0.5, 0.5], size=40)
    found = ["rater,kind,item,repeat,forced_choice,response_set"]
    for rater in ("ann", "bob", "cid", "j1", "j2", "j3", "random"):
        person = rater in ("ann", "bob", "cid")
        for item, share in enumerate(shares):
            for repeat in range(1 if person else 4):
                named = SETS[rng.choice(3, p=rng.dirichlet([1, 1, 1]) if rater == "random" else share)]
                chosen = named.split("|")[int(rng.random() < 0.5)] if "|" in named else named
                found.append(f"{rater},{'person' if person else 'judge'},i{item},{repeat},{chosen},{named}")
    return found


@pytest.fixture(scope="module")
def results(shipped_results: Callable[..., Results], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What the two evals write about such a file."""
    file = tmp_path_factory.mktemp("ratings") / "labels.csv"
    file.write_text("\n".join(rows()) + "\n", encoding="utf-8")
    asked = [f"evals/test_{question}.py" for question in QUESTIONS]
    found = shipped_results(*asked, "--ratings", str(file), red=True)
    assert not found["unmeasured"]
    return found


def drawn(results: Results, without: str = "", only: str = "") -> str:
    kept = {**results, "not_asked": [], "excerpts": [], "baseline": None}
    for name in ("verdicts", "measurements"):
        entries = copy.deepcopy(kept[name])
        kept[name] = [
            e for e in entries if e["estimate"]["metric"] != without and only in ("", e["estimate"]["metric"])
        ]
    html = page(normalised(kept), "headline")
    assert "could not be drawn" not in html
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def metrics(results: Results) -> list[str]:
    return sorted({e["estimate"]["metric"] for e in results["verdicts"] + results["measurements"]})


def test_every_measure_of_both_questions_was_taken(results):
    assert metrics(results) == [
        "accepted_both", "best_judge", "bias_over_beta", "common_class_recall", "consistency_over_beta",
        "decision_consistency", "indeterminate_share", "performance", "prevalence_bias", "prevalence_shift",
        "ratings_needed", "regret_over_beta", "selection_regret",
    ]  # fmt: skip


def test_advice_follows_from_what_was_measured(results):
    text = drawn(results)
    assert "People named more than one option in" in text
    assert "Specify the task fully" in text
    assert "3 ratings per text decide" in text
    assert "shares (KL from people, squared error) or by response sets, not by the commonest answer" in text
    assert "was not asked; ask for all that apply" in drawn(results, without="indeterminate_share")


def test_a_task_whose_answers_are_never_several_is_not_called_underspecified(results):
    sure = copy.deepcopy(results)
    for entry in sure["measurements"]:
        if entry["estimate"]["metric"] == "indeterminate_share":
            entry["estimate"] |= {"value": 0.0, "low": 0.0, "high": 0.1}
    text = drawn(sure)
    assert "People named more than one option in 0 % of their answers." in text
    assert "Specify the task fully" not in text


def test_three_people_are_advised_where_there_are_fewer(results):
    assert "Ask three people" not in drawn(results)
    few = copy.deepcopy(results)
    for entry in few["measurements"]:
        if entry["estimate"]["metric"] == "ratings_needed":
            entry["estimate"]["detail"]["have"] = 2
    assert "Ask three people per text: of fewer nobody can tell how far people differ." in drawn(few)


def test_errors_are_told_where_people_answered_twice(results):
    twice = copy.deepcopy(results)
    share = next(e for e in twice["measurements"] if e["estimate"]["metric"] == "indeterminate_share")
    error = {"metric": "rater_error", "value": 0.109, "low": 0.03, "high": 0.25, "n": 400, "detail": {}}
    subject = {name: level for name, level in share["subject"].items() if name != "rater"}
    twice["measurements"].append({**share, "subject": subject, "estimate": {**share["estimate"], **error}})
    text = drawn(twice)
    told = text[text.find("People would take back") :][:90]
    assert told.startswith("People would take back 11 % of their answers (3 % to 25 %), by 400 pairs of answers")
    assert "is in no such data" not in text


def test_the_measure_that_loses_least_here_is_named(results):
    """By what was lost on these answers, not by a name that is always the same."""
    costs = copy.deepcopy(results)
    regrets = [entry for entry in costs["measurements"] if entry["estimate"]["metric"] == "selection_regret"]
    for place, entry in enumerate(regrets):
        entry["estimate"] |= {"value": 0.01 + place / 100, "low": 0.0, "high": 0.5}
    names = [entry["subject"]["definition"] for entry in (regrets[0], regrets[-1])]
    titles = [f"{definition(name).title} {name[name.index('(') :]}" for name in names]
    text = drawn(costs).replace("&#39;", "'")
    least, most = f"lost by {titles[0]} (0.01), the", f"the most by {titles[1]} (0.{len(regrets):02})"
    assert f"At face value the least consistency is {least}" in text
    assert most in text
    for entry in regrets:
        entry["estimate"]["value"] = 0.02
    assert "At face value each loses as much consistency (0.02)." in drawn(costs)


def test_tables_and_plots_are_there(results):
    text = drawn(results)
    for caption in (
        "Texts decided as people decide", "Share of positive texts, judge less people", "What would settle it",
        "Texts decided alike, by threshold and beta", "Response sets beside choices", "Agreement by definition",
        "Chance to be the judge that decides most often", "The judge each measure chooses", "The same by beta",
    ):  # fmt: skip
        assert caption in text, caption
    recalls = [e["estimate"] for e in results["measurements"] if e["estimate"]["metric"] == "common_class_recall"]
    known = [e for e in recalls if e["value"] is not None and e["value"] == e["value"]]
    assert recalls
    assert ("Not accuracy" in text) == bool(known), "a plot of nothing is not drawn; the small print says why"
    assert known or recalls[0]["note"].removeprefix("undefined: ") in text.replace("&#39;", "'")
    assert "Jensen-Shannon distance" in text
    assert "Jensen-Shannon divergence, nats" in text


def test_choice_and_reverse_matrices_stand_with_their_intervals(results):
    """F and F' of people, cell by cell, Theorem 3.4 in words, and that E is in no such data."""
    detail = next(
        e["estimate"]["detail"]
        for e in results["measurements"]
        if e["estimate"]["metric"] == "indeterminate_share" and e["subject"]["rater"] == "people"
    )
    text = drawn(results).replace("&#39;", "'")
    table = text.partition("People: which option is chosen where a response set is held")[2]
    both = detail["options"].index("toxic"), detail["sets"].index("|".join(detail["options"]))
    for name, row, column in (("choice", *both), ("reverse", *both[::-1])):
        value, low, high = (detail[f"{name}{end}"][row][column] for end in ("", "_low", "_high"))
        assert 0 < low < value < high < 1
        assert f"{value:.2f} {low:.2f} to {high:.2f}" in table
    assert detail["words"] in text
    assert "would take back (E) is in no such data" in text


def test_any_measure_may_be_missing_or_alone(results):
    for metric in metrics(results):
        drawn(results, without=metric)
        drawn(results, only=metric)


def test_what_is_only_measured_refuses_nobody_and_clears_nobody(results):
    """Cost of a choice and doubt about beta are shown; they keep nobody from being cleared."""
    assert results["verdicts"] == []
    assert {one["word"] for one in results["decision"]["judges"]} == {"undecided"}
    measured = {record["estimate"]["metric"] for record in results["measurements"]}
    assert {"decision_consistency", "prevalence_bias"} <= measured

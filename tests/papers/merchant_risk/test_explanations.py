"""Explanation auditing: every planted fault is found in the judge that has it, and in no other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.merchant_risk.explanations import explanation_finding, polarity
from recuse.ratings import Nominal, Numeric, Ratings

FINDINGS = ("empty", "contradiction", "wrong criterion", "copied", "boilerplate", "rubric", "ungrounded")

TEXTS = {f"t{k}": f"bakeries gamblers subscriptions number{'abcdefghij'[k]}word" for k in range(10)}
RUBRIC = "Is it clear, ordered and professionally written? ready to hand to a client without any change"
GOOD, BAD = "clear and {} about {}", "vague and {} about {}"


def said(judge: str, item: str, criterion: str, score: float, words: str) -> dict[str, object]:
    return {"judge": judge, "item": item, "criterion": criterion, "score": score, "response": words}


def honest(judge: str, number: int, criterion: str, score: float) -> str:
    """Praise for high scores, blame for low ones, in words of the text, other ones each time."""
    item = f"t{number}"
    return (GOOD if score > 5 else BAD).format(f"{criterion} told", TEXTS[item].split()[-1])


FAULTS = {
    "contradiction": lambda n, c, score: honest("", n, c, 10 - score),
    "copied": lambda n, c, score: f"quality and accuracy of {TEXTS[f't{n}'].split()[-1]}",
    "boilerplate": lambda n, c, score: f"{'clear' if score > 5 else 'vague'} {c} about bakeries",
    "rubric": lambda n, c, score: (
        f"{'clear' if score > 5 else 'vague'} {c}, ready to hand to a client, {TEXTS[f't{n}']}"
    ),
    "ungrounded": lambda n, c, score: f"{'clear' if score > 5 else 'vague'} {c} {'abcdefghij'[n]}",
    "empty": lambda n, c, score: "...",
    "wrong criterion": lambda n, c, score: (
        honest("", n, "accuracy" if c == "quality" else "quality", score)
        + f" {'first' if c == 'quality' else 'second'}"
    ),
}


def audited(faults: list[str]) -> Ratings:
    rng = np.random.default_rng(1)
    rows = []
    for judge in ["honest", *faults]:
        for number in range(10):
            for criterion in ("quality", "accuracy"):
                score = float(rng.choice([1, 2, 9, 10]))
                speak = FAULTS.get(judge)
                words = speak(number, criterion, score) if speak else honest(judge, number, criterion, score)
                rows.append(said(judge, f"t{number}", criterion, score, words))
    frame = pd.DataFrame(rows).assign(target="x")
    texts = pd.DataFrame({"item": list(TEXTS), "target": "x", "text": list(TEXTS.values())})
    words = Ratings.of(
        frame.drop(columns="score").assign(rubric=RUBRIC),
        texts=texts,
        scales=dict.fromkeys(("quality", "accuracy"), Nominal(("words", "other words"))),
    )
    return Ratings.of(frame.drop(columns="response"), scales=Numeric(0, 10), beside={"explanations": words}.get)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_in_the_judge_that_has_it_and_not_in_an_honest_one(fault):
    found = explanation_finding(audited([fault]))
    assert found.of(judge=fault, finding=fault).value >= 0.9
    assert found.of(judge=fault, finding=fault).detail["examples"]
    assert {name: found.of(judge="honest", finding=name).value for name in FINDINGS} == dict.fromkeys(FINDINGS, 0.0)


@pytest.mark.parametrize("fault", ["contradiction", "rubric", "wrong criterion", "boilerplate", "ungrounded"])
def test_a_planted_fault_trips_nothing_else(fault):
    found = explanation_finding(audited([fault]))
    assert {name for name in FINDINGS if found.of(judge=fault, finding=name).value > 0.1} == {fault}


@pytest.mark.parametrize(
    ("words", "expected"),
    [("clear and accurate", 2), ("not clear", -1), ("no contradictions", 1), ("lacks detail", -1), ("", 0),
     ("incomplete", -1), ("the levels rise", 0), ("accuracy", 0), ("inaccuracy", -1)],
)  # fmt: skip
def test_praise_and_blame_are_turned_round_by_what_stands_before(words, expected):
    assert polarity(words.split()) == expected


def test_where_no_reasons_stand_beside_nothing_is_found(published):
    assert len(explanation_finding(published)) == 0


def test_an_unusable_score_contradicts_nothing():
    frame = pd.DataFrame([said("a", "t1", "quality", np.nan, "clear words")]).assign(target="x")
    words = Ratings.of(frame.drop(columns="score"), scales=Nominal(("w", "v")))
    ratings = Ratings.of(frame.drop(columns="response"), scales=Numeric(0, 10), beside={"explanations": words}.get)
    assert explanation_finding(ratings).of(judge="a", finding="contradiction").value == 0.0

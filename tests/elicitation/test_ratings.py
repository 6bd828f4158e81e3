"""From answers to the ratings table: one row per call and criterion, failures with their reasons, nothing filled in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import Plan, make_plan
from recuse.elicitation.replies import read_replies
from recuse.ratings import COLUMNS
from recuse.schema import Call, Judge, RatingsError, RawResponse
from recuse.tasks import Task

Judges = Callable[..., dict[str, Judge]]
MakeAnswer = Callable[..., RawResponse]
Answers = list[tuple[Call, RawResponse]]

SCORES = {"clarity": {"score": 8, "why": "Plain."}, "depth": {"score": 6, "why": "Thin."}, "total": 7.0}


@pytest.fixture
def asked(task: Task, judges: Judges) -> Plan:
    return make_plan("mini", task, "rubric", judges(author="beta"), identify=request_key, repeats=2)


@pytest.fixture
def answers(asked: Plan, answer: MakeAnswer) -> Callable[..., Answers]:
    """Every call answered with SCORES, except those whose place in the plan is given another text or answer."""

    def make(**others: Any) -> Answers:
        found = []
        for place, call in enumerate(asked.calls):
            text = others.get(f"at_{place}", json.dumps(SCORES))
            reply = text if isinstance(text, RawResponse) else answer(asked.judges[call.judge], text)
            found.append((call, reply))
        return found

    return make


def test_one_row_per_call_and_criterion_in_the_order_of_the_plan(asked: Plan, answers: Callable[..., Answers]) -> None:
    table = read_replies(asked, answers()).table
    assert list(table.columns) == [*COLUMNS, "names"], "metrics take every further column for a factor"
    assert len(table) == 16 * 3
    first = table.iloc[0].to_dict()
    assert first.pop("request") == asked.calls[0].key
    assert first.pop("response") is None
    assert first == {
        "task": "essays", "protocol": "rubric", "rater": "ann", "kind": "judge", "item": "alpha", "target": "alpha",
        "criterion": "clarity", "repeat": 0, "score": 8.0, "status": "ok", "names": "shown",
    }  # fmt: skip
    assert list(table["criterion"][:3]) == ["clarity", "depth", "total"]
    assert table["score"].dtype == "float64"
    assert set(table["status"]) == {"ok"}


def test_what_cannot_be_read_keeps_its_row_without_a_score(asked: Plan, answers: Callable[..., Answers]) -> None:
    given = {
        "at_0": "I cannot score this.",
        "at_1": json.dumps({**SCORES, "depth": {"why": "Thin."}}),
        "at_2": json.dumps({**SCORES, "total": 70}),
        "at_3": "Eight.",
        "at_4": RawResponse(200, {}, b"<html>"),
    }
    table = read_replies(asked, answers(**given)).table
    failed = table[table["status"] != "ok"]
    told = list(failed[["criterion", "status"]].itertuples(index=False, name=None))
    assert told == [
        *((name, "refused") for name in SCORES),
        ("depth", "unparsed"),
        ("total", "out_of_scale"),
        *((name, "unparsed") for name in SCORES),
        *((name, "error") for name in SCORES),
    ]
    assert failed["score"].isna().all()
    assert len(table) == 16 * 3


def test_a_table_of_failures_alone_is_still_a_table(asked: Plan, answers: Callable[..., Answers]) -> None:
    table = read_replies(asked, answers(**{f"at_{place}": "No." for place in range(16)})).table
    assert set(table["status"]) == {"unparsed"}
    assert table["score"].dtype == "float64"


def test_no_answers_make_an_empty_table(asked: Plan) -> None:
    assert len(read_replies(asked, []).table) == 0


def test_one_call_answered_twice_is_a_fault(asked: Plan, answers: Callable[..., Answers]) -> None:
    given = answers()
    with pytest.raises(RatingsError, match="the same judgement appears more than once"):
        read_replies(asked, [*given, given[0]])


def test_the_order_of_answers_changes_the_order_of_rows_only(asked: Plan, answers: Callable[..., Answers]) -> None:
    given = answers(at_3="Eight.")
    identity = ["rater", "target", "names", "repeat", "criterion"]
    one, other = (
        read_replies(asked, some).table.sort_values(identity, ignore_index=True) for some in (given, given[::-1])
    )
    pd.testing.assert_frame_equal(one, other)


# --------------------------------------------------------------------------- what the answers say beside the scores


def test_tokens_are_added_up_per_judge_and_unknown_stays_unknown(
    asked: Plan, answers: Callable[..., Answers], judges: Judges
) -> None:
    payload = {"choices": [{"message": {"content": json.dumps(SCORES)}}]}
    given = answers(at_0=RawResponse(200, {}, json.dumps(payload).encode()))
    ann, bob = read_replies(asked, given).usage
    assert (ann["calls"], ann["input_tokens"], ann["output_tokens"], ann["dollars"]) == (8, None, None, None)
    assert (bob["calls"], bob["input_tokens"], bob["output_tokens"], bob["dollars"]) == (8, 80, 40, None)


def test_dollars_follow_from_the_panels_prices(task: Task, judges: Judges, answer: MakeAnswer) -> None:
    priced = judges(input_usd_per_mtok=2.0, output_usd_per_mtok=10.0)
    asked = make_plan("mini", task, "rubric", priced, identify=request_key, repeats=1)
    given = [(call, answer(priced[call.judge], "x", input_tokens=1000, output_tokens=50)) for call in asked.calls]
    ann, _ = read_replies(asked, given).usage
    assert ann["dollars"] == pytest.approx(4 * (1000 * 2.0 + 50 * 10.0) / 1e6)


def test_the_words_shown_are_the_own_work_and_the_first_failures(asked: Plan, answers: Callable[..., Answers]) -> None:
    shown = read_replies(asked, answers(at_1="Eight.", at_2="Nine.", at_3="Ten.")).excerpts
    of_ann = [word for word in shown if word["judge"] == "ann"]
    assert [(w["target"], w["factors"]["names"], w["repeat"], w["status"], w["text"][:5]) for w in of_ann] == [
        ("alpha", "shown", 1, "unparsed", "Eight"),
        ("alpha", "hidden", 0, "unparsed", "Nine."),
        ("beta", "shown", 0, "ok", '{"cla'),
        ("beta", "hidden", 0, "ok", '{"cla'),
    ]
    assert of_ann[0]["why"] == "no JSON object in the reply"
    asked_of = {w["factors"]["names"]: w["prompt"] for w in of_ann if w["target"] == "alpha"}
    assert all(asked_of.values())
    assert asked_of["shown"] != asked_of["hidden"], "what this very reply answered"

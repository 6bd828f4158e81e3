"""All sets in one call: every set's scores land on its own author, a ranking becomes places, and what is lacking is
named and costs no other set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recuse.papers.merchant_risk import rubric_joint
from recuse.protocols import rubric
from recuse.schema import Judge, Judgement, Reply
from recuse.tasks import Task, load_task

TASKS = Path(__file__).resolve().parents[2] / "fixtures" / "tasks"
ANN = Judge("ann", "Ann", "openai_chat", "http://api.example", "ann-1", author="gpt-5.1")
HIDDEN, SHOWN = {"condition": "anonymized"}, {"condition": "attributed"}
LABELS = [f"Expert {k}" for k in range(1, 6)]


@pytest.fixture(scope="module")
def risk() -> Task:
    return load_task(TASKS / "merchant_risk")


def answer(risk: Task, **changes: Any) -> dict[str, Any]:
    names = [*risk.criteria, "total"]
    sets = [{"author": label, **dict.fromkeys(names, 5.0 + k)} for k, label in enumerate(LABELS)]
    return {"sets": sets, "ranking": LABELS[::-1], "synthesis": "They differ.", **changes}


def read(risk: Task, said: Any) -> list[Judgement]:
    (item,) = rubric_joint.items(risk, ANN)
    return rubric_joint.read(risk, item, HIDDEN, Reply(said if isinstance(said, str) else json.dumps(said)))


def test_one_call_shows_every_set_under_the_label_that_hides_it(risk: Task) -> None:
    (item,) = rubric_joint.items(risk, ANN)
    words = rubric_joint.prompt(risk, item, HIDDEN).messages[-1].content
    assert all(words.count(f"RATIONALE SET BY {label}") == 1 for label in LABELS)
    assert "GPT" not in words
    assert "RATIONALE SET BY GPT-5.1\n" in rubric_joint.prompt(risk, item, SHOWN).messages[-1].content
    single = rubric.prompt(risk, risk.items[0], HIDDEN).messages[-1].content
    level = risk.items[0].fields["rationales"][0]["rationale"]
    assert level in words
    assert level in single


def test_every_score_is_that_of_its_own_author_and_item(risk: Task) -> None:
    rows = {(row.target, row.item, row.criterion): row.score for row in read(risk, answer(risk))}
    targets = [item.target for item in risk.items]
    assert [rows[t, t, "total"] for t in targets] == [5.0, 6.0, 7.0, 8.0, 9.0]
    assert [rows[t, t, "place"] for t in targets] == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert len(rows) == 5 * 7


@pytest.mark.parametrize("ranking", [None, "Expert 1", LABELS[:4], [*LABELS[:4], "Expert 1"], [*LABELS, "Expert 6"]])
def test_a_ranking_that_does_not_name_each_once_loses_the_places_and_no_score(risk: Task, ranking: Any) -> None:
    rows = read(risk, answer(risk, ranking=ranking))
    assert {row.status for row in rows if row.criterion == "place"} == {"unparsed"}
    assert {row.status for row in rows if row.criterion != "place"} == {"ok"}


def test_a_set_scored_twice_or_not_at_all_costs_no_other_set(risk: Task) -> None:
    told = answer(risk)
    told["sets"][1]["author"] = "Expert 1"
    rows = read(risk, told)
    lost = {row.target for row in rows if row.status != "ok"}
    assert lost == {"gpt-5.1", "gemini-2.5-pro"}
    assert {row.why for row in rows if row.target == "gpt-5.1" and row.status != "ok"} == {
        "the reply scores Expert 1 2 times, once is wanted"
    }


def test_a_score_outside_the_scale_is_lost_alone(risk: Task) -> None:
    told = answer(risk)
    told["sets"][0]["quality"] = 11
    (bad,) = [row for row in read(risk, told) if row.status != "ok"]
    assert (bad.target, bad.criterion, bad.status) == ("gpt-5.1", "quality", "out_of_scale")


def test_a_score_between_the_steps_is_lost_alone_and_a_total_may_lie_there(risk: Task) -> None:
    told = answer(risk)
    told["sets"][0] |= {"quality": 7.25, "total": 7.25}
    (bad,) = [row for row in read(risk, told) if row.status != "ok"]
    assert (bad.criterion, bad.why) == ("quality", "quality is 7.25, between the steps of 0.1 from 0 to 10")


def test_a_reply_without_an_object_loses_every_row(risk: Task) -> None:
    rows = read(risk, "I cannot compare them.")
    assert {row.status for row in rows} == {"refused"}
    assert len(rows) == 5 * 7


def test_sets_of_one_line_of_trade_are_shown_together() -> None:
    task = load_task(TASKS / "merchant_rationales")
    names = ["smollm2-135m", "gemma-3-270m"]
    two = [
        {"id": segment, "target": target, "fields": {"segment": segment, "rationales": []}}
        for segment in ("a", "b") for target in names
    ]  # fmt: skip
    from recuse.schema import Item

    task.__dict__["items"] = tuple(Item(task.name, line["id"], line["target"], line["fields"]) for line in two)
    asked = rubric_joint.items(task, ANN)
    assert [item.id for item in asked] == ["a", "b"]
    assert [one["target"] for one in asked[0].fields["sets"]] == names


def test_all_sets_at_once_are_bound_to_the_steps_of_one_by_one(risk: Task) -> None:
    (item,) = rubric_joint.items(risk, ANN)
    joint, single = rubric_joint.prompt(risk, item, HIDDEN), rubric.prompt(risk, risk.items[0], HIDDEN)
    assert joint.grammar_schema is not None
    assert single.grammar_schema is not None
    whole = joint.grammar_schema["properties"]
    assert list(whole) == ["sets", "ranking", "synthesis"]
    one = whole["sets"]["items"]["properties"]
    assert list(one) == ["author", *risk.criteria, "total"]
    alone = single.grammar_schema["properties"]
    assert [one[name] for name in risk.criteria] == [alone[name]["properties"]["score"] for name in risk.criteria]
    assert one["total"] == alone["total"]

"""The rubric protocol: one judgement per criterion whatever comes, and never a number that is not in the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.protocols import protocol, rubric
from recuse.schema import Judgement, RecuseError, Reply
from recuse.tasks import Task

Scores = Callable[..., dict[str, Any]]
ATTRIBUTED, ANONYMIZED = {"condition": "attributed"}, {"condition": "anonymized"}


def read(task: Task, answer: object, finish: Any = "stop") -> dict[str, Judgement]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    rows = rubric.read(task, task.items[0], ATTRIBUTED, Reply(text, finish))
    assert [row.criterion for row in rows] == [*task.criteria, "total"], "one row per criterion, whatever the reply"
    return {row.criterion: row for row in rows}


def test_a_good_reply_gives_every_score_and_the_judges_own_total(task: Task, scores: Scores) -> None:
    rows = read(task, scores(accuracy={"score": 3, "why": "Thin."}, total=6.6))
    assert {row.status for row in rows.values()} == {"ok"}
    assert (rows["accuracy"].score, rows["quality"].score, rows["total"].score) == (3.0, 7.5, 6.6)


@pytest.mark.parametrize(
    ("change", "criterion", "status", "why"),
    [
        ({"accuracy": None}, "accuracy", "unparsed", "the reply lacks accuracy"),
        ({"accuracy": {"why": "Good."}}, "accuracy", "unparsed", "the reply lacks accuracy.score"),
        ({"accuracy": [7]}, "accuracy", "unparsed", "accuracy is [7], not a number"),
        ({"accuracy": 11}, "accuracy", "out_of_scale", "accuracy is 11, outside 0..10"),
        ({"accuracy": {"score": "7"}}, "accuracy", "unparsed", "accuracy is '7', not a number"),
        ({"accuracy": {"score": True}}, "accuracy", "unparsed", "accuracy is True, not a number"),
        ({"accuracy": {"score": None}}, "accuracy", "unparsed", "accuracy is None, not a number"),
        ({"accuracy": {"score": {"value": 7}}}, "accuracy", "unparsed", "accuracy is {'value': 7}, not a number"),
        ({"accuracy": {"score": 11}}, "accuracy", "out_of_scale", "accuracy is 11, outside 0..10"),
        ({"accuracy": {"score": -0.1}}, "accuracy", "out_of_scale", "accuracy is -0.1, outside 0..10"),
        ({"total": None}, "total", "unparsed", "the reply lacks total"),
        ({"total": {"score": 7}}, "total", "unparsed", "total is {'score': 7}, not a number"),
        ({"total": 70}, "total", "out_of_scale", "total is 70, outside 0..10"),
    ],
)
def test_one_bad_criterion_leaves_the_others(
    task: Task, scores: Scores, change: dict[str, Any], criterion: str, status: str, why: str
) -> None:
    rows = read(task, scores(**change))
    bad = rows.pop(criterion)
    assert (bad.score, bad.status, bad.why) == (None, status, why)
    assert {row.status for row in rows.values()} == {"ok"}


def test_a_bare_number_is_a_score_without_a_reason(task: Task, scores: Scores) -> None:
    rows = read(task, scores(accuracy=3))
    assert (rows["accuracy"].status, rows["accuracy"].score) == ("ok", 3.0)


@given(st.integers(-30, 230), st.sampled_from([0.1, 0.5, 1, None]), st.booleans())
def test_what_is_usable_is_what_the_schema_allows(
    task: Task, scores: Scores, tenths: int, step: float | None, whole: bool
) -> None:
    """Of a criterion the steps of its scale, of the total any number of it; whether or not the rest can be used."""
    value = tenths / 20
    stepped = replace(task, data={**task.data, "scale": {"minimum": 0, "maximum": 10, "step": step}})
    allowed = rubric.prompt(stepped, task.items[0], ATTRIBUTED).schema["properties"]["accuracy"]["properties"]["score"]
    good = value in allowed["enum"] if step else 0 <= value <= 10
    answer = scores(quality={"score": 7 if whole else None, "why": "."}, accuracy={"score": value, "why": "."})
    rest = {name: {"score": 7, "why": "."} for name in task.criteria[2:]}
    row = read(stepped, {**answer, **rest, "total": value})
    assert (row["accuracy"].status, row["total"].status) == (
        "ok" if good else "out_of_scale", "ok" if 0 <= value <= 10 else "out_of_scale"
    )  # fmt: skip


def test_a_number_beyond_all_bounds_is_out_of_scale(task: Task, scores: Scores) -> None:
    rows = read(task, json.dumps(scores()).replace('"total": 7.5', '"total": 1e999'))
    assert (rows["total"].status, rows["total"].why) == ("out_of_scale", "total is inf, outside 0..10")


def test_a_missing_total_is_not_computed(task: Task, scores: Scores) -> None:
    assert read(task, scores(total=None))["total"].score is None


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        ("I cannot score this.", "stop", "refused"),
        ("No.", "refusal", "refused"),
        ("Seven out of ten.", "stop", "unparsed"),
        ('{"accuracy": {"score": 7, "wh', "length", "unparsed"),
        ("", "stop", "unparsed"),
        ("the body is not JSON", "error", "error"),
    ],
)
def test_an_unusable_reply_fails_every_criterion_for_one_reason(
    task: Task, text: str, finish: str, status: str
) -> None:
    rows = read(task, text, finish)
    assert {row.status for row in rows.values()} == {status}
    assert len({row.why for row in rows.values()}) == 1
    assert all(row.score is None for row in rows.values())


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@given(st.data())
def test_whatever_the_text_no_score_comes_from_nowhere(task: Task, scores: Scores, data: st.DataObject) -> None:
    """Good replies with a piece cut out and something odd put in its place, and texts of any kind."""
    whole = json.dumps(scores(total=data.draw(st.floats(-3, 13) | st.integers(-3, 13))))
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 40, len(whole))))
    put = data.draw(st.text('{}[]",:0123456789.-eE \\nulltrueNaN', max_size=12) | st.text(max_size=5))
    text = data.draw(st.sampled_from([whole[:start] + put + whole[end:], whole[:start], put]))
    written = {float(number) for number in NUMBER.findall(text)}
    for row in read(task, text, data.draw(st.sampled_from(["stop", "length"]))).values():
        if row.status == "ok":
            assert row.score in written
            assert 0 <= row.score <= 10
        else:
            assert row.score is None
            assert row.why


# --------------------------------------------------------------------------- what is asked


def test_the_conditions_differ_in_how_the_author_is_called(task: Task) -> None:
    for item in task.items:
        label, hidden = (str(task.targets[item.target][name]) for name in ("label", "anonymous"))
        shown, blind = (rubric.prompt(task, item, factors) for factors in (ATTRIBUTED, ANONYMIZED))
        assert label in shown.messages[-1].content
        assert label not in blind.messages[-1].content
        assert [m.content.replace(label, hidden) for m in shown.messages] == [m.content for m in blind.messages]


@pytest.mark.parametrize("name", ["rubric", "rubric_self_reported"])
def test_every_criterion_and_every_text_is_in_the_prompt(task: Task, name: str) -> None:
    item = task.items[0]
    prompt = protocol(name).prompt(task, item, ATTRIBUTED)
    assert [message.role for message in prompt.messages] == ["system", "user"]
    assert prompt.temperature == 0.7
    said = prompt.messages[1].content
    assert all(f'"{criterion}": ' in said for criterion in task.criteria)
    assert all(entry["rationale"] in said for entry in item.fields["rationales"])


def test_the_schema_asks_for_what_the_reader_wants(task: Task, scores: Scores) -> None:
    prompt = rubric.prompt(task, task.items[0], ATTRIBUTED)
    assert prompt.schema is not None
    assert prompt.schema["required"] == list(scores())
    allowed = prompt.schema["properties"]["accuracy"]["properties"]["score"]["enum"]
    assert (allowed[0], allowed[1], allowed[-1], len(allowed)) == (0, 0.1, 10, 101)
    assert prompt.schema["properties"]["total"] == {"type": "number", "minimum": 0, "maximum": 10}
    assert prompt.grammar_schema is not None, "servers with grammars know no bounds of a number"
    assert prompt.grammar_schema["properties"]["total"] == {"enum": allowed}


def test_a_total_of_whole_scores_need_not_be_whole(task: Task, scores: Scores) -> None:
    whole = Task(task.name, task.folder, {**task.data, "scale": {"minimum": 0, "maximum": 10, "step": 1}})
    schema = rubric.prompt(whole, whole.items[0], ATTRIBUTED).schema
    assert schema is not None
    assert schema["properties"]["accuracy"]["properties"]["score"]["enum"] == list(range(11))
    assert "enum" not in schema["properties"]["total"]


def test_a_scale_without_steps_takes_any_number(task: Task) -> None:
    free = Task(task.name, task.folder, {**task.data, "scale": {"minimum": 0, "maximum": 10}})
    prompt = rubric.prompt(free, free.items[0], ATTRIBUTED)
    expected = {"type": "number", "minimum": 0, "maximum": 10}
    for schema in (prompt.schema, prompt.grammar_schema):
        assert schema is not None
        assert schema["properties"]["accuracy"]["properties"]["score"] == expected
        assert schema["properties"]["total"] == expected


def test_a_target_without_labels_is_named_by_itself_and_hidden_by_its_place(task: Task) -> None:
    """A stranger's task names nobody: what is shown is the target, what hides it a number."""
    bare = Task(task.name, task.folder, {**task.data, "target": [{"id": "bot-a"}, {"id": "bot-b"}]})
    assert rubric.author_label(bare, "bot-b", "attributed") == "bot-b"
    assert rubric.author_label(bare, "bot-b", "anonymized") == "Author 2"


def test_an_unknown_protocol_is_told_with_the_known_ones() -> None:
    with pytest.raises(RecuseError, match="unknown protocol 'rubrik'; known: "):
        protocol("rubrik")


def test_parts_and_whole_may_have_a_scale_each(task: Task, scores: Scores) -> None:
    """Likert ratings: 1 to 3 for each part, 1 to 5 for the whole, which is then no mean of them."""
    parts = [{**one, "scale": {"minimum": 1, "maximum": 3, "step": 1}} for one in task.data["criterion"]]
    whole = {"minimum": 1, "maximum": 5, "step": 1}
    likert = replace(task, data={**task.data, "criterion": parts, "scale": whole})
    given = {name: {"score": 3, "why": "It is."} for name in task.criteria} | {"total": 5}
    assert {row.score for row in read(likert, given).values()} == {3, 5}
    beyond = read(likert, given | {"accuracy": {"score": 4, "why": "Very."}, "total": 6})
    assert (beyond["accuracy"].status, beyond["total"].status) == ("out_of_scale", "out_of_scale")
    schema = rubric.prompt(likert, likert.items[0], ATTRIBUTED).grammar_schema
    assert schema is not None
    assert schema["properties"]["accuracy"]["properties"]["score"] == {"enum": [1, 2, 3]}
    assert schema["properties"]["total"] == {"enum": [1, 2, 3, 4, 5]}
    assert (rubric.parts(task), rubric.parts(likert)) == (task.criteria, ())

"""What a second task needs of the parts that serve every task: its own items files and judges, grammars, tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recuse.configuration.toml_files import ConfigurationError
from recuse.judges import openai_chat
from recuse.panels import load_panel
from recuse.schema import Judge, Message, Prompt
from recuse.tasks import Task

JUDGE = Judge("j", "J", "openai_chat", "http://127.0.0.1:1/v1", "m")
PROMPT = Prompt((Message("user", "?"),), temperature=0.0, max_tokens=5, grammar='root ::= "yes"')

PANEL = """
name = "two-tasks"
description = "d"
provenance = "recorded"
source = "s"

[[task]]
name = "one"
protocols = ["rubric"]
judges = ["b"]

[[task]]
name = "two"
protocols = ["grading", "pairwise"]
items = { pairwise = "pairs.jsonl" }

[[judge]]
name = "a"
wire = "openai_chat"
base_url = "http://127.0.0.1:1/v1"
model = "a"

[[judge]]
name = "b"
wire = "openai_chat"
base_url = "http://127.0.0.1:2/v1"
model = "b"
"""


def panel(folder: Path, text: str = PANEL) -> Path:
    path = folder / "two-tasks.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_task_may_name_the_judges_it_asks(tmp_path: Path) -> None:
    loaded = load_panel(panel(tmp_path))
    assert list(loaded.judges_of("one")) == ["b"]
    assert list(loaded.judges_of("two")) == ["a", "b"]


def test_a_task_may_name_an_items_file_by_protocol(tmp_path: Path) -> None:
    assert load_panel(panel(tmp_path)).task("two").items == {"pairwise": "pairs.jsonl"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('judges = ["b"]', 'judges = ["b", "c"]', r"task one: unknown judge c; the panel has a, b"),
        ("{ pairwise =", "{ rubric =", r"task two: items for rubric, which is not in protocols"),
    ],
)
def test_names_that_do_not_exist_are_mistakes(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        load_panel(panel(tmp_path, PANEL.replace(old, new)))


def test_items_come_from_the_named_file(tmp_path: Path) -> None:
    lines = [
        {"id": "s1.1", "target": "x", "fields": {"story": "s1", "texts": {"a": {"lead": "L"}}, "words": {"a": 1}}},
        {"id": "s2.1", "target": "y", "fields": {"story": "s2", "texts": {"a": {"lead": "M"}}, "words": {"a": 2}}},
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    task = Task("two", tmp_path, {"target": [{"id": "x"}, {"id": "y"}]})
    assert task.with_items(None) is task
    asked = task.with_items("pairs.jsonl")
    assert [item.id for item in asked.items] == ["s1.1", "s2.1"]
    assert task.items_file == "items.jsonl"


def test_a_grammar_goes_out_only_where_the_judge_takes_one() -> None:
    asked = json.loads(openai_chat.request(replace(JUDGE, grammar=True), PROMPT, None).body)
    assert asked["grammar"] == 'root ::= "yes"'
    assert "grammar" not in json.loads(openai_chat.request(JUDGE, PROMPT, None).body)
    plain = replace(PROMPT, grammar=None)
    assert "grammar" not in json.loads(openai_chat.request(replace(JUDGE, grammar=True), plain, None).body)


def test_the_tokens_written_come_with_their_log_probabilities() -> None:
    """Sampled tokens need not be among the likeliest, so they are kept apart from these."""
    position = {"token": "4", "logprob": -2.0, "top_logprobs": [{"token": "5", "logprob": -0.2}]}
    choice = {"message": {"content": "4"}, "finish_reason": "stop", "logprobs": {"content": [position]}}
    reply = openai_chat.read({"choices": [choice]})
    assert reply.tokens == (("4", -2.0),)
    assert reply.logprobs == ({"5": -0.2},)


@pytest.mark.parametrize("broken", [{"token": "4"}, {"token": 4, "logprob": -1.0}, {"token": "4", "logprob": 0.5}])
def test_what_is_no_log_probability_breaks_the_payload(broken: dict[str, object]) -> None:
    choice = {"message": {"content": "4"}, "logprobs": {"content": [{**broken, "top_logprobs": []}]}}
    with pytest.raises((KeyError, TypeError)):
        openai_chat.read({"choices": [choice]})

"""Prompt templates: rendered in a sandbox, faults named by file, identified by their bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.protocols.wording import messages, wording_hash
from recuse.schema import Message, RecuseError
from recuse.tasks import Task


@pytest.fixture
def task(tmp_path: Path) -> Callable[..., Task]:
    """A task with these templates: {"user": text, "system": text} of protocol `ask`; `own`: in a folder of that name,
    which comes first."""

    def write(own: str = "", **templates: str) -> Task:
        folder = tmp_path / (own or "prompts")
        folder.mkdir(exist_ok=True)
        for role, text in templates.items():
            (folder / f"ask.{role}.j2").write_text(text, encoding="utf-8")
        return Task("t", tmp_path, {}, prompts=own)

    return write


def fault_of(task: Task, **variables: object) -> str:
    with pytest.raises(RecuseError) as caught:
        messages(task, "ask", **variables)
    return str(caught.value)


def test_both_messages_in_order(task: Callable[..., Task]) -> None:
    found = messages(task(system="Be {{ how }}.\n", user="\nScore {{ what }}.\n"), "ask", how="fair", what="it")
    assert found == (Message("system", "Be fair."), Message("user", "Score it."))


def test_a_system_message_is_optional(task: Callable[..., Task]) -> None:
    assert [m.role for m in messages(task(user="Hi."), "ask")] == ["user"]


def test_an_items_words_reach_the_judge_as_they_are(task: Callable[..., Task]) -> None:
    hostile = "<b>&amp;</b> {{ 7 * 7 }} {% for %} \u202e '\"`"
    [message] = messages(task(user="[{{ text }}]"), "ask", text=hostile)
    assert message.content == f"[{hostile}]"


def test_fields_may_have_any_name(task: Callable[..., Task]) -> None:
    [message] = messages(task(user="{{ protocol }} {{ folder }}"), "ask", protocol="a", folder="b")
    assert message.content == "a b"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ nothing }}", "ask.user.j2: the template asks for something that is not there: 'nothing' is undefined"),
        ("{{ item.author }}", "ask.user.j2: the template asks for something that is not there: "),
        ("line one\n{% for %}", "ask.user.j2:2: "),
        ("{% include 'other.j2' %}", "ask.user.j2: 'other.j2' not found"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "ask.user.j2: access to attribute '__class__' of 'str'"),
        ("{{ item.update({'author': 'x'}) }}", "ask.user.j2: "),
        ("{{ 1 / 0 }}", "ask.user.j2: ZeroDivisionError: division by zero"),
        ("{{ item + 1 }}", "ask.user.j2: TypeError: "),
        ("{% for i in range(10**9) %}x{% endfor %}", "ask.user.j2: OverflowError: "),
    ],
)
def test_a_template_at_fault_is_named(task: Callable[..., Task], template: str, said: str) -> None:
    asked = task(user=template)
    assert fault_of(asked, item={"text": "x"}).startswith(f"{asked.folder}/prompts/{said}")


def test_a_missing_template_is_named_with_those_there_are(task: Callable[..., Task]) -> None:
    assert "ask.user.j2" in fault_of(task(system="Be fair."))


def test_a_template_that_is_not_utf8_is_named(task: Callable[..., Task]) -> None:
    asked = task(user="")
    path = asked.folder / "prompts" / "ask.user.j2"
    path.write_bytes("Blöd".encode("latin-1"))
    assert fault_of(asked).startswith(f"{path}: ")


def test_the_hash_follows_the_words_of_its_own_protocol(task: Callable[..., Task]) -> None:
    first = wording_hash(task(user="Hi.", system="Be fair."), "ask")
    (task().folder / "prompts" / "other.user.j2").write_text("unrelated", encoding="utf-8")
    assert wording_hash(task(), "ask") == first
    assert wording_hash(task(user="Hi!"), "ask") != first
    assert wording_hash(task(user="Hi."), "ask") == first


def test_a_folder_of_its_own_comes_first_and_the_tasks_fills_in(task: Callable[..., Task]) -> None:
    usual = task(user="Score it.", system="Be fair.")
    own = task("prompts-v2", user="Grade it.")
    assert [m.content for m in messages(usual, "ask")] == ["Be fair.", "Score it."]
    assert [m.content for m in messages(own, "ask")] == ["Be fair.", "Grade it."]
    assert wording_hash(own, "ask") != wording_hash(usual, "ask")
    assert wording_hash(own, "other") == wording_hash(usual, "other")


def test_the_same_words_in_a_folder_of_its_own_are_the_same_words(task: Callable[..., Task]) -> None:
    assert wording_hash(task("prompts-v2", user="Hi."), "ask") == wording_hash(task(user="Hi."), "ask")


def test_a_fault_is_named_in_the_folder_it_stands_in(task: Callable[..., Task]) -> None:
    task(user="Hi.")
    own = task("prompts-v2", user="{{ nothing }}")
    assert fault_of(own).startswith(f"{own.folder}/prompts-v2/ask.user.j2: ")

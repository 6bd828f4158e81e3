"""Prompt templates: rendered in a sandbox, faults named by file, identified by their bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.protocols.wording import messages, wording_hash
from recuse.schema import Message, RecuseError


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """A task folder with these templates: {"user": text, "system": text} of protocol `ask`."""

    def write(**templates: str) -> Path:
        (tmp_path / "prompts").mkdir(exist_ok=True)
        for role, text in templates.items():
            (tmp_path / "prompts" / f"ask.{role}.j2").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def fault_of(folder: Path, **variables: object) -> str:
    with pytest.raises(RecuseError) as caught:
        messages(folder, "ask", **variables)
    return str(caught.value)


def test_both_messages_in_order(folder: Callable[..., Path]) -> None:
    found = messages(folder(system="Be {{ how }}.\n", user="\nScore {{ what }}.\n"), "ask", how="fair", what="it")
    assert found == (Message("system", "Be fair."), Message("user", "Score it."))


def test_a_system_message_is_optional(folder: Callable[..., Path]) -> None:
    assert [m.role for m in messages(folder(user="Hi."), "ask")] == ["user"]


def test_an_items_words_reach_the_judge_as_they_are(folder: Callable[..., Path]) -> None:
    hostile = "<b>&amp;</b> {{ 7 * 7 }} {% for %} \u202e '\"`"
    [message] = messages(folder(user="[{{ text }}]"), "ask", text=hostile)
    assert message.content == f"[{hostile}]"


def test_fields_may_have_any_name(folder: Callable[..., Path]) -> None:
    [message] = messages(folder(user="{{ protocol }} {{ folder }}"), "ask", protocol="a", folder="b")
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
def test_a_template_at_fault_is_named(folder: Callable[..., Path], template: str, said: str) -> None:
    prompts = folder(user=template) / "prompts"
    assert fault_of(prompts.parent, item={"text": "x"}).startswith(f"{prompts}/{said}")


def test_a_missing_template_is_named_with_those_there_are(folder: Callable[..., Path]) -> None:
    assert "ask.user.j2" in fault_of(folder(system="Be fair."))


def test_a_template_that_is_not_utf8_is_named(folder: Callable[..., Path]) -> None:
    path = folder(user="") / "prompts" / "ask.user.j2"
    path.write_bytes("Blöd".encode("latin-1"))
    assert fault_of(path.parents[1]).startswith(f"{path}: ")


def test_the_hash_follows_the_words_of_its_own_protocol(folder: Callable[..., Path]) -> None:
    first = wording_hash(folder(user="Hi.", system="Be fair."), "ask")
    (folder() / "prompts" / "other.user.j2").write_text("unrelated", encoding="utf-8")
    assert wording_hash(folder(), "ask") == first
    assert wording_hash(folder(user="Hi!"), "ask") != first
    assert wording_hash(folder(user="Hi."), "ask") == first

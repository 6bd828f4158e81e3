"""items.jsonl: every fault names file and line, and nothing that JSON allows is a fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recuse.schema import Item, RecuseError
from recuse.tasks import load_task

TaskFolder = Callable[..., Path]
Line = Callable[..., str]


def fault_of(folder: Path) -> str:
    with pytest.raises(RecuseError) as caught:
        _ = load_task(folder).items
    return str(caught.value).removeprefix(f"{folder / 'items.jsonl'}")


def test_items_come_in_the_order_of_the_file(task_folder: TaskFolder, line: Line) -> None:
    task = load_task(task_folder(items=f"{line()}\n\n{line(id='two', target='beta')}\n"))
    assert task.items == (
        Item("essays", "one", "alpha", {"essay": "Short."}),
        Item("essays", "two", "beta", {"essay": "Short."}),
    )


def test_one_item_may_be_given_for_several_targets(task_folder: TaskFolder, line: Line) -> None:
    assert len(load_task(task_folder(items=f"{line()}\n{line(target='beta')}\n")).items) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(
    task_folder: TaskFolder, line: Line, end: str, mark: bytes
) -> None:
    task = load_task(task_folder(items=mark + (line() + end).encode()))
    assert task.items[0].fields == {"essay": "Short."}


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_what_only_looks_like_a_line_end_stays_in_the_text(task_folder: TaskFolder, line: Line, separator: str) -> None:
    """JSON may hold these as they are; str.splitlines would cut the line there."""
    essay = f"First.{separator}Second."
    task = load_task(task_folder(items=f"{line(fields={'essay': essay})}\n"))
    assert task.items[0].fields["essay"] == essay


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ('{"id": "two", ', ":2: not JSON: Expecting property name"),
        ("[1, 2]", ":2: lacks 'id'; an item is an object with id, target and fields"),
        ('"text"', ":2: lacks 'id'"),
        ('{"id": 2, "target": "beta", "fields": {}}', ":2: id must be a text, got 2"),
        ('{"id": "two", "target": ["beta"], "fields": {}}', ":2: target must be a text, got ['beta']"),
        ('{"id": "two", "target": "beta", "fields": []}', ":2: fields must be an object, got []"),
        ('{"id": "two", "target": "beta"}', ":2: lacks 'fields'"),
        (
            '{"id": "two", "target": "gamma", "fields": {}}',
            ":2: target 'gamma' is not in task.toml; known: alpha",
        ),
        ('{"id": "../two", "target": "beta", "fields": {}}', ":2: item '../two' cannot be used as a name"),
        (
            '{"id": "two", "target": "beta", "fields": {"task": 1, "essay": ""}}',
            ":2: fields may not be called task: prompts have those names already",
        ),
        ("[" * 100_000, ":2: not JSON: "),
    ],
)
def test_a_fault_names_its_line(task_folder: TaskFolder, line: Line, second: str, said: str) -> None:
    assert fault_of(task_folder(items=f"{line()}\n{second}\n")).startswith(said)


def test_the_same_item_twice_names_both_lines(task_folder: TaskFolder, line: Line) -> None:
    said = fault_of(task_folder(items=f"{line()}\n{line(target='beta')}\n\n{line()}\n"))
    assert said == ":4: item 'one' of 'alpha' was already given on line 1"


def test_other_encodings_are_refused_with_line_and_remedy(task_folder: TaskFolder, line: Line) -> None:
    items = line().encode() + b"\n" + line(fields={"essay": "Blöd"}).encode("latin-1")
    said = fault_of(task_folder(items=items))
    assert said.startswith(":2: not UTF-8 (byte ")
    assert said.endswith("save it as UTF-8")


def test_a_task_without_items_says_so(task_folder: TaskFolder) -> None:
    assert "no such file; a task lists what is judged there" in fault_of(task_folder())


def test_an_empty_file_is_no_task(task_folder: TaskFolder) -> None:
    assert "holds no item" in fault_of(task_folder(items="\n\n"))

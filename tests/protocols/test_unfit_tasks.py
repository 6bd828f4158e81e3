"""A task that does not fit a protocol is told so with its file, before anything is asked or paid for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.schema import Judge, RecuseError
from recuse.tasks import Task, load_task

JUDGE = Judge(name="j", label="J", wire="openai_chat", base_url="http://j.invalid/v1", model="j (scripted)")
CRITERIA = '[[criterion]]\nid = "clear"\n\n[[criterion]]\nid = "kind"\n'


def task_of(tmp_path: Path, criteria: str, fields: dict[str, object]) -> Task:
    folder = tmp_path / "notes"
    (folder / "prompts").mkdir(parents=True)
    (folder / "task.toml").write_text(
        f'name = "notes"\nscale = {{ minimum = 1, maximum = 5 }}\ntarget = [{{ id = "a" }}]\n{criteria}', "utf-8"
    )
    (folder / "items.jsonl").write_text(json.dumps({"id": "n1", "target": "a", "fields": fields}), "utf-8")
    for name in ("pairwise", "grading"):
        (folder / "prompts" / f"{name}.user.j2").write_text("{{ story }}", "utf-8")
    return load_task(folder)


def test_a_pair_without_the_field_that_judges_are_shown(tmp_path: Path) -> None:
    task = task_of(tmp_path, CRITERIA, {"a": "x", "b": "y", "texts": {"a": {"lead": "1"}, "b": {"lead": "2"}}})
    with pytest.raises(
        RecuseError, match=r"items\.jsonl: item 'n1' of 'a' has no field 'text', which protocol pairwise"
    ):
        _ = make_plan("p", task, "pairwise", {"j": JUDGE}, identify=request_key).calls


def test_one_grade_for_several_criteria(tmp_path: Path) -> None:
    task = task_of(tmp_path, CRITERIA, {"story": "x"})
    with pytest.raises(
        RecuseError, match=r"task\.toml: protocol grading asks for one grade, .* clear, kind; .* rubric"
    ):
        make_plan("p", task, "grading", {"j": JUDGE}, identify=request_key)

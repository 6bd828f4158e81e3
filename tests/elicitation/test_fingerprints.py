"""What opens a cassette: every setting that could change an answer is in its fingerprint, and prose is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import digests, headers, make_plan, rubric_hash
from recuse.panels import LocalServer, Panel, load_panel
from recuse.schema import Judge
from recuse.tasks import Task, load_task

PANEL = """
name = "mini"
description = "One judge."
provenance = "recorded"
source = "made for this test"
task = [{ name = "essays", protocols = ["rubric"] }]
judge = [{ name = "ann", wire = "gemini_generate", base_url = "http://127.0.0.1:8080/v1", model = "ann-1" }]
"""
CELL = "mini/essays/rubric/ann~alpha~attributed"


@pytest.fixture
def panel(tmp_path: Path) -> Panel:
    path = tmp_path / "mini.toml"
    path.write_text(PANEL, encoding="utf-8")
    return load_panel(path)


@pytest.fixture
def fingerprint(panel: Panel, task: Task) -> Callable[..., dict[str, Any]]:
    """The fingerprint of Ann's first cell, with her settings, the task or the panel changed."""

    def make(task: Task = task, panel: Panel = panel, **changes: Any) -> dict[str, Any]:
        ann: Judge = dataclasses.replace(panel.judges["ann"], **changes)
        made = make_plan("mini", task, "rubric", {"ann": ann}, identify=request_key, repeats=2)
        return dict(headers(panel, made)[CELL]["fingerprint"])

    return make


def test_a_header_names_its_cell_and_who_answered(panel: Panel, task: Task) -> None:
    found = headers(panel, make_plan("mini", task, "rubric", panel.judges, identify=request_key, repeats=2))
    assert len(found) == 4
    header = found[CELL]
    assert header["fingerprint"]["host"] == "127.0.0.1:8080"
    del header["fingerprint"]
    assert header == {
        "provenance": "recorded", "panel": "mini", "task": "essays", "protocol": "rubric", "judge": "ann",
        "target": "alpha", "factors": {"condition": "attributed"}, "source": "made for this test",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("wire", "openai_chat"), ("model", "ann-2"), ("base_url", "http://127.0.0.1:8081/v1"), ("structured", True),
        ("seeded", True), ("parameters", {"top_p": 0.5}), ("parameters", {"temperature": 0.1}),
    ],
)  # fmt: skip
def test_a_setting_that_changes_answers_changes_the_fingerprint(
    fingerprint: Callable[..., dict[str, Any]], field: str, value: object
) -> None:
    assert fingerprint(**{field: value}) != fingerprint()


@pytest.mark.parametrize("field", ["label", "timeout_s", "concurrency", "input_usd_per_mtok", "api_key_env", "author"])
def test_a_setting_that_does_not_does_not(fingerprint: Callable[..., dict[str, Any]], field: str) -> None:
    assert fingerprint(**{field: 7}) == fingerprint()


def test_temperature_and_length_are_those_sent_in_any_format(fingerprint: Callable[..., dict[str, Any]]) -> None:
    for wire in ("openai_chat", "anthropic_messages", "gemini_generate"):
        assert (fingerprint(wire=wire)["temperature"], fingerprint(wire=wire)["max_tokens"]) == (0.7, 700)
        cooler: dict[str, Any] = {"temperature": 0.1}
        cooler = {"generationConfig": cooler} if wire == "gemini_generate" else cooler  # named where it is sent
        assert fingerprint(wire=wire, parameters=cooler)["temperature"] == 0.1


def test_the_prompts_words_are_in_it(fingerprint: Callable[..., dict[str, Any]], task: Task) -> None:
    before = fingerprint()
    with (task.folder / "prompts" / "rubric.user.j2").open("a", encoding="utf-8") as template:
        template.write("\nBe fair.")
    after = fingerprint()
    assert [name for name in before if before[name] != after[name]] == ["prompt"]


def test_what_serves_a_local_model_is_in_it(fingerprint: Callable[..., dict[str, Any]], panel: Panel) -> None:
    server = LocalServer(packages=["a==1"], sha256="0" * 64, bytes=1, licence="Apache-2.0")
    local = dataclasses.replace(panel, servers={"ann": server})
    served = fingerprint(panel=local)["served"]
    assert (served["weights_sha256"], served["packages"]) == ("0" * 64, ["a==1"])
    assert "served" not in fingerprint()


def test_the_rubrics_hash_follows_criteria_and_not_prose(task: Task) -> None:
    def changed(**data: Any) -> str:
        return rubric_hash(Task(task.name, task.folder, {**task.data, **data}))

    assert changed(title="Another title", description="Other words.") == rubric_hash(task)
    assert changed(criterion=[{"id": "clarity"}]) != rubric_hash(task)
    assert changed(scale={"minimum": 1, "maximum": 10, "step": 1}) != rubric_hash(task)
    assert changed(written=date(2026, 1, 31)) != rubric_hash(task), "a date of TOML is no obstacle"


def test_people_true_values_and_provenance_have_digests_of_their_own(panel: Panel, task: Task) -> None:
    folder = task.folder
    toml = (folder / "task.toml").read_text(encoding="utf-8")

    def measured(people: str = "ann,x,3", true: str = "x,0.1", simulated: str = "true") -> list[str]:
        tables = f'[people]\nfile = "people.csv"\nsimulated = {simulated}\n[reference]\nfile = "true.csv"\n'
        for name, text in {"task.toml": f"{toml}\n{tables}", "people.csv": people, "true.csv": true}.items():
            (folder / name).write_text(text, encoding="utf-8")
        plan = make_plan("mini", load_task(folder), "rubric", panel.judges, identify=request_key, repeats=2)
        found = digests(plan, headers(panel, plan))
        return [found[name] for name in ("people", "truth", "provenance", "rubric")]

    def changed(**how: str) -> list[bool]:
        return [a != b for a, b in zip(measured(), measured(**how), strict=True)]

    assert changed() == [False, False, False, False]
    assert changed(people="ann,x,4") == changed(simulated="false") == [True, False, False, False]
    assert changed(true="x,0.2") == [False, True, False, False]
    assert measured()[2] == "recorded"

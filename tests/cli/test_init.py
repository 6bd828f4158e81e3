"""`recuse init`: from an empty folder to a green run of the shipped questions in two commands."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np


def run_evals(folder):
    command = [sys.executable, "-m", "pytest", "evals/", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_a_red_judge_starts_green_with_its_faults_written_down(recuse, tickets, tmp_path):
    folder = tmp_path / "repository"
    path = tickets(lambda truth, rng: np.where(rng.random(len(truth)) < 0.6, truth, ~truth))
    found = recuse("init", folder, "--ratings", path)
    assert found.code == 0
    assert "accepted in evals/gates.toml for 90 days" in found.out
    run = run_evals(folder)
    assert run.returncode == 0, run.stdout
    results = json.loads((folder / "reports" / "results.json").read_text())
    assert results["outcome"] == "pass"
    assert [r["recommended"] for r in results["recommendations"]] == ["not cleared"]


def test_an_empty_folder_gets_the_fixed_shape(recuse, tmp_path):
    folder = tmp_path / "repository"
    assert recuse("init", folder).code == 0
    assert {path.name for path in folder.iterdir()} == {
        "conftest.py", "evals", "fixtures", "cassettes", "reports", "pyproject.toml", "README.md", ".gitignore",
        ".github",
    }  # fmt: skip
    assert recuse("check", folder / "fixtures" / "example.csv").code != 3


def test_an_endpoint_gets_a_panel_and_a_task_that_can_be_read(recuse, tmp_path):
    from recuse.panels import load_panel
    from recuse.tasks import load_task

    recuse("init", tmp_path / "r", "--endpoint", "https://judges.example/v1", "--model", "m-1")
    panel = load_panel(tmp_path / "r" / "fixtures" / "panels" / "ours.toml")
    assert panel.judges["judge"].model == "m-1"
    assert load_task(tmp_path / "r" / "fixtures" / "tasks" / "replies").criteria == ("helpful", "correct")


def test_a_judge_that_answers_as_the_example_prompt_shows_is_read(recuse, tmp_path):
    """The last line of the prompt is the form asked for: what a judge copies from it must be read, score by score."""
    from recuse.protocols import rubric
    from recuse.schema import Reply
    from recuse.tasks import load_task

    recuse("init", tmp_path / "r", "--endpoint", "https://judges.example/v1")
    task = load_task(tmp_path / "r" / "fixtures" / "tasks" / "replies")
    hidden = {"condition": "anonymized"}
    asked = rubric.prompt(task, task.items[0], hidden).messages[-1].content
    rows = rubric.read(task, task.items[0], hidden, Reply(asked.rstrip().splitlines()[-1]))
    assert [(row.criterion, row.status, row.score) for row in rows] == [("helpful", "ok", 1.0), ("correct", "ok", 1.0)]


def test_the_example_prompt_names_no_author_so_names_are_not_varied(recuse, tmp_path):
    from recuse.panels import load_panel

    recuse("init", tmp_path / "r", "--endpoint", "https://judges.example/v1")
    task = load_panel(tmp_path / "r" / "fixtures" / "panels" / "ours.toml").tasks["replies"]
    assert task.factors == {"rubric": {"names": ["hidden"]}}


def test_the_steps_to_a_first_recording_are_written_down(recuse, tmp_path):
    told = recuse("init", tmp_path / "r", "--endpoint", "https://judges.example/v1").out
    readme = (tmp_path / "r" / "README.md").read_text()
    for text in (told, readme):
        for step in ("--record=missing", "JUDGE_API_KEY", "free = true"):
            assert step in text
    assert 'Add `"fixtures/panels/ours.toml"` to\n   `recuse_panels`' in readme


def test_nothing_is_overwritten(recuse, tmp_path):
    (tmp_path / "pyproject.toml").write_text("mine = true\n")
    refused = recuse("init", tmp_path)
    assert (refused.code, [p.name for p in tmp_path.iterdir()]) == (3, ["pyproject.toml"])
    assert "--adopt" in refused.err
    adopted = recuse("init", tmp_path, "--adopt")
    assert adopted.code == 0
    assert (tmp_path / "pyproject.toml").read_text() == "mine = true\n"
    assert 'recuse_panels = ["fixtures/example.csv"]' in adopted.out


def test_the_workflow_uses_the_action_where_it_can_be_reached(recuse, tmp_path):
    address = "acme/recuse/.github/actions/evals@v1"
    for folder, more, expected in (("plain", (), False), ("action", ("--action", address), True)):
        assert recuse("init", tmp_path / folder, *more).code == 0
        text = (tmp_path / folder / ".github" / "workflows" / "evals.yml").read_text()
        assert (f"uses: {address}" in text) is expected
        assert ("recuse comment" in text) is not expected

"""The action and the workflow that `recuse init` writes: safe against what a pull request may say, and alike."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from recuse.starting.init_command import rendered

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / ".github/actions/evals/action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
COMMENT: dict[str, Any] = yaml.safe_load((ROOT / ".github/actions/comment/action.yml").read_text(encoding="utf-8"))
OURS = yaml.safe_load((ROOT / ".github/workflows/evals.yml").read_text(encoding="utf-8"))


def workflow(action: str = "") -> str:
    return rendered("workflow.yml", action=action)


def steps_of(text: str, job: str = "judges") -> list[dict[str, Any]]:
    return list(yaml.safe_load(text)["jobs"][job]["steps"])


def run_of(name: str) -> str:
    return next(step["run"] for step in STEPS if step.get("name") == name)


@pytest.mark.parametrize(
    "steps",
    [STEPS + COMMENT["runs"]["steps"], steps_of(workflow()) + steps_of(workflow(), "comment")],
    ids=["action", "init"],
)
def test_no_expression_stands_inside_a_shell_script(steps):
    """GitHub pastes expressions in as text: a branch name with a quote in it would be run."""
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) >= 4
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("steps", [STEPS, steps_of(workflow())], ids=["action", "init"])
def test_a_red_run_is_still_summarised_and_uploaded(steps):
    kept = [step for step in steps if any(word in str(step) for word in ("summary.md", "upload-artifact"))]
    assert len(kept) == 2
    assert all(step["if"].startswith("always()") for step in kept)


@pytest.mark.parametrize("text", [workflow(), workflow("acme/recuse/.github/actions/evals@v1"), None])
def test_what_a_pull_request_brings_runs_without_rights_and_its_comment_without_its_code(text):
    jobs = OURS["jobs"] if text is None else yaml.safe_load(text)["jobs"]
    top = (OURS if text is None else yaml.safe_load(text))["permissions"]
    assert (top, jobs["judges"].get("permissions")) == ({"contents": "read"}, None)
    assert "secrets" not in str(jobs)
    assert jobs["comment"]["permissions"]["pull-requests"] == "write"
    assert jobs["comment"]["needs"] == "judges"
    assert all("timeout-minutes" in job for job in jobs.values())
    asked, commenting = ([step for step in jobs[job]["steps"] if "checkout@" in step.get("uses", "")] for job in jobs)
    assert asked[0]["with"] == {"persist-credentials": False, "fetch-depth": 0}
    assert [step["with"]["ref"] for step in commenting] in ([], ["${{ github.event.pull_request.base.sha }}"])


WORKFLOWS = [workflow(), workflow("acme/recuse/.github/actions/evals@v1"), None]


@pytest.mark.parametrize("text", WORKFLOWS)
def test_a_push_to_main_is_never_cancelled_and_a_merge_queue_gets_its_answer(text):
    whole = OURS if text is None else yaml.safe_load(text)
    assert whole["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"
    assert "merge_group" in whole[True]  # what YAML makes of the word "on"


def test_packages_are_kept_between_runs():
    """By a file that is always there: where its file is missing, setup-python ends in an error."""
    asked = next(step for step in steps_of(workflow()) if "setup-python" in step.get("uses", ""))
    commenting = next(step for step in steps_of(workflow(), "comment") if "setup-python" in step.get("uses", ""))
    assert (asked["with"].get("cache"), commenting["with"].get("cache")) == ("pip", None)
    ours = next(step for step in STEPS if "setup-python" in step.get("uses", ""))
    assert ours["with"]["cache"] == "${{ inputs.cache }}"
    assert ACTION["inputs"]["cache"]["default"] == ""
    paths = [step["with"]["cache-dependency-path"] for step in (asked, ours)]
    assert paths == ["evals/gates.toml", "${{ inputs.folder }}/evals/gates.toml"]


def test_with_a_token_of_ones_own_the_earlier_comment_is_found_by_its_author(tmp_path):
    """Else every push posts another comment."""
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "summary.md").write_text("### told")
    (tmp_path / "recuse").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "recuse").chmod(0o755)
    (step,) = [step for step in COMMENT["runs"]["steps"] if step.get("name") == "Comment"]
    assert step["env"]["COMMENT_AUTHOR"] == "${{ inputs.author }}"
    assert COMMENT["inputs"]["author"]["default"] == "github-actions[bot]"
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path),
               "COMMENT_NAME": "evals", "COMMENT_AUTHOR": "our judges[bot]"}  # fmt: skip
    done = subprocess.run(["bash", "-ec", step["run"]], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("summary.md --name evals --author our judges[bot]")


def test_this_repository_uses_its_own_actions_with_inputs_that_exist():
    for job, action in (("judges", ACTION), ("comment", COMMENT)):
        (ours,) = [step for step in OURS["jobs"][job]["steps"] if step.get("uses", "").startswith("./")]
        assert (ROOT / ours["uses"] / "action.yml").is_file()
        assert set(ours["with"]) <= set(action["inputs"])


def test_a_run_is_given_the_commit_that_the_change_goes_onto():
    base = "github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before"
    assert base in ACTION["inputs"]["base"]["default"]
    (run,) = [step for step in steps_of(workflow()) if "pytest evals/" in step.get("run", "")]
    assert base in run["env"]["RECUSE_BASE"]


def test_actions_are_named_by_commit():
    """A tag can be moved."""
    files = [*(ROOT / ".github").rglob("*.yml")]
    texts = [file.read_text(encoding="utf-8") for file in files] + [workflow()]
    used = [line for text in texts for line in text.splitlines() if re.match(r"\s*(- )?uses: (?!\./)", line)]
    assert len(used) > 10
    assert [line for line in used if not re.search(r"@[0-9a-f]{40} # \S+$", line)] == []


def test_an_action_that_can_be_reached_makes_three_lines_of_it():
    steps = steps_of(workflow("acme/recuse/.github/actions/evals@v1"))
    assert steps[1]["uses"] == "acme/recuse/.github/actions/evals@v1"
    assert set(steps[1]["with"]) <= set(ACTION["inputs"])
    (comment,) = steps_of(workflow("acme/recuse/.github/actions/evals@v1"), "comment")
    assert comment["uses"] == "acme/recuse/.github/actions/comment@v1"


def test_without_one_the_workflow_names_no_address_of_ours():
    used = [step["uses"] for job in ("judges", "comment") for step in steps_of(workflow(), job) if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name) for name in used)


@pytest.mark.parametrize(("arguments", "told"), [("evals/ -k 'a b'", ["evals/", "-k", "a b"]), ("$(id) `id`;id", None)])
def test_arguments_are_words_and_never_a_script(tmp_path, arguments, told):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -P ] || exit 1\nshift 3\nfor word in "$@"; do echo "$word"; done\n')
    python.chmod(0o755)
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "ARGUMENTS": arguments}
    script = run_of("May these judges be trusted?")
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == (told or arguments.split())


def written_by_init(word: str) -> str:
    steps = steps_of(workflow()) + steps_of(workflow(), "comment")
    return next(step["run"] for step in steps if word in step.get("run", ""))


@pytest.mark.parametrize("word", ["GITHUB_STEP_SUMMARY", "recuse comment"])
def test_a_run_that_wrote_no_summary_is_red_for_its_own_reason_alone(tmp_path, word):
    subprocess.run(["bash", "-e", "-c", written_by_init(word)], cwd=tmp_path, check=True)


@pytest.mark.parametrize(("baseline", "told"), [(False, "evals/"), (True, "evals/ --baseline")])
def test_a_committed_baseline_is_compared_with(tmp_path, baseline, told):
    (tmp_path / "pytest").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "pytest").chmod(0o755)
    (tmp_path / "reports").mkdir()
    if baseline:
        (tmp_path / "reports" / "baseline.json").write_text("{}")
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    script = written_by_init("pytest evals/")
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == told


def test_the_summary_reaches_the_job_summary(tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "summary.md").write_text("### told\n")
    environ = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "out.md")}
    subprocess.run(["bash", "-c", run_of("Summary of the job")], cwd=tmp_path, env=environ, check=True)
    assert (tmp_path / "out.md").read_text() == "### told\n"

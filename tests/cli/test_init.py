"""`recuse init`: from an empty folder to a green run of the shipped questions in two commands."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import make_plan
from recuse.panels import load_panel
from recuse.papers.illusion import merg
from recuse.protocols import rubric
from recuse.readers.file_panel import load_file_panel
from recuse.schema import Reply
from recuse.starting.init_command import settings_file, to_add
from recuse.tasks import load_task

pytest_plugins = ["pytester"]


def decision(folder):
    return json.loads((folder / "reports" / "results.json").read_text())["decision"]


@pytest.fixture
def bad(tickets):
    """Ratings with a judge that is right six times in ten."""
    return tickets(lambda truth, rng: np.where(rng.random(len(truth)) < 0.6, truth, ~truth))


def test_a_judge_that_is_not_cleared_is_told_and_the_first_run_is_red(recuse, run_pytest, bad, tmp_path):
    """Nothing is accepted for anybody: a fault is there on the first day as on any other."""
    folder = tmp_path / "repository"
    found = recuse("init", folder, "--ratings", bad)
    assert found.code == 0
    first = recuse("check", bad).first
    assert first.startswith("judge is not cleared to decide: ")
    assert first in found.out.splitlines()
    assert "the first run is red, and nothing was accepted" in found.out
    assert f"- {first}\n" in (folder / "README.md").read_text()
    assert "[[accepted]]" not in (folder / "evals" / "gates.toml").read_text()
    assert run_pytest(folder, "evals/", "-q").ret == 1
    [judge] = [one for one in decision(folder)["judges"] if one["stated"]]
    assert (judge["word"], judge["accepted"]) == ("not cleared", False)


@pytest.mark.slow("whole runs")
def test_judges_that_are_only_measured_are_stated_to_be_so_and_the_run_is_green(recuse, run_pytest, bad, tmp_path):
    """`use = ["none"]` beside the ratings is a study through every door."""
    folder = tmp_path / "repository"
    found = recuse("init", folder, "--ratings", bad, "--use", "none")
    assert found.code == 0
    assert "first run is red" not in found.out
    assert 'use = ["none"]' in (folder / "fixtures" / "t.recuse.toml").read_text()
    assert run_pytest(folder, "evals/", "-q").ret == 0
    assert (decision(folder)["judges"], decision(folder)["red"]) == ([], False)
    recuse("check", folder / "fixtures" / "t.csv", "--json", tmp_path / "check.json")
    assert json.loads((tmp_path / "check.json").read_text())["decision"]["judges"] == []


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("options", [(), ("--endpoint", "http://127.0.0.1:8199/v1")])
def test_a_use_stands_wherever_judges_are_named_and_is_one_that_there_is(recuse, options, tmp_path):
    folder = tmp_path / "repository"
    assert recuse("init", folder, *options, "--use", "none").code == 0
    files = ["fixtures/example.recuse.toml", *(["fixtures/panels/ours.toml"] if options else [])]
    assert all('use = ["none"]' in (folder / file).read_text() for file in files)
    found = recuse("init", tmp_path / "other", *options, "--use", "grad")
    assert (found.code, (tmp_path / "other").exists()) == (3, False)
    assert "--use: there is no use 'grad' in the gates file. Did you mean grade?" in found.err


def test_the_example_is_green_because_its_judge_is_good(recuse, run_pytest, commit, tmp_path):
    folder = tmp_path / "repository"
    found = recuse("init", folder)
    assert "judge is cleared to decide: " in found.out
    assert "first run is red" not in found.out
    assert run_pytest(folder, "evals/", "-q").ret == 0
    assert {one["word"] for one in decision(folder)["judges"] if one["stated"]} == {"cleared"}
    assert decision(folder)["cause"] == "what this change is compared with cannot be read: there is no git commit here"
    commit(folder)
    assert run_pytest(folder, "evals/", "-q").ret == 0
    assert decision(folder)["word"] == "merge"


def test_an_empty_folder_gets_the_fixed_shape(recuse, tmp_path):
    folder = tmp_path / "repository"
    assert recuse("init", folder).code == 0
    assert {path.name for path in folder.iterdir()} == {
        "conftest.py", "evals", "fixtures", "cassettes", "reports", "pyproject.toml", "README.md", ".gitignore",
        ".github",
    }  # fmt: skip
    assert recuse("check", folder / "fixtures" / "example.csv").code == 0


@pytest.fixture(scope="module")
def started(recuse, tmp_path_factory):
    """A repository for an endpoint, and what was printed when it was started."""
    folder = tmp_path_factory.mktemp("started") / "r"
    return folder, recuse("init", folder, "--endpoint", "https://judges.example/v1", "--model", "m-1").out


def test_an_endpoint_gets_a_panel_and_a_task_that_can_be_read(started):
    """Its prompt names no author, so names are not varied."""
    panel = load_panel(started[0] / "fixtures" / "panels" / "ours.toml")
    assert panel.judges["judge"].model == "m-1"
    assert panel.tasks["replies"].factors == {"rubric": {"names": ["hidden"]}}
    assert load_task(started[0] / "fixtures" / "tasks" / "replies").criteria == ("helpful", "correct")


def test_a_judge_that_answers_as_the_example_prompt_shows_is_read(started):
    """The last line of the prompt is the form asked for: what a judge copies from it must be read, score by score."""
    task = load_task(started[0] / "fixtures" / "tasks" / "replies")
    hidden = {"condition": "anonymized"}
    asked = rubric.prompt(task, task.items[0], hidden).messages[-1].content
    rows = rubric.read(task, task.items[0], hidden, Reply(asked.rstrip().splitlines()[-1]))
    assert [(row.criterion, row.status, row.score) for row in rows] == [("helpful", "ok", 1.0), ("correct", "ok", 1.0)]


def test_a_team_asks_by_merg_with_the_prompts_of_the_wheel(recuse, tmp_path):
    """Panel, task, five rubric sources and all four stages, without a word to be written first."""
    folder = tmp_path / "r"
    recuse("init", folder, "--endpoint", "https://judges.example/v1", "--model", "m-1", "--protocol", "merg")
    panel = load_panel(folder / "fixtures" / "panels" / "ours.toml")
    task = load_task(folder / "fixtures" / "tasks" / "replies")
    assert list(panel.judges) == ["judge", "second"]
    assert panel.tasks["replies"].protocols == ["merg"]
    plan = make_plan("ours", task, "merg", panel.judges_of("replies"), identify=request_key)
    assert {judge for judge, *_ in plan.items} == {"judge", "second"}
    item, earlier = task.items[0], {}
    for stage in merg.STAGES:
        levels = {"rubric_source": "independent"}
        assert item.fields["query"] in stage.prompt(task, item, levels, earlier).messages[-1].content
        earlier[stage.name] = stage.specimen(task, item, levels)
    earlier["reflection"] = {name: f"look at {name}" for name in merg.REFLECTIONS}
    for source in merg.FACTORS["rubric_source"]:
        used = {use.stage: earlier[use.stage] for use in merg.uses({"rubric_source": source})}
        words = merg.prompt(task, item, {"rubric_source": source}, used).messages[-1].content
        assert item.fields["response"] in words
        shown = [phrase for phrase in earlier["reflection"].values() if f": {phrase}." in words]
        assert len(shown) == (7 if "reflection" in used else 0)


@pytest.mark.parametrize(
    ("more", "why"),
    [(["--protocol", "merg"], "name its address with --endpoint"),
     (["--model", "m-1"], "name its address with --endpoint"),
     (["--protocol", "poll", "--endpoint", "https://judges.example/v1"], "prompts for the protocol merg; got 'poll'")],
)  # fmt: skip
def test_a_judge_that_cannot_be_started_with_writes_nothing(recuse, tmp_path, more, why):
    found = recuse("init", tmp_path / "r", *more)
    assert found.code == 3
    assert why in found.err
    assert not (tmp_path / "r").exists()


def test_the_steps_to_a_first_recording_are_written_down(started):
    folder, told = started
    readme = (folder / "README.md").read_text()
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


@pytest.mark.parametrize(
    ("option", "given", "words"),
    [("--endpoint", "foo", "--endpoint is http:// or https:// and a host"),
     ("--endpoint", "https://", "--endpoint is http:// or https:// and a host"),
     ("--endpoint", 'https://host/v1"', "--endpoint is http:// or https:// and a host"),
     ("--action", "bad", "--action is OWNER/NAME/PATH@VERSION"),
     ("--action", "acme/recuse/.github/actions/evals", "--action is OWNER/NAME/PATH@VERSION")],
)  # fmt: skip
def test_an_address_that_leads_nowhere_is_refused_before_anything_is_written(recuse, tmp_path, option, given, words):
    found = recuse("init", tmp_path / "r", option, given)
    assert (found.code, words in found.err, (tmp_path / "r").exists()) == (3, True, False)


def test_what_check_kept_beside_the_ratings_comes_along(recuse, tmp_path):
    """Without it, the people of this file would be examined as judges."""
    rows = ["id,a1,a2,bot_verdict", *(f"{k},{['ok', 'bad'][k % 2]},{['ok', 'bad'][k % 3 > 0]},ok" for k in range(60))]
    path = tmp_path / "verdicts.csv"
    path.write_text("\n".join(rows) + "\n")
    assert recuse("check", path, "--people", "a1,a2", "--scale", "bad<ok", "--save").code != 3
    assert recuse("init", tmp_path / "r", "--ratings", path).code == 0
    read = load_file_panel(tmp_path / "r" / "fixtures" / "verdicts.csv")
    assert (read.judges, read.ratings.persons) == (("bot",), ("a1", "a2"))


def test_a_file_in_the_place_of_the_folder_is_taken_for_ratings(recuse, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,human,gpt\n1,2,3\n", encoding="utf-8")
    refused = recuse("init", path)
    assert (refused.code, refused.err) == (
        3, f"recuse: {path} is a file: recuse init --ratings {path} FOLDER starts with what it holds\n",
    )  # fmt: skip


def test_ratings_that_cannot_be_read_leave_nothing_behind(recuse, tmp_path):
    path = tmp_path / "comments.csv"
    path.write_text("id,comment\n1,hello there\n2,something else\n")
    refused = recuse("init", tmp_path / "r", "--ratings", path)
    assert refused.code == 3
    assert f"recuse check {path}" in refused.err
    assert list((tmp_path / "r").iterdir()) == []


ADOPTED = {
    "pyproject.toml": '[project]\nname = "theirs"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "conftest.py": "",
    ".gitignore": "__pycache__/\nreports/\n",
    "evals/test_their_own.py": "import nothing_that_is_installed\n",
}


@pytest.fixture
def adopted(tmp_path):
    """A folder that is a repository already, with these files."""

    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def test_adopting_runs_nothing_of_theirs_and_says_what_to_add_where(recuse, adopted):
    folder = adopted(ADOPTED)
    found = recuse("init", folder, "--adopt")
    assert found.code == 0
    assert {name: (folder / name).read_text() for name in ADOPTED} == ADOPTED
    setting = 'recuse_panels = ["fixtures/example.csv"]'
    assert f"Add to [tool.pytest.ini_options] of pyproject.toml:\n  {setting}\n" in found.out
    assert "testpaths" not in found.out  # theirs stays as it is
    assert "  !/reports/baseline.json\n" in found.out
    assert "take out reports/: it also hides reports/baseline.json" in found.out
    assert "installs recuse alone: add what conftest.py" in found.out


@pytest.mark.slow("whole runs")
def test_what_is_to_be_added_makes_the_run_work(recuse, run_pytest, adopted):
    folder = adopted({name: text for name, text in ADOPTED.items() if not name.startswith("evals/")})
    _, _, added = recuse("init", folder, "--adopt").out.partition("of pyproject.toml:\n  ")
    with (folder / "pyproject.toml").open("a") as settings:
        settings.write(added.partition("\n")[0] + "\n")
    assert run_pytest(folder, "evals/", "-q").ret == 0


def test_settings_that_pytest_would_not_read_are_not_written(recuse, adopted):
    """pytest reads one file: a pyproject.toml beside pytest.ini is not read."""
    folder = adopted({"pytest.ini": "[pytest]\naddopts = -ra\n"})
    assert recuse("init", folder).code == 3  # nor is the folder empty
    found = recuse("init", folder, "--adopt")
    assert "Add to [pytest] of pytest.ini:\n  recuse_panels = fixtures/example.csv\n" in found.out
    assert not (folder / "pyproject.toml").exists()


LISTED = '  recuse_panels = ["fixtures/a.csv"]'


@pytest.mark.parametrize(
    ("name", "text", "added"),
    [
        ("setup.cfg", "[tool:pytest]", ["Add to [tool:pytest] of setup.cfg:", "  recuse_panels = fixtures/a.csv"]),
        ("tox.ini", "[pytest]", ["Add to [pytest] of tox.ini:", "  recuse_panels = fixtures/a.csv"]),
        ("pytest.toml", "[pytest]", ["Add to [pytest] of pytest.toml:", LISTED]),
        ("pyproject.toml", "[tool.pytest]", ["Add to [tool.pytest] of pyproject.toml:", LISTED]),
        ("pyproject.toml", "", ["Add to pyproject.toml:", "  [tool.pytest.ini_options]", LISTED]),
        ("pytest.ini", "[pytest]\nrecuse_panels = b.csv", ["Add to recuse_panels in pytest.ini: fixtures/a.csv"]),
        ("pytest.ini", "[pytest]\nrecuse_panels = fixtures/a.csv", []),
    ],
)  # fmt: skip
def test_what_to_add_stands_in_the_words_of_the_file_that_pytest_reads(tmp_path, name, text, added):
    (tmp_path / name).write_text(f"{text}\n")
    assert list(to_add(tmp_path, [name], "fixtures/a.csv")) == added


@pytest.mark.parametrize(
    ("name", "text", "settings"),
    [
        ("setup.cfg", "[metadata]\n", "pyproject.toml"),
        ("tox.ini", "[tox]\n", "pyproject.toml"),
        ("setup.cfg", "[tool:pytest]\n", "setup.cfg"),
    ],
)
def test_other_settings_are_not_taken_for_those_of_pytest(tmp_path, name, text, settings):
    (tmp_path / name).write_text(text)
    assert settings_file(tmp_path) == settings
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    assert settings_file(tmp_path) == "pyproject.toml"


def test_what_a_run_writes_is_not_committed_and_its_baseline_is(recuse, tmp_path):
    recuse("init", tmp_path)
    for name in ("index.html", "summary.md", "baseline.json", "tables/a.csv"):
        (tmp_path / "reports" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "reports" / name).write_text("x")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listing = ["git", "ls-files", "-o", "--exclude-standard", "reports"]
    listed = subprocess.run(listing, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["reports/.gitkeep", "reports/baseline.json"]

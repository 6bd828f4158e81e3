"""A judge changed in place is an upgrade, declared or not: compared with the recordings of the base commit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "pictures"))

import scenes

from recuse.gates import Gates
from recuse.gates.baseline_file import gates_at, stated, with_former
from recuse.git import base_commit
from recuse.schema import RecuseError
from recuse.suite import Elicitation, Recordings, Selection
from recuse.upgrade import in_place, yardsticks
from recuse.upgrade.in_place import changed_in_place

PANEL, PLACE = "fixtures/panels/desk.toml", Elicitation("desk", "support_replies", "rubric")
READER = "from recuse.protocols.rubric import *\nfrom recuse.protocols.rubric import OFFERS, read"
SHIPPED = (scenes.ROOT / "evals" / "gates.toml").read_text(encoding="utf-8")


def plain(quality, noise):
    return quality + noise


def lower(quality, noise):
    return quality - 1.5 + noise


def git(folder, *words):
    about = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *about, *words], check=True, capture_output=True)


def record(folder, mode="missing"):
    recordings = Recordings(Selection.load(folder, ["desk"]), mode)
    recordings.record([PLACE])


def edit(folder, path, old, new):
    text = (folder / path).read_text(encoding="utf-8")
    assert old in text
    (folder / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def changes(folder, base=None, panel="desk", gates="evals/gates.toml"):
    selection, commit, today = Selection.load(folder, [panel]), base_commit(folder, base), date(2026, 1, 1)
    before = gates_at(commit, gates, today)
    return changed_in_place(folder, selection, commit, with_former(Gates.load(folder / gates, today), stated(before)))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The scene's repository with two judges in use, recorded and committed on main, and a branch checked out."""
    tmp_path = tmp_path_factory.mktemp("desk")
    scenes._texts(tmp_path, {"judge_1": plain, "neutral": plain})
    scenes._write(tmp_path, PANEL, scenes._panel())
    scenes._write(tmp_path, "evals/gates.toml", SHIPPED)
    record(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "before")
    git(tmp_path, "checkout", "-q", "-b", "change")
    return tmp_path


@pytest.fixture
def desk(recorded, tmp_path):
    """A copy of it."""
    shutil.copytree(recorded, tmp_path / "desk")
    return tmp_path / "desk"


def swap(folder, score):
    """Another model under the same name, that scores by `score`, recorded again."""
    scenes._texts(folder, {"judge_1": score, "neutral": plain})
    edit(folder, PANEL, 'model = "judge_1 (scripted)"', 'model = "judge_1-v2 (scripted)"')
    record(folder)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "another model")


@pytest.fixture(scope="module")
def swapped(recorded, tmp_path_factory):
    """The repository in which a lower model took the place of judge_1."""
    folder = tmp_path_factory.mktemp("swapped") / "desk"
    shutil.copytree(recorded, folder)
    swap(folder, lower)
    return folder


@pytest.fixture
def lowered(swapped, tmp_path):
    """A copy of it."""
    shutil.copytree(swapped, tmp_path / "lowered")
    return tmp_path / "lowered"


def test_what_did_not_change_is_no_upgrade(desk):
    assert changes(desk) == []
    edit(desk, PANEL, 'description = "Judges of a support desk', 'description = "The judges of a support desk')
    assert changes(desk) == []


def test_a_task_that_was_no_text_is_not_taken_for_what_it_is_now(desk):
    [prompt, *_] = sorted((desk / "fixtures/tasks").rglob("*.user.j2"))
    now = prompt.read_bytes()
    prompt.write_bytes(now + b"\xff")
    git(desk, "commit", "-q", "-am", "a byte that is no text")
    git(desk, "branch", "-f", "main")
    assert changes(desk) == []
    prompt.write_bytes(now)
    mended = changes(desk)
    assert {change["word"] for change in mended} == {"decide"}
    assert "its panel at the base commit cannot be read (fixtures/tasks/" in mended[0]["cause"]


def test_no_state_of_a_panel_is_left_open(desk):
    edit(desk, PANEL, 'description = "Judges of a support desk', 'description = "The judges of a support desk')
    before = len(os.listdir("/dev/fd"))
    changes(desk)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("commit", [True, False], ids=["committed", "in the working tree"])
def test_a_lower_model_swapped_in_place_is_refused(lowered, commit):
    if not commit:
        git(lowered, "reset", "-q", "HEAD~1")
    [change] = changes(lowered)
    assert (change["judge"], change["panel"], change["kind"], change["word"]) == ("judge_1", "desk", "model", "worse")
    assert (change["was"], change["is"]) == ("judge_1 (scripted)", "judge_1-v2 (scripted)")
    assert "it scores further from your people" in change["cause"]
    assert tuple(change["steps"][:2]) == (
        "keep judge_1 as it was",
        "move thresholds by -1.5: with its scores moved back by as much, judge_1 after keeps every limit",
    )
    declared = tomllib.loads(change["paste"])["judge"][0]
    assert (declared["replaces"], declared["change"]) == ("judge_1", ["model"])
    assert change["is"] == "judge_1-v2 (scripted)"


@pytest.mark.slow("whole runs")
def test_where_nobody_rated_the_texts_a_lower_model_is_for_a_person_to_decide(desk, monkeypatch):
    monkeypatch.setattr(scenes, "TASK", scenes.TASK.replace('[people]\nfile = "people.csv"', ""))
    scenes._texts(desk, {"judge_1": plain, "neutral": plain})
    git(desk, "commit", "-q", "-am", "nobody's ratings")
    git(desk, "branch", "-f", "main")
    swap(desk, lower)
    [change] = changes(desk)
    assert change["word"] == "decide"
    assert "it gives lower scores, by more than you allow; nobody knows who is right" in change["cause"]


@pytest.mark.slow("whole runs")
def test_a_model_that_judges_as_before_is_equivalent(desk):
    swap(desk, plain)
    [change] = changes(desk)
    assert (change["word"], change["kind"]) == ("equivalent", "model")
    assert "no difference larger than you allow" in change["cause"]


@pytest.mark.slow("whole runs")
def test_a_prompt_changed_and_recorded_is_compared_and_its_lines_are_told(desk):
    scenes._texts(desk, {"judge_1": lower, "neutral": lower})
    prompt = "fixtures/tasks/support_replies/prompts/rubric.user.j2"
    edit(desk, prompt, "Score it.", "Score it strictly.")
    record(desk, "all")
    found = changes(desk)
    assert [(change["judge"], change["kind"], change["word"]) for change in found] == [
        ("judge_1", "prompt", "worse"), ("neutral", "prompt", "worse"),
    ]  # fmt: skip
    assert found[0]["was"].endswith("Score it.")
    assert found[0]["is"].endswith("Score it strictly.")
    assert 'prompts = "prompts-v2"' in found[0]["paste"]


def test_a_changed_line_of_a_prompt_may_begin_with_the_signs_of_a_difference(tmp_path):
    sides = []
    for side, line in (("old", "-- be strict"), ("new", "++ be kind")):
        path = tmp_path / side / "fixtures" / "tasks" / "mail" / "prompts" / "grading.user.j2"
        path.parent.mkdir(parents=True)
        path.write_text(f"Grade it.\n{line}\n", encoding="utf-8")
        sides.append(SimpleNamespace(suite=SimpleNamespace(selection=SimpleNamespace(root=tmp_path / side))))
    assert in_place._lines(*sides, "mail", "prompts/*.j2") == ("-- be strict", "++ be kind")


def test_a_panel_file_whose_judges_are_no_tables_is_a_change_like_any(tmp_path):
    """It ended in a traceback."""
    (row,) = yardsticks._panel(SimpleNamespace(renamed={}), "fixtures/panels/mail.toml", "judge = 5\n", "judge = 6\n")
    assert (row["word"], row["before"], row["after"]) == ("decide", "5", "6")


def test_a_change_that_was_not_recorded_is_never_shown_equivalent(desk):
    edit(desk, PANEL, 'model = "judge_1 (scripted)"', 'model = "judge_1-v2 (scripted)"')
    [change] = changes(desk)
    assert (change["word"], change["steps"]) == ("decide", [f"pytest evals/ --panel {PANEL} --record=missing"])
    assert "was not recorded again" in change["cause"]


def test_the_table_that_declares_it_can_be_pasted_and_asks_as_the_judge_is_asked(desk):
    before = (desk / PANEL).read_text(encoding="utf-8")
    more = 'parameters = { temperature = 0.7, stop = ["\\n", "\u00e9"] }\nheaders = { x-team = "desk" }\nseeded = true'
    edit(desk, PANEL, 'model = "judge_1 (scripted)"', f'model = "judge_1-v2 (scripted)"\n{more}')
    [change] = changes(desk)
    now = Selection.load(desk, ["desk"]).panels["desk"].judges["judge_1"]
    (desk / PANEL).write_text(f"{before}\n{change['paste']}\n", encoding="utf-8")
    declared = Selection.load(desk, ["desk"]).panels["desk"]
    assert declared.replaces == {"judge_1-next": "judge_1"}
    assert set(declared.changes["judge_1-next"]) == {"model", "sampling"}
    assert replace(declared.judges["judge_1-next"], name="judge_1", label=now.label) == now


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize(
    ("line", "kind"), [("parameters = { temperature = 0.7 }", "sampling"), ("seeded = true", "sampling")]
)
def test_every_setting_counts(desk, line, kind):
    edit(desk, PANEL, 'model = "judge_1 (scripted)"', f'model = "judge_1 (scripted)"\n{line}')
    record(desk)
    [change] = changes(desk)
    assert (change["kind"], change["word"]) == (kind, "equivalent")
    assert change["was"] != change["is"]


def test_limits_come_from_the_base_commit(lowered):
    """A limit widened in the same pull request helps nobody."""
    text = (lowered / "evals/gates.toml").read_text(encoding="utf-8")
    for old, new in (("at_most = 0.05", "at_most = 5.0"), ("at_most = 0.1", "at_most = 5.0"), ("= -0.05", "= -5.0")):
        text = text.replace(old, new)
    (lowered / "evals/gates.toml").write_text(text, encoding="utf-8")
    assert [change["word"] for change in changes(lowered)] == ["worse"]


def test_limits_are_those_of_the_runs_own_gates_file(lowered):
    """A gates file elsewhere than in evals/ decides what is changed in place, as it decides declared upgrades."""
    tables = [one for one in re.split(r"\n(?=\[)", SHIPPED) if one.startswith("[upgrade_")]
    wide = re.sub(r"^(within|at_most|at_least) = .*$", "within = [-1e6, 1e6]", "\n".join(tables), flags=re.M)
    scenes._write(lowered, "judge_evals/gates.toml", wide)
    git(lowered, "checkout", "-q", "main")
    git(lowered, "add", "-A")
    git(lowered, "commit", "-q", "-m", "limits elsewhere")
    git(lowered, "checkout", "-q", "change")
    git(lowered, "merge", "-q", "--no-edit", "main")
    assert [change["word"] for change in changes(lowered, "main", gates="judge_evals/gates.toml")] == ["equivalent"]


@pytest.mark.slow("whole runs")
def test_people_come_from_the_base_commit(desk):
    """Ratings lowered together with the judge do not make it right."""
    scenes._texts(desk, {"judge_1": lower, "neutral": plain})
    people = desk / "fixtures/tasks/support_replies/people.csv"
    rows = [line.rsplit(",", 1) for line in people.read_text(encoding="utf-8").splitlines()]
    lowered = [f"{about},{float(score) - 1.5:.1f}" for about, score in rows[1:]]
    edit(desk, PANEL, 'model = "judge_1 (scripted)"', 'model = "judge_1-v2 (scripted)"')
    record(desk, "all")
    people.write_text("\n".join([",".join(rows[0]), *lowered]) + "\n", encoding="utf-8")
    assert [change["word"] for change in changes(desk)] == ["worse"]


def test_a_declared_candidate_and_a_new_judge_are_not_changed_in_place(desk):
    more = scenes.JUDGE.format(name="judge_2") + 'replaces = "judge_1"\n' + scenes.JUDGE.format(name="third")
    edit(desk, PANEL, '\n[[judge]]\nname = "neutral"', more + '\n[[judge]]\nname = "neutral"')
    assert changes(desk) == []


def test_a_panel_under_another_file_name_is_the_same_panel(lowered):
    (lowered / PANEL).rename(lowered / "fixtures/panels/other.toml")
    assert [change["word"] for change in changes(lowered, panel="other")] == ["worse"]


def test_base_may_be_named(lowered):
    assert [change["word"] for change in changes(lowered, "main")] == ["worse"]
    assert changes(lowered, "HEAD") == []
    with pytest.raises(RecuseError, match="--base nowhere: git knows no such commit"):
        changes(lowered, "nowhere")


def test_a_protocol_of_the_teams_own_that_reads_otherwise_is_for_a_person_to_decide(desk, monkeypatch):
    """The same replies, read by a tenth less: nothing is replayed with a reader that is gone."""
    monkeypatch.syspath_prepend(desk)
    scenes._write(desk, "desk_readers.py", READER)
    git(desk, "add", "-A")
    git(desk, "commit", "-q", "-m", "a reader")
    git(desk, "branch", "-f", "main")
    monkeypatch.setattr(in_place, "module_of", lambda name: "desk_readers")
    assert changes(desk) == []
    scenes._write(desk, "desk_readers.py", f"{READER}\nTENTH = 0.9")
    assert [(change["judge"], change["kind"], change["word"]) for change in changes(desk)] == [
        ("judge_1", "reader", "decide"), ("neutral", "reader", "decide"),
    ]  # fmt: skip
    assert "desk_readers.py reads replies otherwise" in changes(desk)[0]["cause"]

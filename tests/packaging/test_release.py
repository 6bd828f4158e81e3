"""What is published: one version everywhere, archives that an index takes, a skill whose commands run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import wheel_contents
import yaml
from packaging.metadata import Metadata

import recuse
from recuse.cli import main

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "docs" / "skill" / "SKILL.md"


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert next(name for name in headings if name != "Unreleased") == recuse.__version__


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"recuse {recuse.__version__}\n"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The source archive, and the wheel that is built of what it unpacks to, as an installer does."""
    pytest.importorskip("hatchling", reason="the build backend is not in this environment; .ci/run builds the wheel")
    folder = tmp_path_factory.mktemp("dist")

    def build(source: Path, target: str) -> None:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, capture_output=True)

    build(ROOT, "sdist")
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    [source] = (folder / "unpacked").iterdir()
    build(source, "wheel")
    [wheel] = folder.glob("*.whl")
    return sdist, wheel, (source / "PKG-INFO").read_bytes()


def test_the_wheel_from_the_source_archive_is_whole_and_its_metadata_is_valid(archives):
    sdist, wheel, metadata = archives
    assert sdist.name == f"recuse-{recuse.__version__}.tar.gz"
    assert wheel_contents.main(wheel) == 0
    about = Metadata.from_email(metadata, validate=True)
    assert (about.name, str(about.version), about.license_expression) == ("recuse", recuse.__version__, "Apache-2.0")
    assert about.description_content_type == "text/markdown"


def test_only_the_job_that_uploads_may_ask_for_the_identity_and_it_runs_no_code_of_ours():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"]
    assert [step for step in jobs["publish"]["steps"] if "run" in step or "checkout" in step["uses"]] == []


# --------------------------------------------------------------------------- the skill


def test_the_skill_says_when_it_is_used():
    _, head, _ = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["name"] == "recuse"
    assert len(about["description"]) <= 1_024


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    """A folder with the file and the results that the skill's commands name."""
    folder = tmp_path_factory.mktemp("skill")
    shutil.copy(ROOT / "tests" / "cli" / "two_judges_two_people.csv", folder / "ratings.csv")
    (folder / "reports").mkdir()
    main(["check", str(folder / "ratings.csv"), "--json", str(folder / "reports" / "results.json")])
    return folder


COMMANDS = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", SKILL.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.usefixtures("no_drawn_judges")
@pytest.mark.parametrize(
    "command",
    [pytest.param(line, marks=[pytest.mark.slow("simulation")] if " plan " in line else []) for line in COMMANDS],
)
def test_every_command_of_the_skill_runs(command, where, monkeypatch, capsys):
    program, *arguments = command.split()
    assert program == "recuse"
    monkeypatch.chdir(where)
    assert main(arguments) in (0, 1, 2)
    done = capsys.readouterr()
    assert done.err == ""
    assert done.out.strip()


def test_the_decision_has_the_keys_that_the_skill_names(where):
    decision = json.loads((where / "reports" / "results.json").read_text(encoding="utf-8"))["decision"]
    assert {"word", "cause", "next", "red", "judges"} <= set(decision)
    assert {"judge", "use", "word", "cause", "gates", "next"} <= set(decision["judges"][0])

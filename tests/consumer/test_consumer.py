"""Recuse in other people's hands: a repository of another team, and the page on upgrades, literally."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from own_judge import Judge, serving

from recuse.cli import main
from recuse.upgrade import sources

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8123"
ALONE = ("-p", "no:hypothesispytest")  # a plugin of this repository's tests, which other teams need not have
KEY = "sk-not-a-real-key-0123456789"
BLOCK = re.compile(r"^```(?:toml|python)\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def run(run_pytest, monkeypatch) -> Callable[..., tuple[int, str]]:
    """Exit code and output of pytest in a folder, with the judge's key in the environment if one is given."""

    def run(folder: Path, *arguments: str, key: str | None = None) -> tuple[int, str]:
        monkeypatch.delenv("MY_JUDGE_KEY", raising=False)
        if key:
            monkeypatch.setenv("MY_JUDGE_KEY", key)
        done = run_pytest(folder, *ALONE, *arguments)
        return int(done.ret), "\n".join([*done.outlines, *done.errlines])

    return run


def outcomes(reports: Path, gate: str) -> dict[str, set[str]]:
    """Judge -> the outcomes of a gate in the run that wrote this report."""
    results = json.loads((reports / "results.json").read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for verdict in results["verdicts"]:
        if verdict["gate"] == gate:
            found.setdefault(verdict["subject"]["judge"], set()).add(verdict["outcome"])
    return found


# --------------------------------------------------------------------------- a repository of another team


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(__file__).parent / "skeleton", tmp_path / "theirs"))


def test_another_teams_repository_replays_and_reports(run, skeleton):
    recorded = {path: path.read_bytes() for path in (skeleton / "cassettes").rglob("*.jsonl")}
    code, output = run(skeleton, "evals/", "--baseline")
    assert (code, "2 passed, 1 xfailed" in output) == (0, True), output
    assert all((skeleton / "reports" / name).stat().st_size for name in ("index.html", "results.json", "summary.md"))
    assert {path: path.read_bytes() for path in (skeleton / "cassettes").rglob("*.jsonl")} == recorded
    assert outcomes(skeleton / "reports", "self_bias") == {"house": {"pass"}, "vendor": {"pass", "accepted"}}


def test_another_teams_judge_that_gets_worse_turns_their_run_red(run, skeleton):
    """The vendor's judge inflates its own replies beyond the accepted failure, by name and without."""
    table = skeleton / "fixtures" / "standins" / "support_replies" / "rubric.jsonl"
    lines = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if (line["judge"], line["target"]) == ("vendor", "vendor-model"):
            full = {name: {"score": 5, "why": "Ours."} for name in ("helpful", "correct")}
            line["text"] = json.dumps(full | {"total": 5})
    table.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    code, _ = run(skeleton, "evals/", "--record=all")
    assert code == 1
    assert outcomes(skeleton / "reports", "self_bias")["vendor"] == {"fail"}
    assert outcomes(skeleton / "reports", "self_bias")["house"] == {"pass"}


# --------------------------------------------------------------------------- how to gate an upgrade


PAGE = ROOT / "docs" / "gate-an-upgrade.md"


@pytest.fixture
def newcomer(tmp_path: Path) -> Path:
    """A copy of what a newcomer works in."""
    for folder in ("evals", "fixtures"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("standins"))
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def readme_files() -> list[tuple[str, str]]:
    """(file, text) of the blocks that begin with the name of the file they go into, in the order of the page."""
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def missing_lines(shown: str, output: str) -> list[str]:
    """Lines of an output block of the page that the output does not have; "..." stands for what was left out."""
    return [line for line in shown.splitlines() if line.strip() != "..." and line not in output.splitlines()]


def add(folder: Path, name: str, text: str, address: str) -> None:
    path = folder / name
    before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
    path.write_text(before + text.replace(ADDRESS, address), encoding="utf-8")


def shown_outputs() -> list[str]:
    """The blocks of output on the page, in order."""
    return re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def read_once():
    """The published file is read once for all comparisons."""
    return cache(sources.load_file_panel)


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize(
    ("place", "code"), [(0, 0), (1, 1), (2, 2), pytest.param(3, 1, marks=pytest.mark.slow("whole runs"))]
)
def test_the_readme_compares_judges(place, code, read_once, monkeypatch, capsys):
    """Published ratings, of which an upgrade is accepted, refused and undecided; two recorded judges, refused."""
    page = PAGE.read_text(encoding="utf-8")
    command = [line for line in page.splitlines() if line.startswith("recuse compare fixtures/")][place]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sources, "load_file_panel", read_once)
    assert main(command.split()[1:]) == code
    assert missing_lines(shown_outputs()[place], capsys.readouterr().out) == []


@pytest.mark.slow("whole runs")
def test_the_readme_gates_a_judge_upgrade(run, newcomer):
    panel, first, rest = "fixtures/panels/mine.toml", readme_files()[0], readme_files()[1:]
    assert [name for name, _ in rest] == [panel]
    shown = shown_outputs()[4:]
    evals, one_eval = ("evals/", "--panel", panel), ("evals/test_score_stability.py", "--panel", panel)
    with serving() as port:
        address = f"http://127.0.0.1:{port}"
        add(newcomer, *first, address)

        code, output = run(newcomer, *one_eval)
        assert (code, "0 of 200 planned calls are recorded" in output) == (1, True), output
        code, output = run(newcomer, *one_eval, "--record=missing")
        assert (code, "needs the environment variable(s) MY_JUDGE_KEY" in output) == (1, True), output

        Judge.answered = 0
        code, output = run(newcomer, *evals, "--record=missing", key=KEY)
        assert (code, Judge.answered) == (1, 200), output  # undecided: five texts are few
        assert "today: 100 calls, about" in output, "what it may cost is told before anything is asked"
        assert missing_lines(shown[0], output) == [], output
        reports = newcomer / "reports" / "partial"  # one panel of several
        before = outcomes(reports, "human_offset")
        assert before == {"today": {"undecided"}, "second": {"undecided"}}

        for name, text in rest:
            add(newcomer, name, text, address)
        code, output = run(newcomer, *evals, "--record=missing", key=KEY)
        assert (code, Judge.answered) == (1, 300), output
        assert missing_lines(shown[1], output) == []
        assert "fail" in outcomes(reports, "upgrade_shift")["candidate"]
        after = outcomes(reports, "human_offset")
        assert {judge: found for judge, found in after.items() if judge != "candidate"} == before

    online = (reports / "results.json").read_bytes()
    code, output = run(newcomer, *evals)  # the server is gone
    assert (reports / "results.json").read_bytes() == online
    assert not any(KEY.encode() in path.read_bytes() for path in (newcomer / "cassettes").rglob("*.jsonl"))

    path = newcomer / panel
    path.write_text(path.read_text(encoding="utf-8").replace('"steady-2"', '"steady-3"'), encoding="utf-8")
    code, output = run(newcomer, *one_eval)
    assert code == 1
    assert missing_lines(shown[2], output) == []

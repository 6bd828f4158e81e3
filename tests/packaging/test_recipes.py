"""The recipes of docs/recipes.md, taken from the page, put into a copy of the repository, and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REGISTERED = (  # what a recipe asks to add by hand: file, how the list begins, entry
    ("recuse/judges/__init__.py", "WIRES = (", '"cohere_chat", '),
    ("recuse/protocols/__init__.py", "PROTOCOLS = {", '"fit_for_client": "recuse.protocols.fit_for_client", '),
)
BLOCK = re.compile(r"^```\w+\n(?:# |// |\{# |<!-- )(\S+/\S+?)(?: #\}| -->)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A copy of this repository with every recipe followed."""
    copy = tmp_path_factory.mktemp("repository")
    for folder in ("recuse", "evals", "fixtures", "docs", "tests/judges", "tests/gates"):
        shutil.copytree(ROOT / folder, copy / folder)  # with what is compiled already
    for file in (
        "conftest.py",
        "pyproject.toml",
        "README.md",
        "tests/conftest.py",
        "tests/packaging/test_repository.py",
    ):
        (copy / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    for name, text in recipes():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(entered(there, text) if path.suffix == ".md" else f"{there}\n{text}".lstrip(), encoding="utf-8")
    for name, registry, entry in REGISTERED:
        path = copy / name
        source = path.read_text(encoding="utf-8")
        path.write_text(source.replace(registry, registry + entry, 1), encoding="utf-8")
    return copy


def recipes() -> list[tuple[str, str]]:
    """(file, text) of every block of the page that begins with the name of the file it goes into."""
    return BLOCK.findall((ROOT / "docs" / "recipes.md").read_text(encoding="utf-8"))


def entered(page: str, text: str) -> str:
    """A Markdown page with a row below the last of its first table, or with TOML below that of its first block."""
    row = text.startswith("|")
    place = re.search(r"^\|.*?\n(?=\n)" if row else r"^```toml\n.*?(?=^```)", page, re.MULTILINE | re.DOTALL)
    assert place is not None
    return page[: place.end()] + ("" if row else "\n") + text + page[place.end() :]


def run(repository: Path, *arguments: str) -> str:
    """Output of pytest in the copy, with the copy's own engine."""
    environment = os.environ | {"PYTHONPATH": str(repository)}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *arguments]
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False).stdout


def test_every_recipe_has_its_files():
    assert {name.rsplit("/", 1)[0] for name, _ in recipes()} == {
        "recuse/judges",
        "tests/judges/documented",
        "docs",
        "recuse/protocols",
        "fixtures/tasks/merchant_risk/prompts",
        "recuse/metrics",
        "tests/metrics",
        "evals",
        "fixtures/panels",
        "fixtures/standins/strangers/merchant_risk",
        "recuse/report/questions",
    }


@pytest.mark.slow("copies of the repository")
def test_the_provider_passes_the_tests_of_all_providers(repository):
    """Those of recorded requests need the cassettes, and are about the shipped judges."""
    output = run(repository, "tests/judges", "-q", "--ignore=tests/judges/test_recorded_requests.py")
    assert re.search(r"^[0-9]+ passed in ", output, re.MULTILINE), output
    assert "cohere_chat" in run(repository, "tests/judges/test_strict_providers.py", "--collect-only", "-q")


@pytest.mark.slow("copies of the repository")
def test_the_measure_passes_its_tests_and_its_example(repository):
    assert "4 passed" in run(repository, "tests/metrics/test_yes_rate.py")
    assert "1 passed" in run(repository, "--doctest-modules", "recuse/metrics/yes_rate.py")


@pytest.mark.slow("whole runs")
def test_the_measure_serves_from_a_fresh_folder_of_a_teams_own(tmp_path):
    """As the page says: the same file in a package, one line of the eval, a table, and a file of ratings."""
    texts = dict(recipes())
    rows = [f"t{k},{'yes' if k % 2 else 'no'},no,{'no' if k % 3 else 'yes'}" for k in range(60)]
    home, eval_ = "our_judges.yes_rate", texts["evals/test_fit_for_client.py"]
    eval_ = eval_.replace(', protocol="fit_for_client"', "").replace(
        "from recuse.measures import", f"from {home} import"
    )
    files = {
        "our_judges/__init__.py": "", "our_judges/yes_rate.py": texts["recuse/metrics/yes_rate.py"],
        "evals/test_fit_for_client.py": eval_, "evals/gates.toml": texts["evals/gates.toml"],
        "ratings.csv": "\n".join(["item,human,judge_a,judge_b", *rows]),
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    }  # fmt: skip
    assert f"`from {home} import yes_rate`" in (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "evals", "--ratings", "ratings.csv", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    results = json.loads((tmp_path / "reports" / "results.json").read_text(encoding="utf-8"))
    assert {v["subject"]["judge"]: v["outcome"] for v in results["verdicts"]} == {"judge_a": "fail", "judge_b": "pass"}


@pytest.mark.slow("copies of the repository")
def test_the_gate_keeps_the_rules_for_gates_and_its_question_has_its_row(repository):
    assert "failed" not in (output := run(repository, "tests/gates/test_shipped_gates.py", "-q")), output
    listed = run(
        repository, "tests/packaging/test_repository.py", "-q", "-k", "every_gate_is_used or (docs_say and fit_for)"
    )
    assert "2 passed" in listed, listed


@pytest.mark.slow("copies of the repository")
def test_the_slice_records_replays_and_gates(repository):
    """Recorded over loopback in two wire formats, then replayed: the blunt judge does not pass, the picky one does."""
    eval_, panel = "evals/test_fit_for_client.py", "fixtures/panels/strangers.toml"
    recorded = run(repository, eval_, "--panel", panel, "--record=missing")
    replayed = run(repository, eval_, "--panel", panel)
    for output in (recorded, replayed):
        assert "1 failed" in output, output
    reports = repository / "reports" / "partial"  # one eval is a part of the suite
    results = json.loads((reports / "results.json").read_text(encoding="utf-8"))
    found = {v["subject"]["judge"]: (v["outcome"], v["estimate"]["n_excluded"]) for v in results["verdicts"]}
    assert found == {"blunt": ("undecided", 0), "picky": ("pass", 1)}  # yes to all of five texts: too few to fail it
    page = (reports / "index.html").read_text(encoding="utf-8")
    assert "that a judge would hand on as they stand" in page


@pytest.mark.slow("copies of the repository")
@pytest.mark.parametrize("checker", ["ruff", "mypy"])
def test_the_examples_keep_the_house_style(repository, checker, pytestconfig, tmp_path):
    """What mypy found out about everything that they import is kept from run to run, where pytest keeps anything."""
    kept = getattr(pytestconfig, "cache", None)
    python = [name for name, _ in recipes() if name.endswith(".py")]
    engine = [name for name in python if name.startswith("recuse/")]
    cache = kept.mkdir("mypy-of-recipes") if kept else tmp_path
    arguments = ["check", "--no-cache", *python] if checker == "ruff" else [f"--cache-dir={cache}", *engine]
    command = [sys.executable, "-m", checker, *arguments]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

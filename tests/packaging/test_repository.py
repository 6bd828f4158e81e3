"""The repository as a newcomer finds it: its documents run, its files travel, its lock file fits."""

from __future__ import annotations

import ast
import gzip
import re
import subprocess
import tomllib
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from recuse.cli import main
from recuse.plugin.command_line import OPTIONS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MACHINE_PATH = re.compile(r"/(?:root|home|work|tmp|farm|Users)/[A-Za-z0-9._-]+/")
INDEX = "https://pypi.org/simple"
FILES = "https://files.pythonhosted.org/"


@lru_cache
def committed() -> tuple[Path, ...]:
    """Files under version control or about to be; all files where there is no git."""
    try:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        return tuple(path for name in names if name and (path := ROOT / name).is_file())
    except (OSError, subprocess.CalledProcessError):
        return tuple(path for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


# --------------------------------------------------------------------------- the documents


def shell_lines(document: Path) -> list[str]:
    """Lines of the document's ```sh blocks, without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = (line.split("  #")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def test_what_the_settings_name_is_there():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in re.findall(r'"(recuse\.[\w.]+(?::\w+)?)"', settings):
        resolve_name(name)


def test_continuous_integration_runs_the_two_commands_of_the_readme():
    two = [line for line in shell_lines(ROOT / "README.md") if line.startswith("pip install -e") and "&&" in line]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert len(two) == 2
    assert [line for line in two if line not in script] == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_links_within_a_document_lead_to_a_heading(document):
    text = document.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_options_named_in_a_document_exist(document, pytestconfig):
    """Every --option on a pytest command line in the document is one that pytest knows here, or a short name of
    ours."""
    known = {name for action in pytestconfig._parser.optparser._actions for name in action.option_strings}
    known |= {f"--{name}" for name in OPTIONS if f"--recuse-{name}" in known}
    named = {
        option.split("=")[0]
        for line in shell_lines(document)
        if "pytest" in line
        for option in re.findall(r"(?<=\s)--[a-z][a-z-]*(?:=\S+)?", line.partition("pytest")[2])
    }
    assert named <= known


def test_the_readme_is_short_and_shows_what_check_prints(monkeypatch, capsys):
    assert len(README) <= 8_000
    shown = re.search(r"^```text\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(ROOT)
    main(["check", "tests/cli/two_judges_two_people.csv"])
    printed = capsys.readouterr().out.splitlines()
    assert shown is not None
    assert shown[1].splitlines() == printed
    assert len(printed) <= 25


def test_the_guide_for_contributors_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) <= 12_000


def test_every_part_of_the_top_level_is_in_the_layout():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {path.relative_to(ROOT).parts[0] for path in committed()}
    visible = {name for name in shown if not name.startswith(".") and (ROOT / name).is_dir()}
    assert {name for name in visible if f"{name}/" not in text} == set()


def needs_of(tree: ast.Module) -> tuple[set[str], set[str]]:
    """What every test of an eval asks for, and what any of them does."""

    def named(node: ast.AST) -> set[str]:
        marks = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        asks = [call for call in marks if ast.unparse(call.func) == "pytest.mark.asks"]
        return {ast.literal_eval(argument) for call in asks for argument in call.args}

    everywhere = set().union(*(named(node) for node in tree.body if isinstance(node, ast.Assign)))
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    each = [everywhere.union(*(named(mark) for mark in test.decorator_list)) for test in tests]
    return set.intersection(*each), set.union(*each)


@pytest.mark.parametrize("path", sorted((ROOT / "evals").glob("test_*.py")), ids=lambda path: path.stem)
def test_the_docs_say_what_every_eval_asks_and_needs(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "what-is-asked.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{path.stem.removeprefix('test_')}` |")]
    assert len(rows) == 1, "one row of the table in docs/what-is-asked.md"
    _, _, question, needs, _ = (cell.strip() for cell in rows[0].split("|"))
    assert question == (ast.get_docstring(tree) or "").splitlines()[0]
    always, ever = needs_of(tree)
    first, _, _ = needs.partition(";")
    assert set(re.findall(r"`(\w+)`", needs)) == ever
    assert first.startswith("one of") or set(re.findall(r"`(\w+)`", first)) == always


# --------------------------------------------------------------------------- the files


def test_no_file_names_a_place_on_somebodys_machine():
    found = []
    for path in committed():
        if path.suffix in (".png", ".npz", ".lock", ".eval", ".parquet", ".xlsx") or path == Path(__file__):
            continue
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        recorded = "cassettes" in path.relative_to(ROOT).parts  # what a judge said is its own affair
        found += [str(path)] if str(ROOT) in text or (not recorded and MACHINE_PATH.search(text)) else []
    assert found == []


def test_the_top_level_holds_what_the_layout_says_and_what_every_repository_has():
    layout = {"conftest.py", "evals", "fixtures", "cassettes", "reports", "recuse", "tests", "docs"}
    usual = {"pyproject.toml", "uv.lock", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "SECURITY.md"}
    there = {path.relative_to(ROOT).parts[0] for path in committed()}
    assert {name for name in there if not name.startswith(".")} == layout | usual


FORGES = re.compile(
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com|[\w-]+\.github\.io|[\w-]+\.readthedocs\.io)/[\w./#-]*"
)
"""Where a project lives that has a public address. This one has none yet: what names one made it up."""


def test_no_address_of_the_project_is_made_up():
    texts = (".md", ".toml", ".yml", ".yaml", ".j2", ".py")
    told = [p for p in committed() if p.suffix in texts and not {"cassettes", "tests"} & set(p.relative_to(ROOT).parts)]
    found = {address for path in told for address in FORGES.findall(path.read_text(encoding="utf-8"))}
    assert found == set()


def test_what_a_run_writes_is_not_committed():
    names = {path.relative_to(ROOT).as_posix() for path in committed()}
    assert names & {"reports/index.html", "reports/results.json", "reports/summary.md"} == set()
    left_over = (".new", ".damaged", ".tmp", ".ballast", ".gguf")
    assert [name for name in names if name.endswith(left_over)] == []


def test_pictures_are_small():
    pictures = [path for path in committed() if path.suffix in (".png", ".svg")]
    assert [path.name for path in pictures if path.stat().st_size > 300_000] == []


def test_the_baseline_that_the_workflow_compares_with_is_committed():
    assert "--baseline" in (ROOT / ".github" / "workflows" / "evals.yml").read_text(encoding="utf-8")
    assert ROOT / "reports" / "baseline.json" in committed(), "write it: pytest evals/ --update-baseline"


# --------------------------------------------------------------------------- gates and evals


def test_every_gate_is_used_by_an_eval_and_every_eval_gate_exists():
    limits = tomllib.loads((ROOT / "evals" / "gates.toml").read_text(encoding="utf-8"))
    used = {
        node.args[0].value
        for path in (ROOT / "evals").glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "gate"
        and isinstance(node.args[0], ast.Constant)
    }
    of_uses = {gate for use in limits["use"].values() for key in ("yardstick", "decides") for gate in use.get(key, ())}
    assert of_uses <= set(limits), "a use that names a gate which is not there would be decided by less"
    together = {name for name, table in limits.items() if isinstance(table, dict) and "together" in table}
    tables = {"accepted", "run", "use"}
    assert used == set(limits) - tables - together  # these are decided by `may_replace`, all at once


# --------------------------------------------------------------------------- the lock file


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def locked():
    return tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]


def test_the_lock_file_knows_every_requirement(project, locked):
    asked = {"": project["dependencies"], **project["optional-dependencies"]}
    wanted = {(extra, *_requirement(line)) for extra, lines in asked.items() for line in lines}
    metadata = next(package for package in locked if package["name"] == project["name"])["metadata"]
    written = {
        (_extra(entry.get("marker", "")), entry["name"], SpecifierSet(entry.get("specifier", "")))
        for entry in metadata["requires-dist"]
    }
    assert written == wanted, "run `uv lock`"


def test_the_lock_file_holds_versions_that_are_allowed(project, locked):
    versions: dict[str, list[str]] = {}
    for package in locked:
        versions.setdefault(package["name"], []).append(package.get("version", ""))
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    for name, allowed in map(_requirement, lines):
        assert all(version in allowed for version in versions[name]), name


def test_the_lock_file_points_to_the_public_index(project, locked):
    others = [package for package in locked if package["name"] != project["name"]]
    assert {package["source"].get("registry") for package in others} == {INDEX}
    files = [file for package in others for file in (*package.get("wheels", []), package.get("sdist")) if file]
    assert [file["url"] for file in files if not file["url"].startswith(FILES)] == []


def _requirement(line: str) -> tuple[str, SpecifierSet]:
    requirement = Requirement(line)
    return canonicalize_name(requirement.name), requirement.specifier


def _extra(marker: str) -> str:
    found = re.search(r"extra == '([^']+)'", marker)
    return found[1] if found else ""

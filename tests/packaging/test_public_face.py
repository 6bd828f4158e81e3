"""`import recuse` is light and shows what is public; the pages say the same, and their examples run."""

from __future__ import annotations

import ast
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import ModuleType

import pytest
from imports import ENGINE, ROOT

import recuse
from recuse import RecuseError, ext, measures
from recuse.metrics.measure import MEASURES, PLACES, measure

HEAVY = ("numpy", "pandas", "scipy", "pytest", "pydantic", "jinja2", "typing")
FACES = {"recuse": recuse, "recuse.ext": ext}


# --------------------------------------------------------------------------- light


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import recuse; dir(recuse)", set()),
        ("import recuse; assert len(dir(recuse.measures)) > 100; dir(recuse.ext)", {"typing"}),
        ("import recuse; recuse.Estimate", {"typing"}),
        ("import recuse; recuse.ext.measure", {"typing", "numpy", "pandas", "scipy"}),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code, allowed):
    show = f"{code}; import sys; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", show], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": ":".join([str(ROOT), *sys.path])})  # fmt: skip
    assert set(done.stdout.split()) <= allowed, done.stderr
    assert done.returncode == 0, done.stderr


# --------------------------------------------------------------------------- one list of names


def typed(module: ModuleType) -> dict[str, str]:
    """Name -> module, as the imports say that type checkers read."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    lines = [line for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in lines for alias in line.names}


@pytest.mark.parametrize("name", FACES)
def test_every_public_name_is_there_and_is_what_a_type_checker_sees(name):
    module = FACES[name]
    homes = typed(module)
    assert sorted(homes) == sorted(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    for public, home in homes.items():
        there = getattr(import_module(home), public)
        got = getattr(module, public)
        assert got is there or got.__call__ is there, f"{name}.{public}"


@pytest.mark.parametrize("module", [recuse, ext, measures])
def test_a_name_that_is_not_there_is_an_attribute_error(module):
    with pytest.raises(AttributeError, match="nonsense"):
        _ = module.nonsense


# --------------------------------------------------------------------------- measures


def measures_of(package: str) -> list[str]:
    """Functions below `@measure`, by what is in memory once everything is imported."""
    folder = import_module(package)
    modules = [import_module(info.name) for info in pkgutil.walk_packages(folder.__path__, f"{package}.")]
    functions = [(module, value) for module in modules for value in vars(module).values() if isfunction(value)]
    wrapped = [(module, value) for module, value in functions if value.__code__.co_name == "computed"]
    return [value.__name__ for module, value in wrapped if value.__module__ == module.__name__]


def test_the_list_of_measures_is_what_there_is():
    packages = [name for name in ("metrics", "papers") if (ENGINE / name).is_dir()]
    reality = sorted(name for package in packages for name in measures_of(f"recuse.{package}"))
    assert len(reality) > 100
    assert dir(measures) == reality, "each by a name of its own"
    for name in reality:
        assert getattr(measures, name).__name__ == name
    beside = [path for path in ENGINE.rglob("*.py") if "\n@measure(" in path.read_text(encoding="utf-8")]
    assert {path.relative_to(ENGINE).parts[0] for path in beside} <= {"metrics", "papers", "measures.py"}


def test_every_name_that_is_described_is_known_before_it_is_imported():
    for package in ("recuse.metrics", "recuse.papers"):
        measures_of(package)
    assert {*measures.homes(measures.NAMED)} == {
        name for name in MEASURES if PLACES[name].partition(".")[0] in ("recuse", "")
    }


OWN = """
from recuse.ext import measure
from recuse.metrics.measure import MEASURES
from recuse.schema import RecuseError

def mine(ratings): ...

for name in {names!r}:
    assert name not in MEASURES
    try:
        measure(name, "my own")(mine)
    except RecuseError as error:
        print(error)
"""


def test_a_measure_of_a_teams_own_never_has_a_shipped_ones_name():
    """Whether or not this run imports that: here a process that has imported none, of each way to be described."""
    names = ["explanation_finding", "upgrade_flips", "cohen_kappa", "human_offset"]
    found = subprocess.run([sys.executable, "-c", OWN.format(names=names)], capture_output=True, text=True, check=True)
    homes = measures.homes(measures.NAMED)
    assert found.stdout.splitlines() == [
        f"measure '{name}' of __main__.mine has the name of one in {homes[name]}; choose another name" for name in names
    ]


def test_two_measures_of_a_teams_own_that_share_a_name_are_both_named():
    def described(title, place):
        def function(ratings): ...

        function.__module__ = place
        return measure("own_name_of_two", title)(function)

    described("one", "own.first")
    described("one", "own.first")  # a module that is imported twice
    with pytest.raises(RecuseError, match=r"of own\.second\.function has the name of own\.first\.function; choose"):
        described("another", "own.second")


# --------------------------------------------------------------------------- the pages


def test_the_page_names_what_is_public_and_nothing_else():
    text = (ROOT / "docs" / "public.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for name, module in FACES.items():
        cells = re.findall(r"^\| (`.*?) \|", sections[name], re.MULTILINE)
        named = [public for cell in cells for public in re.findall(r"`(\w+)`", cell)]
        assert sorted(named) == sorted(module.__all__)


@pytest.mark.usefixtures("no_drawn_judges")
def test_the_blocks_of_the_notebook_page_run_and_show_what_they_give(tmp_path, monkeypatch, capsys):
    shutil.copy(ROOT / "tests" / "cli" / "two_judges_two_people.csv", tmp_path / "ratings.csv")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    text = page.replace("runs=4, sizes=(60, 240)", "runs=2, sizes=(60,)").replace("60, 240, 'needed'", "60, 'needed'")
    assert text != page, "of the plan the names of the columns are shown, and those do not need so many runs"
    names: dict[str, object] = {}
    shown = ""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "text":
            assert shown == block
        else:
            capsys.readouterr()
            for line in ast.parse(block).body:  # "single" prints what an expression gives, as a notebook does
                exec(compile(ast.Interactive([line]), "docs/notebook.md", "single"), names)
            shown = capsys.readouterr().out
    assert "Anne" in str(names["message"])

"""The module table of docs/architecture.md is true, forbidden arrows do not exist, importing the plugin is light."""

from __future__ import annotations

import ast
import graphlib
import os
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from imports import (
    ENGINE,
    OPTIONAL,
    ROOT,
    declared_packages,
    engine_imports,
    imports_of,
    nodes_of,
    packages_used,
    part_of,
    parts_used,
)
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAVY = ("numpy", "pandas", "scipy", "vcr", "jinja2", "pydantic", "httpx2", "stamina", "deepdiff")
NETWORK = {"socket", "ssl", "http.client", "http.server", "urllib.request", "asyncio", "httpx2", "requests", "vcr"}
DISK = {"pathlib", "io", "os", "shutil", "tempfile", "sqlite3"}
CLOCK = {"time", "datetime", "random", "uuid", "secrets"}
JUDGING = {
    f"recuse.{part}" for part in ("judges", "protocols", "elicitation", "cassettes", "recording", "batch", "standins")
}
WIRING = {"recuse.suite", "recuse.run", "recuse.plugin"}
PURE = NETWORK | DISK | CLOCK | JUDGING | WIRING

NEVER = {
    "schema": {"recuse"},  # but itself
    "panels": {"recuse.metrics", "recuse.cassettes"} | WIRING,
    "tasks": {"recuse.judges", "recuse.metrics", "recuse.cassettes"} | WIRING,
    "protocols": NETWORK | {"recuse.judges", "recuse.cassettes", "recuse.metrics"} | WIRING,
    "judges": {"recuse.protocols", "recuse.metrics", "recuse.cassettes", "recuse.gates"} | WIRING,
    "cassettes": {"numpy", "scipy", "pandas", "recuse.metrics", "recuse.gates", "recuse.protocols"} | WIRING,
    "references": NETWORK | {"recuse.judges", "recuse.protocols", "recuse.gates"} | WIRING,
    "elicitation": NETWORK | {"recuse.cassettes", "recuse.metrics", "recuse.gates"} | WIRING,
    "ratings": NETWORK | CLOCK | JUDGING | WIRING | {"recuse.metrics", "recuse.gates", "recuse.tasks"},
    "statistics": PURE | {"recuse.metrics", "recuse.ratings", "recuse.gates"},
    "metrics": PURE | {"recuse.gates", "recuse.report", "recuse.panels", "recuse.tasks"},
    "papers": NETWORK | {"recuse.gates", "recuse.cassettes"} | WIRING,
    "gates": NETWORK | JUDGING | WIRING | {"recuse.metrics", "recuse.ratings", "recuse.report"},
    "report": NETWORK | CLOCK | JUDGING | WIRING | {"numpy", "scipy", "pandas", "recuse.metrics", "recuse.gates"},
}
"""Arrows that must not exist, whatever the table of docs/architecture.md says: a line there cannot allow them."""

CARRIED = {"pydantic-core": "pydantic", "markupsafe": "jinja2", "pyyaml": "vcrpy", "ppi-py": "ppi-python"}
"""Imported by a name that is not the package's own, or brought along by another package, which pins it."""


# --------------------------------------------------------------------------- the table is true


def table() -> dict[str, tuple[set[str], set[str]]]:
    """Part -> (parts it uses, packages it uses), as docs/architecture.md has it."""
    found = {}
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and (names := re.findall(r"`([a-z_]+)(?:\.py|/)`", cells[0])):
            uses, packages = (set(re.findall(r"[a-z_0-9]+", cell)) for cell in cells[2:])
            found |= dict.fromkeys(names, (uses, packages))
    return found


@pytest.mark.parametrize("part", sorted({part_of(path) for path in ENGINE.rglob("*.py")} - {"__init__"}))
def test_the_module_table_tells_what_a_module_uses(part):
    known = table()
    assert part in known, f"recuse/{part} has no line in the module table of docs/architecture.md"
    told = "run python tests/packaging/imports.py, and look at what it changed"
    assert known[part] == (parts_used()[part], declared_packages()[part]), told


def test_the_module_table_lists_nothing_that_is_gone():
    assert set(table()) <= {part_of(path) for path in ENGINE.rglob("*.py")}


# --------------------------------------------------------------------------- arrows that must not exist


@pytest.mark.parametrize("part", sorted(NEVER))
def test_never(part):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, of, name in engine_imports()
        if of == part
        and not name.startswith(f"recuse.{part}.")
        and any(name == taboo or name.startswith(f"{taboo}.") for taboo in NEVER[part])
    ]
    assert not wrong


def test_the_engine_does_not_know_the_papers():
    """Evals and panels name what a study needs, as they name a team's own parts; `recuse experiment` runs one."""
    users = {part for part, used in parts_used().items() if "papers" in used}
    assert users <= {"cli"}


def test_only_the_plugin_knows_the_runner():
    runners = {"pytest", "_pytest", "xdist"}
    known = {part: packages & runners for part, packages in packages_used().items() if packages & runners}
    assert known == {"plugin": {"pytest", "xdist"}}


def test_no_arrow_returns():
    """The parts can be put in an order in which each uses only what comes before it."""
    tuple(graphlib.TopologicalSorter(parts_used()).static_order())


def test_random_numbers_come_from_a_generator_with_a_seed():
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in ENGINE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and ast.unparse(node.value) in ("np.random", "numpy.random")
        and node.attr not in ("default_rng", "Generator", "SeedSequence", "BitGenerator", "PCG64")
    ]
    assert not wrong


# --------------------------------------------------------------------------- what is imported can be installed


def declared(*extras: str) -> set[str]:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return {canonicalize_name(Requirement(line).name) for line in lines}


distributions = cache(packages_distributions)  # all that is installed is read for it


def undeclared(names: set[str], allowed: set[str]) -> set[str]:
    """Those of the third-party modules that no declared distribution provides."""
    provides = distributions()
    allowed |= {name for name, carrier in CARRIED.items() if carrier in allowed}
    return {n for n in names if not {canonicalize_name(d) for d in provides.get(n, [n])} & allowed}


def test_the_engine_imports_what_it_declares():
    used = set().union(*packages_used().values()) - OPTIONAL
    assert undeclared(used, declared("record", "bedrock", "vertex")) == set()


def test_evals_need_no_extra():
    files = [ROOT / "conftest.py", *(ROOT / "evals").glob("*.py")]
    used = {name.split(".")[0] for path in files for name in imports_of(path)} - sys.stdlib_module_names - {"recuse"}
    assert undeclared(used, declared()) == set()


IMPORT = re.compile(r"^[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+([\w.]+)[ \t]+import\b)", re.MULTILINE)


def test_tests_and_makers_of_fixtures_import_what_their_extras_declare():
    folders = (ROOT / "tests", ROOT / "fixtures")
    files = [path for folder in folders for path in folder.rglob("*.py") if "skeleton" not in path.parts]
    ours = {"recuse", "fixtures", *(path.stem for path in files), *(path.parent.name for path in files)}
    where_installed = {"compression", "pyarrow"}  # the first is of the standard library from Python 3.14
    extras = declared("test", "record", "benchmark")  # local models are served by a maker

    def foreign(names):
        return undeclared(names - sys.stdlib_module_names - ours - where_installed, extras)

    def at_a_glance(path):
        lines = IMPORT.findall(path.read_text(encoding="utf-8"))
        return {name.split(".")[0].split()[0] for some, one in lines for name in (some or one).split(",")}

    seen = {path: at_a_glance(path) for path in files}  # in texts too: few of half a thousand files need be parsed
    wrong = foreign(set().union(*seen.values()))
    assert not foreign({name.split(".")[0] for path in files if seen[path] & wrong for name in imports_of(path)})


def test_an_import_is_seen_at_a_glance_wherever_it_stands():
    source = "import a.b as c, d\nfrom e.f import (\n    g,\n)\nif h:\n    import i\n"
    assert IMPORT.findall(source) == [("a.b as c, d", ""), ("", "e.f"), ("i", "")]


# --------------------------------------------------------------------------- importing the plugin is light


def loaded_after(code: str) -> set[str]:
    """Heavy packages in memory after `code` ran in an interpreter of its own."""
    show = f"{code}; import sys; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_what_a_run_of_evals_imports_leaves_the_large_parts_of_scipy_alone():
    """Each takes as long to import as many measures to compute, in every worker."""
    evals = [str(path) for path in sorted((ROOT / "evals").glob("test_*.py"))]
    code = (
        f"import runpy, sys; [runpy.run_path(path) for path in {evals!r}]; import recuse.suite, recuse.run; "
        "loaded = {'scipy.stats', 'scipy.optimize'} & set(sys.modules); assert not loaded, loaded"
    )
    assert "numpy" in loaded_after(code)


def test_importing_the_plugin_imports_nothing_heavy():
    assert loaded_after("import recuse.plugin") == set()
    nothing = "import recuse.plugin, sys; assert not [m for m in sys.modules if m.startswith('recuse.schema')]"
    subprocess.run([sys.executable, "-c", nothing], check=True)  # every start of pytest would wait for them


def test_the_check_for_heavy_imports_finds_one():
    assert "numpy" in loaded_after("import recuse.statistics.distributions")


def test_a_repo_that_asks_no_judge_pays_for_the_plugin_alone(tmp_path):
    body = f"def test_nothing_heavy_is_loaded():\n    assert not [m for m in {HEAVY!r} if m in sys.modules]\n"
    (tmp_path / "test_unrelated.py").write_text(f"import sys\n\n{body}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "recuse.plugin", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(os.cpu_count() == 1, reason="there is one thread anyway")
@pytest.mark.parametrize(("given", "taken"), [(None, 1), pytest.param("2", 2, marks=pytest.mark.slow("whole runs"))])
def test_a_run_multiplies_its_small_matrices_in_one_thread(monkeypatch, given, taken):
    """Two would wait for each other. What the user has set stands."""
    arguments = ["evals/test_position_bias.py", "--ratings=fixtures/ratings/vicuna80.csv.gz", "--collect-only", "-q"]
    code = (
        f"import os, pytest; assert pytest.main({arguments!r}) == 0; import numpy; numpy.show_runtime(); "
        f"assert os.environ.get('OPENBLAS_NUM_THREADS') == {given!r}"
    )
    (monkeypatch.setenv if given else monkeypatch.delenv)("OPENBLAS_NUM_THREADS", given or False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert f"'num_threads': {taken}," in done.stdout, done.stdout + done.stderr

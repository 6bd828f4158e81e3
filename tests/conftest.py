"""What tests of several folders share: an oracle to compare with, and a small evals/ folder."""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from recuse.schema.plain_values import spare_the_cycle_collector

try:
    import fcntl
except ImportError:  # on Windows workers may ask the same twice
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parents[1]
# `loopback`, servers that tests of several folders ask; `page_reader` and `samples`, pages and results they look at;
# `written_ratings`, small ratings written out in a line
sys.path += [str(ROOT / "tests" / folder) for folder in ("judges", "report", "packaging")]
STRINGS = os.environ.get("RECUSE_STRINGS", "python")
"""How pandas holds texts: as it does without pyarrow, a fifth faster for the small tables of tests; continuous
integration has `auto`, which is pyarrow's way where it is installed."""
EXAMPLES = int(os.environ.get("RECUSE_EXAMPLES", "10"))  # continuous integration tries more
settings.register_profile("recuse", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recuse")  # a busy machine is no failure


def pytest_configure(config: pytest.Config) -> None:
    """With `-n`, each worker takes a half of the tests in their order, and who is done first takes from the other: what
    a module or session prepares is prepared once, and not once by each worker."""
    spare_the_cycle_collector()  # modules and tests are collected, and nearly all of it stays
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for workers and what tests start, as a run of evals/ has it
    if config.getoption("dist", "no") == "load":
        config.option.dist = "worksteal"
    elif STRINGS != "auto":  # this process runs tests
        import pandas as pd

        pd.set_option("mode.string_storage", STRINGS)


class LoadedModules:
    """A plugin of runs inside a test: keeps what they imported, which pytester forgets after a run and after the test.
    The next run would load all of it again, and numpy and pandas cannot be loaded a second time."""

    def __init__(self) -> None:
        self.found: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.found |= sys.modules

    def forget(self, folder: Path) -> None:
        """What belongs to the project in `folder`, also what a run has since deleted there."""
        own = {path.name.removesuffix(".py") for path in folder.iterdir()}
        for name, module in [*self.found.items()]:
            there = str(getattr(module, "__file__", None) or "").startswith(f"{folder}/")
            if there or name.partition(".")[0] in own:
                del self.found[name]

    def load(self) -> None:
        sys.modules.update({name: module for name, module in self.found.items() if name not in sys.modules})


@pytest.fixture
def loaded_modules() -> Iterator[LoadedModules]:
    loaded = LoadedModules()
    yield loaded
    loaded.load()


@pytest.fixture
def run_pytest(
    loaded_modules: LoadedModules, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """run_pytest(folder, *arguments): pytest as started there, in this process. A module that uses it says
    `pytest_plugins = ["pytester"]`."""
    for name in [*os.environ]:
        # Under CI pytest tells everything twice; what is tested is what we say.
        if name.startswith(("PYTEST_ADDOPTS", "PYTEST_XDIST")) or name in ("CI", "BUILD_NUMBER"):
            monkeypatch.delenv(name)

    def run(folder: Path, *arguments: str) -> pytest.RunResult:
        monkeypatch.chdir(folder)
        gc.freeze()  # at its end pytest looks for garbage five times: not among what was there before
        try:
            result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments, plugins=[loaded_modules])
        finally:
            gc.unfreeze()
        loaded_modules.forget(folder)
        loaded_modules.load()
        return result

    return run


@pytest.fixture
def no_drawn_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """`recuse check` does not say how often one more person would be cleared, which takes half of its time: for tests
    that are not about it."""
    monkeypatch.setattr("recuse.experiments.drawn_judges.MOST_TEXTS", 0)


def jackknife_of(y: np.ndarray, design: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """First coefficient of a least-squares fit, and its standard error from refits by statsmodels without each group in
    turn: se^2 = (G - 1) / G sum_g (coefficient without g - coefficient)^2."""
    from statsmodels.regression.linear_model import OLS  # the whole of statsmodels takes four times as long to import

    def first(kept: np.ndarray) -> float:
        rows = design[kept]
        return float(OLS(y[kept], rows[:, rows.any(axis=0)]).fit().params[0])

    names = np.unique(groups)
    whole = first(groups >= 0)
    without = [first(groups != name) for name in names]
    squares = sum((value - whole) ** 2 for value in without)
    return whole, math.sqrt((len(names) - 1) / len(names) * squares)


@pytest.fixture(scope="session")
def commit() -> Callable[[Path], None]:
    """commit(folder): all of it, on the branch main of a git repository there, which is made if need be."""

    def all_of(folder: Path) -> None:
        about = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            subprocess.run(["git", *about, *words], cwd=folder, check=True, capture_output=True)

    return all_of


@pytest.fixture(scope="session")
def jackknife() -> Callable[..., tuple[float, float]]:
    return jackknife_of


@pytest.fixture(scope="session")
def shipped_results(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Mapping[str, Any]]:
    """`shipped_results(*arguments)`: results.json of the shipped questions, asked with these arguments in a repository
    of this shape, once for all tests and workers that want it. `red`: whether a gate may fail in that run."""

    def asked(arguments: tuple[str, ...], red: bool) -> bytes:
        root = tmp_path_factory.mktemp("repo")
        for name in ("evals", "fixtures", "cassettes", "conftest.py", "pyproject.toml"):
            (root / name).symlink_to(ROOT / name)
        plain = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
        command = [sys.executable, "-m", "pytest", *plain, *arguments]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode in ((0, 1) if red else (0,)), done.stdout[-3000:] + done.stderr[-3000:]
        (written,) = (root / "reports").glob("**/results.json")  # of a part of the suite, in reports/partial
        return written.read_bytes()

    def run(*arguments: str, red: bool = False) -> Mapping[str, Any]:
        here = tmp_path_factory.getbasetemp()
        shared = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
        kept = shared / f"{sha256(repr(arguments).encode()).hexdigest()}.json"
        with kept.with_suffix(".lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)  # released when it is closed
            if not kept.exists():
                kept.write_bytes(asked(arguments, red))
        results: Mapping[str, Any] = json.loads(kept.read_bytes())
        return results

    return run


# --------------------------------------------------------------------------- what the default command leaves out

LEFT_OUT = pytest.StashKey[dict[str, int]]()
"""What kind of tests was left out -> how many."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a choice of their own, newcomers are spared what takes long; .ci/run and `-m slow` run it."""
    if config.option.markexpr or config.option.keyword or any("::" in arg for arg in config.args):
        return
    marks = {item: mark for item in items if (mark := item.get_closest_marker("slow"))}
    firsts = {item.nodeid.partition("[")[0]: item for item in reversed(items) if item in marks}
    for item in firsts.values():
        if marks[item].kwargs.get("but_first"):
            del marks[item]
    if marks:
        config.hook.pytest_deselected(items=[*marks])
        items[:] = [item for item in items if item not in marks]
        kinds = Counter(mark.args[0] if mark.args else "simulations" for mark in marks.values())
        config.stash[LEFT_OUT] = dict(kinds)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the process that reports."""
    gc.freeze()  # what thousands of tests left is not looked through before the process ends
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects everything: one of them is enough."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if kinds := config.stash.get(LEFT_OUT, {}):
        left_out = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        terminalreporter.write_line(f"left out: {left_out}: pytest tests/ -m slow")

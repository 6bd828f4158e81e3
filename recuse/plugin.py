"""The pytest plugin: options, fixtures and hooks. The only module that imports pytest; it wires and computes nothing.

Everything heavy is imported when a test that asks judges is collected: an environment that merely has Recuse installed
pays for this file alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import pandas as pd

    from recuse.schema import Estimate, Estimates, Verdict
    from recuse.suite import Suite
    from recuse.tasks import Task

MARKER = "elicits(task, protocol): this test asks the judges of every selected panel that has this task and protocol"
VERDICT, MEASUREMENT = "recuse.verdict", "recuse.measurement"
_suite = pytest.StashKey["Suite"]()
_verdicts = pytest.StashKey[list["Verdict"]]()


# --------------------------------------------------------------------------- options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("recuse", "judging judges (recuse)")
    group.addoption("--panel", action="append", default=[], metavar="FILE", help="panel to examine; repeat for several")
    group.addoption("--judges", default="", metavar="A,B", help="only these judges of the panels")
    group.addoption(
        "--record",
        choices=("none", "missing", "all"),
        default="none",
        help="none: replay only, never touch the network (default); missing: ask for what no cassette answers; all: ask anew",
    )
    group.addoption("--yes", action="store_true", help="record even if the expected cost is above the panel's budget")
    group.addoption("--models", default="models", metavar="DIR", help="where weights of local models are kept")
    group.addoption(
        "--baseline", nargs="?", const="", default=None, metavar="FILE", help="fail when an outcome changed against it"
    )
    group.addoption("--update-baseline", action="store_true", help="write reports/baseline.json from this run")
    parser.addini("recuse_panels", "panels examined when --panel is not given", type="args", default=[])
    parser.addini("recuse_gates", "file with limits and waivers", default="evals/gates.toml")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def _get_suite(config: pytest.Config) -> Suite:
    if _suite not in config.stash:
        from recuse.schema import RecuseError
        from recuse.suite import Suite

        try:
            config.stash[_suite] = Suite.from_options(
                root=config.rootpath,
                panels=config.getoption("--panel") or config.getini("recuse_panels"),
                judges=[name for name in config.getoption("--judges").split(",") if name],
                record=config.getoption("--record"),
                yes=config.getoption("--yes"),
                models=config.rootpath / config.getoption("--models"),
                gates=config.rootpath / config.getini("recuse_gates"),
                distributed=hasattr(config, "workerinput") or bool(getattr(config.option, "numprocesses", None)),
            )
        except RecuseError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[_suite]


# --------------------------------------------------------------------------- which judges a test is about


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `elicits` run once per panel, and per judge where they name `judge` (every judge) or `author`
    (judges that are also the author of a target)."""
    if not (asked := _asked(metafunc.definition)):
        return
    suite = _get_suite(metafunc.config)
    per_judge = next((name for name in ("judge", "author") if name in metafunc.fixturenames), None)
    subjects = suite.subjects(*asked, authors=per_judge == "author")
    none = pytest.mark.skip(reason=f"no selected panel has {'/'.join(asked)}{' with an author among its judges' * (per_judge == 'author')}")
    if per_judge:
        pairs: list[Any] = [pytest.param(p, j, id=f"{p}-{j}") for p, judges in subjects.items() for j in judges]
        metafunc.parametrize(("panel", per_judge), pairs or [pytest.param("", "", id="none", marks=none)])
    else:
        metafunc.parametrize("panel", list(subjects) or [pytest.param("", id="none", marks=none)])


def _asked(node: pytest.Item | pytest.Function | Any) -> tuple[str, str] | None:
    """Task and protocol of the nearest `elicits` marks; what a test's own mark leaves out comes from its module's."""
    given: dict[str, str] = {}
    for mark in node.iter_markers("elicits"):
        given = {**mark.kwargs, **given}
    if not given:
        return None
    if set(given) != {"task", "protocol"}:
        raise pytest.UsageError(
            f'{node.nodeid}: mark it @pytest.mark.elicits(task="...", protocol="..."); got {sorted(given) or "nothing"}'
        )
    return given["task"], given["protocol"]


# --------------------------------------------------------------------------- fixtures


@pytest.fixture(scope="session")
def suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    from recuse.schema import RecuseError

    with _get_suite(pytestconfig) as opened:
        try:
            yield opened
        except RecuseError as error:  # pragma: no cover - raised on closing
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture
def panel() -> str:
    """Name of the panel under examination."""
    raise pytest.UsageError("a test that uses `panel` must be marked @pytest.mark.elicits(task=..., protocol=...)")


@pytest.fixture
def task(request: pytest.FixtureRequest, suite: Suite) -> Task:
    return suite.task(_asked(request.node)[0])  # type: ignore[index]


@pytest.fixture
def ratings_of(request: pytest.FixtureRequest, suite: Suite, panel: str) -> Callable[[str], pd.DataFrame]:
    """Ratings of the panel by another protocol of the same task: `ratings_of("generation")`."""
    asked = _asked(request.node)
    assert asked is not None
    return lambda protocol: suite.ratings(panel, asked[0], protocol)


@pytest.fixture
def ratings(request: pytest.FixtureRequest, ratings_of: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """The ratings table of the panel for the task and protocol the test is marked with."""
    return ratings_of(_asked(request.node)[1])  # type: ignore[index]


@pytest.fixture
def own(suite: Suite, panel: str, task: Task) -> dict[str, str]:
    """Judge -> the target that is its own work, for judges that have one."""
    return suite.panels[panel].own(list(task.targets))


@pytest.fixture
def gate(request: pytest.FixtureRequest, suite: Suite, panel: str, task: Task) -> Callable[..., Verdict]:
    """`assert gate(name, estimates, judge=..., condition=...)`: the verdict, kept for the report."""

    def decide(name: str, measured: Estimate | Estimates, **subject: str) -> Verdict:
        full = {"task": task.name, "panel": panel, **subject}
        verdict = suite.gates.decide(name, measured, full)
        request.node.stash.setdefault(_verdicts, []).append(verdict)
        _keep(request, VERDICT, suite.verdict_record(verdict))
        return verdict

    return decide


@pytest.fixture
def measure(request: pytest.FixtureRequest, suite: Suite, panel: str, task: Task) -> Callable[..., None]:
    """`measure(estimate, condition=...)`: shown in the report, gated by nothing."""

    def keep(measured: Estimate | Estimates, **subject: str) -> None:
        for record in suite.measurement_records(measured, {"task": task.name, "panel": panel, **subject}):
            _keep(request, MEASUREMENT, record)

    return keep


def _keep(request: pytest.FixtureRequest, kind: str, record: dict[str, Any]) -> None:
    node = request.node
    asked = {"question": node.path.stem.removeprefix("test_"), "title": (node.module.__doc__ or "").strip().split("\n")[0]}
    protocol = _asked(node)[1]  # type: ignore[index]
    node.user_properties.append((kind, {**record, **asked, "protocol": protocol, "test": node.nodeid}))


# --------------------------------------------------------------------------- outcome of a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells a failed gate in words instead of a traceback, and turns a waived one into an expected failure."""
    report = yield
    verdicts = item.stash.get(_verdicts, [])
    if call.when == "setup" and call.excinfo is not None and _is_ours(call.excinfo.value):
        report.longrepr = str(call.excinfo.value)
    if call.when != "call" or not verdicts:
        return report
    from recuse.gates import explain

    objections = [verdict for verdict in verdicts if not verdict]
    waived = [verdict for verdict in verdicts if verdict.outcome == "waived"]
    if objections and (call.excinfo is None or call.excinfo.errisinstance(AssertionError)):
        report.outcome = "failed"
        report.longrepr = "\n\n".join(map(explain, objections))
    elif waived and call.excinfo is None:
        report.outcome = "skipped"
        report.wasxfail = "; ".join(str(verdict.waiver["reason"]) for verdict in waived if verdict.waiver)
    return report


def _is_ours(error: BaseException) -> bool:
    from recuse.schema import RecuseError

    return isinstance(error, RecuseError)


# --------------------------------------------------------------------------- gathering, in the process that reports


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Under xdist this runs in the controller too, with what the workers sent."""
    if _run is not None:
        _run.add(report.user_properties if report.when == "call" else ())
        if report.failed and not any(kind == VERDICT for kind, _ in report.user_properties):
            _run.unmeasured[report.nodeid] = str(report.longrepr).strip().splitlines()[-1][:300]


def pytest_sessionstart(session: pytest.Session) -> None:
    from recuse.run import Run

    global _run
    _run = None if hasattr(session.config, "workerinput") else Run()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if _run is not None:
        _run.replayed.update(getattr(node, "workeroutput", {}).get("recuse", {}))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    yield
    config = session.config
    if hasattr(config, "workerinput"):
        if _suite in config.stash:
            config.workeroutput["recuse"] = config.stash[_suite].replayed()  # type: ignore[attr-defined]
        return
    if _run is None or not (_run.verdicts or _run.measurements):
        return
    suite = _get_suite(config)
    _run.replayed.update(suite.replayed())
    whole = not config.getoption("keyword") and not config.getoption("markexpr")
    _run.finish(suite, whole=whole, baseline=config.getoption("--baseline"), update=config.getoption("--update-baseline"))
    if _run.objections and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if _run is not None and _run.results:
        terminalreporter.write_line("")
        terminalreporter.write_line(_run.terminal(terminalreporter._tw.fullwidth, terminalreporter._tw.hasmarkup))


_run: Any = None

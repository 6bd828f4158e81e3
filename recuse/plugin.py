"""The pytest plugin: options, fixtures and hooks. The only module that imports pytest; it wires and computes nothing.

Everything heavy is imported when a test that asks judges is collected: an environment that merely has Recuse installed
pays for this file alone.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import pandas as pd

    from recuse.run import Run
    from recuse.schema import Estimate, Estimates, Verdict, Verdicts
    from recuse.suite import Suite
    from recuse.tasks import Task

MARKER = "elicits(task, protocol): this test asks the judges of every selected panel that has this task and protocol"
VERDICT, MEASUREMENT = "recuse.verdict", "recuse.measurement"
UNMEASURED, UNASKED = "recuse.unmeasured", "recuse.unasked"
_suite = pytest.StashKey["Suite"]()
_mistake = pytest.StashKey[str]()
_told = pytest.StashKey[set[str]]()
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
        help="none: replay only, no network (default); missing: ask for what no cassette answers; all: ask anew",
    )
    group.addoption("--yes", action="store_true", help="record even if the expected cost is above the panel's budget")
    group.addoption("--models", default="models", metavar="DIR", help="where weights of local models are kept")
    group.addoption(
        "--baseline",
        nargs="?",
        const="",
        default=None,
        type=_baseline_file,
        metavar="FILE",
        help="fail when an outcome changed against it",
    )
    group.addoption("--update-baseline", action="store_true", help="write reports/baseline.json from this run")
    parser.addini("recuse_panels", "panels examined when --panel is not given", type="args", default=[])
    parser.addini("recuse_gates", "file with limits and accepted faults", default="evals/gates.toml")


def _baseline_file(text: str) -> str:
    if text and not text.endswith(".json"):  # `--baseline evals/` would take the tests for the file
        raise argparse.ArgumentTypeError(f"{text!r} is no .json file; paths of tests go before --baseline")
    return text


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def _get_suite(config: pytest.Config) -> Suite:
    if _suite not in config.stash:
        from recuse.suite import Suite

        config.stash[_suite] = Suite.from_options(
            root=config.rootpath,
            panels=config.getoption("--panel") or config.getini("recuse_panels"),
            judges=[name.strip() for name in config.getoption("--judges").split(",") if name.strip()],
            record=config.getoption("--record"),
            yes=config.getoption("--yes"),
            models=config.rootpath / config.getoption("--models"),
            gates=config.rootpath / config.getini("recuse_gates"),
            distributed=hasattr(config, "workerinput") or bool(getattr(config.option, "numprocesses", None)),
        )
    return config.stash[_suite]


# --------------------------------------------------------------------------- which judges a test is about


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `elicits` run once per panel, and per judge where they name `judge` (every judge) or `author`
    (judges that are also the author of a target)."""
    if next(metafunc.definition.iter_markers("elicits"), None) is None or "panel" not in metafunc.fixturenames:
        return
    from recuse.schema import RecuseError

    per_judge = next((name for name in ("judge", "author") if name in metafunc.fixturenames), None)
    try:
        asked = _asked(metafunc.definition)
        subjects = _get_suite(metafunc.config).subjects(*asked, authors=per_judge == "author")
    except RecuseError as error:
        asked, subjects = ("", ""), {}
        _note_mistake(metafunc.config, str(error))
    lacking = " with an author among its judges" if per_judge == "author" else ""
    none = pytest.mark.skip(reason=f"no selected panel has {'/'.join(asked)}{lacking}")
    if per_judge:
        pairs: list[Any] = [pytest.param(p, j, id=f"{p}-{j}") for p, judges in subjects.items() for j in judges]
        metafunc.parametrize(("panel", per_judge), pairs or [pytest.param("", "", id="none", marks=none)])
    else:
        metafunc.parametrize("panel", list(subjects) or [pytest.param("", id="none", marks=none)])


def _note_mistake(config: pytest.Config, text: str) -> None:
    """A mistake in panels, tasks, gates or options is told once, not once per module: as a usage error after
    collection, or, by an xdist worker, which cannot end the run, as an error of the first module."""
    if config.stash.setdefault(_mistake, text) is text and hasattr(config, "workerinput"):
        raise pytest.Collector.CollectError(text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if _mistake in config.stash and not hasattr(config, "workerinput"):
        raise pytest.UsageError(config.stash[_mistake])


def _asked(node: Any) -> tuple[str, str]:
    """Task and protocol of the nearest `elicits` marks; what a test's own mark leaves out comes from its module's."""
    from recuse.schema import RecuseError

    given: dict[str, str] = {}
    unnamed: list[Any] = []
    for mark in node.iter_markers("elicits"):
        given, unnamed = {**mark.kwargs, **given}, [*unnamed, *mark.args]
    if unnamed or set(given) != {"task", "protocol"}:
        got = ", ".join([*map(repr, unnamed), *(f"{name}={value!r}" for name, value in given.items())])
        raise RecuseError(
            f'{node.nodeid}: mark it @pytest.mark.elicits(task="...", protocol="..."), by name; got ({got})'
        )
    return given["task"], given["protocol"]


# --------------------------------------------------------------------------- fixtures


@pytest.fixture(scope="session")
def suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    with _get_suite(pytestconfig) as opened:
        yield opened


@pytest.fixture
def panel(request: pytest.FixtureRequest) -> str:
    """Name of the panel under examination."""
    wanted = "what asks judges must be marked @pytest.mark.elicits(task=..., protocol=...)"
    pytest.fail(f"{request.node.nodeid}: {wanted}", pytrace=False)


@pytest.fixture
def task(request: pytest.FixtureRequest, panel: str, suite: Suite) -> Task:
    """The task the test is marked with."""
    return suite.task(_asked(request.node)[0])


@pytest.fixture
def ratings_of(request: pytest.FixtureRequest, suite: Suite, panel: str) -> Callable[[str], pd.DataFrame]:
    """Ratings of the panel by another protocol of the same task: `ratings_of("generation")`."""
    asked = _asked(request.node)
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def of(protocol: str) -> pd.DataFrame:
        if suite.mode == "replay" or capture is None:
            return suite.ratings(panel, asked[0], protocol)
        with capture.global_and_fixture_disabled():  # what a recording will cost and how far it is must be seen
            return suite.ratings(panel, asked[0], protocol)

    return of


@pytest.fixture
def ratings(request: pytest.FixtureRequest, ratings_of: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """The ratings table of the panel for the task and protocol the test is marked with."""
    return ratings_of(_asked(request.node)[1])


@pytest.fixture
def items_of(request: pytest.FixtureRequest, suite: Suite, panel: str) -> Callable[[str], pd.DataFrame]:
    """What the panel is asked about by a protocol of the task, as a table: `items_of("pairwise")`."""
    asked = _asked(request.node)
    return lambda protocol: suite.items(panel, asked[0], protocol)


@pytest.fixture
def items(request: pytest.FixtureRequest, items_of: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """What the panel is asked about for the task and protocol the test is marked with."""
    return items_of(_asked(request.node)[1])


@pytest.fixture
def own(suite: Suite, panel: str, task: Task) -> dict[str, str]:
    """Judge -> the target that is its own work, for judges that have one."""
    return suite.panels[panel].own(list(task.targets))


@pytest.fixture
def gate(request: pytest.FixtureRequest, suite: Suite, panel: str, task: Task) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates, judge=...)`: the verdicts, kept for the report."""

    def decide(name: str, measured: Estimate | Estimates, **subject: str) -> Verdicts:
        members = getattr(measured, "by", ())  # names of members choose among them
        given = {"task": task.name, "panel": panel} | {k: v for k, v in subject.items() if k not in members}
        shown = {k: [v] for k, v in subject.items() if k in members}
        verdicts = suite.gates.decide(name, measured, given, shown=shown)
        request.node.stash.setdefault(_verdicts, []).extend(verdicts)
        for verdict in verdicts:
            _keep(request, VERDICT, suite.verdict_record(verdict))
        return verdicts

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
    title, _, note = (node.module.__doc__ or "").strip().partition("\n")  # the eval file's own words head its section
    asked = {"question": node.path.stem.removeprefix("test_"), "title": title, "note": " ".join(note.split())}
    protocol = _asked(node)[1]
    node.user_properties.append((kind, {**record, **asked, "protocol": protocol, "test": node.nodeid}))


# --------------------------------------------------------------------------- outcome of a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells a failed gate and a mistake in words instead of a traceback, and turns a accepted gate into an expected
    failure."""
    report = yield
    verdicts = item.stash.get(_verdicts, [])
    objections = [verdict for verdict in verdicts if not verdict]
    accepted = [verdict for verdict in verdicts if verdict.outcome == "accepted"]
    if call.excinfo is not None and _asks_judges(item) and _is_ours(call.excinfo.value):
        _tell(item, report, str(call.excinfo.value))
    elif call.when == "call" and objections and (call.excinfo is None or call.excinfo.errisinstance(AssertionError)):
        from recuse.gates import explain

        report.outcome = "failed"
        report.longrepr = "\n\n".join(map(explain, objections))
    elif call.when == "call" and accepted and call.excinfo is None:
        report.outcome = "skipped"
        report.wasxfail = "; ".join(verdict.accepted_fault.reason for verdict in accepted if verdict.accepted_fault)
    elif report.skipped and _about_nobody(item):
        report.user_properties.append((UNASKED, True))
    elif report.failed and _asks_judges(item):
        report.user_properties.append((UNMEASURED, str(report.longrepr).strip().splitlines()[-1][:300]))
    return report


def _about_nobody(item: pytest.Item) -> bool:
    """Whether no selected panel has what the test asks for."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("panel") == ""


def _asks_judges(item: pytest.Item) -> bool:
    """Others' tests keep their tracebacks, whatever they raise."""
    return item.get_closest_marker("elicits") is not None


def _is_ours(error: BaseException) -> bool:
    from recuse.schema import RecuseError

    return isinstance(error, RecuseError)


def _tell(item: pytest.Item, report: pytest.TestReport, text: str) -> None:
    """In full the first time; one missing cassette may stop fifty tests."""
    told = item.config.stash.setdefault(_told, set())
    first = text.strip().split("\n")[0]
    report.longrepr = f"{first} (told in full above)" if text in told and text != first else text
    told.add(text)
    shown = first.replace(f"{item.config.rootpath}{os.sep}", "")  # results name no machine's path
    report.user_properties.append((UNMEASURED, shown[:300]))


# --------------------------------------------------------------------------- gathering, in the process that reports


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Gathering(), "recuse-gathering")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An xdist worker hands what it replayed to the process that reports."""
    config = session.config
    if hasattr(config, "workerinput") and _suite in config.stash:
        config.workeroutput["recuse"] = config.stash[_suite].replayed()  # type: ignore[attr-defined]


class _Gathering:
    """The hooks of the process that reports: the only one, or xdist's controller. One per session."""

    def __init__(self) -> None:
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        if self._run is None:
            from recuse.run import Run

            self._run = Run()
        return self._run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = [(name, value) for name, value in report.user_properties if name.startswith("recuse.")]
        if report.when == "call" and properties:
            self.run.add(properties)
        for name, value in properties:
            if name == UNASKED:
                self.run.unasked = True
            elif name == UNMEASURED:
                self.run.unmeasured[report.nodeid] = str(value)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if replayed := getattr(node, "workeroutput", {}).get("recuse"):
            self.run.replayed.update(replayed)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After all other work, and before the terminal's summary, which wraps this hook."""
        if self._run is None:
            return
        from recuse.schema import RecuseError

        config = session.config
        try:
            suite = _get_suite(config)
            self.run.replayed.update(suite.replayed())
            self.run.finish(
                suite,
                complete=_everything_was_asked(session, suite),
                baseline=config.getoption("--baseline"),
                update=config.getoption("--update-baseline"),
            )
        except RecuseError as error:  # a damaged baseline, a template that does not render
            self.run.objections.append(str(error))
        if self.run.objections and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is not None:
            terminalreporter.write_line("")
            writer = terminalreporter._tw
            terminalreporter.write_line(self.run.terminal(writer.fullwidth, writer.hasmarkup))


def _everything_was_asked(session: pytest.Session, suite: Suite) -> bool:
    config = session.config
    choosing = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "--judges")
    selected = any(config.getoption(name, None) for name in choosing) or session.shouldfail or session.shouldstop
    files = any(arg.endswith(".py") or "::" in arg for arg in config.args)
    named = [Path(given) for given in config.getoption("--panel")]
    configured = {(config.rootpath / path).resolve() for path in config.getini("recuse_panels")}
    panels = {panel.path.resolve() for panel in suite.panels.values()}
    return not selected and not files and (not named or panels >= configured)

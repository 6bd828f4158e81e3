"""The pytest plugin: options, fixtures and hooks. The only module that imports pytest; it wires and computes nothing.

Everything heavy is imported when a test that asks about judges is collected: an environment that merely has Recuse
installed pays for this file alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.ratings import Ratings
    from recuse.run import Run
    from recuse.schema import Estimate, Estimates
    from recuse.suite import Asked, Suite
    from recuse.tasks import Task

MARKER = (
    'asks(*needs, task=None, protocol=None): what this test asks of ratings, as asks("scores", "authors"); it runs for '
    "every panel, task and protocol that offers all of it"
)
VERDICT, MEASUREMENT, MEASURE = "recuse.verdict", "recuse.measurement", "recuse.measure"
UNMEASURED, NOBODY = "recuse.unmeasured", "recuse.nobody"
_suite = pytest.StashKey["Suite"]()
_mistake = pytest.StashKey[str]()
_told = pytest.StashKey[set[str]]()
_decided = pytest.StashKey[list["Verdicts"]]()
_not_asked = pytest.StashKey[dict[str, list[dict[str, Any]]]]()


# --------------------------------------------------------------------------- options

SHORT = ("--panel", "--ratings", "--judges", "--record", "--yes", "--models", "--baseline", "--update-baseline")
"""Short names of our options, `--panel` for `--recuse-panel`: each is ours unless another plugin has it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("recuse", "judging judges (recuse); every --recuse-NAME may be written --NAME")
    group.addoption(
        "--recuse-panel", action="append", default=[], metavar="FILE", help="panel to examine; repeat for several"
    )
    group.addoption(
        "--recuse-ratings", action="append", default=[], metavar="FILE",
        help="ratings you already have, as a panel: CSV, JSON lines, Parquet, another tool's log; repeat for several",
    )  # fmt: skip
    group.addoption(
        "--recuse-judges", default="", metavar="A,B", help="verdicts on these judges only; the reference stays whole"
    )
    group.addoption(
        "--recuse-record",
        choices=("none", "missing", "all", "batch"),
        default="none",
        help="none: replay only, no network (default); missing: ask for what no cassette answers; all: ask anew; "
        "batch: hand in what is missing as files, where the provider takes them at half the price",
    )
    group.addoption("--recuse-yes", action="store_true", help="record even above the panel's budget")
    group.addoption("--recuse-models", default="models", metavar="DIR", help="where weights of local models are kept")
    group.addoption(
        "--recuse-baseline",
        nargs="?",
        const="",
        default=None,
        type=_baseline_file,
        metavar="FILE",
        help="fail when an outcome changed against it (reports/baseline.json)",
    )
    group.addoption("--recuse-update-baseline", action="store_true", help="write reports/baseline.json from this run")
    parser.addini("recuse_panels", "panels examined when --panel is not given", type="args", default=[])
    parser.addini("recuse_drawings", "modules of your own that draw questions, by dotted name", type="args", default=[])
    parser.addini("recuse_gates", "file with limits and accepted faults", default="evals/gates.toml")


def _baseline_file(text: str) -> str:
    if text and not text.endswith(".json"):  # `--baseline evals/` would take the tests for the file
        raise argparse.ArgumentTypeError(f"{text!r} is no .json file; paths of tests go before --baseline")
    return text


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """Once every plugin and conftest has named its options, our short names that nobody else has become ours."""
    yield
    taken = {
        name for group in (*parser._groups, parser._anonymous) for option in group.options for name in option.names()
    }
    for place, given in enumerate(args):
        if given == "--":
            break
        name, sign, value = given.partition("=")
        if name in SHORT and name not in taken:
            args[place] = f"--recuse-{name[2:]}{sign}{value}"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def _option(config: pytest.Config, name: str) -> Any:
    return config.getoption(f"--recuse-{name}")


def _get_suite(config: pytest.Config) -> Suite:
    if _suite not in config.stash:
        from recuse.suite import Suite

        config.stash[_suite] = Suite.from_options(
            root=config.rootpath,
            panels=_option(config, "panel") or (config.getini("recuse_panels") if not _files(config) else ()),
            ratings=[str(Path(config.invocation_params.dir, file)) for file in _files(config)],
            judges=[name.strip() for name in _option(config, "judges").split(",") if name.strip()],
            record=_option(config, "record"),
            yes=_option(config, "yes"),
            models=config.rootpath / _option(config, "models"),
            gates=config.rootpath / config.getini("recuse_gates"),
            distributed=hasattr(config, "workerinput") or bool(getattr(config.option, "numprocesses", None)),
            shared=_shared_folder(config),
        )
    return config.stash[_suite]


def _files(config: pytest.Config) -> list[str]:
    """Files of ratings named on the command line: they are examined in place of the configured panels."""
    given: list[str] = _option(config, "ratings")
    return given


def _shared_folder(config: pytest.Config) -> Path | None:
    """The folder in which the workers of this run share what they read; None in a process of its own."""
    given = getattr(config, "workerinput", {}).get("recuse_shared")
    return Path(given) if given else None


# --------------------------------------------------------------------------- which ratings a test is about


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `asks` run once for every panel, task and protocol that offers what they need."""
    if not _asks_judges(metafunc.definition) or "asked" not in metafunc.fixturenames:
        return
    from recuse.schema import RecuseError

    config = metafunc.config
    try:
        needs, narrowed = _needs(metafunc.definition)
        found, lacking = _get_suite(config).asked(needs, **narrowed)
    except RecuseError as error:
        needs, found, lacking = (), [], []
        _note_mistake(config, str(error))
    records = [{**row.record(), **_question(metafunc.definition)} for row in lacking]
    config.stash.setdefault(_not_asked, {})[metafunc.definition.nodeid] = records
    if found:
        metafunc.parametrize("asked", [pytest.param(asked, id=str(asked)) for asked in found])
    else:
        none = pytest.mark.skip(reason=f"no selected panel offers {', '.join(needs)}")
        metafunc.parametrize("asked", [pytest.param(None, id="nobody", marks=none)])


def _note_mistake(config: pytest.Config, text: str) -> None:
    """A mistake in panels, tasks, gates or options is told once, not once per module: as a usage error after
    collection, or, by an xdist worker, which cannot end the run, as an error of the first module."""
    if config.stash.setdefault(_mistake, text) is text and hasattr(config, "workerinput"):
        raise pytest.Collector.CollectError(text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if _mistake in config.stash and not hasattr(config, "workerinput"):
        raise pytest.UsageError(config.stash[_mistake])


def pytest_collection_finish(session: pytest.Session) -> None:
    """Everything that the collected tests will want is recorded before the first of them runs: one budget, one stop."""
    config = session.config
    if _suite not in config.stash or _option(config, "record") == "none" or config.option.collectonly:
        return
    suite = config.stash[_suite]
    if suite.distributed:
        return  # a test whose calls are missing will say so
    wanted = [asked for item in session.items for asked in _wanted(suite, item)]
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        suite.record(wanted, stop_at_first=bool(config.getoption("maxfail", 0) == 1))


def _wanted(suite: Suite, item: pytest.Item) -> list[Asked]:
    """The ratings a collected test is about, and those by other protocols that it names among its needs."""
    asked = getattr(getattr(item, "callspec", None), "params", {}).get("asked")
    if asked is None or not _asks_judges(item):
        return []
    return [asked, *suite.beside(asked, _needs(item)[0])]


def _needs(node: Any) -> tuple[tuple[str, ...], dict[str, str]]:
    """What the `asks` marks of a test, its class and its module name together, the nearest first."""
    from recuse.offers import check_needs
    from recuse.protocols import offered_kinds
    from recuse.schema import RecuseError

    needs: dict[str, None] = {}
    narrowed: dict[str, str] = {}
    for mark in node.iter_markers("asks"):
        needs |= dict.fromkeys(mark.args)
        narrowed = {**mark.kwargs, **narrowed}
    wrong = [name for name in needs if not isinstance(name, str)]
    if wrong or not set(narrowed) <= {"task", "protocol"}:
        got = ", ".join([*map(repr, needs), *(f"{name}={value!r}" for name, value in narrowed.items())])
        raise RecuseError(
            f'{node.nodeid}: mark it @pytest.mark.asks("scores", "authors", ...), and task="..." or protocol="..." to '
            f"narrow it down; got ({got})"
        )
    check_needs(needs, node.nodeid, offered_kinds())
    return tuple(needs), narrowed


# --------------------------------------------------------------------------- fixtures


@pytest.fixture(scope="session")
def recuse_suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    with _get_suite(pytestconfig) as opened:
        yield opened


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> Asked:
    """Whom the test is about: panel, task and protocol."""
    wanted = 'what asks about judges must be marked, as @pytest.mark.asks("scores")'
    pytest.fail(f"{request.node.nodeid}: {wanted}", pytrace=False)


@pytest.fixture
def task(recuse_suite: Suite, asked: Asked) -> Task:
    """The task the test is about, with the items that the panel was asked about."""
    return recuse_suite.task_of(asked)


@pytest.fixture
def ratings(recuse_suite: Suite, asked: Asked) -> Ratings:
    """The ratings that the test asks for. `ratings.beside("choices")` are the same judges' by another protocol."""
    return recuse_suite.ratings(asked)


@pytest.fixture
def gate(request: pytest.FixtureRequest, recuse_suite: Suite, asked: Asked) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates)`: a verdict on every judge that was measured, kept for the report."""

    def decide(name: str, measured: Estimate | Estimates, **subject: str) -> Verdicts:
        full = {"task": asked.task, "panel": asked.panel, "protocol": asked.protocol, **subject}
        from recuse.metrics.measure import described

        decided = recuse_suite.gates.decide(name, measured, full, blocks=lambda metric: described(metric).blocks)
        verdicts = decided.only(recuse_suite.is_shown)
        request.node.stash.setdefault(_decided, []).append(verdicts)
        for verdict in verdicts:
            _keep(request, VERDICT, verdict.record())
            _describe(request, verdict.estimate)
        return verdicts

    return decide


@pytest.fixture
def measure(request: pytest.FixtureRequest, recuse_suite: Suite, asked: Asked) -> Callable[..., None]:
    """`measure(estimates)`: shown in the report, gated by nothing."""

    def keep(measured: Estimate | Estimates, **subject: str) -> None:
        from recuse.schema import members

        full = {"task": asked.task, "panel": asked.panel, "protocol": asked.protocol, **subject}
        for names, estimate in members(measured):
            if recuse_suite.is_shown({**full, **names}):
                _keep(request, MEASUREMENT, {"subject": {**full, **names}, "estimate": estimate.record()})
                _describe(request, estimate)

    return keep


def _keep(request: pytest.FixtureRequest, kind: str, record: dict[str, Any]) -> None:
    node = request.node
    node.user_properties.append((kind, {**record, **_question(node), "test": node.nodeid}))


def _describe(request: pytest.FixtureRequest, estimate: Estimate) -> None:
    """The measure's own description travels with its first number."""
    from recuse.metrics.measure import described

    told = (MEASURE, dict(described(estimate.metric).record()))
    if told not in request.node.user_properties:
        request.node.user_properties.append(told)


def _question(node: Any) -> dict[str, str]:
    title, _, note = (node.module.__doc__ or "").strip().partition("\n")  # the eval file's own words head its section
    return {"question": node.path.stem.removeprefix("test_"), "title": title, "note": " ".join(note.split())}


# --------------------------------------------------------------------------- outcome of a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells failed gates and mistakes in words instead of a traceback, and turns accepted faults into an expected
    failure."""
    report = yield
    if not _asks_judges(item):
        return report  # others' tests keep their tracebacks, whatever they raise
    decided = item.stash.get(_decided, [])
    if call.excinfo is not None and _is_ours(call.excinfo.value):
        _tell(item, report, str(call.excinfo.value))
    elif call.when == "call" and (told := _objections(decided, call.excinfo)):
        report.outcome, report.longrepr = "failed", "\n\n".join(told)
        if _of_another(decided, call.excinfo) or any(not verdicts.asserted for verdicts in decided):
            report.user_properties.append((UNMEASURED, told[-1].splitlines()[-1][:300]))
    elif call.when == "call" and call.excinfo is None and (reasons := _accepted(decided)):
        report.outcome, report.wasxfail = "skipped", reasons
    elif report.skipped and _about_nobody(item):
        report.user_properties.append((NOBODY, True))
    elif report.failed:
        report.user_properties.append((UNMEASURED, str(report.longrepr).strip().splitlines()[-1][:300]))
    return report


UNASSERTED = "a gate was asked and its answer not asserted: write `assert gate(...)`"


def _objections(decided: Sequence[Verdicts], raised: pytest.ExceptionInfo[BaseException] | None) -> list[str]:
    """What failed gates say, a gate whose answer nobody looked at, and last the words of any other failed assertion."""
    if not decided or (raised is not None and not raised.errisinstance(AssertionError)):
        return []
    parts = [verdicts.explain() for verdicts in decided if not verdicts.stays_green]
    parts += [f"{UNASSERTED} ({verdicts.gate})" for verdicts in decided if not verdicts.asserted]
    if raised is not None and _of_another(decided, raised):
        where = raised.traceback[-1]
        parts.append(f"{Path(where.path).name}:{where.lineno + 1}: {raised.exconly()}")
    return parts


def _of_another(decided: Sequence[Verdicts], raised: pytest.ExceptionInfo[BaseException] | None) -> bool:
    """Whether an assertion failed that is not about a gate's answer."""
    return raised is not None and not any(verdicts.marker in str(raised.value) for verdicts in decided)


def _accepted(decided: Sequence[Verdicts]) -> str:
    """The reasons of all faults that were accepted."""
    return "; ".join(dict.fromkeys(reason for verdicts in decided for reason in verdicts.accepted_reasons))


def _about_nobody(item: pytest.Item) -> bool:
    """Whether no selected panel offers what the test asks for."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("asked", "") is None


def _asks_judges(item: Any) -> bool:
    return next(item.iter_markers("asks"), None) is not None


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
        handed = {"replayed": config.stash[_suite].replayed(), "not_asked": config.stash.get(_not_asked, {})}
        config.workeroutput["recuse"] = handed  # type: ignore[attr-defined]


class _Gathering:
    """The hooks of the process that reports: the only one, or xdist's controller. One per session."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._shared: str | None = None

    def pytest_unconfigure(self) -> None:
        if self._shared is not None:
            shutil.rmtree(self._shared, ignore_errors=True)

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
            if name == NOBODY:
                self.run.nobody_asked = True
            elif name == UNMEASURED:
                self.run.unmeasured[report.nodeid] = str(value)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """With `-n` and no other wish, one worker runs all tests about a panel and task."""
        if config.getoption("dist", "no") != "load":
            return None
        from recuse.worker_groups import PanelTaskScheduling

        return PanelTaskScheduling(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist starts a worker: tell it where the workers of this run share what they read."""
        if self._shared is None:
            self._shared = tempfile.mkdtemp(prefix="recuse-run-")
        node.workerinput["recuse_shared"] = self._shared

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if handed := getattr(node, "workeroutput", {}).get("recuse"):
            self.run.replayed.update(handed["replayed"])
            self.run.not_asked.update(handed["not_asked"])

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
            collected: dict[str, list[dict[str, Any]]] = config.stash.get(_not_asked, {})
            self.run.not_asked.update(collected)
            self.run.drawings = config.getini("recuse_drawings")
            self.run.finish(
                suite,
                complete=_everything_was_asked(session, suite),
                baseline=_option(config, "baseline"),
                update=_option(config, "update-baseline"),
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
    choosing = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "--recuse-judges")
    selected = any(config.getoption(name, None) for name in choosing) or session.shouldfail or session.shouldstop
    files = any(arg.endswith(".py") or "::" in arg for arg in config.args)
    named = [Path(given) for given in (*_option(config, "panel"), *_files(config))]
    configured = {(config.rootpath / path).resolve() for path in config.getini("recuse_panels")}
    paths = [*(panel.path for panel in suite.panels.values()), *(file.path for file in suite.files.values())]
    panels = {path.resolve() for path in paths}
    return not selected and not files and (not named or panels >= configured)

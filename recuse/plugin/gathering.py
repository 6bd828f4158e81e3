"""What all tests found comes together in the process that reports: the only one, or xdist's controller."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.annotations import annotation_lines
from recuse.plugin.collection import asked, not_asked
from recuse.plugin.command_line import given
from recuse.plugin.junit import readable
from recuse.plugin.opened_suite import baseline_path, is_opened, is_worker, open_suite
from recuse.run.record_kinds import NOBODY, UNMEASURED

if TYPE_CHECKING:
    from recuse.run import Run
    from recuse.schema.results import InPlaceRow
    from recuse.suite import Suite

__all__ = ["pytest_sessionfinish", "pytest_sessionstart"]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Registers the hooks of the process that reports."""
    if not is_worker(session.config):
        session.config.pluginmanager.register(_Gathering(), "recuse-gathering")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An xdist worker hands what it replayed to the process that reports."""
    config = session.config
    if is_worker(config) and is_opened(config):
        handed = {"replayed": open_suite(config).replayed(), "not_asked": not_asked(config), "asked": asked(config)}
        config.workeroutput["recuse"] = json.dumps(handed)  # type: ignore[attr-defined]


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

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Before anyone else reads the records: to others, as in JUnit's XML, they are told as short properties."""
        properties = [(name, value) for name, value in report.user_properties if name.startswith("recuse.")]
        if report.when == "call" and properties:
            self.run.add(properties)
        for name, value in properties:
            if name == NOBODY:
                self.run.nobody_asked = True
            elif name == UNMEASURED:
                self.run.unmeasured[report.nodeid] = str(value)
        report.user_properties = readable(report.user_properties)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """With `-n` and no other wish, one worker runs all tests about a panel and task."""
        if not _by_panel_and_task(config):
            return None
        from recuse.plugin.worker_groups import PanelTaskScheduling

        return PanelTaskScheduling(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist starts a worker: tell it where the workers of this run share what they read, unless each panel and
        task is read by one worker alone."""
        if _by_panel_and_task(node.config):
            return
        if self._shared is None:
            self._shared = tempfile.mkdtemp(prefix="recuse-run-")
        node.workerinput["recuse_shared"] = self._shared

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if handed := getattr(node, "workeroutput", {}).get("recuse"):
            records = json.loads(handed)
            self.run.replayed.update(records["replayed"])
            self.run.not_asked.update(records["not_asked"])
            self.run.asked = records["asked"] or self.run.asked  # every worker collects the same tests

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After all other work, and before the terminal's summary, which wraps this hook."""
        if self._run is None:
            return
        from recuse.schema import RecuseError

        config = session.config
        try:
            suite = open_suite(config)
            self.run.replayed.update(suite.replayed())
            self.run.not_asked.update(not_asked(config))
            self.run.asked = self.run.asked or asked(config)
            self.run.uses = {name: suite.uses(name) for name in (*suite.selection.panels, *suite.selection.files)}
            self.run.drawings = config.getini("recuse_drawings")
            self.run.finish(
                suite.selection,
                suite.gates,
                whole=not (chosen := _chosen_tests(session)),
                part=chosen or _chosen_panels(session, suite),
                baseline=baseline_path(config),
                strict=given(config, "baseline") is not None,
                update=given(config, "update-baseline"),
                because=given(config, "because"),
                in_place=_changed_in_place(suite, given(config, "base")),
            )
        except RecuseError as error:  # a damaged baseline, a template that does not render
            self.run.objections.append(str(error))
        refused = self.run.decision is not None and self.run.decision.red
        if (self.run.objections or refused) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._run is not None:
            terminalreporter.write_line("")
            writer = terminalreporter._tw
            verbosity = terminalreporter.config.get_verbosity()
            terminalreporter.write_line(self.run.terminal(writer.fullwidth, writer.hasmarkup, verbosity))
            if os.environ.get("GITHUB_ACTIONS") == "true":
                self._annotate(terminalreporter)

    def _annotate(self, terminalreporter: Any) -> None:
        """What turns the run red, for GitHub to show beside the changed files."""
        config = terminalreporter.config
        gates = config.rootpath / config.getini("recuse_gates")
        workspace = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath)
        results = {**self.run.results, "objections": self.run.objections}  # of a run that broke off, these are all
        for line in annotation_lines(results, gates, workspace):
            terminalreporter.write_line(line)


def _by_panel_and_task(config: pytest.Config) -> bool:
    """Whether the tests are handed to xdist's workers in our way."""
    return bool(config.getoption("dist", "no") == "load")


def _changed_in_place(suite: Suite, base: str | None) -> list[InPlaceRow]:
    """Judges that are not what they were at the base commit; files of ratings are recorded nowhere."""
    if not suite.selection.panels:
        return []
    from recuse.upgrade.in_place import changed_in_place

    return [change.record() for change in changed_in_place(suite.selection.root, suite.selection, base)]


def _chosen_tests(session: pytest.Session) -> str:
    """Which tests were chosen, in words, where not all of them ran; "" where all did."""
    config = session.config
    choosing = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise")
    options = [name for name in choosing if config.getoption(name, None)]
    files = [Path(arg.partition("::")[0]).name for arg in config.args if arg.endswith(".py") or "::" in arg]
    if files:
        return f"only {files[0]}{f' and {len(files) - 1} more' if files[1:] else ''} ran"
    evals = (config.rootpath / config.getini("recuse_gates")).resolve().parent
    if not any(evals.is_relative_to(Path(config.invocation_params.dir, arg).resolve()) for arg in config.args):
        return f"{evals.name}/ was not asked"
    if options:
        return f"only the tests chosen by --{options[0].replace('_', '-')} ran"
    return "the run was stopped before its end" if session.shouldfail or session.shouldstop else ""


def _chosen_panels(session: pytest.Session, suite: Suite) -> str:
    """Which of the configured panels and judges were examined, where not all were."""
    config, selection = session.config, suite.selection
    if selection.shown:
        return f"only {', '.join(sorted(selection.shown))} of the judges examined"
    configured = {(config.rootpath / path).resolve() for path in config.getini("recuse_panels")}
    examined = {panel.path.resolve() for panel in selection.panels.values()}
    examined |= {file.path.resolve() for file in selection.files.values()}
    if examined >= configured or not (examined & configured or given(config, "panel")):
        return ""
    return f"only {', '.join((*selection.panels, *selection.files))} of {len(configured)} panels examined"

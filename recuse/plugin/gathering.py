"""What all tests found comes together in the process that reports: the only one, or xdist's controller."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.command_line import SUITE, baseline_path, given, is_worker, open_suite
from recuse.plugin.fixtures import NOBODY, RECORDS, UNMEASURED

if TYPE_CHECKING:
    from recuse.run.run import Run
    from recuse.schema.results import ChangedRow, InPlaceRow
    from recuse.suite import Suite

OURS = "recuse."
QUOTES = ("examples", "texts")  # where the detail of an estimate lists what judges wrote
PLACE = ("task", "panel", "protocol")  # the test's own name says them
MOST, LONGEST = 10, 400  # errors that GitHub shows of one step, and their characters


def pytest_sessionstart(session: pytest.Session) -> None:
    """Registers the hooks of the process that reports."""
    if not is_worker(session.config):
        session.config.pluginmanager.register(_Gathering(), "recuse-gathering")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """An xdist worker hands what it replayed to the process that reports."""
    config = session.config
    if is_worker(config) and SUITE in config.stash:
        config.workeroutput["recuse"] = json.dumps(vars(open_suite(config).records))  # type: ignore[attr-defined]


class _Gathering:
    """The hooks of the process that reports: the only one, or xdist's controller. One per session."""

    interrupted = False

    @cached_property
    def run(self) -> Run:
        from recuse.run.run import Run

        return Run()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Before anyone else reads the records: others, as JUnit's XML, are given short properties."""
        properties: list[tuple[str, Any]] = [  # a worker sends its records as text
            (name, json.loads(value) if name == RECORDS and isinstance(value, str) else value)
            for name, value in report.user_properties
        ]
        for name, value in properties:
            if name == RECORDS and report.when == "call":
                self.run.add(value)
            elif name == NOBODY:
                self.run.nobody_asked = True
            elif name == UNMEASURED:
                self.run.unmeasured[report.nodeid] = str(value)
        report.user_properties = readable(properties)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """With `-n` and no other wish, one worker runs all tests about a panel and task."""
        if config.getoption("dist", "no") != "load":
            return None
        from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

        scheduling = LoadScopeScheduling(config, log)
        scheduling._split_scope = scope_of
        return scheduling

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if handed := getattr(node, "workeroutput", {}).get("recuse"):
            self.run.add(json.loads(handed))

    def pytest_keyboard_interrupt(self) -> None:
        """By Ctrl-C, or by `pytest.exit`, of which the session knows nothing."""
        self.interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """After all other work, and before the terminal's summary, which wraps this hook."""
        if "run" not in vars(self):  # no test asked about judges
            return
        from recuse.schema import RecuseError
        from recuse.schema.plain_values import spare_the_cycle_collector
        from recuse.suite.questions import panel_path

        config = session.config
        try:
            suite = open_suite(config)
            self.run.add(suite.records)
            selection = suite.selection
            panels, files, shown = selection.panels, selection.files, selection.shown
            self.run.uses = {name: suite.uses(name) for name in (*panels, *files)}
            configured = {panel_path(config.rootpath, name).resolve() for name in config.getini("recuse_panels")}
            examined = {panel.path.resolve() for panel in panels.values()}
            examined |= {file.path.resolve() for file in files.values()}
            outside = examined - configured if given(config, "panel") else ()
            chosen = part = _chosen_tests(session, self.interrupted)
            if not part and shown:
                part = f"only {', '.join(sorted(shown))} of the judges examined"
            elif not part and not examined >= configured:
                part = f"only {', '.join((*panels, *files))} of {len(configured | examined)} panels examined"
            self.run.outside = sorted(os.path.relpath(path, config.rootpath) for path in outside)
            self.run.drawings = config.getini("recuse_drawings")
            if not suite.recordings.texts:
                for row in (*self.run.measurements, *self.run.verdicts):
                    detail = row["estimate"]["detail"].items()
                    kept: Any = {k: v for k, v in detail if k not in QUOTES or not isinstance(v, list)}
                    row["estimate"]["detail"] = kept
            in_place, changed = _against_base(suite)
            self.run.finish(
                selection, suite.gates, whole=not chosen, part=part, baseline=baseline_path(config),
                strict=given(config, "baseline") is not None, update=given(config, "update-baseline"),
                because=given(config, "because"), base=suite.base, in_place=in_place, changed=changed,
            )  # fmt: skip
        except RecuseError as error:  # a damaged baseline, a template that does not render
            self.run.objections.append(str(error))
        decision = getattr(self.run, "decision", None)
        if (self.run.objections or (decision and decision.red)) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        spare_the_cycle_collector()  # pytest and Python's own end would look through it all four times

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if "run" in vars(self):
            terminalreporter.write_line("")
            writer = terminalreporter.config.get_terminal_writer()
            verbosity = terminalreporter.config.get_verbosity()
            terminalreporter.write_line(self.run.terminal(writer.fullwidth, writer.hasmarkup, verbosity))
            if os.environ.get("GITHUB_ACTIONS") == "true":  # shows beside the changed files what turns the run red
                config = terminalreporter.config
                gates = config.rootpath / config.getini("recuse_gates")
                workspace = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath)
                # of a run that broke off, objections are all there is
                results = {**self.run.results, "objections": self.run.objections}
                for line in annotation_lines(results, gates, workspace):
                    terminalreporter.write_line(line)


def _against_base(suite: Suite) -> tuple[list[InPlaceRow], list[ChangedRow]]:
    from recuse.git import BaseCommit
    from recuse.schema.vocabulary import HIDDEN
    from recuse.upgrade.in_place import changed_in_place
    from recuse.upgrade.request_recordings import changed_recordings
    from recuse.upgrade.yardsticks import changed_yardsticks

    selection, commit, sampled = suite.selection, suite.base, suite.recordings.sampled
    if not isinstance(commit, BaseCommit):
        return [], sampled
    root, gates = selection.root, suite.gates.path
    evals = gates.relative_to(root) if gates.is_relative_to(root) else Path("evals/gates.toml")
    in_place = changed_in_place(root, selection, commit, suite.gates)
    paths = [*(panel.path for panel in selection.panels.values()), *(file.path for file in selection.files.values())]
    measured = [path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root)]
    recordings = changed_recordings(root, commit, selection.panels)
    changed = [*sampled, *recordings, *changed_yardsticks(root, commit, evals, measured)]
    if not suite.recordings.texts:
        for row in in_place:
            if row["kind"] in ("prompt", "rubric", "scale"):
                row["was"] = row["is"] = HIDDEN
        for other in changed:
            if other["what"].startswith("fixtures/") or other["what"] in measured:
                other["before"] = other["after"] = HIDDEN
    return in_place, changed


def _chosen_tests(session: pytest.Session, interrupted: bool) -> str:
    """Which tests were chosen, in words, where not all of them ran; "" where all did."""
    config = session.config
    choosing = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise")
    files = [Path(arg.partition("::")[0]).name for arg in config.args if arg.endswith(".py") or "::" in arg]
    if files:
        return f"only {files[0]}{f' and {len(files) - 1} more' if files[1:] else ''} ran"
    evals = (config.rootpath / config.getini("recuse_gates")).parent.resolve()  # the file itself may be a link
    if not any(evals.is_relative_to(Path(config.invocation_params.dir, arg).resolve()) for arg in config.args):
        return f"{evals.name}/ was not asked"
    if any(config.getoption(name, None) for name in choosing):
        return "only the tests chosen on the command line ran"
    stopped = session.shouldfail or session.shouldstop or interrupted
    return "the run was stopped before its end" if stopped else ""


def scope_of(nodeid: str) -> str:
    """Tests about judges are handed to workers by panel and task, whose measures are then made only once, all others
    one by one: "evals/test_x.py::test_y[panel/task/protocol]" -> "panel/task"."""
    _, _, parameters = nodeid.partition("[")
    parts = parameters.split("/")
    return "/".join(parts[:2]) if len(parts) >= 3 else nodeid


def readable(properties: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The properties of a test without our records, each verdict a few short ones: "leniency[judge=gpt].outcome"."""
    kept = [(name, value) for name, value in properties if not name.startswith(OURS)]
    for verdict in (verdict for name, value in properties if name == RECORDS for verdict in value["verdicts"]):
        about = ",".join(f"{k}={v}" for k, v in sorted(verdict["subject"].items()) if k not in PLACE)
        name, value = f"{verdict['gate']}[{about}]" if about else verdict["gate"], verdict["estimate"]["value"]
        kept += [
            (f"{name}.outcome", verdict["outcome"]),
            (f"{name}.value", "undefined" if value is None else f"{value:.10g}"),
            (f"{name}.limit", verdict["rule"]["limit_text"]),
        ]
    return kept


def annotation_lines(results: Mapping[str, Any], gates: Path, workspace: Path) -> list[str]:
    """At most ten lines: the decision unless to merge, one per gate that is not kept and per changed limit (an error
    where it turns the run red), at their line of `gates`, then objections. Paths are told from `workspace`."""
    from recuse.configuration.toml_files import line_numbers
    from recuse.schema.number_text import subject
    from recuse.schema.plain_values import grouped
    from recuse.schema.vocabulary import ACCEPTED, FAIL, NOT_MEASURED, PASS, UNDECIDED

    lines_of, path, folder = line_numbers(gates), gates.resolve(), workspace.resolve()
    file = path.relative_to(folder) if path.is_relative_to(folder) else Path(gates.name)

    def command(level: str, title: str, words: str, gate: str | None = None) -> str:
        """Beside the first line of the gate's table; of the file, where it has none."""
        line = lines_of.get((gate or "",), 1)
        place = f"file={_property(file.as_posix())},line={line}," if gate is not None else ""
        return f"::{level} {place}title={_property(title)}::{_data(words)}"

    decision = results.get("decision") or {}
    word = str(decision.get("word") or "merge")
    level = "error" if word == "do not merge" else "warning"
    lines = [] if word == "merge" else [command(level, word.capitalize(), f"{decision['cause']}.")]
    verdicts: list[dict[str, Any]] = results.get("verdicts") or []
    failing = [v for v in verdicts if v["outcome"] not in (PASS, ACCEPTED) and not v["allowed"]]
    for gate, red in grouped(failing, itemgetter("gate")).items():
        worst = next(o for o in (FAIL, NOT_MEASURED, UNDECIDED) if any(v["outcome"] == o for v in red))
        phrases = [f"{subject(dict(sorted(v['subject'].items())))}: "
                   f"{(v.get('remedy') or {}).get('finding') or v['outcome']}" for v in red[:2]]  # fmt: skip
        phrases += [f"And {len(red) - 2} more."] if red[2:] else []
        lines.append(command("error", f"{red[0].get('label') or gate}: {worst}", " ".join(phrases), gate))
    changes, objections = results.get("baseline") or {}, list(results["objections"])
    for row in changes.get("limits") or ():
        objection = f"{changes['path']}: {row['sentence']}"
        level = "error" if objection in objections else "warning"
        objections = [other for other in objections if other != objection]
        lines.append(command(level, f"{row['gate']} {row['key']}: {row['change']}", row["sentence"], row["gate"]))
    return [*lines, *(f"::error::{_data(objection)}" for objection in objections)][:MOST]


def _data(text: str) -> str:
    """A command ends at its line's end, so a line break in a name must not begin another command."""
    from recuse.security.sanitize import shortened, visible

    short = shortened(visible(text), LONGEST)[0]
    return short.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""The mark that says what a test asks of ratings, collected once per panel, task and protocol that offers it; the
fixtures that such tests use, in a suite of ours under a short name too: `ratings` for `recuse_ratings`; their reports.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.command_line import SHORT_NAMES, SUITE, given, is_worker, open_suite

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings
    from recuse.suite import Elicitation, Suite
    from recuse.suite.question_runner import Asking
    from recuse.tasks import Task

WORDS = (
    '(*needs, task=None, protocol=None, rests_on="pairs"): what this test asks of ratings, as asks("scores", '
    '"authors"); it runs for every panel, task and protocol that offers all of it, and whose source fixes what its '
    'numbers rest on: "margins", "cells" or "pairs"'
)
RECORDS, UNMEASURED, NOBODY = "recuse.records", "recuse.unmeasured", "recuse.nobody"  # in a report's `user_properties`
ASKING: pytest.StashKey[Asking] = pytest.StashKey()  # a test's question, while it runs
UNASSERTED = "a gate was asked and its answer not asserted: write `assert gate(...)`"
_shown_in_full = pytest.StashKey[set[str]]()
_mistake = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known to pytest."""
    config.addinivalue_line("markers", f"recuse_asks{WORDS}")


def marks_of(node: Any) -> list[pytest.Mark]:
    """The marks of a test, its class and its module that ask about judges, the nearest first; `asks` in suites only."""
    names = ("recuse_asks", "asks") if node.config.pluginmanager.hasplugin(SHORT_NAMES) else ("recuse_asks",)
    return [mark for mark in node.iter_markers() if mark.name in names]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that ask about judges run once for every panel, task and protocol that offers what they need."""
    config, test = metafunc.config, metafunc.definition
    if _mistake in config.stash or not marks_of(test) or "recuse_elicitation" not in metafunc.fixturenames:
        return
    from recuse.schema import RecuseError

    try:
        suite = open_suite(config)  # first: its panels may name protocols that offer a kind of their own
        from recuse.suite.question_runner import gates_named, needs_of, words_of

        needs, narrowed = needs_of(marks_of(test), test.nodeid)
        offering, lacking = suite.selection.offering(needs, **narrowed)
        names = gates_named(test.obj, suite.gates)
        suite.records.named += names
        of = map(suite.respondents, offering if names else ())
        suite.records.due += [row for one in of for row in one.gates_to_ask(test.nodeid, names, suite.gates)]
        words = words_of(test.path, metafunc.module)
        suite.records.not_asked[test.nodeid] = [{**row, **words, "tests": []} for row in lacking]
    except RecuseError as error:
        needs, offering, lacking = (), [], []
        # Told once, and no file is read again: as a usage error after collection, or, by an xdist worker, which cannot
        # end the run, as an error of the first module.
        if config.stash.setdefault(_mistake, text := str(error)) is text and is_worker(config):
            raise pytest.Collector.CollectError(text) from None
    if offering:
        metafunc.parametrize("recuse_elicitation", [pytest.param(one, id=str(one)) for one in offering])
    else:
        wanted = dict.fromkeys([*needs, *(need for row in lacking for need in row["missing"])])
        none = pytest.mark.skip(reason=f"no selected panel offers {', '.join(wanted)}")
        metafunc.parametrize("recuse_elicitation", [pytest.param(None, id="nobody", marks=none)])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Ends the run with a usage error if panels, tasks, gates or options were mistaken."""
    if _mistake in config.stash and not is_worker(config):
        raise pytest.UsageError(config.stash[_mistake])


def pytest_collection_finish(session: pytest.Session) -> None:
    """Everything that the collected tests will want is recorded before the first of them runs: one budget, one stop."""
    config = session.config
    if SUITE not in config.stash:
        return
    from recuse.schema.plain_values import spare_the_cycle_collector

    spare_the_cycle_collector()
    if given(config, "record") == "none" or config.option.collectonly:
        return
    suite = open_suite(config)
    if suite.recordings.distributed:
        return  # a test whose calls are missing will say so
    from recuse.suite.question_runner import needs_of

    wanted: list[Elicitation] = []  # by each collected test, and by other protocols that it names among its needs
    for item in filter(marks_of, session.items):
        if (one := getattr(getattr(item, "callspec", None), "params", {}).get("recuse_elicitation")) is not None:
            wanted += [one, *suite.selection.other_protocols(one, needs_of(marks_of(item), item.nodeid)[0])]
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        suite.recordings.record(wanted, stop_at_first=bool(config.getoption("maxfail", 0) == 1))


@pytest.fixture(scope="session")
def recuse_suite(pytestconfig: pytest.Config) -> Generator[Suite, None, None]:
    """The selected panels with their tasks, cassettes and gates."""
    with open_suite(pytestconfig) as opened:
        yield opened


@pytest.fixture
def recuse_elicitation(request: pytest.FixtureRequest) -> Elicitation:
    """What the test is about: one panel, asked one task by one protocol."""
    wanted = 'what asks about judges must be marked, as @pytest.mark.asks("scores")'
    pytest.fail(f"{request.node.nodeid}: {wanted}", pytrace=False)


@pytest.fixture
def recuse_task(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Task:
    """The task the test is about, with the items that the panel was asked about."""
    return recuse_suite.selection.task_of(recuse_elicitation)


@pytest.fixture
def recuse_ratings(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Generator[Ratings, None, None]:
    """The ratings that the test asks for. `ratings.beside("choices")` are the same judges' by another protocol."""
    from recuse.suite.question_runner import unchanged

    with unchanged(recuse_suite.ratings(recuse_elicitation)) as ratings:
        yield ratings


@pytest.fixture
def recuse_asking(request: pytest.FixtureRequest, recuse_suite: Suite, recuse_elicitation: Elicitation) -> Asking:
    """The test as `recuse.suite.question_runner` asks it; its records travel with the test's report."""
    from recuse.suite.question_runner import Asking, words_of

    node, shown, about = request.node, recuse_suite.selection.is_shown, recuse_elicitation.is_about
    asking = Asking(
        node.nodeid, words_of(node.path, node.module), recuse_suite.respondents(recuse_elicitation),
        recuse_suite.gates, wanted=lambda subject: shown(subject) and about(subject),
    )  # fmt: skip
    node.stash[ASKING] = asking
    node.user_properties.append((RECORDS, vars(asking.records)))
    return asking


@pytest.fixture
def recuse_gate(recuse_asking: Asking) -> Callable[..., Verdicts]:
    """`assert gate(name, estimates)`: a verdict on every judge that was measured, kept for the report."""
    return recuse_asking.gate


@pytest.fixture
def recuse_measure(recuse_asking: Asking) -> Callable[..., None]:
    """`measure(estimates)`: shown in the report, gated by nothing."""
    return recuse_asking.measure


@pytest.fixture
def recuse_upgrade(recuse_suite: Suite, recuse_elicitation: Elicitation) -> Upgrade:
    """The candidate that the test is about against the judge that it would replace: see `recuse.metrics.upgrade`."""
    return recuse_suite.upgrade(recuse_elicitation)


@pytest.fixture
def recuse_may_replace(
    recuse_asking: Asking, recuse_suite: Suite, recuse_elicitation: Elicitation
) -> Callable[[Upgrade], Verdicts]:
    """`assert may_replace(upgrade)`: one verdict on the candidate from all components, each kept for the report."""

    def decide(upgrade: Upgrade) -> Verdicts:
        from recuse.schema import RecuseError
        from recuse.upgrade import judge_upgrade

        share = recuse_suite.selection.share_of(recuse_elicitation)
        verdict = judge_upgrade(recuse_suite.gates, upgrade, recuse_elicitation.place, share=share)
        rows = recuse_asking.upgrade(verdict)
        if not len(rows) or (verdict.missing and rows.stays_green):  # what passes does not suffice
            raise RecuseError(verdict.sentence)
        return rows

    return decide


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells failed gates and mistakes in words instead of a traceback; accepted failures become expected ones."""
    report = yield
    if not marks_of(item):
        return report  # others' tests keep their tracebacks, whatever they raise
    decided = item.stash[ASKING].decided if ASKING in item.stash else []
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    from recuse.schema import RecuseError

    if call.excinfo is not None and isinstance(call.excinfo.value, RecuseError):
        text = str(call.excinfo.value)
        known = item.config.stash.setdefault(_shown_in_full, set())
        first = text.strip().split("\n")[0]
        report.longrepr = f"{first} (told in full above)" if text in known and text != first else text
        known.add(text)
        report.user_properties.append((UNMEASURED, _shown(text, item)))
    elif call.when == "call" and (objections := _objections(decided, call.excinfo)):
        report.outcome, report.longrepr = "failed", "\n\n".join(objections)
        if _of_another(decided, call.excinfo) or any(not verdicts.asserted for verdicts in decided):
            report.user_properties.append((UNMEASURED, objections[-1].splitlines()[-1][:300]))
    elif call.when == "call" and call.excinfo is None and (reasons := [r for v in decided for r in v.accepted_reasons]):
        report.outcome, report.wasxfail = "skipped", "; ".join(dict.fromkeys(reasons))
    elif report.skipped and parameters.get("recuse_elicitation", "") is None:  # no panel offers what it needs
        report.user_properties.append((NOBODY, True))
    elif report.failed:
        raised = call.excinfo.exconly() if call.excinfo else str(report.longrepr)
        report.user_properties.append((UNMEASURED, _shown(getattr(report.longrepr, "errorstring", raised), item)))
    if is_worker(item.config):  # records as text: xdist's own serializer takes many times as long
        report.user_properties = [(n, json.dumps(v) if n == RECORDS else v) for n, v in report.user_properties]
    return report


def _shown(text: str, item: pytest.Item) -> str:
    """The first line of a message as results hold it: they name no machine's path."""
    return text.strip().split("\n")[0].replace(f"{item.config.rootpath}{os.sep}", "")[:300]


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
    return raised is not None and not any(verdicts.marker in str(raised.value) for verdicts in decided)

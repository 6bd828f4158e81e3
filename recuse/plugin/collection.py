"""The mark that says what a test asks of ratings; it is collected once per panel, task and protocol that offers it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.command_line import SHORT_NAMES, given, is_opened, is_worker, open_suite

if TYPE_CHECKING:
    from recuse.suite import Elicitation

WORDS = (
    '(*needs, task=None, protocol=None, rests_on="pairs"): what this test asks of ratings, as asks("scores", '
    '"authors"); it runs for every panel, task and protocol that offers all of it, and whose source fixes what its '
    'numbers rest on: "margins", "cells" or "pairs"'
)
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
    if not is_opened(config):
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

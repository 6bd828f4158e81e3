"""Whom each test asks: collected once for every panel, task and protocol that offers what the test needs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from recuse.plugin.command_line import given
from recuse.plugin.marks import asks_judges, needs_of, question_of
from recuse.plugin.opened_suite import is_opened, is_worker, open_suite
from recuse.schema.cycle_collector import spare_the_cycle_collector

if TYPE_CHECKING:
    from recuse.schema.results import AskedRow, NotAskedRow
    from recuse.suite import Elicitation, Suite

__all__ = ["asked", "not_asked", "pytest_collection_finish", "pytest_collection_modifyitems", "pytest_generate_tests"]

_mistake = pytest.StashKey[str]()
_not_asked: pytest.StashKey[dict[str, list[NotAskedRow]]] = pytest.StashKey()
_asked: pytest.StashKey[list[AskedRow]] = pytest.StashKey()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `asks` run once for every panel, task and protocol that offers what they need."""
    if not asks_judges(metafunc.definition) or "elicitation" not in metafunc.fixturenames:
        return
    from recuse.schema import RecuseError

    config = metafunc.config
    try:
        suite = open_suite(config)  # first: its panels may name protocols that offer a kind of their own
        needs, narrowed = needs_of(metafunc.definition)
        offering, lacking = suite.questions.offering(needs, **narrowed)
    except RecuseError as error:
        needs, offering, lacking = (), [], []
        _note_mistake(config, str(error))
    words = question_of(metafunc.definition)
    records: list[NotAskedRow] = [{**row.record(), **words, "tests": []} for row in lacking]
    config.stash.setdefault(_not_asked, {})[metafunc.definition.nodeid] = records
    config.stash.setdefault(_asked, []).extend(_gates_asked(suite, metafunc.definition, offering) if offering else ())
    if offering:
        metafunc.parametrize("elicitation", [pytest.param(one, id=str(one)) for one in offering])
    else:
        wanted = dict.fromkeys([*needs, *(need for row in lacking for need in row.missing)])
        none = pytest.mark.skip(reason=f"no selected panel offers {', '.join(wanted)}")
        metafunc.parametrize("elicitation", [pytest.param(None, id="nobody", marks=none)])


def _note_mistake(config: pytest.Config, text: str) -> None:
    """A mistake in panels, tasks, gates or options is told once, not once per module: as a usage error after
    collection, or, by an xdist worker, which cannot end the run, as an error of the first module."""
    if config.stash.setdefault(_mistake, text) is text and is_worker(config):
        raise pytest.Collector.CollectError(text)


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
    spare_the_cycle_collector()
    if given(config, "record") == "none" or config.option.collectonly:
        return
    suite = open_suite(config)
    if suite.recordings.distributed:
        return  # a test whose calls are missing will say so
    wanted = [elicitation for item in session.items for elicitation in _wanted(suite, item)]
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        suite.recordings.record(wanted, stop_at_first=bool(config.getoption("maxfail", 0) == 1))


def _wanted(suite: Suite, item: pytest.Item) -> list[Elicitation]:
    """The ratings a collected test is about, and those by other protocols that it names among its needs."""
    elicitation = getattr(getattr(item, "callspec", None), "params", {}).get("elicitation")
    if elicitation is None or not asks_judges(item):
        return []
    return [elicitation, *suite.questions.beside(elicitation, needs_of(item)[0])]


def _gates_asked(suite: Suite, test: Any, offering: list[Elicitation]) -> list[AskedRow]:
    """What a test has to decide, wherever it is asked."""
    from recuse.suite.gating import asked_record, gates_named

    names = gates_named(test.obj, suite.gates)
    return [
        record
        for one in offering
        for record in asked_record(
            suite.gates, test.nodeid, names, one.place, suite.questions.judges_of(one), suite.uses(one.panel),
            suite.offers(one),
        )
        if names
    ]


def asked(config: pytest.Config) -> list[AskedRow]:
    """Every gate that a collected test has to ask, with its place and judges."""
    return config.stash.get(_asked, [])


def not_asked(config: pytest.Config) -> dict[str, list[NotAskedRow]]:
    """Test -> records of the panels that it could not be asked of."""
    return config.stash.get(_not_asked, {})

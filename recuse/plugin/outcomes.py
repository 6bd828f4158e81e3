"""What a test comes to: failed gates and mistakes in words, accepted faults as expected failures."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recuse.plugin.collection import asks_judges

if TYPE_CHECKING:
    from recuse.gates import Verdicts
    from recuse.suite.question_runner import Asking

RECORDS, UNMEASURED, NOBODY = "recuse.records", "recuse.unmeasured", "recuse.nobody"
"""Names under which a test hands to the process that reports what it came to: `user_properties` of its report."""

ASKING: pytest.StashKey[Asking] = pytest.StashKey()
"""A test's question, while it runs."""

UNASSERTED = "a gate was asked and its answer not asserted: write `assert gate(...)`"
_shown_in_full = pytest.StashKey[set[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tells failed gates and mistakes in words instead of a traceback, and turns accepted faults into an expected
    failure."""
    report = yield
    if not asks_judges(item):
        return report  # others' tests keep their tracebacks, whatever they raise
    decided = item.stash[ASKING].decided if ASKING in item.stash else []
    if call.excinfo is not None and _is_ours(call.excinfo.value):
        text = str(call.excinfo.value)
        known = item.config.stash.setdefault(_shown_in_full, set())
        first = text.strip().split("\n")[0]
        report.longrepr = f"{first} (told in full above)" if text in known and text != first else text
        known.add(text)
        shown = first.replace(f"{item.config.rootpath}{os.sep}", "")  # results name no machine's path
        report.user_properties.append((UNMEASURED, shown[:300]))
    elif call.when == "call" and (objections := _objections(decided, call.excinfo)):
        report.outcome, report.longrepr = "failed", "\n\n".join(objections)
        if _of_another(decided, call.excinfo) or any(not verdicts.asserted for verdicts in decided):
            report.user_properties.append((UNMEASURED, objections[-1].splitlines()[-1][:300]))
    elif call.when == "call" and call.excinfo is None and (reasons := [r for v in decided for r in v.accepted_reasons]):
        report.outcome, report.wasxfail = "skipped", "; ".join(dict.fromkeys(reasons))
    elif report.skipped and _about_nobody(item):
        report.user_properties.append((NOBODY, True))
    elif report.failed:
        report.user_properties.append((UNMEASURED, str(report.longrepr).strip().splitlines()[-1][:300]))
    return report


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


def _about_nobody(item: pytest.Item) -> bool:
    """Whether no selected panel offers what the test asks for."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("recuse_elicitation", "") is None


def _is_ours(error: BaseException) -> bool:
    from recuse.schema import RecuseError

    return isinstance(error, RecuseError)

"""The requests of the shipped panels are byte for byte those that were recorded: no cassette has gone stale."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from recuse.cassettes.library import Library
from recuse.cassettes.matching import request_key
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import headers, make_plan
from recuse.panels import load_panel
from recuse.schema import Judge
from recuse.suite.questions import Elicitation, Selection
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[2]
PANELS = ("published", "local", "thesis", "writing", "checks")


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("name", PANELS)
def test_every_planned_request_has_its_answer(name: str) -> None:
    """Chains included: the calls that follow from recorded replies are recorded as well."""
    selection = Selection.load(ROOT, [name])
    panel = selection.panels[name]
    library = Library(ROOT / "cassettes", name)
    for task_name, table in panel.tasks.items():
        for protocol in table.protocols:
            plan = selection.plan(Elicitation(name, task_name, protocol))
            chain = Chain(plan)
            calls = chain.unfold(library.answer)
            assert calls, f"{task_name}/{protocol} asks nothing"
            assert chain.complete, f"{task_name}/{protocol} is not asked to its end"
            library.expect(calls, headers(panel, plan, calls))
    coverage = library.coverage()
    assert (len(coverage.missing), coverage.stale, coverage.damaged) == (0, (), ())


def test_what_shows_in_no_request_shows_in_the_header_of_the_cassette() -> None:
    """A header may change what is answered, and is no part of a request's key."""
    panel = load_panel(ROOT / "fixtures" / "panels" / "published.toml")
    task = load_task(ROOT / "fixtures" / "tasks" / "merchant_risk")
    name, judge = next(iter(panel.judges.items()))

    def fingerprint(changed: Judge) -> dict[str, Any]:
        planned = make_plan("published", task, "rubric", {name: changed}, identify=request_key, repeats=1)
        return dict(next(iter(headers(panel, planned).values()))["fingerprint"])

    plain = fingerprint(judge)
    described = fingerprint(dataclasses.replace(judge, headers={"x-beta": "1"}, omit=("temperature",)))
    assert described == plain | {"headers": {"x-beta": "1"}, "omit": ["temperature"], "temperature": None}
    assert "headers" not in plain

"""The requests of the shipped panels are byte for byte those that were recorded: no cassette has gone stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.cassettes import Library, request_key
from recuse.elicit import plan
from recuse.fingerprints import headers
from recuse.panels import load_panel
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[2]
PANELS = ("published", "local", "thesis")


@pytest.mark.parametrize("name", PANELS)
def test_every_planned_request_has_its_answer(name: str) -> None:
    panel = load_panel(ROOT / "fixtures" / "panels" / f"{name}.toml")
    library = Library(ROOT / "cassettes", name)
    for task_name, table in panel.tasks.items():
        task = load_task(ROOT / "fixtures" / "tasks" / task_name)
        for protocol in table.protocols:
            planned = plan(
                name,
                task.with_items(table.items.get(protocol)),
                protocol,
                panel.judges_of(task_name),
                identify=request_key,
                repeats=table.repeats.get(protocol),
                targets=table.targets,
            )
            assert planned.calls
            library.expect(planned.calls, headers(panel, planned))
    coverage = library.coverage()
    assert (len(coverage.missing), coverage.stale, coverage.damaged) == (0, (), ())

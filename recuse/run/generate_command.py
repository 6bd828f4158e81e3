"""`recuse generate`: a panel's models write, what they wrote becomes what is judged, and the panel judges it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recuse.cassettes.library import Library
from recuse.elicitation.plan import Plan
from recuse.judges import read_response
from recuse.judges.client import secrets_of
from recuse.panels import Panel
from recuse.protocols import protocol
from recuse.recording.panel_recording import Recorder
from recuse.schema import RecuseError
from recuse.security.files import write_output
from recuse.suite.questions import Elicitation, Selection


def generate(name: str, *, yes: bool = False, root: Path | None = None) -> int:
    """Write, build and judge; 0. `RecuseError` for a panel in which no protocol writes what another one judges, for a
    file of items that is somebody else's, and where something could not be recorded."""
    selection = Selection.load(root or Path.cwd(), [name])
    (panel,) = selection.panels.values()
    file = f"items-{panel.name}.jsonl"
    tasks = {
        task: (writers, [p for p in table.protocols if table.items.get(p) == file])
        for task, table in panel.tasks.items()
        if (writers := [p for p in table.protocols if hasattr(protocol(p), "written")])
    }
    if not any(judging for _, judging in tasks.values()):
        raise RecuseError(
            f"{panel.name}: nothing that its models write is judged; a [[task]] has a protocol that writes, such as "
            f'generation, and one that judges, with items = {{ rubric = "{file}" }}'
        )
    for task, (writers, judging) in tasks.items():
        plans = [selection.plan(Elicitation(panel.name, task, one)) for one in writers]
        library = _record(selection, panel, plans, yes)
        lines: list[dict[str, Any]] = []
        for plan in plans:
            how: Any = protocol(plan.protocol)
            for call, response in library.replay(plan.calls):
                item = plan.items[call.judge, call.item, call.target]
                fields = how.written(plan.task, item, read_response(plan.judges[call.judge].wire, response))
                if fields is not None:
                    lines.append({"id": item.id, "target": item.target, "fields": fields})
        if not lines:
            raise RecuseError(f"{panel.name}, {task}: no reply holds a whole text, so there is nothing to judge")
        path = selection.task(task).folder / file
        places = {(item.id, item.target) for plan in plans for item in plan.items.values()}
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_output(path, text, lambda there, places=places: _places(there) <= places)  # type: ignore[misc]
        replies = sum(len(plan.calls) for plan in plans)
        print(f"{path}: {len(lines)} of {replies} replies hold what can be judged")
        _record(selection, panel, [selection.plan(Elicitation(panel.name, task, one)) for one in judging], yes)
    return 0


def _record(selection: Selection, panel: Panel, plans: list[Plan], yes: bool) -> Library:
    secrets = secrets_of(panel.judges).values()
    library = Library(selection.root / "cassettes", panel.name, mode="missing", secrets=secrets)
    Recorder(panel, library, selection.root, selection.root / "models", yes, print).record(plans)
    return library


def _places(text: str) -> set[tuple[Any, Any]]:
    """What the lines of a file of items are about; a line that is no item is about nothing that was asked."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        return {(line["id"], line["target"]) for line in lines}
    except (ValueError, KeyError, TypeError):
        return {(None, None)}

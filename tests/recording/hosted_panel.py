"""Records a panel of hosted judges on three protocols: for the tests here, and as a program to be interrupted:
`python hosted_panel.py ROOT URL REPEATS`. Exit code 2 after a signal, as pytest's; 3 after any other failure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recuse.cassettes.library import Library
from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import Plan, headers, make_plan
from recuse.panels import Panel, load_panel
from recuse.recording.panel_recording import Recorder
from recuse.recording.progress import RecordingInterrupted
from recuse.schema import RecuseError
from recuse.tasks import load_task

REPOSITORY = Path(__file__).resolve().parents[2]
PROTOCOLS = ("rubric", "rubric_self_reported", "generation")

PANEL = """
name = "hosted"
description = "Judges over HTTP."
provenance = "recorded"
source = "made for these tests"
{settings}

[[task]]
name = "merchant_risk"
protocols = ["rubric", "rubric_self_reported", "generation"]
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "{url}"
model = "m-1"
concurrency = {concurrency}
timeout_s = 10
{more}
"""


def load(
    folder: Path,
    url: str,
    *,
    settings: str = "",
    judges: Sequence[str] = ("ann",),
    concurrency: int = 4,
    more: str = "",
) -> Panel:
    """A panel file at `folder`, read. `settings` go to its top, `more` to every judge."""
    text = PANEL.format(settings=settings)
    text += "".join(JUDGE.format(name=name, url=url, concurrency=concurrency, more=more) for name in judges)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "hosted.toml"
    path.write_text(text, encoding="utf-8")
    return load_panel(path)


def plans(panel: Panel, repeats: int = 2, protocols: Sequence[str] = PROTOCOLS) -> list[Plan]:
    task = load_task(REPOSITORY / "fixtures" / "tasks" / "merchant_risk")
    judges = panel.judges_of("merchant_risk")
    return [make_plan(panel.name, task, name, judges, identify=request_key, repeats=repeats) for name in protocols]


def opened(
    root: Path, panel: Panel, planned: Sequence[Plan], mode: Any = "missing", secrets: Sequence[str] = ()
) -> Library:
    library = Library(root, panel.name, mode=mode, secrets=secrets)
    for each in planned:
        library.expect(each.calls, headers(panel, each))
    return library


def record(root: Path, panel: Panel, planned: Sequence[Plan], *, yes: bool = False, **how: Any) -> list[str]:
    """Record what is missing; returns what was said."""
    said: list[str] = []
    library = opened(root, panel, planned)
    Recorder(panel, library, root.parent, root.parent / "models", yes, said.append).record(planned, **how)
    return said


def main(root: str, url: str, repeats: str) -> int:
    panel = load(Path(root).parent, url, settings="free = true")
    planned = plans(panel, int(repeats))
    library = opened(Path(root), panel, planned)
    print("ready", flush=True)
    try:
        Recorder(panel, library, Path(root).parent, Path(root)).record(planned, readable=lambda call, response: None)
    except RecordingInterrupted as stopped:
        print(stopped, file=sys.stderr)
        return 2
    except RecuseError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

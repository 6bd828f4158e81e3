"""The scripted judges over HTTP on this machine: recorded, replayed, the same as asked directly; chains included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from recuse.cassettes.library import Library
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan, headers
from recuse.elicitation.replies import read_replies
from recuse.panels import Panel
from recuse.recording.panel_recording import Recorder

ROOT = Path(__file__).resolve().parents[3]
JUDGES = ("fair-1", "overconfident", "gives-in")


@pytest.mark.slow("whole recordings", but_first=True)
@pytest.mark.parametrize(
    ("task", "protocol"),
    [("word_problems", "correctness"), ("headlines", "pairwise_discussion"), ("headlines", "self_recognition_pairs")],
)
def test_what_is_recorded_is_what_was_said(
    tmp_path: Path, panel: Panel, asked_directly: Callable[..., tuple[Plan, pd.DataFrame]], task: str, protocol: str
) -> None:
    plan, said = asked_directly(task, protocol, JUDGES, 3)
    library = Library(tmp_path / "cassettes", panel.name, mode="missing")
    chain = Chain(plan)
    library.expect(chain.unfold(library.answer), headers(panel, plan, chain.calls))
    Recorder(panel, library, ROOT, tmp_path / "models", True, lambda told: None).record([plan])
    replayed = Library(tmp_path / "cassettes", panel.name)
    while not chain.complete:
        replayed.expect(chain.calls, headers(panel, plan, chain.calls))
        chain.unfold(replayed.answer)
    replayed.expect(chain.calls, headers(panel, plan, chain.calls))
    read = read_replies(plan, replayed.replay(list(chain.final_calls)), chain).table
    columns = ["rater", "item", "target", "criterion", "response", "status"]
    assert read[columns].equals(said[columns])
    assert set(read["status"]) == {"ok"}

"""Judges in use and their candidates in one recording: each reply is read by its own chain, and a fault ends all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loopback import Answer, ReceivedRequest, loopback

from recuse.judges import wire
from recuse.recording.progress import IncompleteRecordingError
from recuse.schema import Call, RawResponse, RecuseError
from recuse.suite import Elicitation, Recordings, Selection

FILES = {
    "fixtures/tasks/notes/task.toml": """
        name = "notes"
        scale = { minimum = 0, maximum = 10 }
        criterion = [{ id = "clarity" }]
        [[target]]
        id = "writer"
        label = "Writer"
        anonymous = "Writer 1"
        """,
    "fixtures/tasks/notes/items.jsonl": "\n".join(
        json.dumps({"id": f"n{k}", "target": "writer", "fields": {"note": f"Note {k}."}}) for k in range(12)
    ),
    "fixtures/tasks/notes/prompts/rubric.user.j2": "Score this note: {{ note }}",
    "fixtures/tasks/notes/prompts-v2/rubric.user.j2": "Score this note strictly: {{ note }}",
}
PANEL = """
name = "notes"
description = "A judge in use and its candidates."
provenance = "recorded"
source = "made for these tests"
free = true

[[task]]
name = "notes"
protocols = ["rubric"]
repeats = { rubric = 2 }
factors = { rubric = { names = ["hidden"] } }
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "{url}/v1"
model = "{model}"
concurrency = 4
timeout_s = 10
{more}
"""
ANSWER = json.dumps({"clarity": {"score": 7, "why": "Clear."}})
PROGRAM = """
import sys
from pathlib import Path
from recuse.suite import Elicitation, Recordings, Selection
from recuse.recording.progress import RecordingInterrupted

root = Path(sys.argv[1])
selection = Selection.load(root, ["notes"])
parts = [Elicitation("notes", "notes", "rubric", c) for c in ("", *selection.panels["notes"].replaces)]
recordings = Recordings(selection, "missing")
print("ready", flush=True)
try:
    recordings.record(parts)
except RecordingInterrupted:
    sys.exit(2)
"""


class Provider:
    url = ""

    def __init__(self) -> None:
        self.asked: list[ReceivedRequest] = []
        self.delay = 0.0

    def __call__(self, asked: ReceivedRequest) -> Answer:
        self.asked.append(asked)
        time.sleep(self.delay)
        payload = wire("openai_chat").payload(ANSWER, model="m", refusal=False, input_tokens=1, output_tokens=1)
        return Answer(200, payload)


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    with loopback(running) as running.url:
        yield running


@pytest.fixture
def made(tmp_path: Path, provider: Provider) -> Callable[..., Path]:
    """`made("next", ...)`: a folder with a panel of one judge in use and these candidates."""

    def build(*candidates: str) -> Path:
        for name, text in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(line.strip() for line in text.strip().splitlines()), encoding="utf-8")
        url = provider.url
        text = PANEL + JUDGE.format(name="today", url=url, model="m-1", more="")
        for k, name in enumerate(candidates):
            own = 'prompts = "prompts-v2"\n' if k else ""
            text += JUDGE.format(name=name, url=url, model=f"m-{k + 2}", more=f'{own}replaces = "today"')
        path = tmp_path / "fixtures/panels/notes.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return build


def elicitations(selection: Selection) -> list[Elicitation]:
    return [Elicitation("notes", "notes", "rubric", name) for name in ("", *selection.panels["notes"].replaces)]


@pytest.mark.parametrize("candidates", [("next",), ("next", "stricter")])
def test_a_judge_and_its_candidates_are_recorded_together(
    made: Callable[..., Path], provider: Provider, candidates: tuple[str, ...]
) -> None:
    root = made(*candidates)
    selection = Selection.load(root, ["notes"])
    recordings = Recordings(selection, "missing")
    recordings.record(elicitations(selection))
    assert len(provider.asked) == 24 * (1 + len(candidates))
    for each in elicitations(selection):
        elicited, _ = recordings.read(each, selection.plan(each))
        assert set(elicited.table["status"]) == {"ok"}
    assert len(provider.asked) == 24 * (1 + len(candidates)), "all of it was recorded at once"


def test_stand_ins_answer_a_judge_and_its_candidates(made: Callable[..., Path], provider: Provider) -> None:
    root = made("next", "stricter")
    panel = root / "fixtures/panels/notes.toml"
    text = panel.read_text(encoding="utf-8").replace('"recorded"', '"scripted"').replace("free = true", "")
    text = text.replace(provider.url, "http://scripted.invalid")
    panel.write_text(
        text.replace("[[task]]", '[stand_in]\nkind = "table"\nfolder = "standins"\n\n[[task]]', 1), encoding="utf-8"
    )
    lines = [
        {"judge": judge, "item": f"n{k}", "repeat": r, "text": ANSWER}
        for judge in ("today", "next", "stricter")
        for k in range(12)
        for r in range(2)
    ]
    (root / "standins/notes").mkdir(parents=True)
    (root / "standins/notes/rubric.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    selection = Selection.load(root, ["notes"])
    recordings = Recordings(selection, "missing")
    recordings.record(elicitations(selection))
    for each in elicitations(selection):
        assert set(recordings.read(each, selection.plan(each))[0].table["status"]) == {"ok"}


def test_an_exception_in_what_reads_a_reply_ends_the_recording_with_its_reason(
    made: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A protocol of a team's own that fails on the third reply: nobody waits for ever, and what was paid is stored."""
    from recuse.recording.panel_recording import Chains

    root = made("next")
    selection = Selection.load(root, ["notes"])
    recordings = Recordings(selection, "missing")
    seen: list[Call] = []

    def fails(self: Chains, call: Call, response: RawResponse) -> str | None:
        seen.append(call)
        if len(seen) >= 3:
            raise KeyError("clarity")
        return None

    monkeypatch.setattr(Chains, "why_unreadable", fails)
    recordings.record(elicitations(selection))
    each = elicitations(selection)[0]
    with pytest.raises(RecuseError, match=r"KeyError: 'clarity' \(test_candidates.py, line \d+\)") as told:
        recordings.read(each, selection.plan(each))
    assert isinstance(told.value, IncompleteRecordingError)
    assert isinstance(told.value.__cause__, KeyError)
    stored = sum(f.read_text(encoding="utf-8").count('"kind":"answer"') for f in root.rglob("cassettes/**/*.jsonl"))
    assert stored >= 3


@pytest.mark.slow("interrupted recordings")
def test_one_signal_ends_a_recording_with_a_candidate_within_seconds(
    made: Callable[..., Path], provider: Provider
) -> None:
    root, provider.delay = made("next", "stricter"), 0.1
    program = [sys.executable, "-c", PROGRAM, str(root)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    while len(provider.asked) < 12:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 2

"""A chain of calls over loopback HTTP: scripted judges of `merg` are recorded, interrupted, resumed and replayed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recuse.recording import panel_recording
from recuse.recording.asking import Recording
from recuse.recording.budget import expected_costs
from recuse.recording.panel_recording import Recorder
from recuse.schema import RecuseError
from recuse.suite import Elicitation, Suite

REPOSITORY = Path(__file__).resolve().parents[2]
ELICITATION = Elicitation("scripted", "writing", "merg")
PANEL = """
name = "scripted"
description = "Judges that write rubrics."
provenance = "scripted"
source = "fixtures.standins.behaviours.merg"

[stand_in]
kind = "scripted"
folder = "fixtures/standins/scripted"

[[task]]
name = "writing"
protocols = ["merg"]

[task.items]
merg = "few.jsonl"
"""
JUDGE = """
[[judge]]
name = "{name}"
wire = "openai_chat"
base_url = "http://{name}.scripted.invalid/v1"
model = "{name}"
behaviour = "fixtures.standins.behaviours.planted.{behaviour}"
"""
PROMPTS = 3
TEXTS = 2 * PROMPTS
CALLS = 3 * PROMPTS * 4 + 3 * 5 * TEXTS  # knowledge, reflection and two rubrics per prompt; five variants of every text


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Suite]:
    """A suite of three scripted judges with these behaviours."""

    def make(record: str = "none", behaviours: tuple[str, ...] = ("surface",) * 3) -> Suite:
        shutil.copytree(
            REPOSITORY / "fixtures" / "tasks" / "writing", tmp_path / "fixtures/tasks/writing", dirs_exist_ok=True
        )
        _few_items(tmp_path / "fixtures/tasks/writing")
        settings = "fixtures/standins/scripted/writing"
        shutil.copytree(REPOSITORY / settings, tmp_path / settings, dirs_exist_ok=True)
        path = tmp_path / "fixtures" / "panels" / "scripted.toml"
        path.parent.mkdir(exist_ok=True)
        judges = zip(("ann", "bob", "cleo"), behaviours, strict=True)
        path.write_text(PANEL + "".join(JUDGE.format(name=n, behaviour=b) for n, b in judges), encoding="utf-8")
        gates = tmp_path / "gates.toml"
        gates.touch()
        return Suite.from_options(
            root=tmp_path, panels=["scripted"], judges=[], record=record, yes=False, models=tmp_path, gates=gates,
            distributed=False,
        )  # fmt: skip

    return make


def _few_items(folder: Path) -> None:
    """Two texts on each of the first prompts."""
    lines = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    first = list(dict.fromkeys(line["id"] for line in lines))[:PROMPTS]
    kept = [x for x in lines if x["id"] in first and x["target"] in ("polished-flawed", "plain-sound")]
    (folder / "few.jsonl").write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")


def cassettes(root: Path) -> dict[str, bytes]:
    folder = root / "cassettes" / "scripted"  # beside it lies what was replaced
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))}


def table(suite: Suite) -> pd.DataFrame:
    with suite:
        return suite.ratings(ELICITATION).table


def test_what_is_recorded_replays_and_costs_one_call_per_prompt_and_stage(
    suite: Callable[..., Suite], tmp_path: Path
) -> None:
    recorded = table(suite("missing"))
    found = cassettes(tmp_path)
    assert "writing/merg/bob~knowledge.jsonl" in found
    assert "writing/merg/bob~rubric~dimensions.jsonl" in found
    answers = sum(data.count(b'"kind":"answer"') for data in found.values())
    assert answers == CALLS
    with suite() as replaying:
        pd.testing.assert_frame_equal(replaying.ratings(ELICITATION).table, recorded)
        account = replaying.records.replayed[str(ELICITATION)]
    assert (account["used"], account["unused"]) == (CALLS, 0)
    assert set(recorded["status"]) == {"ok"}
    assert len(recorded[recorded["criterion"] == "overall"]) == 3 * 5 * TEXTS


@pytest.mark.slow("interrupted recordings")
def test_a_recording_that_was_interrupted_goes_on_where_it_stopped(
    suite: Callable[..., Suite], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(suite("missing"))
    whole = cassettes(tmp_path)
    shutil.rmtree(tmp_path / "cassettes")

    for stop_after in (5, 12, 20):  # among the first stages, between stages, among the scores
        ask = Recording._ask

        async def stopping(
            self: Recording, call: Any, *about: Any, stop_after: int = stop_after, ask: Any = ask
        ) -> None:
            await ask(self, call, *about)
            if self.stored >= stop_after:
                self.stop("the test stops it")

        with monkeypatch.context() as patch:
            patch.setattr(Recording, "_ask", stopping)
            with pytest.raises(RecuseError, match="the test stops it"):
                table(suite("missing"))
    table(suite("missing"))
    assert cassettes(tmp_path) == whole, "byte for byte, whatever was asked when"


@pytest.mark.slow("whole recordings")
def test_recorded_anew_the_old_stays_until_every_stage_is_there(
    suite: Callable[..., Suite], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(suite("missing"))
    before = cassettes(tmp_path)
    ask = Recording._ask

    async def stopping(self: Recording, call: Any, *about: Any) -> None:
        await ask(self, call, *about)
        if call.stage == "reflection":  # all of `knowledge` has its answer by then
            self.stop("the test stops it")

    with monkeypatch.context() as patch:
        patch.setattr(Recording, "_ask", stopping)
        with pytest.raises(RecuseError, match="the test stops it"):
            table(suite("all"))
    assert {name: data for name, data in cassettes(tmp_path).items() if name in before} == before
    table(suite("all"))
    assert cassettes(tmp_path) == before


def test_the_budget_is_asked_once_for_all_stages(suite: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(panel_recording, "expected_costs", lambda calls, judges, *_: expected_costs(calls, judges))
    monkeypatch.setattr(Recorder.__dataclass_fields__["say"], "default", said.append)
    with pytest.raises(RecuseError) as told:
        table(suite("missing"))
    assert f"all judges: {CALLS:,} calls" in str(told.value)


def test_a_rubric_of_four_dimensions_costs_what_was_to_be_scored_by_it(suite: Callable[..., Suite]) -> None:
    made = table(suite("missing", ("forgets_a_dimension", "surface", "surface")))
    lost = made[made["status"] != "ok"]
    assert set(lost["status"]) == {"rubric: unparsed"}
    sources = lost.groupby("rater")["rubric_source"].unique().map(sorted).to_dict()
    assert sources == {"ann": ["dimensions", "independent", "shared"], "bob": ["shared"], "cleo": ["shared"]}
    assert set(made[made["rubric_source"] == "checklist"]["status"]) == {"ok"}

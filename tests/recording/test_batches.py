"""A panel recorded by batch: all protocols at once, half the price, and a process that may be ended while it waits."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hosted_panel import REPOSITORY, load, opened, plans

sys.path.append(str(Path(__file__).parents[1] / "judges"))
sys.path.append(str(Path(__file__).parents[1] / "batch"))
from batch_providers import KEY, OpenAI
from loopback import loopback

from recuse.cassettes.library import Library
from recuse.cassettes.matching import request_key
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import make_plan
from recuse.judges import wire
from recuse.panels import Panel
from recuse.papers.illusion import merg
from recuse.recording.panel_recording import Recorder, record_batches
from recuse.recording.progress import IncompleteRecordingError, RecordingInterrupted
from recuse.schema import RecuseError
from recuse.tasks import load_task

MORE = 'api_key_env = "ANN_KEY"\nprice = { input_usd_per_mtok = 1.0, output_usd_per_mtok = 100.0 }'
ANSWER = wire("openai_chat").payload("{}", model="m-1", refusal=False, input_tokens=1, output_tokens=1)


class Provider(OpenAI):
    def good(self, body: object) -> object:
        return ANSWER


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("ANN_KEY", KEY)
    return Provider()


@pytest.fixture
def url(provider: Provider) -> Iterator[str]:
    with loopback(provider) as at:
        yield f"{at}/v1"


def no_sleep(seconds: float) -> None:
    """Instead of waiting for a minute."""


def record(root: Path, panel: Panel, sleep: Callable[[float], None] = no_sleep) -> list[str]:
    said: list[str] = []
    planned = plans(panel, repeats=1)
    library = opened(root, panel, planned, secrets=[KEY])
    recorder = Recorder(panel, library, root.parent, root.parent / "models", say=said.append)
    record_batches(recorder, planned, sleep=sleep)
    return said


def test_stand_ins_are_not_asked_by_batch(root, provider, url):
    acted = replace(load(root.parent, url, settings="budget_usd = 100", more=MORE), stand_in=object())
    with pytest.raises(RecuseError, match="stand-ins answer at once; record this panel with --record=missing"):
        record(root, acted)
    assert provider.orders == []


def test_all_protocols_are_submitted_together_and_stored(root: Path, provider: Provider, url: str) -> None:
    panel = load(root.parent, url, settings="budget_usd = 100", more=MORE)
    said = record(root, panel)
    planned = plans(panel, repeats=1)
    assert len(provider.orders) == 1
    assert len(provider.submitted) == sum(len(each.calls) for each in planned)
    assert opened(root, panel, planned, mode="replay").coverage().complete
    assert not (root / ".batches" / "hosted.json").exists()
    assert "by batch at half the price" in said[0]
    record(root, panel)
    assert len(provider.orders) == 1


def test_the_budget_is_asked_before_anything_is_submitted(root: Path, provider: Provider, url: str) -> None:
    with pytest.raises(RecuseError) as told:
        record(root, load(root.parent, url, more=MORE))
    assert provider.asked == []
    dollars = float(str(told.value).split("it may cost $")[1].split(",")[0])
    just_enough = load(root.parent, url, settings=f"budget_usd = {dollars + 0.01:.2f}", more=MORE)
    record(root, just_enough)
    assert len(provider.orders) == 1


def test_what_may_be_spent_is_held_against_half_the_price(root: Path, provider: Provider, url: str) -> None:
    panel = load(root.parent, url, more=MORE)
    planned = plans(panel, repeats=1)
    library = opened(root, panel, planned, secrets=[KEY])
    recorder = Recorder(panel, library, root.parent, root.parent / "models")
    with pytest.raises(RecuseError) as one_by_one:
        recorder.record(planned)
    with pytest.raises(RecuseError) as by_batch:
        record(root, panel)
    whole, half = (float(str(e.value).split("it may cost $")[1].split(",")[0]) for e in (one_by_one, by_batch))
    assert half == pytest.approx(whole / 2, abs=0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_ended_while_it_waits_loses_nothing(
    root: Path, provider: Provider, url: str, number: signal.Signals
) -> None:
    panel = load(root.parent, url, settings="budget_usd = 100", more=MORE)
    provider.polls_until_done = 1

    def leave(seconds: float) -> None:
        os.kill(os.getpid(), number)

    with pytest.raises(RecordingInterrupted):
        record(root, panel, sleep=leave)
    no_money = load(root.parent, url, more=MORE)  # what is under way was allowed before
    record(root, no_money)
    assert len(provider.orders) == 1
    assert opened(root, panel, plans(panel, repeats=1), mode="replay").coverage().complete


def test_what_is_under_way_is_not_asked_one_by_one(root: Path, provider: Provider, url: str) -> None:
    provider.polls_until_done = 10**6
    panel = load(root.parent, url, settings="budget_usd = 100.0", more=MORE)
    with pytest.raises(RecordingInterrupted):
        record(root, panel, sleep=lambda _: os.kill(os.getpid(), signal.SIGINT))
    asked, planned = len(provider.asked), plans(panel, repeats=1)
    library = opened(root, panel, planned, secrets=[KEY])
    recorder = Recorder(panel, library, root.parent, root.parent / "models")
    with pytest.raises(RecuseError, match=r"answers that are missing are under way in a batch and would be paid for"):
        recorder.record(planned)
    assert len(provider.asked) == asked
    provider.polls_until_done = 0
    record(root, panel)
    assert len(provider.orders) == 1


def test_requests_of_another_run_are_named_and_collected_by_it(root: Path, provider: Provider, url: str) -> None:
    provider.polls_until_done = 1
    panel = load(root.parent, url, settings="budget_usd = 100.0", more=MORE)
    with pytest.raises(RecordingInterrupted):
        record(root, panel, sleep=lambda _: os.kill(os.getpid(), signal.SIGINT))
    rubric, *rest = plans(panel, repeats=1)
    said: list[str] = []
    recorder = Recorder(panel, opened(root, panel, [rubric], secrets=[KEY]), root.parent, root.parent, say=said.append)
    record_batches(recorder, [rubric], sleep=no_sleep)
    assert f"{sum(len(plan.calls) for plan in rest)} requests under way are not of this run" in said[0]
    assert "are not of this run" not in "".join(record(root, panel))
    assert len(provider.orders) == 1


def test_what_failed_is_told_and_asked_anew_by_the_same_command(root: Path, provider: Provider, url: str) -> None:
    panel = load(root.parent, url, settings="budget_usd = 100", more=MORE)
    provider.fate = lambda position: "bad" if position == 2 else "good"
    with pytest.raises(IncompleteRecordingError, match="not recorded: 1; what came back is on disk"):
        record(root, panel)
    record(root, panel)
    assert [len(order["entries"]) for order in provider.orders][1:] == [1]


def test_the_bill_is_counted_at_half_the_price_and_said_beside_what_was_expected(
    root: Path, provider: Provider, url: str
) -> None:
    panel = load(root.parent, url, settings="budget_usd = 100", more=MORE)
    said = record(root, panel)
    calls = sum(len(each.calls) for each in plans(panel, repeats=1))
    dollars = calls * (1 * 1.0 + 1 * 100.0) / 1e6 / 2
    assert f"; ${dollars:,.2f} of at most $" in said[-1]
    assert said[-1].endswith("expected spent")


def test_a_bill_above_what_was_allowed_ends_the_recording_and_cancels_the_rest(
    root: Path, provider: Provider, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider counts far more tokens than the request's own limit; one batch holds two requests."""
    monkeypatch.setattr("recuse.batch.providers.OPENAI.MOST_REQUESTS", 2)
    dear = wire("openai_chat").payload("{}", model="m-1", refusal=False, input_tokens=1, output_tokens=10**7)
    monkeypatch.setattr(provider, "good", lambda body: dear)
    answered = provider.is_done
    monkeypatch.setattr(
        provider, "is_done", lambda order: (order["id"] in ("batch-0", *provider.cancelled)) and answered(order)
    )
    panel = load(root.parent, url, settings="budget_usd = 100", more=MORE)
    with pytest.raises(IncompleteRecordingError) as told:
        record(root, panel)
    assert "stopped: $1,000.00 are spent, more than the $100.00 that were allowed" in str(told.value)
    assert provider.cancelled == [order["id"] for order in provider.orders[1:]]
    assert len(provider.cancelled) > 0


# --------------------------------------------------------------------------- several calls per judgement


class Writer(Provider):
    """Answers every stage of `merg` as it should be answered."""

    def good(self, body: object) -> object:
        asked = json.dumps(body)
        said: dict[str, object] = {"evidence": ["a"] * 5, "scores": [5] * 5, "habit": "none", "reason": "so"}
        if "First say what you know" in asked:
            said = {**dict.fromkeys(merg.KNOWLEDGE_PHRASES, "a"), **dict.fromkeys(merg.KNOWLEDGE_LISTS, ("a", "b"))}
        elif "Five habits mislead judges" in asked:
            said = dict.fromkeys(merg.REFLECTIONS, "a")
        elif "Write a rubric" in asked:
            said = {"dimensions": [{"name": "a", "anchors": ["a"] * 4}] * 5, "weights": [0.2] * 5}
        return wire("openai_chat").payload(
            json.dumps(said), model="m-1", refusal=False, input_tokens=1, output_tokens=1
        )


def test_a_stage_is_submitted_when_the_replies_before_it_are_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN_KEY", KEY)
    provider = Writer()
    with loopback(provider) as at:
        panel = load(root.parent, f"{at}/v1", settings="budget_usd = 100", more=MORE)
        task = load_task(REPOSITORY / "fixtures" / "tasks" / "writing")
        plan = make_plan(panel.name, task, "merg", panel.judges_of("merchant_risk"), identify=request_key)
        library = Library(root, panel.name, mode="missing", secrets=[KEY])
        said: list[str] = []
        recorder = Recorder(panel, library, root.parent, root.parent / "models", say=said.append)
        record_batches(recorder, [plan], sleep=no_sleep)
    prompts = {item.id for item in task.items}
    calls = 4 * len(prompts) + 5 * len(task.items)
    assert len(provider.orders) == 4, "knowledge and what needs none; reflection; rubrics; what is scored by them"
    assert len(provider.submitted) == calls
    assert f"ann: {calls} calls" in said[0], "the budget is that of all stages"
    chain = Chain(plan)
    chain.unfold(Library(root, panel.name).answer)
    assert chain.complete
    assert not chain.lost

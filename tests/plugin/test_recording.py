"""Recording through pytest: only what is missing, only when asked for, within the budget, and never at a loss."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from loopback import Answer, ReceivedRequest, loopback

from recuse.judges import wire
from recuse.judges.client import Client
from recuse.recording import sample

pytest_plugins = ["pytester"]

PANEL = "fixtures/panels/mini.toml"
KEY = "canary-51c0ffee93ab"


class Provider:
    """Answers every judge on loopback as hosted judges would; `refuse` says which calls get an HTTP error instead,
    `score` what a judge, called by its wire format, gives, `words` what is said instead, in errors too."""

    def __init__(self) -> None:
        self.asked: list[ReceivedRequest] = []
        self.url = ""
        self.refuse: Callable[[ReceivedRequest], int] = lambda asked: 0
        self.score: Callable[[str], int] = lambda judge: 7
        self.words = ""

    def __call__(self, asked: ReceivedRequest) -> Answer:
        self.asked.append(asked)
        if status := self.refuse(asked):
            return Answer(status, {"error": {"message": self.words or "no"}})
        kind = next(
            name
            for end, name in (
                ("completions", "openai_chat"),
                ("messages", "anthropic_messages"),
                ("generateContent", "gemini_generate"),
            )
            if asked.target.endswith(end)
        )
        score = self.score(kind)
        text = json.dumps({"clarity": {"score": score}, "depth": {"score": score}, "total": score})
        payload = wire(kind).payload(self.words or text, model="real-1", refusal=False, input_tokens=9, output_tokens=9)
        return Answer(200, payload)


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    with loopback(running) as running.url:
        yield running


@pytest.fixture
def hosted(repo, provider: Provider, monkeypatch: pytest.MonkeyPatch):
    """The repo with judges that are asked for real, at `provider`, each with a key; nothing is recorded yet."""
    text = (repo / PANEL).read_text(encoding="utf-8").replace('"reconstructed"', '"recorded"')
    text = text.replace('[stand_in]\nkind = "table"\nfolder = "fixtures/standins"\n', "")
    for judge in ("ann", "bob", "eve"):
        text = text.replace(f"http://{judge}.reconstructed.invalid/v1", f"{provider.url}/v1")
        text = text.replace(f'model = "{judge}-1"', f'model = "{judge}-1"\napi_key_env = "{judge.upper()}_KEY"')
        monkeypatch.setenv(f"{judge.upper()}_KEY", f"{KEY}-{judge}")
    repo.write(PANEL, text.replace('source = "made', 'free = true\nsource = "made'))
    for path in (repo / "cassettes").rglob("*.jsonl"):
        path.unlink()
    return repo


RECORD = ("--record=missing", "-k", "parse_rate")


def test_what_is_missing_is_asked_for_once_and_replayed_without_a_key_from_then_on(
    hosted, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = hosted.run(*RECORD)
    assert (first.code, first.outcomes["passed"]) == (pytest.ExitCode.OK, 1), first.text
    assert len(provider.asked) == 48
    assert "ann: 16 calls, about " in first.text, "what it will cost is told before it starts"
    assert "recorded 48 of 48 missing answers" in first.text
    before = hosted.cassettes
    assert len(before) == 12
    assert not any(KEY.encode() in data for data in before.values()), "no key reaches the disk"

    hosted.cassette("bob~beta~attributed").unlink()
    assert hosted.run(*RECORD).code == pytest.ExitCode.OK
    assert len(provider.asked) == 52, "only the four missing answers were asked for"

    for judge in ("ANN", "BOB", "EVE"):
        monkeypatch.delenv(f"{judge}_KEY")
    replayed = hosted.run("-k", "parse_rate")
    assert (replayed.code, len(provider.asked)) == (pytest.ExitCode.OK, 52), "replay asks nobody"
    assert replayed.results["cassettes"] == first.results["cassettes"]


def test_a_missing_key_is_named_before_anything_is_asked(
    hosted, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOB_KEY")
    run = hosted.run(*RECORD)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "recording bob needs the environment variable(s) BOB_KEY; set them, or leave these judges out" in run.text
    assert "Traceback" not in run.text
    assert provider.asked == []
    others = hosted.run(*RECORD, "--judges", "ann,eve")
    assert others.code == pytest.ExitCode.OK, "leaving the judge out is the remedy it names"


def test_a_judge_that_fails_costs_nothing_that_others_answered(hosted, provider: Provider) -> None:
    provider.refuse = lambda asked: 401 if asked.target.endswith("messages") else 0
    run = hosted.run(*RECORD)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "recorded 32 of 48 missing answers" in run.text
    assert "HTTP 401 from 127.0.0.1: “no”. The API key is not accepted: check the variable named by" in run.text
    assert "the same command goes on where this one stopped" in run.text
    assert KEY not in run.text
    kept = hosted.cassettes
    assert len(kept) == 8

    asked, provider.refuse = len(provider.asked), lambda asked: 0
    assert hosted.run(*RECORD).code == pytest.ExitCode.OK
    assert len(provider.asked) - asked == 16
    assert {name: hosted.cassettes[name] for name in kept} == kept


@pytest.mark.parametrize("statuses", [(0, 200, 400), (401, 503, 0)])
def test_no_word_of_a_reply_or_an_error_is_quoted_where_texts_stay_hidden(
    hosted, provider: Provider, monkeypatch: pytest.MonkeyPatch, statuses: tuple[int, ...]
) -> None:
    """Replies that cannot be read, a report of an error under status 200, refused requests, each of another judge: all
    of them say the word, and neither the terminal nor a report does."""
    monkeypatch.setattr("recuse.recording.panel_recording.Client", partial(Client, attempts=1))
    of_judges = dict(zip(("completions", "generateContent", "messages"), statuses, strict=True))
    provider.words, provider.refuse = "quokka", lambda asked: of_judges[re.split("[/:]", asked.target)[-1]]
    hidden = hosted.run(*RECORD, "-o", "recuse_texts=false")
    written = [path.read_text(encoding="utf-8") for path in hidden.reports.rglob("*") if path.is_file()]
    assert written
    assert "quokka" not in "".join([hidden.text, *written])
    assert "not shown: recuse_texts = false" in hidden.words
    assert hosted.run(*RECORD).text.count("quokka") >= 3, "each of the judges"


def test_a_budget_is_kept_until_it_is_accepted(hosted, provider: Provider) -> None:
    hosted.edit(PANEL, "[[judge]]", "[[judge]]\nprice = { input_usd_per_mtok = 500.0, output_usd_per_mtok = 500.0 }")
    for judge in ("bob", "eve"):
        hosted.edit(
            PANEL,
            f'name = "{judge}"',
            f'name = "{judge}"\nprice = {{ input_usd_per_mtok = 1.0, output_usd_per_mtok = 1.0 }}',
        )
    hosted.edit(PANEL, "free = true", "budget_usd = 0.01")
    run = hosted.run(*RECORD)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "the budget is $0.01. Add --yes to go ahead" in run.text
    assert provider.asked == []
    assert hosted.run(*RECORD, "--yes").code == pytest.ExitCode.OK
    assert len(provider.asked) == 48


def test_all_is_asked_anew_and_what_the_plan_no_longer_asks_for_is_reported_as_unused(
    hosted, provider: Provider
) -> None:
    hosted.run(*RECORD)
    anew = hosted.run("--record=all", "-k", "parse_rate", "--judges", "eve")
    assert (anew.code, len(provider.asked)) == (pytest.ExitCode.OK, 48 + 16), anew.text
    hosted.edit(PANEL, "rubric = 4", "rubric = 3")
    run = hosted.run("-k", "parse_rate", "-v")
    assert run.code == pytest.ExitCode.OK
    counts: dict[str, Any] = run.results["cassettes"]
    assert (counts["used"], counts["unused"], counts["interactions"]) == (36, 12, 48)
    assert len(counts["unused_lines"]) == 12
    assert "rubric/bob~alpha~attributed" in "".join(counts["unused_lines"])
    assert "recorded but not used" in run.text


SECOND = """
    import pytest
    from recuse.metrics.coverage import parse_rate
    pytestmark = pytest.mark.asks("claimed_statistics")

    def test_parse_rate(ratings, gate):
        assert gate("parse_rate", parse_rate(ratings))
"""


@pytest.fixture
def two_protocols(hosted):
    hosted.edit(PANEL, 'protocols = ["rubric"]', 'protocols = ["rubric", "rubric_self_reported"]')
    hosted.write("fixtures/tasks/essays/prompts/rubric_self_reported.user.j2", "Ten times: {{ essay }}")
    hosted.write("evals/test_self_reported.py", SECOND)
    return hosted


def test_protocols_have_one_budget_and_each_its_own_answers(two_protocols, provider: Provider) -> None:
    """48 calls of one protocol and 12 of the other: one sum, one question. What one leaves unused is counted once."""
    run = two_protocols.run("--record=missing")
    assert run.text.count("mini: to record:") == 1, run.text
    assert "ann: 20 calls" in run.text, "sixteen of one protocol and four of the other"
    assert len(provider.asked) == 60
    two_protocols.edit(PANEL, "rubric = 4", "rubric = 3")
    counts: dict[str, Any] = two_protocols.run("-k", "parse_rate").results["cassettes"]
    assert (counts["used"], counts["unused"], counts["interactions"]) == (36 + 12, 12, 60)


@pytest.mark.slow("interrupted recordings")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow("interrupted recordings"))]
)
def test_one_signal_ends_everything_and_what_was_answered_is_on_disk(
    two_protocols, provider: Provider, number: signal.Signals
) -> None:
    enough, seen = threading.Event(), []

    def slow(asked: ReceivedRequest) -> int:
        time.sleep(0.05)
        seen.append(asked)
        if len(seen) >= 8:
            enough.set()
        return 0

    provider.refuse = slow
    command = [sys.executable, "-m", "pytest", "evals", "--record=missing", "-p", "no:cacheprovider"]
    started = subprocess.Popen(
        command, cwd=two_protocols.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert enough.wait(60), "the recording never got going"
    started.send_signal(number)
    told, _ = started.communicate(timeout=60)
    assert started.returncode == pytest.ExitCode.INTERRUPTED, told
    asked = len(provider.asked)
    assert asked < 40, "calls on their way were finished, no others were made"
    provider.refuse = lambda asked: 0
    assert two_protocols.run("--record=missing").outcomes.get("errors", 0) == 0
    assert len(provider.asked) <= 60 + 4, "what had been answered was not asked again"


# --------------------------------------------------------------------------- a sample asked again


@pytest.fixture
def varied(hosted, provider: Provider, monkeypatch: pytest.MonkeyPatch):
    """Recorded from judges that vary; what is drawn and what they say is the same in every test."""
    chance = random.Random(4)
    provider.score = lambda judge: chance.randint(5, 7)
    monkeypatch.setattr(sample, "CHANCE", random.Random(4))
    texts = [{"id": f"{who}-{n:02d}", "target": who, "fields": {"essay": f"Text {n}."}}
             for n in range(12) for who in ("alpha", "beta")]  # fmt: skip
    hosted.write("fixtures/tasks/essays/items.jsonl", "\n".join(map(json.dumps, texts)))
    hosted.edit(PANEL, "rubric = 4", "rubric = 2")
    assert hosted.run(*RECORD).code == pytest.ExitCode.OK
    provider.asked.clear()
    return hosted


SAMPLE = ("--record=sample", "-k", "parse_rate", "-v")


@pytest.mark.slow("whole recordings")
def test_a_sample_asked_again_says_what_is_recorded_and_changes_nothing(varied, provider: Provider) -> None:
    before = varied.cassettes
    run = varied.run(*SAMPLE)
    assert run.code == pytest.ExitCode.OK, run.text
    assert len(provider.asked) == 3 * 20, "a twentieth of 96, and at least twenty of each judge"
    assert varied.cassettes == before
    for judge in ("ann", "bob", "eve"):
        assert re.search(rf"mini: {judge}, asked again, says what is recorded; \d+ of 20 replies are as re", run.text)
    assert KEY not in run.text


@pytest.mark.slow("whole recordings")
def test_a_recording_that_its_judge_would_not_give_is_red(varied, provider: Provider) -> None:
    before, score = varied.cassettes, provider.score
    provider.score = lambda judge: score(judge) - 3 * (judge == "gemini_generate")
    run = varied.run(*SAMPLE)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "This change: do not merge: bob, asked again, differs from its recording more" in run.text
    assert "mini: eve, asked again, says what is recorded" in run.text
    assert varied.cassettes == before


@pytest.mark.slow("whole recordings")
def test_a_judge_without_a_key_is_not_asked_and_no_silence_is_green(
    varied, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOB_KEY")
    run = varied.run(*SAMPLE)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "mini: bob was not asked again: recording bob needs the environment variable(s) BOB_KEY" in run.text
    assert "mini: ann, asked again, says what is recorded" in run.text
    assert len(provider.asked) == 2 * 20


@pytest.mark.slow("whole recordings")
def test_a_judge_that_answers_no_more_is_not_taken_for_the_same(varied, provider: Provider) -> None:
    provider.refuse = lambda asked: 404 if asked.target.endswith("messages") else 0
    run = varied.run(*SAMPLE)
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "mini: eve was not asked again: " in run.text
    assert "mini: bob, asked again, says what is recorded" in run.text


@pytest.mark.slow("whole runs")
def test_a_sample_is_asked_in_one_process(varied, provider: Provider) -> None:
    run = varied.run(*SAMPLE, "-n", "2")
    assert "--record=sample asks in one process" in run.text
    assert not provider.asked

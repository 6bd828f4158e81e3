"""Recording by batch, against the batch interfaces of three providers: what is submitted once, what comes back, what is
done about the rest. Every `setting.batches()` stands for a process of its own."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batch_providers import KEY, PROVIDERS, BatchProvider, Gemini, No, OpenAI
from loopback import Answer
from setting import Setting

import recuse.batch
from recuse.batch import BatchError, Web
from recuse.batch.providers import OPENAI
from recuse.batch.recording import BatchReport, number_of
from recuse.judges.client import Credentials
from recuse.schema import RecuseError

sys.path.append(str(Path(__file__).parents[1] / "cassettes"))

from small_plans import bomb

SettingOf = Callable[[str], Setting]
WORDS = ["about 0", "about 0", "about 1", "about 1", "about 2", "about 2"]


def no_sleep(seconds: float) -> None:
    """Instead of waiting for a minute."""


def lost(position: int, *positions: int) -> str:
    return "late" if position in positions else "good"


# --------------------------------------------------------------------------- all goes well


@pytest.mark.parametrize("provider_name", sorted(PROVIDERS))
def test_what_comes_back_is_stored_as_if_asked_one_by_one(setting: Setting) -> None:
    setting.provider.polls_until_done = 2
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, report.under_way, report.failed, report.expired) == (6, 0, [], [])
    assert len(setting.provider.orders) == 1
    assert setting.replayed() == WORDS
    assert setting.library("replay").coverage().missing == ()
    assert not setting.state.exists()


def test_the_requests_are_those_of_the_calls(setting: Setting) -> None:
    with setting.batches() as batches:
        assert batches.submit(setting.calls) == 6
    [order] = setting.provider.orders
    sent = {number: body for number, body, _ in order["entries"]}
    assert sent == {number_of(call): json.loads(call.request.body) for call in setting.calls}


def test_it_may_be_left_and_taken_up_by_another_process(setting: Setting) -> None:
    setting.provider.polls_until_done = 1
    with setting.batches() as batches:
        batches.submit(setting.calls)
        assert (found := batches.collect(setting.calls)).stored == 0
        assert found.under_way == 6
    with setting.batches() as batches:
        assert batches.submit(setting.calls) == 0
        assert batches.collect(setting.calls).stored == 6
    assert len(setting.provider.orders) == 1
    assert setting.replayed() == WORDS


def test_what_is_recorded_is_not_submitted(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.wait(setting.calls[:4], sleep=no_sleep)
    with setting.batches() as batches:
        batches.wait(setting.calls, sleep=no_sleep)
    assert setting.provider.submitted == [number_of(call) for call in setting.calls]


def test_a_batch_keeps_to_what_the_provider_takes(setting_of: SettingOf, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of("openai")
    monkeypatch.setattr(OPENAI, "MOST_REQUESTS", 4)
    with setting.batches() as batches:
        batches.submit(setting.calls)
    assert [len(order["entries"]) for order in setting.provider.orders] == [4, 2]


def test_nor_is_its_file_too_large(setting_of: SettingOf, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = setting_of("openai")
    assert isinstance(setting.provider, OpenAI)
    entry = OPENAI.entry(number_of(setting.calls[0]), setting.calls[0])
    one = len(json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace")) + 1
    monkeypatch.setattr(OPENAI, "MOST_BYTES", 2 * one)
    with setting.batches() as batches:
        batches.submit(setting.calls)
    assert [len(order["entries"]) for order in setting.provider.orders] == [2, 2, 2]
    assert max(len(file) for file in setting.provider.files.values()) <= 2 * one


def test_two_plans_share_a_panel_and_collect_each_its_own(setting: Setting) -> None:
    first, second = setting.calls[:2], setting.calls[2:]
    with setting.batches() as batches:
        batches.submit(first)
        batches.submit(second)
        assert batches.collect(second).stored == 4
    with setting.batches() as batches:
        assert batches.collect(first).stored == 2
    assert setting.replayed() == WORDS


def test_a_batch_that_holds_calls_of_another_plan_is_kept_for_it(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls)
        assert batches.collect(setting.calls[:2]).stored == 2
    with setting.batches() as batches:
        assert batches.collect(setting.calls).stored == 4
    assert len(setting.provider.orders) == 1


def test_a_batch_of_another_plan_is_named_and_not_waited_for(setting: Setting) -> None:
    """As when the prompt was changed while it was under way; its answers are paid for, and can still be had."""
    old, new = setting.calls[:2], setting.calls[2:]
    waits = iter((None, None, None))  # a fourth time would be for ever
    with setting.batches() as batches:
        batches.submit(old)
        setting.provider.orders[0]["polls"] = -(10**6)
    with setting.batches() as batches:
        report = batches.wait(new, sleep=lambda seconds: next(waits))
        assert (report.stored, report.under_way) == (4, 0)
        assert batches.others(setting.calls) == ""
        assert "p: 2 requests under way are not of this run" in batches.others(new)
        assert f"cancel {setting.provider.orders[0]['id']} at the provider" in batches.others(new)
        assert str(setting.state) in batches.others(new)
    setting.provider.orders[0]["polls"] = 0
    with setting.batches() as batches:
        assert batches.collect(old).stored == 2
    assert setting.replayed() == WORDS


# --------------------------------------------------------------------------- money


def test_what_is_under_way_is_cancelled_once_nothing_more_may_be_spent(setting: Setting) -> None:
    """The first batch has come back and cost too much; the second is never answered. One of another plan stays."""
    first, second = setting.calls[:2], setting.calls[2:4]
    with setting.batches() as batches:
        batches.submit(first)
        batches.submit(setting.calls[4:])
        batches.submit(second)
        setting.provider.polls_until_done = 10**6
        setting.provider.orders[0]["polls"] = 10**6
        setting.must_stop = lambda: "too much is spent"
        report = batches.wait(first + second, sleep=no_sleep)
    assert (report.stored, report.under_way, report.stopped) == (2, 2, "too much is spent")
    assert "stopped: too much is spent" in report.text()
    assert setting.provider.cancelled == [setting.provider.orders[2]["id"]]
    setting.must_stop = lambda: ""
    with setting.batches() as batches:  # the next process is told what became of them, and may ask anew
        assert len(batches.collect(second).failed) == 2
        assert batches.submit(second) == 2


def test_nothing_is_submitted_once_nothing_more_may_be_spent(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls[:2])
        setting.must_stop = lambda: "too much is spent"
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(setting.provider.orders)) == (2, 1)


def test_what_is_paid_for_is_stored_although_nothing_more_is_taken(setting: Setting) -> None:
    """An account that has no money left may still fetch what it has paid for, for a month."""
    with setting.batches() as batches:
        batches.submit(setting.calls[:4])
    setting.provider.refused = 2
    with setting.batches() as batches, pytest.raises(BatchError, match="Too many batches are enqueued"):
        batches.wait(setting.calls, sleep=no_sleep)
    assert setting.library().coverage().missing == tuple(setting.calls[4:])
    assert not setting.state.exists()


def test_what_a_panel_file_puts_into_the_query_is_sent_as_with_single_calls(setting: Setting) -> None:
    """As Azure wants a version in every address."""
    setting.judge = dataclasses.replace(setting.judge, query={"api-version": "preview"})
    setting.calls = [setting._call(item, 0) for item in range(3)]
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 3
    bare = [asked.target for asked in setting.provider.asked if "api-version=preview" not in asked.target]
    assert all("upload" in target for target in bare), bare  # Google's own address of an upload


# --------------------------------------------------------------------------- some of it does not


def test_partial_failures_are_told_in_the_providers_words(setting: Setting) -> None:
    setting.provider.fate = lambda position: "bad" if position in (1, 4) else "good"
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert report.stored == 4
    assert sorted(call.item for call, _ in report.failed) == ["0", "2"]
    assert "this request is bad" in report.text()
    assert "2 x ann: " in report.text()
    assert KEY not in report.text()
    assert len(setting.provider.orders) == 1, "what was refused is not submitted again by itself"
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 2
    assert len(setting.provider.orders[1]["entries"]) == 2
    assert setting.replayed() == WORDS


def test_the_providers_words_are_not_told_where_texts_stay_hidden(setting: Setting) -> None:
    setting.provider.fate = lambda position: "bad" if position in (1, 4) else "good"
    with setting.batches(texts=False) as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert "this request is bad" not in report.text()
    assert "not shown: recuse_texts = false" in report.text()


def test_what_is_no_reply_of_the_model_is_named_and_asked_again(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ill, setting.batches() as batches:
        ill.setattr(setting.provider, "good", lambda body: {"object": "error", "message": "out of memory"})
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(report.failed)) == (0, 6)
    assert "the body is an error report, although the status says success: “out of memory”" in report.text()
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 6
    assert setting.replayed() == WORDS


def test_more_reasons_than_are_told_are_counted(setting: Setting) -> None:
    calls = [setting.calls[0]] * 10
    report = BatchReport(failed=[(call, f"reason {min(n, 8)}") for n, call in enumerate(calls)])
    assert "failed: 10\n  2 x ann: reason 8\n" in report.text()
    assert report.text().endswith("\n  ... and 1 more reasons")


def test_what_ran_out_of_time_is_submitted_once_more(setting: Setting) -> None:
    setting.provider.fate = lambda position: lost(position, 0, 3)
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, report.expired, report.failed) == (6, [], [])
    assert setting.replayed() == WORDS


def test_and_then_it_is_told(setting: Setting) -> None:
    setting.provider.fate = lambda position: "late"
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(report.expired), report.under_way) == (0, 6, 0)
    assert len(setting.provider.orders) == 2
    assert "expired: 6" in report.text()


@pytest.mark.parametrize("provider_name", ["openai", "gemini"])
def test_a_batch_that_fails_as_a_whole_says_why(setting: Setting) -> None:
    setting.provider.broken = "the file has a fault"
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert {why for _, why in report.failed} == {"the file has a fault"}
    assert (len(report.failed), report.stored, len(setting.provider.orders)) == (6, 0, 1)


def spoilt(setting: Setting, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """The files of results have their lines changed on the way."""
    answer = setting.provider.answer

    def changed(asked: Any, path: str, body: Any) -> Answer:
        given = answer(asked, path, body)
        if not isinstance(given.payload, bytes):
            return given
        return dataclasses.replace(given, payload=b"\n".join(change(given.payload.strip().split(b"\n"))) + b"\n")

    setting.provider.answer = changed  # type: ignore[method-assign]


@pytest.mark.parametrize("line", [b'{"custom_id": "x", "resp', b"[]"])
def test_a_line_that_cannot_be_read_holds_nothing_back(setting: Setting, line: bytes) -> None:
    spoilt(setting, lambda lines: [line, *lines[1:]])
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(report.failed), report.under_way) == (5, 1, 0)
    assert "line 1 of the results is of no known form" in report.text()
    assert "The same command asks it anew" in report.text()
    assert not setting.state.exists()


def test_a_status_that_is_no_number_holds_nothing_back(setting_of: SettingOf) -> None:
    setting = setting_of("openai")
    spoilt(setting, lambda lines: [lines[0].replace(b'"status_code": 200', b'"status_code": "odd"'), *lines[1:]])
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(report.failed), report.under_way) == (5, 1, 0)


def test_a_batch_that_is_gone_keeps_no_other_back_and_the_remedy_is_told(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls[:2])
        batches.submit(setting.calls[2:])
    gone = setting.provider.orders.pop(0)["id"]
    with setting.batches() as batches, pytest.raises(BatchError) as caught:
        batches.wait(setting.calls, sleep=no_sleep)
    assert f"take {gone} out of {setting.state}" in str(caught.value)
    assert [entry["id"] for entry in json.loads(setting.state.read_text())["batches"]] == [gone]
    with setting.batches() as batches:
        assert [call.item for call in setting.calls if not batches._library.has(call)] == ["0", "0"]


def test_two_answers_under_one_number_are_told(setting: Setting) -> None:
    spoilt(setting, lambda lines: [*lines, lines[0].replace(b"about", b"around")])
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 6
    assert "ann: 1 requests have two different answers; the first was kept" in setting.said
    assert setting.replayed() == WORDS


@pytest.mark.slow("large files")
@pytest.mark.parametrize(("provider_name", "path"), [("openai", "results"), ("gemini", "an answer")])
def test_what_a_provider_compresses_is_bounded_in_memory(setting: Setting, path: str) -> None:
    """256 MB in 256 kB of gzip, although nothing compressed was asked for."""
    with setting.batches() as batches:
        batches.submit(setting.calls)
        answer, packed = setting.provider.answer, bomb(b"0", 256)

        def bombs(asked: Any, path_: str, body: Any) -> Answer:
            given = answer(asked, path_, body)
            if path == "results" and not isinstance(given.payload, bytes):
                return given
            return Answer(200, packed, {"content-encoding": "gzip"})

        setting.provider.answer = bombs  # type: ignore[method-assign]
        tracemalloc.start()
        if path == "results":
            assert batches.collect(setting.calls).stored == 0
        else:
            with pytest.raises(BatchError, match="more than 16 MB"):
                batches.collect(setting.calls)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 120e6


@pytest.mark.parametrize(("packed", "told"), [(True, "more than 2 GB"), (False, "the answer has no end")])
def test_results_beyond_what_any_batch_has_end_in_a_sentence(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, packed: bool, told: str
) -> None:
    """Instead of 3 GB a few kilobytes, and the bound as much lower."""
    monkeypatch.setattr(recuse.batch, "LARGEST_RESULTS", 20_000)
    spoilt(setting, lambda lines: [b'{"custom_id": "x", "more": "%s"}' % (b"a" * 1000)] * 30 + lines)
    with setting.batches() as batches:
        batches.submit(setting.calls)
        answer = setting.provider.answer

        def compressed(*asked: Any) -> Answer:
            given = answer(*asked)
            if not packed or not isinstance(given.payload, bytes):
                return given
            return Answer(200, gzip.compress(given.payload), {"content-encoding": "gzip"})

        setting.provider.answer = compressed  # type: ignore[method-assign]
        with pytest.raises(BatchError, match=told):
            batches.collect(setting.calls)


@pytest.mark.slow("400 MB over the loopback")
def test_results_of_hundreds_of_megabytes_are_read_line_by_line(setting_of: SettingOf, tmp_path: Path) -> None:
    """On disk meanwhile, and never more than a few lines in memory. Served by another process."""
    with (tmp_path / "results.jsonl").open("wb") as file:
        for n in range(40):
            file.write(b'{"custom_id": "%d", "more": "%s"}\n' % (n, b"a" * 10_000_000))
    server = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(tmp_path)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = re.search(r"http://[\d.]+:\d+", process.stdout.readline())
            assert url is not None
            with Web(setting_of("openai").judge, Credentials()) as web:
                tracemalloc.start()
                read = [line["custom_id"] for line in web.lines(f"{url[0]}/results.jsonl") if line]
                most = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
        finally:
            process.kill()
    assert read == [str(n) for n in range(40)]
    assert most < (tmp_path / "results.jsonl").stat().st_size / 5


# --------------------------------------------------------------------------- the connection does not hold


def test_an_order_whose_answer_was_lost_is_found_again(setting: Setting) -> None:
    with setting.batches() as batches:  # somebody's earlier batch, so that the list has more than one
        batches.wait(setting.calls[:2], sleep=no_sleep)
    setting.provider.cut_off = 1
    with setting.batches() as batches, pytest.raises(BatchError, match="The server had an error"):
        batches.submit(setting.calls)
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 4
    assert len(setting.provider.orders) == 2, "not submitted again"
    assert setting.replayed() == WORDS


def test_an_order_that_never_arrived_is_made_anew(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls)
    setting.provider.orders.clear()  # as if the process had died just before the order went out
    state = json.loads(setting.state.read_text())
    state["batches"][0]["id"] = None
    setting.state.write_text(json.dumps(state))
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 6
    assert len(setting.provider.orders) == 1


def test_an_order_that_is_listed_late_is_not_made_twice(setting: Setting) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls)
    state = json.loads(setting.state.read_text())
    state["batches"][0]["id"] = None
    setting.state.write_text(json.dumps(state))
    orders, setting.provider.orders = setting.provider.orders, []
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            setting.provider.orders += orders

    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=sleep).stored == 6
    assert len(setting.provider.orders) == 1
    assert "ann: whether a batch was taken is not known yet; its provider does not list it" in setting.said


def test_an_order_that_is_refused_leaves_nothing_behind(setting: Setting) -> None:
    setting.provider.refused = 2
    with setting.batches() as batches, pytest.raises(BatchError, match="Too many batches are enqueued"):
        batches.submit(setting.calls)
    assert not setting.state.exists()
    with setting.batches() as batches:
        assert batches.submit(setting.calls) == 6


def test_nor_does_one_that_reached_nobody(setting: Setting) -> None:
    """Counted as perhaps taken, it would keep --record=missing from asking, and the next batch waiting."""
    there, setting.judge = setting.judge, dataclasses.replace(setting.judge, base_url="http://127.0.0.1:9/v1")
    with setting.batches() as batches, pytest.raises(BatchError, match="ConnectError"):
        batches.submit(setting.calls)
    assert not setting.state.exists()
    setting.judge = there
    with setting.batches() as batches:
        assert batches.submit(setting.calls) == 6


def test_a_busy_provider_is_asked_again(setting: Setting) -> None:
    setting.provider.refused = 1
    with setting.batches() as batches:
        assert batches.submit(setting.calls) == 6
    assert len(setting.provider.orders) == 1


def test_another_batch_of_the_same_size_is_not_taken_for_ours(setting_of: SettingOf) -> None:
    """Anthropic's batches carry no mark: what answers none of our requests is somebody else's."""
    setting = setting_of("anthropic")
    strangers = [(f"stranger-{n}", json.loads(setting.calls[n].request.body)) for n in range(6)]
    with setting.batches() as batches:
        batches.submit(setting.calls)
    setting.provider.orders.clear()
    setting.provider.order(strangers)
    state = json.loads(setting.state.read_text())
    state["batches"][0]["id"] = None
    setting.state.write_text(json.dumps(state))
    with setting.batches() as batches:
        report = batches.wait(setting.calls, sleep=no_sleep)
    assert (report.stored, len(report.failed)) == (0, 6)
    with setting.batches() as batches:
        assert batches.wait(setting.calls, sleep=no_sleep).stored == 6


# --------------------------------------------------------------------------- secrets


def test_no_file_holds_the_key(setting: Setting) -> None:
    setting.provider.fate = lambda position: "bad" if position == 0 else "good"
    with setting.batches() as batches:
        batches.submit(setting.calls)
        assert "canary" not in setting.state.read_text()
        report = batches.collect(setting.calls)
    for path in setting.folder.rglob("*"):
        if path.is_file():
            assert b"canary" not in path.read_bytes(), path
    assert setting.provider.asked, "the key went to the provider and nowhere else"
    assert report.stored == 5


def test_a_wrong_key_is_told_without_it(setting: Setting) -> None:
    def wrong(asked: object) -> None:
        raise No(401, "Incorrect API key provided: canary-9d2f6c81e4")

    setting.provider.authorise = wrong  # type: ignore[method-assign,assignment]
    with setting.batches() as batches, pytest.raises(BatchError) as caught:
        batches.submit(setting.calls)
    assert "judge ann: POST http://127.0.0.1:" in str(caught.value)
    assert "HTTP 401: “Incorrect API key provided: [secret]”" in str(caught.value)
    assert setting.provider.orders == []


@pytest.mark.parametrize("spelled", [base64.b64encode(KEY.encode()).decode(), KEY.encode().hex()])
def test_nor_is_it_told_in_another_spelling(setting: Setting, spelled: str) -> None:
    def wrong(asked: object) -> None:
        raise No(401, f"Incorrect API key provided: {spelled}")

    setting.provider.authorise = wrong  # type: ignore[method-assign,assignment]
    with setting.batches() as batches, pytest.raises(BatchError, match=r"provided: \[secret\]") as caught:
        batches.submit(setting.calls)
    assert spelled not in str(caught.value)


def test_an_upload_is_not_followed_to_another_host(setting_of: SettingOf) -> None:
    setting = setting_of("gemini")
    assert isinstance(setting.provider, Gemini)
    setting.provider.sent_on = "http://127.0.0.2:9"
    with setting.batches() as batches, pytest.raises(BatchError, match="sent on to another host"):
        batches.submit(setting.calls)


# --------------------------------------------------------------------------- mistakes


def test_a_format_without_batches_is_told_before_anything_is_submitted(setting_of: SettingOf) -> None:
    setting = setting_of("openai")
    other = dataclasses.replace(setting.judge, name="bob", wire="bedrock_converse")
    calls = [*setting.calls, dataclasses.replace(setting.calls[0], judge="bob")]
    with setting.batches() as batches:
        batches._judges = {**batches._judges, "bob": other}
        with pytest.raises(RecuseError, match="judge bob: the wire format bedrock_converse has no batch interface"):
            batches.submit(calls)
    assert setting.provider.orders == []


def test_a_state_that_cannot_be_written_is_told_before_anything_is_submitted(setting: Setting) -> None:
    """As on a full disk: a folder is in the way of the file."""
    setting.state.with_name("p.json.tmp").mkdir(parents=True)
    with setting.batches() as batches, pytest.raises(RecuseError, match=r"p\.json: could not be rewritten"):
        batches.submit(setting.calls)
    assert setting.provider.orders == []


@pytest.mark.parametrize("content", ["", "{", '{"schema": 2, "batches": []}', '{"schema": 1, "batches": [{}]}', "[]"])
def test_a_broken_state_is_told_with_its_place(setting_of: SettingOf, content: str) -> None:
    setting = setting_of("openai")
    setting.state.parent.mkdir(parents=True)
    setting.state.write_text(content)
    with pytest.raises(RecuseError, match=r"p\.json: cannot be read .* under way: restore it"), setting.batches():
        """Not reached."""


@pytest.mark.parametrize("payload", [b"[]", b"{}", b"<html>", b'{"id": 1}'])
def test_an_unexpected_answer_is_an_error_and_not_a_traceback(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, payload: bytes
) -> None:
    with setting.batches() as batches:
        batches.submit(setting.calls)
        monkeypatch.setattr(type(setting.provider), "answer", lambda *_: Answer(200, payload))
        with pytest.raises(BatchError, match="judge ann: "):
            batches.collect(setting.calls)
    assert isinstance(setting.provider, BatchProvider)
    assert len(json.loads(setting.state.read_text())["batches"]) == 1, "the batch is still known"

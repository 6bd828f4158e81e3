"""Recording: only what is missing, within limits, with progress; recording anew does not lose the old."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from judge_limits import Limits
from misbehaving import Server
from small_plans import files, headers, opened, plan, record, recorded, recording, send_all

from recuse.cassettes.__main__ import check_cassettes, compact
from recuse.cassettes.library import Library
from recuse.cassettes.plain_file import StorageError, locked
from recuse.cassettes.storage import Storage
from recuse.recording.asking import RateLimit
from recuse.recording.progress import IncompleteRecordingError, Progress, ProgressLine, watched
from recuse.schema import Call, RawResponse, RecuseError


def contents(root: Path, calls: Sequence[Call]) -> list[bytes]:
    library = opened(root, calls)
    return [library.response(call).body for call in calls]


# --------------------------------------------------------------------------- what is asked


def test_every_call_is_asked_once_and_stored_under_its_own_repeat(root: Path, server: Server) -> None:
    calls = plan(server.url, repeats=10)
    report = recording(opened(root, calls, mode="missing"), calls)
    assert (report.planned, report.stored, report.complete) == (30, 30, True)
    assert set(server.hits.values()) == {1}
    numbers = [json.loads(body)["number"] for body in contents(root, calls)]
    assert sorted(numbers) == list(range(1, 31))


def test_a_second_recording_asks_nothing(root: Path, server: Server) -> None:
    calls = plan(server.url)
    recording(opened(root, calls, mode="missing"), calls)
    before = files(root)
    report = recording(opened(root, calls, mode="missing"), calls)
    assert (report.planned, report.stored, report.complete) == (0, 0, True)
    assert server.requests == len(calls)
    assert files(root) == before


def test_only_missing_repeats_are_asked(root: Path, server: Server) -> None:
    few, many = plan(server.url, repeats=3), plan(server.url, repeats=5)
    recording(opened(root, few, mode="missing"), few)
    first = contents(root, few)
    report = recording(opened(root, many, mode="missing"), many)
    assert (report.planned, report.stored) == (6, 6)
    assert contents(root, few) == first
    assert len(set(contents(root, many))) == 15


def test_answers_are_on_disk_before_the_client_sees_them(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    library = opened(root, calls, mode="missing")
    seen = []

    async def one_by_one() -> None:
        for call in calls:
            await send_all([call])
            seen.append(opened(root, calls).coverage().present)

    with library.use():
        asyncio.run(one_by_one())
    assert seen == [1, 2, 3]


def test_calls_that_became_known_late_stand_where_the_plan_has_them(tmp_path: Path, server: Server) -> None:
    calls = [dataclasses.replace(call, cell="small/task/rubric/judge-a") for call in plan(server.url)]

    def order(root: Path, *known: Sequence[Call]) -> list[tuple[str, int]]:
        library = Library(root, "small", mode="missing")
        for told in known:
            library.expect(told, headers(calls))
        recording(library, calls, concurrency=1)
        lines = map(json.loads, (root / "small/task/rubric/judge-a.jsonl").read_text("utf-8").splitlines())
        return [(line["key"], line["run"]) for line in lines if line["kind"] == "answer"]

    as_planned = [(call.key, call.repeat) for call in calls]
    assert order(tmp_path / "at-once", calls) == as_planned
    assert order(tmp_path / "late", calls[5:], calls) == as_planned


def test_a_recording_made_twice_is_the_same_file_whatever_order_answers_came_in(tmp_path: Path, server: Server) -> None:
    made = []
    for folder, order in (("one", 1), ("other", -1)):
        calls = plan(server.url, repeats=6)
        library = opened(tmp_path / folder, calls, mode="missing")
        with library.use():
            for call in calls[::order]:
                body = json.dumps({"run": call.repeat}).encode()
                from recuse.cassettes.matching import call_headers

                library.store(call.request, call_headers(call), RawResponse(200, {}, body))
        made.append(files(tmp_path / folder))
    assert made[0] == made[1]


def test_requests_are_stored_once_per_key(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=10)
    recording(opened(root, calls, mode="missing"), calls)
    text = (root / f"{calls[0].cell}.jsonl").read_bytes()
    assert (text.count(b'"kind":"header"'), text.count(b'"kind":"request"'), text.count(b'"kind":"answer"')) == (
        1,
        1,
        10,
    )


def test_a_call_outside_the_plan_is_not_recorded(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=2)
    further = plan(server.url, items=("a",), repeats=3)[2]
    with opened(root, calls, mode="missing").use(), pytest.raises(RecuseError, match="no recorded answer"):
        asyncio.run(send_all([further]))
    assert server.requests == 0


def test_other_traffic_passes_and_is_not_stored(root: Path, server: Server) -> None:
    import httpx2

    calls = plan(server.url, items=("a",), repeats=1)
    with opened(root, calls, mode="missing").use():
        assert httpx2.get(f"http://127.0.0.1:{server.port}/health", trust_env=False).status_code == 200
    assert files(root) == {}


def test_a_cell_without_a_header_is_not_recorded(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=1)
    library = Library(root, "small", mode="missing")
    library.expect(calls)
    report = recording(library, calls)
    assert "has no header" in report.text()
    assert files(root) == {}


@pytest.mark.parametrize("header", [{}, {"provenance": "guessed", "fingerprint": {}}, {"provenance": "recorded"}])
def test_a_header_says_where_answers_come_from(header: dict[str, object], root: Path) -> None:
    calls = plan(items=("a",), repeats=1)
    with pytest.raises(RecuseError, match="needs a `provenance`"):
        Library(root, "small").expect(calls, {calls[0].cell: header})


# --------------------------------------------------------------------------- one process at a time


def test_only_the_lock_of_the_folder_decides_who_may_record(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a test may record under -n is for the pytest plugin to say: an unrelated variable stops no library."""
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    calls = plan(items=("a",))
    refused = pytest.raises(RecuseError, match="another process is recording")
    with opened(root, calls, mode="missing").use(), refused, locked(root / "small"):
        pass


def test_two_recordings_into_one_panel_exclude_each_other(root: Path) -> None:
    calls = plan(items=("a",))
    (root / "small").mkdir(parents=True)
    refused = pytest.raises(RecuseError, match="another process is recording")
    with locked(root / "small"), refused, opened(root, calls, mode="missing").use():
        pass
    with opened(root, calls, mode="missing").use():
        pass
    assert files(root) == {}


def test_an_unknown_mode_is_refused(root: Path) -> None:
    with pytest.raises(RecuseError, match="unknown recording mode 'some'; known: replay, missing, all"):
        Library(root, "small", mode="some")  # type: ignore[arg-type]


# --------------------------------------------------------------------------- limits


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("limits", "tokens", "starts"),
    [
        (Limits(), 100, [0, 0, 0, 0]),
        (Limits(requests_per_minute=30), 100, [0, 2, 4, 6]),
        (Limits(tokens_per_minute=6000), 100, [0, 1, 2, 3]),
        (Limits(requests_per_minute=30, tokens_per_minute=1200), 100, [0, 5, 10, 15]),
    ],
)
def test_requests_start_no_faster_than_the_limits_allow(limits: Limits, tokens: int, starts: list[float]) -> None:
    clock = Clock()
    pace = RateLimit(limits, clock, clock.sleep)

    async def four() -> list[float]:
        found = []
        for _ in range(4):
            await pace.wait(tokens)
            found.append(clock.now - 100.0)
        return found

    assert asyncio.run(four()) == pytest.approx(starts)


def test_tokens_are_counted_where_they_are_limited() -> None:
    """Counting takes time, so it is left out where only requests are."""
    assert RateLimit(Limits(tokens_per_minute=6000)).counts_tokens
    assert not RateLimit(Limits(requests_per_minute=60)).counts_tokens


def test_time_not_used_is_not_saved_up_for_a_burst() -> None:
    clock = Clock()
    pace = RateLimit(Limits(requests_per_minute=60), clock, clock.sleep)

    async def pause_then_two() -> float:
        await pace.wait(1)
        clock.now += 30
        await pace.wait(1)
        before = clock.now
        await pace.wait(1)
        return clock.now - before

    assert asyncio.run(pause_then_two()) == pytest.approx(1.0)


def test_each_judge_has_a_concurrency_of_its_own(root: Path) -> None:
    one, other = plan(judge="judge-a", repeats=8), plan(judge="judge-b", repeats=8)
    now, most = {"judge-a": 0, "judge-b": 0}, {"judge-a": 0, "judge-b": 0}

    async def send(call: Call) -> RawResponse:
        now[call.judge] += 1
        most[call.judge] = max(most[call.judge], now[call.judge])
        await asyncio.sleep(0.002)
        now[call.judge] -= 1
        raise RecuseError("not today")

    async def run() -> None:
        library = opened(root, one + other)
        limits = {"judge-a": Limits(concurrency=2), "judge-b": Limits(concurrency=5)}
        await record(one + other, send, library, limits=limits)

    asyncio.run(run())
    assert most == {"judge-a": 2, "judge-b": 5}


def test_a_judge_that_keeps_failing_is_given_up_and_others_go_on(root: Path, server: Server) -> None:
    good = plan(server.url, judge="judge-a")
    bad = plan(server.url + "/nowhere", judge="judge-b", repeats=20)
    for call in bad:
        server.script[call.item, call.repeat] = ["500"]
    server.script |= {(call.item, call.repeat): ["ok"] for call in good}
    bad = [call for call in bad if (call.item, call.repeat) not in {(c.item, c.repeat) for c in good}]
    report = recording(opened(root, good + bad, mode="missing"), good + bad, concurrency=1)
    assert report.stored == len(good)
    assert 5 <= len(report.failed) <= 6
    assert all(call.judge == "judge-b" for call in report.not_asked)
    assert "HTTP status 500" in report.text()


# --------------------------------------------------------------------------- what it says


def test_progress_says_how_far_how_fast_and_how_long() -> None:
    assert str(Progress(500, 120, 3, 60.0)) == "recorded 120 of 500, 3 failed, 2.0 per second, about 3 min left"
    assert str(Progress(10, 1, 0, 60.0)) == "recorded 1 of 10, 1.0 per minute, about 9 min left"
    assert str(Progress(10, 0, 0, 0.0)) == "recorded 0 of 10, 0.0 per minute"


def test_progress_does_not_flood_a_log_but_always_tells_the_end() -> None:
    clock, stream = Clock(), io.StringIO()
    line = ProgressLine(stream, clock)
    for n in range(1, 101):
        clock.now += 1
        line(Progress(100, n, 0, float(n)))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith("recorded 100 of 100")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "patience", "shown"),
    [(Terminal, 0.0, "\r\x1b[Kasked 1 of 3, "), (Terminal, 60.0, ""), (io.StringIO, 0.0, "")],
)
def test_long_work_is_shown_to_whoever_waits_at_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], patience: float, shown: str
) -> None:
    written = stream()
    monkeypatch.setattr("sys.stderr", written)
    assert list(watched("abc", 3, "asked", patience)) == ["a", "b", "c"]
    assert written.getvalue().startswith(shown)
    assert bool(written.getvalue()) == bool(shown)


def test_an_incomplete_recording_raises_and_names_what_is_missing(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=2)
    server.script["b", 1] = ["503"]
    report = recording(opened(root, calls, mode="missing"), calls)
    with pytest.raises(IncompleteRecordingError) as incomplete:
        report.check()
    text = str(incomplete.value)
    assert "recorded 3 of 4" in text
    assert (
        "judge judge-a, protocol rubric, item b, target target, condition attributed, item b, repeat 1: HTTP status 503"
        in text
    )
    assert "on disk" in text


# --------------------------------------------------------------------------- recording anew


def test_recording_all_keeps_the_old_answers_until_the_new_are_complete(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=3)
    recording(opened(root, calls, mode="missing"), calls)
    old = contents(root, calls)
    server.script["b", 2] = ["ok", "500", "ok"]  # the second recording fails in one place
    server.hits.clear()
    server.hits["b", 2] = 1
    report = recording(opened(root, calls, mode="all"), calls)
    assert not report.complete
    half = contents(root, calls)
    assert half == old  # the new one takes its place when all of it is complete
    asked = server.requests
    report = recording(opened(root, calls, mode="all"), calls)
    assert report.complete
    assert server.requests == asked + 1  # what had been answered before the failure was not asked again
    assert not set(contents(root, calls)) & set(old)


@pytest.mark.slow("interrupted recordings", but_first=True)
@pytest.mark.parametrize("moved", [0, 1, 2])
@pytest.mark.parametrize("then", ["replay", "missing", "all"])
def test_killed_while_it_is_put_in_place_a_new_recording_is_served_whole(
    root: Path, server: Server, monkeypatch: pytest.MonkeyPatch, moved: int, then: Any
) -> None:
    calls = plan(server.url, items=("a", "b", "c"), repeats=2)
    recording(opened(root, calls, mode="missing"), calls)
    old, rewrite, done = contents(root, calls), Storage._rewrite, []

    def killed(self: Storage, *what: Any, **how: Any) -> None:
        if len(done) == moved:
            raise KeyboardInterrupt
        done.append(rewrite(self, *what, **how))

    monkeypatch.setattr(Storage, "_rewrite", killed)
    with pytest.raises(KeyboardInterrupt):
        recording(opened(root, calls, mode="all"), calls)
    monkeypatch.undo()
    new, asked = contents(root, calls), server.requests
    assert not set(new) & set(old), "a replay serves the new answers, those that are not in their place as well"
    if then != "replay":
        recording(opened(root, calls, mode=then), calls)
        assert not [name for name in files(root) if name.endswith(".new")]
    assert contents(root, calls) == new
    assert server.requests == asked, "nothing is paid for again"


def test_what_was_replaced_is_set_aside(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=2)
    recording(opened(root, calls, mode="missing"), calls)
    old = (root / f"{calls[0].cell}.jsonl").read_bytes()
    recording(opened(root, calls, mode="all"), calls)
    assert (root / ".superseded" / f"{calls[0].cell}.jsonl").read_bytes() == old


@pytest.mark.parametrize("packed", [False, True])
def test_what_was_stored_and_is_no_answer_is_asked_again(
    root: Path, server: Server, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    """Earlier versions stored it. It stays until the first answer in its place is there, and is set aside then."""
    calls = plan(server.url, items=("a", "b"), repeats=3)
    with monkeypatch.context() as earlier:
        earlier.setattr("recuse.cassettes.matching.no_reply", lambda payload: "")
        recorded(root, calls, {("a", 0): b'{"choices":[]}', ("a", 2): b'{"object":"error","message":"died"}'})
    if packed:
        compact(root / f"{calls[0].cell}.jsonl", gzip=True)
    before, sound = files(root), opened(root, calls).response(calls[1])
    server.default = "503"
    library = opened(root, calls, mode="missing")
    assert library.coverage().missing == (calls[0], calls[2])
    assert set(library.no_answers(calls)) == {
        "the body holds no reply", "the body is an error report, although the status says success"
    }  # fmt: skip
    assert len(recording(library, calls).failed) == 2
    assert opened(root, calls).coverage().complete, "asked in vain, it stays as it was"
    assert packed or files(root) == before

    server.default = "ok"
    asked = server.requests
    assert recording(opened(root, calls, mode="missing"), calls).complete
    assert server.requests == asked + 2
    after = opened(root, calls)
    assert after.coverage().complete
    assert after.response(calls[1]) == sound
    assert all(b'"choices"' in after.response(calls[n]).body for n in (0, 2))
    kept = [path.read_bytes() for path in (root / ".superseded").rglob("*.jsonl*")]
    assert len(kept) == 1
    assert b'{"choices":[]}' in kept[0]
    assert b'"message":"died"' in kept[0]
    assert not check_cassettes(root).faults
    assert opened(root, calls, mode="missing").coverage().complete


def test_what_is_replaced_later_leaves_what_was_set_aside(root: Path, server: Server) -> None:
    """A prompt is changed twice: both recordings that were paid for are kept, and the first can be put back."""
    plans = [plan(server.url, items=("a",), prompt=prompt) for prompt in ("One:\n", "Two:\n", "Three:\n")]
    first = root / f"{plans[0][0].cell}.jsonl"
    for number, calls in enumerate(plans):
        library = Library(root, "small", mode="missing")
        library.expect(calls, headers(calls, prompt=str(number)))
        recording(library, calls)
    kept = sorted((root / ".superseded").rglob("*.*"))
    assert [path.name for path in kept] == [first.name, f"{first.name}.2"]
    first.write_bytes(kept[0].read_bytes())
    back = Library(root, "small")
    assert back.expect(plans[0], headers(plans[0], prompt="0")).missing == ()


def test_a_changed_prompt_is_named_and_only_what_changed_is_asked(root: Path, server: Server) -> None:
    before = plan(server.url, items=("a", "b"), repeats=2)
    recording(opened(root, before, mode="missing"), before)
    after = plan(server.url, items=("a",), repeats=2) + plan(
        server.url, items=("b",), repeats=2, prompt="Judge again:\n"
    )
    library = Library(root, "small", mode="missing")
    coverage = library.expect(after, headers(after, prompt="77aa"))
    assert [(s.cell[-1], s.field, s.recorded, s.expected) for s in coverage.stale] == [
        ("a", "prompt", "0f3a", "77aa"),
        ("b", "prompt", "0f3a", "77aa"),
    ]
    assert "asked" in coverage.text()
    assert "Judge again:" in coverage.text()
    asked = server.requests
    assert recording(library, after).complete
    assert server.requests == asked + 2  # item a is asked word for word as before
    again = Library(root, "small")
    assert again.expect(after, headers(after, prompt="77aa")).complete
    assert again.coverage().unplanned == ()  # what was superseded is out of the way


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [
        ("model", "m-1", "m-2"),
        ("temperature", 0.7, 1.0),
        ("prompt", "0f3a", "77aa"),
        ("rubric", None, "91"),
        ("scale", None, "0..10"),
        ("host", "example", "elsewhere"),
        ("parameters", None, {"top_p": 0.9}),
    ],
)
def test_a_stale_fingerprint_names_the_field(field: str, old: object, new: object, root: Path) -> None:
    calls = plan(items=("a",))
    recorded(root, calls)
    library = Library(root, "small")
    coverage = library.expect(calls, headers(calls, **{field: new}))
    assert [(s.field, s.recorded, s.expected) for s in coverage.stale] == [(field, old, new)]
    assert not coverage.complete
    assert f"{field} was" in coverage.text()


def test_another_provenance_is_stale_too(root: Path) -> None:
    calls = plan(items=("a",))
    recorded(root, calls)
    coverage = Library(root, "small").expect(calls, headers(calls, provenance="reconstructed"))
    assert [(s.field, s.recorded, s.expected) for s in coverage.stale] == [("provenance", "recorded", "reconstructed")]


def test_what_shows_in_no_request_makes_the_whole_cell_be_recorded_anew(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=3)
    library = Library(root, "small", mode="missing")
    library.expect(calls, headers(calls, served={"weights": "aa"}))
    recording(library, calls)
    old = contents(root, calls)
    library = Library(root, "small", mode="missing")
    coverage = library.expect(calls, headers(calls, served={"weights": "bb"}))
    assert {(s.field, s.recorded, s.expected) for s in coverage.stale} == {("served.weights", "aa", "bb")}
    assert recording(library, calls).stored == 6
    assert not set(contents(root, calls)) & set(old)


def test_a_fingerprint_that_changed_without_changing_a_request_costs_nothing(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    recording(opened(root, calls, mode="missing"), calls)
    asked, old = server.requests, contents(root, calls)
    library = Library(root, "small", mode="missing")
    assert library.expect(calls, headers(calls, scale="0..10")).stale
    recording(library, calls)
    assert server.requests == asked
    assert contents(root, calls) == old
    assert Library(root, "small").expect(calls, headers(calls, scale="0..10")).complete


def test_fewer_planned_repeats_do_not_cost_recorded_ones(root: Path, server: Server) -> None:
    many, few = plan(server.url, items=("a",), repeats=5), plan(server.url, items=("a",), repeats=2)
    recording(opened(root, many, mode="missing"), many)
    before = files(root)
    library = opened(root, few, mode="missing")
    assert [u.repeat for u in library.coverage().unplanned] == [2, 3, 4]
    recording(library, few)
    assert files(root) == before


# --------------------------------------------------------------------------- accounts


def test_unused_and_missing_are_reported_by_judge_protocol_and_item(root: Path) -> None:
    calls = plan(items=("a", "b"), repeats=2)
    recorded(root, calls)
    library = opened(root, calls)
    library.response(calls[0])
    from recuse.cassettes.cell_cassette import unused_lines

    subject = "  judge judge-a, protocol rubric, item {0}, target target, condition attributed, item {0}: "
    assert unused_lines(library.unused()) == [
        subject.format("a") + "1 recorded answer not used",
        subject.format("b") + "2 recorded answers not used",
    ]
    more = opened(root, plan(items=("a", "c"), repeats=3))
    assert more.coverage().text().splitlines()[:4] == [
        "2 of 6 planned calls are recorded",
        "missing: 4",
        "  judge judge-a, protocol rubric, item a, target target, condition attributed, item a: repeat 2",
        "  judge judge-a, protocol rubric, item c, target target, condition attributed, item c: repeats 0, 1, 2",
    ]


def test_no_room_for_the_ballast_means_nothing_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    calls = plan(server.url)
    with pytest.raises(StorageError, match=r"No space left on device.*nothing was asked"):
        recording(opened(root, calls, mode="missing"), calls)
    assert server.requests == 0
    assert files(root) == {}

"""The fifteen hazards of replaying judge calls with vcrpy: each shown on stock vcrpy where it has it, and absent here.

Every test runs the same scenario twice. The stock variant is an expected failure: should a new vcrpy lose a hazard, the
strict xfail says so, and our own machinery may become simpler.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
import requests
import vcr
from misbehaving import Server
from small_plans import KEY, files, opened, plan, send_all

from recuse.cassettes import NetworkBlockedError, call_headers
from recuse.schema import Call, RecuseError
from recuse.security.redaction import Secrets

HERE = Path(__file__).parent


class Stock:
    """vcrpy as it comes, one cassette for the whole plan."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "stock.yaml"

    def recording(self, calls: Sequence[Call], **settings: Any) -> AbstractContextManager[Any]:
        return _unpatched_after(self.path, {"match_on": MATCH, "record_mode": "new_episodes", **settings})

    def replaying(self, calls: Sequence[Call], **settings: Any) -> AbstractContextManager[Any]:
        return _unpatched_after(self.path, {"match_on": MATCH, "record_mode": "none", **settings})


@contextmanager
def _unpatched_after(path: Path, settings: dict[str, Any]) -> Iterator[Any]:
    """A stock cassette whose patches are gone when it is closed. Where saving fails, stock vcrpy leaves them until its
    generator is collected as garbage: at any moment, so that a later test loses its own."""
    context = vcr.VCR().use_cassette(str(path), **settings)
    try:
        with context as cassette:
            yield cassette
    finally:
        if (patches := vars(context).get("_CassetteContextDecorator__finish")) is not None:
            patches.close()


class Ours(Stock):
    """A library; settings of stock vcrpy have no counterpart and are not needed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "cassettes"

    def recording(self, calls: Sequence[Call], **_: Any) -> AbstractContextManager[Any]:
        return opened(self.path, calls, mode="missing", secrets=[KEY]).use()

    def replaying(self, calls: Sequence[Call], **_: Any) -> AbstractContextManager[Any]:
        return opened(self.path, calls).use()


MATCH = ("method", "uri", "body")


def both(hazard: str, strict: bool = True, raises: Any = None) -> Callable[[Any], Any]:
    """Run with `backend` set to ours, and to stock vcrpy as an expected failure."""
    expected = pytest.mark.xfail(reason=f"stock vcrpy: {hazard}", strict=strict, raises=raises)
    stock = pytest.param(Stock, marks=[expected, pytest.mark.slow("hazards of stock vcrpy")])
    return pytest.mark.parametrize("backend", [stock, Ours], ids=["stock", "ours"])


def numbers(answers: Sequence[Any]) -> list[int]:
    return [answer["number"] for answer in answers]


@both("1. the default match_on ignores the body, so the wrong answer is served silently", raises=AssertionError)
def test_1_different_prompts_get_their_own_answers(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, repeats=1)
    use = backend(tmp_path)
    default = vcr.VCR().match_on
    with use.recording(calls, match_on=default):
        recorded = numbers(asyncio.run(send_all(calls, 1)))
    with use.replaying(calls, match_on=default):
        assert numbers(asyncio.run(send_all(calls[::-1], 1))) == recorded[::-1]


@both("2. allow_playback_repeats serves run 0 for ever and stores one of five", raises=AssertionError)
def test_2_repeats_are_stored_and_served_each_for_itself(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=5)
    use = backend(tmp_path)
    with use.recording(calls, allow_playback_repeats=True):
        recorded = numbers(asyncio.run(send_all(calls, 1)))
    assert len(set(recorded)) == 5
    with use.replaying(calls, allow_playback_repeats=True):
        assert numbers(asyncio.run(send_all(calls, 1))) == recorded


@both("3. new_episodes on a partial cell gives two repeats the same answer", raises=AssertionError)
def test_3_a_partial_cell_is_completed_with_distinct_answers(
    backend: type[Stock], tmp_path: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a",), repeats=4)
    use = backend(tmp_path)
    with use.recording(calls[:2]):
        asyncio.run(send_all(calls[:2], 1))
    with use.recording(calls):
        assert len(set(numbers(asyncio.run(send_all(calls, 1))))) == 4


@pytest.mark.parametrize("mode", ["once", "none", "all"])
@both("4. once and none cannot resume a partial cell, all pays for everything again")
def test_4_resuming_pays_for_what_is_missing_only(
    mode: str, backend: type[Stock], tmp_path: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a",), repeats=4)
    use = backend(tmp_path)
    with use.recording(calls[:2]):
        asyncio.run(send_all(calls[:2], 1))
    with use.recording(calls, record_mode=mode):
        asyncio.run(send_all(calls, 1))
    assert server.requests == 4


@both("5. requests in threads reach the live server in mode none", strict=False)
def test_5_threads_with_requests_never_reach_the_live_server(
    backend: type[Stock], tmp_path: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=20)

    def one(call: Call) -> Any:
        return requests.post(call.request.url, data=call.request.body, headers=call_headers(call), timeout=5).json()

    use = backend(tmp_path)
    with use.recording(calls):
        recorded = numbers([one(call) for call in calls])
    asked = server.requests
    with use.replaying(calls), ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: _outcome(one, calls[n % 40]), range(160)))
    assert server.requests == asked
    assert all(o == recorded[n % 40] or isinstance(o, NetworkBlockedError) for n, o in enumerate(outcomes))


def _outcome(ask: Callable[[Call], Any], call: Call) -> Any:
    try:
        return ask(call)["number"]
    except NetworkBlockedError as error:
        return error


@both("6. identical bodies come back in the order in which answers arrived", raises=AssertionError)
def test_6_concurrent_repeats_keep_their_own_answers(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=16)
    use = backend(tmp_path)
    server.delays = {run: 0.012 * (16 - run) for run in range(16)}  # the first asked is the last answered
    with use.recording(calls):
        recorded = numbers(asyncio.run(send_all(calls, 16)))
    for _ in range(3):
        with use.replaying(calls):
            assert numbers(asyncio.run(send_all(calls, 16))) == recorded


@both("7. two cassettes open at once leave clients patched", raises=AssertionError)
def test_7_two_contexts_at_once_are_refused_or_harmless(backend: type[Stock], tmp_path: Path) -> None:
    """In a process of its own, which stock vcrpy leaves in disorder."""
    program = _TWO_AT_ONCE.format(here=str(HERE), backend=backend.__name__)
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.split() == ["unpatched"], done.stdout + done.stderr


_TWO_AT_ONCE = textwrap.dedent("""
    import sys
    sys.path.insert(0, {here!r})
    from contextlib import suppress
    from pathlib import Path
    import httpx2
    from recuse.schema import RecuseError
    from small_plans import plan
    from test_hazards import Ours, Stock
    live = httpx2.AsyncHTTPTransport.handle_async_request
    calls = plan(items=("a", "b"), repeats=1)
    one, other = ({backend}(Path(sys.argv[1]) / name) for name in ("one", "other"))
    first, second = one.recording(calls[:1]), other.recording(calls[1:])
    first.__enter__()
    with suppress(RecuseError):
        second.__enter__()
    first.__exit__(None, None, None)
    with suppress(Exception):
        second.__exit__(None, None, None)
    print("unpatched" if httpx2.AsyncHTTPTransport.handle_async_request is live else "still patched")
""")


@both("8. gzip bodies with the JSON serializer raise at save and everything is lost")
def test_8_compressed_answers_are_stored(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    server.default = "gzip"
    use = backend(tmp_path)
    with use.recording(calls, serializer="json"):
        recorded = numbers(asyncio.run(send_all(calls, 1)))
    with use.replaying(calls, serializer="json"):
        assert numbers(asyncio.run(send_all(calls, 1))) == recorded


@both("9. keys in headers, query and body, and echoed ones, are written to disk", raises=AssertionError)
def test_9_secrets_are_not_written(
    backend: type[Stock], tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recuse.cassettes.library.check_no_keys", lambda *_: None)  # ours would not even ask
    calls = plan(f"{server.url}", path=f"/chat/completions?key={KEY}", items=("a",), repeats=2, prompt=f"{KEY} ")
    server.echo = KEY
    sent = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
    with backend(tmp_path).recording(calls):
        asyncio.run(send_all(calls, 1, sent))
    written = b"".join(files(tmp_path).values())
    assert written
    assert KEY.encode() not in written
    assert base64.b64encode(KEY.encode()) not in written


@both("10. of several processes recording one cassette the last one wins, all green", raises=AssertionError)
def test_10_what_several_processes_paid_for_is_on_disk(backend: type[Stock], tmp_path: Path) -> None:
    """Both have the cassette open, or have been refused, before either asks anything."""
    with Server() as server:
        program = _STOCK_RECORDER if backend is Stock else _OUR_RECORDER
        started = [_opened(program, tmp_path, server.url, half) for half in ("0", "1")]
        for process in started:
            _go_on(process)
        for process in started:
            process.communicate(timeout=60)
        calls = plan(server.url, items=("a",), repeats=8)
        assert server.requests > 0
        assert _count(backend(tmp_path), calls) == server.requests


def _count(use: Stock, calls: Sequence[Call]) -> int:
    if isinstance(use, Ours):
        return len(opened(use.path, calls))
    return use.path.read_text().count("- request:") if use.path.exists() else 0


_PROLOGUE = textwrap.dedent(f"""
    import sys, asyncio
    sys.path.insert(0, {str(HERE)!r})
    from pathlib import Path
    import vcr
    from small_plans import opened, plan, send_all
    folder, url, half = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    calls = plan(url, items=("a",), repeats=8)

    def ask():
        print("open", flush=True)
        sys.stdin.readline()
        for call in calls[half::2]:
            asyncio.run(send_all([call]))
            print("finished", flush=True)
""")
_STOCK_RECORDER = _PROLOGUE + textwrap.dedent("""
    how = {"record_mode": "new_episodes", "match_on": ["method", "uri", "body"]}
    with vcr.VCR().use_cassette(str(folder / "stock.yaml"), **how):
        ask()
""")
_OUR_RECORDER = _PROLOGUE + textwrap.dedent("""
    with opened(folder / "cassettes", calls, mode="missing").use():
        ask()
""")


def _opened(program: str, folder: Path, url: str, half: str) -> subprocess.Popen[str]:
    """A recording process that has its cassette open, or has ended because it could not."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder), url, half],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
    )
    assert process.stdout is not None
    assert process.stdout.readline() in ("open\n", "")
    return process


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@both("11. SIGTERM and SIGKILL leave nothing", raises=AssertionError)
def test_11_a_killed_recording_keeps_what_was_finished(
    number: signal.Signals, backend: type[Stock], tmp_path: Path
) -> None:
    with Server(delay=0.05) as server:
        process = _opened(_STOCK_RECORDER if backend is Stock else _OUR_RECORDER, tmp_path, server.url, "0")
        _go_on(process)
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "finished\n"
        process.send_signal(number)
        process.communicate(timeout=30)
        assert _count(backend(tmp_path), plan(server.url, items=("a",), repeats=8)) >= 2


@both("11. a save that fails truncates the cassette that was there")
def test_11_a_failed_write_does_not_harm_what_was_there(
    backend: type[Stock], tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = plan(server.url, items=("a",), repeats=4)
    use = backend(tmp_path)
    with use.recording(calls[:2]):
        recorded = numbers(asyncio.run(send_all(calls[:2], 1)))
    with suppress(OSError, RecuseError), monkeypatch.context() as patch, use.recording(calls):
        _fail_writes(patch)
        asyncio.run(send_all(calls, 1))
    with use.replaying(calls[:2]):
        assert numbers(asyncio.run(send_all(calls[:2], 1))) == recorded


def _fail_writes(patch: pytest.MonkeyPatch) -> None:
    """From now on the disk is full, for stock vcrpy (a text file) and for us (os.write) alike."""
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if b'"kind"' in data:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    class FullFile:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> FullFile:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    real_open = Path.open

    def opened_for_nothing(path: Path, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        file = real_open(path, mode, *arguments, **named)
        return FullFile(file) if mode == "w" else file

    patch.setattr(os, "write", full)
    patch.setattr(Path, "open", opened_for_nothing)


@both("12. a file cut at an interaction boundary loads short, silently", raises=AssertionError)
def test_12_a_cassette_cut_at_a_boundary_is_noticed_before_anything_is_asked(
    backend: type[Stock], tmp_path: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    use = backend(tmp_path)
    with use.recording(calls):
        asyncio.run(send_all(calls, 1))
    path = next(p for p in tmp_path.rglob("*") if p.is_file())
    text = path.read_text()
    cut = "- request:" if backend is Stock else '{"sum"'
    tail = "version: 1\n" if backend is Stock else ""
    path.write_text(text[: text.rindex(cut)] + tail)
    noticed: list[str] = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if backend is Ours:
            noticed = [str(c.repeat) for c in opened(use.path, calls).coverage().missing]
        else:
            with use.replaying(calls) as cassette:
                assert len(cassette) == 2
    assert noticed + [str(w.message) for w in seen]


@both("12. an empty file in mode once is overwritten")
def test_12_an_empty_file_is_not_taken_for_a_new_cassette_on_replay(
    backend: type[Stock], tmp_path: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a",), repeats=1)
    use = backend(tmp_path)
    with use.recording(calls):
        asyncio.run(send_all(calls, 1))
    path = next(p for p in tmp_path.rglob("*") if p.is_file())
    path.write_text("")
    with pytest.raises(RecuseError, match="empty"), use.replaying(calls, record_mode="once"):
        asyncio.run(send_all(calls, 1))
    assert path.read_text() == ""
    assert server.requests == 1


@both("13. unused interactions are not reported", raises=AssertionError)
def test_13_what_was_recorded_but_not_used_is_reported(
    backend: type[Stock], tmp_path: Path, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    use = backend(tmp_path)
    with use.recording(calls):
        asyncio.run(send_all(calls, 1))
    with (
        caplog.at_level(logging.WARNING),
        warnings.catch_warnings(record=True) as seen,
        use.replaying(calls) as library,
    ):
        asyncio.run(send_all(calls[:1], 1))
    reported = [str(w.message) for w in seen] + [r.getMessage() for r in caplog.records if r.name.startswith("vcr")]
    if backend is Ours:
        reported += [f"{u.call.judge} {u.call.protocol} {u.call.item} {u.repeat}" for u in library.unused()]
    assert reported == ["judge-a rubric a 1", "judge-a rubric a 2"]


@both("13. a recorded 429 makes the client retry, and really sleep, on replay", raises=AssertionError)
def test_13_a_retry_leaves_nothing_to_retry_on_replay(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=1)
    server.script["a", 0] = ["429 60", "ok"]
    use = backend(tmp_path)
    with use.recording(calls):
        assert [asyncio.run(_status(calls[0])) for _ in range(2)] == [429, 200]
    with use.replaying(calls):
        assert asyncio.run(_status(calls[0])) == 200


async def _status(call: Call) -> int:
    from small_plans import post

    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        return (await post(client, call)).status_code


@both("14. a client that wraps errors hides a miss as a connection error", raises=AssertionError)
def test_14_a_miss_that_a_client_hides_is_still_known(backend: type[Stock], tmp_path: Path, server: Server) -> None:
    """As some SDKs do: whatever the transport raises becomes their own "connection error", which callers retry."""
    calls = plan(server.url, items=("a",), repeats=2)
    use = backend(tmp_path)
    with use.recording(calls[:1]):
        asyncio.run(send_all(calls[:1], 1))
    with use.replaying(calls, match_on=(*MATCH, "headers")) as opened_:
        for _ in range(2):
            with pytest.raises(ConnectionError):
                _hiding(calls[1])
    assert len(getattr(opened_, "misses", [])) == 2
    assert "repeat 1" in opened_.misses[0]


def _hiding(call: Call) -> None:
    try:
        asyncio.run(send_all([call]))
    except Exception as error:
        raise ConnectionError("Connection error.") from error


@both("15. before_record hooks run at load too, and the request hook three times per call", raises=AssertionError)
def test_15_redaction_happens_once_when_an_answer_is_stored(
    backend: type[Stock], tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    use = backend(tmp_path)
    hooks = {"before_record_request": _counted(lambda r: r), "before_record_response": _counted(lambda r: r)}
    with use.recording(calls, **hooks):
        asyncio.run(send_all(calls, 1))
    for hook in hooks.values():
        hook.count = 0  # type: ignore[attr-defined]
    cleaned = _counted(Secrets.clean)
    monkeypatch.setattr(Secrets, "clean", cleaned)
    with use.replaying(calls, **hooks):
        asyncio.run(send_all(calls, 1))
    assert [hook.count for hook in (*hooks.values(), cleaned)] == [0, 0, 0]  # type: ignore[attr-defined]


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    def counting(*arguments: Any) -> Any:
        counting.count += 1  # type: ignore[attr-defined]
        return function(*arguments)

    counting.count = 0  # type: ignore[attr-defined]
    return counting


def test_every_hazard_of_the_list_has_its_test() -> None:
    names = [name for name in globals() if name.startswith("test_") and name.split("_")[1].isdecimal()]
    assert {int(name.split("_")[1]) for name in names} == set(range(1, 16))


def test_a_stock_cassette_that_cannot_be_saved_leaves_no_patch(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its error is still held, as pytest holds that of an expected failure."""
    live, calls = httpx2.AsyncHTTPTransport.handle_async_request, plan(server.url, items=("a",), repeats=1)

    def record() -> None:
        with monkeypatch.context() as patch, Stock(tmp_path).recording(calls):
            _fail_writes(patch)
            asyncio.run(send_all(calls, 1))

    with pytest.raises(OSError, match="No space") as held:
        record()
    assert held.tb is not None
    assert httpx2.AsyncHTTPTransport.handle_async_request is live

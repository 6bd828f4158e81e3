"""Replay is exact: every repeat gets its own recorded answer, in any order, from any task or thread."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from misbehaving import Server
from small_plans import answer_for, headers, opened, plan, recorded, recording, send_all

from recuse.cassettes.cell_cassette import MissingInteractionError
from recuse.cassettes.library import Library
from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, call_headers
from recuse.cassettes.plain_file import CassetteError
from recuse.schema import Call, RecuseError
from recuse.security.redaction import Secrets

ORDERS: dict[str, Callable[[Sequence[Call]], list[Call]]] = {
    "as planned": list,
    "reversed": lambda calls: list(reversed(calls)),
    "shuffled": lambda calls: random.Random(7).sample(list(calls), len(calls)),
}


@pytest.fixture
def calls(root: Path) -> list[Call]:
    """Five cells of ten identical requests each, recorded."""
    found = plan(items=("a", "b", "c", "d", "e"), repeats=10)
    recorded(root, found)
    return found


def expected(calls: Sequence[Call]) -> list[object]:
    return [json.loads(answer_for(call)) for call in calls]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("concurrency", [1, 16])
def test_identical_requests_get_their_own_answers_under_asyncio(
    order: str, concurrency: int, calls: list[Call], root: Path
) -> None:
    asked = ORDERS[order](calls)
    library = opened(root, calls)
    with library.use():
        assert asyncio.run(send_all(asked, concurrency)) == expected(asked)
    assert library.unused() == []


def test_identical_requests_get_their_own_answers_in_threads(calls: list[Call], root: Path) -> None:
    asked = ORDERS["shuffled"](calls)
    with (
        opened(root, calls).use(),
        httpx2.Client(trust_env=False, verify=False) as client,
        ThreadPoolExecutor(8) as pool,
    ):

        def one(call: Call) -> object:
            return client.post(call.request.url, content=call.request.body, headers=call_headers(call)).json()

        assert list(pool.map(one, asked)) == expected(asked)


@pytest.mark.parametrize("order", ORDERS)
def test_the_bulk_path_serves_the_same_bytes(order: str, calls: list[Call], root: Path) -> None:
    asked = ORDERS[order](calls)
    library = opened(root, calls)
    assert [library.response(call).body for call in asked] == [answer_for(call) for call in asked]


def test_both_paths_hand_over_the_same_response(calls: list[Call], root: Path) -> None:
    library = opened(root, calls)

    async def one() -> httpx2.Response:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            return await client.post(
                calls[3].request.url, content=calls[3].request.body, headers=call_headers(calls[3])
            )

    with library.use():
        over_http = asyncio.run(one())
    bulk = library.response(calls[3])
    assert (over_http.status_code, dict(over_http.headers), over_http.content) == (bulk.status, bulk.headers, bulk.body)


def test_a_repeat_may_be_asked_twice_and_gets_the_same_answer(calls: list[Call], root: Path) -> None:
    with opened(root, calls).use():
        assert asyncio.run(send_all([calls[4], calls[4]])) == expected([calls[4], calls[4]])


@pytest.mark.slow("whole runs")
def test_xdist_workers_each_get_every_answer_right(calls: list[Call], root: Path, tmp_path: Path) -> None:
    """Fifty tests spread over workers; each checks its own answer and sends what it used to the controller."""
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "conftest.py").write_text(_CONFTEST.format(here=str(Path(__file__).parent), root=str(root)))
    (suite / "test_answers.py").write_text(_TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", "-n", "2", str(suite)]
    only = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others take seconds to import, in every worker
    done = subprocess.run(command, capture_output=True, text=True, cwd=suite, env=only, timeout=120, check=False)
    assert "50 passed" in done.stdout, done.stdout + done.stderr
    assert "unused: 0" in done.stdout


_CONFTEST = textwrap.dedent("""
    import sys
    from pathlib import Path
    sys.path.insert(0, {here!r})
    import pytest
    from small_plans import opened, plan

    CALLS = plan(items=("a", "b", "c", "d", "e"), repeats=10)
    UNUSED = []  # per process, what it did not use

    @pytest.fixture(scope="session")
    def library(request):
        found = opened(Path({root!r}), CALLS)
        with found.use():
            yield found
        unused = [f"{{one.key}} {{one.repeat}}" for one in found.unused()]
        if hasattr(request.config, "workeroutput"):
            request.config.workeroutput["unused"] = unused
        else:
            UNUSED.append(set(unused))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(node, error):
        if "unused" in getattr(node, "workeroutput", {{}}):
            UNUSED.append(set(node.workeroutput["unused"]))

    def pytest_terminal_summary(terminalreporter):
        terminalreporter.write_line(f"unused: {{len(set.intersection(*UNUSED))}}")
""")

_TESTS = textwrap.dedent("""
    import asyncio, json
    import pytest
    from small_plans import answer_for, plan, send_all

    CALLS = plan(items=("a", "b", "c", "d", "e"), repeats=10)

    @pytest.mark.parametrize("n", reversed(range(len(CALLS))))
    def test_answer(library, n):
        assert asyncio.run(send_all([CALLS[n]])) == [json.loads(answer_for(CALLS[n]))]
""")


# --------------------------------------------------------------------------- misses


def test_a_miss_names_the_call_the_nearest_recording_and_the_command(calls: list[Call], root: Path) -> None:
    warmer = plan(items=("c",), repeats=10, temperature=1.0)
    library = Library(root, "small", command="pytest evals/ --panel p.toml --record=missing")
    library.expect(warmer, headers(warmer))
    with pytest.raises(MissingInteractionError) as miss:
        library.response(warmer[3])
    text = str(miss.value)
    for part in (
        "judge judge-a, protocol rubric, item c, target target, condition attributed, item c, repeat 3",
        "small/task/rubric/judge-a~target~attributed~c.jsonl (10 answers)",
        "temperature: recorded 0.7, asked 1",
        "pytest evals/ --panel p.toml --record=missing",
    ):
        assert part in text


def test_a_miss_shows_which_words_of_the_prompt_changed(calls: list[Call], root: Path) -> None:
    reworded = plan(items=("c",), repeats=1, prompt="Judge this text with great care, in full, and twice over:\n")
    library = Library(root, "small")
    library.expect(reworded, headers(reworded))
    with pytest.raises(MissingInteractionError) as miss:
        library.response(reworded[0])
    assert "messages[0].content: (- recorded, + asked)" in str(miss.value)
    assert "-Judge this text:" in str(miss.value)
    assert "+Judge this text with great care" in str(miss.value)


def test_a_miss_of_a_further_repeat_says_so(calls: list[Call], root: Path) -> None:
    more = plan(items=("a",), repeats=11)
    library = Library(root, "small")
    assert [call.repeat for call in library.expect(more, headers(more)).missing] == [10]
    with pytest.raises(MissingInteractionError, match="the same request is recorded, but not this repeat of it"):
        library.response(more[10])


def test_a_miss_through_the_http_client_reaches_the_caller(calls: list[Call], root: Path) -> None:
    library = Library(root, "small")
    warmer = plan(items=("c",), repeats=1, temperature=1.0)
    library.expect(warmer, headers(warmer))
    with library.use(), pytest.raises(MissingInteractionError, match="temperature"):
        asyncio.run(send_all(warmer))


def test_a_request_outside_the_plan_is_a_miss(calls: list[Call], root: Path) -> None:
    library = opened(root, calls)
    stranger = plan("http://elsewhere.example/v1", items=("a",), repeats=1)
    with library.use(), pytest.raises(MissingInteractionError, match="the request is in no plan"):
        asyncio.run(_post(stranger[0], {REPEAT_HEADER: "0"}))
    with library.use(), pytest.raises(MissingInteractionError, match="carries no x-recuse-repeat header"):
        asyncio.run(_post(stranger[0], {}))


def test_the_cell_is_found_by_key_where_only_one_cell_asks(calls: list[Call], root: Path) -> None:
    with opened(root, calls).use():
        assert asyncio.run(_post(calls[12], {REPEAT_HEADER: "2"})) == answer_for(calls[12])


def test_two_cells_that_ask_the_same_words_keep_their_own_answers(root: Path) -> None:
    one, other = plan(items=("a",), judge="judge-a"), plan(items=("a",), judge="judge-b")
    assert one[0].key == other[0].key
    both = one + other
    recorded(root, both)
    with opened(root, both).use():
        assert asyncio.run(send_all(both)) == expected(both)
        with pytest.raises(RecuseError, match=f"several cells ask.*send its cell in {CELL_HEADER}"):
            asyncio.run(_post(one[0], {REPEAT_HEADER: "0"}))


def test_two_items_of_one_cell_must_not_ask_the_same_words(root: Path) -> None:
    import dataclasses

    calls = plan(items=("a",), repeats=1)
    twin = dataclasses.replace(calls[0], item="b")
    with pytest.raises(RecuseError, match="word for word the same"):
        Library(root, "small").expect([*calls, twin])


@pytest.mark.parametrize("run", ["-1", "one", "", "1.0"])
def test_a_run_that_is_no_number_is_refused(run: str, calls: list[Call], root: Path) -> None:
    with opened(root, calls).use(), pytest.raises(RecuseError, match="whole number from 0"):
        asyncio.run(_post(calls[0], {REPEAT_HEADER: run, CELL_HEADER: calls[0].cell}))


async def _post(call: Call, sent: dict[str, str]) -> bytes:
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
        return (await client.post(call.request.url, content=call.request.body, headers=sent)).content


# --------------------------------------------------------------------------- one patch context


def test_a_second_context_is_refused_and_clients_are_unpatched_afterwards(calls: list[Call], root: Path) -> None:
    before = httpx2.AsyncHTTPTransport.handle_async_request
    one, other = opened(root, calls), opened(root, calls)
    with one.use():
        assert httpx2.AsyncHTTPTransport.handle_async_request is not before
        with pytest.raises(RecuseError, match="already in use"), other.use():
            pass
        assert asyncio.run(send_all(calls[:3])) == expected(calls[:3])
    assert httpx2.AsyncHTTPTransport.handle_async_request is before
    with other.use():
        assert asyncio.run(send_all(calls[:3])) == expected(calls[:3])


def test_an_error_inside_the_context_leaves_nothing_patched(calls: list[Call], root: Path) -> None:
    before = httpx2.AsyncHTTPTransport.handle_async_request
    with pytest.raises(ZeroDivisionError), opened(root, calls).use():
        raise ZeroDivisionError
    assert httpx2.AsyncHTTPTransport.handle_async_request is before
    with opened(root, calls).use():
        pass


def test_replay_does_not_reach_the_server_that_was_recorded(root: Path, server: Server) -> None:
    calls = plan(server.url)
    assert recording(opened(root, calls, mode="missing"), calls).complete
    asked = server.requests
    with opened(root, calls).use():
        answers = asyncio.run(send_all(calls))
        further = plan(server.url, repeats=5)[4]
        with pytest.raises(MissingInteractionError):
            asyncio.run(send_all([further]))
    assert server.requests == asked == len(calls)
    assert len({answer["number"] for answer in answers}) == len(calls)


def test_replay_needs_no_files_to_be_written(calls: list[Call], root: Path) -> None:
    from small_plans import files

    before = files(root)
    with opened(root, calls).use():
        asyncio.run(send_all(calls))
    assert files(root) == before


# --------------------------------------------------------------------------- straight from the files


def test_replay_gives_every_call_its_answer_in_the_order_of_the_plan(root: Path) -> None:
    calls = plan(items=("a", "b"), repeats=3)
    recorded(root, calls)
    mixed = [*calls[::2], *calls[1::2]]  # cells take turns
    assert [(call, response.body) for call, response in opened(root, calls).replay(mixed)] == [
        (call, answer_for(call)) for call in mixed
    ]


def test_redaction_happens_when_an_answer_is_stored_and_not_again(calls, root, monkeypatch):
    monkeypatch.setattr(Secrets, "clean", None)
    with opened(root, calls).use():
        assert asyncio.run(send_all(calls)) == expected(calls)


def test_replay_counts_what_was_used(root: Path) -> None:
    calls = plan(items=("a", "b"), repeats=3)
    recorded(root, calls)
    library = opened(root, calls)
    list(library.replay(calls[:4]))
    assert [(u.call.item, u.repeat) for u in library.unused() if u.call] == [("b", 1), ("b", 2)]
    assert library.unused({calls[-1].cell}) == library.unused()
    assert library.unused({calls[0].cell}) == []


def test_replay_reads_a_file_once_however_its_calls_are_mixed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recuse.cassettes import library as module

    calls = plan(items=("a", "b"), repeats=3)
    recorded(root, calls)
    library, read = opened(root, calls), []
    real = module.read_indexed
    monkeypatch.setattr(module, "read_indexed", lambda index: (read.append(index.path), real(index))[1])
    assert len(list(library.replay([*calls[::2], *calls[1::2]]))) == 6
    assert sorted(read) == sorted({root / f"{call.cell}.jsonl" for call in calls})


def test_replay_of_a_call_without_an_answer_raises_before_the_first_answer(root: Path) -> None:
    recorded(root, plan(items=("a",), repeats=3))
    wanted = plan(items=("a",), repeats=4)
    with pytest.raises(MissingInteractionError, match="the same request is recorded, but not this repeat of it"):
        opened(root, wanted).replay(wanted)


def test_replay_of_a_damaged_file_raises_before_the_first_answer(root: Path) -> None:
    calls = plan(items=("a",), repeats=3)
    recorded(root, calls)
    path = root / f"{calls[0].cell}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"run": 1', b'"run": 7'))
    with pytest.raises(CassetteError, match="does not match its checksum"):
        opened(root, calls).replay(calls)


def test_replay_notices_a_file_that_changed_after_it_was_indexed(root: Path) -> None:
    calls = plan(items=("a",), repeats=3)
    recorded(root, calls)
    library = opened(root, calls)
    path = root / f"{calls[0].cell}.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(CassetteError, match="changed by another program"):
        list(library.replay(calls))

"""Requests that differ in a seed only are stored as that difference, and come back whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plans import files, headers, opened, plan, recorded

from recuse.cassettes import record_format
from recuse.cassettes.__main__ import check_cassettes, compact
from recuse.cassettes.library import Library
from recuse.cassettes.matching import canonical_json, request_key
from recuse.cassettes.record_format import index_of, read_requests, request_line
from recuse.schema import Request

PROMPT = "Judge this long text with care. " * 40
SEEDED = plan("https://api.example/v1", items=("a",), repeats=10, prompt=PROMPT, distinct=True)
PLACE = ("POST", "https://api.example/v1/chat/completions")
SMALL = st.dictionaries(
    st.sampled_from("abcd"), st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
)


@pytest.fixture
def path(root: Path) -> Path:
    recorded(root, SEEDED)
    return root / f"{SEEDED[0].cell}.jsonl"


def test_a_prompt_is_stored_once_however_many_seeds_it_is_asked_with(path: Path) -> None:
    data = path.read_bytes()
    assert data.count(PROMPT.encode()) == 1
    assert data.count(b'"kind":"request"') == 10
    assert data.count(b'"json":{"seed":7}') == 1


def test_every_request_comes_back_whole(path: Path) -> None:
    data = path.read_bytes()
    found = read_requests(index_of(path, data), data)
    assert {call.key: (*PLACE, call.request.body) for call in SEEDED} == found


def test_what_is_stored_is_sound_and_replays(path: Path, root: Path) -> None:
    assert check_cassettes(root).faults == []
    library = opened(root, SEEDED)
    assert [json.loads(library.response(call).body)["run"] for call in SEEDED] == list(range(10))


def test_a_miss_compares_with_the_whole_request(path: Path, root: Path) -> None:
    from recuse.cassettes.cell_cassette import MissingInteractionError

    warmer = plan("https://api.example/v1", items=("a",), repeats=8, prompt=PROMPT, distinct=True, temperature=1.0)
    library = Library(root, "small")
    library.expect(warmer, headers(warmer))
    with pytest.raises(MissingInteractionError) as miss:
        library.response(warmer[7])
    assert "temperature: recorded 0.7, asked 1" in str(miss.value)
    assert "messages" not in str(miss.value)
    assert "seed" not in str(miss.value)  # the nearest one is the one with the same seed


@given(SMALL, SMALL)
def test_a_difference_and_its_base_give_the_request_back(base: dict[str, object], other: dict[str, object]) -> None:
    padding = {"z": "x" * 200}
    bodies = [canonical_json({**value, **padding}) for value in (base, other)]
    keys = [request_key(Request(PLACE[1], body)) for body in bodies]
    if keys[0] == keys[1]:
        return
    header = record_format.header_line({"cell": "p/t/r/c"})
    first = request_line(keys[0], (*PLACE, bodies[0]), None)
    second = request_line(keys[1], (*PLACE, bodies[1]), (keys[0], (*PLACE, bodies[0])))
    data = header + first + second
    assert [body for _, _, body in read_requests(index_of(Path("x"), data), data).values()] == bodies


@pytest.mark.parametrize(
    ("base", "body", "why"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "long": "x" * 100}, "a member of the base is gone"),
        ({"a": 1}, {"a": "x" * 100}, "nearly all of it differs"),
        ([1, 2], {"a": 1}, "the base is no object"),
    ],
)
def test_a_request_is_stored_whole_where_a_difference_would_not_do(base: object, body: object, why: str) -> None:
    stored = request_line("1" * 32, (*PLACE, canonical_json(body)), ("0" * 32, (*PLACE, canonical_json(base))))
    assert record_format.head_of(stored)[3] == "", why
    assert record_format.read_request(stored.rstrip())[2] == canonical_json(body)


def test_requests_to_another_address_are_stored_whole() -> None:
    body, elsewhere = canonical_json({"seed": 1, "p": PROMPT}), ("POST", "https://other.example/v1")
    stored = request_line("1" * 32, (*elsewhere, body), ("0" * 32, (*PLACE, canonical_json({"seed": 2, "p": PROMPT}))))
    assert record_format.head_of(stored)[3] == ""


def test_a_difference_without_its_base_is_damage(path: Path, root: Path) -> None:
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([kept[0], *kept[3:]]))  # without the first request and its answer
    library = Library(root, "small")
    (fault, *_) = library.expect(SEEDED, headers(SEEDED)).damaged
    assert "as a change of request" in fault


def test_settling_stores_the_same_file_whichever_request_came_first(tmp_path: Path) -> None:
    made = []
    for folder, order in (("one", SEEDED), ("other", SEEDED[::-1])):
        recorded(tmp_path / folder, SEEDED, None) if order is SEEDED else _recorded_backwards(tmp_path / folder)
        made.append(files(tmp_path / folder))
    assert made[0] == made[1]


def _recorded_backwards(root: Path) -> None:
    from small_plans import answer_for

    from recuse.cassettes.matching import call_headers
    from recuse.schema import RawResponse

    library = opened(root, SEEDED, mode="missing")
    with library.use():
        for call in SEEDED[::-1]:
            answer = RawResponse(200, {"content-type": "application/json"}, answer_for(call))
            library.store(call.request, call_headers(call), answer)


def test_a_superseded_base_takes_nothing_with_it(root: Path) -> None:
    """The first seed is dropped from the plan, and the fingerprint changes: the others must stay readable."""
    recorded(root, SEEDED)
    rest = SEEDED[1:]
    library = Library(root, "small", mode="missing")
    library.expect(rest, headers(rest, prompt="changed"))
    with library.use():
        pass
    again = Library(root, "small")
    assert again.expect(rest, headers(rest, prompt="changed")).complete
    assert check_cassettes(root).faults == []
    assert SEEDED[0].key.encode() not in (root / f"{SEEDED[0].cell}.jsonl").read_bytes()


def test_compacting_an_older_file_makes_it_smaller_and_changes_no_answer(path: Path, root: Path) -> None:
    data = path.read_bytes()
    index = index_of(path, data)
    whole = read_requests(index, data)
    parts = [data[: data.index(b"\n") + 1]]
    for call in SEEDED:
        parts.append(record_format.request_line(call.key, whole[call.key]))
        at, length = index.answers[call.key, call.repeat]
        parts.append(data[at : at + length + 1])
    path.write_bytes(b"".join(parts))
    assert check_cassettes(root).faults == []
    compact(path)
    assert path.read_bytes() == data

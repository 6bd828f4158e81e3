"""Lines of a cassette: valid JSON, read by slicing, and no damage goes unnoticed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.cassettes import record_format

KEY = "0123456789abcdef" * 2
HEADERS = {"content-type": "application/json"}


def answer(body: bytes, repeat: int = 3, status: int = 200) -> bytes:
    return record_format.answer_line(KEY, repeat, status, HEADERS, body).removesuffix(b"\n")


@given(st.binary() | st.text().map(lambda text: json.dumps(text).encode()) | st.text().map(str.encode))
def test_every_body_comes_back_and_every_line_is_one_line_of_json(body: bytes) -> None:
    line = answer(body)
    assert b"\n" not in line
    assert json.loads(line)["key"] == KEY
    assert record_format.is_intact(line)
    found = record_format.read_answer(line)
    status, headers, again = found.status, found.headers, found.body
    assert (status, headers) == (200, HEADERS)
    assert again == body or json.loads(again) == json.loads(body)


@pytest.mark.parametrize(
    ("body", "member"),
    [
        (b'{"a": 1, "b": [true]}', "json"),
        ('{"a": "é ✓ \u2028"}'.encode(), "json"),
        (b'{"n": NaN}', "text"),  # Python reads it, JSON does not know it
        (b"plain words", "text"),
        (b"", "text"),
        (b"\xff\xfe", "base64"),
    ],
)
def test_bodies_are_stored_as_readably_as_they_allow(body: bytes, member: str) -> None:
    assert member in json.loads(answer(body))
    assert record_format.read_answer(answer(body)).body == body


def test_json_is_kept_as_it_came_but_for_line_breaks() -> None:
    body = b'{\r\n  "b": 1.50,\n  "a": "two\\nlines",\n\t"b": 2e3\n}\n'
    assert record_format.read_answer(answer(body)).body == b'{"b": 1.50,"a": "two\\nlines","b": 2e3}'


@pytest.mark.parametrize("trap", [b'{"x":",\\"json\\":{}"}', b'{"json":{"text":"base64"}}', b'{"a":",\\"run\\":9,"}'])
def test_words_of_the_format_inside_a_body_do_not_confuse_the_reader(trap: bytes) -> None:
    assert record_format.read_answer(answer(trap)).body == trap
    assert record_format.head_of(answer(trap, repeat=7)) == (record_format.ANSWER, KEY, 7, "")


@pytest.mark.parametrize("run", [0, 9, 10, 12345])
def test_key_and_run_are_found_by_slicing(run: int) -> None:
    line = answer(b"{}", run)
    assert record_format.head_of(line) == (record_format.ANSWER, KEY, run, "")


def test_requests_and_headers_come_back() -> None:
    request = record_format.request_line(KEY, ("POST", "https://a.example/x?y=\u00e9", b'{"q":1}')).removesuffix(b"\n")
    assert record_format.head_of(request) == (record_format.REQUEST, KEY, 0, "")
    assert record_format.read_request(request) == ("POST", "https://a.example/x?y=\u00e9", b'{"q":1}')
    header = record_format.header_line({"cell": "p/t/r/c", "fingerprint": {"model": "m"}}).removesuffix(b"\n")
    assert record_format.head_of(header)[0] == record_format.HEADER
    assert record_format.read_header(header) == {
        "schema": record_format.SCHEMA,
        "cell": "p/t/r/c",
        "fingerprint": {"model": "m"},
    }


def test_every_flipped_bit_is_noticed() -> None:
    line = answer('{"score": 7, "why": "clear, naïve ✓"}'.encode())
    for position in range(len(line)):
        for bit in range(8):
            damaged = bytearray(line)
            damaged[position] ^= 1 << bit
            assert not record_format.is_intact(bytes(damaged)), f"byte {position}, bit {bit}"


def test_every_shortened_or_extended_line_is_noticed() -> None:
    line = answer(b'{"score": 7}')
    assert not any(record_format.is_intact(line[:length]) for length in range(len(line)))
    assert not record_format.is_intact(line + b" ")
    assert not record_format.is_intact(line + b"\r")

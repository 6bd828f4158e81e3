"""A provider's own words: found in every shape in which they come, and safe to show."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.judges.provider_responses import LONGEST, is_used_up, parsed, words
from recuse.security.sanitize import visible

KEY = "canary-9d2f6c81e4"


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"error": {"message": "No such model.", "type": "invalid_request_error"}}, "No such model."),
        ({"error": {"message": "Not supported.", "param": "max_tokens"}}, "Not supported. (field max_tokens)"),
        ({"error": {"message": "max_tokens: no.", "param": "max_tokens"}}, "max_tokens: no."),
        ({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, "model: x"),
        ([{"error": {"code": 400, "message": "Unknown name", "status": "INVALID_ARGUMENT"}}], "Unknown name"),
        ({"error": "model not found"}, "model not found"),
        ({"message": "The security token is expired"}, "The security token is expired"),
        ({"Message": "Access denied"}, "Access denied"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": ["body", "n"], "msg": "no"}]}, '[{"loc": ["body", "n"], "msg": "no"}]'),
        ({"error": {"type": "overloaded_error"}}, "overloaded_error"),
        ({}, ""),
        ({"error": 7}, ""),
        ([], "[]"),
    ],
)
def test_the_words_are_found(payload: object, said: str) -> None:
    assert words(json.dumps(payload).encode()) == said


def test_a_page_is_read_as_text() -> None:
    page = b"<html><style>b{}</style><h1>502</h1>\n<p>Bad gateway</p><script>x()</script></html>"
    assert words(page) == "502 Bad gateway"


@pytest.mark.parametrize("body", ["<" * 400_000, "<script>" * 50_000, "*** sk-" + "a" * 150_000, "eyJ-" * 40_000])
def test_a_hostile_page_is_read_in_one_pass(body: str) -> None:
    """Not timed, but it would be felt: where time grows with the square of the length, each takes minutes."""
    assert len(words(body.encode())) <= LONGEST


def test_nothing_is_said_by_an_empty_body() -> None:
    assert words(b"") == ""


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Incorrect API key provided: {base64.b64encode(KEY.encode()).decode()}",
        f"Incorrect API key provided: {KEY.encode().hex()}",
        f"Incorrect API key provided: {''.join(f'%{byte:02x}' for byte in KEY.encode())}",
        "Incorrect API key provided: sk-proj-abc123**********************wxyz.",
        "Incorrect API key provided: sk-proj-canary9d2f6c81e4canary.",
    ],
)
def test_a_key_is_not_repeated(text: str) -> None:
    said = words(json.dumps({"error": {"message": text}}).encode(), [KEY])
    assert said.startswith("Incorrect API key provided: [secret]")
    assert not any(part in said for part in ("canary", "abc123", "wxyz", "Y2FuYXJ5", "63616e617279", "%63%61"))


def test_what_moves_a_terminal_is_spelled_out() -> None:
    text = "a\x1b]0;title\x07b\u202ed\ne"
    assert words(json.dumps({"error": text}).encode()) == "a⟦U+001B⟧]0;title⟦U+0007⟧b⟦U+202E⟧d e"


def test_a_long_text_is_cut() -> None:
    said = words(json.dumps({"error": "x" * 1000}).encode())
    assert (len(said), said[-1]) == (LONGEST, "…")


@given(st.binary(max_size=80) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["error", "message", "details", "violations", "code", "param"]), inner),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode()), st.sampled_from([400, 402, 429, 500]))  # fmt: skip
def test_whatever_comes_can_be_shown(body: bytes, status: int) -> None:
    said = words(body, ["x"])
    assert len(said) <= LONGEST
    assert said == visible(said)
    assert "\n" not in said
    assert isinstance(is_used_up(status, parsed(body)), bool)

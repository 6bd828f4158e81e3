"""The key of a request depends on what is asked of whom, and on nothing else."""

from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.cassettes.matching import canonical_json, public_url, request_key
from recuse.schema import RecuseError, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def key(body: bytes, url: str = "https://api.example/v1/chat", method: str = "POST") -> str:
    return request_key(Request(url, body, method))


def test_a_known_key_stays_what_it_was() -> None:
    """Pinned: a change of the key would orphan every committed cassette."""
    parts = b"4:POST,27:https://api.example/v1/chat," + b'{"a":1}'
    assert key(b'{"a":1}') == hashlib.blake2b(parts, digest_size=16).hexdigest() == "c206af7b24d940386711791c138e69e9"


def test_layout_of_the_body_does_not_matter() -> None:
    one = b'{"temperature":0.70,"model":"m","text":"caf\\u00e9"}'
    other = '{\n "text": "café",\r\n "model": "m", "temperature": 7e-1 }'.encode()
    assert key(one) == key(other)


def test_nor_where_a_text_ends_in_half_a_pair() -> None:
    assert key(b'{"b":1,"a":"\\ud83d"}') == key(b'{ "a": "\\uD83D", "b": 1.0 }') != key(b'{"a":"?","b":1}')


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b'{"a":2}', "another value"),
        (b'{"a":"1"}', "text instead of a number"),
        (b'{"a":1,"b":null}', "a further member, though null"),
        (b'{"a":[1]}', "a list instead of a number"),
        (b'{"a":1.5}', "another number"),
        (b'{"A":1}', "a name in another case"),
    ],
)
def test_another_meaning_is_another_key(body: bytes, what: str) -> None:
    assert key(body) != key(b'{"a":1}'), what


def test_method_and_address_are_part_of_the_key() -> None:
    keys = {
        key(b"{}"),
        key(b"{}", method="PUT"),
        key(b"{}", "https://api.example/v2/chat"),
        key(b"{}", "https://b.example/v1/chat"),
    }
    assert len(keys) == 4


def test_order_in_a_list_matters() -> None:
    assert key(b'{"messages":[1,2]}') != key(b'{"messages":[2,1]}')


@given(JSON)
def test_canonical_json_keeps_the_meaning_and_is_its_own_canonical_form(value: object) -> None:
    written = canonical_json(value)
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_canonical_json_does_not_depend_on_the_order_of_members(value: dict[str, int]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, b"1"),
        (-0.0, b"0"),
        (0.1 + 0.2, b"0.30000000000000004"),
        (1e16, b"1e+16"),
        (1e-7, b"1e-07"),
        (2**70, b"1180591620717411303424"),
        (True, b"true"),
        ("é", '"é"'.encode()),
        ("\u2028", '"\u2028"'.encode()),
        ("\ud800", b'"\\ud800"'),
        ("e\u0301", '"e\u0301"'.encode()),  # decomposed é: other tokens for a model, hence not normalised
        ((1, 2), b"[1,2]"),
    ],
)
def test_spelling_of_numbers_and_text(value: object, written: bytes) -> None:
    assert canonical_json(value) == written


@pytest.mark.parametrize("value", [math.nan, math.inf, {1: 2}, {"a": {1, 2}}, b"bytes"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(RecuseError, match="plain JSON"):
        canonical_json({"value": value})


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/v1/chat?key=SECRET",
        "https://user:SECRET@api.example/v1/chat",
        "https://API.example:443/v1/chat#part",
        "HTTPS://api.example/v1/chat?api_key=SECRET&Access_Token=SECRET",
    ],
)
def test_urls_that_differ_in_secrets_or_spelling_only_have_one_key(url: str) -> None:
    assert public_url(url) == "https://api.example/v1/chat"
    assert key(b"{}", url) == key(b"{}")


@pytest.mark.parametrize(
    "url", ["https://api.example/v1/chat?version=1", "https://api.example:8443/v1/chat", "http://api.example/v1/chat"]
)
def test_urls_that_lead_elsewhere_have_keys_of_their_own(url: str) -> None:
    assert key(b"{}", url) != key(b"{}")


def test_a_body_that_is_no_json_is_keyed_by_its_bytes() -> None:
    assert key(b"a=1&b=2") != key(b"b=2&a=1")


def test_a_secret_member_is_not_part_of_the_key() -> None:
    assert key(b'{"api_key":"one","q":1}') == key(b'{"api_key":"two","q":1}') != key(b'{"api_key":"one","q":2}')


def test_deeply_nested_bodies_do_not_break_the_key() -> None:
    assert len(key(b"[" * 100_000)) == 32

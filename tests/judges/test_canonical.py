"""Request bodies are spelled as the standard library spells them, whatever encoder is used for which part,
except that a whole float is an integer."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from recuse.cassettes.matching import request_key
from recuse.judges import wire
from recuse.judges.description import as_written, canonical
from recuse.schema import Judge, Message, Prompt, Request


def spelled_by_json(value: object) -> bytes:
    """By the standard library, which is told that a whole float is an integer."""
    plain = json.loads(json.dumps(value), parse_float=lambda text: whole(float(text)))
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def whole(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


@pytest.mark.parametrize(
    "value",
    [
        "".join(map(chr, range(0x800))),
        "\ud800 half a pair, \U0001f600 a whole one",
        [1e-7, 1e16, 5e-324, -0.0, 10**30, True, None],
        [1e-7, 2.0],
        [1e22, 1.5],
        [[2.0**53, 1.5], [2, 2**60, 0.5], [0.0, -0.0, 1e-4], [3.0, 2.5, -1.0]],
        {"a": 1.0, "b": 1, "c": True, "d": [3.0, 2.5], "e": 2.0**53},
        {"b": ["x", 1, {"é": 1}], "a": {}, "\udc00": [], "z": [[1], [2.5, "y"]]},
        [1, "\ud800", {"b": 1, "a": 2}],
    ],
)
def test_every_value_is_spelled_as_json_spells_it(value: object) -> None:
    assert canonical(value) == spelled_by_json(value)


def test_a_name_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="must be text, not int"):
        canonical({1: "a"})


@pytest.mark.parametrize("value", [[math.nan], [1.5, math.nan, 2.5], [1, 2.0, math.inf]])
def test_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(value)


def schema(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


def test_a_schema_goes_out_in_the_order_in_which_it_is_written() -> None:
    """Servers that enforce a schema have a judge write in its order: a reason before the score stays before it."""
    judge = Judge("a", "A", "openai_chat", "http://127.0.0.1:1/v1", "m", structured=True)
    prompt = Prompt((Message("user", "?"),), 0.0, 10, schema=schema("why", "score"))
    body = wire("openai_chat").request(judge, prompt, None).body
    sent = json.loads(body)["response_format"]["json_schema"]["schema"]["properties"]
    assert list(sent) == ["why", "score"]
    assert list(json.loads(body)) == sorted(json.loads(body))


def test_a_schema_that_thousands_share_is_spelled_as_it_is_now() -> None:
    body = {"schema": schema("why", "score"), "model": "m"}
    for _ in range(3):
        body["schema"]["properties"][f"step {len(body['schema']['properties'])}"] = {"enum": [1.0, 1e-7, -2]}
        assert canonical(body) == spelled_by_json(body)
        assert json.loads(as_written(body)) == json.loads(canonical(body))
        assert list(json.loads(as_written(body))["schema"]["properties"]) == list(body["schema"]["properties"])


def test_requests_that_differ_in_the_order_of_a_schema_have_one_key() -> None:
    keys = {
        request_key(Request("http://127.0.0.1:1/v1", json.dumps({"properties": dict.fromkeys(names, 1)}).encode()))
        for names in (("why", "score"), ("score", "why"))
    }
    assert len(keys) == 1

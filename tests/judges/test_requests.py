"""Requests: what goes out in each wire format, byte for byte, and where the key stands."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from recuse.judges import WIRES, wire
from recuse.judges.canonical import canonical
from recuse.schema import Judge, Message, Prompt, RecuseError

MakeJudge = Callable[..., Judge]
SYSTEM, USER = "Be fair.", "Score “this”."

GOLDEN: dict[str, tuple[str, dict[str, Any]]] = {
    "openai_chat": (
        "http://api.example/v1/chat/completions",
        {
            "model": "ann-1",
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}],
            "temperature": 0.7,
            "max_tokens": 200,
        },
    ),
    "anthropic_messages": (
        "http://api.example/v1/messages",
        {
            "model": "ann-1",
            "system": SYSTEM,
            "messages": [{"role": "user", "content": USER}],
            "temperature": 0.7,
            "max_tokens": 200,
        },
    ),
    "gemini_generate": (
        "http://api.example/v1/models/ann-1:generateContent",
        {
            "systemInstruction": {"parts": [{"text": SYSTEM}]},
            "contents": [{"role": "user", "parts": [{"text": USER}]}],
            "generationConfig": {"temperature": 0.7, "maxOutputTokens": 200},
        },
    ),
}
SCHEMA_AT = {
    "openai_chat": ("response_format", "json_schema", "schema"),
    "anthropic_messages": ("output_config", "format", "schema"),
    "gemini_generate": ("generationConfig", "responseJsonSchema"),
}


def body_of(judge: Judge, prompt: Prompt, seed: int | None = None) -> Any:
    return json.loads(wire(judge.wire).request(judge, prompt, seed).body)


def test_the_request_is_the_one_the_provider_documents(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    url, body = GOLDEN[wire_name]
    request = wire(wire_name).request(judge(wire_name), prompt, None)
    assert (request.method, request.url) == ("POST", url)
    assert request.body == canonical(body)


def test_equal_requests_are_equal_bytes(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    one, other = (
        judge(wire_name, parameters={"top_p": 0.9, "n": 1}),
        judge(wire_name, parameters={"n": 1, "top_p": 0.9}),
    )
    assert wire(wire_name).request(one, prompt, None) == wire(wire_name).request(other, prompt, None)


def test_without_a_system_message_none_is_sent(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge(wire_name), dataclasses.replace(prompt, messages=prompt.messages[1:]))
    assert "system" not in json.dumps(body).lower()


def test_what_the_judge_said_before_keeps_its_role(wire_name: str, judge: MakeJudge) -> None:
    talk = Prompt((Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Go.")), 0.0, 10)
    body = body_of(judge(wire_name), talk)
    roles = [turn["role"] for turn in body.get("messages", body.get("contents"))]
    assert roles == ["user", "model" if wire_name == "gemini_generate" else "assistant", "user"]


def test_the_panels_parameters_are_sent_and_win(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge(wire_name, parameters={"temperature": 0.1, "top_p": 0.5}), prompt)
    config = body.get("generationConfig", body)
    assert (config["temperature"], config["top_p"]) == (0.1, 0.5)


def test_the_schema_is_sent_where_the_panel_says_so(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    found = body_of(judge(wire_name, structured=True), prompt)
    for step in SCHEMA_AT[wire_name]:
        found = found[step]
    assert found == {"type": "object"}
    assert SCHEMA_AT[wire_name][-1] not in json.dumps(body_of(judge(wire_name), prompt))
    body_without = body_of(judge(wire_name, structured=True), dataclasses.replace(prompt, schema=None))
    assert body_without == body_of(judge(wire_name), prompt)


@pytest.mark.parametrize("wire_name", ["openai_chat", "gemini_generate"], indirect=False)
def test_a_seed_is_sent_where_the_format_has_one(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge(wire_name), prompt, seed=41)
    assert body.get("generationConfig", body)["seed"] == 41


def test_a_seed_is_refused_where_the_format_has_none(judge: MakeJudge, prompt: Prompt) -> None:
    with pytest.raises(RecuseError, match="judge ann: the Anthropic messages format takes no seed"):
        wire("anthropic_messages").request(judge("anthropic_messages"), prompt, 41)


def test_log_probabilities_are_asked_for(judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge(), dataclasses.replace(prompt, top_logprobs=5))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)


def test_a_model_name_stays_one_step_of_the_path(judge: MakeJudge, prompt: Prompt) -> None:
    request = wire("gemini_generate").request(judge("gemini_generate", model="tuned/ann 1?x"), prompt, None)
    assert request.url == "http://api.example/v1/models/tuned%2Fann%201%3Fx:generateContent"


def test_the_key_goes_into_a_header_and_nowhere_else(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    places = {
        "openai_chat": {"authorization": "Bearer k-123"},
        "anthropic_messages": {"x-api-key": "k-123", "anthropic-version": "2023-06-01"},
        "gemini_generate": {"x-goog-api-key": "k-123"},
    }
    assert wire(wire_name).headers("k-123") == places[wire_name]
    assert "k-123" not in str(wire(wire_name).headers(None))


def test_an_unknown_format_is_told_with_the_known_ones() -> None:
    with pytest.raises(RecuseError, match=f"unknown wire format 'grpc'; known: {', '.join(WIRES)}"):
        wire("grpc")


@pytest.mark.parametrize(
    ("body", "spelled"),
    [
        ({"b": 1, "a": [0.7, None, True]}, b'{"a":[0.7,null,true],"b":1}'),
        ({"a": "naïve ✓"}, '{"a":"naïve ✓"}'.encode()),
        ({"a": "half \ud83d of a pair"}, b'{"a":"half \\ud83d of a pair"}'),
    ],
)
def test_bodies_have_one_spelling(body: dict[str, Any], spelled: bytes) -> None:
    assert canonical(body) == spelled
    assert json.loads(spelled) == body


def test_a_body_holds_no_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"temperature": float("nan")})

"""Requests: what goes out in each wire format, byte for byte, and where the key stands."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from documented import at, documented

from recuse.judges import WIRES, wire
from recuse.judges.description import canonical
from recuse.schema import Judge, Message, Prompt, RecuseError

MakeJudge = Callable[..., Judge]
SEEDED = [name for name in WIRES if documented(name).seed_at]
WITH_SCHEMA = [name for name in WIRES if documented(name).schema_at]


def body_of(judge: Judge, prompt: Prompt, seed: int | None = None) -> Any:
    return json.loads(wire(judge.wire).request(judge, prompt, seed).body)


def test_the_request_is_the_one_the_provider_documents(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    request = wire(wire_name).request(judge(wire_name), prompt, None)
    assert (request.method, request.url) == ("POST", documented(wire_name).url)
    assert request.body == canonical({**documented(wire_name).body})


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
    roles = [turn["role"] for turn in body.get("messages") or body.get("contents") or body["input"]]
    assert roles == ["user", documented(wire_name).assistant, "user"]


@pytest.mark.parametrize("wire_name", WITH_SCHEMA, indirect=False)
def test_the_schema_is_sent_where_the_panel_says_so(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    place = documented(wire_name).schema_at
    found = at(body_of(judge(wire_name, structured=True), prompt), place)
    assert (json.loads(found) if isinstance(found, str) else found) == {"type": "object"}
    assert place[-1] not in json.dumps(body_of(judge(wire_name), prompt))
    body_without = body_of(judge(wire_name, structured=True), dataclasses.replace(prompt, schema=None))
    assert body_without == body_of(judge(wire_name), prompt)


@pytest.mark.parametrize("wire_name", SEEDED, indirect=False)
def test_a_seed_is_sent_where_the_format_has_one(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    assert at(body_of(judge(wire_name), prompt, seed=41), documented(wire_name).seed_at) == 41


@pytest.mark.parametrize("wire_name", SEEDED, indirect=False)
def test_a_seed_of_the_panel_file_wins(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    place = documented(wire_name).seed_at
    given: Any = 7
    for step in reversed(place):
        given = {step: given}
    assert at(body_of(judge(wire_name, parameters=given), prompt, seed=41), place) == 7


@pytest.mark.parametrize("wire_name", sorted({*WIRES} - {*SEEDED}), indirect=False)
def test_a_seed_is_refused_where_the_format_has_none(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    with pytest.raises(RecuseError, match=r"judge ann: the .* format takes no seed; remove `seeded = true`"):
        wire(wire_name).request(judge(wire_name), prompt, 41)


@pytest.mark.parametrize("wire_name", ["openai_chat", "azure_openai"], indirect=False)
def test_log_probabilities_are_asked_for(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge(wire_name), dataclasses.replace(prompt, top_logprobs=5))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)


def test_the_responses_format_asks_for_them_in_its_own_words(judge: MakeJudge, prompt: Prompt) -> None:
    body = body_of(judge("openai_responses"), dataclasses.replace(prompt, top_logprobs=5))
    assert (body["include"], body["top_logprobs"]) == (["message.output_text.logprobs"], 5)


def test_azure_wants_a_version(judge: MakeJudge, prompt: Prompt) -> None:
    with pytest.raises(RecuseError, match=r'judge ann: Azure OpenAI wants a version: add `query = { api-version = "20'):
        wire("azure_openai").request(judge("azure_openai", query={}), prompt, None)


BOUNDED = {
    "type": "object",
    "properties": {"score": {"enum": [1, 1.5]}, "why": {"type": "string", "maxLength": 9}, "n": {"minimum": 1}},
    "required": ["score", "why", "n"],
}
NO_LENGTHS = {"score": {"enum": [1, 1.5], "type": "number"}, "why": {"type": "string"}, "n": {"minimum": 1}}
NO_BOUNDS = NO_LENGTHS | {"n": {}}


@pytest.mark.parametrize(
    ("wire_name", "base_url", "properties"),
    [
        ("openai_chat", "https://api.openai.com/v1", NO_LENGTHS),
        ("openai_chat", "https://API.OpenAI.com/v1", NO_LENGTHS),
        ("openai_chat", "http://127.0.0.1:8080/v1", BOUNDED["properties"]),
        ("openai_responses", "https://api.openai.com/v1", NO_LENGTHS),
        ("azure_openai", "https://ann.openai.azure.com", NO_LENGTHS),
        ("anthropic_messages", "https://api.anthropic.com/v1", NO_BOUNDS),
        ("bedrock_converse", "https://bedrock-runtime.eu-west-1.amazonaws.com", NO_BOUNDS),
        ("gemini_generate", "https://generativelanguage.googleapis.com/v1beta", BOUNDED["properties"]),
    ],
)
def test_a_schema_keeps_to_what_the_provider_enforces(
    judge: MakeJudge, prompt: Prompt, wire_name: str, base_url: str, properties: object
) -> None:
    asked = judge(wire_name, structured=True, base_url=base_url)
    found = at(body_of(asked, dataclasses.replace(prompt, schema=BOUNDED)), documented(wire_name).schema_at)
    found = json.loads(found) if isinstance(found, str) else found
    assert found == {"type": "object", "properties": properties, "required": ["score", "why", "n"]}


def test_a_model_name_stays_one_step_of_the_path(judge: MakeJudge, prompt: Prompt) -> None:
    request = wire("gemini_generate").request(judge("gemini_generate", model="tuned/ann 1?x"), prompt, None)
    assert request.url == "http://api.example/v1/models/tuned%2Fann%201%3Fx:generateContent"


def test_the_key_goes_into_a_header_and_nowhere_else(wire_name: str, judge: MakeJudge, prompt: Prompt) -> None:
    assert wire(wire_name).headers("k-123") == documented(wire_name).headers
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


def test_a_server_that_enforces_a_schema_by_grammar_gets_its_own(judge: MakeJudge, prompt: Prompt) -> None:
    """Such servers know no bounds of a number, so a protocol may spell the steps out for them."""
    both = dataclasses.replace(prompt, schema={"type": "number"}, grammar_schema={"enum": [1, 2]})
    for grammar, expected in ((True, {"enum": [1, 2]}), (False, {"type": "number"})):
        body = body_of(judge(structured=True, grammar=grammar), both)
        assert at(body, documented("openai_chat").schema_at) == expected

"""Every wire format against a provider that rejects what the real one rejects; and that these providers do reject."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from documented import GOOD, KEY, documented
from documented.openai_chat import check_strict_schema
from loopback import ReceivedRequest, loopback

from recuse.judges import WIRES, read_response, wire
from recuse.judges.client import Client, Credentials, RecuseError
from recuse.schema import Call, Judge, JudgeClosedError, Message, Prompt, RawResponse

MakeJudge = Callable[..., Judge]

SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"enum": [0, 0.5, 1]},
        "total": {"type": "number", "minimum": 0, "maximum": 1},
        "why": {"type": "string", "maxLength": 160},
    },
    "required": ["score", "total", "why"],
    "additionalProperties": False,
}
LISTED = {"type": "array", "items": SCHEMA}
"""What the protocol `generation` asks for; OpenAI's strict schemas have an object at the top."""
TALK = (Message("system", "Be fair."), Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Score."))
PROMPT = Prompt(TALK, temperature=0.7, max_tokens=200, schema=SCHEMA)


def ask(judge: Judge, prompt: Prompt = PROMPT, key: str = KEY, seed: int | None = None) -> RawResponse:
    """One call through a real connection to the strict provider of the judge's format."""
    with loopback(documented(judge.wire).provider) as url:
        there = dataclasses.replace(judge, base_url=url + documented(judge.wire).base)
        request = wire(judge.wire).request(there, prompt, seed)
        call = Call("essays", "rubric", "ann", "one", "alpha", (), 0, request, "key", "cell")

        async def once() -> RawResponse:
            keys = {"ann": Credentials(key)}
            async with Client({"ann": there}, keys=keys, identify=lambda _: {}, attempts=1) as client:
                return await client.send(call)

        return asyncio.run(once())


def rejected(judge: Judge, prompt: Prompt = PROMPT, key: str = KEY) -> str:
    with pytest.raises(RecuseError) as caught:
        ask(judge, prompt, key)
    return str(caught.value)


def judge_of(wire_name: str, judge: MakeJudge, **changes: Any) -> Judge:
    return judge(wire_name, **({"model": "ann-1:0"} if wire_name == "bedrock_converse" else {}), **changes)


def test_what_a_format_sends_is_taken_and_read(wire_name: str, judge: MakeJudge) -> None:
    response = ask(judge_of(wire_name, judge))
    assert read_response(wire_name, response).text == GOOD


@pytest.mark.parametrize("wire_name", [name for name in WIRES if documented(name).schema_at])
@pytest.mark.parametrize("schema", [SCHEMA, LISTED], ids=["object", "list"])
def test_so_is_a_schema(wire_name: str, judge: MakeJudge, schema: Any) -> None:
    asked = dataclasses.replace(PROMPT, schema=schema)
    # On loopback openai_chat sends what servers with grammars want; its schema for OpenAI itself is Azure's.
    if wire_name == "openai_chat":
        check_strict_schema(_schema_for_openai(judge, asked))
        return
    response = ask(judge_of(wire_name, judge, structured=True), asked)
    assert read_response(wire_name, response).text == GOOD


def _schema_for_openai(judge: MakeJudge, prompt: Prompt) -> Any:
    asked = judge("openai_chat", structured=True, base_url="https://api.openai.com/v1")
    body = json.loads(wire("openai_chat").request(asked, prompt, None).body)
    return body["response_format"]["json_schema"]["schema"]


@pytest.mark.parametrize("wire_name", [name for name in WIRES if documented(name).seed_at])
def test_so_is_a_seed(wire_name: str, judge: MakeJudge) -> None:
    assert ask(judge_of(wire_name, judge, seeded=True), seed=41).status == 200


@pytest.mark.parametrize("wire_name", ["openai_chat", "azure_openai", "openai_responses"])
def test_so_are_log_probabilities(wire_name: str, judge: MakeJudge) -> None:
    assert ask(judge_of(wire_name, judge), dataclasses.replace(PROMPT, top_logprobs=5)).status == 200


def test_an_unknown_field_is_rejected_in_the_providers_words(wire_name: str, judge: MakeJudge) -> None:
    said = rejected(judge_of(wire_name, judge, parameters={"made_up": 1}))
    assert "HTTP 400 from 127.0.0.1: “" in said
    assert "made_up" in said
    assert "set, rename or omit fields of it in the panel file" in said


MISSING = {"anthropic_messages": "max_tokens", "openai_chat": "model"}


@pytest.mark.parametrize(("wire_name", "field"), sorted(MISSING.items()))
def test_a_missing_field_is_rejected(wire_name: str, field: str, judge: MakeJudge) -> None:
    assert field in rejected(judge(wire_name, omit=(field,)))


def test_a_wrong_key_is_told_once_and_not_shown(wire_name: str, judge: MakeJudge) -> None:
    with pytest.raises(JudgeClosedError) as caught:
        ask(judge_of(wire_name, judge), key="canary-of-somebody-else")
    assert "canary" not in str(caught.value)
    assert "check" in str(caught.value)


def test_a_wrong_version_is_rejected(judge: MakeJudge) -> None:
    said = rejected(judge("anthropic_messages", headers={"anthropic-version": "2099-01-01"}))
    assert "anthropic-version: '2099-01-01' is not a valid version" in said
    assert "Resource not found" in rejected(judge("azure_openai", query={"api-version": "2099-01-01"}))


# --------------------------------------------------------------------------- today's models


@pytest.mark.parametrize(
    ("wire_name", "model", "said", "described"),
    [
        (
            "openai_chat",
            "gpt-5.1",
            "Use 'max_completion_tokens' instead",
            {
                "rename": {"max_tokens": "max_completion_tokens"},
                "omit": ("temperature",),
                "parameters": {"reasoning_effort": "low"},
            },
        ),
        (
            "openai_responses",
            "gpt-5.1",
            "'temperature' does not support this value",
            {"omit": ("temperature",), "parameters": {"reasoning": {"effort": "low", "summary": "auto"}}},
        ),
        (
            "anthropic_messages",
            "claude-opus-5",
            "`temperature` is deprecated for this model",
            {
                "omit": ("temperature",),
                "parameters": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
                "structured": True,
            },
        ),
        (
            "anthropic_messages",
            "claude-opus-5",
            "deprecated for this model",
            {"omit": ("temperature",), "parameters": {"thinking": {"type": "disabled"}}},
        ),
    ],
)
def test_a_model_that_takes_less_is_described_in_the_panel_file(
    judge: MakeJudge, wire_name: str, model: str, said: str, described: dict[str, Any]
) -> None:
    assert said in rejected(judge(wire_name, model=model))
    assert ask(judge(wire_name, model=model, **described)).status == 200


@pytest.mark.parametrize("budget", [0, 1024])
def test_thinking_is_set_beside_the_other_settings(judge: MakeJudge, budget: int) -> None:
    thinking = {"generationConfig": {"thinkingConfig": {"thinkingBudget": budget, "includeThoughts": True}}}
    assert ask(judge("gemini_generate", parameters=thinking)).status == 200


def test_a_model_on_bedrock_takes_its_own_settings(judge: MakeJudge) -> None:
    own = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
    assert ask(judge_of("bedrock_converse", judge, parameters=own, omit=("inferenceConfig.temperature",))).status == 200


# --------------------------------------------------------------------------- the providers themselves


def test_a_provider_that_is_asked_elsewhere_says_so(wire_name: str) -> None:
    given = documented(wire_name).provider
    headers = {"authorization": f"Bearer {KEY}", "api-key": KEY, "x-api-key": KEY, "x-goog-api-key": KEY}
    sent = {**headers, "anthropic-version": "2023-06-01"}
    asked = ReceivedRequest("POST", "/elsewhere?api-version=2024-10-21", sent, b"{}")
    assert given(asked).status == 404

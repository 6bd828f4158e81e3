"""OpenAI chat completions, and what the other formats of OpenAI have in common with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from loopback import Answer, ReceivedRequest

from documented import GOOD, KEY, SYSTEM, USER, Documented, Refused, check_closed, check_fields, good, names, schemas

REASONING_MODELS = ("gpt-5", "o4")  # take no max_tokens and no temperature but 1
CHAT_FIELDS = names(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens "
    "messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty "
    "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format "
    "safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools "
    "top_logprobs top_p user verbosity web_search_options"
)


def provider(asked: ReceivedRequest) -> Answer:
    return openai_answer(asked, "/v1/chat/completions", check_chat, "openai_chat", "authorization", f"Bearer {KEY}")


def openai_answer(
    asked: ReceivedRequest, path: str, check: Callable[[Any], None], wire_name: str, header: str, value: str
) -> Answer:
    try:
        if asked.headers.get(header) != value:
            raise Refused(401, f"Incorrect API key provided: {asked.headers.get(header)}.", type="invalid_api_key")
        if (asked.method, urlsplit(asked.target).path) != ("POST", path):
            raise Refused(404, f"Invalid URL ({asked.method} {asked.target})")
        check(json.loads(asked.body))
    except Refused as no:
        error = {"message": no.message, "type": "invalid_request_error", "param": None, "code": None, **no.more}
        return Answer(no.code, {"error": error})
    return Answer(200, good(wire_name))


def check_chat(body: Any) -> None:
    check_fields(
        body, CHAT_FIELDS, {"model", "messages"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'."
    )
    check_chat_settings(body)


def check_chat_settings(body: Any) -> None:
    if {turn["role"] for turn in body["messages"]} - {"developer", "system", "user", "assistant"}:
        raise Refused(400, "Invalid value: 'role'", param="messages")
    if body["model"].startswith(REASONING_MODELS):
        if "max_tokens" in body:
            raise Refused(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                param="max_tokens",
                type="unsupported_parameter",
            )
        check_temperature(body)
    if "top_logprobs" in body and not body.get("logprobs"):
        raise Refused(400, "'top_logprobs' is only allowed when 'logprobs' is enabled.", param="top_logprobs")
    if form := body.get("response_format"):
        check_strict_schema(form["json_schema"]["schema"])


def check_temperature(body: Any) -> None:
    if body.get("temperature", 1) != 1:
        raise Refused(
            400,
            "Unsupported value: 'temperature' does not support this value with this model. Only the default (1) is "
            "supported.",
            param="temperature",
            type="unsupported_value",
        )


def check_strict_schema(schema: Any) -> None:
    if schema.get("type") != "object":
        raise Refused(400, "Invalid schema for response_format: schema must be of 'type: \"object\"'.")
    for place, inner in schemas(schema, ()):
        if bad := set(inner) & {"minLength", "maxLength", "allOf", "not", "if"}:
            raise Refused(400, f"Invalid schema for response_format: in {place}, {bad} is not permitted.")
        if "type" not in inner and "anyOf" not in inner and "$ref" not in inner:
            raise Refused(400, f"Invalid schema for response_format: in {place}, schema must have a 'type' key.")
        check_closed(place, inner, "Invalid schema for response_format: in {}, all fields are required and no others.")


DOCUMENTED = Documented(
    provider=provider,
    check=check_chat,
    base="/v1",
    url="http://api.example/v1/chat/completions",
    body={
        "model": "ann-1",
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}],
        "temperature": 0.7,
        "max_tokens": 200,
    },
    headers={"authorization": "Bearer k-123"},
    reply={
        "choices": [{"message": {"content": GOOD}, "finish_reason": "stop"}],
        "model": "ann-1",
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    },
    schema_at=("response_format", "json_schema", "schema"),
    seed_at=("seed",),
)

"""Anthropic messages."""

from __future__ import annotations

import json
from typing import Any

from loopback import Answer, ReceivedRequest

from documented import GOOD, KEY, SYSTEM, USER, Documented, Refused, check_closed, check_fields, good, names, schemas

SAMPLING_FREE = ("claude-opus-5", "claude-sonnet-5")  # take no sampling parameters, and think adaptively or not at all

MESSAGES_FIELDS = names(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model output_config "
    "service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p"
)


def provider(asked: ReceivedRequest) -> Answer:
    try:
        if "anthropic-version" not in asked.headers:
            raise Refused(400, "anthropic-version: header is required")
        if asked.headers["anthropic-version"] != "2023-06-01":
            raise Refused(400, f"anthropic-version: {asked.headers['anthropic-version']!r} is not a valid version")
        if asked.headers.get("x-api-key") != KEY:
            raise Refused(401, "invalid x-api-key", type="authentication_error")
        if (asked.method, asked.target) != ("POST", "/v1/messages"):
            raise Refused(404, "Not found", type="not_found_error")
        check_messages(json.loads(asked.body))
    except Refused as no:
        error = {"type": "invalid_request_error", "message": no.message, **no.more}
        return Answer(no.code, {"type": "error", "error": error, "request_id": "req_1"})
    return Answer(200, good("anthropic_messages"))


def check_messages(body: Any) -> None:
    needed = {"model", "messages", "max_tokens"}
    check_fields(body, MESSAGES_FIELDS, needed, "{}: Extra inputs are not permitted", "{}: Field required")
    for turn in body["messages"]:
        if turn["role"] not in ("user", "assistant"):
            raise Refused(400, "messages: Unexpected role “system”. Use the top-level `system` parameter instead.")
    thinking = body.get("thinking", {})
    if body["model"].startswith(SAMPLING_FREE):
        for name in ("temperature", "top_p", "top_k"):
            if name in body:
                raise Refused(400, f"`{name}` is deprecated for this model.")
        if thinking.get("type") == "enabled":
            raise Refused(400, "thinking.type: “enabled” is not supported for this model. Use “adaptive”.")
    elif thinking.get("type") == "enabled" and body.get("temperature", 1) != 1:
        raise Refused(400, "`temperature` may only be set to 1 when thinking is enabled.")
    config = body.get("output_config", {})
    check_fields(config, {"effort", "format"}, set(), "output_config.{}: Extra inputs are not permitted", "")
    if form := config.get("format"):
        check_bounded_schema(form["schema"])


def check_bounded_schema(schema: Any) -> None:
    for place, inner in schemas(schema, ()):
        bad = set(inner) & {"minimum", "maximum", "multipleOf", "minLength", "maxLength", "maxItems"}
        if bad or inner.get("minItems", 0) > 1:
            raise Refused(400, f"output_config.format.schema: in {place}, unsupported: {sorted(bad)}")
        check_closed(place, inner, "output_config.format.schema: in {}, additionalProperties must be false")


DOCUMENTED = Documented(
    provider=provider,
    check=check_messages,
    base="/v1",
    url="http://api.example/v1/messages",
    body={
        "model": "ann-1",
        "system": SYSTEM,
        "messages": [{"role": "user", "content": USER}],
        "temperature": 0.7,
        "max_tokens": 200,
    },
    headers={"x-api-key": "k-123", "anthropic-version": "2023-06-01"},
    reply={
        "content": [{"type": "text", "text": GOOD}],
        "stop_reason": "end_turn",
        "model": "ann-1",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    },
    schema_at=("output_config", "format", "schema"),
)

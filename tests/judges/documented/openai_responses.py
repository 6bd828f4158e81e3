"""OpenAI responses."""

from __future__ import annotations

from typing import Any

from loopback import Answer, ReceivedRequest

from documented import GOOD, KEY, SYSTEM, USER, Documented, Refused, check_fields, names
from documented.openai_chat import REASONING_MODELS, check_strict_schema, check_temperature, openai_answer

RESPONSES_FIELDS = names(
    "background context_management conversation include input instructions max_output_tokens max_tool_calls "
    "metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream "
    "stream_options temperature text tool_choice tools top_logprobs top_p truncation user"
)


def provider(asked: ReceivedRequest) -> Answer:
    return openai_answer(asked, "/v1/responses", check_responses, "openai_responses", "authorization", f"Bearer {KEY}")


def check_responses(body: Any) -> None:
    check_fields(
        body, RESPONSES_FIELDS, {"model", "input"}, "Unknown parameter: '{}'.", "Missing required parameter: '{}'."
    )
    if {turn["role"] for turn in body["input"]} - {"developer", "system", "user", "assistant"}:
        raise Refused(400, "Invalid value: 'role'", param="input")
    if body["model"].startswith(REASONING_MODELS):
        check_temperature(body)
    if form := body.get("text", {}).get("format"):
        if set(form) - {"type", "name", "strict", "schema", "description"}:
            raise Refused(400, "Unknown parameter in 'text.format'.", param="text.format")
        check_strict_schema(form["schema"])


DOCUMENTED = Documented(
    provider=provider,
    check=check_responses,
    base="/v1/",
    url="http://api.example/v1/responses",
    body={
        "model": "ann-1",
        "instructions": SYSTEM,
        "input": [{"role": "user", "content": USER}],
        "temperature": 0.7,
        "max_output_tokens": 200,
        "store": False,
    },
    headers={"authorization": "Bearer k-123"},
    reply={
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": GOOD}]}],
        "model": "ann-1",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    },
    schema_at=("text", "format", "schema"),
)

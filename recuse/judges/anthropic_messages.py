"""Anthropic messages: POST {base_url}/messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.judges.description import BOUNDS, address, described, strict_schema
from recuse.judges.provider_responses import ended, with_cached
from recuse.schema import Judge, Prompt, RecuseError, Reply, Request, Usage

BATCH = "anthropic"
VERSION = "2023-06-01"


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """System messages joined in `system`, the others in `messages`; the schema, as far as Anthropic takes it, under
    `output_config`. `RecuseError` for a seed, which the format does not take."""
    if seed is not None:
        raise RecuseError(f"judge {judge.name}: the Anthropic messages format takes no seed; remove `seeded = true`")
    body: dict[str, Any] = {
        "model": judge.model,
        "messages": [{"role": m.role, "content": m.content} for m in prompt.messages if m.role != "system"],
        "temperature": prompt.temperature, "max_tokens": prompt.max_tokens,
    }  # fmt: skip
    if system := "\n\n".join(m.content for m in prompt.messages if m.role == "system"):
        body["system"] = system
    if judge.structured and prompt.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": strict_schema(prompt.schema, BOUNDS)}}
    return Request(address(judge, "/messages"), described(judge, body))


def headers(key: str | None) -> dict[str, str]:
    """The key as `x-api-key`, and the version of the interface, which is wanted with or without a key."""
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


def read(payload: Mapping[str, Any]) -> Reply:
    """Text blocks joined; `thinking` blocks are the reasoning. A turn that was paused in the middle is an error."""
    usage, blocks = payload.get("usage") or {}, payload["content"]
    details = usage.get("output_tokens_details") or {}
    input_tokens = with_cached(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    own = "".join(block["text"] for block in blocks if block["type"] == "text")
    text, finish = ended(payload.get("stop_reason"), own)
    counts = Usage(input_tokens, usage.get("output_tokens"), details.get("thinking_tokens"))
    thoughts = "\n".join(block["thinking"] for block in blocks if block["type"] == "thinking")
    return Reply(text, finish, model=payload.get("model"), usage=counts, reasoning=thoughts)


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The inverse of `read`: one text block; a refusal by its `stop_reason`."""
    return {
        "type": "message", "role": "assistant", "model": model, "content": [{"type": "text", "text": text}],
        "stop_reason": "refusal" if refusal else "end_turn",
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
    }  # fmt: skip

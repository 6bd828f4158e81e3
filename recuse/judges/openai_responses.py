"""OpenAI Responses: POST {base_url}/responses. Nothing is stored at the provider (`store` is false)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.judges.description import address, described, openai_schema
from recuse.judges.openai_chat import headers, likeliest, token
from recuse.judges.provider_responses import token_counts
from recuse.schema import Judge, Prompt, RecuseError, Reply, Request, Usage

__all__ = ["headers", "payload", "read", "request"]

BATCH = "openai"
_CUT = {"max_output_tokens": "length", "content_filter": "refusal"}


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """System messages in `instructions`, the others in `input`; the schema under `text`. `RecuseError` for seeds."""
    if seed is not None:
        raise RecuseError(f"judge {judge.name}: the OpenAI Responses format takes no seed; remove `seeded = true`")
    body: dict[str, Any] = {
        "model": judge.model,
        "input": [{"role": m.role, "content": m.content} for m in prompt.messages if m.role != "system"],
        "temperature": prompt.temperature, "max_output_tokens": prompt.max_tokens, "store": False,
    }  # fmt: skip
    if system := "\n\n".join(m.content for m in prompt.messages if m.role == "system"):
        body["instructions"] = system
    if judge.structured and prompt.schema is not None:
        schema = openai_schema(prompt.schema)
        body["text"] = {"format": {"type": "json_schema", "name": "reply", "strict": True, "schema": schema}}
    if prompt.top_logprobs is not None:
        body |= {"top_logprobs": prompt.top_logprobs, "include": ["message.output_text.logprobs"]}
    return Request(address(judge, "/responses"), described(judge, body))


def read(payload: Mapping[str, Any]) -> Reply:
    """The texts of all messages joined, or their refusals, of a response that is completed or incomplete."""
    status, counts, output = payload.get("status", "completed"), payload.get("usage") or {}, payload["output"]
    messages, thoughts = ([one for one in output if one["type"] == kind] for kind in ("message", "reasoning"))
    parts = [part for message in messages for part in message.get("content") or ()]
    refusal = "".join(part["refusal"] for part in parts if part["type"] == "refusal")
    # The reasoning itself where a server shows it, its summary where OpenAI was asked for one.
    shown = [part for name in ("content", "summary") for thought in thoughts for part in thought.get(name) or ()]
    spoken = [part for part in parts if part["type"] == "output_text"]
    positions = [position for part in spoken for position in part.get("logprobs") or ()]
    cut = (payload.get("incomplete_details") or {}).get("reason")
    reasoned = (counts.get("output_tokens_details") or {}).get("reasoning_tokens")
    return Reply(
        text=refusal or "".join(part["text"] for part in spoken),
        finish="refusal" if refusal else _CUT.get(cut, "length") if status == "incomplete" else "stop",  # type: ignore[arg-type]
        model=payload.get("model"), usage=Usage(counts.get("input_tokens"), counts.get("output_tokens"), reasoned),
        logprobs=likeliest(positions), tokens=tuple(map(token, positions)) or None,
        reasoning="\n".join(part["text"] for part in shown),
    )  # fmt: skip


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The inverse of `read`: one message with one part; a refusal as a part of that type."""
    part = {"type": "refusal", "refusal": text} if refusal else {"type": "output_text", "text": text, "annotations": []}
    output = [{"type": "message", "role": "assistant", "status": "completed", "content": [part]}]
    usage = token_counts(("input_tokens", "output_tokens", "total_tokens"), input_tokens, output_tokens)
    return {"object": "response", "status": "completed", "model": model, "output": output, "usage": usage}

"""Google Gemini generateContent: POST {base_url}/models/{model}:generateContent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from recuse.judges.canonical import canonical
from recuse.schema import Judge, Prompt, Reply, Request, Usage

_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"}
_ROLES = {"user": "user", "assistant": "model"}


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    config: dict[str, Any] = {
        "temperature": prompt.temperature,
        "maxOutputTokens": prompt.max_tokens,
        **judge.parameters,
    }
    if seed is not None:
        config["seed"] = seed
    if judge.structured and prompt.schema is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": prompt.schema}
    body: dict[str, Any] = {
        "contents": [
            {"role": _ROLES[m.role], "parts": [{"text": m.content}]} for m in prompt.messages if m.role != "system"
        ],
        "generationConfig": config,
    }
    if system := [{"text": m.content} for m in prompt.messages if m.role == "system"]:
        body["systemInstruction"] = {"parts": system}
    return Request(f"{judge.base_url}/models/{quote(judge.model, safe='')}:generateContent", canonical(body))


def headers(key: str | None) -> dict[str, str]:
    # In a header, never as ?key=: an URL ends up in logs.
    return {"x-goog-api-key": key} if key else {}


def read(payload: Mapping[str, Any]) -> Reply:
    model, usage = payload.get("modelVersion"), payload.get("usageMetadata") or {}
    counts = Usage(usage.get("promptTokenCount"), usage.get("candidatesTokenCount"))
    if blocked := (payload.get("promptFeedback") or {}).get("blockReason"):
        return Reply(text=f"prompt blocked: {blocked}", finish="refusal", model=model, usage=counts)
    candidate = payload["candidates"][0]
    reason = candidate.get("finishReason", "STOP")
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    if reason in _REFUSALS:
        return Reply(text=text or f"stopped: {reason}", finish="refusal", model=model, usage=counts)
    return Reply(text=text, finish="length" if reason == "MAX_TOKENS" else "stop", model=model, usage=counts)


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    return {
        "modelVersion": model,
        "candidates": [
            {
                "index": 0,
                "finishReason": "SAFETY" if refusal else "STOP",
                "content": {"role": "model", "parts": [{"text": text}]},
            }
        ],
        "usageMetadata": {
            "promptTokenCount": input_tokens,
            "candidatesTokenCount": output_tokens,
            "totalTokenCount": input_tokens + output_tokens,
        },
    }

"""Amazon Bedrock Converse: POST {base_url}/model/{model}/converse. `base_url` is the region's runtime,
"https://bedrock-runtime.REGION.amazonaws.com". Requests are signed with the environment's AWS credentials (botocore,
extra `bedrock`); with `api_key_env`, a Bedrock API key is the bearer token. Reasoning and other settings of one model's
own go under `parameters = { additionalModelRequestFields = {...} }`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from recuse.judges.description import BOUNDS, address, described, segment, strict_schema
from recuse.judges.openai_chat import headers
from recuse.judges.provider_responses import ended, token_counts, with_cached
from recuse.schema import Judge, Prompt, RecuseError, Reply, Request, Usage

__all__ = ["headers", "payload", "read", "request", "signer"]


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """System messages in `system`, others in `messages`; the schema as text in `outputConfig`. `RecuseError`: seeds."""
    if seed is not None:
        raise RecuseError(f"judge {judge.name}: the Bedrock Converse format takes no seed; remove `seeded = true`")
    body: dict[str, Any] = {
        "messages": [{"role": m.role, "content": [{"text": m.content}]} for m in prompt.messages if m.role != "system"],
        "inferenceConfig": {"temperature": prompt.temperature, "maxTokens": prompt.max_tokens},
    }
    if system := [{"text": m.content} for m in prompt.messages if m.role == "system"]:
        body["system"] = system
    if judge.structured and prompt.schema is not None:
        schema = json.dumps(strict_schema(prompt.schema, BOUNDS), ensure_ascii=False)
        structure = {"jsonSchema": {"name": "reply", "schema": schema}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    return Request(address(judge, f"/model/{segment(judge.model)}/converse"), described(judge, body))


def signer(judge: Judge) -> Callable[[Request], Mapping[str, str]]:
    """What signs a request (AWS signature version 4); `RecuseError` without package, region or credentials."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.session import Session
    except ImportError:
        why = "Bedrock is asked with botocore, which is not installed"
        raise RecuseError(f"judge {judge.name}: {why}: pip install 'recuse[bedrock]'") from None
    session = Session()
    labels = (urlsplit(judge.base_url).hostname or "").split(".")
    of_address = labels[1] if len(labels) > 2 and labels[0].startswith("bedrock-runtime") else None
    credentials, region = session.get_credentials(), of_address or session.get_config_variable("region")
    if not region:
        remedy = 'use base_url "https://bedrock-runtime.REGION.amazonaws.com", or set AWS_DEFAULT_REGION'
        raise RecuseError(f"judge {judge.name}: no AWS region is known; {remedy}")
    if credentials is None:
        remedy = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE"
        other = "name a variable with a Bedrock API key in api_key_env"
        raise RecuseError(f"judge {judge.name}: no AWS credentials are found. {remedy}, or {other}")

    def sign(request: Request) -> Mapping[str, str]:
        sent = {"content-type": "application/json"}
        signed = AWSRequest(method=request.method, url=request.url, data=request.body, headers=sent)
        SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(signed)
        return {name.lower(): value for name, value in signed.headers.items()}

    return sign


def read(payload: Mapping[str, Any]) -> Reply:
    """Text blocks joined, `reasoningContent` apart. What a filter stopped is a refusal, what is malformed an error."""
    blocks, usage = payload["output"]["message"]["content"], payload.get("usage") or {}
    thoughts = [block["reasoningContent"] for block in blocks if "reasoningContent" in block]
    input_tokens = with_cached(usage, "inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    text, finish = ended(payload.get("stopReason"), "".join(block["text"] for block in blocks if "text" in block))
    reasoning = "\n".join(thought["reasoningText"]["text"] for thought in thoughts if "reasoningText" in thought)
    # Converse names no model in its answer, and counts reasoning with the output, not apart.
    return Reply(text, finish, usage=Usage(input_tokens, usage.get("outputTokens")), reasoning=reasoning)


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The inverse of `read`: one text block; a refusal by its `stopReason`."""
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": "content_filtered" if refusal else "end_turn",
        "usage": token_counts(("inputTokens", "outputTokens", "totalTokens"), input_tokens, output_tokens),
        "metrics": {"latencyMs": 0},
    }

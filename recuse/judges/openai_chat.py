"""OpenAI-compatible chat completions: POST {base_url}/chat/completions. Spoken by OpenAI, xAI, Perplexity, Mistral,
vLLM, llama.cpp's server and many more; and `AZURE`, the same by deployment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from recuse.judges.description import address, described, openai_schema, segment
from recuse.judges.provider_responses import ended, token_counts
from recuse.schema import Judge, Prompt, RecuseError, Reply, Request, Usage

BATCH = "openai"
_OWN_HOST, THINKS = "api.openai.com", "thinking"


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """The model and what `body` says; schemas as OpenAI takes them where its own host is asked, whole elsewhere."""
    # OpenAI takes a subset of JSON schemas; servers that enforce one by grammar need the lengths to end a text.
    strict = _OWN_HOST in judge.base_url.lower() and urlsplit(judge.base_url).hostname == _OWN_HOST
    url = address(judge, "/chat/completions")
    return Request(url, described(judge, {"model": judge.model, **body(judge, prompt, seed, strict=strict)}))


def body(judge: Judge, prompt: Prompt, seed: int | None, *, strict: bool) -> dict[str, Any]:
    """The request body without the model, which Azure has in the address."""
    fields: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in prompt.messages],
        "temperature": prompt.temperature, "max_tokens": prompt.max_tokens,
    }  # fmt: skip
    if seed is not None:
        fields["seed"] = seed
    if judge.structured and prompt.schema is not None:
        whole = (prompt.grammar_schema if judge.grammar else None) or prompt.schema
        reply = {"name": "reply", "strict": True, "schema": openai_schema(whole) if strict else whole}
        fields["response_format"] = {"type": "json_schema", "json_schema": reply}
    if judge.grammar and prompt.grammar is not None:
        fields["grammar"] = prompt.grammar
    if prompt.top_logprobs is not None:
        fields |= {"logprobs": True, "top_logprobs": prompt.top_logprobs}
    return fields


def headers(key: str | None) -> dict[str, str]:
    """The key as a bearer token."""
    return {"authorization": f"Bearer {key}"} if key else {}


def read(payload: Mapping[str, Any]) -> Reply:
    """The first choice: a refusal where it says so in `refusal` or was filtered, an error where it ended otherwise than
    whole, reasoning by any of the names that servers give it, log-probabilities where they are there."""
    choice = payload["choices"][0]
    message, usage = choice["message"], payload.get("usage") or {}
    details = usage.get("completion_tokens_details") or {}
    refusal, content, block = message.get("refusal"), message.get("content"), choice.get("logprobs")
    if not isinstance(content, (str, list, type(None))):
        raise TypeError("message.content is neither a text nor a list of parts")
    parts: list[Any] = content if isinstance(content, list) else []
    own = content if isinstance(content, str) else "".join(p.get("text", "") for p in parts if p.get("type") != THINKS)
    positions = (block or {}).get("content") or ()
    tokens: list[Any] = [usage.get("prompt_tokens"), usage.get("completion_tokens"), details.get("reasoning_tokens")]
    if tokens[2] and all(type(count) is int for count in tokens) and sum(tokens) == usage.get("total_tokens"):
        tokens[1] += tokens[2]  # xAI counts reasoning beside the answer, OpenAI with it
    text, finish = ended("refusal" if refusal else choice.get("finish_reason"), refusal or own)
    # Not OpenAI's: what vLLM, llama.cpp, DeepSeek and routers call the reasoning they took out; Mistral's parts.
    return Reply(
        text, finish, payload.get("model"), Usage(*tokens), likeliest(positions) if positions else None,
        tuple(map(token, positions)) or None if positions else None,
        message.get("reasoning_content") or message.get("reasoning")
        or "".join([i.get("text", "") for p in parts if p.get("type") == THINKS for i in p.get("thinking") or ()]),
    )  # fmt: skip


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The inverse of `read`: one choice; a refusal in `message.refusal`."""
    spoken = {"content": None, "refusal": text} if refusal else {"content": text}
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **spoken}}]
    usage = token_counts(("prompt_tokens", "completion_tokens", "total_tokens"), input_tokens, output_tokens)
    return {"object": "chat.completion", "model": model, "choices": choices, "usage": usage}


def likeliest(positions: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, float], ...] | None:
    """The likeliest tokens by position; None where the server names none, as those do that take `logprobs` alone."""
    tops = [position.get("top_logprobs") or () for position in positions]
    return tuple([dict(map(token, top)) for top in tops]) if any(tops) else None


def token(entry: Mapping[str, Any]) -> tuple[str, float]:
    """A token with its log-probability, or `TypeError`."""
    word, logprob = entry["token"], entry["logprob"]
    is_number = type(logprob) is float or (type(logprob) is int and logprob >= -(10**9))  # what a float may hold
    if type(word) is not str or not is_number or not logprob <= 1e-3:  # NaN is not, either
        raise TypeError("logprobs holds something that is no token with its log-probability")
    return word, logprob


def _request_to_azure(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    if "api-version" not in judge.query:
        remedy = 'add `query = { api-version = "2024-10-21" }`'
        raise RecuseError(f"judge {judge.name}: Azure OpenAI wants a version: {remedy}")
    url = address(judge, f"/openai/deployments/{segment(judge.model)}/chat/completions")
    return Request(url, described(judge, body(judge, prompt, seed, strict=True)))


AZURE = SimpleNamespace(
    request=_request_to_azure, headers=lambda key: {"api-key": key} if key else {}, read=read, payload=payload
)
"""Azure OpenAI: POST {base_url}/openai/deployments/{model}/chat/completions?api-version=... `base_url` is the resource
("https://NAME.openai.azure.com"), `model` the name of the deployment, and the panel gives the version in `query`.
Azure's newer address without versions (".../openai/v1") is this module or `openai_responses` with
`headers_env = { api-key = "..." }`."""

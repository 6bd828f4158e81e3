"""Azure OpenAI, by deployment: POST {base_url}/openai/deployments/{model}/chat/completions?api-version=... `base_url`
is the resource ("https://NAME.openai.azure.com"), `model` the name of the deployment, and the panel gives
`query = { api-version = "2024-10-21" }`. Azure's newer address without versions (".../openai/v1") is `openai_chat` or
`openai_responses` with `headers_env = { api-key = "..." }`."""

from __future__ import annotations

from recuse.judges.description import address, described, segment
from recuse.judges.openai_chat import body, payload, read
from recuse.schema import Judge, Prompt, RecuseError, Request

__all__ = ["headers", "payload", "read", "request"]


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """The body of `openai_chat` without the model, which is the deployment in the address; schemas as OpenAI takes
    them. `RecuseError` without `api-version` in the panel's `query`."""
    if "api-version" not in judge.query:
        raise RecuseError(
            f'judge {judge.name}: Azure OpenAI wants a version: add `query = {{ api-version = "2024-10-21" }}`'
        )
    url = address(judge, f"/openai/deployments/{segment(judge.model)}/chat/completions")
    return Request(url, described(judge, body(judge, prompt, seed, strict=True)))


def headers(key: str | None) -> dict[str, str]:
    """The key as `api-key`."""
    return {"api-key": key} if key else {}

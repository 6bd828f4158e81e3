"""Google Gemini generateContent: POST {base_url}/models/{model}:generateContent; and `VERTEX`, the same on Vertex AI.
Generation settings stand in a table of their own: `parameters = { generationConfig = { topP = 0.9 } }` in a panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from recuse.judges import openai_chat
from recuse.judges.description import address, described, segment
from recuse.judges.provider_responses import ended, token_counts
from recuse.schema import Judge, Prompt, RecuseError, Reply, Request, Usage

BATCH = "gemini"
_ROLES = {"user": "user", "assistant": "model"}
_COUNTS = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")


def request(judge: Judge, prompt: Prompt, seed: int | None, folder: str = "") -> Request:
    """System messages in `systemInstruction`, the others in `contents`; to the model in the address, which Vertex AI
    has in a `folder`."""
    config: dict[str, Any] = {"temperature": prompt.temperature, "maxOutputTokens": prompt.max_tokens}
    if seed is not None:
        config["seed"] = seed
    if judge.structured and prompt.schema is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": prompt.schema}
    others = [m for m in prompt.messages if m.role != "system"]
    contents = [{"role": _ROLES[m.role], "parts": [{"text": m.content}]} for m in others]
    fields: dict[str, Any] = {"contents": contents, "generationConfig": config}
    if system := [{"text": m.content} for m in prompt.messages if m.role == "system"]:
        fields["systemInstruction"] = {"parts": system}
    url = address(judge, f"{folder}/models/{segment(judge.model)}:generateContent")
    return Request(url, described(judge, fields))


def headers(key: str | None) -> dict[str, str]:
    """The key as `x-goog-api-key`."""
    # In a header, never as ?key=: an URL ends up in logs.
    return {"x-goog-api-key": key} if key else {}


def read(payload: Mapping[str, Any]) -> Reply:
    """The parts of the first candidate joined, those marked `thought` as reasoning, whose tokens count as output. A
    blocked prompt and a stop for safety or the like are refusals, any other than natural or the limit an error."""
    model, counted = payload.get("modelVersion"), payload.get("usageMetadata") or {}
    # Google counts thoughts beside the answer, and bills both as output.
    written, thought = counted.get("candidatesTokenCount"), counted.get("thoughtsTokenCount")
    if isinstance(thought, int) and isinstance(written, int | None):
        written = (written or 0) + thought
    counts = Usage(counted.get("promptTokenCount"), written, thought)
    if blocked := (payload.get("promptFeedback") or {}).get("blockReason"):
        return Reply(text=f"prompt blocked: {blocked}", finish="refusal", model=model, usage=counts)
    candidate = payload["candidates"][0]
    reason = candidate.get("finishReason")
    parts = (candidate.get("content") or {}).get("parts") or []
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    thoughts = "".join(part.get("text", "") for part in parts if part.get("thought"))
    text, finish = ended(reason, text)
    if finish == "refusal":
        text = text or f"stopped: {reason}"
    return Reply(text, finish, model=model, usage=counts, reasoning=thoughts)


def payload(text: str, *, model: str, refusal: bool, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The inverse of `read`: one candidate with one part; a refusal by its `finishReason`."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "modelVersion": model,
        "candidates": [{"index": 0, "finishReason": "SAFETY" if refusal else "STOP", "content": content}],
        "usageMetadata": token_counts(_COUNTS, input_tokens, output_tokens),
    }


def _google_signer(judge: Judge) -> Callable[[Request], Mapping[str, str]]:
    try:
        import google.auth
        from google.auth.exceptions import GoogleAuthError
    except ImportError:
        why = "Vertex AI is asked with google-auth, which is not installed"
        raise RecuseError(f"judge {judge.name}: {why}: pip install 'recuse[vertex]'") from None
    try:
        credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except GoogleAuthError as error:
        remedy = "Run `gcloud auth application-default login`, set GOOGLE_APPLICATION_CREDENTIALS"
        other = "name a variable with an access token in api_key_env"
        why = f"no Google credentials are found ({type(error).__name__})"
        raise RecuseError(f"judge {judge.name}: {why}. {remedy}, or {other}") from None

    def sign(request: Request) -> Mapping[str, str]:
        if not credentials.valid:
            try:
                credentials.refresh(_fetch)  # type: ignore[no-untyped-call]
            except GoogleAuthError as error:
                why = f"Google did not renew the access token ({type(error).__name__})"
                raise RecuseError(f"judge {judge.name}: {why}; log in again") from None
        return {"authorization": f"Bearer {credentials.token}"}

    return sign


def _fetch(
    url: str, method: str = "GET", body: bytes | None = None, headers: Any = None, timeout: float = 60, **_: Any
) -> Any:
    """google-auth's transport over the client that is there already."""
    import httpx2
    from google.auth.exceptions import TransportError

    try:
        response = httpx2.request(method, url, content=body, headers=headers, timeout=timeout, trust_env=False)
    except httpx2.RequestError as error:
        raise TransportError(type(error).__name__) from error  # type: ignore[no-untyped-call]
    return SimpleNamespace(status=response.status_code, headers=dict(response.headers), data=response.content)


VERTEX = SimpleNamespace(
    request=partial(request, folder="/publishers/google"), headers=openai_chat.headers, read=read, payload=payload,
    signer=_google_signer,
)  # fmt: skip
"""Vertex AI: POST {base_url}/publishers/google/models/{model}:generateContent. `base_url` names project and place:
"https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION". Access comes from the environment's
application default credentials (extra `vertex`), their tokens refreshed as they expire; with `api_key_env`, from an
access token in that variable."""

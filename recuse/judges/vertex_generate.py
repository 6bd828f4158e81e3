"""Gemini on Vertex AI: POST {base_url}/publishers/google/models/{model}:generateContent. `base_url` names project and
place: "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION". Access comes from the
environment's application default credentials (extra `vertex`), their tokens refreshed as they expire; with
`api_key_env`, from an access token in that variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from recuse.judges.description import address, described, segment
from recuse.judges.gemini_generate import body, payload, read
from recuse.judges.openai_chat import headers
from recuse.schema import Judge, Prompt, RecuseError, Request

__all__ = ["headers", "payload", "read", "request", "signer"]

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def request(judge: Judge, prompt: Prompt, seed: int | None) -> Request:
    """The body of `gemini_generate`, to the model below the project of `base_url`."""
    url = address(judge, f"/publishers/google/models/{segment(judge.model)}:generateContent")
    return Request(url, described(judge, body(judge, prompt, seed)))


def signer(judge: Judge) -> Callable[[Request], Mapping[str, str]]:
    """A function that gives a request its `authorization`; `RecuseError` where package or credentials are missing."""
    try:
        import google.auth
        from google.auth.exceptions import GoogleAuthError
    except ImportError:
        raise RecuseError(
            f"judge {judge.name}: Vertex AI is asked with google-auth, which is not installed: "
            "pip install 'recuse[vertex]'"
        ) from None
    try:
        credentials, _ = google.auth.default(scopes=[_SCOPE])
    except GoogleAuthError as error:
        raise RecuseError(
            f"judge {judge.name}: no Google credentials are found ({type(error).__name__}). Run `gcloud auth "
            "application-default login`, set GOOGLE_APPLICATION_CREDENTIALS, or name a variable with an access token "
            "in api_key_env"
        ) from None

    def sign(request: Request) -> Mapping[str, str]:
        if not credentials.valid:
            try:
                credentials.refresh(_fetch)  # type: ignore[no-untyped-call]
            except GoogleAuthError as error:
                raise RecuseError(
                    f"judge {judge.name}: Google did not renew the access token ({type(error).__name__}); log in again"
                ) from None
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

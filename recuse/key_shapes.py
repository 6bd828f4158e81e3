"""What credentials look like: the shapes of keys, and the names under which they are sent."""

from __future__ import annotations

import re

KEY_SHAPES = {
    "an OpenAI or Anthropic style key": re.compile(rb"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}"),
    "a Google API key": re.compile(rb"\bAIza[A-Za-z0-9_-]{35}"),
    "an xAI key": re.compile(rb"\bxai-[A-Za-z0-9]{20,}"),
    "a Perplexity key": re.compile(rb"\bpplx-[A-Za-z0-9]{20,}"),
    "a Groq key": re.compile(rb"\bgsk_[A-Za-z0-9]{20,}"),
    "a Hugging Face token": re.compile(rb"\bhf_[A-Za-z0-9]{30,}"),
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    "an AWS access key": re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a bearer token": re.compile(rb"\b[Bb]earer +[A-Za-z0-9._~+/-]{20,}"),
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a JSON web token": re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
}
"""What credentials of common providers look like: searched for in panel files and in committed cassettes."""

_IN_EVERY_KEY = (
    "sk-", "AIza", "xai-", "pplx-", "gsk_", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA",
    "ASIA", "earer ", "PRIVATE KEY", "eyJ", "***",
)  # fmt: skip
"""One of these is in whatever has one of the shapes: looked for first, at a hundredth of the cost."""

SECRET_NAMES = frozenset(
    {
        *("key", "api_key", "api-key", "apikey", "x-api-key", "x-goog-api-key"),
        *("subscription-key", "ocp-apim-subscription-key", "authorization", "proxy-authorization", "auth", "cookie"),
        *("access_token", "access-token", "auth_token", "token", "password", "secret", "client_secret"),
        *("sig", "signature", "x-goog-signature", "x-amz-signature", "x-amz-security-token", "x-amz-credential"),
    }
)
"""Headers, query parameters and fields of a body, in lower case, whose value is a credential."""


SHORTEST, LONG = 4, 8
"""Characters of a key: fewer are found in every text, and from `LONG` on none is found in a text by accident."""


def too_plain(key: str) -> str:
    """Why a key cannot be kept out of recordings without harm to their text; "" if it can. One of fewer than `LONG`
    characters must mix letters with others: `none` is found in prose, `content` in every reply, `1234` in numbers."""
    if len(key) >= LONG:
        return ""
    mixed = any(c.isalpha() for c in key) and any(not c.isalpha() for c in key)
    if len(key) >= SHORTEST and mixed:
        return ""
    return (
        f"its value of {len(key)} characters would be found in ordinary text, and replies would be damaged where it is "
        f"taken out: a key needs {LONG} characters, or {SHORTEST} that mix letters with digits. If the server needs no "
        "key, name none"
    )


def key_shapes_in(data: bytes) -> list[str]:
    """Which kinds of credentials `data` seems to contain."""
    return [kind for kind, shape in KEY_SHAPES.items() if shape.search(data)]


def looks_like_a_key(text: str) -> str:
    """Which kind of credential a text seems to be or to contain; empty if none."""
    return next(iter(key_shapes_in(text.encode("utf-8", "replace"))), "")


def without_keys(text: str) -> str:
    """The text with everything that looks like a key, whole or masked with stars, replaced."""
    if not any(map(text.__contains__, _IN_EVERY_KEY)):
        return text
    data = text.encode("utf-8", "replace")
    for shape in KEY_SHAPES.values():
        data = shape.sub(b"[secret]", data)
    return re.sub(r"\S*\*{3,}\S*", "[secret]", data.decode())

"""What credentials look like: the shapes of keys, and the names under which they are sent."""

from __future__ import annotations

import re
from typing import NamedTuple


class KeyShape(NamedTuple):
    """What one kind of credential looks like."""

    marks: tuple[bytes, ...]  # one of them is in each: looked for first, at a tenth of the cost
    pattern: re.Pattern[bytes]

    def is_in(self, data: bytes) -> bool:
        """Whether `data` seems to contain such a credential."""
        return any(mark in data for mark in self.marks) and self.pattern.search(data) is not None


def _shape(pattern: bytes, *marks: bytes) -> KeyShape:
    return KeyShape(marks, re.compile(pattern))


KEY_SHAPES = {
    "an OpenAI or Anthropic style key": _shape(rb"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}", b"sk-"),
    "a Google API key": _shape(rb"\bAIza[A-Za-z0-9_-]{35}", b"AIza"),
    "an xAI key": _shape(rb"\bxai-[A-Za-z0-9]{20,}", b"xai-"),
    "a Perplexity key": _shape(rb"\bpplx-[A-Za-z0-9]{20,}", b"pplx-"),
    "a Groq key": _shape(rb"\bgsk_[A-Za-z0-9]{20,}", b"gsk_"),
    "a Hugging Face token": _shape(rb"\bhf_[A-Za-z0-9]{30,}", b"hf_"),
    "a GitHub token": _shape(
        rb"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
        *(b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"),
    ),
    "an AWS access key": _shape(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", b"AKIA", b"ASIA"),
    "a bearer token": _shape(rb"\b[Bb]earer +[A-Za-z0-9._~+/-]{20,}", b"earer "),
    "a private key": _shape(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----", b"PRIVATE KEY-----"),
    "a JSON web token": _shape(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", b"eyJ"),
}
"""What credentials of common providers look like: searched for in panel files and in committed cassettes."""

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
    return [kind for kind, shape in KEY_SHAPES.items() if shape.is_in(data)]


def looks_like_a_key(text: str) -> str:
    """Which kind of credential a text seems to be or to contain; empty if none."""
    return next(iter(key_shapes_in(text.encode("utf-8", "replace"))), "")


def without_keys(text: str) -> str:
    """The text with everything that looks like a key, whole or masked with stars, replaced."""
    if not any(map(text.__contains__, _IN_EVERY_KEY)):
        return text
    data = text.encode("utf-8", "replace")
    for shape in KEY_SHAPES.values():
        data = shape.pattern.sub(b"[secret]", data)
    return re.sub(r"\S*\*{3,}\S*", "[secret]", data.decode())


_IN_EVERY_KEY = ("***", *(mark.decode() for shape in KEY_SHAPES.values() for mark in shape.marks))

"""Secrets stay in memory: known values are replaced in every byte before it is written or shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from recuse.schema import RecuseError

PLACEHOLDER = "[secret]"
SHORTEST = 8

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
"""What credentials of common providers look like; `check` searches committed cassettes for them."""


class Secrets:
    """The values that must not leave this process, in every spelling in which a server may echo them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms: dict[bytes, None] = {}
        for value in values:
            if len(value) < SHORTEST:
                raise RecuseError(
                    f"an API key of {len(value)} characters is too short to be told from ordinary text (at least "
                    f"{SHORTEST} are needed to keep it out of recordings); if the server needs no key, name none"
                )
            forms.update(dict.fromkeys(_spellings(value)))
        self._forms = sorted(forms, key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def found_in(self, data: bytes) -> bool:
        return any(form in data for form in self._forms)

    def clean(self, data: bytes) -> bytes:
        """`data` with every known secret replaced, also where JSON escapes hide it."""
        if not self._forms:
            return data
        for form in self._forms:
            if form in data:
                data = data.replace(form, PLACEHOLDER.encode())
        if b"\\u" in data or b"\\/" in data:
            data = self._clean_escaped(data)
        return data

    def clean_text(self, text: str) -> str:
        return (
            self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass") if self._forms else text
        )

    def _clean_escaped(self, data: bytes) -> bytes:
        try:
            plain = json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "backslashreplace"
            )
        except (ValueError, RecursionError):
            return data
        return self.clean(plain) if self.found_in(plain) else data


def key_shapes_in(data: bytes) -> list[str]:
    """Which kinds of credentials `data` seems to contain."""
    return [kind for kind, shape in KEY_SHAPES.items() if shape.search(data)]


def _spellings(value: str) -> list[bytes]:
    raw = value.encode()
    escaped = (
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe=""),
        quote_plus(value),
    )
    return [raw, *(text.encode() for text in escaped), *_base64_spellings(raw)]


def _base64_spellings(raw: bytes) -> list[bytes]:
    """What `raw` looks like inside a longer base64 text, at each of the three alignments, without the characters that
    its neighbours co-determine."""
    found = []
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
        first = -(-shift * 8 // 6)
        last = (shift + len(raw)) * 8 // 6
        inner = text[first:last]
        found += [inner, inner.replace(b"+", b"-").replace(b"/", b"_")]
    return found

"""Secrets stay in memory: known values are replaced in every byte before it is written or shown; and what credentials
look like, where their values are not known."""

from __future__ import annotations

import base64
import html
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_to_bytes

from recuse.schema import Call, RecuseError

_UNICODE = re.compile(rb"\\+u([0-9a-fA-F]{4})")
_ENTITIES = {'"': b"quot", "'": b"apos", "<": b"lt", ">": b"gt", "&": b"amp"}
PLACEHOLDER = "[secret]"
KEY_SHAPES = {
    "an OpenAI or Anthropic style key": (re.compile(rb"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}"), [b"sk-"]),
    "a Google API key": (re.compile(rb"\bAIza[A-Za-z0-9_-]{35}"), [b"AIza"]),
    "an xAI key": (re.compile(rb"\bxai-[A-Za-z0-9]{20,}"), [b"xai-"]),
    "a Perplexity key": (re.compile(rb"\bpplx-[A-Za-z0-9]{20,}"), [b"pplx-"]),
    "a Groq key": (re.compile(rb"\bgsk_[A-Za-z0-9]{20,}"), [b"gsk_"]),
    "a Hugging Face token": (re.compile(rb"\bhf_[A-Za-z0-9]{30,}"), [b"hf_"]),
    "a GitHub token": (
        re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
        [b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_"],
    ),
    "an AWS access key": (re.compile(rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), [b"AKIA", b"ASIA"]),
    "a bearer token": (re.compile(rb"\b[Bb]earer +[A-Za-z0-9._~+/-]{20,}"), [b"earer "]),
    "a private key": (re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"), [b"PRIVATE KEY-----"]),
    "a JSON web token": (  # its dots first: of a million "eyJ-" each would be tried to the end
        re.compile(rb"(?<![\w-])(?=[\w-]++\.eyJ[\w-]{10,}+\.[\w-]{10})(?:[\w-]*?-)?eyJ[\w-]{10}"), [b"eyJ"],
    ),
}  # fmt: skip
"""What credentials of common providers look like: searched for in panel files and in committed cassettes. One of the
marks is in each: looked for first, at a tenth of the cost."""
SECRET_NAMES = frozenset({
    "key", "api_key", "api-key", "apikey", "x-api-key", "x-goog-api-key",
    "subscription-key", "ocp-apim-subscription-key", "authorization", "proxy-authorization", "auth", "cookie",
    "access_token", "access-token", "auth_token", "token", "password", "secret", "client_secret",
    "sig", "signature", "x-goog-signature", "x-amz-signature", "x-amz-security-token", "x-amz-credential",
})  # fmt: skip
"""Headers, query parameters and fields of a body, in lower case, whose value is a credential."""
SHORTEST, LONG = 4, 8
"""Characters of a key: fewer are found in every text, and from `LONG` on none is found in a text by accident."""
_IN_EVERY_KEY = ("***", *(mark.decode() for _, marks in KEY_SHAPES.values() for mark in marks))


class Secrets:
    """The values that must not leave this process, in every spelling in which a server may echo them: as they are, with
    any of their characters escaped (JSON, once or several times over; percent; HTML), in base64, in hexadecimal."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._forms: set[bytes] = set()
        self._plain: list[bytes] = []  # as `_plain_text` would show them, and in base64 and hexadecimal
        self._encoded: list[bytes] = []
        self._pattern: re.Pattern[bytes] | None = None
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Know these values as well from now on; `RecuseError` for one that would be found in ordinary text."""
        new = dict.fromkeys(value for value in values if value not in self._known)
        for value in new:
            if why := too_plain(value):
                raise RecuseError(f"an API key cannot be kept out of recordings: {why}")
            raw = value.encode()
            # Inside a longer base64 text, at each alignment, without characters that its neighbours co-determine.
            spellings = [
                encode(b"\0" * shift + raw)[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
                for shift in range(3)
                for encode in (base64.b64encode, base64.urlsafe_b64encode)
            ]
            self._forms |= {
                # a run of backslashes is tried from its first on: from each of a million, it would take a day
                rb"(?:(?<!\\)\\+|)" + rb"\\*".join(map(_any_spelling, value)), _digits(raw.hex()),
                b"\0{1,3}".join(re.escape(bytes([byte])) for byte in raw) if raw.isascii() else re.escape(raw),
                *map(re.escape, spellings),
            }  # fmt: skip
            self._plain.append(_plain_text(raw))
            self._encoded += [*spellings, raw.hex().encode()]
        if new:
            self._known.update(new)
            longest_first = sorted(sorted(self._forms), key=len, reverse=True)
            self._pattern = re.compile(b"|".join(longest_first))

    def __bool__(self) -> bool:
        return self._pattern is not None

    def found_in(self, data: bytes) -> bool:
        """Searching for every spelling at once is slow, so it is first seen whether there can be any."""
        return self._pattern is not None and self._may_be_in(data) and self._pattern.search(data) is not None

    def clean(self, data: bytes) -> bytes:
        """`data` with every known secret replaced, also where escapes hide it."""
        if self._pattern is None or not self._may_be_in(data):
            return data
        return self._pattern.sub(PLACEHOLDER.encode(), data)

    def _may_be_in(self, data: bytes) -> bool:
        plain, lower = _plain_text(data), data.lower()
        return any(one in plain for one in self._plain) or any(one in data or one in lower for one in self._encoded)

    def clean_text(self, text: str) -> str:
        """`clean` for text, half surrogate pairs included."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass") if self else text


def check_no_keys(cell: str, header: Mapping[str, Any], missing: Iterable[Call], secrets: Secrets) -> None:
    """`RecuseError` if the header or a prompt of a cell holds a known secret, or what looks like a key."""
    if _holds_key(json.dumps(header, ensure_ascii=False, default=str), secrets):
        what = "what describes this judge (its parameters, model or address) holds what looks like an API key"
        remedy = "name the key's environment variable in api_key_env instead"
        raise RecuseError(f"cell {cell}: {what} (value not shown); {remedy}")
    for call in {call.key: call for call in missing}.values():
        if _holds_key(call.request.body.decode("utf-8", "surrogateescape"), secrets):
            what = f"the prompt for item {call.item} holds what looks like an API key (value not shown)"
            harm = "it would be sent to the judge and stored in the cassette"
            remedy = "Take it out of the item or the prompt, then record"
            raise RecuseError(f"cell {cell}: {what}; {harm}. {remedy}")


@contextmanager
def clean_logging(secrets: Secrets) -> Iterator[None]:
    """While open, no log record of this process carries a secret: HTTP clients log headers when they debug."""
    make = logging.getLogRecordFactory()

    def cleaned(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        if not secrets:  # they may be learnt later
            return record
        message = record.getMessage()
        if (kept := secrets.clean_text(message)) != message:
            record.msg, record.args = kept, ()
        return record

    logging.setLogRecordFactory(cleaned)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make)


def _holds_key(text: str, secrets: Secrets) -> bool:
    data = text.encode("utf-8", "surrogateescape")
    return secrets.found_in(data) or bool(key_shapes_in(data))


def _plain_text(data: bytes) -> bytes:
    """`data` with its escapes undone, roughly: what is in it in any spelling is in this as it is."""
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    if b"\\u" in data:
        data = _UNICODE.sub(lambda escape: chr(int(escape[1], 16)).encode("utf-8", "surrogatepass"), data)
    for _ in range(2):
        if b"%" in data:
            data = unquote_to_bytes(data)
    if b"&" in data:
        data = html.unescape(html.unescape(data.decode("utf-8", "surrogateescape"))).encode("utf-8", "surrogateescape")
    return data.replace(b"\\", b"").replace(b"+", b" ")


def _any_spelling(character: str) -> bytes:
    """One character as it is, as \\uXXXX, as %XX (also %25XX), or as an HTML entity, without the backslashes before."""
    utf_8 = character.encode()
    units = character.encode("utf-16-be")
    unicode = rb"\\+".join(b"u" + _digits(units[i : i + 2].hex()) for i in range(0, len(units), 2))
    percent = b"".join(rb"%(?:25)*" + _digits(bytes([byte]).hex()) for byte in utf_8)
    entity = rb"&(?:amp;)*#(?:[xX]0*" + _digits(f"{ord(character):x}") + rb"|0*%d);" % ord(character)
    further = rb"|\+" if character == " " else b""
    if name := _ENTITIES.get(character):
        further = rb"|&(?:amp;)*" + name + b";"
    return rb"(?:" + re.escape(utf_8) + b"|" + unicode + b"|" + percent + b"|" + entity + further + b")"


def _digits(text: str) -> bytes:
    """Hexadecimal digits in either case."""
    return re.sub("[a-f]", lambda digit: f"[{digit[0]}{digit[0].upper()}]", text).encode()


def too_plain(key: str) -> str:
    """Why a key cannot be kept out of recordings without harm to their text; "" if it can. One of fewer than `LONG`
    characters must mix letters with others: `none` is found in prose, `content` in every reply, `1234` in numbers."""
    mixed = any(c.isalpha() for c in key) and any(not c.isalpha() for c in key)
    if len(key) >= LONG or (len(key) >= SHORTEST and mixed):
        return ""
    return (
        f"its value of {len(key)} characters would be found in ordinary text, and replies would be damaged where it is "
        f"taken out: a key needs {LONG} characters, or {SHORTEST} that mix letters with digits. If the server needs no "
        "key, name none; one on this machine or in a private network may want any word"
    )


def key_shapes_in(data: bytes) -> list[str]:
    """Which kinds of credentials `data` seems to contain."""
    return [kind for kind, pattern in _likely(data) if pattern.search(data)]


def _likely(data: bytes) -> list[tuple[str, re.Pattern[bytes]]]:
    """What may be in `data`, as one of its marks is."""
    return [(kind, form) for kind, (form, marks) in KEY_SHAPES.items() if any(mark in data for mark in marks)]


def looks_like_a_key(text: str) -> str:
    """Which kind of credential a text seems to be or to contain; empty if none."""
    return next(iter(key_shapes_in(text.encode("utf-8", "replace"))), "")


def without_keys(text: str) -> str:
    """The text with everything that looks like a key, whole or masked with stars, replaced."""
    if not any(map(text.__contains__, _IN_EVERY_KEY if len(text) >= 20 else ("***",))):  # no shape is shorter
        return text
    data = text.encode("utf-8", "replace")
    for _, pattern in _likely(data):
        data = pattern.sub(PLACEHOLDER.encode(), data)
    kept = data.decode()
    return re.sub(r"\S+", lambda word: PLACEHOLDER if "***" in word[0] else word[0], kept) if "***" in kept else kept

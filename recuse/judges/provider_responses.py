"""What a provider sends beside an answer: its own words when there is none, and whether asking again can help; and what
it sends compressed, within bounds: never more is held in memory than a reply may have."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import from_json

from recuse.schema.vocabulary import HIDDEN
from recuse.security.redaction import PLACEHOLDER, Secrets, too_plain, without_keys
from recuse.security.sanitize import visible

LONGEST = 400
LARGEST_BODY = 16 * 2**20  # bytes, decompressed; a reply has a few thousand: what is larger is a fault or an attack
_PIECE = 4096
_spelled = lru_cache(maxsize=64)(Secrets)  # kept: a batch may bring an error for each of its requests

_USED_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
_NO_CREDIT = re.compile(r"credit balance is too low|insufficient (?:funds|balance|credits?)\b", re.IGNORECASE)
_TAGS = re.compile(r"(?s)<(script|style)\b(?:(?!<\1\b).)*?</\1>|<[^<>]*>")  # in one pass, also of a thousand "<script>"

POLICY_CODES = frozenset({"content_filter", "content_policy_violation", "invalid_prompt", "safety", "refusal"})
"""How providers say that their policy forbids an answer. That is an answer: this judge's refusal."""

BROKEN_OFF = frozenset({"error", "abort", "insufficient_system_resource", "network_error"})
"""How servers of chat completions say, under status 200, that a reply ended in the middle (OpenRouter, vLLM, DeepSeek,
Zhipu). What there is of it is no answer; asked again, they may give one."""

_ENDINGS: Mapping[str, str] = {
    **dict.fromkeys(("stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete", "normal"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("refusal", "content_filter", "content_filtered", "guardrail_intervened", "sensitive"), "refusal"),
    **dict.fromkeys(("safety", "recitation", "blocklist", "prohibited_content", "spii", "language"), "refusal"),
    **dict.fromkeys(("model_armor", "error_toxic"), "refusal"),
}
"""How every provider says that a reply ended by itself, by its limit, or by a policy. One table for all formats, since
gateways pass on what those behind them say (OpenAI, Anthropic, Google, Bedrock, Cohere, Mistral, Zhipu, Together)."""


def ended(reason: str | None, text: str) -> tuple[str, Any]:
    """Text and `Reply.finish` of a reply that ended for this reason; one without a reason (null, or an empty text)
    ended by itself. What ended for any other may be half an answer and is none: an error that names the reason."""
    finish = "stop" if reason in (None, "") else _ENDINGS.get(reason.lower().replace("-", "_"), "error")
    return (broken_off(reason) if finish == "error" else text), finish


def broken_off(reason: object) -> str:
    """What stands in place of the text of a reply that ended neither by itself nor by its limit."""
    return f'the reply ended with "{reason}", which is not known to end a whole answer'


def no_reply(payload: Mapping[str, Any]) -> str:
    """Why this JSON, under status 200, is no reply of a model; empty where it may be one. Asked again, the provider may
    give one. Known: an error report (a member, in a choice, or flat: FastChat, older vLLM), a reply that was broken
    off, no choice or candidate, a Responses object that is under way or has failed."""
    choices, state = payload.get("choices", payload.get("candidates", payload)), payload.get("status")
    for one in (payload, *(choices if isinstance(choices, list) else ())):
        if isinstance(one, dict) and (one.get("error") or "error" in (one.get("object"), one.get("type"))):
            return "the body is an error report, although the status says success"
        if isinstance(one, dict) and str(one.get("finish_reason")) in BROKEN_OFF:
            return broken_off(one["finish_reason"])
    if isinstance(state, str) and state in ("queued", "in_progress", "failed", "cancelled"):
        return f"the response is {state}"
    return "" if choices or payload.get("promptFeedback") else "the body holds no reply"


def with_cached(usage: Mapping[str, Any], fresh: str, *cached: str) -> Any:
    """The tokens of a request, where a provider counts those of a cache beside the `fresh` ones: all are billed."""
    count = usage.get(fresh)
    return count + sum(n for name in cached if type(n := usage.get(name)) is int) if type(count) is int else count


def token_counts(names: tuple[str, str, str], input_tokens: int, output_tokens: int) -> dict[str, int]:
    """The tokens of a call and their sum, under the names that a provider has for them."""
    return dict(zip(names, (input_tokens, output_tokens, input_tokens + output_tokens), strict=True))


def decoded(body: bytes) -> Any:
    """The body as JSON, by the faster parser; `ValueError` or `RecursionError` where it is none."""
    try:
        return from_json(body, cache_strings="keys")  # texts seldom come again
    except ValueError:  # the standard library may still read it (half of a surrogate pair), and it words the fault
        return json.loads(body)


def parsed(body: bytes) -> Any:
    """The body as JSON; None where it is none."""
    try:
        return decoded(body)
    except (ValueError, RecursionError):
        return None


def is_policy_refusal(status: int, payload: Any) -> bool:
    """Whether a 4xx with this JSON body refuses on policy: asked again, the provider would say so again."""
    error = _error(payload) if isinstance(payload, dict) else {}
    return 400 <= status < 500 and bool(POLICY_CODES & {str(error.get("code")), str(error.get("type"))})


def is_used_up(status: int, payload: Any) -> bool:
    """Whether the account has nothing left: no money, or no calls for today. A rate limit passes, this does not."""
    error = _error(payload)
    if status == 402 or {str(error.get("code")), str(error.get("type"))} & _USED_UP:
        return status >= 400
    if status == 429:
        exceeded = (one for detail in _objects(error.get("details")) for one in _objects(detail.get("violations")))
        return any("PerDay" in str(one.get("quotaId")) for one in exceeded)
    return status == 400 and bool(_NO_CREDIT.search(str(error.get("message", ""))))


def is_bad_key(status: int, payload: Any) -> bool:
    """Whether the key itself is not accepted. Google says so in a 400."""
    reasons = [detail.get("reason") for detail in _objects(_error(payload).get("details"))]
    return status == 401 or (status == 400 and "API_KEY_INVALID" in reasons)


def words(body: bytes, secrets: Iterable[str] = (), texts: bool = True) -> str:
    """The provider's own error text on one line, without secrets in any spelling, invisible characters spelled out; may
    be empty. Not where `texts` stay hidden: it may quote the prompt. Known shapes: {"error": {"message", "param"}}
    (OpenAI, Anthropic, Google, Azure), the same in a list (Google), {"error": text}, {"message": text} (AWS),
    {"detail": text or faults} (FastAPI); else the text of the page."""
    payload = parsed(body)
    text = _message(payload) if payload is not None else _TAGS.sub(" ", body.decode("utf-8", "replace"))
    every = sorted(filter(None, secrets), key=len, reverse=True)
    text = _spelled(tuple(secret for secret in every if not too_plain(secret))).clean_text(text)
    for secret in every:  # the shortest are known in this spelling alone: `too_plain`
        text = text.replace(secret, PLACEHOLDER)
    line = " ".join(visible(without_keys(text)).split()) if texts else text and HIDDEN
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _error(payload: Any) -> Mapping[str, Any]:
    """The provider's error object, wherever it stands, which Google may send as a list; empty where there is none."""
    payload = payload[0] if isinstance(payload, list) and payload else payload
    error = payload.get("error") if isinstance(payload, dict) else None
    return error if isinstance(error, dict) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _message(payload: Any) -> str:
    payload = payload[0] if isinstance(payload, list) and payload else payload
    if not isinstance(payload, dict):
        return str(payload)
    error = payload.get("error", payload)
    if not isinstance(error, dict):
        return error if isinstance(error, str) else ""
    text = error.get("message") or error.get("Message") or error.get("detail") or error.get("type") or ""
    field = error.get("param")
    message = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return f"{message} (field {field})" if field and str(field) not in message else message


def decompressed(body: bytes, encoding: str) -> bytes:
    """The body without its content encodings. `ValueError` if it is not what its encoding says, if the encoding is not
    known here (or its library is not installed), and beyond `LARGEST_BODY` bytes: never more are held in memory."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
    for name in reversed(names):
        if name not in _DECOMPRESS:
            raise ValueError(f"the body is compressed as {name!r}, which is not known; known: {', '.join(_DECOMPRESS)}")
        try:
            body = _DECOMPRESS[name](body, LARGEST_BODY + 1)
        except ImportError as error:
            raise ValueError(f"the body is compressed as {name!r}; install {error.name} to record it") from error
        except Exception as error:  # each library has errors of its own
            raise ValueError(f"the body is not valid {name}: {error}") from error
        if len(body) > LARGEST_BODY:
            break
    if len(body) > LARGEST_BODY:
        raise ValueError(f"the body has more than {LARGEST_BODY // 2**20} MB; no judge's reply is that long")
    return body


def _inflate(body: bytes, largest: int) -> bytes:
    try:
        return _unpacked(zlib.decompressobj(), body, largest)
    except zlib.error:  # some servers send the stream without its zlib wrapper
        return _unpacked(zlib.decompressobj(-zlib.MAX_WBITS), body, largest)


def _unpacked(stream: Any, body: bytes, largest: int) -> bytes:
    data = bytes(stream.decompress(body, largest))
    if not stream.eof and len(data) < largest:
        raise EOFError("it ends too early")
    return data


def _brotli(body: bytes, largest: int) -> bytes:
    try:
        import brotli  # type: ignore[import-untyped]
    except ImportError:
        import brotlicffi as brotli  # type: ignore[import-not-found]
    stream, data = brotli.Decompressor(), b""
    for at in range(0, len(body), _PIECE):  # an attack of 16 KB cannot expand to more than a few dozen MB
        data += bytes(stream.process(body[at : at + _PIECE]))
        if len(data) >= largest:
            return data
    if not stream.is_finished():
        raise EOFError("it ends too early")
    return data


def zstd() -> Any:
    """The library for it, Python's own from 3.14 on; `ImportError` where there is none."""
    try:
        import compression.zstd as library  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        import backports.zstd as library
    return library


_DECOMPRESS: dict[str, Callable[[bytes, int], bytes]] = {
    **dict.fromkeys(("gzip", "x-gzip"), lambda body, largest: gzip.GzipFile(fileobj=io.BytesIO(body)).read(largest)),
    "deflate": _inflate, "br": _brotli,
    "zstd": lambda body, largest: _unpacked(zstd().ZstdDecompressor(), body, largest),
}  # fmt: skip

"""What makes two requests the same, which planned call an HTTP request is, and what of a response is worth keeping. The
key of a request is a hash of method, URL without secrets and the JSON body whatever its layout. The headers
`x-recuse-repeat` and `x-recuse-cell` say which repeat of it is asked, and for which cell: two may ask the same."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from recuse.judges.description import CanonicalJson, canonical
from recuse.judges.provider_responses import decompressed, is_policy_refusal, no_reply, parsed
from recuse.schema import Call, RawResponse, RecuseError, Request
from recuse.security.redaction import PLACEHOLDER, SECRET_NAMES

REPEAT_HEADER = "x-recuse-repeat"
CELL_HEADER = "x-recuse-cell"
SECRET_MEMBERS = frozenset(  # members of a JSON body whose text a placeholder replaces before it is keyed or stored
    ["api_key", "api-key", "apikey", "x-api-key", "access_token", "client_secret", "authorization", "password"]
)
KEPT_HEADERS = ("content-type", "request-id", "x-request-id")
"""Response headers that are stored, in this order. Others (cookies, organisation ids, rate limits) are not read."""

_SECRET_MEMBER = re.compile(b'"(?:%b)":' % "|".join(map(re.escape, SECRET_MEMBERS)).encode(), re.IGNORECASE)
_DEFAULT_PORT = {"http": 80, "https": 443}


def request_key(request: Request) -> str:
    """32 hexadecimal digits, equal for requests that ask the same of the same address."""
    return key_of(request.method, public_url(request.url), canonical_body(request.body))


def key_of(method: str, url: str, body: bytes) -> str:
    """The key of a request whose URL is already public and whose body is already canonical."""
    verb, place = method.upper().encode(), url.encode()
    # Lengths first: no two triples share one byte stream.
    return blake2b(b"%d:%b,%d:%b,%b" % (len(verb), verb, len(place), place, body), digest_size=16).hexdigest()


def call_headers(call: Call) -> dict[str, str]:
    """The headers by which a judge's HTTP request is recognised as this call of the plan."""
    return {REPEAT_HEADER: str(call.repeat), CELL_HEADER: call.cell}


def canonical_json(value: Any) -> CanonicalJson:
    """`description.canonical` of `value`: text is never normalised, as composed and decomposed letters are different
    tokens to a model. `RecuseError` for what JSON cannot hold: NaN, infinities, keys that are not text, other types."""
    try:
        return canonical(value)
    except (TypeError, ValueError) as error:
        plain = "plain JSON (text, finite numbers, lists, mappings)"
        raise RecuseError(f"a request body must be {plain}: {error}") from None


def canonical_body(body: bytes) -> bytes:
    """The body in canonical JSON with secret members blanked; unchanged where it is not JSON."""
    if isinstance(body, CanonicalJson) and not _SECRET_MEMBER.search(body):
        return body
    if (value := parsed(body)) is None:
        return body
    spelled = canonical_json(value)
    return canonical_json(_blank(value)) if _SECRET_MEMBER.search(spelled) else spelled


@lru_cache(maxsize=4096)
def public_url(url: str) -> str:
    """The URL without user, password, fragment and secret parameters; host in lower case, default port left out."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    place = host if port is None or port == _DEFAULT_PORT.get(parts.scheme.lower()) else f"{host}:{port}"
    given = parse_qsl(parts.query, keep_blank_values=True)
    query = sorted((name, value) for name, value in given if name.lower() not in SECRET_NAMES)
    return urlunsplit((parts.scheme.lower(), place, parts.path or "/", urlencode(query, quote_via=quote), ""))


def _blank(value: Any) -> Any:
    if isinstance(value, list):
        return [_blank(member) for member in value]
    if not isinstance(value, dict):
        return value
    secret = {name for name, member in value.items() if isinstance(member, str) and name.lower() in SECRET_MEMBERS}
    return {name: PLACEHOLDER if name in secret else _blank(member) for name, member in value.items()}


def public_request(request: Request) -> Request:
    """A request as it may be shown and compared: its address without secrets, its body in canonical form."""
    return Request(public_url(request.url), canonical_body(request.body), request.method)


def kept_response(response: RawResponse) -> RawResponse:
    """What is stored of a response: decompressed, UTF-8, with few headers; else `ValueError` with reason and body. What
    cannot be decompressed is not kept."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = decompressed(response.body, headers.get("content-encoding", ""))
    if reason := reason_to_drop(response.status, body):
        raise ValueError(reason, body)
    kept, encoding = {name: headers[name] for name in KEPT_HEADERS if name in headers}, json.detect_encoding(body)
    if encoding != "utf-8":  # as it should have come; secrets are looked for in this spelling
        body = body.decode(encoding, "surrogatepass").encode("utf-8", "backslashreplace")
    return RawResponse(response.status, kept, body, response.seconds)


def reason_to_drop(status: int, body: bytes) -> str:
    """Why a response is not stored; empty if it is. `body` is already decompressed.

    Kept: a complete 2xx whose body is a JSON object and may be a reply, whatever its content type says; and the 4xx by
    which a provider says that its policy forbids an answer (it would say so again, so it is this judge's answer).
    Not kept: everything that another try may change - 408, 409, 425, 429, 5xx, bodies that are empty, cut off or no
    JSON (a proxy's page), what is no reply under status 200 (`no_reply`) - and what is a mistake in the set-up: 401,
    403, 404, 400. A refusal or a reply cut by max_tokens is an answer like any other."""
    value = parsed(body)
    if not 200 <= status < 300:
        return "" if is_policy_refusal(status, value) else f"HTTP status {status}"
    if not body.strip():
        return "the body is empty"
    if not isinstance(value, dict):
        return "the body is not a complete JSON object"
    return no_reply(value)

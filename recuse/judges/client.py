"""Sends judge calls over HTTP: timeouts, bounded retries with back-off and Retry-After, keys from the environment."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx2
import stamina

from recuse.judges import provider_responses as provider
from recuse.judges import wire
from recuse.schema import Call, Judge, JudgeClosedError, RawResponse, RecuseError, Request
from recuse.security.network import is_local
from recuse.security.redaction import LONG, SECRET_NAMES, Secrets, too_plain

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT_S = 120.0
Variables = Mapping[str, str]
_ADVICE = {
    400: "The provider does not accept the request: set, rename or omit fields of it in the panel file (`parameters`, "
    "`rename`, `omit`, `structured`).",
    401: "The API key is not accepted: check the variable named by `api_key_env`.",
    403: "The API key may not use this model: check `model` and the account.",
    404: "No such model or path: check `base_url` and `model` in the panel file.",
    413: "The request is too large for this provider: shorten the items or the prompt.",
}
PRIVATE, OF_ENCODED = b"x-recuse-", (b"content-encoding", b"content-length")


class _Busy(Exception):
    """An answer that asks to be tried again."""

    def __init__(self, status: int, wait: float | None, message: str) -> None:
        super().__init__(f"HTTP {status}{f': {message}' if message else ''}")
        self.wait = wait


class Client(AbstractAsyncContextManager["Client", None]):
    """One HTTP client for all judges of a panel. Use as `async with`, inside one event loop. `keys` are the judges'
    credentials; a judge without any is asked without. `stand_ins` answer requests to hosts that end in `.invalid`; all
    others go out. `identify` gives the headers by which a cassette knows the call: repeats of a request keep their
    answers. `secrets` learns the tokens that requests are signed with. `texts`: whether messages quote what providers
    say."""

    def __init__(
        self, judges: Mapping[str, Judge], keys: Mapping[str, Credentials],
        identify: Callable[[Call], Mapping[str, str]], *, attempts: int = 6,
        stand_ins: Callable[[httpx2.Request], httpx2.Response] | None = None, secrets: Secrets | None = None,
        texts: bool = True,
    ) -> None:  # fmt: skip
        self._judges, self._identify, self._secrets, self._texts = judges, identify, secrets, texts
        self._keys = {name: keys.get(name, Credentials()) for name in judges}
        self._headers = {n: {**wire(j.wire).headers(self._keys[n].key), **j.headers} for n, j in judges.items()}
        self._closed: dict[str, JudgeClosedError] = {}
        self._answered: set[str] = set()
        self._attempts = attempts
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=256)
        acted = {} if stand_ins is None else {"all://*.invalid": httpx2.MockTransport(stand_ins)}
        # trust_env=False: no proxy from the environment may see keys or slow replay down.
        self._http = httpx2.AsyncClient(
            transport=JudgeTransport(limits=limits), mounts=acted, trust_env=False, follow_redirects=False,
        )  # fmt: skip
        # No cookie is kept: one judge's session would be sent along with the calls of another on the same host.
        self._http.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, call: Call) -> RawResponse:
        """The judge's answer: status 2xx, or the 4xx of a refusal on policy; `RecuseError` when there is none
        after all attempts, `JudgeClosedError` when no call of this judge can have one: it is not asked again then."""
        try:
            async for attempt in stamina.retry_context(
                on=_whether_to_retry, attempts=self._attempts, timeout=None, wait_initial=0.5, wait_max=30.0,
                wait_jitter=0.5,
            ):  # fmt: skip
                with attempt:
                    return await self._send_once(call)
        except (_Busy, httpx2.RequestError) as error:
            tried = self._attempts if _whether_to_retry(error) is not False else 1
            last = f"{type(error).__name__.strip('_')} {error}".rstrip(" .")  # a time-out has no words
            if isinstance(error, httpx2.LocalProtocolError):  # whose words may quote a header and its secret
                last = "LocalProtocolError: this request cannot be sent (headers or length are not valid HTTP)"
            remedy = "What was answered so far is on disk; run again with --record=missing to go on."
            raise RecuseError(f"no answer after {tried} attempt(s), last: {last}. {remedy}") from error
        raise AssertionError("stamina ends by returning or raising")

    async def _send_once(self, call: Call) -> RawResponse:
        if call.judge in self._closed:
            raise self._closed[call.judge]
        credentials = self._keys[call.judge]
        secret = dict(credentials.headers)
        if credentials.sign is not None:  # anew for every attempt
            signed = await asyncio.to_thread(credentials.sign, call.request)  # it may read files, or ask for a token
            secret |= signed
            if self._secrets is not None:
                # What is good for other requests too: a bearer token, a session's token. A signature is that of one.
                sent = {name.lower(): value for name, value in signed.items()}
                bearer = re.fullmatch(r"[Bb]earer +(\S+)", sent.pop("authorization", ""))
                tokens = [value for name, value in sent.items() if name in SECRET_NAMES]
                self._secrets.learn([*tokens, bearer[1]] if bearer else tokens)
        own = {"content-type": "application/json", "accept-encoding": "identity", **self._identify(call)}
        headers, request = {**own, **self._headers[call.judge], **secret}, call.request
        within_s = self._judges[call.judge].timeout_s  # for the whole: the client's own limit starts anew at every byte
        try:
            async with asyncio.timeout(within_s):
                response = await self._http.request(
                    request.method, request.url, content=request.body, headers=headers, timeout=within_s
                )
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no whole answer within {within_s:g} s") from None
        payload = provider.parsed(response.content)
        if not response.is_success and not provider.is_policy_refusal(response.status_code, payload):
            # Nothing of these may be shown, whole or in parts ("Bearer ...", the fields of a signature).
            whole = [value for name, value in secret.items() if name not in ("content-type", "x-amz-date")]
            parts = [part for value in whole for part in re.split(r"[\s,=]+", value) if len(part) > 15]
            message = provider.words(response.content, [credentials.key or "", *whole, *parts], self._texts)
            raise self._failure(call, response, payload, message)
        self._answered.add(call.judge)
        return RawResponse(response.status_code, dict(response.headers), response.content)

    def _failure(self, call: Call, response: httpx2.Response, payload: object, message: str) -> Exception:
        status = response.status_code
        phrase = f"HTTP {status} from {httpx2.URL(call.request.url).host}{f': “{message}”' if message else ''}"
        used_up = provider.is_used_up(status, payload)
        why = "The account has nothing left: look at its billing and limits." if used_up else ""
        # A key that has been accepted before is not the fault of one call that is forbidden.
        if not why and (provider.is_bad_key(status, payload) or (status == 403 and call.judge not in self._answered)):
            why = _ADVICE[403 if status == 403 else 401]
        if why:
            error = JudgeClosedError(f"judge {call.judge}: {phrase}. {why} No further call of this judge was sent.")
            return self._closed.setdefault(call.judge, error)
        if status in RETRIED:
            return _Busy(status, _retry_after(response.headers.get("retry-after")), message)
        advice = _ADVICE.get(status, "Look at the request and the provider’s status page.")
        if 300 <= status < 400:
            elsewhere = response.headers.get("location", "another address").partition("?")[0]
            advice = f"It sends on to {elsewhere}, which is not followed: mend `base_url` in the panel file."
        return RecuseError(f"{phrase}. {advice}")


def _whether_to_retry(error: Exception) -> bool | float:
    if isinstance(error, _Busy):
        return True if error.wait is None else error.wait
    ours = httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
    return isinstance(error, httpx2.TransportError) and not isinstance(error, ours)


def _retry_after(value: Any) -> float | None:
    """Seconds to wait, from either form of the header (RFC 9110, 10.2.3), capped."""
    for read in (float, lambda date: (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()):
        with suppress(ValueError, TypeError):
            seconds = read(value)
            return min(max(seconds, 0.0), LONGEST_WAIT_S) if seconds == seconds else None
    return None


@lru_cache
def tls() -> ssl.SSLContext:
    """What connections are encrypted by. Made once: reading the certificates takes longer than a request."""
    return httpx2.create_ssl_context(trust_env=False)


class JudgeTransport(httpx2.AsyncHTTPTransport):
    """What goes out and what comes in, below everything that records or patches HTTP clients. Headers that start with
    x-recuse- tell cassettes which call a request is; they name judges and targets, and stay on this machine. A response
    is cut off when it grows beyond what any judge's reply has, on the wire or decompressed: so it is decompressed here,
    and not by the HTTP client, which knows no bound."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(verify=tls(), trust_env=False, **settings)  # no proxy from the environment may see keys
        # Recording wraps `handle_async_request` of the class above; only below it do these two things hold.
        self._ask = self._pool.handle_async_request
        self._pool.handle_async_request = self._asked_plainly  # type: ignore[method-assign]

    async def _asked_plainly(self, request: Any) -> Any:
        request.headers = [(name, value) for name, value in request.headers if not name.lower().startswith(PRIVATE)]
        response = await self._ask(request)
        encoding = ", ".join(v.decode("latin-1") for name, v in response.headers if name.lower() == b"content-encoding")
        if encoding:
            response.headers = [(name, v) for name, v in response.headers if name.lower() not in OF_ENCODED]
        response.stream = _Bounded(response.stream, request.url.host.decode("ascii", "replace"), encoding)
        return response


class _Bounded:
    def __init__(self, stream: Any, host: str, encoding: str) -> None:
        self._stream, self._host, self._encoding = stream, host, encoding

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, held = provider.LARGEST_BODY, bytearray()
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                size = f"more than {provider.LARGEST_BODY // 2**20} MB in one response"
                why = "no judge's reply is that long. Look at what answers at `base_url`"
                raise RecuseError(f"{self._host} sent {size}; {why}")
            if self._encoding:
                held += part
            else:
                yield part
        if held:
            try:
                yield provider.decompressed(bytes(held), self._encoding)
            except ValueError as error:
                raise httpx2.DecodingError(f"{self._host}: {error}. Look at what answers at `base_url`") from None

    async def aclose(self) -> None:
        await self._stream.aclose()


class MissingKeyError(RecuseError):
    """Recording needs an API key that is not in the environment, or not one that can be sent."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A judge's key, the values of its `headers_env`, and what signs its requests where the format wants that."""

    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sign: Callable[[Request], Mapping[str, str]] | None = field(default=None, repr=False)


def variables_of(judge: Judge) -> tuple[str, ...]:
    """The environment variables that hold this judge's secrets."""
    return tuple(filter(None, (judge.api_key_env, *judge.headers_env.values())))


def secrets_of(judges: Mapping[str, Judge], environment: Variables = os.environ) -> dict[str, str]:
    """Variable -> its secret, of those that are set; `MissingKeyError` for one that cannot be kept out of recordings. A
    word that servers on this machine or network want for form's sake (`EMPTY`) is none."""
    secrets: dict[str, str] = {}
    for variable in sorted({variable for judge in judges.values() for variable in variables_of(judge)}):
        if value := environment.get(variable):
            users = (judge for judge in judges.values() if variable in variables_of(judge))
            if not (why := too_plain(value)):
                secrets[variable] = value
            elif not all(is_local(urlsplit(judge.base_url).hostname) for judge in users):
                raise MissingKeyError(f"the environment variable {variable} cannot hold an API key: {why}")
    return secrets


def short_keys(judges: Mapping[str, Judge], environment: Variables = os.environ) -> str:
    """A warning that names the variables whose keys are so short that a reply may hold them by accident; or ""."""
    if not (short := [variable for variable, value in secrets_of(judges, environment).items() if len(value) < LONG]):
        return ""
    harm = "wherever a reply holds these characters, also by accident, [secret] is stored in their place"
    return f"the key in {', '.join(short)} has fewer than {LONG} characters: {harm}; a longer key is safer"


def keys_from_environment(judges: Mapping[str, Judge], environment: Variables = os.environ) -> dict[str, Credentials]:
    """Credentials per judge name; `MissingKeyError` names every variable that is missing or cannot go into a header."""
    wanted = {name: variables_of(judge) for name, judge in judges.items()}
    every = sorted({variable for variables in wanted.values() for variable in variables})
    if missing := [variable for variable in every if not environment.get(variable)]:
        names = ", ".join(sorted(name for name, variables in wanted.items() if set(variables) & set(missing)))
        remedy = "set them, or leave these judges out with --judges"
        raise MissingKeyError(f"recording {names} needs the environment variable(s) {', '.join(missing)}; {remedy}")
    # Found here, and not by the HTTP client, whose message would show the key.
    if broken := [variable for variable in every if not re.fullmatch(r"[\x21-\x7e]+", environment[variable])]:
        why = "it holds a blank, a line break or a character outside ASCII; set it again without them"
        variables = f"the value of the environment variable(s) {', '.join(broken)}"
        raise MissingKeyError(f"{variables} cannot be an API key: {why}")
    secrets = secrets_of(judges, environment)
    by_judge: dict[str, Credentials] = {}
    for name, judge in judges.items():
        tables = [dict(table) for table in (judge.parameters, judge.headers, judge.query)]
        written = json.dumps([judge.base_url, judge.model, *tables])  # it goes into every cassette's header
        for variable in filter(secrets.__contains__, wanted[name]):
            if secrets[variable] in written or json.dumps(secrets[variable])[1:-1] in written:
                why = f"its table in the panel file holds the value of {variable} (not shown)"
                remedy = "take it out, and renew the key if the file was shared"
                raise MissingKeyError(f"judge {name}: {why}; {remedy}")
        key = environment[judge.api_key_env] if judge.api_key_env else None
        headers = {header: environment[variable] for header, variable in judge.headers_env.items()}
        signer = getattr(wire(judge.wire), "signer", None)
        stand_in = (urlsplit(judge.base_url).hostname or "").endswith(".invalid")
        by_judge[name] = Credentials(key, headers, signer(judge) if signer and key is None and not stand_in else None)
    return by_judge

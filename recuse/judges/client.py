"""Sends judge calls over HTTP: timeouts, bounded retries with back-off and Retry-After, keys from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from types import TracebackType
from typing import Self

import httpx2
import stamina

from recuse.judges import wire
from recuse.judges.transport import JudgeTransport
from recuse.policy import is_policy_refusal
from recuse.schema import Call, Judge, RawResponse, RecuseError

RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT_S = 120.0


class MissingKeyError(RecuseError):
    """Recording needs an API key that is not in the environment, or not one that can be sent."""


class JudgeUnreachableError(RecuseError):
    """The judge gave no usable HTTP answer; nothing of this call was recorded."""


class _Busy(Exception):
    """An answer that asks to be tried again."""

    def __init__(self, status: int, wait: float | None) -> None:
        super().__init__(f"HTTP {status}")
        self.wait = wait


class Client:
    """One HTTP client for all judges of a panel. Use as `async with`, inside one event loop.

    `proxy` is where stand-ins are served: requests to hosts that end in `.invalid` go there, all others go out.
    `identify` gives the request headers by which a cassette knows the call: repeats of a request keep their answers.
    With `attempts=1` nothing is retried and nothing sleeps, as replay wants it.
    """

    def __init__(
        self,
        judges: Mapping[str, Judge],
        *,
        keys: Mapping[str, str],
        identify: Callable[[Call], Mapping[str, str]],
        attempts: int = 6,
        proxy: str | None = None,
    ) -> None:
        self._judges, self._identify = judges, identify
        self._headers = {name: wire(j.wire).headers(keys.get(name)) for name, j in judges.items()}
        self._attempts = attempts
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=256)
        stand_ins = JudgeTransport(private=False, proxy=proxy, limits=limits, trust_env=False) if proxy else None
        mounts = {f"all://{host}": stand_ins for host in _stand_in_hosts(judges)} if proxy else {}
        # trust_env=False: no proxy from the environment may see keys or slow replay down.
        self._http = httpx2.AsyncClient(
            transport=JudgeTransport(limits=limits, trust_env=False),
            mounts=mounts,
            trust_env=False,
            follow_redirects=False,
        )
        # No cookie is kept: one judge's session would be sent along with the calls of another on the same host.
        self._http.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def send(self, call: Call) -> RawResponse:
        """The judge's answer: status 2xx, or the 4xx of a refusal on policy; `JudgeUnreachableError` when there is none
        after all attempts."""
        try:
            if self._attempts == 1:
                return await self._send_once(call)
            async for attempt in stamina.retry_context(
                on=_whether_to_retry,
                attempts=self._attempts,
                timeout=None,
                wait_initial=0.5,
                wait_max=30.0,
                wait_jitter=0.5,
            ):
                with attempt:
                    return await self._send_once(call)
        except (_Busy, httpx2.RequestError) as error:
            tried = self._attempts if _whether_to_retry(error) is not False else 1
            raise JudgeUnreachableError(
                f"{_where(call)}: no answer after {tried} attempt(s), last: {_described(error)}. "
                "What was answered so far is on disk; run again with --record=missing to go on."
            ) from error
        raise AssertionError("stamina ends by returning or raising")

    async def _send_once(self, call: Call) -> RawResponse:
        judge = self._judges[call.judge]
        response = await self._http.request(
            call.request.method,
            call.request.url,
            content=call.request.body,
            headers={"content-type": "application/json", **self._identify(call), **self._headers[call.judge]},
            timeout=judge.timeout_s,
        )
        if response.status_code in RETRIED:
            raise _Busy(response.status_code, _retry_after(response.headers.get("retry-after")))
        if not response.is_success and not is_policy_refusal(response.status_code, _json(response)):
            raise JudgeUnreachableError(
                f"{_where(call)}: HTTP {response.status_code} from {httpx2.URL(call.request.url).host}. "
                f"{_ADVICE.get(response.status_code, 'Look at the request and the provider’s status page.')}"
            )
        return RawResponse(response.status_code, dict(response.headers), response.content)


def keys_from_environment(judges: Mapping[str, Judge], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """API key per judge name; `MissingKeyError` names every variable that is missing or cannot go into a header."""
    wanted = {name: judge.api_key_env for name, judge in judges.items() if judge.api_key_env}
    missing = sorted({variable for variable in wanted.values() if not environment.get(variable)})
    if missing:
        names = ", ".join(sorted(n for n, v in wanted.items() if v in missing))
        raise MissingKeyError(
            f"recording {names} needs the environment variable(s) {', '.join(missing)}; "
            "set them, or leave these judges out with --judges"
        )
    # Found here, and not by the HTTP client, whose message would show the key.
    if broken := sorted({v for v in wanted.values() if not re.fullmatch(r"[\x21-\x7e]+", environment[v])}):
        raise MissingKeyError(
            f"the value of the environment variable(s) {', '.join(broken)} cannot be an API key: it holds a blank, a "
            "line break or a character outside ASCII; set it again without them"
        )
    return {name: environment[variable] for name, variable in wanted.items()}


_ADVICE = {
    400: "The provider does not accept the request: check `parameters` and `structured` in the panel file.",
    401: "The API key is not accepted: check the variable named by `api_key_env`.",
    403: "The API key may not use this model: check `model` and the account.",
    404: "No such model or path: check `base_url` and `model` in the panel file.",
    413: "The request is too large for this provider: shorten the items or the prompt.",
}


def _json(response: httpx2.Response) -> object:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _whether_to_retry(error: Exception) -> bool | float:
    if isinstance(error, _Busy):
        return True if error.wait is None else error.wait
    return isinstance(error, httpx2.TransportError) and not isinstance(
        error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError
    )


def _described(error: Exception) -> str:
    """Kind and words; a time-out has no words, a protocol error's may quote a header and its secret."""
    if isinstance(error, httpx2.LocalProtocolError):
        return "LocalProtocolError: this request cannot be sent (headers or length are not valid HTTP)"
    return f"{type(error).__name__.strip('_')} {error}".rstrip(" .")


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from either form of the header (RFC 9110, 10.2.3), capped."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if seconds == seconds else None


def _stand_in_hosts(judges: Mapping[str, Judge]) -> set[str]:
    hosts = {httpx2.URL(judge.base_url).host for judge in judges.values()}
    return {host for host in hosts if host.endswith(".invalid")}


def _where(call: Call) -> str:
    factors = "".join(f", {value}" for _, value in call.factors)
    what = f"{call.task}/{call.protocol}, item {call.item}, target {call.target}{factors}, repeat {call.repeat}"
    return f"judge {call.judge}, {what}"

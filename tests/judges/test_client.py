"""The client against real servers on loopback: what is tried again, how long it waits, what it says in the end."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest
import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from recuse.judges.client import Client, Credentials, RecuseError, tls
from recuse.schema import Call, Judge, JudgeClosedError, RawResponse

MakeJudge = Callable[..., Judge]
MakeCall = Callable[..., Call]
Servers = Callable[..., Any]
KEY = "canary-9d2f6c81e4"


@pytest.fixture
def at_once() -> Iterator[None]:
    """Tries as often as it should, without waiting."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


def send(
    call: Call, judge: Judge, keys: Mapping[str, str] | None = None, stand_ins: Any = None, attempts: int = 3
) -> RawResponse:
    async def once() -> RawResponse:
        headers = {"x-recuse-repeat": str(call.repeat)}
        async with Client(
            {judge.name: judge}, keys=_credentials(keys), identify=lambda _: headers, attempts=attempts,
            stand_ins=stand_ins,
        ) as client:  # fmt: skip
            return await client.send(call)

    return asyncio.run(once())


def _credentials(keys: Mapping[str, str] | None) -> dict[str, Credentials]:
    return {name: Credentials(key) for name, key in (keys or {}).items()}


def failure(call: Call, judge: Judge, **more: Any) -> str:
    with pytest.raises(RecuseError) as caught:
        send(call, judge, **more)
    return str(caught.value)


# --------------------------------------------------------------------------- what goes out


def test_the_request_arrives_as_planned_with_key_and_run(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    server = provider({})
    ann = judge(base_url=f"{server.url}/v1")
    planned = call(ann, repeat=4)
    response = send(planned, ann, keys={"ann": KEY})
    [(path, headers, body)] = server.asked
    assert (path, body) == ("/v1/chat/completions", planned.request.body)
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name in headers if name.startswith("x-recuse")]  # what names judge and target stays here
    assert headers["content-type"] == "application/json"
    assert (response.status, response.body) == (200, server.answers[0].body)


def test_stand_ins_are_asked_in_place_of_their_hosts_and_of_nobody_else(
    provider: Servers, judge: MakeJudge, call: MakeCall
) -> None:
    seen = []

    def answer(asked: httpx2.Request) -> httpx2.Response:
        seen.append(str(asked.url))
        return httpx2.Response(200, content=b"{}")

    direct = provider({})
    real = judge(base_url=f"{direct.url}/v1")
    acted = judge(base_url="http://Ann.Scripted.invalid/v1")
    assert send(call(acted), acted, stand_ins=answer).body == b"{}"
    send(call(real), real, stand_ins=answer)
    assert [url.lower() for url in seen] == ["http://ann.scripted.invalid/v1/chat/completions"]
    assert len(direct.asked) == 1


def test_certificates_are_read_once_for_all_clients(judge: MakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    tls()

    def read_again(**_: object) -> None:
        raise AssertionError("the certificates were read again")

    monkeypatch.setattr(ssl, "create_default_context", read_again)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", read_again)
    Client({"ann": judge()}, keys={}, identify=lambda _: {})


def test_a_proxy_in_the_environment_sees_nothing(
    provider: Servers, judge: MakeJudge, call: MakeCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct, snoop = provider({}), provider({})
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, snoop.url)
    ann = judge(base_url=f"{direct.url}/v1")
    send(call(ann), ann, keys={"ann": KEY})
    assert (len(direct.asked), snoop.asked) == (1, [])


# --------------------------------------------------------------------------- what is tried again


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_tried_again(provider: Servers, judge: MakeJudge, call: MakeCall, status: int) -> None:
    server = provider({"status": status}, {"status": status, "headers": {"retry-after": "nonsense"}}, {})
    ann = judge(base_url=server.url)
    assert send(call(ann), ann).status == 200
    assert len(server.asked) == 3


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "trouble", [{"reset": True}, {"delay": 1.5}, {"trickle": 0.05}], ids=["reset", "time-out", "trickle"]
)
def test_so_is_a_broken_or_a_silent_connection(
    provider: Servers, judge: MakeJudge, call: MakeCall, trouble: dict[str, Any]
) -> None:
    server = provider(trouble, {})
    ann = judge(base_url=server.url, timeout_s=1)
    assert send(call(ann), ann).status == 200
    assert len(server.asked) == 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("trouble", "last"),
    [
        ({"status": 503}, "Busy HTTP 503"),
        ({"reset": True}, "ReadError"),
        ({"delay": 1.5}, "ReadTimeout"),
    ],
    ids=["503", "reset", "time-out"],
)
def test_attempts_are_bounded_and_the_last_trouble_is_told(
    provider: Servers, judge: MakeJudge, call: MakeCall, trouble: dict[str, Any], last: str
) -> None:
    server = provider(trouble)
    ann = judge(base_url=server.url, timeout_s=1)
    said = failure(call(ann, repeat=2), ann)
    assert said.startswith("no answer after 3")
    assert f"last: {last}" in said
    assert "run again with --record=missing" in said
    assert len(server.asked) == 3


@pytest.mark.usefixtures("at_once")
def test_a_server_that_is_not_there(judge: MakeJudge, call: MakeCall) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ann = judge(base_url=f"http://127.0.0.1:{free.getsockname()[1]}/v1")
        assert "last: ConnectError" in failure(call(ann), ann)


def test_replay_tries_once(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    server = provider({"status": 503}, {})
    ann = judge(base_url=server.url)
    assert "no answer after 1 attempt" in failure(call(ann), ann, attempts=1)
    assert len(server.asked) == 1


@pytest.mark.usefixtures("at_once")
def test_a_body_that_cannot_be_unpacked_is_told_and_not_asked_for_again(
    provider: Servers, judge: MakeJudge, call: MakeCall
) -> None:
    server = provider({"headers": {"content-encoding": "gzip"}, "body": b"not gzip"})
    ann = judge(base_url=server.url)
    assert "no answer after 1 attempt(s), last: DecodingError" in failure(call(ann), ann)
    assert len(server.asked) == 1


# --------------------------------------------------------------------------- how long it waits


class Enough(Exception):
    """Raised instead of sleeping."""


@pytest.fixture
def first_wait(provider: Servers, judge: MakeJudge, call: MakeCall) -> Iterator[Callable[[Mapping[str, str]], float]]:
    """How long the client would wait after a 429 with these headers."""
    waits: list[float] = []

    def note(details: RetryDetails) -> None:
        waits.append(details.wait_for)
        raise Enough

    def ask(headers: Mapping[str, str]) -> float:
        ann = judge(base_url=provider({"status": 429, "headers": dict(headers)}).url)
        with pytest.raises(Enough):
            send(call(ann), ann)
        return waits[-1]

    set_on_retry_hooks([note])
    yield ask
    set_on_retry_hooks(None)


@pytest.mark.parametrize(
    ("after", "seconds"), [("7", 7.0), ("0", 0.0), ("0.25", 0.25), ("-3", 0.0), ("86400", 120.0), ("inf", 120.0)]
)
def test_retry_after_in_seconds_is_kept_up_to_two_minutes(
    first_wait: Callable[..., float], after: str, seconds: float
) -> None:
    assert first_wait({"retry-after": after}) == seconds


def test_retry_after_may_be_a_date(first_wait: Callable[..., float]) -> None:
    then = datetime.now(UTC) + timedelta(seconds=40)
    assert 35 < first_wait({"retry-after": format_datetime(then, usegmt=True)}) <= 40
    assert first_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}, {"retry-after": "nan"}, {"retry-after": ""}])
def test_without_a_usable_retry_after_it_backs_off_by_itself(
    first_wait: Callable[..., float], headers: Mapping[str, str]
) -> None:
    assert 0.5 <= first_wait(headers) <= 1.0


# --------------------------------------------------------------------------- what is not tried again


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "set, rename or omit fields of it in the panel file (`parameters`, `rename`, `omit`, `structured`)"),
        (401, "The API key is not accepted: check the variable named by `api_key_env`"),
        (403, "The API key may not use this model"),
        (404, "No such model or path: check `base_url` and `model` in the panel file"),
        (413, "The request is too large"),
        (418, "Look at the request and the provider’s status page"),
        (302, "It sends on to http://elsewhere.invalid/v1, which is not followed: mend `base_url` in the panel file"),
    ],
)
def test_a_mistake_in_the_set_up_is_told_with_advice_at_once(
    provider: Servers, judge: MakeJudge, call: MakeCall, status: int, advice: str
) -> None:
    body = b'{"error": {"message": "key canary-9d2f6c81e4 is wrong"}}'
    server = provider({"status": status, "body": body, "headers": {"location": "http://elsewhere.invalid/v1?key=abc"}})
    ann = judge(base_url=server.url)
    said = failure(call(ann), ann, keys={"ann": KEY})
    place = "judge ann: " if status in (401, 403) else ""
    assert said.startswith(f"{place}HTTP {status} from 127.0.0.1: “key [secret] is wrong”. ")
    assert advice in said
    assert KEY not in said
    assert len(server.asked) == 1


@pytest.mark.parametrize("place", ["code", "type"])
def test_a_refusal_on_policy_is_an_answer(provider: Servers, judge: MakeJudge, call: MakeCall, place: str) -> None:
    body = f'{{"error": {{"{place}": "content_filter"}}}}'.encode()
    ann = judge(base_url=provider({"status": 400, "body": body}).url)
    response = send(call(ann), ann)
    assert (response.status, response.body) == (400, body)


# --------------------------------------------------------------------------- what closes a judge


class Session:
    """Calls of one judge through one client, one after the other."""

    def __init__(self, judge: Judge, keys: Mapping[str, str] | None = None) -> None:
        self.judge, self.keys = judge, keys

    def send(self, *calls: Call) -> list[str]:
        """What each call came to: "answered", or the words of its error."""

        async def one_after_the_other() -> list[str]:
            judges = {self.judge.name: self.judge}
            async with Client(judges, keys=_credentials(self.keys), identify=lambda _: {}, attempts=3) as client:
                return [await self._one(client, call) for call in calls]

        return asyncio.run(one_after_the_other())

    async def _one(self, client: Client, call: Call) -> str:
        try:
            await client.send(call)
        except JudgeClosedError as error:
            return f"closed: {error}"
        except RecuseError as error:
            return str(error)
        return "answered"


USED_UP = [
    (429, b'{"error": {"message": "No quota.", "type": "insufficient_quota", "code": "insufficient_quota"}}'),
    (429, b'{"error": {"message": "No quota.", "code": "billing_hard_limit_reached"}}'),
    (
        429,
        b'[{"error": {"code": 429, "message": "No quota.", "status": "RESOURCE_EXHAUSTED", "details": '
        b'[{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]}}]',
    ),
    (402, b'{"error": {"message": "No quota."}}'),
    (
        400,
        b'{"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}',
    ),
]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("status", "body"), USED_UP)
def test_an_account_with_nothing_left_is_not_asked_again(
    provider: Servers, judge: MakeJudge, call: MakeCall, status: int, body: bytes
) -> None:
    server = provider({"status": status, "body": body})
    ann = judge(base_url=server.url)
    said = Session(ann).send(call(ann), call(ann, 1), call(ann, 2))
    assert said[0].startswith(f"closed: judge ann: HTTP {status} from 127.0.0.1: “")
    assert "The account has nothing left: look at its billing and limits" in said[0]
    assert said == [said[0]] * 3
    assert len(server.asked) == 1


@pytest.mark.usefixtures("at_once")
def test_a_rate_limit_is_not_an_empty_account(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    minute = b'{"error": {"details": [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}]}}'
    slow = b'{"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}'
    server = provider({"status": 429, "body": minute}, {"status": 429, "body": slow}, {})
    ann = judge(base_url=server.url)
    assert Session(ann).send(call(ann)) == ["answered"]
    assert len(server.asked) == 3


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [401, 403])
def test_one_bad_key_is_told_once(provider: Servers, judge: MakeJudge, call: MakeCall, status: int) -> None:
    server = provider({"status": status, "body": b'{"error": {"message": "Bad key canary-9d2f6c81e4."}}'})
    ann = judge(base_url=server.url)
    said = Session(ann, {"ann": KEY}).send(*(call(ann, repeat) for repeat in range(4)))
    assert set(said) == {said[0]}
    assert said[0].startswith(f"closed: judge ann: HTTP {status} from 127.0.0.1: “Bad key [secret].”")
    assert said[0].endswith("No further call of this judge was sent.")
    assert len(server.asked) == 1


@pytest.mark.usefixtures("at_once")
def test_a_key_that_has_worked_is_not_blamed_for_one_forbidden_call(
    provider: Servers, judge: MakeJudge, call: MakeCall
) -> None:
    server = provider({}, {"status": 403, "body": b'{"error": {"message": "flagged"}}'}, {})
    ann = judge(base_url=server.url)
    first, second, third = Session(ann).send(call(ann), call(ann, 1), call(ann, 2))
    assert (first, third) == ("answered", "answered")
    assert second.startswith("HTTP 403 from 127.0.0.1: “flagged”")


@pytest.mark.usefixtures("at_once")
def test_a_busy_server_is_quoted_in_the_end(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    ann = judge(base_url=provider({"status": 529, "body": b'{"error": {"message": "Overloaded"}}'}).url)
    assert "last: Busy HTTP 529: Overloaded. What was answered" in failure(call(ann), ann)


# --------------------------------------------------------------------------- headers of the panel file


def test_further_headers_are_sent_and_win(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    server = provider({})
    ann = judge("anthropic_messages", base_url=server.url, headers={"anthropic-beta": "b-1", "x-team": "red"})

    async def once() -> None:
        keys = {"ann": Credentials("k-1", {"x-proxy-key": "p-1", "x-api-key": "k-2"})}
        async with Client({"ann": ann}, keys=keys, identify=lambda _: {}) as client:
            await client.send(call(ann))

    asyncio.run(once())
    [(_, headers, _)] = server.asked
    sent = {name: headers[name] for name in ("anthropic-beta", "x-team", "x-proxy-key", "x-api-key")}
    assert sent == {"anthropic-beta": "b-1", "x-team": "red", "x-proxy-key": "p-1", "x-api-key": "k-2"}


# --------------------------------------------------------------------------- no error shows a key


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("trouble", [{"status": 500}, {"status": 401}, {"reset": True}])
def test_no_error_shows_a_key(
    provider: Servers, judge: MakeJudge, call: MakeCall, wire_name: str, trouble: dict[str, Any]
) -> None:
    ann = judge(wire_name, base_url=provider(trouble).url)
    with pytest.raises(RecuseError) as caught:
        send(call(ann), ann, keys={"ann": KEY})
    told: BaseException | None = caught.value
    while told is not None:
        assert KEY not in f"{told} {told!r}"
        told = told.__cause__ or told.__context__


@pytest.mark.usefixtures("at_once")
def test_not_even_a_key_that_is_no_header_value(provider: Servers, judge: MakeJudge, call: MakeCall) -> None:
    server = provider({})
    ann = judge(base_url=server.url)
    said = failure(call(ann), ann, keys={"ann": f"{KEY}\n"})
    assert "this request cannot be sent" in said
    assert KEY not in said
    assert server.asked == []

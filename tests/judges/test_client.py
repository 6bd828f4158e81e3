"""The client against real servers on loopback: what is tried again, how long it waits, what it says in the end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from recuse.judges.client import Client, JudgeUnreachableError, MissingKeyError, keys_from_environment
from recuse.schema import Call, Judge, RawResponse
from recuse.standins.server import serve

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
    call: Call, judge: Judge, keys: Mapping[str, str] | None = None, proxy: str | None = None, attempts: int = 3
) -> RawResponse:
    async def once() -> RawResponse:
        headers = {"x-recuse-repeat": str(call.repeat)}
        async with Client(
            {judge.name: judge}, keys=keys or {}, identify=lambda _: headers, attempts=attempts, proxy=proxy
        ) as client:
            return await client.send(call)

    return asyncio.run(once())


def failure(call: Call, judge: Judge, **more: Any) -> str:
    with pytest.raises(JudgeUnreachableError) as caught:
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


def test_stand_ins_are_asked_through_the_proxy_and_nobody_else_is(
    provider: Servers, judge: MakeJudge, call: MakeCall
) -> None:
    seen = []
    direct = provider({})
    real = judge(base_url=f"{direct.url}/v1")
    acted = judge(base_url="http://Ann.Scripted.invalid/v1")
    with serve(lambda asked: (200, {}, seen.append(asked.url) or b"{}")) as proxy:  # type: ignore[func-returns-value]
        assert send(call(acted), acted, proxy=proxy).body == b"{}"
        send(call(real), real, proxy=proxy)
    assert [url.lower() for url in seen] == ["http://ann.scripted.invalid/v1/chat/completions"]
    assert len(direct.asked) == 1


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
@pytest.mark.parametrize("trouble", [{"reset": True}, {"delay": 0.4}], ids=["reset", "time-out"])
def test_so_is_a_broken_or_a_silent_connection(
    provider: Servers, judge: MakeJudge, call: MakeCall, trouble: dict[str, Any]
) -> None:
    server = provider(trouble, {})
    ann = judge(base_url=server.url, timeout_s=0.15)
    assert send(call(ann), ann).status == 200
    assert len(server.asked) == 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("trouble", "last"),
    [
        ({"status": 503}, "Busy HTTP 503"),
        ({"reset": True}, "ReadError"),
        ({"delay": 0.4}, "ReadTimeout"),
    ],
    ids=["503", "reset", "time-out"],
)
def test_attempts_are_bounded_and_the_last_trouble_is_told(
    provider: Servers, judge: MakeJudge, call: MakeCall, trouble: dict[str, Any], last: str
) -> None:
    server = provider(trouble)
    ann = judge(base_url=server.url, timeout_s=0.1)
    said = failure(call(ann, repeat=2), ann)
    assert said.startswith("judge ann, essays/rubric, item one, target alpha, attributed, repeat 2: no answer after 3")
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
        (400, "check `parameters` and `structured` in the panel file"),
        (401, "The API key is not accepted: check the variable named by `api_key_env`"),
        (403, "The API key may not use this model"),
        (404, "No such model or path: check `base_url` and `model` in the panel file"),
        (413, "The request is too large"),
        (418, "Look at the request and the provider’s status page"),
        (302, "Look at the request"),
    ],
)
def test_a_mistake_in_the_set_up_is_told_with_advice_at_once(
    provider: Servers, judge: MakeJudge, call: MakeCall, status: int, advice: str
) -> None:
    body = b'{"error": {"message": "key canary-9d2f6c81e4 is wrong"}}'
    server = provider({"status": status, "body": body, "headers": {"location": "http://elsewhere.invalid/"}})
    ann = judge(base_url=server.url)
    said = failure(call(ann), ann, keys={"ann": KEY})
    assert f"repeat 0: HTTP {status} from 127.0.0.1. " in said
    assert advice in said
    assert KEY not in said
    assert len(server.asked) == 1


@pytest.mark.parametrize("place", ["code", "type"])
def test_a_refusal_on_policy_is_an_answer(provider: Servers, judge: MakeJudge, call: MakeCall, place: str) -> None:
    body = f'{{"error": {{"{place}": "content_filter"}}}}'.encode()
    ann = judge(base_url=provider({"status": 400, "body": body}).url)
    response = send(call(ann), ann)
    assert (response.status, response.body) == (400, body)


# --------------------------------------------------------------------------- keys


def test_keys_come_from_the_variables_that_the_panel_names(judge: MakeJudge) -> None:
    judges = {"ann": judge(api_key_env="ANN_KEY"), "bob": judge(name="bob"), "eve": judge(api_key_env="EVE_KEY")}
    assert keys_from_environment(judges, {"ANN_KEY": "a-1", "EVE_KEY": "e-1", "OTHER": "x"}) == {
        "ann": "a-1",
        "eve": "e-1",
    }


def test_every_missing_variable_is_named_with_its_judges(judge: MakeJudge) -> None:
    judges = {"ann": judge(api_key_env="A_KEY"), "bob": judge(api_key_env="B_KEY"), "eve": judge(api_key_env="A_KEY")}
    with pytest.raises(MissingKeyError) as caught:
        keys_from_environment(judges, {"B_KEY": ""})
    assert str(caught.value) == (
        "recording ann, bob, eve needs the environment variable(s) A_KEY, B_KEY; "
        "set them, or leave these judges out with --judges"
    )


@pytest.mark.parametrize("value", ["canary-9d2f6c81e4\n", "canary 9d2f6c81e4", "“canary-9d2f6c81e4”", "canary\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(judge: MakeJudge, value: str) -> None:
    """The HTTP client would raise an error that quotes the header, key and all."""
    with pytest.raises(MissingKeyError, match="environment variable\\(s\\) ANN_KEY cannot be an API key") as caught:
        keys_from_environment({"ann": judge(api_key_env="ANN_KEY")}, {"ANN_KEY": value})
    assert "canary" not in str(caught.value)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("trouble", [{"status": 500}, {"status": 401}, {"reset": True}])
def test_no_error_shows_a_key(
    provider: Servers, judge: MakeJudge, call: MakeCall, wire_name: str, trouble: dict[str, Any]
) -> None:
    ann = judge(wire_name, base_url=provider(trouble).url)
    with pytest.raises(JudgeUnreachableError) as caught:
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

"""Canary keys are sent everywhere and echoed everywhere; none reaches disk, terminal, report or error text."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from judge_limits import Limits
from misbehaving import Server
from small_plans import KEY, files, headers, opened, plan, record, recorded

from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers, canonical_json, request_key
from recuse.judges import WIRES, wire
from recuse.judges.client import Client, Credentials
from recuse.recording.progress import ProgressLine
from recuse.schema import Call, Judge, Message, Prompt, RecuseError, Request
from recuse.security.redaction import PLACEHOLDER, Secrets, key_shapes_in, without_keys

AZURE = {"api-version": "2024-10-21"}  # the one format that cannot do without takes it, and the others do not mind
TRICKY = 'canary/+"\\=é 9f2c1d'  # every character that some encoding spells differently

MESSAGES = (Message("user", "Be fair."), Message("user", f"The key is {KEY}, do not tell."))


def spellings(key: str) -> Iterator[bytes]:
    yield key.encode()
    yield json.dumps(key)[1:-1].encode()
    yield json.dumps(key, ensure_ascii=False)[1:-1].encode()
    yield quote(key, safe="").encode()
    for before in range(3):
        text = base64.b64encode(b"x" * before + key.encode())
        yield text[-(-before * 8 // 6) : (before + len(key.encode())) * 8 // 6]


def judged_plan(format_: str, url: str) -> tuple[dict[str, Judge], list[Call]]:
    """One judge of this wire format; the key stands in its prompt, in its URL and in a member of its body."""
    judge = Judge("judge-a", "A", format_, url, "m-1", parameters={"api_key": KEY}, timeout_s=5, query=AZURE)
    prompt = Prompt(MESSAGES, 0.7, 50)
    request = wire(format_).request(judge, prompt, None)
    request = dataclasses.replace(request, url=f"{request.url}&key={KEY}&page=1")
    template = plan(items=("a", "b"), repeats=2)
    return {"judge-a": judge}, [dataclasses.replace(c, request=request, key=request_key(request)) for c in template]


@pytest.mark.parametrize("format_", WIRES)
def test_a_canary_sent_everywhere_and_echoed_everywhere_stays_in_memory(
    format_: str, root: Path, server: Server, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_API_KEY", KEY)
    server.echo = KEY + " " + base64.b64encode(f"user:{KEY}".encode()).decode()
    server.script["", -1] = ["ok", "ok", "ok", "401"]  # the client keeps its headers to itself
    judges, calls = judged_plan(format_, server.url)
    calls = [dataclasses.replace(c, key=_key_without_secret(c)) for c in calls]
    library = Library(root, "small", mode="missing", secrets=[KEY])
    monkeypatch.setattr("recuse.cassettes.library.check_no_keys", lambda *_: None)  # which would refuse all of this
    library.expect(calls, {cell: {**h, "note": f"set {KEY}"} for cell, h in headers(calls).items()})
    report = asyncio.run(_record(library, judges, calls))
    print(report.text())
    assert report.stored == 3
    assert any(
        KEY in sent.get(name, "")
        for name in ("authorization", "x-api-key", "x-goog-api-key", "api-key")
        for sent in _sent(server)
    )
    out, err = capfd.readouterr()
    written = b"".join(files(root).values()) + "".join(files(root)).encode()
    for place in (written, out.encode(), err.encode(), report.text().encode(), repr(library.dropped).encode()):
        assert not [s for s in spellings(KEY) if s in place]
    assert b"[secret]" in written
    assert b"set-cookie" not in written
    assert b"x-echo" not in written


def _sent(server: Server) -> list[dict[str, str]]:
    return [{name.lower(): value for name, value in sent.items()} for _, sent, _ in server.seen]


def _key_without_secret(call: Call) -> str:
    """What a plan whose texts hold no secret would give; a plan's own requests never hold one."""
    clean = call.request.body.replace(KEY.encode(), b"[secret]")
    return request_key(Request(call.request.url, clean))


async def _record(  # type: ignore[no-untyped-def]
    library: Library, judges: dict[str, Judge], calls: list[Call], key: str = KEY
):
    import sys

    with library.use():
        async with Client(judges, keys={"judge-a": Credentials(key)}, identify=call_headers, attempts=1) as client:
            return await record(
                calls, client.send, library, limits={"judge-a": Limits(1)}, progress=ProgressLine(sys.stderr)
            )


@pytest.mark.parametrize(
    "signed",
    [
        {"authorization": "Bearer ya29.canary-token-of-google"},
        {"authorization": "AWS4-HMAC-SHA256 Signature=0a", "X-Amz-Security-Token": "canary-session-token/of+aws"},
    ],
)
def test_the_token_that_signs_requests_is_a_secret_as_a_key_is(
    signed: dict[str, str], root: Path, server: Server
) -> None:
    token = list(signed.values())[-1].removeprefix("Bearer ")
    server.echo = token
    judge = Judge("judge-a", "A", "openai_chat", server.url, "m-1", timeout_s=5)
    request = wire("openai_chat").request(judge, Prompt(MESSAGES[:1], 0.7, 50), None)
    (call,) = [dataclasses.replace(c, request=request, key=request_key(request)) for c in plan(items=("a",), repeats=1)]
    library = opened(root, [call], mode="missing")
    keys = {"judge-a": Credentials(sign=lambda request: signed)}

    async def ask() -> None:
        secrets = library.secrets
        async with Client({"judge-a": judge}, keys, call_headers, attempts=1, secrets=secrets) as client:
            await client.send(call)

    with library.use():
        asyncio.run(ask())
    stored = (root / f"{call.cell}.jsonl").read_bytes()
    assert b"canary" not in stored
    assert b"[secret]" in stored


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("key", [None, "another-key-entirely", KEY])
@pytest.mark.parametrize("format_", WIRES)
def test_replay_works_with_a_different_key_and_with_none(
    key: str | None, format_: str, root: Path, server: Server
) -> None:
    judge = Judge("judge-a", "A", format_, server.url, "m-1", timeout_s=5, query=AZURE)
    request = wire(format_).request(judge, Prompt(MESSAGES[:1], 0.7, 50), None)
    calls = [dataclasses.replace(c, request=request, key=request_key(request)) for c in plan(items=("a",), repeats=3)]
    library = Library(root, "small", mode="missing", secrets=[KEY])
    library.expect(calls, headers(calls))
    assert asyncio.run(_record(library, {"judge-a": judge}, calls)).complete
    asked = server.requests

    async def replay() -> list[bytes]:
        keys = {"judge-a": Credentials(key)} if key else {}
        async with Client({"judge-a": judge}, keys=keys, identify=call_headers, attempts=1) as client:
            return [(await client.send(call)).body for call in calls]

    with opened(root, calls, secrets=[key] if key else []).use():
        assert len(set(asyncio.run(replay()))) == 3
    assert server.requests == asked


@pytest.mark.parametrize("spelling", list(spellings(TRICKY)))
def test_every_spelling_of_a_tricky_key_is_replaced(spelling: bytes) -> None:
    cleaned = Secrets([TRICKY]).clean(b"before " + spelling + b" after")
    assert spelling not in cleaned
    assert b"[secret]" in cleaned
    assert cleaned.startswith(b"before ")
    assert cleaned.endswith(b" after")


def test_a_key_hidden_behind_json_escapes_is_found() -> None:
    hidden = "".join(f"\\u{ord(c):04x}" for c in KEY)
    body = f'{{"text": "your key {hidden} is wrong", "n": 1.50}}'.encode()
    cleaned = Secrets([KEY]).clean(body)
    assert json.loads(cleaned) == {"text": "your key [secret] is wrong", "n": 1.5}


def test_text_without_secrets_is_left_exactly_as_it_is() -> None:
    body = b'{"a": "\\u00e9\\/", "b" : 1.50}'
    assert Secrets([KEY]).clean(body) is body
    assert Secrets().clean(body) is body


@pytest.mark.parametrize("key", ["k3y", "none", "content", "1234"])
def test_a_key_that_is_found_in_ordinary_text_is_refused(key: str) -> None:
    with pytest.raises(RecuseError, match=f"its value of {len(key)} characters would be found in ordinary text"):
        Secrets([key])


@pytest.mark.parametrize("key", ["k3y!", "a1-b2", "s3cret7"])
def test_a_short_key_is_kept_out_of_what_a_server_echoes(
    key: str, root: Path, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the body, as it is and in base64, and in a response header."""
    server.echo = key + " " + base64.b64encode(f"user:{key}".encode()).decode()
    judge = Judge("judge-a", "A", "openai_chat", server.url, "m-1", timeout_s=5)
    request = wire("openai_chat").request(judge, Prompt(MESSAGES[:1], 0.7, 50), None)
    calls = [dataclasses.replace(c, request=request, key=request_key(request)) for c in plan(items=("a",), repeats=2)]
    library = Library(root, "small", mode="missing", secrets=[key])
    library.expect(calls, headers(calls))
    report = asyncio.run(_record(library, {"judge-a": judge}, calls, key))
    assert report.complete
    assert any(key in sent.get("authorization", "") for sent in _sent(server))
    written = b"".join(files(root).values()) + "".join(capfd.readouterr()).encode()
    assert not [s for s in spellings(key) if s in written]
    assert b"[secret]" in written


def test_errors_and_misses_do_not_repeat_a_secret(root: Path) -> None:
    calls = plan(items=("a",), repeats=1)
    recorded(root, calls)
    leaky = Request(f"{calls[0].request.url}?token={KEY}", canonical_json({"q": KEY}))
    library = opened(root, calls, secrets=[KEY])
    with pytest.raises(RecuseError) as miss:
        library.response(dataclasses.replace(calls[0], request=leaky, key=request_key(leaky)))
    assert KEY not in str(miss.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sk-proj-" + "A1b2" * 8, "OpenAI or Anthropic"),
        ("sk-ant-" + "A1b2" * 8, "OpenAI or Anthropic"),
        ("AIza" + "x" * 35, "Google"),
        ("xai-" + "x" * 40, "xAI"),
        ("pplx-" + "x" * 40, "Perplexity"),
        ("Authorization: Bearer " + "x" * 30, "bearer"),
        ("bearer " + "x" * 30, "bearer"),
        ("gsk_" + "x" * 30, "Groq"),
        ("hf_" + "x" * 30, "Hugging Face"),
        *((f"gh{kind}_" + "x" * 30, "GitHub") for kind in "pousr"),
        ("github_pat_" + "x" * 30, "GitHub"),
        ("AKIA" + "ABCDEFGH12345678", "AWS"),
        ("ASIA" + "ABCDEFGH12345678", "AWS"),
        ("eyJ" + ".eyJ".join(["x" * 20] * 2) + "." + "x" * 20, "JSON web"),
        ("session-eyJ" + ".eyJ".join(["x-" * 10] * 2) + "." + "x" * 20, "JSON web"),
        ("-----BEGIN RSA PRIVATE KEY-----", "private key"),
    ],
)
def test_what_looks_like_a_key_is_recognised_without_knowing_it(text: str, kind: str) -> None:
    assert any(kind in found for found in key_shapes_in(f'{{"t": "{text}"}}'.encode()))
    assert PLACEHOLDER in without_keys(text)


def test_ordinary_prose_does_not_look_like_a_key() -> None:
    prose = b"The task-oriented bearer of news asked: is sk-learn or scikit better? AIzawa, Bearer bonds, eyJs."
    assert key_shapes_in(prose) == []

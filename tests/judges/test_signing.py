"""Signed requests: AWS signatures checked by a server that computes them from the published description, Google tokens
fetched from a token server and renewed when they expire; and what is said where something is missing."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from documented import GOOD, KEY, documented
from documented.bedrock_converse import converse
from loopback import Answer, ReceivedRequest, loopback

from recuse.judges import read_response, wire
from recuse.judges.client import Client, keys_from_environment
from recuse.schema import Call, Judge, JudgeClosedError, Prompt, RawResponse, RecuseError

MakeJudge = Callable[..., Judge]
ACCESS, SECRET, SESSION = "AKIA" + "CANARY7EXAMPLE42", "canary-secret-access-key", "canary-session-token"
REGION = "eu-central-1"


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither this machine's credentials nor a cloud's metadata server."""
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_CONFIG", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)


def ask(judge: Judge, prompt: Prompt, times: int = 1) -> list[RawResponse]:
    request = wire(judge.wire).request(judge, prompt, None)

    async def some() -> list[RawResponse]:
        keys = keys_from_environment({"ann": judge}, {})
        async with Client({"ann": judge}, keys=keys, identify=lambda c: {"x-recuse-repeat": "0"}, attempts=1) as client:
            calls = [Call("t", "rubric", "ann", "one", "alpha", (), n, request, "key", "cell") for n in range(times)]
            return [await client.send(call) for call in calls]

    return asyncio.run(some())


# --------------------------------------------------------------------------- AWS signature version 4


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(asked: ReceivedRequest, secret: str) -> str:
    """The signature that a request must carry ("Create a signed AWS API request", AWS general reference)."""
    parts = dict(re.findall(r"(\w+)=([^,\s]+)", asked.headers["authorization"]))
    signed = parts["SignedHeaders"].split(";")
    path, _, query = asked.target.partition("?")
    lines = [
        asked.method,
        quote(path, safe="/-_.~"),  # once more than it is sent: every service but S3
        query,
        *(f"{name}:{asked.headers[name].strip()}" for name in signed),
        "",
        ";".join(signed),
        hashlib.sha256(asked.body).hexdigest(),
    ]
    _, day, region, service, end = parts["Credential"].split("/")
    assert (region, service, end) == (REGION, "bedrock", "aws4_request")
    scope = f"{day}/{region}/{service}/{end}"
    hashed = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    text = "\n".join(("AWS4-HMAC-SHA256", asked.headers["x-amz-date"], scope, hashed))
    key = f"AWS4{secret}".encode()
    for step in (day, region, service, end):
        key = _hmac(key, step)
    return _hmac(key, text).hex()


def signed_bedrock(asked: ReceivedRequest) -> Answer:
    """Bedrock with signatures; like AWS, it quotes what it was sent when they do not match."""
    given = asked.headers.get("authorization", "")
    if not given.endswith(f"Signature={signature(asked, SECRET)}") or asked.headers["x-amz-security-token"] != SESSION:
        quoted = f"{given} {asked.headers['x-amz-security-token']}"
        return Answer(403, {"message": f"The request signature we calculated does not match: {quoted}"})
    return converse(asked)


@pytest.mark.usefixtures("aws")
def test_a_request_to_bedrock_is_signed(judge: MakeJudge, prompt: Prompt) -> None:
    with loopback(signed_bedrock) as url:
        ann = judge("bedrock_converse", base_url=url, model="ann-1:0")
        [response] = ask(ann, prompt)
    assert read_response("bedrock_converse", response).text == GOOD


@pytest.mark.usefixtures("aws")
def test_a_signature_that_is_quoted_back_is_not_shown(
    judge: MakeJudge, prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-another-secret")
    with loopback(signed_bedrock) as url, pytest.raises(JudgeClosedError) as caught:
        ask(judge("bedrock_converse", base_url=url, model="ann-1:0"), prompt)
    said = str(caught.value)
    assert "judge ann: HTTP 403 from 127.0.0.1: “The request signature we calculated does not match:" in said
    assert "canary" not in said
    assert ACCESS not in said


@pytest.mark.usefixtures("aws")
def test_the_region_is_that_of_the_address(judge: MakeJudge, prompt: Prompt) -> None:
    ann = judge("bedrock_converse", base_url="https://bedrock-runtime.us-west-2.amazonaws.com")
    signer = keys_from_environment({"ann": ann}, {})["ann"].sign
    assert signer is not None
    signed = signer(wire(ann.wire).request(ann, prompt, None))
    assert "/us-west-2/bedrock/aws4_request" in signed["authorization"]


def test_missing_aws_credentials_are_told(judge: MakeJudge) -> None:
    ann = judge("bedrock_converse", base_url="https://bedrock-runtime.us-west-2.amazonaws.com")
    with pytest.raises(RecuseError, match=r"judge ann: no AWS credentials are found\. Set AWS_ACCESS_KEY_ID"):
        keys_from_environment({"ann": ann}, {})


@pytest.mark.usefixtures("aws")
def test_a_missing_region_is_told(judge: MakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(RecuseError, match="judge ann: no AWS region is known"):
        keys_from_environment({"ann": judge("bedrock_converse")}, {})


@pytest.mark.parametrize(
    ("wire_name", "module", "extra"),
    [("bedrock_converse", "botocore.auth", "bedrock"), ("vertex_generate", "google.auth", "vertex")],
)
def test_a_missing_package_is_told_with_the_command(
    judge: MakeJudge, monkeypatch: pytest.MonkeyPatch, wire_name: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RecuseError, match=rf"judge ann: .* not installed: pip install 'recuse\[{extra}\]'"):
        keys_from_environment({"ann": judge(wire_name)}, {})


@pytest.mark.parametrize("wire_name", ["bedrock_converse", "vertex_generate"])
def test_a_judge_that_names_a_key_is_not_signed_for(judge: MakeJudge, wire_name: str) -> None:
    found = keys_from_environment({"ann": judge(wire_name, api_key_env="ANN_KEY")}, {"ANN_KEY": "k-12"})["ann"]
    assert (found.key, found.sign) == ("k-12", None)


# --------------------------------------------------------------------------- Google access tokens


class Vertex:
    """Vertex AI with its token server: every token is good for so long and is accepted as long as it is the newest."""

    def __init__(self, lasts: int) -> None:
        self.lasts, self.tokens, self.asked = lasts, 0, 0

    def __call__(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/token":
            form = parse_qs(asked.body.decode())
            assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
            self.tokens += 1
            return Answer(200, {"access_token": self.token, "expires_in": self.lasts, "token_type": "Bearer"})
        self.asked += 1
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401, {"error": {"code": 401, "message": f"Bad token {asked.headers.get('authorization')}"}})
        good = {**asked.headers, "authorization": f"Bearer {KEY}"}
        return documented("vertex_generate").provider(ReceivedRequest(asked.method, asked.target, good, asked.body))

    @property
    def token(self) -> str:
        return f"canary-token-{self.tokens}"


def service_account(url: str, folder: Path) -> Path:
    """A service account's file, whose key was made for this test and whose token server is ours."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    account = {
        "type": "service_account",
        "client_email": "judge@p-1.example",
        "private_key": key.private_bytes(encoding, form, serialization.NoEncryption()).decode(),
        "private_key_id": "k-12",
        "project_id": "p-1",
        "token_uri": f"{url}/token",
    }
    path = folder / "account.json"
    path.write_text(json.dumps(account), encoding="utf-8")
    return path


@pytest.mark.parametrize(("lasts", "tokens"), [(3600, 1), (1, 3)], ids=["kept", "renewed"])
def test_a_token_is_kept_until_it_expires_and_then_renewed(
    judge: MakeJudge, prompt: Prompt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lasts: int, tokens: int
) -> None:
    vertex = Vertex(lasts)
    with loopback(vertex) as url:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(url, tmp_path)))
        ann = judge("vertex_generate", base_url=f"{url}/v1/projects/p-1/locations/europe-west4")
        answers = ask(ann, prompt, times=3)
    assert [read_response("vertex_generate", answer).text for answer in answers] == [GOOD] * 3
    assert (vertex.tokens, vertex.asked) == (tokens, 3)


def test_missing_google_credentials_are_told(judge: MakeJudge) -> None:
    with pytest.raises(RecuseError, match="judge ann: no Google credentials are found"):
        keys_from_environment({"ann": judge("vertex_generate")}, {})


def test_a_token_that_is_not_renewed_is_told(
    judge: MakeJudge, prompt: Prompt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def closed(asked: ReceivedRequest) -> Answer:
        return Answer(400, {"error": "invalid_grant", "error_description": "canary"})

    with loopback(closed) as url:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(url, tmp_path)))
        ann = judge("vertex_generate", base_url=f"{url}/v1/projects/p-1/locations/europe-west4")
        with pytest.raises(RecuseError, match="judge ann: Google did not renew the access token") as caught:
            ask(ann, prompt)
    assert "canary" not in str(caught.value)


def test_headers_of_the_recording_are_not_signed(judge: MakeJudge, prompt: Prompt) -> None:
    """The signature covers address, body and type, and none of the headers by which a recording knows its calls: they
    are taken off before the request leaves."""
    headers: dict[str, Any] = {}

    def note(asked: ReceivedRequest) -> Answer:
        headers.update(asked.headers)
        return converse(asked)

    with pytest.MonkeyPatch.context() as patch, loopback(note) as url:
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        ask(judge("bedrock_converse", base_url=url, model="ann-1:0"), prompt)
    assert "SignedHeaders=" in headers["authorization"]
    assert "x-recuse" not in headers["authorization"]
    assert not [name for name in headers if name.startswith("x-recuse")]

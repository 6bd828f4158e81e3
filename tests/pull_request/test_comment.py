"""`recuse comment` against a server on loopback that keeps comments as GitHub does: one comment, however many runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from recuse.cli import main

TOKEN = "a-token-nobody-may-see"
BOT = "github-actions[bot]"
LIST = re.compile(r"/repos/acme/judges/issues/7/comments")
ONE = re.compile(r"/repos/acme/judges/issues/comments/(\d+)")


@dataclass
class Forge:
    address: str = ""
    status: int = 0  # answered to everything, unless 0
    payload: Any = None  # of that answer
    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def add(self, login: str, body: str) -> dict[str, Any]:
        self.comments.append({"id": 100 + len(self.comments), "user": {"login": login}, "body": body})
        return self.comments[-1]

    def answer(self, method: str, target: str, token: str, sent: dict[str, str]) -> tuple[int, Any]:
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        self.asked.append(f"{method} {path}")
        if self.status or token != f"Bearer {TOKEN}":
            return self.status or 401, self.payload or {}
        if LIST.fullmatch(path) and method == "GET":
            size, page = int(query["per_page"][0]), int(query["page"][0])
            return 200, self.comments[(page - 1) * size : page * size]
        if LIST.fullmatch(path) and method == "POST":
            return 201, self.add(BOT, sent["body"])
        if (found := ONE.fullmatch(path)) and method == "PATCH":
            comment = next(c for c in self.comments if c["id"] == int(found[1]))
            comment["body"] = sent["body"]
            return 200, comment
        return 404, {}


@pytest.fixture
def forge() -> Iterator[Forge]:
    kept = Forge()

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            status, payload = kept.answer(self.command, self.path, self.headers.get("authorization", ""), sent)
            data = json.dumps(payload).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = handle_one

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    kept.address = f"http://127.0.0.1:{server.server_port}"
    yield kept
    server.shutdown()
    server.server_close()


@pytest.fixture
def workflow(forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """`workflow(summary)`: the environment of a run for pull request 7; returns the summary's path."""

    def environment(summary: str = "### Do not merge: grok-4 promotes itself.", **event: Any) -> Path:
        event = event or {"pull_request": {"number": 7, "head": {"sha": "0123456789abcdef" * 2}}}
        (tmp_path / "event.json").write_text(json.dumps(event))
        for name, value in {
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_REPOSITORY": "acme/judges",
            "GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": forge.address, "GITHUB_SERVER_URL": "https://forge.invalid",
            "GITHUB_RUN_ID": "42",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        (tmp_path / "summary.md").write_text(summary)
        return tmp_path / "summary.md"

    return environment


def test_the_comment_has_the_summary_the_commit_the_date_and_a_link(forge, workflow):
    assert main(["comment", str(workflow())]) == 0
    (comment,) = forge.comments
    assert comment["body"].startswith("<!-- recuse:evals -->\n### Do not merge: grok-4 promotes itself.\n")
    assert "Commit `0123456789ab`" in comment["body"]
    assert re.search(r" · \d{4}-\d\d-\d\d · ", comment["body"])
    assert "(https://forge.invalid/acme/judges/actions/runs/42)" in comment["body"]


def test_a_second_run_updates_the_same_comment(forge, workflow):
    main(["comment", str(workflow("first"))])
    main(["comment", str(workflow("second"))])
    (comment,) = forge.comments
    assert "second" in comment["body"]
    assert "first" not in comment["body"]


def test_it_is_found_behind_a_hundred_others(forge, workflow):
    for n in range(100):
        forge.add("ann", f"remark {n}")
    mine = forge.add(BOT, "<!-- recuse:evals -->\nold")
    main(["comment", str(workflow("new"))])
    assert len(forge.comments) == 101
    assert "new" in mine["body"]


def test_what_somebody_else_wrote_is_never_overwritten(forge, workflow):
    forged = forge.add("mallory", "<!-- recuse:evals -->\nmine")
    other_report = forge.add(BOT, "<!-- recuse:toxicity -->\nanother report")
    main(["comment", str(workflow())])
    assert (forged["body"], other_report["body"]) == (
        "<!-- recuse:evals -->\nmine",
        "<!-- recuse:toxicity -->\nanother report",
    )
    assert len(forge.comments) == 3


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_may_not_comment_turns_nothing_red_and_is_told(forge, workflow, capsys, status):
    forge.status = status
    assert main(["comment", str(workflow())]) == 0
    assert "pull-requests: write" in capsys.readouterr().out


@pytest.mark.parametrize("status", [200, 302, 403, 500])
def test_the_token_is_never_printed(forge, workflow, capsys, status):
    forge.status = status if status != 200 else 0
    code = main(["comment", str(workflow())])
    assert code == {200: 0, 302: 3, 403: 0, 500: 3}[status]
    captured = capsys.readouterr()
    assert captured.out + captured.err
    assert TOKEN not in captured.out + captured.err


@pytest.mark.parametrize("odd", [f"{TOKEN}\n", f"{TOKEN}\nmore", f" {TOKEN}", f"“{TOKEN}”"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(forge, workflow, capsys, monkeypatch, odd):
    path = workflow()
    monkeypatch.setenv("GITHUB_TOKEN", odd)
    assert main(["comment", str(path)]) == 3
    said = capsys.readouterr().err
    assert "GITHUB_TOKEN cannot be a token" in said
    assert TOKEN not in said
    assert forge.asked == []


@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_no_lack_of_rights(forge, workflow, capsys, status):
    forge.status, forge.payload = status, {"message": f"API rate limit exceeded for {TOKEN}."}
    assert main(["comment", str(workflow())]) == 3
    said = capsys.readouterr().err
    assert f"GitHub answered {status}: “API rate limit exceeded for [secret].”: no more calls are taken for now" in said


@pytest.mark.parametrize("payload", ["<html>sign in</html>", {"message": "hello"}, [1]])
def test_what_is_not_github_is_told_in_words(forge, workflow, capsys, payload):
    forge.status, forge.payload = 200, payload
    assert main(["comment", str(workflow())]) == 3
    assert "is not GitHub’s API" in capsys.readouterr().err
    assert forge.comments == []


def test_a_server_that_is_not_there_is_told_without_the_token(forge, workflow, capsys, monkeypatch):
    path = workflow()
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    assert main(["comment", str(path)]) == 3
    assert TOKEN not in capsys.readouterr().err


def test_a_token_does_not_travel_unencrypted(forge, workflow, capsys, monkeypatch):
    path = workflow()
    monkeypatch.setenv("GITHUB_API_URL", "http://forge.invalid/api")
    assert main(["comment", str(path)]) == 3
    assert "https://" in capsys.readouterr().err
    assert forge.asked == []


def test_outside_a_pull_request_nothing_is_sent(forge, workflow, capsys):
    assert main(["comment", str(workflow(push={}))]) == 0
    assert forge.asked == []
    assert "Not a pull request" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("missing", "words"), [("GITHUB_TOKEN", "GITHUB_TOKEN is not set"), ("GITHUB_EVENT_PATH", "is not set")]
)
def test_what_is_missing_is_named_with_the_remedy(workflow, monkeypatch, capsys, missing, words):
    path = workflow()
    monkeypatch.delenv(missing)
    assert main(["comment", str(path)]) == 3
    assert words in capsys.readouterr().err


def test_a_summary_that_github_would_refuse_is_refused_here(workflow, capsys, forge):
    assert main(["comment", str(workflow("x" * 65_600))]) == 3
    assert "65536" in capsys.readouterr().err
    assert forge.asked == []

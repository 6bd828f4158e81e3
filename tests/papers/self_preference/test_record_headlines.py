"""Any panel records its headlines by one command: what it costs is told first, and nothing is asked before."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fixtures.makers import record_headlines
from recuse.panels import load_panel

ROOT = Path(__file__).resolve().parents[3]
FIVE = ROOT / "fixtures" / "panels" / "five-providers.toml"
STORIES, AUTHORS, FEW = 100, 5, 6
CALLS = STORIES + STORIES * AUTHORS * 2 + FEW * AUTHORS * 4 + FEW * AUTHORS
"""Of one judge: to write, to grade in both directions, to grade under two words, to say which texts are its own."""


def test_the_cost_is_told_without_keys_and_nothing_is_asked(monkeypatch, capsys) -> None:
    for judge in load_panel(FIVE).judges.values():
        assert judge.api_key_env
        monkeypatch.delenv(judge.api_key_env, raising=False)
    assert record_headlines.main(str(FIVE)) == 0
    told = capsys.readouterr().out
    assert told.count(f" {CALLS:,} calls") == AUTHORS
    assert f"all judges: {CALLS * AUTHORS:,} calls" in told
    assert "at most $" in told.splitlines()[-2]
    assert told.rstrip().endswith("Nothing was asked. Add --yes to record.")
    assert not (ROOT / "cassettes" / "five-providers").exists()


class Toy(BaseHTTPRequestHandler):
    """Writes one headline for every story, and finds every text fair."""

    asked: Counter[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = body["messages"][-1]["content"]
        kind = "write" if "Write a headline" in words else "grade"
        type(self).asked[kind] += 1
        said = f"Headline: News by {body['model']}\nLead: It happened." if kind == "write" else "Rating: 3"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 9, "completion_tokens": 3}
        answer = json.dumps({"model": body["model"], "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Toy.asked = Counter()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Toy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.slow("whole recordings")
def test_a_panel_writes_builds_and_grades_by_one_command(tmp_path: Path, address: str) -> None:
    """Three authors, an odd number, where panel `local` has four."""
    shutil.copytree(ROOT / "fixtures" / "tasks" / "headlines", tmp_path / "fixtures" / "tasks" / "headlines")
    judges = "".join(
        f'[[judge]]\nname = "{name}"\nwire = "openai_chat"\nbase_url = "{address}"\nmodel = "{name}-1"\n'
        f'author = "{name}"\n'
        for name in ("claude", "gpt", "sonar")
    )
    panel = tmp_path / "fixtures" / "panels" / "mine.toml"
    panel.parent.mkdir()
    panel.write_text(
        'name = "mine"\ndescription = "Toys."\nprovenance = "recorded"\nsource = "this test"\nfree = true\n'
        '[[task]]\nname = "headlines"\nprotocols = ["headline_generation", "grading"]\n'
        'items = { grading = "items-few-mine.jsonl" }\n' + judges,
        encoding="utf-8",
    )
    assert record_headlines.main(str(panel), "--yes", root=tmp_path) == 0
    assert Toy.asked == {"write": STORIES * 3, "grade": FEW * 3 * 3 * 2}
    built = (tmp_path / "fixtures" / "tasks" / "headlines" / "items-mine.jsonl").read_text("utf-8").splitlines()
    assert Counter(json.loads(line)["target"] for line in built) == dict.fromkeys(("claude", "gpt", "sonar"), STORIES)
    assert record_headlines.main(str(panel), "--yes", root=tmp_path) == 0
    assert sum(Toy.asked.values()) == STORIES * 3 + FEW * 18, "what is recorded is not asked again"

"""A team's own protocols and wire formats, in its own repository, named as modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import headers, make_plan
from recuse.elicitation.replies import read_replies
from recuse.judges import wire
from recuse.panels import load_panel
from recuse.protocols import protocol, template
from recuse.schema import RawResponse, RecuseError
from recuse.tasks import load_task

ONE_WORD = """
from recuse.ext import Judgement, Prompt, reading, wording

OFFERS = "fitness"
FACTORS = {}
REPEATS = 2


def items(task, judge):
    return task.items


def prompt(task, item, factors):
    return Prompt(wording.messages(task, "one_word", text=item.fields["text"]), temperature=0.5, max_tokens=5)


def read(task, item, factors, reply):
    word = reading.answered(reply).strip()
    good = word in ("yes", "no")
    return [Judgement("fit", response=word) if good else Judgement("fit", status="unparsed", why="neither")]
"""

HOUSE_CHAT = """
from recuse.ext import Reply, Request, canonical


def request(judge, prompt, seed):
    return Request(f"{judge.base_url}/ask", canonical({"ask": prompt.messages[-1].content}))


def headers(key):
    return {}


def read(payload):
    return Reply(payload["said"])


def payload(text, *, model, refusal, input_tokens, output_tokens):
    return {"said": text}
"""

PANEL = """
name = "ours"
description = "One judge."
provenance = "recorded"
source = "asked by our team"

[[task]]
name = "letters"
protocols = ["our_judges.one_word"]

[[judge]]
name = "house"
wire = "our_judges.house_chat"
base_url = "http://judge.example/v1"
model = "house-1"
"""

TASK = """
name = "letters"
scale = { minimum = 0, maximum = 1 }
criterion = [{ id = "fit" }]
target = [{ id = "us" }]
"""


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "our_judges/__init__.py": "",
        "our_judges/one_word.py": ONE_WORD,
        "our_judges/house_chat.py": HOUSE_CHAT,
        "our_judges/half_done.py": "OFFERS = 'fitness'\nFACTORS = {}",
        "panels/ours.toml": PANEL,
        "letters/task.toml": TASK,
        "letters/items.jsonl": '{"id": "1", "target": "us", "fields": {"text": "Dear client"}}\n',
        "letters/prompts/one_word.user.j2": "Fit? {{ text }}",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_panel_names_modules_of_its_own_repository(ours: Path) -> None:
    """From the panel file to ratings: the request goes out in the house format, both runs are read by our protocol."""
    panel, task = load_panel(ours / "panels" / "ours.toml"), load_task(ours / "letters")
    plan = make_plan("ours", task, "our_judges.one_word", panel.judges, identify=request_key)
    assert [(call.cell, call.request.body) for call in plan.calls] == [
        ("ours/letters/our_judges.one_word/house~us", b'{"ask":"Fit? Dear client"}')
    ] * 2
    answers = [RawResponse(200, {}, b'{"said": "yes"}'), RawResponse(200, {}, b'{"said": "perhaps"}')]
    table = read_replies(plan, zip(plan.calls, answers, strict=True)).table
    assert table[["criterion", "status"]].to_numpy().tolist() == [["fit", "ok"], ["fit", "unparsed"]]
    (header,) = headers(panel, plan).values()
    assert header["fingerprint"]["wire"] == "our_judges.house_chat"


def test_its_wording_has_the_modules_name(ours: Path) -> None:
    assert template("our_judges.one_word") == "one_word"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "one_word",
            r"unknown protocol 'one_word'; known: .*own is named by its dotted path, our_judges\.one_word",
        ),
        ("our_judges.two_words", r"protocol 'our_judges\.two_words' cannot be imported: our_judges has no 'two_words'"),
        ("our_judges.half_done", r"protocol 'our_judges\.half_done' lacks REPEATS, items, prompt, read"),
    ],
)
def test_a_name_that_leads_nowhere_says_what_is_wrong(ours: Path, name: str, told: str) -> None:
    with pytest.raises(RecuseError, match=told):
        protocol(name)
    panel = ours / "panels" / "ours.toml"
    panel.write_text(PANEL.replace("our_judges.one_word", name), encoding="utf-8")
    with pytest.raises(RecuseError, match=rf"ours\.toml: task letters: {told}"):
        load_panel(panel)


def test_a_wire_format_that_leads_nowhere_says_where(ours: Path) -> None:
    with pytest.raises(RecuseError, match=r"wire format 'our_judges\.half_done' lacks request, headers, read, payload"):
        wire("our_judges.half_done")
    panel = ours / "panels" / "ours.toml"
    panel.write_text(PANEL.replace("our_judges.house_chat", "our_judges.grpc"), encoding="utf-8")
    with pytest.raises(
        RecuseError, match=r"ours\.toml: 1 fault(.|\n)*judge\[0\].*'our_judges\.grpc' cannot be imported"
    ):
        load_panel(panel)

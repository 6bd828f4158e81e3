"""reports/replies/: every reply and prompt on a page, safe and bounded, with an address that does not move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import samples
from page_reader import Element, read

from recuse import report
from recuse.report import reply_pages
from recuse.report.addresses import ReplyPlaces
from recuse.report.canonical_form import normalised
from recuse.report.reply_pages import write_overview, write_transcript
from recuse.report.results_model import ResultsModel
from recuse.schema import (
    Call,
    Exchange,
    Judgement,
    Message,
    Prompt,
    Reply,
    Request,
    Transcript,
    prompt_id,
    reply_id,
)  # fmt: skip

SHOWN, HIDDEN = (("names", "shown"),), (("names", "hidden"),)
WORDS = {SHOWN: "names shown", HIDDEN: "names hidden"}
PROMPT = Prompt((Message("system", "You judge."), Message("user", "Rate this text.")), 0.0, 10)


def exchange(
    text: str = '{"score": 7}',
    *,
    judge: str = "gpt-5.1",
    item: str = "story-1",
    factors: tuple[tuple[str, str], ...] = SHOWN,
    repeat: int = 0,
    prompt: Prompt = PROMPT,
    stage: str = "",
    judgements: Sequence[Judgement] = (Judgement("total", 7.0),),
    reasoning: str = "",
) -> Exchange:
    about = ("merchant_risk", "rubric", judge, item, "grok-4", factors, repeat)
    call = Call(*about, Request("http://judge.invalid", b"{}"), "key", "cell", stage, prompt)
    return Exchange(call, Reply(text, reasoning=reasoning), judgements)


def transcript(*exchanges: Exchange, candidate: str = "") -> Transcript:
    labels = {"gpt-5.1": "GPT-5.1", "grok-4": "Grok 4"}
    about = ("published", "merchant_risk", "rubric", candidate)
    return Transcript(*about, "reconstructed", labels, WORDS, exchanges)


def page(folder: Path, name: str = "gpt-5.1.html") -> Element:
    return read((folder / "published" / "merchant_risk" / "rubric" / name).read_text(encoding="utf-8"))


def test_a_reply_stands_with_what_was_read_in_it_and_leads_to_its_prompt(tmp_path: Path) -> None:
    write_transcript(transcript(exchange(), exchange("no idea", repeat=1, judgements=[BAD])), tmp_path)
    first, second = page(tmp_path).one("ol", class_="replies").all("li")
    assert (first.one("b").text, first.one("code").text) == ("total 7", '{"score": 7}')
    assert (second.one("b").text, second.one("b").classes) == ("unparsed: no JSON in it", ["bad"])
    [prompt] = [a.attributes["href"] for a in page(tmp_path).all("a") if a.text == "the prompt"]
    assert prompt == f"~prompts.html#{prompt_id(PROMPT)}"
    asked = next(page(tmp_path, "~prompts.html").all("section", id=prompt_id(PROMPT)))
    assert [pre.text for pre in asked.all("pre")] == ["You judge.", "Rate this text."]
    assert [role.text for role in asked.all("h3")] == ["system", "user"]
    assert "more characters" not in asked.text


BAD = Judgement("total", status="unparsed", why="no JSON in it")


def test_an_address_is_that_of_the_call_and_of_no_other(tmp_path: Path) -> None:
    """It stays when replies come or go, and differs by item, level, repeat and stage."""
    calls = [exchange(item=i, factors=f, repeat=r, stage=s).call
             for i in "ab" for f in (SHOWN, HIDDEN) for r in (0, 1) for s in ("", "plan")]  # fmt: skip
    assert len({reply_id(call) for call in calls}) == len(calls) == 16
    write_transcript(transcript(*(exchange(repeat=r) for r in range(5))), tmp_path)
    ids = [li.attributes["id"] for li in page(tmp_path).one("ol", class_="replies").all("li")]
    write_transcript(transcript(*(exchange(repeat=r) for r in (3, 1))), tmp_path)
    fewer = [li.attributes["id"] for li in page(tmp_path).one("ol", class_="replies").all("li")]
    assert fewer == [ids[3], ids[1]]


def test_the_text_on_which_it_lies_farthest_from_people_stands_first(tmp_path: Path) -> None:
    """Of scores by the distance of means, 0, 3 and 1.5; of options by the share of people that say something else. A
    text that nobody rated stands last."""
    scored = [exchange(item=f"s{k}", judgements=[Judgement("total", score)]) for k, score in enumerate((7, 4, 8.5, 1))]
    people = {("s0", "grok-4"): [6, 8], ("s1", "grok-4"): [7], ("s2", "grok-4"): [7]}
    write_transcript(replace(transcript(*scored), people=people, headline=("total",)), tmp_path)
    assert [h.text.partition(",")[0] for h in page(tmp_path).all("h2")] == ["s1", "s2", "s0", "s3"]
    assert "farthest from people stand first" in page(tmp_path).text
    chosen = [exchange(item=f"s{k}", judgements=[Judgement("total", response="yes")]) for k in range(3)]
    people = {("s0", "grok-4"): ["yes"], ("s1", "grok-4"): ["no", "yes"], ("s2", "grok-4"): ["no", "no"]}
    write_transcript(replace(transcript(*chosen), people=people, headline=("total",)), tmp_path)
    assert [h.text.partition(",")[0] for h in page(tmp_path).all("h2")] == ["s2", "s1", "s0"]


def test_what_could_not_be_used_is_listed_at_the_top(tmp_path: Path) -> None:
    bad = exchange("no", repeat=2, judgements=[BAD])
    write_transcript(transcript(exchange(), exchange(repeat=1), bad), tmp_path)
    links = [a.attributes["href"] for a in page(tmp_path).one("header").all("a", class_="bad")]
    assert links == [f"#{reply_id(bad.call)}"]


HOSTILE = [
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</pre></li></ol><h1>Cleared</h1>",
    "\u202eevil\u200b\x1b[2J\ud800",
    "{{ 7 * 7 }}{% raw %}",
    "key sk-ant-abcdefghijklmnopqrstuvwxyz0123",
    "\u0301" * 500,
    "",
]


@pytest.mark.parametrize("where", ["text", "why", "reasoning", "prompt", "response", "item"])
@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_judge_writes_stays_text(tmp_path: Path, where: str, text: str) -> None:
    given: dict[str, Any] = {
        "text": {"text": text},
        "why": {"judgements": [replace(BAD, why=text)]},
        "reasoning": {"reasoning": text},
        "prompt": {"prompt": replace(PROMPT, messages=(Message("user", text),))},
        "response": {"judgements": [Judgement("pick", response=text)]},
        "item": {"item": text},
    }[where]
    write_transcript(transcript(exchange(**given)), tmp_path)
    for path in tmp_path.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        tree = read(html)
        assert not list(tree.all("script")) + list(tree.all("img"))
        assert len(list(tree.all("h1"))) == 1
        assert not re.search("[\u202a-\u202e\u200b-\u200f\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", html)
        assert "\u0301" * 5 not in html
        assert "sk-ant" not in html
        assert "49" not in tree.one("main").text


def test_replies_prompts_and_pages_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_pages, "REPLIES_PER_PAGE", 3)
    monkeypatch.setattr(reply_pages, "PAGES_PER_JUDGE", 2)
    monkeypatch.setattr(reply_pages, "PROMPTS_PER_PAGE", 2)
    long = "word " * 100_000
    many = [
        exchange(long, repeat=r, prompt=replace(PROMPT, messages=(Message("user", f"{r} {long}"),))) for r in range(8)
    ]
    account = write_transcript(transcript(*many), tmp_path)
    assert account["pages"]["gpt-5.1"] == [f"published/merchant_risk/rubric/gpt-5.1{part}.html" for part in ("", "~2")]
    assert "8 replies, 3 of them here; the last 2 are in the cassettes only" in page(tmp_path, "gpt-5.1~2.html").text
    assert "496,001 more characters in the cassette" in page(tmp_path).text
    assert len([name for name in account["files"] if "~prompts" in name]) == 4
    assert "480,002 more characters" in page(tmp_path, "~prompts.html").text
    assert account["bytes"] == sum(path.stat().st_size for path in tmp_path.rglob("*.html")) < 300_000
    places = ReplyPlaces({"published/merchant_risk/rubric": account})
    row = {"panel": "published", "task": "merchant_risk", "protocol": "rubric", "judge": "gpt-5.1"}
    told = [places.reply(row | {"reply": reply_id(many[n].call)}) for n in (0, 4)]
    folder = "replies/published/merchant_risk/rubric"
    assert told[0] == f"{folder}/gpt-5.1.html#{reply_id(many[0].call)}"
    assert told[1] == f"{folder}/gpt-5.1~2.html#{reply_id(many[4].call)}"


def test_a_candidates_prompts_are_kept_apart(tmp_path: Path) -> None:
    in_use = write_transcript(transcript(exchange()), tmp_path)
    candidate = write_transcript(transcript(exchange(judge="gpt-6"), candidate="gpt-6"), tmp_path)
    assert not set(in_use["files"]) & set(candidate["files"])


# --------------------------------------------------------------------------- from the report


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A report with replies of two judges beside it."""
    account = write_transcript(
        transcript(*(exchange(judge=judge, repeat=r) for judge in ("gpt-5.1", "grok-4") for r in range(3))),
        tmp_path / "replies",
    )
    results = samples.failing()
    for row in results["excerpts"]:
        row["reply"] = reply_id(exchange().call)
    report.write(results, tmp_path, identity={"replies": {"published/merchant_risk/rubric": account}})
    return tmp_path


def addresses(path: Path) -> list[str]:
    return [a.attributes["href"] for a in read(path.read_text(encoding="utf-8")).all("a")]


def test_every_link_of_the_report_and_beside_it_leads_somewhere(written: Path) -> None:
    seen = 0
    names = {path: set(re.findall(r'\sid="?([^"\s>]+)', path.read_text("utf-8"))) for path in written.rglob("*.html")}
    for path in names:
        for address in addresses(path):
            file, _, anchor = address.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path}: {address}"
            if anchor:
                assert anchor in names[target], f"{path}: {address}"
            seen += bool(file)
    assert seen > 50


def test_numbers_lead_to_the_replies_behind_them(written: Path) -> None:
    tree = read((written / "index.html").read_text(encoding="utf-8"))
    behind = [p for p in tree.all("p", class_="said") if "rubric of GPT-5.1, Grok 4" in p.text]
    assert len(behind) > 3
    quoted = {a for a in addresses(written / "index.html") if a.endswith(reply_id(exchange().call))}
    assert f"replies/published/merchant_risk/rubric/gpt-5.1.html#{reply_id(exchange().call)}" in quoted


def test_a_judges_page_has_its_verdicts_the_worst_first_and_every_other_number_once(written: Path) -> None:
    tree = read((written / "replies" / "published" / "~judges" / "grok-4.html").read_text(encoding="utf-8"))
    view = ResultsModel(normalised(samples.failing()))
    mine = [n for n in view.numbers if n.who == "grok-4" and n.subject["panel"] == "published"]
    verdicts, measured = (tree.one("section", id=name).all("tr") for name in ("verdicts", "measured"))
    outcomes = [next(row.all("td")).text for row in list(verdicts)[1:]]
    assert len(outcomes) == sum(1 for n in mine if n.verdict)
    assert outcomes[0].endswith("fail")
    assert outcomes[-1].endswith("pass")
    gated = {(n.metric, *sorted(n.subject.items())) for n in mine if n.verdict}
    others = [n for n in mine if (n.metric, *sorted(n.subject.items())) not in gated]
    assert len(list(measured)) - 1 == len(others) > 5


def test_without_replies_nothing_is_said_of_any_and_old_pages_go(written: Path) -> None:
    report.write(samples.failing(), written)
    assert not list((written / "replies").rglob("*.html"))
    assert not [address for address in addresses(written / "index.html") if "replies/" in address]


def test_pages_of_an_earlier_run_go(written: Path) -> None:
    old = written / "replies" / "published" / "merchant_risk" / "rubric" / "gone.html"
    kept = old.with_name("gpt-5.1.html")
    old.write_bytes(kept.read_bytes())
    theirs = old.with_name("notes.html")
    theirs.write_text("<!doctype html><title>a page of theirs</title>")
    ours = [path for path in old.parent.glob("*.html") if path not in (old, theirs)]
    files = [path.relative_to(written / "replies").as_posix() for path in ours]
    account = {"pages": {"gpt-5.1": files[:1]}, "further": {}, "files": files, "prompts": "", "replies": 1, "bytes": 1}
    write_overview(ResultsModel(normalised(samples.failing())), {"published/merchant_risk/rubric": account}, written)
    assert not old.exists()
    assert kept.exists()
    assert theirs.exists()

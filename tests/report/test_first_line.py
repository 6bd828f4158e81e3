"""What every output begins with: the decision, and who is cleared of each panel and why."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import samples
from page_reader import read

from recuse import report
from recuse.report.canonical_form import normalised
from recuse.report.first_line import decision_lines, headline
from recuse.report.page import page
from recuse.report.results_model import ResultsModel
from recuse.report.summary import summary


def view_of(results: samples.Results) -> ResultsModel:
    return ResultsModel(normalised(results))


def outputs(results: samples.Results) -> dict[str, str]:
    """Terminal, summary.md and page as plain text without line breaks."""
    plain = normalised(results)
    tree = read(page(plain, plain["headline"]))
    texts = {
        "terminal": report.terminal(plain, 200),
        "summary": summary(plain).replace("\\", ""),
        "page": tree.one("body").text,
    }
    return {name: " ".join(text.split()) for name, text in texts.items()}


def test_the_headline_is_the_decision() -> None:
    results = samples.published()
    assert headline(results) == results["decision"]["sentence"]
    assert (
        headline(results)
        == "Merge: nothing changed. Cleared: gpt-5.1, claude-4.5-sonnet and perplexity-sonar, of 5 judges."
    )
    assert headline({"headline": "kept by an older run."}) == "kept by an older run."
    assert headline({}).startswith("Nothing was decided")


@pytest.mark.parametrize("sample", [samples.published, samples.both, samples.failing, samples.nothing])
def test_the_same_sentence_opens_every_output(sample: Any) -> None:
    told = outputs(sample())
    sentence = headline(sample())
    assert told["terminal"].startswith(sentence)
    assert told["summary"].startswith(f"### {sentence}")
    assert read(page(normalised(sample()), sentence)).one("h1").text == sentence


def test_a_line_per_panel_names_who_is_cleared_and_why_others_are_not() -> None:
    (line,) = decision_lines(view_of(samples.published()))
    assert line.text == (
        "published: cleared: gpt-5.1, claude-4.5-sonnet and perplexity-sonar; not cleared: gemini-2.5-pro and grok-4, "
        "most of all because of own work: gemini-2.5-pro +0.77 (95 % interval +0.64 to +0.90), limit ±0.5 missed by "
        "0.27; accepted until 2027-12-31."
    )


def test_every_panel_has_its_line_in_every_output() -> None:
    lines = [line.text for line in decision_lines(view_of(samples.both()))]
    assert [line.partition(":")[0] for line in lines] == ["published", "local"]
    told = outputs(samples.both())
    for name in ("terminal", "summary", "page"):
        assert "because of own work: gemini-2.5-pro +0.77" in told[name], name


def test_the_reason_leads_to_its_cell() -> None:
    tree = read(page(normalised(samples.published()), "x"))
    (link,) = tree.one("ul", class_="standing").all("a")
    target = link.attributes["href"][1:]
    cell = next(e for e in tree.all("div") if e.attributes.get("id") == target)
    assert "+0.77" in cell.text


def test_a_number_keeps_its_percent_sign_and_a_day_its_line() -> None:
    html = page(normalised(samples.published()), "x")
    standing = html[html.index("<ul class=standing") :].partition("</ul>")[0]
    assert "(95\u00a0% interval" in standing
    assert " %" not in standing
    assert re.findall(r"\S*\d{4}-\d\d-\d\d\S*", standing.replace("<span class=day>", "<day>")) == [
        "<day>2027-12-31</span></a></span></li>"
    ]


def test_who_is_cleared_is_read_not_decided() -> None:
    """The recommendations are believed, whatever the verdicts say."""
    results = copy.deepcopy(samples.published())
    results["decision"]["panels"] = [
        {"panel": "published", "cleared": ["grok-4"], "not cleared": [], "undecided": [], "because": {}}
    ]
    assert [line.text for line in decision_lines(view_of(results))] == ["published: cleared: grok-4."]


def test_a_doubt_is_told_as_too_little_data() -> None:
    results = samples.published()
    for v in results["verdicts"]:
        v.update(outcome="pass", accepted_fault=None)
        if v["gate"] == "self_bias" and v["subject"]["judge"] == "grok-4":
            v.update(outcome="undecided", accepted_fault=None, allowed=False)
            v["estimate"].update(value=0.45, low=0.2, high=0.7)
    line = decision_lines(view_of(samples.counted(results)))[0].text
    assert "undecided: grok-4, because of own work: +0.45 (95 % interval +0.20 to +0.70)" in line
    assert "limit ±0.5, 0.05 inside: too little data to tell" in line, line


def test_no_number_no_margin() -> None:
    results = samples.failing()
    line = decision_lines(view_of(results))[0].text
    assert "because of" in line
    for v in results["verdicts"]:
        v.update(outcome="pass", accepted_fault=None)
        if v["gate"] == "repeat_difference" and v["subject"]["judge"] == "gpt-5.1":
            v.update(outcome="not measured")
            v["estimate"].update(value=float("nan"), note="undefined: no two replies")
    line = decision_lines(view_of(samples.counted(results)))[0].text
    assert "undecided: gpt-5.1, because of steady: could not be measured (no two replies)" in line


def test_many_judges_are_counted_not_listed() -> None:
    (line,) = decision_lines(view_of(samples.invented(40)))
    assert " more" in line.text
    assert max(len(s.who) for s in line.standings) < 120

"""What every output begins with: the decision, and who is cleared of each panel and why."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import samples
from page_reader import page, read

from recuse.report.canonical_form import normalised
from recuse.report.first_line import decision_lines, expiring, headline, next_step, opening
from recuse.report.page import pages, summary
from recuse.report.results_model import ResultsModel
from recuse.report.terminal_text import terminal


def view_of(results: samples.Results) -> ResultsModel:
    return ResultsModel(normalised(results))


def outputs(results: samples.Results) -> dict[str, str]:
    """Terminal, summary.md and page as plain text without line breaks."""
    plain = normalised(results)
    tree = read(page(plain, plain["headline"]))
    texts = {
        "terminal": terminal(plain, 200),
        "summary": summary(plain).replace("\\", ""),
        "page": tree.one("body").text,
    }
    return {name: " ".join(text.split()) for name, text in texts.items()}


def test_the_opening_is_the_decision() -> None:
    results = samples.published()
    assert opening(results) == results["decision"]["lines"] == [
        "This change: merge: nothing changed.",
        "These judges: 3 of 5 cleared for merchant_risk (gpt-5.1, claude-4.5-sonnet and perplexity-sonar); 2 not "
        "cleared, known and accepted: gemini-2.5-pro promotes itself.",
    ]  # fmt: skip
    assert headline(results) == " ".join(opening(results))
    assert opening({"headline": "kept by an older run."}) == ["kept by an older run."]
    assert headline({}).startswith("Nothing was decided")


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("sample", [samples.published, samples.both, samples.failing, samples.nothing])
def test_the_same_two_lines_open_every_output(sample: Any) -> None:
    shown = outputs(sample())
    change, judges = opening(sample())
    assert shown["terminal"].startswith(f"{change} {judges}")
    assert shown["summary"].startswith(f"### {change} {judges}")
    tree = read(page(normalised(sample()), "x"))
    assert tree.one("h1").text == change
    assert tree.one("p", class_="lede").text.replace("\u00a0", " ") == judges


def test_the_next_step_follows_in_every_output() -> None:
    step = next_step(samples.failing())
    assert step.startswith("do not use it for this")
    for name, text in outputs(samples.failing()).items():
        assert f"Next: {step}" in text, name
    assert next_step(samples.published()) == ""
    assert not any("Next:" in text for text in outputs(samples.published()).values())


def test_a_line_per_panel_and_use_names_who_is_cleared_and_why_others_are_not() -> None:
    (line,) = decision_lines(view_of(samples.published()))
    assert line.text.startswith(
        "panel published, use merchant_risk: not cleared: gemini-2.5-pro and grok-4; of gemini-2.5-pro: with names "
        "shown, it promotes itself (own work +0.77, limit within [-0.5, +0.5]); "
    )
    assert line.text.endswith("(accepted); cleared: gpt-5.1, claude-4.5-sonnet and perplexity-sonar.")


def test_a_line_that_has_little_room_leaves_out_causes_and_no_judge() -> None:
    (line,) = decision_lines(view_of(samples.published()))
    names = ["gemini-2.5-pro", "grok-4", "gpt-5.1", "claude-4.5-sonnet", "perplexity-sonar"]
    whole, bare = line.short(1_000), line.short(10)
    assert whole == (
        "panel published, use merchant_risk: not cleared: gemini-2.5-pro (promotes itself) and grok-4; cleared: "
        "gpt-5.1, claude-4.5-sonnet and perplexity-sonar."
    )
    assert bare == whole.replace(" (promotes itself)", "")
    assert [text.count(name) for text in (whole, bare) for name in names] == [1] * 10
    assert line.short(len(whole)) == whole
    assert line.short(len(whole) - 1) == bare


def test_every_panel_has_its_line_in_every_output() -> None:
    lines = [line.text for line in decision_lines(view_of(samples.both()))]
    where = ["panel published, use merchant_risk", "panel local, use merchant_risk"]
    assert [line.partition(":")[0] for line in lines] == where
    for name, text in outputs(samples.both()).items():
        for judge, cause in (("gemini-2.5-pro", "it promotes itself"),
                             ("smollm2-135m", "it often gives no usable answer")):  # fmt: skip
            assert re.search(rf"{judge}.{{0,40}}{cause}", " ".join(text.split())), name


def test_judges_by_uses_are_a_table_whose_causes_are_short() -> None:
    """A use that the panel does not state has a column too; a panel without word and verdict is a study, on a page of
    its own."""
    results = copy.deepcopy(samples.both())
    words = [one for one in results["decision"]["judges"] if one["panel"] == "published"]
    results["decision"]["judges"] = [*words, {**words[0], "use": "rank", "word": "undecided", "stated": False,
                                              "brief": "", "cause": "no people (x)"}]  # fmt: skip
    results["verdicts"] = [v for v in results["verdicts"] if v["subject"]["panel"] == "published"]
    drawn = pages(normalised(results))
    html = drawn["index.html"]
    table = next(t for t in read(html).all("table") if "uses" in t.classes)
    assert [th.text for th in table.one("thead").all("th")] == ["judge", "merchant risk", "rank"]
    rows = {next(tr.all("th")).text: [td.text for td in tr.all("td")] for tr in table.one("tbody").all("tr")}
    assert rows["gemini-2.5-pro"][0] == "failnot cleared, acceptedit promotes itself"
    assert rows["gpt-5.1"] == ["passcleared", "undecidedundecided, for informationno people (x)"]
    assert list(drawn) == ["index.html", "studies/local.html"]
    assert "Panel local, merchant" not in html
    assert read(html).one("section", id="studies").one("a").attributes["href"] == "studies/local.html"
    study = read(drawn["studies/local.html"])
    assert {h.text.split(",")[0] for h in study.all("h3")} == {"Panel local"}
    assert "nobody is cleared or refused" in study.one("header").text
    whole = page(normalised(results), "x")
    assert "Panel local, merchant" in whole
    assert 'id="studies"' not in whole


def test_whoever_nobody_accepted_is_named_first() -> None:
    """Of grok and gemini both beyond their limit, gemini further, only gemini's failure is accepted."""
    (line,) = decision_lines(view_of(samples.failing()))
    assert "not cleared: gemini-2.5-pro and grok-4; of grok-4: with names shown, it promotes itself" in line.text
    assert "2 not cleared: grok-4 promotes itself" in opening(samples.failing())[1]


def test_a_number_keeps_its_percent_sign() -> None:
    results = copy.deepcopy(samples.both())
    results["decision"]["next"] = "move the threshold by 5 %"
    assert "move the threshold by 5\u00a0%" in page(normalised(results), "x")


def test_who_is_cleared_is_read_not_decided() -> None:
    """The decision is believed, whatever the verdicts say."""
    results = copy.deepcopy(samples.published())
    results["decision"]["judges"] = [{
        "panel": "published", "judge": "grok-4", "use": "rank", "word": "cleared", "cause": "all pass",
        "gates": [], "next": "", "stated": True, "accepted": False,
    }]  # fmt: skip
    assert [line.text for line in decision_lines(view_of(results))] == ["panel published, use rank: cleared: grok-4."]


def test_a_use_that_the_panel_does_not_state_has_no_line_and_a_word_in_the_table() -> None:
    results = copy.deepcopy(samples.published())
    results["decision"]["judges"].append({
        "panel": "published", "judge": "grok-4", "use": "rank", "word": "cleared", "cause": "all pass",
        "gates": [], "next": "", "stated": False, "accepted": False,
    })  # fmt: skip
    view = view_of(results)
    assert [line.use for line in decision_lines(view)] == ["merchant_risk"]
    assert view.words_on("published", "grok-4") == "merchant risk: not cleared; rank: cleared"


def test_a_doubt_is_told_as_too_little_data() -> None:
    results = samples.published()
    for v in results["verdicts"]:
        v.update(outcome="pass", accepted_fault=None)
        if v["gate"] == "self_bias" and v["subject"]["judge"] == "grok-4":
            v.update(outcome="undecided", accepted_fault=None, allowed=False)
            v["estimate"].update(value=0.45, low=0.2, high=0.7)
    line = decision_lines(view_of(samples.counted(results)))[0].text
    assert "undecided: grok-4: with names hidden, whether it promotes itself is too close to call" in line


def test_what_could_not_be_measured_says_why() -> None:
    results = samples.published()
    for v in results["verdicts"]:
        v.update(outcome="pass", accepted_fault=None)
        if v["gate"] == "human_offset" and v["subject"]["judge"] == "gpt-5.1":
            v.update(outcome="not measured")
            v["estimate"].update(value=float("nan"), note="no two replies")
    line = decision_lines(view_of(samples.counted(results)))[0].text
    assert "undecided: gpt-5.1: with names hidden, like people could not be measured (no two replies)" in line


def test_what_ends_soon_is_told_once_in_every_output() -> None:
    results = samples.published()
    assert expiring(results) == ""
    results["ends"] = [{"gate": "self_bias", "about": "x", "until": "2027-12-31", "days": 12}]
    assert expiring(results) == "1 accepted failure expires soon, the first on 2027-12-31 (in 12 days): self_bias."
    for name, text in outputs(results).items():
        assert text.replace("\u00a0", " ").count("1 accepted failure expires soon") == 1, name


def test_many_judges_are_counted_not_listed() -> None:
    (line,) = decision_lines(view_of(samples.invented(40)))
    assert " more" in line.text
    assert max(len(s.short(why=False)) for s in line.standings) < 140

"""The page in the order in which a reviewer reads it: decision, changes, what is red, the matrix, folded questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache

import samples
from page_reader import Element, page, read

from recuse.report.canonical_form import normalised
from recuse.report.page import summary
from recuse.report.results_model import ResultsModel
from recuse.report.sections.attention import needs_attention


def tree_of(results: samples.Results) -> Element:
    plain = normalised(results)
    return read(page(plain, plain["headline"]))


@cache
def drawn(sample: Callable[[], samples.Results]) -> Element:
    """The page of a sample as it is, which several tests look at."""
    return tree_of(sample())


def ids(tree: Element) -> dict[str, Element]:
    return {e.attributes["id"]: e for e in tree.all() if "id" in e.attributes}


def test_the_order_of_the_page() -> None:
    sections = [e.attributes["id"] for e in drawn(samples.failing).all("section")]
    assert sections[:3] == ["changed", "attention", "verdicts"]
    assert sections[3].startswith("q-")
    assert [e.attributes["id"] for e in drawn(samples.published).all("section")][:2] == ["changed", "verdicts"]


def test_a_widened_limit_is_told_in_words_with_old_and_new() -> None:
    row = next(ids(drawn(samples.failing))["changed"].one("tbody").all("tr"))
    told = [cell.text for cell in row.all() if cell.tag in ("th", "td")]
    assert told == [
        "own work (self_bias) limit widened", "within [-0.5, +0.5]", "within [-1, +1]", "without that grok-4 fails",
    ]  # fmt: skip


def test_a_changed_limit_is_no_fault_of_the_run_itself() -> None:
    results = samples.failing()
    results["objections"] += results["baseline"]["objections"]
    faults = ids(tree_of(results))["red-run"].text
    assert "expired" in faults
    assert "widened" not in faults


def test_the_same_fault_of_many_tests_is_told_once() -> None:
    results = samples.published()
    results["unmeasured"] = [{"test": f"evals/t.py::t[{n}]", "why": "the key is not accepted"} for n in range(48)]
    (item,) = ids(tree_of(samples.counted(results)))["red-run"].all("li")
    assert item.text == "evals/t.py::t[0] and 47 more tests: the key is not accepted"


def test_a_remedy_is_told_once_for_all_verdicts_of_a_gate_and_the_judges_own_replies_stand_beside_it() -> None:
    box = ids(drawn(samples.failing))["red-consensus_deviation-self_bias"]
    assert len(list(box.one("ul").all("li"))) == 2
    assert box.text.count("Record again, or accept it knowingly") == 1
    assert box.text.count('gate = "self_bias"') == 1
    replies = list(box.all("details", class_="reply"))
    assert replies
    assert all("Grok 4" in reply.one("summary").text for reply in replies)
    assert '"accuracy": 8' in replies[0].one("pre").text


def test_the_prompt_stands_before_the_reply_where_the_results_hold_it() -> None:
    results = samples.failing()
    for entry in results["excerpts"]:
        entry["prompt"] = f"Score {entry['target']}."
    box = ids(tree_of(results))["red-consensus_deviation-self_bias"]
    asked, answered = next(box.all("details", class_="reply")).all("pre")
    assert asked.text == "Score gpt-5.1."
    assert "accuracy" in answered.text


def test_what_is_red_leads_to_its_cell() -> None:
    tree = drawn(samples.failing)
    links = [a.attributes["href"][1:] for a in ids(tree)["attention"].all("a")]
    assert set(links) <= set(ids(tree))
    assert any("+0.71" in ids(tree)[link].text for link in links)


def test_every_gate_in_the_matrix_leads_to_its_panel_and_an_accepted_verdict_to_its_reason() -> None:
    tree = drawn(samples.both)
    places, known = ids(tree), 0
    for table in tree.all("div", class_="matrix"):
        gates = [places[a.attributes["href"][1:]] for a in table.one("thead").all("a")]
        assert all("group" in gate.classes for gate in gates)
    for cell in (td for table in tree.all("div", class_="matrix") for td in table.all("td")):
        for verdict in cell.all("div"):
            fault = [places[a.attributes["href"][1:]] for a in verdict.all("a")]
            assert bool(fault) == (next(verdict.all("i")).text in ("known failure", "not enough data"))
            known += len(fault)
            assert all("accepted" in one.text for one in fault)
    assert known > 10


def test_a_known_fault_and_too_little_data_have_marks_of_their_own() -> None:
    results = samples.published()
    fault, doubt = [v for v in results["verdicts"] if v["outcome"] == "accepted"][:2]
    doubt["accepted_fault"] = {**doubt["accepted_fault"], "otherwise": "undecided"}
    tree = tree_of(samples.counted(results))
    for verdict, name in ((fault, "known failure"), (doubt, "not enough data")):
        value = next(
            div for div in tree.all("div") if div.attributes.get("id", "").startswith("v-") and _is_of(div, verdict)
        )
        assert next(value.all("i")).text == name
    shapes = dict(re.findall(r"i\.(accepted-\w+)::before\{content:\"(.)\"", tree.one("style").text))
    assert len(set(shapes.values())) == 2


def _is_of(element: Element, verdict: samples.Results) -> bool:
    from recuse.report.addresses import verdict_anchor
    from recuse.report.gated_number import Number

    return element.attributes["id"] == verdict_anchor(Number("", verdict["subject"], {}, verdict))


def test_questions_on_whose_account_the_run_stays_green_are_folded() -> None:
    def unfolded(results: samples.Results) -> set[str]:
        sections = [e for e in tree_of(results).all("section") if e.attributes["id"].startswith("q-")]
        folds = {e.attributes["id"]: next(e.all("details", class_="question")) for e in sections}
        assert len(folds) > 3
        return {name for name, fold in folds.items() if "open" in fold.attributes}

    assert unfolded(samples.published()) == set()
    assert unfolded(samples.failing()) == {"q-consensus_deviation", "q-score_stability", "q-human_alignment"}


def test_what_another_use_would_refuse_is_no_reason_why_this_run_is_red() -> None:
    """A gate that no use of the panel names fails, and the run stays green (`allowed`)."""
    results = samples.published()
    verdict = next(v for v in results["verdicts"] if v["outcome"] == "pass")
    verdict.update(outcome="fail", allowed=False)
    assert "attention" in ids(tree_of(results))
    verdict["allowed"] = True
    assert "attention" not in ids(tree_of(results))
    assert "turns this run red" not in summary(normalised(results))
    for text in (tree_of(results).one("ul", class_="tally").text, summary(normalised(results))):
        assert "not held against this run: 1 fail" in text
    verdict.update(outcome="pass")
    assert "held against" not in summary(normalised(results)) + tree_of(results).one("ul", class_="tally").text


def test_counts_agree_between_the_head_and_the_questions() -> None:
    results = samples.both()
    tree = tree_of(results)
    head = {li.text.partition(" ")[2].strip(): int(li.one("b").text) for li in tree.one("ul", class_="tally").all("li")
            if "replayed" not in li.text}  # fmt: skip
    told: Counter[str] = Counter()
    asked = [e for e in tree.all("section") if e.attributes["id"].startswith("q-")]
    for fold in (fold for section in asked for fold in section.all("details", class_="question")):
        for n, name in re.findall(r"(\d+) ([a-z ]+?)(?=[,:]|$)", next(fold.all("summary")).text.strip()):
            told[name.replace("failures", "failure")] += int(n)
    assert told == {name.replace("failures", "failure"): n for name, n in head.items()}
    text = summary(normalised(results))
    for name, n in head.items():
        assert re.search(rf"\b{n} {name}", text), (n, name)


def test_an_upgrade_has_old_and_new_in_one_column() -> None:
    results = samples.published()
    subject = {"panel": "published", "task": "merchant_risk", "protocol": "rubric", "judge": "grok-5"}
    estimate = {**results["verdicts"][0]["estimate"], "metric": "upgrade_shift", "value": 0.62, "low": 0.5, "high": 0.7,
                "detail": {"incumbent": 7.1, "candidate": 7.72}}  # fmt: skip
    results["verdicts"].append({
        **results["verdicts"][0], "question": "upgrade", "gate": "upgrade_shift", "label": "shift of the scale",
        "subject": subject, "estimate": estimate, "outcome": "fail", "allowed": False, "accepted_fault": None,
    })  # fmt: skip
    results["questions"].append({"id": "upgrade", "title": "May a judge be replaced?", "task": "merchant_risk",
                                 "protocols": ["rubric"]})  # fmt: skip
    results["upgrades"] = [{
        "verdict": "worse", "outcome": "fail", "incumbent": "grok-4", "candidate": "grok-5", "change": ["model"],
        "clause": "gives higher scores", "reasons": [], "items": 50, "more": None, "units": "items",
        "rows": [{"gate": "upgrade_shift", "subject": subject}], "not_measured": [],
        "sentence": "Do not replace grok-4 by grok-5: it gives higher scores, by more than you allow.",
        **{name: subject[name] for name in ("panel", "task", "protocol")},
    }]  # fmt: skip
    tree = tree_of(samples.counted(results))
    assert tree.one("h1").text == "This change: do not merge: grok-5 gives higher scores."
    assert tree.one("p", class_="next").text == "Next: keep grok-4"
    table = next(t for t in ids(tree)["verdicts"].all("table") if "grok-4 → grok-5" in t.text)
    row = next(table.one("tbody").all("tr"))
    assert [td.text for td in row.all("td")][:2] == ["7.10 → 7.72", "+0.62 (+0.50 to +0.70)"]
    picture = row.one("svg")  # of +-1, twice what is allowed: 0.5 is allowed to either side
    band, interval, dot = picture.one("rect"), picture.one("line", class_="s0"), picture.one("use")
    assert [band.attributes["x"], band.attributes["width"]] == ["25%", "50%"]
    assert [interval.attributes["x1"], interval.attributes["x2"], dot.attributes["x"]] == ["75%", "85%", "81%"]
    changes = ids(tree)["changed"].one("tbody").text
    assert "judge (model) of published, merchant_risk, rubric" in changes
    assert "may not replace it, accepted" not in changes
    results["upgrades"][0] |= {"accepted": "2027-01-31", "open": ""}
    changes = ids(tree_of(samples.counted(results)))["changed"].one("tbody").text
    assert "may not replace it, accepted until 2027-01-31" in changes


def test_what_keeps_an_upgrade_red_is_offered_until_all_of_it_is_accepted() -> None:
    """Every row that refuses it, accepted ones left out; where none does, the first that is open; of a pass none."""
    results = samples.published()
    subject = {"panel": "published", "task": "merchant_risk", "protocol": "rubric", "judge": "grok-5"}
    gates = "upgrade_shift", "upgrade_order", "upgrade_noise", "upgrade_losses"
    metrics = [{**results["verdicts"][0]["estimate"], "metric": gate} for gate in gates]
    rows = [{**results["verdicts"][0], "question": "upgrade", "gate": gate, "subject": subject, "estimate": estimate,
             "allowed": False} for gate, estimate in zip(gates, metrics, strict=True)]  # fmt: skip
    results["upgrades"] = [{
        "verdict": "worse", "outcome": "fail", "incumbent": "grok-4", "candidate": "grok-5", "change": ["model"],
        "clause": "", "reasons": [], "items": 50, "more": None, "units": "items", "not_measured": [], "sentence": "",
        "rows": [{"gate": gate, "subject": subject} for gate in gates],
        **{name: subject[name] for name in ("panel", "task", "protocol")},
    }]  # fmt: skip
    others = results["verdicts"]
    for outcomes, upgrade, offered in (
        (("fail", "fail", "undecided", "undecided"), "fail", gates[:2]),
        (("accepted", "fail", "undecided", "undecided"), "fail", gates[1:2]),
        (("accepted", "accepted", "undecided", "undecided"), "fail", gates[2:3]),
        (("accepted", "accepted", "accepted", "accepted"), "fail", ()),
        (("pass", "not measured", "undecided", "undecided"), "undecided", gates[1:2]),
        (("pass", "pass", "undecided", "pass"), "pass", ()),
    ):
        results["verdicts"] = [*others, *({**row, "outcome": o} for row, o in zip(rows, outcomes, strict=True))]
        results["upgrades"][0]["outcome"] = upgrade
        view = ResultsModel(normalised(results))
        assert {matter.first.gate for matter in needs_attention(view)} & set(gates) == set(offered)

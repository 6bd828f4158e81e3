"""What other programs are told: JUnit's XML has the verdicts as properties, GitHub an error at the gate's line."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from recuse.plugin.gathering import annotation_lines, readable

pytest_plugins = ["pytester"]


def verdict(gate="leniency", outcome="fail", finding="0.7 is above 0.5.", **more):
    subject = {"judge": "ann", "panel": "ours"}
    return {"gate": gate, "outcome": outcome, "allowed": False, "subject": subject, "remedy": {"finding": finding},
            **more}  # fmt: skip


@pytest.fixture
def gates(tmp_path):
    (tmp_path / "evals").mkdir()
    path = tmp_path / "evals" / "gates.toml"
    path.write_text("# limits\n\n[run]\n\n[leniency_of_all]\n\n[leniency]\nat_most = 1\n")
    return path


def lines(verdicts, objections, gates, workspace, word="merge", **baseline):
    results = {"verdicts": verdicts, "objections": objections, "baseline": baseline or None,
               "decision": {"word": word, "cause": "grok-4 promotes itself"}}  # fmt: skip
    return annotation_lines(results, gates, workspace)


def test_the_xml_has_outcome_value_and_limit_per_verdict_and_no_record(repo, tmp_path) -> None:
    repo.run(f"--junit-xml={tmp_path / 'out.xml'}")
    cases = ElementTree.parse(tmp_path / "out.xml").iter("testcase")
    properties = [(p.get("name"), p.get("value")) for case in cases for p in case.iter("property")]
    told = dict(properties)
    assert told["self_bias[judge=bob,names=shown].outcome"] == "fail"
    assert round(float(told["self_bias[judge=bob,names=shown].value"]), 6) == 2.0
    assert "0.5" in told["self_bias[judge=bob,names=shown].limit"]
    assert len(told) == len(properties), "each once"
    assert max(len(str(value)) for value in told.values()) < 200
    assert not [name for name in told if name.startswith("recuse.")]


def test_properties_of_others_stay() -> None:
    assert readable([("ticket", "A-1"), ("recuse.nobody", True)]) == [("ticket", "A-1")]


def test_a_run_of_githubs_annotates_the_gate_and_no_other_run_does(repo, monkeypatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert "::error" not in repo.run().text
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    first, line = [line for line in repo.run().text.splitlines() if line.startswith("::error")]
    assert first.startswith("::error title=Do not merge::bob promotes itself")
    assert line.startswith("::error file=evals/gates.toml,line=")
    assert "judge bob" in line


def test_the_line_is_the_one_of_the_gate(gates, tmp_path) -> None:
    (line,) = lines([verdict()], [], gates, tmp_path)
    place, told = "file=evals/gates.toml,line=7,title=leniency%3A fail", "judge ann, panel ours: 0.7 is above 0.5."
    assert line == f"::error {place}::{told}"


def test_what_stays_green_is_not_annotated(gates, tmp_path) -> None:
    green = [verdict(outcome="pass"), verdict(outcome="accepted"), verdict(outcome="undecided", allowed=True)]
    assert lines(green, [], gates, tmp_path) == []


def test_no_name_begins_a_command_of_its_own(gates, tmp_path) -> None:
    hostile = verdict(finding="x\n::stop-commands::y\r::add-mask::z 100%", label="a,line=1::b")
    (line,) = lines([hostile], [], gates, tmp_path)
    assert "\n" not in line
    assert "\r" not in line
    assert line.count("::") == 2 + line.partition("::judge")[2].count("::")
    assert "title=a%2Cline=1%3A%3Ab%3A fail" in line


def test_at_most_as_many_as_github_shows_one_per_gate(gates, tmp_path) -> None:
    red = [verdict(gate=f"g{n}") for n in range(20)] + [verdict(), verdict(), verdict()]
    assert len(lines(red, ["a fault of the run"], gates, tmp_path)) == 10
    (one,) = lines([verdict(), verdict(), verdict()], [], gates, tmp_path)
    assert one.endswith("And 1 more.")
    assert lines([], ["a fault of the run"], gates, tmp_path) == ["::error::a fault of the run"]


def test_the_decision_comes_first_unless_it_is_to_merge(gates, tmp_path) -> None:
    assert lines([], [], gates, tmp_path) == []
    assert lines([], [], gates, tmp_path, "do not merge") == ["::error title=Do not merge::grok-4 promotes itself."]
    assert lines([], [], gates, tmp_path, "decide") == ["::warning title=Decide::grok-4 promotes itself."]


def test_a_changed_limit_is_shown_at_its_gate_and_once(gates, tmp_path) -> None:
    row = {"gate": "leniency", "key": "limit", "change": "widened", "sentence": "leniency limit widened: 1 -> 2"}
    told = "file=evals/gates.toml,line=7,title=leniency limit%3A widened::leniency limit widened: 1 -> 2"
    assert lines([], [], gates, tmp_path, path="b.json", limits=[row]) == [f"::warning {told}"]
    strict = ["b.json: leniency limit widened: 1 -> 2"]
    assert lines([], strict, gates, tmp_path, path="b.json", limits=[row]) == [f"::error {told}"]

"""A candidate in a panel: judged in the place of the judge it would replace, never part of the others' reference."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from recuse.schema import RecuseError

pytest_plugins = ["pytester"]

CANDIDATE = """
[[judge]]
name = "cat"
wire = "openai_chat"
base_url = "http://cat.reconstructed.invalid/v1"
model = "cat-1"
replaces = "eve"
"""
EVAL = '''
"""May a judge be replaced by its candidate?"""

import pytest

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.asks("candidate")


@pytest.mark.asks("scores")
def test_scores(upgrade, may_replace):
    assert may_replace(upgrade)
'''
SHIPPED = (Path(__file__).parents[2] / "evals" / "gates.toml").read_text(encoding="utf-8")
GATES = "\n".join(re.findall(r"^\[upgrade_.*?(?=^\[|^#)", SHIPPED, re.MULTILINE | re.DOTALL))

SENTENCE = (
    "cat decides differently from eve: it gives higher scores, by more than you allow; nobody knows who is right."
)


@pytest.fixture
def candidate(repo):
    """Cat scores three points above Eve on either text; recorded unless a test takes that back."""
    panel = repo / "fixtures/panels/mini.toml"
    panel.write_text(panel.read_text(encoding="utf-8") + CANDIDATE, encoding="utf-8")
    lines = [json.loads(line) for line in (repo / "fixtures/standins/essays/rubric.jsonl").read_text().splitlines()]
    for line in [line for line in lines if line["judge"] == "eve"]:
        said = json.loads(line["text"])
        more = {name: {"score": said[name]["score"] + 3, "why": "More."} for name in ("clarity", "depth")}
        lines.append({**line, "judge": "cat", "text": json.dumps(more | {"total": said["total"] + 3})})
    repo.write("fixtures/standins/essays/rubric.jsonl", "\n".join(map(json.dumps, lines)))
    repo.write("evals/test_upgrade.py", EVAL)
    gates = repo / "evals/gates.toml"
    gates.write_text(gates.read_text(encoding="utf-8") + GATES, encoding="utf-8")
    return repo


def numbers_of(results, *judges):
    """Everything measured and decided of these judges, and of the panel."""
    kept = [r for r in (*results["verdicts"], *results["measurements"]) if r["subject"].get("judge") in (*judges, None)]
    return [{key: r[key] for key in ("subject", "estimate")} | {"outcome": r.get("outcome")} for r in kept]


def digests_of(results, candidate):
    """What the judges in use were asked, or the candidate."""
    return results["sources"][f"mini/essays/rubric{candidate}"]


@pytest.mark.slow("whole runs")
def test_admitting_a_candidate_changes_no_number_of_the_judges_in_use(repo, candidate):
    candidate.run("--record=missing")
    admitted = candidate.run().results
    candidate.edit("fixtures/panels/mini.toml", CANDIDATE, "")
    before = candidate.run().results
    assert numbers_of(admitted, "ann", "bob", "eve") == numbers_of(before, "ann", "bob", "eve")
    assert {v["subject"].get("judge") for v in admitted["verdicts"]} == {"ann", "bob", "eve", "cat"}


def test_without_its_recordings_only_its_own_tests_are_not_measured(candidate):
    run = candidate.run()
    assert {row["test"].rpartition("[")[2] for row in run.results["unmeasured"]} == {"mini/essays/rubric/cat]"}
    assert {v["subject"].get("judge") for v in run.results["verdicts"]} == {"ann", "bob", "eve"}


def test_a_candidate_that_is_not_among_the_judges_chosen_is_not_asked_about(candidate):
    """Its fault would turn a run red that does not name it."""
    candidate.run("--record=missing", "evals/test_upgrade.py")
    assert candidate.run("evals/test_upgrade.py", "--judges", "ann,cat").outcomes == {"failed": 1}
    assert candidate.run("evals/test_upgrade.py", "--judges", "ann").outcomes == {"skipped": 1}


def test_an_upgrade_that_nobody_can_judge_is_for_a_person_to_decide(candidate):
    """Nobody rated these texts: three points more are another level, and nobody knows which of the two is right."""
    run = candidate.run("--record=missing")
    [upgrade] = run.results["upgrades"]
    assert (upgrade["verdict"], upgrade["candidate"], upgrade["incumbent"]) == ("different", "cat", "eve")
    assert (upgrade["outcome"], upgrade["sentence"]) == ("undecided", SENTENCE)
    assert upgrade["steps"][0] == "keep eve"
    assert upgrade["steps"][-1].startswith("or accept it")
    assert run.code != 0
    assert SENTENCE.split(":")[0] in run.text
    assert SENTENCE in (candidate / "reports/summary.md").read_text(encoding="utf-8")


LACKING = '''
"""May a judge be replaced by its candidate?"""

import pytest

import recuse.upgrade
from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.metrics.coverage import parse_rate

pytestmark = pytest.mark.asks("candidate")
SENTENCE = "Whether cat may replace eve is undecided: 9 texts have no answer of cat."


@pytest.mark.asks("scores")
def test_scores(upgrade, may_replace, ratings, gate, monkeypatch):
    passed = gate("parse_rate", parse_rate(ratings))
    assert passed
    verdict = UpgradeVerdict("undecided", "eve", "cat", SENTENCE, passed, missing=9)
    monkeypatch.setattr(recuse.upgrade, "judge_upgrade", lambda *_, **__: verdict)
    assert may_replace(upgrade)
'''


def test_a_candidate_that_lacks_answers_is_red_though_all_that_was_measured_passes(candidate):
    candidate.write("evals/test_upgrade.py", LACKING)
    candidate.edit("evals/gates.toml", "at_least = 0.9", "at_least = 0.1")
    run = candidate.run("--record=missing")
    [upgrade] = run.results["upgrades"]
    assert (upgrade["outcome"], upgrade["missing"]) == ("undecided", 9)
    assert [row["test"].split("::")[0] for row in run.results["unmeasured"]] == ["evals/test_upgrade.py"]
    assert "9 texts have no answer of cat" in run.text


@pytest.mark.parametrize(
    ("replaces", "says"),
    [("nobody", "replaces names a judge of this panel that is in use; got 'nobody'"), ("cat", "got 'cat'")],
)
def test_whom_a_candidate_replaces_must_be_in_use(candidate, suite_of, replaces, says):
    candidate.edit("fixtures/panels/mini.toml", 'replaces = "eve"', f'replaces = "{replaces}"')
    with pytest.raises(RecuseError, match=says):
        suite_of(candidate.root)


def differing(one, other):
    """The names under which two records hold different values."""
    return {name for name in one if one[name] != other[name]}


@pytest.fixture
def reworded(candidate):
    """`reworded(line)`: Cat is asked with a prompt or a rubric of its own, which stand in the task's folder."""
    essays = "fixtures/tasks/essays"
    candidate.write(f"{essays}/prompts-v2/rubric.user.j2", "Be strict with {{ author_label }}: {{ essay }}")
    candidate.write(f"{essays}/rubric-v2.toml", 'criterion = [{ id = "clarity", ask = "Why?" }, { id = "depth" }]')

    def edit(*lines):
        candidate.edit("fixtures/panels/mini.toml", 'replaces = "eve"', "\n".join(['replaces = "eve"', *lines]))
        return candidate

    return edit


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize(
    ("line", "kind"), [('prompts = "prompts-v2"', "prompt"), ('rubric = "rubric-v2.toml"', "rubric")]
)
def test_words_of_its_own_are_an_upgrade_of_their_own_kind(reworded, candidate, line, kind):
    before = candidate.run("--record=missing").results
    run = reworded(line).run("evals", "--record=missing", "-v")
    [upgrade] = run.results["upgrades"]
    assert (upgrade["verdict"], upgrade["change"], upgrade["reasons"]) == ("different", ["model", kind], [])
    assert f"Changed on purpose: model and {kind}." in run.text
    in_use = ("ann", "bob", "eve")
    assert numbers_of(run.results, *in_use) == numbers_of(before, *in_use)
    assert digests_of(run.results, "") == digests_of(before, "")
    assert differing(digests_of(before, "/cat"), digests_of(run.results, "/cat")) == {kind}


def test_only_the_candidate_is_shown_its_own_prompt(reworded):
    repo = reworded('prompts = "prompts-v2"')
    repo.run("--record=missing")
    shown = {
        name: {b"Be strict" in words for cell, words in repo.cassettes.items() if f"/{name}~" in cell}
        for name in ("cat", "eve")
    }
    assert shown == {"cat": {True}, "eve": {False}}


@pytest.mark.parametrize(
    ("line", "says"),
    [('change = ["model", "prompt"]', "change names the prompt, and it is asked with the task's; name its own by "),
     ('change = ["rubric"]', 'e.g. rubric = "rubric-v2.toml"'),
     ('prompts = "prompts-v3"', "judge cat is to be asked with prompts-v3, and there is no "),
     ('prompts = "../prompts"', "prompts")],
)  # fmt: skip
def test_words_of_its_own_that_cannot_be(reworded, suite_of, line, says):
    repo = reworded(line)
    with pytest.raises(RecuseError, match=says):
        suite_of(repo.root)


@pytest.mark.parametrize(
    ("file", "says"),
    [("task.toml", "this changes name, scale, target"), ("depth.toml", "this changes their ids or scales")],
)
def test_a_rubric_of_its_own_keeps_scale_and_criteria(reworded, file, says):
    repo = reworded(f'rubric = "{file}"')
    repo.write("fixtures/tasks/essays/depth.toml", 'criterion = [{ id = "depth" }]')
    assert says in repo.run().words


def test_judges_in_use_are_asked_with_the_words_of_the_task(candidate, suite_of):
    candidate.edit("fixtures/panels/mini.toml", 'model = "eve-1"', 'model = "eve-1"\nprompts = "prompts-v2"')
    with pytest.raises(RecuseError, match="judge eve: judges in use are asked with the task's prompt"):
        suite_of(candidate.root)


def test_another_temperature_is_not_comparable_unless_it_is_declared(candidate):
    candidate.edit(
        "fixtures/panels/mini.toml", 'replaces = "eve"', 'replaces = "eve"\nparameters = { temperature = 0.1 }'
    )
    run = candidate.run("evals", "--record=missing", "-v")
    assert 'declare it: change = ["model", "sampling"]' in run.text
    assert run.results["upgrades"][0]["verdict"] == "not comparable"
    candidate.edit("fixtures/panels/mini.toml", 'replaces = "eve"', 'replaces = "eve"\nchange = ["model", "sampling"]')
    assert candidate.run("evals").results["upgrades"][0]["verdict"] == "different"

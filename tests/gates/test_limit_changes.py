"""A limit or an accepted failure that was loosened, tightened, added or removed is a result of its own."""

from __future__ import annotations

import pytest

from recuse.gates import baseline_file
from recuse.gates.baseline_changes import compare, objections
from recuse.gates.baseline_file import as_stated, reduce, stated, with_former
from recuse.gates.records import changes_of
from recuse.run.run import Run
from recuse.schema import Estimates, RecuseError

GATES = """
[self_bias]
within = [-0.5, 0.5]
reason = "half a point"

[leniency]
within = [-0.4, 0.4]
reason = "less than half a point"

[[leniency.on]]
task = "headlines"
within = [-0.2, 0.2]
reason = "a smaller scale"
"""
USE = """
[use.grade]
of = ["scores"]
yardstick = ["self_bias"]
decides = ["leniency"]
"""
FAULT = """
[[accepted]]
gate = "self_bias"
subject = { judge = ["gemini", "grok"] }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known"
"""


@pytest.fixture
def rows(load, estimate):
    """What a run under the gates `now` says of their difference from `before`; three judges at 0, 0.3 and 0.77."""

    def compared(before, now, gate="self_bias", subject=None):
        old = load(before)
        gates = with_former(load(now), stated(old))
        measured = Estimates(
            ("judge",), {(j,): estimate(v, 0.03, span=10.0) for j, v in {"a": 0, "b": 0.3, "gemini": 0.77}.items()}
        )
        verdicts = [v.record() for v in gates.decide(gate, measured, subject or {})] if gate in gates else []
        results = {"verdicts": verdicts, "measurements": [], "panels": []}
        return compare(reduce({"verdicts": [], "measurements": [], "panels": []}, old), results, gates)

    return compared


def test_a_widened_limit_says_who_fails_without_it(rows):
    comparison = rows(GATES, GATES.replace("[-0.5, 0.5]", "[-1, 1]"))
    (row,) = comparison["limits"]
    assert row["sentence"] == (
        "self_bias limit widened: within [-0.5, +0.5] -> within [-1, +1]; without that gemini fails"
    )
    assert row["otherwise"] == [{"subject": {"judge": "gemini"}, "outcome": "fail", "now": "pass"}]
    assert objections(comparison) == [row["sentence"]]
    assert row["sentence"] in comparison["summary"]


def test_of_many_changes_two_are_told(rows):
    many = rows(GATES, GATES.replace("[-0.5, 0.5]", "[-0.5, 0.5]\nweight = 9\ntolerance = 1\nlevel = 0.8"))
    assert len(many["limits"]) == 3
    assert "weight added: 9.0; 1 more such; " in many["summary"]


def test_a_narrowed_limit_says_who_passes_without_it(rows):
    (row,) = rows(GATES, GATES.replace("[-0.5, 0.5]", "[-0.1, 0.1]"))["limits"]
    assert (row["change"], row["otherwise"]) == (
        "narrowed",
        [{"subject": {"judge": "b"}, "outcome": "pass", "now": "fail"}],
    )


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("[-0.5, 0.5]", "[-0.4, 0.6]", "self_bias limit changed: within [-0.5, +0.5] -> within [-0.4, +0.6]"),
        ("within = [-0.5, 0.5]", "at_most = 0.5", "self_bias limit widened: within [-0.5, +0.5] -> at most 0.5"),
        ("[-0.5, 0.5]", "[-0.5, 0.5]\nlevel = 0.8", "self_bias level added: 0.8"),
        ("[-0.5, 0.5]", '[-0.5, 0.5]\ndecide = "point"', "self_bias decide added: point"),
        ("[-0.5, 0.5]", "[-0.5, 0.5]\nweight = 9", "self_bias weight added: 9.0"),
        ("[-0.5, 0.5]", "[-0.5, 0.5]\ntolerance = 1", "self_bias tolerance added: 1.0"),
        ("[-0.2, 0.2]", "[-0.9, 0.9]", "leniency limit (task = headlines) widened: within [-0.2, +0.2] -> within"),
        ('task = "headlines"', 'task = "duels"', "leniency limit (task = headlines) widened: within [-0.2, +0.2] -> "
         "within [-0.4, +0.4], the gate's own"),
        ("[-0.5, 0.5]", "[-0.05, 0.05]\nof_range = true", "self_bias limit changed: within [-0.5, +0.5] -> within "
         "[-0.05, +0.05] of the scale's range"),
        ("[self_bias]", "[run]\nfalse_fail = 0.2\n[self_bias]", "the run's false_fail added: 0.2"),
    ],
)  # fmt: skip
def test_each_change_has_a_sentence(rows, before, now, told):
    assert rows(GATES, GATES.replace(before, now))["limits"][0]["sentence"].startswith(told)


def test_allowing_undecided_is_told(rows):
    allow = 'undecided = "allow"\nbecause = "few"\nuntil = 2027-12-31\nreason = "half'
    told = [row["sentence"] for row in rows(GATES, GATES.replace('reason = "half', allow))["limits"]]
    assert told == ["self_bias undecided added: allow", "self_bias until added: 2027-12-31"]


def test_what_decides_for_a_use_is_a_limit_too(rows):
    """Who takes a gate out of a use needs no wider limit to clear a judge."""
    (row,) = rows(USE + GATES, USE.replace('decides = ["leniency"]', "decides = []") + GATES)["limits"]
    assert (row["key"], row["change"]) == ("use grade", "changed")
    (row,) = rows(USE + GATES, GATES)["limits"]
    assert (row["key"], row["change"]) == ("use grade", "removed")
    (row,) = rows(GATES, USE + GATES)["limits"]
    assert (row["key"], row["change"]) == ("use grade", "added")
    worded = USE.replace("of =", 'question = "reads scores"\nof =')
    assert rows(USE + GATES, worded + GATES)["limits"] == []


def test_a_removed_and_an_added_gate(rows):
    alone = GATES[: GATES.index("[leniency]")]
    assert [row["sentence"] for row in rows(GATES, alone)["limits"]] == ["leniency removed: within [-0.4, +0.4]"]
    assert [row["sentence"] for row in rows(alone, GATES)["limits"]] == ["leniency added: within [-0.4, +0.4]"]


def test_accepted_faults_added_widened_and_removed(rows):
    (added,) = rows(GATES, GATES + FAULT)["limits"]
    assert added["sentence"] == (
        "self_bias accepted failure (judge = gemini | grok) added: within [-0.5, +0.9], until 2027-12-31; "
        "without that gemini fails"
    )
    (widened,) = rows(GATES + FAULT.replace("0.9", "0.7"), GATES + FAULT)["limits"]
    assert "changed: within [-0.5, +0.7], until 2027-12-31 -> within [-0.5, +0.9]" in widened["sentence"]
    assert widened["sentence"].endswith("; without that gemini fails")
    (longer,) = rows(GATES + FAULT, GATES + FAULT.replace("2027", "2037"))["limits"]
    assert "until 2027-12-31 -> within [-0.5, +0.9], until 2037-12-31" in longer["sentence"]
    (removed,) = rows(GATES + FAULT, GATES)["limits"]
    assert removed["change"] == "removed"
    assert removed["sentence"].endswith("; without that gemini needs an accepted failure")


def test_layout_comments_labels_and_reasons_are_no_change(rows):
    other = "# a comment\n" + GATES.replace('"half a point"', '"still half a point"').replace("= [", "=[ ")
    other = other.replace("[self_bias]", '[self_bias]\nlabel = "own work"')
    comparison = rows(GATES + FAULT, other + FAULT.replace('"known"', '"long known"'))
    assert comparison["limits"] == []


def test_the_gates_of_a_baseline_are_the_gates_it_was_written_under(load):
    allow = 'undecided = "allow"\nbecause = "few"\nuntil = 2027-12-31\n'
    gates = load("[run]\nfalse_fail = 0.07\n" + USE + GATES.replace('reason = "half', allow + 'reason = "half') + FAULT)
    again = as_stated(stated(gates), gates)
    assert stated(again) == stated(gates)
    assert again.alpha("leniency") == gates.alpha("leniency")
    assert again.uses == gates.uses
    assert with_former(gates, stated(gates)).former is None


@pytest.mark.parametrize(
    ("key", "change", "outcome", "word", "order"),
    [
        ("limit", "widened", "fail", "decide", 0),
        ("limit", "widened", "", "decide", 1),
        ("limit", "narrowed", "", "merge", 1),
        ("accepted failure", "removed", "accepted", "decide", 1),
    ],
)
def test_a_limit_that_keeps_a_judge_from_failing_is_told_first(key, change, outcome, word, order):
    """One that is narrower asks nobody; an accepted failure that was removed loosens nothing."""
    otherwise = [{"subject": {"judge": "gpt"}, "outcome": outcome, "now": "pass"}] if outcome else []
    row = {"gate": "bias", "where": {}, "key": key, "before": "a", "after": "b", "change": change,
           "otherwise": otherwise, "consequence": "gpt fails" if outcome else ""}  # fmt: skip
    baseline = {"limits": [row], "named": [], "vanished": [], "removed": [], "outcomes": []}
    [told] = changes_of({"verdicts": [], "upgrades": [], "objections": [], "baseline": baseline})
    assert (told.word, told.order) == (word, order)
    assert told.cause == f"{key} of bias {change}{'; without that gpt fails' if outcome else ''}"


def test_a_baseline_with_gates_that_no_file_could_have_says_so(load):
    gates = load(GATES)
    wrong = stated(gates) | {"gates": {"self_bias": {"at_most": 0.5, "within": [0, 1]}}}
    with pytest.raises(RecuseError, match="holds gates that no gates file could have"):
        as_stated(wrong, gates)


def test_a_rewritten_baseline_with_such_gates_is_for_a_person_to_decide(load, tmp_path):
    run, path = Run(), tmp_path / "baseline.json"
    run.results = {"verdicts": [], "measurements": [], "panels": []}
    baseline_file.write(path, run.results, load(GATES))
    path.write_text(path.read_text().replace('"within"', '"inside"'))
    row = run._rewritten(path, None, "reports/baseline.json", load(GATES))
    assert row["word"] == "decide"
    assert row["cause"] == "the baseline reports/baseline.json is rewritten, and is not what this run gives"

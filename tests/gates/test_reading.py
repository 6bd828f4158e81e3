"""Every mistake in a gates file is told with file, line, table, key and remedy, and all at once."""

from __future__ import annotations

import re
from datetime import date

import pytest

from recuse.configuration.toml_files import ConfigurationError
from recuse.gates import Gates
from recuse.schema import RecuseError

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
KNOWN_FAULT = """
[[accepted]]
gate = "bias"
subject = { judge = "a" }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known"
"""


def test_a_full_gate(load):
    gate = load(
        '[bias]\nat_least = 1\nlevel = 0.9\nweight = 2\nundecided = "allow"\nbecause = "few"\nuntil = 2027-12-31\n'
        'label = "own work"\ntolerance = 0.05\nreason = " why "\n'
    )["bias"]
    assert gate.bound.mapping() == {"at_least": 1.0}
    assert (gate.decide, gate.level, gate.weight, gate.because) == ("interval", 0.9, 2.0, "few")
    assert not gate.allowance_expired(date(2027, 12, 31))
    assert (gate.label, gate.reason) == ("own work", "why")


def test_the_gates_are_a_mapping(load):
    gates = load(GATE + GATE.replace("bias", "other") + "tolerance = 0.1\n")
    assert list(gates) == ["bias", "other"]
    assert "bias" in gates
    assert [gate.tolerance for gate in gates.values()] == [None, 0.1]
    assert gates.file == "evals/gates.toml"


ONE_GATE = [
    ("[bias]\nwithin = [-0.5, 0.5]\n", "line 1, bias.reason: required, but missing: give a text that says why"),
    ('[bias]\nwithin = [-0.5, 0.5]\nreason = "  "\n', "line 3, bias.reason: must be a text that says why the limit"),
    ('[bias]\nreason = "r"\n', "line 1, bias: needs exactly one limit, within, at_least or at_most; it has none"),
    (GATE + "at_most = 1\n", "needs exactly one limit, within, at_least or at_most; it has within and at_most"),
    (GATE.replace("-0.5", "0.9"), "the lower first, e.g. within = [-0.5, 0.5]; it is [0.9, 0.5]"),
    (GATE.replace("-0.5", "0.5"), "line 2, bias.within: must be two finite numbers, the lower first"),
    (GATE.replace("-0.5", '"-0.5"'), "bias.within: must be two finite numbers"),
    (GATE.replace("-0.5", "nan"), "bias.within: must be two finite numbers"),
    (GATE.replace("-0.5, ", ""), "the lower first, e.g. within = [-0.5, 0.5]; it is [0.5]"),
    ('[bias]\nat_least = true\nreason = "r"\n', "at_least: must be a finite number, e.g. at_least = 0.5; it is True"),
    (GATE + 'decide = "maybe"\n', "line 4, bias.decide: must be \"interval\""),
    (GATE + "level = 95\n", "level: must be a number between 0 and 1, e.g. level = 0.95; it is 95"),
    (GATE + 'of_range = "yes"\n', "of_range: must be true where the limit's numbers are shares of the scale's range"),
    (GATE + "weight = 0\n", "weight: must be a number above 0, e.g. weight = 2"),
    (GATE + 'decide = "point"\nweight = 2\n', 'weight has no effect with decide = "point"'),
    (GATE + 'undecided = "allow"\n', 'add because = "..." and until = 2027-12-31, or drop it'),
    (GATE + 'undecided = "allow"\nbecause = "few"\n', "needs a reason and a last day; add until = 2027-12-31"),
    (GATE + 'undecided = "allow"\nuntil = 2027-12-31\n', 'needs a reason and a last day; add because = "..."'),
    (GATE + "until = 2027-12-31\n", 'until says why and how long undecided = "allow" holds, which is not given'),
    ("[run]\nfalse_fail = 5\n", "line 2, run.false_fail: must be a number between 0 and 0.5, e.g. false_fail = 0.05"),
    ("[run]\nfalse_pass = 0.05\n", "run.false_pass: unknown key; known here: false_fail."),
    (GATE + 'undecided = "pass"\n', 'undecided: must be "fail" or "allow"; it is \'pass\''),
    (GATE + 'decide = "point"\nundecided = "allow"\n', 'undecided has no effect with decide = "point"'),
    (GATE + "tolerance = -1\n", "tolerance: must be a finite number from 0"),
    (GATE + "at_leest = 1\n", "bias.at_leest: unknown key; known here: against, at_least, at_most, because"),
    (GATE + "at_leest = 1\n", "Did you mean at_least?"),
    ("bias = 3\n", "line 1, bias: must be a table of its own, [bias]; it is 3"),
    (GATE + "[[bias.on]]\nat_most = 1\nreason = 'r'\n", "line 4, bias.on[0]: says nowhere to apply: name task"),
    (GATE + "[[bias.on]]\ntask = 't'\nreason = 'r'\n", "bias.on[0]: needs exactly one limit"),
    (GATE + "[[bias.on]]\ntask = 't'\nat_most = 1\n", "line 4, bias.on[0].reason: required, but missing: give a text"),
    (GATE + 2 * "[[bias.on]]\ntask = 't'\nat_most = 1\nreason = 'r'\n", "two of its limits could apply to one verdict"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), ONE_GATE)
def test_a_faulty_gate(load, text, says):
    with pytest.raises(ConfigurationError) as caught:
        load(text)
    head, *faults = str(caught.value).splitlines()
    assert head.endswith("gates.toml: 1 fault(s)")
    assert len(faults) == 1
    assert says in faults[0]


FAULT = KNOWN_FAULT
ONE_ACCEPTED_FAULT = [
    (FAULT.replace('"bias"', '"bais"'), "there is no gate bais in this file. Did you mean bias? Gates here: bias"),
    (FAULT.replace("until = 2027-12-31\n", ""), "until: required, but missing: give a date, e.g. until = 2027-12-31"),
    (FAULT.replace("2027-12-31", '"YYYY-MM-DD"'), "until: must be a date, e.g. until = 2027-12-31; it is 'YYYY-MM-DD'"),
    (FAULT.replace("2027-12-31", "true"), "until: must be a date"),
    (FAULT.replace('"known"', '""'), "reason: must be a text that says what is known"),
    (FAULT.replace('{ judge = "a" }', "{}"), "subject: must be names and values of what the verdict is about"),
    (FAULT.replace('{ judge = "a" }', "{ judge = [] }"), "subject: must be names and values"),
    (FAULT.replace('{ judge = "a" }', "{ judge = 3 }"), "subject: must be names and values"),
    (FAULT.replace("within = [-0.5, 0.9]", "at_most = 0.9"), "bias has within, so the accepted failure takes a wider"),
    ('[share]\nat_most = 0.1\ndecide = "point"\nreason = "r"\n' + FAULT.replace('"bias"', '"share"').replace(
        "within = [-0.5, 0.9]", 'outcome = ["undecided"]'), "the gate share decides on the value alone and is never"),
    (FAULT.replace("0.9", "0.5"), "within [-0.5, +0.5] does not reach beyond the gate's own limit, within"),
    (FAULT.replace("-0.5", "-0.4"), "does not reach beyond the gate's own limit"),
    (FAULT.replace("within = [-0.5, 0.9]", ""), "needs one limit of the gate's kind, outcome, or both; it has nothing"),
    (FAULT.replace("within = [-0.5, 0.9]", 'outcome = ["pass"]'), 'outcome: must be a list of "fail", "undecided" and'),
    (FAULT.replace("0.9]", '0.9], outcome = ["not measured"]'), "has no value that could lie within a limit"),
    (FAULT.replace("0.9]", "0.9], of_range = true"), "accept: is told in the measure's own unit"),
    (FAULT.replace("within =", "wihtin ="), "accept.wihtin: unknown key; known here: at_least, at_most,"),
    (FAULT + "judge = 'a'\n", "accepted[0].judge: unknown key; known here: accept, gate, reason, subject, until"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), ONE_ACCEPTED_FAULT)
def test_a_faulty_accepted_fault(load, text, says):
    with pytest.raises(ConfigurationError) as caught:
        load(GATE + text)
    _, *faults = str(caught.value).splitlines()
    assert len(faults) == 1
    assert says in faults[0]
    assert re.match(r"  line \d+, accepted\[0\]", faults[0])


def test_the_line_is_that_of_the_key(load):
    with pytest.raises(ConfigurationError, match=r"line 9, accepted\[0\]\.until: must be a date"):
        load(GATE + KNOWN_FAULT.replace("2027-12-31", "31"))


def test_the_line_is_that_of_the_table_among_its_namesakes(load):
    other = KNOWN_FAULT.replace('"a"', '"b"').replace("2027-12-31", "31")
    with pytest.raises(ConfigurationError, match=r"line 16, accepted\[1\]\.until: must be a date"):
        load(GATE + KNOWN_FAULT + other)


def test_all_faults_are_told_at_once(load):
    with pytest.raises(ConfigurationError) as caught:
        load(GATE + "level = 2\n" + "[other]\nat_least = 1\n" + KNOWN_FAULT.replace("bias", "gone") + KNOWN_FAULT)
    head, *faults = str(caught.value).splitlines()
    assert head.endswith("3 fault(s)")
    places = [fault.split(", ")[1].split(":")[0] for fault in faults]
    assert places == ["bias.level", "other.reason", "accepted[0].gate"]


def test_an_accepted_fault_of_a_faulty_gate_is_not_called_unknown(load):
    with pytest.raises(ConfigurationError) as caught:
        load(GATE + "level = 2\n" + KNOWN_FAULT)
    assert "no gate" not in str(caught.value)


@pytest.mark.parametrize(("old", "new", "says"), [
    ('"a"', '["a", "b"]', r"accepted\[1\]: overlaps accepted\[0\]: .*judge = a \| b; judge = a"),
    ('judge = "a"', 'panel = "p"', "Give both the same name with different values"),
])  # fmt: skip
def test_accepted_faults_that_could_cover_the_same_verdict(load, old, new, says):
    with pytest.raises(ConfigurationError, match=says):
        load(GATE + KNOWN_FAULT + KNOWN_FAULT.replace(old, new))


def test_accepted_faults_kept_apart_by_one_name_or_the_gate_do_not_overlap(load):
    apart = KNOWN_FAULT.replace('judge = "a"', 'judge = "b", panel = "p"') + KNOWN_FAULT.replace("bias", "other")
    assert len(load(GATE + GATE.replace("bias", "other") + KNOWN_FAULT + apart).accepted_faults) == 3


def test_a_bound_beyond_a_limit_for_one_task_is_enough(load):
    """The gate's own limit is wider; the accepted failure is for the task whose limit is narrower."""
    on = '[[bias.on]]\ntask = "t"\nwithin = [-0.1, 0.1]\nreason = "r"\n'
    assert len(load(GATE + on + KNOWN_FAULT.replace("0.9", "0.5").replace("-0.5", "-0.2")).accepted_faults) == 1


def test_accepted_faults_need_double_brackets(load):
    with pytest.raises(ConfigurationError, match=r"line 5, accepted: write accepted failures as \[\[accepted\]\]"):
        load(GATE + KNOWN_FAULT.replace("[[accepted]]", "[accepted]"))


def test_no_toml(load):
    with pytest.raises(ConfigurationError, match=r"not valid TOML: Invalid value \(at line 2, column 10\)"):
        load("[bias]\nwithin = -half\n")


def test_no_file(tmp_path):
    with pytest.raises(ConfigurationError, match=r"gates\.toml: no such file; a gates file holds every limit"):
        Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))


def test_no_text(tmp_path):
    (tmp_path / "gates.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigurationError, match=r"gates\.toml: not UTF-8 \(byte 5\); save the file as UTF-8"):
        Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))


def test_an_empty_file_has_no_gates(load):
    assert len(load("")) == 0
    assert issubclass(ConfigurationError, RecuseError)

"""Every mistake in a gates file is told with file, line, table, key and remedy, and all at once."""

from __future__ import annotations

from datetime import date

import pytest

from recuse.gates import Gates, GatesError
from recuse.schema import RecuseError

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
ACCEPTED_FAULT = """
[[accepted]]
gate = "bias"
subject = { judge = "a" }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known"
"""


def test_a_full_gate(load):
    gate = load(
        '[bias]\nat_least = 1\nlevel = 0.9\nfamily = "f"\ncorrection = "bonferroni"\nundecided = "allow"\n'
        'label = "own work"\ntolerance = 0.05\nreason = " why "\n'
    )["bias"]
    assert gate.bound.mapping() == {"at_least": 1.0}
    assert (gate.decide, gate.level, gate.corrected, gate.allows_undecided) == ("interval", 0.9, "bonferroni", True)
    assert (gate.label, gate.reason) == ("own work", "why")


def test_a_family_is_corrected_by_holm_unless_told_otherwise(load):
    assert load(GATE + 'family = "f"\n')["bias"].corrected == "holm"
    assert load(GATE)["bias"].corrected == "none"


def test_the_gates_are_a_mapping(load):
    gates = load(GATE + GATE.replace("bias", "other") + "tolerance = 0.1\n")
    assert list(gates) == ["bias", "other"]
    assert "bias" in gates
    assert gates.tolerances == {"other": 0.1}
    assert gates.file == "evals/gates.toml"


ONE_GATE = [
    ("[bias]\nwithin = [-0.5, 0.5]\n", "line 1, [bias]: reason is missing: give a text that says why"),
    ('[bias]\nwithin = [-0.5, 0.5]\nreason = "  "\n', "line 3, [bias]: reason must be a text that says why the limit"),
    ('[bias]\nreason = "r"\n', "needs exactly one limit, within, at_least or at_most; it has none"),
    (GATE + "at_most = 1\n", "needs exactly one limit, within, at_least or at_most; it has within and at_most"),
    (GATE.replace("-0.5", "0.9"), "the lower first, e.g. within = [-0.5, 0.5]; it is [0.9, 0.5]"),
    (GATE.replace("-0.5", "0.5"), "within must be two finite numbers, the lower first"),
    (GATE.replace("-0.5", '"-0.5"'), "within must be two finite numbers"),
    (GATE.replace("-0.5", "nan"), "within must be two finite numbers"),
    (GATE.replace("-0.5, ", ""), "within must be two finite numbers"),
    ('[bias]\nat_least = true\nreason = "r"\n', "at_least must be a finite number, e.g. at_least = 0.5; it is True"),
    (GATE + 'decide = "maybe"\n', "line 4, [bias]: decide must be \"interval\""),
    (GATE + "level = 95\n", "level must be a number between 0 and 1, e.g. level = 0.95; it is 95"),
    (GATE + 'correction = "holm"\n', "correction needs the family it corrects over"),
    (GATE + 'family = "f"\ncorrection = "bh"\n', 'correction must be "holm", "bonferroni" or "none"; it is \'bh\''),
    (GATE + 'undecided = "pass"\n', 'undecided must be "fail" or "allow"; it is \'pass\''),
    (GATE + 'decide = "point"\nfamily = "f"\n', 'family has no effect with decide = "point"'),
    (GATE + 'decide = "point"\nundecided = "allow"\n', 'undecided has no effect with decide = "point"'),
    (GATE + "tolerance = -1\n", "tolerance must be a finite number from 0"),
    (GATE + "at_leest = 1\n", "unknown key at_leest. Did you mean at_least? Known keys: within, at_least"),
    ("bias = 3\n", "line 1, [bias]: a gate is a table, [bias] with a limit and a reason; it is 3"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), ONE_GATE)
def test_a_faulty_gate(load, text, says):
    with pytest.raises(GatesError) as caught:
        load(text)
    assert says in str(caught.value)
    assert "gates.toml" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


ONE_ACCEPTED_FAULT = [
    (ACCEPTED_FAULT.replace('"bias"', '"bais"'), "there is no gate bais in this file. Did you mean bias? Gates here: bias"),
    (ACCEPTED_FAULT.replace("until = 2027-12-31\n", ""), "until is missing: give a date, e.g. until = 2027-12-31"),
    (ACCEPTED_FAULT.replace("2027-12-31", '"YYYY-MM-DD"'), "until must be a date, e.g. until = 2027-12-31; it is 'YYYY-MM-DD'"),
    (ACCEPTED_FAULT.replace("2027-12-31", "true"), "until must be a date"),
    (ACCEPTED_FAULT.replace('"known"', '""'), "reason must be a text that says why"),
    (ACCEPTED_FAULT.replace('{ judge = "a" }', "{}"), "subject must be names and values of what the verdict is about"),
    (ACCEPTED_FAULT.replace('{ judge = "a" }', "{ judge = [] }"), "subject must be names and values"),
    (ACCEPTED_FAULT.replace('{ judge = "a" }', "{ judge = 3 }"), "subject must be names and values"),
    (ACCEPTED_FAULT.replace("within = [-0.5, 0.9]", "at_most = 0.9"), "bias has within, so the accepted fault takes a wider within"),
    (ACCEPTED_FAULT.replace("0.9", "0.5"), "within [-0.5, +0.5] does not reach beyond the gate's own limit, within"),
    (ACCEPTED_FAULT.replace("-0.5", "-0.4"), "does not reach beyond the gate's own limit"),
    (ACCEPTED_FAULT.replace("within = [-0.5, 0.9]", ""), "accept needs one limit of the gate's kind, or outcome; it has noth"),
    (ACCEPTED_FAULT.replace("within = [-0.5, 0.9]", 'outcome = ["fail"]'), 'outcome must be a list of "error" and'),
    (ACCEPTED_FAULT.replace("within =", "wihtin ="), "unknown key wihtin. Did you mean within? Known keys: within, at_least"),
    (ACCEPTED_FAULT + "judge = 'a'\n", "unknown key judge. Known keys: gate, subject, accept, until, reason"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), ONE_ACCEPTED_FAULT)
def test_a_faulty_accepted_fault(load, text, says):
    with pytest.raises(GatesError) as caught:
        load(GATE + text)
    assert says in str(caught.value)
    assert "[[accepted]] number 1: " in str(caught.value)
    assert ", line " in str(caught.value)


def test_the_line_is_that_of_the_key(load):
    with pytest.raises(GatesError, match=r"gates\.toml, line 9, \[\[accepted fault\]\] number 1: until must be a date"):
        load(GATE + ACCEPTED_FAULT.replace("2027-12-31", "31"))


def test_all_faults_are_told_at_once(load):
    with pytest.raises(GatesError) as caught:
        load(GATE + "level = 2\n" + "[other]\nat_least = 1\n" + ACCEPTED_FAULT.replace("bias", "gone") + ACCEPTED_FAULT)
    lines = str(caught.value).splitlines()
    assert [line.split(": ", 1)[1].split(" ")[0] for line in lines] == ["level", "reason", "there"]


def test_a_accepted_fault_of_a_faulty_gate_is_not_called_unknown(load):
    with pytest.raises(GatesError) as caught:
        load(GATE + "level = 2\n" + ACCEPTED_FAULT)
    assert "no gate" not in str(caught.value)


def test_accepted_faults_that_could_cover_the_same_verdict(load):
    with pytest.raises(GatesError, match=r"number 2: overlaps \[\[accepted fault\]\] number 1: .*judge = a \| b; judge = a"):
        load(GATE + ACCEPTED_FAULT + ACCEPTED_FAULT.replace('"a"', '["a", "b"]'))


def test_accepted_faults_with_no_name_in_common_overlap(load):
    with pytest.raises(GatesError, match="Give both the same name with different values"):
        load(GATE + ACCEPTED_FAULT + ACCEPTED_FAULT.replace('judge = "a"', 'panel = "p"'))


def test_accepted_faults_kept_apart_by_one_name_do_not_overlap(load):
    other = ACCEPTED_FAULT.replace('judge = "a"', 'judge = "b", panel = "p"')
    assert len(load(GATE + ACCEPTED_FAULT + other).accepted_faults) == 2
    assert len(load(GATE + GATE.replace("bias", "other") + ACCEPTED_FAULT + ACCEPTED_FAULT.replace("bias", "other")).accepted_faults) == 2


def test_two_gates_do_not_share_a_family(load):
    family = 'family = "f"\n'
    with pytest.raises(GatesError, match=r"line 8, \[other\]: the family f is already that of \[bias\]"):
        load(GATE + family + GATE.replace("bias", "other") + family)


def test_accepted_faults_need_double_brackets(load):
    with pytest.raises(GatesError, match=r"write accepted faults as \[\[accepted fault\]\]"):
        load(GATE + ACCEPTED_FAULT.replace("[[accepted]]", "[accepted fault]"))


def test_no_toml(load):
    with pytest.raises(GatesError, match=r"gates\.toml is not valid TOML: Invalid value \(at line 2, column 10\)"):
        load("[bias]\nwithin = -half\n")


def test_no_file(tmp_path):
    with pytest.raises(GatesError, match=r"gates\.toml is missing: a gates file holds every limit"):
        Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))


def test_no_text(tmp_path):
    (tmp_path / "gates.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(GatesError, match=r"is not UTF-8 \(byte 5\): save it as UTF-8"):
        Gates.load(tmp_path / "gates.toml", date(2026, 1, 1))


def test_an_empty_file_has_no_gates(load):
    assert len(load("")) == 0
    assert issubclass(GatesError, RecuseError)

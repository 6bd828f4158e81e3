"""Every mistake in a gates file is told with file, line, table, key and remedy, and all at once."""

from __future__ import annotations

from datetime import date

import pytest

from recuse.gates import Gates, GatesError
from recuse.schema import RecuseError

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
WAIVER = """
[[waiver]]
gate = "bias"
subject = { judge = "a" }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known"
"""


def test_a_full_gate(load):
    gate = load(
        '[bias]\nat_least = 1\nlevel = 0.9\nfamily = "f"\ncorrection = "bonferroni"\ninconclusive = "allow"\n'
        'label = "own work"\ntolerance = 0.05\nreason = " why "\n'
    )["bias"]
    assert gate.bound.mapping() == {"at_least": 1.0}
    assert (gate.decide, gate.level, gate.corrected, gate.allows_inconclusive) == ("interval", 0.9, "bonferroni", True)
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
    (GATE + 'inconclusive = "pass"\n', 'inconclusive must be "fail" or "allow"; it is \'pass\''),
    (GATE + 'decide = "point"\nfamily = "f"\n', 'family has no effect with decide = "point"'),
    (GATE + 'decide = "point"\ninconclusive = "allow"\n', 'inconclusive has no effect with decide = "point"'),
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


ONE_WAIVER = [
    (WAIVER.replace('"bias"', '"bais"'), "there is no gate bais in this file. Did you mean bias? Gates here: bias"),
    (WAIVER.replace("until = 2027-12-31\n", ""), "until is missing: give a date, e.g. until = 2027-12-31"),
    (WAIVER.replace("2027-12-31", '"YYYY-MM-DD"'), "until must be a date, e.g. until = 2027-12-31; it is 'YYYY-MM-DD'"),
    (WAIVER.replace("2027-12-31", "true"), "until must be a date"),
    (WAIVER.replace('"known"', '""'), "reason must be a text that says why"),
    (WAIVER.replace('{ judge = "a" }', "{}"), "subject must be names and values of what the verdict is about"),
    (WAIVER.replace('{ judge = "a" }', "{ judge = [] }"), "subject must be names and values"),
    (WAIVER.replace('{ judge = "a" }', "{ judge = 3 }"), "subject must be names and values"),
    (WAIVER.replace("within = [-0.5, 0.9]", "at_most = 0.9"), "bias has within, so the waiver takes a wider within"),
    (WAIVER.replace("0.9", "0.5"), "within [-0.5, +0.5] does not reach beyond the gate's own limit, within"),
    (WAIVER.replace("-0.5", "-0.4"), "does not reach beyond the gate's own limit"),
    (WAIVER.replace("within = [-0.5, 0.9]", ""), "accept needs one limit of the gate's kind, or outcome; it has noth"),
    (WAIVER.replace("within = [-0.5, 0.9]", 'outcome = ["fail"]'), 'outcome must be a list of "error" and'),
    (WAIVER.replace("within =", "wihtin ="), "unknown key wihtin. Did you mean within? Known keys: within, at_least"),
    (WAIVER + "judge = 'a'\n", "unknown key judge. Known keys: gate, subject, accept, until, reason"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), ONE_WAIVER)
def test_a_faulty_waiver(load, text, says):
    with pytest.raises(GatesError) as caught:
        load(GATE + text)
    assert says in str(caught.value)
    assert "[[waiver]] number 1: " in str(caught.value)
    assert ", line " in str(caught.value)


def test_the_line_is_that_of_the_key(load):
    with pytest.raises(GatesError, match=r"gates\.toml, line 9, \[\[waiver\]\] number 1: until must be a date"):
        load(GATE + WAIVER.replace("2027-12-31", "31"))


def test_all_faults_are_told_at_once(load):
    with pytest.raises(GatesError) as caught:
        load(GATE + "level = 2\n" + "[other]\nat_least = 1\n" + WAIVER.replace("bias", "gone") + WAIVER)
    lines = str(caught.value).splitlines()
    assert [line.split(": ", 1)[1].split(" ")[0] for line in lines] == ["level", "reason", "there"]


def test_a_waiver_of_a_faulty_gate_is_not_called_unknown(load):
    with pytest.raises(GatesError) as caught:
        load(GATE + "level = 2\n" + WAIVER)
    assert "no gate" not in str(caught.value)


def test_waivers_that_could_cover_the_same_verdict(load):
    with pytest.raises(GatesError, match=r"number 2: overlaps \[\[waiver\]\] number 1: .*judge = a \| b; judge = a"):
        load(GATE + WAIVER + WAIVER.replace('"a"', '["a", "b"]'))


def test_waivers_with_no_name_in_common_overlap(load):
    with pytest.raises(GatesError, match="Give both the same name with different values"):
        load(GATE + WAIVER + WAIVER.replace('judge = "a"', 'panel = "p"'))


def test_waivers_kept_apart_by_one_name_do_not_overlap(load):
    other = WAIVER.replace('judge = "a"', 'judge = "b", panel = "p"')
    assert len(load(GATE + WAIVER + other).waivers) == 2
    assert len(load(GATE + GATE.replace("bias", "other") + WAIVER + WAIVER.replace("bias", "other")).waivers) == 2


def test_two_gates_do_not_share_a_family(load):
    family = 'family = "f"\n'
    with pytest.raises(GatesError, match=r"line 8, \[other\]: the family f is already that of \[bias\]"):
        load(GATE + family + GATE.replace("bias", "other") + family)


def test_waivers_need_double_brackets(load):
    with pytest.raises(GatesError, match=r"write waivers as \[\[waiver\]\]"):
        load(GATE + WAIVER.replace("[[waiver]]", "[waiver]"))


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

"""Which changes against the baseline are larger than chance, what cannot be tested, what appeared and what vanished."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates.baseline_changes import compare, objections
from recuse.gates.baseline_file import BaselineError, difference, load, reduce, removed, write
from recuse.schema import RecuseError

GATES = """
[self_bias]
within = [-0.5, 0.5]
reason = "r"

[leniency]
within = [-0.5, 0.5]
tolerance = 0.2
reason = "r"
"""


@pytest.fixture
def gates(load_session):
    return load_session


@pytest.fixture(scope="session")
def load_session(tmp_path_factory):
    from datetime import date

    from recuse.gates import Gates

    path = tmp_path_factory.mktemp("evals") / "gates.toml"
    path.write_text(GATES, encoding="utf-8")
    return Gates.load(path, date(2026, 3, 1))


def estimate(value, metric="self_bias", se=0.05, **rest):
    about = {"level": 0.95, "n": 10, "n_clusters": None, "n_excluded": 0, "note": "a note", "unit": "points"}
    about |= {"se": se, "df": 9.0, "over": "repeats"}
    return {"metric": metric, "value": value, **about, "detail": {}, "method": "Student's t", **rest}


def verdict(judge, value, outcome="pass", gate="self_bias", **rest):
    subject = {"panel": "published", "judge": judge}
    about = {
        "question": "consensus_deviation",
        "limit": {"within": [-0.5, 0.5]},
        "rule": "a rule",
        "reason": "a reason",
        "test": f"evals/test_fairness.py::test_{gate}[published]",
    }
    return {"gate": gate, "subject": subject, "outcome": outcome, "estimate": estimate(value), **about, **rest}


def matrix(values):
    detail = {"kind": "matrix", "rows": ["a", "b"], "columns": ["x", "y"], "values": values}
    found = estimate(1.0, "bias", se=None, df=None, detail=detail)
    return {"question": "q", "subject": {"panel": "published"}, "estimate": found}


def results():
    return {
        "schema": 1,
        "verdicts": [verdict("grok-4", 0.71, "accepted"), verdict("gpt-5.1", -0.335)],
        "measurements": [matrix([[0.1, 0.2], [0.3, None]])],
        "panels": [{"name": "published", "uses": ["grade"]}],
    }


@pytest.fixture
def changed(gates):
    """What is reported after `change` was done to the results."""

    def apply(change, before=results, **rest):
        now = copy.deepcopy(before())
        change(now)
        return compare(reduce(before(), gates), now, gates, **rest)

    return apply


# --------------------------------------------------------------------------- what changed


def test_nothing_changed(changed):
    comparison = changed(lambda now: None)
    assert {name: found for name, found in comparison.items() if found} == {
        "path": "reports/baseline.json",
        "summary": "Nothing changed against reports/baseline.json (3 results compared).",
    }


def test_a_shift_within_chance_is_not_named(changed):
    """0.1 with standard errors of 0.05 on both sides: t = 1.41."""
    comparison = changed(lambda now: now["verdicts"][0].update(estimate=estimate(0.81)))
    assert (comparison["named"], comparison["moved"], objections(comparison)) == ([], [], [])


def test_a_shift_beyond_chance_is_named_with_its_interval(changed):
    comparison = changed(lambda now: now["verdicts"][0].update(estimate=estimate(1.21)))
    (row,) = comparison["named"]
    assert (row["what"], row["subject"]["judge"], row["before"], row["after"]) == ("self_bias", "grok-4", 0.71, 1.21)
    # se = .05 sqrt(2) on 18 degrees of freedom; one of one at 4 %, since the other was replayed: t(.98, 18) = 2.2137
    assert (row["change"], row["level"], row["test"]) == (0.5, 0.96, "independent")
    half = 2.2137 * 0.05 * math.sqrt(2)
    assert (row["low"], row["high"]) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)
    assert (
        "1 change beyond chance, the clearest in self_bias (judge = grok-4, panel = published): +0.5 (+0.343 to +0.657)"
        in (comparison["summary"])
    )


def test_a_named_change_is_red_only_across_the_limit_or_beyond_the_tolerance(changed):
    def with_leniency(value):
        return lambda: results() | {"verdicts": [verdict("grok-4", value, gate="leniency")]}

    outside = changed(lambda now: now["verdicts"][0].update(estimate=estimate(1.21)))
    assert (outside["named"][0]["beyond"], objections(outside)) == ("", [])
    across = changed(lambda now: now["verdicts"][1].update(estimate=estimate(0.6), outcome="fail"))
    assert across["named"][0]["beyond"] == "across the limit, within [-0.5, +0.5]"
    (sentence,) = objections(across)
    assert sentence.startswith("self_bias (judge = gpt-5.1, panel = published): +0.935 (")
    tolerated = changed(lambda now: now["verdicts"][0].update(estimate=estimate(0.2, se=0.01)), with_leniency(0.0))
    assert (len(tolerated["named"]), objections(tolerated)) == (1, [])
    beyond = changed(lambda now: now["verdicts"][0].update(estimate=estimate(0.41)), with_leniency(0.0))
    assert beyond["named"][0]["beyond"] == "more than the gate's tolerance of 0.2"


def test_an_outcome_that_differs_within_chance_is_listed_and_not_red(changed):
    """0.48 passes and 0.52 does not: the same judge, recorded twice."""
    comparison = changed(
        lambda now: now["verdicts"][1].update(estimate=estimate(0.52), outcome="undecided"),
        lambda: results() | {"verdicts": [verdict("a", 0.1), verdict("gpt-5.1", 0.48)]},
    )
    (row,) = comparison["outcomes"]
    assert (row["before"], row["after"], row["named"]) == ("pass", "undecided", False)
    assert objections(comparison) == []
    assert "1 outcome changed with estimates that did not, beyond chance" in comparison["summary"]


def at_both_levels(shown, hidden):
    """One judge whose two levels have an interval for these texts alone of +-0.3 (Student's t, 20 df: se 0.144)."""

    def one(names, value):
        subject = {"panel": "p", "task": "t", "protocol": "q", "judge": "a", "names": names}
        found = verdict("a", value) | {"subject": subject}
        here = estimate(value, detail={"these_texts": [value - 0.3, value + 0.3], "these_texts_df": 20.0})
        return found | {"estimate": here}

    return {"schema": 1, "verdicts": [one("shown", shown), one("hidden", hidden)], "measurements": [], "panels": [],
            "sources": {"p/t/q": {"items": "the same"}}}  # fmt: skip


def test_what_changed_at_every_level_is_seen_from_all_of_them(gates):
    """Twice 0.45 with standard errors of 0.2034: t = 2.21 either, and 3.13 together. Holm at 4 %: of three tests the
    first must reach t(.9933, 80) = 2.53, of two the next t(.99, 40) = 2.42."""
    before, after = at_both_levels(0.0, 0.1), at_both_levels(0.45, 0.55)
    (row,) = compare(reduce(before, gates), after, gates)["named"]
    assert row["test"] == "same texts, all levels together"
    assert row["subject"] == {"panel": "p", "task": "t", "protocol": "q", "judge": "a"}
    assert (row["before"], row["after"], row["change"]) == (0.05, 0.5, 0.45)
    assert row["low"] == pytest.approx(0.45 - 2.534 * 0.1438, abs=0.001)


def test_what_changed_at_one_level_alone_is_seen_there(gates):
    named = compare(reduce(at_both_levels(0.0, 0.1), gates), at_both_levels(0.7, 0.1001), gates)["named"]
    assert [row["subject"].get("names") for row in named if "names" in row["subject"]] == ["shown"]


def test_the_same_items_are_compared_in_pairs(changed):
    """Differences of exactly .1, .2, .3 per item: t = .2 / (.1 / sqrt 3) = 3.46, where standard errors of .5 say
    nothing."""

    def with_items(values):
        found = estimate(sum(values) / 3, se=0.5, over="items", per_item={f"i{n}": v for n, v in enumerate(values)})
        return {"verdicts": [verdict("a", 0.0, estimate=found)], "measurements": [], "panels": []}

    alone = changed(lambda now: None, lambda: with_items([0.0, 0.0, 0.0]))
    assert alone["named"] == []
    now = with_items([0.1001, 0.2, 0.2999])
    comparison = changed(lambda results: results.update(now), lambda: with_items([-1.0, 0.0, 1.0]))
    assert comparison["named"] == []
    comparison = changed(
        lambda results: results.update(with_items([0.1999, 1.2, 2.2001, 5.0])), lambda: with_items([0.0, 1.0, 2.0])
    )
    (row,) = comparison["named"]
    assert (row["test"], row["change"]) == ("paired", pytest.approx(0.2))


def test_the_same_texts_judged_again_are_compared_by_what_these_texts_alone_say(changed):
    """Over texts the standard error is 0.5 and +0.5 is nothing; over the repeats of one and the same text, with half a
    width of 0.1 (t(.975, 20) = 2.086, so se = 0.048), it is."""
    source = {"published/t/rubric": {"items": "1"}}

    def run(value, source):
        found = estimate(value, se=0.5, df=3.0, over="items")
        found["detail"] = {"these_texts": [value - 0.1, value + 0.1], "these_texts_df": 20.0}
        subject = {"panel": "published", "task": "t", "protocol": "rubric", "judge": "a"}
        one = verdict("a", 0.0, estimate=found) | {"subject": subject}
        return {"verdicts": [one], "measurements": [], "panels": [], "sources": source}

    (row,) = changed(lambda now: now.update(run(0.5, source)), lambda: run(0.0, source))["named"]
    assert (row["test"], row["change"]) == ("same texts", 0.5)
    other = {"published/t/rubric": {"items": "2"}}
    assert changed(lambda now: now.update(run(0.5, other)), lambda: run(0.0, source))["named"] == []


@pytest.mark.slow
def test_recorded_anew_the_same_judges_change_nothing_in_19_of_20_runs_and_half_a_point_is_named(gates):
    """500 recordings of five judges, five texts, ten replies, SD 0.22 (the published panel's mean): 20 verdicts."""
    rng = np.random.default_rng(5)

    def recording(shift=0.0):
        scores = rng.normal(8, 0.22, (5, 5, 10))
        scores[0, 0] += shift
        means, variances = scores.mean(axis=2), scores.var(axis=2, ddof=1) / 10
        verdicts = []
        for judge in range(5):
            for text in range(4):
                others = [k for k in range(5) if k != judge]
                value = means[judge, text] - means[others, text].mean()
                se = math.sqrt(variances[judge, text] + variances[others, text].sum() / 16)
                verdicts.append(verdict(f"j{judge}", 0.0, estimate=estimate(float(value), se=se, df=15.0))
                                | {"subject": {"judge": f"j{judge}", "text": str(text)}})  # fmt: skip
        return {"verdicts": verdicts, "measurements": [], "panels": []}

    same = [bool(compare(reduce(recording(), gates), recording(), gates)["named"]) for _ in range(500)]
    assert np.mean(same) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)
    shifted = [
        any(
            row["subject"] == {"judge": "j0", "text": "0"}
            for row in compare(reduce(recording(), gates), recording(0.5), gates)["named"]
        )
        for _ in range(200)
    ]
    assert np.mean(shifted) >= 0.8


# --------------------------------------------------------------------------- what has no test


def test_a_moved_cell_of_a_matrix_is_named_by_who_judged_whom(changed):
    def change(now):
        now["measurements"][0]["estimate"]["detail"]["values"] = [[0.1, 0.25], [0.3, 0.5]]

    assert [(m["what"], m["field"], m["before"], m["after"], m["delta"]) for m in changed(change)["moved"]] == [
        ("bias", "a / y", 0.2, 0.25, 0.05),
        ("bias", "b / y", None, 0.5, None),
    ]


def test_a_cell_that_differs_by_rounding_has_not_moved(changed):
    def change(now):
        detail = now["measurements"][0]["estimate"]["detail"]
        detail["values"] = [[x and x * (1 + 4e-10) for x in row] for row in detail["values"]]

    assert changed(change)["moved"] == []


def test_becoming_undefined_moves(changed):
    comparison = changed(
        lambda now: now["verdicts"][0].update(outcome="not measured", estimate=estimate(None, se=None, df=None))
    )
    assert [(m["field"], m["after"], m["delta"]) for m in comparison["moved"]] == [("value", None, None)]
    assert [(row["before"], row["after"]) for row in comparison["outcomes"]] == [("accepted", "not measured")]


@pytest.mark.parametrize("field", ["n", "n_excluded"])
def test_a_lost_observation_moves(changed, field):
    comparison = changed(lambda now: now["verdicts"][0]["estimate"].update({field: 9}))
    assert [(m["field"], m["after"]) for m in comparison["moved"]] == [(field, 9)]


def test_another_unit_cannot_be_compared(changed):
    """Points on 0-10 become points on 1-5: the numbers are of different things."""
    comparison = changed(lambda now: now["verdicts"][0]["estimate"].update(unit="share", value=0.07))
    assert comparison["tested"] == 0
    assert [m["field"] for m in comparison["moved"]] == ["value"]


def test_another_slice_cannot_be_compared(changed):
    """The slice on which a judge is worst was looked for, and may be another one the next time."""

    def run(value, level):
        found = estimate(value)
        found["detail"] = {"slice": {"column": "target", "level": level}}
        return {"verdicts": [verdict("a", 0.0, estimate=found)], "measurements": [], "panels": []}

    same, other = (changed(lambda now, to=to: now.update(run(0.5, to)), lambda: run(0.0, "x")) for to in ("x", "y"))
    assert (len(same["named"]), len(other["named"])) == (1, 0)


def test_new_words_change_nothing(changed):
    def change(now):
        now["verdicts"][0] |= {"rule": "x", "reason": "y", "question": "other"}
        now["verdicts"][0]["estimate"] |= {"note": "z", "method": "bootstrap"}

    assert "Nothing changed" in changed(change)["summary"]


def test_what_was_asked_of_whom_is_told_where_it_changed(changed):
    place = "published/merchant_risk/rubric"
    source = {"items": "1", "prompt": "2", "rubric": "3", "scale": "0..10", "judges": {"a": "4", "b": "5"}}
    comparison = changed(
        lambda now: now["sources"].update({place: source | {"prompt": "9", "judges": {"a": "9", "b": "5"}}}),
        lambda: results() | {"sources": {place: source}},
    )
    assert comparison["sources"] == [f"{place}: the prompt changed", f"{place}: a changed"]
    measured = source | {"people": "1", "truth": "2", "provenance": "recorded"}
    changes = {"people": "ratings by people", "truth": "true values", "provenance": "the label of provenance"}
    for name, words in changes.items():
        other = changed(
            lambda now, name=name: now["sources"].update({place: measured | {name: "9"}}),
            lambda: results() | {"sources": {place: measured}},
        )
        assert other["sources"] == [f"{place}: {words} changed"]
    earlier = changed(
        lambda now: now["sources"].update({place: measured}), lambda: results() | {"sources": {place: source}}
    )
    assert earlier["sources"] == [], "a baseline of an earlier version does not know them"
    assert objections(comparison) == [], "who judges otherwise is compared in place (recuse.upgrade.in_place)"


# --------------------------------------------------------------------------- appeared, vanished, removed


def test_what_appeared_and_vanished(changed):
    def change(now):
        now["verdicts"][1] = verdict("claude", 0.2)
        now["measurements"].append(matrix([[1, 1], [1, 1]]) | {"subject": {"panel": "local"}})

    comparison = changed(change)
    assert [
        (v["kind"], v["what"], v["subject"]["judge"], v["outcome"], v["value"]) for v in comparison["vanished"]
    ] == [("verdict", "self_bias", "gpt-5.1", "pass", -0.335)]
    assert [(a["kind"], a["what"], a["value"]) for a in comparison["appeared"]] == [
        ("measurement", "bias", 1.0),
        ("verdict", "self_bias", 0.2),
    ]
    assert comparison["summary"].endswith("; 2 results appeared; 1 result vanished.")
    assert objections(comparison) == [
        "gpt-5.1 is no longer in the panel published",
        "self_bias (judge = gpt-5.1, panel = published): pass in the baseline, not decided any more",
    ]


def test_a_removed_test_is_told(changed):
    comparison = changed(lambda now: [v.update(test="evals/test_fairness.py::test_other[x]") for v in now["verdicts"]])
    assert objections(comparison) == ["the test evals/test_fairness.py::test_self_bias is gone"]


def test_a_test_in_a_file_of_another_name_is_not_gone_and_stands_for_one_only():
    uses = {"judges": {}, "uses": {}}
    names = "evals/test_a.py::test_bias", "evals/test_b.py::test_bias", "evals/test_b.py::test_same"
    before = {"tests": [*names], **uses}
    after = {"tests": ["evals/test_c.py::test_bias", "evals/test_b.py::test_same"], **uses}
    assert removed(before, after) == ["the test evals/test_b.py::test_bias is gone"]
    assert removed(before, {**after, "tests": before["tests"]}) == []


def test_a_vanished_measurement_is_no_objection(changed):
    comparison = changed(lambda now: now["measurements"].clear())
    assert len(comparison["vanished"]) == 1
    assert objections(comparison) == []


def test_part_of_a_run_does_not_count_as_vanished(changed):
    comparison = changed(lambda now: now["verdicts"].pop(), complete=False)
    assert (comparison["vanished"], comparison["removed"]) == ([], [])
    assert comparison["summary"].endswith("Only part of the evals ran, so what vanished is not known.")


def test_two_results_about_the_same_subject_are_kept_apart(changed):
    def twice():
        return results() | {"verdicts": [*results()["verdicts"], verdict("grok-4", 0.1, question="another")]}

    assert changed(lambda now: None, twice)["named"] == []
    assert len(changed(lambda now: now.update(twice()))["appeared"]) == 1


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_tests_does_not_matter(load_session, random):
    now = results()
    now["verdicts"] += [verdict(f"j{i}", i / 10) for i in range(5)]
    shuffled = copy.deepcopy(now)
    random.shuffle(shuffled["verdicts"])
    for v in shuffled["verdicts"]:
        v["subject"] = dict(sorted(v["subject"].items(), key=lambda _: random.random()))
    first, other = reduce(now, load_session), reduce(shuffled, load_session)
    assert json.dumps(other, sort_keys=True) == json.dumps(first, sort_keys=True)
    known = reduce(results(), load_session)
    assert compare(known, shuffled, load_session) == compare(known, now, load_session)


# --------------------------------------------------------------------------- on disk


def test_saved_and_loaded(tmp_path, gates):
    path = tmp_path / "reports" / "baseline.json"
    write(path, results(), gates)
    first = path.read_bytes()
    assert load(path) == reduce(results(), gates)
    write(path, results(), gates)
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")
    assert [p.name for p in path.parent.iterdir()] == ["baseline.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_every_entry_has_a_line_of_its_own(tmp_path, gates):
    """So that version control shows which results changed."""
    write(tmp_path / "baseline.json", results(), gates)
    lines = (tmp_path / "baseline.json").read_text(encoding="utf-8").splitlines()
    assert sum('"kind"' in line for line in lines) == 3


def test_the_reason_for_a_red_baseline_is_kept_in_it(tmp_path, gates):
    because = {"reason": "the new rubric", "covers": ["self_bias: fail for judge = grok-4"]}
    write(tmp_path / "baseline.json", results(), gates, because)
    assert load(tmp_path / "baseline.json")["because"] == because


@pytest.mark.parametrize("fault", ["full disk", "not JSON"])
def test_a_failed_write_leaves_the_old_baseline(tmp_path, monkeypatch, gates, fault):
    path = tmp_path / "baseline.json"
    write(path, results(), gates)
    before = path.read_bytes()

    def full(path, data):
        raise OSError(28, "No space left on device")

    limit = math.nan if fault == "not JSON" else 0.5
    if fault == "full disk":
        monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RecuseError if fault == "full disk" else ValueError):
        write(path, results() | {"verdicts": [verdict("a", 0.1, limit={"at_most": limit})]}, gates)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.json"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "there is no baseline at"),
        (b"\xff", "is not UTF-8 (byte 0)"),
        (b'{"schema": 3,\n<<<<<<< HEAD\n', "is not JSON (line 2, column 1"),
        (b"[]", "should have schema 3; it has a JSON list"),
        (b'{"schema": 1, "entries": []}', "was written by an earlier Recuse (schema 1)"),
        (b'{"schema": 2, "entries": []}', "(schema 2), which did not say what judges are used for"),
        (b'{"schema": 4}', "should have schema 3; it has 4"),
        (b'{"verdicts": []}', "should have schema 3; it has None"),
        (b'{"schema": 3, "entries": 3}', "has no list of entries"),
        (b'{"schema": 3, "entries": []}', "has no list of entries, gates or tests"),
        (b'{"schema": 3, "entries": [{"kind": "verdict"}]}', "has a damaged entry (number 1)"),
        (b'{"schema": 1%b}' % (b"0" * 5000), "cannot be used (Exceeds the limit"),
        (b"[" * 100_000, "cannot be used (maximum recursion depth"),
        (b'{"schema": 3, "entries": [], "gates": {}, "asked": {"tests": "x"}}', "has no list of entries, gates"),
    ],
)
def test_an_unusable_baseline_names_the_file_and_the_remedy(tmp_path, text, says):
    path = tmp_path / "baseline.json"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(BaselineError) as caught:
        load(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert "pytest evals/ --update-baseline" in str(caught.value)


def test_a_baseline_that_is_no_file_is_unusable_too(tmp_path):
    (tmp_path / "reports").touch()
    for path in (tmp_path, tmp_path / "reports" / "baseline.json"):
        with pytest.raises(BaselineError, match="cannot be used"):
            load(path)


def test_what_a_baseline_says_otherwise_than_a_run_is_found(tmp_path, gates):
    path = tmp_path / "baseline.json"
    write(path, results(), gates)
    known = load(path)
    assert difference(known, results(), gates, complete=True) == ""
    figures = known["entries"][0]["figures"]
    figures["value"] *= 1 + 1e-9  # by rounding
    assert difference(known, results(), gates, complete=True) == ""
    lacking = {**known, "asked": {**known["asked"], "tests": []}}
    assert difference(lacking, results(), gates, complete=True).startswith("asked.tests: [], not [")
    assert difference(lacking, results(), gates, complete=False) == ""
    assert difference({**known, "entries": []}, results(), gates, complete=True).startswith("entries: [], not [")
    figures["value"] = math.nan
    for complete in (True, False):
        assert difference(known, results(), gates, complete=complete).startswith("entries.0.figures.value: ")

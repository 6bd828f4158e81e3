"""What moved against the baseline is found, named and counted; what did not move is not."""

from __future__ import annotations

import copy
import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates.baseline import BaselineError, compare, load, outcome_changes, reduce, write


def estimate(value, metric="self_bias", **rest):
    about = {"low": None, "high": None, "level": 0.95, "n": 10, "n_clusters": None, "n_excluded": 0, "note": "a note"}
    if value is not None:
        about |= {"low": value - 0.1, "high": value + 0.1}
    return {"metric": metric, "value": value, **about, "detail": {}, "method": "Student's t", **rest}


def verdict(judge, value, outcome="pass", gate="self_bias", **rest):
    subject = {"panel": "published", "judge": judge}
    about = {
        "question": "consensus_deviation",
        "limit": {"within": [-0.5, 0.5]},
        "rule": "a rule",
        "reason": "a reason",
    }
    return {"gate": gate, "subject": subject, "outcome": outcome, "estimate": estimate(value), **about, **rest}


def matrix(values):
    detail = {"kind": "matrix", "rows": ["a", "b"], "columns": ["x", "y"], "values": values}
    return {"question": "q", "subject": {"panel": "published"}, "estimate": estimate(1.0, "bias", detail=detail)}


def results():
    return {
        "schema": 1,
        "verdicts": [verdict("grok-4", 0.71, "accepted"), verdict("gpt-5.1", -0.335)],
        "measurements": [matrix([[0.1, 0.2], [0.3, None]])],
    }


def moved(change, tolerances=None, **rest):
    """What is reported after `change` was done to the results."""
    now = copy.deepcopy(results())
    change(now)
    return compare(reduce(results()), now, tolerances, **rest)


# --------------------------------------------------------------------------- what moved


def test_nothing_moved():
    assert moved(lambda now: None) == {
        "path": "reports/baseline.json",
        "moved": [],
        "appeared": [],
        "vanished": [],
        "summary": "Nothing moved against reports/baseline.json (3 results compared).",
    }


def test_a_moved_value_is_named_with_its_shift():
    def change(now):
        now["verdicts"][0]["estimate"]["value"] = 0.82

    comparison = moved(change)
    assert comparison["moved"] == [
        {
            "kind": "verdict",
            "what": "self_bias",
            "subject": {"judge": "grok-4", "panel": "published"},
            "field": "value",
            "before": 0.71,
            "after": 0.82,
            "delta": 0.11,
        }
    ]
    assert comparison["summary"] == (
        "Against reports/baseline.json: 1 of 3 results moved; the largest shift is +0.11 in self_bias "
        "(judge = grok-4, panel = published), to 0.82."
    )
    assert outcome_changes(comparison) == []


def test_a_changed_outcome_comes_first():
    def change(now):
        now["verdicts"][1] |= {"outcome": "fail", "estimate": estimate(0.9)}

    comparison = moved(change)
    assert [(m["field"], m["before"], m["after"]) for m in comparison["moved"]] == [
        ("outcome", "pass", "fail"),
        ("high", pytest.approx(-0.235), pytest.approx(1.0)),
        ("low", pytest.approx(-0.435), pytest.approx(0.8)),
        ("value", -0.335, 0.9),
    ]
    (sentence,) = outcome_changes(comparison)
    assert sentence == "self_bias (judge = gpt-5.1, panel = published): pass in the baseline, fail now"
    assert f"1 outcome changed, {sentence}; 1 of 3 results moved" in comparison["summary"]


def test_a_judge_that_got_better_is_an_outcome_change_too():
    comparison = moved(lambda now: now["verdicts"][0].update(outcome="pass"))
    assert len(outcome_changes(comparison)) == 1


def test_a_moved_limit_is_told():
    comparison = moved(lambda now: now["verdicts"][1].update(limit={"within": [-0.5, 0.8]}))
    assert [(m["field"], m["before"], m["after"], m["delta"]) for m in comparison["moved"]] == [
        ("limit.within.1", 0.5, 0.8, 0.3)
    ]
    other = moved(lambda now: now["verdicts"][1].update(limit={"at_most": 0.8}))
    assert {(m["field"], m["delta"]) for m in other["moved"]} == {("limit.within", None), ("limit.at_most", None)}


def test_a_moved_cell_of_a_matrix_is_named_by_who_judged_whom():
    def change(now):
        now["measurements"][0]["estimate"]["detail"]["values"] = [[0.1, 0.25], [0.3, 0.5]]

    assert [(m["what"], m["field"], m["before"], m["after"], m["delta"]) for m in moved(change)["moved"]] == [
        ("bias", "cells.a / y", 0.2, 0.25, 0.05),
        ("bias", "cells.b / y", None, 0.5, None),
    ]


def test_a_new_judge_in_a_matrix_moves_only_its_own_cells():
    def change(now):
        now["measurements"][0]["estimate"]["detail"] |= {"rows": ["a", "b", "c"]}
        now["measurements"][0]["estimate"]["detail"]["values"] = [[0.1, 0.2], [0.3, None], [0.4, 0.4]]

    assert [m["field"] for m in moved(change)["moved"]] == ["cells.c / x", "cells.c / y"]


def test_becoming_undefined_moves():
    comparison = moved(lambda now: now["verdicts"][0].update(outcome="error", estimate=estimate(None)))
    assert [(m["field"], m["after"], m["delta"]) for m in comparison["moved"]] == [
        ("outcome", "error", None),
        ("high", None, None),
        ("low", None, None),
        ("value", None, None),
    ]
    assert "1 outcome changed, self_bias (judge = grok-4" in comparison["summary"]


def test_nan_and_null_are_the_same():
    assert moved(lambda now: now["verdicts"][0]["estimate"].update(n_clusters=float("nan")))["moved"] == []


@pytest.mark.parametrize("field", ["n", "n_excluded"])
def test_a_lost_observation_moves_whatever_the_tolerance(field):
    comparison = moved(lambda now: now["verdicts"][0]["estimate"].update({field: 9}), {"self_bias": 100.0})
    assert [(m["field"], m["after"]) for m in comparison["moved"]] == [(field, 9)]


def test_new_words_move_nothing():
    def change(now):
        now["verdicts"][0] |= {"rule": "x", "reason": "y", "question": "other", "test": "evals/test_x.py::test_y"}
        now["verdicts"][0]["estimate"] |= {"note": "z", "method": "bootstrap"}

    assert moved(change)["moved"] == []


# --------------------------------------------------------------------------- tolerances


@given(st.floats(0.001, 10), st.floats(-10, 10))
def test_what_stays_within_the_tolerance_is_not_reported(tolerance, shift):
    comparison = moved(lambda now: now["verdicts"][0].update(estimate=estimate(0.71 + shift)), {"self_bias": tolerance})
    if abs(abs(shift) - tolerance) > 1e-6:
        assert bool(comparison["moved"]) == (abs(shift) > tolerance)


def test_a_tolerance_is_for_its_own_gate():
    def change(now):
        now["verdicts"][0]["estimate"]["value"] = 0.72

    assert moved(change, {"self_bias": 0.05})["moved"] == []
    assert moved(change, {"leniency": 0.05})["moved"] != []


def test_rounding_to_ten_digits_does_not_move():
    now = results()
    now["verdicts"][0]["estimate"]["value"] = 0.7100000001
    assert compare(reduce(results()), now)["moved"] == []
    now["verdicts"][0]["estimate"]["value"] = 0.71000001
    assert len(compare(reduce(results()), now)["moved"]) == 1


# --------------------------------------------------------------------------- appeared, vanished


def test_what_appeared_and_vanished():
    def change(now):
        now["verdicts"][1] = verdict("claude", 0.2)
        now["measurements"].append(matrix([[1, 1], [1, 1]]) | {"subject": {"panel": "local"}})

    comparison = moved(change)
    assert comparison["vanished"] == [
        {
            "kind": "verdict",
            "what": "self_bias",
            "subject": {"judge": "gpt-5.1", "panel": "published"},
            "outcome": "pass",
            "value": -0.335,
        }
    ]
    assert [(a["kind"], a["what"], a["value"]) for a in comparison["appeared"]] == [
        ("measurement", "bias", 1.0),
        ("verdict", "self_bias", 0.2),
    ]
    assert comparison["summary"].startswith("Against reports/baseline.json: 1 outcome changed, self_bias (judge = gpt")
    assert comparison["summary"].endswith("; 2 results appeared; 1 result vanished.")
    assert outcome_changes(comparison) == [
        "self_bias (judge = gpt-5.1, panel = published): pass in the baseline, not decided any more"
    ]


def test_a_vanished_measurement_is_no_outcome():
    comparison = moved(lambda now: now["measurements"].clear())
    assert len(comparison["vanished"]) == 1
    assert outcome_changes(comparison) == []


def test_part_of_a_run_does_not_count_as_vanished():
    comparison = moved(lambda now: now["verdicts"].pop(), complete=False)
    assert comparison["vanished"] == []
    assert comparison["summary"].endswith("Only part of the evals ran, so what vanished is not known.")


def test_two_results_about_the_same_subject_are_kept_apart():
    twice = results()
    twice["verdicts"].append(verdict("grok-4", 0.1, question="another"))
    assert compare(reduce(twice), twice)["moved"] == []
    assert len(compare(reduce(results()), twice)["appeared"]) == 1


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_tests_does_not_matter(random):
    now = results()
    now["verdicts"] += [verdict(f"j{i}", i / 10) for i in range(5)]
    shuffled = copy.deepcopy(now)
    random.shuffle(shuffled["verdicts"])
    for v in shuffled["verdicts"]:
        v["subject"] = dict(sorted(v["subject"].items(), key=lambda _: random.random()))
    assert json.dumps(reduce(shuffled), sort_keys=True) == json.dumps(reduce(now), sort_keys=True)
    assert compare(reduce(results()), shuffled) == compare(reduce(results()), now)


# --------------------------------------------------------------------------- on disk


def test_saved_and_loaded(tmp_path):
    path = tmp_path / "reports" / "baseline.json"
    write(path, results())
    first = path.read_bytes()
    assert load(path) == reduce(results())
    write(path, results())
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")
    assert [p.name for p in path.parent.iterdir()] == ["baseline.json"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("fault", ["full disk", "not JSON"])
def test_a_failed_write_leaves_the_old_baseline(tmp_path, monkeypatch, fault):
    path = tmp_path / "baseline.json"
    write(path, results())
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    limit = math.nan if fault == "not JSON" else 0.5
    if fault == "full disk":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError if fault == "full disk" else ValueError):
        write(path, results() | {"verdicts": [verdict("a", 0.1, limit={"at_most": limit})]})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.json"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "there is no baseline at"),
        (b"\xff", "is not UTF-8 (byte 0)"),
        (b'{"schema": 1,\n<<<<<<< HEAD\n', "is not JSON (line 2, column 1"),
        (b"[]", "should have schema 1; it has a JSON list"),
        (b'{"schema": 2}', "should have schema 1; it has 2"),
        (b'{"verdicts": []}', "should have schema 1; it has None"),
        (b'{"schema": 1, "entries": 3}', "has no list of entries"),
        (b'{"schema": 1, "entries": [{"kind": "verdict"}]}', "has a damaged entry (number 1)"),
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

"""`recuse validate`: what it prints is what drawn files gave, and no judge at twice a margin is cleared."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from recuse.experiments import validate_command
from recuse.experiments.simulated_files import FAULTS, PERSON_LIKE, Setting
from recuse.experiments.validate_command import (
    GOOD,
    Case,
    error_of,
    run_validate,
    share_cleared,
    too_often,
    uses_in,
    words_for,
)
from recuse.gates import JudgeDecision

SHIPPED, TODAY = Path(__file__).parents[2] / "evals", date(2026, 3, 1)


def word_on(use, word, cause="", gates=()):
    return JudgeDecision("p", "judge", use, word, cause, gates)


def words_of(setting, texts, judge, runs, processes=1):
    case = Case(setting, texts, judge, runs)
    return words_for([case], SHIPPED, seed=1, processes=processes, today=TODAY)[0]


@pytest.mark.slow("simulations")
def test_words_do_not_depend_on_the_number_of_processes():
    one, two = (words_of(Setting("1-5"), 30, "one more person", 11, n) for n in (1, 2))
    assert one == two
    assert len(one) == 11 * len(uses_in(one))


def test_cases_keep_their_order_and_a_peer_is_not_counted():
    fault = next(fault for fault in FAULTS if fault.name == "longer")
    cases = [Case(fault.setting, 40, judge, 2) for judge in ("longer", "half a person's error")]
    first, second = words_for(cases, SHIPPED, seed=1, processes=1, today=TODAY)
    assert [len([one for one in words if one.use == "grade"]) for words in (first, second)] == [2, 2]
    assert first != second


def test_shares_count_judges_of_a_use():
    words = [word_on("grade", "cleared"), word_on("grade", "undecided"), word_on("rank", "cleared")]
    assert share_cleared(words, "grade") == 0.5
    assert share_cleared(words, "choose") is None
    assert error_of(0.5, 100) == 0.05


def test_a_fault_that_is_cleared_too_often_is_named_and_the_command_says_1(monkeypatch, capsys):
    """Everybody cleared: each fault is named, exit code 1. Nobody: exit code 0."""

    def everybody(word):
        def ask(cases, folder, **_):
            uses = ("grade", "rank", "decide", "choose")
            words = [word_on(use, word, "it always says pass", ("unanswered",)) for use in uses]
            return [words * case.runs for case in cases]

        return ask

    monkeypatch.setattr(validate_command, "words_for", everybody("cleared"))
    assert run_validate(evals=SHIPPED, runs=5, today=TODAY) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"Cleared in more than 5 % beyond the error: {', '.join(fault.name for fault in FAULTS)}."
    monkeypatch.setattr(validate_command, "words_for", everybody("not cleared"))
    assert run_validate(evals=SHIPPED, runs=5, today=TODAY) == 0
    out = capsys.readouterr().out
    assert re.search(r"constant +to decide +0 +0 +0 +0 +5 of 5 refused$", out, re.MULTILINE)
    assert re.search(r"mirrored .* 0 of 5 refused; else: it always says pass", out)


def test_five_percent_and_three_errors_are_allowed():
    """Of 200 files: at most 5 + 3 * 1.54 = 9.6 %, at every size."""

    def judged(*shares):
        return too_often({"runs": 200, "faults": [{"fault": "mirrored", "cleared": list(shares)}]})

    assert judged(0.0, None, 0.095) == []
    assert judged(0.0, None, 0.1) == ["mirrored"]
    assert judged(0.1, 0.0, 0.0) == ["mirrored"]


def test_the_table_and_the_json_hold_the_same(tmp_path, capsys, monkeypatch):
    def by_lot(cases, folder, *, seed, **_):
        rng = np.random.default_rng(seed)
        return [[word_on(use, ("cleared", "undecided")[rng.integers(2)], "it errs", ("human_ceiling",))
                 for _ in range(case.runs) for use in ("grade", "rank", "estimate", "decide", "choose")]
                for case in cases]  # fmt: skip

    monkeypatch.setattr(validate_command, "words_for", by_lot)
    path = tmp_path / "shares.json"
    code = run_validate(evals=SHIPPED, runs=4, processes=1, to_json=path, sizes=(200,), today=TODAY)
    record = json.loads(path.read_text("utf-8"))
    assert code == 1
    assert [row["fault"] for row in record["faults"]] == [fault.name for fault in FAULTS]
    assert {row["setting"] for row in record["good"]} == set(GOOD)
    out = capsys.readouterr().out
    rows = re.findall(r"^  (.{30})to (\w+) +(\d+)(?: |$)", out, re.MULTILINE)
    printed = [(judge.strip(), use, int(share)) for judge, use, share in rows]
    known = [(row.get("judge") or row["fault"], row["use"], round(100 * row["cleared"][0]))
             for row in (*record["good"], *record["faults"])]  # fmt: skip
    assert printed == known
    assert {judge for judge, _, _ in printed} == {*PERSON_LIKE, *(fault.name for fault in FAULTS)}


# --------------------------------------------------------------------------- what is promised

RUNS = 40


@pytest.mark.slow
@pytest.mark.parametrize("texts", [60, 200])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_judge_at_twice_a_margin_is_not_cleared(fault, texts):
    share = share_cleared(words_of(fault.setting, texts, fault.name, RUNS), fault.use)
    assert share <= 0.05 + 3 * error_of(0.05, RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_planted_fault_is_the_first_cause(fault):
    words = [one for one in words_of(fault.setting, 200, fault.name, RUNS) if one.use == fault.use]
    refused = [one for one in words if one.word == "not cleared"]
    named = sum(bool(re.search(fault.cause, one.cause)) for one in refused)
    assert refused
    assert named >= 0.95 * len(refused) - 3 * error_of(0.95, len(refused)) * len(refused)


@pytest.mark.slow
def test_more_texts_never_clear_a_good_judge_less():
    shares = [
        share_cleared(words_of(Setting("0-10", 0.7), n, "one more person", RUNS), "grade") for n in (60, 200, 600)
    ]
    assert shares[2] >= 0.9
    assert all(b >= a - 2 * error_of(0.5, RUNS) for a, b in pairwise(shares))

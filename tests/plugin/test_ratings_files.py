"""A file is a panel: `pytest evals/ --ratings FILE`, and a file among `recuse_panels`. No task, cassette or network."""

from __future__ import annotations

import hashlib
import json
from unittest.mock import Mock

import pytest

from recuse.readers.file_panel import is_ratings_file
from recuse.suite import Suite

pytest_plugins = ["pytester"]

CSV = "item,bot,judge_a,judge_b,anna\n" + "".join(
    f"{k},{'xy'[k % 2]},{1 + k % 5},{1 + (k + (k % 7 == 0)) % 5},{1 + k % 5}\n" for k in range(40)
)
EVAL = '''
"""Can the answers be used?"""

import pytest

from recuse.papers.merchant_risk import score_repeats
from recuse.metrics import coverage


@pytest.mark.asks("scores")
def test_parse_rate(ratings, gate):
    assert gate("parse_rate", coverage.parse_rate(ratings))


@pytest.mark.asks("scores", "repeats")
def test_needs_more(ratings, measure):
    measure(score_repeats.repeat_difference(ratings))
'''
GATES = '[parse_rate]\nat_least = 0.9\ndecide = "point"\nreason = "nine in ten, for the test"\n'


def files(pytester, ini: str = "") -> None:
    pytester.makepyprojecttoml(f'[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\n{ini}\n')
    for name, text in (("ratings.csv", CSV), ("evals/gates.toml", GATES), ("evals/test_answers.py", EVAL)):
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def results(pytester, part: str = "") -> dict:
    return json.loads((pytester.path / "reports" / part / "results.json").read_text())


def test_named_on_the_command_line_it_is_a_panel_and_what_it_lacks_is_listed(pytester):
    files(pytester)
    pytester.runpytest("evals", "--ratings", "ratings.csv").assert_outcomes(passed=1, skipped=1)
    (row,) = results(pytester)["not_asked"]
    assert (row["panel"], row["missing"]) == ("ratings", ["repeats"])
    (panel,) = results(pytester)["panels"]
    assert panel["provenance"] == "imported"
    assert hashlib.sha256(CSV.encode()).hexdigest() in panel["source"]
    assert [judge["name"] for judge in panel["judges"]] == ["judge_a", "judge_b"]
    assert {v["subject"]["judge"] for v in results(pytester)["verdicts"]} == {"judge_a", "judge_b"}


def test_nobody_is_told_to_record_what_came_from_a_file(pytester):
    """Next steps name columns and rows; a recording cannot mend them."""
    files(pytester)
    (pytester.path / "ratings.csv").write_text(CSV.replace(",2,", ",,"))  # parse rates below nine in ten
    gates = '\n[test_retest]\nat_most = 1\nreason = "for the test"\n'
    (pytester.path / "evals/gates.toml").write_text(GATES + gates)
    eval_ = (
        EVAL
        + """

@pytest.mark.asks("scores")
def test_undefined(ratings, gate):
    gate("test_retest", score_repeats.repeat_difference(ratings))
"""
    )
    (pytester.path / "evals/test_answers.py").write_text(eval_)
    pytester.runpytest("evals", "--ratings", "ratings.csv")
    found = results(pytester)
    remedies = {v["outcome"]: v["remedy"]["advice"] for v in found["verdicts"] if v["remedy"]}
    assert set(remedies) == {"fail", "not measured"}
    assert "recuse check FILE --disagreements" in remedies["fail"]
    assert "recuse check FILE --all" in remedies["not measured"]
    assert not [text for text in remedies.values() if "--record" in text]
    (wanting,) = found["not_asked"]
    assert wanting["unlock"] == ["the judge's repeats: a column repeat, or columns judge.1, judge.2"]


def test_among_the_configured_panels(pytester):
    files(pytester, 'recuse_panels = ["ratings.csv"]')
    pytester.runpytest("evals").assert_outcomes(passed=1, skipped=1)


def test_two_files_are_two_panels(pytester):
    files(pytester)
    other = CSV.replace("judge_a", "judge_c").replace("judge_b", "judge_d")
    (pytester.path / "newer.csv").write_text(other)
    pytester.runpytest("evals", "--ratings", "ratings.csv", "--ratings=newer.csv").assert_outcomes(passed=2, skipped=1)
    assert {panel["name"] for panel in results(pytester)["panels"]} == {"newer", "ratings"}


def test_two_files_with_the_same_judges_are_two_versions_of_them(pytester):
    files(pytester)
    (pytester.path / "newer.csv").write_text(CSV)
    pytester.runpytest("evals", "--ratings", "ratings.csv", "--ratings=newer.csv").assert_outcomes(passed=1, skipped=1)
    [panel] = results(pytester)["panels"]
    assert panel["name"] == "newer"
    assert panel["source"].count("sha256") == 2


@pytest.mark.slow("whole runs")
def test_the_workers_of_one_run_agree(pytester):
    files(pytester)
    pytester.runpytest("evals", "--ratings", "ratings.csv", "-n", "2").assert_outcomes(passed=1, skipped=1)


def test_a_file_that_cannot_be_read_is_a_usage_error_and_read_once(pytester, monkeypatch):
    """And not by each of the tests that would ask about it."""
    files(pytester)
    (pytester.path / "ratings.csv").write_text("item,judge_a\n1,\x003\n")
    reading = Mock(wraps=Suite.from_options)
    monkeypatch.setattr(Suite, "from_options", reading)
    run = pytester.runpytest("evals", "--ratings", "ratings.csv")
    run.stderr.fnmatch_lines(["*ratings.csv: line 2 holds a NUL byte*"])
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    reading.assert_called_once()


def test_judges_may_be_chosen(pytester):
    files(pytester)
    pytester.runpytest("evals", "--ratings", "ratings.csv", "--judges", "judge_b").assert_outcomes(passed=1, skipped=1)
    found = results(pytester, part="partial")
    assert {v["subject"]["judge"] for v in found["verdicts"]} == {"judge_b"}
    judges = [(one["judge"], one["word"]) for one in found["decision"]["judges"]]
    assert judges == [("judge_b", "cleared")], "all was asked of it"
    assert found["decision"]["word"] == "no decision"


@pytest.mark.parametrize(
    ("given", "is_file"),
    [
        ("ratings.csv", True),
        ("fixtures/a.JSONL.gz", True),
        ("published", False),
        ("published.v2", False),
        ("p.toml", False),
    ],
)
def test_which_panels_are_files(given, is_file):
    assert is_ratings_file(given) is is_file

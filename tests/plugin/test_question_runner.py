"""Questions asked of a file without pytest: the same needs, the same narrowing and the same records as with it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from recuse.readers.file_panel import load_file_panel, load_versions
from recuse.run.run import ask_file
from recuse.schema import RecuseError
from recuse.suite.question_runner import read_evals

pytest_plugins = ["pytester"]

ROWS = (f"{k},{1 + k % 5},{1 + k % 5},{1 + (k + (k % 7 == 0)) % 5}\n" for k in range(40))
TABLE = "item,judge_a,anna,ben\n" + "".join(ROWS)
GATES = '[parse_rate]\nat_least = 0.9\ndecide = "point"\nreason = "nine in ten, for the test"\n'
EVAL = '''
"""Can the answers be used?

What is lost.
"""

import pytest

from recuse.metrics import coverage

pytestmark = pytest.mark.asks("scores")


def test_parse_rate(ratings, gate, measure):
    measure(coverage.parse_rate(ratings), by="hand")
    assert gate("parse_rate", coverage.parse_rate(ratings))


@pytest.mark.asks("repeats")
def test_what_the_file_lacks(ratings, measure):
    measure(coverage.parse_rate(ratings))


@pytest.mark.asks(task="poems")
def test_of_another_task(ratings, measure):
    measure(coverage.parse_rate(ratings))


@pytest.mark.asks(protocol="rubric")
def test_of_a_protocol(ratings, measure):
    measure(coverage.parse_rate(ratings))
'''


def suite(folder: Path, source: str = EVAL) -> Path:
    (folder / "evals").mkdir()
    (folder / "ours.csv").write_text(TABLE)
    (folder / "evals" / "gates.toml").write_text(GATES)
    (folder / "evals" / "test_answers.py").write_text(source)
    return folder / "evals"


def test_pytest_and_the_runner_come_to_the_same_records(pytester: pytest.Pytester) -> None:
    evals = suite(pytester.path, EVAL.replace('task="poems"', 'protocol="rubric"'))
    pytester.runpytest_inprocess("evals", "--ratings", "ours.csv", "-p", "no:cacheprovider")
    by_pytest = json.loads((pytester.path / "reports" / "results.json").read_text())
    answers = ask_file(load_file_panel(pytester.path / "ours.csv"), *read_evals(evals, date.today()))
    by_runner = json.loads(json.dumps(answers.results))
    assert by_runner["verdicts"] or by_runner["measurements"]
    for part in ("verdicts", "measurements", "measures", "questions", "not_asked"):
        assert without_tests(by_runner[part]) == without_tests(by_pytest[part]), part


def without_tests(rows: object) -> object:
    """pytest calls a test by what it was asked of too."""
    if isinstance(rows, list):
        return [{name: value for name, value in row.items() if name not in ("test", "tests")} for row in rows]
    return rows


def test_a_question_of_another_task_or_protocol_is_not_asked_of_a_file(tmp_path: Path) -> None:
    evals = suite(tmp_path)
    results = ask_file(load_file_panel(tmp_path / "ours.csv"), *read_evals(evals, date.today())).results
    assert {row["test"].partition("::")[2] for row in results["measurements"]} == {"test_parse_rate"}
    assert [row["missing"] for row in results["not_asked"]] == [["repeats"]]


def test_of_several_versions_the_newest_is_judged(tmp_path: Path) -> None:
    evals = suite(tmp_path, EVAL.replace("parse_rate(ratings)", "unanswered(ratings)"))
    (tmp_path / "newer.csv").write_text(TABLE)
    run = ask_file(load_versions([tmp_path / "ours.csv", tmp_path / "newer.csv"]), *read_evals(evals, date.today()))
    assert [
        row["subject"]["version"] for row in run.results["verdicts"] if row["subject"].get("judge") == "judge_a"
    ] == ["newer"]
    assert "ours" in {row["subject"]["version"] for row in run.results["measurements"]}, "shown all the same"


def test_a_fixture_of_its_own_is_for_pytest_alone(tmp_path: Path) -> None:
    evals = suite(tmp_path, EVAL.replace("(ratings, gate, measure)", "(ratings, gate, measure, tmp_path)"))
    with pytest.raises(RecuseError, match=r"test_parse_rate needs 'tmp_path', which only pytest can give"):
        ask_file(load_file_panel(tmp_path / "ours.csv"), *read_evals(evals, date.today()))

"""What a repository meets that merely has Recuse installed: names that begin with recuse, and no other. In a suite of
ours the short names are there too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SHORT = ("elicitation", "task", "ratings", "gate", "measure", "upgrade", "may_replace")

OWN = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="record cassettes")
    parser.addoption("--panel", default="of their own")

def pytest_configure(config):
    config.addinivalue_line("markers", "asks(*whom): whom the test asks")

@pytest.fixture
def ratings():
    return [1, 2, 3]

@pytest.fixture
def gate():
    return "wooden"
"""
OWN_TEST = """
import pytest

@pytest.mark.asks("nobody", politely=True)
def test_theirs(ratings, gate, pytestconfig):
    assert (ratings, gate) == ([1, 2, 3], "wooden")
    assert pytestconfig.getoption("--record") is True
    assert pytestconfig.getoption("--panel") == "flat"

def test_an_error_keeps_its_traceback(ratings):
    assert ratings == [3]
"""


def test_a_foreign_repository_keeps_its_fixtures_mark_and_options(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(OWN)
    pytester.makepyfile(test_theirs=OWN_TEST)
    run = pytester.runpytest_inprocess("--record", "--panel=flat", "--strict-markers", "-p", "no:cacheprovider")
    run.assert_outcomes(passed=1, failed=1)
    assert "assert [1, 2, 3] == [3]" in str(run.stdout)
    assert "recuse" not in str(run.stdout).partition("collected")[2]
    assert not (pytester.path / "reports").exists()


def test_a_fixture_that_only_we_have_is_unknown_to_a_foreign_repository(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(may_replace): ...\n")
    run = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    run.assert_outcomes(errors=1)
    assert "fixture 'may_replace' not found" in str(run.stdout)


@pytest.mark.parametrize("option", ["--record=missing", "--panel=x", "--baseline", "--yes", "--judges=a"])
def test_a_short_option_is_unknown_to_a_foreign_repository(pytester: pytest.Pytester, option: str) -> None:
    pytester.makepyfile("def test_it(): ...\n")
    run = pytester.runpytest_inprocess(option)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments" in str(run.stderr)


def names_shown(pytester: pytest.Pytester) -> tuple[set[str], str]:
    """Fixtures that are there, and the marks."""
    fixtures = str(pytester.runpytest_inprocess("--fixtures", "-p", "no:cacheprovider").stdout)
    marks = str(pytester.runpytest_inprocess("--markers", "-p", "no:cacheprovider").stdout)
    return set(re.findall(r"^([a-z_]+)(?: \[|$| --)", fixtures, re.MULTILINE)), marks


def test_what_is_registered_begins_with_recuse(pytester: pytest.Pytester) -> None:
    names, marks = names_shown(pytester)
    assert {f"recuse_{name}" for name in SHORT} <= names
    assert not names & set(SHORT)
    assert "@pytest.mark.recuse_asks(" in marks
    assert "@pytest.mark.asks(" not in marks


@pytest.mark.parametrize("made_by", ["gates", "panels", "conftest"])
def test_a_suite_has_the_short_names_too(pytester: pytest.Pytester, made_by: str) -> None:
    if made_by == "gates":
        pytester.mkdir("evals")
        (pytester.path / "evals" / "gates.toml").write_text("")
    elif made_by == "panels":
        pytester.makeini("[pytest]\nrecuse_panels = ours.csv\n")
    else:
        pytester.makeconftest('pytest_plugins = ["recuse.plugin.short_names"]')
    names, marks = names_shown(pytester)
    assert set(SHORT) <= names
    assert "@pytest.mark.asks(" in marks


LONG = """
\"\"\"Can the answers be used?\"\"\"

import pytest

from recuse.metrics import coverage

@pytest.mark.recuse_asks("scores")
def test_parse_rate(recuse_ratings, recuse_gate, recuse_measure, recuse_elicitation):
    recuse_measure(coverage.parse_rate(recuse_ratings))
    assert recuse_gate("parse_rate", coverage.parse_rate(recuse_ratings))
"""


def test_the_long_names_do_the_same(pytester: pytest.Pytester) -> None:
    """In a folder that is no suite by itself: gates elsewhere, panels by option."""
    (pytester.path / "ours.csv").write_text("item,judge_a,anna\n" + "".join(f"{k},{1 + k % 5},3\n" for k in range(30)))
    pytester.makepyfile(test_answers=LONG.replace("\\", ""))
    pytester.makeini("[pytest]\nrecuse_gates = limits.toml\n")
    run = pytester.runpytest_inprocess("--recuse-ratings", "ours.csv", "-p", "no:cacheprovider")
    assert "limits.toml: no such file" in str(run.stdout) + str(run.stderr)
    limits = '[parse_rate]\nat_least = 0.9\ndecide = "point"\nreason = "nine in ten"\n'
    (pytester.path / "limits.toml").write_text(limits)
    pytester.runpytest_inprocess("--recuse-ratings", "ours.csv", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_no_private_name_of_pytest_is_used() -> None:
    private = re.compile(r"_fixture_function|__pytest_wrapped__|\b_pytest\b|(parser|group|reporter|config|item)\._")
    engine = Path(__file__).parents[2] / "recuse"
    assert [path for path in engine.rglob("*.py") if private.search(path.read_text(encoding="utf-8"))] == []

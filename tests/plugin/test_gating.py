"""From a gate to pytest's outcome: pass, failure in words, expected failure; and what the report says of it."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta

import pytest

pytest_plugins = ["pytester"]

TRACE = re.compile(r"Traceback|AssertionError|assert gate|test_\w+\.py:\d")
ALONE = "evals/test_alone.py"
HEAD = """
    import pytest
    from recuse.metrics import consensus
    from recuse.schema import Estimate, RecuseError
    pytestmark = pytest.mark.asks("scores")
"""
SELF_BIAS = "evals/test_fairness.py::test_self_bias[mini/essays/rubric]"


def test_a_failed_gate_fails_its_test_in_words(repo) -> None:
    run = repo.run()
    assert (run.code, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 2, "failed": 1})
    assert "self_bias: FAIL for task = essays, panel = mini, protocol = rubric, judge = bob, names = shown" in run.text
    assert run.text.count("self_bias: FAIL") == 1, "only what objects is told"
    assert "half a point, for the test" in run.text
    assert "evals/gates.toml" in run.text
    assert not TRACE.search(run.text)
    assert run.results["outcome"] == "fail"
    assert run.results["counts"] == {"pass": 6, "fail": 1, "undecided": 0, "not measured": 0, "accepted": 0}
    found = run.verdict("self_bias", judge="bob", names="shown")
    assert (found["outcome"], round(found["estimate"]["value"], 6)) == ("fail", 2.0)
    assert found["test"] == "evals/test_fairness.py::test_self_bias[mini/essays/rubric]"
    assert (found["question"], found["title"]) == ("fairness", "Is a judge fair to its own essays?")
    assert len(run.results["measurements"]) == 2
    assert run.results["cassettes"]["used"] == 48


def test_an_accepted_fault_is_an_expected_failure_and_the_run_is_green(repo) -> None:
    repo.accept("bob")
    run = repo.run("-rx")
    assert (run.code, run.outcomes) == (pytest.ExitCode.OK, {"passed": 2, "xfailed": 1})
    assert f"XFAIL {SELF_BIAS} - bob is known to like this text" in run.text
    assert run.results["outcome"] == "pass"
    assert run.verdict("self_bias", judge="bob", names="shown")["outcome"] == "accepted"


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_test_that_is_taken_out_clears_nobody(repo, workers) -> None:
    """Its gate stands in the gates file, so it decides; nobody says any more what it would have said."""
    repo.edit("evals/test_fairness.py", 'assert gate("parse_rate", coverage.parse_rate(ratings))', "pass")
    repo.edit("evals/gates.toml", "[self_bias]\n", '[use.read]\nyardstick = ["self_bias"]\n\n[self_bias]\n')
    repo.edit("fixtures/panels/mini.toml", "name =", 'use = "read"\nname =')
    run = repo.run(*workers)
    assert run.results["asked"]["unasked"] == ["parse_rate"]
    words = {one["judge"]: (one["word"], one["cause"]) for one in run.results["decision"]["judges"]}
    assert words["ann"] == ("undecided", "no eval here asks parse rate, by which evals/gates.toml decides")
    assert words["bob"][0] == "not cleared"


NAMED = {"there": '"there"', "constant": "NAME", "several": 'next(iter(("several", "none")))'}


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_gate_that_a_test_names_which_no_panel_can_answer_is_not_missed(repo, workers) -> None:
    """Written there, as a constant, or as one of several."""
    gates = "".join(f'[{name}]\nat_most = 1\nreason = "for the test"\n\n' for name in (*NAMED, "nowhere"))
    repo.edit("evals/gates.toml", "[self_bias]\n", f"{gates}[self_bias]\n")
    tests = "".join(f"""
    @pytest.mark.asks("authors", "choices")
    def test_{name}(ratings, gate):
        assert gate({named}, consensus.self_bias(ratings))
    """ for name, named in NAMED.items())  # fmt: skip
    repo.write(ALONE, f'{HEAD}\n    NAME = "constant"\n{tests}')
    assert repo.run(*workers).results["asked"]["unasked"] == ["nowhere"]


@pytest.mark.parametrize(
    ("accepted_fault", "said"),
    [
        ({"high": 1.5}, "self_bias: FAIL for task = essays, panel = mini, protocol = rubric, judge = bob"),
        ({"until": "2020-01-31"}, "2020-01-31"),
    ],
    ids=["exceeded", "expired"],
)
def test_an_accepted_fault_that_no_longer_covers_turns_it_red(
    repo, accepted_fault: dict[str, object], said: str
) -> None:
    repo.accept("bob", **accepted_fault)
    run = repo.run("evals/test_fairness.py::test_self_bias")
    assert (run.code, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"failed": 1})
    assert said in run.text


def test_an_accepted_fault_that_nothing_needs_any_more_is_one_sentence_of_a_whole_run(repo) -> None:
    """Every verdict passes; the run is red until the line is gone, so that the gain is kept."""
    repo.accept("bob")
    repo.accept("ann")
    run = repo.run()
    assert (run.code, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 2, "xfailed": 1})
    assert run.verdict("self_bias", judge="ann", names="shown")["outcome"] == "pass"
    assert run.verdict("self_bias", judge="bob", names="shown")["outcome"] == "accepted"
    [unneeded] = run.results["objections"]
    assert unneeded.startswith("The accepted failure for self_bias (judge = ann, names = shown) in evals/gates.toml")
    assert "no longer needed" in unneeded
    assert run.results["decision"]["word"] == "decide"
    assert repo.run("-k", "self_bias").code == pytest.ExitCode.OK, "a part cannot know"


def test_an_accepted_fault_that_covers_nothing_is_an_objection_of_a_whole_run_only(repo) -> None:
    repo.accept("bob")
    repo.accept("eve")  # eve wrote nothing, so no verdict can be about her own text
    whole = repo.run()
    assert (whole.code, whole.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 2, "xfailed": 1})
    assert (
        "The accepted failure for self_bias (judge = eve, names = shown) in evals/gates.toml covered nothing"
        in whole.words
    )
    assert whole.results["outcome"] == "not measured"
    assert len(whole.results["objections"]) == 1
    for part in (["-k", "self_bias"], ["--judges", "ann,bob"], ["evals/test_fairness.py"]):
        run = repo.run(*part)
        assert run.code == pytest.ExitCode.OK, (part, run.text)


def test_an_expired_accepted_fault_is_told_as_that_and_turns_a_whole_run_red_though_all_passes(repo) -> None:
    repo.accept("bob")
    repo.accept("ann", until="2020-01-31")
    run = repo.run()
    assert (run.code, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"passed": 2, "xfailed": 1})
    decision = run.results["decision"]
    assert (decision["word"], decision["red"]) == ("decide", True)
    assert decision["cause"] == "1 accepted failure expired on 2020-01-31; nothing in this change caused it"


def test_the_end_of_an_accepted_fault_is_told_thirty_days_before(repo) -> None:
    """Days before and after that are tried in tests/gates."""
    repo.accept("bob", until=(date.today() + timedelta(days=20)).isoformat())
    run = repo.run()
    assert run.code == pytest.ExitCode.OK
    [end] = run.results["ends"]
    assert (end["gate"], end["days"]) == ("self_bias", 20)
    assert end["until"] in run.text


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize(
    ("part", "clears"),
    [(["-k", "self_bias"], False), (["evals/test_fairness.py"], False), (["--judges", "ann"], True)],
    ids=["tests", "file", "judges"],
)
def test_a_part_of_the_suite_decides_nothing_and_leaves_the_whole_report_alone(repo, commit, part, clears) -> None:
    """Whom it clears had every question asked of it."""
    repo.accept("bob")
    commit(repo.root)
    before = repo.run()
    whole = {path: path.read_bytes() for path in sorted((repo / "reports").glob("*.*"))}
    assert (before.results["decision"]["word"], before.reports) == ("merge", repo / "reports")
    run = repo.run(*part)
    assert run.code == pytest.ExitCode.OK
    assert run.reports == repo / "reports" / "partial"
    assert {path: path.read_bytes() for path in sorted((repo / "reports").glob("*.*"))} == whole
    decision = run.results["decision"]
    assert (decision["word"], decision["next"]) == ("no decision", "run all of evals/")
    assert "merge" not in run.results["headline"]
    assert ("cleared" in {one["word"] for one in decision["judges"]}) is clears


def test_a_panel_that_is_not_configured_is_added_before_all_of_the_evals_run(repo) -> None:
    """Else the next run would leave it out."""
    repo.accept("bob")
    run = repo.run("--panel", "fixtures/panels/mini.toml", "-o", "recuse_panels=fixtures/panels/x.toml")
    decision = run.results["decision"]
    assert (decision["word"], decision["cause"]) == ("no decision", "only mini of 2 panels examined")
    assert decision["next"] == "add fixtures/panels/mini.toml to recuse_panels, then run all of evals/"
    by_short_name = repo.run("--panel", "mini", "-o", "recuse_panels=mini x").results["decision"]
    assert by_short_name["next"] == "run all of evals/"


def test_a_gate_that_the_file_does_not_have_any_more_passes_nobody(repo) -> None:
    """Renamed in the gates file and not in the eval, it would be in force nowhere."""
    repo.accept("bob")
    repo.edit("evals/gates.toml", "[parse_rate]", "[parse_share]")
    run = repo.run()
    assert run.outcomes == {"failed": 1, "passed": 1, "xfailed": 1}
    assert "there is no gate parse_rate in " in run.text
    assert run.results["decision"]["word"] == "no decision"


def test_a_gate_that_decides_nothing_is_an_objection_of_a_whole_run(repo) -> None:
    repo.accept("bob")
    repo.edit("evals/gates.toml", "[parse_rate]", '[idle]\nat_most = 1.0\nreason = "x"\n\n[parse_rate]')
    run = repo.run()
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "idle" in run.results["objections"][0]
    assert repo.run("-k", "self_bias").code == pytest.ExitCode.OK


def test_an_undecided_gate_fails_unless_it_allows_that(repo) -> None:
    repo.accept("bob")
    repo.edit("evals/gates.toml", "within = [-0.5, 0.5]", "within = [-0.1, 0.1]")
    run = repo.run("-k", "self_bias", "--judges", "ann")
    assert run.outcomes["failed"] == 1
    assert "self_bias: UNDECIDED for" in run.text
    assert run.results["outcome"] == "undecided"
    allow = 'undecided = "allow"\nbecause = "for the test"\nuntil = 2999-12-31'
    repo.edit("evals/gates.toml", "within = [-0.1, 0.1]", f"within = [-0.1, 0.1]\n{allow}")
    run = repo.run("-k", "self_bias", "--judges", "ann")
    assert (run.code, run.outcomes["passed"]) == (pytest.ExitCode.OK, 1)
    assert run.results["outcome"] == "pass"
    assert {(v["outcome"], v["allowed"]) for v in run.results["verdicts"]} == {("undecided", True)}


def test_what_cannot_be_measured_fails(repo) -> None:
    repo.write(ALONE, HEAD + """
    @pytest.mark.asks("authors")
    def test_it(ratings, gate):
        from dataclasses import replace
        alone = replace(ratings, table=ratings.table[ratings.table["rater"] == "ann"], _memory={})
        assert gate("self_bias", consensus.self_bias(alone))
    """)  # fmt: skip
    run = repo.run(ALONE)
    assert run.outcomes == {"failed": 1}
    assert "self_bias: NOT MEASURED for task = essays, panel = mini, protocol = rubric, judge = ann" in run.text
    assert "no consensus: one judge" in run.text
    assert run.results["outcome"] == "not measured"


def test_a_gate_whose_answer_is_not_asserted_is_an_error_that_says_so(repo) -> None:
    repo.write(ALONE, HEAD + """
    @pytest.mark.asks("authors")
    def test_quietly(ratings, gate):
        gate("self_bias", consensus.self_bias(ratings))

    def test_quietly_though_it_passes(ratings, gate):
        from recuse.metrics.coverage import parse_rate
        gate("parse_rate", parse_rate(ratings))
    """)  # fmt: skip
    run = repo.run(ALONE)
    assert run.outcomes == {"failed": 2}
    assert run.text.count("write `assert gate(...)`") >= 2
    assert "self_bias: FAIL for" in run.text
    assert run.results["outcome"] == "not measured"


def test_another_assertions_message_is_never_lost(repo) -> None:
    repo.write(ALONE, HEAD + """
    from recuse.metrics.coverage import parse_rate

    def test_after_a_pass(ratings, gate):
        assert gate("parse_rate", parse_rate(ratings))
        assert 1 + 1 == 3, "of its own"

    @pytest.mark.asks("authors")
    def test_after_a_failure_that_was_looked_at(ratings, gate):
        fair = gate("self_bias", consensus.self_bias(ratings))
        told = "fair" if fair else "unfair"
        assert told == "fair", "in words of its own"
    """)  # fmt: skip
    run = repo.run(ALONE)
    assert run.outcomes == {"failed": 2}
    assert "of its own" in run.text
    assert "in words of its own" in run.text
    assert "self_bias: FAIL for" in run.text
    names = ("test_after_a_pass", "test_after_a_failure_that_was_looked_at")
    assert {u["test"] for u in run.results["unmeasured"]} == {f"{ALONE}::{name}[mini/essays/rubric]" for name in names}


MISTAKES = {
    'assert gate("self_bais", consensus.self_bias(ratings))': "there is no gate self_bais in ",
    'assert gate("self_bias", 0.3)': "a measure gives an Estimate or Estimates; this one gave float",
    "ratings.with_criterion('beauty')": "no ratings of criterion beauty; there are clarity, depth, total",
    "ratings.cells()": "cells hold one combination of factor levels; names still vary",
}


def test_a_mistake_in_an_eval_is_told_without_a_traceback(repo) -> None:
    tests = (f"    def test_{number}(ratings, gate):\n        {code}\n" for number, code in enumerate(MISTAKES))
    repo.write(ALONE, HEAD + "\n".join(tests))
    run = repo.run(ALONE)
    assert (run.code, run.outcomes) == (pytest.ExitCode.TESTS_FAILED, {"failed": len(MISTAKES)})
    for said in MISTAKES.values():
        assert said in run.text
    assert not TRACE.search(run.text)
    places = [f"{ALONE}::test_{n}[mini/essays/rubric]" for n in range(len(MISTAKES))]
    assert [u["test"] for u in run.results["unmeasured"]] == places
    assert run.results["outcome"] == "not measured"


@pytest.mark.slow("whole runs")
def test_results_are_the_same_whatever_the_order_and_the_number_of_processes(repo) -> None:
    """Once more for this repo's own evals in .ci/run; here with failures and accepted failures among them."""
    repo.accept("ann")
    repo.write("conftest.py", """
        def pytest_addoption(parser):
            parser.addoption("--backwards", action="store_true")

        def pytest_collection_modifyitems(config, items):
            if config.getoption("--backwards"):
                items.reverse()
        """)  # fmt: skip
    written = []
    for options in ([], ["--backwards"], ["-n", "2"]):
        run = repo.run(*options)
        assert run.outcomes["failed"] == 1, run.text
        reports = {
            name: (repo / "reports" / name).read_bytes() for name in ("results.json", "index.html", "summary.md")
        }
        written.append(reports)
        for name in reports:
            (repo / "reports" / name).unlink()
    assert written[0] == written[1]
    assert written[0] == written[2]
    results = json.loads(written[0]["results.json"])
    assert results["usage"], "what workers replayed is in the results, too"
    assert str(repo.root) not in written[0]["results.json"].decode(), "no machine's path"

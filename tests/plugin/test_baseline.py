"""--update-baseline and --baseline: what moved is shown, what changed its outcome turns the run red."""

from __future__ import annotations

import json

import pytest

pytest_plugins = ["pytester"]

BASELINE = "reports/baseline.json"


@pytest.fixture
def settled(repo):
    """Green, with a baseline of that."""
    repo.accept("bob")
    run = repo.run("--update-baseline")
    assert run.code == pytest.ExitCode.OK, run.text
    return repo


def test_nothing_moves_against_a_baseline_of_the_same_run(settled) -> None:
    run = settled.run("--baseline")
    assert run.code == pytest.ExitCode.OK, run.text
    compared = run.results["baseline"]
    assert (compared["path"], compared["moved"], compared["appeared"], compared["vanished"]) == (BASELINE, [], [], [])
    assert "Nothing moved against reports/baseline.json" in compared["summary"]


def test_a_changed_outcome_turns_a_strict_comparison_red(settled) -> None:
    settled.edit("evals/gates.toml", "within = [-0.5, 0.5]", "within = [-0.6, 0.6]")
    settled.edit("evals/gates.toml", "accept = { within = [-0.5, 2.5] }", "accept = { within = [-0.6, 2.5] }")
    lenient = settled.run()
    assert lenient.code == pytest.ExitCode.OK, "a limit that moved is shown, and by itself fails nothing"
    assert {m["field"] for m in lenient.results["baseline"]["moved"]} == {"limit.within.0", "limit.within.1"}

    gates = (settled / "evals/gates.toml").read_text(encoding="utf-8")
    settled.write("evals/gates.toml", gates[: gates.index("[[accepted]]")])
    run = settled.run("--baseline", "-k", "self_bias and bob and attributed")
    assert run.code == pytest.ExitCode.TESTS_FAILED
    subject = "condition = attributed, judge = bob, panel = mini, task = essays"
    said = f"self_bias ({subject}): accepted in the baseline, fail now"
    assert f"{BASELINE}: {said}" in run.text
    assert run.results["baseline"]["vanished"] == [], "part of the evals cannot miss anything"


def test_a_lost_verdict_turns_a_strict_comparison_red(settled) -> None:
    evals = (settled / "evals/test_fairness.py").read_text(encoding="utf-8")
    settled.write("evals/test_fairness.py", evals.replace("def test_parse_rate", "def no_test_parse_rate"))
    settled.edit("evals/gates.toml", "[parse_rate]", "[other]")
    settled.edit(
        "evals/gates.toml", '[other]\nat_least = 0.9\ndecide = "point"\nreason = "nine in ten, for the test"\n', ""
    )
    assert settled.run().code == pytest.ExitCode.OK
    run = settled.run("--baseline")
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "not decided any more" in run.text


def test_part_of_a_run_does_not_become_the_baseline(settled) -> None:
    before = (settled / BASELINE).read_bytes()
    for part in (["-k", "self_bias"], ["--judges", "ann,bob"], ["evals/test_fairness.py"]):
        run = settled.run("--update-baseline", *part)
        assert run.code == pytest.ExitCode.TESTS_FAILED
        assert "--update-baseline: the baseline stays as it was, because this run was not complete" in run.text
    assert (settled / BASELINE).read_bytes() == before


def test_neither_does_a_run_in_which_something_could_not_be_measured(settled) -> None:
    before = (settled / BASELINE).read_bytes()
    settled.cassette("eve~beta~attributed").unlink()
    assert "the baseline stays as it was" in settled.run("--update-baseline").text
    assert (settled / BASELINE).read_bytes() == before


def test_a_baseline_elsewhere(settled) -> None:
    (settled / BASELINE).rename(settled / "before-the-upgrade.json")
    run = settled.run("--baseline", "before-the-upgrade.json")
    assert (run.code, run.results["baseline"]["path"]) == (pytest.ExitCode.OK, "before-the-upgrade.json")
    missing = settled.run("--baseline")
    assert missing.code == pytest.ExitCode.TESTS_FAILED
    assert "there is no baseline reports/baseline.json; write one with --update-baseline" in missing.text


def test_without_a_baseline_nothing_is_compared(repo) -> None:
    repo.accept("bob")
    run = repo.run()
    assert (run.code, run.results["baseline"]) == (pytest.ExitCode.OK, None)


def test_a_baseline_holds_figures_and_no_words(settled) -> None:
    entries = json.loads((settled / BASELINE).read_text(encoding="utf-8"))["entries"]
    assert len(entries) == 9
    assert "So it is." not in json.dumps(entries)

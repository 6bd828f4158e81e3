"""--update-baseline and --baseline: what moved is shown, what changed its outcome turns the run red."""

from __future__ import annotations

import json
import shutil

import pytest

pytest_plugins = ["pytester"]

BASELINE = "reports/baseline.json"


@pytest.fixture(scope="module")
def kept_reports(tmp_path_factory):
    return tmp_path_factory.mktemp("settled") / "reports"


@pytest.fixture
def settled(repo, kept_reports):
    """Green, with a baseline of that, which the first test that asks for it makes."""
    repo.accept("bob")
    if not kept_reports.exists():
        run = repo.run("--update-baseline")
        assert run.code == pytest.ExitCode.OK, run.text
        shutil.copytree(repo / "reports", kept_reports)
    shutil.copytree(kept_reports, repo / "reports", dirs_exist_ok=True)
    return repo


def test_nothing_changes_against_a_baseline_of_the_same_run(settled) -> None:
    run = settled.run("--baseline")
    assert run.code == pytest.ExitCode.OK, run.text
    compared = run.results["baseline"]
    assert compared["path"] == BASELINE
    assert not any(
        compared[name] for name in ("named", "outcomes", "limits", "removed", "moved", "appeared", "vanished")
    )
    assert "Nothing changed against reports/baseline.json" in compared["summary"]


def test_a_loosened_limit_is_told_everywhere_and_turns_a_strict_comparison_red(settled) -> None:
    settled.edit("evals/gates.toml", "within = [-0.5, 0.5]", "within = [-2.5, 2.5]")
    gates = (settled / "evals/gates.toml").read_text(encoding="utf-8")
    settled.write("evals/gates.toml", gates[: gates.index("[[accepted]]")])
    said = (
        "self_bias limit widened: within [-0.5, +0.5] -> within [-2.5, +2.5]; "
        "without that bob needs an accepted failure"
    )
    lenient = settled.run("-v")
    assert lenient.code == pytest.ExitCode.OK
    assert said in lenient.results["baseline"]["summary"]
    assert said in lenient.words
    for report in ("reports/summary.md", "reports/index.html"):
        assert "self_bias limit widened" in (settled / report).read_text(encoding="utf-8").replace("\\_", "_")
    cause = "limit of self bias widened; without that bob needs an accepted failure"
    strict = settled.run("--baseline", "-v")
    for run in (lenient, strict):
        assert (run.results["decision"]["word"], run.results["decision"]["cause"]) == ("decide", cause)
        assert run.results["headline"].startswith(f"This change: decide: {cause}. ")
    assert strict.code == pytest.ExitCode.TESTS_FAILED
    assert said in strict.words
    assert "fault of the run itself" not in strict.text
    assert any("accepted failure" in line and "removed" in line for line in strict.results["objections"])


def test_changed_limits_become_the_baseline_for_a_reason_only(settled) -> None:
    before = (settled / BASELINE).read_bytes()
    settled.edit("evals/gates.toml", "within = [-0.5, 0.5]", "within = [-0.6, 0.6]")
    settled.edit("evals/gates.toml", "accept = { within = [-0.5, 2.5] }", "accept = { within = [-0.6, 2.5] }")
    refused = settled.run("--update-baseline")
    assert refused.code == pytest.ExitCode.TESTS_FAILED
    assert "the baseline stays as it was, because a reason is needed: self_bias limit widened" in refused.words
    assert (settled / BASELINE).read_bytes() == before
    assert settled.run("--update-baseline", "--because", "half a point was too strict").code == pytest.ExitCode.OK
    kept = json.loads((settled / BASELINE).read_text(encoding="utf-8"))["because"]
    assert kept["reason"] == "half a point was too strict"
    assert any("self_bias limit widened" in covered for covered in kept["covers"])
    assert settled.run("--baseline").code == pytest.ExitCode.OK


def test_a_red_run_becomes_the_baseline_for_a_reason_only(repo) -> None:
    refused = repo.run("--update-baseline")
    assert refused.code == pytest.ExitCode.TESTS_FAILED
    assert "because a reason is needed: self_bias: fail for" in refused.words
    assert not (repo / BASELINE).exists()
    assert repo.run("--update-baseline", "--because", "bob is to be replaced").code == pytest.ExitCode.TESTS_FAILED
    assert (repo / BASELINE).exists()


def test_a_reason_without_a_new_baseline_is_a_mistake(settled) -> None:
    assert "--because says why a baseline is written anew; give it with --update-baseline" in (
        settled.run("--because", "x").words
    )


def test_a_baseline_of_an_earlier_edition_is_told_and_the_report_is_written(settled) -> None:
    (settled / BASELINE).write_text('{"schema": 1, "entries": []}', encoding="utf-8")
    run = settled.run()
    assert run.code == pytest.ExitCode.TESTS_FAILED
    assert "the baseline reports/baseline.json was written by an earlier Recuse (schema 1)" in run.words
    assert run.results["baseline"] is None
    assert settled.run("--update-baseline").code == pytest.ExitCode.OK


def test_a_lost_verdict_turns_a_strict_comparison_red(settled) -> None:
    evals = (settled / "evals/test_fairness.py").read_text(encoding="utf-8")
    settled.write("evals/test_fairness.py", evals.replace("def test_parse_rate", "def no_test_parse_rate"))
    settled.edit("evals/gates.toml", "[parse_rate]", "[other]")
    settled.edit(
        "evals/gates.toml", '[other]\nat_least = 0.9\ndecide = "point"\nreason = "nine in ten, for the test"\n', ""
    )
    lenient = settled.run()
    assert lenient.results["decision"]["word"] == "decide"
    words = {one["judge"]: (one["word"], one["cause"]) for one in lenient.results["decision"]["judges"]}
    assert words["eve"] == ("undecided", "no gate was asked of it"), "she wrote nothing, so no other gate is about her"
    assert lenient.code == pytest.ExitCode.TESTS_FAILED
    run = settled.run("--baseline", "-v")
    assert run.code == pytest.ExitCode.TESTS_FAILED
    for said in ("not decided any more", "the test evals/test_fairness.py::test_parse_rate is gone",
                 "parse_rate removed: at least 0.9"):  # fmt: skip
        assert said in run.words


def test_part_of_a_run_does_not_become_the_baseline(settled) -> None:
    before = (settled / BASELINE).read_bytes()
    for part in (["-k", "self_bias"], ["--judges", "ann,bob"], ["evals/test_fairness.py"]):
        run = settled.run("--update-baseline", *part)
        assert run.code == pytest.ExitCode.TESTS_FAILED
        assert "--update-baseline: the baseline stays as it was, because this run was not complete" in run.words
    assert (settled / BASELINE).read_bytes() == before


def test_ratings_that_are_no_panel_of_the_repository_are_a_part_of_the_suite(settled) -> None:
    before = {path: path.read_bytes() for path in sorted((settled / "reports").glob("*.*"))}
    settled.write("ours.csv", "item,judge_a,anna\n" + "".join(f"t{k},{k % 5},{k % 5}\n" for k in range(20)))
    run = settled.run("--ratings", "ours.csv", "--update-baseline")
    assert run.results["decision"]["cause"] == "only ours of 2 panels examined"
    assert "the baseline stays as it was" in run.words
    assert {path: path.read_bytes() for path in sorted((settled / "reports").glob("*.*"))} == before


def test_neither_does_a_run_in_which_something_could_not_be_measured(settled) -> None:
    before = (settled / BASELINE).read_bytes()
    settled.cassette("eve~beta~attributed").unlink()
    assert "the baseline stays as it was" in settled.run("--update-baseline").words
    assert (settled / BASELINE).read_bytes() == before


def test_a_baseline_elsewhere(settled) -> None:
    (settled / BASELINE).rename(settled / "before-the-upgrade.json")
    run = settled.run("--baseline", "before-the-upgrade.json")
    assert (run.code, run.results["baseline"]["path"]) == (pytest.ExitCode.OK, "before-the-upgrade.json")
    missing = settled.run("--baseline")
    assert missing.code == pytest.ExitCode.TESTS_FAILED
    assert "there is no baseline reports/baseline.json; write one with --update-baseline" in missing.words


def test_without_a_baseline_nothing_is_compared(repo) -> None:
    repo.accept("bob")
    run = repo.run()
    assert (run.code, run.results["baseline"]) == (pytest.ExitCode.OK, None)


def test_a_baseline_holds_figures_and_no_words(settled) -> None:
    entries = json.loads((settled / BASELINE).read_text(encoding="utf-8"))["entries"]
    assert len(entries) == 9
    assert "So it is." not in json.dumps(entries)


def test_a_run_that_is_broken_off_is_a_part_and_overwrites_nothing_of_a_whole_one(settled) -> None:
    """By `pytest.exit`, which pytest tells plugins as it tells them Ctrl-C."""
    whole = {name: (settled / name).read_bytes() for name in (BASELINE, "reports/results.json")}
    settled.write("evals/test_z.py", "import pytest\n\n\ndef test_last():\n    pytest.exit('enough', 0)\n")
    run = settled.run("--update-baseline", "--because", "it was stopped")
    assert (run.results["decision"]["word"], run.reports.name) == ("no decision", "partial")
    assert "the run was stopped before its end" in run.words
    assert whole == {name: (settled / name).read_bytes() for name in whole}

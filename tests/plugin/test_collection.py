"""Which tests run for which panels and judges, and what a wrong mark or option says: one message, no traceback."""

from __future__ import annotations

import pytest

from recuse.panels import UNLOCK

pytest_plugins = ["pytester"]

ALONE = "evals/test_alone.py"


def collected(repo, *options: str) -> list[str]:
    run = repo.run("--collect-only", "-q", *options)
    return [line for line in run.text.splitlines() if "::" in line]


def test_a_test_runs_for_every_panel_task_and_protocol_that_offers_what_it_asks(repo) -> None:
    panel = (repo / "fixtures/panels/mini.toml").read_text(encoding="utf-8")
    repo.write(
        "fixtures/panels/other.toml", panel.replace('name = "mini"', 'name = "other"').replace("author", "# author")
    )
    repo.write(ALONE, """
        import pytest

        @pytest.mark.asks("scores")
        class TestAll:
            def test_scores(self, ratings): ...
            @pytest.mark.asks("authors")
            def test_authors(self, ratings): ...
            def test_nothing_of_judges(self): ...

        def test_unmarked(): ...
        """)  # fmt: skip
    assert collected(repo, ALONE, "--panel", "mini", "--panel", "fixtures/panels/other.toml") == [
        f"{ALONE}::TestAll::test_scores[mini/essays/rubric]",
        f"{ALONE}::TestAll::test_scores[other/essays/rubric]",
        f"{ALONE}::TestAll::test_authors[mini/essays/rubric]",
        f"{ALONE}::TestAll::test_nothing_of_judges",
        f"{ALONE}::test_unmarked",
    ]


def test_what_nobody_offers_is_skipped_and_listed_with_what_would_unlock_it(repo) -> None:
    repo.write("evals/test_people.py", """
        \"""Do people agree?\"""
        import pytest
        pytestmark = pytest.mark.asks("scores", "people")

        def test_people(ratings): ...

        @pytest.mark.asks("items")
        def test_new_items(ratings): ...

        @pytest.mark.asks("choices")
        def test_choices(ratings): ...
        """)  # fmt: skip
    run = repo.run("-rs")
    assert run.outcomes["skipped"] == 3
    assert "no selected panel offers scores, people" in run.text
    listed = {tuple(row["missing"]): row for row in run.results["not_asked"]}
    assert {tuple(sorted(missing)) for missing in listed} == {("people",), ("items", "people"), ("choices",)}
    assert listed["people",]["unlock"] == ["add ratings by people (task.toml, [people])"]
    assert listed["people",]["panel"] == "mini"
    assert listed["people",]["title"] == "Do people agree?"


def test_what_the_source_of_a_panel_does_not_fix_is_not_asked_of_it(repo) -> None:
    """The nearest mark says what a test rests on, pairs where none does; the panel's source fixes cells."""
    repo.edit("fixtures/panels/mini.toml", "[stand_in]", 'source_fixes = "cells"\n\n[stand_in]')
    repo.write("evals/test_fairness.py", """
        \"""Is it fair?\"""
        import pytest
        pytestmark = pytest.mark.asks("scores")

        @pytest.mark.asks(rests_on="margins")
        def test_margins(ratings): ...

        @pytest.mark.asks(rests_on="cells")
        def test_cells(ratings): ...

        def test_pairs(ratings): ...

        @pytest.mark.asks("people", rests_on="cells")
        def test_people(ratings): ...
        """)  # fmt: skip
    run = repo.run("-rs", "--record=missing")
    assert (run.outcomes["passed"], run.outcomes["skipped"]) == (2, 2)
    rows = {row["tests"][0].rpartition("::")[2]: row for row in run.results["not_asked"]}
    assert {name: (row["missing"], row["unfixed"]) for name, row in rows.items()} == {
        "test_pairs": (["pairs"], ["pairs"]), "test_people": (["people"], []),
    }  # fmt: skip
    assert rows["test_pairs"]["unlock"] == [UNLOCK["pairs"]]


def test_naming_task_and_protocol_stays_possible(repo) -> None:
    repo.write(ALONE, """
        import pytest

        @pytest.mark.asks("scores", task="essays", protocol="rubric")
        def test_here(ratings): ...

        @pytest.mark.asks(protocol="rubric")
        def test_whatever_it_offers(ratings): ...

        @pytest.mark.asks("scores", protocol="grading")
        def test_elsewhere(ratings): ...
        """)  # fmt: skip
    assert collected(repo, ALONE) == [
        f"{ALONE}::test_here[mini/essays/rubric]",
        f"{ALONE}::test_whatever_it_offers[mini/essays/rubric]",
        f"{ALONE}::test_elsewhere[nobody]",
    ]


def test_asking_judges_without_a_mark_is_told(repo) -> None:
    repo.write(ALONE, "def test_it(ratings): ...\n\ndef test_task(task): ...\n")
    run = repo.run(ALONE)
    assert run.outcomes == {"errors": 2}
    for name in ("test_it", "test_task"):
        assert f'{ALONE}::{name}: what asks about judges must be marked, as @pytest.mark.asks("scores")' in run.text
    assert "Traceback" not in run.text


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ('("scores", panel="mini")', f"{ALONE}::test_it: mark it @pytest.mark.asks("),
        ("(3)", "got (3)"),
        ('("scores", task="poems")', "unknown task 'poems': there is no folder "),
        ('("scores", protocol="rubrik")', "unknown protocol 'rubrik'; known: "),
        ('("scores", rests_on="means")', "test_it: rests_on is one of margins, cells, pairs; got 'means'"),
        ('("scroes")', f"{ALONE}::test_it: nothing offers 'scroes'; known: "),
    ],
)  # fmt: skip
def test_a_wrong_mark_is_a_usage_error_told_once(repo, mark: str, said: str) -> None:
    repo.write(ALONE, f"""
        import pytest
        pytestmark = pytest.mark.asks{mark}
        def test_it(ratings): ...
        def test_it_again(ratings): ...
        """)  # fmt: skip
    usage_error(repo.run(ALONE), said)


def usage_error(run, said: str) -> None:
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert run.text.count(said) == 1, run.text
    assert "ERROR: " in run.text
    assert "Traceback" not in run.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--panel", "nonesuch"], "fixtures/panels/nonesuch.toml: no such file; "),
        (["--panel", "fixtures/nonesuch.toml"], "fixtures/nonesuch.toml: no such file"),
        (["--panel", "mini", "--panel", "fixtures/panels/mini.toml"], "two of the selected panels have the same name"),
        (["--judges", "ann,mallory"], "--judges: unknown judge mallory; the selected panels have ann, bob, eve"),
    ],
)
def test_a_wrong_option_is_a_usage_error_told_once(repo, options: list[str], said: str) -> None:
    usage_error(repo.run(*options), said)


def test_without_any_panel_it_says_how_to_name_one(repo) -> None:
    repo.edit("pyproject.toml", 'recuse_panels = ["fixtures/panels/mini.toml"]\n', "")
    usage_error(repo.run(), "no panel to examine: give --panel fixtures/panels/<name>.toml, or set recuse_panels")


@pytest.mark.slow("whole runs")
def test_several_processes_tell_a_mistake_once_too(repo) -> None:
    run = repo.run("-n", "2", "--judges", "mallory")
    assert run.code != pytest.ExitCode.OK
    assert run.text.count("unknown judge mallory; the selected panels have ann, bob, eve") == 1
    assert "Traceback" not in run.text


@pytest.mark.slow("whole runs")
def test_recording_in_several_processes_fails_only_what_would_record(repo) -> None:
    """Everything is on disk: --record has nothing to ask, whatever -n is. One cassette less, and its test says so."""
    assert repo.run("-n", "2", "--record=missing", "-k", "parse_rate").outcomes == {"passed": 1}
    repo.cassette("ann~alpha~attributed").unlink()
    run = repo.run("-n", "2", "--record=missing", "-k", "parse_rate")
    assert run.outcomes == {"errors": 1}
    assert "leave out -n for the 4 calls that are missing here" in run.text


OTHERS = """
    def pytest_addoption(parser):
        parser.addoption("--judges", action="store_true", help="of somebody else")
        parser.addoption("--baseline", default="theirs")
"""


def test_options_that_another_plugin_owns_stay_its_own_and_ours_have_a_prefix(repo) -> None:
    repo.write(
        "conftest.py",
        OTHERS
        + """
    def pytest_report_header(config):
        return f"theirs: {config.getoption('--judges')} {config.getoption('--baseline')}"
    """,
    )
    run = repo.run("--judges", "--recuse-judges", "ann", "-k", "parse_rate")
    assert "theirs: True theirs" in run.text
    assert run.outcomes["passed"] == 1
    assert {v["subject"]["judge"] for v in run.results["verdicts"]} == {"ann"}


def test_help_and_fixtures_show_all_there_is(pytester: pytest.Pytester) -> None:
    help_text = str(pytester.runpytest_inprocess("--help").stdout)
    for name in ("panel", "judges", "record", "yes", "models", "baseline", "update-baseline"):
        assert f"--recuse-{name}" in help_text
    assert "in a suite every --recuse-NAME may be written --NAME" in " ".join(help_text.split())
    shown = str(pytester.runpytest_inprocess("--fixtures").stdout)
    for name in ("ratings", "gate", "measure", "task", "elicitation", "suite"):
        assert f"\nrecuse_{name}" in shown, name


def test_tests_that_ask_no_judge_keep_their_tracebacks(repo) -> None:
    repo.write("evals/test_alone.py", """
        from recuse.schema import RecuseError

        def test_it():
            raise RecuseError("of somebody else's making")
        """)  # fmt: skip
    run = repo.run("evals/test_alone.py")
    assert run.outcomes == {"failed": 1}
    assert "test_alone.py:4: RecuseError" in run.text
    assert not (repo / "reports").exists()


def test_a_repo_without_evals_is_left_alone(pytester: pytest.Pytester) -> None:
    """No panel, no gates, no report: recuse is merely installed."""
    pytester.makepyfile(test_ordinary="def test_it(): pass")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.OK
    assert not (pytester.path / "reports").exists()
    assert "recuse:" not in str(result.stdout)

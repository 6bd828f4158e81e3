"""Which tests run for which panels and judges, and what a wrong mark or option says: one message, no traceback."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

ALONE = "evals/test_alone.py"


def collected(repo, *options: str) -> list[str]:
    run = repo.run("--collect-only", "-q", *options)
    return [line for line in run.text.splitlines() if "::" in line]


def test_a_test_runs_per_panel_and_judge_or_author_that_it_names(repo) -> None:
    panel = (repo / "fixtures/panels/mini.toml").read_text(encoding="utf-8")
    repo.write("fixtures/panels/other.toml", panel.replace('name = "mini"', 'name = "other"'))
    repo.write(ALONE, """
        import pytest

        @pytest.mark.elicits(task="essays", protocol="rubric")
        class TestAll:
            def test_panels(self, ratings): ...
            def test_judges(self, judge, ratings): ...
            def test_authors(self, author, ratings): ...
            def test_nothing_of_judges(self): ...

        def test_unmarked(): ...
        """)  # fmt: skip
    both = ["--panel", "mini", "--panel", "fixtures/panels/other.toml"]
    assert collected(repo, ALONE, *both, "--judges", "bob, eve") == [
        f"{ALONE}::TestAll::test_panels[mini]",
        f"{ALONE}::TestAll::test_panels[other]",
        *(f"{ALONE}::TestAll::test_judges[{panel}-{judge}]" for panel in ("mini", "other") for judge in ("bob", "eve")),
        f"{ALONE}::TestAll::test_authors[mini-bob]",
        f"{ALONE}::TestAll::test_authors[other-bob]",
        f"{ALONE}::TestAll::test_nothing_of_judges",
        f"{ALONE}::test_unmarked",
    ]


def test_a_marks_parts_come_from_the_nearest_mark_that_has_them(repo) -> None:
    repo.write(ALONE, """
        import pytest
        pytestmark = pytest.mark.elicits(task="essays", protocol="rubric")

        @pytest.mark.elicits(protocol="generation")
        def test_nobody_generates(judge, ratings): ...

        @pytest.mark.elicits(protocol="generation")
        def test_nor_any_author(author, ratings): ...
        """)  # fmt: skip
    run = repo.run(ALONE, "-rs")
    assert run.outcomes == {"skipped": 2}
    assert "no selected panel has essays/generation" in run.text
    assert "no selected panel has essays/generation with an author among its judges" in run.text


def test_asking_judges_without_a_mark_is_told(repo) -> None:
    repo.write(ALONE, "def test_it(ratings): ...\n\ndef test_task(task): ...\n")
    run = repo.run(ALONE)
    assert run.outcomes == {"errors": 2}
    for name in ("test_it", "test_task"):
        assert (
            f"{ALONE}::{name}: what asks judges must be marked @pytest.mark.elicits(task=..., protocol=...)" in run.text
        )
    assert "Traceback" not in run.text


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ('(task="essays")', f"{ALONE}::test_it: mark it @pytest.mark.elicits("),
        ('("essays", "rubric")', "got ('essays', 'rubric')"),
        ('(task="essays", protocol="rubric", panel="mini")', "got (task='essays', protocol='rubric', panel='mini')"),
        ('(task="poems", protocol="rubric")', "unknown task 'poems': there is no folder "),
        ('(task="essays", protocol="rubrik")', "unknown protocol 'rubrik'; known: "),
    ],
)  # fmt: skip
def test_a_wrong_mark_is_a_usage_error_told_once(repo, mark: str, said: str) -> None:
    repo.write(ALONE, f"""
        import pytest
        pytestmark = pytest.mark.elicits{mark}
        def test_it(ratings): ...
        def test_it_again(judge, ratings): ...
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


def test_several_processes_tell_a_mistake_once_too(repo) -> None:
    run = repo.run_apart("-n", "2", "--record=missing")
    assert run.code != pytest.ExitCode.OK
    assert run.text.count("recording runs in one process (it is concurrent inside): leave out -n with --record") == 1
    assert "Traceback" not in run.text


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

"""Bad input, item by item: one clear message that names the place and the remedy, and nothing recorded is lost."""

from __future__ import annotations

import json
import re

import pytest

pytest_plugins = ["pytester"]

PANEL = "fixtures/panels/mini.toml"
STANDINS = "fixtures/standins/essays/rubric.jsonl"


def red(run, *said: str, code: int = pytest.ExitCode.TESTS_FAILED) -> None:
    """The run is red, says all this, and shows no traceback."""
    assert run.code == code, run.text
    for part in said:
        assert part in run.text or part in run.words, f"{part!r} is not in\n{run.text}"
    assert "Traceback" not in run.text


def rewrite(repo, judge: str, change) -> None:
    """Change what a stand-in says: `change` takes text, target, condition and repeat and gives a text."""
    path = repo / STANDINS
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["judge"] == judge:
            row["text"] = change(row["text"], row["target"], row["factors"]["condition"], row["repeat"])
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


# --------------------------------------------------------------------------- files that name things


def test_an_unknown_judge(repo) -> None:
    red(repo.run("--judges", "mallory"), "--judges: unknown judge mallory", "have ann, bob, eve", code=4)


def test_an_unknown_task(repo) -> None:
    repo.edit(PANEL, 'name = "essays"', 'name = "esays"')
    red(repo.run(), "unknown task 'esays': there is no folder ", "fixtures/tasks/esays; known: essays", code=4)


def test_an_unknown_author(repo) -> None:
    repo.edit(PANEL, 'author = "beta"', 'author = "betta"')
    red(repo.run(), "mini.toml: judge bob: author 'betta' is no target of its tasks; known: alpha, beta", code=4)


def test_malformed_toml(repo) -> None:
    repo.edit(PANEL, "[stand_in]", "[stand_in")
    red(repo.run(), f"{PANEL}: not valid TOML: ", "(at line 6, column 10)", code=4)


def test_a_limit_file_with_an_unknown_gate(repo) -> None:
    repo.accept("bob")
    repo.edit("evals/gates.toml", 'gate = "self_bias"', 'gate = "self_bais"')
    run = repo.run()
    said = "line 11, accepted[0].gate: there is no gate self_bais in this file. Did you mean self_bias?"
    red(run, "evals/gates.toml: 1 fault(s)", said, code=4)


def test_a_limit_file_that_is_missing(repo) -> None:
    (repo / "evals/gates.toml").unlink()
    red(repo.run(), "evals/gates.toml: no such file; a gates file holds every limit", code=4)


def test_an_expired_accepted_fault(repo) -> None:
    repo.accept("bob", until="2020-01-31")
    red(repo.run("-k", "self_bias"), "evals/gates.toml", "2020-01-31", "self_bias: FAIL for", "judge = bob")


# --------------------------------------------------------------------------- cassettes


def test_a_missing_cassette(repo) -> None:
    repo.cassette("bob~alpha~attributed").unlink()
    before = repo.cassettes
    run = repo.run()
    red(
        run,
        "mini/essays/rubric cannot be replayed: 4 answers are not recorded.",
        "44 of 48 planned calls are recorded",
        "judge bob, protocol rubric, item alpha, target alpha, condition attributed: repeats 0, 1, 2, 3",
        "Record: pytest evals/ --panel fixtures/panels/mini.toml --record=missing",
    )
    assert run.outcomes == {"errors": 3}
    assert run.text.count("44 of 48") == 1, "told in full once, not by each of nine tests"
    assert run.text.count("(told in full above)") >= 2
    assert repo.cassettes == before
    assert run.results["outcome"] == "not measured"
    [why] = {u["why"] for u in run.results["unmeasured"]}
    assert why == "mini/essays/rubric cannot be replayed: 4 answers are not recorded."
    decision = run.results["decision"]
    assert (decision["word"], {one["word"] for one in decision["judges"]}) == ("no decision", {"undecided"})
    assert decision["cause"].count("cannot be replayed") == 1, "one cause, told once"


def test_a_stale_cassette(repo) -> None:
    repo.edit("fixtures/tasks/essays/prompts/rubric.user.j2", "Score this essay", "Please score this essay")
    before = repo.cassettes
    run = repo.run("-k", "parse_rate")
    red(
        run,
        "stale: 12 cassettes",
        "mini/essays/rubric/ann~alpha~attributed",
        ": prompt was ",
        "Please",
        "--record=missing",
    )
    assert repo.cassettes == before


def test_a_changed_judge_is_stale_by_name(repo) -> None:
    repo.edit(PANEL, 'model = "eve-1"', 'model = "eve-2"')
    red(repo.run("-k", "parse_rate"), "stale: 4 cassettes", "model was 'eve-1', is 'eve-2'")


def test_a_changed_rubric_is_stale(repo) -> None:
    repo.edit("fixtures/tasks/essays/task.toml", '{ id = "clarity" }', '{ id = "clarity", anchors = ["new"] }')
    red(repo.run("-k", "parse_rate"), "stale: 12 cassettes", "rubric was ")


def test_a_cassette_damaged_in_the_middle(repo) -> None:
    path = repo.cassette("ann~beta~anonymized")
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:-5] + lines[2][-3:]
    path.write_bytes(b"\n".join(lines))
    before = repo.cassettes
    run = repo.run("-k", "parse_rate")
    red(run, "damaged: 1", f"{path.name}:3: the line does not match its checksum")
    assert repo.cassettes == before


@pytest.mark.filterwarnings("ignore::recuse.cassettes.plain_file.CassetteWarning")
def test_a_cassette_whose_last_line_was_torn_lacks_that_answer_only(repo) -> None:
    path = repo.cassette("ann~beta~anonymized")
    path.write_bytes(path.read_bytes()[:-20])
    run = repo.run("-k", "parse_rate")
    red(run, "47 of 48 planned calls are recorded", "target beta, condition anonymized: repeat ", "--record=missing")
    again = repo.run("-k", "parse_rate", "--record=missing")
    assert (again.code, "recorded 1 of 1 missing answers" in again.text) == (pytest.ExitCode.OK, True)


def test_an_empty_cassette(repo) -> None:
    repo.cassette("ann~beta~anonymized").write_bytes(b"")
    red(
        repo.run("-k", "parse_rate"),
        "the file is empty; restore it from version control, or delete it and record again",
    )


def test_an_incomplete_grid_costs_the_judge_it_belongs_to(repo) -> None:
    """All that Eve said of beta was unusable: Bob's own text is compared with what Ann said of it."""
    rewrite(repo, "eve", lambda text, target, *_: "No idea." if target == "beta" else text)
    repo.cassette("eve~beta~attributed").unlink()
    repo.cassette("eve~beta~anonymized").unlink()
    run = repo.run("--record=missing")
    red(run, "parse_rate: FAIL", "judge = eve")
    assert round(run.verdict("self_bias", judge="bob", names="shown")["estimate"]["value"], 6) == 2.0
    assert run.results["unmeasured"] == []


def test_duplicate_rows(repo) -> None:
    repo.write("evals/test_alone.py", """
        import pandas as pd
        import pytest
        from recuse.ratings import check_table
        pytestmark = pytest.mark.asks("scores")

        def test_twice(ratings):
            table = ratings.table
            check_table(pd.concat([table, table.head(2)], ignore_index=True), ("names",))
        """)  # fmt: skip
    run = repo.run("evals/test_alone.py")
    red(run, "ratings table is not usable:", "the same judgement appears more than once", "rows 0, 1, 144, 145")


# --------------------------------------------------------------------------- replies


REPLIES = {
    "not JSON": ("Seven, I would say.", "unparsed", "no JSON object in the reply"),
    "lacks a criterion": (json.dumps({"clarity": {"score": 7}, "total": 7}), "unparsed", "the reply lacks depth"),
    "out of scale": (
        json.dumps({"clarity": {"score": 11}, "depth": {"score": 7}, "total": 9}),
        "out_of_scale",
        "clarity is 11, outside 0..10",
    ),
    "a refusal": ("I'm sorry, but I cannot score this.", "refused", "I'm sorry, but I cannot score this."),
    "hostile": ("\x1b[2J\u202e\x00<script>alert(1)</script>\ud800", "unparsed", "no JSON object in the reply"),
}


def test_unusable_replies_are_counted_and_shown_and_gated_and_never_filled_in(repo) -> None:
    """Ann's first reply to alpha, and Eve's, are unusable in one way after the other, five in all."""
    kinds = list(REPLIES.values())

    def spoiled(text: str, target: str, condition: str, repeat: int) -> str:
        place = repeat if condition == "attributed" else 4 + repeat
        return kinds[place][0] if target == "alpha" and place < len(kinds) else text

    rewrite(repo, "eve", spoiled)
    for condition in ("attributed", "anonymized"):
        repo.cassette(f"eve~alpha~{condition}").unlink()
    run = repo.run("--record=missing", "-k", "parse_rate or scores")
    red(run, "parse_rate: FAIL for task = essays, panel = mini, protocol = rubric, judge = eve")
    found = run.verdict("parse_rate", judge="eve")
    assert found["estimate"]["value"] == 11 / 16
    assert found["estimate"]["detail"]["by_status"] == {"ok": 11, "unparsed": 3, "refused": 1, "out_of_scale": 1}
    shown = [(word["status"], word["why"]) for word in run.results["excerpts"] if word["judge"] == "eve"]
    assert ("unparsed", "no JSON object in the reply") in shown
    page = (run.reports / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    replayed = repo.run("-k", "parse_rate or scores")
    assert replayed.verdict("parse_rate", judge="eve") == found


# --------------------------------------------------------------------------- baseline and report


def test_a_test_path_is_not_taken_for_the_baseline(repo) -> None:
    run = repo.run("evals", "--baseline", "evals/test_fairness.py")
    assert run.code == 4
    assert "'evals/test_fairness.py' is no .json file; paths of tests go before --baseline" in run.text


def test_a_damaged_baseline(repo) -> None:
    repo.accept("bob")
    repo.write("reports/baseline.json", '{"schema": 1, "entries": [\n<<<<<<< HEAD\n')
    run = repo.run()
    red(run, "reports/baseline.json is not JSON (line 2, column 1", "look for conflict marks")


def test_a_template_of_the_repos_own_that_does_not_render(repo) -> None:
    repo.accept("bob")
    repo.write("reports/templates/index.html.j2", "{{ nothing.at.all }}")
    red(repo.run("-k", "parse_rate"), "reports/templates")


def unmeasured(repo, tests: dict[str, str]) -> dict[str, str]:
    """Test -> why it measured nothing, of a run of these beside the repository's own."""
    own = "".join(f"def test_{name}(ratings, measure):\n    {body}\n\n\n" for name, body in tests.items())
    repo.edit("evals/test_fairness.py", "def test_scores", f"{own}def test_scores")
    given = "import pytest\nfrom recuse.ext import Estimates, estimated\n"
    repo.edit("evals/test_fairness.py", "import pytest\n", given)
    return {re.findall(r"::test_(\w+)", one["test"])[0]: one["why"] for one in repo.run().results["unmeasured"]}


def test_a_test_that_changes_the_ratings_of_all_others_is_named(repo) -> None:
    """The next gates would be of other ratings, and nobody would know."""
    whys = unmeasured(repo, {
        "order": "ratings.table.sort_values('score', inplace=True)",  # last, it would find all scores the same
        "all_scores": "ratings.table['score'] = 1.0", "some_scores": "ratings.table.loc[:3, 'score'] = 0.0",
        "some_states": "ratings.table.loc[:3, 'status'] = 'refused'", "states": "ratings.table['status'] = 'refused'",
        "column": "ratings.table['more'] = 1",
    })  # fmt: skip
    assert len(whys) == 6
    assert {"this test changed ratings.table in place" in why for why in whys.values()} == {True}


def test_what_a_measure_of_ones_own_gives_is_named(repo) -> None:
    whys = unmeasured(repo, {
        "nothing": "measure(None)", "fewer": "measure(Estimates(('judge', 'criterion'), {('ann',): None}))",
        "no_tuple": "measure(Estimates(('judge',), {'a': None}))",
        "no_distribution": "measure(estimated('own', 0.5, object(), n=3, method='own'))",
    })  # fmt: skip
    assert "a measure gives an Estimate or Estimates; this one gave NoneType" in whys["nothing"]
    assert "measured by (judge, criterion) has a tuple of as many" in whys["fewer"]
    assert "measured by (judge) has a tuple of as many" in whys["no_tuple"]
    assert "own: its distribution has no interval and no p_value" in whys["no_distribution"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("ratings.tabel", "AttributeError: 'Ratings' object has no attribute 'tabel'"),
        ("open(__file__ + '.no')", "No such file or directory: 'evals/test_fairness.py.no'"),
    ],
)
def test_results_name_what_was_raised_and_no_path_of_this_machine(repo, body, why) -> None:
    repo.accept("bob")
    repo.edit("evals/test_fairness.py", "measure(score_repeats.score_matrix(ratings))", body)
    run = repo.run()
    [unmeasured] = run.results["unmeasured"]
    assert why in unmeasured["why"]
    assert why in run.results["decision"]["cause"]
    assert str(repo.root) not in (run.reports / "summary.md").read_text()


def test_a_fixture_that_does_not_exist_is_named(repo) -> None:
    repo.edit("evals/test_fairness.py", "def test_scores(ratings, measure)", "def test_scores(ratings, mesure)")
    assert [one["why"] for one in repo.run().results["unmeasured"]] == ["fixture 'mesure' not found"]


def test_a_judge_that_there_is_not_clears_nobody(repo) -> None:
    repo.accept("bob")
    own = "Estimates(('judge',), {('anne',): coverage.parse_rate(ratings).of(judge='ann')})"
    repo.edit(
        "evals/test_fairness.py", 'gate("parse_rate", coverage.parse_rate(ratings))', f'gate("parse_rate", {own})'
    )
    repo.edit("evals/test_fairness.py", "import pytest\n", "import pytest\nfrom recuse.ext import Estimates\n")
    decision = repo.run().results["decision"]
    assert decision["word"] == "no decision"
    assert "gate parse_rate: mini has no judge anne; it has ann, bob, eve" in decision["cause"]
    assert "cleared" not in {one["word"] for one in decision["judges"]}

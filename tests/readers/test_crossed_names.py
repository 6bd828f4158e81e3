"""Columns that name a rater and a criterion at once."""

from __future__ import annotations

import json

import pytest

from recuse.readers import read_file
from recuse.readers.column_names import crossed_names


@pytest.mark.parametrize(
    ("names", "raters", "criteria"),
    [
        (["gpt4_tone", "gpt4_accuracy", "anna_tone", "anna_accuracy"], {"gpt4", "anna"}, {"tone", "accuracy"}),
        (["tone (gpt4)", "tone (anna)", "truth (gpt4)", "truth (anna)"], {"gpt4", "anna"}, {"tone", "truth"}),
        (["human_1_is_short", "human_2_is_short", "human_1_fits", "human_2_fits"], {"human_1", "human_2"},
         {"is_short", "fits"}),
        (["judge.a", "judge.b", "human.a", "human.b", "expert.a"], {"judge", "human", "expert"}, {"a", "b"}),
        (["judge_fluency", "judge_tone", "judge_overall", "ben_overall", "mia_overall"], {"judge", "ben", "mia"},
         {"fluency", "tone", "overall"}),
    ],
)  # fmt: skip
def test_raters_and_criteria_are_told_apart(names, raters, criteria):
    found = crossed_names(names)
    assert found is not None
    assert {rater for rater, _ in found.values()} == raters
    assert {criterion for _, criterion in found.values()} == criteria
    assert set(found) == set(names)


@pytest.mark.parametrize(
    "names",
    [
        ["gpt_1", "gpt_2", "anna_1", "anna_2"],  # repeats
        ["gpt4", "claude", "anna", "ben"],
        ["gpt4_tone", "anna_tone"],  # one criterion
        ["red_tone", "red_truth", "blue_tone", "blue_truth"],  # nobody's name says who rates
        ["gpt_human", "gpt_expert", "claude_human", "claude_expert"],  # both sides are names
        ["gpt_a", "anna_b", "ben_c", "mia_d"],
        [
            "judge_a",
            "judge_b",
            "judge_c",
            "ben_c",
            "mia_c",
        ],  # as much may be left out of what is called as criteria are
    ],
)
def test_other_names_are_no_table_of_both(names):
    assert crossed_names(names) is None


def test_every_criterion_of_a_wide_table_has_its_own_ratings(file):
    rows = [f"{k},{k % 5},{(k + 1) % 5},{k % 5},{(k + 2) % 5}" for k in range(20)]
    names = "ticket,gpt4_tone,gpt4_accuracy,anna_tone,anna_accuracy"
    read = read_file(file("a.csv", "\n".join([names, *rows])))
    assert read.ratings.raters == {"gpt4": "judge", "anna": "person"}
    assert read.ratings.headline == ("tone", "accuracy")
    means = read.ratings.table.groupby(["rater", "criterion"], observed=True)["score"].agg(list)
    assert means["anna", "accuracy"] == [(k + 2) % 5 for k in range(20)]
    assert set(read.ratings.table["repeat"]) == {0}


def test_people_may_have_rated_one_criterion_of_several(file):
    names = "id,judge_fluency,judge_accuracy,judge_overall,human_overall,human2_overall"
    rows = [",".join(map(str, [k, *((k * n + k // 5) % 5 + 1 for n in range(1, 6))])) for k in range(40)]
    ratings = read_file(file("a.csv", "\n".join([names, *rows]))).ratings
    assert ratings.raters == {"judge": "judge", "human": "person", "human2": "person"}
    by_people = ratings.table[ratings.table["kind"].eq("person")]
    assert {*ratings.criteria} == {"fluency", "accuracy", "overall"}
    assert {*by_people["criterion"]} == {"overall"}


def test_what_was_saved_is_read_again(file, tmp_path):
    rows = [f"{k},{k % 5},{(k + 1) % 5},{k % 5},{(k + 2) % 5}" for k in range(20)]
    path = file("a.csv", "\n".join(["ticket,gpt4_tone,gpt4_accuracy,anna_tone,anna_accuracy", *rows]))
    first = read_file(path)
    (tmp_path / "a.recuse.toml").write_text(first.mapping.toml(), encoding="utf-8")
    assert read_file(path).mapping.record() == first.mapping.record()
    assert read_file(path).ratings.table.equals(first.ratings.table)


def test_columns_of_rater_criterion_and_repeat(file):
    names = [f"gpt_{criterion}.{k}" for criterion in ("tone", "truth") for k in (1, 2, 3)]
    header = ["id", "human_anna_tone", "human_anna_truth", *names]
    rows = [[f"t{k}", *((k + n) % 5 + 1 for n in range(8))] for k in range(20)]
    ratings = read_file(file("a.csv", "\n".join(",".join(map(str, row)) for row in [header, *rows]))).ratings
    assert ratings.raters == {"human_anna": "person", "gpt": "judge"}
    assert tuple(ratings.headline) == ("tone", "truth")
    own = ratings.table[ratings.table["rater"].eq("gpt") & ratings.table["item"].eq("t0")]
    assert own[["criterion", "repeat", "score"]].to_numpy().tolist() == [
        ["tone", 0, 3], ["tone", 1, 4], ["tone", 2, 5], ["truth", 0, 1], ["truth", 1, 2], ["truth", 2, 3],
    ]  # fmt: skip


@pytest.mark.parametrize("one", ["llama", "mist"])
def test_systems_of_which_one_is_called_as_models_are(file, one):
    names = ",".join(f"{system}_{rater}" for system in (one, "gpt") for rater in ("human", "judge"))
    rows = [f"{k},{k % 5},{(k + 1) % 5},{k % 4},{(k + 2) % 5}" for k in range(20)]
    ratings = read_file(file("a.csv", "\n".join([f"id,{names}", *rows]))).ratings
    assert ({*ratings.targets}, ratings.persons, ratings.judges) == ({one, "gpt"}, ("human",), ("judge",))


def test_criteria_of_which_one_is_called_as_models_are_are_no_systems(file):
    rows = [f"{k},{k % 5},{(k + 1) % 5},{k % 4},{(k + 2) % 5}" for k in range(20)]
    names = "human_model_fit,human_tone,gpt_model_fit,gpt_tone"
    assert read_file(file("a.csv", "\n".join([f"id,{names}", *rows]))).ratings.targets == ("",)


def test_a_criterion_that_the_first_rater_left_out_is_one(file):
    """Whose columns come first decides nothing."""
    whole = [f"{who}_{what}" for who in ("ben", "gpt4") for what in ("tone", "accuracy", "style")]
    for names in (["anna_tone", "anna_accuracy", *whole], [*whole, "anna_tone", "anna_accuracy"]):
        found = crossed_names(names)
        assert found is not None
        assert {rater for rater, _ in found.values()} == {"anna", "ben", "gpt4"}
        assert {criterion for _, criterion in found.values()} == {"tone", "accuracy", "style"}


def test_lists_of_people_by_criterion_beside_a_judge_are_crossed(file):
    rows = [
        {"id": k, "depth": [k % 5, k % 5, (k + 1) % 5], "tone": [k % 4, k % 4, k % 3], "llm_depth": k % 5,
         "llm_tone": k % 4} for k in range(40)
    ]  # fmt: skip
    ratings = read_file(file("a.jsonl", "\n".join(map(json.dumps, rows)))).ratings
    assert dict(ratings.raters) == {**{f"annotator{k}": "person" for k in (1, 2, 3)}, "llm": "judge"}
    assert set(ratings.headline) == {"depth", "tone"}


def test_what_a_judge_rates_by_criterion_is_rated_by_the_people_too(file):
    """Complexity is a text's own, unless it is what a judge was asked about."""
    names = [f"{who}_{what}" for who in ("maria", "jon", "llama") for what in ("tone", "complexity")]
    rows = [f"{k}," + ",".join(str((k + n // 2 * (k % 7 == 0)) % 5 + 1) for n in range(6)) for k in range(40)]
    read = read_file(file("a.csv", "\n".join([",".join(["id", *names]), *rows])))
    assert set(read.ratings.raters) == {"maria", "jon", "llama"}
    assert len(read.ratings.table) == 40 * 6


SYSTEMS = ("gpt-4o", "claude-3", "llama-3")


@pytest.mark.parametrize("who", [("human", "gpt-4o"), ("reviewer 1", "reviewer 2", "prometheus judge")])
def test_beside_raters_columns_called_as_models_are_what_they_rate(file, who):
    """They were criteria of one text, and a judge that rated itself nobody's author."""
    rows = [
        f"q{k},{name},{k % 5 + 1},{(k + n) % 5 + 1},{(k + 2 * n) % 5 + 1}"
        for k in range(40)
        for n, name in enumerate(who)
    ]
    read = read_file(file("a.csv", "\n".join([f"question,judge,{','.join(SYSTEMS)}", *rows])))
    assert {*read.ratings.targets} == {*SYSTEMS}
    assert {*read.ratings.raters} == {*who}
    assert tuple(read.ratings.headline) == ("rating",)


def test_what_is_the_same_beside_every_rater_is_a_judge_s_own(file):
    rows = [f"q{k},{name},{k % 5 + 1},{k % 3 + 1}" for k in range(40) for name in ("ann", "expert 2")]
    read = read_file(file("a.csv", "\n".join(["question,annotator,gpt-4o,claude-3", *rows])))
    assert read.ratings.targets == ("",)
    rows = [f"{row},{n % 5 + 1}" for n, row in enumerate(rows)]
    read = read_file(file("b.csv", "\n".join(["question,annotator,gpt-4o,claude-3,score", *rows])))
    assert read.ratings.judges == ("gpt-4o", "claude-3")


def test_what_both_a_judge_and_a_person_rated_is_no_sum_by_its_name(file):
    """Overall (human) was left out as made of the others, and the judge's was held against nobody's."""
    names = [f"{what} ({who})" for what in ("Accuracy", "Tone", "Overall") for who in ("human", "judge")]
    rows = [f"{k}," + ",".join(str((k * (n + 2) // 3 + k % (n + 2)) % 5 + 1) for n in range(6)) for k in range(60)]
    read = read_file(file("a.csv", "\n".join([",".join(["id", *names]), *rows])))
    assert (*read.ratings.headline,) == ("Accuracy", "Tone", "Overall")
    assert len(read.ratings.table) == 60 * 6

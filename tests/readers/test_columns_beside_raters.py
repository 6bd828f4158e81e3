"""What stands beside people's and judges' ratings is nobody's, or one question is asked: never one more person."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

KINDS = {"anna": "person", "ben": "person", "gpt-4o": "judge"}
DRAW = np.random.default_rng(4)
QUALITY = DRAW.normal(size=80)
MARKS = {who: [int(np.clip(round(3 + q + 0.5 * DRAW.normal()), 1, 5)) for q in QUALITY] for who in KINDS}
CHECKS = {who: ["pass" if mark > 2 else "fail" for mark in marks] for who, marks in MARKS.items()}
A, B, G = MARKS.values()


def wide(columns):
    rows = [f"t{k}," + ",".join(str(cells[k]) for cells in columns.values()) for k in range(80)]
    return "\n".join([",".join(["id", *columns]), *rows])


def any_of(*values):
    return [values[int(k)] for k in DRAW.integers(len(values), size=80)]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("gpt-4o_confidence", any_of(1, 2, 3, 4, 5)),
        ("judge_model", ["gpt-4o-2024-08-06"] * 80),
        ("model_version", any_of("v1", "v2")),
        ("model_temperature", [0] * 80),
        ("temperature", [0.7] * 80),
        ("annotator_count", any_of(2, 3, 4)),
        ("n_ratings", any_of(2, 3, 4)),
        ("reviewer_id", any_of(1, 2, 3)),
        ("user_id", [f"u{k % 17}" for k in range(80)]),
        ("email", ["a@team.example"] * 80),
        ("human_review_needed", any_of("yes", "no")),
        ("expert_years", any_of(1, 2, 3, 4)),
        ("page", any_of(1, 2, 3, 4, 5)),
        ("batch", [k // 40 for k in range(80)]),
        ("customer_tier", any_of(1, 2, 3)),
        ("max", [max(pair) for pair in zip(A, B, strict=True)]),
        ("overall", [round(sum(marks) / 3) for marks in zip(A, B, G, strict=True)]),
        ("human_avg", [sum(pair) / 2 for pair in zip(A, B, strict=True)]),
        ("difference", [abs(a - b) for a, b in zip(A, B, strict=True)]),
    ],
)
def test_it_is_nobodys(file, name, cells):
    read = read_file(file("a.csv", wide({name: cells, **MARKS})))
    assert read.ratings.raters == KINDS
    assert len(read.ratings.table) == 240


def test_numbers_without_a_name_that_have_nothing_to_do_with_any_rater_are_asked_about(file):
    path = file("a.csv", wide({"bananas": any_of(1, 2, 3, 4, 5), **MARKS}))
    with pytest.raises(RecuseError, match="--ignore bananas"):
        read_file(path)
    assert read_file(path, ignore=("bananas",)).ratings.raters == KINDS
    people = ("anna", "ben", "bananas")
    assert read_file(path, people=people, judges=("gpt-4o",)).ratings.persons == ("bananas", "anna", "ben")


def test_in_few_rows_it_is_asked_too(file):
    """They are too few to say that it has less to do with them than they with each other."""
    draw = np.random.default_rng(1)
    cells = np.clip(np.rint(3 + draw.normal(size=(40, 1)) + 0.8 * draw.normal(size=(40, 4))), 1, 5).astype(int)
    cells[:, 3] = draw.integers(1, 6, 40)
    rows = [f"t{k},{','.join(map(str, row))}" for k, row in enumerate(cells)]
    with pytest.raises(RecuseError, match=r"bananas holds answers .* have nothing to do with any of them"):
        read_file(file("a.csv", "\n".join(["id,anna,ben,gpt-4o,bananas", *rows])))


ALMOST = [int(np.clip(round(0.35 * q + DRAW.normal() + 2.4), 1, 5)) for q in QUALITY]
"""As long texts are a little better ones."""


@pytest.mark.parametrize(("people", "slope", "how"), [
    (("anna",), 0.2, "agree far less"), (("human",), -0.6, "go against"), (("human_1", "human_2"), 0, "nothing to do"),
    *(pytest.param(*case, marks=pytest.mark.slow("further cases"))
      for case in ((("anna", "ben"), 0.2, "agree far less"), (("human_1", "human_2"), -0.6, "go against"),
                   (("anna",), 0, "nothing to do"))),
])  # fmt: skip
def test_what_has_far_less_to_do_with_raters_than_they_with_each_other_is_asked_about(file, people, slope, how):
    draw = np.random.default_rng(5)
    quality = draw.normal(size=240)
    marks = np.clip(np.round(3 + quality[:, None] + 0.4 * draw.normal(size=(240, 3))), 1, 5).astype(int)
    raters = dict(zip((*people, "gpt"), marks.T, strict=False)) | {"gpt": marks[:, 2]}

    def written(cells):
        rows = zip(*raters.values(), cells, strict=True)
        return file("a.csv", "\n".join([f"id,{','.join(raters)},Blau", *(f"t{k},{','.join(map(str, row))}"
                                                                      for k, row in enumerate(rows))]))  # fmt: skip

    path = written(np.clip(np.round(3 + slope * quality + draw.normal(size=240)), 1, 5).astype(int))
    with pytest.raises(RecuseError, match=f"Blau holds answers .*{how}.*--people Blau.*--ignore Blau"):
        read_file(path)
    assert read_file(path, ignore=("Blau",)).ratings.persons == people
    reverse = read_file(written(6 - marks[:, 0])).ratings
    assert "Blau" in reverse.persons, "who answers in reverse, as surely as the others agree, is named and not asked"


def test_judges_that_are_alike_make_no_person_doubtful_and_what_only_a_judge_follows_is_asked_about(file):
    draw = np.random.default_rng(8)
    quality, length = draw.normal(size=(2, 240))
    people = quality[:, None] + 1.3 * draw.normal(size=(240, 2))
    judge = quality + length
    columns = np.column_stack([people, judge, judge + 0.1 * draw.normal(size=240), quality, length])
    marks = np.clip(np.round(3 + columns), 1, 5).astype(int)
    for names, taken in (("anna,ben,gpt,claude", [0, 1, 2, 3]), ("human,gpt,Blau", [4, 2, 5])):
        path = file("a.csv", "\n".join([f"id,{names}", *(f"t{k},{','.join(map(str, row))}"
                                                         for k, row in enumerate(marks[:, taken]))]))  # fmt: skip
        if "Blau" not in names:
            assert read_file(path).ratings.persons == ("anna", "ben")
            continue
        with pytest.raises(RecuseError, match="agree far less with theirs"):
            read_file(path)


@pytest.mark.parametrize(("people", "judged"), [
    (("anna", "ben"), G), (("human", "ben"), ALMOST), (("anna",), ALMOST), (("anna", "ben"), any_of(1, 2, 3, 4, 5)),
])  # fmt: skip
def test_a_bad_judge_makes_no_person_doubtful(file, people, judged):
    read = read_file(file("a.csv", wide({**dict(zip(people, (A, B), strict=False)), "gpt": judged})))
    assert read.ratings.persons == people


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    "name", ["Priorität", "Schwierigkeit", "Woche", "Semester", "Dringend", "Alter", "Kosten", "difficulté", "semaine",
             "coût", "dificultad", "prioridad", "难度", "优先级", "長度", "時間", "難易度", "runtime", "chapter"],
)  # fmt: skip
def test_properties_of_texts_in_other_languages_are_nobodys(file, name):
    read = read_file(file("a.csv", wide({"anna": A, "gpt-4o": G, name: ALMOST})))
    assert read.ratings.persons == ("anna",)


def voted(name, *, wrong=0.15, own=None):
    """Three people and a judge, and what most of the people say, or what a fourth says who is `own` often wrong."""
    draw = np.random.default_rng(6)
    truth = draw.random(240) < 0.6
    said = {who: truth ^ (draw.random(240) < wrong) for who in ("anna", "ben", "carl", "gpt")}
    most = sum(said[who].astype(int) for who in ("anna", "ben", "carl")) > 1
    said[name] = most if own is None else truth ^ (draw.random(240) < own)
    rows = zip(*(np.where(cells, "ja", "nein") for cells in said.values()), strict=True)
    return "\n".join([",".join(["id", *said]), *(f"t{k},{','.join(row)}" for k, row in enumerate(rows))])


@pytest.mark.parametrize("name", [
    "Mehrheit", "多数決", "Blau",
    *(pytest.param(name, marks=pytest.mark.slow("further cases"))
      for name in ("Konsens", "mayoría", "majorité", "最终", "agreed", "my view")),
])  # fmt: skip
def test_what_most_people_say_is_no_further_person(file, name):
    read = read_file(file("a.csv", voted(name)))
    assert read.ratings.persons == ("anna", "ben", "carl")
    assert name in read.mapping.ignored
    people = ("anna", "ben", "carl", name)
    assert read_file(file("a.csv", voted(name)), people=people).ratings.persons == people, "whoever says so is believed"


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("own", [0.02, 0.15])
@pytest.mark.parametrize("wrong", [0.02, 0.15])
def test_who_agrees_with_most_as_people_do_is_a_person(file, own, wrong):
    """Also where everybody is nearly always right: nobody is then told from a vote."""
    for most in (own, None) if wrong < 0.1 else (own,):
        assert "dora" in read_file(file("a.csv", voted("dora", wrong=wrong, own=most))).ratings.persons
    assert "human_4" in read_file(file("b.csv", voted("human_4", wrong=wrong))).ratings.persons


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda v: {"pass": "acceptable", "fail": "unacceptable"}[v], "acceptable=pass,unacceptable=fail"),
        (lambda v: {"pass": "no", "fail": "it hallucinates"}[v], "no=pass,it hallucinates=fail"),
    ],
)
def test_a_judge_in_other_words_is_asked_about_and_an_option_answers(file, write, words):
    path = file("a.csv", wide({**CHECKS, "gpt-4o": [write(v) for v in CHECKS["gpt-4o"]]}))
    with pytest.raises(RecuseError, match="--same"):
        read_file(path)
    read = read_file(path, same=words)
    assert read.ratings.raters == KINDS
    judged = read.ratings.table[read.ratings.table["kind"] == "judge"]
    assert list(judged["response"]) == CHECKS["gpt-4o"]


def test_one_person_in_other_words_is_asked_about(file):
    cells = [{"pass": "good", "fail": "bad"}[v] for v in CHECKS["anna"]]
    with pytest.raises(RecuseError, match="anna and ben do not answer on one scale"):
        read_file(file("a.csv", wide({**CHECKS, "anna": cells})))


def test_words_that_no_cell_holds_are_told(file):
    with pytest.raises(RecuseError, match="no cell holds 'fine'"):
        read_file(file("a.csv", wide(CHECKS)), same="fine=pass")


@pytest.mark.parametrize("form", ["[[{}]]", "Verdict: {}", "**{}**", "{}.", "{}"])
def test_a_judges_way_to_write_a_verdict(file, form):
    read = read_file(file("a.csv", wide({**CHECKS, "gpt-4o": [form.format(v.upper()) for v in CHECKS["gpt-4o"]]})))
    assert read.ratings.raters == KINDS
    assert list(read.ratings.table["response"]) == [v for who in KINDS for v in CHECKS[who]]


@pytest.mark.parametrize("right", [1, True])
def test_pass_and_1_say_the_same(file, right):
    cells = [type(right)(v == "pass") for v in CHECKS["gpt-4o"]]
    assert read_file(file("a.csv", wide({**CHECKS, "gpt-4o": cells}))).ratings.raters == KINDS


def test_what_a_spreadsheet_made_of_4_of_5_is_no_number(file):
    with pytest.raises(RecuseError, match="gpt-4o holds days such as"):
        read_file(file("a.csv", wide({**MARKS, "gpt-4o": [f"{v}-May" for v in G]})))


def test_one_who_counts_from_0_is_asked_about(file):
    path = file("a.csv", wide({**MARKS, "gpt-4o": [v - 1 for v in G]}))
    with pytest.raises(RecuseError, match="--scale 0-5"):
        read_file(path)
    assert read_file(path, scale="0-5").ratings.raters == KINDS


def test_people_in_columns_r1_and_r2_are_people_beside_a_judge(file):
    read = read_file(file("a.csv", wide({"R1": A, "R2": B, "GPT": G})))
    assert read.ratings.raters == {"R1": "person", "R2": "person", "GPT": "judge"}


def test_scores_side_by_side_are_the_judges_repeats_beside_a_person(file):
    read = read_file(file("a.csv", wide({"score_1": A, "score_2": B, "human": G})))
    assert read.ratings.raters == {"judge": "judge", "human": "person"}
    assert set(read.ratings.table.loc[read.ratings.table["kind"] == "judge", "repeat"]) == {0, 1}
    with pytest.raises(RecuseError, match="--people score_1,score_2 --judges gpt"):
        read_file(file("b.csv", wide({"score_1": A, "score_2": B, "gpt": G})))


def test_a_judges_column_beside_a_column_of_annotators(file):
    read = read_file(file("a.csv", wide({"annotator": ["anna", "ben"] * 40, "human_score": A, "llm_score": G})))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "llm": "judge"}


@pytest.mark.parametrize("name", ["source", "scored_by", "annotator_email", "created_by"])
def test_who_rated_under_other_names(file, name):
    rows = [f"t{k},{who},{MARKS[who][k]}" for k in range(80) for who in KINDS]
    assert read_file(file("a.csv", "\n".join([f"id,{name},score", *rows]))).ratings.raters == KINDS


def test_several_raters_files_are_one_table(file):
    paths = [file(f"{who}.csv", wide({"score": marks})) for who, marks in MARKS.items()]
    read = read_file(*paths)
    assert read.ratings.raters == KINDS
    assert list(read.ratings.table["score"]) == [*A, *B, *G]


BESIDE = {
    "people's criteria": (
        {"judge": "gpt-4", "tone": A, "accuracy": B, "human_tone": G, "human_accuracy": A}, {"human": 160}
    ),
    "one criterion": ({"judge": "gpt-4", "helpfulness": A, "human_score": G}, {"human": 80}),
    "people": ({"judge_model": "gpt-4", "helpfulness": A, "human_1": G, "human_2": B}, {"human_1": 80, "human_2": 80}),
    "repeats": ({"judge_model": "gpt-4", "run1": A, "run2": B, "human": G}, {"human": 80}),
    "repeats called scores": ({"judge_model": "gpt-4", "score_1": A, "score_2": B, "human_score": G}, {"human": 80}),
    "a judge's criteria": (
        {"annotator": "people", "tone": A, "accuracy": B, "gpt4_tone": G, "gpt4_accuracy": A}, {"gpt4": 160}
    ),
    "a judge's score": ({"worker_id": "people", "how good is it": A, "fields.gpt4_score": G}, {"fields.gpt4": 80}),
}  # fmt: skip


@pytest.mark.parametrize("case", BESIDE)
def test_columns_of_others_beside_a_column_that_names_raters_are_theirs(file, case):
    columns, others = BESIDE[case]
    named, *_ = columns.values()
    who = {"gpt-4": ["gpt-4"], "people": ["anna", "ben"]}[named]
    cells = {name: who * (80 // len(who)) if c == named else c for name, c in columns.items()}
    read = read_file(file("a.csv", wide(cells)))
    mine = (len(columns) - 1) * 80 - sum(others.values())
    each = {**dict.fromkeys(who, mine // len(who)), **others}
    assert read.ratings.table.groupby("rater", observed=True).size().to_dict() == each
    assert {read.ratings.raters[other] for other in others} == {"judge" if named == "people" else "person"}
    assert read.ratings.table.groupby("criterion", observed=True)["rater"].nunique().min() == len(each)


def test_a_criterion_that_bears_peoples_name_is_the_judges(file):
    read = read_file(file("a.csv", wide({"judge": ["gpt-4"] * 80, "tone": A, "user_satisfaction": B})))
    assert read.ratings.raters == {"gpt-4": "judge"}


def test_a_persons_rating_that_may_be_about_each_of_two_criteria_is_asked_about(file):
    path = file("a.csv", wide({"judge": ["gpt-4"] * 80, "tone": A, "style": B, "human_score": G}))
    with pytest.raises(RecuseError, match="--value tone, or call it human_tone; if nobody's rating, --ignore human_sc"):
        read_file(path)
    assert read_file(path, value="tone").ratings.raters == {"gpt-4": "judge", "human": "person"}
    with pytest.raises(RecuseError, match="may be about each"):
        read_file(path, value=("tone", "style"))


def test_a_person_is_named_by_the_column_beside_the_judges(file):
    path = file("a.csv", wide({"judge": ["gpt-4"] * 80, "helpfulness": A, "anna": G}))
    assert read_file(path, people="anna").ratings.raters == {"gpt-4": "judge", "anna": "person"}


@pytest.mark.parametrize("first", [["model_1", "model_2"], ["model_1", "model_1"]])
def test_who_won_for_people_beside_the_games_of_a_judge(file, first):
    pairs = [(f"x{k % 7}", f"y{k % 5}") for k in range(80)]
    columns = {"model_1": [a for a, _ in pairs], "model_2": [b for _, b in pairs], "judge": ["gpt-4"] * 80}
    won = {"g1_winner": first * 40, "g2_winner": ["model_2"] * 80, "human_winner": ["model_1", "model_2"] * 40}
    read = read_file(file("a.csv", wide({**columns, **won})))
    assert read.ratings.raters == {"gpt-4": "judge", "human_winner": "person"}
    assert len(read.ratings.table) == 240


def test_right_answers_beside_repeats_leave_these_to_the_judge(file):
    read = read_file(file("a.csv", wide({"run_1": A, "run_2": B, "gold": G})))
    assert read.ratings.raters == {"judge": "judge", "gold": "person"}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["confidence_{}", "{}_conf", "Confidence ({})", "sure_{}", "how_confident_{}"])
def test_how_sure_each_rater_was_is_nobodys_rating(file, name):
    sure = {name.format(who): any_of(1, 2, 3, 4, 5) for who in MARKS}
    read = read_file(file("a.csv", wide({**MARKS, **sure})))
    assert dict(read.ratings.raters) == KINDS
    assert tuple(read.ratings.headline) == ("rating",)
    assert all("how sure" in read.mapping.ignored[column] for column in sure)


def test_how_sure_numbered_people_were_is_not_one_more_person(file):
    sure = {f"confidence_{k}": any_of(1, 2, 3, 4, 5) for k in (1, 2)}
    read = read_file(file("a.csv", wide({**sure, "rater_1": A, "rater_2": B, "llm": G})))
    assert dict(read.ratings.raters) == {"rater_1": "person", "rater_2": "person", "llm": "judge"}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["confidence", "sure", "round", "is_llm"])
def test_beside_a_column_of_raters_it_is_no_criterion(file, name):
    rows = [f"{k},{who},{MARKS[who][k]},{(k + len(who)) % 2}" for k in range(80) for who in MARKS]
    text = "\n".join([f"item,rater,quality,{name}", *rows])
    read = read_file(file("a.csv", text))
    assert dict(read.ratings.raters) == KINDS
    assert tuple(read.ratings.headline) == ("rating",)
    if name != "is_llm":
        rated = read_file(file("b.csv", text), value=f"quality,{name}").ratings
        assert tuple(rated.headline) == ("quality", name)


def test_a_flag_of_judges_is_none_beside_their_scores(file):
    rows = [f"{k},{who},{who == 'gpt-4o':d},{MARKS[who][k] > 2:d}" for k in range(80) for who in MARKS]
    assert dict(read_file(file("a.csv", "\n".join(["item,rater,is_llm,score", *rows]))).ratings.raters) == KINDS


def test_several_people_in_a_column_of_ids_are_asked_about(file):
    rows = [f"p{who},t{k},{(A, B, G)[who][k]},{G[k]}" for who in range(3) for k in range(80)]
    path = file("a.csv", "\n".join(["crowd_id,item_id,response,llm_response", *rows]))
    with pytest.raises(RecuseError, match="if crowd_id says who gave them, --rater crowd_id in place of --people;"):
        read_file(path, people="response")
    assert read_file(path, rater="crowd_id").ratings.persons == ("p0", "p1", "p2")
    rows = [*rows, *(f",t{k},{A[k]},{G[k]}" for k in range(80))]  # where some rows have no id, it names no raters
    with pytest.raises(RecuseError, match="say --ignore item_id; if they are repeats"):
        read_file(file("b.csv", "\n".join(["crowd_id,item_id,response,llm_response", *rows])), people="response")


def test_annotations_of_nobody_who_is_named_are_asked_about(file):
    columns = {f"annotations.{criterion}.Rating": cells for criterion, cells in (("honesty", A), ("helpfulness", B))}
    path = file("a.csv", wide({**columns, "fine_grained_score": G}))
    with pytest.raises(RecuseError, match="nothing says who annotated; if people did, say --people annotations"):
        read_file(path)
    assert read_file(path, people=[*columns]).ratings.judges == ("fine_grained",)
    named = {f"annotations.{who}.rating": cells for who, cells in (("anna", A), ("ben", B))}
    assert len(read_file(file("b.csv", wide({**named, "gpt-4": G}))).ratings.persons) == 2


def stances(people, judge=lambda k, answer: answer, agree=False, texts=30):
    words = any_of("for", "against", "neutral")
    own = {who: words if agree else any_of("for", "against", "neutral") for who in people}
    rows = [f"t{k},{who},{own[who][k]},{judge(who, words[k])}" for k in range(texts) for who in people]
    return "\n".join(["item,annotator,stance,gpt4", *rows])


@pytest.mark.parametrize(("people", "agree"), [("ABC", False), ("abcdef", True), (["anna", "ben", "cleo"], True)])
def test_annotators_are_people_called_by_letters_or_at_one_on_all_texts(file, people, agree):
    read = read_file(file("a.csv", stances(people, agree=agree)))
    assert dict(read.ratings.raters) == {**dict.fromkeys(people, "person"), "gpt4": "judge"}
    assert len(read.ratings.table) == 30 * len(people) + 30


def test_an_answer_that_stands_in_the_first_row_of_a_text_alone_is_the_judges(file):
    text = stances(["anna", "ben"], lambda who, answer: answer if who == "anna" else "")
    table = read_file(file("a.csv", text)).ratings.table
    assert table.groupby("rater", observed=True)["status"].agg(["size", "unique"]).loc["gpt4"].tolist() == [30, ["ok"]]


def test_an_answer_to_another_question_beside_a_judges_own_is_asked_about(file):
    words = [("yes", "not factual"), ("no", "factual")]
    rows = [f"{k},{words[k % 2][0]},{words[(k + k % 9 // 8) % 2][0]},{words[k % 2][1]}" for k in range(40)]
    path = file("a.csv", "\n".join(["id,human_made_up,judge_made_up,judge_factuality", *rows]))
    with pytest.raises(RecuseError, match=r"people and judge_factuality give no label in common \(people 'no', 'yes'"):
        read_file(path)
    ratings = read_file(path, ignore="judge_factuality").ratings
    assert (len(ratings.judges), len(ratings.persons), len(ratings.table)) == (1, 1, 80)


def test_no_flag_of_several_is_asked_about_with_the_scale_of_flags(file):
    cells = ["pii|rude", "none", "rude", "pii", "none"]
    text = "\n".join(["id,human,judge", *(f"{k},{cells[k % 5]},{cells[(k + k % 9 // 8) % 5]}" for k in range(40))])
    with pytest.raises(RecuseError, match=r'often answer none .* the scale with it \(--scale "pii\|rude\|none"\)'):
        read_file(file("a.csv", text))


def test_a_judge_in_words_of_its_own_beside_annotators_at_one_is_asked_about(file):
    path = file("a.csv", stances(["anna", "ben", "cleo"], lambda who, answer: f"is {answer}", agree=True))
    with pytest.raises(RecuseError, match="people and gpt4 give no label in common"):
        read_file(path)
    same = ",".join(f"is {word}={word}" for word in ("for", "against", "neutral"))
    assert len(read_file(path, same=same).ratings.table) == 120

"""Tables as quality teams keep them: rounds, differences beside the raters, roles as names, words for no answer."""

from __future__ import annotations

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

NUMBER = 60


def mark(k, seed):
    """One person's mark of text `k`, 1 to 5, that has to do with the others' marks of it."""
    return min(max(k % 5 + 1 + (k * 7 + seed * 3) % 11 // 9 - (k * 5 + seed) % 13 // 11, 1), 5)


def passed(k, seed):
    return ("fail", "pass")[(k * 7 % 10 < 6) ^ ((k + seed * 5) % 9 == 0)]


def wide(file, header, row, name="a.csv", **options):
    rows = [",".join(map(str, row(k))) for k in range(NUMBER)]
    return read_file(file(name, "\n".join([header, *rows])), **options)


@pytest.mark.parametrize("name", ["offset", "Δ", "Abweichung"])
def test_what_a_rater_and_another_differ_by_leaves_nobody_out(file, name):
    def row(k):
        return f"t{k}", mark(k, 1), mark(k, 2), mark(k, 3), mark(k, 1) - mark(k, 2)

    read = wide(file, f"id,anna,ben,gpt-4o,{name}", row)
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert name in read.mapping.ignored


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["Priya S.", "team lead", "Jean-Luc"])
def test_a_name_of_several_words_beside_people_who_are_called_so_is_asked_about(file, name):
    def row(k):
        return f"t{k}", mark(k, 1), mark(k, 2), mark(k, 3)

    with pytest.raises(RecuseError, match=f"no name tells judges from people: '{name}'; say --judges"):
        wide(file, f"id,expert,{name},gpt-4o", row)
    read = wide(file, f"id,expert,{name},gpt-4o", row, people=["expert", name])
    assert [*read.ratings.raters.values()] == ["person", "person", "judge"]
    assert wide(file, "id,expert,palmyra-x4,gpt-4o", row).ratings.raters["palmyra-x4"] == "judge"


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("form", ["{} (round {})", "{}_Round{}", "{} run {}", "{}_r{}"])
def test_rounds_of_one_person_are_no_further_people(file, form):
    def row(k):
        return f"t{k}", *(mark(k, seed) for seed in range(5))

    names = [form.format(who, n) for who in ("anna", "ben") for n in (1, 2)]
    read = wide(file, ",".join(["id", *names, "gpt-4o"]), row)
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    anna = read.ratings.table[read.ratings.table["rater"] == "anna"]
    assert [*anna[anna["repeat"] == 1]["score"]] == [mark(k, 1) for k in range(NUMBER)]


@pytest.mark.parametrize("word", ["not rated", "keine Angabe", "unsure"])
def test_a_word_that_people_alone_say_beside_pass_and_fail_is_asked_about(file, word):
    def row(k):
        return f"t{k}", *(word if (k + seed * 3) % 7 == 0 else passed(k, seed) for seed in (1, 2)), passed(k, 3)

    with pytest.raises(RecuseError, match=rf'--scale "fail<pass"; if it is one, --scale "fail,pass,{word.lower()}"'):
        wide(file, "id,anna,ben,gpt-4o", row)
    read = wide(file, "id,anna,ben,gpt-4o", row, scale="fail<pass")
    assert read.ratings.scales["rating"].options == ("fail", "pass")
    own = read.ratings.table["rater"] == "anna"
    assert (read.ratings.table["status"][own] == "ok").sum() == sum((k + 3) % 7 > 0 for k in range(NUMBER))


def test_a_word_that_judges_say_as_well_is_an_answer(file):
    def row(k):
        return f"t{k}", *("unsure" if (k + seed * 3) % 7 == 0 else passed(k, seed) for seed in (1, 2, 3))

    options = wide(file, "id,anna,ben,gpt-4o", row).ratings.scales["rating"].options
    assert {*options} == {"fail", "pass", "unsure"}


def test_two_questions_of_many_students_are_no_two_texts(file):
    rows = [f"{k // 2},{k % 2 + 1},{mark(k, 1)},{mark(k, 2)},{mark(k, 3)}" for k in range(80)]
    with pytest.raises(RecuseError, match=r"TA has several rows on one text \('1'\) that differ"):
        read_file(file("a.csv", "\n".join(["student_id,question,TA,Professor,GPT", *rows])))


@pytest.mark.parametrize("words", [("0", "1"), ("neg", "pos")])
def test_what_is_not_called_as_numbered_people_is_asked_about_in_numbers_as_in_words(file, words):
    def row(k):
        return f"t{k}", *(words[passed(k, seed) == "pass"] for seed in (1, 2, 3, 4))

    with pytest.raises(RecuseError, match="if it holds right answers, --gold Biopsy"):
        wide(file, "case,Radiologist 1,Radiologist 2,AI,Biopsy", row)


def test_whether_somebody_agrees_with_a_judge_is_no_rating_of_the_text(file):
    def agreed(k, seed):
        return ("no", "yes")[passed(k, 0) == passed(k, seed)]

    def in_rows(k):
        return f"t{k}", passed(k, 0), ("anna", "ben")[k % 2], agreed(k, 1 + k % 2)

    with pytest.raises(RecuseError, match=r"agree\?: by the name, whether somebody agrees .*--value 'agree\?'"):
        wide(file, "id,ai_label,reviewer,agree?", in_rows)
    with pytest.raises(RecuseError, match="--ignore anna_agrees,ben_agrees; if texts were rated so, --people"):
        wide(file, "id,llm,anna_agrees,ben_agrees", lambda k: (f"t{k}", passed(k, 0), agreed(k, 1), agreed(k, 2)))
    stated = ["anna_agrees", "ben_agrees"]
    read = wide(file, "id,llm,anna_agrees,ben_agrees",
                lambda k: (f"t{k}", passed(k, 0), agreed(k, 1), agreed(k, 2)), people=stated)  # fmt: skip
    assert [*read.ratings.raters.values()] == ["judge", "person", "person"]


@pytest.mark.parametrize("said", [passed, mark])
def test_a_person_who_writes_only_what_a_judge_had_wrong_is_asked_about(file, said):
    def corrected(k):
        right, judged = said(k, 1), said(k + 1 if k % 3 else k, 2)
        return f"t{k}", judged, "" if right == judged else right

    with pytest.raises(RecuseError, match=r"human answers \d+ of 60 texts, never as ai does: .*--people human"):
        wide(file, "id,ai_label,human_label", corrected)
    assert wide(file, "id,ai_label,human_label", corrected, people="human").ratings.persons == ("human",)
    part = wide(file, "id,ai_label,human_label", lambda k: (f"t{k}", said(k, 2), said(k, 1) if k % 4 else ""))
    assert part.ratings.persons == ("human",)


def test_a_first_name_beside_people_called_so_and_a_program_is_asked_about(file):
    def row(k):
        return f"t{k}", mark(k, 1), mark(k, 2), mark(k, 3)

    with pytest.raises(RecuseError, match="no name tells judges from people: 'Maria'; say --judges"):
        wide(file, "id,expert,Maria,classifier", row)
    assert wide(file, "id,expert,gpt-4o,verifier", row).ratings.raters["verifier"] == "judge"
    with pytest.raises(RecuseError, match="'verifier'; say --judges"):
        wide(file, "id,anna,gpt-4o,verifier", row)


def test_a_true_score_is_the_right_answer(file):
    read = wide(file, "id,true_score,anna,gpt-4o", lambda k: (f"t{k}", mark(k, 0), mark(k, 1), mark(k, 2)))
    assert read.ratings.truth == "true"


def test_who_finds_an_answer_correct_is_no_right_answer_where_several_say_so(file):
    def row(k):
        return f"t{k}", *(("No", "Yes")[passed(k, seed) == "pass"] for seed in (1, 2, 3))

    read = wide(file, "id,Correct? (Anna),Correct? (Ben),Correct? (GPT-4o)", row)
    assert [*read.ratings.raters.values()] == ["person", "person", "judge"]
    assert not read.ratings.truth
    assert wide(file, "id,Correct option,anna,gpt-4o", row).ratings.truth == "Correct option"


@pytest.mark.parametrize("asked", ["is_safe_{}", "Needs review? ({})"])
def test_a_question_that_begins_as_flags_do_is_rated_where_a_judge_answers_it(file, asked):
    def row(k):
        return f"t{k}", *(("No", "Yes")[passed(k, seed) == "pass"] for seed in (1, 2, 3)), ("No", "Yes")[k % 2]

    header = ",".join(["id", *map(asked.format, ("anna", "ben", "gpt-4o")), "is_long"])
    read = wide(file, header, row)
    assert [*read.ratings.raters.values()] == ["person", "person", "judge"]
    assert read.mapping.slices == ("is_long",)

"""Files in the shapes that spreadsheets, forms and other tools leave behind: read as whoever made them means them."""

from __future__ import annotations

import json

import pytest

from recuse.ratings import Numeric, Ordinal
from recuse.readers import read_file
from recuse.schema import RecuseError

KINDS = {"anna": "person", "ben": "person", "judge": "judge"}


def table(rows, header="ticket,anna,ben,judge"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)])


def five(number=60):
    """Ratings from 1 to 5 by two people and a judge."""
    return [(f"t{k}", k % 5 + 1, (k + k % 2) % 5 + 1, (k + k % 3 // 2) % 5 + 1) for k in range(number)]


FORM = ("How helpful was it? (1 = not at all, 5 = very)", "How polite was it? (1 = not at all, 5 = very)")


def test_a_form_has_questions_as_columns_and_an_address_for_everybody(file):
    rows = ["Timestamp,Email Address,Which ticket did you read?," + ",".join(f'"{q}"' for q in FORM)]
    for k in range(12):
        for who in ("anna@x.example", "ben@x.example", "llm-judge@x.example"):
            rows.append(f"2026/03/{k + 1} 9:00,{who},T-{k},{k % 5 + 1},{k % 4 + 1}")
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.ratings.raters == {
        "anna@x.example": "person", "ben@x.example": "person", "llm-judge@x.example": "judge",
    }  # fmt: skip
    assert tuple(read.ratings.headline) == FORM
    assert read.mapping.item == ("Which ticket did you read?",)


@pytest.mark.parametrize(
    "written",
    [
        lambda k: f"{k} stars" if k > 1 else "1 star",
        lambda k: "★" * k + "☆" * (5 - k),
        lambda k: f"{k} - {('Poor', 'Weak', 'OK', 'Good', 'Excellent')[k - 1]}",
        lambda k: f"{('Poor', 'Weak', 'OK', 'Good', 'Excellent')[k - 1]} ({k})",
    ],
)
def test_stars_and_labelled_points_are_numbers(file, written):
    rows = [(ticket, *map(written, marks)) for ticket, *marks in five()]
    ratings = read_file(file("a.csv", table(rows))).ratings
    assert ratings.raters == KINDS
    assert ratings.scales == {"rating": Numeric(1, 5, 1)}
    assert list(ratings.table["score"]) == [m[k] for k in (1, 2, 3) for m in five()]


def test_one_number_with_two_labels_is_no_point_of_a_scale(file):
    rows = [(f"t{k}", *(f"{k % 3} - {w}" for w in ("ja", "nein", "ja"))) for k in range(40)]
    assert not isinstance(read_file(file("a.csv", table(rows))).ratings.scales["rating"], Numeric)


def test_words_that_say_the_same_are_one_verdict(file):
    said = [("Pass", "yes", "PASS"), ("fail", "No", "FAIL"), ("YES", "pass", "fail")] * 10
    read = read_file(file("a.csv", table([(f"t{k}", *words) for k, words in enumerate(said)])))
    assert read.ratings.scales == {"rating": Ordinal(("fail", "pass"))}
    judge = read.ratings.table[read.ratings.table["rater"] == "judge"]
    assert list(judge["response"][:3]) == ["pass", "fail", "fail"]
    assert any("yes as pass" in note for note in read.notes)


def test_a_third_answer_that_is_no_verdict_stays_an_answer_of_its_own(file):
    said = [("pass", "pass", "pass"), ("fail", "fail", "invalid"), ("invalid", "invalid", "invalid")] * 10
    ratings = read_file(file("a.csv", table([(f"t{k}", *words) for k, words in enumerate(said)]))).ratings
    assert set(ratings.scales["rating"].options) == {"fail", "invalid", "pass"}


@pytest.mark.parametrize(("slip", "lowest"), [(99, 1), (11, 1), (-1, 1)])
def test_a_slip_does_not_stretch_the_scale(file, slip, lowest):
    rows = [(f"t{k}", k % 10 + 1, min(k % 10 + 2, 10), k % 10 + 1) for k in range(60)]
    rows[7] = (*rows[7][:3], slip)
    read = read_file(file("a.csv", table(rows)))
    assert read.ratings.scales == {"rating": Numeric(lowest, 10, 1)}
    (fault,) = read.faults
    assert fault.count == 1
    assert fault.places == (f"line 9, column judge: '{slip}'",)
    assert f"{slip}" in fault.done


def test_grades_that_are_seldom_given_are_grades(file):
    """Harm from 0 to 4, mostly 0 to 2: the one 3 and the one 4 are what the judge is there for."""
    rows = [(f"t{k}", k % 3, min(k % 3 + k % 2, 2), k % 3) for k in range(60)]
    rows[7:9] = [("t7", 3, 4, 4), ("t8", 3, 3, 3)]
    read = read_file(file("a.csv", table(rows)))
    assert read.faults == ()
    assert read.ratings.scales == {"rating": Numeric(0, 4, 1)}


def test_several_high_marks_are_no_slips_however_few(file):
    """Percentages that are mostly low: 35, 60 and 90 are marks like the others."""
    rows = [(f"t{k}", k % 11, (k + 1) % 11, k % 11) for k in range(120)]
    rows[7:10] = [("t7", 35, 35, 35), ("t8", 60, 60, 60), ("t9", 8, 90, 8)]
    read = read_file(file("a.csv", table(rows)))
    assert read.faults == ()
    assert read.ratings.scales == {"rating": Numeric(0, 100, 1)}


def test_many_numbers_beyond_a_usual_scale_are_another_scale(file):
    rows = [(f"t{k}", k % 12, (k + 1) % 12, k % 12) for k in range(60)]
    assert read_file(file("a.csv", table(rows))).ratings.scales == {"rating": Numeric(0, 11, 1)}


def test_people_whose_lowest_is_below_the_judges_answer_on_its_scale(file):
    rows = [(f"t{k}", f"{k % 40}%", f"{k % 40 + 5}%", f"{max(k % 40, 30)}%") for k in range(80)]
    assert read_file(file("a.csv", table(rows))).ratings.raters == KINDS


@pytest.mark.parametrize("always", [3, 4, 1])
def test_a_judge_that_says_one_thing_stands_beside_its_people(file, always):
    read = read_file(file("a.csv", table([(*row[:3], always) for row in five()])))
    assert read.ratings.raters == KINDS
    assert read.ratings.scales == {"rating": Numeric(1, 5, 1)}


def test_a_judge_that_refuses_a_third_is_not_taken_for_names_of_raters(file):
    rows = [(*row[:3], "I cannot help with that." if k % 3 == 0 else row[3]) for k, row in enumerate(five())]
    read = read_file(file("a.csv", table(rows)))
    assert read.ratings.raters == KINDS
    judge = read.ratings.table[read.ratings.table["rater"] == "judge"]
    assert dict(judge["status"].value_counts()) == {"ok": 40, "unparsed": 20}


@pytest.mark.parametrize("column", ["judge", "model"])
def test_a_column_of_answers_is_neither_raters_nor_systems_whatever_it_is_called(file, column):
    words = ("refund", "complaint", "praise")
    rows = [(f"t{k}", words[k % 3], words[(k + k % 2) % 3], words[(k + k % 5 // 4) % 3]) for k in range(60)]
    ratings = read_file(file("a.csv", table(rows, f"ticket,anna,ben,{column}"))).ratings
    assert ratings.raters == {"anna": "person", "ben": "person", column: "judge"}


def test_labels_beside_numbers_are_told_with_who_gives_them(file):
    rows = [(*row[:3], "👍" if k % 2 else "👎") for k, row in enumerate(five())]
    with pytest.raises(RecuseError, match=r"human gives '👎' and '👍', judge numbers such as .*; say from which"):
        read_file(file("a.csv", table(rows, "ticket,judge,gpt,human")))


def test_several_numbers_in_a_cell_are_no_sets(file):
    for cell in ('"[{}, {}]"', '"{}, {}"', "{}; {}", "{} | {}"):
        rows = [f"t{k},{cell.format(k % 5, (k + k % 2) % 5)},{k % 5}" for k in range(40)]
        read = read_file(file("a.csv", "\n".join(["ticket,human_scores,judge_score", *rows])))
        assert read.ratings.raters == {"judge": "judge", "human_scores1": "person", "human_scores2": "person"}
    rows = [f"t{k},{k % 5} and {(k + k % 2) % 5},{k % 5}" for k in range(40)]
    with pytest.raises(RecuseError, match=r"column human_scores holds several numbers a cell .* give every person"):
        read_file(file("b.csv", "\n".join(["ticket,human_scores,judge_score", *rows])))


def test_models_that_many_people_rated_are_no_raters(file):
    people = ",".join(f"p{k}" for k in range(1, 13))
    rows = [f"{model},{','.join(str((k + n) % 5 + 1) for k in range(12))}"
            for n, model in enumerate(("gpt-4o", "claude-3", "llama-3", "our baseline"))]  # fmt: skip
    with pytest.raises(RecuseError, match="no name tells judges from people: 'p1', 'p2'"):
        read_file(file("a.csv", "\n".join([f"model,{people}", *rows])))


FENCED = 'My verdict.\n```json\n{"reasoning": "number %d", "verdict": "%s", "confidence": 0.%d}\n```'


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def test_a_verdict_within_the_judges_json_is_its_verdict(file):
    said = ["pass" if k % 3 else "fail" for k in range(30)]
    cells = [quoted(FENCED % (k, word, k)) for k, word in enumerate(said)]
    cells[4] = '"I would rather not say."'
    read = read_file(file("a.csv", table([(f"t{k}", w, c) for k, (w, c) in enumerate(zip(said, cells, strict=True))],
                                         "case_id,human_label,judge_output")))  # fmt: skip
    assert read.ratings.raters == {"human": "person", "judge_output": "judge"}
    judge = read.ratings.table[read.ratings.table["rater"] == "judge_output"].reset_index(drop=True)
    assert [r for r in judge["response"] if isinstance(r, str)] == [w for k, w in enumerate(said) if k != 4]
    assert list(judge.index[judge["status"] == "unparsed"]) == [4]


def test_two_objects_in_a_cell_are_no_answer(file):
    cells = [quoted(json.dumps({"score": k % 5 + 1, "reason": "ok"})) for k in range(30)]
    cells[2] = quoted('{"score": 1} or rather {"score": 5}')
    rows = [(f"t{k}", k % 5 + 1, cell) for k, cell in enumerate(cells)]
    ratings = read_file(file("a.csv", table(rows, "ticket,anna,judge_json"))).ratings
    judge = ratings.table[ratings.table["rater"] == "judge_json"].reset_index(drop=True)
    assert list(judge.index[judge["status"] != "ok"]) == [2]
    assert judge["score"].sum() == sum(k % 5 + 1 for k in range(30)) - 3


def test_a_header_in_two_lines_is_read_together(file):
    lines = [",Helpfulness,,,Tone,,", "ticket,Anna,Ben,GPT,Anna,Ben,GPT"]
    lines += [f"T{k},{k % 5 + 1},{k % 4 + 1},{k % 5 + 1},{k % 3 + 1},{k % 5 + 1},{k % 4 + 1}" for k in range(30)]
    read = read_file(file("a.csv", "\n".join(lines)))
    assert read.ratings.raters == {"Anna": "person", "Ben": "person", "GPT": "judge"}
    assert set(read.ratings.headline) == {"Helpfulness", "Tone"}
    assert read.ratings.table["item"].nunique() == 30


def test_a_first_row_with_a_gap_whose_words_come_again_is_no_second_header(file):
    """An empty name above, but the words below it are answers: `good` of the first row is one of the later rows."""
    later = [("bad", "good", "fair"), ("fair", "fair", "bad"), ("good", "bad", "bad")]
    answers = [("good", "bad", "good"), *later * 12]
    lines = ["ticket,,Ben,GPT", *(f"T{k},{a},{b},{c}" for k, (a, b, c) in enumerate(answers))]
    read = read_file(file("a.csv", "\n".join(lines)), scale="bad,fair,good", people=["Ben"])
    assert read.ratings.table["item"].nunique() == 37


def test_titles_above_and_sums_below_are_no_ratings_and_lines_keep_their_numbers(file):
    rows = five(30)
    rows[3] = (*rows[3][:3], "broken")
    text = "Calibration in March,,,\n,,,\n" + table(rows) + "\nAverage,3.1,2.9,3.3\nNote: broken = unreadable"
    read = read_file(file("a.csv", text))
    assert read.ratings.raters == KINDS
    assert read.ratings.scales == {"rating": Numeric(1, 5, 1)}
    assert read.ratings.table["item"].nunique() == 30
    whats = {fault.what.split(",")[0]: fault for fault in read.faults}
    assert whats["answer(s) are not numbers"].places == ("line 7, column judge: 'broken'",)
    said = (
        "2 row(s) sum up or explain the others (begins with 'Average'; begins with 'Note: broken = "
        "unreadable'); they are left out"
    )
    assert whats["row(s) sum up or explain the others"].sentence() == said


@pytest.mark.parametrize("day", ["2026-03-{:02}", "{}.3.2026", "03/{:02}/26", "2026-03-{:02}T09:00:00Z"])
def test_days_are_no_slices_whatever_their_column_is_called(file, day):
    rows = [(*row, day.format(k % 4 + 1), "de" if k % 3 else "fr") for k, row in enumerate(five(40))]
    read = read_file(file("a.csv", table(rows, "ticket,anna,ben,judge,Datum,language")))
    assert read.mapping.slices == ("language",)


def test_labels_in_the_second_row_are_no_header(file):
    text = table([("t1", "pass", "fail", "pass", ""), *((f"t{k}", "fail", "pass", "fail", "x") for k in range(2, 9))],
                 "ticket,anna,ben,judge,")  # fmt: skip
    assert read_file(file("a.csv", text)).ratings.table["item"].nunique() == 8


@pytest.mark.parametrize("long", [False, True])
def test_copied_rows_are_no_repeats(file, long):
    rows, header = five(30), "ticket,anna,ben,judge"
    if long:
        header = "ticket,rater,score"
        rows = [(row[0], who, mark) for row in rows for who, mark in zip(KINDS, row[1:], strict=True)]
    read = read_file(file("a.csv", table([*rows, *rows[:12]], header)))
    assert set(read.ratings.table["repeat"]) == {0}
    assert len(read.ratings.table) == 90
    assert [fault.count for fault in read.faults] == [12]


def test_a_judge_asked_again_is_no_copy(file):
    again = [(*row[:3], row[3] % 5 + 1 if k % 4 == 0 else row[3]) for k, row in enumerate(five(30))]
    read = read_file(file("a.csv", table([*five(30), *again])))
    judge = read.ratings.table[read.ratings.table["rater"] == "judge"]
    assert set(judge["repeat"]) == {0, 1}


def test_another_turn_is_no_repeat(file):
    lines = [
        json.dumps({"question_id": k, "model": m, "judge": "gpt-4", "score": (k + t) % 10 + 1, "turn": t})
        for k in range(20) for m in ("llama", "vicuna") for t in (1, 2)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(lines)))
    assert set(read.ratings.table["repeat"]) == {0}
    assert read.ratings.table["item"].nunique() == 40


def restarting(again):
    """Scores of two systems, twice each, whose questions are numbered anew under `again` of 20 topics' questions."""
    names = [(topic, f"q{k}" if k < again else f"q{k} {topic}") for topic in ("law", "maths") for k in range(20)]
    rows = [(q, topic, system, "gpt", 1 + k % 5, 1 + k % 4) for k, (topic, q) in enumerate(names) for system in "AB"]
    return table(rows, header="question,subset,system,judge,r1,r2")


@pytest.mark.parametrize("again", [2, 20])
def test_questions_numbered_anew_under_each_topic_are_named_by_both(file, again):
    """Whether few names come back or all: repeats have columns here, so rows that differ in the topic alone are not
    the same question twice."""
    read = read_file(file("a.csv", restarting(again)))
    assert read.mapping.item == ("question", "subset")
    assert len(read.ratings.table) == 40 * 2 * 2
    assert not read.faults


def test_a_file_of_one_topic_tells_of_which(file):
    rows = [line for line in restarting(0).splitlines() if "maths" not in line]
    texts = read_file(file("a.csv", "\n".join(rows))).ratings.texts
    assert set(texts["subset"]) == {"law"}


def test_a_column_that_says_where_a_score_came_from_names_the_raters(file):
    who = ("EVAL", "ANNOTATION")
    rows = [(f"tr-{k}", "helpfulness", (k + s) % 5 / 4, who[s]) for k in range(30) for s in (0, 1)]
    read = read_file(file("a.csv", table(rows, "traceId,name,value,source")))
    assert read.ratings.raters == {"EVAL": "judge", "ANNOTATION": "person"}


def test_metrics_are_criteria_of_one_judge_and_not_judges(file):
    rows = [(f"question {k}", k % 7 / 7, k % 5 / 5, k % 3 / 3) for k in range(30)]
    header = "user_input,faithfulness,answer_relevancy,context_precision"
    ratings = read_file(file("a.csv", table(rows, header))).ratings
    assert ratings.raters == {"judge": "judge"}
    assert set(ratings.headline) == set(header.split(",")[1:])


@pytest.mark.parametrize("topic", ["topic", "metadata.topic"])
def test_one_column_of_any_words_is_no_judge(file, topic):
    record = {"responses": [{"v": 1}, {"v": 2}], "more": [{"w": 1}]}
    lines = [json.dumps({"id": k, topic: ("a1", "b1", "c1")[k % 3], **record}) for k in range(30)]
    with pytest.raises(RecuseError, match=r"no column holds ratings .* Of responses, more, which hold lists, write"):
        read_file(file("a.jsonl", "\n".join(lines)))


def test_a_strict_judge_answers_on_the_peoples_scale(file):
    rows = [(*row[:3], min(row[3], 3)) for row in five()]
    assert read_file(file("a.csv", table(rows))).ratings.scales == {"rating": Numeric(1, 5, 1)}


def test_people_on_1_to_3_beside_a_judge_on_1_to_5_are_two_scales(file):
    rows = [(f"t{k}", k % 3 + 1, (k + k % 2) % 3 + 1, k % 5 + 1) for k in range(60)]
    with pytest.raises(RecuseError, match=r"judge gives numbers up to 5, \w+ only up to 3; .*--scale=1-5.*--ignore"):
        read_file(file("a.csv", table(rows)), people="anna,ben")
    read = read_file(file("a.csv", table(rows)), people="anna,ben", scale="1-5")
    assert read.ratings.scales["rating"].ends == (1, 5)


def test_strict_people_who_rarely_reach_3_are_on_the_judges_scale(file):
    rows = [(f"t{k}", 1 + (k % 2) + (k % 20 == 1), 1 + (k % 2) + (k % 20 == 3), k % 5 + 1) for k in range(60)]
    assert read_file(file("a.csv", table(rows)), people="anna,ben").ratings.scales["rating"] == Numeric(1, 5, 1)


def test_a_label_that_people_and_judges_give_is_no_slip(file):
    """Four of five labels stand in a known order and have nine answers in ten; the fifth is an answer all the same."""
    words = ["poor", "fair", "good", "excellent"]
    rows = [(f"t{k}", *["dreadful" if k % 12 == 0 else words[(k + shift * (k % 3 == 0)) % 4] for shift in range(3)])
            for k in range(60)]  # fmt: skip
    read = read_file(file("a.csv", table(rows)), people="anna,ben")
    assert set(read.ratings.scales["rating"].options) == {*words, "dreadful"}
    assert not read.faults
    assert any("--scale 'worst<...<best'" in note for note in read.notes)


def test_a_label_that_only_judges_give_is_no_answer(file):
    rows = [(f"t{k}", *["pass" if (k + s) % 3 else "fail" for s in range(2)], "unclear" if k % 15 == 0 else "pass")
            for k in range(60)]  # fmt: skip
    read = read_file(file("a.csv", table(rows)), people="anna,ben")
    assert read.ratings.scales["rating"] == Ordinal(("fail", "pass"))
    assert "'unclear'" in read.faults[0].sentence()


def crossed(raters, number=60):
    """Columns anna_tone, anna_truth, ...; the second criterion runs the other way."""
    names = [f"{rater}_{what}" for rater in raters for what in ("tone", "truth")]
    rows = [",".join(["ticket", *names])]
    rows += [
        ",".join([f"t{k}", *(str((k if n % 2 else -k + n) % 5 + 1) for n in range(len(names)))]) for k in range(number)
    ]
    return "\n".join(rows)


def test_three_raters_of_every_criterion_need_no_telling_names(file):
    read = read_file(file("a.csv", crossed(("anna", "old", "new"))), people="anna")
    assert list(read.ratings.raters) == ["anna", "old", "new"]
    assert tuple(read.ratings.headline) == ("tone", "truth")


def test_two_raters_of_every_criterion_are_those_that_are_said(file):
    read = read_file(file("a.csv", crossed(("anna", "old"))), people="anna")
    assert read.ratings.raters == {"anna": "person", "old": "judge"}
    assert tuple(read.ratings.headline) == ("tone", "truth")


def test_two_kinds_of_precision_and_recall_are_criteria_of_one_judge(file):
    rows = ["ticket,answer_precision,answer_recall,context_precision,context_recall"]
    rows += [",".join([f"t{k}", *(str((k + n) % 5 + 1) for n in range(4))]) for k in range(60)]
    assert list(read_file(file("a.csv", "\n".join(rows))).ratings.raters) == ["judge"]


def test_a_studys_author_among_the_raters_is_a_person(file):
    rows = ["question_id,model_a,model_b,winner,judge"]
    rows += [f"{k},llama,qwen,model_{'ab'[k % 2]},{who}" for k in range(30) for who in ("author_2", "expert_1", "gpt4")]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.ratings.raters == {"author_2": "person", "expert_1": "person", "gpt4": "judge"}

"""Files of crowdsourcing platforms, annotation tools and surveys: who answered what, and what does not count."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from recuse.ratings import Ordinal
from recuse.readers import read_file
from recuse.schema import RecuseError

NUMBER = 40
DRAW = np.random.default_rng(5)
QUALITY = DRAW.normal(size=NUMBER)
ANNA, BEN, JUDGE = (
    [int(mark) for mark in np.clip(np.round(3 + QUALITY + 0.6 * DRAW.normal(size=NUMBER)), 1, 5)] for _ in range(3)
)
RATED = ((1, ANNA), (2, BEN))


def table(rows, separator=",", header=None):
    stream = io.StringIO()
    names = header or [*dict.fromkeys(name for row in rows for name in row)]
    writer = csv.writer(stream, delimiter=separator)
    writer.writerow(names)
    writer.writerows([row if header else [row.get(name, "") for name in names] for row in rows])
    return stream.getvalue()


def text(k):
    return f"The answer to question {k}, in a sentence of quite a few words."


def judged(read, criterion=None):
    """Kind -> item -> what its raters said, in order."""
    rows = read.ratings.table
    rows = rows if criterion is None else rows[rows["criterion"] == criterion]
    value = rows["score"].where(rows["response"].isna(), rows["response"])
    of = {}
    for kind, item, said in zip(rows["kind"].astype(str), rows["item"], value, strict=True):
        of.setdefault(kind, {}).setdefault(item, []).append(said)
    return {kind: [*map(sorted, items.values())] for kind, items in of.items()}


PEOPLE, JUDGES = [sorted(marks) for marks in zip(ANNA, BEN, strict=True)], [[mark] for mark in JUDGE]


def is_read_right(read):
    return judged(read) == {"person": PEOPLE, "judge": JUDGES}


def assignment(k, worker, mark, **other):
    given = {"Input.text": text(k), "Input.gpt4_score": JUDGE[k], "Answer.quality": mark}
    status = {"AssignmentStatus": "Approved", "HITId": f"3HIT{k}", "WorkerId": f"A{worker}"}
    return {**given, **status, **other}


MTURK = [assignment(k, who, marks[k]) for k in range(NUMBER) for who, marks in RATED]
SPAM = [assignment(k, 9, 1, AssignmentStatus="Rejected") for k in range(0, NUMBER, 2)]


def toloka(k, worker, mark, **other):
    about = {"INPUT:text": text(k), "INPUT:gpt4_score": JUDGE[k], "OUTPUT:quality": mark, "GOLDEN:quality": ""}
    own = {"ASSIGNMENT:task_id": f"t{k}", "ASSIGNMENT:worker_id": f"w{worker}", "ASSIGNMENT:reward": 0.02}
    return {**about, **own, "ASSIGNMENT:status": "APPROVED", **other}


def appen(k, worker, mark, **other):
    own = {"_unit_id": 700 + k, "_golden": "false", "_id": 9_000 + 10 * k + worker, "_tainted": "false"}
    about = {"quality": mark, "gpt4_score": JUDGE[k % NUMBER], "text": text(k)}
    return {**own, "_worker_id": 400 + worker, **about, **other}


def each(of, *further):
    return [of(k, who, marks[k]) for k in range(NUMBER) for who, marks in RATED] + [*further]


TOLOKA = each(
    toloka, *(toloka(k, 9, 1, **{"ASSIGNMENT:status": "REJECTED"}) for k in range(0, NUMBER, 3)),
    *(toloka(k, 9, 5, **{"GOLDEN:quality": 5, "ASSIGNMENT:task_id": f"gold{k}"}) for k in range(5)),
)  # fmt: skip
APPEN = each(
    appen, *(appen(k, 9, 1, _tainted="true") for k in range(0, NUMBER, 3)),
    *(appen(NUMBER + k, 1, 5, _golden="true", quality_gold=5) for k in range(5)),
)  # fmt: skip
FORMS = [
    {**{n: v for n, v in row.items() if n != "Answer.quality"},
     "Answer.taskAnswers": json.dumps([{"quality": {str(k): k == row["Answer.quality"] for k in range(1, 6)}}])}
    for row in MTURK
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [(MTURK + SPAM, "20 rejected assignments"), (FORMS, "workers are people"),
     (TOLOKA, "14 rejected assignments are left out; 5 answers to test questions"), (APPEN, "19 answers, to test")],
    ids=["mturk", "forms", "toloka", "appen"],
)  # fmt: skip
def test_workers_rate_tasks_and_what_was_refused_or_a_test_does_not_count(file, rows, left_out):
    read = read_file(file("a.csv", table(rows)))
    assert is_read_right(read)
    assert any(left_out in note for note in read.notes)


def test_tasks_that_were_given_the_same_text_are_asked_about(file):
    twice = [{**row, "HITId": f"{row['HITId']}-{row['WorkerId']}", "Input.id": row["HITId"]} for row in MTURK]
    path = file("a.csv", table(twice))
    with pytest.raises(RecuseError, match=r"80 tasks \(HITId\) were given 40 different .* say --item Input.text"):
        read_file(path)
    assert is_read_right(read_file(path, item="Input.text"))
    assert len(judged(read_file(path, item="HITId"))["person"]) == 2 * NUMBER


def test_labels_of_ground_truth_are_peoples_but_those_that_a_model_gave(file):
    words = ["pass" if mark > 2 else "fail" for mark in ANNA]
    lines = [
        {"source": text(k), "gpt4": "pass" if JUDGE[k] > 2 else "fail", "check": int(words[k] == "pass"),
         "check-metadata": {"class-name": words[k], "confidence": 0.9, "human-annotated": "yes" if k > 9 else "no"}}
        for k in range(NUMBER)
    ]  # fmt: skip
    read = read_file(file("a.manifest", "\n".join(map(json.dumps, lines))))
    assert dict(read.ratings.raters) == {"check": "person", "gpt4": "judge"}
    assert judged(read)["person"] == [[word] for word in words[10:]]


def annotation(k, who, **answers):
    own = {"id": 1_000 + k, "annotation_id": 10 * k + who, "annotator": who, "lead_time": 3.5 + k}
    return {**own, "text": text(k), **answers}


def marked(mark):
    return json.dumps([{"rating": mark}])


def test_numbers_of_label_studio_stand_in_cells_as_json(file):
    rows = each(lambda k, who, mark: annotation(k, who, quality=marked(mark), gpt4_score=JUDGE[k]))
    assert is_read_right(read_file(file("a.csv", table(rows))))


def test_a_question_on_which_annotators_are_at_one_is_one(file):
    rows = [
        annotation(k, who, quality=marked(marks[k]), tone=marked(ANNA[k]), gpt4_quality=JUDGE[k], gpt4_tone=BEN[k])
        for k in range(NUMBER) for who, marks in RATED
    ]  # fmt: skip
    read = read_file(file("a.csv", table(rows)))
    assert judged(read, "quality") == {"person": PEOPLE, "judge": JUDGES}
    assert judged(read, "tone") == {"person": [[mark] * 2 for mark in ANNA], "judge": [[mark] for mark in BEN]}


def test_several_choices_of_label_studio_are_sets_beside_single_ones(file):
    sets = [["spam", "rude"] if k % 8 else ["fine"] for k in range(NUMBER)]
    cells = [json.dumps({"choices": one}) if one[1:] else one[0] for one in sets]
    rows = [
        annotation(k, who, flags=cells[k] if k % 5 or who == 1 else "fine", gpt4_flags=cells[k])
        for k in range(NUMBER) for who in (1, 2)
    ]  # fmt: skip
    assert judged(read_file(file("a.csv", table(rows))))["judge"] == [["|".join(sorted(one))] for one in sets]


def test_one_annotation_a_task(file):
    rows = [annotation(k, 1 + k % 2, quality=ANNA[k], gpt4_score=JUDGE[k]) for k in range(NUMBER)]
    read = read_file(file("a.csv", table(rows)))
    assert dict(read.ratings.raters) == {"annotator 1": "person", "annotator 2": "person", "gpt4": "judge"}
    assert judged(read) == {"person": [[mark] for mark in ANNA], "judge": JUDGES}
    path = file("b.csv", table([{**row, "depth": BEN[k]} for k, row in enumerate(rows)]))
    with pytest.raises(RecuseError, match="depth may be answers of annotator: say which are, --value quality,depth"):
        read_file(path)
    assert judged(read_file(path, value="quality", ignore="depth"))["person"] == [[mark] for mark in ANNA]


META = ["StartDate", "Status", "Progress", "Finished", "ResponseId", "UserLanguage"]


@pytest.mark.parametrize("status", [
    "Survey Preview", "8", *(pytest.param(status, marks=pytest.mark.slow("further cases"))
                             for status in ("Spam", "Survey Test", "1", "9")),
])  # fmt: skip
def test_previews_tests_and_spam_of_qualtrics_are_nobodys(file, status):
    usual = "0" if status.isdigit() else "IP Address"
    header = META + [f"Q{k}" for k in range(NUMBER)]
    ids = [json.dumps({"ImportId": name}) for name in [*META, *(f"QID{k}" for k in range(NUMBER))]]
    words = ["Start Date", "Type", "Progress", "Finished", "Response ID", "User Language", *map(text, range(NUMBER))]
    rows = [
        ["2026-01-05", of, 100, "True", who, "EN", *marks]
        for of, who, marks in (
            (usual, "R_1", ANNA), (status, "R_2", [3] * NUMBER), (usual, "R_3", BEN), (usual, "gpt-4o", JUDGE),
        )
    ]  # fmt: skip
    read = read_file(file("a.csv", table([words, ids, *rows], header=header)))
    assert is_read_right(read)
    assert any("1 that are previews, tests or spam are left out" in note for note in read.notes)


def form(questions, *rows):
    header = ["Timestamp", "Email Address", *questions]
    return table([["2026/01/05 10:00", who, *marks] for who, marks in rows], header=header)


def of_both(one, other):
    return [mark for pair in zip(one[:20], other[:20], strict=True) for mark in pair]


WHO = [("anna@x.org", of_both(ANNA, BEN)), ("ben@x.org", of_both(BEN, JUDGE)), ("gpt-4o", of_both(JUDGE, ANNA))]


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["Answer {} [{}]", "{1} [Answer {0}]", "T{}_{}", "Answer {} {}"])
def test_columns_of_a_survey_that_are_called_after_criteria_too_are_about_these(file, name):
    questions = [name.format(k, word) for k in range(20) for word in ("Fluency", "Accuracy")]
    read = read_file(file("a.csv", form(questions, *WHO)))
    assert judged(read, "Fluency") == {"person": PEOPLE[:20], "judge": JUDGES[:20]}
    assert judged(read, "Accuracy")["judge"] == [[mark] for mark in ANNA[:20]]


def test_two_questions_about_texts_in_a_grid_are_asked_about(file):
    questions = [f"How {word}? [Answer {k}]" for k in range(20) for word in ("long", "warm")]
    with pytest.raises(RecuseError, match=r"40 columns ask 2 questions \('How long\?', ...\) with 20 rows each"):
        read_file(file("a.csv", form(questions, *WHO)))
    one = [f"How warm? [Answer {k}]" for k in range(40)]
    assert read_file(file("b.csv", form(one, *WHO))).ratings.table["item"].nunique() == 40


def test_rows_of_qualtrics_grids_are_criteria(file):
    header = META + [f"Q{k}_{part}" for k in range(20) for part in (1, 2)]
    words = [*META[:4], "Response ID", "User Language"]
    words += [f"Rate: {text(k)} - {word}" for k in range(20) for word in ("Fluency", "Accuracy")]
    ids = [json.dumps({"ImportId": name}) for name in [*META, *(f"QID{k}" for k in range(40))]]
    rows = [["2026-01-05", "IP Address", 100, "True", who, "EN", *marks] for who, marks in WHO]
    read = read_file(file("a.csv", table([words, ids, *rows], header=header)))
    assert judged(read, "Fluency")["judge"] == JUDGES[:20]
    assert read.ratings.table["item"].nunique() == 20


def test_several_grids_of_surveymonkey_are_texts_by_criteria(file):
    own = ["Respondent ID", "Collector ID", "Email Address"]
    first = [*own, *(word for k in range(20) for word in (f"Answer {k}", ""))]
    second = ["", "", "", *["Fluency", "Accuracy"] * 20]
    rows = [[f"11{k}", "7", who, *marks] for k, (who, marks) in enumerate(WHO)]
    read = read_file(file("a.csv", table([second, *rows], header=first)))
    assert judged(read, "Fluency") == {"person": PEOPLE[:20], "judge": JUDGES[:20]}
    first = [*own, "How long is it?", *[""] * 19, "How warm is it?", *[""] * 19]
    second = ["", "", "", *(f"Answer {k}" for _ in range(2) for k in range(20))]
    with pytest.raises(RecuseError, match=r"40 columns ask 2 questions .* which of them are texts and which criteria"):
        read_file(file("b.csv", table([second, *rows], header=first)))


def test_a_question_about_who_answers_is_no_text_and_names_no_rater(file):
    names = [f"How good? [Answer {k}]" for k in range(NUMBER)]
    rows = [("Anna", [*ANNA, 3]), ("Ben", [*BEN, 4]), ("GPT-4o", [*JUDGE, ""])]
    path = file("a.csv", form([*names, "How sure were you?"], *rows).replace("Email Address", "Your name"))
    with pytest.raises(RecuseError, match="if no text was rated there, say --ignore 'How sure were you"):
        read_file(path)
    assert is_read_right(read_file(path, ignore="How sure were you?"))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("word", ["REJECTED", "Returned", "timed-out", "draft"])
def test_answers_that_somebody_refused_are_asked_about(file, word):
    def answer(k, who, mark, status="APPROVED"):
        own = {"participant_id": f"5f1a2b3c4d5e6f7a8b9c0d{who}", "status": status, "item_id": f"t{k}"}
        return {**own, "gpt4_rating": JUDGE[k], "rating": mark}

    path = file("a.csv", table(each(answer, *(answer(k, 9, 1 + k % 5, word) for k in range(0, NUMBER, 2)))))
    with pytest.raises(RecuseError, match=f"status says '{word}' of 20 answers by people: .* say --ignore status"):
        read_file(path)
    assert len(read_file(path, ignore="status").ratings.persons) == 3
    orders = [{**row, "status": word if row["item_id"] == "t3" else "shipped"} for row in each(answer)]
    assert is_read_right(read_file(file("b.csv", table(orders))))  # what the text is about


@pytest.mark.parametrize(
    ("column", "word", "usual"),
    [("is_attention_check", True, False), ("trial_type", "practice", "main"), ("was_cancelled", True, False)],
)
def test_texts_that_tested_people_and_answers_that_they_left_out_are_asked_about(file, column, word, usual):
    def answer(k, who, mark):
        told = word if k % 8 == 0 else usual
        return {"participant": f"P{who}", "text_id": f"t{k}", column: told, "gpt4_rating": JUDGE[k], "rating": mark}

    path = file("a.csv", table(each(answer)))
    with pytest.raises(RecuseError, match=f"{column} says .* of 10 answers by people: .* say --ignore {column}"):
        read_file(path)
    assert is_read_right(read_file(path, ignore=column))
    passed = [
        {**row, column: word if row["participant"] == "P1" and row["rating"] > 2 else usual} for row in each(answer)
    ]
    if column != "was_cancelled":  # who passed it
        assert is_read_right(read_file(file("b.csv", table(passed))))


def test_right_answers_in_rows_of_their_own_are_no_persons(file):
    people = {"anna": ANNA, "ben": BEN, "GOLD": ANNA, "gpt-4o": JUDGE}
    path = file("a.csv", table([
        {"doc": f"d{k}", "annotator": who, "label": marks[k]} for who, marks in people.items() for k in range(NUMBER)
    ]))  # fmt: skip
    assert read_file(path).ratings.truth == "GOLD"
    assert read_file(path, people="anna,ben,GOLD").ratings.truth == ""


def test_words_of_several_people_in_a_list(file):
    words = ["bad", "could be improved", "acceptable", "excellent", "excellent"]
    lines = [
        {"question": text(k), "rating": [words[ANNA[k] - 1], words[BEN[k] - 1]], "gpt4_rating": words[JUDGE[k] - 1]}
        for k in range(NUMBER)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert judged(read)["person"] == [sorted(words[mark - 1] for mark in pair) for pair in zip(ANNA, BEN, strict=True)]


def test_people_among_annotators_of_alpaca_eval(file):
    rows = [
        {"instruction": text(k), "generator_1": "a", "generator_2": "b", "annotator": who, "preference": 1 + mark % 2}
        for who, marks in (("human_0", ANNA), ("human_1", BEN), ("alpaca_eval_gpt4", JUDGE))
        for k, mark in enumerate(marks)
    ]  # fmt: skip
    kinds = dict(read_file(file("a.json", json.dumps(rows))).ratings.raters)
    assert kinds == {"human_0": "person", "human_1": "person", "alpaca_eval_gpt4": "judge"}


def test_the_same_number_of_a_set_in_every_row_is_no_rater(file):
    rows = [
        {"essay_id": k, "essay_set": 1, "rater1_domain1": ANNA[k], "rater2_domain1": BEN[k], "gpt4_score": JUDGE[k]}
        for k in range(NUMBER)
    ]  # fmt: skip
    assert is_read_right(read_file(file("a.csv", table(rows))))
    always = [{"essay_id": k, "Maria": 5, "Jonas": BEN[k], "gpt4_score": JUDGE[k]} for k in range(NUMBER)]
    assert "Maria" in read_file(file("b.csv", table(always))).ratings.persons


def test_letter_grades_with_signs_have_their_order(file):
    grades = ["D", "C-", "C", "B+", "A-"]
    people = {"anna": ANNA, "ben": BEN, "gpt-4o": JUDGE}
    rows = [{"essay_id": k, **{who: grades[marks[k] - 1] for who, marks in people.items()}} for k in range(NUMBER)]
    scale = read_file(file("a.csv", table(rows))).ratings.scales["rating"]
    assert isinstance(scale, Ordinal)
    assert [one for one in scale.options if one.upper() in grades] == ["d", "c-", "c", "b+", "a-"]


@pytest.mark.parametrize("name", ["CURATION_USER", "curated"])
def test_what_was_curated_of_several_people_is_no_further_person(file, name):
    rows = [{"doc": f"d{k}", "anna": ANNA[k], "ben": BEN[k], name: ANNA[k], "gpt-4o": JUDGE[k]} for k in range(NUMBER)]
    assert is_read_right(read_file(file("a.csv", table(rows))))

"""Files as teams have them that nobody prepared: read as they are meant, or one question that an option answers."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from recuse.ratings import Ordinal
from recuse.readers import read_file
from recuse.readers.column_names import as_typed
from recuse.readers.file_panel import load_versions
from recuse.schema import RecuseError
from recuse.upgrade.compare_command import compare

NUMBER = 60
DRAW = np.random.default_rng(7)
QUALITY = DRAW.normal(size=NUMBER)


def marks(low=1, high=5):
    drawn = np.round((low + high) / 2 + (high - low) / 4 * (QUALITY + 0.6 * DRAW.normal(size=NUMBER)))
    return [int(mark) for mark in np.clip(drawn, low, high)]


ANNA, BEN, JUDGE = marks(), marks(), marks()
YES = [[bool(q + 0.5 * e > 0) for q, e in zip(QUALITY, DRAW.normal(size=NUMBER), strict=True)] for _ in range(3)]


def table(header, *columns, separator=","):
    stream = io.StringIO()
    rows = [[f"T-{k}", *(column[k] for column in columns)] for k in range(NUMBER)]
    csv.writer(stream, delimiter=separator).writerows([header, *rows])
    return stream.getvalue()


def answers(read):
    """What each rater says of the texts in order, as text in lower case or as a number."""
    rows = read.ratings.table
    value = rows["score"].where(rows["response"].isna(), rows["response"])
    return {who: list(value[rows["rater"] == who]) for who in rows["rater"].astype(str).unique()}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("people", "judge"),
    [
        (("évaluateur_1", "évaluateur_2"), "juge_gpt4o"), (("Prüfer 1", "Prüfer 2"), "LLM-Urteil"),
        (("valutatore_1", "valutatore_2"), "giudice"), (("avaliador 1", "avaliador 2"), "juiz"),
        (("revisor_1", "revisor_2"), "juez"), (("評価者1", "評価者2"), "LLM評価"),
        (("人工评分1", "人工评分2"), "模型评分"),
        (("평가자1", "평가자2"), "GPT평가"), (("Human Eval 1", "Human Eval 2"), "LLM Eval"),
        (("manual_1", "manual_2"), "automatic"), (("TA_1", "TA_2"), "autograder"),
        (("ann@acme.com", "j.smith@acme.com"), "llm-judge"),
    ],
)  # fmt: skip
def test_people_and_judges_by_their_names_in_many_languages(file, people, judge):
    read = read_file(file("a.csv", table(["id", *people, judge], ANNA, BEN, JUDGE, separator=";")))
    kinds = dict(zip(read.ratings.raters.values(), answers(read).values(), strict=True))
    assert [*read.ratings.raters.values()] == ["person", "person", "judge"]
    assert kinds["judge"] == JUDGE


@pytest.mark.parametrize(
    "header",
    [("id_texte", "annotateur", "note"), ("Text-ID", "Bewerter", "Punkte"), ("texto_id", "evaluador", "puntuación")],
)
def test_a_column_of_raters_in_another_language(file, header):
    names = ("Marie", "Paul", "gpt-4o")
    given = dict(zip(names, (ANNA, BEN, JUDGE), strict=True))
    rows = [f"T-{k};{who};{given[who][k]}" for k in range(NUMBER) for who in names]
    read = read_file(file("a.csv", "\n".join([";".join(header), *rows])))
    assert read.ratings.raters == {"Marie": "person", "Paul": "person", "gpt-4o": "judge"}
    assert answers(read) == given


def test_who_stands_in_a_column_of_annotators_is_a_person(file):
    rows = [f"T-{k},{who},{given[k]}" for k in range(NUMBER) for who, given in (("r1", ANNA), ("r2", BEN))]
    assert set(read_file(file("a.csv", "\n".join(["id,annotator,score", *rows]))).ratings.raters.values()) == {"person"}


@pytest.mark.parametrize(
    ("no", "yes", "judge"),
    [("no", "sí", ("No", "Si")), ("nein", "ja", ("no", "yes")), ("non", "oui", ("false", "true")),
     ("いいえ", "はい", ("no", "yes"))],
)  # fmt: skip
def test_verdicts_in_two_languages_are_the_same_verdicts(file, no, yes, judge):
    columns = [[(no, yes)[y] for y in YES[0]], [(no, yes)[y] for y in YES[1]], [judge[y] for y in YES[2]]]
    read = read_file(file("a.csv", table(["id", "Anna", "Ben", "gpt-4o"], *columns)))
    said = answers(read)
    assert len({*said["Anna"]} | {*said["gpt-4o"]}) == 2
    assert [a == g for a, g in zip(said["Anna"], said["gpt-4o"], strict=True)] == [
        a == g for a, g in zip(YES[0], YES[2], strict=True)
    ]


@pytest.mark.parametrize(
    "order", ["none low medium high critical", "none mild moderate severe", "none minor major critical"]
)
def test_degrees_of_severity_have_an_order_that_needs_no_telling(file, order):
    words = order.split()
    rows = [f"{k},{words[k % len(words)]},{words[(k + k % 9 // 8) % len(words)]}" for k in range(60)]
    scale = read_file(file("a.csv", "\n".join(["bug,analyst,model", *rows]))).ratings.scale
    assert (type(scale), [*scale.options]) == (Ordinal, words)


def test_scores_beside_labels_and_other_labels_are_told_with_who_gives_them(file):
    rows = [f"{k},{('harmful', 'safe')[k % 2]},0.{101 + k},{('unsafe', 'safe')[k % 2]}" for k in range(80)]
    with pytest.raises(RecuseError, match=r"perspective_toxicity gives numbers and label labels \('harmful'\); say"):
        read_file(file("a.csv", "\n".join(["id,label,perspective_toxicity,llamaguard", *rows])))


def test_an_order_of_peoples_words_does_not_make_a_judges_numbers_unusable(file):
    """None of them is one of the words, so nothing is known of the judge: it is asked about, not refused for it."""
    rows = [f"{k},{('no', 'partly', 'fully')[k % 3]},{k % 5 / 4}" for k in range(60)]
    path = file("a.csv", "\n".join(["id,annotator,gpt-4o", *rows]))
    with pytest.raises(RecuseError, match=r"gpt-4o gives numbers and annotator labels \('no'\); say"):
        read_file(path, scale="no<partly<fully")
    stray = file(
        "b.csv", "\n".join(["id,annotator,gpt-4o", *(f"{k},{'yn'[k % 2]},{'yyn3'[k % 4]}" for k in range(60))])
    )
    assert [*read_file(stray, scale="n<y").ratings.table["status"]].count("out_of_scale") == 15


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(("name", "lost", "kept"), [
    ("valid", "false", "true"), ("parsed", "False", "True"), ("parse_error", "true", "false"),
    ("status", "error", "ok"), ("error", "JSONDecodeError: x", ""),
])  # fmt: skip
def test_a_score_that_stands_wherever_nothing_could_be_read_is_asked_about(file, name, lost, kept):
    """A program writes a 1 for a reply that it cannot read: nobody gave it. Where scores differ, they were read."""
    flags = [lost if k % 6 == 0 else kept for k in range(len(JUDGE))]
    filled = [1 if flag == lost else score for flag, score in zip(flags, JUDGE, strict=True)]
    path = file("a.csv", table(["id", "anna", "gpt-4o", name], ANNA, filled, flags))
    with pytest.raises(RecuseError, match=rf"{name} says in \d+ rows that gpt-4o gave no answer .* '1' stands in all"):
        read_file(path)
    whole = read_file(path, ignore=name).ratings.table
    assert len(whole) == 2 * len(JUDGE)
    given = file("b.csv", table(["id", "anna", "gpt-4o", name], ANNA, JUDGE, flags))
    assert len(read_file(given).ratings.table) == len(whole)


def test_a_judge_that_always_says_the_same_says_it_wherever_something_failed_too(file):
    failed = [("ok", "error")[k % 6 == 0] for k in range(len(ANNA))]
    path = file("a.csv", table(["id", "anna", "gpt-4o", "status"], ANNA, [1] * len(ANNA), failed))
    assert len(read_file(path).ratings.table) == 2 * len(ANNA)


def test_the_marks_of_a_merge_are_no_texts(file):
    rows = ["id,anna,gpt-4o", "1,4,4", "<<<<<<< HEAD", "2,3,3", "=======", "2,4,3", ">>>>>>> other", "3,1,1"]
    with pytest.raises(RecuseError, match=r"a merge left its marks \(<<<<<<< HEAD\): delete them"):
        read_file(file("a.csv", "\n".join(rows)))


def test_none_is_an_answer_beside_degrees_and_no_answer_elsewhere(file):
    severity = [("none", "low", "medium", "high")[mark % 4] for mark in ANNA]
    read = read_file(file("a.csv", table(["id", "anna", "gpt-4o"], severity, severity)))
    assert answers(read)["anna"] == severity
    absent = [mark if mark > 1 else "none" for mark in ANNA]
    read = read_file(file("b.csv", table(["id", "anna", "gpt-4o"], absent, JUDGE)))
    assert answers(read)["anna"] == [mark for mark in ANNA if mark > 1]


def test_people_on_another_scale_than_the_only_judge_are_not_dropped(file):
    share = [f"{mark / 5 + k / 1000:.3f}" for k, mark in enumerate(JUDGE)]
    percent = [f"{mark * 20 - k % 7} %" for k, mark in enumerate(ANNA)]
    with pytest.raises(RecuseError, match=r"anna and gpt-4o do not answer on one scale.*--ignore anna"):
        read_file(file("a.csv", table(["id", "anna", "gpt-4o"], percent, share)))


def test_numbers_as_fine_as_a_programs_are_asked_about(file):
    """A column of one word beside the only judge, on its scale: a person with a slider, or a measure of the text."""
    fine = [[f"{mark / 5 + k / 3000 - 0.03:.4f}" for k, mark in enumerate(marks * 3)] for marks in (ANNA, JUDGE)]
    lines = [f"T-{k},{one},{other}" for k, (one, other) in enumerate(zip(*fine, strict=True))]
    path = file("fine.csv", "\n".join(["id,anna,gpt-4o", *lines]))
    with pytest.raises(RecuseError, match=r"anna: numbers from .* worked them out; .*--people anna; .*--ignore anna"):
        read_file(path)
    assert read_file(path, people="anna").ratings.persons == ("anna",)
    assert read_file(path, ignore="anna").ratings.persons == ()


@pytest.mark.parametrize("above", [25, 70_000])
def test_blank_lines_before_the_header_are_none_of_the_table(file, above):
    path = file("blank.csv", "\n" * above + table(["id", "anna", "gpt-4o"], ANNA, JUDGE, separator=";"))
    if above > 60_000:  # beyond what is looked at for the separator, a comma is taken
        path.write_text(path.read_text().replace(";", ","))
    assert answers(read_file(path)) == {"anna": [*ANNA], "gpt-4o": [*JUDGE]}


def test_files_of_raters_may_call_their_ratings_differently(file):
    lines = [json.dumps({"id": f"T-{k}", "score": JUDGE[k], "explanation": "it is fine"}) for k in range(NUMBER)]
    one, other = file("anna.csv", table(["id", "rating"], ANNA)), file("gpt-4o.jsonl", "\n".join(lines))
    read = load_versions([one, other], raters=True)
    assert answers(read) == {"anna": ANNA, "gpt-4o": JUDGE}
    third = file("ben.csv", table(["id", "seen"], ["yes"] * NUMBER))
    with pytest.raises(RecuseError, match=r"ben.csv has no column rating; call its ratings as the other files do"):
        load_versions([one, third], raters=True)


def test_a_question_whose_answers_have_a_column_each(file):
    """As Mechanical Turk writes radio buttons, and a corpus its winner."""
    rows = [[f"H{k}", f"W{w}", f"T-{k}", *("true" if given[k] == v else "false" for v in range(1, 6))]
            for k in range(NUMBER) for w, given in enumerate((ANNA, BEN))]  # fmt: skip
    header = ["HITId", "WorkerId", "Input.id", *(f"Answer.q.{v}" for v in range(1, 6))]
    read = read_file(file("a.csv", "\n".join(map(",".join, [header, *rows]))))
    assert answers(read) == {"worker W0": ANNA, "worker W1": BEN}


def test_counts_of_votes_are_peoples_answers(file):
    votes, judge = [mark - 1 for mark in ANNA], [("not toxic", "toxic")[mark > 3] for mark in JUDGE]
    read = read_file(file("a.csv", table(["id", "toxic_votes", "n_annotators", "gpt-4o"], votes, [5] * NUMBER, judge)))
    people = [said for who, said in answers(read).items() if who != "gpt-4o"]
    assert len(people) == 5
    assert [sum(said[k] == "toxic" for said in people) for k in range(NUMBER)] == votes
    header, against = ["id", "votes_yes", "votes_no", "judge"], [5 - vote for vote in votes]
    read = read_file(file("b.csv", table(header, votes, against, [("no", "yes")[mark > 3] for mark in JUDGE])))
    assert read.ratings.judges == ("judge",)
    assert len(read.ratings.persons) == 5


def test_lists_of_several_peoples_numbers(file):
    lists = [{"prompt": f"p {k}", "tone": [ANNA[k], BEN[k], ANNA[k]], "truth": [BEN[k], ANNA[k], BEN[k]],
              "judge": {"tone": JUDGE[k], "truth": JUDGE[k]}} for k in range(NUMBER)]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, lists))))
    assert set(read.ratings.headline) == {"tone", "truth"}
    assert {*read.ratings.raters.values()} == {"person", "judge"}
    assert len(read.ratings.persons) == 3
    experts = [{"id": k, "system": f"M{k % 3}", "experts": [{"tone": ANNA[k], "truth": BEN[k]}] * 3,
                "crowd": [{"tone": BEN[k], "truth": ANNA[k]}] * 2} for k in range(NUMBER)]  # fmt: skip
    read = read_file(file("b.jsonl", "\n".join(map(json.dumps, experts))))
    assert read.ratings.persons == ("experts1", "experts2", "experts3", "crowd1", "crowd2")


@pytest.mark.parametrize("long", [False, True])
def test_three_first_names_are_asked_about(file, long):
    """Nothing says that they are judges, so none of them is refused or cleared."""
    given = {"Maria": ANNA, "Jonas": BEN, "Priya": JUDGE}
    rows = [f"{k},{name},{mark}" for name, marks in given.items() for k, mark in enumerate(marks)]
    path = file("a.csv", "\n".join(["id,rater,score", *rows]) if long else table(["id", *given], *given.values()))
    with pytest.raises(RecuseError, match=r"no name tells judges from people: 'Maria'.*--judges A,B .*--people A,B"):
        read_file(path)
    assert read_file(path, people="Maria,Jonas").ratings.judges == ("Priya",)
    assert read_file(path, judges="Priya").ratings.persons == ("Maria", "Jonas")
    with pytest.raises(RecuseError, match="no name tells judges from people: 'Priya'"):
        compare(path, incumbent="Maria", candidate="Jonas")
    assert compare(path, incumbent="Maria", candidate="Jonas", people="Priya").candidate == "Jonas"


def test_who_stands_in_a_column_called_judge_is_one(file):
    rows = [f"{k},{name},{mark}" for name in ("Maria", "Jonas") for k, mark in enumerate(ANNA)]
    assert read_file(file("a.csv", "\n".join(["id,judge,score", *rows]))).ratings.judges == ("Maria", "Jonas")


def test_lists_that_never_say_a_number_twice_stay_sets_of_options(file):
    lists = [{"id": k, "anna": [1, 2] if mark > 3 else [2], "gpt-4o": [2]} for k, mark in enumerate(ANNA)]
    assert read_file(file("a.jsonl", "\n".join(map(json.dumps, lists))), people="anna").kind == "response_sets"


@pytest.mark.parametrize("split", [False, True])
def test_tables_as_pandas_writes_them_into_json(file, split):
    columns = {"inputs": [f"q {k}" for k in range(NUMBER)], "human_score": ANNA, "similarity/v1/score": JUDGE}
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    whole = {"columns": [*columns], "data": rows} if split else {
        name: {str(k): value for k, value in enumerate(values)} for name, values in columns.items()
    }  # fmt: skip
    assert [*answers(read_file(file("a.json", json.dumps(whole)))).values()] == [ANNA, JUDGE]


def test_facts_of_raters_and_texts_are_no_criteria(file):
    rows = [f"{k},r{w},{'mf'[w % 2]},site {k % 7},{ANNA[(k + w) % NUMBER]}" for k in range(NUMBER) for w in range(4)]
    path = file("a.csv", "\n".join(["item_id,rater_id,rater_gender,site,degree_of_harm", *rows]))
    read = read_file(path, people="r0")
    assert read.mapping.value == ("degree_of_harm",)


def test_a_score_and_the_label_that_it_stands_for_are_one_answer(file):
    label = [("incorrect", "correct")[y] for y in YES[1]]
    header = ["context.span_id", "annotation.correctness.label", "eval.correctness.label", "eval.correctness.score"]
    people = [("incorrect", "correct")[y] for y in YES[0]]
    read = read_file(file("a.csv", table(header, people, label, [int(y) for y in YES[1]])))
    assert answers(read) == {"annotation.correctness": people, "eval.correctness": label}


def test_numbers_of_the_two_sides_of_a_pair_are_no_raters(file):
    texts = [[f"Because of {k}, {side} side" for k in range(NUMBER)] for side in ("this", "that")]
    with pytest.raises(RecuseError, match=r"score_0 and score_1 say .* answer_0 and answer_1.*--ignore score"):
        read_file(file("a.csv", table(["id", "answer_0", "answer_1", "score_0", "score_1"], *texts, ANNA, BEN)))


def test_one_two_and_a_tie_as_0_are_choices_as_somebody_says(file):
    texts = [[f"Output {k}, {side} one" for k in range(NUMBER)] for side in ("the first", "the second")]
    chosen = [[mark % 3 for mark in given] for given in (ANNA, BEN, JUDGE)]
    path = file("a.csv", table(["id", "output_1", "output_2", "anna", "ben", "gpt-4o"], *texts, *chosen))
    read = read_file(path, same="0=tie,1=first,2=second")
    assert read.kind == "choices"
    assert answers(read)["anna"] == [("tie", "first", "second")[mark] for mark in chosen[0]]


def test_choices_between_texts_that_are_numbered_from_0(file):
    texts = [[f"Summary {k}, {side} one" for k in range(NUMBER)] for side in ("the first", "the second")]
    chosen = [[int(y) for y in said] for said in YES[:2]]
    read = read_file(file("a.csv", table(["id", "summary_0", "summary_1", "human", "gpt-4o"], *texts, *chosen)))
    assert read.kind == "choices"
    assert answers(read) == {
        who: [("first", "second")[one] for one in said] for who, said in zip(("human", "gpt-4o"), chosen, strict=True)
    }


def test_a_label_beside_a_judges_choices_is_not_the_judges(file):
    texts = [[f"Output {k}, {side} one" for k in range(NUMBER)] for side in ("the first", "the second")]
    label, judge = ([1 + y for y in said] for said in YES[:2])
    read = read_file(file("a.csv", table(["id", "output_1", "output_2", "label", "gpt-4_pred"], *texts, label, judge)))
    assert read.ratings.raters == {"label": "person", "gpt-4_pred": "judge"}


def test_responses_of_qualtrics(file):
    ids = ["startDate", "_recordId", *(f"QID{k}" for k in range(20))]
    header = ["StartDate", "ResponseId", *(f"Q{k}" for k in range(20))]
    words = ["Start Date", "Response ID", *(f"How good is reply {k}?" for k in range(20))]
    rows = [["2026-01-01 10:00:00", f"R_{w}", *ANNA[w : w + 20]] for w in range(12)]
    stream = io.StringIO()
    csv.writer(stream).writerows([header, words, [json.dumps({"ImportId": one}) for one in ids], *rows])
    read = read_file(file("a.csv", stream.getvalue()))
    assert set(read.ratings.raters.values()) == {"person"}
    assert answers(read)["R_0"] == ANNA[:20]


@pytest.mark.parametrize(("parts", "people"), [(["Response"] * 9, 12), ([f"Reply {k}" for k in range(9)], 3)])
def test_responses_of_surveymonkey(file, parts, people):
    own = ["Respondent ID", "Collector ID", "Email Address", "Start Date"]
    shared = parts[0] != "Response"
    words = ["How good is it?", *[""] * 8] if shared else [f"How good is reply {k}?" for k in range(9)]
    rows = [[f"11{w}", "7", f"w{w}@team.example", "2026-01-01", *ANNA[w : w + 9], "well"] for w in range(people)]
    stream = io.StringIO()
    header = [[*own, *words, "Anything else?"], [*[""] * 4, *parts, "Open-Ended Response"]]
    csv.writer(stream).writerows([*header, *rows])
    read = read_file(file("a.csv", stream.getvalue()))
    assert answers(read)["w0@team.example"] == ANNA[:9]
    assert len(read.ratings.persons) == people
    name = "How good is it? Reply 3" if shared else "How good is reply 3?"
    assert name in set(read.ratings.table["item"])


def test_a_survey_of_few_questions_is_asked_about(file):
    rows = [f"R_{w},{ANNA[w]},{BEN[w]}" for w in range(30)]
    ids = '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"'
    path = file("a.csv", "\n".join(["ResponseId,Q1,Q2", "Response ID,Is it polite?,Is it right?", ids, *rows]))
    with pytest.raises(RecuseError, match=r"2 questions .'Q1', 'Q2'.: whether each is about a text or on a criterion"):
        read_file(path)


def test_a_label_beside_the_decisions_of_a_log_is_somebodys(file):
    """As JudgeBench writes its judges' output."""
    reply = "Both replies were compared with care and one is better: "
    better = ("B>A", "A>B")
    lines = [
        {"pair_id": f"p{k}", "question": f"What is {k}?", "response_A": f"It is {k}, A", "response_B": f"It is {k}, B",
         "label": better[YES[0][k]], "judgments": [{"judge_model": "gpt-4o", "decision": better[YES[1][k]],
                                                    "judgment": {"text": reply + "B>A"}}]} for k in range(NUMBER)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert read.ratings.raters == {"gpt-4o": "judge", "label": "person"}
    assert answers(read)["label"] == [("second", "first")[y] for y in YES[0]]


@pytest.mark.parametrize(
    ("column", "end"), [("judge_response", "Rating: {}"), ("output", "[RESULT] {}"), ("judgment", "**Rating: [[{}]]**")]
)
def test_prose_that_ends_in_the_judges_answer(file, column, end):
    prose = [f"The reply is polite and says what was asked for.\n\n{end.format(mark)}" for mark in JUDGE]
    read = read_file(file("a.csv", table(["id", "human_score", column], ANNA, prose)))
    assert [*answers(read).values()] == [ANNA, JUDGE]
    assert [*read.ratings.raters.values()] == ["person", "judge"]


def test_texts_that_end_in_numbers_are_no_ratings(file):
    text = [f"The train leaves at noon and arrives an hour later.\n\nGrade: {mark}" for mark in JUDGE]
    read = read_file(file("a.csv", table(["id", "reply", "anna", "gpt-4o"], text, ANNA, JUDGE)))
    assert answers(read) == {"anna": ANNA, "gpt-4o": JUDGE}


@pytest.mark.parametrize("form", ["{system}_{rater}", "{rater} {system}", "{system} {rater} rating"])
def test_columns_named_after_systems_and_raters(file, form):
    header = [form.format(system=s, rater=r) for s in ("llama", "gpt-4o") for r in ("human", "judge")]
    read = read_file(file("a.csv", table(["id", *header], ANNA, JUDGE, BEN, JUDGE)))
    assert [*read.ratings.raters.values()] == ["person", "judge"]
    assert set(read.ratings.table["target"]) == {"llama", "gpt-4o"}
    human, judge = answers(read).values()
    assert human == [mark for pair in zip(ANNA, BEN, strict=True) for mark in pair]
    assert judge == [mark for mark in JUDGE for _ in range(2)]


@pytest.mark.parametrize("told", ["{}, because the reply says so.", "{}\n\nThe reply was read with care."])
def test_prose_that_begins_with_the_verdict(file, told):
    people = [("no", "yes")[y] for y in YES[0]]
    prose = [told.format(("No", "Yes")[y]) for y in YES[1]]
    read = read_file(file("a.csv", table(["id", "anna", "gpt-4o"], people, prose)))
    assert answers(read) == {"anna": people, "gpt-4o": [("no", "yes")[y] for y in YES[1]]}


@pytest.mark.parametrize("flag", ["needs_review", "is_test", "has_link"])
def test_flags_beside_verdicts_are_nobodys(file, flag):
    said = [[("fail", "pass")[y] for y in given] for given in YES]
    flags = [("no", "yes")[k % 5 == 0] for k in range(NUMBER)]
    read = read_file(file("a.csv", table(["id", flag, "anna", "ben", "gpt-4o"], flags, *said)))
    assert [*read.ratings.raters] == ["anna", "ben", "gpt-4o"]


def test_verdicts_of_something_else_beside_two_first_names_are_asked_about(file):
    said = [[("fail", "pass")[y] for y in given] for given in YES]
    other = [("fail", "pass")[(k * 7 % 11) % 2] for k in range(NUMBER)]
    with pytest.raises(RecuseError, match=r"unit_test holds answers .* --ignore unit_test"):
        read_file(file("a.csv", table(["id", "unit_test", "anna", "ben", "gpt-4o"], other, *said)))


def test_a_number_far_from_every_mark_may_stand_for_no_answer(file):
    path = file("a.csv", table(["id", "anna", "ben", "gpt-4o"], ANNA, BEN, [-1 if m == 2 else m for m in JUDGE]))
    with pytest.raises(RecuseError, match=r"somebody gives -1, all others 1 to 5; .*--scale=1-5"):
        read_file(path)
    assert sum(np.isnan(answers(read_file(path, scale="1-5"))["gpt-4o"])) == JUDGE.count(2)
    assert answers(read_file(path, scale="-1-5"))["gpt-4o"].count(-1) == JUDGE.count(2)


def test_days_that_a_spreadsheet_made_of_grades_are_named(file):
    path = file("a.csv", table(["id", "anna", "ben", "gpt-4o"], [f"{mark:02}-May" for mark in ANNA], BEN, JUDGE))
    with pytest.raises(RecuseError, match=r"anna holds days such as .* a spreadsheet makes of 4/5.*--ignore anna"):
        read_file(path)


def test_points_with_a_word_before_them_are_numbers(file):
    path = file("a.csv", table(["id", "anna", "gpt-4o"], [f"Grade {mark}" for mark in ANNA], JUDGE))
    assert answers(read_file(path)) == {"anna": ANNA, "gpt-4o": JUDGE}


def test_a_system_is_no_criterion_where_the_text_stands_in_a_column_target(file):
    """As WMT writes marked errors."""
    rows = [f"online-{w},{k},rater{w % 2},A translation of {k} by {w},{('Major', 'Minor', 'Neutral')[ANNA[k] % 3]}"
            for k in range(NUMBER) for w in range(2)]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["system,seg_id,rater,target,severity", *rows])), people="rater0")
    assert read.mapping.value == ("severity",)


def test_marked_errors_are_no_repeats(file):
    """One rater's rows on one segment are its errors: how they become a score is asked, and a segment is an item."""
    rows = [f"{seg // 3},{seg},{who},{('Major', 'Minor', 'Neutral')[(ANNA[seg] + error) % 3]}"
            for who in ("human", "gpt") for seg in range(NUMBER) for error in range(2)]  # fmt: skip
    errors = file("a.csv", "\n".join(["doc_id,seg_id,rater,severity", *rows]))
    with pytest.raises(RecuseError, match=r"severity: some raters have several rows on one text, .* a row each"):
        read_file(errors, value="severity")
    read = read_file(file("b.csv", "\n".join(["doc_id,seg_id,rater,severity", *rows[::2]])), value="severity")
    assert read.mapping.item == ("doc_id", "seg_id")
    assert read.ratings.clusters == "docs"


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (("HumanScore", "ClaudeScore", "GPT4Score"), {"Human"}), (("human", "claude", "chatgpt"), {"human"}),
        (("HumanJudgement", "gpt-4", "EM"), {"Human"}), (("human_label", "gpt-4", "BLEU_score"), {"human"}),
        (("Human (score)", "GPT-4 (score)", "openai"), {"Human"}),
    ],
)  # fmt: skip
def test_a_model_or_a_metric_is_no_person_beside_one_who_is_named(file, names, people):
    read = read_file(file("a.csv", table(["id", *names], ANNA, BEN, JUDGE)))
    assert {who for who, kind in read.ratings.raters.items() if kind == "person"} == people
    assert len(read.ratings.judges) == 2


def test_what_was_parsed_of_a_judges_answer_is_no_person(file):
    path = file("a.csv", table(["id", "llm_answer", "parsed_answer"], ANNA, ANNA))
    with pytest.raises(RecuseError, match=r"no name tells judges from people: 'parsed_answer'"):
        read_file(path)


def test_a_workers_code_is_no_judges_name(file):
    """In codes of letters and digits, which name nobody, stand ai and ia as well."""
    workers = ("A1B2CC3DD4EE5", "AI3XYZ9ABCDEF", "AHMO9JJ6IA401")
    of = zip(workers, (ANNA, BEN, JUDGE), strict=True)
    rows = [f"h{k},{who},{mark}" for who, own in of for k, mark in enumerate(own)]
    read = read_file(file("a.csv", "\n".join(["HITId,WorkerId,Answer.tone", *rows])))
    assert {*read.ratings.raters.values()} == {"person"}


def test_rows_that_name_nobody_are_told_with_their_place(file):
    of = (("anna", ANNA), ("", BEN), ("gpt", JUDGE))
    rows = [f"T-{k},{who},{mark}" for who, own in of for k, mark in enumerate(own)]
    path = file("a.csv", "\n".join(["id,rater,score", *rows]))
    with pytest.raises(
        RecuseError, match=rf"rater names nobody in {NUMBER} row.s. with a rating, .* line {NUMBER + 2};"
    ):
        read_file(path)
    bare = file("b.csv", "\n".join(["id,rater,score", *rows[:NUMBER], "T-9,,", *rows[2 * NUMBER :]]))
    assert {*read_file(bare).ratings.raters} == {"anna", "gpt"}


def test_a_score_beside_the_prose_that_ends_in_it_is_the_judges(file):
    prose = [f"It is polite and says what was asked for, at length. [RESULT] {mark}" for mark in JUDGE]
    same = file("a.csv", table(["id", "feedback", "score"], prose, JUDGE))
    with pytest.raises(RecuseError, match="no name tells judges from people: 'score'"):
        read_file(same)
    other = read_file(file("b.csv", table(["id", "feedback", "score"], prose, ANNA)))
    assert other.ratings.raters == {"score": "person", "judge_feedback": "judge"}


@pytest.mark.parametrize("name", ["annotations", "experts"])
def test_marks_in_a_list_that_is_called_after_people_are_theirs(file, name):
    marked = zip(ANNA, BEN, JUDGE, strict=True)
    records = [{"id": k, name: [{"tone": a, "tact": c}, {"tone": b, "tact": c}]} for k, (a, b, c) in enumerate(marked)]
    read = read_file(file("a.json", json.dumps(records)))
    assert read.ratings.raters == {f"{name}1": "person", f"{name}2": "person"}
    assert len(read.ratings.table) == 4 * NUMBER


def test_a_tie_beside_numbers_is_asked_about(file):
    words = ["Tie" if k % 9 == 0 else str(1 + mark % 2) for k, mark in enumerate(ANNA)]
    path = file("a.csv", table(["id", "gpt_result", "human"], words, words))
    with pytest.raises(RecuseError, match=r"'Tie' stands beside numbers.*--scale \"2,1,Tie\"|--scale \"1,2,Tie\""):
        read_file(path)
    read = read_file(path, scale="1,2,Tie")
    assert {*answers(read)["human"]} == {"1", "2", "tie"}
    four = [word if word == "Tie" else str(mark) for word, mark in zip(words, ANNA, strict=True)]
    assert read_file(
        file("b.csv", table(["id", "gpt", "human"], four, ANNA))
    ).faults  # a mark of 1 to 5 that nobody gave


def test_best_and_worst_of_two_are_two_questions(file):
    """Read as one, each answer would cancel the other."""
    rows = [f"h{k},w{w},sys1,sys2,{'AB'[mark % 2]},{'BA'[mark % 2]}" for w in range(2) for k, mark in enumerate(ANNA)]
    header = "HITId,WorkerId,Input.model_a,Input.model_b,Answer.best,Answer.worst"
    path = file("a.csv", "\n".join([header, *rows]))
    sides = {"first": "Input.model_a", "second": "Input.model_b"}
    with pytest.raises(RecuseError, match=r"each by another question; .*--value Answer.best --ignore Answer.worst"):
        read_file(path, **sides)
    of_its_own = [f"h{k},gpt,sys1,sys2,{'AB'[mark % 2]},rubric {k % 7}" for k, mark in enumerate(ANNA)]
    each = file("b.csv", "\n".join(["id,judge,model_a,model_b,winner,rubric", *of_its_own]))
    assert len(read_file(each).ratings.table) == NUMBER  # one question about each pair
    read = read_file(path, **sides, value="Answer.best", ignore="Answer.worst")
    assert {*read.ratings.table["response"]} == {"first", "second"}
    assert len(read.ratings.table) == 2 * NUMBER


def test_two_questions_about_a_pair_a_row_each_are_items_of_their_own(file):
    marks = enumerate(ANNA)
    rows = [
        f"q{k},s1,s2,{c},{who},{'AB'[mark % 2]}"
        for k, mark in marks
        for c in ("tone", "facts")
        for who in ("human", "gpt")
    ]
    path = file("a.csv", "\n".join(["item,first,second,criterion,rater,winner", *rows]))
    with pytest.raises(
        RecuseError, match="by another question; read each as an item of its own: --item item,criterion"
    ):
        read_file(path)
    read = read_file(path, item="item,criterion")
    assert len(read.ratings.table) == 4 * NUMBER
    assert set(read.ratings.table["repeat"]) == {0}


def test_two_questions_about_a_pair_in_columns_are_no_people_of_their_own(file):
    rows = [
        f"q{k},s1,s2,{'AB'[mark % 2]},{'BA'[mark % 2]},{'AB'[mark % 2]},{'BA'[mark % 2]}" for k, mark in enumerate(ANNA)
    ]
    header = "item,first,second,human_tone,human_facts,gpt4_tone,gpt4_facts"
    path = file("a.csv", "\n".join([header, *rows]))
    with pytest.raises(
        RecuseError, match="each by another question; read one at a time: --ignore human_facts,gpt4_facts"
    ):
        read_file(path)
    assert read_file(path, ignore="human_facts,gpt4_facts").ratings.persons == ("human_tone",)


def test_rows_that_bear_a_workers_name_alone_are_asked_about(file):
    """Means of each worker for each system: nobody knows that systems are no judges."""
    text = table(["WorkerId", "alpha", "beta_2", "gamma"], ANNA, BEN, JUDGE)
    with pytest.raises(RecuseError, match=r"WorkerId names who rated, .*--ignore WorkerId, or --item WorkerId"):
        read_file(file("a.csv", text))
    assert read_file(file("b.csv", text), item="WorkerId", judges="alpha").ratings.judges == ("alpha",)


@pytest.mark.parametrize("document", ["d-{}", "{}"], ids=["names", "numbers"])
def test_a_document_is_judged_for_a_query(file, document):
    pairs = [(query, doc) for query in range(20) for doc in range(query, query + 3)]
    rows = [f"q{q},{document.format(d)},{ANNA[k] - 1},{JUDGE[k] - 1}" for k, (q, d) in enumerate(pairs)]
    read = read_file(file("a.csv", "\n".join(["query_id,doc_id,human_rel,gpt4_rel", *rows])))
    assert read.mapping.item == ("query_id", "doc_id")
    assert (read.mapping.cluster, read.mapping.target) == ("query_id", "")
    assert len(read.ratings.table) == 2 * NUMBER
    assert read_file(file("c.csv", "\n".join(["query,doc,human_rel,gpt4_rel", *rows]))).mapping.item == ("query", "doc")
    own = [f"r{k},{row}" for k, row in enumerate(rows)]
    numbered = read_file(file("b.csv", "\n".join(["id,query_id,passage,human_rel,gpt4_rel", *own])))
    assert numbered.mapping.item == ("id",)


def test_a_column_that_is_ignored_shapes_no_table(file):
    ranked = [("a > b", "b > a")[mark % 2] for mark in ANNA]
    path = file("a.csv", table(["id", "anna", "gpt", "old"], ANNA, JUDGE, ranked))
    assert len(read_file(path, ignore="old").ratings.table) == 2 * NUMBER
    form = [["Email", "Age", *(f"Text {k}" for k in range(9))], *([f"{who}@acme.com", "33", *own[:9]]
            for who, own in (("anna", ANNA), ("ben", BEN), ("gpt-4", JUDGE)))]  # fmt: skip
    text = "\n".join(",".join(map(str, row)) for row in form)
    assert len(read_file(file("b.csv", text), ignore="Age", judges="gpt-4@acme.com").ratings.table) == 27


def test_verdicts_on_two_texts_are_no_rankings(file):
    won = [("A>B", "B>A")[mark % 2] for mark in ANNA]
    read = read_file(file("a.csv", table(["id", "human", "gpt"], won, won[::-1])))
    assert len(read.ratings.table) == 2 * NUMBER
    assert not read.mapping.target


def test_names_in_a_column_called_judge_are_no_people_unasked(file):
    of = (("cheap", ANNA), ("strong-x", BEN), ("gpt-4o", JUDGE))
    rows = [f"T-{k},{who},{mark}" for who, own in of for k, mark in enumerate(own)]
    path = file("a.csv", "\n".join(["id,judge,score", *rows]))
    with pytest.raises(RecuseError, match="no name tells judges from people: 'cheap', 'strong-x';"):
        read_file(path)
    assert read_file(path, people="cheap").ratings.persons == ("cheap",)
    assert read_file(path, judges="cheap,strong-x").ratings.persons == ()


def test_what_is_made_of_a_persons_answers_is_known_within_an_object_too(file):
    records = [{"id": k, "marks": {"tone": {"majority_human": a, "human_1": a}}, "gpt": c}
               for k, (a, c) in enumerate(zip(ANNA, JUDGE, strict=True))]  # fmt: skip
    read = read_file(file("a.json", json.dumps(records)))
    assert read.ratings.persons == ("marks.tone.human_1",)


def test_what_one_rater_alone_has_in_words_is_no_criterion(file):
    """As a log of judges holds the settings of one provider."""
    of = (("claude", ANNA, ("", "")), ("gpt-4o", JUDGE, ("plain", "long")))
    rows = [f"T-{k},{who},{mark},{mode[k % 2]}" for who, own, mode in of for k, mark in enumerate(own)]
    path = file("a.csv", "\n".join(["id,judge_name,tone,text_format", *rows]))
    assert read_file(path).mapping.value == ("tone",)


def test_a_majority_is_a_persons_where_those_that_it_is_made_of_are_not_told(file):
    marks = [{"majority_human": a, "human_scores": []} for a in ANNA]
    both = enumerate(zip(marks, JUDGE, strict=True))
    records = [{"id": k, "tone": one, "tact": one, "gpt": c} for k, (one, c) in both]
    read = read_file(file("a.json", json.dumps(records)))
    assert read.ratings.persons == ("tone.majority_human", "tact.majority_human")


@pytest.mark.parametrize(("who", "low"), [
    ("judge", (0, 10)), ("judge", (0, 1)), ("all", (0, 1)), ("all", (1, 5)), ("judge", (0.2, 0.4)),
])  # fmt: skip
def test_minus_one_as_the_only_number_below_0_is_asked_about(file, low, who):
    """What FastChat and others write where a reply could not be read."""
    least, step = low[0], (low[1] - low[0]) / (1 if low == (0, 1) else 4)
    marks = [f"{least + k * step:g}" for k in range(2 if low == (0, 1) else 5)]
    rows = [[marks[k * m % 7 % len(marks)] for m in (1, 3, 5)] for k in range(60)]
    rows = [[*people, "-1" if k % 9 == 4 else judge] for k, (*people, judge) in enumerate(rows)]
    if who == "all":
        rows = [["-1" if k % 11 == 2 else anna, *rest] for k, (anna, *rest) in enumerate(rows)]
    path = file("a.csv", "\n".join(["id,anna,ben,gpt", *(f"{k},{','.join(row)}" for k, row in enumerate(rows))]))
    if who == "all" and low == (0, 1):  # bad, neither, good
        assert read_file(path, people="anna,ben").kind == "scores"
        return
    with pytest.raises(
        RecuseError, match=r"somebody gives -1, all others .* say --scale=.*; if it is one, --scale=-1-"
    ):
        read_file(path)
    assert read_file(path, scale="-1-10").ratings.scales["rating"].minimum == -1
    assert as_typed({"scale": "-1-10", "item": "id"}) == " --scale=-1-10 --item id"  # no option of its own


def test_a_judges_0_beside_peoples_1_to_5_is_asked_about(file):
    """What a parser that gives 0 for a failure writes."""
    rows = [f"t{k},{k % 5 + 1},{k * 3 % 5 + 1},{0 if k % 9 == 4 else k % 5 + 1}" for k in range(60)]
    path = file("a.csv", "\n".join(["id,anna,ben,gpt", *rows]))
    with pytest.raises(RecuseError, match=r"judges give 0, all others 1 to 5; .* say --scale=1-5; .*--scale=0-5"):
        read_file(path)
    assert (read_file(path, scale="1-5").ratings.table["status"] == "out_of_scale").sum() == 7


def test_whose_column_begins_with_eval_is_no_judge_for_that(file):
    rows = [f"t{k},{k % 5 + 1},{k * 3 % 5 + 1},{k * 2 % 5 + 1}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["id,eval_anna,eval_ben,eval_gpt4", *rows])))
    assert (read.ratings.judges, read.ratings.persons) == (("eval_gpt4",), ("eval_anna", "eval_ben"))


def test_an_original_score_is_nobodys_first_name(file):
    rows = [f"t{k},{k % 5 + 1},It is fine and polite enough. [RESULT] {k * 2 % 5 + 1}" for k in range(40)]
    with pytest.raises(RecuseError, match="no name tells judges from people: 'orig'"):
        read_file(file("a.csv", "\n".join(["id,orig_score,judge_output", *rows])))


def test_a_criterion_that_people_alone_rated_ends_no_other(file):
    """HelpSteer2 beside a judge of two of its criteria."""
    rows = [f"text {k},{k % 5},{k * 2 % 5},{k * 3 % 4},{k % 5},{k * 3 % 5}" for k in range(40)]
    columns = "response,helpfulness,correctness,verbosity,gpt4_helpfulness,gpt4_correctness"
    read = read_file(file("a.csv", "\n".join([columns, *rows])))
    assert read.ratings.raters == {"people": "person", "gpt4": "judge"}
    assert sorted(read.ratings.scales) == ["correctness", "helpfulness"]
    assert read.mapping.ignored["verbosity"] == "on a criterion that the others did not rate"


def test_criteria_are_nobodys_first_names(file):
    rows = [f"text {k},{k % 5},{k * 2 % 5},{k * 3 % 5}" for k in range(40)]
    with pytest.raises(RecuseError, match="no name tells judges from people: 'helpfulness', 'coherence'"):
        read_file(file("a.csv", "\n".join(["response,helpfulness,coherence,nemotron_score", *rows])))
    one = file("b.csv", "\n".join(["response,quality,nemotron_score", *(row[: row.rindex(",")] for row in rows)]))
    assert read_file(one).ratings.raters == {"quality": "person", "nemotron": "judge"}


def test_a_models_name_that_goes_on_is_no_criterion(file):
    rows = [f"q{k},{k % 5 + 1},{k * 2 % 5 + 1},{k * 3 % 5 + 1},{k % 4 + 1}" for k in range(40)]
    columns = "id,human_score,gpt4_score,gpt4_04_turbo_score,claude_score"
    read = read_file(file("a.csv", "\n".join([columns, *rows])))
    assert read.ratings.judges == ("gpt4", "gpt4_04_turbo", "claude")


def test_a_verdict_above_its_category_is_the_verdict(file):
    """What Llama Guard writes."""
    rows = [f'{k},{("safe", "unsafe")[k % 2]},{("safe", chr(34) + "unsafe" + chr(10) + "S1" + chr(34))[k % 3 == 0]}'
            for k in range(40)]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["id,human,llama_guard", *rows])))
    assert read.ratings.scales["rating"].options == ("unsafe", "safe")


def test_lists_of_as_many_answers_as_texts_are_asked_about(file):
    """SummEval as mteb has it: a list of summaries, and of what experts said of each on average."""
    texts = [f"a summary of some length, number {k}, that says what happened" for k in range(3)]
    rows = [{"id": f"d{k}", "text": f"article {k}", "summaries": texts, "relevance": [k % 5 + 1, 4, 4],
             "gpt4_relevance": [3, k % 5 + 1, 3]} for k in range(30)]  # fmt: skip
    path = file("a.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(RecuseError, match="relevance, gpt4_relevance hold as many answers a cell as summaries holds"):
        read_file(path)
    rows = [{**row, "summaries": texts[0], "comments": texts} for row in rows]
    assert read_file(file("b.jsonl", "\n".join(map(json.dumps, rows)))).ratings.persons


def test_the_overall_rating_of_a_person_is_their_own(file):
    """USR: several people's marks in lists, criterion by criterion."""
    rows = [
        {"id": k, "Natural": [k % 3 + 1, k % 2 + 1, 2], "Overall": [k % 5 + 1, k * 2 % 5 + 1, 3]} for k in range(40)
    ]
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, rows))), judges="annotator3")
    assert sorted(read.ratings.scales) == ["Natural", "Overall"]


def test_a_judges_0_on_a_scale_to_10_is_a_mark(file):
    rows = [f"t{k},{k % 10 + 1},{min(k % 10 + k % 3, 10) or 1},{0 if k % 9 == 4 else k % 10 + 1}" for k in range(60)]
    assert read_file(file("a.csv", "\n".join(["id,anna,ben,gpt", *rows]))).ratings.scales["rating"].minimum == 0


def test_ticks_and_empty_cells_are_asked_about(file):
    """With the raters named, all of them always said x, and agreement was divided by nothing."""
    ticks = [["x" if yes else "" for yes in column] for column in YES]
    path = file("a.csv", table(["id", "anna", "ben", "gpt-4o"], *ticks))
    with pytest.raises(RecuseError, match=r"every answer is 'x', .*: if empty cells are an answer, write it into them"):
        read_file(path, people="anna,ben", judges="gpt-4o")


@pytest.mark.parametrize("order", [
    "muy malo<malo<regular<bueno<muy bueno", "非常に悪い<悪い<普通<良い<非常に良い", "×<△<○<◎", "×<○", "n.i.o.<i.o.",
    "red<amber<green", "disagree strongly<disagree<neutral<agree<agree strongly",
    "trifft nicht zu<trifft eher nicht zu<teils/teils<trifft eher zu<trifft zu", "nicht bestanden<bestanden", "нет<да",
    "nicht erfüllt<teilweise erfüllt<erfüllt", "rechazado<aprobado", "不合格<合格", "否<是", "hayır<evet",
])  # fmt: skip
def test_degrees_in_other_languages_have_their_order(file, order):
    words = order.split("<")
    columns = [[words[min(mark, len(words)) - 1] for mark in marks] for marks in (ANNA, JUDGE)]
    scale = read_file(file("a.csv", table(["id", "anna", "gpt-4o"], *columns))).ratings.scale
    assert (type(scale), [*scale.options]) == (Ordinal, words)


def test_a_table_of_markdown_or_of_a_terminal_has_no_row_of_dashes(file):
    rows = [f"| T-{k} | {a} | {j} |" for k, (a, j) in enumerate(zip(ANNA, JUDGE, strict=True))]
    for head, rule in (("| id | anna | gpt-4o |", "|:--|---|--:|"), (" id | anna | gpt-4o ", "----+---+---")):
        read = read_file(file("a.txt", "\n".join([head, rule, *(rows if rule[0] == "|" else [r[1:-1] for r in rows])])))
        assert answers(read) == {"anna": ANNA, "gpt-4o": JUDGE}


def test_titles_without_a_separator_stand_above_the_table(file):
    """No separator was found, as the first line holds none."""
    text = "# exported 2026-03-01\n# project 7\n" + table(["id", "anna", "gpt-4o"], ANNA, JUDGE)
    assert answers(read_file(file("a.csv", text))) == {"anna": ANNA, "gpt-4o": JUDGE}


def test_feedback_in_numbers_by_a_person_is_a_rating(file):
    """It was taken for remarks, and nobody had rated."""
    read = read_file(file("a.csv", table(["id", "relevance", "groundedness", "human_feedback"], JUDGE, BEN, ANNA)))
    assert answers(read)["human_feedback"] == ANNA


@pytest.mark.parametrize("cell", ['[["{}"]]', "**'{}'**"])
def test_a_label_in_lists_and_quotes_is_the_label(file, cell):
    """The quotes stayed, and the word that --same was given was compared with them for ever."""
    words = [("bad", "good")[mark > 2] for mark in ANNA]
    read = read_file(file("a.csv", table(["id", "anna", "gpt-4o"], words, [cell.format(word) for word in words])))
    assert answers(read) == {"anna": words, "gpt-4o": words}


@pytest.mark.parametrize(("called", "places"), [("MEAN", 2), ("Average", 1), ("Average", None), ("T-x", 2)])
def test_means_above_the_texts_are_no_text(file, called, places):
    """Only at the end of a table a row of means was left out. One that holds other numbers is a text."""
    top = [4.2, 1.3] if places is None else [round(float(np.mean(column)), places) for column in (ANNA, JUDGE)]
    text = table(["id", "anna", "gpt-4o"], ANNA, JUDGE).replace("\r\n", f"\r\n{called},{top[0]},{top[1]}\r\n", 1)
    assert len(read_file(file("a.csv", text)).ratings.table) == 2 * NUMBER + 2 * (places is None or called == "T-x")


def test_a_named_persons_mark_before_the_reasons_for_it_is_read(file):
    """The marks were labels, a hundred different ones, of which each was to be given a number."""
    reasons = [f"{mark} - the reply to order {k} comes late and says nothing new" for k, mark in enumerate(ANNA)]
    read = read_file(file("a.csv", table(["id", "anna", "gpt-4o"], reasons, JUDGE)), people="anna")
    assert answers(read) == {"anna": ANNA, "gpt-4o": JUDGE}

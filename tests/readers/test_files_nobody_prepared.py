"""Layouts that public repositories have, in tables of our own: what was read as somebody's rating, as a repeat or as
nothing is read as meant, or is one question that names its answer."""

from __future__ import annotations

import json

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

NUMBER = 60


def mark(k, shift=0):
    """A mark from 1 to 5 that others agree with, but for some rows each."""
    return (k * 7 + (k % 11 == shift)) % 5 + 1


def read(file, header, cells, number=NUMBER, **options):
    lines = (",".join(map(str, cells(k))) for k in range(number))
    return read_file(file("a.csv", "\n".join([header, *lines])), **options)


def records(file, record, number=NUMBER, **options):
    lines = (json.dumps(record(k)) for k in range(number))
    return read_file(file("a.jsonl", "\n".join(lines)), **options)


def kinds(of):
    return dict(of.ratings.raters)


@pytest.mark.parametrize("name", ["raw_response", "row_order", "table_rows"])
def test_a_judges_own_raw_reply_is_no_person_who_clears_it(file, name):
    with pytest.raises(RecuseError, match=rf"no name tells judges from people: '{name}'"):
        read(file, f"id,qwen_score,{name}", lambda k: (f"t{k}", mark(k), mark(k)))


@pytest.mark.parametrize("name", ["kerla_32b", "exaone_score", "Ardea-70B"])
def test_a_model_is_known_by_its_size(file, name):
    found = read(file, f"id,anna,ben,gpt-4,{name}", lambda k: (f"t{k}", *(mark(k, s) for s in range(4))))
    assert [*kinds(found).values()] == ["person", "person", "judge", "judge"]


def test_a_question_called_2b_is_no_model(file):
    found = read(file, "id,q_2b_human,q_2b_gpt", lambda k: (f"t{k}", mark(k), mark(k, 1)))
    assert [*kinds(found).values()] == ["person", "judge"]


def test_several_answers_to_one_question_are_no_repeats_of_a_person(file):
    """Each row is a student's answer: the id that tells them apart is named as the remedy, and does it."""
    rows = ("question,id,grader_1,grader_2,gpt-4", lambda k: (f"q{k // 4}", f"s{k}", mark(k), mark(k, 1), mark(k, 2)))
    with pytest.raises(RecuseError, match=r"grader_1 has several rows on one text \('q0'\) .*--item id;"):
        read(file, *rows)
    assert read(file, *rows, item="id").ratings.table["item"].nunique() == NUMBER


def test_some_texts_that_people_were_asked_about_twice_are_no_question(file):
    cells = [(f"t{k}", mark(k), mark(k, 1), mark(k, 2)) for k in range(NUMBER)]
    cells += [(f"t{k}", 6 - mark(k), mark(k, 1), mark(k, 2)) for k in range(5)]
    assert read(file, "item,anna,ben,gpt-4", cells.__getitem__, len(cells)).ratings.judgements


def test_a_person_who_says_the_same_in_every_row_was_asked_once(file):
    found = read(file, "item,anna,ben,gpt-4", lambda k: (f"t{k // 4}", mark(k // 4), mark(k // 4, 1), mark(k)))
    assert found.ratings.table["repeat"].max() == 3


def test_rows_of_a_worker_on_one_text_that_nothing_tells_apart_are_asked_about(file):
    """A row for each span that somebody marked."""
    with pytest.raises(RecuseError, match=r"w0 has several rows on one text .* number them in a column repeat"):
        read(file, "item,worker_id,rating", lambda k: (f"t{k // 6}", f"w{k // 2 % 3}", mark(k)))


def test_texts_that_tell_of_models_are_nobodys_names(file):
    about = "{} and {} about the weather of the coming week in Europe".format
    prompts = [about("compare GPT-4", "Claude"), about("ask Llama", "Gemini"), *(about(k, "others") for k in range(58))]
    found = records(file, lambda k: {"id": k, "user_query": prompts[k], "human": mark(k), "gpt-4": mark(k, 1)})
    assert kinds(found) == {"human": "person", "gpt-4": "judge"}


@pytest.mark.parametrize("name", ["rating", "score", "r"])
def test_numbered_ratings_by_nobody_are_asked_about(file, name):
    columns = [f"{name}_{k}" for k in (1, 2, 3)]
    rows = (",".join(["id", *columns]), lambda k: (f"t{k}", *(mark(k, s) for s in range(3))))
    with pytest.raises(RecuseError, match=rf"nothing says whose they are: .*--people {name}_1,{name}_2,{name}_3;"):
        read(file, *rows)
    found = read(file, *rows, people=columns[:2], judges=columns[2])
    assert kinds(found) == {columns[0]: "person", columns[1]: "person", columns[2]: "judge"}


def test_numbered_runs_are_repeats(file):
    found = read(file, "id,run_1,run_2", lambda k: (f"t{k}", mark(k), mark(k, 1)))
    assert (kinds(found), found.ratings.table["repeat"].max()) == ({"judge": "judge"}, 1)


@pytest.mark.parametrize("name", ["expected_verdict", "oracle_label"])
def test_what_is_expected_is_true_and_no_judge(file, name):
    found = read(file, f"id,prediction,{name}", lambda k: (f"t{k}", *(("no", "yes")[mark(k, s) > 2] for s in (0, 1))))
    assert found.ratings.truth
    assert kinds(found)["prediction"] == "judge"


def test_right_answers_in_words_of_their_own_are_asked_about(file):
    """Whether the judge agrees with a reply, beside whether the reply passes: no true answer was left out unsaid."""
    with pytest.raises(
        RecuseError, match=r"ground_truth holds right answers in words \(fail, pass\) .*--ignore ground"
    ):
        read(
            file,
            "id,gpt-4,ground_truth",
            lambda k: (f"t{k}", ("agree", "disagree")[k % 3 == 0], ("pass", "fail")[k % 2]),
        )


def test_whether_a_judge_was_right_is_no_right_answer(file):
    found = read(file, "id,gpt-4,anna,correct", lambda k: (f"t{k}", "ab"[k % 2], "ab"[k % 3 > 0], k % 5 > 0))
    assert not found.ratings.truth


def test_turns_are_texts_of_their_own_whoever_judged_them(file):
    """A judge has another name for the second turn: the first and the second are not one text."""
    found = read(
        file, "question_id,turn,judge,score", lambda k: (k // 2, k % 2 + 1, ("gpt-4", "gpt-4-multi")[k % 2], mark(k))
    )
    assert found.ratings.table["item"].nunique() == NUMBER


def test_what_all_rows_about_a_text_share_is_no_criterion(file):
    """Most texts have one rater a system: the benchmark that a task is from is nobody's rating."""
    words, of = ("no", "yes"), ("red", "green", "blue")
    header = "task_id,model_name,benchmark,annotator_name,task_done,task_loops"
    found = read(file, header, lambda k: (
        f"t{k // 4}", f"m{k % 4}", of[k // 4 % 3], f"annotator {k % 3}", words[mark(k) > 2], words[mark(k, 1) > 3]
    ))  # fmt: skip
    assert found.ratings.headline == ("task_done", "task_loops")


LABELS = ("prompts.txt: you are a careful and friendly assistant of a small museum; {}".format, ("be brief", "be kind"))


def promptfoo(k, reason):
    grading = {"pass": True, "score": 1, "reason": reason}
    prompt = {"raw": "q", "label": LABELS[0](LABELS[1][k % 2])}
    provider = {"id": "bedrock:eu.amazon.nova-lite-with-a-long-name-v1:0"}
    return {"testIdx": k // 2, "promptIdx": k % 2, "prompt": prompt, "provider": provider, "gradingResult": grading}


def log(file, reason):
    return read_file(file("log.json", json.dumps({"results": {"results": [promptfoo(k, reason) for k in range(20)]}})))


def test_a_test_without_assertions_was_graded_by_nobody(file):
    with pytest.raises(RecuseError, match=r"it holds no record; 20 results were not graded"):
        log(file, "No assertions")


def test_prompts_that_begin_alike_are_no_repeats_of_one(file):
    table = log(file, "All assertions passed").ratings.table
    assert (table["target"].nunique(), table["repeat"].max()) == (2, 0)


def test_how_sure_a_model_was_is_no_second_judge(file):
    header = "id,label,llama3_p,llama3_c"
    rows = header, lambda k: (f"t{k}", k % 2, int(k % 7 == 0) ^ k % 2, round(0.5 + k % 10 / 25, 2))
    with pytest.raises(RecuseError, match=r"llama3_p and llama3_c are columns of llama3: .*--ignore llama3_c"):
        read(file, *rows)
    assert kinds(read(file, *rows, ignore="llama3_c"))["llama3_p"] == "judge"


def test_responses_of_qualtrics_without_the_line_of_ids_have_no_rater_called_after_it(file):
    header = "ResponseId,UserLanguage," + ",".join(f"QQ{k}" for k in range(10))
    words = "Response ID,User Language," + ",".join(f"How good is text {k}?" for k in range(10))
    lines = [f"R_{n},EN," + ",".join(str(mark(n + k)) for k in range(10)) for n in range(6)]
    found = read_file(file("a.csv", "\n".join([header, words, *lines])), judges="R_5", people="R_0,R_1,R_2,R_3,R_4")
    assert (found.ratings.table["item"].nunique(), kinds(found)["R_0"]) == (10, "person")


@pytest.mark.parametrize(("texts", "human"), [(False, False), (False, True), (True, True)])
def test_what_most_of_the_judges_say_is_asked_about_and_no_person_who_clears_them(file, texts, human):
    """jury is gpt4, claude and gemini outvoting one another: it was a person, whom each of them agrees with."""

    def row(k):
        good = (k * 7 + k // 9) % 3 > 0
        judges = [good != (k % 10 == wrong) for wrong in (1, 2, 3)]
        answers = [*([good != (k % 8 == 5)] if human else []), *judges, sum(judges) > 1]
        sides = (f"This is the long reply {k} of one.", f"And that is another's reply {k}.") if texts else ()
        return (f"t{k}", *sides, *("BA"[one] if texts else ("fail", "pass")[one] for one in answers))

    header = f"id{',response_a,response_b' * texts}{',human' * human},gpt4,claude,gemini,jury"
    with pytest.raises(RecuseError, match=r"jury says in every row what most of gpt4, claude, gemini do.*--ignore"):
        read(file, header, row)
    assert kinds(read(file, header, row, people="jury,human" if human else "jury"))["jury"] == "person"


def test_a_mean_of_judges_is_nobody_s_beside_one_person(file):
    """It was a second person."""
    rows = (f"t{k},{mark(k)},{mark(k, 1)},{mark(k, 2)},{(mark(k, 1) + mark(k, 2)) / 2}" for k in range(NUMBER))
    found = read_file(file("a.csv", "\n".join(["id,human,gpt4,claude,panel", *rows])))
    assert kinds(found) == {"human": "person", "gpt4": "judge", "claude": "judge"}


@pytest.mark.parametrize(("columns", "by_name", "tie"), [
    ("human_winner,judge_winner", False, "both_bad"), ("human_winner,judge_winner", True, "tie"),
    ("human,llm_judge", False, "tie"), ("human,llm_judge", True, "both_bad"),
])  # fmt: skip
def test_a_persons_choices_by_the_models_names_are_no_raters(file, columns, by_name, tie):
    """human_winner was read as a column of raters: a judge model_a and a person both_bad, of one judge's choices."""
    human, judge = columns.split(",")
    models = ("gpt-4o", "claude-3", "llama-3")

    def row(k):
        pair = (models[k % 3], models[(k + 1) % 3])
        names = (*(pair if by_name else ("model_a", "model_b")), tie)
        return (f"t{k}", *pair, names[k // 3 % 3], names[k // 3 % 3 if k % 5 else 1])

    found = read(file, f"id,model_a,model_b,{columns}", row)
    assert kinds(found) == {human: "person", judge: "judge"}
    ties = found.ratings.table.query("response == 'tie'")["rater"].value_counts()
    assert ties.to_dict() == {human: 18, judge: 15}


def test_a_judge_who_writes_letters_in_brackets_chooses(file):
    """claude was a slice of the texts."""
    sides = [(f"This is the long reply {k} of one.", f"And that is another's reply {k}.") for k in range(NUMBER)]
    rows = ("id,response_a,response_b,human,gpt4,claude",
            lambda k: (f"t{k}", *sides[k], "AB"[k % 2], "AB"[k % 3 % 2], ("(a)", "(b)")[k % 2]))  # fmt: skip
    table = read(file, *rows).ratings.table.pivot(index="item", columns="rater", values="response")
    assert (table["claude"] == table["human"]).all()


@pytest.mark.parametrize("texts", [["A", "B", "C"], [1, 2]])
def test_rankings_in_lists_are_no_sets_that_all_agree(file, texts):
    """[1, 2] and [2, 1] were one set, so that everybody agreed with everybody."""
    orders = (texts, [texts[1], texts[0], *texts[2:]])
    with pytest.raises(RecuseError, match=r"anna names all of the same in every row, in several orders.*B>A>C"):
        records(file, lambda k: {"id": k, "anna": orders[k % 2], "gpt4": orders[k % 3 % 2]})


def test_two_lists_of_judgements_are_asked_about(file):
    """People's was left out, and of the judges' the last number was read as one judge's answer."""

    def record(k):
        people = [{"annotator": name, "score": mark(k, s)} for s, name in enumerate(("anna", "ben"))]
        judges = [{"judge": name, "score": mark(k, s)} for s, name in ((2, "gpt-4"), (3, "claude-3"))]
        return {"id": f"t{k}", "annotations": people, "model_judgments": judges}

    with pytest.raises(RecuseError, match="annotations and model_judgments both list who gave which rating"):
        records(file, record)


def test_records_in_a_judges_column_have_no_last_word(file):
    """The last number of a list of records was taken for the judge's answer."""

    def record(k):
        said = [{"about": "tone and manners", "score": mark(k)}, {"about": "facts", "score": 5}]
        return {"id": f"t{k}", "anna": mark(k), "ben": mark(k, 1), "tags": [{"tag": "x"}], "judge_scores": said}

    with pytest.raises(RecuseError, match=r"judge_scores"):
        records(file, record)


@pytest.mark.parametrize("names", ["role,content", "from,value"])
def test_messages_of_a_talk_are_no_rows_of_its_ratings(file, names):
    """Every rating of the talk counted twice, once for what the user said."""
    who, what = names.split(",")

    def record(k):
        said = [{who: "user", what: f"How do I do {k}?"}, {who: "gpt", what: f"You do {k} so."}]
        return {"id": f"t{k}", "messages": said, "human": mark(k), "gpt4": mark(k, 1)}

    table = records(file, record).ratings.table
    assert len(table) == 2 * NUMBER


def test_who_rated_in_a_list_from_whom_is_no_talk(file):
    def record(k):
        said = [{"from": "human", "value": str(mark(k))}, {"from": "gpt-4", "value": str(mark(k, 1))}]
        return {"id": f"t{k}", "scores": said}

    assert kinds(records(file, record)) == {"human": "person", "gpt-4": "judge"}


def of_pairs(file, names, choices=lambda k: [k % 2, k % 3 % 2, k % 5 % 2], **options):
    """A file of two texts a row, and of choices between them in columns of these names."""

    def row(k):
        sides = (f"This is the long reply {k} of one.", f"And that is another's reply {k}.")
        return (f"t{k}", *sides, *("AB"[one] for one in choices(k)[: names.count(",") + 1]))

    return read(file, f"id,response_a,response_b,{names}", row, **options)


ORDERS = ("gpt4_order1,gpt4_order2", "gpt4,gpt4_swapped", "verdict_1,verdict_2", "gpt4_winner,gpt4_winner_swap",
          "judge,judge_reversed")  # fmt: skip


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("names", ORDERS)
def test_one_judges_choices_in_both_orders_are_no_two_judges(file, names):
    """The second one's places were read as texts: a judge who turns round with the texts was refused by half."""
    one, other = names.split(",")
    with pytest.raises(RecuseError, match=rf"{one} and {other} look like one judge's choices in both orders"):
        of_pairs(file, f"human,{names}")
    assert kinds(of_pairs(file, f"human,{names}", people="human", judges=names))[other] == "judge"


def test_two_people_and_two_judges_by_number_are_not_one_in_two_orders(file):
    found = of_pairs(file, "human_verdict_1,human_verdict_2,judge_1", lambda k: [k % 2, k % 3 % 2, k % 5 % 2])
    assert len(kinds(found)) == 3


def test_repeats_of_a_judge_s_choices_are_repeats(file):
    """gpt4_run1 and gpt4_run2 were two judges beside two texts."""
    found = of_pairs(file, "human,gpt4_run1,gpt4_run2")
    assert kinds(found) == {"human": "person", "gpt4": "judge"}


@pytest.mark.parametrize("name", ["shown_first", "position_of_a", "left", "first_shown"])
def test_which_text_was_shown_first_is_no_rater(file, name):
    """It holds A and B as choices do: shown_first was a judge, left a person."""
    with pytest.raises(RecuseError, match=rf"{name} says in which order two texts were shown.*--ignore {name}"):
        of_pairs(file, f"human,gpt4,{name}")


QUESTIONS = {
    "human_helpfulness,human_safety,gpt4": "human_safety",
    "human,gpt4_helpfulness,gpt4_overall": "gpt4_overall",
    "helpful,harmless,gpt4": "harmless",
    "better_response_id,safer_response_id,gpt4_better_response_id": "safer_response_id",
    "helpfulness_winner,safety_winner,gpt4_helpfulness_winner": "safety_winner",
}


@pytest.mark.parametrize("names", QUESTIONS)
def test_choices_by_several_questions_are_no_raters(file, names):
    """safer_response_id was a second person whom the judge of better_response_id should agree with."""
    left = QUESTIONS[names]
    with pytest.raises(RecuseError, match=rf"choose between two texts, and not all by one question.*--ignore {left}$"):
        of_pairs(file, names)


@pytest.mark.parametrize("names", ["winner,gpt4_winner,label", "human_choice,gpt4_quality_choice,claude_choice"])
def test_choices_by_one_question_are_read(file, names):
    assert len(kinds(of_pairs(file, names))) == 3


def test_the_name_of_a_judge_s_model_is_no_choice_between_models(file):
    """llm_judge.model, gpt-4o in every row, was a judge who mostly chose neither of the two."""
    models = ("gpt-4o", "claude-3", "llama-3")

    def record(k):
        names = ("model_a", "model_b", "tie")
        judge = {"verdict": names[k // 3 % 3 if k % 5 else 0], "model": "gpt-4o"}
        pair = {"model_a": models[k % 3], "model_b": models[(k + 1) % 3]}
        return {"id": f"t{k}", **pair, "winner": names[k // 3 % 3], "llm_judge": judge}

    assert [*kinds(records(file, record)).values()] == ["person", "judge"]

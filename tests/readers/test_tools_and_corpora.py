"""Opik, Weave, promptfoo's CSV, MQM, HelpSteer3, Auto-J: read right, or asked about."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

ITEMS = 60


def lines(records):
    return "\n".join(map(json.dumps, records))


def table(header, rows, sep=","):
    stream = io.StringIO()
    csv.writer(stream, delimiter=sep).writerows([header, *rows])
    return stream.getvalue()


def answer(item, side):
    return f"This is answer {side} to question number {item}, in quite a few words."


LABELS = np.random.default_rng(1).integers(0, 3, (2, ITEMS))


def two_texts(one, other, values=LABELS):
    names = ("question", one, other, "human_label", "gpt_label")
    return [
        dict(zip(names, (f"q{k}", answer(k, 1), answer(k, 2), *map(int, values[:, k])), strict=True))
        for k in range(ITEMS)
    ]


@pytest.mark.parametrize("sides", [("answer_1", "answer_2"), ("response1", "response2"), ("text_0", "text_1")])
def test_0_1_and_2_beside_two_texts_are_asked_about_whatever_the_texts_are_called(file, sides):
    """Auto-J's labels: 0 is the first, 1 the second, 2 a tie; others' 0 is the tie."""
    path = file("a.jsonl", lines(two_texts(*sides)))
    with pytest.raises(RecuseError, match=r"--same 0=tie,1=first,2=second, or --same 0=first,1=second,2=tie"):
        read_file(path)
    rows = read_file(path, same="0=first,1=second,2=tie").ratings.table
    assert list(rows.loc[rows["kind"] == "person", "response"]) == [("first", "second", "tie")[k] for k in LABELS[0]]


def test_0_and_1_beside_texts_numbered_so_are_their_sides(file):
    rows = read_file(file("a.jsonl", lines(two_texts("text_0", "text_1", LABELS % 2)))).ratings.table
    assert list(rows.loc[rows["kind"] == "judge", "response"]) == [("first", "second")[k % 2] for k in LABELS[1]]


@pytest.mark.parametrize("option", [{"judges": "choice"}, {"people": "choice"}])
def test_a_choice_between_two_summaries_by_nobody_is_asked_about(file, option):
    records = [
        {"info": {"id": f"p{k}"}, "choice": int(LABELS[0, k] % 2),
         "summaries": [{"text": answer(k, 1), "policy": "one"}, {"text": answer(k, 2), "policy": "two"}]}
        for k in range(ITEMS)
    ]  # fmt: skip
    path = file("a.jsonl", lines(records))
    with pytest.raises(RecuseError, match="no name tells judges from people: 'choice'; say --judges"):
        read_file(path)
    kind = "judge" if "judges" in option else "person"
    assert dict(read_file(path, **option).ratings.raters) == {"choice": kind}


def preferences(context):
    rng = np.random.default_rng(2)
    strength = rng.integers(-2, 3, ITEMS)
    each = strength[:, None] + rng.integers(-1, 2, (ITEMS, 3))
    return each, [
        {**context, "response1": answer(k, 1), "response2": answer(k, 2), "overall_preference": int(strength[k]),
         "individual_preference": [{"score": int(score), "reasoning": "so", "feedback1": "a"} for score in each[k]],
         "judge_preference": int(strength[k])}
        for k in range(ITEMS)
    ]  # fmt: skip


@pytest.mark.parametrize("context", [{}, {"context": [{"role": "user", "content": "hello"}, {"role": "assistant"}]}])
def test_preferences_of_several_people_in_a_list_are_theirs_and_their_aggregate_is_nobodys(file, context):
    each, records = preferences(context)
    read = read_file(file("a.jsonl", lines(records)))
    assert sorted(read.ratings.raters.values()) == ["judge", "person", "person", "person"]
    assert read.mapping.ignored["overall_preference"].startswith("made of other columns")
    rows = read.ratings.table
    assert list(rows.loc[rows["rater"] == "annotator2", "score"]) == list(each[:, 1])


def test_an_aggregate_that_is_the_only_person_is_told(file):
    records = [{k: v for k, v in one.items() if k != "individual_preference"} for one in preferences({})[1]]
    assert any("made of several people's answers by the name, and read as one person's" in note
               for note in read_file(file("a.jsonl", lines(records))).notes)  # fmt: skip


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["feedback_scores", "scores", "output.scores", "feedback"])
def test_scores_by_name_are_criteria_of_one_judge_unless_one_bears_a_raters_name(file, name):
    """Opik, Braintrust, Weave and LangSmith: two questions are never compared as if they were two raters."""
    rows = [(f"t{k}", f"q{k}", *LABELS[:, k] + 1) for k in range(ITEMS)]
    read = read_file(file("a.csv", table(["id", "input", f"{name}.polite", f"{name}.Short enough"], rows)))
    assert (dict(read.ratings.raters), set(read.ratings.headline)) == ({"judge": "judge"}, {"polite", "Short enough"})
    read = read_file(file("b.csv", table(["id", "input", f"{name}.gpt4", f"{name}.Human review"], rows)))
    assert sorted(read.ratings.raters.values()) == ["judge", "person"]


def test_opiks_scores_by_trace(file):
    records = [
        {"id": f"tr{k}", "name": "chat", "input": {"q": "?"}, "output": {"a": answer(k, 1)}, "feedback_scores": [
            {"name": "relevance", "value": int(LABELS[0, k]) + 1, "source": "sdk", "reason": "so"},
            {"name": "relevance", "value": int(LABELS[1, k]) + 1, "source": "ui", "created_by": "anna"}]}
        for k in range(ITEMS)
    ]  # fmt: skip
    read = read_file(file("a.jsonl", lines(records)))
    assert (dict(read.ratings.raters), read.mapping.item) == ({"sdk": "judge", "anna": "person"}, ("id",))
    assert read.ratings.headline == ("relevance",)


PROMPTFOO = ["question", "[openai:gpt-4o] Answer {{question}}", "[anthropic:claude] Answer {{question}}"]


def graded(*systems):
    """What its assertions came to before each output, one of which failed to come."""
    cells = [[k, *(f"[{'PASS' if LABELS[s, k] else 'FAIL'}] (1.00)\n\n{answer(k, s)}" for s in systems)]
             for k in range(ITEMS)]  # fmt: skip
    cells[3][1] = "[ERROR] (0.00)\n\ntime out"
    return cells


def test_promptfoos_csv_has_a_judge_and_a_system_for_each_column_of_outputs(file):
    ratings = read_file(file("a.csv", table(PROMPTFOO, graded(0, 1)))).ratings
    assert dict(ratings.raters) == {"judge": "judge"}
    rows = ratings.table
    assert list(rows["target"].unique()) == PROMPTFOO[1:]
    assert list(np.flatnonzero(rows["status"].ne("ok"))) == [6]
    meant = ["pass" if one else "fail" for one in LABELS.T.ravel()]
    assert list(rows["response"].dropna()) == meant[:6] + meant[7:]


def test_a_persons_column_is_about_the_outputs_of_one_system_and_of_two_is_asked_about(file):
    one, two = ([[*row, "pass" if k % 3 else "fail"] for k, row in enumerate(graded(*s))] for s in ((0,), (0, 1)))
    ratings = read_file(file("a.csv", table([*PROMPTFOO[:2], "human"], one))).ratings
    assert dict(ratings.raters) == {"human": "person", "judge": "judge"}
    with pytest.raises(RecuseError, match="human is the same for every system of an item"):
        read_file(file("b.csv", table([*PROMPTFOO, "human"], two)))


def test_errors_by_mqm_are_added_up_for_each_text_and_rater(file):
    """By hand: a major and a minor 6, minor punctuation .1, no translation 25, none 0."""
    marked = {
        ("A", 1): [("Accuracy/Omission", "Major"), ("Style/Awkward", "Minor")], ("A", 2): [("No-error", "No-error")],
        ("B", 1): [("Fluency/Punctuation", "Minor")], ("B", 2): [("Non-translation!", "Major")],
    }  # fmt: skip
    rows = [
        (system, "doc", number, who, "the source", "the target", *error)
        for who in ("rater1", "gpt-4o") for (system, number), errors in marked.items() for error in errors
    ]  # fmt: skip
    header = ["system", "doc", "seg_id", "rater", "source", "target", "category", "severity"]
    ratings = read_file(file("a.tsv", table(header, rows, "\t"))).ratings
    assert dict(ratings.raters) == {"rater1": "person", "gpt-4o": "judge"}
    for _, own in ratings.table.groupby("rater", observed=True):
        assert list(own["score"]) == [-6, 0, -0.1, -25]
        assert list(own["target"]) == ["A", "A", "B", "B"]


@pytest.mark.parametrize(
    ("name", "place"),
    [("a.jsonl", "line 3: 'gpt' stands twice in one object beside id 't2'"),
     ("a.json", "'gpt' stands twice in one object beside id 't2'")],
)  # fmt: skip
def test_a_value_that_is_named_twice_is_an_error_with_its_place(file, name, place):
    records = [f'{{"id": "t{k}", "anna": 1, "gpt": {k % 3}}}' for k in range(20)]
    records[2] = records[2].replace('"gpt"', '"gpt": 1, "gpt"')
    text = "\n".join(records) if name == "a.jsonl" else "[\n" + ",\n".join(records) + "]"
    with pytest.raises(RecuseError, match=place):
        read_file(file(name, text))


@pytest.mark.parametrize("huge", ["1e999", "Infinity", '"1e400"'])
def test_an_infinite_number_is_no_label(file, huge):
    records = [f'{{"id": "t{k}", "anna": "p", "gpt": "{"pf"[k % 2]}"}}' for k in range(20)]
    records[4] = f'{{"id": "t4", "anna": "f", "gpt": {huge}}}'
    with pytest.raises(RecuseError, match="which is no rating; empty such cells"):
        read_file(file("a.jsonl", "\n".join(records)))


ENCODED = {
    "shift_jis": ("番号,評価者1,評価者2,LLM評価", "これは質問への答えです"),
    "gb18030": ("编号,评价者1,评价者2,模型评分", "这是对问题的回答"),
    "windows-1251": ("номер,эксперт1,эксперт2,gpt", "Это ответ на вопрос"),
    "euc_kr": ("번호,평가자1,평가자2,gpt", "이것은 답변입니다"),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_letters_of_an_encoding_that_nobody_names_are_asked_about(file, encoding):
    header, text = ENCODED[encoding]
    rows = [f"{k},{k % 3 + 1},{k % 4 + 1},{k % 3 + 1},{text} {k}" for k in range(ITEMS)]
    path = file("a.csv", "\n".join([f"{header},text", *rows]).encode(encoding))
    with pytest.raises(RecuseError, match="--encoding shift_jis"):
        read_file(path)
    read = read_file(path, encoding=encoding)
    assert [*read.ratings.raters] == header.split(",")[1:]
    assert read.mapping.item == (header.split(",")[0],)
    assert any(f"read as {encoding}, as you said" in note for note in read.notes)


def test_a_column_of_other_short_words_in_every_row_names_the_cases_in_any_language(file):
    rows = [(f"V-{k}", "ja" if k % 3 else "nein", "ja" if k % 4 else "nein") for k in range(ITEMS)]
    assert read_file(file("a.csv", table(["Vorgang", "Prüfer", "KI-Urteil"], rows))).mapping.item == ("Vorgang",)
    assert read_file(file("b.csv", table(["Sprawa", "oceniający", "gpt"], rows))).mapping.item == ("Sprawa",)

"""What was judged: an item has a name of its own, or one question is asked."""

from __future__ import annotations

import json

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

WHO = ("anna", "ben", "gpt-4o")


def long(header, facts, number=30):
    rows = [header]
    rows += [f"{facts(k)},{who},{(k + s) % 5 + 1}" for k in range(number) for s, who in enumerate(WHO)]
    return "\n".join(rows)


def test_an_item_column_with_one_value_gives_way_to_another_id(file):
    read = read_file(file("a.csv", long("item,comment_ref,rater,score", lambda k: f"run-1,c{k}")))
    assert read.mapping.item == ("comment_ref",)
    assert read.ratings.table["item"].nunique() == 30


def test_an_item_column_with_one_value_gives_way_to_the_texts(file):
    text = long("item,comment_text,rater,score", lambda k: f'x,"A comment of some length, the one of number {k}."')
    assert read_file(file("a.csv", text)).ratings.table["item"].nunique() == 30


@pytest.mark.parametrize(("facts", "item"), [("room {k}", ("listing",)), ("{k}", ())], ids=["names", "ranks"])
def test_what_comes_once_with_every_criterion_is_what_was_judged(file, facts, item):
    """Under any name, in a table with a column for each rater; numbers may be somebody's ranks."""
    rows = [f"{facts.format(k=k)},{criterion},{k % 5 + 1},{(k + s) % 5 + 1}"
            for k in range(1, 31) for s, criterion in enumerate(("clean", "quiet", "near"))]  # fmt: skip
    path = file("a.csv", "\n".join(["listing,criterion,anna,llm-judge", *rows]))
    read = read_file(path, people="anna", judges="llm-judge")
    assert read.mapping.item == item
    assert read.ratings.table["item"].nunique() == (30 if item else 90)


@pytest.mark.parametrize("header", ["item,rater,score", "note,rater,score"])
def test_without_a_name_for_what_was_judged_one_question_is_asked(file, header):
    path = file("a.csv", long(header, lambda k: "run-1"))
    with pytest.raises(RecuseError, match=r"no column says what was judged.* --item COLUMN. There are: "):
        read_file(path)


def test_what_is_given_as_the_item_is_the_item(file):
    rows = ["item,system,rater,score"]
    rows += [f"poem,s{k},{who},{(k + s) % 5 + 1}" for k in range(20) for s, who in enumerate(WHO)]
    read = read_file(file("a.csv", "\n".join(rows)), item="system")
    assert read.ratings.table["item"].nunique() == 20


def test_rows_of_a_wide_table_are_texts_of_their_own(file):
    rows = ["item,anna,gpt-4o", *(f"poem,{k % 5 + 1},{k % 4 + 1}" for k in range(30))]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.ratings.table["item"].nunique() == 30
    assert "each row is read as a text of its own" in read.mapping.ignored["item"]


@pytest.mark.parametrize("role", ["role", "speaker"])
def test_turns_that_nobody_rates_are_no_requests(file, role):
    lines = []
    for k in range(60):
        base = {"conversation_id": f"c{k // 6}", "turn": k % 6, role: ("user", "assistant")[k % 2]}
        marks = {"human_rating": k % 5 + 1, "llm_judge": (k + k % 3 // 2) % 5 + 1} if k % 2 else {}
        lines.append(json.dumps({**base, "content": f"what was said as number {k} in all of these talks", **marks}))
    read = read_file(file("a.jsonl", "\n".join(lines)))
    assert len(read.ratings.table) == 60
    assert set(read.ratings.table["status"]) == {"ok"}
    assert any("30 row(s)" in note and "user" in note for note in read.notes)


def test_an_answer_that_a_judge_owes_in_a_rated_role_is_owed(file):
    rows = ["id,role,human,llm_judge"]
    rows += [
        f"{k},{('user', 'assistant')[k % 2]},{k % 5 + 1 if k % 2 else ''},{k % 4 + 1 if k % 10 == 1 else ''}"
        for k in range(60)
    ]
    read = read_file(file("a.csv", "\n".join(rows)))
    judged = read.ratings.table[read.ratings.table["rater"] == "llm_judge"]
    assert (len(judged), int((judged["status"] == "ok").sum())) == (30, 6)


@pytest.mark.parametrize("questions", [4, 30])
def test_answers_to_one_question_are_no_repeats(file, questions):
    rows = [f"Which organ is number {k % questions}?,It is {k},{k % 5 + 1},{k % 4 + 1},{k % 3 + 1}" for k in range(120)]
    read = read_file(file("a.csv", "\n".join(["question,answer,human_1,human_2,gpt-4o", *rows])))
    assert (read.mapping.item, read.mapping.cluster) == (("question", "answer"), "question" if questions == 30 else "")
    assert read.ratings.table["item"].nunique() == 120


def test_what_a_judge_said_when_asked_again_names_no_item(file):
    rows = [f"q{k // 3},It says {k},{k % 5 + 1},{k // 3 % 5 + 1}" for k in range(120)]
    read = read_file(file("a.csv", "\n".join(["question,output,gpt-4o,human", *rows])))
    assert read.mapping.item == ("question",)
    rows = [f"q{k // 4},{('gpt', 'anna')[k % 2]},It says {k},{(k, k // 4)[k % 2] % 5 + 1}" for k in range(120)]
    read = read_file(file("b.csv", "\n".join(["question,rater,output,score", *rows])))
    assert read.mapping.item == ("question",)


RATED = [(1 + k % 5, 1 + (k + (k % 3 == 0)) % 5) for k in range(96)]
PROMPT_AND_SYSTEM = [(f"say something about {k // 4}", f"m{k % 4}") for k in range(96)]
TEXT_AND_WAY = [(f"the text of case number {k // 2}", ("named", "hidden")[k % 2]) for k in range(96)]


@pytest.mark.parametrize(("header", "about", "item", "other"), [
    ("prompt,model", PROMPT_AND_SYSTEM, ("prompt",), {"target": "model"}),
    ("prompt,response_model", PROMPT_AND_SYSTEM, ("prompt",), {"target": "response_model"}),
    ("Prompt,System", PROMPT_AND_SYSTEM, ("Prompt",), {"target": "System"}),
    ("prompt,reply", [(p, f"{p} as {m} does in its reply") for p, m in PROMPT_AND_SYSTEM], (), {"cluster": "prompt"}),
    ("prompt,reply", [(f"please {p} in some words of your own and be kind", f"{p} as {m} does in its reply")
                      for p, m in PROMPT_AND_SYSTEM], (), {"cluster": "prompt"}),
    ("text,condition", TEXT_AND_WAY, ("text",), {"factors": ("condition",)}),
    ("language,model", [(("de", "en", "fr")[k % 3], f"m{k // 3 % 2}") for k in range(96)], (), {
        "slices": ("language",)}),
])  # fmt: skip
def test_prompts_that_come_again_are_what_was_judged_or_what_texts_share(file, header, about, item, other):
    """A prompt that each system answered once was a factor of how the judge was asked."""
    rows = [f"{','.join(one)},{person},{judge}" for one, (person, judge) in zip(about, RATED, strict=True)]
    read = read_file(file("a.csv", "\n".join([f"{header},human_score,judge_score", *rows])))
    assert read.mapping.item == item
    assert {name: getattr(read.mapping, name) for name in other} == other
    assert set(read.ratings.factors) == {*other.get("factors", ())}


@pytest.mark.parametrize("reply", ["", ",The reply of {1} to {0} stands here"])
def test_prompts_and_systems_below_one_another_are_told_apart_for_every_rater(file, reply):
    """The reply was what was judged, or it was asked what is."""
    header = "prompt,response_model" + (",response" if reply else "")
    said = {"anna": 0, "gpt": 1}
    rows = [f"{','.join(one)}{reply.format(*one)},{who},{RATED[k][at]}"
            for k, one in enumerate(PROMPT_AND_SYSTEM) for who, at in said.items()]  # fmt: skip
    mapping = read_file(file("a.csv", "\n".join([f"{header},rater,score", *rows]))).mapping
    assert (mapping.item, mapping.target) == (("prompt",), "response_model")


def questions(name, about, other="ticket", apart=False):
    """Each ticket under each question, or under one alone: the name of a question comes again, and no ticket's does."""
    levels = ("opening", "middle", "closing")
    rows = [f"T{k}x,{level},{who},{(k + n + s) % 5 + 1}" for k in range(48) for n, level in enumerate(levels)
            if not apart or n == k % 3 for s, who in enumerate(WHO)]  # fmt: skip
    return "\n".join([f"{other},{about},rater,{name}", *rows])


@pytest.mark.parametrize(("about", "other"), [
    ("question", "ticket"), ("case", "call_id"), ("item", "ticket"), ("sample", "call_id"),
])  # fmt: skip
def test_what_kind_of_case_a_ticket_is_names_no_item(file, about, other):
    """Three cases of 48 systems, each called as a ticket is, were no sample of anything."""
    read = read_file(file("a.csv", questions("score", about, other, apart=True)))
    assert (read.mapping.item, read.mapping.target, read.mapping.slices) == ((other,), "", (about,))


@pytest.mark.parametrize(("about", "other"), [("question", "ticket"), ("case", "call_id"), ("item", "ticket")])
def test_several_questions_about_each_ticket_are_asked_about(file, about, other):
    path = file("a.csv", questions("score", about, other))
    with pytest.raises(RecuseError, match=rf"--item {other} --criterion {about}; .* --item {about} --system {other}"):
        read_file(path)
    read = read_file(path, item=other, criterion=about)
    assert (read.ratings.table["item"].nunique(), len(read.ratings.headline)) == (48, 3)
    assert read_file(path, item=about, target=other).ratings.table["target"].nunique() == 48


def test_a_few_conditions_of_many_items_are_no_items(file):
    rows = [f"p{k},{case},{who},{(k + n + s) % 5 + 1}" for k in range(30) for n, case in enumerate(("with", "without"))
            for s, who in enumerate(WHO)]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["item,case,rater,score", *rows])))
    assert (read.mapping.item, read.mapping.target) == (("item",), "case")

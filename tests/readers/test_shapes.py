"""One table in every shape: long, wide, hybrid, pairs; what was read as what."""

from __future__ import annotations

import json

import pytest

from recuse.ratings import Nominal, Numeric, Ordinal
from recuse.readers import read_file
from recuse.schema import RecuseError

LONG = """ticket,annotator,verdict
1,gpt-4o,pass
1,anna,PASS
2,gpt-4o,fail
2,anna, pass
"""
WIDE = """ticket_id,bot,reply,judge_v2,anna,ben,created_at
1,A,"Please restart the router, then wait for two minutes.",pass,pass,fail,2026-01-01
2,B,"We are sorry, this cannot be refunded after thirty days.",fail,fail,fail,2026-01-02
3,A,"Yes, and the second one is free as well until Friday.",,fail,pass,2026-01-03
4,B,"Your parcel will arrive tomorrow between ten and twelve.",pass,pass,pass,2026-01-04
"""
HYBRID = """item,subset,response,is_chosen,judge,prompt,r1,r2,r3
1,math,0,1,gpt,plain,7,8,9
1,math,1,0,gpt,plain,2,3,4
1,math,0,1,gpt,strict,6,,6
1,math,1,0,gpt,strict,1,1,1
2,math,0,0,gpt,plain,5,5,5
2,math,1,1,gpt,plain,4,4,5
2,math,0,0,gpt,strict,5,5,5
2,math,1,1,gpt,strict,4,4,10
"""
PAIRS = """question,reviewer,first,second,score
1,gpt,gpt,bard,1
1,gpt,bard,gpt,2
1,human,gpt,bard,3
2,gpt,gpt,bard,2
2,gpt,bard,gpt,2
2,human,gpt,bard,1
"""


def test_long(file):
    read = read_file(file("a.csv", LONG))
    assert read.ratings.raters == {"gpt-4o": "judge", "anna": "person"}
    assert read.ratings.scales == {"rating": Ordinal(("fail", "pass"))}
    assert list(read.ratings.table["response"]) == ["pass", "pass", "fail", "pass"]


def test_wide_with_a_judges_empty_cell_counted_and_a_date_left_alone(file):
    read = read_file(file("a.csv", WIDE))
    table = read.ratings.table
    assert read.ratings.raters == {"judge_v2": "judge", "anna": "person", "ben": "person"}
    assert read.mapping.record() == {
        "item": ["ticket_id"], "target": "bot", "text": "reply",
        "raters": {"judge_v2": ["judge_v2"], "anna": ["anna"], "ben": ["ben"]}, "ignore": ["created_at"],
    }  # fmt: skip
    assert dict(table.loc[table["rater"] == "judge_v2", "status"].value_counts()) == {"ok": 3, "unparsed": 1}
    assert read.ratings.texts is not None
    assert list(read.ratings.texts["words"]) == [9, 10, 11, 9]


def test_a_person_who_left_a_cell_empty_did_not_rate(file):
    read = read_file(file("a.csv", WIDE.replace("fail,fail,2026-01-02", "fail,,2026-01-02")))
    table = read.ratings.table
    assert len(table[table["rater"] == "ben"]) == 3
    assert set(table.loc[table["rater"] == "ben", "status"]) == {"ok"}


def test_repeats_side_by_side_and_what_was_varied(file):
    read = read_file(file("a.csv", HYBRID))
    table = read.ratings.table
    assert read.ratings.factors == ("prompt",)
    assert read.ratings.scales["rating"] == Numeric(1, 10, 1)
    assert len(table) == 24
    assert sorted(table["repeat"].unique()) == [0, 1, 2]
    assert read.ratings.texts is not None
    assert list(read.ratings.texts["gold"]) == ["1", "0", "0", "1"]


def test_columns_numbered_by_a_point_are_repeats_of_one_rater(file):
    read = read_file(file("a.csv", "item,judge.1,judge.2,anna\n1,3,4,3\n2,5,5,4\n3,1,2,1\n"))
    assert read.mapping.raters == {"judge": ("judge.1", "judge.2"), "anna": ("anna",)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-4", "gpt-4.1"),
        ("judge-v2", "judge-v2.1"),
        *(
            pytest.param(*names, marks=pytest.mark.slow("further cases"))
            for names in (("claude-3.5", "claude-3.7"), ("deepseek", "deepseek_r1"))
        ),
    ],
)
def test_versions_of_a_model_are_judges_of_their_own(file, one, other):
    rows = "1,3,4,3,3\n2,5,5,4,4\n3,1,2,1,2\n"
    assert read_file(file("a.csv", f"item,{one},{other},anna,ben\n{rows}")).ratings.judges == (one, other)
    again = read_file(file("b.csv", f"item,{other}_run1,{other}_run2,anna,ben\n{rows}"))
    assert again.ratings.judges == (other,)
    assert {*again.ratings.table["repeat"]} == {0, 1}


@pytest.mark.parametrize("one", ["anna R1", "anna_r1", "anna (round 1)"])
def test_rounds_of_one_person_are_her_repeats_and_no_two_people(file, one):
    table = f"item,{one},{one.replace('1', '2')},ben,gpt4\n1,3,4,3,3\n2,5,5,4,4\n3,1,2,1,2\n"
    assert read_file(file("a.csv", table)).ratings.persons == ("anna", "ben")


@pytest.mark.parametrize(
    ("one", "other"),
    [("anna_before", "anna_after"), ("human_initial", "human_final"), ("Anna (original)", "Anna (revised)")],
)
def test_what_one_person_said_at_first_and_later_is_asked_about(file, one, other):
    rows = [f"{k},{k % 5},{k * 3 % 7 % 5},{k % 4},{k % 5}" for k in range(12)]
    path = file("a.csv", "\n".join([f"item,{one},{other},gpt4_before,gpt4", *rows]))
    with pytest.raises(RecuseError, match=r" are columns of (anna|human): if one is its rating, .*--ignore"):
        read_file(path)
    read = read_file(path, people=f"{one},{other}")
    assert (read.ratings.persons, read.ratings.judges) == ((one, other), ("gpt4_before", "gpt4"))
    assert read_file(path, ignore=one, people=other).ratings.persons == (other,)


def test_columns_that_are_named_as_raters_are_theirs(file):
    path = file("a.csv", "item,human.1,human.2,rater_r1,rater_r2,gpt\n1,3,4,3,3,3\n2,5,5,4,4,4\n3,1,2,1,2,2\n")
    assert read_file(path, people="human.1,human.2", judges="gpt").ratings.persons == ("human.1", "human.2")
    assert read_file(path).ratings.persons == ("human 1", "human 2", "rater 1", "rater 2")


def test_raters_with_a_number_are_people_of_their_own(file):
    read = read_file(file("a.csv", "item,human_1,human_2,gpt\n1,3,4,3\n2,5,5,4\n3,1,2,1\n"))
    assert read.ratings.persons == ("human_1", "human_2")
    assert read.ratings.judges == ("gpt",)


def test_pairs_by_number(file):
    read = read_file(file("a.csv", PAIRS))
    assert read.kind == "choices"
    assert read.ratings.scales["winner"] == Nominal(("first", "second", "tie"))
    assert read.ratings.levels("order") == ("ab", "ba")
    assert read.ratings.own() == {"gpt": "gpt"}
    assert any("1 is the first, 2 the second, 3 a tie" in note for note in read.notes)


def test_repeats_of_people_in_general_are_different_people(file):
    text = "question,reviewer,first,second,rep,winner\n1,human,x,y,1,x\n1,human,x,y,2,y\n1,gpt,x,y,1,tie\n"
    read = read_file(file("a.csv", text))
    assert read.ratings.persons == ("human 1", "human 2")


def test_a_right_answer_on_the_same_scale_is_one_more_person(file):
    read = read_file(file("a.csv", "item,llm,gold\n1,yes,yes\n2,no,yes\n3,no,no\n"))
    assert read.ratings.persons == ("gold",)


def test_names_that_come_back_under_another_topic_are_other_items(file):
    rows = "".join(
        f"{k},{topic},gpt,{3 + k % 2}\n" for topic in ("a", "b") for k in (range(9) if topic == "a" else [0])
    )
    read = read_file(file("a.csv", f"item,topic,judge,score\n{rows}"))
    assert read.ratings.table["item"].nunique() == 10


def test_what_is_said_comes_before_what_is_seen(file):
    path = file("a.csv", "item,x,y\n1,3,4\n2,5,5\n3,1,2\n")
    assert read_file(path, judges="x,y").ratings.persons == ()
    assert read_file(path, people="y").ratings.persons == ("y",)
    assert read_file(path, people="y").ratings.judges == ("x",)


def test_the_toml_file_is_read_back_as_it_was_written(file):
    path = file("tickets.csv", WIDE)
    read = read_file(path)
    file("tickets.recuse.toml", read.mapping.toml())
    again = read_file(path)
    assert again.mapping.record() == read.mapping.record()
    assert again.ratings.table.equals(read.ratings.table)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"item": "tickt_id"}, "ticket_id"),
        ({"colour": "bot"}, "colour is nothing that a column is read as"),
        ({"people": "carl"}, "no rater 'carl'"),
    ],
)
def test_what_is_said_wrongly_is_told_with_what_there_is(file, given, told):
    with pytest.raises(RecuseError, match=told):
        read_file(file("a.csv", WIDE), **given)


def test_a_table_without_ratings_says_how_to_name_them(file):
    with pytest.raises(RecuseError, match="--value COLUMN"):
        read_file(file("a.csv", "name,colour_of_door\nanna,blue\nben,blue\n"))


def test_a_person_in_a_column_of_its_own_beside_a_log_of_choices(file):
    rows = ["id,model_a,model_b,judge,winner,human"]
    for k, (judge, human) in enumerate([("model_a", "model_a"), ("model_b", "tie"), ("tie", "model_b")] * 4):
        rows += [f"{k},llama,mistral,{name},{judge},{human}" for name in ("gpt-x", "gpt-y")]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.ratings.raters == {"gpt-x": "judge", "gpt-y": "judge", "human": "person"}
    table = read.ratings.table
    assert table.groupby("rater", observed=True).size().to_dict() == {"gpt-x": 12, "gpt-y": 12, "human": 12}
    assert list(table.loc[table["rater"] == "human", "response"])[:3] == ["first", "tie", "second"]


def test_a_persons_score_beside_a_long_table_is_one_rating_a_text(file):
    rows = [f"{k},{judge},{k % 5 + shift},{k % 5}" for k in range(10) for shift, judge in enumerate(("gpt-x", "gpt-y"))]
    read = read_file(file("a.csv", "\n".join(["ticket,judge,score,human_score", *rows])))
    assert read.ratings.raters == {"gpt-x": "judge", "gpt-y": "judge", "human": "person"}
    mine = read.ratings.table[read.ratings.table["rater"] == "human"]
    assert list(mine["score"]) == [k % 5 for k in range(10)]
    assert set(mine["repeat"]) == {0}


@pytest.mark.parametrize("levels", [("A", "B"), ("blau", "rot")])
def test_rows_that_an_unknown_column_tells_apart_are_no_repeats(file, levels):
    rows = [f"{k},{level},{k % 7},{(k + 1) % 7}" for k in range(12) for level in levels]
    read = read_file(file("a.csv", "\n".join(["ticket,Modell,gpt-4o,anna", *rows])))
    assert read.mapping.target == "Modell"
    assert set(read.ratings.table["repeat"]) == {0}


def test_runs_that_are_named_are_repeats_still(file):
    rows = [f"{k},{run},{k % 7},{(k + 1) % 7}" for k in range(12) for run in ("morning", "evening")]
    read = read_file(file("a.csv", "\n".join(["ticket,run,gpt-4o,anna", *rows])))
    assert read.mapping.target == ""
    assert set(read.ratings.table["repeat"]) == {0, 1}


def test_short_replies_are_texts_and_nobodys_verdicts(file):
    rows = [f"{k},reply number {k},{'TRUE' if k % 3 else 'FALSE'},{'TRUE' if k % 4 else 'FALSE'}" for k in range(12)]
    read = read_file(file("a.csv", "\n".join(["id,response,llm_pass,human_pass", *rows])))
    assert read.ratings.raters == {"llm_pass": "judge", "human_pass": "person"}
    assert read.mapping.text == "response"


def test_pairs_with_a_column_for_every_rater(file):
    rows = ["pid,first,second,judge_choice,ann,bob"]
    for k in range(12):
        one, other = ("X", "Y") if k % 2 else ("Y", "X")
        rows.append(f"{k // 2},{one},{other},{'AB'[k % 2]},{'A' if k % 3 else 'tie'},{one}")
    read = read_file(file("a.csv", "\n".join(rows)))
    assert (read.kind, read.ratings.raters) == ("choices", {"judge_choice": "judge", "ann": "person", "bob": "person"})
    table = read.ratings.table
    assert set(table.loc[table["rater"] == "bob", "response"]) == {"first"}
    assert set(table.loc[table["rater"] == "ann", "response"]) == {"first", "tie"}


def test_a_judge_that_chooses_the_same_place_in_every_pair_is_a_judge(file):
    """By its name, or as you say; a column that says one thing and is called otherwise is nobody's."""
    rows = [f"{k},{'X,Y' if k % 2 else 'Y,X'},{'AB'[k % 2]},{'AB'[k % 3 > 0]},A,A" for k in range(12)]
    path = file("a.csv", "\n".join(["pid,first,second,judge_choice,ann,gpt-6,shown", *rows]))
    assert read_file(path).ratings.raters == {"judge_choice": "judge", "ann": "person", "gpt-6": "judge"}
    assert read_file(path, judges=("judge_choice", "gpt-6", "shown")).ratings.raters["shown"] == "judge"


def test_thumbs_have_an_order(file):
    rows = [f"{k},{'👍' if k % 3 else '👎'},{'👍' if k % 4 else '👎'}" for k in range(12)]
    read = read_file(file("a.csv", "\n".join(["id,llm,human", *rows])))
    assert read.ratings.scales == {"rating": Ordinal(("👎", "👍"))}


def test_a_list_of_judgements_within_a_record_is_a_row_for_each(file):
    judges = {"gpt": 0, "claude": 1}
    rows = [
        {
            "id": k,
            "judgments": [{"judge": name, "score": k % 5 + shift} for name, shift in judges.items()],
            "human_score": k % 5,
        }
        for k in range(10)
    ]
    rows[3]["judgments"][1]["score"] = "none of that"
    read = read_file(file("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert read.ratings.raters == {"gpt": "judge", "claude": "judge", "human": "person"}
    counts = read.ratings.table.groupby("rater", observed=True).size().to_dict()
    assert counts == {"gpt": 10, "claude": 10, "human": 10}
    assert "line 4" in read.faults[0].sentence()


@pytest.mark.parametrize("word", ["Mean", "Std dev:", "TOTAL", "Mittelwert"])
def test_a_last_row_that_sums_up_is_no_text(file, word):
    """Rounded in a way of its own, so that no sum of the rows above says what it is."""
    rows = "\n".join(f"t{k},{k % 5 + 1},{(k + 1) % 5 + 1}" for k in range(20))
    read = read_file(file("a.csv", f"text,anna,gpt-4o\n{rows}\n{word},4,2\n"))
    assert set(read.ratings.table["item"]) == {f"t{k}" for k in range(20)}

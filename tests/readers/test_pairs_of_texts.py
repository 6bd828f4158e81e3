"""Two texts side by side and who won: choices, in both orders, under whatever name the id goes."""

from __future__ import annotations

import math

import pytest

from recuse.metrics.coverage import unanswered
from recuse.metrics.presentation import slot_preference
from recuse.readers import read_file
from recuse.schema import RecuseError


def pairs(header, word="A,B,tie", number=40, both=True, item=True):
    """Rows of pairs whose two texts are shown in both orders; the judge always takes the first, people the better."""
    a, b, tie = word.split(",")
    rows = [header]
    for k in range(number):
        good, bad = (
            f"This is the good answer to question {k}, in some detail.",
            f"Here is a bad answer to the same {k}, at length.",
        )
        for one, other in ((good, bad), (bad, good)) if both else ((good, bad),):
            human = tie if k % 10 == 0 else a if one == good else b
            cells = [f'"{one}"', f'"{other}"', human, a if k % 3 else b]
            rows.append(",".join([*([f"q{k}"] if item else []), *cells]))
    return "\n".join(rows)


STEMS = ("response_a,response_b", "answer_a,answer_b", "output_1,output_2", "reply_a,reply_b", "summary_1,summary_2",
         "first,second", "Text A,Text B")  # fmt: skip
WORDS = ("a,b,Tie", "1,2,tie", "[[A]],[[B]],[[C]]", "Response A,Response B,Tie",
         "A is better,B is better,about the same", "A>B,B>>A,A=B", "1st,2nd,no preference",
         "Verdict: A,Verdict: B,both good")  # fmt: skip


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    ("stem", "word"), [*((stem, "A,B,tie") for stem in STEMS), *zip(STEMS[::-1] * 2, WORDS, strict=False)]
)
def test_two_columns_of_texts_are_a_pair_and_never_grades(file, stem, word):
    read = read_file(file("a.csv", pairs(f"id,{stem},human,gpt-4o", word)))
    assert read.kind == "choices"
    assert read.ratings.raters == {"human": "person", "gpt-4o": "judge"}
    assert read.ratings.table["item"].nunique() == 40
    assert read.ratings.levels("order") == ("ab", "ba")
    assert set(read.ratings.table["repeat"]) == {0}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["case_ref", "id", "article", "Frage"])
def test_both_orders_are_told_under_any_name_of_the_id(file, name):
    read = read_file(file("a.csv", pairs(f"{name},response_a,response_b,human,gpt-4o")))
    value = slot_preference(read.ratings).of(judge="gpt-4o").value
    assert value == pytest.approx(slot_preference(read_file(
        file("b.csv", pairs("item,response_a,response_b,human,gpt-4o"))).ratings).of(judge="gpt-4o").value)  # fmt: skip


def test_without_an_id_the_two_texts_are_one(file):
    read = read_file(file("a.csv", pairs("response_a,response_b,human,gpt-4o", item=False)))
    assert read.ratings.table["item"].nunique() == 40
    assert read.ratings.levels("order") == ("ab", "ba")


@pytest.mark.parametrize("name", ["article", "item"])
def test_names_of_systems_under_any_name_of_the_id(file, name):
    rows = [f"{name},model_a,model_b,judge_choice,ann"]
    for k in range(40):
        rows += [
            f"x{k},{one},{other},A,{'A' if one == 'llama' else 'B'}"
            for one, other in (("llama", "qwen"), ("qwen", "llama"))
        ]
    read = read_file(file("a.csv", "\n".join(rows)), judges="ann")
    assert read.ratings.table["item"].nunique() == 40
    assert read.ratings.levels("order") == ("ab", "ba")


def test_the_texts_are_kept_with_their_lengths(file):
    texts = read_file(file("a.csv", pairs("id,response_a,response_b,human,gpt-4o"))).ratings.texts
    assert {"words_a", "words_b"} <= set(texts.columns)


def test_a_long_table_of_pairs_of_texts(file):
    wide = pairs("id,response_a,response_b,human,gpt-4o").splitlines()
    rows = ["id,response_a,response_b,rater,winner"]
    for line in wide[1:]:
        facts, human, judge = line.rsplit(",", 2)
        rows += [f"{facts},human,{human}", f"{facts},gpt-4o,{judge}"]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.kind == "choices"
    assert unanswered(read.ratings).of(judge="gpt-4o").value == 0


def test_battles_of_the_same_two_systems_are_not_one_item(file):
    rows = ["model_a,model_b,judge_choice,ann", *(f"llama,qwen,{'AB'[k % 2]},{'AB'[k % 3 % 2]}" for k in range(40))]
    assert read_file(file("a.csv", "\n".join(rows))).ratings.table["item"].nunique() == 40


@pytest.mark.parametrize("ends", ["abc", "123", "012"])
def test_the_best_of_three_is_asked_about(file, ends):
    names = [f"reply_{end}" for end in ends]
    rows = [f"t{k},one text {k},other text {k},third text {k},{names[k % 3]},{names[k % 3]}" for k in range(30)]
    path = file("a.csv", "\n".join([f"id,{','.join(names)},human,gpt-4o", *rows]))
    with pytest.raises(RecuseError, match=f"{names[2]} are three to choose from.*--ignore {names[2]}"):
        read_file(path)


@pytest.mark.parametrize(("given", "other"), [("first", "second"), ("second", "first")])
def test_of_two_columns_of_texts_both_are_named_or_none(file, given, other):
    with pytest.raises(RecuseError, match=f"name the other as well, --{other} COLUMN"):
        read_file(file("a.csv", pairs("id,left one,right one,human,gpt-4o")), **{given: "left one"})


@pytest.mark.parametrize("tie", ["tie", "tie (bothbad)"])
def test_a_winner_by_the_name_of_its_column_is_no_rater(file, tie):
    systems, winners = ("gpt-4", "vicuna-13b", "claude-2"), ("model_a", "model_b", tie)
    rows = [
        f"{k},{systems[k % 3]},{systems[(k + 1) % 3]},{winners[k // 3 % 3]},{winners[k // 5 % 3]}" for k in range(60)
    ]
    read = read_file(file("a.csv", "\n".join(["question_id,model_a,model_b,winner,judge_winner", *rows])))
    assert (read.kind, read.ratings.judges, read.ratings.persons) == ("choices", ("judge_winner",), ("winner",))


@pytest.mark.parametrize("orders", [("ab", "ba"), ("AB", "BA")])
def test_answers_a_and_b_in_both_orders_of_texts_that_nobody_names_are_asked_about(file, orders):
    rows = [f"{k},{order},{'AB'[k % 2]},{'BA'[k % 3 == 0]}" for k in range(40) for order in orders]
    path = file("a.csv", "\n".join(["item,order,human,judge", *rows]))
    with pytest.raises(
        RecuseError, match=r"write columns first and second .*; if A says the same in both .* --ignore order"
    ):
        read_file(path)
    assert read_file(path, ignore="order").kind == "scores"


def test_answers_that_are_the_names_of_the_two_are_these_in_both_orders(file):
    rows = [f"{k},{order},A,B,{'AB'[k % 2]},{'BA'[k % 3 == 0]}" for k in range(40) for order in ("ab", "ba")]
    read = read_file(file("a.csv", "\n".join(["item,order,first,second,human,judge", *rows])))
    assert (read.kind, read.mapping.order) == ("choices", "order")


ORDERS = ("order,ab,ba", "order,original,reversed", "swapped,False,True", "flipped,0,1", "position,original,swapped",
          "run,A-B,B-A")  # fmt: skip


@pytest.mark.parametrize(("order", "won"), [*zip(ORDERS, 2 * ["A,B", "[[A]],[[B]]", "model_a,model_b"], strict=True)])
def test_places_beside_an_order_that_the_columns_of_texts_do_not_follow_are_asked_about(file, order, won):
    name, *orders = order.split(",")
    sides = won.split(",")
    shown = {"old": ("new,old", "new,old"), "turned": ("new,old", "old,new")}
    table = {
        how: [f"{k},{o},{of[j]},{sides[k % 2]},{sides[k % 3 == 0]}" for k in range(40) for j, o in enumerate(orders)]
        for how, of in shown.items()
    }
    path = file("a.csv", "\n".join([f"item,{name},model_a,model_b,human,judge", *table["old"]]))
    with pytest.raises(RecuseError, match=f"{name} says in which order .* are the same in both.*--ignore {name}"):
        read_file(path)
    assert read_file(path, ignore=name).kind == "choices"
    read = read_file(file("b.csv", "\n".join([f"item,{name},model_a,model_b,human,judge", *table["turned"]])))
    assert (read.kind, read.ratings.judges, read.ratings.levels("order")) == ("choices", ("judge",), ("ab", "ba"))


@pytest.mark.parametrize("won", ["first,second", "left,right"])
def test_places_in_words_beside_a_swap_and_no_texts_are_asked_about(file, won):
    """Who says first whatever stands there was measured as two labels, and agreed with itself by half."""
    sides = won.split(",")
    rows = [f"p{k},{turn},{sides[(k + turn) % 2]},{sides[k % 3 == 0]}" for k in range(40) for turn in (0, 1)]
    path = file("a.csv", "\n".join(["pair,swapped,human,judge", *rows]))
    with pytest.raises(RecuseError, match=r"swapped says in which order .* no column names them.*--ignore swapped"):
        read_file(path)


def test_how_sure_a_choice_is_is_no_choice(file):
    """1, 2 and 3 are choices between two texts as well: it was a repeat."""
    one, other = (f"The {what} reply to the customer says how to return order 7 within 30 days." for what in "ab")
    rows = [f"p{k},{one} {k},{other} {k},{who},response_{1 + k * n % 2},{k % 3 + 1}"
            for k in range(40) for n, who in enumerate(("worker_1", "worker_2", "gpt-4o"), 1)]  # fmt: skip
    header = "prompt_id,response_1,response_2,annotator,preferred,confidence"
    read = read_file(file("a.csv", "\n".join([header, *rows])))
    assert (read.kind, read.ratings.judges, len(read.ratings.table)) == ("choices", ("gpt-4o",), 120)


def test_choices_that_name_models_name_no_raters(file):
    """The judge's choices were the names of who rated, and people's what they gave."""
    won = ("gpt-4o", "claude", "tie")
    rows = [f"p{k},{won[k % 3]},{won[k % 5 % 2]}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["prompt_id,human choice,llm judge choice", *rows])))
    assert dict(read.ratings.raters) == {"human choice": "person", "llm judge choice": "judge"}


def test_winner_and_loser_are_the_two_of_a_pair_in_no_order_that_is_known(file):
    """The winner's name was a label, and the loser's nobody's."""
    sides = ("old", "new", "other")
    pairs = [(sides[k % 3], sides[(k + 1 + k % 2) % 3]) for k in range(40)]
    rows = [f"q{k},{','.join(pair[:: 1 if (k + n) % 3 else -1])},{who}"
            for k, pair in enumerate(pairs) for n, who in enumerate(("human 1", "human 2", "gpt"))]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["id,winner,loser,judge", *rows])))
    assert (read.kind, read.ratings.judges, len(read.ratings.table)) == ("choices", ("gpt",), 120)
    assert (read.raw.frame[read.mapping.first] < read.raw.frame[read.mapping.second]).all()
    assert math.isnan(slot_preference(read.ratings).of(judge="gpt").value)
    with pytest.raises(RecuseError, match=r"winner and loser do not name two at .*: write columns first and second"):
        read_file(file("b.csv", "\n".join(["id,winner,loser,judge", *rows, "q9,tie,,gpt"])))
    unnamed = [row.partition(",")[2] for row in rows]
    with pytest.raises(RecuseError, match=r"There are: winner, judge, winner or loser, loser or winner$"):
        read_file(file("c.csv", "\n".join(["winner,loser,judge", *unnamed])))


def test_models_that_were_chosen_and_rejected_are_the_two_of_a_pair(file):
    """Each was a criterion of labels."""
    rows = [f"q{k},{'ab'[k % n < 2]},{'ab'[k % n > 1]},{who}" for k in range(40)
            for n, who in ((3, "human"), (4, "gpt"))]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["id,chosen_model,rejected_model,judge", *rows])))
    assert (read.kind, read.mapping.value, len(read.ratings.table)) == ("choices", ("chosen_model",), 80)


def test_positions_beside_choices_by_name_are_varied(file):
    """The two orders were two systems, each with a choice of its own by the person."""
    rows = [f"p{k},{turn},gpt-4o,{'no' if k % n else 'yes'},{'no' if k % 3 else 'yes'}" for k in range(40)
            for n, turn in ((3, "control first"), (4, "treatment first"))]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["pair_id,position,judge,choice,human_choice", *rows])))
    assert (read.mapping.factors, read.mapping.target) == (("position",), "")
    assert read.ratings.table["rater"].value_counts().to_dict() == {"gpt-4o": 80, "human_choice": 40}


def test_choices_forward_and_in_reverse_are_asked_about(file):
    rows = [f"{k},{('old', 'new')[k % 2]},{('old', 'new')[k % 3 % 2]},{('old', 'new')[k % 5 % 2]}" for k in range(40)]
    with pytest.raises(RecuseError, match=r"judge_fwd and judge_rev look like .* both orders; .*--ignore judge_rev"):
        read_file(file("a.csv", "\n".join(["id,human,judge_fwd,judge_rev", *rows])))


def test_winners_by_name_need_no_order(file):
    rows = [f"{k},{order},new,old,{('new', 'old')[k % 2]},{('new', 'old')[k % 3 == 0]}" for k in range(40)
            for order in ("ab", "ba")]  # fmt: skip
    assert read_file(file("a.csv", "\n".join(["item,order,first,second,human,judge", *rows]))).kind == "choices"


def test_where_the_better_text_stands_is_no_order(file):
    rows = [f"{k},reply {k} one,reply {k} two,{'AB'[k % 2]},{'AB'[k % 3 == 0]},{'AB'[k % 5 == 0]}" for k in range(40)]
    path = file("a.csv", "\n".join(["id,reply_a,reply_b,better_position,human,gpt-4o", *rows]))
    assert read_file(path, judges=["better_position", "gpt-4o"]).kind == "choices"
    with pytest.raises(RecuseError, match="no name tells judges from people: 'better_position'"):
        read_file(path)


def test_a_text_that_stands_in_two_columns_chooses_none(file):
    """RewardBench: chosen and text_chosen."""
    rows = [f"{k},good reply {k},bad reply {k},good reply {k},bad reply {k},{k % 2}" for k in range(40)]
    path = file("a.csv", "\n".join(["id,chosen,rejected,text_chosen,text_rejected,results", *rows]))
    with pytest.raises(RecuseError, match="no name tells judges from people: 'results';"):
        read_file(path)


def test_groups_a_and_b_choose_no_text(file):
    rows = [f"{k},{'AB'[k % 2]},reply {k} one,reply {k} two,{'AB'[k % 3 > 0]},{'AB'[k % 5 > 0]}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["id,group,reply_a,reply_b,human,gpt-4o", *rows])))
    assert read.ratings.raters == {"human": "person", "gpt-4o": "judge"}


@pytest.mark.parametrize("beside", ["order,new,repeat", "is_reversed_charge,yes,no"])
def test_classes_a_and_b_beside_an_order_that_was_placed_are_labels(file, beside):
    name, *words = beside.split(",")
    rows = [f"{k},{words[k % 2]},text {k},{'AB'[k % 3 > 0]},{'AB'[k % 5 > 0]}" for k in range(40)]
    assert read_file(file("a.csv", "\n".join([f"id,{name},text,human,gpt-4o", *rows]))).kind == "scores"


@pytest.mark.parametrize("names", ["P1: the response helps,P2: the response helps,LLM: the response helps",
                                   "reviewer 1 response,reviewer 2 response,gpt response"])  # fmt: skip
def test_answers_of_two_people_are_no_two_texts_that_a_judge_chooses_from(file, names):
    """What is the same in many rows are answers on one scale, though the judge's are mostly one of the two."""
    words = ("I rather disagree with what this says", "I neither agree nor disagree with what this says", "I agree")
    cells = [(words[k % 3], words[(k + (k % 4 == 0)) % 3], words[(k + (k % 5 == 0)) % 3]) for k in range(60)]
    text = "\n".join([f"id,text,{names}", *(f"t{k},A text of {k},{','.join(row)}" for k, row in enumerate(cells))])
    one, two, judge = names.split(",")
    read = read_file(file("a.csv", text), people=f"{one},{two}", judges=judge)
    assert read.ratings.raters == {one: "person", two: "person", judge: "judge"}


def met(name, labels=False, tie=False):
    """A row per pair of three systems; each rater says by its name which is better. Or labels, a first and a second."""
    systems = ("ardea", "bubo", "corvus")
    rows = []
    for k in range(60):
        pair = (systems[k % 3], systems[(k + 1 + k // 3 % 2) % 3])
        said = [pair[(k + (k % n == 0)) % 2] for n in (7, 5, 4)]
        if labels and k % 6 == 0:
            said[2] = next(system for system in systems if system not in pair)
        said = ["tie", *said[1:]] if tie and k % 9 == 0 else said
        rows.append(",".join([f"q{k}", *pair, *said]))
    return "\n".join([f"id,{name} 1,{name} 2,anna,ben,gpt-4o", *rows])


@pytest.mark.parametrize(("name", "tie"), [("system", False), ("variant", True), ("option", False), ("bot", True)])
def test_two_columns_of_which_each_rater_always_names_one_are_a_pair(file, name, tie):
    """system 1 and system 2 were two judges."""
    read = read_file(file("a.csv", met(name, tie=tie)))
    assert (read.kind, read.mapping.first, read.mapping.second) == ("choices", f"{name} 1", f"{name} 2")
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}


def test_a_first_and_a_second_label_of_which_a_judge_may_name_another_are_no_pair(file):
    read = read_file(
        file("a.csv", met("topic", labels=True).replace("anna,ben,", "human,human_b,")), ignore="human_b,human"
    )
    assert read.kind != "choices"

"""Who rates: those who are named, and nobody whose column is made of others'."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.readers import read_file
from recuse.readers.column_names import as_option, in_quotes, listed
from recuse.schema import RecuseError


def table(header, cells, number=60):
    return "\n".join([header, *(",".join(map(str, cells(k))) for k in range(number))])


def marks(k):
    return k % 5 + 1, (k + k % 2) % 5 + 1, (k + k % 3 // 2) % 5 + 1


def four(k):
    return k, *marks(k), (k + k // 9 % 2) % 5 + 1


def test_with_people_and_judges_named_nobody_else_rates(file):
    text = table("id,anna,ben,gpt-4o,latency_class,duration,model", lambda k: (k, *marks(k), k % 4 + 1, 1.2, "mini"))
    read = read_file(file("a.csv", text), people="anna,ben", judges="gpt-4o")
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert "latency_class" in read.mapping.ignored


def test_those_named_may_have_a_column_per_criterion(file):
    header = "id,anna_tone,anna_truth,gpt_tone,gpt_truth,steps_tone"
    text = table(header, lambda k: (k, *marks(k), k % 4 + 1, k % 5 + 1))
    read = read_file(file("a.csv", text), people="anna", judges="gpt")
    assert set(read.ratings.raters) == {"anna", "gpt"}
    assert tuple(read.ratings.headline) == ("tone", "truth")


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    "derived", ["majority", "consensus", "adjudicated", "human_mean", "Average", "final_label", "gold"]
)
def test_what_is_made_of_peoples_answers_is_no_person(file, derived):
    def row(k):
        own = [k % 2, (k + (k % 7 == 0)) % 2, (k + (k % 5 == 0)) % 2]
        return k, *own, int(sum(own) > 1), (k + (k % 9 == 0)) % 2

    read = read_file(file("a.csv", table(f"id,annotator_1,annotator_2,annotator_3,{derived},llm_judge", row)))
    assert read.ratings.persons == ("annotator_1", "annotator_2", "annotator_3")
    assert "made of other columns" in read.mapping.ignored[derived]


def test_a_right_answer_that_is_not_what_most_people_say_stays_one(file):
    def row(k):
        return k, k % 2, (k + (k % 7 == 0)) % 2, k // 2 % 2, (k + (k % 9 == 0)) % 2

    read = read_file(file("a.csv", table("id,annotator_1,annotator_2,gold,llm_judge", row)))
    assert "gold" not in read.mapping.ignored


def test_a_lone_majority_stands_for_the_people(file):
    read = read_file(file("a.csv", table("id,majority,llm_judge", lambda k: (k, k % 2, (k + k % 3 // 2) % 2))))
    assert read.ratings.raters == {"majority": "person", "llm_judge": "judge"}


@pytest.mark.parametrize("derived", ["final_label", "consensus", "adjudicated", "human_mean"])
def test_what_is_made_of_one_persons_answers_is_no_second_person(file, derived):
    read = read_file(file("a.csv", table(f"id,human_label,{derived},llm_judge", lambda k: (k, *marks(k)))))
    assert read.ratings.raters == {"human": "person", "llm_judge": "judge"}
    assert any("nobody's own: left out; --people" in note for note in read.notes)


def test_a_consensus_among_the_raters_of_a_long_table_is_left_out(file):
    rows = [f"{k},{who},{m}" for k in range(40) for who, m in zip(("anna", "ben", "gpt-4o"), marks(k), strict=True)]
    rows += [f"{k},consensus,{marks(k)[0]}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["id,rater,score", *rows])))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert any("consensus" in note for note in read.notes)


@pytest.mark.parametrize("mean", ["human_mean", "avg_human_score", "mean"])
def test_a_model_of_unknown_name_is_no_person_beside_a_mean_that_is_not_its_own(file, mean):
    def row(k):
        return k, (3 * k % 13) / 3 % 4 + 1, k % 5 + 1, (k + k // 5) % 5 + 1

    written = file("a.csv", table(f"id,{mean},gpt-4o,starling", row))
    with pytest.raises(RecuseError, match=r"is not the mean of 'starling': say who rated .*--judges starling"):
        read_file(written)
    named = read_file(written, judges="gpt-4o,starling")
    assert set(named.ratings.judges) == {"gpt-4o", "starling"}
    assert len(named.ratings.persons) == 1


def test_what_people_say_over_all_of_their_answers_is_no_further_person(file):
    marks = [(k % 5 + 1, (k + k % 3) % 5 + 1, (k + k % 2) % 5 + 1, (k + k % 7) % 5 + 1) for k in range(60)]
    rows = [f"{k},{a},{b},{c},{round((a + b + c) / 3)},{d}" for k, (a, b, c, d) in enumerate(marks)]
    read = read_file(file("a.csv", "\n".join(["id,human_1,human_2,human_3,human_overall,gpt-4", *rows])))
    assert read.ratings.persons == ("human_1", "human_2", "human_3")


@pytest.mark.parametrize("spread", ["human_std", "stdev", "annotator_variance"])
def test_how_far_people_lie_apart_rates_nothing(file, spread):
    text = table(f"id,human_mean,{spread},gpt-4o", lambda k: (k, (3 * k % 13) / 3 % 4 + 1, k % 7 / 3, k % 5 + 1))
    read = read_file(file("a.csv", text))
    assert read.ratings.raters == {"human_mean": "person", "gpt-4o": "judge"}
    assert "nobody's own ratings" in read.mapping.ignored[spread]


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_mean_of_people_whom_nothing_else_tells_is_left_out(file, digits):
    rows = [f"{k},{who},{1 + (k + n) % 5}" for k in range(40) for n, who in enumerate(("anna", "ben", "gpt-4o"))]
    rows += [f"{k},human_mean,{round((2 + k % 5 + (k + 1) % 5) / 2, digits)}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["id,rater,score", *rows])))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("judged", ["answer", "output", "response", "completion"])
def test_what_was_judged_is_nobodys_rating_though_it_answers_in_the_same_words(file, judged):
    """A reply may be yes or no, as a judge's word on it is."""
    words = ("no", "yes")
    text = table(
        f"id,{judged},annotator,gpt_verdict",
        lambda k: (f"t{k}", words[k // 3 % 2], words[k % 2], words[(k + (k % 9 == 0)) % 2]),
    )
    read = read_file(file("a.csv", text))
    assert read.ratings.raters == {"annotator": "person", "gpt": "judge"}
    named = read_file(file("b.csv", text), people=f"{judged},annotator", judges="gpt")
    assert named.ratings.persons == (judged, "annotator")


@pytest.mark.parametrize(
    ("person", "judge"), [("Gutachter A", "KI-Urteil"), ("annotateur", "note_ia"), ("evaluador", "modelo")]
)
def test_raters_are_known_by_name_in_other_languages(file, person, judge):
    read = read_file(file("a.csv", table(f"id,{person},{judge}", lambda k: (k, *marks(k)[:2]))))
    assert read.ratings.raters == {person: "person", judge: "judge"}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["always-four", "second_try", "baseline"])
def test_beside_first_names_a_name_that_may_be_a_programs_is_asked_about(file, name):
    path = file("a.csv", table(f"id,maria,jon,gpt-4o,{name}", four))
    with pytest.raises(RecuseError, match=f"no name tells judges from people: '{name}'; say --judges A,B"):
        read_file(path)
    assert read_file(path, people="maria,jon").ratings.judges == ("gpt-4o", name)
    assert set(read_file(path, judges="gpt-4o").ratings.persons) == {"maria", "jon", name}


def test_judges_who_are_named_leave_the_others_to_be_people(file):
    path = file("a.csv", table("id,maria,gpt-4o,claude,second_try", four))
    assert read_file(path, judges="gpt-4o").ratings.raters["second_try"] == "person"


def test_a_program_is_asked_about_beside_any_names_and_what_is_made_of_others_never(file):
    path = file("a.csv", table("id,x_lead,y_lead,gpt-4o,baseline", four))
    with pytest.raises(RecuseError, match="judges from people: 'x_lead', 'y_lead', 'baseline'; say"):
        read_file(path)
    names = ("maria", "jon", "gpt-4o", "majority_vote")
    rows = (f"{k},{who},{mark}" for k in range(60) for who, mark in zip(names, four(k)[1:], strict=True))
    read = read_file(file("b.csv", "\n".join(["id,rater,score", *rows])))
    assert set(read.ratings.raters) == {"maria", "jon", "gpt-4o"}


def test_a_program_beside_people_who_are_called_so_is_no_person(file):
    path = file("a.csv", table("id,annotator_1,annotator_2,gpt-4o,baseline", four))
    assert read_file(path).ratings.judges == ("gpt-4o", "baseline")


@pytest.mark.parametrize("names", ["maria,jon,lee", "q_lead,w_lead,z_lead", "maria,jon,average"])
def test_names_of_one_kind_are_peoples_beside_a_judge(file, names):
    read = read_file(file("a.csv", table(f"id,{names},gpt-4o", four)))
    assert read.ratings.judges == ("gpt-4o",)


def test_who_won_is_no_rater_called_model_a(file):
    """A column called judge that holds model_a, model_b and tie, as people's does; where it tells apart rows about one
    pair, two models judged it."""
    sides = ["model_a", "model_b", "model_a", "model_b", "tie"]
    text = table("prompt,model_a,model_b,anna,judge", lambda k: (
        f"p{k // 3}", "ant", ("bee", "cat", "dog")[k % 3], sides[k % 5], sides[(k + k % 4 // 3) % 5]))  # fmt: skip
    read = read_file(file("a.csv", text))
    assert read.ratings.raters == {"anna": "person", "judge": "judge"}
    text = table("prompt,model_a,model_b,judge,winner", lambda k: (
        f"p{k // 6}", "ant", ("bee", "cat", "dog")[k // 2 % 3], sides[k % 2], sides[k * 7 % 13 % 4]))  # fmt: skip
    assert {*read_file(file("b.csv", text)).ratings.raters} == {"model_a", "model_b"}


@pytest.mark.parametrize(("name", "item"), [
    ("annotator", "item"), ("judge", "text_no"), ("coder", "item"), ("participant", "text_no"), ("worker_id", "item"),
])  # fmt: skip
def test_numbers_that_tell_rows_about_one_text_apart_are_raters(file, name, item):
    """1, 2 and 3 may be ratings too: of one text they would not all be different."""
    text = table(
        f"{item},{name},rating,gpt4",
        lambda k: (k // 3, k % 3 + 1, (k // 3 + (k % 11 == 0)) % 5 + 1, (k // 3) % 5 + 1), 180,
    )  # fmt: skip
    read = read_file(file("a.csv", text))
    assert read.ratings.raters == {"1": "person", "2": "person", "3": "person", "gpt4": "judge"}
    assert len(read.ratings.table) == 60 * 4


def test_numbers_that_do_not_tell_rows_about_one_text_apart_are_asked_about(file):
    text = table("item,annotator,rating,gpt4", lambda k: (k // 6, k % 3 + 1, (k // 6 + k % 4 // 3) % 5 + 1, 3), 180)
    with pytest.raises(RecuseError, match="may say who rated or be somebody's ratings: say --rater annotator"):
        read_file(file("a.csv", text))
    with pytest.raises(RecuseError, match=r"1 has several rows on one text \('0'\) that differ"):
        read_file(file("b.csv", text), rater="annotator")


def test_numbers_of_somebody_who_rated_each_text_once_are_ratings(file):
    """Also where a question has several replies, and where a judge that is always right says 0 and 1 of two."""
    read = read_file(
        file("a.csv", table("question,system,annotator,gpt4", lambda k: (k // 3, "xyz"[k % 3], *marks(k)[:2])))
    )
    assert read.ratings.raters == {"annotator": "person", "gpt4": "judge"}
    path = file("b.csv", table("prompt_id,label,judge", lambda k: (k // 2, k % 2, k % 2)))
    with pytest.raises(RecuseError, match=r"label has several rows on one text .* say --ignore prompt_id"):
        read_file(path)
    read = read_file(path, ignore="prompt_id")
    assert read.ratings.raters == {"label": "person", "judge": "judge"}


def test_users_who_may_have_rated_or_written_are_asked_about(file):
    path = file("a.csv", table("item,user_id,rating,gpt4", lambda k: (k // 3, f"u{k % 3}", k % 5 + 1, k // 3 % 5 + 1)))
    with pytest.raises(RecuseError, match="say --rater user_id, or --target user_id"):
        read_file(path)
    assert read_file(path, rater="user_id").ratings.persons == ("u0", "u1", "u2")
    assert read_file(path, target="user_id").ratings.raters == {"rating": "person", "gpt4": "judge"}


def test_a_name_with_a_comma_is_given_in_quotes_as_in_csv(file):
    rows = [f"{k},{k % 5},{k % 5},{k % 4}" for k in range(30)]
    path = file("a.csv", "\n".join(['item,"Berg, A","Rot ""R"", B","robo, v2"', *rows]))
    with pytest.raises(RecuseError, match=r"""file has "Berg, A", .*; a name .* is typed in quotes: '"Berg, A"'"""):
        read_file(path, judges="robo, v2")
    kinds = {"Berg, A": "person", 'Rot "R", B': "person", "robo, v2": "judge"}
    assert dict(read_file(path, judges=' "robo, v2"').ratings.raters) == kinds
    assert dict(read_file(path, people=", ".join(map(in_quotes, [*kinds][:2]))).ratings.raters) == kinds


@given(st.lists(st.text('ab ,"').map(str.strip).filter(bool), min_size=1))
def test_names_come_back_from_the_list_that_is_typed(names):
    (typed,) = shlex.split(as_option(names))
    assert listed(typed) == names


@pytest.mark.parametrize(("column", "words"), [("role", "human judge"), ("source", "Human LLM"), ("wer", "Mensch KI")])
def test_a_column_of_any_name_says_who_is_a_person(file, column, words):
    """Somebody called mini would pass for a person beside a judge that is called as models are."""
    person, judge = words.split()
    raters = {"anna": person, "ben": person, "mini": judge, "gpt-4o": judge}
    rows = [(k, who, kind, (k + (k % 7 == place)) % 5 + 1)
            for k in range(60) for place, (who, kind) in enumerate(raters.items())]  # fmt: skip
    text = "\n".join([f"item,rater,{column},score", *(",".join(map(str, row)) for row in rows)])
    read = read_file(file("a.csv", text))
    assert (read.ratings.persons, read.ratings.judges) == (("anna", "ben"), ("mini", "gpt-4o"))
    assert read.mapping.kind == column


def test_a_title_is_a_person_s(file):
    read = read_file(file("a.csv", table("case,Dr. Abel,Prof. Brandt,AI", lambda k: (k, *marks(k)))))
    assert read.ratings.raters == {"Dr. Abel": "person", "Prof. Brandt": "person", "AI": "judge"}


def test_who_wrote_the_text_is_not_who_rates_it(file):
    rows = [(k, wrote, who, (k + (k % 7 == place)) % 5 + 1) for k in range(60) for wrote in ("human", "gpt-4")
            for place, who in enumerate(("anna", "ben", "llm_judge"))]  # fmt: skip
    text = "\n".join(["item,system,rater,score", *(",".join(map(str, row)) for row in rows)])
    read = read_file(file("a.csv", text))
    assert (read.mapping.kind, read.mapping.target) == ("", "system")


@pytest.mark.parametrize("names", ["human,Maria,Jonas", "expert,Maria,Jonas", "human_label,final_label"])
def test_beside_a_person_several_first_names_or_what_is_made_of_others_are_no_judges(file, names):
    path = file("a.csv", table(f"id,{names}", lambda k: (k, *marks(k)[: len(names.split(","))])))
    with pytest.raises(RecuseError, match=r"no name tells judges from people: '(Maria', 'Jonas'|final')"):
        read_file(path)
    last = names.split(",")[-1].removesuffix("_label")
    assert read_file(path, judges=last).ratings.judges == (last,)


@pytest.mark.parametrize(("judge", "beside"), [
    ("Copilot", "gpt-4o"), ("autorater", "anna,gpt-4o"), ("flan-t5", "gpt-4o"), ("4o-mini", "anna,gpt-4o"),
    ("自動評価", "gpt-4o"),
])  # fmt: skip
def test_further_names_of_models_are_no_persons(file, judge, beside):
    path = file("a.csv", table(f"id,{beside},{judge}", lambda k: (k, *marks(k)[: beside.count(",") + 2])))
    assert read_file(path).ratings.raters[judge] == "judge"


@pytest.mark.parametrize("name", ["ml_score", "weak_label", "ragas", "jury", "Titan", "Roberta"])
def test_a_name_that_a_program_may_bear_is_asked_about_beside_a_model_and_a_first_name(file, name):
    with pytest.raises(RecuseError, match="no name tells judges from people: "):
        read_file(file("a.csv", table(f"id,anna,gpt-4o,{name}", lambda k: (k, *marks(k)))))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("name", ["Dr Abel", "Ms Lee", "clinician", "linguist"])
def test_beside_a_person_a_title_without_a_point_and_a_profession_are_people(file, name):
    read = read_file(file("a.csv", table(f"id,human,{name},gpt-4o", lambda k: (k, *marks(k)))))
    assert read.ratings.judges == ("gpt-4o",)
    alone = read_file(file("b.csv", table(f"id,human,{name}", lambda k: (k, *marks(k)[:2]))))
    assert (alone.ratings.persons, alone.ratings.judges) == (("human", name), ())


@pytest.mark.parametrize(("people", "name"), [
    ("anna,ben", "label"), ("human_1,human_2", "verdict"),
    *(pytest.param("anna,ben", name, marks=pytest.mark.slow("further cases"))
      for name in ("score", "outcome", "result", "rating", "winner")),
])  # fmt: skip
def test_answers_that_bear_nobodys_name_beside_people_and_judges_are_asked_about(file, people, name):
    """What was finally said, or how it came out: a further person of it would agree with the others, or with none."""
    path = file("a.csv", table(f"id,{people},gpt-4o,{name}", four))
    with pytest.raises(RecuseError, match=rf"{name} does not .* --people {name},.*--gold {name};.*--ignore {name}"):
        read_file(path)
    assert len(read_file(path, people=f"{name},{people}").ratings.persons) == 3
    assert len(read_file(path, ignore=name).ratings.persons) == 2
    assert read_file(path, gold=name).mapping.truth == name


def test_a_label_of_each_text_below_people_and_judges_is_asked_about(file):
    rows = [(f"t{k}", who, mark, k % 5 + 1) for k in range(60)
            for who, mark in zip(("anna", "ben", "gpt-4o"), marks(k), strict=True)]  # fmt: skip
    header, cells = "ticket,rater,rating,label", ["ticket,rater,rating,label", *(",".join(map(str, r)) for r in rows)]
    path = file("a.csv", "\n".join(cells))
    with pytest.raises(RecuseError, match=r"label does not say whose it is, .* --people label,"):
        read_file(path)
    assert read_file(path, gold="label").ratings.judges == ("gpt-4o",)
    alone = file("b.csv", "\n".join([header, *(row for row in cells if ",gpt" in row)]))
    assert read_file(alone).ratings.raters == {"gpt-4o": "judge", "label": "person"}

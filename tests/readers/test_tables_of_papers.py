"""Tables as papers publish them: read as their authors meant, or one question that an option answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recuse.readers import read_file
from recuse.readers.nobodys_columns import _summed
from recuse.schema import RecuseError

NUMBER = 60
YES, NO = "yes", "no"
JUDGES = ("gpt-4", "claude-3", "llama-3")


def mark(k, shift=0):
    """A mark from 1 to 5 that others agree with, but for some rows each."""
    return (k * 7 + (k % 11 == shift)) % 5 + 1


def verdict(k, shift=0):
    return (YES, NO)[(k * 7 % 5 > 2) ^ (k % 11 == shift)]


def table(header, cells, number=NUMBER):
    return "\n".join([header, *(",".join(map(str, cells(k))) for k in range(number))])


def read(file, header, cells, number=NUMBER, **options):
    return read_file(file("a.csv", table(header, cells, number)), **options)


def kinds(of):
    """Rater -> kind, of all but right answers."""
    return {name: kind for name, kind in of.ratings.raters.items() if name != of.ratings.truth}


def prose(k, word):
    return f"what {word} wrote of case {k} in many words and with some care"


@pytest.mark.parametrize(
    "names", ["LLaMA2-13b,DeepSeek-R1,MiniMax,PaLM,InternLM,WizardLM", "PandaLM_score", "LLaMA2.choice"]
)
def test_a_model_is_known_however_its_name_is_spelt(file, names):
    judges = 2 + names.count(",")
    row = lambda k: (f"t{k}", *(mark(k, shift) for shift in range(2 + judges)))  # noqa: E731
    found = read(file, f"id,anna,ben,GPT-4,{names}", row)
    assert [*kinds(found).values()] == ["person"] * 2 + ["judge"] * judges


@pytest.mark.parametrize("name", ["ground_truth_winner", "gold_choice", "Gold.verdict"])
def test_what_is_called_gold_or_ground_truth_first_is_true(file, name):
    found = read(file, f"id,gpt-4,{name}", lambda k: (f"t{k}", verdict(k), verdict(k, 1)))
    assert kinds(found) == {"gpt-4": "judge"}
    assert found.ratings.truth


def test_judges_of_two_words_beside_a_truth_are_no_raters_by_criteria(file):
    """gpt_plain and llama_careful answer the question that gold answers."""
    names = [f"{who}_{how}" for who in ("gpt", "llama") for how in ("plain", "careful")]
    found = read(file, ",".join(["id", *names, "gold"]), lambda k: (f"t{k}", *(verdict(k, s) for s in range(5))))
    assert kinds(found) == dict.fromkeys(names, "judge")


def test_a_ground_truth_of_names_says_who_won_and_not_who_rated(file):
    names = ("gpt-4", "Ardea")
    found = read(file, "id,ground_truth,result", lambda k: (f"t{k}", names[k % 3 == 0], names[k % 4 == 0]))
    assert (kinds(found), found.ratings.truth) == ({"result": "judge"}, "ground_truth")


OWN = "id,answer_fid,judge_fid,answer_gpt4,judge_gpt4"


def of_own(k, *more):
    return f"t{k}", prose(k, "one"), verdict(k), prose(k, "the other"), verdict(k, 1), *more


def test_ratings_called_after_texts_are_about_these(file):
    asked = r"judge_fid and judge_gpt4 say something of answer_fid and answer_gpt4, each of its own.*--judges judge_fid"
    with pytest.raises(RecuseError, match=asked):
        read(file, OWN, of_own)
    with pytest.raises(RecuseError, match="each of its own text"):  # flawed, by its name, might be anybody
        read(file, f"{OWN},flawed", lambda k: of_own(k, verdict(k, 2)))
    found = read(file, OWN, of_own, judges=["judge_fid", "judge_gpt4"])
    assert kinds(found) == {"judge_fid": "judge", "judge_gpt4": "judge"}


def test_ratings_that_bear_the_names_of_texts_are_about_these(file):
    def cells(k):
        return f"t{k}", prose(k, "one"), verdict(k), prose(k, "the other"), verdict(k, 1)

    with pytest.raises(RecuseError, match=r"GPT-3\.5 rating and GPT - 4 rating say something of GPT-3.5 and GPT4"):
        read(file, "id,GPT-3.5,GPT-3.5 rating,GPT4,GPT - 4 rating", cells)


@pytest.mark.parametrize("whole", ["human", "gold"])
def test_replies_beside_their_ratings_are_judges_where_somebody_rated_the_whole_row(file, whole):
    header = f"id,gpt_reply,gpt_label,llama_reply,llama_label,{whole}"
    found = read(file, header, lambda k: of_own(k, verdict(k, 2)))
    assert {name for name, kind in kinds(found).items() if kind == "judge"} == {"gpt", "llama"}


def test_a_weighed_sum_of_others_is_nobodys(file):
    """The experts' mean beside experts and volunteers, in a list of objects each."""

    def record(k):
        of = [{"tone": mark(k, s)} for s in range(3)]
        by = [{"tone": mark(k, s)} for s in (5, 6)]
        return {"id": k, "expert_marks": of, "volunteer_marks": by, "tone": sum(o["tone"] for o in of) / 3}

    found = read_file(file("a.jsonl", "\n".join(json.dumps(record(k)) for k in range(NUMBER))))
    assert {*found.ratings.raters.values()} == {"person"}
    assert "tone" in found.mapping.ignored


def total(k):
    return f"t{k}", mark(k), mark(k * 3, 1), -0.5 * (k % 4), (mark(k) + mark(k * 3, 1)) / 2 - 0.5 * (k % 4)


def test_a_persons_score_that_its_parts_make_is_asked_about(file):
    header = "id,P,R,Penalty,human_score"
    with pytest.raises(RecuseError, match=r"human_score is worked out from P, R, Penalty: .*--ignore P,R,Penalty; if"):
        read(file, header, total)
    assert kinds(read(file, header, total, ignore=["P", "R", "Penalty"])) == {"human": "person"}
    mean = ("id,P,R,human_score", lambda k: (*total(k)[:3], sum(total(k)[1:3]) / 2))
    assert kinds(read(file, *mean, judges=["P", "R"]))["P"] == "judge"
    found = read(file, header, lambda k: (*total(k)[:4], mark(k, 2)))  # no sum of theirs
    assert kinds(found)["human"] == "person"


def test_one_word_called_as_all_judges_are_and_other_words_are_not_is_asked_about(file):
    def cells(k):
        return f"t{k}", *(verdict(k, s) for s in range(4))

    with pytest.raises(RecuseError, match=r"no name tells judges from people: 'openchat'; say --judges"):
        read(file, "id,anna,zephyr_label,llama_label,openchat_label", cells)
    with pytest.raises(RecuseError, match="'openchat'"):
        read(file, "id,human,zephyr_label,llama_label,openchat_label", cells)
    options = {"judges": ["zephyr", "llama", "openchat"]}
    found = read(file, "id,anna,zephyr_label,llama_label,openchat_label", cells, **options)
    assert kinds(found)["anna"] == "person"
    found = read(file, "id,ben_label,zephyr_label,llama_label,anna_label", cells)
    assert [*kinds(found).values()].count("person") == 2


def test_a_column_called_judge_among_others_names_who_judged(file):
    """Names of models in all three columns, who chose by signs."""

    def cells(k):
        pair = ("qwen-1", "command-r")[:: 1 if k // 3 % 2 else -1]
        return f"t{k // 3}", JUDGES[k % 3], *pair, ("A>B", "B>A", "A>>B")[k * k % 7 % 3]

    found = read(file, "id,llm_judge,first_completion_by,second_completion_by,pairwise_choice", cells)
    assert kinds(found) == dict.fromkeys(JUDGES, "judge")
    assert found.mapping.first == "first_completion_by"


def test_an_unknown_name_beside_models_that_judged_is_no_person(file):
    names = (*JUDGES, "dbrx-instruct")
    with pytest.raises(RecuseError, match=r"no name tells judges from people: 'dbrx-instruct'"):
        read(file, "id,judge,score", lambda k: (f"t{k // 4}", names[k % 4], mark(k // 4, k % 4)))


def test_what_two_raters_of_every_text_are_at_one_on_says_something_of_it(file):
    def cells(k):
        group = ("symptoms", "cure")[k // 2 % 2]
        return f"t{k // 2}", JUDGES[k % 2], group, mark(k // 2, k % 2), mark(k)

    found = read(file, "id,judge_name,question_group,tone,depth", cells)
    assert {*found.ratings.table["criterion"]} == {"tone", "depth"}


def test_a_and_b_beside_a_tie_are_no_grades(file):
    found = read(file, "id,judge,winner", lambda k: (f"t{k}", "gpt-4", "AAABBBABAB"[k % 10] if k % 20 else "tie"))
    assert (found.ratings.table["status"] == "ok").all()


def test_a_truth_that_is_the_same_for_every_model_of_an_item_is_asked_about(file):
    def cells(k):
        return f"t{k // 3}", JUDGES[k % 3], verdict(k // 3, k % 3), verdict(k // 3, 5)

    with pytest.raises(RecuseError, match=r"gold is the same for every model of an item; .* say --rater model"):
        read(file, "id,model,pred,gold", cells)
    assert kinds(read(file, "id,model,pred,gold", cells, rater="model")) == dict.fromkeys(JUDGES, "judge")


def test_respondents_to_a_survey_are_no_texts(file):
    with pytest.raises(RecuseError, match="respondent_id names who rated, by its name, and nothing names what was"):
        read(file, "respondent_id,Do you trust it?,Is an automated reply fair?",
             lambda k: (f"R_{k}", verdict(k), verdict(k, 1)))  # fmt: skip


def test_numbered_runs_under_two_templates(file):
    def cells(k):
        return f"t{k // 6}", "gpt-4", ("short", "long")[k // 3 % 2], k % 3, mark(k // 6, k % 3)

    found = read(file, "id,judge,prompt_template,run_index,score", cells)
    assert (found.mapping.repeat, found.mapping.factors) == ("run_index", ("prompt_template",))


def test_a_kind_of_constraint_is_no_kind_of_rater(file):
    with pytest.raises(RecuseError, match="no name tells judges from people: 'share'"):
        read(file, "id,kind,share", lambda k: (f"t{k}", ("hard", "soft")[k % 2], mark(k)))


def test_prose_about_each_criterion_is_no_text_that_it_is_about(file):
    def cells(k):
        return f"t{k}", mark(k), mark(k, 1), prose(k, "one"), prose(k, "two")

    found = read(file, "id,Clarity,Relevance,Evaluation.Clarity,Evaluation.Relevance", cells)
    assert {*found.ratings.table["criterion"]} == {"Clarity", "Relevance"}


def test_names_of_models_beside_two_texts_are_no_ratings_of_these(file):
    def cells(k):
        return f"t{k}", prose(k, "one"), JUDGES[k % 3], prose(k, "two"), ("qwen-1", "command-r")[k % 2]

    with pytest.raises(RecuseError, match="no column holds ratings"):
        read(file, "id,response_a.text,response_a.model,response_b.text,response_b.model", cells)


def test_a_total_of_parts_that_are_nobodys_beside_people_is_asked_about(file):
    def cells(k):
        return f"t{k}", mark(k, 3), mark(k, 2), mark(k), mark(k * 3, 1), mark(k) + mark(k * 3, 1)

    with pytest.raises(RecuseError, match=r"score is worked out from part_1_real, part_2_real: .*--ignore part_1_real"):
        read(file, "id,annotator_1,annotator_2,part_1_real,part_2_real,score", cells)


def test_the_number_of_a_run_that_is_the_same_in_every_row_is_no_repeat(file):
    header, cells = "id,judge,attack,run_index,score", ("plain", "swap")
    found = read(file, header, lambda k: (f"t{k // 2}", "gpt-4", cells[k % 2], 0, mark(k // 2, k % 2)))
    assert (found.mapping.repeat, found.mapping.target) == ("", "attack")


def test_only_a_sum_of_parts_is_worked_out_from_them():
    """Each part adds to it: one that takes away is no part, whatever the numbers are."""
    parts = np.random.default_rng(1).integers(1, 6, (40, 3)).astype(float)
    a, b, c = parts.T
    assert _summed(a / 2 + 2 * b + c, parts) == [0, 1, 2]
    assert _summed(a + b, parts) == [0, 1]
    assert _summed(a + b - c, parts) == []


def test_a_trait_of_an_essay_is_a_criterion(file):
    rows = [f"E{k},{trait},{k % 5 + 1},{(k + k % 2) % 5 + 1}" for k in range(40) for trait in ("cohesion", "grammar")]
    read = read_file(file("a.csv", "essay_id,trait,reader_kim,llama-3-70b\n" + "\n".join(rows)))
    assert (read.mapping.criterion, read.mapping.target, read.mapping.item) == ("trait", "", ("essay_id",))

"""A column of right answers is a person whose answers are right, in every shape; what is positive is said beside it."""

from __future__ import annotations

import pytest

from recuse.metrics.expert import sensitivity
from recuse.metrics.right_choices import right_choices
from recuse.ratings.needs import offers_of
from recuse.readers import read_file
from recuse.schema import RecuseError

WIDE = "item,llm,ann,gold\n" + "".join(
    f"{k},{'pass' if k % 3 else 'fail'},pass,{'pass' if k % 2 else 'fail'}\n" for k in range(12)
)
LONG = "item,rater,verdict,gold\n" + "".join(
    f"{k},{who},{said},{'pass' if k % 2 else 'fail'}\n"
    for k in range(12)
    for who, said in (("gpt-4o", "pass" if k % 3 else "fail"), ("human_ann", "pass"))
)
PAIRS = "item,first,second,gpt,gold\n" + "".join(
    f"{k},x,y,{'x' if k % 3 else 'y'},{'x' if k % 2 else 'y'}\n" for k in range(12)
)


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_wide_and_long_hold_a_judge_against_the_same_right_answers(file, text):
    """6 of 12 are fails; the judge fails 0, 3, 6 and 9, of which 0 and 6 are right: 2 of 6."""
    ratings = read_file(file("a.csv", text), people="ann" if text is WIDE else "human_ann").ratings
    assert ratings.truth == "gold"
    (found,) = sensitivity(ratings, "fail").values()
    assert (found.value, found.n, found.detail["held_against"]) == (pytest.approx(2 / 6), 6, "the right answers")
    assert {"expert", "positive"} <= offers_of(ratings)


def test_right_answers_of_pairs(file):
    """Right in 6 of 12: k = 1, 5, 7, 11 and 0, 6. No better than chance."""
    read = read_file(file("a.csv", PAIRS))
    assert (read.kind, read.ratings.truth, read.ratings.persons) == ("choices", "gold", ("gold",))
    (found,) = right_choices(read.ratings).values()
    assert (found.detail["right"], found.value, found.detail["held_against"]) == (0.5, 0.0, "the right answers")


def test_what_marks_the_right_response_of_several_is_no_score(file):
    marked = [(k, name) for k in range(11) for name in ("good", "worse")]
    rows = "".join(f"{k},{name},{(k * 3 + len(name)) % 11},{int(name == 'good')}\n" for k, name in marked)
    ratings = read_file(file("a.csv", f"item,system,judge,gold\n{rows}")).ratings
    assert ratings.truth == ""
    assert ratings.persons == ()
    assert "right_answer" in offers_of(ratings)


@pytest.mark.parametrize(("column", "systems", "answers"), [
    ("ground_truth", ("",), ("Oslo", "Bern", "Riga")), ("reference", ("one", "two"), ("Oslo", "Bern", "Riga")),
    ("gold", ("",), ("1", "7", "42", "365")), ("expected_output", ("one", "two"), ("1", "7", "42", "365")),
])  # fmt: skip
def test_answers_to_the_questions_are_nothing_to_hold_ratings_against(file, column, systems, answers):
    names = ("system,", "%s,") if len(systems) > 1 else ("", "%.0s")
    rows = "".join(
        f"{k},{names[1] % system}{answers[k % len(answers)]},{marks[k % 5 < 2]},{marks[k % 7 < 3]}\n"
        for marks in (("pass", "fail"),) for k in range(40) for system in systems
    )  # fmt: skip
    read = read_file(file("a.csv", f"item,{names[0]}{column},human,judge\n{rows}"))
    assert read.ratings.raters == {"human": "person", "judge": "judge"}
    assert read.mapping.ignored[column] == "right answers in words that no rater gives"
    assert "right_answer" not in offers_of(read.ratings)
    with pytest.raises(RecuseError, match=f"{column} holds right answers in words .* of which no rater gives any"):
        read_file(read.path, gold=column)


@pytest.mark.parametrize(("options", "known", "truth"), [
    (("2", "3", "4", "5"), 12, ""), (("fail", "pass"), 12, ""), (("2", "3", "4", "5"), 13, "gold"),
    (("fail", "pass"), 25, "gold"),
])  # fmt: skip
def test_right_answers_of_a_few_texts_are_one_more_person(file, options, known, truth):
    """Of fewer than half that people rated; what is not full writes 2.0, and 1 is a score though nobody gave it."""
    written = {option: f"{option}.0" if option.isdigit() else option for option in options}
    right = [written[options[k % len(options)]] if k < known else "" for k in range(25)]
    right[:3] = ["1.0"] * 3 if options[0] == "2" else right[:3]
    rows = [f"{k},{options[k % len(options)]},{options[-1 - k % len(options)]},{gold}" for k, gold in enumerate(right)]
    path = file("a.csv", "\n".join(["item,llm,ann,gold", *rows]))
    read = read_file(path, people="ann")
    assert (read.ratings.truth, read.ratings.persons) == (truth, ("ann", "gold"))
    assert any("one more person" in note for note in read.notes) is (truth == "")
    file("a.recuse.toml", read.mapping.toml())
    assert read_file(path).ratings.truth == truth


def test_right_answers_on_another_scale_are_asked_about(file):
    rows = [f"{k},{k % 5 + 1},{k % 4 + 1},{k * 4}" for k in range(25)]
    with pytest.raises(RecuseError, match="gold holds numbers from 0 to 96, the raters give 1 to 5: bring right"):
        read_file(file("a.csv", "\n".join(["item,llm,ann,gold", *rows])), people="ann")


def test_the_mapping_that_is_kept_says_which_rater_is_right(file):
    read = read_file(file("a.csv", WIDE), people="ann")
    file("a.recuse.toml", read.mapping.toml())
    again = read_file(file("a.csv", WIDE))
    assert again.ratings.truth == "gold"
    assert again.mapping.record() == read.mapping.record()


def test_positive_and_threshold_beside_the_file(file):
    labels = "item,llm,ann\n1,toxic,toxic\n2,fine,toxic\n3,rude,fine\n"
    file("a.recuse.toml", 'positive = "toxic"\npeople = ["ann"]\n')
    ratings = read_file(file("a.csv", labels)).ratings
    assert sensitivity(ratings).of(judge="llm").value == 0.5
    scores = "item,llm,ann\n1,5,4\n2,3,5\n3,2,1\n"
    file("b.recuse.toml", 'threshold = 4\npeople = ["ann"]\n')
    found = sensitivity(read_file(file("b.csv", scores)).ratings).of(judge="llm")
    assert (found.value, found.detail["positive"]) == (0.5, "4 or more")


@pytest.mark.parametrize(
    ("scale", "positive"), [("", "Toxic"), ("", " TOXIC "), ("Toxic,Fine", " TOXIC "), ("Fine<Toxic", "toxic")]
)
def test_positive_may_be_written_as_the_file_writes_it(file, scale, positive):
    path = file("a.csv", "item,llm,ann\n" + "".join(f"{k},{'Toxic' if k % 3 else 'Fine'},Toxic\n" for k in range(9)))
    ratings = read_file(path, people="ann", positive=positive, scale=scale).ratings
    assert ratings.positive == {ratings.criterion: "toxic"}


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"positive": "tox"}, r"positive = 'tox' is none of the options; there are"),
        ({"threshold": "4"}, "threshold = '4' needs scores; there are options only: name positive"),
    ],
)
def test_a_setting_that_fits_nothing_is_an_error(file, setting, says):
    with pytest.raises(RecuseError, match=says):
        read_file(file("a.csv", "item,llm,ann\n1,toxic,toxic\n2,fine,toxic\n3,rude,fine\n"), people="ann", **setting)


@pytest.mark.parametrize("threshold", ["high", "nan", "inf", "-inf"])
def test_a_threshold_that_is_no_number_is_an_error(file, threshold):
    with pytest.raises(RecuseError, match=f"threshold is a score, for example 4; got '{threshold}'"):
        read_file(file("a.csv", "item,llm,ann\n1,5,4\n2,3,5\n"), people="ann", threshold=threshold)


@pytest.mark.parametrize(("scale", "threshold"), [
    ("", "500"), ("0-10", "0"), ("0-10 lowest best", "10"),
    *(pytest.param(*case, marks=pytest.mark.slow("further cases"))
      for case in (("", "0"), ("0-10", "10.5"), ("0-10 lowest best", "-1"))),
])  # fmt: skip
def test_a_threshold_that_all_scores_pass_or_none_is_an_error(file, scale, threshold):
    scores = file("a.csv", "item,llm,ann\n1,5,4\n2,3,5\n3,9,8\n")
    with pytest.raises(RecuseError, match=f"threshold = {threshold} decides nothing: scores are from . to 10"):
        read_file(scores, people="ann", threshold=threshold, scale=scale)
    ends = {"0-10": "10", "0-10 lowest best": "0"}
    assert read_file(scores, people="ann", threshold=ends.get(scale, "4"), scale=scale).ratings.thresholds


@pytest.mark.parametrize("scale", ["bad<good", "x,y", "a|b", "1-5"])
def test_a_scale_that_nobody_answers_on_is_an_error(file, scale):
    path = file("a.csv", "item,llm,ann\n1,toxic,toxic\n2,fine,toxic\n3,fine,fine\n")
    with pytest.raises(RecuseError, match=r"none of the answers \('toxic', 'fine'\) is on the scale"):
        read_file(path, people="ann", scale=scale)


@pytest.mark.parametrize(("doubly", "expert"), [(0, True), (19, True), (20, False)])
def test_one_expert_is_one_as_long_as_few_texts_have_a_second_label(file, doubly, expert):
    rows = "".join(f"{k},pass,{'pass' if k % 2 else 'fail'},{'pass' if k < doubly else ''}\n" for k in range(100))
    ratings = read_file(file("a.csv", f"item,llm,ann,bea\n{rows}"), people="ann,bea").ratings
    assert ("expert" in offers_of(ratings)) == expert


def test_right_answers_in_words_beside_numbers_are_left_out(file):
    """From which number on a text passes nobody says."""
    rows = "".join(f"{k},{k % 5 + 1},{(k + k % 3) % 5 + 1},{('pass', 'fail')[k % 5 < 2]}\n" for k in range(40))
    read = read_file(file("a.csv", f"item,anna,gpt-4o,gold\n{rows}"))
    why, how = read.mapping.ignored["gold"].split("; ")
    assert why == "right answers in words that no rater gives"
    assert how == "scores are held against them with --use decide --threshold NUMBER"

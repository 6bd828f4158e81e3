"""Who rates: those who are named, and nobody whose column is made of others'."""

from __future__ import annotations

import pytest

from recuse.readers import read_file


def table(header, cells, number=60):
    return "\n".join([header, *(",".join(map(str, cells(k))) for k in range(number))])


def marks(k):
    return k % 5 + 1, (k + k % 2) % 5 + 1, (k + k % 3 // 2) % 5 + 1


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


def test_a_consensus_among_the_raters_of_a_long_table_is_left_out(file):
    rows = [f"{k},{who},{m}" for k in range(40) for who, m in zip(("anna", "ben", "gpt-4o"), marks(k), strict=True)]
    rows += [f"{k},consensus,{marks(k)[0]}" for k in range(40)]
    read = read_file(file("a.csv", "\n".join(["id,rater,score", *rows])))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert any("consensus" in note for note in read.notes)


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

"""Columns whose ratings are sets of options: how they are recognised, and how what is no set is told."""

from __future__ import annotations

import pytest

from recuse.ratings import Nominal, Ordinal, ResponseSets
from recuse.readers import read_file
from recuse.readers.file_panel import load_file_panel
from recuse.readers.values import find_sets
from recuse.schema import RecuseError

SETS = """item,gpt-4o,ann,bob
1,toxic,toxic,toxic|not toxic
2,"toxic, not toxic",Both,"[""not toxic""]"
3,not toxic,not toxic,not toxic
4,toxic,toxic,not toxic|Toxic
"""
BOTH_WAYS = """elicitation,rater,item,label
forced_choice,gpt-4o,1,toxic
forced_choice,gpt-4o,2,toxic
forced_choice,ann,1,toxic
forced_choice,ann,2,not toxic
response_set,gpt-4o,1,toxic
response_set,gpt-4o,2,both
response_set,ann,1,toxic|not toxic
response_set,ann,2,not toxic
"""
SIDE_BY_SIDE = """item,rater,choice,all_reasonable
1,gpt-4o,toxic,toxic
2,gpt-4o,toxic,"toxic, not toxic"
1,ann,toxic,toxic
2,ann,not toxic,not toxic
"""


def responses(path, **given):
    table = read_file(path, **given).ratings.table
    return {(row.rater, row.item): row.response for row in table.itertuples()}


def test_bars_lists_commas_and_both_are_one_set(file):
    read = read_file(file("a.csv", SETS))
    assert (read.kind, read.ratings.scale) == ("response_sets", ResponseSets(("not toxic", "toxic")))
    given = responses(file("a.csv", SETS))
    both = {("bob", "1"), ("gpt-4o", "2"), ("ann", "2"), ("bob", "4")}
    assert {place for place, response in given.items() if response == "not toxic|toxic"} == both
    assert given["bob", "2"] == "not toxic"
    assert not read.faults


def test_how_it_was_read_is_told_with_what_to_say_otherwise(file):
    notes = " ".join(read_file(file("a.csv", SETS)).notes)
    assert 'rating: sets of not toxic, toxic; "both" is read as both' in notes
    assert '--scale "not toxic,toxic,both"' in notes


def test_both_is_an_option_where_the_scale_says_so(file):
    text = "item,gpt-4o,ann\n1,toxic,both\n2,not toxic,not toxic\n3,both,toxic\n"
    read = read_file(file("a.csv", text), scale="toxic,not toxic,both")
    assert read.ratings.scale == Nominal(("toxic", "not toxic", "both"))
    assert responses(file("a.csv", text))["ann", "1"] == "not toxic|toxic"


def test_a_scale_that_is_said_gives_the_order_and_the_options(file):
    text = SETS.replace("3,not toxic", "3,rude").replace("4,toxic", "4,[]")
    path = file("a.csv", text)
    read = read_file(path, scale="toxic|not toxic")
    assert read.ratings.scale == ResponseSets(("toxic", "not toxic"))
    (told,) = [fault.sentence() for fault in read.faults]
    assert told.startswith("2 answer(s) are no set of options: 'rude' is none of toxic, not toxic; an empty set (")
    assert "line 4, column gpt-4o: 'rude'; line 5, column gpt-4o: '[]'" in told
    table = read.ratings.table
    assert table.loc[table["status"] != "ok", "status"].tolist() == ["out_of_scale", "out_of_scale"]
    assert table.loc[table["status"] != "ok", "response"].isna().all()


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (("toxic", "not toxic"), None),
        (("yes", "no", "yes, with edits"), None),
        (("rock and roll", "jazz"), None),
        (("a", "b", "c", "both"), None),
        (("both",), None),
        (("a", "b", "a and b"), ("a", "b")),
        (("a", "b", "a / b"), ("a", "b")),
        (("a", "b", "either"), ("a", "b")),
        (("a|b",), ("a", "b")),
        (("a", "['b', 'c']"), ("a", "b", "c")),
        (('["a", "b"]', "[not a list"), ("[not a list", "a", "b")),
        (tuple("|".join(f"o{i}" for i in range(k)) for k in range(1, 30)), None),
    ],
)
def test_what_makes_labels_sets(labels, options):
    found = find_sets(labels)
    assert (None if found is None else found.scale.options) == options


def test_a_criterion_called_so_has_sets_even_where_nobody_names_two():
    found = find_sets(("no", "yes"), "Response Set")
    assert found is not None
    assert found.written == {"no": "no", "yes": "yes"}


def test_an_option_named_twice_is_no_set():
    found = find_sets(("a|b", "a|a"))
    assert found is not None
    assert found.strange == {"a|a": "'a' is named twice"}


def test_who_never_names_two_may_have_been_made_to_choose(file):
    notes = read_file(file("a.csv", SETS.replace("Both", "toxic"))).notes
    assert any(note.startswith("always one option: ann. If more than one could not be named") for note in notes)


@pytest.mark.parametrize("text", [BOTH_WAYS, SIDE_BY_SIDE])
def test_choices_and_sets_of_one_file_stand_beside_each_other(file, text):
    panel = load_file_panel(file("a.csv", text))
    assert {"forced_choices", "response_sets", "people_items"} <= panel.offers
    chosen, sets = panel.ratings, panel.ratings.beside("response_sets")
    assert sets is not None
    assert isinstance(chosen.scale, Nominal)
    assert sets.scale == ResponseSets(("not toxic", "toxic"))
    assert len(sets.criteria) == 1
    assert panel.by(panel.protocol("forced_choices")) is chosen
    assert panel.by(panel.protocol("response_sets")) is sets


def test_a_file_of_sets_alone_is_asked_as_it_is(file):
    panel = load_file_panel(file("a.csv", SETS))
    there = panel.offers
    assert {"response_sets", "forced_choices", "scores", "people_items"} <= there
    assert "numbers" not in there
    assert panel.by(panel.protocol("response_sets")) is panel.ratings


def test_options_are_forced_choices_and_numbers_are_not(file):
    labels = load_file_panel(file("a.csv", "item,gpt,ann\n1,pass,fail\n2,fail,fail\n"))
    assert isinstance(labels.ratings.scale, Ordinal)
    assert "forced_choices" in labels.offers
    numbers = load_file_panel(file("b.csv", "item,gpt,ann\n1,1,3\n2,4,5\n"))
    assert "forced_choices" not in numbers.offers


def test_a_scale_in_words_knows_sets():
    with pytest.raises(RecuseError, match=r'or "a\|b\|c" \(sets of them\); got'):
        read_scale("nonsense")


def read_scale(text):
    from recuse.readers.values import scale_from_text

    return scale_from_text(text)

"""Columns whose ratings are sets of options: how they are recognised, and how what is no set is told."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from recuse import measures
from recuse.metrics.agreement import coefficient
from recuse.ratings import Nominal, Ordinal, Ratings, ResponseSets
from recuse.readers import read_file
from recuse.readers.file_panel import load_file_panel
from recuse.readers.values import decimal_commas, find_sets
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


def test_numbered_options_side_by_side_are_sets(file):
    told = ["1", "2", "3", "4", "1,2", "1,3", "2,4", "3,4"]
    rows = "\n".join(f"{k};{told[k % 8]};{told[(k + k % 3) % 8]}" for k in range(40))
    assert responses(file("a.csv", f"item;anna;gpt-4o\n{rows}\n"))["anna", "4"] == "1|2"
    assert responses(file("b.csv", f"item;anna;gpt-4o\n{rows}\n40;1,2,4;1\n"))["anna", "40"] == "1|2|4"


def tagged(options, texts=120):
    """Text -> rater -> a set of so many options, on which three of four agree."""
    rng = np.random.default_rng(0)
    names = [f"topic {chr(97 + k)}" for k in range(options)]
    truth = rng.random((texts, options)) < max(1.6 / options, 0.15)
    given = {}
    for rater in ("anna", "ben", "carla", "gpt-4o"):
        chosen = truth ^ (rng.random(truth.shape) < 0.03)
        given[rater] = ["; ".join(n for n, one in zip(names, row, strict=True) if one) or names[0] for row in chosen]
    return pd.DataFrame({"text": [f"t{k}" for k in range(texts)], **given})


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("options", [5, 10, 16, 20])  # of 20, nearly every set is given once
def test_many_sets_of_a_few_options_are_ratings(file, options, long):
    """Hundreds of different cells, of which 2**16 would be possible: only those that occur are counted."""
    table = tagged(options)
    table = table.melt("text", var_name="rater", value_name="topics") if long else table
    ratings = read_file(file("a.csv", table.to_csv(index=False)), judges=["gpt-4o"]).ratings
    assert ratings.persons == ("anna", "ben", "carla")
    [scale] = ratings.scales.values()
    assert isinstance(scale, ResponseSets)
    assert len(scale.options) == options
    texts = ratings.table.dropna(subset="response")
    labels = Ratings.of(texts.assign(response=texts["response"].str.replace("|", " and ")))
    kinds = ("percent_agreement", "cohen_kappa", "krippendorff_alpha")
    for of in (measures.human_ceiling, *(partial(coefficient, name=kind) for kind in kinds)):
        as_sets, as_labels = (of(each).of(judge="gpt-4o") for each in (ratings, labels))
        assert (as_sets.value, as_sets.low) == pytest.approx((as_labels.value, as_labels.low))


def test_topics_beside_ratings_are_no_ratings(file):
    table = tagged(10)
    scores = {name: np.arange(120) % k + 1 for name, k in (("anna", 5), ("gpt-4o", 4))}
    read = read_file(file("a.csv", pd.DataFrame({"topics": table["ben"], **scores}).to_csv(index=False)))
    assert read.ratings.raters == {"anna": "person", "gpt-4o": "judge"}


@pytest.mark.parametrize(("labels", "decimal"), [
    ("1 2 3 3,3", True), ("1 2 3 2,7", True), ("1 2 3 2,0", True), ("1 2 3 5 1,5 2,5 3,5", True),
    ("1 2 3 1,2 1,3", False), ("1 2 3 4 5 1,5 2,5 3,5 1,2,4", False), ("1 2", False),
])  # fmt: skip
def test_what_makes_a_comma_decimal(labels, decimal):
    assert decimal_commas(labels.split()) == decimal
    assert not decimal_commas([*labels.split(), "2, 3"])


def test_right_answers_that_are_sets_are_of_one_scale_with_the_judges_or_no_right_answers(file):
    table = tagged(10).rename(columns={"ben": "gold"})[["text", "gold", "gpt-4o"]]
    ratings = read_file(file("a.csv", table.to_csv(index=False))).ratings
    assert (ratings.persons, ratings.truth) == (("gold",), "gold")
    scores = pd.DataFrame({"anna": np.arange(120) % 5 + 1, "gpt-4o": np.arange(120) % 4 + 1, "gold": table["gold"]})
    read = read_file(file("b.csv", scores.to_csv(index=False)))
    assert read.ratings.raters == {"anna": "person", "gpt-4o": "judge"}
    assert read.mapping.gold == ""

"""Who among the people answers in reverse, at random, or in a camp: found, and fair people are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from recuse.ratings import Ratings, ResponseSets
from recuse.ratings.people_faults import PeopleFault, people_faults, sentences

FORMS = {
    "0-10": lambda x: np.clip(np.round(5 + 2 * x), 0, 10),
    "1-5": lambda x: np.clip(np.round(3 + x), 1, 5),
    "pass or fail": lambda x: np.where(x > 0, "pass", "fail"),
    "mostly pass": lambda x: np.where(x > -1.2, "pass", "fail"),
    "labels": lambda x: np.where(x < -0.5, "refund", np.where(x > 0.5, "praise", "other")),
}


def frame(answers, clusters=None):
    """A ratings table of person -> answers, one per text."""
    value = "response" if isinstance(next(iter(answers.values()))[0], str) else "score"
    rows = [
        {"rater": who, "kind": "person", "item": f"t{k}", value: one}
        for who, own in answers.items() for k, one in enumerate(own)
    ]  # fmt: skip
    texts = None
    if clusters is not None:
        texts = pd.DataFrame({"item": [f"t{k}" for k in range(len(clusters))], "target": "", "cluster": clusters})
    return Ratings.of(pd.DataFrame(rows), texts=texts)


def fair(draw, form, people, texts=120, noise=0.6, quality=None):
    quality = draw.normal(size=texts) if quality is None else quality
    return {f"p{k}": FORMS[form](quality + noise * draw.normal(size=len(quality))) for k in range(people)}


def turned(form, answers):
    if form == "0-10":
        return 10 - answers
    if form == "1-5":
        return 6 - answers
    pairs = {"pass": "fail", "fail": "pass", "refund": "praise", "praise": "refund", "other": "other"}
    return np.array([pairs[one] for one in answers])


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("people", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_one_who_answers_in_reverse_is_found_and_nobody_else(form, people):
    found = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        answers = fair(draw, form, people, texts=250)
        answers["p1"] = turned(form, answers["p1"])
        faults = people_faults(frame(answers))
        assert all(fault.people == ("p1",) for fault in faults)
        found += [fault.kind for fault in faults]
    assert found.count("reversed") + found.count("unrelated") >= 18
    if form != "labels":
        assert found.count("reversed") >= 18


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("people", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_one_whose_answers_are_unrelated_is_found_and_nobody_else(form, people):
    found = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        answers = fair(draw, form, people, texts=600)
        answers["p1"] = draw.permutation(answers["p1"])
        faults = people_faults(frame(answers))
        assert all((fault.kind, fault.people) == ("unrelated", ("p1",)) for fault in faults)
        found += len(faults)
    assert found >= 17


def test_two_camps_are_named_and_nobody_is_faulted_alone():
    for seed in range(10):
        draw = np.random.default_rng(seed)
        answers = fair(draw, "1-5", 2, 200) | {f"q{k}": own for k, own in enumerate(fair(draw, "1-5", 2, 200).values())}
        (fault,) = people_faults(frame(answers))
        assert (fault.kind, fault.people, fault.against) == ("camps", ("p0", "p1"), ("q0", "q1"))


def test_two_people_in_reverse_of_each_other_are_opposed():
    answers = fair(np.random.default_rng(1), "1-5", 2)
    answers["p1"] = 6 - answers["p1"]
    (fault,) = people_faults(frame(answers))
    assert (fault.kind, fault.people, fault.against, fault.others) == ("opposed", ("p0",), ("p1",), None)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_fair_people_are_faulted_in_at_most_one_file_of_a_hundred(form):
    """Agreement from .74 down to .31, 3 to 6 people, 30 to 150 texts, each person of another precision."""
    faulted = 0
    for seed in range(400):
        draw = np.random.default_rng(seed)
        quality, noise = draw.normal(size=int(draw.integers(30, 150))), draw.choice([0.6, 1.5])
        answers = {
            f"p{k}": FORMS[form](quality + noise * draw.uniform(0.7, 1.4) * draw.normal(size=len(quality)))
            for k in range(int(draw.integers(3, 7)))
        }
        faulted += bool(people_faults(frame(answers)))
    assert faulted <= 4


@pytest.mark.slow
def test_fair_people_in_topics_are_faulted_as_seldom():
    """One person leans another way within each of 25 topics: answers of one topic are no answers of their own."""
    faulted = 0
    for seed in range(300):
        draw = np.random.default_rng(seed)
        topics = np.repeat(np.arange(25), 12)
        answers = {
            f"p{k}": FORMS["0-10"](
                0.3 * draw.normal(size=300) + draw.normal(size=25)[topics] + 0.2 * draw.normal(size=25)[topics]
            )
            for k in range(3)
        }
        faulted += bool(people_faults(frame(answers, [f"c{t}" for t in topics])))
    assert faulted <= 3


def test_with_few_texts_or_constant_answers_nobody_is_faulted():
    draw = np.random.default_rng(1)
    answers = fair(draw, "1-5", 3, texts=15)
    answers["p1"] = 6 - answers["p1"]
    assert people_faults(frame(answers)) == ()
    assert (
        people_faults(frame({"a": np.full(50, 3.0), "b": np.full(50, 3.0), "c": draw.integers(1, 6, 50) * 1.0})) == ()
    )


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("form", FORMS)
def test_one_who_always_answers_alike_is_found_and_nobody_else(form):
    for seed in range(20):
        answers = fair(np.random.default_rng(seed), form, 3, texts=400)
        answers["p1"] = np.full(400, FORMS[form](np.array([-0.2]))[0])
        faults = people_faults(frame(answers))
        assert [(fault.kind, fault.people, fault.n) for fault in faults] == [("constant", ("p1",), 400)]
        others = np.concatenate([answers["p0"], answers["p2"]])
        assert faults[0].agreement == pytest.approx((others == answers["p1"][0]).mean())


def test_one_answer_to_few_texts_or_one_that_nearly_everybody_gives_is_no_fault():
    """By a share of 98 in 100, 60 times are three in ten; and of people who do not agree nobody is the yardstick."""
    draw = np.random.default_rng(3)
    seldom = draw.random(60) < 0.03
    two = {name: np.where(seldom, "toxic", "fine") for name in ("a", "b")}
    assert people_faults(frame({**two, "c": np.full(60, "fine")})) == ()
    many = fair(draw, "1-5", 2)
    assert people_faults(frame({**many, "c": np.full(19, 3.0)})) == ()
    assert people_faults(frame({**many, "c": np.full(20, 3.0)})) != ()
    apart = {name: draw.integers(1, 6, 80) * 1.0 for name in ("a", "b")}
    assert people_faults(frame({**apart, "c": np.full(80, 3.0)})) == ()


def test_choices_count_by_the_text_that_won_and_sets_by_what_they_name():
    """Who sees b first and names the second place says that a won, as the others do; who names the other text answers
    in reverse. A tie is no answer between the two, and a set of options is an answer like any other."""
    draw = np.random.default_rng(3)
    better = draw.choice(["first", "second", "tie"], p=[0.45, 0.45, 0.1], size=200)
    other, credit = {"first": "second", "second": "first", "tie": "tie"}, {"first": 1, "tie": 0, "second": -1}
    rows, won = [], []
    for k, one in enumerate(better):
        seen = {"ann": (one, "ab"), "ben": (other[one], "ba"), "cay": (one, "ab"), "eve": (one, "ba")}
        for who, (response, order) in seen.items():
            response = draw.choice([response, other[response]], p=[0.9, 0.1])
            rows.append({"rater": who, "kind": "person", "item": f"t{k}", "response": response, "order": order})
            won.append(credit[response] * (1 if order == "ab" else -1))
    found = people_faults(Ratings.of(pd.DataFrame(rows), factors=["order"]))
    assert [(fault.kind, fault.people) for fault in found] == [("reversed", ("eve",))]
    by_person = np.array(won, dtype=float).reshape(len(better), 4).T
    assert found[0].agreement == pytest.approx(np.corrcoef(by_person[3], by_person[:3].mean(axis=0))[0, 1])
    sets = {"first": "a|b", "second": "c", "tie": "a"}
    rows = [
        {"rater": who, "kind": "person", "item": f"t{k}", "response": sets[one]}
        for who in ("ann", "ben", "eve")
        for k, one in enumerate(draw.permutation(better) if who == "eve" else better)
    ]
    found = people_faults(Ratings.of(pd.DataFrame(rows), scales=ResponseSets(("a", "b", "c"))))
    assert [(fault.kind, fault.people) for fault in found] == [("unrelated", ("eve",))]


def test_one_sentence_for_each_of_the_people_and_each_way_to_be_at_fault():
    def fault(kind, criterion, who, *against):
        return PeopleFault(kind, criterion, (who,), against, -0.5, -0.6, -0.4, 0.7, 40)

    said = sentences([
        fault("reversed", "tone", "ann", "cid"), fault("reversed", "tone", "ben", "cid"),
        fault("unrelated", "form", "ann", "cid"), fault("reversed", "form", "ann", "cid"),
        fault("opposed", "tone", "ann", "ben"), fault("opposed", "tone", "ann", "cid"),
    ])  # fmt: skip
    assert [one.split(" answer")[0] for one in said] == ["ann", "ben", "the", "ann and ben", "ann and cid"]
    assert [one.endswith("; the same is true of form") for one in said] == [True, False, False, False, False]


def test_right_answers_are_no_person_at_fault():
    """People who answer in reverse of what is right are a matter of the people."""
    draw = np.random.default_rng(8)
    quality = draw.normal(size=120)
    people = fair(draw, "0-10", 3, quality=quality)
    with_key = frame({**people, "key": turned("0-10", FORMS["0-10"](quality))})
    assert [fault.people for fault in people_faults(with_key)] == [("key",)]
    assert people_faults(replace(with_key, truth="key", _memory={})) == ()


def test_the_interval_is_as_wide_as_leaving_out_each_text_says_where_a_few_texts_make_the_correlation() -> None:
    rng = np.random.default_rng(2)
    truth = rng.standard_t(3, 60)
    people = {name: truth + rng.normal(0, 0.1, 60) for name in ("ann", "ben", "cid")}
    eve, others = -truth + rng.normal(0, 0.8, 60), np.mean([*people.values()], axis=0)
    (fault,) = people_faults(frame({**people, "eve": eve}))
    without = [np.corrcoef(np.delete(eve, k), np.delete(others, k))[0, 1] for k in range(60)]
    z = np.arctanh(without)
    error = np.sqrt(59 * np.mean((z - z.mean()) ** 2))
    assert error > 1 / np.sqrt(57)  # Fisher's would be too narrow here
    middle, half = np.arctanh(np.corrcoef(eve, others)[0, 1]), ndtri(1 - 0.01 / 4 / 2) * error
    assert (fault.people, fault.kind) == (("eve",), "reversed")
    assert (fault.low, fault.high) == pytest.approx((np.tanh(middle - half), np.tanh(middle + half)))

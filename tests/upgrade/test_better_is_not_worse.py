"""Better is not worse: what people say decides, and a candidate that mends errors of the judge in use is accepted.

The whole table is printed by `python tests/upgrade/candidates.py 200`."""

from __future__ import annotations

import numpy as np
import pytest
from candidates import CANDIDATES, FAULTY, MIXED, Texts, verdict, words

ACCEPTED = ("equivalent", "better")


def accepted(seen):
    return sum(seen[word] for word in ACCEPTED) / sum(seen.values())


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "items"), [("0-10", 200), ("1-5", 200), ("pass/fail", 600)])
def test_half_the_error_is_accepted(scale, items):
    """At 200 texts; pass or fail holds so much less of a text that it takes 600."""
    seen = words("half the error", 60, scale=scale, items=items)
    assert accepted(seen) >= 0.8
    assert seen["better"] / 60 >= 0.8
    assert not seen["worse"]


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.6, 1.1])
@pytest.mark.parametrize(("scale", "items"), [("0-10", 200), ("1-5", 200), ("pass/fail", 900)])
def test_the_same_judge_again_is_equivalent_however_far_it_lies_below_people(scale, items, error):
    """An error of 1.1 puts the judge in use .2 below people: nothing that its clone is to blame for."""
    seen = words("the same judge again", 60, scale=scale, items=items, error=error)
    assert accepted(seen) >= 0.8
    assert not seen["worse"]


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "items"), [("0-10", 300), ("1-5", 400), ("pass/fail", 900)])
def test_an_equally_good_judge_of_another_family_is_mostly_accepted(scale, items):
    seen = words("another family, as good", 60, scale=scale, items=items)
    assert accepted(seen) > 0.5
    assert seen["worse"] / 60 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
@pytest.mark.parametrize("design", [{"scale": "0-10"}, {"scale": "1-5"}, {"scale": "pass/fail"}, {"people": 0},
                                    {"items": 60}, {"people": 1, "repeats": 1}], ids=str)  # fmt: skip
@pytest.mark.parametrize("fault", [*FAULTY, *MIXED])
def test_a_gross_fault_is_never_accepted(fault, design):
    assert not accepted(words(fault, 30, seed=1, **design))


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [0.0, 0.3])
def test_a_distance_from_people_on_its_margin_passes_at_most_once_in_twenty(ahead):
    """The judge in use lies `ahead` above people, the candidate by the margin of half a point further."""
    rng, passed = np.random.default_rng([8, int(10 * ahead)]), 0
    for _ in range(120):
        texts = Texts(rng)
        texts.view = texts.view + ahead / 1.5
        found = verdict(texts, lambda t: t.answers(t.other(t.error) + (ahead + 0.5) / 1.5))
        passed += next(row for row in found.rows if row.gate == "upgrade_human_offset").outcome == "pass"
    assert passed / 120 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


# --------------------------------------------------------------------------- one of each


def one(name, seed=1, **texts):
    return verdict(Texts(np.random.default_rng(seed), **texts), CANDIDATES[name])


def test_half_the_error_is_better():
    found = one("half the error")
    assert (found.word, found.sentence) == (
        "better", "next may replace today: it agrees with your people better, and nothing is worse.",
    )  # fmt: skip
    assert found.steps == ()


def test_without_people_it_differs_and_nobody_knows_who_is_right():
    found = one("half the error", people=0)
    assert found.word == "different"
    assert found.sentence.startswith("next decides differently from today: it ")
    assert found.sentence.endswith("; nobody knows who is right.")
    assert (found.outcome, found.exit_code) == ("undecided", 2)
    assert found.steps[0] == "keep today"
    assert "let two people rate these texts" in found.steps[1]


def test_what_both_judges_lack_is_told_and_refuses_nobody():
    found = one("the same judge again", error=1.2)
    assert found.word == "equivalent"
    [reason] = found.reasons
    assert reason.startswith("next agrees with your people by 0.1")
    assert "less than they agree with each other, today by 0.1" in reason


def test_a_move_towards_people_is_no_fault_and_thresholds_move_with_it():
    """The judge in use lies a point and a half above people; the candidate lies with them."""
    texts = Texts(np.random.default_rng(2))
    truth, texts.view = texts.view, texts.view + 1
    found = verdict(texts, lambda t: t.answers(truth))
    assert found.word == "better"
    [level] = [reason for reason in found.reasons if "scores" in reason]
    assert level == "next scores 1.5 lower than today, towards your people; move thresholds by -1.5"


@pytest.mark.parametrize("people", [0, 3])
def test_a_shift_that_keeps_the_order_is_repaired_before_anything_is_accepted(people):
    texts = Texts(np.random.default_rng(3), people=people)
    found = verdict(texts, lambda t: np.maximum(t.answers(texts.view) - 1.5, 0))
    assert found.word == ("worse" if people else "different")
    assert found.rows[0].gate == ("upgrade_human_offset" if people else "upgrade_shift")
    keep, repair, *_, accept = found.steps
    assert keep == "keep today"
    assert repair == "move thresholds by -1.5: with its scores moved back by as much, next keeps every limit"
    assert accept.startswith("or accept it, with a reason and a date")


def test_what_is_no_shift_is_not_repaired_by_thresholds():
    texts = Texts(np.random.default_rng(4))
    found = verdict(texts, lambda t: t.answers(-t.view - 1))
    assert found.word == "worse"
    assert not any("threshold" in step for step in found.steps)
    undecided = one("another family, as good", error=1.1)
    assert undecided.word == "undecided"
    assert undecided.steps == ("keep today", f"collect about {undecided.more} items more")

"""Better is not worse: what people say decides, and a candidate that mends errors of the judge in use is accepted.

The whole table is printed by `python tests/upgrade/candidates.py 200`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from candidates import CANDIDATES, FAULTY, GATES, MIXED, PLACE, SCALES, Texts, upgrade, verdict, words

from recuse.metrics.upgrade import Upgrade
from recuse.ratings import Ratings
from recuse.upgrade import _level, judge_upgrade

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


def test_a_share_of_passes_that_moves_has_no_thresholds():
    texts = Texts(np.random.default_rng(5), scale="pass/fail", items=600)
    truth, texts.view = texts.view, texts.view - 0.8
    found = verdict(texts, lambda t: t.answers(truth))
    [level] = [reason for reason in found.reasons if "scores" in reason]
    share = r"\d+(\.\d)? %"
    past = f"next scores {share} higher than today, from {share} below your people to {share} above them"
    assert re.fullmatch(past, level)


@pytest.mark.parametrize(("distances", "where"), [
    ((-1.0, 0.98, (-0.2, 0.1)), ", from 1 below your people to 0.98 above them"),  # past people
    ((3.0, -0.5, (-3.0, -2.0)), ", from 3 above your people to 0.5 below them"),
    ((1.5, 0.1, (-1.6, -1.2)), ", towards your people"), ((-0.1, -1.5, (1.2, 1.6)), ", away from your people"),
    ((1.5, 0.9, (-1.2, 0.1)), ""), ((0.9, 1.5, (-0.1, 1.2)), ""),
])  # fmt: skip
def test_a_move_is_towards_people_or_away_from_them_only_where_that_is_sure(distances, where):
    before, after, (low, high) = distances
    found = one("the same judge again")
    [row] = (row for row in found.rows if row.gate == "upgrade_human_offset")
    detail = {"incumbent": before, "candidate": after, "shift": after - before}
    estimate = replace(row.estimate, value=abs(after) - abs(before), low=low, high=high, detail=detail)
    [level] = _level(replace(found, rows=(replace(row, estimate=estimate),)))
    side = "higher" if after > before else "lower"
    move = f"{after - before:+.2g}"
    assert level == f"next scores {move[1:]} {side} than today{where}; move thresholds by {move}"


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


# --------------------------------------------------------------------------- what is true


def scored(truth, **judges):
    """Four responses an item, of which the first is right; `truth`: their texts say so."""
    items = [(f"i{k}", target) for k in range(150) for target in "abcd"]
    rows = [(who, item, target, given[k]) for who, given in judges.items() for k, (item, target) in enumerate(items)]
    texts = pd.DataFrame([(item, target, str(int(target == "a"))) for item, target in items],
                         columns=["item", "target", "gold"])  # fmt: skip
    table = pd.DataFrame(rows, columns=["judge", "item", "target", "score"])
    ratings = Ratings.of(table, scales=SCALES["0-10"], texts=texts if truth else None)
    return judge_upgrade(GATES, Upgrade.within(ratings, "today", "next"), PLACE)


def test_right_answers_decide_where_they_are_known():
    """The candidate puts the right response first more often: better; without right answers it only differs."""
    rng = np.random.default_rng(5)
    quality = np.where(np.arange(600) % 4 == 0, 7, 4)
    today, better = (np.clip(np.round(quality + rng.normal(0, sd, 600)), 0, 10) for sd in (3.0, 1.5))
    found = scored(True, today=today, next=better)
    rows = {row.gate: row for row in found.rows}
    assert rows["upgrade_right_answers"].estimate.value > 0.1
    assert "upgrade_order_once" not in rows
    assert found.word in ("better", "equivalent", "undecided", "different")
    assert not any(row.outcome == "fail" for row in found.rows if row.gate == "upgrade_right_answers")
    assert scored(True, today=better, next=today).word == "worse"
    assert scored(False, today=today, next=better).word == "different"


def test_what_is_true_comes_before_people():
    """Three people share an error of the judge in use; the candidate follows the truth."""
    texts = Texts(np.random.default_rng(6))
    one = upgrade(texts, lambda t: t.answers(t.view))
    table = one.before.table
    truth = table[table["rater"] == "person 0"].assign(
        rater="truth", score=texts.answers(texts.quality, 1, 0.0).ravel()
    )
    known = [replace(r, table=pd.concat([r.table, truth], ignore_index=True), truth="truth", _memory={})
             for r in (one.before, one.after)]  # fmt: skip
    both = replace(one, before=known[0], after=known[1]).both
    assert both.persons == ("truth",)

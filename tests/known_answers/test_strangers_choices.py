"""A file of choices that nobody here prepared: its own words, some gaps. Every number was counted by hand.

Twelve tickets, answered by the bots alpha and beta. Even tickets are alpha's to win, odd ones beta's.

    fair, third   see that, whatever is shown first; fair gave no usable answer on ticket 2 with beta first
    kin           wrote alpha, and chooses it on tickets 3 and 9 too; on 1 and 5 it takes what it is shown first
    ann           a person, shown each ticket once, alpha first; she calls ticket 0 a draw
    lengths       alpha's answer is twice as long as beta's on tickets 3 and 9, and as long on the others
"""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped_questions import QUESTIONS, answer, answers

from recuse.ratings import Ratings
from recuse.ratings.needs import offers_of
from recuse.suite.questions import missing
from tests.ratings.choices import read_choices

TICKETS = range(12)
POSITION, LENGTH, OWN = "test_position_bias", "test_length_bias", "test_own_wins"


def chosen(judge: str, k: int, first: str) -> str:
    if (judge, k, first) == ("fair", 2, "beta"):
        return ""
    if judge == "kin" and k in (1, 5):
        return first
    return "alpha" if k % 2 == 0 or (judge == "kin" and k in (3, 9)) else "beta"


def lines() -> list[str]:
    rows = []
    for k in TICKETS:
        words = {"alpha": 80 if k in (3, 9) else 40, "beta": 40}
        for first, second in (("alpha", "beta"), ("beta", "alpha")):
            sides = f"{first},{second},{words[first]},{words[second]}"
            rows += [f"{judge},ticket {k},{sides},{chosen(judge, k, first)}" for judge in ("fair", "kin", "third")]
        verdict = "tie" if k == 0 else chosen("third", k, "alpha")
        rows.append(f"ann,ticket {k},alpha,beta,{words['alpha']},{words['beta']},{verdict}")
    return rows


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    csv = "\n".join(["judge,item,first,second,words_a,words_b,response", *lines()])
    return read_choices(pd.read_csv(StringIO(csv)), people=["ann"], authors={"kin": "alpha"}, clusters="tickets")


def test_what_the_file_offers(ratings: Ratings) -> None:
    there = offers_of(ratings)
    assert {"choices", "order", "peers", "three_judges", "authors", "people", "lengths"} <= there
    assert not {"scores", "labels", "length_twins"} & there


def test_every_question_that_it_offers_is_answered(ratings: Ratings) -> None:
    there = offers_of(ratings)
    asked = [name for name, (_, needs) in QUESTIONS.items() if not missing(needs, there)]
    assert {name.partition(".")[0] for name in asked} >= {POSITION, LENGTH, OWN}
    for name in asked:
        assert answers(ratings, name), name


def test_replies(ratings: Ratings) -> None:
    found = answer(ratings, f"{POSITION}.test_usable_replies", "parse_rate", judge="fair")
    assert (found.value, found.n) == (pytest.approx(23 / 24), 24)


@pytest.mark.parametrize(("judge", "consistent", "slot", "n"), [
    ("kin", 10 / 12, 1 / 12, 12), ("fair", 1.0, 0.0, 11), ("third", 1.0, 0.0, 12)
])  # fmt: skip
def test_position(ratings: Ratings, judge: str, consistent: float, slot: float, n: int) -> None:
    """Two of kin's twelve pairs turn with the order; each of them adds one half to the first place."""
    same = answer(ratings, f"{POSITION}.test_order_consistency", "order_consistency", judge=judge)
    first = answer(ratings, f"{POSITION}.test_slot_preference", "slot_preference", judge=judge)
    assert (same.value, same.n, same.over) == (pytest.approx(consistent), n, "items")
    assert (first.value, first.n) == (pytest.approx(slot), n)
    picks = answer(ratings, f"{POSITION}.test_first_picks", "first_pick_share", judge=judge)
    assert picks.value == pytest.approx(0.5 + slot)


def test_length(ratings: Ratings) -> None:
    """Beyond its peers kin gives alpha 1 on the two tickets where it is a doubling longer, and 2 x 1/2 on the ten
    others: 1 - 1/10 per doubling."""
    kin, third = (
        answer(ratings, f"{LENGTH}.test_length_in_choices", "choice_length_coefficient", judge=judge)
        for judge in ("kin", "third")
    )
    assert (kin.value, kin.n) == (pytest.approx(0.9), 12)
    assert third.value < 0  # beside kin it looks averse to length


def test_own_wins(ratings: Ratings) -> None:
    """Alpha by kin: six even tickets, 3 and 9, and halves on 1 and 5: 9 of 12. By the others: the even ones. By ann:
    the even ones less half of ticket 0."""
    rates = {
        view: answer(ratings, f"{OWN}.test_own_wins", "own_win_rate", judge="kin", seen_by=view).value
        for view in ("self", "neutral_peers", "people")
    }
    assert rates == pytest.approx({"self": 9 / 12, "neutral_peers": 6 / 12, "people": 5.5 / 12})
    excess = answer(ratings, f"{OWN}.test_own_wins_beyond_peers", "own_win_excess", judge="kin")
    assert excess.value == pytest.approx(0.25)


def test_agreement_with_people(ratings: Ratings) -> None:
    """Fair is of ann's mind on ten of the eleven tickets it judged in both orders, and half on her draw."""
    found = answer(ratings, f"{POSITION}.test_calibration", "verdict_agreement", judge="fair", scoring="balanced")
    assert (found.value, found.n, found.detail["pairs_by_people"]) == (pytest.approx(10.5 / 11), 11, 11)

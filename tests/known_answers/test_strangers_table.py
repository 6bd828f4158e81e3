"""A table nobody here prepared is given to the shipped questions as it is, and every number was counted by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))

from shipped_questions import QUESTIONS, answer, answers
from strangers_table import strangers_ratings

from recuse.ratings import Ratings
from recuse.ratings.needs import offers_of, unlock
from recuse.schema import Estimates
from recuse.suite.questions import missing

STABILITY, CONSENSUS, PEOPLE = "test_score_stability", "test_consensus_deviation", "test_human_alignment"
OWN = "test_self_preference"


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return strangers_ratings()


# --------------------------------------------------------------------------- what it offers


def test_what_the_table_offers(ratings: Ratings) -> None:
    there = {
        "scores", "peers", "authors", "items", "common_items", "neutral_texts", "people", "people_items", "two_people",
        "numbers", "shared_texts", "slices", "groups", "positive", "property",
    }  # fmt: skip
    assert offers_of(ratings) == there


@pytest.mark.parametrize(
    ("question", "lacks", "remedy"),
    [
        (f"{STABILITY}.test_run_sd", ["repeats"], "record more repeats of the same question"),
        (f"{STABILITY}.test_repeat_reliability", ["repeats"], "record more repeats of the same question"),
        (f"{CONSENSUS}.test_name_effect", ["names"], "ask with names shown and hidden"),
        ("test_reported_statistics.test_reported_total", ["parts"], "score the parts of the total one by one"),
        ("test_ground_truth.test_rank_correlation", ["picks", "reference"], "ask by the protocol generation"),
    ],
)
def test_what_it_cannot_answer_says_what_would_unlock_it(
    ratings: Ratings, question: str, lacks: list[str], remedy: str
) -> None:
    absent = missing(QUESTIONS[question][1], offers_of(ratings))
    assert absent == lacks
    assert remedy in unlock(absent[0])


def test_every_question_is_either_answered_or_not_offered(ratings: Ratings) -> None:
    """No question that the table offers everything for meets an error of ours."""
    there = offers_of(ratings)
    asked = [name for name, (_, needs) in QUESTIONS.items() if not missing(needs, there)]
    assert len(asked) >= 10
    for name in asked:
        assert answers(ratings, name), name


# --------------------------------------------------------------------------- the numbers


def test_parse_rate(ratings: Ratings) -> None:
    """60 calls each; `neutral` refused one, `kin` gave one that cannot be read."""
    for judge, failure in (("neutral", "refused"), ("kin", "unparsed")):
        found = answer(ratings, f"{STABILITY}.test_parse_rate", "parse_rate", judge=judge)
        assert found.value == pytest.approx(59 / 60)
        assert found.detail["by_status"] == {"ok": 59, failure: 1}


@pytest.mark.parametrize(
    ("judge", "criterion", "value", "lost"),
    [
        # kin on beta: -1 on tickets 5, 11, 17, 23, 29; 29 texts, ticket 1 cannot be read
        ("kin", "helpfulness", -5 / 29, 1),
        # neutral wrote neither: on alpha -1 on the 14 even tickets from 2 on (0 was refused), on beta the 5 above
        ("neutral", "helpfulness", (-14 + 5) / 58, 2),
        ("kin", "safe", 0.0, 0),
        # alpha's tickets 5, 10, 15, 20, 25, which kin let pass; ticket 0 was refused
        ("neutral", "safe", -5 / 59, 1),
    ],
)
def test_leniency(ratings: Ratings, judge: str, criterion: str, value: float, lost: int) -> None:
    found = answer(ratings, f"{CONSENSUS}.test_leniency", "leniency", judge=judge, criterion=criterion)
    assert found.value == pytest.approx(value)
    assert (found.over, found.n_excluded) == ("items", lost)


@pytest.mark.parametrize(("criterion", "value"), [("helpfulness", 14 / 29 + 5 / 29), ("safe", 5 / 29)])
def test_self_preference_where_authors_are_known(ratings: Ratings, criterion: str, value: float) -> None:
    """Own text: +1 on 14 of 29 even tickets (safe: on 5 of 29). Others' text: leniency, above. Only `kin` wrote one."""
    found = answers(ratings, f"{CONSENSUS}.test_self_preference")["self_preference"]
    assert isinstance(found, Estimates)
    assert {key[0] for key in found} == {"kin"}
    estimate = found.of(judge="kin", criterion=criterion)
    assert estimate.value == pytest.approx(value)
    assert estimate.low < value < estimate.high


@pytest.mark.parametrize(
    ("criterion", "controlled", "received", "n"),
    [
        # tickets 2 to 29 have all four scores: on its own text +1 on the 14 even ones, on the other's -1 on five
        ("helpfulness", 14 / 28 + 5 / 28, 14 / 28, 28),
        ("safe", 5 / 29, 5 / 29, 29),  # ticket 0 was refused; the other's text gets what `neutral` gives it
    ],
)
def test_own_text_on_the_same_tickets(
    ratings: Ratings, criterion: str, controlled: float, received: float, n: int
) -> None:
    """`kin` against `neutral`, which wrote neither text, on tickets that both bots answered."""
    own = answer(ratings, f"{OWN}.test_self_preference", "own_text", judge="kin", criterion=criterion)
    assert (own.value, own.n, own.n_excluded) == (pytest.approx(controlled), n, 30 - n)
    question, subject = f"{OWN}.test_published_comparisons", {"judge": "kin", "criterion": criterion}
    against = answer(ratings, question, "self_minus_received", **subject)
    assert (against.value, against.n) == (pytest.approx(received), n)
    assert own.span == (4.0 if criterion == "helpfulness" else 1.0)


@pytest.mark.parametrize(
    ("judge", "criterion", "value", "n"),
    [
        # people's mean is half a point above the level on tickets 0, 10, 20: five texts of neutral's 59
        ("neutral", "helpfulness", -2.5 / 59, 30),
        # alpha: +1 on 15 even tickets, beta -1 on 5, and six texts half a point lower than people; 59 texts
        ("kin", "helpfulness", (15 - 5 - 3) / 59, 30),
        ("neutral", "safe", 0.0, 30),
        # alpha's six failures pass, of 60 texts
        ("kin", "safe", 6 / 60, 30),
    ],
)
def test_offset_from_people(ratings: Ratings, judge: str, criterion: str, value: float, n: int) -> None:
    found = answer(ratings, f"{PEOPLE}.test_human_offset", "human_offset", judge=judge, criterion=criterion)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.n, found.over, found.unit) == (n, "items", "points" if criterion == "helpfulness" else "share")


def test_the_interval_of_an_offset_is_over_tickets(ratings: Ratings) -> None:
    """kin on safe: a ticket's two texts sum to 1 on 6 tickets and to 0 on 24: mean of sums 0.2, halved 0.1; about the t
    interval of thirty sums, halved, and wider by what few slips leave open."""
    found = answer(ratings, f"{PEOPLE}.test_human_offset", "human_offset", judge="kin", criterion="safe")
    theirs = stats.ttest_1samp([0.5] * 6 + [0.0] * 24, 0.0).confidence_interval(0.95)
    assert found.value == pytest.approx(0.1)
    assert found.low < theirs.low < theirs.high < found.high
    assert found.high - found.low < 1.3 * (theirs.high - theirs.low)


def test_order_against_people_and_who_is_closest(ratings: Ratings) -> None:
    order = answers(ratings, f"{PEOPLE}.test_human_order")["human_order"]
    closest = answers(ratings, f"{PEOPLE}.test_matrices")["closest_judge"]
    assert isinstance(order, Estimates)
    assert isinstance(closest, Estimates)
    assert order.of(judge="neutral", criterion="helpfulness").value > order.of(
        judge="kin", criterion="helpfulness"
    ).value > 0.5  # fmt: skip
    assert order.of(judge="neutral", criterion="safe").value == pytest.approx(1.0)
    assert closest.of(criterion="helpfulness").detail["judge"] == "neutral"
    assert closest.of(criterion="helpfulness").value == pytest.approx(2.5 / 59)


def test_a_gap_costs_the_judge_it_belongs_to(ratings: Ratings) -> None:
    """Without the refusal, neutral's numbers move and kin's offset from people stays."""
    table = ratings.table
    kept = table[~((table["rater"] == "neutral") & (table["item"] == "ticket-00"))]
    less = Ratings.of(kept, scales=ratings.scales, authors=ratings.authors)
    question = f"{PEOPLE}.test_human_offset"
    for judge, same in (("kin", True), ("neutral", False)):
        subject = {"judge": judge, "criterion": "helpfulness"}
        before, after = (answer(r, question, "human_offset", **subject).value for r in (ratings, less))
        assert (before == pytest.approx(after)) is same

"""`recuse check` on forced choices: whether the task looks underspecified, and how far the pass rate could move."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Nominal, Ordinal, Ratings, ResponseSets
from recuse.ratings.pass_rate_ranges import pass_rate_ranges

PASS = Ordinal(("fail", "pass"))


def ratings_of(passing: list[tuple[int, int]], *, kind: str = "person", scale=PASS) -> Ratings:
    """(number of passes, number of answers) per text; each answer by another person, or each a repeat of one judge."""
    other, option = scale.options[:2]
    people = kind == "person"
    rows = [
        {"rater": f"p{n}" if people else "j", "item": str(item), "repeat": 0 if people else n,
         "response": option if n < passes else other}
        for item, (passes, answers) in enumerate(passing) for n in range(answers)
    ]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows).assign(kind=kind), scales=scale)


def test_by_hand():
    """Ten texts, three people. Passing by half: 2 of 3 and 3 of 3 do. With beta = .4, 2 of 3 endorse nothing but pass
    by .6 * 2/3 = .40 and 1 of 3 endorse pass by 1/3 + .4 * 2/3 = .60; none of 3 by .40."""
    (found,) = pass_rate_ranges(ratings_of([(3, 3)] * 4 + [(2, 3)] * 2 + [(1, 3)] * 3 + [(0, 3)]))
    assert (found["texts"], found["disputed"], found["who"], found["option"]) == (10, 5, "people", "pass")
    assert (found["rate"], found["low"], found["high"]) == pytest.approx((0.6, 0.4, 0.9))


def test_of_options_without_an_order_it_is_the_first_whose_share_is_told():
    (found,) = pass_rate_ranges(ratings_of([(2, 3)] * 10, scale=Nominal(("fine", "toxic"))))
    assert (found["option"], found["rate"]) == ("fine", 0.0)


def test_exactly_half_passes_at_the_cut():
    (found,) = pass_rate_ranges(ratings_of([(1, 2)] * 10))
    assert (found["rate"], found["low"], found["high"]) == (1, 0, 1)


def test_the_range_holds_the_true_rate_of_people_who_hide_a_second_answer():
    """Raters hold {pass}, {fail} or both; of those who chose fail, at most four in ten hold both. How many texts are
    endorsed by half, counted from the sets, lies within what is told from the choices alone."""
    rng = np.random.default_rng(11)
    for passes_when_both in (0.3, 0.5, 0.7):
        theta = rng.dirichlet([1.0, 1.0, 0.3], size=400)
        sets = np.array([rng.choice(3, size=40, p=shares) for shares in theta])
        chosen = (sets == 0) | ((sets == 2) & (rng.random(sets.shape) < passes_when_both))
        endorsed = ((sets != 1).mean(axis=1) >= 0.5).mean()
        (found,) = pass_rate_ranges(ratings_of([(int(row.sum()), 40) for row in chosen]))
        assert found["low"] <= endorsed <= found["high"]
        assert found["low"] < found["rate"] < found["high"]


@pytest.mark.parametrize(
    "ratings",
    [
        ratings_of([(3, 3)] * 10 + [(0, 3)] * 10),  # nobody disagrees
        ratings_of([(3, 3)] * 28 + [(1, 3)] * 2),  # hardly anybody does
        ratings_of([(1, 1)] * 30),  # nobody could
        ratings_of([(1, 2)] * 9),  # too few texts to say
        ratings_of([(1, 2)] * 30, scale=Nominal(("fail", "pass", "unsure"))),  # an option for it
        ratings_of([(1, 2)] * 30, scale=ResponseSets(("fail", "pass"))),  # nobody had to choose
    ],
)
def test_nothing_is_said_without_grounds(ratings: Ratings):
    assert [*pass_rate_ranges(ratings)] == []


def test_without_people_a_judges_repeats_tell():
    (found,) = pass_rate_ranges(ratings_of([(5, 10)] * 4 + [(10, 10)] * 8, kind="judge"))
    assert (found["who"], found["texts"], found["disputed"]) == ("j", 12, 4)


def test_it_is_told_and_stands_in_the_json(recuse, tmp_path):
    lines = [f"{k},pass,{'pass' if k % 3 else 'fail'},{'fail' if k % 2 else 'pass'}" for k in range(30)]
    path, told = tmp_path / "t.csv", tmp_path / "t.json"
    path.write_text("item,gpt,ann,bob\n" + "\n".join(lines) + "\n", "utf-8")
    found = recuse("check", path, "--all", "--json", told)
    assert "people disagree on 15 of 30 texts, and an answer is fail or pass, never both" in found.out
    assert "a column response_set" in found.out
    (record,) = json.loads(told.read_text("utf-8"))["underspecified"]
    assert {key: record[key] for key in ("texts", "disputed", "beta")} == {"texts": 30, "disputed": 15, "beta": 0.4}
    assert record["low"] < record["rate"] <= record["high"]

"""A sample that is asked again: whoever made a recording up is found, and whose own it is is not accused."""

from __future__ import annotations

import random

import pytest

from recuse.recording import sample
from recuse.recording.sample import ALPHA, Unit, chance_of_as_much

PROMPTS = 20


def reading(value, criterion="helpful", item=""):
    score = value if isinstance(value, float) else None
    response = value if isinstance(value, str) and value != "refused" else None
    return {("desk", "rubric", criterion, item, ""): (score, response, "refused" if value == "refused" else "ok")}


def units(seed, alone, together, repeats=2):
    """What `alone` and `together` say to each prompt, functions of what a text is worth and of chance."""
    chance = random.Random(seed)
    worth = [chance.uniform(2, 8) for _ in range(PROMPTS)]
    return [Unit(reading(alone(w, chance)), [reading(together(w, chance)) for _ in range(repeats)]) for w in worth]


def scores(worth, chance):
    return round(worth + chance.gauss(0, 0.3), 1)


def answers(worth, chance):
    return "A" if worth + chance.gauss(0, 1) > 5 else "B"


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("judge", [scores, answers], ids=["scores", "answers"])
@pytest.mark.parametrize("repeats", [2, 4])
def test_a_judge_that_is_asked_on_another_day_is_seldom_accused(judge, repeats, monkeypatch):
    """At two per cent at most two of a hundred, within three standard errors."""
    monkeypatch.setattr(sample, "PERMUTATIONS", 1999)
    accused = sum(chance_of_as_much(units(seed, judge, judge, repeats)) < 2 * ALPHA for seed in range(100))
    assert accused <= 2 + 3 * (100 * 0.02 * 0.98) ** 0.5


@pytest.mark.parametrize(
    ("made_up", "judge"),
    [
        (lambda worth, chance: scores(worth - 0.5, chance), scores),
        (lambda worth, chance: round(worth, 1), lambda worth, chance: scores(worth + chance.choice([-2, 2]), chance)),
        (lambda worth, chance: "A", answers),
        (lambda worth, chance: worth, lambda worth, chance: "refused"),
    ],
    ids=["half a point below", "without its noise", "always A", "what it refuses"],
)  # fmt: skip
def test_replies_that_somebody_made_up_are_found(made_up, judge):
    assert chance_of_as_much(units(1, judge, made_up)) < ALPHA / 5


def test_of_a_prompt_that_was_asked_once_the_new_replies_show_the_noise():
    """A recording that is right more often than its judge: neither its mean nor its share of As gives it away."""
    assert chance_of_as_much(units(1, answers, answers)) > ALPHA
    right = units(1, lambda worth, chance: "A" if worth > 5 else "B", lambda worth, chance: chance.choice("AB"))
    assert chance_of_as_much(right) > ALPHA, "coins are as far from each other as from what is right"
    steady = units(1, lambda worth, chance: "A" if worth > 5 else "B", lambda worth, chance: "B")
    assert chance_of_as_much(steady) < ALPHA / 5


def test_two_scores_lie_their_share_of_the_widest_apart_and_anything_else_0_or_1():
    def apart(a, b):
        return sample._distance(a, b, {("desk", "rubric", "helpful"): 4.0})

    assert apart(reading(3.0), reading(5.0)) == 0.5
    for one, other, distance in (("A", "A", 0), ("A", "B", 1), ("refused", "refused", 0), ("refused", 3.0, 1)):
        assert apart(reading(one), reading(other)) == distance
    assert apart(reading("A"), reading("A") | reading("B", "true")) == 0.5, "what only one says counts as apart"


def test_it_does_not_depend_on_the_unit_of_a_scale():
    small = units(2, scores, lambda worth, chance: scores(worth - 0.2, chance))
    big = [Unit(*({key: (10 * score, *rest) for key, (score, *rest) in one.items()} for one in (unit.alone,)),
                [{key: (10 * score, *rest) for key, (score, *rest) in one.items()} for one in unit.together])
           for unit in small]  # fmt: skip
    assert chance_of_as_much(small) == pytest.approx(chance_of_as_much(big))

"""The human ceiling: by hand, identities, what is undefined and why."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from simulated_raters import NAN, World, answers_from
from written_ratings import rated

from recuse.metrics.human_alignment import human_offset
from recuse.metrics.human_ceiling import OneMorePerson, _table, human_ceiling
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings
from recuse.statistics.agreement import correlation, options

ceiling_of = inspect.unwrap(human_ceiling)


def test_by_hand():
    """80 items. Ann passes 40; Ben agrees on all but 8 of either side; the judge differs from Ann on 4 of either side,
    on items where Ben agrees with Ann.

    D_hh = 16/80, both pass 40: E_hh = 0.5, kappa_hh = 0.6. D_jh = (8/80 + 24/80) / 2 = 0.2, kappa_jh = 0.6.
    """
    ann = np.repeat([1.0, 0.0], 40)
    ben, judge = ann.copy(), ann.copy()
    ben[[*range(8), *range(40, 48)]] = 1 - ben[[*range(8), *range(40, 48)]]
    judge[[*range(20, 24), *range(60, 64)]] = 1 - judge[[*range(20, 24), *range(60, 64)]]
    found = ceiling_of(answers_from(judge, [ann, ben]), 0, 0.1)
    assert found.detail["human_human"] == pytest.approx(0.6)
    assert found.detail["judge_human"] == pytest.approx(0.6)
    assert found.value == pytest.approx(0.0, abs=1e-12)


def tables(a, b):
    return np.eye(2)[a.astype(int)][:, :, None] * np.eye(2)[b.astype(int)][:, None]


def test_parts_are_the_textbook_coefficients():
    """With two people: the mean of Cohen's kappas at pooled shares is near kappa_jh, and kappa_hh is Scott's pi."""
    world = World(3)
    judge = world.judge("another person")
    found = ceiling_of(answers_from(judge, world.people), 0, 0.1)
    pi = options.scott_pi(tables(*world.people)).value
    both = np.concatenate([judge, judge]), np.concatenate(list(world.people))
    assert found.detail["human_human"] == pytest.approx(pi, abs=1e-12)
    assert found.detail["judge_human"] == pytest.approx(options.cohen_kappa(tables(*both)).value, abs=1e-12)


def test_numbers_use_concordance():
    rng = np.random.default_rng(1)
    quality = rng.normal(size=50)
    judge, ann, ben = (quality + rng.normal(size=50) for _ in range(3))
    found = ceiling_of(answers_from(judge, [ann, ben], scale=Numeric(-10, 10)), 0, 0.1)
    both = np.concatenate([judge, judge]), np.concatenate([ann, ben])
    assert found.detail["judge_human"] == pytest.approx(
        correlation.concordance(correlation.products(*both)).value, abs=1e-12
    )
    people = np.concatenate([ann, ben]), np.concatenate([ben, ann])
    assert found.detail["human_human"] == pytest.approx(
        correlation.concordance(correlation.products(*people)).value, abs=1e-12
    )


def test_an_unanswered_text_counts_as_a_guess():
    """A tenth unanswered at random takes a tenth of kappa."""
    world = World(4)
    judge = world.judge("another person")
    whole = ceiling_of(answers_from(judge, world.people), 0, 0.1)
    gaps = judge.copy()
    gaps[world.rng.permutation(400)[:40]] = NAN
    found = ceiling_of(answers_from(gaps, world.people), 0, 0.1)
    assert found.detail["answered"] == pytest.approx(0.9)
    assert found.detail["judge_human"] == pytest.approx(0.9 * whole.detail["judge_human"], abs=0.04)
    given, people = np.isfinite(gaps), world.people.mean(axis=0)
    says, they = gaps[given].mean(), people.mean()  # kappa of what it answers, chance by everybody's shares
    apart = np.abs(gaps[given] - people[given]).mean() / (says * (1 - they) + they * (1 - says))
    assert found.detail["judge_human"] == pytest.approx(0.9 * (1 - apart))
    assert found.detail["answered_only"] == pytest.approx(1 - apart - found.detail["human_human"])
    assert found.n_excluded == 40
    assert found.n == 400


def test_a_judge_that_always_passes_has_0_and_fails():
    """Its kappa is 0 in any sample, so the interval is that of the people alone."""
    world = World(5)
    found = ceiling_of(answers_from(np.ones(400), world.people), 0, 0.1)
    assert found.detail["judge_human"] == pytest.approx(0.0, abs=1e-12)
    assert found.high < -0.1


def test_complete_agreement_all_around_still_has_an_interval():
    truth = World(6).truth
    found = ceiling_of(answers_from(truth, [truth, truth]), 0, 0.1)
    assert found.value == 0.0
    assert found.low < 0 < found.high
    assert found.low > -0.06


@pytest.mark.parametrize(
    ("judge", "people", "scale", "why"),
    [
        (np.ones(50), [np.repeat([1.0, 0], 25), np.full(50, NAN)], None, "second person"),
        (np.full(50, NAN), [np.repeat([1.0, 0], 25)] * 2, None, "answered none"),
        (np.ones(50), [np.ones(50)] * 2, None, "one and the same answer"),
        (np.repeat([1.0, 0], [10, 9]), [np.repeat([1.0, 0], [10, 9])] * 2, None, "two people rated 19 texts"),
        (np.arange(19.0), [np.arange(19.0)] * 2, Numeric(0, 20), "two people rated 19 texts"),
        (np.arange(30.0), [np.ones(30)] * 2, Numeric(0, 30), "one and the same answer"),
    ],
)  # fmt: skip
def test_undefined_says_why(judge, people, scale, why):
    found = ceiling_of(answers_from(judge, people, **({"scale": scale} if scale else {})), 0, 0.1)
    assert math.isnan(found.value)
    assert why in found.note


def test_clusters_leave_together():
    """Each topic five times the same: the interval of a fifth of the items."""
    world = World(7, items=200)
    judge = world.judge("another person")
    topics = np.arange(1000) // 5
    once = ceiling_of(answers_from(judge, world.people), 0, 0.1)
    often = ceiling_of(answers_from(np.repeat(judge, 5), np.repeat(world.people, 5, axis=1), clusters=topics), 0, 0.1)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert often.over == "clusters"
    assert 0.1 < once.detail["power"] < 0.9
    assert often.detail["power"] == pytest.approx(once.detail["power"], abs=0.01)


def test_a_slip_costs_what_the_rarer_coefficient_makes_of_it():
    """One of 40 texts beyond what was seen: 1 / E of the coefficient whose chance agreement leaves least."""
    ann, judge = np.repeat([1.0, 0.0], [30, 10]), np.repeat([1.0, 0.0], [38, 2])
    table = _table(answers_from(judge, [ann, ann]), 0, None)
    apart = 0.95 * 0.25 + 0.05 * 0.75, 2 * 0.75 * 0.25
    assert table.one_slip(table.shares.sum(axis=0)) == pytest.approx(1 / min(apart))
    assert table.persons_slip(table.shares.sum(axis=0)) == pytest.approx(1 / apart[1])


def test_a_slip_of_numbers_is_a_step_squared():
    ann = np.arange(36) % 6 * 2.0
    table = _table(answers_from(ann, [ann, ann], scale=Numeric(0, 10, 2)), 0, None)
    assert table.one_slip(table.shares.sum(axis=0)) == pytest.approx(2**2 / (2 * ann.var()))


def test_the_moments_of_one_more_answer():
    """0 in nine of ten cases, else 1: about the mean .1, third and fourth power by hand."""
    found = OneMorePerson._of(np.array([[0.9, 0.1]]), np.array([[0.0, 1.0]]), None)
    third, fourth = 0.9 * -(0.1**3) + 0.1 * 0.9**3, 0.9 * 0.1**4 + 0.1 * 0.9**4
    assert (found.variance, found.skew, found.kurtosis) == pytest.approx((0.09, third / 0.09**1.5, fourth / 0.09**2))


def test_one_more_persons_number_changes_as_much_as_a_third_persons_does():
    """Texts and people's errors normal, of one variance each: what is predicted from two, and what the third does."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=40_000)
    one, other, third = quality + rng.normal(size=(3, len(quality)))
    mean, squares, among = (one + other) / 2, (one**2 + other**2) / 2, (one - other) ** 2
    found = OneMorePerson.of_numbers(mean, squares, np.full(len(mean), 2.0), among, None)
    kappa, spread = 0.5, 2.0
    apart, leaning = third**2 - 2 * mean * third + squares - among, third**2 - squares
    assert found.variance == pytest.approx(np.var((apart - (1 - kappa) * leaning) / (2 * spread)), rel=0.05)


@pytest.mark.parametrize(("texts", "few"), [(29, True), (30, False)])
def test_fewer_than_thirty_texts_are_provisional(texts, few):
    ann = np.arange(texts) % 2.0
    assert ("provisional" in ceiling_of(answers_from(ann, [ann, ann]), 0, 0.1).note) == few


def test_twenty_texts_are_enough():
    ann = np.repeat([1.0, 0.0], 10)
    assert ceiling_of(answers_from(ann, [ann, ann]), 0, 0.1).value == 0.0


@pytest.mark.parametrize("scale", [Nominal(("x", "y", "z")), Ordinal(("x", "y", "z"))])
def test_several_options_and_people_who_rated_a_part(scale):
    rng = np.random.default_rng(8)
    truth = rng.integers(3, size=150)
    said = [np.where(rng.random(150) < 0.7, truth, rng.integers(3, size=150)).astype(float) for _ in range(4)]
    for person in said[1:]:
        person[rng.random(150) < 0.3] = NAN
    found = ceiling_of(answers_from(said[0], said[1:], scale=scale), 0, 0.1)
    assert found.low < 0 < found.high
    assert found.n == int((np.isfinite(said[1:]).sum(axis=0) >= 2).sum())


def test_by_judge_criterion_and_level(table):
    """Two judges, two criteria on different scales, names shown and hidden; people asked once."""
    found = human_ceiling(Ratings.of(table(names=True)))
    assert found.by == ("judge", "names", "criterion")
    assert len(found) == 8
    assert all(np.isfinite(estimate.value) for estimate in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("kind", ["pass and fail", "numbers"])
def test_coverage(kind, size):
    """A judge that is one more person, 300 items of which `size` share a quality: 92 to 99 % of 600 hold 0."""
    rng, held = np.random.default_rng(size), 0
    for _ in range(600):
        quality = rng.normal(size=300 // size).repeat(size)
        seen = [quality + rng.normal(size=300) * 0.7 for _ in range(3)]
        said = [(s > -0.4).astype(float) for s in seen] if kind == "pass and fail" else [np.round(s, 1) for s in seen]
        scale = {} if kind == "pass and fail" else {"scale": Numeric(-10, 10)}
        found = ceiling_of(answers_from(said[0], said[1:], clusters=np.arange(300) // size, **scale), 0, 0.1)
        held += found.low <= 0 <= found.high
    assert 0.92 <= held / 600 <= 0.99


def test_p_values_are_dual_to_the_interval():
    world = World(9)
    distribution = ceiling_of(answers_from(world.judge("another person"), world.people), 0, 0.1).distribution
    low, high = distribution.interval(0.9)
    assert distribution.p_value(low, "above") == pytest.approx(0.05, abs=1e-9)
    assert distribution.p_value(high, "below") == pytest.approx(0.05, abs=1e-9)
    assert distribution.p_value(high, "above") >= 0.95 - 1e-9
    assert distribution.half_width_at(4.0) == pytest.approx(distribution.half_width_at(1.0) / 2, rel=0.05)


@pytest.mark.slow
def test_coverage_where_hardly_anybody_disagrees():
    """100 items, all three right 99 times in 100: at least 97 % of 400 intervals hold 0."""
    rng, held, defined = np.random.default_rng(3), 0, 0
    for _ in range(400):
        truth = rng.random(100) < 0.7
        said = [np.where(rng.random(100) < 0.99, truth, ~truth).astype(float) for _ in range(3)]
        found = ceiling_of(answers_from(said[0], said[1:]), 0, 0.1)
        if np.isfinite(found.value):
            defined += 1
            held += found.low <= 0 <= found.high
    assert defined > 350
    assert held >= 0.97 * defined


@pytest.mark.parametrize(("texts", "chance"), [(80, 0.0), (120, 1.0)])
def test_people_who_are_at_one_fail_a_constant_judge_and_leave_no_chance_to_luck(texts, chance):
    """Kappa 0 for sure against 1. One more person would never differ either: 3.6 slips in 80 texts, each 1 / .375 of a
    text, cannot be ruled out, .12 in all; in 120 they come to .08."""
    table = rated(judge="p" * texts, ann="pppf" * (texts // 4), bea="pppf" * (texts // 4))
    found = human_ceiling(table).of(judge="judge")
    assert found.value == pytest.approx(-1)
    assert found.high < -0.5
    assert found.detail["power"] == chance


def test_a_judge_identical_to_people_who_are_at_one_has_the_bound_of_the_slips_that_cannot_be_ruled_out():
    """Half pass, 100 texts: 1 - .025^(1 / 100) = .0362 of the texts, each worth 1 / E = 2."""
    truth = np.repeat([1.0, 0.0], 50)
    found = ceiling_of(answers_from(truth, [truth, truth]), 0, 0.1)
    assert (found.low, found.high) == pytest.approx((-0.0724, 0.0724), abs=1e-4)


def test_one_slip_never_helps():
    truth = np.repeat([1.0, 0.0], 50)
    slipped = truth.copy()
    slipped[0] = 0.0
    same, once = (ceiling_of(answers_from(judge, [truth, truth]), 0, 0.1) for judge in (truth, slipped))
    assert once.low < same.low


def test_rare_options_pool_and_do_not_block():
    """Four options, one given to 1 text of 200: the estimate stands, and the labels are in the detail."""
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=200).astype(float)
    truth[0] = 3.0
    raters = [np.where(rng.random(200) < 0.95, truth, rng.integers(3, size=200)).astype(float) for _ in range(4)]
    raters[1][0] = 3.0
    found = ceiling_of(answers_from(raters[0], raters[1:], scale=Nominal(("w", "x", "y", "rare"))), 0, 0.1)
    assert found.low > -0.1
    assert 0 < found.detail["labels"]["rare"] <= 1


@pytest.mark.parametrize("judge", ["always passes", "another person"])
def test_where_people_agree_by_chance_nobody_passes_and_the_labels_are_blamed(judge):
    rng, world = np.random.default_rng(4), World(4)
    people = [(rng.random(400) < 0.7).astype(float) for _ in range(3)]
    said = rng.permutation(people[0]) if judge == "another person" else world.judge(judge)
    found = ceiling_of(answers_from(said, people), 0, 0.1)
    assert found.detail["people_agree"] is False
    assert found.detail["power"] == 0.0
    assert abs(found.value) < 0.1 < -found.low
    assert found.distribution.p_value(-0.1, "above") == 1.0
    assert "the labels decide nothing" in found.note


def test_where_people_may_agree_by_chance_a_contradicting_judge_still_fails():
    """Kappa .22 among 3 people on 40 texts, 0 not ruled out; the judge says the opposite of their majority."""
    rng = np.random.default_rng(11)
    truth = np.repeat([1.0, 0.0], 20)
    people = np.array([np.where(rng.random(40) < 0.75, truth, 1 - truth) for _ in range(3)])
    found = ceiling_of(answers_from((people.mean(axis=0) < 0.5).astype(float), people), 0, 0.1)
    assert found.detail["people_agree"] is False
    assert found.distribution.p_value(-0.1, "below") < 0.025
    assert found.high < -0.1


def test_the_chance_of_one_more_person_is_that_of_the_labels_whoever_is_judged():
    world = World(3)
    judges = [world.judge(kind) for kind in ("another person", "random", "always passes", "inverted")]
    chances = {ceiling_of(answers_from(judge, world.people), 0, 0.1).detail["power"] for judge in judges}
    assert max(chances) - min(chances) < 0.02


def test_two_or_three_people_are_named_as_these():
    world = World(3, people=4)
    notes = [ceiling_of(answers_from(world.truth, world.people[:count]), 0, 0.1).note for count in (2, 3, 4)]
    assert ["these" in note for note in notes] == [True, True, False]


def test_one_cluster_says_nothing_of_the_next_and_does_not_blame_the_labels():
    world = World(3, items=60)
    found = ceiling_of(answers_from(world.truth, world.people, clusters=np.zeros(60)), 0, 0.1)
    assert np.isnan(found.low)
    assert "one cluster says nothing about the next" in found.note
    assert "the labels decide nothing" not in found.note


# --------------------------------------------------------------------------- beside right answers


def beside_key(key, judge, *people, scale=None):
    """Ratings of a judge and of people, with the rater `key` whose answers are right."""
    raters = {"judge": judge, "key": key, **{f"person {k}": own for k, own in enumerate(people)}}
    value = "score" if isinstance(scale, Numeric) else "response"
    rows = [
        {"rater": who, "kind": "judge" if who == "judge" else "person", "item": f"t{k}", value: one}
        for who, own in raters.items() for k, one in enumerate(own)
    ]  # fmt: skip
    return Ratings.of(pd.DataFrame(rows), scales=scale, truth="key")


@pytest.mark.parametrize("people", [1, 3])
def test_beside_right_answers_judge_and_people_are_held_against_these(people):
    """Both parts are textbook coefficients with the right answers: concordance of numbers, Cohen's kappa of options."""
    rng = np.random.default_rng(2)
    key, judge, *others = (rng.normal(5, 1, 80) * (k == 0) + rng.normal(0, 1, 80) for k in range(2 + people))
    judge, others = judge + key, [one + key for one in others]
    stacked = np.tile(key, people), np.concatenate(others)
    found = human_ceiling(beside_key(key, judge, *others, scale=Numeric(-20, 20))).of(judge="judge")
    assert found.detail["judge_human"] == pytest.approx(
        correlation.concordance(correlation.products(key, judge)).value, abs=1e-9
    )
    assert found.detail["human_human"] == pytest.approx(
        correlation.concordance(correlation.products(*stacked)).value, abs=1e-9
    )
    assert (found.detail["people"], found.detail["held_against"]) == (people, "the right answers")
    passed = [np.where(one > 5, "pass", "fail") for one in (key, judge, *others)]
    found = human_ceiling(beside_key(*passed, scale=Ordinal(("fail", "pass")))).of(judge="judge")
    codes = [(one == "pass").astype(int) for one in passed]
    expected = [options.cohen_kappa(tables(np.tile(codes[0], len(of)), np.concatenate(of))).value
                for of in ([codes[1]], codes[2:])]  # fmt: skip
    assert [found.detail["judge_human"], found.detail["human_human"]] == pytest.approx(expected, abs=1e-9)


def test_people_who_are_wrong_together_refuse_no_judge_that_is_right():
    rng = np.random.default_rng(3)
    key = rng.integers(0, 8, 200).astype(float)
    lenient = [np.minimum(key + 2 + (rng.random(200) < 0.2), 10) for _ in range(3)]
    exact = human_ceiling(beside_key(key, key, *lenient, scale=Numeric(0, 10))).of(judge="judge")
    assert exact.low > 0.1
    guessing = [rng.choice(["pass", "fail"], 200) for _ in range(2)]
    right = np.where(key > 3, "pass", "fail")
    exact, constant = (
        human_ceiling(beside_key(right, judge, *guessing, scale=Ordinal(("fail", "pass")))).of(judge="judge")
        for judge in (right, ["pass"] * 200)
    )
    assert exact.detail["people_agree"] is False  # with the right answers; the judge does
    assert exact.low > 0.5
    assert "people agree with the right answers beyond chance" in constant.note
    assert not constant.low > -0.1


def test_right_answers_alone_are_nobody_to_be_as_good_as():
    key = ["pass", "fail"] * 30
    found = human_ceiling(beside_key(key, key, scale=Ordinal(("fail", "pass")))).of(judge="judge")
    assert "no text was rated by two people and the judge" in found.note


# --------------------------------------------------------------------------- labels that were chosen by group


def labelled(judge, people, label, group, scale):
    """A judge of all texts, and people of those with a label; each text of a group."""
    raters = {"judge": np.ones(len(judge), dtype=bool), **dict.fromkeys(people, label)}
    rows = [(who, "judge" if who == "judge" else "person", f"t{k}", float({"judge": judge, **people}[who][k]))
            for who, there in raters.items() for k in np.flatnonzero(there)]  # fmt: skip
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(len(judge))], "target": "", "label_group": group})
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    return Ratings.of(table, scales=scale, texts=texts if len(set(group)) > 1 else None)


def test_a_label_counts_by_the_texts_that_it_stands_for():
    """Ten of 100 texts of one group have a label and lie a point above it, 90 of the other's 100 lie on it."""
    level, first = np.arange(200) % 5 + 1.0, np.arange(200) < 100
    label = np.where(first, np.arange(200) % 10 == 0, np.arange(200) % 10 != 0)
    ratings = labelled(level + first, {"ann": level}, label, np.where(first, "a", "b"), Numeric(1, 6, 1))
    assert human_offset(ratings).of(judge="judge").value == pytest.approx(0.5)


def test_where_all_groups_are_labelled_alike_the_interval_is_that_of_the_labels():
    rng = np.random.default_rng(2)
    quality = rng.normal(4, 1.5, 400)
    judge, ann, bea = np.clip(np.round(quality + rng.normal(0, 0.8, (3, 400))), 0, 10)
    half, group = np.arange(400) % 4 < 2, np.where(np.arange(400) % 2, "a", "b")
    chosen, plain = (
        human_ceiling(labelled(*given, Numeric(0, 10, 1))).of(judge="judge")
        for given in ((judge, {"ann": ann, "bea": bea}, half, group),
                      (judge[half], {"ann": ann[half], "bea": bea[half]}, np.ones(200, dtype=bool), group[half] == ""))
    )  # fmt: skip
    assert chosen.n == plain.n == 200
    assert chosen.value == pytest.approx(plain.value)
    assert chosen.high - chosen.low == pytest.approx(plain.high - plain.low, rel=0.1)

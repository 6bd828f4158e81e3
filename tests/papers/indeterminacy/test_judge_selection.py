"""Regret of choosing a judge by a measure, and the chance that it is the best one."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.judge_selection import (
    CHOOSING,
    best_judge,
    common_class_recall,
    regret_over_beta,
    selection_regret,
)


@pytest.fixture
def two(planted):
    return planted(people=9, repeats=20).person_rows().judge("good").noisy("noisy")


def test_a_clear_winner_is_chosen_by_every_measure_at_no_cost(two):
    found = selection_regret(two.ratings())
    for each in CHOOSING:
        estimate = found.of(definition=each.name)
        assert estimate.value == 0.0
        assert (estimate.detail["chosen"], estimate.detail["best"]) == ("good", "good")
        assert estimate.detail["right"] > 0.95
        assert estimate.high < 0.1


def test_the_chance_to_be_best_sums_to_1(two):
    found = best_judge(two.ratings())
    assert found.of(judge="good").value > 0.95
    assert sum(estimate.value for estimate in found.values()) == pytest.approx(1.0)


def test_regret_is_value_minus_oracle_at_every_beta(planted):
    ratings = (
        planted(people=5).person_rows(0.1).judge("a", toxic_of_both=0.1).judge("b", toxic_of_both=0.9).choices_alone()
    )
    found = regret_over_beta(ratings).of(definition="hit_rate(h/h)")
    rows = found.detail["over_beta"]
    assert [row["beta"] for row in rows] == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert max(row["regret"] for row in rows) == pytest.approx(found.value)
    assert all(row["regret"] >= 0 and row["regret_bias"] >= 0 for row in rows)


def test_a_choice_that_rests_on_beta_is_said_not_to_survive(planted):
    """Finding 6: the hit rate keeps choosing the judge whose choices look like people's, while those who would have
    accepted the option make the other one the better judge."""
    ratings = planted(people=9, repeats=20).person_rows(0.05).judge("alike", toxic_of_both=0.05)
    ratings = ratings.judge("open", toxic_of_both=1.0).choices_alone()
    found = regret_over_beta(ratings).of(definition="hit_rate(h/h)")
    rows = found.detail["over_beta"]
    assert {row["chosen"] for row in rows} == {"alike"}
    assert (rows[0]["best"], rows[-1]["best"]) == ("alike", "open")
    assert found.detail["survives"] is False
    assert found.value > 0.02


def test_one_judge_leaves_nothing_to_choose(planted):
    found = selection_regret(planted(items=20).person_rows().judge("j").ratings())
    assert all("choosing takes two judges" in estimate.note for estimate in found.values())


def test_without_labels_nothing_is_claimed_of_accuracy(planted):
    """Four judges that all miss what people find toxic: their common classes are found, the truth is bounded, not
    told."""
    source = planted(items=300, repeats=1)
    blind = np.where((source.rng.random(300) < 0.5)[:, None], [0.02, 0.98, 0.0], [0.96, 0.04, 0.0])
    source.theta = np.where((source.rng.random(300) < 0.5)[:, None], blind, [0.03, 0.97, 0.0])
    for k in range(4):
        source.judge(f"j{k}")
    found = common_class_recall(source.choices_alone()).of(judge="j0", option="toxic")
    assert "not accuracy" in found.note
    low, high = found.detail["truth"]
    assert low < 0.5 < high


def test_three_judges_of_two_options_get_a_reason_and_no_number(planted):
    source = planted(items=60, repeats=1).judge("a").judge("b").judge("c")
    found = common_class_recall(source.choices_alone())
    assert all(np.isnan(estimate.value) and estimate.note for estimate in found.values())

"""Table 1: every measure against hand arithmetic or another library, its direction, and its behaviour at the ends."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from recuse.papers.indeterminacy.definitions import (
    KNOWN,
    RatingVectors,
    binary_cross_entropy,
    cross_entropy,
    definition,
    jensen_shannon_divergence,
    kl_divergence,
    smoothed,
)
from recuse.schema import RecuseError
from recuse.statistics.agreement.options import scott_pi

nan = float("nan")
DISTANCE = definition("js_distance(s/s)").per_item


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    return [RatingVectors(rng.dirichlet(np.ones(3), size=40), rng.random((40, 3))) for _ in range(2)]


def one(choices, endorsed, **more):
    return RatingVectors(np.array([choices], dtype=float), np.array([endorsed], dtype=float), **more)


def test_triples_of_table_1_and_no_other():
    assert len(KNOWN.values()) == 53
    assert [name for name in KNOWN if "(s/s)" in name and not name.startswith(("mse", "binary"))] == [
        "kl_people_judge(s/s)", "kl_judge_people(s/s)", "cross_entropy_people_judge(s/s)",
        "cross_entropy_judge_people(s/s)", "js_divergence(s/s)", "js_distance(s/s)",
    ]  # fmt: skip
    assert len([d for d in KNOWN.values() if d.measure == "mse"]) == 16
    with pytest.raises(RecuseError, match=r"there are hit_rate\(h/h\)"):
        definition("hit_rate(s/s)")
    with pytest.raises(RecuseError, match="there are binary_cross_entropy"):
        definition("accuracy")


def test_divergences_are_scipys():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), size=(2, 30))
    np.testing.assert_allclose(kl_divergence(p, q, smoothing=0), entropy(p, q, axis=-1))
    np.testing.assert_allclose(DISTANCE(p, q), jensenshannon(p, q, axis=-1))
    np.testing.assert_allclose(jensen_shannon_divergence(p, q), jensenshannon(p, q, axis=-1) ** 2)
    np.testing.assert_allclose(cross_entropy(p, q, smoothing=0), entropy(p, axis=-1) + entropy(p, q, axis=-1))


def test_jensen_shannon_is_symmetric_and_at_most_ln_2():
    p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert jensen_shannon_divergence(p, q) == jensen_shannon_divergence(q, p) == pytest.approx(math.log(2))
    assert DISTANCE(p, q) == pytest.approx(math.sqrt(math.log(2)))
    sides = one(q, q), one(p, p)
    values = [definition(f"js_{what}(s/s)").value(*sides) for what in ("divergence", "distance")]
    assert values == pytest.approx([math.log(2), math.sqrt(math.log(2))])


def test_zeros_are_smoothed_as_stated_or_refused():
    p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    np.testing.assert_allclose(smoothed(p, 0.02), [0.99, 0.01])
    assert kl_divergence(p, q) == pytest.approx(0.98 * math.log(99))
    assert np.isfinite(binary_cross_entropy(p, q))
    with pytest.raises(RecuseError, match="give smoothing above 0"):
        kl_divergence(p, q, smoothing=0)
    with pytest.raises(RecuseError, match="give smoothing above 0"):
        binary_cross_entropy(p, q, smoothing=0)
    with pytest.raises(RecuseError, match="smoothing is a share"):
        smoothed(p, 1.0)


def test_binary_cross_entropy_is_scikit_learns():
    from sklearn.metrics import log_loss

    judge, people = np.array([0.2, 0.7, 0.9]), np.array([0.0, 1.0, 1.0])
    found = binary_cross_entropy(judge, people, smoothing=0)
    assert found == pytest.approx(log_loss(people, judge, normalize=False))


def test_chance_corrected_coefficients_are_other_libraries(drawn):
    from sklearn.metrics import cohen_kappa_score

    a, b = (vectors.choices.argmax(axis=1) for vectors in drawn)
    judge, people = drawn
    assert definition("cohen_kappa(h/h)").value(judge, people) == pytest.approx(cohen_kappa_score(a, b))
    alpha = krippendorff.alpha(reliability_data=np.array([a, b], dtype=float), level_of_measurement="nominal")
    assert definition("krippendorff_alpha(h/h)").value(judge, people) == pytest.approx(alpha)
    counts = np.eye(3)[a] + np.eye(3)[b]
    fleiss = definition("fleiss_kappa(h/h)").value(judge, people)
    assert fleiss == pytest.approx(scott_pi(counts).value)
    pi = float(definition("scott_pi(h/h)").value(judge, people))
    assert pi == pytest.approx(scott_pi(np.eye(3)[a][:, :, None] * np.eye(3)[b][:, None]).value)
    assert fleiss == pytest.approx(pi)  # two raters: Fleiss' kappa is Scott's pi
    assert alpha == pytest.approx(pi + (1 - pi) / (2 * len(a)))


def test_one_option_everywhere_is_undefined_not_1():
    same = RatingVectors(np.tile([1.0, 0.0], (5, 1)), np.tile([1.0, 0.0], (5, 1)))
    for measure in ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "scott_pi"):
        assert np.isnan(definition(f"{measure}(h/h)").value(same, same))
    assert definition("hit_rate(h/h)").value(same, same) == 1.0


def test_squared_error_is_a_sum_over_options(drawn):
    """Appendix D.1. Of modes it is 2 (1 - hit rate)."""
    judge, people = drawn
    hits = definition("hit_rate(h/h)").value(judge, people)
    assert definition("mse(h/h)").value(judge, people) == pytest.approx(2 * (1 - hits))
    found = definition("mse(srs/srs)").value(one([1, 0], [0.5, 1.0]), one([1, 0], [0.0, 0.0]))
    assert found == pytest.approx(0.25 + 1.0)


def test_cross_entropy_of_peoples_answers_ranks_as_the_divergence_does(drawn):
    _, people = drawn
    rng = np.random.default_rng(5)
    judges = RatingVectors(rng.dirichlet(np.ones(3), size=(20, 40)), rng.random((20, 40, 3)))
    orders = [np.argsort(definition(f"{m}_people_judge(s/s)").value(judges, people)) for m in ("kl", "cross_entropy")]
    np.testing.assert_array_equal(*orders)


def test_which_argument_leads():
    """KL(h || j) of Appendix C is KLD(h, j) of Tables 3 and 4: people's distribution weights the logarithm."""
    people, judge = one([0.9, 0.1], [1, 1]), one([0.5, 0.5], [1, 1])
    by_hand = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    assert kl_divergence(people.choices, judge.choices, smoothing=0) == pytest.approx(by_hand)
    smooth = [0.98 * p + 0.01 for p in (0.9, 0.1)]
    by_people = sum(p * math.log(p / 0.5) for p in smooth)
    by_judge = sum(0.5 * math.log(0.5 / p) for p in smooth)
    first, second = (definition(f"kl_{name}(s/s)").value(judge, people) for name in ("people_judge", "judge_people"))
    assert (float(first), float(second)) == pytest.approx((by_people, by_judge))


def test_fewer_options_named_are_more_efficient():
    """Predictive efficiency of Table 1 points down: who names fewer options that cover people's set gains."""
    people = one([1, 0, 0], [1, 1, 0])
    each = definition("set_size(hrs/hrs)")
    few, many = (each.gain(each.value(one([1, 0, 0], named), people)) for named in ([1, 1, 0], [1, 1, 1]))
    assert few > many


@pytest.mark.parametrize(
    ("judge", "people", "covered", "precise", "recalled", "size"),
    [
        ([1, 0, 0], [1, 1, 0], 1.0, 1.0, 0.5, 1.0),
        ([1, 1, 0], [1, 0, 0], 0.0, 0.5, 1.0, 2.0),
        ([1, 1, 0], [1, 1, 1], 1.0, 1.0, 2 / 3, 2.0),
        ([0, 0, 0], [1, 0, 0], 0.0, 0.0, 0.0, 0.0),
        ([1, 0, 0], [0, 0, 0], 0.0, 0.0, nan, 1.0),
        ([0, 0, 0], [0, 0, 0], 0.0, nan, nan, 0.0),
    ],
)
def test_sets_against_sets(judge, people, covered, precise, recalled, size):
    j, h = one([1, 0, 0], judge), one([1, 0, 0], people)
    for measure, wanted in (("coverage", covered), ("precision", precise), ("recall", recalled), ("set_size", size)):
        found = definition(f"{measure}(hrs/hrs)").value(j, h)
        assert found == pytest.approx(wanted, nan_ok=True), measure


def test_coverage_of_a_single_choice_is_precision_and_against_modes_the_hit_rate(drawn):
    judge, people = drawn
    assert definition("coverage(h/hrs)").value(judge, people) == pytest.approx(
        float(np.mean((judge.h * people.hrs).sum(axis=1)))
    )
    assert definition("coverage(h/h)").value(judge, people) == definition("hit_rate(h/h)").value(judge, people)
    assert definition("set_size(h/hrs)").value(judge, people) == 1.0


def test_of_tied_modes_coverage_counts_the_shares_that_are_in_peoples_set():
    """A judge's answers are split evenly between two options of which people endorse one: half is covered."""
    tied = RatingVectors(np.array([[0.5, 0.5, 0.0]]), np.array([[1.0, 1.0, 0.0]]))
    people = RatingVectors(np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    assert definition("coverage(h/hrs)").value(tied, people) == 0.5


def test_a_perfect_judge_is_best_under_every_definition_that_compares(drawn):
    """A judge with people's own distribution against one that errs: every sign, and every arrow of Table 1."""
    people, other = drawn
    for each in KNOWN.values():
        if each.judge != each.people or each.measure == "set_size":
            continue
        gains = [each.gain(each.value(judge, people)) for judge in (people, other)]
        assert gains[0] > gains[1], each.name


def test_items_without_an_answer_do_not_count():
    judge = RatingVectors(np.array([[1, 0], [nan, nan], [0, 1]]), np.array([[1, 0], [nan, nan], [0, 1]]))
    people = RatingVectors(np.array([[1.0, 0], [1, 0], [1, 0]]), np.array([[1.0, 0], [1, 0], [1, 0]]))
    assert definition("hit_rate(h/h)").value(judge, people) == 0.5
    assert definition("mse(srs/srs)").value(judge, people) == 1.0
    none = RatingVectors(np.full((3, 2), nan), np.full((3, 2), nan))
    assert all(np.isnan(each.value(none, people)) for each in KNOWN.values())


def test_weights_count_items_as_often_as_they_say(drawn):
    judge, people = drawn
    times = np.random.default_rng(2).multinomial(40, np.full(40, 1 / 40))
    again = [RatingVectors(*(np.repeat(part, times, axis=0) for part in (v.choices, v.endorsed))) for v in drawn]
    for each in KNOWN.values():
        found = each.value(judge, people, times.astype(float))
        assert found == pytest.approx(float(each.value(*again)), nan_ok=True), each.name


def test_resamples_are_values_with_weights(drawn):
    people = drawn[1]
    rng = np.random.default_rng(6)
    choices, endorsed = rng.dirichlet(np.ones(3), size=(4, 40)), rng.random((4, 40, 3))
    choices[1, :5] = endorsed[1, :5] = nan
    judges, weights = RatingVectors(choices, endorsed), rng.multinomial(40, np.full(40, 1 / 40), size=6).astype(float)
    for each in KNOWN.values():
        found = each.resampled(judges, people, [weights[:2], weights[2:]])
        np.testing.assert_allclose(found, each.value(judges, people, weights[:, None]), atol=1e-12, err_msg=each.name)

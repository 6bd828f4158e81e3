"""Each component by hand on a few texts, and what it must not depend on."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.metrics.upgrade.against_people import Further, kappas_of, one_text
from recuse.metrics.upgrade.change import Hidden, mean_change
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings
from recuse.statistics.agreement.coefficient import Difference
from recuse.statistics.clusters import OverClusters
from recuse.statistics.distributions import Binomial, Folded, InUnits, Largest, Student

TENS = Numeric(0, 10, 1)
NAN = math.nan


def frame(**judges):
    """A frame from {judge: [score, or list of repeats, per text]}; None is an unusable reply, p_... are people."""
    rows = [
        (
            who,
            "person" if who.startswith("p_") else "judge",
            f"t{text}",
            repeat,
            score,
            "refused" if score is None else "ok",
        )
        for who, texts in judges.items()
        for text, given in enumerate(texts)
        for repeat, score in enumerate(given if isinstance(given, list) else [given])
    ]
    return pd.DataFrame(rows, columns=["rater", "kind", "item", "repeat", "score", "status"]).astype({"score": float})


def changes(table, scales=TENS, thresholds=(), **known):
    ratings = Ratings.of(table, scales=scales, **known)
    upgrade = Upgrade.within(ratings, "old", "new")
    upgrade = upgrade.with_thresholds(thresholds) if thresholds else upgrade
    return {(name, *key[1:]): e for name, family in measure_upgrade(upgrade) for key, e in family.items()}


def test_shift_is_the_paired_t_test():
    rng = np.random.default_rng(1)
    old = rng.integers(2, 8, 40).astype(float)
    new = np.clip(old + rng.integers(-1, 3, 40), 0, 10)
    found = changes(frame(old=old, new=new))["upgrade_shift",]
    theirs = stats.ttest_rel(new, old).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.detail["incumbent"], found.detail["candidate"]) == pytest.approx((old.mean(), new.mean()))
    found_at = stats.t(39).ppf(0.95) + stats.t(39).ppf(0.8)  # 80 % power at 5 %, one-sided
    assert found.detail["smallest"] == pytest.approx(found_at * stats.sem(new - old))


def test_swapping_the_judges_turns_the_sign():
    rng = np.random.default_rng(2)
    old, new = rng.integers(2, 8, (2, 40)).astype(float)
    there, back = (changes(frame(old=a, new=b))["upgrade_shift",] for a, b in ((old, new), (new, old)))
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


def test_what_was_never_seen_to_change_is_bounded_by_the_rule_of_three():
    """None of 40 changed: at 90 %, both ends lie where 40 without one have a chance of 5 %."""
    distribution = mean_change(np.zeros(40), None, np.arange(40), None, span=10.0)
    assert distribution.interval(0.9) == pytest.approx((-10 * (1 - 0.05 ** (1 / 40)), 10 * (1 - 0.05 ** (1 / 40))))


def test_a_lost_text_widens_the_shift_by_what_it_could_hide():
    """20 texts move by 1; one more has 6 from the incumbent and nothing from the candidate, on 0 to 10: -6 to +4."""
    found = changes(frame(old=[5.0] * 20 + [6.0], new=[6.0] * 20 + [None]))["upgrade_shift",]
    assert found.value == 1.0
    assert found.detail["hidden"] == pytest.approx([(-6 - 1) / 21, (4 - 1) / 21])


def test_losses_are_shares_of_replies():
    table = frame(old=[[5.0, 5.0]] * 10, new=[[5.0, None]] * 2 + [[5.0, 5.0]] * 8)
    assert changes(table)["upgrade_losses",].value == pytest.approx(0.1)


def test_flips_are_what_the_incumbent_does_not_flip_by_itself():
    """Threshold 5. Old answers (4, 6) on half the texts: two answers differ there for sure. New as one of them: a half
    of the pairs differ. Elsewhere both are sure. Across 1/4, by itself 1/2."""
    table = frame(old=[[4.0, 6.0], [8.0, 8.0]] * 10, new=[[4.0, 6.0], [8.0, 8.0]] * 10)
    found = changes(table, thresholds=(5.0,))["upgrade_flips",]
    assert (found.detail["incumbent"], found.detail["candidate"]) == (0.5, 0.25)
    assert "upgrade_flips" not in {name for name, *_ in changes(table)}


def test_flips_of_an_incumbent_asked_once_may_be_its_own():
    """It says 8 of half the texts, so two answers of a judge with its shares differ at most every second time: 1/2 lies
    below what was seen. What is known of it beside that is the same as ever."""
    old, new = [4.0, 8.0] * 20, [8.0, 8.0] * 10 + [4.0, 8.0] * 10
    once = changes(frame(old=old, new=new), thresholds=(5.0,))["upgrade_flips",]
    assert once.value == 0.25
    assert once.detail["by_itself_at_most"] == 0.5
    twice = changes(frame(old=[[a, a] for a in old], new=new), thresholds=(5.0,))["upgrade_flips",]
    assert (once.low, once.high) == pytest.approx((twice.low - 0.5, twice.high))
    assert "asked_once" not in twice.detail


def test_no_end_of_a_rank_correlation_lies_beyond_one():
    found = changes(frame(old=[1.0, 2.0, 3.0, 4.0, 5.0], new=[1.0, 3.0, 2.0, 4.0, 5.0]))["upgrade_order_once",]
    assert (found.value, found.high) == (pytest.approx(0.9), 1.0)
    assert found.low < 0.9


def test_order_of_a_mirrored_judge():
    old = [float(k % 10) for k in range(40)]
    found = changes(frame(old=old, new=[9 - x for x in old]))["upgrade_order_once",]
    assert found.value == pytest.approx(-1)
    assert changes(frame(old=old, new=old))["upgrade_order_once",].value == pytest.approx(1)


def test_order_agrees_with_spearmans_rho():
    rng = np.random.default_rng(3)
    old = rng.integers(0, 10, 60).astype(float)
    new = np.clip(old + rng.integers(-3, 4, 60), 0, 10)
    found = changes(frame(old=old, new=new))["upgrade_order_once",]
    assert found.value == pytest.approx(stats.spearmanr(old, new).statistic)


def test_an_incumbent_asked_twice_is_its_own_measure_of_order():
    """More repeats of the candidate make it no better: products of single answers are averaged."""
    rng = np.random.default_rng(4)
    quality = rng.normal(5, 2, 400)
    asked = lambda times: np.clip(np.round(quality[:, None] + rng.normal(0, 1.5, (400, times))), 0, 10).tolist()  # noqa: E731
    found = changes(frame(old=asked(2), new=asked(8)))["upgrade_order",]
    assert found.low <= 0 <= found.high


def test_noise_is_how_far_two_answers_lie_apart():
    found = changes(frame(old=[[4.0, 6.0]] * 12, new=[[1.0, 5.0, 9.0]] * 12))["upgrade_noise",]
    assert (found.detail["incumbent"], found.detail["candidate"]) == pytest.approx((2.0, 16 / 3))


def test_agreement_with_people_is_a_difference_of_kappas():
    """pass = 1: against one person's 40 labels, kappas by scikit-learn's definition; labels per item may be one
    file's."""
    rng = np.random.default_rng(5)
    truth = rng.random(200) < 0.5
    old, new = (np.where(rng.random(200) < skill, truth, ~truth) for skill in (0.8, 0.9))
    words = lambda x: ["pass" if one else "fail" for one in x]  # noqa: E731
    rows = [
        (who, "person" if who == "p_ann" else "judge", f"t{k}", word)
        for who, said in (("old", old), ("new", new), ("p_ann", truth))
        for k, word in enumerate(words(said))
    ]
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    found = changes(table, scales=Ordinal(("fail", "pass")))["upgrade_agreement",]

    def kappa(said):
        chance = said.mean() * truth.mean() + (1 - said.mean()) * (1 - truth.mean())
        return ((said == truth).mean() - chance) / (1 - chance)

    assert found.value == pytest.approx(kappa(new) - kappa(old))


def test_noise_between_two_repeats_takes_nothing_from_agreement():
    """The candidate's two answers stray by a point each in all four ways; their mean over infinitely many does not."""
    truth = [2.0 + k // 4 % 7 for k in range(112)]
    noisy = [[x + (1 if k % 4 < 2 else -1), x + (1 if k % 2 else -1)] for k, x in enumerate(truth)]
    twice = [[x, x] for x in truth]
    assert changes(frame(old=twice, new=noisy, p_ann=truth))["upgrade_agreement",].value == pytest.approx(0, abs=1e-9)
    above = [x + 1 for x in truth]  # whoever says the same twice is measured as if asked once
    single, double = (changes(frame(old=old, new=new, p_ann=truth))["upgrade_agreement",] for old, new in
                      ((above, truth), ([[x, x] for x in above], twice)))  # fmt: skip
    assert single.value == pytest.approx(double.value)
    assert single.value > 0.05
    once = changes(frame(old=truth, new=[one for one, _ in noisy], p_ann=truth))["upgrade_agreement",]
    assert once.value < -0.1  # what is asked once cannot be told from error


def test_who_leaves_texts_out_gains_nothing_by_it():
    """Right on all that it answers, as is the incumbent there; half of the labelled texts left out."""
    truth = [float(k % 10) for k in range(60)]
    new = [x if k % 2 else None for k, x in enumerate(truth)]
    found = changes(frame(old=truth, new=new, p_ann=truth))["upgrade_agreement",]
    assert found.value == pytest.approx(-0.5)


@pytest.mark.parametrize("swapped", [False, True])
def test_each_judges_kappa_counts_by_the_share_that_it_answers_itself(swapped):
    """The one answers 60 of 100 texts and errs on none, the other 90 and errs on a quarter of those of both."""
    truth = np.arange(100) % 10.0
    few = [None if k < 40 else x for k, x in enumerate(truth)]
    many = [None if k >= 90 else (x + 3) % 10 if k % 4 == 0 else x for k, x in enumerate(truth)]
    x, y = (np.array(given[40:90], dtype=float) for given in (many, truth))
    kappa = 1 - ((x - y) ** 2).mean() / ((x[:, None] - y) ** 2).mean()
    old, new = (many, few) if swapped else (few, many)
    found = changes(frame(old=old, new=new, p_ann=truth))["upgrade_agreement",]
    gain = 0.9 * kappa - 0.6
    assert found.value == pytest.approx(-gain if swapped else gain)
    assert found.distribution.value == pytest.approx(found.value)


@pytest.mark.parametrize("together", [1, 2])
def test_two_judges_that_never_differ_may_differ_on_the_next_text(together):
    """Both a point above the person: one text, or cluster, in which one of them is two points off; none was seen."""
    truth = np.arange(60) % 10.0
    table = frame(old=truth + 1, new=truth + 1, p_ann=truth)
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(60)], "cluster": np.arange(60) // together})
    found = changes(table, scales=Numeric(0, 11, 1), texts=texts)["upgrade_agreement",]
    expected = ((truth[:, None] + 1 - truth) ** 2).mean()
    assert found.distribution.se == pytest.approx((2**2 - 1**2) / expected / (60 / together))


@pytest.mark.parametrize("component", ["upgrade_order_once", "upgrade_human_order"])
def test_one_cluster_says_nothing_of_the_order_in_the_next(component):
    """It spoke of a repeat."""
    truth = np.arange(60) % 10.0
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(60)], "cluster": 0})
    people = {"p_ann": truth} if component == "upgrade_human_order" else {}
    table = frame(old=truth, new=truth[::-1], **people)
    assert "one cluster says nothing" in changes(table, Numeric(0, 11, 1), texts=texts)[component,].note


def test_texts_of_a_cluster_that_are_copies_count_once():
    """Value and error of 60 texts, whether each stands once or twice in a cluster of its own."""
    rng = np.random.default_rng(3)
    truth = np.arange(60) % 10.0
    old, new = (truth + rng.integers(0, 3, 60) for _ in range(2))
    once = changes(frame(old=old, new=new, p_ann=truth), Numeric(0, 11, 1))["upgrade_agreement",]
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(120)], "cluster": np.arange(120) // 2})
    table = frame(old=np.repeat(old, 2), new=np.repeat(new, 2), p_ann=np.repeat(truth, 2))
    twice = changes(table, Numeric(0, 11, 1), texts=texts)["upgrade_agreement",]
    assert (twice.value, twice.distribution.se) == pytest.approx((once.value, once.distribution.se))


def test_most_texts_asked_twice_are_enough_to_tell_noise_from_error():
    """Three in five of them; the candidate's two answers stray in all four ways."""
    truth, new, places = [2.0 + k % 7 for k in range(140)], [], iter(range(140))
    for k, x in enumerate(truth):
        n = next(places) if k // 7 % 5 < 3 else None
        new.append(x if n is None else [x + (1 if n // 7 % 2 else -1), x + (1 if n // 14 % 2 else -1)])
    old = [x if k // 7 % 5 >= 3 else [x, x] for k, x in enumerate(truth)]
    found = changes(frame(old=old, new=new, p_ann=truth))["upgrade_agreement",]
    assert found.value == pytest.approx(0, abs=1e-9)


def test_an_order_less_the_incumbents_with_itself_has_its_interval_about_the_difference():
    rng = np.random.default_rng(4)
    truth = np.arange(60) % 10.0
    old = [[x, float(np.clip(x + rng.integers(-2, 3), 0, 9))] for x in truth]
    new = [[x, x] for x in np.where(np.arange(60) % 3 == 0, 9 - truth, truth)]
    found = changes(frame(old=old, new=new))["upgrade_order",]
    assert found.value < -0.2
    assert found.distribution.value == pytest.approx(found.value)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("lost", "told_apart"), [(2, False), (3, True)])
def test_three_lost_texts_tell_whether_they_differ_from_the_others(lost, told_apart):
    """The texts that the candidate did not answer have the incumbent's usual score: they hide less than the scale
    allows, which two of them do not show."""
    old = 4.0 + np.arange(60) % 3
    new = [None if k < lost else x for k, x in enumerate(old)]
    hidden = changes(frame(old=old, new=new))["upgrade_shift",].detail["hidden"][1]
    widest = sum(10 - x for x in old[:lost]) / 60
    assert (hidden < widest - 0.01) == told_apart
    assert told_apart or hidden == pytest.approx(widest)


def test_a_right_response_counts_for_who_answered_all_of_its_item():
    """Ten items of two responses; the candidate leaves the wrong one of four without an answer."""
    rows = [(who, f"q{k}", side, 8.0 if side == "a" else 3.0, who == "new" and k < 4 and side == "b")
            for who in ("old", "new") for k in range(10) for side in "ab"]  # fmt: skip
    table = pd.DataFrame(rows, columns=["judge", "item", "target", "score", "lost"])
    table["status"] = np.where(table["lost"], "refused", "ok")
    table["score"] = table["score"].where(~table["lost"])
    texts = (
        table[["item", "target"]].drop_duplicates().assign(gold=lambda t: (t["target"] == "a").astype(int).astype(str))
    )
    found = changes(table.drop(columns="lost"), texts=texts)["upgrade_right_answers",]
    assert (found.detail["incumbent"], found.detail["candidate"]) == (1.0, 0.6)


def test_who_keeps_peoples_order_better_gains():
    truth = np.arange(60) % 10.0
    old = np.where(np.arange(60) % 3 == 0, 9 - truth, truth)
    there, back = (changes(frame(old=a, new=b, p_ann=truth))["upgrade_human_order",]
                   for a, b in ((old, truth), (truth, old)))  # fmt: skip
    assert there.value == pytest.approx(1 - stats.spearmanr(old, truth).statistic)
    assert back.value == pytest.approx(-there.value)
    assert there.distribution.value == pytest.approx(there.value)


def test_what_texts_could_hide_counts_on_both_sides_of_a_distance_and_in_what_can_be_found():
    """Two texts without an answer, whose scores lie nearer to one end: the larger of the two counts."""
    old = 2.0 + np.arange(60) % 3
    found = changes(frame(old=old, new=[None, None, *old[2:]], p_ann=old))["upgrade_human_offset",].distribution
    assert found.down == found.up == pytest.approx(sum(10 - x for x in old[:2]) / 60)
    seen = Student(0.8, 0.1, 20.0)
    assert Hidden(seen, 0.2, 0.1).half_width_at(1.0) == pytest.approx(seen.half_width_at(1.0) + 0.2)


def test_shares_that_move_up_and_down_exclude_each_other():
    """A text goes one way only, so the two shares hang together below 0, and their difference varies more."""
    moved = np.repeat([1.0, -1.0, 0.0], (3, 5, 52))
    low, high = mean_change(moved, None, np.arange(60), None, span=1.0).interval(0.9)
    alone = Difference((3 / 60, 5 / 60), Binomial(3, 60), Binomial(5, 60), 0.0, 59).interval(0.9)
    assert low < alone[0]
    assert high > alone[1]


@pytest.mark.parametrize(("texts", "defined"), [(3, False), (4, True)])
def test_an_order_takes_four_texts(texts, defined):
    truth = np.arange(float(texts))
    assert changes(frame(old=truth, new=truth, p_ann=truth))["upgrade_human_order",].defined == defined


def test_what_a_rare_distance_from_people_may_become_is_twice_the_scale_for_two_judges():
    """Both far off on three texts of sixty: the sum of the two distances ends at twice the range."""
    truth = np.zeros(60)
    far = np.where(np.arange(60) < 3, 10.0, 0.0)
    distribution = changes(frame(old=far, new=far, p_ann=truth))["upgrade_human_offset",].distribution
    assert (distribution.sum.value, 1 / distribution.sum.unit) == (1.0, 20.0)
    assert distribution.sum.distribution.first.successes == pytest.approx(3)


def test_one_more_disagreement_costs_what_the_rarer_option_makes_of_it():
    """Options: 1 / E of the judge whose chance agreement leaves least."""
    words = {"old": "p" * 36 + "f" * 4, "new": "pf" * 20, "p_ann": "p" * 30 + "f" * 10}
    rows = [(who, "person" if who == "p_ann" else "judge", f"t{k}", {"p": "pass", "f": "fail"}[one])
            for who, said in words.items() for k, one in enumerate(said)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    [pair] = Upgrade.within(Ratings.of(table, scales=Ordinal(("fail", "pass"))), "old", "new").pairs()
    kappas = kappas_of(pair.answers, np.ones(40, dtype=bool))
    assert one_text(pair.answers, kappas, kappas.shares.sum(axis=0)[None]) == pytest.approx(
        1 / (0.9 * 0.25 + 0.1 * 0.75)
    )


def test_a_score_on_the_threshold_is_at_or_above_it():
    found = changes(frame(old=[4.0] * 20, new=[3.0] * 5 + [4.0] * 5 + [5.0] * 10), thresholds=(4,))
    assert found["upgrade_flips",].value == 0.25


def test_the_worst_slice_is_named():
    old = [5.0] * 40
    table = frame(old=old, new=[5.0 if k % 2 else 8.0 for k in range(40)])
    table["target"] = ["A" if int(item[1:]) % 2 else "B" for item in table["item"]]
    found = changes(table)["upgrade_slice_shift",]
    assert (found.detail["slice"], found.value) == ({"column": "target", "level": "B"}, 3.0)


@pytest.mark.parametrize("worse", ["A", "B"])
def test_the_slice_on_which_agreement_is_lost_is_named_with_the_loss(worse):
    """A tenth of the scale is lost on it, and two tenths are won on the other."""
    truth = [float(k % 8) for k in range(40)]
    lost = [(k % 2 == 1) == (worse == "A") for k in range(40)]
    old = [x if one else x + 2 for x, one in zip(truth, lost, strict=True)]
    new = [x + 1 if one else x for x, one in zip(truth, lost, strict=True)]
    table = frame(old=old, new=new, p_ann=truth)
    table["target"] = ["A" if int(item[1:]) % 2 else "B" for item in table["item"]]
    found = changes(table)["upgrade_slice_agreement",]
    assert (found.detail["slice"]["level"], found.value) == (worse, pytest.approx(0.1))


@pytest.mark.parametrize(("texts", "looked"), [(11, False), (12, True)])
def test_a_slice_is_looked_at_from_twelve_texts_on(texts, looked):
    table = frame(old=[5.0] * 40, new=[6.0] * 40)
    table["target"] = ["A" if int(item[1:]) < texts else "B" for item in table["item"]]
    found = changes(table)["upgrade_slice_shift",]
    assert found.detail["looks"] == (2 if looked else 1)


def test_an_order_that_is_the_same_may_have_two_neighbours_swapped_next():
    truth = np.arange(60) % 10.0
    found = changes(frame(old=truth, new=truth, p_ann=truth))["upgrade_human_order",]
    assert (found.value, found.distribution.se) == (0.0, pytest.approx(60**-1.5))


@pytest.mark.parametrize(("moved", "kind"), [(9, InUnits), (10, OverClusters)])
def test_fewer_than_ten_texts_that_move_say_little_of_the_next(moved, kind):
    found = mean_change(np.where(np.arange(60) < moved, 0.5, 0.0), None, np.arange(60), None, span=1.0)
    assert isinstance(found, kind)
    assert found.value == pytest.approx(moved / 120)


def test_where_all_texts_move_alike_one_that_does_not_is_what_could_come():
    found = mean_change(np.full(20, -0.5), None, np.arange(20), None, span=1.0)
    assert (found.value, found.se, found.df) == (-0.5, 0.5 / 20, 19)


def test_all_slices_must_pass_and_one_that_fails_is_corrected():
    """Passing takes the worst upper end at its own level; failing the best lower end after Bonferroni."""
    distributions = (Student(0.2, 0.1, 30), Student(0.5, 0.1, 30))
    both = Largest(distributions)
    assert both.interval(0.9)[1] == pytest.approx(distributions[1].interval(0.9)[1])
    assert both.interval(0.9)[0] == pytest.approx(distributions[1].interval(0.95)[0])
    assert both.p_value(1.0, "below") == pytest.approx(distributions[1].p_value(1.0, "below"))
    assert both.p_value(0.3, "above") == pytest.approx(2 * distributions[1].p_value(0.3, "above"))


def test_the_largest_of_many_does_not_care_for_signs():
    distribution = Largest((Folded(Student(-0.5, 0.1, 30)),))
    low, high = distribution.interval(0.9)
    assert (low, high) == pytest.approx(tuple(-x for x in reversed(Student(-0.5, 0.1, 30).interval(0.9))))


def test_options_without_an_order_are_compared_by_their_shares():
    rows = [
        (who, f"t{k}", word) for who, said in (("old", "abc" * 20), ("new", "aba" * 20)) for k, word in enumerate(said)
    ]
    table = pd.DataFrame(rows, columns=["judge", "item", "response"])
    found = changes(table, scales=Nominal(("a", "b", "c")))
    assert found["upgrade_flips",].value == pytest.approx(1 / 3)
    assert found["upgrade_shift",].detail["option"] in ("a", "c")


def test_each_level_and_criterion_is_compared_by_itself():
    shown = frame(old=[5.0] * 20, new=[6.0] * 20).assign(names="shown")
    hidden = frame(old=[5.0] * 20, new=[4.0] * 20).assign(names="hidden")
    found = changes(pd.concat([shown, hidden], ignore_index=True))
    assert found["upgrade_shift", "shown"].value == 1.0
    assert found["upgrade_shift", "hidden"].value == -1.0


def test_a_reversed_scale_is_turned_before_it_is_compared():
    up = frame(old=[5.0] * 20, new=[7.0] * 20).assign(direction="ascending")
    down = frame(old=[5.0] * 20, new=[3.0] * 20).assign(direction="reversed")
    found = changes(pd.concat([up, down], ignore_index=True))
    assert found["upgrade_shift", "reversed"].value == found["upgrade_shift", "ascending"].value == 2.0


def test_admitting_a_candidate_changes_no_number_of_the_others():
    """Each line-up knows its own judge alone: the peers of `other` are the incumbent, with or without a candidate."""
    from recuse.metrics import consensus

    rng = np.random.default_rng(6)
    judges = {name: rng.integers(0, 10, 30).astype(float) for name in ("old", "other", "new")}
    alone = Ratings.of(frame(**{name: judges[name] for name in ("old", "other")}), scales=TENS)
    upgrade = Upgrade.within(Ratings.of(frame(**judges), scales=TENS), "old", "new")
    for judge in ("old", "other"):
        assert consensus.leniency(upgrade.before).of(judge=judge) == consensus.leniency(alone).of(judge=judge)


def test_an_incumbent_that_wrote_nothing_has_no_favour_to_take_off():
    """The candidate's favour is its own, value and interval: what is known to be 0 widens nothing."""
    from recuse.metrics.self_preference import self_preference_controlled

    rng = np.random.default_rng(8)
    own = {"old": 0.0, "peer": 0.0, "new": 2.0}
    rows = [(who, str(item), target, float(rng.integers(2, 6) + (target == "n") * more))
            for who, more in own.items() for item in range(30) for target in "nst"]  # fmt: skip
    table = pd.DataFrame(rows, columns=["judge", "item", "target", "score"])
    ratings = Ratings.of(table, scales=TENS, authors={"new": "n"})
    found = changes(table, authors={"new": "n"})[("upgrade_self_preference",)]
    alone = self_preference_controlled(ratings.without("old")).of(judge="new")
    assert alone.value > 1
    assert found.value == pytest.approx(alone.value)
    assert (found.low, found.high) == pytest.approx(alone.distribution.interval(0.9))
    low, high = alone.distribution.interval(0.95)  # 80 % power at 5 %, one-sided
    assert found.detail["smallest"] == pytest.approx((high - low) / 2 * (1.645 + 0.842) / 1.96, rel=1e-3)


def test_a_candidate_that_wrote_nothing_is_not_asked_for_favour():
    """Not even where it has peers and scores, nor where what it wrote is not among the texts."""
    table = frame(old=[5.0, 6.0] * 10, peer=[6.0, 5.0] * 10, new=[5.0, 5.0] * 10)
    for authors in ({}, {"new": "elsewhere"}):
        assert not [key for key in changes(table, authors=authors) if key[0] == "upgrade_self_preference"]


@pytest.mark.parametrize(
    "make",
    [lambda d: Hidden(d, 0.2, 0.1), Folded, lambda d: Largest((d, d)),
     lambda d: Further(d, Student(0.3, 0.1, 20.0), Student(1.3, 0.1, 20.0))],
)  # fmt: skip
def test_the_p_value_at_an_end_is_the_tail(make):
    """An end of the 90 % interval is the limit that is just reached at 5 %, whatever widens the interval."""
    distribution = make(Student(0.8, 0.1, 20.0))
    low, high = distribution.interval(0.9)
    assert distribution.p_value(low, "above") == pytest.approx(0.05)
    assert distribution.p_value(high, "below") == pytest.approx(0.05)

"""Measures of agreement on ratings: every scale, repeats, several people, holes, and what cannot be measured."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from written_ratings import rated

import recuse as face
from recuse.metrics import agreement_estimates as people_agreement
from recuse.metrics import coverage as unanswered
from recuse.metrics.agreement import COEFFICIENTS, coefficient, every_coefficient
from recuse.metrics.agreement_estimates import gain_over_constant
from recuse.metrics.human_alignment import human_offset
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings, folding
from recuse.schema import RecuseError
from recuse.statistics.agreement import correlation, options


def frame(column: str = "response", **rated: list) -> pd.DataFrame:
    """One row per rater and item; judges' names begin with j."""
    rows = [
        {"rater": who, "kind": "judge" if who.startswith("j") else "person", "item": f"i{k:03}", column: value}
        for who, values in rated.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


SMALL = {
    "percent_agreement": (("ppff", "ppfp"), 0.75), "cohen_kappa": (("ppff", "ppfp"), 0.5),
    "scott_pi": (("ppff", "ppfp"), 0.4667), "gwet_ac": (("ppff", "ppfp"), 0.5294),
    "krippendorff_alpha": (("1245", "1355"), 0.9186), "concordance": (("1245", "1355"), 0.9091),
    "icc_with_people": (("1245", "1355"), 0.9302), "pearson": (("124", "123"), 0.982), "spearman": (("124", "123"), 1),
    "kendall": (("1224", "1234"), 0.9129), "mean_error": (("1245", "1234", "1234"), 0.5),
    "absolute_error": (("1245", "2234"), 0.75), "true_positive_rate": (("pfpf", "ppff"), 0.5),
    "true_negative_rate": (("pppp", "ppff"), 0.0), "precision": (("pppp", "ppff"), 0.5),
    "f1": (("pppp", "ppff"), 0.6667), "confusion": (("pppf", "ppff"), 0.75),
}  # fmt: skip
"""Answers of the judge and of people to a few texts, and the coefficient."""


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_every_coefficient_of_a_few_texts(name):
    (judge, *people), value = SMALL[name]
    ratings = rated(judge=judge, **dict(zip(("ann", "bea"), people, strict=False)))
    assert coefficient(ratings, name).of(judge="judge").value == pytest.approx(value, abs=5e-5)


def test_a_name_that_is_no_coefficient_lists_those_there_are():
    with pytest.raises(RecuseError, match="no coefficient 'kapa'; there are krippendorff_alpha, "):
        coefficient(rated(judge="pf", ann="pf"), "kapa")


def of(family, judge: str = "j"):
    return family.of(judge=judge)


@pytest.fixture
def pass_fail():
    """The judge passes 13 of 20, the person 11; 14 agree (see the statistics' own test by hand)."""
    judge = ["pass"] * 9 + ["fail"] * 5 + ["pass"] * 4 + ["fail"] * 2
    person = ["pass"] * 9 + ["fail"] * 5 + ["fail"] * 4 + ["pass"] * 2
    return Ratings.of(frame(j=judge, ann=person))


def test_pass_and_fail_by_hand(pass_fail):
    assert of(coefficient(pass_fail, "percent_agreement")).value == pytest.approx(0.7)
    assert of(coefficient(pass_fail, "cohen_kappa")).value == pytest.approx((0.7 - 0.515) / 0.485)
    assert of(coefficient(pass_fail, "scott_pi")).value == pytest.approx((0.7 - 0.52) / 0.48)
    assert of(coefficient(pass_fail, "gwet_ac")).value == pytest.approx((0.7 - 0.48) / 0.52)
    rates = ("true_positive_rate", "true_negative_rate", "precision", "f1")
    found = [of(coefficient(pass_fail, name)).value for name in rates]
    assert found == pytest.approx([9 / 11, 5 / 9, 9 / 13, 18 / 24])
    assert of(coefficient(pass_fail, "confusion")).detail["values"] == [[5.0, 2.0], [4.0, 9.0]]


def test_base_rate_and_constant_stand_beside(pass_fail):
    detail = of(coefficient(pass_fail, "percent_agreement")).detail
    assert detail["base_rate"] == {"fail": 0.45, "pass": 0.55}
    assert detail["labels"] == {"fail": 9.0, "pass": 11.0}
    assert detail["constant"] == {"answer": "pass", "agrees": 0.55}
    gain = of(gain_over_constant(pass_fail))
    assert gain.detail["judge_gain"] == pytest.approx((0.7 - 0.55) / 0.45)
    assert math.isnan(gain.value)
    assert "nobody rated these texts twice" in gain.note


def test_rates_have_the_exact_interval(pass_fail):
    """Clopper and Pearson for 9 of 11."""
    from scipy import stats

    exact = stats.binomtest(9, 11).proportion_ci(method="exact")
    found = of(coefficient(pass_fail, "true_positive_rate"))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_grades_in_order_and_options_without():
    grades = ["bad", "fair", "good"]
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 50))
    b = np.where(rng.random(50) < 0.5, a, b)
    rated = frame(j=[grades[k] for k in a], ann=[grades[k] for k in b])
    ordered = Ratings.of(rated, scales=Ordinal(tuple(grades)))
    assert of(coefficient(ordered, "cohen_kappa")).value == pytest.approx(
        options.cohen_kappa(np.eye(3)[a][:, :, None] * np.eye(3)[b][:, None], "quadratic").value, abs=1e-12
    )
    assert of(coefficient(ordered, "krippendorff_alpha")).value == pytest.approx(
        options.krippendorff_alpha([a, b], "ordinal").value, abs=1e-12
    )
    plain = Ratings.of(rated, scales=Nominal(tuple(grades)))
    assert of(coefficient(plain, "krippendorff_alpha")).value == pytest.approx(
        options.krippendorff_alpha([a, b]).value, abs=1e-12
    )
    assert "two options in order" in of(coefficient(ordered, "true_positive_rate")).note
    assert "options here, not numbers" in of(coefficient(ordered, "pearson")).note


@pytest.fixture
def numbers():
    rng = np.random.default_rng(1)
    quality = rng.normal(5, 2, size=60)
    j, ann, bea = (np.clip(np.round(quality + rng.normal(size=60)), 0, 10) for _ in range(3))
    return j, ann, bea


def test_numbers_are_those_of_the_means(numbers):
    from scipy import stats

    j, ann, bea = numbers
    ratings = Ratings.of(frame("score", j=list(j), ann=list(ann), bea=list(bea)), scales=Numeric(0, 10))
    people = (ann + bea) / 2
    assert of(coefficient(ratings, "pearson")).value == pytest.approx(stats.pearsonr(j, people).statistic)
    assert of(coefficient(ratings, "spearman")).value == pytest.approx(stats.spearmanr(j, people).statistic)
    assert of(coefficient(ratings, "kendall")).value == pytest.approx(stats.kendalltau(j, people).statistic)
    assert of(coefficient(ratings, "mean_error")).value == pytest.approx((j - people).mean())
    assert of(coefficient(ratings, "absolute_error")).value == pytest.approx(np.abs(j - people).mean())
    assert of(coefficient(ratings, "mean_error")).span == 10
    squares = correlation.mean_squares(np.column_stack([j, people]))
    found = of(coefficient(ratings, "icc_with_people"))
    low, high = correlation.ICC(squares).interval(0.95)
    assert (found.value, found.low, found.high) == pytest.approx((float(correlation.icc(squares)), low, high))


def test_the_intraclass_correlation_knows_of_clusters(numbers):
    """Every text ten times over, each in the cluster of its copies: the interval may not shrink."""
    j, ann, _ = (np.tile(side, 10) for side in numbers)
    scales, texts = Numeric(0, 10), [f"t{k}" for k in range(len(j))]
    told = pd.DataFrame({"item": texts, "cluster": [f"c{k % 60}" for k in range(len(j))]})
    rows = frame("score", j=list(j), ann=list(ann))
    rows["item"] = texts * 2
    apart = of(coefficient(Ratings.of(rows, scales=scales), "icc_with_people"))
    together = of(coefficient(Ratings.of(rows, scales=scales, texts=told), "icc_with_people"))
    assert together.value == pytest.approx(apart.value)
    assert "jackknife" in together.method
    assert together.over == "clusters"
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_mean_error_has_the_t_interval(numbers):
    from scipy import stats

    j, ann, _ = numbers
    ratings = Ratings.of(frame("score", j=list(j), ann=list(ann)), scales=Numeric(0, 10))
    t = stats.ttest_1samp(j - ann, 0).confidence_interval()
    found = of(coefficient(ratings, "mean_error"))
    assert (found.low, found.high) == pytest.approx((t.low, t.high))


def test_one_answer_against_one_person(numbers):
    """Concordance and alpha of numbers compare single answers: with two people, each at half weight."""
    j, ann, bea = numbers
    ratings = Ratings.of(frame("score", j=list(j), ann=list(ann), bea=list(bea)), scales=Numeric(0, 10))
    twice, people = np.concatenate([j, j]), np.concatenate([ann, bea])
    lin = correlation.concordance(correlation.products(twice, people))
    assert of(coefficient(ratings, "concordance")).value == pytest.approx(lin.value)
    one = Ratings.of(frame("score", j=list(j), ann=list(ann)), scales=Numeric(0, 10))
    assert of(coefficient(one, "krippendorff_alpha")).value == pytest.approx(
        options.krippendorff_alpha([j, ann], "interval").value, abs=1e-12
    )


def test_gain_of_numbers(numbers):
    """The judge's: 1 - mean squared difference over people's mean square about their mean; a person's: the same of the
    other person."""
    j, ann, bea = numbers
    ratings = Ratings.of(frame("score", j=list(j), ann=list(ann), bea=list(bea)), scales=Numeric(0, 10))
    found = of(gain_over_constant(ratings))
    both = np.concatenate([ann, bea])
    judge = 1 - ((np.concatenate([j, j]) - both) ** 2).mean() / both.var()
    person = 1 - ((ann - bea) ** 2).mean() / both.var()
    assert (found.detail["judge_gain"], found.detail["people_gain"]) == pytest.approx((judge, person))
    assert found.value == pytest.approx(judge - person)


@pytest.mark.parametrize("error", [0.6, 1.2, 2.0])
def test_one_more_person_gains_as_much_as_people_though_a_constant_may_do_better(error):
    """ICC .74, .41 and .2: a person's own gain is 2 ICC - 1."""
    rng = np.random.default_rng(3)
    seen = 5 + rng.normal(size=4000) + error * rng.normal(size=(4, 4000))
    raters = dict(zip(("j", "ann", "bea", "cem"), map(list, seen), strict=True))
    found = of(gain_over_constant(Ratings.of(frame("score", **raters), scales=Numeric(-10, 20))))
    assert found.low < 0 < found.high
    assert found.detail["people_gain"] == pytest.approx(2 / (1 + error**2) - 1, abs=0.08)


def test_a_constant_gains_what_people_do_not():
    """Ann and Bea disagree on 2 of 10, a constant with one of them on 3 of 10."""
    ratings = Ratings.of(
        frame(j=["pass"] * 10, ann=["pass"] * 8 + ["fail"] * 2, bea=["pass"] * 6 + ["fail"] * 4),
        scales=Ordinal(("fail", "pass")),
    )
    found = of(gain_over_constant(ratings))
    assert found.detail["judge_gain"] == pytest.approx(0.0)
    assert found.detail["people_gain"] == pytest.approx(1 - 0.2 / 0.3)
    assert found.value == pytest.approx(-1 / 3)


def test_repeats_of_the_judge_share_its_weight():
    """A judge that says pass in 3 of 4 repeats of an item that a person passes agrees by 0.75 there."""
    rows = [
        {"rater": "j", "kind": "judge", "item": "x", "repeat": k, "response": v}
        for k, v in enumerate(["pass"] * 3 + ["fail"])
    ]
    rows += [{"rater": "j", "kind": "judge", "item": "y", "repeat": 0, "response": "fail"}]
    rows += [
        {"rater": "ann", "kind": "person", "item": item, "repeat": 0, "response": v}
        for item, v in (("x", "pass"), ("y", "fail"))
    ]
    ratings = Ratings.of(pd.DataFrame(rows), scales=Ordinal(("fail", "pass")))
    assert of(coefficient(ratings, "percent_agreement")).value == pytest.approx((0.75 + 1) / 2)


def test_choices_are_read_as_texts():
    """The judge prefers a whoever stands first; Ann, asked once with b first, says "second": a too."""
    rated = [("j", "judge", item, *seen) for item in "xy" for seen in (("ab", "first"), ("ba", "second"))]
    rated += [("ann", "person", item, "ba", "second") for item in "xy"]
    rows = pd.DataFrame(rated, columns=["rater", "kind", "item", "order", "response"])
    ratings = Ratings.of(rows, scales=Nominal(("first", "second", "tie")))
    found = of(coefficient(ratings, "percent_agreement"))
    assert found.value == 1.0
    assert found.detail["base_rate"] == {"a": 1.0, "b": 0.0, "tie": 0.0}


def test_holes_cost_the_judge_they_belong_to():
    rated = frame(j1=["pass", None, "pass", "fail"], j2=["pass"] * 4, ann=["pass", "fail", "pass", None])
    ratings = Ratings.of(rated, scales=Ordinal(("fail", "pass")))
    found = coefficient(ratings, "percent_agreement")
    assert (found.of(judge="j1").n, found.of(judge="j1").n_excluded) == (2, 1)
    assert (found.of(judge="j2").n, found.of(judge="j2").value) == (3, pytest.approx(2 / 3))


def test_people_who_answered_under_another_level_count():
    """Names were varied for judges; people saw none."""
    rows = frame(j=["pass", "fail"], ann=["pass", "pass"]).assign(names="hidden")
    shown = rows[rows["rater"] == "j"].assign(names="shown")
    ratings = Ratings.of(pd.concat([rows, shown]), scales=Ordinal(("fail", "pass")))
    found = coefficient(ratings, "percent_agreement")
    assert found.by == ("judge", "names")
    assert {estimate.value for estimate in found.values()} == {0.5}


def test_clusters_make_the_unit():
    rated = frame(j=["pass", "fail"] * 10, ann=["pass", "pass"] * 10)
    texts = pd.DataFrame({"item": [f"i{k:03}" for k in range(20)], "cluster": [f"c{k // 4}" for k in range(20)]})
    ratings = Ratings.of(rated, scales=Ordinal(("fail", "pass")), texts=texts, clusters="topics")
    found = of(coefficient(ratings, "percent_agreement"))
    assert (found.over, found.clusters) == ("clusters", "topics")


def test_a_table_of_many_kinds(table):
    """Grades and pass or fail, two judges, two targets, holes: each family on the criteria that it fits."""
    ratings = Ratings.of(table())
    families = list(every_coefficient(ratings))
    names = [next(iter(family.values())).metric for family in families]
    assert len(names) == len(set(names)) > 12
    for family in families:
        for estimate in family.values():
            assert math.isfinite(estimate.value), estimate.metric
            assert estimate.metric == "confusion" or estimate.low < estimate.value < estimate.high, estimate.metric


def test_undefined_says_why():
    constant = Ratings.of(frame(j=["pass"] * 5, ann=["pass"] * 5), scales=Ordinal(("fail", "pass")))
    assert "one and the same option" in of(coefficient(constant, "cohen_kappa")).note
    assert "no judge could do better" in of(gain_over_constant(constant)).note
    assert "labelled negative" in of(coefficient(constant, "true_negative_rate")).note
    apart = Ratings.of(frame(j=["pass", None], ann=[None, "fail"]), scales=Ordinal(("fail", "pass")))
    for family in every_coefficient(apart):
        assert math.isnan(of(family).value)
    single = Ratings.of(frame("score", j=[3.0], ann=[4.0]), scales=Numeric(1, 5))
    assert "two items" in of(coefficient(single, "pearson")).note
    assert math.isnan(of(coefficient(single, "mean_error")).low)


def test_without_people_the_remedy_is_named():
    with pytest.raises(RecuseError, match="rows of kind person, one per person and item"):
        coefficient(Ratings.of(frame(j=["pass", "fail"])), "percent_agreement")


def test_unanswered_counts_what_people_rated():
    """The judge leaves 4 of 12 unanswered."""
    ann, judge = ["pass", "fail"] * 6, [*["pass", "fail"] * 4, None, None, None, None]
    found = of(unanswered.unanswered(Ratings.of(frame(j=judge, ann=ann), scales=Ordinal(("fail", "pass")))))
    assert found.value == pytest.approx(4 / 12)


def test_people_among_themselves(table):
    krippendorff = pytest.importorskip("krippendorff")
    rows = table()
    found = people_agreement.people_alpha(Ratings.of(rows))
    assert found.by == ("rater", "criterion")
    people = rows[rows["kind"] == "person"]
    grades = people[people["criterion"] == "grade"].pivot(index="rater", columns=["item", "target"], values="score")
    theirs = krippendorff.alpha(grades.to_numpy(dtype=float), level_of_measurement="interval")
    assert found.of(rater="people", criterion="grade").value == pytest.approx(theirs, abs=1e-9)
    safe = people[people["criterion"] == "safe"].pivot(index="rater", columns=["item", "target"], values="response")
    codes = safe.apply(lambda column: column.map({"fail": 0.0, "pass": 1.0})).to_numpy(dtype=float)
    theirs = krippendorff.alpha(codes, level_of_measurement="nominal")
    estimate = found.of(rater="people", criterion="safe")
    assert estimate.value == pytest.approx(theirs, abs=1e-9)
    assert estimate.low < estimate.value < estimate.high
    assert set(estimate.detail) == {"people", "fleiss_kappa", "gwet_ac1", "percent_agreement"}


def test_one_person_has_nobody_to_agree_with(pass_fail):
    found = people_agreement.people_alpha(pass_fail).of(rater="people")
    assert "no two people rated one text" in found.note


@pytest.mark.parametrize("words", [("fail", "pass"), (1, 2, 3, 4, 5)])
def test_an_item_that_stands_for_several_counts_as_so_many(words, monkeypatch):
    """Every coefficient and the offset, with interval and picture, of patterns with counts and of a row for each."""
    rng = np.random.default_rng(1)
    quality = rng.integers(len(words), size=300)
    table = pd.DataFrame({"item": range(300)})
    for name in ("ann", "judge"):
        said = np.where(rng.random(300) < 0.7, quality, rng.integers(len(words), size=300))
        table[name] = np.array(words, object)[said]

    def measured():
        scale = "fail<pass" if words[0] == "fail" else "1-5"
        ratings = face.read(table, people=["ann"], judges=["judge"], scale=scale)
        families = [*every_coefficient(ratings), human_offset(ratings)]
        return ratings.folded().times, [family.of(judge="judge") for family in families]

    nothing, singly = measured()
    monkeypatch.setattr(folding, "FOLDED_FROM", 1)
    monkeypatch.setattr(folding, "ALIKE", 0)
    times, counted = measured()
    assert nothing is None
    assert len(times) <= len(words) ** 2
    assert len(singly) > 6
    for mine, its in zip(counted, singly, strict=True):
        assert (mine.value, mine.low, mine.high) == pytest.approx((its.value, its.low, its.high), nan_ok=True)
        assert (mine.metric, mine.n) == (its.metric, its.n)
        for name in ("pairs", "values", "cases"):
            if name in its.detail:
                assert np.array(mine.detail[name], float) == pytest.approx(np.array(its.detail[name], float))

"""Human alignment: the paper's offsets, hand arithmetic, people item by item, their error, order, degenerate input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.gates.limits import Limit
from recuse.gates.verdict_power import power_of
from recuse.metrics import human_alignment
from recuse.papers.merchant_risk import human_order, judge_profiles
from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.schema import RecuseError

EXPECTED = pd.read_csv(Path(__file__).parent / "data" / "bias_recomputed.csv")
NAMES = {"attributed": "shown", "anonymized": "hidden"}


def people(n=16, sd=0.8, **means):
    return pd.DataFrame({"target": list(means), "mean": list(means.values()), "sd": sd, "n": n})


# --------------------------------------------------------------------------- published


@pytest.mark.parametrize("condition", NAMES)
@pytest.mark.parametrize("criterion", ["total", "criteria_mean"])
def test_every_offset_of_the_published_tables(published, condition, criterion):
    """Fig. 9, recomputed: 25 cells of judge minus 26 experts."""
    found = judge_profiles.human_offset_matrix(with_criteria_mean(published))
    detail = found.of(names=NAMES[condition], criterion=criterion).detail
    rows = EXPECTED[(EXPECTED["criterion"] == criterion) & (EXPECTED["condition"] == condition)]
    assert len(rows) == 25
    for row in rows.itertuples():
        value = detail["values"][detail["rows"].index(row.judge)][detail["columns"].index(row.target)]
        assert value == pytest.approx(row.human_bias, abs=1e-9)


@pytest.mark.parametrize(("names", "mean"), [("shown", 0.4636), ("hidden", 0.426)])
def test_published_panel_offset(published, own, names, mean):
    """Fig. 9: +0.46 and +0.43, 23 of 25 pairs positive in the first panel (and, it turns out, in the second)."""
    found = judge_profiles.human_panel_offset(published).of(names=names)
    assert found.value == pytest.approx(mean)
    assert found.detail["share_positive"] == "23 of 25"
    assert found.value == pytest.approx(judge_profiles.human_offset_matrix(published).of(names=names).value)
    by_judge = human_alignment.human_offset(published)
    assert found.value == pytest.approx(np.mean([by_judge.of(judge=j, names=names).value for j in own]))


def test_published_self_offsets(published, own):
    """Secs. 4.4 and 7.2; the ranges printed there for Gemini and Grok do not follow from the tables."""
    found = judge_profiles.human_self_offset(published)
    values = {c: [found.of(judge=j, names=c).value for j in own] for c in ("shown", "hidden")}
    assert values["shown"] == pytest.approx([-0.01, 1.14, 1.03, 0.20, 0.79])
    assert values["hidden"] == pytest.approx([-0.09, 0.96, 1.07, 0.20, 0.67])


def test_closest_to_people_over_all_texts_is_not_closest_on_its_own(published):
    """GPT-5.1 scores itself as people do (-0.01), but over all five texts Claude is closer: 0.246 against 0.274."""
    found = human_order.closest_judge(published).of(names="shown")
    assert found.detail["judge"] == "claude-4.5-sonnet"
    assert [row["distance"] for row in found.detail["ranking"][:2]] == pytest.approx([0.246, 0.274])
    assert sum(row["first"] for row in found.detail["ranking"]) == pytest.approx(1)
    assert 0.6 < found.detail["ranking"][0]["first"] < 0.95


def test_published_order(published):
    found = human_order.human_order(published)
    claude, gpt = (found.of(judge=j, names="shown") for j in ("claude-4.5-sonnet", "gpt-5.1"))
    assert (claude.value, claude.detail["p_permutation"]) == pytest.approx((1.0, 2 / 120))
    assert gpt.value == pytest.approx(0.9)
    assert math.isnan(gpt.low)


# --------------------------------------------------------------------------- means of people, by hand


def test_offset_and_its_intervals_by_hand(rate):
    """Judge 9, 8 against 8, 7.5: +1 and +0.5, +0.75 on average. Over texts: Var = 0.125/2 = 0.0625, 1 df. People:
    0.8/sqrt(16) = 0.2 on each target; at worst they err together, so 0.2 on the mean too: Var = 0.1025,
    df = 0.1025^2/(0.0625^2/1 + 0.04^2/15). Over repeats: Var = (0.5/2 + 0.5/2)/4 = 0.125, 2 df."""
    ratings = rate({("x", "a"): [8.5, 9.5], ("x", "b"): [7.5, 8.5]}, people=people(a=8.0, b=7.5))
    found = human_alignment.human_offset(ratings).of(judge="x")
    assert (found.value, found.n, found.over) == (pytest.approx(0.75), 2, "items")
    df = 0.1025**2 / (0.0625**2 / 1 + 0.04**2 / 15)
    assert found.high == pytest.approx(0.75 + stats.t(df).ppf(0.975) * math.sqrt(0.1025))
    assert found.detail["people_se"] == pytest.approx(0.2)
    assert found.detail["these_texts"][1] == pytest.approx(0.75 + stats.t(2).ppf(0.975) * math.sqrt(0.125))


def test_a_judge_that_gives_what_people_give_is_not_certain(rate):
    """Neither texts nor repeats differ: the width is that of people, and of a slip by one step."""
    ratings = rate({("x", "a"): [8, 8], ("x", "b"): [7, 7]}, people=people(a=8.0, b=7.0))
    found = human_alignment.human_offset(ratings).of(judge="x")
    assert found.high > 0.2 * stats.t(15).ppf(0.975)


def test_a_summary_rests_on_the_mean_that_fewest_people_made(rate):
    """Means of 4 and of 25 people: the degrees of freedom of their error are those of the 4."""
    summary = pd.DataFrame({"target": ["a", "b"], "mean": [8.0, 7.0], "sd": 1.0, "n": [4, 25]})
    found = human_alignment.human_offset(rate({("x", "a"): [8, 7], ("x", "b"): [7, 6]}, people=summary)).of(judge="x")
    assert found.detail["people"] == 4
    assert found.detail["people_se"] == pytest.approx((1 / 2 + 1 / 5) / 2)


def test_people_who_rated_under_the_same_names_come_first():
    """Ann rated with names shown and ben with names hidden: each level is held against its own person."""
    rows = [("x", "judge", "shown", 5.0), ("x", "judge", "hidden", 5.0)]
    rows += [("ann", "person", "shown", 4.0), ("ben", "person", "hidden", 2.0)]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "names", "score"])
    offsets = human_alignment.human_offset(Ratings.of(frame.assign(item="i", target="t")))
    assert {names: offsets.of(judge="x", names=names).value for names in ("shown", "hidden")} == {
        "shown": 1.0, "hidden": 3.0,
    }  # fmt: skip


def test_share_positive_counts_strictly_positive_pairs(rate):
    """0.1 above, equal but for binary rounding, 0.1 below."""
    cells = {("x", "a"): [8.1, 8.1], ("x", "b"): [0.1 + 0.2, 0.3], ("x", "c"): [7.9, 7.9]}
    found = judge_profiles.human_panel_offset(rate(cells, people=people(a=8.0, b=0.3, c=8.0))).of()
    assert found.detail["share_positive"] == "1 of 3"


def test_targets_of_several_texts_against_means_of_targets(rate):
    """Texts 8, 6 of a against 6, text 4 of b against 5: differences 2, 0, -1, mean 1/3 over three items: Var = 7/3 / 3,
    and people's error beside it."""
    cells = {("x", "i", "a"): [8], ("x", "j", "a"): [6], ("x", "k", "b"): [4]}
    ratings = rate(cells, people=people(a=6.0, b=5.0))
    found = human_alignment.human_offset(ratings).of(judge="x")
    assert (found.value, found.n, found.over) == (pytest.approx(1 / 3), 3, "items")
    assert found.distribution.se == pytest.approx(math.sqrt(7 / 9 + found.detail["people_se"] ** 2))
    matrix = judge_profiles.human_offset_matrix(ratings).of().detail
    assert (matrix["values"], matrix["human"]) == ([[1.0, -1.0]], [6.0, 5.0])
    closest = human_order.closest_judge(ratings).of()
    assert closest.value == pytest.approx(1.0)  # |7 - 6| and |4 - 5|: targets were rated as a whole


def test_order_of_targets_by_the_means_of_their_texts(rate):
    """Targets a, b, c have means 7, 5, 3 over three texts each; people say 3, 2, 1."""
    means = {"a": 7, "b": 5, "c": 3}
    cells = {("x", f"i{k}", t): [m + d] for t, m in means.items() for k, d in enumerate((0.4, 0, -0.4))}
    found = human_order.human_order(rate(cells, people=people(a=3.0, b=2.0, c=1.0))).of(judge="x")
    assert (found.value, found.n, found.over, found.detail["targets"]) == (1.0, 3, "items", 3)
    assert found.low == found.high == 1.0  # no choice of these items turns it round


# --------------------------------------------------------------------------- people item by item


def crowd(make_frame, judge, persons):
    """Frames of judges {judge: {item: score}} and of people {person: {item: score}}, one repeat, one target."""
    parts = [
        make_frame({(rater, item, "t"): [score] for item, score in scores.items()}, kind=kind)
        for kind, raters in (("judge", judge), ("person", persons))
        for rater, scores in raters.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_offset_from_people_item_by_item_is_the_paired_t_test(rate, make_frame):
    rng = np.random.default_rng(0)
    judge = {f"i{k}": float(v) for k, v in enumerate(rng.normal(6, 1, 12))}
    persons = {p: {f"i{k}": float(v) for k, v in enumerate(rng.normal(5, 1, 12))} for p in ("ann", "ben")}
    found = human_alignment.human_offset(rate(crowd(make_frame, {"x": judge}, persons))).of(judge="x")
    mean = [np.mean([persons[p][i] for p in persons]) for i in judge]
    theirs = stats.ttest_rel(list(judge.values()), mean)
    assert (found.n, found.over) == (12, "items")
    levels = [np.mean(list(persons[p].values())) for p in persons]
    assert found.detail["people_se"] == pytest.approx(np.std(levels, ddof=1) / math.sqrt(2))
    se, df = abs(found.value / theirs.statistic), theirs.df
    assert (found.distribution.se, found.distribution.df) == pytest.approx((se, df))
    both = math.hypot(se, found.detail["people_se"])
    freedom = both**4 / (se**4 / df + found.detail["people_se"] ** 4 / 1)
    half = stats.t(freedom).ppf(0.975) * both
    assert found.detail["people_in_general"] == pytest.approx([found.value - half, found.value + half])
    assert "against these 2 people" in found.note


@pytest.mark.parametrize(("count", "few"), [(2, True), (3, True), (4, False)])
def test_two_or_three_people_are_named_as_these(rate, make_frame, count, few):
    level = {f"i{k}": float(k % 5 + 2) for k in range(12)}
    persons = {f"p{k}": {item: value + k for item, value in level.items()} for k in range(count)}
    found = human_alignment.human_offset(rate(crowd(make_frame, {"x": level}, persons))).of(judge="x")
    assert (f"against these {count} people" in found.note) == few


@pytest.mark.parametrize("texts", [60, 300, 2000, 20_000])
def test_more_texts_never_lose_an_offset_and_never_make_a_trifle_one(rate, texts):
    """Three people who lean by -.5, 0 and +.5 on 1-5, as three people of one corpus do, and the limit of +-.24: a judge
    .74 above them is beyond it at 99.9 % at every size; one .08 above them is inside it with 20,000 texts."""
    rng = np.random.default_rng(5)
    quality = rng.normal(3, 0.6, texts)
    leans = {"ann": -0.5, "ben": 0.0, "cem": 0.5, "lenient": 0.74, "fair": 0.08}
    wide = pd.DataFrame({name: quality + lean + rng.normal(0, 0.7, texts) for name, lean in leans.items()})
    frame = wide.assign(item=wide.index.astype(str), target="t").melt(["item", "target"], var_name="rater",
                                                                      value_name="score")  # fmt: skip
    frame["kind"] = np.where(frame["rater"].isin(["ann", "ben", "cem"]), "person", "judge")
    found = human_alignment.human_offset(rate(frame, scales=Numeric(-5, 11, 0.01)))
    lenient, fair = found.of(judge="lenient"), found.of(judge="fair")
    assert lenient.distribution.interval(0.999)[0] > 0.24
    assert lenient.detail["people_in_general"][0] < 0.24
    assert texts < 20_000 or -0.24 < fair.low < fair.high < 0.24


@pytest.mark.slow
@pytest.mark.parametrize("icc", [0.25, 0.45, 0.7])
def test_a_person_in_the_judges_seat_is_inside_the_limit_as_often_as_printed(rate, icc):
    """Three people and a judge who is one more, without a lean, against +-.24 of 1-5: 100 tables of each size."""
    limit = Limit.of({"within": [-0.24, 0.24]})
    for texts in (60, 300):
        rng, passes, printed = np.random.default_rng(texts), [], []
        for _ in range(100):
            seen = rng.normal(size=texts) + np.sqrt(1 / icc - 1) * rng.normal(size=(4, texts))
            grades = np.clip(np.round(3 + seen), 1, 5)
            wide = pd.DataFrame(dict(zip(("x", "ann", "ben", "cem"), grades, strict=True)))
            frame = wide.assign(item=wide.index.astype(str)).melt("item", var_name="rater", value_name="score")
            frame["kind"] = np.where(frame["rater"] == "x", "judge", "person")
            found = human_alignment.human_offset(rate(frame, scales=Numeric(1, 5, step=1.0))).of(judge="x")
            passes.append(-0.24 <= found.low <= found.high <= 0.24)
            printed.append(power_of(limit, found, 0.95, 0.95)["fair_passes"])
        assert np.mean(printed) == pytest.approx(np.mean(passes), abs=0.12), texts
    assert np.mean(passes) > 0.5


@pytest.mark.parametrize("texts", [30, 200])
def test_a_perfect_judge_has_no_offset_and_the_order_of_people(rate, texts):
    """Identical to three unanimous people on 1-5: inside +-.24, and above .3, with an interval for both."""
    grades = [float(1 + k % 5) for k in range(texts)]
    rows = [(who, "judge" if who == "x" else "person", f"i{k}", grade)
            for who in ("x", "ann", "ben", "cem") for k, grade in enumerate(grades)]  # fmt: skip
    ratings = rate(pd.DataFrame(rows, columns=["rater", "kind", "item", "score"]), scales=Numeric(1, 5, step=1.0))
    offset, order = human_alignment.human_offset(ratings).of(judge="x"), human_order.human_order(ratings).of(judge="x")
    assert (offset.value, order.value) == (0.0, 1.0)
    assert -0.24 < offset.low < 0 < offset.high < 0.24
    assert 0.3 < order.low < order.high == 1.0


def test_texts_that_a_judge_lost_or_nobody_rated_cost_that_judge_alone(rate, make_frame):
    judges = {"x": {"i": 5, "j": 6, "k": "refused", "l": 9}, "y": {"i": 4, "j": 4, "k": 4, "l": 4}}
    ratings = rate(crowd(make_frame, judges, {"ann": {"i": 4, "j": 4, "k": 2}, "ben": {"i": 4, "k": 4}}))
    found = human_alignment.human_offset(ratings)
    x, y = found.of(judge="x"), found.of(judge="y")
    assert (x.value, x.n, x.n_excluded) == (pytest.approx(1.5), 2, 1)
    assert (y.value, y.n, y.n_excluded) == (pytest.approx(1 / 3), 3, 0)  # 0, 0 and 4 - 3
    assert "1 texts that no person rated are left out" in y.note
    assert human_order.closest_judge(ratings).of().detail["judge"] == "y"


def test_order_over_items_is_scipys_with_people_as_its_mean(rate, make_frame):
    rng = np.random.default_rng(1)
    items = [f"i{k}" for k in range(30)]
    truth = rng.normal(3, 1, 30)
    judge = dict(zip(items, (truth + rng.normal(0, 1, 30)).tolist(), strict=True))
    persons = {p: dict(zip(items, (truth + rng.normal(0, 1, 30)).tolist(), strict=True)) for p in ("ann", "ben")}
    found = human_order.human_order(rate(crowd(make_frame, {"x": judge}, persons))).of(judge="x")
    mean = [np.mean([persons[p][i] for p in persons]) for i in items]
    theirs = stats.spearmanr(list(judge.values()), mean)
    assert found.value == pytest.approx(theirs.statistic)
    assert found.detail["p_permutation"] == pytest.approx(theirs.pvalue)
    assert found.detail["p_method"] == "Student's t"
    assert found.detail["kendall"] == pytest.approx(stats.kendalltau(list(judge.values()), mean).statistic)
    assert (found.n, found.detail["texts"], found.over) == (30, 30, "items")
    half = stats.norm.ppf(0.975) * math.sqrt((1 + found.value**2 / 2) / 27)
    assert found.low == pytest.approx(math.tanh(math.atanh(found.value) - half))


def test_two_options_are_compared_as_shares(rate, make_frame):
    """x passes 3 of 4 texts, people 2 of 4 on average: +0.25 of a share."""
    rows = [
        ("x", "judge", ["pass", "pass", "pass", "fail"]),
        ("ann", "person", ["pass", "pass", "fail", "fail"]),
        ("ben", "person", ["pass", "fail", "pass", "fail"]),
    ]
    frame = pd.DataFrame([
        {"rater": rater, "kind": kind, "item": f"i{k}", "response": response}
        for rater, kind, responses in rows for k, response in enumerate(responses)
    ])  # fmt: skip
    found = human_alignment.human_offset(rate(frame, scales=Ordinal(("fail", "pass")))).of(judge="x")
    assert (found.value, found.unit, found.span) == (0.25, "share", 1.0)


def test_people_who_rated_under_one_level_count_for_the_others(rate, make_frame):
    shown = make_frame({("x", "i", "t"): [7], ("x", "j", "t"): [8]}, names="shown")
    hidden = make_frame({("x", "i", "t"): [6], ("x", "j", "t"): [6]}, names="hidden")
    persons = make_frame({("ann", "i", "t"): [5], ("ann", "j", "t"): [6]}, kind="person", names="hidden")
    found = human_alignment.human_offset(rate(pd.concat([shown, hidden, persons])))
    assert {key: e.value for key, e in found.items()} == {("x", "shown"): 2.0, ("x", "hidden"): 0.5}


def test_several_criteria_each_have_their_people(rate, make_frame):
    parts = [
        make_frame({(rater, "i", "t"): [score]}, criterion=name, kind=kind)
        for rater, kind, scores in (("x", "judge", (4, 3)), ("ann", "person", (2, 5)))
        for name, score in zip(("tone", "facts"), scores, strict=True)
    ]
    frame = pd.concat(parts)
    found = human_alignment.human_offset(rate(frame, scales=Numeric(1, 5)))
    assert {key: e.value for key, e in found.items()} == {("x", "tone"): 2.0, ("x", "facts"): -2.0}


def test_one_person_has_no_error_of_their_own(rate, make_frame):
    ratings = rate(crowd(make_frame, {"x": {"i": 3, "j": 5}}, {"ann": {"i": 2, "j": 3}}))
    found = human_alignment.human_offset(ratings).of(judge="x")
    assert (found.value, found.detail["people_se"]) == (1.5, None)
    assert "one person" in found.note


@pytest.mark.parametrize("others", [{}, {"ann": {"i": 4, "j": 5}, "ben": {"i": 4, "j": 5}}])
def test_right_answers_are_no_person_and_come_before_people_who_are_wrong_together(rate, make_frame, others):
    frame = crowd(make_frame, {"x": {"i": 3, "j": 5}}, {"key": {"i": 2, "j": 3}, **others})
    found = human_alignment.human_offset(rate(frame, truth="key")).of(judge="x")
    assert found.value == 1.5
    assert ("right answers" in found.note, found.detail.get("held_against")) == (True, "the right answers")


def test_people_stay_where_no_right_answers_are_known(rate, make_frame):
    """Of one of two criteria; of the other the people are right."""
    raters = [("x", "judge", (4, 3)), ("key", "person", (2, None)), ("ann", "person", (4, 5))]
    parts = [
        make_frame({(rater, "i", "t"): [score]}, criterion=name, kind=kind)
        for rater, kind, scores in raters
        for name, score in zip(("tone", "facts"), scores, strict=True)
        if score is not None
    ]
    found = human_alignment.human_offset(rate(pd.concat(parts), scales=Numeric(1, 5), truth="key"))
    assert {key: (e.value, e.detail.get("held_against")) for key, e in found.items()} == {
        ("x", "tone"): (2.0, "the right answers"), ("x", "facts"): (-2.0, None),
    }  # fmt: skip


# --------------------------------------------------------------------------- identities and coverage


def test_raising_all_scores_raises_every_offset_and_no_order(published, published_frame, as_published):
    raised = as_published(published_frame.assign(score=published_frame["score"] + 0.5))
    before, after = (human_alignment.human_offset(r) for r in (published, raised))
    assert [after[k].value - before[k].value for k in before] == pytest.approx([0.5] * 10)
    before, after = (human_order.human_order(r) for r in (published, raised))
    assert [after[k].value for k in before] == pytest.approx([before[k].value for k in before])


def test_order_is_scipys_and_a_relabelling_keeps_it(rate, make_frame):
    rng = np.random.default_rng(1)
    means = {t: float(rng.normal(8, 1)) for t in "abcde"}
    frame = make_frame({("x", t): rng.normal(8, 1, 6) for t in "abcde"})
    found = human_order.human_order(rate(frame, people=people(**means))).of(judge="x")
    judge = frame.groupby("target")["score"].mean()
    assert found.value == pytest.approx(stats.spearmanr(judge, list(means.values())).statistic)
    kendall = stats.kendalltau(judge, list(means.values()), method="exact")
    assert found.detail["kendall"] == pytest.approx(kendall.statistic)
    assert found.detail["kendall_p_permutation"] == pytest.approx(kendall.pvalue)
    swapped = {"a": "e", "b": "d", "c": "c", "d": "b", "e": "a"}
    other = frame.assign(target=frame["target"].map(swapped), item=frame["target"].map(swapped))
    renamed = rate(other, people=people(**{swapped[t]: m for t, m in means.items()}))
    again = human_order.human_order(renamed).of(judge="x")
    assert again.value == pytest.approx(found.value)
    assert again.detail["p_permutation"] == found.detail["p_permutation"]


@pytest.mark.slow
def test_offset_intervals_over_items_cover(rate, make_frame):
    """A judge 0.4 above two people, 20 items of two texts each that share something: measured 94.7 % of 300."""
    rng, held, sims = np.random.default_rng(3), 0, 100
    texts = [(f"i{k}", t) for k in range(20) for t in "ab"]
    for _ in range(sims):
        item = dict(zip([f"i{k}" for k in range(20)], rng.normal(0, 0.5, 20), strict=True))
        judge = make_frame({("x", i, t): [6.4 + item[i] + rng.normal(0, 0.5)] for i, t in texts})
        persons = [make_frame({(p, i, t): [6 + rng.normal(0, 0.5)] for i, t in texts}, kind="person") for p in "pq"]
        found = human_alignment.human_offset(rate(pd.concat([judge, *persons]))).of(judge="x")
        held += found.low <= 0.4 <= found.high
    assert held / sims == pytest.approx(0.95, abs=0.065)  # three standard errors


# --------------------------------------------------------------------------- degenerate input


def test_an_order_of_three_texts_is_a_value_without_an_interval(rate):
    means, human = {"a": 5, "b": 7, "c": 9}, people(a=5.0, b=6.0, c=7.0)
    ratings = rate({("x", t): [m - 0.1, m + 0.1] for t, m in means.items()}, people=human)
    found = human_order.human_order(ratings).of(judge="x")
    assert found.value == 1
    assert math.isnan(found.low)
    assert "needs 8 pairs" in found.note


@pytest.mark.parametrize(
    ("scores", "means", "why"),
    [
        ({"a": 7, "b": 7, "c": 7}, {"a": 7, "b": 8, "c": 9}, "x gave every target 7"),
        ({"a": 7, "b": 8, "c": 9}, {"a": 8, "b": 8, "c": 8}, "people gave every target 8"),
        ({"a": 7, "b": 8}, {"a": 8, "b": 9}, "needs three targets; there are 2"),
    ],
)
def test_no_order_no_agreement(rate, scores, means, why):
    cells = {("x", t): [s - 0.1, s + 0.1] for t, s in scores.items()}
    found = human_order.human_order(rate(cells, people=people(**means))).of(judge="x")
    assert not found.defined
    assert why in found.note


def test_a_judge_without_a_text_in_common_is_undefined(rate):
    cells = {("x", "a"): ["refused", "refused"], ("y", "a"): [7, 8], ("z", "b"): [5, 6]}
    ratings = rate(cells, authors={"x": "a", "y": "a"}, people=people(a=8.0))
    found = human_alignment.human_offset(ratings)
    assert "no text that people rated has a usable score" in found.of(judge="x").note
    assert found.of(judge="x").n_excluded == 2
    assert found.of(judge="z").note.startswith("undefined: ")
    assert found.of(judge="y").value == pytest.approx(-0.5)
    assert not judge_profiles.human_self_offset(ratings).of(judge="x").defined
    assert judge_profiles.human_offset_matrix(ratings).of().detail["values"] == [
        [None, None],
        [-0.5, None],
        [None, None],
    ]


def test_no_people_and_faulty_summaries_are_named(rate, make_frame):
    cells = {("x", "a"): [8, 9], ("x", "b"): [7, 8]}
    with pytest.raises(RecuseError, match=r"no people to compare judges with: add rows of kind person"):
        human_alignment.human_offset(rate(cells))
    with pytest.raises(RecuseError, match="needs one row for target; a has several"):
        human_alignment.human_offset(rate(cells, people=pd.concat([people(a=8.0, b=8.0), people(a=7.0)])))
    with pytest.raises(RecuseError, match=r"summary of people's ratings lacks the column\(s\) n;"):
        judge_profiles.human_panel_offset(rate(cells, people=people(a=8.0, b=8.0).drop(columns="n")))
    two = pd.concat([make_frame(cells), make_frame(cells, criterion="tone")])
    scales = {"total": Numeric(0, 10), "tone": Numeric(0, 100)}
    with pytest.raises(RecuseError, match="must say of which criterion"):
        human_alignment.human_offset(rate(two, scales=scales, people=people(a=8.0, b=8.0)))


def test_a_lenient_judge_at_the_limit_seldom_passes():
    """Pass or fail, the judge errs in one direction alone: how often it passes is a sum of binomial chances, without
    drawing. Jeffreys' bounds are right on average over the numbers of texts; Student's t let .17 pass at 52."""
    limit, passed = 0.06, {}
    for texts in (52, 65, 80, 100, 125, 150, 200):
        passed[texts] = 0.0
        for slips in range(texts // 16):
            person = np.arange(texts) % 2
            judge = np.where(np.cumsum(person == 0) <= slips, 1, person)
            frame = pd.concat([
                pd.DataFrame({"rater": rater, "kind": kind, "item": range(texts),
                              "response": np.array(["fail", "pass"], dtype=object)[given]})
                for rater, kind, given in (("judge", "judge", judge), ("anna", "person", person))
            ])  # fmt: skip
            found = human_alignment.human_offset(Ratings.of(frame, scales=Ordinal(("fail", "pass"))))
            assert found.of(judge="judge").value == pytest.approx(slips / texts)
            if found.of(judge="judge").high < limit:
                passed[texts] += stats.binom.pmf(slips, texts, limit)
    assert max(passed.values()) <= 0.05
    assert 0.01 < sum(passed.values()) / len(passed) <= 0.03

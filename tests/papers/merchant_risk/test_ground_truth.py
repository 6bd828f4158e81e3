"""Ground truth: the paper's picks, hand-made risks, the meaning of a misassignment, degenerate picks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from recuse.papers.merchant_risk import picks as ground_truth
from recuse.papers.merchant_risk.people_ratings import three_sources
from recuse.ratings import Nominal, Numeric, Ordinal, Ratings
from recuse.schema import RecuseError

PUBLISHED = Path(__file__).parents[3] / "fixtures" / "published"
LEVELS = pd.read_csv(PUBLISHED / "mcc_levels.csv", dtype=str)
RHO = pd.read_csv(PUBLISHED / "spearman.csv")


def picks_of(levels, judge="x", repeat=0):
    """Rows of picks; `levels` maps an item to its level, or to a status."""
    return pd.DataFrame([
        {
            "rater": judge, "item": str(item), "target": judge, "criterion": "level", "repeat": repeat,
            "score": math.nan if isinstance(level, str) else float(level),
            "status": level if isinstance(level, str) else "ok", "request": judge,
        }
        for item, level in levels.items()
    ])  # fmt: skip


def truth_of(values):
    return pd.DataFrame({"item": [str(item) for item in values], "value": list(values.values())})


def given(picks, truth, **known):
    return Ratings.of(picks, scales=Numeric(1, 5, 1), reference=truth, **known)


def one(family, judge="x"):
    return family.of(judge=judge)


FIFTEEN = {5400 + i: 1 + i // 3 for i in range(15)}


# --------------------------------------------------------------------------- published


def test_published_levels_with_the_risks_of_scipy():
    """The paper's 75 picks against any risk table: rho is scipy's, ties and all, n = 15 for every model."""
    rng = np.random.default_rng(1)
    risk = {mcc: float(rng.random()) for mcc in LEVELS["mcc"].unique()}
    assert len(risk) == 39
    picks = pd.concat([
        picks_of(dict(zip(rows["mcc"], rows["level"].astype(int), strict=True)), judge=model)
        for model, rows in LEVELS.groupby("model")
    ])  # fmt: skip
    found = ground_truth.rank_correlation(given(picks, truth_of(risk)))
    for model, rows in LEVELS.groupby("model"):
        expected = stats.spearmanr(rows["level"].astype(int), [risk[mcc] for mcc in rows["mcc"]])
        estimate = found.of(judge=model)
        assert (estimate.n, estimate.over) == (15, "items")
        assert estimate.value == pytest.approx(expected.statistic)
        assert estimate.detail["p_t"] == pytest.approx(expected.pvalue)
        assert estimate.detail["p_method"] == "all 168168000 arrangements"


def test_the_printed_p_values_are_t_approximations_at_fifteen_pairs():
    """Sec. 5.2: rho .77/.69/.61/.56/.49 at n = 15 gives p < .001, < .01, < .05, < .05 and .064."""
    from recuse.papers.rank_tests import spearman_t

    p = {row.model: spearman_t(row.rho, 15) for row in RHO.itertuples()}
    assert p["claude-4.5-sonnet"] < 0.001 < p["gemini-2.5-pro"] < 0.01 < p["grok-4"] < p["gpt-5.1"] < 0.05
    assert p["perplexity-sonar"] == pytest.approx(0.064, abs=5e-4)


# --------------------------------------------------------------------------- by hand


def test_a_perfect_model():
    risk = {mcc: 0.001 * mcc for mcc in FIFTEEN}
    picks, truth = picks_of(FIFTEEN), truth_of(risk)
    correlation = one(ground_truth.rank_correlation(given(picks, truth)))
    assert correlation.value == pytest.approx(stats.spearmanr(list(FIFTEEN.values()), list(risk.values())).statistic)
    assert correlation.value < 1  # ties: levels cannot follow the order within a level
    assert correlation.low > 0.5
    placed = one(ground_truth.misassignments(given(picks, truth)))
    assert (placed.value, placed.detail["nonadjacent"], placed.detail["adjacent"]) == (0.0, [], [])
    assert [row["item"] for row in placed.detail["in_place"]] == [str(mcc) for mcc in FIFTEEN]
    steps = one(ground_truth.progression(given(picks, truth)))
    assert (steps.value, steps.detail["falls"], steps.detail["violation"]) == (1.0, [], 0.0)


def test_misassignments_by_hand():
    """Six picks, two per level. By risk: c (1), a (1), e (2), b (2), f (3), d (3) where levels are a1 b1 c2 d2 e3 f3:
    c is 2 -> 1, b is 1 -> 2, e is 3 -> 2, d is 2 -> 3: four adjacent; a and f in place. With f at the bottom the order
    is f (1), c (1), a (2), e (2), b (3), d (3): f is 3 -> 1 and b 1 -> 3. Codes a to f are 11 to 16."""
    levels = {"11": 1, "12": 1, "13": 2, "14": 2, "15": 3, "16": 3}
    risk = {"13": 0.1, "11": 0.2, "15": 0.3, "12": 0.4, "16": 0.5, "14": 0.6}
    found = one(ground_truth.misassignments(given(picks_of(levels), truth_of(risk))))
    assert found.value == 0
    assert [row["item"] for row in found.detail["adjacent"]] == ["12", "13", "14", "15"]
    assert [row["item"] for row in found.detail["in_place"]] == ["11", "16"]
    worse = one(ground_truth.misassignments(given(picks_of(levels), truth_of(risk | {"16": 0.05}))))
    assert worse.detail["nonadjacent"] == [
        {"item": "12", "name": "", "assigned": 1, "empirical": 3, "value": 0.4},
        {"item": "16", "name": "", "assigned": 3, "empirical": 1, "value": 0.05},
    ]
    assert worse.value == pytest.approx(2 / 6)
    assert math.isnan(worse.low)


def test_equal_risks_are_read_kindly():
    """Where the data see no difference, no order of theirs can be wrong."""
    found = one(
        ground_truth.misassignments(
            given(picks_of({"11": 5, "12": 1, "13": 3}), truth_of({"11": 0.2, "12": 0.2, "13": 0.2}))
        )
    )
    assert len(found.detail["in_place"]) == 3


def test_misassignments_keep_the_models_own_counts():
    """A model that calls everything level 4 or 5 is compared with the upper levels, not with quintiles."""
    levels = {"11": 4, "12": 5, "13": 5}
    found = one(ground_truth.misassignments(given(picks_of(levels), truth_of({"11": 0.9, "12": 0.1, "13": 0.5}))))
    assert {row["item"]: row["empirical"] for row in found.detail["adjacent"]} == {"11": 5, "12": 4}


def test_progression_by_hand():
    """Level means 1, 3, 2 (one pick each): one of two steps rises; isotonic 1, 2.5, 2.5; violation 0.5 / 2 = 0.25."""
    found = one(
        ground_truth.progression(
            given(picks_of({"11": 1, "12": 2, "13": 3}), truth_of({"11": 1.0, "12": 3.0, "13": 2.0}))
        )
    )
    assert found.value == 0.5
    assert found.detail["falls"] == [{"from": 2, "to": 3, "by": 1.0}]
    assert [row["isotonic"] for row in found.detail["levels"]] == [1.0, 2.5, 2.5]
    assert found.detail["violation"] == pytest.approx(0.25)


def test_levels_weigh_as_many_as_their_picks():
    """Means 0.4 (three picks) and 0 (one): pooled to 0.3, not 0.2. Violation: all of it, 1."""
    risk = {"11": 0.4, "12": 0.4, "13": 0.4, "14": 0.0}
    found = one(ground_truth.progression(given(picks_of({"11": 1, "12": 1, "13": 1, "14": 2}), truth_of(risk))))
    assert [row["isotonic"] for row in found.detail["levels"]] == pytest.approx([0.3, 0.3])
    assert found.detail["violation"] == pytest.approx(1.0)


def test_the_closest_sequence_that_never_falls_is_that_of_scipy():
    rng = np.random.default_rng(7)
    for size in range(1, 25):
        values, weights = rng.normal(size=size).round(size % 3), rng.integers(1, 9, size).astype(float)
        expected = optimize.isotonic_regression(values, weights=weights).x
        assert ground_truth.never_falling(values, weights) == pytest.approx(expected, abs=1e-12)


def test_between_two_runs_the_lower_level_is_named():
    runs = pd.concat([picks_of({"11": level, "12": 4}, repeat=i) for i, level in enumerate((5, 2))])
    found = one(ground_truth.misassignments(given(runs, truth_of({"11": 0.9, "12": 0.1}))))
    assert [(row["item"], row["assigned"]) for row in found.detail["nonadjacent"]] == [("11", 2), ("12", 4)]


def test_an_unused_level_is_stepped_over():
    found = one(
        ground_truth.progression(
            given(picks_of({"11": 1, "12": 1, "13": 5}), truth_of({"11": 0.1, "12": 0.3, "13": 0.2}))
        )
    )
    assert found.detail["levels"][0] == {"level": 1, "picks": 2, "mean_value": 0.2, "isotonic": 0.2}
    assert found.value == 0.0  # 0.2 to 0.2 does not rise
    assert found.detail["falls"] == []


def test_runs_of_one_model_count_a_category_once():
    """Levels 1, 2, 2 over three runs: mean 5/3 for the correlation, median 2 where a level is named."""
    rest = {"12": 3, "13": 4, "14": 5}
    runs = pd.concat([picks_of({"11": level, **rest}, repeat=i) for i, level in enumerate((1, 2, 2))])
    truth = truth_of({"11": 0.9, "12": 0.1, "13": 0.2, "14": 0.3})
    assert one(ground_truth.rank_correlation(given(runs, truth))).n == 4
    far = one(ground_truth.misassignments(given(runs, truth))).detail["nonadjacent"]
    assert [(row["item"], row["assigned"], row["empirical"]) for row in far] == [("11", 2, 5)]


def test_relabelling_categories_changes_nothing():
    rng = np.random.default_rng(2)
    risk = {mcc: float(rng.random()) for mcc in FIFTEEN}
    codes = dict(zip(FIFTEEN, rng.permutation(list(FIFTEEN)), strict=True))
    before = ground_truth.rank_correlation(given(picks_of(FIFTEEN), truth_of(risk)))
    after = ground_truth.rank_correlation(
        given(
            picks_of({codes[m]: level for m, level in FIFTEEN.items()}),
            truth_of({codes[m]: r for m, r in risk.items()}),
        )
    )
    assert one(after).value == pytest.approx(one(before).value)
    assert one(after).detail == one(before).detail


# --------------------------------------------------------------------------- three sources


def beside(published, picks):
    """Picks beside the published scores, whose authors and people they share."""
    return replace(picks, authors=published.authors, beside=lambda kind: published if kind == "scores" else None)


def ordered(models):
    """Picks of twenty items per model whose rank correlations with the values ascend in the order given."""
    rng = np.random.default_rng(5)
    values = {str(k): float(v) for k, v in enumerate(rng.random(20))}
    rank = {item: place for place, item in enumerate(sorted(values, key=values.__getitem__))}
    parts = []
    for swaps, model in zip(range(len(models) - 1, -1, -1), models, strict=True):
        levels = {item: 1 + place // 4 for item, place in rank.items()}
        for k in range(swaps):  # exchange ever more extreme pairs
            low, high = (next(i for i, place in rank.items() if place == p) for p in (k, 19 - k))
            levels[low], levels[high] = levels[high], levels[low]
        parts.append(picks_of(levels, judge=model))
    return given(pd.concat(parts), truth_of(values))


def test_three_sources_where_data_agree_with_people(published, human):
    """Data in the order of people's means: rho 1 with them, and with peers, who order the five texts like people."""
    models = list(human.sort_values("mean")["target"])
    found = three_sources(beside(published, ordered(models))).of(names="shown")
    assert found.detail["values"] == [[1.0, 1.0, 1.0]] * 3
    assert found.detail["p"][0] == pytest.approx([None, 2 / 120, 2 / 120])
    assert found.value == pytest.approx(1.0)
    figures = found.detail["figures"]["gpt-5.1"]
    assert (figures["peers"], figures["people"]) == pytest.approx((9.135, 8.81))
    assert (found.n, found.n_excluded) == (5, 0)


def test_three_sources_of_the_paper_disagree_with_its_data(published):
    """Sec. 5.2: claude, gemini, grok, gpt, perplexity; people place gpt second: rho = 1 - 6 (4 + 1 + 1) / 120 = .7."""
    printed = list(RHO.sort_values("rho")["model"])
    found = three_sources(beside(published, ordered(printed)))
    for names in ("shown", "hidden"):
        assert found.of(names=names).detail["values"][0][1] == pytest.approx(1.0)
        assert found.of(names=names).detail["values"][1][2] == pytest.approx(0.7)
    assert found.of(names="shown").value == pytest.approx(0.8)


def test_a_model_without_one_figure_is_left_out(published):
    models = list(published.own())
    some = three_sources(beside(published, ordered(models[:4]))).of(names="shown")
    assert (some.n, some.n_excluded) == (4, 1)
    few = three_sources(beside(published, ordered(models[:2]))).of(names="shown")
    assert not few.defined
    assert "needs three models" in few.note
    alike = picks_of({str(k): 1 + k % 5 for k in range(20)})
    same = pd.concat([alike.assign(rater=model) for model in models])
    flat = three_sources(beside(published, given(same, truth_of({str(k): k for k in range(20)})))).of(names="shown")
    assert "same figure" in flat.note


def test_picks_alone_are_one_source(published):
    found = three_sources(ordered(list(published.own()))).of()
    assert found.note == "undefined: no scores of the models' texts stand beside their picks"


# --------------------------------------------------------------------------- degenerate picks


@pytest.mark.parametrize(
    ("levels", "risk", "why"),
    [
        ({"11": 1, "12": 2, "13": 3}, {"11": 0.1, "12": 0.2, "13": 0.3}, "needs four picks"),
        (dict.fromkeys(["11", "12", "13", "14"], 3), {"11": 1, "12": 2, "13": 3, "14": 4}, "same level, 3"),
        ({"11": 1, "12": 2, "13": 3, "14": 4}, dict.fromkeys(["11", "12", "13", "14"], 0.5), r"same value, 0\.5"),
    ],
)
def test_undefined_correlations_say_why(levels, risk, why):
    found = one(ground_truth.rank_correlation(given(picks_of(levels), truth_of(risk))))
    assert not found.defined
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(found.note)


def test_unknown_and_unusable_picks_are_counted_and_listed():
    picks = picks_of(FIFTEEN | {"9999": 5, "level-2": "unparsed"})
    risk = {mcc: 0.001 * mcc for mcc in FIFTEEN}
    found = one(ground_truth.rank_correlation(given(picks, truth_of(risk | {"9999": math.nan}))))
    assert (found.n, found.n_excluded, found.detail["unknown"]) == (15, 2, ["9999"])


def test_nothing_known_at_all():
    picks, truth = picks_of({"9999": 1}), truth_of({"11": 0.1})
    for measure in (ground_truth.rank_correlation, ground_truth.misassignments, ground_truth.progression):
        assert not one(measure(given(picks, truth))).defined


def test_options_from_lowest_to_highest_are_levels_too():
    levels = {"11": "low", "12": "low", "13": "middle", "14": "high"}
    picks = pd.DataFrame({"judge": "x", "item": list(levels), "response": list(levels.values())})
    truth = truth_of({"11": 0.9, "12": 0.1, "13": 0.2, "14": 0.3})
    scale = Ordinal(("low", "middle", "high"))
    ratings = Ratings.of(picks, scales=scale, reference=truth)
    found = one(ground_truth.misassignments(ratings))
    assert [(row["item"], row["assigned"], row["empirical"]) for row in found.detail["nonadjacent"]] == [
        ("11", "low", "high")
    ]
    expected = stats.spearmanr([0, 0, 1, 2], [0.9, 0.1, 0.2, 0.3]).statistic
    assert one(ground_truth.rank_correlation(ratings)).value == pytest.approx(expected)
    with pytest.raises(RecuseError, match="levels of criterion rating have no order; give its scale as numbers"):
        ground_truth.progression(Ratings.of(picks, scales=Nominal(scale.options), reference=truth))


def test_levels_half_a_point_apart_are_neighbours():
    picks = picks_of({"11": 1.0, "12": 1.5, "13": 2.0})
    truth = truth_of({"11": 0.9, "12": 0.1, "13": 0.2})
    found = one(ground_truth.misassignments(Ratings.of(picks, scales=Numeric(1, 2, 0.5), reference=truth)))
    assert [row["item"] for row in found.detail["adjacent"]] == ["12", "13"]
    assert [(row["item"], row["empirical"]) for row in found.detail["nonadjacent"]] == [("11", 2)]


def test_hundreds_of_picks_are_tested_by_t():
    rng = np.random.default_rng(6)
    values = {str(k): float(v) for k, v in enumerate(rng.random(300))}
    levels = {item: int(np.clip(1 + 5 * v + rng.normal(0, 1), 1, 5)) for item, v in values.items()}
    found = one(ground_truth.rank_correlation(given(picks_of(levels), truth_of(values))))
    theirs = stats.spearmanr(list(levels.values()), list(values.values()))
    assert (found.value, found.detail["p_t"]) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.detail["p_method"] == "Student's t"


def test_wrong_tables_are_named():
    with pytest.raises(RecuseError, match="no true values: give reference="):
        ground_truth.rank_correlation(Ratings.of(picks_of(FIFTEEN)))
    with pytest.raises(RecuseError, match="needs one row per item; 11 has several"):
        ground_truth.progression(given(picks_of(FIFTEEN), pd.concat([truth_of({11: 0.1}), truth_of({11: 0.2})])))
    with pytest.raises(RecuseError, match=r"reference lacks the column\(s\) value"):
        ground_truth.misassignments(given(picks_of(FIFTEEN), pd.DataFrame({"item": [11]})))

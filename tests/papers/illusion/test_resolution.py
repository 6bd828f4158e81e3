"""Agreement at three resolutions: against pandas, scipy and pingouin, on holes and ties, and by simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fixtures.standins.shared_heuristics import PAPER, JudgeModel, Study, as_ratings, simulate
from recuse.papers.illusion import resolution
from recuse.ratings import Numeric, Ratings
from recuse.statistics.agreement.coefficient import Coefficient

SMALL = Study(
    judges=(JudgeModel(name="x"), JudgeModel(name="y", leniency=1.0), JudgeModel(name="z", spread=0.5)),
    tiers={"base": (3.0, 3.5), "instruct": (5.0, 6.0)}, items=24,
)  # fmt: skip


@pytest.fixture(scope="module")
def holed() -> pd.DataFrame:
    """A frame of three judges, four targets and 24 items, one score in ten missing."""
    rng = np.random.default_rng(5)
    scores = simulate(SMALL, rng)[..., 0]
    scores[rng.random(scores.shape) < 0.1] = np.nan
    places = np.indices(scores.shape).reshape(3, -1)
    columns = {
        "judge": np.array(["x", "y", "z"])[places[0]], "item": [f"i{k}" for k in places[1]],
        "target": np.array(["a", "b", "c", "d"])[places[2]],
    }  # fmt: skip
    frame = pd.DataFrame(columns).assign(score=scores.ravel())
    return frame.assign(status=np.where(frame["score"].isna(), "unparsed", "ok"))


@pytest.fixture(scope="module")
def ratings(holed: pd.DataFrame) -> Ratings:
    return Ratings.of(holed, scales=Numeric(1, 10), tiers={"base": ("a", "b"), "instruct": ("c", "d")})


def wide(frame: pd.DataFrame, target: str, pair: tuple[str, str]) -> pd.DataFrame:
    rows = frame[frame["target"] == target].pivot(index="item", columns="judge", values="score")
    return rows[list(pair)].dropna()


def over_pairs(frame: pd.DataFrame, judge: str, of) -> float:
    """Mean over the other judges of the mean over targets."""
    means = []
    for other in "xyz":
        if other != judge:
            means.append(np.mean([of(wide(frame, target, (judge, other))) for target in "abcd"]))
    return float(np.mean(means))


def scored(score, items: int = 20) -> Ratings:
    """Two judges, x and y, of one target."""
    rows = [(judge, item, float(score(judge, item))) for judge in "xy" for item in range(items)]
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "score"]))


@pytest.mark.parametrize("judge", ["x", "y", "z"])
def test_sample_agreement_is_pandas_correlation(holed, ratings, judge):
    expected = over_pairs(holed, judge, lambda both: both.corr().iloc[0, 1])
    assert resolution.sample_agreement(ratings).of(judge=judge).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("judge", ["x", "y", "z"])
def test_absolute_agreement_is_pingouins_icc(holed, ratings, judge):
    pingouin = pytest.importorskip("pingouin")

    def icc(both: pd.DataFrame) -> float:
        long = both.reset_index().melt(id_vars="item", var_name="judge", value_name="score")
        table = pingouin.intraclass_corr(long, targets="item", raters="judge", ratings="score")
        return float(table["ICC"].iloc[1])  # ICC(2,1), whatever this release calls it

    expected = over_pairs(holed, judge, icc)
    assert resolution.absolute_agreement(ratings).of(judge=judge).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("judge", ["x", "y", "z"])
def test_model_agreement_is_scipys_rho(holed, ratings, judge):
    rhos = []
    for other in "xyz":
        if other != judge:
            means = [wide(holed, target, (judge, other)).mean() for target in "abcd"]
            rhos.append(stats.spearmanr([m[judge] for m in means], [m[other] for m in means]).statistic)
    assert resolution.model_agreement(ratings).of(judge=judge).value == pytest.approx(np.mean(rhos), abs=1e-12)


def test_the_gap_is_the_difference_of_its_parts(ratings):
    found = resolution.resolution_gap(ratings).of()
    detail = found.detail
    assert found.value == pytest.approx(detail["model"] - detail["sample"], abs=1e-9)
    assert detail["ranking_noise"] + detail["offset"] == pytest.approx(detail["model"] - detail["absolute"], abs=1e-9)
    assert detail["absolute"] == pytest.approx(resolution.panel_agreement(ratings).of().value, abs=1e-9)
    by_judge = resolution.sample_agreement(ratings)
    assert detail["sample"] == pytest.approx(np.mean([by_judge.of(judge=j).value for j in "xyz"]), abs=1e-9)
    assert math.isnan(found.low)
    assert "no interval" in found.note


def test_whether_pairs_differ_is_an_analysis_with_repeated_measures(holed, ratings):
    """F and p over targets that all pairs share, as pingouin has them; the paper takes the pairs for independent."""
    pingouin = pytest.importorskip("pingouin")
    rows = [(target, "".join(pair), wide(holed, target, pair).corr().iloc[0, 1])
            for target in "abcd" for pair in combinations("xyz", 2)]  # fmt: skip
    long = pd.DataFrame(rows, columns=["target", "pair", "r"])
    table = pingouin.rm_anova(long, dv="r", within="pair", subject="target", correction=False, detailed=True)
    found = resolution.resolution_gap(ratings).of().detail["pairs_differ"]
    assert (found["df"], found["df_rest"]) == (2, 6)
    assert found["f"] == pytest.approx(float(table["F"].iloc[0]), abs=1e-9)
    assert found["p"] == pytest.approx(float(table.filter(regex="^p.unc").iloc[0, 0]), abs=1e-9)


def test_leniency_costs_absolute_agreement_alone():
    moved = scored(lambda judge, item: item % 7 + 2 * (judge == "y"))
    assert resolution.sample_agreement(moved).of(judge="x").value == pytest.approx(1)
    assert resolution.absolute_agreement(moved).of(judge="x").value < 0.8


def test_a_constant_judge_is_undefined_and_says_so():
    found = resolution.sample_agreement(scored(lambda judge, item: 3 if judge == "y" else item % 5)).of(judge="x")
    assert not found.defined
    assert found.note == "undefined: a judge gives every text the same score"


def test_four_common_items_are_too_few():
    assert resolution.sample_agreement(scored(lambda judge, item: item, items=4)).of(judge="x").note == (
        "undefined: no target has 5 items that both judges rated"
    )


def test_one_judge_has_nobody_to_agree_with():
    frame = pd.DataFrame({"judge": "x", "item": range(9), "score": range(9)})
    assert "no other judge" in resolution.panel_agreement(Ratings.of(frame)).of().note


def test_two_forms_of_several_criteria_are_told_apart(holed):
    """Criteria that every judge scores higher make pooled agreement larger than that of any one of them."""
    several = pd.concat([holed.assign(criterion="a"), holed.assign(criterion="b", score=holed["score"] + 4)])
    both = Ratings.of(several, scales=Numeric(1, 14))
    one = resolution.sample_agreement(both).of(judge="x", criterion="a").value
    assert resolution.agreement_of_means(both).of(judge="x").value == pytest.approx(one, abs=1e-12)
    pooled = resolution.pooled_agreement(both).of(judge="x").value
    stacked = []
    for other, target in [(o, t) for o in "yz" for t in "abcd"]:
        pair = wide(holed, target, ("x", other))
        stacked.append(pd.concat([pair, pair + 4]).corr().iloc[0, 1])
    assert pooled == pytest.approx(np.mean(stacked), abs=1e-12)
    assert pooled > one


def test_one_criterion_has_no_forms(ratings):
    assert len(resolution.pooled_agreement(ratings)) == 0


def test_the_papers_pattern_comes_out_at_its_size():
    """105,600 judgements of judges that look at the surface alone."""
    found = resolution.resolution_gap(as_ratings(PAPER, simulate(PAPER, np.random.default_rng(3)))).values()
    means = {name: np.mean([e.detail[name] for e in found]) for name in ("model", "sample", "absolute")}
    assert len(found) == 11
    assert means["model"] == pytest.approx(0.99, abs=0.008)
    assert means["sample"] == pytest.approx(0.72, abs=0.02)
    assert means["absolute"] == pytest.approx(0.67, abs=0.02)


def test_agreement_cannot_tell_surface_from_substance():
    """Judges that all weigh substance agree as well as judges that all weigh surface; a mixed panel does not."""

    def agreement(*weights: tuple[float, float]) -> float:
        judges = tuple(
            JudgeModel(name=f"j{k}", surface_weight=a, substance_weight=b) for k, (a, b) in enumerate(weights)
        )
        study = Study(judges=judges, tiers={"all": (5.0, 5.5, 6.0)}, items=400)
        ratings = as_ratings(study, simulate(study, np.random.default_rng(8)))
        return resolution.panel_agreement(ratings).of(temperature="0").value

    surface, substance = agreement((1, 0), (1, 0)), agreement((0, 1), (0, 1))
    mixed = agreement((1, 0), (0, 1))
    assert surface == pytest.approx(substance, abs=0.05)
    assert mixed < 0.1 < surface - 0.4


@pytest.mark.slow
@pytest.mark.parametrize(("items", "targets"), [(20, 1), (20, 4), (60, 4)])
@pytest.mark.parametrize("level", [resolution.sample_r, resolution.absolute_icc], ids=["sample", "absolute"])
def test_intervals_over_items_hold_the_truth(items, targets, level):
    """Jackknife over items: nominal 95 %, of 1,000 panels; the truth is that of a very large one."""
    judges = (JudgeModel(name="x"), JudgeModel(name="y", leniency=0.6), JudgeModel(name="z"))
    tiers = {"all": tuple(np.linspace(4, 7, targets).tolist())}

    def measured(size: int, seed: int) -> Coefficient:
        scores = simulate(Study(judges=judges, tiers=tiers, items=size), np.random.default_rng(seed))[..., 0]
        shares = [resolution.pair_shares(scores[a], scores[a + 1 :], 5.0) for a in range(2)]
        return resolution.coefficient_of(np.concatenate(shares, axis=1), level)

    truth = measured(40_000, 1).value
    intervals = [measured(items, 100 + k).jackknife().interval(0.95) for k in range(1000)]
    held = np.mean([low <= truth <= high for low, high in intervals])
    assert 0.93 <= held <= 0.975

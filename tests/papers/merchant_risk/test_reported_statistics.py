"""Reported statistics: the inconsistencies of the published tables, printed precision, hand-made replies."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from recuse.papers.merchant_risk.reported_statistics import (
    printed_decimals,
    reported_total,
    self_reported_final,
    self_reported_mean,
    self_reported_sd,
)
from recuse.ratings import Numeric, Ratings
from recuse.schema import RatingsError

FINALS = pd.read_csv(Path(__file__).parents[2] / "metrics" / "data" / "finals.csv")
NAMES = {"attributed": "shown", "anonymized": "hidden"}


@pytest.fixture(scope="module")
def claimed(published_table, make_frame):
    """Appendix E as a judge would claim it in one reply: rows "<criterion>.mean" and "<criterion>.sd"."""
    frame = pd.concat([
        make_frame({(row.judge, row.target): [getattr(row, part)]}, criterion=f"{row.criterion}.{part}",
                   names=NAMES[row.condition])
        for row in published_table.itertuples() for part in ("mean", "sd")
    ], ignore_index=True)  # fmt: skip
    return Ratings.of(frame, scales=Numeric(0, 10), headline=["final.mean"])


def one(family, judge="x", **names):
    return family.of(judge=judge, **names)


@pytest.fixture
def replies(make_frame):
    def made(totals, scores=(8, 9, 9, 9, 10), target="t"):
        parts = [make_frame({("x", target): [s] * len(totals)}, criterion=c) for c, s in zip(FIVE, scores, strict=True)]
        return pd.concat([*parts, make_frame({("x", target): totals})], ignore_index=True)

    return made


def totals_of(frame, parts=()):
    return reported_total(Ratings.of(frame, headline=["total"], parts=tuple(parts or FIVE)))


FIVE = ["c1", "c2", "c3", "c4", "c5"]


# --------------------------------------------------------------------------- published


def test_every_final_of_the_published_tables(claimed):
    """46 exact, one within the rounding of its criteria (9.30 for 9.34), three inconsistent."""
    found = self_reported_final(claimed)
    assert len(FINALS) == 50
    for row in FINALS.itertuples():
        estimate = one(found, row.judge, names=NAMES[row.condition])
        verdicts = {v["target"]: v for v in estimate.detail["verdicts"]}
        assert verdicts[row.target]["verdict"] == row.verdict
        assert verdicts[row.target]["mean_of_criteria"] == pytest.approx(row.mean_of_criteria)
    assert one(found, "gpt-5.1", names="shown").value == 0.2
    offender = one(found, "perplexity-sonar", names="shown").detail["offenders"]
    assert [(o["target"], o["final"], o["difference"]) for o in offender] == [
        ("gemini-2.5-pro", 8.58, pytest.approx(0.4))
    ]


@pytest.mark.parametrize(
    ("judge", "names", "sample", "population"),
    [
        ("gpt-5.1", "shown", 0, 0),
        ("gemini-2.5-pro", "shown", 4, 20),
        ("grok-4", "shown", 4, 24),
        ("claude-4.5-sonnet", "shown", 6, 20),
        ("gpt-5.1", "hidden", 0, 1),
    ],
)
def test_published_sds(claimed, judge, names, sample, population):
    """Of 25 SDs per table, those that ten whole scores can have; decimals are inferred from the floats."""
    for ddof, follow in ((1, sample), (0, population)):
        found = one(self_reported_sd(claimed, ddof=ddof), judge, names=names)
        assert (found.detail["follow"], found.detail["checked"]) == (follow, 25)
        assert found.value == pytest.approx(1 - follow / 25)
        assert len(found.detail["offenders"]) == 25 - follow
        assert ("divisor n - 1" in found.method) == bool(ddof)


def test_published_means_are_all_tenths(claimed):
    found = self_reported_mean(claimed)
    assert len(found) == 10
    assert {e.value for e in found.values()} == {0.0}


def test_repeats_that_carry_the_published_finals(published_table, make_frame, criteria):
    """The cells whose Final Score is not the mean of its criteria are found from single repeats too; so is 9.30 for
    9.34, since scores of one repeat were never rounded."""
    rows = published_table.assign(criterion=published_table["criterion"].replace("final", "total"))
    frame = pd.concat([
        make_frame({(r.judge, r.target): [r.mean] * 4}, criterion=r.criterion, names=NAMES[r.condition])
        for r in rows.itertuples()
    ])  # fmt: skip
    found = totals_of(frame, criteria)
    wrong = {(*key, o["target"]) for key, e in found.items() for o in e.detail["offenders"]}
    assert wrong == {
        ("gpt-5.1", "shown", "claude-4.5-sonnet"),
        ("claude-4.5-sonnet", "shown", "gpt-5.1"),
        ("perplexity-sonar", "shown", "gemini-2.5-pro"),
        ("gemini-2.5-pro", "hidden", "claude-4.5-sonnet"),
    }
    one_judge = one(found, "gpt-5.1", names="shown")
    assert (one_judge.value, one_judge.n, one_judge.over) == (0.2, 20, "calls")
    assert one_judge.detail["offenders"][0]["mean_difference"] == pytest.approx(-0.2)


# --------------------------------------------------------------------------- by hand


def test_totals_by_hand(replies):
    """The mean of 8, 9, 9, 9, 10 is 9.0. A judge that prints two decimals may say 9.0, but not 9.01, 9.2 or 8.75."""
    found = one(totals_of(replies([9.0, 9.01, 9.2, 8.75, 9.0])))
    assert found.value == pytest.approx(3 / 5)
    assert found.detail["decimals"] == 2
    offender = found.detail["offenders"][0]
    assert (offender["replies"], offender["wrong"], offender["largest_difference"]) == (5, 3, pytest.approx(-0.25))


def test_a_judge_that_prints_whole_totals_may_round_to_them(replies):
    """8.8 printed as 9 by a judge that only prints whole numbers follows; 8 is more than half a point off."""
    found = one(totals_of(replies([9, 9, 8, 9], scores=(8, 9, 9, 9, 9))))
    assert (found.detail["decimals"], found.value) == (0, 0.25)


def test_an_exact_half_is_rounded_either_way(replies):
    assert one(totals_of(replies([8.8, 8.9, 8.8], scores=(8.25, 9, 9, 9, 9)))).value == 0  # mean 8.85


def test_scores_on_a_turned_scale_are_read_as_they_were_given(replies):
    """6 - 1.1 is not 4.9 in binary, and would look as if it had sixteen decimals."""
    frame = replies([1.1, 1.1], scores=(1, 1, 1, 1, 1.5)).assign(direction="reversed")
    found = reported_total(Ratings.of(frame, scales=Numeric(1, 5), headline=["total"], parts=tuple(FIVE)))
    assert (found.of(judge="x", direction="reversed").value, found.of(judge="x", direction="reversed").n) == (0.0, 2)


def test_people_are_not_asked_for_their_arithmetic(replies):
    frame = replies([9.0])
    people = frame.assign(rater="ann", kind="person", score=frame["score"] + (frame["criterion"] == "total"))
    assert list(totals_of(pd.concat([frame, people]))) == [("x",)]


def test_printed_decimals():
    """The own shortest form, or what a quarter of the judge's numbers need."""
    assert printed_decimals([8.72, 9.3, 9.0]).tolist() == [2, 2, 2]
    assert printed_decimals([9.3, 9.0, 8.5, 8.1, 8.725]).tolist() == [1, 1, 1, 1, 3]
    assert printed_decimals([8.5]).tolist() == [1]
    assert printed_decimals([]).tolist() == []
    assert printed_decimals([1e-7]).tolist() == [7]


def test_unusable_replies_are_left_out(replies):
    frame = replies([9.0, "unparsed", 9.5])
    spoiled = frame.copy()
    spoiled.loc[(frame["criterion"] == "c2") & (frame["repeat"] == 2), ["status", "score"]] = ["refused", float("nan")]
    found = one(totals_of(spoiled))
    assert (found.value, found.n, found.n_excluded) == (0.0, 1, 2)
    nothing = one(totals_of(frame.assign(status="refused", score=float("nan"))))
    assert not nothing.defined
    assert nothing.n_excluded == 3


def claims(make_frame, parts, **scales):
    frame = pd.concat([make_frame({("x", "t"): repeats}, criterion=name) for name, repeats in parts.items()])
    return Ratings.of(frame, scales=scales.get("scale", Numeric(0, 20)), headline=["final.mean"])


def test_a_final_within_the_rounding_of_its_means(make_frame):
    """Means 9.0, 9.5, 9.2, 10.0, 9.0 average to 9.34; each may be 0.05 off, so 9.30 is possible and 9.28 is not."""
    for final, verdict in ((9.34, "exact"), (9.31, "within_rounding"), (9.28, "inconsistent")):
        parts = {f"c{i + 1}.mean": [m] for i, m in enumerate((9.0, 9.5, 9.2, 10.0, 9.0))} | {"final.mean": [final]}
        found = one(self_reported_final(claims(make_frame, parts)))
        assert found.detail["verdicts"][0]["verdict"] == verdict
        assert found.value == (verdict == "inconsistent")


def test_statistics_out_of_the_scale_or_missing(make_frame):
    """On a scale from 5, ten scores with a mean printed as 5 sum to 55 at most: one 10, an SD of 1.6, never of 4."""
    parts = {"c1.mean": [5.0, "unparsed"], "c1.sd": [4.0, 0.3], "final.mean": [9.0, 9.0]}
    frame = pd.concat([make_frame({("x", "t"): repeats}, criterion=name) for name, repeats in parts.items()])
    scales = {"c1.mean": Numeric(5, 20), "c1.sd": Numeric(0, 15), "final.mean": Numeric(5, 20)}
    found = one(self_reported_sd(Ratings.of(frame, scales=scales, headline=["final.mean"])))
    assert (found.value, found.n, found.n_excluded) == (1.0, 1, 1)
    assert found.detail["offenders"] == [{"target": "t", "criterion": "c1", "mean": 5.0, "sd": 4.0}]


def test_the_step_is_the_scales(make_frame):
    """Ten scores in whole points cannot average 8.25, in halves they can."""
    parts = {"c1.mean": [8.25], "final.mean": [8.25]}
    for step, value in ((1.0, 1.0), (0.5, 0.0)):
        found = one(self_reported_mean(claims(make_frame, parts, scale=Numeric(0, 10, step))))
        assert found.value == value
        assert f"steps of {step:g}" in found.method


def test_missing_criteria_are_named(replies, make_frame):
    with pytest.raises(RatingsError, match="no ratings of c9; the table has criteria c1, c2"):
        totals_of(replies([9.0]), [*FIVE, "c9"])
    with pytest.raises(RatingsError, match=r"name no parts that a total could follow from; give parts=\("):
        reported_total(Ratings.of(replies([9.0]), headline=["total"]))
    with pytest.raises(RatingsError, match="one criterion is measured at a time"):
        reported_total(Ratings.of(replies([9.0]), parts=tuple(FIVE)))
    with pytest.raises(
        RatingsError, match=r"headline of claimed statistics is a claimed mean, <name>\.mean; got total"
    ):
        self_reported_final(Ratings.of(replies([9.0]), headline=["total"]))
    with pytest.raises(RatingsError, match=r"no claimed means \(<name>\.mean\) beside final\.mean"):
        self_reported_sd(claims(make_frame, {"final.mean": [9.0]}))

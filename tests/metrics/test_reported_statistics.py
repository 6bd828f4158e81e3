"""Reported statistics: the inconsistencies of the published tables, printed precision, hand-made replies."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from recuse.metrics.reported_statistics import printed_decimals, reported_total, self_reported
from recuse.schema import RecuseError

FINALS = pd.read_csv(Path(__file__).parent / "data" / "finals.csv")


@pytest.fixture(scope="module")
def claimed(published_table, make_ratings):
    """Appendix E as a judge would claim it in one reply: rows "<criterion>.mean" and "<criterion>.sd"."""
    return pd.concat([
        make_ratings({(row.judge, row.target): [getattr(row, part)]}, criterion=f"{row.criterion}.{part}",
                     condition=row.condition, protocol="rubric_self_reported")
        for row in published_table.itertuples() for part in ("mean", "sd")
    ], ignore_index=True)  # fmt: skip


def one(family, judge="x", condition="attributed"):
    return family.of(judge=judge, condition=condition)


def replies(make_ratings, totals, scores=(8, 9, 9, 9, 10), criteria=("c1", "c2", "c3", "c4", "c5"), target="t"):
    parts = [
        make_ratings({("x", target): [s] * len(totals)}, criterion=c) for c, s in zip(criteria, scores, strict=True)
    ]
    return pd.concat([*parts, make_ratings({("x", target): totals})], ignore_index=True)


FIVE = ["c1", "c2", "c3", "c4", "c5"]


# --------------------------------------------------------------------------- published


def test_every_final_of_the_published_tables(claimed, criteria):
    """46 exact, one within the rounding of its criteria (9.30 for 9.34), three inconsistent."""
    found = self_reported(claimed, criteria, "final")
    for row in FINALS.itertuples():
        verdicts = {v["target"]: v for v in one(found, row.judge, row.condition).detail["verdicts"]}
        assert verdicts[row.target]["verdict"] == row.verdict
        assert verdicts[row.target]["mean_of_criteria"] == pytest.approx(row.mean_of_criteria)
    assert one(found, "gpt-5.1").value == 0.2
    offender = one(found, "perplexity-sonar").detail["offenders"]
    assert [(o["target"], o["final"], o["difference"]) for o in offender] == [
        ("gemini-2.5-pro", 8.58, pytest.approx(0.4))
    ]


@pytest.mark.parametrize(
    ("judge", "condition", "sample", "population"),
    [
        ("gpt-5.1", "attributed", 0, 0),
        ("gemini-2.5-pro", "attributed", 4, 20),
        ("grok-4", "attributed", 4, 24),
        ("claude-4.5-sonnet", "attributed", 6, 20),
        ("gpt-5.1", "anonymized", 0, 1),
    ],
)
def test_published_sds(claimed, criteria, judge, condition, sample, population):
    """Of 25 SDs per table, those that ten whole scores can have; decimals are inferred from the floats."""
    for ddof, follow in ((1, sample), (0, population)):
        found = one(self_reported(claimed, criteria, "sd", ddof=ddof), judge, condition)
        assert (found.detail["follow"], found.detail["checked"]) == (follow, 25)
        assert found.value == pytest.approx(1 - follow / 25)
        assert len(found.detail["offenders"]) == 25 - follow
        assert ("divisor n - 1" in found.method) == bool(ddof)


def test_published_means_are_all_tenths(claimed, criteria):
    assert {e.value for e in self_reported(claimed, criteria, "mean").values()} == {0.0}


def test_runs_that_carry_the_published_finals(published_table, make_ratings, criteria):
    """The cells whose Final Score is not the mean of its criteria are found from single runs too; so is 9.30 for 9.34,
    since scores of one run were never rounded."""
    rows = published_table.assign(criterion=published_table["criterion"].replace("final", "total"))
    ratings = pd.concat([
        make_ratings({(r.judge, r.target): [r.mean] * 4}, criterion=r.criterion, condition=r.condition)
        for r in rows.itertuples()
    ])  # fmt: skip
    found = reported_total(ratings, criteria)
    wrong = {(*key, o["target"]) for key, e in found.items() for o in e.detail["offenders"]}
    assert wrong == {
        ("gpt-5.1", "attributed", "claude-4.5-sonnet"),
        ("claude-4.5-sonnet", "attributed", "gpt-5.1"),
        ("perplexity-sonar", "attributed", "gemini-2.5-pro"),
        ("gemini-2.5-pro", "anonymized", "claude-4.5-sonnet"),
    }
    one_judge = one(found, "gpt-5.1")
    assert (one_judge.value, one_judge.n, one_judge.over) == (0.2, 20, "calls")
    assert one_judge.detail["offenders"][0]["mean_difference"] == pytest.approx(-0.2)


# --------------------------------------------------------------------------- by hand


def test_totals_by_hand(make_ratings):
    """The mean of 8, 9, 9, 9, 10 is 9.0. A judge that prints two decimals may say 9.0, but not 9.01, 9.2 or 8.75."""
    found = one(reported_total(replies(make_ratings, [9.0, 9.01, 9.2, 8.75, 9.0]), FIVE))
    assert found.value == pytest.approx(3 / 5)
    assert found.detail["decimals"] == 2
    offender = found.detail["offenders"][0]
    assert (offender["replies"], offender["wrong"], offender["largest_difference"]) == (5, 3, pytest.approx(-0.25))


def test_a_judge_that_prints_whole_totals_may_round_to_them(make_ratings):
    """8.8 printed as 9 by a judge that only prints whole numbers follows; 8 is more than half a point off."""
    found = one(reported_total(replies(make_ratings, [9, 9, 8, 9], scores=(8, 9, 9, 9, 9)), FIVE))
    assert (found.detail["decimals"], found.value) == (0, 0.25)


def test_an_exact_half_is_rounded_either_way(make_ratings):
    scores = (8.25, 9, 9, 9, 9)  # mean 8.85
    assert one(reported_total(replies(make_ratings, [8.8, 8.9, 8.8], scores=scores), FIVE)).value == 0


def test_printed_decimals():
    """The own shortest form, or what a quarter of the judge's numbers need."""
    assert [printed_decimals([8.72, 9.3, 9.0])(v) for v in (8.72, 9.3, 9.0)] == [2, 2, 2]
    assert [printed_decimals([9.3, 9.0, 8.5, 8.1, 8.725])(v) for v in (8.725, 9.0)] == [3, 1]
    assert printed_decimals([])(8.5) == 1
    assert printed_decimals([1e-7])(1e-7) == 7


def test_unusable_replies_are_left_out(make_ratings):
    ratings = replies(make_ratings, [9.0, "unparsed", 9.5])
    spoiled = ratings.copy()
    spoiled.loc[(spoiled["criterion"] == "c2") & (spoiled["repeat"] == 2), ["status", "score"]] = [
        "refused",
        float("nan"),
    ]
    found = one(reported_total(spoiled, FIVE))
    assert (found.value, found.n, found.n_excluded) == (0.0, 1, 2)
    nothing = one(reported_total(ratings.assign(status="refused"), FIVE))
    assert not nothing.defined
    assert nothing.n_excluded == 3


def test_a_final_within_the_rounding_of_its_means(make_ratings):
    """Means 9.0, 9.5, 9.2, 10.0, 9.0 average to 9.34; each may be 0.05 off, so 9.30 is possible and 9.28 is not."""
    for final, verdict in ((9.34, "exact"), (9.31, "within_rounding"), (9.28, "inconsistent")):
        parts = {f"c{i + 1}.mean": m for i, m in enumerate((9.0, 9.5, 9.2, 10.0, 9.0))} | {"final.mean": final}
        parts |= {f"c{i}.sd": 0.3 for i in range(1, 6)}
        ratings = pd.concat([make_ratings({("x", "t"): [value]}, criterion=name) for name, value in parts.items()])
        found = one(self_reported(ratings, FIVE, "final"))
        assert found.detail["verdicts"][0]["verdict"] == verdict
        assert found.value == (verdict == "inconsistent")


def test_statistics_outside_the_scale_or_missing(make_ratings):
    parts = {"c1.mean": [11.0, "unparsed"], "c1.sd": [0.0, 0.3], "final.mean": [9.0, 9.0]}
    ratings = pd.concat([make_ratings({("x", "t"): runs}, criterion=name) for name, runs in parts.items()])
    found = one(self_reported(ratings, ["c1"], "sd"))
    assert (found.value, found.n, found.n_excluded) == (1.0, 1, 1)
    assert found.detail["offenders"] == [{"target": "t", "criterion": "c1", "mean": 11.0, "sd": 0.0}]


def test_missing_criteria_are_named(make_ratings):
    with pytest.raises(RecuseError, match="no ratings of c9; the table has criteria c1, c2"):
        reported_total(replies(make_ratings, [9.0]), [*FIVE, "c9"])

"""Attainable statistics: published counts, brute force over every sample, hand arithmetic."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path

import pandas as pd
import pytest

from recuse.papers.merchant_risk.reported_statistics import attainable_sums, half_unit, sd_attainable
from recuse.schema import RecuseError

TABLES = pd.read_csv(Path(__file__).parents[2] / "fixtures" / "published" / "scores.csv", dtype=str)
JUDGES = ["gpt-5.1", "gemini-2.5-pro", "grok-4", "claude-4.5-sonnet", "perplexity-sonar"]


def cells(table):
    """Means and SDs of the 25 criterion cells of one table of appendix E, as printed."""
    condition, judge = ("attributed", "anonymized")[(table - 1) // 5], JUDGES[(table - 1) % 5]
    rows = TABLES[(TABLES["condition"] == condition) & (TABLES["judge"] == judge) & (TABLES["criterion"] != "final")]
    assert len(rows) == 25
    return list(zip(rows["mean"], rows["sd"], strict=True))


def decimals(printed):
    return len(printed.partition(".")[2])


@pytest.mark.parametrize(("table", "sample", "population"), [(1, 0, 0), (2, 4, 20), (3, 4, 24), (4, 6, 20), (6, 0, 1)])
def test_published_sds_that_ten_whole_scores_can_have(table, sample, population):
    for ddof, expected in ((1, sample), (0, population)):
        found = [
            sd_attainable(float(m), float(s), 10, 0, 10, decimals=decimals(s), ddof=ddof, mean_decimals=decimals(m))
            for m, s in cells(table)
        ]
        assert sum(found) == expected


@pytest.mark.parametrize("ddof", [0, 1])
def test_against_every_sample_there_is(ddof):
    """Four scores from 1 to 4: all 35 samples, and every pair of printed numbers near them."""
    true = {
        (round(statistics.mean(s), 2), round((statistics.stdev if ddof else statistics.pstdev)(s), 2))
        for s in itertools.combinations_with_replacement(range(1, 5), 4)
    }
    for mean in (m / 100 for m in range(100, 401, 5)):
        for sd in (s / 100 for s in range(0, 180)):
            found = sd_attainable(mean, sd, 4, 1, 4, decimals=2, ddof=ddof, mean_decimals=2)
            assert found == ((mean, sd) in true)


def test_completeness_moves_in_steps_of_four_tenths():
    """25 points scaled to 10: 9.6 with SD 0 in all runs is impossible for whole scores and natural on its own grid."""
    assert not sd_attainable(9.6, 0.0, 10, 0, 10)
    assert sd_attainable(9.6, 0.0, 10, 0, 10, step=0.4)


def test_rounding_stands_for_everything_within_half_a_unit():
    """8, 8, 8, 8, 8, 8, 8, 8, 9, 9: SD 0.4216 (n - 1) or 0.4 (n); printed with one decimal both are 0.4."""
    assert sd_attainable(8.2, 0.42, 10, 0, 10)
    assert not sd_attainable(8.2, 0.41, 10, 0, 10)
    assert sd_attainable(8.2, 0.40, 10, 0, 10, ddof=0)
    assert sd_attainable(8.2, 0.4, 10, 0, 10, decimals=1)
    assert half_unit(1) == pytest.approx(0.05)


def test_means_on_a_grid():
    assert attainable_sums(8.7, 10)
    assert not attainable_sums(8.72, 10, decimals=2)
    assert attainable_sums(8.72, 25, decimals=2)
    assert not attainable_sums(5.19, 28, decimals=2)  # Brown and Heathers' own example: 145/28 = 5.18, 146/28 = 5.21
    assert attainable_sums(8.72, 10, step=0.1, decimals=2)


def test_the_range_bounds_the_spread():
    """Mean 9.9 with SD 2 needs scores above 10."""
    assert not sd_attainable(9.9, 2.0, 10, 0, 10)
    assert sd_attainable(9.9, 0.32, 10, 0, 10)
    assert not sd_attainable(11.0, 0.0, 10, 0, 10)


def test_impossible_questions():
    with pytest.raises(RecuseError, match="at least one score"):
        attainable_sums(8.0, 0)
    with pytest.raises(RecuseError, match="needs more than 1 score"):
        sd_attainable(8.0, 0.0, 1, 0, 10)
    with pytest.raises(RecuseError, match="not a whole number of steps"):
        sd_attainable(8.0, 0.0, 10, 0, 10, step=0.3)

"""`recuse rank FILE`: systems by Bradley and Terry, as people and judges rank them, and what a judge moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize

from recuse.check.rank_command import POINTS, UNSEEN, bradley_terry, rank_systems
from recuse.readers.file_panel import read

FILE = Path(__file__).parent / "pairs.csv"
SYSTEMS = np.array(["s0", "s1", "s2", "s3"])


def test_two_systems_by_hand():
    """30 wins to 10, a quarter more for each: log odds log(30.25 / 10.25), half of it either way."""
    strengths = bradley_terry(np.array([[0.0, 30], [10, 0]]))
    assert strengths == pytest.approx(POINTS * np.log(30.25 / 10.25) / 2 * np.array([1, -1]))


def test_the_likelihood_is_at_its_largest():
    """Against a general optimiser, on wins of five systems of which one always wins."""
    wins = np.random.default_rng(3).integers(0, 9, (5, 5)).astype(float)
    wins[0], wins[:, 0] = 7, 0
    np.fill_diagonal(wins, 0)
    padded = wins + (wins + wins.T > 0) * UNSEEN / 2

    def loss(strength):
        return float((padded * np.log1p(np.exp(strength[None, :] - strength[:, None]))).sum())

    best = optimize.minimize(loss, np.zeros(5), tol=1e-12).x
    assert bradley_terry(wins) == pytest.approx(POINTS * (best - best.mean()), abs=0.05)
    both = bradley_terry(np.stack([wins, wins.T]))
    assert both[0] == pytest.approx(bradley_terry(wins), abs=1e-3)


def pairs(seed: int, moved: float, count: int = 300) -> pd.DataFrame:
    """Pairs of four systems, with two people; the judge adds `moved` points to s1."""
    rng = np.random.default_rng(seed)
    strength = np.array([120.0, 40, -40, -120])
    a = rng.integers(0, 4, count)
    b = (a + rng.integers(1, 4, count)) % 4

    def choices(points):
        wins = rng.random(count) < 1 / (1 + 10 ** ((points[b] - points[a]) / 400))
        return np.where(wins, "A", "B")

    columns = {"item": np.arange(count), "model_a": SYSTEMS[a], "model_b": SYSTEMS[b]}
    columns |= {"judge": choices(strength + np.array([0, moved, 0, 0]))}
    return pd.DataFrame(columns | {name: choices(strength) for name in ("anna", "ben")})


def ranking(seed: int, moved: float):
    return rank_systems(read(pairs(seed, moved), people="anna,ben", judges="judge"))


@pytest.mark.slow("simulation")
def test_intervals_hold_the_strengths_and_a_judge_that_moves_nothing_seems_to_in_one_of_twenty():
    truth = {"s0": 120.0, "s1": 40.0, "s2": -40.0, "s3": -120.0}
    held, seems, runs = [], 0, 60
    for seed in range(runs):
        found = ranking(seed, 0.0)
        for s, name in enumerate(found.systems):
            _, low, high = found.strengths[1, s]
            held.append(low <= truth[name] <= high)
        seems += any(low > 0 or high < 0 for _, low, high in found.moved[0])
    assert np.mean(held) >= 0.92
    assert seems <= 0.05 * runs + 2.5 * (0.05 * 0.95 * runs) ** 0.5


def test_a_system_that_the_judge_favours_is_named():
    """150 points for s1 are 112 above the mean, which moves with it, and 38 less for the others."""
    found = ranking(1, 150.0)
    _, low, high = found.moved[0, found.systems.index("s1")]
    assert 0 < low < 112 < high
    assert any(line.startswith("judge less people: ") and "s1 +" in line for line in found.lines())


def test_what_cannot_be_ranked_is_said(recuse, tmp_path):
    found = recuse("rank", FILE.with_name("three_judges.csv"))
    assert (found.code, "ranking takes pairs" in found.err) == (3, True)
    frame = pairs(2, 0.0)
    apart = frame[frame["model_a"].isin(["s0", "s1"]) == frame["model_b"].isin(["s0", "s1"])]
    apart.to_csv(tmp_path / "apart.csv", index=False)
    found = recuse("rank", tmp_path / "apart.csv", "--people", "anna,ben", "--judges", "judge")
    assert (found.code, "never met" in found.err) == (3, True)

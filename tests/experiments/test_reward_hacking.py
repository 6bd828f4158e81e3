"""What choosing by a judge's score gains, against the closed forms of normal texts."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from fixtures.standins.shared_heuristics import JudgeModel, best_of, findings, flipped

TEXTS = 1.45
POLISH = JudgeModel(name="polish")
KNOWS = JudgeModel(name="knows", surface_weight=0.0, substance_weight=1.0)
SD = math.sqrt(TEXTS**2 + POLISH.own**2 + POLISH.noise**2)
"""Of the score of a text, by either judge."""


def test_the_best_of_two_gains_what_the_score_owes_to_what_the_judge_sees() -> None:
    """The larger of two standard normal numbers is 1 / sqrt(pi) on average; surface has var(surface) / SD of it."""
    (found,) = best_of(POLISH, (2,), np.random.default_rng(3), prompts=200_000)
    expected = 1 / math.sqrt(math.pi)
    assert found.score == pytest.approx(SD * expected, abs=0.02)
    assert found.surface == pytest.approx(TEXTS**2 / SD * expected, abs=0.02)
    assert found.substance == pytest.approx(0.0, abs=0.02)


def test_the_harder_one_chooses_the_wider_the_gap_between_reward_and_substance() -> None:
    found = best_of(POLISH, (1, 4, 16, 64), np.random.default_rng(4))
    gaps = [chosen.score - chosen.substance for chosen in found]
    assert gaps == sorted(gaps)
    assert gaps[-1] > 3
    assert max(abs(chosen.substance) for chosen in found) < 0.1


def test_a_judge_of_substance_gains_substance() -> None:
    (found,) = best_of(KNOWS, (16,), np.random.default_rng(5))
    assert found.substance > 2
    assert abs(found.surface) < 0.1


@pytest.mark.parametrize("bias", [0.25, 0.5, 1.0])
def test_a_small_bias_turns_pairs_round(bias: float) -> None:
    """Differences are normal with SD sqrt(2) SD: those between -bias and 0 turn."""
    expected = stats.norm.cdf(bias / (math.sqrt(2) * SD)) - 0.5
    assert flipped(POLISH, bias, np.random.default_rng(6)) == pytest.approx(expected, abs=0.004)
    assert flipped(POLISH, 0.0, np.random.default_rng(6)) == 0


def test_the_page_tells_what_the_command_prints() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "illusion.md").read_text("utf-8")
    of_16, turned = findings().splitlines()[1], findings().splitlines()[-1]
    score, substance = re.findall(r"(?:score|substance) ([+-][0-9.]+)", of_16)
    assert f"{float(score)} points" in page.replace("\n", " ")
    assert float(substance) == 0
    share = re.search(r"turns (\d+)%", turned)
    assert share
    assert f"turns {share[1]} % of the pairs" in page.replace("\n", " ")

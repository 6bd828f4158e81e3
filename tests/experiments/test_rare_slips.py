"""One wild answer in fifty: what the gates on repeats see of it, as docs/error-rates.md says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from recuse.experiments.plan_command import rarest_slips

_spec = importlib.util.spec_from_file_location("rare_slips", Path(__file__).with_name("rare_slips.py"))
rare_slips = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rare_slips)
RUNS = 40


@pytest.mark.parametrize(("items", "repeats"), [(30, 2), (100, 3)])
def test_one_in_fifty_keeps_the_limits_and_is_seldom_cleared(items, repeats):
    seen = rare_slips.outcomes(items, repeats, 0.02, RUNS)
    assert seen["repeat_difference"]["fail"] == seen["repeat_reliability"]["fail"] == 0
    assert seen["repeat_difference"]["undecided"] > RUNS / 2


def test_one_in_ten_fails_with_a_hundred_texts():
    seen = rare_slips.outcomes(100, 3, 0.1, RUNS)
    assert seen["repeat_difference"]["fail"] >= 0.8 * RUNS


def test_slips_that_keep_the_limit_are_told_by_their_share():
    share = rarest_slips(0.05)
    assert share == pytest.approx(0.02566, abs=1e-5)
    assert 2 * share * (1 - share) == pytest.approx(0.05)  # of pairs, all of the range apart
    assert rarest_slips(0.6) == 0.5  # no share of slips lies further apart than half of the pairs

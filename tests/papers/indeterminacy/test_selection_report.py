"""`recuse experiment selection`: what it prints, and when a finding of the paper is said to hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recuse.cli import main
from recuse.papers.indeterminacy.selection_study import (
    BUDGETS,
    CATEGORICAL,
    CHOOSING,
    RANKING,
    SETTINGS,
    FewRatings,
    SelectionStudy,
    findings,
    text,
)


def test_findings_and_progress_are_printed(capsys):
    assert main(["experiment", "selection", "--trials", "1", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"Finding (\w+), (?:holds|does not hold) here", out) == ["1a", "1b", "2", "3", "4a", "4b"]
    assert "1 of 1 trials" in err


def test_trials_are_1_or_more(capsys):
    assert main(["experiment", "selection", "--trials", "0"]) == 3
    assert "--trials is 1 or more; got 0" in capsys.readouterr().err


NAMES, RANKED = (tuple(each.name for each in of) for of in (CHOOSING, RANKING))
STEPS = np.arange(len(BUDGETS))[:, None]
FEW = FewRatings(BUDGETS, 0.7 + STEPS / 30 + [0, 0.01, 0.02], STEPS / 20 - [0.1, 0.2, 0.3])
FORCED = {strength: -strength / 10 - np.array([0.01, 0.02, 0.03]) for strength in (0.5, 1.0, 2.0)}


def study(consistency, rho) -> SelectionStudy:
    """`consistency(setting, name, budget)` and `rho(setting, name)` of every trial; |bias| is a tenth of the former."""
    c = np.array([[[[consistency(s, d, b) for d in NAMES] for b in BUDGETS]] * 2 for s in SETTINGS])
    correlation = np.array([[[[rho(s, d)] * 2 for d in RANKED]] * 2 for s in SETTINGS])
    return SelectionStudy(tuple(SETTINGS), BUDGETS, NAMES, c, c / 10, correlation)


def test_every_number_stands_in_its_place_with_its_sign():
    """Numbers that tell where they belong: setting, measure, ratings per item, consistency or |bias|."""

    def c(s, d, b):
        return 0.5 + list(SETTINGS).index(s) / 20 + NAMES.index(d) / 1000 + BUDGETS.index(b) / 100

    def rho(s, d):
        return list(SETTINGS).index(s) / 10 - RANKED.index(d) / 100

    shown = text(study(c, rho), FEW, FORCED).split("by it for the hit rate at one\n")[1]
    for setting, part in zip(SETTINGS, shown.split("\n\n"), strict=False):
        first, *rows = part.strip("\n").splitlines()
        assert first.split()[-len(BUDGETS) :] == [*map(str, BUDGETS)]
        assert first.startswith(setting)
        for row, name in zip(rows, NAMES, strict=True):
            three, one = c(setting, name, 3), c(setting, name, 1)
            values = [c(setting, name, b) for b in BUDGETS]
            cells = [word for value in values for word in (f"{value:.3f},", f"{value / 10:.3f}")]
            gained = [f"{three - one:+.3f}", "/", f"{one - c(setting, NAMES[0], 1):+.3f}"]
            assert row.split() == [name, *cells, *gained]
    head, *rows = shown.split("\n\n")[-2].splitlines()
    assert head.split()[-len(SETTINGS) :] == ["fully", "symmetric", "asymmetric", "random", "additive"]
    assert [row.split() for row in rows] == [[name, *(f"{rho(s, name):.2f}" for s in SETTINGS)] for name in RANKED]


def test_few_raters_and_forced_choice_by_threshold():
    rows = text(study(lambda s, d, b: 0.5, lambda s, d: 0.5), FEW, FORCED).rpartition("\n\n")[2].splitlines()
    assert rows[0].split()[-3:] == ["0.3", "0.5", "0.7"]
    wanted = [*FEW.bias, *FORCED.values()]
    assert [row.split()[-3:] for row in rows[1:-1]] == [[f"{value:+.3f}" for value in bias] for bias in wanted]
    assert [row.split()[0] for row in rows[1:5]] == list(map(str, BUDGETS))
    assert [row.split()[-4] for row in rows[5:-1]] == [f"{strength:g}" for strength in FORCED]
    assert rows[-1].split()[-3:] == [f"{value:.3f}" for value in FEW.consistency[0]]


def holding(study: SelectionStudy, few=FEW, bias=None) -> dict[str, bool]:
    return {found.number: found.holds for found in findings(study, few, bias or {1.0: np.zeros(3)})}


def test_a_finding_that_fails_is_said_to_fail():
    """A study in which nothing differs supports no claim of a difference."""
    few = FewRatings((1,), np.full((1, 3), 0.95), np.zeros((1, 3)))
    found = holding(study(lambda s, d, b: 0.5, lambda s, d: 0.5), few)
    assert found == {"1a": False, "1b": True, "2": False, "3": False, "4a": False, "4b": False}


def test_three_ratings_beat_a_change_of_measure_only_if_they_do_for_every_measure():
    """Two more ratings bring .05 by every measure; one measure brings 0 or .1 over the hit rate at one rating."""

    def drawn(extra):
        return study(lambda s, d, b: 0.8 + 0.05 * (b >= 3) + extra * (d == "mse(s/s)"), lambda s, d: 0.5)

    assert holding(drawn(0.0))["1a"]
    assert not holding(drawn(0.1))["1a"]
    here = next(f.here for f in findings(drawn(0.1), FEW, FORCED) if f.number == "1a")
    assert "True of 8 of 9 measures" in here
    assert "squared error: +0.050 by the second and third rating, +0.100 by choosing with it" in here


def test_one_categorical_measure_that_keeps_its_ranking_refutes_finding_2():
    kept = dict.fromkeys(CATEGORICAL, 0.0)

    def rho(s, d):
        return kept.get(d, 0.8) if s != "symmetric selection" else 0.8

    assert holding(study(lambda s, d, b: 0.5, rho))["2"]
    kept["cohen_kappa(h/h)"] = 0.8
    assert not holding(study(lambda s, d, b: 0.5, rho))["2"]


@pytest.mark.parametrize(("apart", "holds"), [(0.3, True), (0.45, False)])
def test_finding_4_is_of_three_in_ten(apart, holds):
    few = FewRatings((1,), np.full((1, 3), 1 - apart), np.zeros((1, 3)))
    assert holding(study(lambda s, d, b: 0.5, lambda s, d: 0.5), few)["4a"] == holds

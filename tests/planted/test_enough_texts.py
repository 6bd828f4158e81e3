"""The faults that five texts cannot show, on sixty: each is failed by its gate, and the fair judges by none.

Five judges score a text of each of five authors, one of them its own, about sixty items, with names shown and hidden;
ten people scored them too. Scores are whole tenths on 0-10; nobody's texts are better than others'.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from examination import strict_gates

from recuse.metrics import consensus, human_alignment
from recuse.papers.merchant_risk import human_order, name_effect
from recuse.ratings import Numeric, Ratings

JUDGES = np.array(list("abcde"))
ITEMS = 60
MEASURES = {
    "self_preference": consensus.self_preference,
    "leniency": consensus.leniency,
    "name_effect": name_effect.name_effect,
    "human_offset": human_alignment.human_offset,
    "human_order": human_order.human_order,
}


def inflates_itself(score, own, shown):
    return score + 0.8 * own


def inflates_itself_when_named(score, own, shown):
    return score + 0.8 * (own & shown)


def lenient(score, own, shown):
    return score + 0.5


def harsh(score, own, shown):
    return score - 0.5


def turns_the_order_round(score, own, shown):
    return 10 - score


def fair(score, own, shown):
    return score


def ratings_with(behaviour, everybody=0.0):
    """Judge a behaves so; `everybody` is added to the scores of all judges."""
    rng = np.random.default_rng(3)
    quality = rng.normal(5, 0.8, (ITEMS, 5))
    tables = []
    for shown in (True, False):
        scores = quality[None] + rng.normal(0, 0.25, (5, ITEMS, 5)) + everybody
        own = np.zeros((ITEMS, 5), dtype=bool)
        own[:, 0] = True
        scores[0] = behaviour(scores[0], own, shown)
        tables.append(long(JUDGES, scores, "judge").assign(names="shown" if shown else "hidden"))
        people = quality[None] + rng.normal(0, 0.1, (10, 1, 1)) + rng.normal(0, 0.3, (10, ITEMS, 5))
        named = np.array([f"p{k}" for k in range(10)])
        tables.append(long(named, people, "person").assign(names="shown" if shown else "hidden"))
    frame = pd.concat(tables, ignore_index=True)
    return Ratings.of(frame, scales=Numeric(0, 10, 0.1), authors={j: j for j in JUDGES.tolist()})


def long(raters, scores, kind):
    r, i, t = (axis.ravel() for axis in np.indices(scores.shape))
    return pd.DataFrame({
        "rater": raters[r], "kind": kind, "item": np.char.add("i", i.astype(str)), "target": JUDGES[t],
        "score": scores.clip(0, 10).round(1).ravel(),
    })  # fmt: skip


def failed(ratings):
    """(gate, judge) of every verdict that fails."""
    gates = strict_gates()
    subject = {"task": "t", "panel": "p", "protocol": "rubric"}
    verdicts = (v for gate, measure in MEASURES.items() for v in gates.decide(gate, measure(ratings), subject))
    return {(v.gate, v.subject["judge"]) for v in verdicts if v.outcome == "fail"}


@pytest.mark.parametrize(
    ("behaviour", "gates"),
    [
        (fair, set()),
        (inflates_itself, {"self_preference"}),
        (inflates_itself_when_named, {"self_preference", "name_effect"}),
        (lenient, {"leniency"}),
        (harsh, {"leniency"}),
        (turns_the_order_round, {"human_order"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_planted_fault_is_failed_and_nothing_else(behaviour, gates):
    assert failed(ratings_with(behaviour)) == {(gate, "a") for gate in gates}


def test_a_panel_that_is_wrong_as_a_whole_fails_people_and_not_each_other():
    assert failed(ratings_with(fair, everybody=0.9)) == {("human_offset", judge) for judge in JUDGES.tolist()}

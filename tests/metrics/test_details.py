"""What every metric owes the report: builtins only, no NaN, the same numbers whatever the order of the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pandas as pd
import pytest

from recuse.metrics import (
    consensus,
    coverage,
    human_alignment,
)
from recuse.metrics.estimates import undefined
from recuse.metrics.measure import MEASURES as DESCRIBED
from recuse.metrics.presentation import order_consistency
from recuse.papers.merchant_risk import human_order, judge_profiles, name_effect, reported_statistics, score_repeats
from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean
from recuse.schema import Estimate

MEASURES = {
    "score_matrix": score_repeats.score_matrix,
    "consensus_deviation": judge_profiles.consensus_deviation,
    "self_bias": consensus.self_bias,
    "leniency": consensus.leniency,
    "self_preference": consensus.self_preference,
    "name_effect": name_effect.name_effect,
    "bias_gone_without_names": name_effect.bias_gone_without_names,
    "repeat_difference": score_repeats.repeat_difference,
    "run_sd": score_repeats.run_sd,
    "cell_table": score_repeats.cell_table,
    "repeat_reliability": score_repeats.repeat_reliability,
    "runs_needed": lambda r: score_repeats.runs_needed(r, 0.1),
    "parse_rate": coverage.parse_rate,
    "offset_matrix": lambda r: judge_profiles.human_offset_matrix(with_criteria_mean(r)),
    "offset": human_alignment.human_offset,
    "panel_offset": judge_profiles.human_panel_offset,
    "self_offset": judge_profiles.human_self_offset,
    "order_agreement": human_order.human_order,
    "closest_judge": human_order.closest_judge,
    "reported_total": reported_statistics.reported_total,
}


def estimates(measured) -> dict[str, Estimate]:
    return {"": measured} if isinstance(measured, Estimate) else {"~".join(key): e for key, e in measured.items()}


def builtin(value) -> bool:
    if isinstance(value, Mapping):
        return all(type(key) is str and builtin(v) for key, v in value.items())
    if isinstance(value, list):
        return all(map(builtin, value))
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


def one_item(make_frame):
    """One text, one repeat, two judges, two people: the least there can be."""
    judges = make_frame({("gpt-5.1", "gpt-5.1"): [8.0], ("grok-4", "gpt-5.1"): [7.0]})
    people = make_frame({("ann", "gpt-5.1"): [7.0], ("ben", "gpt-5.1"): [9.0]}, kind="person")
    return pd.concat([judges, people], ignore_index=True)


def check(measured):
    for estimate in estimates(measured).values():
        assert builtin(estimate.detail)
        assert {type(x) for x in (estimate.value, estimate.low, estimate.high)} == {float}
        assert {type(estimate.n), type(estimate.n_excluded)} == {int}
        assert estimate.metric in DESCRIBED
        json.dumps(dict(estimate.detail), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_builtins_only(name, published):
    measured = MEASURES[name](published)
    assert len(measured) > 0
    check(measured)


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in ("offset_matrix", "reported_total")])
def test_one_item_is_measured_or_undefined_with_a_reason(name, rate, make_frame):
    measured = MEASURES[name](rate(one_item(make_frame), authors={"gpt-5.1": "gpt-5.1"}))
    assert len(measured) > 0
    check(measured)
    assert all(e.defined or e.note.startswith("undefined: ") for e in measured.values())


@pytest.mark.parametrize("name", MEASURES)
def test_the_order_of_rows_does_not_matter(name, published, published_frame, as_published):
    """Repeats of a cell in another order give the same bytes. Judges keep the order of the panel, so it stays."""
    turned = as_published(published_frame.sort_values("repeat", ascending=False, kind="stable"))
    first, second = (estimates(MEASURES[name](ratings)) for ratings in (published, turned))
    assert {key: repr(e) for key, e in first.items()} == {key: repr(e) for key, e in second.items()}


def test_what_could_not_be_measured_has_the_unit_of_its_measure() -> None:
    assert undefined(order_consistency.__name__, "no pair", method="").unit == "share"
    assert undefined(order_consistency.__name__, "no pair", method="", unit="points").unit == "points"

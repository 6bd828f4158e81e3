"""What every metric owes the report: builtins only, no NaN, the same numbers whatever the order of the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import pytest

from recuse.metrics import consensus, coverage, human_alignment, reported_statistics, stability
from recuse.schema import Estimate

MEASURES = {
    "score_matrix": lambda r, h, own, c: consensus.score_matrix(r, own, condition="attributed"),
    "consensus_deviation": lambda r, h, own, c: consensus.consensus_deviation(r, own, condition="attributed"),
    "pair_bias": lambda r, h, own, c: consensus.pair_bias(r),
    "self_bias": lambda r, h, own, c: consensus.self_bias(r, own),
    "leniency": lambda r, h, own, c: consensus.leniency(r, own),
    "self_preference": lambda r, h, own, c: consensus.self_preference(r, own),
    "name_effect": lambda r, h, own, c: consensus.name_effect(r, own),
    "attenuation": lambda r, h, own, c: consensus.attenuation_mean(r, own, draws=199),
    "run_sd": lambda r, h, own, c: stability.run_sd(r),
    "cell_table": lambda r, h, own, c: stability.cell_table(r, own),
    "repeat_reliability": lambda r, h, own, c: stability.repeat_reliability(r, form="mean"),
    "runs_needed": lambda r, h, own, c: stability.runs_needed(r, 0.1),
    "parse_rate": lambda r, h, own, c: coverage.parse_rate(r),
    "offset_matrix": lambda r, h, own, c: human_alignment.offset_matrix(r, h, own, condition="attributed"),
    "offset": lambda r, h, own, c: human_alignment.offset(r, h),
    "panel_offset": lambda r, h, own, c: human_alignment.panel_offset(r, h, condition="attributed"),
    "self_offset": lambda r, h, own, c: human_alignment.self_offset(r, h, own),
    "order_agreement": lambda r, h, own, c: human_alignment.order_agreement(r, h, draws=199),
    "closest_judge": lambda r, h, own, c: human_alignment.closest_judge(r, h, condition="attributed", draws=199),
    "reported_total": lambda r, h, own, c: reported_statistics.reported_total(r, c),
}


def estimates(measured) -> dict[str, Estimate]:
    return {"": measured} if isinstance(measured, Estimate) else {"~".join(key): e for key, e in measured.items()}


def builtin(value) -> bool:
    if isinstance(value, Mapping):
        return all(type(key) is str and builtin(v) for key, v in value.items())
    if isinstance(value, list):
        return all(map(builtin, value))
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


@pytest.mark.parametrize("name", MEASURES)
def test_builtins_only(name, published, human, own, criteria):
    for estimate in estimates(MEASURES[name](published, human, own, criteria)).values():
        assert builtin(estimate.detail)
        assert {type(x) for x in (estimate.value, estimate.low, estimate.high)} == {float}
        assert {type(estimate.n), type(estimate.n_excluded)} == {int}
        json.dumps(dict(estimate.detail), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_the_order_of_rows_does_not_matter(name, published, human, own, criteria):
    """Runs of a cell in another order give the same bytes. Judges keep the order of the panel, so it stays."""
    turned = published.sort_values("repeat", ascending=False, kind="stable")
    first, second = (estimates(MEASURES[name](table, human, own, criteria)) for table in (published, turned))
    assert {key: repr(e) for key, e in first.items()} == {key: repr(e) for key, e in second.items()}

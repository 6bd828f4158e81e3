"""Cost and time per call: what was recorded of both, or not measured."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.ratings import Numeric, Ratings

SCORES = pd.DataFrame(
    [(who, f"t{k}", float(k % 9)) for who in ("old", "new") for k in range(12)], columns=["judge", "item", "score"]
)


def component(name, before, after):
    upgrade = Upgrade.within(Ratings.of(SCORES, scales=Numeric(0, 10)), "old", "new", calls=(before, after))
    return dict(measure_upgrade(upgrade))[name].of(judge="new")


def test_time_per_call_is_the_candidates_over_the_incumbents():
    found = component("upgrade_latency", {"calls": 12, "seconds": 2.0}, {"calls": 12, "seconds": 3.0})
    assert found.value == pytest.approx(0.5)
    assert (found.detail["unit"], found.detail["incumbent"]) == ("seconds per call", 2.0)


@pytest.mark.parametrize("unknown", [{}, {"calls": 12, "seconds": None}])
def test_without_the_time_of_both_it_is_not_measured(unknown):
    for sides in ((unknown, {"calls": 12, "seconds": 3.0}), ({"calls": 12, "seconds": 3.0}, unknown)):
        found = component("upgrade_latency", *sides)
        assert math.isnan(found.value)
        assert "no recording says how long a call took" in found.note

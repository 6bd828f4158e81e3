"""How large the engine may be, and how its modules are called. A budget falls with the engine. Once it rose by 2,600
lines, for what came new: labels to ask for, cost, weeks, rankings, base commits, large files."""

from __future__ import annotations

import house


def test_the_engine_keeps_its_budget() -> None:
    assert house.lines(papers=False) <= 54_450
    assert house.lines(papers=True) <= 69_350
    assert house.engine_modules() <= 284
    assert len(house.short_helpers_of_one_caller()) <= 244


def test_no_two_modules_of_one_name() -> None:
    assert house.twice() == []

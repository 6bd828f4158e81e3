"""How large the engine may be, and how its modules are called. A budget is what was reached, and falls with it."""

from __future__ import annotations

import house


def test_the_engine_keeps_its_budget() -> None:
    assert house.lines(papers=False) <= 43_838
    assert house.lines(papers=True) <= 56_697
    assert house.engine_modules() <= 212
    assert len(house.short_helpers_of_one_caller()) <= 25


def test_no_two_modules_of_one_name() -> None:
    assert house.twice() == []

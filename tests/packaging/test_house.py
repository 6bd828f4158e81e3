"""How large the engine may be, and how its modules are called. A budget falls with the engine; it never rises."""

from __future__ import annotations

import house


def test_the_engine_keeps_its_budget() -> None:
    assert house.lines(papers=False) <= 52_000
    assert house.lines(papers=True) <= 66_900
    assert house.engine_modules() <= 330
    assert len(house.short_helpers_of_one_caller()) <= 400


def test_no_two_modules_of_one_name() -> None:
    assert house.twice() == []

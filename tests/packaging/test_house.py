"""How large the engine may be, and how its modules are called. A budget is what was reached, and falls with it."""

from __future__ import annotations

from collections import Counter

import house


def test_the_engine_keeps_its_budget() -> None:
    assert house.lines(papers=False) <= 43_984
    assert house.lines(papers=True) <= 57_109
    assert house.engine_modules() <= 216
    assert len(house.short_helpers_of_one_caller()) <= 25


def test_no_two_modules_of_one_name() -> None:
    assert house.twice() == []


def test_a_check_goes_through_the_house_once() -> None:
    """From the file to the word: few rooms, none of them come back to more than twice."""
    way = house.rooms_on_the_way("check/check_command.py", "run_check")
    assert way[0] == "readers"
    assert {"readers", "ratings", "run", "check"} <= {*way}
    assert len({*way}) <= 12
    assert max(Counter(way).values()) <= 3, way

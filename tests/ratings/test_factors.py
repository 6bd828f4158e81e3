"""The factors that gates know by name are those that ratings know levels of."""

from __future__ import annotations

from recuse.schema.factors import FACTORS, LEVELS


def test_every_factor_with_known_levels_is_named() -> None:
    assert tuple(sorted(LEVELS)) == tuple(sorted(FACTORS))

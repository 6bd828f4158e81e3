"""The factors that gates know by name are those that ratings know levels of, and every row has a level."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.schema import RecuseError
from recuse.schema.factors import FACTORS, LEVELS, check_levels


def test_every_factor_with_known_levels_is_named():
    assert tuple(sorted(LEVELS)) == tuple(sorted(FACTORS))


def test_one_row_without_a_level_is_refused_and_so_is_an_unknown_one():
    check_levels(pd.DataFrame({"names": ["shown", "hidden"]}), ["names"])
    for levels, named in ((["shown", None], "found an empty one"), (["shown", "blurred"], "found 'blurred'")):
        with pytest.raises(RecuseError, match=f"factor names is one of .* in every row; {named}"):
            check_levels(pd.DataFrame({"names": levels}), ["names"])

"""Ratings: who gave what to which text, from recorded calls or from a file. One table, and arrays made of it."""

from __future__ import annotations

from recuse.ratings.array import Moments, RatingArray, mean_of, moments_of
from recuse.ratings.cells import Cells
from recuse.ratings.ratings import Ratings
from recuse.ratings.ratings_table import COLUMNS, check_table, completed
from recuse.ratings.scale import Nominal, Numeric, Ordinal, ResponseSets, Scale, scale_of

__all__ = [
    "COLUMNS", "Cells", "Moments", "Nominal", "Numeric", "Ordinal", "RatingArray", "Ratings", "ResponseSets", "Scale",
    "check_table", "completed", "mean_of", "moments_of", "scale_of",
]  # fmt: skip

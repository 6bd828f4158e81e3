"""Ratings: who gave what to which text, from recorded calls or from a file. One table, and arrays made of it."""

from __future__ import annotations

from recuse.ratings.answers import against_truth, without_truth
from recuse.ratings.array import Moments, RatingArray, arrays_by_level, grouped, judges_array, mean_of, moments_of
from recuse.ratings.cells import Cells
from recuse.ratings.ratings import Ratings, remembered
from recuse.ratings.ratings_table import COLUMNS, PERSON, check_table, completed
from recuse.ratings.scale import PLACE, TRUE, Nominal, Numeric, Ordinal, ResponseSets, Scale, scale_of

__all__ = [
    "COLUMNS", "PERSON", "PLACE", "TRUE", "Cells", "Moments", "Nominal", "Numeric", "Ordinal", "RatingArray", "Ratings",
    "ResponseSets", "Scale", "against_truth", "arrays_by_level", "check_table", "completed", "grouped", "judges_array",
    "mean_of", "moments_of", "remembered", "scale_of", "without_truth",
]  # fmt: skip

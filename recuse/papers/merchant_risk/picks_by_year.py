"""Do a model's levels follow the data year by year? Merchant-risk paper, sec. 5.1: four years of payments."""

from __future__ import annotations

from dataclasses import replace

from recuse.metrics.estimates import undefined
from recuse.metrics.ground_truth import BONETT_WRIGHT, rank_correlation
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates

__all__ = ["yearly_rank_correlation"]

YEARLY = "value_"


@measure(
    "yearly_rank_correlation", "rank correlation with one year's data", signed=True, rank=272, bad="none",
    reading="Spearman's rank correlation of the levels a model put items on with the items' values of one year.",
)  # fmt: skip
def yearly_rank_correlation(ratings: Ratings) -> Estimates:
    """`ground_truth.rank_correlation` with the values of each year, by judge, factor level and year; years are the
    columns `value_<year>` of the reference. Years share their categories, so they are no independent tests. Undefined
    where the reference has no years.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j", "k", "l"], "score": [1.0, 1.0, 2.0, 3.0]})
    >>> truth = pd.DataFrame({"item": ["i", "j", "k", "l"], "value": 0.1, "value_2021": [0.1, 0.1, 0.4, 0.9]})
    >>> yearly_rank_correlation(Ratings.of(frame, reference=truth)).of(judge="a", year="2021").value
    1.0
    """
    truth = ratings.reference
    years = [] if truth is None else [str(name) for name in truth if str(name).startswith(YEARLY)]
    estimates: dict[tuple[str, ...], Estimate] = {}
    if not years:
        nothing = undefined("yearly_rank_correlation", "the true values tell no years apart", method=BONETT_WRIGHT)
        estimates = {(*key, ""): nothing for key in rank_correlation(ratings)}
    for column in years:
        assert truth is not None
        of_year = replace(ratings, reference=truth.assign(value=truth[column]), _memory={})
        for key, estimate in rank_correlation(of_year).items():
            estimates[(*key, column.removeprefix(YEARLY))] = replace(estimate, metric="yearly_rank_correlation")
    return Estimates(("judge", *ratings.within(), "year"), estimates)

"""The mean of a judgement's parts beside the whole that the judge gave: some judges' totals do not follow from them."""

from __future__ import annotations

from dataclasses import replace

from recuse.ratings import Ratings
from recuse.schema import RatingsError

CRITERIA_MEAN = "criteria_mean"


def with_criteria_mean(ratings: Ratings, name: str = CRITERIA_MEAN) -> Ratings:
    """The ratings with one more criterion: per reply, the mean of its scores on `ratings.parts`. It joins the headline.

    A reply with all of them usable gets the mean; any other gets a row that carries its first failure and no score, so
    that it is counted as excluded and never averaged from what is left of it. `RatingsError` without parts.
    """
    return ratings.remember(("with", name), lambda: _with_mean(ratings, name))


def _with_mean(ratings: Ratings, name: str) -> Ratings:
    import pandas as pd

    if not ratings.parts:
        raise RatingsError("these ratings name no parts whose mean could be taken; give parts=(...)")
    wanted, table = list(ratings.parts), ratings.table
    keys = [column for column in table.columns if column not in ("criterion", "score", "response", "status")]
    rows = table[table["criterion"].isin(wanted)]
    failure = rows["status"].where(rows["status"] != "ok")
    replies = rows.assign(failure=failure).groupby(keys, sort=False, dropna=False, observed=True)
    added = replies.agg(score=("score", "mean"), failure=("failure", "first"), size=("criterion", "size")).reset_index()
    complete = added["failure"].isna() & (added["size"] == len(wanted))
    added["status"] = added["failure"].where(added["failure"].notna(), "unparsed").where(~complete, "ok")
    # rounded far below any scale's step: the same scores in another order must give the same mean
    added["score"] = added["score"].round(12).where(complete)
    added = added.assign(criterion=name, response=None)[list(table.columns)]
    joined = pd.concat([table, added], ignore_index=True)
    scales = {**ratings.scales, name: ratings.scales[wanted[0]]}
    return replace(ratings, table=joined, scales=scales, headline=(*ratings.headline, name), _memory={})

"""Choices of tests written by hand: who won may be told by its own name, and who judged is a judge unless named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from recuse.ratings import Ratings
from recuse.ratings.pair_array import choices_of


def read_choices(
    frame: pd.DataFrame, *, people: Sequence[str] = (), authors: Mapping[str, str] | None = None, **more: str
) -> Ratings:
    """From columns rater (or judge), item, response, and the two that met: `first` and `second` in the order shown, or
    `a` and `b` where nothing is known of it."""
    table = frame.rename(columns={"judge": "rater"}).reset_index(drop=True)
    ordered = "first" in table
    table = table.rename(columns={"a": "first", "b": "second"})
    won = {"a": "first", "b": "second", "first": "first", "second": "second", "tie": "tie"}
    named = zip(table["first"].astype(str), table["second"].astype(str), table["response"], strict=True)
    table["response"] = [{**won, one: "first", other: "second"}.get(winner) for one, other, winner in named]
    if "kind" not in table:
        table["kind"] = ["person" if rater in people else "judge" for rater in table["rater"]]
    if "repeat" not in table:
        keys = [name for name in ("rater", "item", "first", "second") if name in table]
        table["repeat"] = table.groupby(keys).cumcount()
    ratings = choices_of(table, ordered=ordered, **more)
    return ratings if authors is None else replace(ratings, authors=authors)

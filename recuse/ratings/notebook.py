"""Ratings at a glance, for a notebook: one row per rater and criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recuse.schema.notebook import table

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

__all__ = ["ratings_html"]

HEAD = ("rater", "kind", "criterion", "ratings", "usable", "items", "targets", "mean score")


def ratings_html(ratings: Ratings) -> str:
    """How much each rater gave: rows, those that can be used, on how many items and targets, and the mean score."""
    groups = ratings.table.groupby(["rater", "kind", "criterion"], sort=False, observed=True)
    varied = f"; varied: {', '.join(ratings.factors)}" if ratings.factors else ""
    caption = f"{len(ratings.table)} ratings by {len(ratings.raters)} raters{varied}"
    return table(caption, HEAD, [(*key, *_row(rows)) for key, rows in groups])


def _row(rows: Any) -> tuple[Any, ...]:
    usable = rows[rows["status"] == "ok"]
    mean = usable["score"].mean()
    shown_mean = "" if mean != mean else f"{mean:.3f}"  # options have no mean
    return len(rows), len(usable), rows["item"].nunique(), rows["target"].nunique(), shown_mean

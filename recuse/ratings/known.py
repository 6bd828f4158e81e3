"""Criteria with a right answer: texts whose score can be counted carry it as `true_<criterion>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

__all__ = ["TRUE", "counted_criteria"]

TRUE = "true_"
"""How the column of right scores is called among the texts, before its criterion."""


def counted_criteria(ratings: Ratings) -> tuple[str, ...]:
    """The criteria of which some text's right score is known, in their order."""
    if ratings.texts is None:
        return ()
    return tuple(
        name for name in ratings.criteria if TRUE + name in ratings.texts and ratings.texts[TRUE + name].notna().any()
    )

"""Names that criteria and texts have by convention: the right score of a text, a place in a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

__all__ = ["PLACE", "TRUE", "counted_criteria"]

PLACE = "place"
"""The criterion under which a text's place in a ranking stands, 1 for the best."""
TRUE = "true_"
"""How the column of right scores is called among the texts, before its criterion."""


def counted_criteria(ratings: Ratings) -> tuple[str, ...]:
    """The criteria of which some text's right score is known, in their order."""
    if ratings.texts is None:
        return ()
    return tuple(
        name for name in ratings.criteria if TRUE + name in ratings.texts and ratings.texts[TRUE + name].notna().any()
    )

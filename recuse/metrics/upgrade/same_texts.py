"""Whether the same name means the same text on both sides, by what both sides tell of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from recuse.ratings import Ratings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["contradiction"]

COUNTED = ("words",)
"""What may be counted in another way, and says less than the text itself."""
MOST = 0.5
"""Share of the texts on which what is told may differ: labels and topics get corrected, texts shortened."""


def contradiction(before: Ratings, after: Ratings, common: Collection[tuple[str, str]]) -> str:
    """ "item t17 has subset law in one, tax in the other", where something that both tell of the texts (`texts`: a
    topic, the text, the right answer) differs for most of the `common` ones, (item, target); "" where nothing does."""
    import pandas as pd

    old, new = _known_texts(before), _known_texts(after)
    if old is None or new is None:
        return ""
    wanted = pd.MultiIndex.from_tuples(sorted(common), names=["item", "target"])
    for name in (column for column in old.columns if column in new.columns and column not in COUNTED):
        one, other = old[name].reindex(wanted), new[name].reindex(wanted)
        there = one.notna() & other.notna()
        differ = there & (one.astype(str) != other.astype(str))
        if differ.sum() > MOST * there.sum():
            at = int(differ.to_numpy().argmax())
            told = f"{_short(one.iloc[at])} in one, {_short(other.iloc[at])} in the other"
            return f"item {wanted[at][0]} has {name} {told}"
    return ""


def _known_texts(ratings: Ratings) -> pd.DataFrame | None:
    texts = ratings.texts
    if texts is None or "target" not in texts:
        return None
    texts = texts.assign(item=texts["item"].astype(str), target=texts["target"].astype(str))
    return texts.drop_duplicates(["item", "target"]).set_index(["item", "target"])


def _short(value: object) -> str:
    words = str(value)
    return words if len(words) <= 30 else f"{words[:29]}…"

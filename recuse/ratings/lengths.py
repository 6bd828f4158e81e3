"""How long texts are, in words, as ratings tell: `words` of each text, `words_a` and `words_b` of each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recuse.ratings.array import RatingArray
from recuse.ratings.pair_array import PairArray
from recuse.ratings.ratings import Ratings
from recuse.schema import RatingsError
from recuse.schema.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


def doublings_of_texts(ratings: Ratings, array: RatingArray) -> Floats:
    """log2 of the words of each text, shape (items, targets); NaN where unknown."""
    import pandas as pd

    texts = _text_columns(ratings, "item", "target", "words").drop_duplicates(["item", "target"])
    if (bad := texts[~(texts["words"] > 0) & texts["words"].notna()]).size:
        item, target, words = bad.iloc[0]
        raise RatingsError(f"a text has one word or more; {item} by {target or 'nobody'} has {words:g}")
    places = [
        pd.Index(names).get_indexer(pd.Index(texts[name].astype(str)))
        for names, name in ((array.items, "item"), (array.targets, "target"))
    ]
    there = (places[0] >= 0) & (places[1] >= 0)
    words = np.full((len(array.items), len(array.targets)), np.nan)
    words[places[0][there], places[1][there]] = texts["words"].to_numpy(dtype=float)[there]
    doublings: Floats = np.log2(words)
    return doublings


def doublings_of_pairs(ratings: Ratings, met: PairArray) -> Floats:
    """log2(words_a / words_b) of each pair; NaN where unknown. Of scores, from the lengths of the two texts."""
    import pandas as pd

    if ratings.scale.counts:
        array = ratings.array()
        lengths = doublings_of_texts(ratings, array)
        item = pd.Index(array.items).get_indexer(pd.Index(met.questions))
        a, b = (pd.Index(array.targets).get_indexer(pd.Index(side)) for side in (met.a, met.b))
        of_scores: Floats = lengths[item, a] - lengths[item, b]
        return of_scores
    sizes = sizes_of_pairs(ratings)
    places = pd.Index(sizes["item"].astype(str)).get_indexer(pd.Index(met.items))
    ratio = np.log2(sizes["words_a"].to_numpy(dtype=float)) - np.log2(sizes["words_b"].to_numpy(dtype=float))
    doublings: Floats = np.where(places >= 0, ratio[places], np.nan)
    return doublings


def sizes_of_pairs(ratings: Ratings) -> pd.DataFrame:
    """item, words_a and words_b, one row per item."""
    sizes = _text_columns(ratings, "item", "words_a", "words_b").drop_duplicates("item")
    for side in ("a", "b"):
        if (bad := sizes[~(sizes[f"words_{side}"] > 0) & sizes[f"words_{side}"].notna()]).size:
            item, words = bad["item"].iloc[0], bad[f"words_{side}"].iloc[0]
            raise RatingsError(f"a text has one word or more; {side} of {item} has {words:g}")
    return sizes


def _text_columns(ratings: Ratings, *columns: str) -> pd.DataFrame:
    texts = ratings.texts
    has = [] if texts is None else list(map(str, texts.columns))
    if texts is None or (missing := [name for name in columns if name not in has]):
        lacking = ", ".join(columns if texts is None else missing)
        raise RatingsError(f"the lengths of the texts are not known; give texts with the column(s) {lacking}")
    return texts[list(columns)]

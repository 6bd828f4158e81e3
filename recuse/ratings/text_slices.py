"""Slices: what texts can be grouped by, such as system, topic or language."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.answers import COMPARED, WON, Answers, answers_against_truth, facts_at, systems_of_pairs
from recuse.ratings.array import RatingArray
from recuse.ratings.chosen_labels import GROUP
from recuse.ratings.pair_array import PairArray
from recuse.ratings.ratings import Ratings
from recuse.schema import RatingsError, RecuseError
from recuse.schema.arrays import Floats

Slices = dict[tuple[str, str], NDArray[np.bool_]]
FEWEST, FEWEST_OF_A_SYSTEM = 20, 10
"""Texts within a slice, and outside it, below which it is not looked at; of a system as many as an order of systems
takes, though so few seldom show that nothing is wrong there: what a use asks then stays undecided."""
MOST = 30
FACTS = frozenset(
    ["item", "cluster", "text", "words", "a", "b", "words_a", "words_b", "payload", "clean", "attacked", "gold", GROUP]
)


def slices_of(answers: Answers, columns: tuple[str, ...] | None = None) -> tuple[Slices, int]:
    """(column, level) -> which texts, (U,), and how many columns were looked at. A choice is on the slices of both
    systems that meet."""
    targets = np.asarray(answers.targets, object)
    pairs = None if answers.part is None or answers.options != WON else systems_of_pairs(answers.part, answers.items)
    facts: dict[str, Any] = {"target": targets if pairs is None else pairs.to_numpy(dtype=object)}
    known = None if answers.part is None else answers.part.texts
    if known is not None:
        wanted = [name for name in known if name not in FACTS - {*(columns or ())} or name in ("item", "target")]
        texts = facts_at(known[wanted], answers.items, answers.targets)
        facts |= {str(name): texts[name].reset_index(drop=True) for name in texts}
    if unknown := [name for name in columns or () if name not in facts]:
        raise RecuseError(
            f"the texts have no column {', '.join(unknown)} to slice by; they have {', '.join(map(str, facts))}"
        )
    slices: Slices = {}
    looked = 0
    for name in columns or facts:
        sides = np.asarray(facts[name], object).reshape(len(targets), -1)  # one level of each text, of a pair two
        level_of, levels = pd.factorize(sides.ravel())
        if 1 < len(levels) <= MOST:
            looked += 1
            on = level_of.reshape(sides.shape)
            slices |= {(name, str(level)): (on == k).any(axis=1) for k, level in enumerate(levels)}
    return slices, looked


def large_enough(column: str, within: int, outside: int) -> bool:
    """Whether a slice by the column has enough texts, within and outside."""
    return min(within, outside) >= (FEWEST_OF_A_SYSTEM if column == "target" else FEWEST)


def have_slices(ratings: Ratings) -> bool:
    """Whether judges and people both rated enough texts of some slice, and enough outside it."""
    if not ratings.persons:
        return False
    ratings = ratings.folded()
    for _, part in ratings.each(*COMPARED):
        answers = answers_against_truth(part, ratings)
        there = (answers.raters > 0) & answers.requested.any(axis=0)
        for (column, _), members in slices_of(answers)[0].items():
            if large_enough(column, answers.number(members & there), answers.number(~members & there)):
                return True
    return False


def will_have_slices(texts: pd.DataFrame, persons: pd.DataFrame) -> bool:
    """The same before judges are asked: of `texts`, a row each with what is known of it, those that people rated."""
    keys = [name for name in ("item", "target") if name in persons]
    rated = texts.merge(persons[keys].drop_duplicates(), on=keys)
    for name in rated.columns.difference([*FACTS]):
        sizes = rated[name].astype(str).value_counts()
        if 1 < len(sizes) <= MOST and any(large_enough(name, size, len(rated) - size) for size in sizes):
            return True
    return False


def doublings_of_texts(ratings: Ratings, array: RatingArray) -> Floats:
    """log2 of the words of each text, shape (items, targets); NaN where unknown."""
    texts = _text_columns(ratings, ["item", "target"], ["words"])
    each = zip(texts["item"].astype(str), texts["target"].astype(str), texts["words"], strict=True)
    known = {(item, target): words for item, target, words in each}
    words = [known.get(text, np.nan) for text in product(array.items, array.targets)]
    return np.asarray(np.log2(np.array(words, dtype=float))).reshape(len(array.items), len(array.targets))


def doublings_of_pairs(ratings: Ratings, pairs: PairArray) -> Floats:
    """log2(words_a / words_b) of each pair; NaN where unknown. Of scores, from the lengths of the two texts."""
    if ratings.scale.counts:
        array = ratings.array()
        lengths = doublings_of_texts(ratings, array)
        item = pd.Index(array.items).get_indexer(pd.Index(pairs.questions))
        a, b = (pd.Index(array.targets).get_indexer(pd.Index(side)) for side in (pairs.a, pairs.b))
        return lengths[item, a] - lengths[item, b]
    words = np.log2(facts_at(sizes_of_pairs(ratings), pairs.items.tolist()).to_numpy(dtype=float))
    return np.asarray(words[:, 0] - words[:, 1])


def sizes_of_pairs(ratings: Ratings) -> pd.DataFrame:
    """item, words_a and words_b, one row per item."""
    return _text_columns(ratings, ["item"], ["words_a", "words_b"])


def _text_columns(ratings: Ratings, keys: list[str], words: list[str]) -> pd.DataFrame:
    """A row for each text or pair, with its words. `RatingsError` where these are not known, or fewer than one."""
    texts = ratings.texts
    missing = [name for name in (*keys, *words) if texts is None or name not in texts]
    if texts is None or missing:
        raise RatingsError(
            f"the lengths of the texts are not known; give texts with the column(s) {', '.join(missing)}"
        )
    texts = texts[[*keys, *words]].drop_duplicates(keys)
    for name in words:
        if (bad := texts[texts[name] <= 0]).size:
            whose = ", ".join(map(str, bad.iloc[0][keys]))
            raise RatingsError(f"a text has one word or more; {name} of {whose} is {bad.iloc[0][name]:g}")
    return texts

"""Items that everybody answered alike are one pattern with a count: large tables are measured on some thousand rows. An
item is all of its rows and what the texts say of it; the first item of a pattern stands for all (`Ratings.times`). A
measure that counts patterns (`recuse.metrics.measure`) gives the numbers of single items; only resamples are drawn by
pattern. Every other is given single items, or is not measured where there are too many."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.array import first_of
from recuse.ratings.ratings import Ratings
from recuse.schema import RecuseError

FOLDED_FROM = 20_000  # so many items are folded; of fewer, resamples draw items, as they always did
ALIKE = 10  # items per pattern, on average, below which folding saves nothing: continuous scores, or texts' names
MOST_UNFOLDED = 500_000  # rows of single items that patterns are unfolded to for a measure that cannot count them
NO_ANSWERS = frozenset(["item"])
OF_SINGLE_TEXTS = frozenset(["text", "words", "text_a", "text_b", "words_a", "words_b"])
"""What no two texts share; measures that read it are given single items."""


def folded(ratings: Ratings) -> Ratings:
    """The patterns of these ratings; the ratings themselves where there are few items, where items share clusters or
    labels were chosen by group, where more is known than the table says, and where most items differ."""
    from recuse.ratings.chosen_labels import are_chosen

    if ratings.times is not None or len(ratings.table) < FOLDED_FROM or are_chosen(ratings):
        return ratings
    names, item = ratings.coded("item")
    known = (ratings.people, ratings.reference, ratings.payloads, ratings.beside("response_sets"))
    if len(names) < FOLDED_FROM or any(one is not None for one in known):
        return ratings
    texts = ratings.texts
    if texts is not None and "cluster" in texts and texts.drop_duplicates("item")["cluster"].duplicated().any():
        return ratings
    keys = _sums(_rows(ratings.table, NO_ANSWERS, ratings), item, len(names), seed=1)
    if texts is not None:
        place = pd.Index(names).get_indexer(pd.Index(texts["item"].astype(str)))
        facts = _rows(texts, NO_ANSWERS | OF_SINGLE_TEXTS | {"cluster"})
        keys += _sums(facts[place >= 0], place[place >= 0], len(names), seed=2)
    pattern, different = pd.factorize(pd.factorize(keys[0])[0] * np.int64(len(names)) + pd.factorize(keys[1])[0])
    if len(different) * ALIKE > len(names):
        return ratings
    first = first_of(pattern)
    stands = np.zeros(len(names), dtype=bool)
    stands[first] = True
    times = dict(zip((names[k] for k in first.tolist()), np.bincount(pattern).tolist(), strict=True))
    if texts is not None:
        kept = [name for name in texts if name not in OF_SINGLE_TEXTS]
        texts = texts.loc[texts["item"].astype(str).isin(times.keys()), kept]
    return replace(ratings, table=ratings.table[stands[item]], texts=texts, times=times, _memory={"single": ratings})


def unfolded(ratings: Ratings, what: str = "this measure asks") -> Ratings:
    """Each item as often as it counts, its copies with names of their own; what several items share they share too.

    `RecuseError` where these are more rows than `MOST_UNFOLDED`; `what`: who asks for single items."""
    known = pd.Series(ratings.times, dtype=np.int64)
    if int(ratings.table["item"].astype(str).map(known).sum()) > MOST_UNFOLDED:
        raise RecuseError(
            f"{known.sum():,} items are counted by their answers, and {what} for single "
            "ones; give it a sample of the items in a file of its own"
        )

    def copies(frame: pd.DataFrame) -> pd.DataFrame:
        named = frame["item"].astype(str)
        number = named.map(known).to_numpy(dtype=np.int64)
        row = np.repeat(np.arange(len(frame)), number)
        copy = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        called = [f"{name} ({k})" if k else name for name, k in zip(named.iloc[row], copy.tolist(), strict=True)]
        made = frame.iloc[row].reset_index(drop=True)
        if "cluster" in made:
            made["cluster"] = made["cluster"].astype(str).where(made["cluster"] != made["item"], called)
        return made.assign(item=called)

    texts = None if ratings.texts is None else copies(ratings.texts)
    return replace(ratings, table=copies(ratings.table), texts=texts, times=None, _memory={})


def _rows(frame: pd.DataFrame, without: frozenset[str], of: Ratings | None = None) -> NDArray[np.int64]:
    """One number per row, the same for rows that are alike in all columns but some. `of`: whose table it is."""
    codes, count = np.zeros(len(frame), dtype=np.int64), 1
    for name in frame.columns.difference(list(without), sort=False):
        entries, own = of._memory.get(("coded", name), ((), codes)) if of else ((), codes)
        if not len(entries):
            column, one = frame[name], next(iter(frame[name]), None)
            same = (part.isna() if pd.isna(one) else part == one for part in (column.iloc[:64], column))
            if all(part.to_numpy(dtype=bool, na_value=False).all() for part in same):
                continue  # most columns say one thing, which is sooner seen than numbered
            own, entries = pd.factorize(column, use_na_sentinel=False)
        if len(entries) > 1 or own.any():
            codes, count = codes * (len(entries) + 1) + own, count * (len(entries) + 1)
            if count > len(frame):  # as many numbers are drawn as there may be codes
                codes, occurring = pd.factorize(codes)
                count = len(occurring)
    return codes


def _sums(codes: NDArray[np.int64], item: NDArray[Any], count: int, *, seed: int) -> NDArray[np.uint64]:
    """Two random sums per item, (2, items): the same for the same rows in any order, and for others once in 2^128."""
    drawn = np.random.default_rng(seed).integers(2**64, size=(2, int(codes.max(initial=-1)) + 1), dtype=np.uint64)
    sums = np.zeros((2, count), dtype=np.uint64)
    for k in range(2):
        np.add.at(sums[k], item, drawn[k][codes])
    return sums

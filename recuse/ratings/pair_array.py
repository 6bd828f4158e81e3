"""Choices between two texts: read from places to texts, and paired up over both orders. A choice is a row whose
response is "first", "second" or "tie": which place won. `Ratings.texts` says which two texts meet in an item (columns
item, a, b, and `cluster` where pairs share something). Factor `order` says who stood where ("ab": a first; "ba": b
first), factor `labels` what the places were called ("plain": the first one A; "swapped": the first one B). A table
without `labels` is all plain, one without `order` all "ab". A win counts 1, a tie 1/2, a loss 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.array import clusters_of, mean_of, moments_of, recoded
from recuse.ratings.ratings import Ratings, remembered
from recuse.ratings.ratings_table import PERSON, combined
from recuse.ratings.scale import Nominal
from recuse.schema import RatingsError
from recuse.schema.arrays import Floats
from recuse.schema.factors import LABELS, LEVELS, ORDER
from recuse.schema.pandas_when_used import pd

CREDIT = {"first": 1.0, "tie": 0.5, "second": 0.0}
CHOICES = Nominal(("first", "second", "tie"))
PAIRED = (ORDER, LABELS)  # factors that a pair is asked under: measures of choices go through `ratings.each(*PAIRED)`
COLUMNS = ["rater", "kind", "item", "cluster", "a", "b", "order", "labels", "repeat", "slot", "won"]


@remembered
def verdicts_of(ratings: Ratings) -> pd.DataFrame:
    """One row per choice, judges' and people's: rater, kind, item, cluster, a, b, order, labels, repeat, `slot` (what
    the first place won) and `won` (what a won); both NaN where the reply was not usable.

    Rows with a score are no choices and left out. Raises `RatingsError` where another factor than order and labels
    varies, where the texts do not say who meets in an item, and for an unknown response."""
    if others := [name for name in ratings.factors if name not in PAIRED]:
        raise RatingsError(f"choices are paired up within one level of every other factor; {', '.join(others)} vary")
    table = ratings.table
    rows = np.flatnonzero(ratings.having("criterion", ratings.criterion) & table["score"].isna().to_numpy())
    code, responses = pd.factorize(table["response"].iloc[rows])
    code = np.where(ratings.having("status", "ok")[rows], code, -1)
    slot = np.array([*(CREDIT.get(name, np.nan) for name in responses), np.nan])[code]
    if len(strange := rows[np.isnan(slot) & (code >= 0)]):
        got = f"row {table.index[strange[0]]} has {table['response'].iloc[strange[0]]!r}"
        raise RatingsError(f"a choice is one of {', '.join(CREDIT)}; {got}")
    texts = ratings.texts
    if texts is None or not {"item", "a", "b"} <= set(texts.columns):
        raise RatingsError("nothing says which two texts meet in an item; give texts with the columns item, a and b")
    pairs = [*dict.fromkeys(zip(*(texts[name].astype(str) for name in ("item", "a", "b")), strict=True))]
    known = {item: sides for item, *sides in pairs}
    if len(known) < len(pairs):
        twice = next(item for k, (item, *_) in enumerate(pairs) if item in {other for other, *_ in pairs[:k]})
        raise RatingsError(f"the texts name two pairs for item {twice}; one item is one pair")
    items, item = ratings.coded("item")
    names, codes = recoded(items, item[rows])
    if lacking := [name for name in names if name not in known]:
        what = f"the texts lack {len(lacking)} item(s) of the ratings"
        raise RatingsError(f"{what}, first {lacking[0]}; give its a and b")
    clusters = np.array(clusters_of(ratings, names), dtype=object)[codes]
    a, b = np.array([known[name] for name in names], dtype=object).reshape(-1, 2)[codes].T
    levels = {name: table[name].array[rows] if name in ratings.factors else LEVELS[name][0] for name in PAIRED}
    won = np.where(ratings.having(ORDER, "ab")[rows], slot, 1.0 - slot) if ORDER in ratings.factors else slot
    given = {name: table[name].array[rows] for name in ("rater", "kind", "item", "repeat")}
    return pd.DataFrame({**given, **levels, "cluster": clusters, "a": a, "b": b, "slot": slot, "won": won})[COLUMNS]


def both_orders(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per rater, item, labels and repeat, with the first place's credit in either order as columns `ab` and
    `ba`, NaN where that order was not asked or not usable. `won` is what a won on average of both, NaN unless both are
    there; where no pair at all was asked in both orders, it is what a won in the one it was asked in."""
    unit, count = np.zeros(len(verdicts), dtype=np.int64), 1
    for name in ("rater", "item", "labels", "repeat"):
        unit, count = combined(unit, count, verdicts[name])
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    by_order = np.full((2, len(first)), np.nan)
    turned = (verdicts["order"] != "ab").to_numpy(dtype=np.intp)
    if len(np.unique(turned * len(first) + unit)) < len(verdicts):
        raise RatingsError("a pair was judged twice in one order under the same repeat; number the repeats from 0")
    by_order[turned, unit] = verdicts["slot"].to_numpy(dtype=float)
    judgements = np.bincount(unit, minlength=len(first))
    won = (by_order[0] + 1.0 - by_order[1]) / 2
    if not (judgements > 1).any():
        won = np.where(np.isnan(by_order[0]), 1.0 - by_order[1], by_order[0])
    pairs = {name: verdicts[name].array[first] for name in verdicts if name not in ("order", "slot", "won")}
    return pd.DataFrame({**pairs, "ab": by_order[0], "ba": by_order[1], "won": won})


def repeated_over(ratings: Ratings) -> dict[str, Any]:
    """What a repetition would draw anew, as an estimate says it: clusters under their name where pairs share something,
    items where they share nothing."""
    texts = ratings.texts
    shared = texts is not None and "cluster" in texts and bool((texts["cluster"] != texts["item"]).any())
    return {"over": "clusters" if shared else "items", "clusters": ratings.clusters}


@dataclass(frozen=True, eq=False)
class PairArray:
    """Who won each pair, by whose choice: `won` (judges, pairs) is a's mean credit over labels and repeats, both orders
    averaged as in `both_orders`, and `people` (pairs,) people's, in whichever order they were asked; NaN without one.
    `requested` (judges, pairs) marks what has rows. `items`, `clusters`, `a`, `b` (pairs,) are names; `questions`
    (pairs,) is what the two texts answer: texts of one name and one question are one text."""

    judges: tuple[str, ...]
    items: NDArray[Any]
    questions: NDArray[Any]
    clusters: NDArray[Any]
    a: NDArray[Any]
    b: NDArray[Any]
    won: Floats
    requested: NDArray[np.bool_]
    people: Floats

    def credit(self, text: str) -> NDArray[np.intp]:
        """Shape (pairs,): 1 where the text is a, -1 where it is b, 0 where it takes no part."""
        return np.asarray((self.a == text).astype(np.intp) - (self.b == text))


@remembered
def pair_array(ratings: Ratings) -> PairArray:
    """The choices of one combination of the factors other than order and labels, as an array. Where the ratings are
    scores, these decide: of every two targets' texts of an item the one with the higher mean score wins, equal scores
    are a tie. `RatingsError` as for `verdicts_of`, or where a factor varies among scores."""
    return (_decided if ratings.scale.counts else _chosen)(ratings)


def _chosen(ratings: Ratings) -> PairArray:
    verdicts = verdicts_of(ratings)
    pairs = both_orders(verdicts)
    named = verdicts.drop_duplicates("item")
    items = pd.Index(named["item"])
    judges = ratings.judges
    rows = pairs[pairs["kind"] != PERSON]
    shape = len(judges), len(items)
    judge, item = (index.get_indexer(pd.Index(rows[n])) for index, n in ((pd.Index(judges), "rater"), (items, "item")))
    cells = judge * shape[1] + item
    requested = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape) > 0
    persons = verdicts[verdicts["kind"] == PERSON]
    rated = items.get_indexer(pd.Index(persons["item"]))
    people = moments_of(rated, persons["won"].to_numpy(dtype=float), shape[1]).mean
    won = moments_of(cells, rows["won"].to_numpy(dtype=float), shape[0] * shape[1]).mean.reshape(shape)
    names, clusters, a, b = (named[name].to_numpy(dtype=object) for name in ("item", "cluster", "a", "b"))
    return PairArray(judges, names, clusters, clusters, a, b, won, requested, people)


def _decided(ratings: Ratings) -> PairArray:
    array = ratings.array()
    names, targets = np.array(array.items, dtype=object), np.array(array.targets, dtype=object)
    sides = np.array(list(combinations(range(len(targets)), 2)), dtype=np.intp).reshape(-1, 2)
    requested = array.requested[:, :, sides[:, 0]] & array.requested[:, :, sides[:, 1]]
    pair, item = np.nonzero(requested.any(axis=0).T)  # pairs of targets one after the other, items in order
    one, other = sides[pair].T
    less = array.means[:, item, one] - array.means[:, item, other]
    won = np.where(np.isfinite(less), (np.sign(np.nan_to_num(less)) + 1) / 2, np.nan)
    judged = ~array.people
    people = mean_of(won[array.people], axis=0)
    clusters = np.array(array.clusters, dtype=object)[item]
    pairs = names[item] + "." + targets[one] + "~" + targets[other]
    return PairArray(
        array.judges, pairs, names[item], clusters, targets[one], targets[other], won[judged],
        requested[:, item, pair][judged], people,
    )  # fmt: skip


def choices_of(
    rows: pd.DataFrame, *, ordered: bool = True, factors: Sequence[str] = (), clusters: str = "items"
) -> Ratings:
    """Ratings from one row per choice: columns rater, kind, item, repeat, `first` and `second`, which are the two that
    met, and response: first, second, tie, or anything else where there was no usable answer. They were shown in this
    order; unless `ordered`, nothing is known of that, but where somebody judged a pair both ways round.

    One question (`item`) may hold several pairs: they become items "question.a~b" that share a cluster, as does a
    column `cluster`. Further columns: of the first and second of the two words_a and words_b, text_a and text_b; what
    was varied is named in `factors`. A judge wrote what bears its name.

    >>> rows = [("gpt", "judge", "q", 0, "gpt", "bard", "first"), ("gpt", "judge", "q", 0, "bard", "gpt", "second")]
    >>> columns = ["rater", "kind", "item", "repeat", "first", "second", "response"]
    >>> ratings = choices_of(pd.DataFrame(rows, columns=columns))
    >>> ratings.levels("order"), ratings.own()
    (('ab', 'ba'), {'gpt': 'gpt'})
    """
    first, second, question = (rows[name].astype(str) for name in ("first", "second", "item"))
    swap = first > second  # every pair the same way round, whatever way the table has it
    a, b = first.where(~swap, second), second.where(~swap, first)
    ordered = ordered or bool(swap.groupby([rows["rater"], question, a, b]).nunique().max() > 1)
    response = rows["response"].map({name: name for name in CREDIT})
    if not ordered:
        response = response.where(~swap, response.map({"first": "second", "second": "first", "tie": "tie"}))
    several = a.add("~").add(b).groupby(question).transform("nunique").max() > 1
    order = swap.map({False: "ab", True: "ba"})
    about: dict[str, Any] = {
        "item": question + "." + a + "~" + b if several else question, "target": a, "criterion": "winner",
        "response": response.astype(object), "status": response.notna().map({True: "ok", False: "unparsed"}),
    } | ({ORDER: order} if ordered else {})  # fmt: skip
    facts = {"a": a, "b": b, "cluster": rows.get("cluster", question)}
    for one, other in (("words_a", "words_b"), ("text_a", "text_b")):
        if one in rows and other in rows:
            facts |= {one: rows[one].where(~swap, rows[other]), other: rows[other].where(~swap, rows[one])}
    table = rows[["rater", "kind", "repeat", *factors]].assign(**about)
    texts = table[["item", "target"]].assign(**facts).drop_duplicates("item").reset_index(drop=True)
    judges, written = table.loc[table["kind"] != PERSON, "rater"].astype(str).unique(), {*a.unique(), *b.unique()}
    return Ratings.of(
        table, scales={"winner": CHOICES}, factors=((ORDER,) if ordered else ()) + tuple(factors), texts=texts,
        authors={judge: judge for judge in judges if judge in written}, clusters=clusters,
    )  # fmt: skip

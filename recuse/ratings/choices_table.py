"""Choices between two texts from a table made elsewhere: who met, who won, in the words of whoever kept it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recuse.ratings.pair_array import CHOICES
from recuse.ratings.ratings import Ratings
from recuse.ratings.ratings_table import PERSON
from recuse.schema import RatingsError
from recuse.schema.factors import LABELS, ORDER

if TYPE_CHECKING:
    import pandas as pd

TIES = ("tie", "draw", "equal", "same")
FACTS = ("cluster", "words_a", "words_b", "text_a", "text_b")


def read_choices(
    frame: pd.DataFrame, *, people: Sequence[str] = (), authors: Mapping[str, str] | None = None,
    clusters: str = "items", factors: Sequence[str] = (),
) -> Ratings:  # fmt: skip
    """Ratings from one row per choice: columns rater (or judge), item, the two that met, and response.

    The two that met are columns `first` and `second`, in the order shown, or `a` and `b`: then a column `order` ("ab",
    "ba") says which was shown first; without it a was, if somebody judged a pair both ways round, and otherwise nothing
    is known of the order. `response` names the winner: first, second, a, b, or the winner's own name; tie, draw, equal
    or same for neither; empty where there was no usable answer.

    One question (`item`) may hold several pairs: they become items "question.a~b" that share a cluster, as does a
    column `cluster`. Further columns: kind, repeat (counted where missing), labels, and of the left and right of the
    two that met words_a, words_b or text_a, text_b; others that were varied are named in `factors`. `people` names
    raters that are no judges. `authors`: judge -> what it wrote; unless given, a judge wrote what bears its name.

    Raises `RatingsError` for missing columns, and for a response that names none of the two, with its row.

    >>> import pandas as pd
    >>> rows = [("gpt", "q1", "gpt", "bard", "first"), ("gpt", "q1", "bard", "gpt", "bard")]
    >>> ratings = read_choices(pd.DataFrame(rows, columns=["judge", "item", "first", "second", "response"]))
    >>> ratings.levels("order"), ratings.own()
    (('ab', 'ba'), {'gpt': 'gpt'})
    """
    table = frame.rename(columns={"judge": "rater"} if "rater" not in frame else {}).reset_index(drop=True)
    _require(table)
    rows, known = _paired_up(table)
    known = (*known, *factors)
    if "kind" not in rows:
        rows["kind"] = np.where(rows["rater"].isin(list(people)), PERSON, "judge")
    if "repeat" not in rows:
        rows["repeat"] = rows.groupby(["rater", "item", *known]).cumcount()
    texts = _with_words(rows[["item", "target", "a", "b", *(name for name in FACTS if name in rows)]])
    if authors is None:
        judges, written = rows.loc[rows["kind"] != PERSON, "rater"].astype(str).unique(), {*rows["a"], *rows["b"]}
        authors = {judge: judge for judge in judges if judge in written}
    kept = ["rater", "kind", "item", "target", "criterion", "repeat", "response", "status", *known]
    scales = {"winner": CHOICES}
    return Ratings.of(rows[kept], scales=scales, factors=known, authors=authors, texts=texts, clusters=clusters)


def _require(table: pd.DataFrame) -> None:
    has = set(table.columns)
    met = {"first", "second"} <= has or {"a", "b"} <= has
    if not {"rater", "item", "response"} <= has or not met:
        raise RatingsError(
            "choices need the columns rater, item, response, and the two that met as first and second or as a and b; "
            f"there is {', '.join(map(str, table.columns))}"
        )


def _paired_up(table: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Rows with every pair the same way round, whatever way the table had it, and the factors that are known."""
    left, right = (table[name].astype(str) for name in (("first", "second") if "first" in table else ("a", "b")))
    swap = left > right
    a, b = left.where(~swap, right), right.where(~swap, left)
    question = table["item"].astype(str)
    right_first = table["order"].eq("ba") if "order" in table and "first" not in table else swap & False
    both_ways = swap.groupby([table["rater"], question, a, b]).nunique().max() > 1
    ordered = "first" in table or "order" in table or both_ways
    left_won = _left_won(table, left, right, right_first)
    b_first = right_first ^ swap if ordered else swap & False
    slot = left_won.where(swap == b_first, 1.0 - left_won)
    several = a.add("~").add(b).groupby(question).transform("nunique").max() > 1
    changed = {
        "item": question + "." + a + "~" + b if several else question,
        "cluster": table.get("cluster", question),
        "target": a, "a": a, "b": b, "criterion": "winner", "order": b_first.map({False: "ab", True: "ba"}),
        "response": slot.map({1.0: "first", 0.5: "tie", 0.0: "second"}).astype(object),
        "status": slot.notna().map({True: "ok", False: "unparsed"}),
    }  # fmt: skip
    for name in ("words", "text"):
        if {f"{name}_a", f"{name}_b"} <= set(table.columns):
            one, other = table[f"{name}_a"], table[f"{name}_b"]
            changed |= {f"{name}_a": one.where(~swap, other), f"{name}_b": other.where(~swap, one)}
    known = ((ORDER,) if ordered else ()) + ((LABELS,) if LABELS in table else ())
    return table.assign(**changed), known


def _left_won(
    table: pd.DataFrame, left: pd.Series[str], right: pd.Series[str], right_first: pd.Series[bool]
) -> pd.Series[float]:
    """What the left of the two columns won: 1, 1/2 or 0; NaN without a response."""
    given = table["response"].astype(object).where(table["response"].notna(), "").astype(str).str.strip()
    word = given.str.lower()
    first_won = word.map({"first": True, "second": False})
    won = word.map({"a": 1.0, "b": 0.0, **dict.fromkeys(TIES, 0.5)})
    won = won.mask(first_won.notna(), (first_won.eq(True) ^ right_first).astype(float))
    won = won.mask(given == left, 1.0).mask(given == right, 0.0)
    if (strange := won.isna() & (given != "")).any():
        row = int(strange.to_numpy().argmax())
        raise RatingsError(
            f"a response names the winner: first, second, a, b, {left.iloc[row]} or {right.iloc[row]}, or tie; row "
            f"{row} has {given.iloc[row]!r}"
        )
    return won


def _with_words(texts: pd.DataFrame) -> pd.DataFrame:
    """One row per pair; the number of words of each text where the texts are there and the numbers are not."""
    once = texts.drop_duplicates("item").reset_index(drop=True)
    counted = {
        f"words_{side}": once[f"text_{side}"].map(lambda text: len(str(text).split()))
        for side in ("a", "b")
        if f"text_{side}" in once and f"words_{side}" not in once
    }
    return once.assign(**counted)

"""Copied replies: scores that repeat the prompt's own numbers, and quotes that are not in the text.

A reply can have the form that was asked for and hold no judgement: the scores count 1, 2, 3, 4, 5 like the list of
dimensions, or repeat the anchors 2, 5, 8, 10; the evidence is a phrase of the rubric. A grammar that enforces the form
makes such replies readable, all of them. They agree with each other beautifully, so whoever measures agreement
("Beyond the Illusion of Consensus", 2026) needs to know how many there are.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from recuse.metrics.estimates import number
from recuse.metrics.measure import measure
from recuse.papers.illusion.evidence_overlap import words_of
from recuse.papers.illusion.merg import PARTS
from recuse.papers.self_preference.over_texts import share_estimate
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates

ANCHORS = (2.0, 5.0, 8.0, 10.0)
"""The scores that a MERG prompt names."""


@measure(
    "repeated_numbers", "scores that repeat the prompt's numbers", unit="share", rank=423, bad="above",
    above="repeats the prompt's numbering or anchors|repeat the prompt's numbering or anchors",
    reading="Share of replies whose scores, in the order in which they are asked for, count 1, 2, 3, ... or begin 2, "
    "5, 8, 10 as the prompt names the anchors. Such a reply is readable and judges nothing.",
)  # fmt: skip
def repeated_numbers(ratings: Ratings) -> Estimates:
    """Share of complete replies of three scores or more that are 1, 2, 3, ..., or that begin with the anchors, by judge
    and factor level. The parts are `Ratings.parts`, or MERG's five dimensions. Detail: `counting`, `anchors`, and
    `commonest`, the share of the commonest list of scores, whatever it is; `lists`, how many different ones there are.

    A judge that means 1, 2, 3, 4, 5 once is counted too; one that means it of half of all texts is not to be expected.
    Clopper-Pearson interval, over clusters at the effective sample size. Empty where replies have fewer than three
    parts.

    >>> import pandas as pd
    >>> rows = [("i", 1, 2, 3), ("j", 4, 2, 3)]
    >>> wide = pd.DataFrame(rows, columns=["item", *PARTS[:3]]).assign(judge="a")
    >>> long = wide.melt(["judge", "item"], var_name="criterion", value_name="score")
    >>> repeated_numbers(Ratings.of(long, parts=PARTS[:3])).of(judge="a").value
    0.5
    """
    parts = ratings.parts or tuple(name for name in ratings.criteria if name in PARTS)
    estimates: dict[tuple[str, ...], Estimate] = {}
    if len(parts) < 3:
        return Estimates(("judge", *ratings.factors), estimates)
    rows = ratings.table[ratings.table["kind"].eq("judge") & ratings.table["criterion"].isin(parts)]
    keys = ["rater", *ratings.factors, "item", "target", "repeat"]
    wide = rows.pivot_table("score", keys, "criterion", observed=True)
    complete = wide.reindex(columns=list(parts)).dropna()
    for (judge, *levels), replies in complete.groupby(keys[: 1 + len(ratings.factors)], sort=False, observed=True):
        scores = replies.to_numpy()
        counting = (scores == np.arange(1, len(parts) + 1)).all(axis=1)
        first = ANCHORS[: len(parts)]
        anchors = (scores[:, : len(first)] == first).all(axis=1)
        lists = Counter(map(tuple, scores.tolist()))
        detail = {
            "counting": number(float(counting.mean())), "anchors": number(float(anchors.mean())),
            "commonest": number(max(lists.values()) / len(scores)), "lists": len(lists),
        }  # fmt: skip
        items = replies.index.get_level_values("item").astype(str)
        estimates[str(judge), *map(str, levels)] = share_estimate(
            "repeated_numbers", counting | anchors, items, "", n_clusters=None, detail=detail
        )
    return Estimates(("judge", *ratings.factors), estimates)


@measure(
    "quotes_in_text", "quotes that are in the text", unit="share", rank=424, bad="below",
    below="cites what is not in the text|cite what is not in the text",
    reading="Share of the places cited as evidence that stand in the judged text, word for word.",
)  # fmt: skip
def quotes_in_text(ratings: Ratings) -> Estimates:
    """Share of quotes found in the judged text (case, punctuation and blanks ignored), by judge and factor level. A
    quote without a word that could be looked for (`evidence_overlap.words_of`) is not found; detail `empty` counts
    them. Empty where no citations stand beside the scores (`ratings.beside("quotes")`) or texts are not known.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": ["i", "j"], "target": "t", "score": 3.0})
    >>> texts = frame[["item", "target"]].assign(text="The lock is open; the boats wait.")
    >>> cited = Ratings.of(frame.drop(columns="score").assign(response=["the boats wait", "very clear"]))
    >>> quotes_in_text(Ratings.of(frame, texts=texts, beside={"quotes": cited}.get)).of(judge="a").value
    0.5
    """
    cited, texts = ratings.beside("quotes"), ratings.texts
    estimates: dict[tuple[str, ...], Estimate] = {}
    if cited is None or texts is None or "text" not in texts:
        return Estimates(("judge", *ratings.factors), estimates)
    rows = cited.table.merge(texts[["item", "target", "text"]], on=["item", "target"])
    for (judge, *levels), quotes in rows.groupby(["rater", *ratings.factors], sort=False, observed=True):
        pairs = zip(quotes["response"].astype(str), quotes["text"].astype(str), strict=True)
        there = [bool(words_of(q)) and f" {_plain(q)} " in f" {_plain(text)} " for q, text in pairs]
        empty = sum(not words_of(str(quote)) for quote in quotes["response"])
        estimates[str(judge), *map(str, levels)] = share_estimate(
            "quotes_in_text", there, quotes["item"].astype(str), "", n_clusters=None, detail={"empty": empty}
        )
    return Estimates(("judge", *ratings.factors), estimates)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.casefold()))

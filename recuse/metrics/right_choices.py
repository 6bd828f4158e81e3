"""Right choices: how much better than by chance does a judge choose where it is known which choice is right?

Known from a right answer, or from one person's choices. Two ways of choosing: naming one of two texts, or scoring an
item's texts one by one, of which the best-scored is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import RatingArray, Ratings, judges_array, moments_of
from recuse.ratings.answers import against_truth
from recuse.ratings.pair_array import PAIRED, pair_array, repeated_over, verdicts_of
from recuse.ratings.scale import RIGHT
from recuse.schema import Estimate, Estimates, RatingsError
from recuse.schema.arrays import Floats, Mask
from recuse.schema.factors import ORDER
from recuse.schema.vocabulary import RIGHT_ANSWERS
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import InUnits

METHOD = f"(right - by chance) / (1 - by chance); {SHARE}"


@measure(
    "right_choices", "right choices beyond chance", ends=(-1, 1), signed=True, rank=290,
    below="chooses the right text less often than you ask",
    reading="How much of what chance, or always naming the same place, gets wrong the judge gets right: 0 is chance, 1 "
    "is every choice right. 0.4 is seven of ten pairs, or 55 of 100 best of four.",
)  # fmt: skip
def right_choices(ratings: Ratings) -> Estimates:
    """(c - b) / (1 - b) by judge and factor level: c the mean credit for choosing right, b the larger of what guessing
    and what a constant choice gets. Kappa with the marginals of chance (Bennett, Alpert and Goldstein 1954, Public
    Opinion Quarterly 18, 303-308), against the truth.

    Pairs: the credit is the judge's for the right text, both orders averaged, a tie half; guessing gets 1/2, and so
    does the constant (the same place throughout) where every pair was asked in both orders. Scored items: the right
    response is told by `Ratings.texts` (`gold`); best by itself counts 1, best together with k - 1 others 1 / k;
    guessing among n gets 1 / n. What the judge left without an answer counts as a guess: no judge gains by leaving out
    the hard ones. Pairs without a right choice (a tie) do not count.

    The interval is that of c (Clopper-Pearson; clusters at the effective sample size), b taken as known. Detail:
    `right` = c, `chance`, `constant`, `unanswered`, `held_against`. `RatingsError` where nothing says what is right.

    >>> texts = table("item target gold", "i a 1; i b 0; k a 1; k b 0")
    >>> found = right_choices(example("item target score", "i a 3; i b 2; k a 4; k b 4", texts=texts)).of(judge="j")
    >>> found.detail["right"], found.value
    (0.75, 0.5)
    """
    pairs = ratings.texts is not None and {"a", "b"} <= set(ratings.texts.columns)
    compare = PAIRED if pairs else ()
    estimates: dict[tuple[str, ...], Estimate] = {}
    held = against_truth(ratings) if pairs else ratings
    for names, part in held.each(*compare):
        for judge, estimate in _of_pairs(part, held) if pairs else _of_scores(part):
            estimates[judge, *names] = estimate
    return Estimates(("judge", *held.within(*compare)), estimates)


def _beyond_chance(
    given: Floats, guess: Floats, constant: float, clusters: NDArray[Any], held_against: str, over: Mapping[str, Any]
) -> Estimate:
    """Of one judge's credit for choosing right (N,), NaN where it left something unanswered, and a guess's (N,).
    `constant`: the mean credit of the best constant choice, NaN where there is none."""
    facts: dict[str, Any] = {"n": len(given), "method": METHOD, **over}
    if not len(given):
        why = "the judge was asked about nothing of which the right choice is known"
        return undefined("right_choices", why, **facts)
    answered = np.isfinite(given)
    credit = np.where(answered, given, guess)
    chance, right = float(guess.mean()), float(credit.mean())
    base = max(chance, constant) if np.isfinite(constant) else chance
    detail = {
        "right": number(right), "chance": number(chance), "constant": number(constant),
        "unanswered": int((~answered).sum()), "held_against": held_against,
    }  # fmt: skip
    if base >= 1:
        why = "the right text always stood in the same place, so nothing tells a judge from one that names that place"
        return undefined("right_choices", why, detail=detail, **facts)
    distribution = InUnits(clustered_share(credit, clusters), base, 1 - base)
    return estimated("right_choices", (right - base) / (1 - base), distribution, detail=detail, **facts)


def _of_pairs(part: Ratings, ratings: Ratings) -> Iterator[tuple[str, Estimate]]:
    pairs, over = pair_array(part), repeated_over(part)
    known = np.isfinite(pairs.people) & (pairs.people != 0.5)
    right, shape = pairs.people > 0.5, (len(pairs.judges), len(pairs.items))
    shown_first = np.full(shape, np.nan)  # how often text a stood first, of the times that the judge was asked
    if ORDER in part.factors:
        rows = verdicts_of(part)
        rows = rows[rows["rater"].isin(pairs.judges)]
        both = ("rater", pairs.judges), ("item", pairs.items)
        judge, item = (pd.Index(names).get_indexer(pd.Index(rows[column])) for column, names in both)
        first = np.asarray(rows["order"] == "ab", dtype=float)
        shown_first = moments_of(judge * shape[1] + item, first, shape[0] * shape[1]).mean.reshape(shape)
    alone = "one person" if len(ratings.persons) == 1 else "people"
    against = RIGHT_ANSWERS if ratings.truth in ratings.persons else alone
    for k, name in enumerate(pairs.judges):
        wanted = pairs.requested[k] & known
        won = pairs.won[k][wanted]
        credit, guess = np.where(right[wanted], won, 1 - won), np.full(int(wanted.sum()), 0.5)
        first, constant = shown_first[k][wanted], float("nan")  # of always naming one place, the better of the two
        if len(first) and not np.isnan(first).any():
            always = float(np.where(right[wanted], first, 1 - first).mean())
            constant = max(always, 1 - always)
        yield name, _beyond_chance(credit, guess, constant, pairs.clusters[wanted], against, over)


def _of_scores(part: Ratings) -> Iterator[tuple[str, Estimate]]:
    array = judges_array(part)
    right = right_responses(part, array)
    clusters = np.asarray(array.clusters, dtype=object)
    over = {"over": "clusters" if array.clustered else "items", "clusters": part.clusters}
    for judge, name in enumerate(array.judges):
        requested = array.requested[judge]
        wanted = (requested.sum(axis=1) > 1) & ((requested & right).sum(axis=1) == 1)
        credit, chance = right_first(array.means[judge], requested, right), 1 / requested[wanted].sum(axis=1)
        yield name, _beyond_chance(credit[wanted], chance, float("nan"), clusters[wanted], RIGHT_ANSWERS, over)


def right_first(scores: Floats, requested: Mask, right: Mask) -> Floats:
    """Of scores (items, targets), NaN where there is none, the credit for a right text on top of an item's, (items,): 1
    by itself, 1 / k together with k - 1 others; NaN where a requested one has no score."""
    there = np.isfinite(scores)
    best = np.where(there, scores, -np.inf)
    top = best == best.max(axis=1, initial=-np.inf, keepdims=True)
    credit: Floats = (top & right).any(axis=1) / np.maximum(top.sum(axis=1), 1)
    return np.where((there | ~requested).all(axis=1), credit, np.nan)


def right_responses(ratings: Ratings, array: RatingArray) -> Mask:
    """Which texts are the right ones, shape (items, targets)."""
    texts = ratings.texts
    if texts is None or "gold" not in texts:
        raise RatingsError("nothing says which text is the right one; give texts with a column gold (1 or 0)")
    gold = texts[texts["gold"].isin([value for value in texts["gold"].unique() if str(value).strip().lower() in RIGHT])]
    right = np.zeros(array.shape[1:], dtype=bool)
    both = ("item", array.items), ("target", array.targets)
    item, target = (pd.Index(names).get_indexer(pd.Index(gold[column].astype(str))) for column, names in both)
    inside = (item >= 0) & (target >= 0)
    right[item[inside], target[inside]] = True
    return right

"""Right choices: how much better than by chance does a judge choose where it is known which choice is right?

Known from a right answer, or from one person's choices. Two ways of choosing: naming one of two texts, or scoring an
item's texts one by one, of which the best-scored is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.best_response import right_responses
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.binary_decisions import against_truth
from recuse.ratings.factors import ORDER
from recuse.ratings.pair_array import PAIRED, PairArray, pair_array, repeated_over, verdicts_of
from recuse.schema import Distribution, Estimate, Estimates
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import Side

__all__ = ["right_choices"]

Floats = NDArray[np.float64]
METHOD = f"(right - by chance) / (1 - by chance); {SHARE}"


@measure(
    "right_choices", "right choices beyond chance", ends=(-1, 1), signed=True, rank=290, bad="below",
    below="chooses hardly better than by chance|choose hardly better than by chance",
    reading="How much of what chance, or always naming the same place, gets wrong the judge gets right: 0 is chance, 1 "
    "is every choice right. 0.4 is seven of ten pairs, or 55 of 100 best of four.",
)  # fmt: skip
def right_choices(ratings: Ratings) -> Estimates:
    """(c - b) / (1 - b) by judge and factor level: c the mean credit for choosing right, b the larger of what guessing
    and what a constant choice gets. Kappa with the marginals of chance (Bennett, Alpert and Goldstein 1954, Public
    Opinion Quarterly 18, 303-308), against the truth.

    Pairs: the credit is the judge's for the right text, both orders averaged, a tie half; guessing gets 1/2, and the
    constant names the same place throughout: 1/2 as well where every pair was asked in both orders. Scored items: the
    right response is told by `Ratings.texts` (`gold`); best by itself counts 1, best together with k - 1 others 1 / k,
    as when ties are broken by lot; guessing among n gets 1 / n. What the judge left without an answer counts as a
    guess: no judge gains by leaving out the hard ones. Pairs without a right choice (a tie) do not count.

    The interval is that of c (Clopper-Pearson; clusters at the effective sample size), b taken as known. Detail:
    `right` = c, `chance`, `constant`, `unanswered`, `held_against`. `RatingsError` where nothing says what is right.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": [1, 1, 2, 2], "target": ["a", "b"] * 2, "score": [3.0, 2, 4, 4]})
    >>> texts = pd.DataFrame({"item": ["1", "1", "2", "2"], "target": ["a", "b"] * 2, "gold": ["1", "0", "1", "0"]})
    >>> found = right_choices(Ratings.of(frame, texts=texts)).of(judge="j")
    >>> found.detail["right"], found.value
    (0.75, 0.5)
    """
    pairs = ratings.texts is not None and {"a", "b"} <= set(ratings.texts.columns)
    compare = PAIRED if pairs else ()
    estimates: dict[tuple[str, ...], Estimate] = {}
    held = against_truth(ratings) if pairs else ratings
    for names, part in held.each(*compare):
        for choices in _of_pairs(part, held) if pairs else _of_scores(part):
            estimates[(choices.judge, *names)] = _beyond_chance(choices)
    return Estimates(("judge", *held.within(*compare)), estimates)


@dataclass(frozen=True, eq=False)
class _Choices:
    """One judge's: `credit` (N,) for choosing right, NaN where it left something unanswered; `chance` (N,) a guess's;
    `constant`, the mean credit of the best constant choice, NaN where there is none."""

    judge: str
    credit: Floats
    chance: Floats
    constant: float
    clusters: NDArray[Any]
    held_against: str
    over: Literal["items", "clusters"]
    clusters_called: str


@dataclass(frozen=True, slots=True)
class _BeyondChance:
    """The distribution of (c - b) / (1 - b), b known."""

    share: Distribution
    base: float

    @property
    def undefined(self) -> str:
        return str(getattr(self.share, "undefined", ""))

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.share.interval(level)
        return (low - self.base) / (1 - self.base), (high - self.base) / (1 - self.base)

    def p_value(self, limit: float, side: Side) -> float:
        return self.share.p_value(self.base + limit * (1 - self.base), side)

    def half_width_at(self, factor: float) -> float | None:
        half = self.share.half_width_at(factor)
        return None if half is None else half / (1 - self.base)


def _beyond_chance(choices: _Choices) -> Estimate:
    facts: dict[str, Any] = {"n": len(choices.credit), "method": METHOD, "over": choices.over,
                             "clusters": choices.clusters_called}  # fmt: skip
    if not len(choices.credit):
        why = "the judge was asked about nothing of which the right choice is known"
        return undefined("right_choices", why, **facts)
    answered = np.isfinite(choices.credit)
    credit = np.where(answered, choices.credit, choices.chance)
    chance, right = float(choices.chance.mean()), float(credit.mean())
    base = max(chance, choices.constant) if np.isfinite(choices.constant) else chance
    detail = {
        "right": number(right), "chance": number(chance), "constant": number(choices.constant),
        "unanswered": int((~answered).sum()), "held_against": choices.held_against,
    }  # fmt: skip
    if base >= 1:
        why = "the right text always stood in the same place, so nothing tells a judge from one that names that place"
        return undefined("right_choices", why, detail=detail, **facts)
    distribution = _BeyondChance(clustered_share(credit, choices.clusters), base)
    return estimated("right_choices", (right - base) / (1 - base), distribution, detail=detail, **facts)


def _of_pairs(part: Ratings, ratings: Ratings) -> Iterator[_Choices]:
    met, over = pair_array(part), repeated_over(part)
    known = np.isfinite(met.people) & (met.people != 0.5)
    right, shown_first = met.people > 0.5, _shown_first(part, met)
    alone = "one person" if len(ratings.persons) == 1 else "people"
    against = "the right answers" if ratings.truth in ratings.persons else alone
    for judge, name in enumerate(met.judges):
        wanted = met.requested[judge] & known
        won = met.won[judge][wanted]
        credit, guess = np.where(right[wanted], won, 1 - won), np.full(int(wanted.sum()), 0.5)
        constant = _constant(shown_first[judge][wanted], right[wanted])
        yield _Choices(name, credit, guess, constant, met.clusters[wanted], against, over["over"], over["clusters"])


def _shown_first(part: Ratings, met: PairArray) -> Floats:
    """How often text a stood first, of the times that the judge was asked about the pair, (judges, pairs); NaN where
    the order is not known."""
    import pandas as pd

    shape = len(met.judges), len(met.items)
    if ORDER not in part.factors:
        return np.full(shape, np.nan)
    rows = verdicts_of(part)
    rows = rows[rows["rater"].isin(met.judges)]
    judge = pd.Index(met.judges).get_indexer(pd.Index(rows["rater"]))
    cells, size = judge * shape[1] + pd.Index(met.items).get_indexer(pd.Index(rows["item"])), shape[0] * shape[1]
    asked = np.bincount(cells, minlength=size)
    first = np.bincount(cells, weights=(rows["order"] == "ab").to_numpy(dtype=float), minlength=size)
    share: Floats = np.divide(first, asked, out=np.full(size, np.nan), where=asked > 0)
    return share.reshape(shape)


def _constant(first: Floats, right: NDArray[np.bool_]) -> float:
    """Mean credit of always naming one place, the better of the two; NaN where the order is not known."""
    if not len(first) or np.isnan(first).any():
        return float("nan")
    credit = float(np.where(right, first, 1 - first).mean())
    return max(credit, 1 - credit)


def _of_scores(part: Ratings) -> Iterator[_Choices]:
    array = part.array().only_judges()
    right = right_responses(part, array)
    clusters = np.asarray(array.clusters, dtype=object)
    for judge, name in enumerate(array.judges):
        requested = array.requested[judge]
        wanted = (requested.sum(axis=1) > 1) & ((requested & right).sum(axis=1) == 1)
        scores = np.where(requested, array.means[judge], -np.inf)[wanted]
        complete = ~np.isnan(scores).any(axis=1)
        scores = np.where(np.isnan(scores), -np.inf, scores)
        top = scores == scores.max(axis=1, initial=-np.inf, keepdims=True)
        hits = (top & right[wanted]).any(axis=1) / np.maximum(top.sum(axis=1), 1)
        credit, chance = np.where(complete, hits, np.nan), 1 / requested[wanted].sum(axis=1)
        yield _Choices(
            name, credit, chance, float("nan"), clusters[wanted], "the right answers",
            "clusters" if array.clustered else "items", part.clusters,
        )  # fmt: skip

"""Overconfidence: does a judge take its own answers for better than they are, where what is true is known?
Self-preference against objective truth is harmful whatever peers say (thesis on bias in LLM self-evaluation, sec. 2.4;
Chen et al. 2025, arXiv:2504.03846). With T a text's true score,

    overconfidence = mean over own texts of [score - mean score of the judge for others' texts of the same T]

A generous judge is so to all texts, a good author's answers are held against others' right ones, and plain mistakes
pull everybody's. Capability is the mean true score of a judge's own texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import Named, measure, per_subject
from recuse.metrics.self_preference import missing_text
from recuse.papers.rank_tests import spearman, spearman_test
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.over_texts import OwnTexts, mean_or_none, own_texts
from recuse.ratings import mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask, ascending_codes

UNKNOWN = "what the texts deserve is not known; say it (texts: true_<criterion>)"
METHOD = "Spearman's rho over judges, p by all permutations"
FEWEST = 4


@measure(
    "overconfidence", "own answers beyond what is true", signed=True, rank=45,
    above="takes its own answers for better than they are", below="takes its own answers for worse than they are",
    reading="Score of a judge's own texts less its score of others' texts that deserve the same.",
)  # fmt: skip
@per_subject("judge", own_texts)
def overconfidence(seen: OwnTexts) -> Iterator[Named]:
    """The difference of the module, by judge and factor level, for judges that wrote a target; in units of the scale.
    Interval by the jackknife over items, the judge's scores of others' texts included. Own texts whose true score no
    other text has are excluded and counted. Detail: `capability`, the mean true score of its own texts; `accepts_own`,
    the mean score of its own texts that deserve the lowest score, and `accepts_others` of others' such texts. Undefined
    where no true score is known, and where no own text has another of the same true score beside it.

    >>> texts = table("item target true_rating", "i a 1; i b 1; k a 5; k b 5")
    >>> scores = example("item target score", "i a 5; i b 1; k a 5; k b 5", authors={"j": "a"}, texts=texts)
    >>> overconfidence(scores).of(judge="j").value
    2.0
    """
    part, array, _ = seen
    groups = ascending_codes(array.clusters)
    for one in _examined(seen):
        there, worst = np.isfinite(one.compared()), np.abs(one.true - part.scale.ends[0]) < 1e-9
        detail = {
            "capability": one.capability, "accepts_own": mean_or_none(one.scores[worst & one.own]),
            "accepts_others": mean_or_none(one.scores[worst & ~one.own]),
        }  # fmt: skip
        n = int(there.sum())
        about: dict[str, Any] = {
            "n": n, "n_excluded": len(one.scores) - n, "over": "clusters", "clusters": part.clusters,
            "method": over_texts.JACKKNIFE, "unit": part.scale.unit, "span": part.scale.span, "detail": detail,
        }  # fmt: skip
        if not n:
            yield one.judge, undefined("overconfidence", one.why, **about)
            continue
        left_out = [one.beyond(groups != cluster) for cluster in np.unique(groups[there])]
        yield one.judge, over_texts.jackknifed("overconfidence", one.beyond(), left_out, part.scale.span, **about)


@measure(
    "capability_and_overconfidence", "do capable judges overrate themselves?", unit="rho", signed=True, rank=345,
    reading="Rank correlation over judges of how good their own texts are with how far they overrate them.",
)  # fmt: skip
@per_subject((), own_texts)
def capability_and_overconfidence(seen: OwnTexts) -> list[Named]:
    """Spearman's rho over judges between capability and `overconfidence`, by factor level; n is the number of judges.
    No interval of so few; detail: both values per judge, and `p` over all permutations. Undefined with fewer than four
    judges that wrote a text, or where either is the same for all.

    >>> texts = table("item target true_rating", "i a 1; i b 1")
    >>> capability_and_overconfidence(example("target score", "a 5; b 1", authors={"j": "a"}, texts=texts)).of().note
    'undefined: a rank correlation over judges takes 4 of them'
    """
    pairs = {one.judge: (np.nan if one.capability is None else one.capability, one.beyond()) for one in _examined(seen)}
    return [((), rank_correlation("capability_and_overconfidence", pairs))] if pairs else []


def rank_correlation(metric: str, pairs: dict[str, tuple[float, float]]) -> Estimate:
    """Spearman's rho over judges, each with two values; detail and p as told above."""
    known = {judge: pair for judge, pair in pairs.items() if np.isfinite(pair).all()}
    values = {judge: [number(value) for value in pair] for judge, pair in pairs.items()}
    detail: dict[str, Any] = {"judges": values}
    about = dict[str, Any](n=len(known), n_excluded=len(pairs) - len(known), method=METHOD, unit="rho", span=2.0)
    if len(known) < FEWEST:
        return undefined(metric, f"a rank correlation over judges takes {FEWEST} of them", detail=detail, **about)
    first, second = np.array(list(known.values())).T
    rho = float(spearman(first, second))
    if np.isnan(rho):
        return undefined(metric, "all judges are alike on one side", detail=detail, **about)
    detail["p"] = number(spearman_test(first, second).p)
    return Estimate(metric=metric, value=rho, over="items", detail=detail, **about)


@dataclass(frozen=True)
class _Examined:
    """One judge's scores and the true ones, (items, targets), NaN where they are not known; `own` (targets,) marks what
    it wrote."""

    judge: str
    scores: Floats
    true: Floats
    own: Mask
    why: str

    @property
    def capability(self) -> float | None:
        return mean_or_none(self.true[:, self.own])

    def compared(self, kept: Mask | Literal[True] = True) -> Floats:
        """Own score less the mean of others' texts of the same true score, of the items that are `kept`, (items,); NaN
        where there is none."""
        values, kept = np.full(self.scores.shape, np.nan), np.broadcast_to(kept, len(self.scores))
        for level in np.unique(self.true[np.isfinite(self.true)]):
            same = kept[:, None] & (np.abs(self.true - level) < 1e-9)
            values[same] = self.scores[same] - mean_of(self.scores[same & ~self.own], axis=0)
        return values[:, self.own].ravel()

    def beyond(self, kept: Mask | Literal[True] = True) -> float:
        """Overconfidence on the items that are kept."""
        return float(mean_of(self.compared(kept), axis=0))


def _examined(seen: OwnTexts) -> Iterator[_Examined]:
    part, array, places = seen
    true, nothing, columns = over_texts.true_scores(part, array), np.full(array.shape[1:], np.nan), len(array.targets)
    unknown = UNKNOWN if np.isnan(true).all() else ""
    for judge, place in places.items():
        if unknown or place is None:
            yield _Examined(
                judge, nothing, nothing, np.zeros(columns, dtype=bool), unknown or missing_text(array, judge)
            )
        else:
            why = "no own text has another of the same true score to be held against"
            yield _Examined(judge, array.means[place[0]], true, np.arange(columns) == place[1], why)

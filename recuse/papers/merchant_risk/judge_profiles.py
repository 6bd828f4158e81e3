"""What goes with what across a panel's judges: are self-critical judges closer to people, do good authors hold
themselves down? Merchant-risk paper, secs. 4.3.3, 4.4, 7.1 and 7.2, which says so in words. A correlation over five
judges cannot be told from chance below rho 1 (one order of 120 either way: p .017), so the permutation p stands beside
each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.consensus import leniency, self_bias
from recuse.metrics.estimates import number, undefined
from recuse.metrics.human_alignment import compared
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.rank_tests import spearman, spearman_test
from recuse.ratings import Ratings, mean_of
from recuse.ratings.ratings import remembered
from recuse.schema import Estimate, Estimates, RatingsError
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd

PAIRS: Mapping[str, tuple[str, str]] = {
    "self-bias and distance from people": ("self_bias", "distance"),
    "leniency and distance from people": ("leniency", "distance"),
    "leniency and self-bias": ("leniency", "self_bias"),
    "own quality and self-bias": ("quality", "self_bias"),
}


@measure(
    "profile_correlation", "targets that judges score alike", ends=(-1, 1), signed=True, rank=130, bad="none",
    reading="Spearman's correlation, over a panel's judges, of two things known of each. Few judges: read it as a "
    "description of these.",
)  # fmt: skip
@per_subject("pair", lambda part, ratings: (part, ratings))
def profile_correlation(seen: tuple[Ratings, Ratings]) -> Iterator[Named]:
    """Rho over the judges of each pair of `PAIRS`, by pair and factor level; in the merchant-risk paper "self-bias and
    distance from people" is .90 with names shown and .70 with names hidden, "own quality and self-bias" -.50 shown.
    Quality is the peers' mean score of what a judge wrote, distance the mean over texts of |judge - people|. A pair
    whose figures no judge has (no people) is left out. Detail: `judges` with both figures, `p_permutation`. Undefined
    below four judges, and where either figure is the same for all.

    >>> scores = example("judge target score", "a a 5; a b 2; b a 3; b b 2.5", authors={"a": "a", "b": "b"})
    >>> profile_correlation(scores).of(pair="leniency and self-bias").note
    'undefined: a correlation over judges needs four of them; there are 2'
    """
    judges, figures, metric = seen[0].cells().judges, _figures(*seen), "profile_correlation"
    for pair, names in PAIRS.items():
        if not figures.keys() >= set(names):
            continue
        both = np.array([figures[name] for name in names])
        there = np.isfinite(both).all(axis=0)
        known, n = both[:, there], int(there.sum())
        rows = zip(judges, both.T.tolist(), there, strict=True)
        detail: dict[str, Any] = {
            "judges": {judge: dict(zip(names, map(number, row), strict=True)) for judge, row, kept in rows if kept}
        }
        about: dict[str, Any] = {
            "n": n, "n_excluded": len(there) - n, "method": "Spearman over judges", "over": "items", "detail": detail
        }  # fmt: skip
        rho = float(spearman(*known)) if n > 3 else math.nan
        if math.isnan(rho):
            few = f"a correlation over judges needs four of them; there are {n}"
            yield pair, undefined(metric, few if n < 4 else "all judges are alike in it", **about)
            continue
        detail["p_permutation"] = number(spearman_test(*known).p)
        note = "no interval: these judges are all there are, not a sample of judges"
        yield pair, Estimate(metric=metric, value=rho, note=note, **about)


@measure(
    "self_bias_span", "span of self-bias", rank=131, bad="none",
    reading="From the judge that holds itself down most to the one that promotes itself most.",
)  # fmt: skip
@per_subject((), itself)
def self_bias_span(part: Ratings) -> Estimate:
    """Largest self-bias less smallest, by factor level: 1.105 points with names shown in the merchant-risk paper, sec.
    7.1. Detail: `lowest` and `highest`, who they are. No interval: the span of noisy numbers is too wide on average.

    >>> scores = example("judge target score", "a a 5; a b 2; b a 3; b b 2.5", authors={"a": "a", "b": "b"})
    >>> self_bias_span(scores).of().value
    1.5
    """
    spans = sorted(
        ((judge, e) for (judge, *_), e in self_bias(part).items() if e.defined), key=lambda one: one[1].value
    )
    about: dict[str, Any] = {"n": len(spans), "method": "largest self-bias less smallest", "over": "items"}
    if len(spans) < 2:
        return undefined("self_bias_span", f"a span needs two judges; there are {len(spans)}", **about)
    (lowest, low), *_, (highest, high) = spans
    return Estimate(
        metric="self_bias_span", value=high.value - low.value, unit=low.unit, span=low.span,
        note="no interval: the span of noisy numbers is too wide on average",
        detail={"lowest": lowest, "highest": highest}, **about,
    )  # fmt: skip


def _figures(part: Ratings, ratings: Ratings) -> dict[str, Floats]:
    """Per judge, NaN where it is not known: self-bias, leniency, the peers' mean score of what it wrote, and, where
    there are people, mean distance from them."""
    cells = part.cells()

    def of(measured: Estimates) -> list[float]:
        known = {judge: estimate.value for (judge, *_), estimate in measured.items()}
        return [known.get(judge, np.nan) for judge in cells.judges]

    def quality(judge: str) -> float:
        own = cells.texts_of(part.authors.get(judge))
        peers = np.array([name != judge for name in cells.judges])
        return float(mean_of(mean_of(cells.mean[peers][:, own], axis=0), axis=0)) if own.any() else np.nan

    figures = {
        "self_bias": of(self_bias(part)), "leniency": of(leniency(part)), "quality": list(map(quality, cells.judges))
    }  # fmt: skip
    if part.persons or part.people is not None:
        figures["distance"] = mean_of(np.abs(compared(part, ratings).differences), axis=1).tolist()
    return {name: np.array(values, dtype=float).round(12) for name, values in figures.items()}


# --------------------------------------------------------------------------- self-bias criterion by criterion
# Merchant-risk paper, Appendix E: Perplexity Sonar scores its own completeness 1.40 below its peers with names shown,
# and its own total 0.21 above them. A judge's total need not be the mean of its criteria either: by its totals Gemini's
# self-bias is +0.77, by the means, which Algorithm 1 takes, +0.87.


@measure(
    "criterion_self_bias", "self-bias by criterion", signed=True, rank=22, bad="none",
    reading="Self-bias on each part of the judgement; a total can be fair where its parts are not.",
)  # fmt: skip
def criterion_self_bias(ratings: Ratings) -> Estimates:
    """`consensus.self_bias` of every part, and of the mean of the parts (`with_criteria_mean`), by judge, factor level
    and criterion.

    >>> rows = "x whole a 5; y whole a 5; x part a 2; y part a 4"
    >>> more = {"authors": {"x": "a"}, "headline": ["whole"], "parts": ("part",)}
    >>> criterion_self_bias(example("judge criterion target score", rows, **more)).of(judge="x", criterion="part").value
    -2.0
    """
    estimates = {}
    for criterion in (*ratings.parts, CRITERIA_MEAN) if ratings.parts else ():
        for key, estimate in self_bias(with_criteria_mean(ratings).with_criterion(criterion)).items():
            estimates[(*key, criterion)] = replace(estimate, metric="criterion_self_bias")
    return Estimates(("judge", *ratings.factors, "criterion"), estimates)


CRITERIA_MEAN = "criteria_mean"


@remembered
def with_criteria_mean(ratings: Ratings, name: str = CRITERIA_MEAN) -> Ratings:
    """The ratings with one more headline criterion: per reply, the mean of its scores on `ratings.parts`. Where one is
    not usable, a row with the first failure and no score: it is counted as excluded, never averaged from what is left.
    `RatingsError` without parts."""
    if not ratings.parts:
        raise RatingsError("these ratings name no parts whose mean could be taken; give parts=(...)")
    wanted, table = list(ratings.parts), ratings.table
    keys = [column for column in table.columns if column not in ("criterion", "score", "response", "status")]
    rows = table[table["criterion"].isin(wanted)]
    replies = rows.assign(failure=rows["status"].where(rows["status"] != "ok")).groupby(
        keys, sort=False, dropna=False, observed=True
    )
    more = replies.agg(score=("score", "mean"), failure=("failure", "first"), n=("criterion", "size")).reset_index()
    complete = more["failure"].isna() & (more["n"] == len(wanted))
    status = more["failure"].fillna("unparsed").where(~complete, "ok")
    # rounded far below any scale's step: the same scores in another order must give the same mean
    score = more["score"].round(12).where(complete)
    more = more.assign(criterion=name, response=None, status=status, score=score)[list(table.columns)]
    scales, headline = {**ratings.scales, name: ratings.scales[wanted[0]]}, (*ratings.headline, name)
    joined = pd.concat([table, more], ignore_index=True)
    return replace(ratings, table=joined, scales=scales, headline=headline, _memory={})

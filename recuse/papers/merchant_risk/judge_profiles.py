"""Every judge on every target, against its peers and against people, for the paper's tables (merchant-risk paper, secs.
3.5, 4.3.1 and 4.4, Figs. 8 and 9), and what goes with what across a panel's judges (secs. 4.3.3, 4.4, 7.1 and 7.2);
`recuse.metrics` has the self-bias and the offset that are gated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.consensus import ONE_JUDGE, WELCH, deviations, leniency, over_repeats, self_bias
from recuse.metrics.estimates import THESE_TEXTS, matrix, number, table, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.rank_tests import spearman, spearman_test
from recuse.ratings import Cells, Ratings, mean_of, remembered
from recuse.ratings.array import first_of, grouped, moments_of
from recuse.schema import Distribution, Estimate, Estimates, RatingsError
from recuse.schema.arrays import Floats, Mask
from recuse.schema.pandas_when_used import pd
from recuse.statistics.clusters import difference_of_means

ZERO = 1e-9  # biases closer to 0 than this (points) have no direction; smaller ones are rounding


@measure(
    "consensus_deviation", "deviation from consensus", signed=True, rank=120, counts=True,
    above="departs from its peers",
    reading="Each judge's mean score less the mean of the other judges' on the same texts.",
)  # fmt: skip
@per_subject((), itself)
def consensus_deviation(part: Ratings) -> Estimate:
    """Bias(i, j) for every judge and target (paper, sec. 4.3.1 and Fig. 8), by factor level; the value is the mean of
    |Bias| over all cells, without an interval: absolute values of noise are never 0. Detail, beside the matrix `values`
    with `low` and `high`: `scores`, `sds`, `consensus` (the self-excluded mean), `zero_sum` (largest |column sum|, 0
    where nothing is missing), and `naive`: the deviation from a consensus that includes the judge, and its measured
    `shrinkage` = (n - 1) / n. Undefined with one judge, and where no text has usable scores of two.

    >>> consensus_deviation(example("judge target score", "a x 5; a y 3; b x 4; b y 3")).of().detail["values"]
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    cells = part.cells()
    n = cells.replies(cells.count)
    if len(cells.judges) < 2:
        return undefined("consensus_deviation", ONE_JUDGE, n=n, method=WELCH, over=cells.over)
    each = deviations(cells)
    bias, means = cells.by_target(each), cells.by_target(cells.mean)
    naive = cells.by_target(cells.mean - mean_of(cells.mean, axis=0))
    low, high = cell_intervals(
        cells, each, lambda judge, texts: over_repeats(cells, judge, texts) if cells.fixed else
        difference_of_means(each[judge], texts, None, cells.clusters, step=cells.step, times=cells.times),
    )  # fmt: skip
    sds = {"sds": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    there = np.isfinite(naive) & np.isfinite(bias)
    scale = float((bias[there] ** 2).sum())  # of the least-squares factor between the two matrices
    shrinkage = number(float((naive[there] * bias[there]).sum()) / scale) if scale > ZERO else None
    detail = matrix(
        cells.judges, cells.target_names, bias, part.own(), criterion=cells.criterion, low=low, high=high,
        scores=means, **sds, consensus=means - bias,
        zero_sum=number(np.abs(np.nansum(bias, axis=0)).max()),
        naive={"values": table(naive), "shrinkage": shrinkage, "expected": number(1 - 1 / len(cells.judges))},
    )  # fmt: skip
    about: dict[str, Any] = {
        "n": n, "n_excluded": cells.replies(cells.lost), "unit": cells.scale.unit, "over": cells.over,
        "method": "mean of |self-excluded deviation| over cells", "detail": detail,
    }  # fmt: skip
    if not np.isfinite(bias).any():
        return undefined("consensus_deviation", "no text has usable scores of two judges", **about)
    note = f"{THESE_TEXTS}; intervals are per cell" if cells.fixed else "intervals are per cell"
    return Estimate(metric="consensus_deviation", value=float(np.nanmean(np.abs(bias))), note=note, **about)


def cell_intervals(cells: Cells, each: Floats, distribution: Callable[[int, Mask], Distribution]) -> Floats:
    """95 % intervals of the mean of `each` (J, U) over every target's texts, (2, J, T), by the `distribution` of a
    judge's mean over some texts (U,); NaN where nothing is known."""
    ends = np.full((2, len(cells.judges), len(cells.target_names)), np.nan)
    for t, target in enumerate(cells.target_names):
        for j, known in enumerate(np.isfinite(each)):
            texts = cells.texts_of(target) & known
            if texts.any():
                ends[:, j, t] = distribution(j, texts).interval(0.95)
    return ends


@measure(
    "human_offset_matrix", "offset from people, by target", signed=True, rank=250, bad="none", counts=True,
    reading="Each judge's mean score less people's mean for the same texts.",
)  # fmt: skip
@per_subject((), compared)
def human_offset_matrix(against: Compared) -> Estimate:
    """Judge minus people for every judge and target (paper, Fig. 9), by factor level. Detail: the matrix `values` with
    `low` and `high` per cell, the judges' `scores`, and people's mean per target, `human`. The value is that of
    `panel_offset`. Cells that cannot be compared are empty.

    >>> people = table("target mean sd n", "t 4 1 9")
    >>> human_offset_matrix(example("judge target score", "a t 5; b t 4.5", people=people)).of().detail["values"]
    [[1.0], [0.5]]
    """
    cells, each = against.cells, against.differences
    over = against.over_repeats if cells.fixed else against.over_texts
    low, high = cell_intervals(cells, each, lambda judge, texts: over(against.only(judge) & texts))
    detail = matrix(
        cells.judges, cells.target_names, cells.by_target(each), against.own, criterion=cells.criterion,
        low=low, high=high, scores=cells.by_target(cells.mean),
        human=[number(mean) for mean in cells.by_target(against.people.mean[None])[0]],
    )  # fmt: skip
    return replace(against.offset("human_offset_matrix", np.ones(each.shape, dtype=bool)), detail=detail)


@measure(
    "human_panel_offset", "offset of the panel", signed=True, rank=240, bad="none", counts=True,
    reading="Mean over all judges and texts of judge minus people.",
)  # fmt: skip
@per_subject((), compared)
def human_panel_offset(against: Compared) -> Estimate:
    """Mean over all judges and texts of judge minus people, by factor level. Detail: how many pairs of judge and text
    lie above 0 (`positive`, `pairs`, in words `share_positive`), `people_se`, `these_texts`.

    >>> human_panel_offset(example("rater kind score", "a judge 4; b judge 2; p person 2.5")).of().value
    0.5
    """
    each = against.differences
    pairs, positive = (against.cells.replies(marked) for marked in (np.isfinite(each), each > ZERO))
    detail = {"positive": positive, "pairs": pairs, "share_positive": f"{positive} of {pairs}"}
    return against.offset("human_panel_offset", np.ones(each.shape, dtype=bool), detail=detail)


@measure(
    "human_self_offset", "own work against people", signed=True, rank=245, bad="none", counts=True,
    reading="A judge's score of its own work less people's mean for the same work.",
)  # fmt: skip
@per_subject("judge", compared)
def human_self_offset(against: Compared) -> Iterator[Named]:
    """Mean over its own texts of judge minus people, by judge and factor level, for judges that wrote a target.

    >>> rows = "a judge a 4; a judge b 2; p person a 2.5; p person b 2"
    >>> human_self_offset(example("rater kind target score", rows, authors={"a": "a"})).of(judge="a").value
    1.5
    """
    for judge, target in against.own.items():
        own = against.only(against.cells.row(judge)) & against.cells.texts_of(target)
        yield judge, against.offset("human_self_offset", own)


# --------------------------------------------------------------------------- what goes with what

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
    """Rho over the judges of each pair of `PAIRS`, by pair and factor level. Quality is the peers' mean score of what a
    judge wrote, distance the mean over texts of |judge - people|. A pair whose figures no judge has (no people) is left
    out. Detail: `judges` with both figures; `p_permutation`, of five judges at least .017. Undefined below four judges,
    and where either figure is the same for all.

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
        rho = float(spearman(*known)) if n > 3 else np.nan
        if np.isnan(rho):
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
    """Largest self-bias less smallest, by factor level (merchant-risk paper, sec. 7.1). Detail: `lowest` and `highest`,
    who they are. No interval: the span of noisy numbers is too wide on average.

    >>> scores = example("judge target score", "a a 5; a b 2; b a 3; b b 2.5", authors={"a": "a", "b": "b"})
    >>> self_bias_span(scores).of().value
    1.5
    """
    known = sorted((named for named in self_bias(part).items() if named[1].defined), key=lambda named: named[1].value)
    about: dict[str, Any] = {"n": len(known), "method": "largest self-bias less smallest", "over": "items"}
    if len(known) < 2:
        return undefined("self_bias_span", f"a span needs two judges; there are {len(known)}", **about)
    ((lowest, *_), low), *_, ((highest, *_), high) = known
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

    own = [cells.texts_of(part.authors.get(judge)) for judge in cells.judges]
    quality = [float(mean_of(mean_of(np.delete(cells.mean, j, 0), 0)[texts], 0)) for j, texts in enumerate(own)]
    figures = {"self_bias": of(self_bias(part)), "leniency": of(leniency(part)), "quality": quality}
    if part.persons or part.people is not None:
        figures["distance"] = mean_of(np.abs(compared(part, ratings).differences), axis=1).tolist()
    return {name: np.array(values, dtype=float).round(12) for name, values in figures.items()}


# --------------------------------------------------------------------------- self-bias criterion by criterion
# Merchant-risk paper, Appendix E. A judge's total need not be the mean of its criteria, which Algorithm 1 takes.


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
def with_criteria_mean(ratings: Ratings) -> Ratings:
    """The ratings with one more headline criterion: per reply, the mean of its scores on `ratings.parts`. Where one is
    not usable, a row with the first failure and no score: it is counted as excluded, never averaged from what is left.
    `RatingsError` without parts."""
    if not ratings.parts:
        raise RatingsError("these ratings name no parts whose mean could be taken; give parts=(...)")
    wanted, table = list(ratings.parts), ratings.table
    keys = [column for column in table.columns if column not in ("criterion", "score", "response", "status")]
    known, criterion = ratings.coded("criterion")
    rows = np.flatnonzero(np.array([*(name in wanted for name in known), False])[criterion])
    reply = grouped(*(ratings.coded(name)[1][rows] for name in keys))
    first, usable = first_of(reply), ratings.having("status", "ok")[rows]
    scores = np.where(usable, table["score"].to_numpy(dtype=float)[rows], np.nan)
    # rounded far below any scale's step: the same scores in another order must give the same mean
    score = moments_of(reply, scores, len(first)).mean.round(12)
    complete = np.bincount(reply[usable], minlength=len(first)) == len(wanted)
    status = np.where(complete, "ok", "unparsed").astype(object)
    failed = np.flatnonzero(~usable)[::-1]
    status[reply[failed]] = table["status"].to_numpy(dtype=object)[rows[failed]]  # the first of several is written last
    more = table.iloc[rows[first]].assign(
        criterion=CRITERIA_MEAN, response=None, status=status, score=np.where(complete, score, np.nan)
    )
    scales = {**ratings.scales, CRITERIA_MEAN: ratings.scales[wanted[0]]}
    joined = pd.concat([table, more], ignore_index=True)
    return replace(ratings, table=joined, scales=scales, headline=(*ratings.headline, CRITERIA_MEAN), _memory={})

"""Close calls: does the order of two texts decide less where one of them is clearly better? Thesis on bias in LLM
self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import add_losses, estimated, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.position import NO_PAIR, SHARE_ENDS, complete, lost_by_order, paired, pairs_by_judge
from recuse.papers.self_preference.over_texts import bounded_estimate, mean_or_none, share_estimate
from recuse.ratings import Ratings
from recuse.ratings.array import moments_of
from recuse.ratings.pair_array import PAIRED, codes_of, pair_array, repeated_over, verdicts_of
from recuse.ratings.text_slices import doublings_of_pairs
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.clusters import SHARE, clustered_mean, slopes

BINS = (0.0, 0.25, 0.5, 1.0)
SLOPE = "least-squares slope with intercept, jackknife over clusters, Student's t"


@measure(
    "gap_effect", "sensitivity to order and the quality gap", unit="share per unit of win rate", signed=True,
    reading="How much less often the order decides where one text is clearly better; expected below 0.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def gap_effect(part: Ratings, bins: tuple[float, ...] = BINS) -> Iterator[Named]:
    """Slope of order-sensitivity (0 or 1 per pair) on the quality gap, by judge; expected below 0 (thesis, sec. 2.1). A
    text's quality is its win rate within its cluster, order-sensitive pairs counted as ties, and the gap is
    |difference|, from 0 to 1, by the *other* judges: of the judge's own verdicts, a sensitive pair would have a small
    gap by construction. Detail `bins`: gap from, to, pairs, share sensitive. Undefined with one judge, and where all
    gaps are equal.

    >>> choices = example("order response", "ab first; ba first", texts=table("item a b", "i s t"))
    >>> gap_effect(choices).of(judge="j").note
    "undefined: no other judge's verdicts give these texts different win rates"
    """
    pairs = paired(part)
    pairs = pairs.assign(complete=complete(pairs))
    pairs = pairs.assign(gap=_gaps(pairs, part.judges))
    for judge in part.judges:
        yield judge, _gap_effect(pairs[pairs["rater"] == judge], bins, repeated_over(part))


def _gap_effect(pairs: pd.DataFrame, bins: tuple[float, ...], over: dict[str, Any]) -> Estimate:
    both = pairs[pairs["complete"]]
    kept = both[both["gap"].notna()]
    gaps, groups = kept["gap"].to_numpy(), kept["group"].to_numpy()
    sensitive: Floats = np.asarray(kept["ab"] + kept["ba"] != 1, dtype=np.float64)
    # Rows of gap above (the first: from) and up to, pairs, share sensitive
    rows: list[list[float | None]] = []
    for k, (low, high) in enumerate(pairwise(bins)):
        inside = (gaps <= high) & ((gaps > low) if k else (gaps >= low))
        rows.append([low, high, int(inside.sum()), mean_or_none(sensitive[inside])])
    (distribution,) = slopes(sensitive[:, None], gaps, groups, np.ones((len(gaps), 1)), levels=False)
    facts = dict[str, Any](n=len(gaps), n_excluded=len(pairs) - len(kept), method=SLOPE, detail={"bins": rows}, **over)
    if np.isnan(distribution.value):
        why = "no other judge's verdicts give these texts different win rates" if len(both) else NO_PAIR
        return undefined("gap_effect", why, **facts)
    return estimated(
        "gap_effect", distribution.value, distribution, n_clusters=len(np.unique(groups)),
        unit="share per unit of win rate", **facts,
    )  # fmt: skip


def _gaps(pairs: pd.DataFrame, judges: tuple[str, ...]) -> Floats:
    """|win rate of a - win rate of b| within the pair's cluster by the verdicts of the other judges; NaN where they
    have none of one. Others' sums are everybody's less the judge's own."""
    judge = pd.Index(judges).get_indexer(pd.Index(pairs["rater"]))
    keys = [pairs["cluster"].astype(str) + "\x1f" + pairs[side].astype(str) for side in ("a", "b")]
    codes = pd.factorize(pd.concat(keys))[0].reshape(2, -1)
    shape = len(judges), int(codes.max(initial=-1)) + 1
    there = pairs["complete"].to_numpy() & (judge >= 0)
    won = pairs["won"].where(pairs["ab"] + pairs["ba"] == 1, 0.5).to_numpy(dtype=float)[there]
    cells = np.concatenate([judge[there] * shape[1] + code[there] for code in codes])
    counts, sums = (
        np.bincount(cells, weights, minlength=shape[0] * shape[1]).reshape(shape)
        for weights in (None, np.concatenate([won, 1 - won]))
    )
    rates = ratio(sums.sum(axis=0) - sums, (counts.sum(axis=0) - counts).astype(float))
    gaps: Floats = np.abs(rates[judge, codes[0]] - rates[judge, codes[1]]).round(12)
    return gaps


# --------------------------------------------------------------------------- a remedy for a liking for length
# arXiv:2407.01085; thesis on bias in LLM self-evaluation, sec. 2.2.1).

REFERENCED = "mean over texts, cluster-robust t over clusters"
REFERENCES = ("any", "same_length", "change")


@measure(
    "same_length_reference", "the longer text's credit", unit="share", signed=True,
    reading="What a judge gives the longer text beyond its peers: against any text, against the nearest in length, and "
    "the difference.",
)  # fmt: skip
@per_subject(("judge", "reference"), itself, *PAIRED)
def same_length_reference(part: Ratings) -> Iterator[Named]:
    """The longer text's credit minus the peers' mean credit of it, by (judge, reference): "any", the mean over a text's
    pairs; "same_length", over those with the one nearest in length alone; "change", paired by text, negative where the
    remedy lowers a preference for length. Of choices, or of scores, which decide who wins: then every text meets every
    other of its item. Pairs of equal length count 0. A text that met no two others of different distance had no nearest
    one to choose, and takes no part. Hu et al. 2024 (see thesis, sec. 2.2.1).

    >>> texts = table("target words", "s 10; t 11; u 80").assign(item="i")
    >>> scores = example("judge target score", "x s 1; x t 2; x u 3; y s 2; y t 2; y u 2", texts=texts)
    >>> same_length_reference(scores).of(judge="x", reference="any").value
    0.5
    """
    pairs, over = pair_array(part), repeated_over(part)
    doublings = doublings_of_pairs(part, pairs)
    beyond = pairs.beyond_peers() * np.sign(doublings)
    # The texts a and b of each pair as numbers, (2, pairs), and the cluster of each text
    names = codes_of(np.concatenate([pairs.a, pairs.b]))
    keys = np.concatenate([codes_of(pairs.questions)] * 2) * (int(names.max(initial=0)) + 1) + names
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    texts, groups = codes.reshape(2, -1), np.concatenate([pairs.cluster_codes()] * 2)[first]
    for j, judge in enumerate(pairs.judges):
        usable = np.isfinite(beyond[j])
        means = _by_text(beyond[j][usable], np.abs(doublings[usable]), texts[:, usable], len(groups))
        more = {"n_excluded": int(pairs.requested[j].sum() - usable.sum()), "method": REFERENCED, **over}
        why = "no pair was judged by the judge and a peer"
        if usable.any():
            why = "no text met two others, one nearer to it in length, so there was none to choose"
        for reference, values in zip(REFERENCES, means, strict=True):
            yield (judge, reference), bounded_estimate(
                "same_length_reference", values, groups, (0.0, 1.0), why, unit="share", distribution=clustered_mean,
                **more,
            )  # fmt: skip


def _by_text(longer: Floats, distance: Floats, texts: NDArray[np.intp], size: int) -> tuple[Floats, Floats, Floats]:
    """Per text: its mean against any other, against the nearest in length, and the change; NaN for texts without a
    choice of references."""
    flat, distances, values = texts.ravel(), np.concatenate([distance, distance]), np.concatenate([longer, longer])
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(least, flat, distances)
    np.maximum.at(most, flat, distances)
    chosen = most > least + 1e-12
    nearest = distances <= least[flat] + 1e-12
    anyone, near = (
        np.where(chosen, moments_of(flat[kept], values[kept], size).mean, np.nan) for kept in (slice(None), nearest)
    )
    return anyone, near, near - anyone


ONE_ORDER = "every pair was shown in one order only: this counts on the order having been drawn by lot"


@measure(
    "first_pick_share", "first picks", unit="share", above="favours what stands first",
    below="favours what stands second",
    reading="Share of decided choices that fall on the text shown first; 0.5 without a preference.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def first_pick_share(part: Ratings) -> Iterator[Named]:
    """Share of verdicts for the first slot among those that name a winner, by judge; 0.5 without a preference. Over
    pairs with both verdicts usable, so that each text stood first as often as second; n counts the decided verdicts,
    the interval over clusters allows for the two of a pair hanging together. Where no pair was asked in both orders,
    but the same two systems met in either, over all decided verdicts, and the note says what that assumes. Undefined
    where all are ties, and where no two systems met in both orders.

    >>> choices = example("order response", "ab first; ba first", texts=table("item a b", "i s t"))
    >>> first_pick_share(choices).of(judge="j").value
    1.0
    """
    over, verdicts = repeated_over(part), verdicts_of(part)
    in_either_order = (verdicts.groupby(["rater", "a", "b"])["order"].nunique() > 1).groupby("rater").any()
    for judge, of_judge in pairs_by_judge(part).items():
        both = complete(of_judge)
        by_lot = not both.any() and bool(in_either_order.get(judge))
        kept = of_judge[of_judge["won"].notna() if by_lot else both]
        lost = len(of_judge) - len(kept)
        estimate = _first_picks(kept, {"n_excluded": lost, "method": SHARE, **over})
        yield judge, estimate if by_lot else add_losses(estimate, lost_by_order(of_judge), SHARE_ENDS, lost)


def _first_picks(pairs: pd.DataFrame, facts: dict[str, Any]) -> Estimate:
    if not len(pairs):
        return undefined("first_pick_share", NO_PAIR, **facts)
    picks, groups = np.concatenate([pairs["ab"], pairs["ba"]]), np.concatenate([pairs["group"], pairs["group"]])
    outcomes = {"first": picks == 1, "second": picks == 0, "ties": picks == 0.5}
    facts["detail"] = {name: int(which.sum()) for name, which in outcomes.items()}
    decided = outcomes["first"] | outcomes["second"]
    if not decided.any():
        return undefined("first_pick_share", "every verdict is a tie", **facts)
    note = "" if np.isfinite(picks).all() else ONE_ORDER
    return share_estimate("first_pick_share", picks[decided], groups[decided], "", note=note, **facts)


@measure("tie_share", "ties", unit="share", reading="Share of choices that name neither text.")
@per_subject("judge", itself, *PAIRED)
def tie_share(part: Ratings) -> Iterator[Named]:
    """Share of usable verdicts that are ties, by judge, over all orders and labels.

    >>> choices = example("item response", "i first; k tie", texts=table("item a b", "i s t; k s t"))
    >>> tie_share(choices).of(judge="j").value
    0.5
    """
    verdicts, why = verdicts_of(part), "no verdict was usable"
    ties = (verdicts["slot"] == 0.5).astype(float).where(verdicts["slot"].notna())
    verdicts = verdicts.assign(tie=ties, group=verdicts["cluster"].factorize()[0])
    for judge in part.judges:
        of_judge = verdicts[verdicts["rater"] == judge]
        yield judge, share_estimate("tie_share", of_judge["tie"], of_judge["group"], why, **repeated_over(part))

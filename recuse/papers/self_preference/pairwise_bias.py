"""Close calls: does the order of two texts decide less where one of them is clearly better? Thesis on bias in LLM
self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import add_losses, estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.presentation import NO_PAIR, SHARE_ENDS, complete, lost_by_order, paired, pairs_by_judge
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.over_texts import bounded_estimate, mean_or_none, share_estimate
from recuse.ratings import Ratings, grouped, mean_of, moments_of, without_truth
from recuse.ratings.array import beyond_others, first_of
from recuse.ratings.pair_array import PAIRED, pair_array, repeated_over, verdicts_of
from recuse.ratings.text_slices import doublings_of_pairs
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.clusters import SHARE, clustered_mean, slopes

BINS = (0.0, 0.25, 0.5, 1.0)
SLOPE = "least-squares slope with intercept, jackknife over clusters, Student's t"


@measure(
    "gap_effect", "sensitivity to order and the quality gap", unit="share per unit of win rate", signed=True,
    reading="How much less often the order decides where one text is clearly better; expected below 0.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def gap_effect(part: Ratings) -> Iterator[Named]:
    """Slope of order-sensitivity (0 or 1 per pair) on the quality gap, by judge; expected below 0 (thesis, sec. 2.1). A
    text's quality is its win rate within its cluster, order-sensitive pairs counted as ties, and the gap is
    |difference|, from 0 to 1, by the *other* judges: of the judge's own verdicts, a sensitive pair would have a small
    gap by construction. Detail `bins`: gap from, to, pairs, share sensitive. Undefined where all gaps are equal.

    >>> gap_effect(example("order response", "ab first; ba first", texts=table("item a b", "i s t"))).of(judge="j").note
    "undefined: no other judge's verdicts give these texts different win rates"
    """
    pairs = paired(part).assign(complete=complete, gap=lambda rows: _gaps(rows, part.judges))
    for judge in part.judges:
        of_judge = pairs[pairs["rater"] == judge]
        both = of_judge[of_judge["complete"]]
        kept = both[both["gap"].notna()]
        gaps, groups = kept["gap"].to_numpy(), kept["group"].to_numpy()
        sensitive: Floats = np.asarray(kept["ab"] + kept["ba"] != 1, dtype=np.float64)
        # Rows of gap above (the first: from) and up to, pairs, share sensitive
        rows: list[list[float | None]] = []
        for k, (low, high) in enumerate(pairwise(BINS)):
            inside = (gaps <= high) & ((gaps > low) if k else (gaps >= low))
            rows.append([low, high, int(inside.sum()), mean_or_none(sensitive[inside])])
        (distribution,) = slopes(sensitive[:, None], gaps, groups, np.ones((len(gaps), 1)), levels=False)
        facts: dict[str, Any] = {
            "n": len(gaps), "n_excluded": len(of_judge) - len(kept), "method": SLOPE, "detail": {"bins": rows},
            **repeated_over(part),
        }  # fmt: skip
        if np.isnan(distribution.value):
            why = "no other judge's verdicts give these texts different win rates" if len(both) else NO_PAIR
            yield judge, undefined("gap_effect", why, **facts)
            continue
        facts |= {"n_clusters": len(np.unique(groups)), "unit": "share per unit of win rate"}
        yield judge, estimated("gap_effect", distribution.value, distribution, **facts)


def _gaps(pairs: pd.DataFrame, judges: tuple[str, ...]) -> Floats:
    """|win rate of a - win rate of b| within the pair's cluster by the verdicts of the other judges; NaN where they
    have none of one. Others' sums are everybody's less the judge's own."""
    judge = pd.Index(judges).get_indexer(pd.Index(pairs["rater"]))
    codes = grouped(np.tile(pairs["cluster"], 2), np.concatenate([pairs["a"], pairs["b"]])).reshape(2, -1)
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
    remedy lowers a preference for length. Of choices, or of scores, which decide who wins. Pairs of equal length count
    0. A text that met no two others of different distance takes no part. Hu et al., arXiv:2407.01085 (sec. 2.2.1).

    >>> texts = table("target words", "s 10; t 11; u 80").assign(item="i")
    >>> scores = example("judge target score", "x s 1; x t 2; x u 3; y s 2; y t 2; y u 2", texts=texts)
    >>> same_length_reference(scores).of(judge="x", reference="any").value
    0.5
    """
    pairs, over = pair_array(part), repeated_over(part)
    doublings = doublings_of_pairs(part, pairs)
    beyond = beyond_others(pairs.won) * np.sign(doublings)
    # The texts a, then the texts b of all pairs as numbers, and the cluster of each text
    texts = grouped(np.tile(pairs.questions, 2), np.concatenate([pairs.a, pairs.b]))
    groups = np.tile(grouped(pairs.clusters), 2)[first_of(texts)]
    for j, judge in enumerate(pairs.judges):
        usable = np.isfinite(beyond[j])
        both = np.tile(usable, 2)
        at, longer, distances = texts[both], np.tile(beyond[j], 2)[both], np.tile(np.abs(doublings), 2)[both]
        least, most = np.full(len(groups), np.inf), np.full(len(groups), -np.inf)
        np.minimum.at(least, at, distances)
        np.maximum.at(most, at, distances)
        anyone, near = (  # per text; NaN where there is no choice of references
            np.where(most > least + 1e-12, moments_of(at[kept], longer[kept], len(groups)).mean, np.nan)
            for kept in (slice(None), distances <= least[at] + 1e-12)
        )
        more = {"n_excluded": int(pairs.requested[j].sum() - usable.sum()), "method": REFERENCED, **over}
        why = "no pair was judged by the judge and a peer"
        if usable.any():
            why = "no text met two others, one nearer to it in length, so there was none to choose"
        for reference, values in zip(REFERENCES, (anyone, near, near - anyone), strict=True):
            yield (judge, reference), bounded_estimate(
                "same_length_reference", values, groups, (0.0, 1.0), why, unit="share", distribution=clustered_mean,
                **more,
            )  # fmt: skip


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
        facts: dict[str, Any] = {"n_excluded": lost, "method": SHARE, **over}
        if not len(kept):
            yield judge, undefined("first_pick_share", NO_PAIR, **facts)
            continue
        picks, groups = np.concatenate([kept["ab"], kept["ba"]]), np.concatenate([kept["group"], kept["group"]])
        outcomes = {"first": picks == 1, "second": picks == 0, "ties": picks == 0.5}
        facts["detail"] = {name: int(which.sum()) for name, which in outcomes.items()}
        decided = outcomes["first"] | outcomes["second"]
        if not decided.any():
            yield judge, undefined("first_pick_share", "every verdict is a tie", **facts)
            continue
        note = "" if np.isfinite(picks).all() else ONE_ORDER
        estimate = share_estimate("first_pick_share", picks[decided], groups[decided], "", note=note, **facts)
        yield judge, estimate if by_lot else add_losses(estimate, lost_by_order(of_judge), SHARE_ENDS, lost)


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


# --------------------------------------------------------------------------- own wins
# Verdicts in both orders are averaged; a win counts 1, a tie 1/2. The author of the other text is a party to the pair,
# so `own_win_excess` compares with neutral peers, who wrote neither text, on the same pairs. A choice knows no
# leniency, but noise: a judge that is led by chance gives everyone about one half, and so looks fond of its own text
# where that is weak. `controlled_own_win_excess` takes that out, and is the one to gate.

NO_VERDICT = "no pair with the own text has a usable verdict by {}"


@measure(
    "own_win_rate", "wins of its own text", unit="share",
    reading="How often a judge's own text wins, by its own choice, its peers' and people's.",
)  # fmt: skip
@per_subject(("judge", "seen_by"), itself, *PAIRED)
def own_win_rate(part: Ratings) -> Iterator[Named]:
    """Mean credit of the judge's own text over the pairs it takes part in, by (judge, seen_by): "self", "peers" (all
    other judges, the other author among them), "neutral_peers" (who wrote neither text), "people", each over the pairs
    (n) that it has verdicts on. Judges' verdicts count where both orders are usable (in the one order, where no pair
    was asked in both); people's in whichever order they were asked, since each pair is usually shown to them once.
    Thesis on bias in LLM self-evaluation, sec. 2.4; Li, Patel and Du 2024, PRD, arXiv:2307.02762.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> own_win_rate(example("judge response", "x first; y tie", **more)).of(judge="x", seen_by="peers").value
    0.5
    """
    for one in own_pairs(part):
        for view, credit in one.seen.items():
            why = one.none or NO_VERDICT.format(view.replace("_", " "))
            yield (one.judge, view), one.mean("own_win_rate", credit, ends=(0.0, 1.0), why=why)


@measure(
    "own_win_excess", "own wins beyond neutral peers", unit="share", signed=True, above="prefers its own text",
    below="disfavours its own text",
    reading="Wins of a judge's own text by its own choice less those by peers who wrote neither text.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def own_win_excess(part: Ratings) -> Iterator[Named]:
    """Own text's credit by the judge itself minus that by neutral peers on the same pairs, by judge, -1 to 1. Pairs
    without a usable verdict of either are excluded and counted. Detail: both rates on these pairs, and
    `against_people`: self minus people on the pairs that both judged, with their number. Undefined where nobody neutral
    judged: that takes three judges.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> own_win_excess(example("judge response", "x first; y tie", **more)).of(judge="x").value
    0.5
    """
    for one in own_pairs(part):
        beyond, versus = (one.seen["self"] - one.seen[view] for view in ("neutral_peers", "people"))
        both = np.isfinite(beyond)
        rates = {view: number(float(mean_of(one.seen[view][both], 0))) for view in ("self", "neutral_peers")}
        detail = {
            **rates, "against_people": number(float(mean_of(versus, 0))),
            "pairs_with_people": int(np.isfinite(versus).sum()),
        }  # fmt: skip
        why = one.none or NO_VERDICT.format("the judge and a neutral peer")
        yield one.judge, one.mean("own_win_excess", beyond, ends=(-1.0, 1.0), why=why, detail=detail)


class OwnPairs(NamedTuple):
    """The pairs that a judge's own text takes part in: that text's credit (pairs,) as `seen` by itself, peers, neutral
    peers and people, NaN where there is none; `none`: why there are no pairs; `mean`: an estimate over them."""

    judge: str
    seen: Mapping[str, Floats]
    requested: Mask
    clusters: NDArray[Any]
    none: str
    mean: Callable[..., Estimate]


def own_pairs(part: Ratings) -> Iterator[OwnPairs]:
    """Of every judge with a text of its own."""
    pairs, over = pair_array(without_truth(part)), repeated_over(part)
    wrote = np.array([part.authors.get(name) for name in pairs.judges], dtype=object)[:, None]
    for judge, text in part.own().items():
        row, side = pairs.judges.index(judge), pairs.credit(text)
        own = side != 0
        won, people = (np.where(side > 0, credit, 1 - credit)[..., own] for credit in (pairs.won, pairs.people))
        neutral = (wrote != pairs.a[own]) & (wrote != pairs.b[own])
        seen = {
            "self": won[row], "peers": mean_of(np.delete(won, row, axis=0), axis=0),
            "neutral_peers": mean_of(np.where(neutral, won, np.nan), axis=0), "people": people,
        }  # fmt: skip
        none = "" if own.any() else f"no pair has a text of {text}, which is the judge's own"
        mean = partial(bounded_estimate, groups=grouped(pairs.clusters)[own], unit="share", **over)
        yield OwnPairs(judge, seen, pairs.requested[row][own], pairs.clusters[own], none, mean)


@measure(
    "controlled_own_win_excess", "own wins beyond noise and quality", unit="share", signed=True,
    above="prefers its own text", below="disfavours its own text",
    reading="Own wins beyond neutral peers, with how well the judge tells texts apart taken into account.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def controlled_own_win_excess(part: Ratings) -> Iterator[Named]:
    """Excess with the judge's own discrimination taken into account, by judge:

        (self - 1/2) - lambda (neutral - 1/2),   lambda = sum_p j_p n_p / sum_p n_p^2

    self and neutral are the own text's mean credits as in `own_win_excess`. p runs over the pairs of authors without
    the judge; j_p and n_p are the mean credit less 1/2 that the judge, and neutral peers, give the first of them.
    lambda (detail `discrimination`) is 1 for a judge that tells texts apart as its peers do and 0 for one led by
    chance. Jackknife over clusters, t on G - 1 degrees of freedom. Fair judges are found significant about as often as
    the level says where quality and noise differ moderately, more often where they differ by factors of two and more.
    Undefined where every other author's texts win alike, where nobody neutral judged, and below two clusters.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> controlled_own_win_excess(example("judge response", "x first; y tie", **more)).of(judge="x").defined
    False
    """
    choices, over = pair_array(part), {"method": over_texts.JACKKNIFE, **repeated_over(part)}
    # The credit of the first of each pair of authors, (judges, clusters, pairs of authors)
    swap = choices.a > choices.b
    first, second = np.where(swap, choices.b, choices.a), np.where(swap, choices.a, choices.b)
    authors = grouped(first, second)
    pairs = [(first[at], second[at]) for at in first_of(authors)]
    shape = int(grouped(choices.clusters).max(initial=-1)) + 1, len(pairs)
    cells = grouped(choices.clusters) * shape[1] + authors
    credit = np.where(swap, 1 - choices.won, choices.won)
    won = np.reshape([moments_of(cells, row, shape[0] * shape[1]).mean for row in credit], (len(credit), *shape))
    wrote = [part.authors.get(name) for name in choices.judges]
    for judge, text in part.own().items():
        row = choices.judges.index(judge)
        party = [[place == row or author in pair for pair in pairs] for place, author in enumerate(wrote)]
        neutral = mean_of(np.where(np.reshape(party, (len(wrote), 1, len(pairs))), np.nan, won), axis=0)
        sides = np.array([(a == text) * 1.0 - (b == text) for a, b in pairs])
        judged = int((np.isfinite(won).any(axis=0) & (sides != 0)).sum())
        yield judge, _controlled(won[row] - 0.5, neutral - 0.5, sides, judged, over)


def _controlled(own: Floats, neutral: Floats, sides: Floats, judged: int, over: Mapping[str, Any]) -> Estimate:
    """From credit less 1/2 by the judge and by neutral peers, (clusters, pairs of authors), and how many cells of pairs
    with the own text anyone judged; `sides` (pairs,) is 1 or -1 where that is first or second, else 0."""
    metric = "controlled_own_win_excess"
    if not np.isfinite(own).any():
        return undefined(metric, "it has no pair with a usable verdict in both orders", **over)
    both = np.isfinite(own) & np.isfinite(neutral)
    there = both.any(axis=1)
    counted, count = int(both[:, sides != 0].sum()), int(there.sum())
    if count < 2 or not counted:
        why = "no neutral peer judged a pair with the own text; that takes three judges and two clusters of pairs"
        return undefined(metric, why, n=counted, **over)
    j, n, known = (np.where(both, part, 0.0)[there] for part in (own, neutral, np.ones_like(own)))
    weights, others = np.vstack([np.ones(count), 1.0 - np.eye(count)]), sides == 0  # all clusters, then all but each
    counts = weights @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (
            np.where(counts[:, others] > 0, (weights @ part)[:, others] / counts[:, others], 0.0) for part in (j, n)
        )
        discrimination = (first * second).sum(axis=1) / (second * second).sum(axis=1)
        by_self, by_peers = ((weights @ part) @ sides / (counts @ np.abs(sides)) for part in (j, n))
        values = by_self - discrimination * by_peers
    if not np.isfinite(values).all():
        why = "the texts of the other authors win alike, so nothing tells how well the judge tells texts apart"
        return undefined(metric, why, n=counted, n_clusters=count, **over)
    return over_texts.jackknifed(
        metric, float(values[0]), values[1:], n=counted, unit="share", span=2.0, n_excluded=judged - counted,
        detail={"discrimination": number(discrimination[0])}, **over,
    )  # fmt: skip

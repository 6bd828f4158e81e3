"""Calibrated verdicts: the same pairs decided in one order ("single"), in both, contrary verdicts being a tie
("balanced" position calibration), and after written evidence, runs averaged ("evidence", "evidence_balanced"). Does it
bring a judge closer to the others? Thesis on bias in LLM self-evaluation, sec. 2.1.1; arXiv:2305.17926."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from recuse.metrics.estimates import number
from recuse.metrics.injection import text_means
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.self_preference.over_texts import bounded_estimate, with_interval
from recuse.ratings import Ratings
from recuse.ratings.answers import against_truth
from recuse.ratings.pair_array import PAIRED, repeated_over, verdicts_of
from recuse.ratings.ratings import remembered
from recuse.ratings.ratings_table import PERSON
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean

PLAIN = ("single", "balanced")
SCORINGS = (*PLAIN, "evidence", "evidence_balanced")
ORDERS = ("ab", "ba")
PAIRED_DIFFERENCES = "mean of paired differences, cluster-robust t over clusters"
NO_EVIDENCE = "no usable verdict after evidence"
NO_REFERENCE = "no pair has a usable verdict in both orders and a reference: people's choice, or peers' scores of both"


@measure(
    "verdict_agreement", "agreement with the others' verdict", unit="share",
    reading="How often a judge's verdict, asked in one order or both, is that of people, or of its peers' scores.",
)  # fmt: skip
def verdict_agreement(ratings: Ratings, evidence: Ratings | None = None, scores: Ratings | None = None) -> Estimates:
    """Mean agreement with the reference verdict, by (judge, scoring): 1 for the same verdict, 1/2 where exactly one of
    the two is a tie, 0 for contrary winners. A verdict is whoever has the larger average credit. The reference is
    people's mean verdict where people judged the pair, else that of peers that wrote neither, by their `scores` of the
    two texts (their choices would favour the scoring they were made by); without either nothing is compared. All
    scorings are compared on the same pairs: with `evidence`, choices of the same judges after written evidence, those
    that were asked for it. Detail: `ties`, the share of verdicts left undecided (what balance costs); `of_decided`, the
    share of right ones where scoring and reference both name a winner (what it buys); `pairs_by_people`.

    >>> scores = example("judge item target score", "y i s 4; y i t 2")
    >>> rows = "x i ab first; x i ba first; y i ab first; y i ba second"
    >>> choices = example("judge item order response", rows, texts=table("item a b", "i s t"))
    >>> verdict_agreement(choices, scores=scores).of(judge="x", scoring="balanced").value
    0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, judge, scoring, pairs, mean in _each_scoring(ratings, evidence, scores):
        agree = pairs[f"agree_{scoring}"]
        detail: dict[str, object] = {"pairs_by_people": int(pairs["by_people"].sum())}
        if agree.notna().any():
            ties, decided, right = (pairs[f"{name}_{scoring}"].sum() for name in ("ties", "decided", "right"))
            detail |= {"ties": number(ties / len(pairs)), "of_decided": number(right / decided) if decided else None}
        estimates[judge, scoring, *names] = mean("verdict_agreement", agree, ends=(0.0, 1.0), detail=detail)
    return Estimates(("judge", "scoring", *ratings.within(*PAIRED)), estimates)


@measure(
    "calibration_gain", "gain by asking in both orders", unit="share", signed=True,
    reading="By how much asking in both orders, or for evidence first, brings a judge closer to the others.",
)  # fmt: skip
def calibration_gain(ratings: Ratings, evidence: Ratings | None = None, scores: Ratings | None = None) -> Estimates:
    """Agreement with the scoring minus agreement with the single order, paired, by (judge, scoring) for the scorings
    other than "single". Above 0: the remedy helps. See `verdict_agreement`.

    >>> scores = example("judge item target score", "y i s 4; y i t 2")
    >>> rows = "x i ab first; x i ba first; y i ab first; y i ba second"
    >>> choices = example("judge item order response", rows, texts=table("item a b", "i s t"))
    >>> calibration_gain(choices, scores=scores).of(judge="x", scoring="balanced").value
    0.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, judge, scoring, pairs, mean in _each_scoring(ratings, evidence, scores):
        if scoring != "single":
            gain = pairs[f"agree_{scoring}"] - pairs["agree_single"]
            estimates[judge, scoring, *names] = mean("calibration_gain", gain, ends=(-1.0, 1.0))
    return Estimates(("judge", "scoring", *ratings.within(*PAIRED)), estimates)


@measure(
    "own_win_excess_change", "own wins, after less before", unit="share", signed=True,
    reading="How a judge's wins of its own text beyond neutral peers change when both orders are asked.",
)  # fmt: skip
@per_subject(("judge", "mitigation"), itself, *PAIRED)
def own_win_excess_change(part: Ratings) -> Iterator[Named]:
    """Change of a judge's own-text excess when both orders are asked instead of "ab" alone, by (judge, mitigation), the
    latter always "position_calibration"; interval over clusters. Excess per pair: own text's credit by the judge minus
    its mean credit by peers that wrote neither text, all scored alike, labels and repeats averaged first. Detail:
    `before`, `after`. Undefined where no neutral peer judged a pair with its own text in both orders.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> choices = example("judge order response", "x ab first; x ba first; y ab tie; y ba tie", **more)
    >>> own_win_excess_change(choices).of(judge="x", mitigation="position_calibration").value
    -0.5
    """
    metric, table = "own_win_excess_change", _credits(part)
    table = table[table["kind"] != PERSON]
    table = table.assign(before=table["ab"], after=verdict((table["ab"] + table["ba"]) / 2))
    complete = neutral(table, part.authors).dropna(subset=["before", "after"])
    why = "no pair with its own text was judged in both orders by it and by a neutral peer"
    for judge, text in part.own().items():
        of_judge = table[(table["rater"] == judge) & ((table["a"] == text) | (table["b"] == text))]
        peers = complete[complete["rater"] != judge].groupby("item")[["before", "after"]].mean()
        sign = np.where(of_judge["a"] == text, 1.0, -1.0)[:, None]
        moved = sign * (of_judge[["before", "after"]].to_numpy() - peers.reindex(of_judge["item"]).to_numpy())
        both, groups = np.isfinite(moved).all(axis=1), of_judge["group"].to_numpy()
        sides = zip(("before", "after"), moved[both].T, strict=True)
        detail = {name: with_interval(clustered_mean(side, groups[both])) for name, side in sides if both.any()}
        yield (judge, "position_calibration"), bounded_estimate(
            metric, moved[:, 1] - moved[:, 0], groups, (-1.0, 1.0), why, distribution=clustered_mean, unit="share",
            method=PAIRED_DIFFERENCES, detail=detail, **repeated_over(part),
        )  # fmt: skip


def _each_scoring(
    ratings: Ratings, evidence: Ratings | None, scores: Ratings | None
) -> Iterator[tuple[tuple[str, ...], str, str, pd.DataFrame, Callable[..., Estimate]]]:
    """(levels, judge, scoring, the judge's comparable pairs, the estimate of a mean over them)."""
    for names, part in ratings.each(*PAIRED):
        levels = dict(zip(ratings.within(*PAIRED), names, strict=True))
        beside = evidence and evidence.where(**{k: v for k, v in levels.items() if k in evidence.factors})
        table, over = _compared_pairs(part, beside, scores), repeated_over(part)
        for judge in part.judges:
            # Pairs on which every scoring that was asked for is there; the others' count is kept
            of_judge = table[table["rater"] == judge]
            scored = [f"agree_{name}" for name in SCORINGS if of_judge[f"agree_{name}"].notna().any()]
            kept = of_judge[of_judge[scored].notna().all(axis=1)] if scored else of_judge.iloc[:0]
            lost = len(of_judge) - len(kept)
            for scoring in PLAIN if evidence is None else SCORINGS:
                why = NO_EVIDENCE if len(kept) and scoring.startswith("evidence") else NO_REFERENCE
                mean = partial(bounded_estimate, groups=kept["group"], why=why, unit="share", n_excluded=lost, **over)
                yield names, judge, scoring, kept, mean


@remembered
def _compared_pairs(part: Ratings, evidence: Ratings | None, scores: Ratings | None) -> pd.DataFrame:
    """One row per judge and item with the `reference` (1 a, 0 b, 1/2 tie; `by_people` says whose), and per scoring how
    it compares: `agree_`, `ties_`, `decided_` (it and the reference both name a winner) and `right_` (the same one),
    averaged over its verdicts. NaN where something is missing. A pair's cluster is the item of `scores`, its two texts
    are targets there; the first headline criterion counts, at the ordinary levels of all factors."""
    plain, keys = _credits(against_truth(part)), ["rater", "item"]
    after = None if evidence is None else _credits(evidence)
    if after is not None:  # evidence is dear: often only some of the pairs were asked for it
        plain = plain[plain["item"].isin(after["item"])]
    table, people = plain[plain["kind"] != PERSON], plain[plain["kind"] == PERSON].set_index("item")
    by_people = table["item"].map(people[list(ORDERS)].mean(axis=1).groupby(level=0).mean())
    by_peers = pd.Series(math.nan, index=table.index)
    if scores is not None:  # which text of each pair a judge scored higher, where it scored both
        overall = scores.with_criterion(scores.headline[0])
        given = text_means(overall.where(**{name: overall.levels(name)[0] for name in overall.factors}), "score")
        given = given.dropna().rename(columns={"judge": "rater", "item": "cluster"})
        sides = [given.rename(columns={"target": side, "score": f"score_{side}"}) for side in "ab"]
        higher = plain[["item", "cluster", "a", "b"]].drop_duplicates("item").merge(sides[0], on=["cluster", "a"])
        higher = neutral(higher.merge(sides[1], on=["rater", "cluster", "b"]), part.authors)
        higher = higher.assign(won=(np.sign(higher["score_a"] - higher["score_b"]) + 1) / 2)
        for judge, items in table.groupby("rater", sort=False)["item"]:
            by_peers[items.index] = items.map(higher[higher["rater"] != judge].groupby("item")["won"].mean())
    table = table.assign(reference=verdict(by_people.fillna(by_peers)), by_people=by_people.notna())
    if after is not None:
        table = table.merge(after[[*keys, *ORDERS]], on=keys, how="left", suffixes=("", "_after"))
    for scoring in SCORINGS:
        table = table.join(_compared(table, scoring).add_suffix(f"_{scoring}"))
    return table


def _compared(table: pd.DataFrame, scoring: str) -> pd.DataFrame:
    """agree, ties, decided and right of one scoring, NaN where it was not asked or there is no reference."""
    ends = [name + ("_after" if scoring.startswith("evidence") else "") for name in ORDERS]
    if ends[0] not in table:
        return pd.DataFrame(math.nan, index=table.index, columns=["agree", "ties", "decided", "right"])
    ab, ba = (table[end] for end in ends)
    reference = table["reference"]
    verdicts = [verdict((ab + ba) / 2)] * 2 if scoring.endswith("balanced") else [verdict(ab), verdict(ba)]
    one, other = (
        pd.DataFrame({
            "agree": 1 - (won - reference).abs(), "ties": won == 0.5, "decided": (won != 0.5) & (reference != 0.5),
            "right": (won != 0.5) & (won == reference),
        }).astype(float) for won in verdicts
    )  # fmt: skip
    return ((one + other) / 2)[reference.notna() & ab.notna() & ba.notna()].reindex(table.index)


def _credits(part: Ratings) -> pd.DataFrame:
    """a's mean credit over labels and repeats in each order, columns `ab` and `ba`, one row per rater and item."""
    keys = ["rater", "kind", "item", "cluster", "a", "b"]
    wide = verdicts_of(part).groupby([*keys, "order"], sort=False)["won"].mean().unstack("order")
    wide = wide.reindex(columns=list(ORDERS)).reset_index()
    wide.columns.name = None
    return wide.assign(group=wide["cluster"].factorize()[0])


def neutral(credits: pd.DataFrame, authors: Mapping[str, str]) -> pd.DataFrame:
    """The rows of judges that wrote neither of the two texts."""
    wrote = credits["rater"].map(lambda name: authors.get(name, "")).astype(object)
    return credits[(wrote != credits["a"]) & (wrote != credits["b"])]


def verdict(credit: pd.Series[float]) -> pd.Series[float]:
    """Average credit to verdict: more than half wins."""
    sign: pd.Series[float] = (credit - 0.5).round(12).map(np.sign)
    return (sign + 1) / 2

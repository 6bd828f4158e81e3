"""Choices between two texts asked otherwise: told nothing of order and length, asked for the worse one, after a
discussion with a peer, in both orders, or after written evidence. Thesis on bias in LLM self-evaluation, sec. 2.1.1,
2.2.1, 2.4.1 and 5.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import number, undefined
from recuse.metrics.injection import text_means
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.presentation import a_is_longer
from recuse.papers.self_preference.over_texts import bounded_estimate, known_of_texts, mean_or_none, with_interval
from recuse.ratings import PERSON, TRUE, Ratings, against_truth, grouped, remembered
from recuse.ratings.array import clusters_of
from recuse.ratings.pair_array import PAIRED, pair_array, repeated_over, verdicts_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.factors import PROMPT
from recuse.statistics.bounded import BOUNDED
from recuse.statistics.clusters import clustered_mean

FIRST_CHOICE, ROTATION = "first_choice", "rotation"


@measure(
    "same_choice", "same choice asked otherwise", unit="share", rank=339,
    below="chooses otherwise when asked otherwise",
    reading="How near two ways of asking come to one choice, orders averaged: 1 where all pairs are decided alike, 0 "
    "where every one is reversed, one half where they have nothing to do with each other.",
)  # fmt: skip
@per_subject(("judge", PROMPT), itself, PROMPT, *PAIRED)
def same_choice(part: Ratings) -> Iterator[Named]:
    """Mean over pairs of 1 - |credit of a after - before|, by judge and every prompt but the first; interval over what
    pairs share. A judge that names the first place, asked for the better or the worse text, decides no pair: its
    credits are 1/2 and this is 1, while its `order_consistency` is 0. Undefined where no pair was asked both ways.

    >>> more = {"factors": ["prompt"], "texts": table("item a b", "i x y")}
    >>> same_choice(example("prompt response", "plain first; worse second", **more)).of(judge="j", prompt="worse").value
    0.0
    """
    return _changed("same_choice", part, lambda items, change: 1 - np.abs(change))


@measure(
    "padding_change", "preference for padding asked otherwise", unit="share", signed=True, rank=342,
    reading="Wins of the longer of two texts that say the same, asked in another way, less those asked in the ordinary "
    "one. Above 0 where a judge is not told that length must not matter: telling it helps.",
)  # fmt: skip
@per_subject(("judge", PROMPT), itself, PROMPT, *PAIRED)
def padding_change(part: Ratings) -> Iterator[Named]:
    """Mean over twins of the longer one's credit after less before, both orders averaged, by judge and every prompt but
    the first; interval over what pairs share. `texts` has words_a and words_b (`padding_preference`). Thesis, sec.
    2.2.1. Undefined where no pair was asked both ways.

    >>> more = {"factors": ["prompt"], "texts": table("item a b words_a words_b", "i plain padded 20 40")}
    >>> padding_change(example("prompt response", "plain tie; bare second", **more)).of(judge="j", prompt="bare").value
    0.5
    """
    longer = a_is_longer(part)
    return _changed("padding_change", part, lambda items, change: (
        np.where([longer[item] for item in items], change, -change)
    ))  # fmt: skip


def _changed(metric: str, part: Ratings, value: Callable[[NDArray[Any], Floats], Floats]) -> Iterator[Named]:
    """Mean of `value` over pairs, from the change of a's credit (judges, pairs) from the first level to another."""
    arrays = {level: pair_array(part.where(**{PROMPT: level})) for level in part.levels(PROMPT)}
    for level, after in list(arrays.items())[1:]:
        before = next(iter(arrays.values()))
        credits = pd.DataFrame(after.won, index=list(after.judges), columns=after.items)
        same_pairs = credits.reindex(index=list(before.judges), columns=before.items).to_numpy()
        values = value(before.items, same_pairs - before.won)
        for row, judge in enumerate(before.judges):
            groups, requested = grouped(before.clusters), before.requested[row]
            yield (judge, level), _mean(metric, part, values[row], groups, requested=requested)


@measure(
    "choice_change", "order consistency asked otherwise", unit="share", signed=True, rank=340,
    reading="Share of pairs with one choice in both orders, asked in another way, less that asked in the ordinary one. "
    "Above 0: it helps.",
)  # fmt: skip
@per_subject(("judge", PROMPT), itself, PROMPT, *PAIRED)
def choice_change(part: Ratings) -> Iterator[Named]:
    """Mean over pairs of consistent (the same text, or a tie, in both orders) after less before, by judge and every
    prompt but the first. Detail: `before`, `after`. Undefined where no pair was asked in both orders both ways.

    >>> rows = "plain ab first; plain ba second; bare ab first; bare ba first"
    >>> more = {"factors": ["prompt", "order"], "texts": table("item a b", "i x y")}
    >>> choice_change(example("prompt order response", rows, **more)).of(judge="j", prompt="bare").value
    -1.0
    """
    steady = {level: _steady(_slots(part.where(**{PROMPT: level}), part.judges)) for level in part.levels(PROMPT)}
    for level, after in list(steady.items())[1:]:
        before = next(iter(steady.values()))
        for judge in part.judges:
            yield (judge, level), _change("choice_change", part, before[judge], after[judge])


@measure(
    "discussion_change", "choices after a discussion", unit="share", signed=True, rank=341,
    reading="After reading a peer, less before: share of choices that agree with that peer's, and share of pairs with "
    "one choice in both orders. Agreement rises where one merely gives in.",
)  # fmt: skip
@per_subject(("judge", "of"), itself, *PAIRED)
def discussion_change(part: Ratings) -> Iterator[Named]:
    """By judge and `of`: "agreement" with the judge that follows in the panel, over calls; "consistency" over both
    orders, over pairs. Interval over what pairs share. Detail: `before`, `after`, and for agreement `gave_in`, the
    share of disagreements after which it took the peer's first choice. Undefined without criterion `first_choice`.

    >>> rows = "x first_choice first; y first_choice second; x winner second; y winner second"
    >>> more = {"headline": ["winner"], "texts": table("item a b", "i x y")}
    >>> discussion_change(example("judge criterion response", rows, **more)).of(judge="x", of="agreement").value
    1.0
    """
    metric, judges = "discussion_change", part.judges
    if FIRST_CHOICE not in part.criteria:
        why = "no first choice is told (criterion first_choice)"
        nothing = undefined(metric, why, method=BOUNDED, unit="share", span=2.0)
        yield from ((subject, nothing) for subject in product(judges, ("agreement", "consistency")))
        return
    before, after = _slots(part.with_criterion(FIRST_CHOICE), judges).align(_slots(part, judges))
    steady = _steady(before), _steady(after)
    for judge, peer in zip(judges, (*judges[1:], *judges[:1]), strict=True):
        there = (before[judge] + before[peer] + after[judge] + after[peer]).notna()
        was, now = ((one[judge] == one[peer])[there].astype(float) for one in (before, after))
        gave_in = np.asarray((after[judge] == before[peer])[there][was == 0], dtype=np.float64)
        yield (judge, "agreement"), _change(metric, part, was, now, gave_in=mean_or_none(gave_in))
        yield (judge, "consistency"), _change(metric, part, *(one[judge] for one in steady))


def _slots(ratings: Ratings, judges: Sequence[str]) -> pd.DataFrame:
    """What the first place won by each judge's choice: a row per item and order, a column per judge."""
    verdicts = verdicts_of(ratings)
    judged = verdicts[verdicts["kind"] != PERSON]
    return judged.groupby(["item", "order", "rater"])["slot"].last().unstack("rater").reindex(columns=list(judges))


def _steady(slots: pd.DataFrame) -> pd.DataFrame:
    """1 where both orders of an item give one choice, else 0, NaN where one is lacking; a column per judge."""
    both = slots.groupby(level="item").sum(min_count=2)
    return (both == 1).where(both.notna()).astype(float)


def _change(metric: str, ratings: Ratings, before: pd.Series[float], after: pd.Series[float], **more: Any) -> Estimate:
    both = pd.DataFrame({"before": before, "after": after}).dropna()
    was, now = both["before"].to_numpy(), both["after"].to_numpy()
    items = tuple(both.index.get_level_values("item").astype(str))
    groups = grouped(np.array(clusters_of(ratings, items), dtype=object))
    detail = {"before": mean_or_none(was), "after": mean_or_none(now), **more}
    return _mean(metric, ratings, now - was, groups, detail=detail)


def _mean(metric: str, ratings: Ratings, values: Floats, groups: NDArray[Any], **about: Any) -> Estimate:
    why = "no pair was asked in both ways"
    return bounded_estimate(metric, values, groups, (-1.0, 1.0), why, unit="share", **repeated_over(ratings), **about)


# --------------------------------------------------------------------------- the best of a list
# The choice of one among three texts or more, shown in several rotations (thesis, sec. 1.2.2, note 3, and sec. 2.1).


@measure(
    "list_accuracy", "finds the best of a list", unit="share", rank=402, below="seldom finds the best of a list",
    reading="Share of lists, over all rotations, of which a judge names the text that is known to be best.",
)  # fmt: skip
@per_subject("judge", itself, ROTATION)
def list_accuracy(part: Ratings) -> Iterator[Named]:
    """Mean over lists of the share of its rotations in which the known best is named, by judge; interval over lists.
    Detail: `by_chance`, one over the length of the lists. Undefined without a known best (true_<criterion>, a target).

    >>> more = {"factors": ["rotation"], "texts": table("item target true_best length", "i a a 3")}
    >>> list_accuracy(example("criterion rotation response", "best 1 a; best 2 b", **more)).of(judge="j").value
    0.5
    """
    known = {item: str(best) for (item, _), best in known_of_texts(part, f"{TRUE}{part.criterion}").items()}
    shares = [1 / length for length in known_of_texts(part, "length").values()]
    detail = {"by_chance": number(float(np.mean(shares))) if shares else None}
    return _over_lists("list_accuracy", part, lambda rows, item: (
        float((rows["response"] == known[item]).mean()) if item in known else np.nan
    ), "no list has a known best", detail)  # fmt: skip


@measure(
    "list_consistency", "same best however the list is turned", unit="share", rank=403,
    below="names another best when a list is turned",
    reading="Share of lists of which a judge names one and the same text in all rotations.",
)  # fmt: skip
@per_subject("judge", itself, ROTATION)
def list_consistency(part: Ratings) -> Iterator[Named]:
    """By judge, over lists with two usable rotations or more; interval over lists.

    >>> rows = "i 1 a; i 2 b; k 1 a; k 2 a"
    >>> list_consistency(example("item rotation response", rows, factors=["rotation"])).of(judge="j").value
    0.5
    """
    return _over_lists("list_consistency", part, lambda rows, item: (
        float(rows["response"].nunique() == 1) if len(rows) > 1 else np.nan
    ), "no list was shown in two rotations", {})  # fmt: skip


def _over_lists(metric: str, part: Ratings, value: Any, why: str, detail: dict[str, Any]) -> Iterator[Named]:
    rows = part.table[part.table["criterion"] == part.criterion]
    for judge in part.judges:
        of_judge = rows[rows["rater"] == judge]
        usable = of_judge[of_judge["status"] == "ok"]
        values = [value(of_list, str(item)) for item, of_list in usable.groupby("item", sort=False)]
        yield judge, bounded_estimate(
            metric, values, np.arange(len(values)), (0.0, 1.0), why, n_excluded=len(of_judge) - len(usable),
            n_clusters=None, unit="share", detail=detail,
        )  # fmt: skip


# --------------------------------------------------------------------------- calibrated verdicts
# The same pairs decided in one order ("single"), in both, contrary verdicts being a tie ("balanced"), and after written
# evidence, runs averaged ("evidence", "evidence_balanced"): is a judge closer to the others then? arXiv:2305.17926.

PLAIN = ("single", "balanced")
SCORINGS = (*PLAIN, "evidence", "evidence_balanced")
ORDERS = ("ab", "ba")
Scoring = tuple[tuple[str, ...], str, str, pd.DataFrame, Callable[..., Estimate]]
"""(levels, judge, scoring, the judge's comparable pairs, the estimate of a mean over them)."""
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
    after = verdict((table["ab"] + table["ba"]) / 2)
    table = table.assign(before=table["ab"], after=after, item=table["item"].factorize()[0])
    # the judge is none of the neutral peers of a pair with its own text
    peers = neutral(table, part.authors)[["item", "before", "after"]].dropna().groupby("item").mean()
    rater, a, b, item, group = (table[name].to_numpy() for name in ("rater", "a", "b", "item", "group"))
    credit = table[["before", "after"]].to_numpy()
    why = "no pair with its own text was judged in both orders by it and by a neutral peer"
    for judge, text in part.own().items():
        own = np.flatnonzero((rater == judge) & ((a == text) | (b == text)))
        sign = np.where(a[own] == text, 1.0, -1.0)[:, None]
        moved = sign * (credit[own] - peers.reindex(item[own]).to_numpy())
        both, groups = np.isfinite(moved).all(axis=1), group[own]
        sides = zip(("before", "after"), moved[both].T, strict=True)
        detail = {name: with_interval(clustered_mean(side, groups[both])) for name, side in sides if both.any()}
        yield (judge, "position_calibration"), bounded_estimate(
            metric, moved[:, 1] - moved[:, 0], groups, (-1.0, 1.0), why, distribution=clustered_mean, unit="share",
            method="mean of paired differences, cluster-robust t over clusters", detail=detail, **repeated_over(part),
        )  # fmt: skip


@remembered
def _each_scoring(ratings: Ratings, evidence: Ratings | None, scores: Ratings | None) -> list[Scoring]:
    each: list[Scoring] = []
    for names, part in ratings.each(*PAIRED):
        levels = dict(zip(ratings.within(*PAIRED), names, strict=True))
        beside = evidence and evidence.where(**{k: v for k, v in levels.items() if k in evidence.factors})
        table, over = _compared_pairs(part, beside, scores), repeated_over(part)
        for judge in part.judges:
            # Pairs on which every scoring that was asked for is there; the others' count is kept
            of_judge = table[table["rater"] == judge]
            there = of_judge[[f"agree_{name}" for name in SCORINGS]].notna().to_numpy()
            wanted = there.any(axis=0)
            kept = of_judge.iloc[np.flatnonzero(there[:, wanted].all(axis=1) & wanted.any())]
            lost = len(of_judge) - len(kept)
            for scoring in PLAIN if evidence is None else SCORINGS:
                why = NO_EVIDENCE if len(kept) and scoring.startswith("evidence") else NO_REFERENCE
                mean = partial(bounded_estimate, groups=kept["group"], why=why, unit="share", n_excluded=lost, **over)
                each.append((names, judge, scoring, kept, mean))
    return each


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
    by_peers = pd.Series(np.nan, index=table.index)
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
    columns = {f"{name}_{each}": values for each in SCORINGS for name, values in _compared(table, each).items()}
    return table[["rater", "group", "reference", "by_people"]].assign(**columns)


def _compared(table: pd.DataFrame, scoring: str) -> dict[str, Floats]:
    """agree, ties, decided and right of one scoring, NaN where it was not asked or there is no reference."""
    ends = [name + ("_after" if scoring.startswith("evidence") else "") for name in ORDERS]
    if ends[0] not in table:
        return dict.fromkeys(("agree", "ties", "decided", "right"), np.full(len(table), np.nan))
    ab, ba, reference = (table[name].to_numpy(dtype=float) for name in (*ends, "reference"))
    verdicts = [verdict((ab + ba) / 2)] if scoring.endswith("balanced") else [verdict(ab), verdict(ba)]
    of = {
        "agree": [1 - np.abs(won - reference) for won in verdicts], "ties": [won == 0.5 for won in verdicts],
        "decided": [(won != 0.5) & (reference != 0.5) for won in verdicts],
        "right": [(won != 0.5) & (won == reference) for won in verdicts],
    }  # fmt: skip
    there = np.isfinite(ab + ba + reference)
    return {name: np.where(there, np.mean(each, axis=0), np.nan) for name, each in of.items()}


def _credits(part: Ratings) -> pd.DataFrame:
    """a's mean credit over labels and repeats in each order, columns `ab` and `ba`, one row per rater and item."""
    keys = ["rater", "kind", "item", "cluster", "a", "b"]
    wide = verdicts_of(part).groupby([*keys, "order"], sort=False)["won"].mean().unstack("order")
    wide = wide.reindex(columns=list(ORDERS)).rename_axis(columns=None).reset_index()
    return wide.assign(group=wide["cluster"].factorize()[0])


def neutral(credits: pd.DataFrame, authors: Mapping[str, str]) -> pd.DataFrame:
    """The rows of judges that wrote neither of the two texts."""
    wrote = credits["rater"].map(lambda name: authors.get(name, "")).astype(object)
    return credits[(wrote != credits["a"]) & (wrote != credits["b"])]


def verdict(credit: Any) -> Any:
    """Average credit, of a column or an array, to verdict: more than half wins."""
    return (np.sign((credit - 0.5).round(12)) + 1) / 2

"""Choices between two texts asked otherwise: told nothing of order and length, asked for the worse one, or after a
discussion with a peer. Thesis on bias in LLM self-evaluation, sec. 2.1.1, 2.2.1, 2.4.1 and 5.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.presentation import a_is_longer
from recuse.papers.self_preference.over_texts import bounded_estimate, known_of_texts, mean_or_none
from recuse.ratings import Ratings
from recuse.ratings.array import clusters_of, grouped
from recuse.ratings.pair_array import PAIRED, pair_array, repeated_over, verdicts_of
from recuse.ratings.ratings_table import PERSON
from recuse.ratings.scale import TRUE
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import PROMPT
from recuse.statistics.bounded import BOUNDED

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

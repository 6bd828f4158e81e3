"""Position: does the choice between two texts change when only their order does?

Every pair is asked in both orders, so what a text is worth cancels and what is left belongs to the place. Asking with
the names of the places swapped as well tells the place from the letter it carries: a judge that likes "A" follows the
letter into the second place, one that likes what it reads first does not. Intervals are over clusters of pairs that
share something (a story, a question), or over pairs where they share nothing. Source: thesis on bias in LLM
self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926) and Shi et al. (2025, arXiv:2406.07791).

All measures take ratings of choices (`recuse.ratings.pair_array`), give one estimate per judge within every level of
factors other than order and labels, and leave people out; pairs without two usable choices are excluded and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import add_losses, estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.ratings.pair_array import PAIRED, both_orders, repeated_over, verdicts_of
from recuse.ratings.ratings import remembered
from recuse.schema import Estimates
from recuse.statistics.bounded import BOUNDED, BoundedMean, bounded_mean
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import Binomial

HALF = (-0.5, 0.5)
SHARE_ENDS = (0.0, 1.0)
Ends = tuple[float, float]
NO_PAIR = "no pair has a usable verdict in both orders"
NOT_SWAPPED = "the labels were never swapped, so the first slot and the letter A are one and the same"


@remembered
def paired(part: Ratings) -> pd.DataFrame:
    """Pairs over both orders (`both_orders`), their clusters numbered in column `group`."""
    pairs = both_orders(verdicts_of(part))
    return pairs.assign(group=pairs["cluster"].factorize()[0])


@remembered
def pairs_by_judge(part: Ratings) -> Mapping[str, pd.DataFrame]:
    """Judge -> its pairs, plain and swapped labels of a pair one after the other."""
    pairs = paired(part)
    of_judge = dict(iter(pairs.groupby("rater", sort=False)))
    return {judge: of_judge.get(judge, pairs.iloc[:0]) for judge in part.judges}


@remembered
def quads_by_judge(part: Ratings) -> Mapping[str, pd.DataFrame]:
    """The same with plain and swapped labels of a pair in one row, for the judges that were asked under both: column
    `swapped` is the first place's mean credit under swapped labels."""
    quads = {**pairs_by_judge(part)}
    for judge, pairs in quads.items():
        if (is_swapped := pairs["labels"] == "swapped").any():
            plain, swapped = (pairs[rows].set_index(["item", "repeat"]) for rows in (~is_swapped, is_swapped))
            credit = ((swapped["ab"] + swapped["ba"]) / 2).rename("swapped")
            quads[judge] = plain.join(credit, how="outer").sort_index().reset_index()
    return quads


def complete(pairs: pd.DataFrame) -> pd.Series[bool]:
    """Which have a usable verdict in both orders, under swapped labels too where these stand beside."""
    return pairs[["ab", "ba", *(["swapped"] if "swapped" in pairs else [])]].notna().all(axis=1)


def lost_by_order(pairs: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """How many of the choices were lost in either order."""
    return {f"order {order}": (int(pairs[order].isna().sum()), len(pairs)) for order in ("ab", "ba")}


Measured = tuple[Binomial | BoundedMean | None, NDArray[Any], dict[str, Any], str]
"""Distribution (None where there is none), the value of each pair, detail, and the note, which says why there is
none."""


def over_pairs(
    pairs_of: Callable[[Ratings], Mapping[str, pd.DataFrame]], ends: Ends,
    usable: Callable[[pd.DataFrame], pd.Series[bool]] = complete,
) -> Callable[[Callable[[pd.DataFrame], Measured]], Callable[[Ratings], Estimates]]:  # fmt: skip
    """From what is measured on one judge's `usable` pairs, between these `ends`, to the measure of all judges."""

    def decorate(compute: Callable[[pd.DataFrame], Measured]) -> Callable[[Ratings], Estimates]:
        @wraps(compute)
        def each(part: Ratings) -> Iterator[Named]:
            metric, over, method = compute.__name__, repeated_over(part), SHARE if ends == SHARE_ENDS else BOUNDED
            for judge, of_judge in pairs_of(part).items():
                kept = of_judge[usable(of_judge)]
                lost = len(of_judge) - len(kept)
                about: dict[str, Any] = {"n": len(kept), "n_excluded": lost, "method": method, **over}
                distribution, values, detail, note = (
                    compute(kept) if len(kept) else (None, kept["won"].to_numpy(), {}, NO_PAIR)
                )
                if distribution is None:
                    yield judge, undefined(metric, note, detail=detail, **about)
                    continue
                estimate = estimated(
                    metric, float(values.mean()), distribution, n_clusters=kept["group"].nunique(), unit="share",
                    span=1.0, detail=detail, note=note, **about,
                )  # fmt: skip
                yield judge, add_losses(estimate, lost_by_order(of_judge), ends, lost)

        return per_subject("judge", itself, *PAIRED)(each)

    return decorate


@measure(
    "order_consistency", "same verdict in both orders", unit="share", rank=82,
    below="changes its choice with the order",
    reading="Share of pairs on which the judge makes the same choice when the two texts change places.",
)  # fmt: skip
@over_pairs(pairs_by_judge, SHARE_ENDS)
def order_consistency(pairs: pd.DataFrame) -> Measured:
    """Share of pairs with the same verdict (a, b or tie) in both orders, by judge.

    Detail counts the pairs: `same_winner`, `both_ties`, `one_tie`, `first_twice` and `second_twice` (contrary winners,
    both times the first or the second slot), and gives `of_decided`, the share among pairs with a winner in some order.
    Undefined where every verdict is a tie: no winner is there that the order could change.

    >>> rows = "i ab first; i ba second; k ab first; k ba first"
    >>> choices = example("item order response", rows, texts=table("item a b", "i s t; k s t"))
    >>> order_consistency(choices).of(judge="j").value
    0.5
    """
    ab, ba = pairs["ab"].to_numpy(), pairs["ba"].to_numpy()
    same, tie, total = ab + ba == 1, (ab == 0.5).astype(int) + (ba == 0.5), ab + ba
    counts = {
        "same_winner": int((same & (tie == 0)).sum()), "both_ties": int((tie == 2).sum()),
        "one_tie": int((tie == 1).sum()), "first_twice": int((total == 2).sum()),
        "second_twice": int((total == 0).sum()),
    }  # fmt: skip
    decided = len(pairs) - counts["both_ties"]
    detail = {**counts, "of_decided": number(counts["same_winner"] / decided) if decided else None}
    if not decided:
        return None, same, detail, "every verdict is a tie, so there is no winner that the order could change"
    return clustered_share(same, pairs["group"]), same, detail, ""


@measure(
    "slot_preference", "preference for the first place", unit="share", signed=True, rank=84,
    above="favours what stands first", below="favours what stands second",
    reading="How much more than half the text shown first wins, whatever it is and is called.",
)  # fmt: skip
@over_pairs(quads_by_judge, HALF)
def slot_preference(pairs: pd.DataFrame) -> Measured:
    """How much more than half the first slot wins, by judge, -0.5 to 0.5:

        mean over pairs of (credit of the first slot in "ab" + in "ba") / 2 - 1/2,   a win 1, a tie 1/2, a loss 0

    A pair on which the judge stands by one text adds exactly 0, so quality plays no part. Where labels were swapped
    too, a pair counts if all four verdicts are usable, and the letters cancel as well; where they were not, a
    preference for the letter A cannot be told from this, and the note says so.

    >>> choices = example("order response", "ab first; ba first", texts=table("item a b", "i s t"))
    >>> slot_preference(choices).of(judge="j").value
    0.5
    """
    values = ((pairs["ab"] + pairs["ba"]) / 2 - 0.5).to_numpy()
    if "swapped" in pairs:
        values = (values + pairs["swapped"].to_numpy() - 0.5) / 2
    return bounded_mean(values, pairs["group"], HALF), values, {}, "" if "swapped" in pairs else NOT_SWAPPED


@measure(
    "letter_preference", "preference for the letter A", unit="share", signed=True, rank=86,
    above="favours the letter A", below="favours the letter B",
    reading="How much more than half the text called A wins, wherever it stands.",
)  # fmt: skip
@over_pairs(quads_by_judge, HALF)
def letter_preference(pairs: pd.DataFrame) -> Measured:
    """How much more than half the text called A wins, by judge, -0.5 to 0.5: over pairs with all four verdicts, the
    mean of the first slot's credit with plain labels and the second slot's with swapped ones, less 1/2. Texts and slots
    cancel. Undefined where labels were never swapped.

    >>> rows = "ab plain first; ba plain first; ab swapped second; ba swapped second"
    >>> choices = example("order labels response", rows, texts=table("item a b", "i s t"))
    >>> letter_preference(choices).of(judge="j").value
    0.5
    """
    if "swapped" not in pairs:
        return None, pairs["won"].to_numpy(), {}, NOT_SWAPPED
    values = (((pairs["ab"] + pairs["ba"]) / 2 - pairs["swapped"]) / 2).to_numpy()
    return bounded_mean(values, pairs["group"], HALF), values, {}, ""

"""Presentation: what moves a judgement though the texts stay what they are, their place, their letter or their length.

Position: every pair is asked in both orders, so what a text is worth cancels and what is left belongs to the place.
Asking with the names of the places swapped as well tells the place from the letter it carries: a judge that likes "A"
follows the letter into the second place, one that likes what it reads first does not. Intervals are over clusters of
pairs that share something (a story, a question), or over pairs where they share nothing. Source: thesis on bias in LLM
self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926) and Shi et al. (2025, arXiv:2406.07791).

Length (sec. 2.2, after Saito et al. 2023, arXiv:2310.10076, and Hu et al. 2024, arXiv:2407.01085): padded twins differ
in length alone, so `padding_preference` needs no model. In ordinary texts length goes with content; there only the
*disagreement with the peers* on the same text is laid against its length, so that quality cancels whatever it is.
Taking the peers' mean as a covariate instead would let quality that few peers measure badly leak into the coefficient.
The price: a preference that all judges share does not show there; it does in the twins. Lengths are words, from
`Ratings.texts`: `words` of each item and target for scores, `words_a` and `words_b` of each item for choices.

Choices (`recuse.ratings.pair_array`) give one estimate per judge within every level of factors other than order and
labels; people are left out, pairs without two usable choices excluded and counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import add_losses, estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings, remembered
from recuse.ratings.array import beyond_others, grouped, judges_array
from recuse.ratings.pair_array import PAIRED, both_orders, pair_array, repeated_over, verdicts_of
from recuse.ratings.text_slices import doublings_of_pairs, doublings_of_texts, sizes_of_pairs
from recuse.schema import Estimates, RatingsError
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.bounded import BOUNDED, bounded_mean
from recuse.statistics.clusters import SHARE, OverClusters, clustered_share, slopes

HALF = (-0.5, 0.5)
SHARE_ENDS = (0.0, 1.0)
Ends = tuple[float, float]
NO_PAIR = "no pair has a usable verdict in both orders"
FITTED = "least squares, jackknife over clusters, Student's t"
NOT_SWAPPED = "the labels were never swapped, so the first slot and the letter A are one and the same"
Measured = tuple[NDArray[Any] | None, dict[str, Any], str]
"""The value of each pair (None where there is none), detail, and the note, which says why there is none."""


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


def complete(pairs: pd.DataFrame) -> Mask:
    """Which have a usable verdict in both orders, under swapped labels too where these stand beside."""
    verdicts = [pairs[name].to_numpy() for name in ("ab", "ba", "swapped") if name in pairs]
    return np.asarray(np.isfinite(verdicts).all(axis=0))


def lost_by_order(pairs: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """How many of the choices were lost in either order."""
    return {f"order {order}": (int(pairs[order].isna().sum()), len(pairs)) for order in ("ab", "ba")}


def over_pairs(
    pairs_of: Callable[[Ratings], Mapping[str, pd.DataFrame]], ends: Ends,
    usable: Callable[[pd.DataFrame], Mask] = complete,
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
                values, detail, note = compute(kept) if len(kept) else (None, {}, NO_PAIR)
                if values is None:
                    yield judge, undefined(metric, note, detail=detail, **about)
                    continue
                whole, group = ends == SHARE_ENDS, kept["group"]
                distribution: Any = clustered_share(values, group) if whole else bounded_mean(values, group, ends)
                estimate = estimated(
                    metric, float(values.mean()), distribution, n_clusters=group.nunique(), unit="share",
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
        return None, detail, "every verdict is a tie, so there is no winner that the order could change"
    return same, detail, ""


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
    return values, {}, "" if "swapped" in pairs else NOT_SWAPPED


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
        return None, {}, NOT_SWAPPED
    return (((pairs["ab"] + pairs["ba"]) / 2 - pairs["swapped"]) / 2).to_numpy(), {}, ""


# --------------------------------------------------------------------------- length


def twins_by_judge(part: Ratings) -> dict[str, pd.DataFrame]:
    """Judge -> its pairs, with `longer`: whether text a has more words than b."""
    longer = a_is_longer(part)
    each = ((judge, rows, rows["item"].astype(str).map(longer)) for judge, rows in pairs_by_judge(part).items())
    return {judge: rows.assign(longer=is_longer.astype(bool)) for judge, rows, is_longer in each}


@measure(
    "padding_preference", "preference for padding", unit="share", signed=True, rank=88, above="prefers padded texts",
    below="marks padding down", bad="above",
    reading="How much more than half the longer of two texts wins that say the same.",
)  # fmt: skip
@over_pairs(twins_by_judge, HALF, lambda pairs: pairs["won"].notna().to_numpy())
def padding_preference(pairs: pd.DataFrame) -> Measured:
    """How much more than half the longer twin wins, by judge, -0.5 to 0.5; both orders averaged, a tie 1/2.

    For choices between twins that say the same: `texts` has a, b, words_a and words_b. A judge that finds padding a
    fault is below 0. Detail: `longer_wins`, `shorter_wins`, `neither` (ties, and pairs whose two orders name contrary
    winners). Excluded are pairs without two usable verdicts. Raises `RatingsError` for twins of equal length.

    >>> texts = table("item a b words_a words_b", "i plain padded 20 40")
    >>> padding_preference(example("order response", "ab second; ba first", texts=texts)).of(judge="j").value
    0.5
    """
    won = pairs["won"].to_numpy()
    values = np.where(pairs["longer"], won, 1 - won) - 0.5
    detail = {"longer_wins": int((values > 0).sum()), "shorter_wins": int((values < 0).sum()),
              "neither": int((values == 0).sum())}  # fmt: skip
    return values, detail, ""


def a_is_longer(part: Ratings) -> dict[str, bool]:
    """Item -> whether its text a has more words than b. `RatingsError` for twins of equal length."""
    sizes = sizes_of_pairs(part)
    equal = sizes[~(sizes["words_a"] != sizes["words_b"])]
    if len(equal):
        item, words = equal["item"].iloc[0], equal["words_a"].iloc[0]
        raise RatingsError(f"the twins of a pair differ in length; {item} has {words:g} words twice")
    return dict(zip(sizes["item"].astype(str), sizes["words_a"] > sizes["words_b"], strict=True))


@measure(
    "length_coefficient", "length in scores", signed=True, above="scores longer texts higher",
    below="scores longer texts lower",
    reading="What a judge adds per doubling of a text's length, beyond what its peers add.",
)  # fmt: skip
@per_subject("judge", itself)
def length_coefficient(part: Ratings) -> Iterator[Named]:
    """What a judge adds per doubling of a text's length, beyond what its peers add, by judge, in the scale's units:

        s_jit - mean of the other judges' scores of the same text = item_i + target_t + beta log2(words_it) + error

    `texts` has item, target, words. Quality and everything else the peers see in the text cancels on the left side;
    item_i takes up a level per item (one for all where every item is a single text), target_t a taste for (or against)
    an author, the judge itself included. Jackknife over clusters. Fair judges of texts whose quality goes with their
    length are found significant about as often as the level says; nearly all of them without the peers. One thing it
    cannot tell from a bias: a judge that tells good from bad more sharply than its peers adds more to the better texts,
    and so to longer ones where those are the better. The twins decide.

    Detail: `raw`, the same without the peers: how the judge's own scores go with length. Undefined with one judge, and
    where no target's texts vary in length against the others'. Raises `RatingsError` where the texts tell no lengths.

    >>> rows = "x i 1; x j 2; x k 3; x l 5; y i 1; y j 1; y k 1; y l 1"
    >>> texts = table("item words", "i 10; j 20; k 40; l 80").assign(target="")
    >>> round(length_coefficient(example("judge item score", rows, texts=texts)).of(judge="x").value, 2)
    1.3
    """
    array, over = judges_array(part), repeated_over(part)
    doublings = doublings_of_texts(part, array)
    beyond = beyond_others(array.means)
    clusters = np.broadcast_to(grouped(np.array(array.clusters, dtype=object))[:, None], doublings.shape)
    single = int(array.requested.any(axis=0).sum(axis=1).max(initial=0)) <= 1
    (items, targets), first = doublings.shape, 0 if single else 1  # without levels of items, every target has its own
    controls = np.broadcast_to(np.eye(targets)[:, first:], (items, targets, targets - first))
    levels = None if single else np.broadcast_to(np.arange(items)[:, None], doublings.shape)
    over |= {"unit": f"{array.scale.unit} per doubling", "span": array.scale.span}
    whys = "no peer scored the same texts", "no target's texts vary in length against the others'"
    requested = zip(array.raters, array.requested, strict=True)
    yield from _by_judge(
        "length_coefficient", requested, doublings, beyond, array.means, controls, levels, clusters, whys, over
    )


def _by_judge(
    metric: str, judges: Iterable[tuple[str, NDArray[np.bool_]]], doublings: Floats, beyond: Floats, own: Floats,
    controls: Floats, levels: NDArray[Any] | None, clusters: NDArray[Any], whys: tuple[str, str], over: dict[str, Any],
) -> Iterator[Named]:  # fmt: skip
    """The slope of what each of the `judges`, with what they were asked, gives `beyond` the peers (J, ...), and in the
    detail that of its `own`. `whys`: why there is none, of judges without a text or pair in use, and with some."""
    known = np.isfinite(doublings)

    def fitted(values: Floats) -> list[OverClusters]:
        """Of all judges, those that have the same usable entries at once."""
        usable, together = np.isfinite(values) & known, dict[bytes, list[int]]()
        for j, of_judge in enumerate(usable):
            together.setdefault(of_judge.tobytes(), []).append(j)
        distributions: dict[int, OverClusters] = {}
        for alike in together.values():
            on = usable[alike[0]]
            within = False if levels is None else levels[on]
            slope = slopes(values[alike][:, on].T, doublings[on], clusters[on], controls[on], levels=within)
            distributions |= zip(alike, slope, strict=True)
        return [distributions[j] for j in range(len(values))]

    for (judge, requested), given, distribution, raw in zip(judges, beyond, fitted(beyond), fitted(own), strict=True):
        usable = np.isfinite(given) & known
        n = int(usable.sum())
        facts: dict[str, Any] = {
            "n": n, "n_clusters": len(np.unique(clusters[usable])), "n_excluded": int(requested.sum()) - n,
            "method": FITTED, "detail": {"raw": number(raw.value)}, **over,
        }  # fmt: skip
        if math.isnan(distribution.value):
            yield judge, undefined(metric, whys[n > 0], **facts)
        else:
            yield judge, estimated(metric, distribution.value, distribution, **facts)


@measure(
    "choice_length_coefficient", "length in choices", unit="share per doubling", signed=True,
    above="chooses longer texts", below="chooses shorter texts",
    reading="Win share a judge gives per doubling of one text's length over the other's, beyond its peers.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def choice_length_coefficient(part: Ratings) -> Iterator[Named]:
    """Win share a judge gives per doubling of one text's length over the other's, beyond its peers, by judge:

        won_j(a, b) - mean of the other judges' = author_a - author_b + beta log2(words_a / words_b) + error

    over pairs of ordinary texts, `won` in [0, 1] (both orders averaged where both were asked). No intercept: which text
    is called a is arbitrary, and turning a pair round changes nothing. Detail `raw`, without the peers. Undefined with
    one judge, and where lengths do not vary beyond what the authors' names tell.

    >>> rows = "x i second; x j second; x k first; y i tie; y j tie; y k tie"
    >>> texts = table("item a b words_a words_b", "i s t 20 40; j s t 20 40; k s t 20 10")
    >>> choice_length_coefficient(example("judge item response", rows, texts=texts)).of(judge="x").value > 0
    True
    """
    pairs, over = pair_array(part), repeated_over(part)
    doublings, groups = doublings_of_pairs(part, pairs), grouped(pairs.clusters)
    beyond = beyond_others(pairs.won)
    authors = sorted({*pairs.a, *pairs.b})[1:]
    sides = np.column_stack([pairs.credit(name).astype(float) for name in authors] or [np.zeros((len(groups), 0))])
    # the raw slope rests on the same pairs as the one beyond the peers
    credit = np.where(np.isfinite(beyond), pairs.won - 0.5, np.nan)
    over |= {"unit": "share per doubling"}
    whys = "no peer judged the same pairs", "lengths do not vary beyond the authors' own"
    requested = zip(pairs.judges, pairs.requested, strict=True)
    yield from _by_judge(
        "choice_length_coefficient", requested, doublings, beyond, credit, sides, None, groups, whys, over
    )

"""Length: does a judge give more for more words that say nothing more?

Two views (thesis on bias in LLM self-evaluation, sec. 2.2, after Saito et al. 2023, arXiv:2310.10076, and Hu et al.
2024, arXiv:2407.01085). Padded twins have the same content and differ in length alone, so `padding_preference` needs no
model. In ordinary texts length goes with content; there only the *disagreement with the peers* on the same text is laid
against its length, so that quality cancels whatever it is (`length_coefficient` for scores, `choice_length_coefficient`
for choices). Taking the peers' mean as a covariate instead would let quality that few peers measure badly leak into the
coefficient. The price: a preference that all judges share does not show there; it does in the twins.
`recuse.papers.self_preference.pairwise_bias` measures a remedy.

Lengths are words, from `Ratings.texts`: `words` of each item and target for scores, `words_a` and `words_b` of each
item for choices. Coefficients are per doubling of the number of words. Intervals are over items, or over the clusters
that items share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.position import HALF, Measured, over_pairs, pairs_by_judge
from recuse.ratings import Ratings
from recuse.ratings.array import beyond_others, grouped, judges_array
from recuse.ratings.pair_array import PAIRED, pair_array, repeated_over
from recuse.ratings.text_slices import doublings_of_pairs, doublings_of_texts, sizes_of_pairs
from recuse.schema import RatingsError
from recuse.schema.arrays import Floats
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import OverClusters, slopes

FITTED = "least squares, jackknife over clusters, Student's t"


def twins_by_judge(part: Ratings) -> dict[str, pd.DataFrame]:
    """Judge -> its pairs, with `longer`: whether text a has more words than b."""
    pairs, longer = pairs_by_judge(part), a_is_longer(part)
    return {
        judge: rows.assign(longer=rows["item"].astype(str).map(longer).astype(bool)) for judge, rows in pairs.items()
    }


@measure(
    "padding_preference", "preference for padding", unit="share", signed=True, rank=88, above="prefers padded texts",
    below="marks padding down", bad="above",
    reading="How much more than half the longer of two texts wins that say the same.",
)  # fmt: skip
@over_pairs(twins_by_judge, HALF, lambda pairs: pairs["won"].notna())
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
    return bounded_mean(values, pairs["group"], HALF), values, detail, ""


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

    def fitted(values: Floats, usable: NDArray[np.bool_]) -> list[OverClusters]:
        item, target = np.nonzero(usable)
        named = np.arange(0 if single else 1, len(array.targets))  # without levels of items, every target has its own
        controls = (target[:, None] == named[None, :]).astype(float)
        levels = False if single else item
        return slopes(values[:, usable].T, doublings[usable], clusters[usable], controls, levels=levels)

    over |= {"unit": f"{array.scale.unit} per doubling", "span": array.scale.span}
    whys = "no peer scored the same texts", "no target's texts vary in length against the others'"
    requested = zip(array.raters, array.requested, strict=True)
    yield from _by_judge("length_coefficient", requested, doublings, beyond, array.means, fitted, clusters, whys, over)


def _by_judge(
    metric: str, judges: Iterable[tuple[str, NDArray[np.bool_]]], doublings: Floats, beyond: Floats, own: Floats,
    fitted: Callable[[Floats, NDArray[np.bool_]], list[OverClusters]], clusters: NDArray[Any], whys: tuple[str, str],
    over: dict[str, Any],
) -> Iterator[Named]:  # fmt: skip
    """The slope of what each of the `judges`, with what they were asked, gives `beyond` the peers (J, ...), and in the
    detail that of its `own`. `whys`: why there is none, of judges without a text or pair in use, and with some."""
    known = np.isfinite(doublings)
    fitted_judges = zip(judges, beyond, *(_grouped(values, known, fitted) for values in (beyond, own)), strict=True)
    for (judge, requested), given, distribution, raw in fitted_judges:
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


def _grouped(values: Floats, known: NDArray[np.bool_], fitted: Any) -> list[OverClusters]:
    """`fitted(values, usable)` for all judges, those that have the same usable entries at once."""
    usable = np.isfinite(values) & known
    together: dict[bytes, list[int]] = {}
    for j, of_judge in enumerate(usable):
        together.setdefault(of_judge.tobytes(), []).append(j)
    distributions: dict[int, OverClusters] = {}
    for judges in together.values():
        distributions |= dict(zip(judges, fitted(values[judges], usable[judges[0]]), strict=True))
    return [distributions[j] for j in range(len(values))]


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

    def fitted(values: Floats, usable: NDArray[np.bool_]) -> list[OverClusters]:
        return slopes(values[:, usable].T, doublings[usable], groups[usable], sides[usable], levels=False)

    # the raw slope rests on the same pairs as the one beyond the peers
    credit = np.where(np.isfinite(beyond), pairs.won - 0.5, np.nan)
    over |= {"unit": "share per doubling"}
    whys = "no peer judged the same pairs", "lengths do not vary beyond the authors' own"
    requested = zip(pairs.judges, pairs.requested, strict=True)
    yield from _by_judge("choice_length_coefficient", requested, doublings, beyond, credit, fitted, groups, whys, over)

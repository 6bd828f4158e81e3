"""A remedy for a liking for length: let every text meet the text nearest in length alone (Hu et al. 2024,
arXiv:2407.01085; thesis on bias in LLM self-evaluation, sec. 2.2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.ratings.lengths import doublings_of_pairs
from recuse.ratings.pair_array import PAIRED, PairArray, codes_of, pair_array, repeated_over
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import clustered_mean

__all__ = ["same_length_reference"]

REFERENCED = "mean over texts, cluster-robust t over clusters"
REFERENCES = ("any", "same_length", "change")


@measure(
    "same_length_reference", "the longer text's credit", unit="share", signed=True,
    reading="What a judge gives the longer text beyond its peers: against any text, against the nearest in length, and "
    "the difference.",
)  # fmt: skip
@per_subject(("judge", "reference"), itself, *PAIRED)
def same_length_reference(part: Ratings) -> Iterator[Named]:
    """The longer text's credit beyond the peers', against any other text and against the one nearest in length only, by
    (judge, reference): "any", "same_length" and their "change", negative where the remedy lowers a preference for
    length. Of choices, or of scores, which decide who wins: then every text meets every other of its item.

    For every text and judge the mean over its pairs of: credit of the longer minus the peers' mean credit of the
    longer; then over the pairs with the nearest length alone. "change" is paired by text. Pairs of equal length have no
    longer text and count 0. A text that met no two others of different distance had no nearest one to choose, and takes
    no part. Hu et al. 2024 (see thesis, sec. 2.2.1).

    >>> import pandas as pd
    >>> rows = [("x", "s", 1.0), ("x", "t", 2.0), ("x", "u", 3.0), ("y", "s", 2.0), ("y", "t", 2.0), ("y", "u", 2.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "score"]).assign(item="1")
    >>> texts = pd.DataFrame({"item": "1", "target": ["s", "t", "u"], "words": [10, 11, 80]})
    >>> same_length_reference(Ratings.of(frame, texts=texts)).of(judge="x", reference="any").value
    0.5
    """
    met, over = pair_array(part), repeated_over(part)
    doublings = doublings_of_pairs(part, met)
    beyond = met.beyond_peers() * np.sign(doublings)
    texts, text_groups = _texts_met(met)
    for j, judge in enumerate(met.judges):
        usable = np.isfinite(beyond[j])
        means = _by_text(beyond[j][usable], np.abs(doublings[usable]), texts[:, usable], len(text_groups))
        more = {"n_excluded": int(met.requested[j].sum() - usable.sum()), **over}
        for reference, values in zip(REFERENCES, means, strict=True):
            yield (judge, reference), _referenced(values, text_groups, bool(usable.any()), more)


def _texts_met(met: PairArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The texts a and b of each pair as numbers, shape (2, pairs), and the cluster of each text."""
    names = codes_of(np.concatenate([met.a, met.b]))
    keys = np.concatenate([codes_of(met.questions)] * 2) * (int(names.max(initial=0)) + 1) + names
    _, first, texts = np.unique(keys, return_index=True, return_inverse=True)
    return texts.reshape(2, -1), np.concatenate([codes_of(met.clusters)] * 2)[first]


def _by_text(longer: Floats, distance: Floats, texts: NDArray[np.intp], size: int) -> tuple[Floats, Floats, Floats]:
    """Per text: its mean against any other, against the nearest in length, and the change; NaN for texts without a
    choice of references."""
    flat, distances, values = texts.ravel(), np.concatenate([distance, distance]), np.concatenate([longer, longer])
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(least, flat, distances)
    np.maximum.at(most, flat, distances)
    chosen = most > least + 1e-12
    anyone = _mean_by(flat, values, size)
    nearest = distances <= least[flat] + 1e-12
    near = _mean_by(flat[nearest], values[nearest], size)
    anyone, near = (np.where(chosen, mean, np.nan) for mean in (anyone, near))
    return anyone, near, near - anyone


def _mean_by(groups: NDArray[np.intp], values: Floats, size: int) -> Floats:
    counts, sums = np.bincount(groups, minlength=size), np.bincount(groups, weights=values, minlength=size)
    means: Floats = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    return means


def _referenced(values: Floats, clusters: NDArray[np.intp], judged: bool, more: dict[str, Any]) -> Estimate:
    there = np.isfinite(values)
    if not there.any():
        why = "no pair was judged by the judge and a peer"
        if judged:
            why = "no text met two others, one nearer to it in length, so there was none to choose"
        return undefined("same_length_reference", why, method=REFERENCED, **more)
    distribution = clustered_mean(values[there], clusters[there])
    return estimated(
        "same_length_reference", distribution.value, distribution, n=int(there.sum()),
        n_clusters=len(np.unique(clusters[there])), unit="share", span=1.0, method=REFERENCED, **more,
    )  # fmt: skip

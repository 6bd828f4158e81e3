"""All definitions of performance of many judges at once, as matrix products.

`Definition.value` goes item by item and allows for missing answers. Here every item has its answers, so a mean over
items of sums over options is one product: (B, I K) @ (I K, J). A test holds both to the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import xlogy

from recuse.papers.indeterminacy.aggregation import RatingVectors
from recuse.papers.indeterminacy.definitions import CHANCE_CORRECTED, SMOOTHING, chance_corrected, smoothed
from recuse.schema.arrays import Floats


def without_threshold(judges: RatingVectors, people: RatingVectors) -> dict[str, Floats]:
    """The values by name, (B, J), of the definitions that do not depend on tau: none of whose sides is a hard response
    set. `judges` (J, I, K), `people` (B, I, K), nothing missing."""
    both = (*_categorical(judges, people), *_distributional(judges, people))
    return dict(both) | dict(_sets(judges, people, False)) | dict(_continuous(judges, people, False))


def at_threshold(judges: RatingVectors, people: RatingVectors) -> dict[str, Floats]:
    """The same of those with a hard response set on a side, at the tau that both have."""
    return dict(_sets(judges, people, True)) | dict(_continuous(judges, people, True))


def _categorical(judges: RatingVectors, people: RatingVectors) -> Iterator[tuple[str, Floats]]:
    hits, items = _dot(people.h, judges.h), judges.h.shape[-2]
    yield "hit_rate(h/h)", hits
    count = np.full(hits.shape, float(items))
    for measure in CHANCE_CORRECTED:
        given = judges.h.sum(axis=-2)[None], people.h.sum(axis=-2)[:, None]
        yield f"{measure}(h/h)", chance_corrected(measure, count, hits * items, *given)


def _distributional(judges: RatingVectors, people: RatingVectors) -> Iterator[tuple[str, Floats]]:
    j, h = smoothed(judges.choices), smoothed(people.choices)
    crossed, turned = -_dot(h, np.log(j)), -_dot(np.log(h), j)
    yield "cross_entropy_people_judge(s/s)", crossed
    yield "cross_entropy_judge_people(s/s)", turned
    yield "kl_people_judge(s/s)", crossed + _dots(h, np.log(h))[:, None]
    yield "kl_judge_people(s/s)", turned + _dots(j, np.log(j))[None]
    p, q = people.choices, judges.choices
    own = _number(_plogp(p))[:, None], _number(_plogp(q))[None]
    middle = (p[:, None] + q[None]) / 2
    apart = np.maximum((own[0] + own[1]) / 2 - _number(_plogp(middle)), 0.0)
    yield "js_divergence(s/s)", _mean(apart)
    yield "js_distance(s/s)", _mean(np.sqrt(apart))


def _sets(judges: RatingVectors, people: RatingVectors, threshold: bool) -> Iterator[tuple[str, Floats]]:
    for a in ("h", "hrs") if threshold else ("h",):
        j = judges.by(a)
        named = _number(j)
        evenly = j / np.maximum(named, 1.0)[..., None]
        for b in ("h", "hrs"):
            if (a == b == "h") == threshold:
                continue
            h = people.by(b)
            right = _number(h)
            yield f"coverage({a}/{b})", _dot(h, j) if a == "h" else _mean(_inside(j, h))
            rightly = h / np.maximum(right, 1.0)[..., None]
            with_some = (right > 0).sum(axis=-1)[:, None]
            yield f"recall({a}/{b})", _share(_dot(rightly, j) * j.shape[-2], with_some)
            silent = (right == 0).astype(float) @ (named == 0).astype(float).T
            yield f"precision({a}/{b})", _share(_dot(h, evenly) * j.shape[-2], j.shape[-2] - silent)
            if b == "hrs":
                yield f"set_size({a}/{b})", np.broadcast_to(_mean(named)[None], (len(h), len(j)))


def _continuous(judges: RatingVectors, people: RatingVectors, threshold: bool) -> Iterator[tuple[str, Floats]]:
    for a in ("h", "s", "hrs", "srs"):
        j = judges.by(a)
        clipped = (1 - SMOOTHING) * j + SMOOTHING / 2
        logs, rest = np.log(clipped), np.log(1 - clipped)
        size = _squares(j)[None]
        for b in ("h", "s", "hrs", "srs"):
            if ("hrs" in (a, b)) != threshold:
                continue
            h = people.by(b)
            yield f"mse({a}/{b})", size + _squares(h)[:, None] - 2 * _dot(h, j)
            if b != "s":
                yield (
                    f"binary_cross_entropy({a}/{b})",
                    -_dot(h, logs - rest) - (rest.reshape(len(j), -1).sum(axis=-1) / j.shape[-2])[None],
                )


def _inside(j: Floats, h: Floats) -> Floats:
    """(B, J, I): whether everything a judge names is in people's set; of tied modes, the smallest share."""
    inside = np.ones((len(h), *j.shape[:2]))
    for k in range(j.shape[-1]):
        np.minimum(inside, np.where(j[None, ..., k] > 0, h[:, None, :, k], 1.0), out=inside)
    return inside * (_number(j) > 0)


def _dot(people: Floats, judges: Floats) -> Floats:
    """Mean over items of the inner product over options, (B, J)."""
    product: Floats = people.reshape(len(people), -1) @ judges.reshape(len(judges), -1).T / judges.shape[-2]
    return product


def _dots(a: Floats, b: Floats) -> Floats:
    """The same of either row with its own, (N,)."""
    products: Floats = np.einsum("nf,nf->n", a.reshape(len(a), -1), b.reshape(len(b), -1)) / a.shape[-2]
    return products


def _plogp(p: Floats) -> Floats:
    return np.asarray(xlogy(p, p), dtype=float)


def _squares(values: Floats) -> Floats:
    return _dots(values, values)


def _number(values: Floats) -> Floats:
    """Sum over options; a product with ones, because summing a short last axis is slow."""
    total: Floats = values @ np.ones(values.shape[-1])
    return total


def _mean(values: Floats) -> Floats:
    mean: Floats = values.mean(axis=-1)
    return mean


def _share(part: Floats, whole: Floats) -> Floats:
    whole = np.broadcast_to(whole, part.shape)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)

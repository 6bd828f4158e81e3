"""Is a judge's own text easy for it to predict, and does it pay for that? With its log-probabilities of the texts,

    q_jit = log2 p_j(text of item i by target t) / its characters

Per character: tokenizers differ. Likelihoods are ratings too (protocol `text_perplexity`): bits, of which fewer are
better. Thesis on bias in LLM self-evaluation, sec. 2.4, after Wataoka et al. 2024, arXiv:2410.21819."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, paired_estimate, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import NESTED, contrast, missing_text
from recuse.papers.self_preference.over_texts import OwnTexts, own_texts
from recuse.papers.self_preference.published_tests import paired_test
from recuse.ratings import Numeric, Ratings, mean_of
from recuse.ratings.array import judges_array
from recuse.schema import RatingsError
from recuse.schema.arrays import ascending_codes
from recuse.statistics.clusters import slopes
from recuse.statistics.paired import Paired, significant

SLOPE = "least squares with a level per item, jackknife over clusters, Student's t"


@measure(
    "own_predictability", "ease of its own text", signed=True, rank=50,
    reading="How much easier its own text is for a judge than for its peers, beyond texts that neither wrote.",
)  # fmt: skip
@per_subject("judge", own_texts)
def own_predictability(likelihoods: OwnTexts) -> Iterator[Named]:
    """The controlled contrast of `recuse.metrics.self_preference` on q, by judge, in bits per character: mean over
    items, paired t. Detail: the judge's bits per character on its `own` texts and on `others`', on the same items, and
    p. Undefined where no item has its likelihood and a peer's on its own text and on one that neither wrote.

    >>> bits = Numeric(0, math.inf, reversed=True, unit="bits per character")
    >>> likelihoods = example("judge target score", "x a 1; x b 3; y a 2; y b 2.5", scales=bits, authors={"x": "a"})
    >>> own_predictability(likelihoods).of(judge="x").value
    1.5
    """
    part, array, places = likelihoods
    metric, scale = "own_predictability", array.scale
    for judge, place in places.items():
        if place is None:
            why = missing_text(array, judge)
            yield judge, paired_estimate(metric, Paired.of([]), part, excluded=len(array.items), why=why)
            continue
        row, column = place
        half, elsewhere = contrast(array, row, column, part.authors)
        usable = np.isfinite(half - elsewhere)
        of_judge = array.means[row][usable]
        if isinstance(scale, Numeric) and scale.reversed:  # from the ascending scale back to bits
            of_judge = scale.turned(of_judge)
        bits = (of_judge[:, column], mean_of(np.delete(of_judge, column, axis=1), axis=1))
        own, others = (number(mean_of(each, axis=0).item()) for each in bits)
        test = paired_test(half - elsewhere, array)
        why = "no item has its likelihood and a peer's on its own text and on a text that neither wrote"
        why = NESTED if array.nested else why
        detail = {"own": own, "others": others, "p": significant(test.p)}
        yield judge, paired_estimate(metric, test, part, excluded=int((~usable).sum()), why=why, detail=detail)


@measure(
    "grade_on_predictability", "reward for what is easy", signed=True, rank=60,
    reading="What a judge adds to its peers' score per bit per character that a text is easier for it than for them.",
)  # fmt: skip
@per_subject("judge", itself)
def grade_on_predictability(part: Ratings) -> Iterator[Named]:
    """Points a judge adds per bit per character that a text is easier for it than for its peers, by judge and level:

        s_jit - peers' mean of s_it = item_i + beta (q_jit - peers' mean of q_it) + error

    on the ascending scale, over texts with all four terms; q from the likelihoods beside these ratings. Detail `raw`:
    the judge's own scores on its own q. Undefined without likelihoods, without peers, and where q differs from theirs
    by the same on every text. `RatingsError` where likelihoods were asked under several factor levels.

    >>> def rows(x, y): return "; ".join(f"{j} {text} {s}" for j, given in (("x", x), ("y", y))
    ...                                  for text, s in zip(("i a", "i b", "k a", "k b"), given))
    >>> bits = Numeric(0, math.inf, reversed=True, unit="bits per character")
    >>> beside = example("judge item target score", rows((1, 2, 1, 2), [1.5] * 4), scales=bits)
    >>> scores = example("judge item target score", rows((5, 3, 4, 2), [3] * 4), beside={"likelihoods": beside}.get)
    >>> grade_on_predictability(scores).of(judge="x").value
    2.0
    """
    likelihoods = part.beside("likelihoods")
    if likelihoods is None:
        why = "no log-probabilities were recorded, so nothing is known of how likely the judges find the texts"
        nothing = undefined("grade_on_predictability", why, **_about(part))
        yield from ((judge, nothing) for judge in part.judges)
        return
    if likelihoods.factors:
        raise RatingsError(
            f"a text has one likelihood per judge; they were asked with {', '.join(likelihoods.factors)} varied. "
            "Choose a level with where()"
        )
    texts = judges_array(likelihoods.with_criterion(*likelihoods.headline[:1]))
    both = np.stack([judges_array(part, texts.axes).means, texts.means])  # scores and likelihoods
    for row, judge in enumerate(texts.raters):
        own, peers = both[:, row], mean_of(np.delete(both, row, axis=1), axis=1)
        usable = np.isfinite([own, peers]).all(axis=(0, 1))
        items, n = np.nonzero(usable)[0], int(usable.sum())
        clusters = ascending_codes(texts.clusters)[items]
        beyond, raw = (  # with a level per item; items of one cluster leave the jackknife together
            slopes(y[usable][:, None], x[usable], clusters, levels=items)[0] for y, x in (own - peers, own)
        )
        lost, detail = int((texts.requested[row] & ~usable).sum()), {"raw": number(raw.value)}
        about = {**_about(part), "n": n, "n_excluded": lost, "detail": detail}
        if math.isnan(beyond.value):
            why = "no text is easier for it than others" if n else "no peer has score and likelihood of the same texts"
            yield judge, undefined("grade_on_predictability", why, **about)
        else:
            about["n_clusters"] = len(np.unique(clusters))
            yield judge, estimated("grade_on_predictability", beyond.value, beyond, **about)


def _about(part: Ratings) -> dict[str, Any]:
    return {"over": "clusters", "clusters": part.clusters, "unit": f"{part.scale.unit} per bit", "method": SLOPE}

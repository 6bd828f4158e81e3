"""Does a judge know its own texts when it is asked, and does it prefer those that it knows? (Panickssery, Bowman and
Feng 2024, arXiv:2404.13076; thesis on bias in LLM self-evaluation, sec. 2.4.) A good text is claimed by everyone, so
what the same judge's peers claim stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from recuse.metrics.estimates import bounded_test, estimated, number, paired_estimate, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import NESTED, contrast, missing_text
from recuse.papers.rank_tests import spearman, spearman_test
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.over_texts import OwnTexts, mean_or_none, own_texts
from recuse.papers.self_preference.pairwise_bias import own_pairs
from recuse.papers.self_preference.published_tests import paired_test, self_received_given
from recuse.ratings import Numeric, Ratings, judges_array, mean_of
from recuse.ratings.pair_array import PAIRED
from recuse.schema import Estimate, Estimates, RatingsError
from recuse.schema.arrays import Floats, Mask, ascending_codes
from recuse.statistics.clusters import difference_of_means, slopes
from recuse.statistics.paired import Paired, significant

DIFFERENCE = "difference of means over items, Student's t"


@measure(
    "recognised_in_pairs", "knows its own text of two", unit="share", signed=True, rank=335,
    above="knows its own texts", below="takes others' texts for its own",
    reading="Share of pairs in which a judge names its own text as its own, less one half, and less the share in which "
    "peers that wrote neither claim that text.",
)  # fmt: skip
@per_subject(("judge", "against"), itself, *PAIRED)
def recognised_in_pairs(part: Ratings) -> Iterator[Named]:
    """Mean of (credit of its own text - yardstick) over the pairs that a judge takes part in, both orders averaged, by
    judge and `against`: "chance", one half; "peers", what judges that wrote neither text credit the same text with.
    Interval over what pairs share. Detail: `share`, its mean credit. Undefined without such a pair, or peers.

    >>> more = {"texts": table("item a b", "i x y"), "authors": {"x": "x"}}
    >>> recognised_in_pairs(example("judge response", "x first; z tie", **more)).of(judge="x", against="peers").value
    0.5
    """
    for one in own_pairs(part):
        own, peers = one.seen["self"], one.seen["neutral_peers"]
        for against, other, far in (("chance", np.full(len(own), 0.5), 0.5), ("peers", peers, 1.0)):
            yield (one.judge, against), one.mean(
                "recognised_in_pairs", own - other, ends=(-far, far), requested=one.requested,
                why="no pair with its own text was judged by all it takes",
                detail={"share": mean_or_none(own[np.isfinite(own - other)])},
            )  # fmt: skip


@measure(
    "recognised_singly", "says yes to its own texts", unit="share", signed=True, rank=336, above="knows its own texts",
    below="takes others' texts for its own",
    reading="How much oftener a judge says that it wrote a text where it did than where another did.",
)  # fmt: skip
@per_subject("judge", own_texts)
def recognised_singly(seen: OwnTexts) -> Iterator[Named]:
    """Mean over items of yes(own text) - mean yes(others' texts), by judge and factor level, -1 to 1: hits less false
    alarms. Detail: `hits` and `false_alarms`. Undefined for a judge none of whose texts was asked about.

    >>> more = {"scales": Numeric(0, 1), "authors": {"j": "a"}}
    >>> recognised_singly(example("item target score", "i a 1; i b 0; k a 1; k b 1", **more)).of(judge="j").value
    0.5
    """
    part, array, places = seen
    for judge, place in places.items():
        own, _, others = self_received_given(array, place)
        both = np.isfinite(own - others)
        why = "no item has its own text and another's" if place else missing_text(array, judge)
        detail = {"hits": mean_or_none(own[both]), "false_alarms": mean_or_none(others[both])} if place else {}
        test, excluded = bounded_test(own - others, array, spans=1), int((~both).sum())
        yield judge, paired_estimate("recognised_singly", test, part, excluded=excluded, detail=detail, why=why)


@measure(
    "recognition_and_preference", "do judges that know their texts prefer them?", unit="rho", signed=True, rank=337,
    reading="Rank correlation over judges of how well they know their own texts with how far they favour them.",
)  # fmt: skip
def recognition_and_preference(ratings: Ratings) -> Estimates:
    """Spearman's rho over judges of self-recognition with self-preference beyond leniency and quality (D of
    `recuse.metrics.self_preference`), by the factor levels of the scores that stand beside; n counts judges. Detail:
    both values per judge, and `p` over all permutations. Undefined with fewer than four judges.

    >>> scores = example("judge target score", "x a 5; z a 3; x b 3; z b 3", authors={"x": "a"})
    >>> more = {"texts": table("item a b cluster", "p a b i"), "authors": {"x": "a"}, "beside": {"scores": scores}.get}
    >>> pairs = example("judge item response", "x p first; z p second", **more)
    >>> recognition_and_preference(pairs).of().detail["judges"]
    {'x': [0.5, 2.0]}
    """
    known = _recognition(ratings)
    estimates: dict[tuple[str, ...], Estimate] = {}
    scores = ratings.beside("scores")
    for names, part in () if scores is None else scores.each():
        favours = {judge: float(np.nanmean(d)) for judge, d in _favour(part).items() if np.isfinite(d).any()}
        pairs = {judge: (float(np.mean(list(by_item.values()))) if by_item else float("nan"), favours[judge])
                 for judge, by_item in known.items() if judge in favours}  # fmt: skip
        estimates[names] = rank_correlation("recognition_and_preference", pairs)
    return Estimates(() if scores is None else scores.within(), estimates)


@measure(
    "preference_where_recognised", "favours what it knows for its own", signed=True, rank=338,
    above="favours the texts that it knows for its own",
    reading="Self-preference on items whose own text the judge knew for its own, less that on items where it did not.",
)  # fmt: skip
def preference_where_recognised(ratings: Ratings) -> Estimates:
    """Mean of D on items whose own text the judge credited to itself more often than not, less that on its other items,
    by judge and the factor levels of the scores beside. t over items. Undefined where it knew all of them or none, or
    where no item was both asked about and scored.

    >>> scores = example("judge target score", "x a 5/5/3/3; x b 3/3/3/3; z a 3/3/3/3; z b 3/3/3/3", authors={"x": "a"})
    >>> texts, rows = table("a b item", "a b t0; a b t1; a b t2; a b t3"), "x first/first/second/second"
    >>> pairs = example("judge response", rows, authors={"x": "a"}, beside={"scores": scores}.get, texts=texts)
    >>> preference_where_recognised(pairs).of(judge="x").value
    2.0
    """
    known = _recognition(ratings)
    estimates: dict[tuple[str, ...], Estimate] = {}
    scores = ratings.beside("scores")
    for names, part in () if scores is None else scores.each():
        array, favours = judges_array(part), _favour(part)
        for judge, by_item in known.items():
            d = favours.get(judge, np.full(len(array.items), np.nan))
            credit = np.array([by_item.get(item, np.nan) for item in array.items])
            there, knew = np.isfinite(d) & np.isfinite(credit), credit > 0
            sides = {"knew": int((there & knew).sum()), "did_not": int((there & ~knew).sum())}
            about: dict[str, Any] = {
                "n": int(there.sum()), "n_excluded": int((np.isfinite(d) & ~there).sum()), "method": DIFFERENCE,
                "unit": part.scale.unit, "span": part.scale.span, "detail": sides,
            }  # fmt: skip
            if min(sides.values()) < 2:
                why = "it takes two items whose own text it knew and two whose own text it did not"
                estimates[judge, *names] = undefined("preference_where_recognised", why, **about)
                continue
            apart = difference_of_means(d, there & knew, there & ~knew, np.arange(len(d)))
            estimates[judge, *names] = estimated("preference_where_recognised", apart.value, apart, **about)
    return Estimates(("judge", *(() if scores is None else scores.within())), estimates)


def _recognition(ratings: Ratings) -> dict[str, dict[str, float]]:
    """Judge -> item, or what pairs share -> how far it credits its own text to itself beyond chance or false alarms."""
    known: dict[str, dict[str, float]] = {}
    if ratings.scale.counts:
        for _, part in ratings.each():
            _, array, places = own_texts(part, ratings)
            for judge, place in places.items():
                own, _, others = self_received_given(array, place)
                known[judge] = dict(zip(array.items, own - others, strict=True))
    else:
        for _, part in ratings.each(*PAIRED):
            for one in own_pairs(part):
                codes, clusters = pd.factorize(one.clusters)
                means = np.bincount(codes, one.seen["self"] - 0.5) / np.bincount(codes)
                known[one.judge] = dict(zip(map(str, clusters), means, strict=True))
    return {judge: {name: float(v) for name, v in of.items() if np.isfinite(v)} for judge, of in known.items()}


def _favour(part: Ratings) -> Mapping[str, Floats]:
    """D per item of every judge that wrote a target."""
    _, array, places = own_texts(part, part)
    return {j: np.subtract(*contrast(array, *place, part.authors)) for j, place in places.items() if place is not None}


# --------------------------------------------------------------------------- overconfidence
# Self-preference against objective truth is harmful whatever peers say (thesis on bias in LLM self-evaluation, sec.
# 2.4; Chen et al. 2025). With T a text's true score,
#
#     overconfidence = mean over own texts of [score - mean score of the judge for others' texts of the same T]
#
# A generous judge is so to all texts, a good author's answers are held against others' right ones, and plain mistakes
# pull everybody's. Capability is the mean true score of a judge's own texts.

METHOD = "Spearman's rho over judges, p by all permutations"
FEWEST = 4


@measure(
    "overconfidence", "own answers beyond what is true", signed=True, rank=45,
    above="takes its own answers for better than they are", below="takes its own answers for worse than they are",
    reading="Score of a judge's own texts less its score of others' texts that deserve the same.",
)  # fmt: skip
@per_subject("judge", own_texts)
def overconfidence(seen: OwnTexts) -> Iterator[Named]:
    """The difference above (Chen et al. 2025, arXiv:2504.03846), by judge and factor level, for judges that wrote a
    target; in units of the scale. Interval by the jackknife over items, the judge's scores of others' texts included.
    Own texts whose true score no other text has are excluded and counted. Detail: `capability`, the mean true score of
    its own texts; `accepts_own`, the mean score of its own texts that deserve the lowest score, and `accepts_others` of
    others' such texts. Undefined where no own text has another of the same true score beside it.

    >>> texts = table("item target true_rating", "i a 1; i b 1; k a 5; k b 5")
    >>> scores = example("item target score", "i a 5; i b 1; k a 5; k b 5", authors={"j": "a"}, texts=texts)
    >>> overconfidence(scores).of(judge="j").value
    2.0
    """
    part, array, places = seen
    true, groups = over_texts.true_scores(part, array), ascending_codes(array.clusters)
    worst, nothing = np.abs(true - part.scale.ends[0]) < 1e-9, np.full(true.shape, np.nan)
    for judge, place in places.items():
        scores, own, why = nothing, np.zeros(len(array.targets), dtype=bool), missing_text(array, judge)
        if place:
            scores, own = array.means[place[0]], np.arange(len(array.targets)) == place[1]
            why = "no own text has another of the same true score to be held against"
        beyond = _beyond(scores, true, own)
        n = int(np.isfinite(beyond).sum())
        detail = {
            "capability": mean_or_none(true[:, own]), "accepts_own": mean_or_none(scores[worst & own]),
            "accepts_others": mean_or_none(scores[worst & ~own]),
        }  # fmt: skip
        about: dict[str, Any] = {
            "n": n, "n_excluded": len(scores) - n, "over": "clusters", "clusters": part.clusters,
            "method": over_texts.JACKKNIFE, "unit": part.scale.unit, "span": part.scale.span, "detail": detail,
        }  # fmt: skip
        if not n:
            why = over_texts.UNKNOWN if np.isnan(true).all() else why
            yield judge, undefined("overconfidence", why, **about)
            continue
        value, *left_out = (
            float(mean_of(_beyond(scores, np.where(kept[:, None], true, np.nan), own), axis=0))
            for kept in (groups >= 0, *(groups != one for one in np.unique(groups[np.isfinite(beyond)])))
        )
        yield judge, over_texts.jackknifed("overconfidence", value, left_out, part.scale.span, **about)


def _beyond(scores: Floats, true: Floats, own: Mask) -> Floats:
    """Own score less the mean of others' texts of the same true score, (items,); arrays are (items, targets), `own`
    (targets,)."""
    values = np.full(scores.shape, np.nan)
    for level in np.unique(true[np.isfinite(true)]):
        same = np.abs(true - level) < 1e-9
        values[same] = scores[same] - mean_of(scores[same & ~own], axis=0)
    return values[:, own].ravel()


@measure(
    "capability_and_overconfidence", "do capable judges overrate themselves?", unit="rho", signed=True, rank=345,
    reading="Rank correlation over judges of how good their own texts are with how far they overrate them.",
)  # fmt: skip
def capability_and_overconfidence(ratings: Ratings) -> Estimates:
    """Spearman's rho over judges between capability and `overconfidence`, by factor level; n is the number of judges.
    No interval of so few; detail: both values per judge, and `p` over all permutations. Undefined with fewer than four
    judges that wrote a text, or where either is the same for all.

    >>> texts = table("item target true_rating", "i a 1; i b 1")
    >>> capability_and_overconfidence(example("target score", "a 5; b 1", authors={"j": "a"}, texts=texts)).of().note
    'undefined: a rank correlation over judges takes 4 of them'
    """
    judges: dict[tuple[str, ...], dict[str, tuple[float, float]]] = {}
    for (judge, *names), one in overconfidence(ratings).items():
        capability = one.detail["capability"]
        judges.setdefault(tuple(names), {})[judge] = np.nan if capability is None else capability, one.value
    correlations = {of: rank_correlation("capability_and_overconfidence", pairs) for of, pairs in judges.items()}
    return Estimates(ratings.within(), correlations)


def rank_correlation(metric: str, pairs: dict[str, tuple[float, float]]) -> Estimate:
    """Spearman's rho over judges, each with two values; detail and p as told above."""
    known = {judge: pair for judge, pair in pairs.items() if np.isfinite(pair).all()}
    detail: dict[str, Any] = {"judges": {judge: [number(value) for value in pair] for judge, pair in pairs.items()}}
    about = dict[str, Any](n=len(known), n_excluded=len(pairs) - len(known), method=METHOD, unit="rho", span=2.0)
    if len(known) < FEWEST:
        return undefined(metric, f"a rank correlation over judges takes {FEWEST} of them", detail=detail, **about)
    first, second = np.array(list(known.values())).T
    rho = float(spearman(first, second))
    if np.isnan(rho):
        return undefined(metric, "all judges are alike on one side", detail=detail, **about)
    detail["p"] = number(spearman_test(first, second).p)
    return Estimate(metric=metric, value=rho, over="items", detail=detail, **about)


# --------------------------------------------------------------------------- predictability
# Is a judge's own text easy for it to predict, and does it pay for that? With its log-probabilities of the texts,
#
#     q_jit = log2 p_j(text of item i by target t) / its characters
#
# Per character: tokenizers differ. Likelihoods are ratings too (protocol `text_perplexity`): bits, of which fewer are
# better. Thesis on bias in LLM self-evaluation, sec. 2.4, after Wataoka et al. 2024, arXiv:2410.21819.

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

    >>> bits = Numeric(0, np.inf, reversed=True, unit="bits per character")
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
    >>> bits = Numeric(0, np.inf, reversed=True, unit="bits per character")
    >>> beside = example("judge item target score", rows((1, 2, 1, 2), [1.5] * 4), scales=bits)
    >>> scores = example("judge item target score", rows((5, 3, 4, 2), [3] * 4), beside={"likelihoods": beside}.get)
    >>> grade_on_predictability(scores).of(judge="x").value
    2.0
    """
    likelihoods = part.beside("likelihoods")
    if likelihoods is None:
        why = "no log-probabilities were recorded, so nothing is known of how likely the judges find the texts"
        yield from ((judge, undefined("grade_on_predictability", why, **_about(part))) for judge in part.judges)
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
        if np.isnan(beyond.value):
            why = "no text is easier for it than others" if n else "no peer has score and likelihood of the same texts"
            yield judge, undefined("grade_on_predictability", why, **about)
        else:
            about["n_clusters"] = len(np.unique(clusters))
            yield judge, estimated("grade_on_predictability", beyond.value, beyond, **about)


def _about(part: Ratings) -> dict[str, Any]:
    return {"over": "clusters", "clusters": part.clusters, "unit": f"{part.scale.unit} per bit", "method": SLOPE}

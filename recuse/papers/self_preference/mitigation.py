"""What if: self-preference S - R before and after a remedy, on the same ratings.

S is the score a judge's own text ends up with, R the peers' mean for it, per item and on the ascending scale. Some
remedies put a jury, several judges' weighted mean, in one judge's place; others ask every judge in another way, so S
and R both change. R is never by a judge in the jury: each peer is R once, against a jury of the others, weights formed
anew. A jury of n - 1 still shrinks the difference to 1 / (n - 1) of itself: the judge says less, and is no fairer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import paired_estimate
from recuse.metrics.measure import measure
from recuse.metrics.self_preference import contrast, missing_text
from recuse.papers.self_preference.over_texts import Place, by_rater, mean_or_none, own_texts, with_interval
from recuse.papers.self_preference.published_tests import paired_test, self_received_given
from recuse.ratings import Numeric, RatingArray, Ratings, judges_array, mean_of
from recuse.ratings.array import array_of
from recuse.ratings.pair_array import PairArray, pair_array
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.factors import DIRECTION, LEVELS
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.paired import Paired, significant

Judges = NDArray[np.bool_]
PERPLEXITY = "perplexity"
UNPREDICTED = "no log-probabilities were recorded, so the judges' perplexity on the texts is unknown"
SEGMENT = "segment"
OUTSIDE = "a jury, and a peer outside it to hold it against, take three judges with a score of one text"
EXPECTED, MASS = "expected", "mass"


@measure(
    "self_preference_change", "change of self-preference by a remedy", signed=True, rank=350,
    above="would prefer its own work more", below="would prefer its own work less",
    reading="How far a judge scores its own text above its peers (S - R), after a remedy less before, on the same "
    "items.",
)  # fmt: skip
def self_preference_change(ratings: Ratings) -> Estimates:
    """Change of S - R, after minus before, by judge, mitigation and factor level, paired over the items that have both.
    A remedy takes what these ratings have: both directions of the scale; criteria "<criterion>.expected" and
    "<criterion>.mass", the expected score over a judge's probabilities and what they add up to on the scale; and beside
    them (`Ratings.beside`) likelihoods with a criterion `perplexity`, scores of parts with a factor `segment`, and
    choices. What is not there leaves its remedy undefined, with the reason. Detail: `before` and `after` with their
    intervals on these items, whether that is `nearer` to 0, `controlled_before` and `controlled_after`, the means
    without leniency, and what the remedy itself tells (weights, in-set mass, iterations). Undefined throughout where no
    item has the judge's own score and a peer's.

    >>> scores = example("judge target score", "x a 5; y a 4; z a 4", authors={"x": "a"})
    >>> self_preference_change(scores).of(judge="x", mitigation="poll").value
    -0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        _, array, places = own_texts(part, ratings)
        if not places:
            continue
        levels = dict(zip(ratings.factors, names, strict=False))
        remedies = {
            # every judge the same (Verga et al. 2024, arXiv:2404.18796)
            "poll": jury(lambda seated: np.ones((len(seated), 1, 1)), {"judges": len(array.raters) - 1}),
            "weighted_poll": weighted_poll(array, part.beside("likelihoods")),
            "peer_rank": peer_ranked(part, array, part),
            "peer_rank_battles": peer_ranked(part, array, part.beside("choices")),
            # the mean of both directions of the scale (thesis, sec. 5.1)
            "inverted_mix": _mixed(ratings, part.criterion, array, levels),
            # sum p(s) s over the scores (G-Eval: Liu et al. 2023, arXiv:2303.16634)
            "probability_weighted": _expected(part, array),
            # the text's parts scored one by one and averaged (GEMBA: Kocmi and Federmann 2023)
            "segments": _segmented(part, array, levels),
        }
        for judge, place in places.items():
            was = None if place is None else _received_and_controlled(array, part.authors, place)
            for name, remedy in remedies.items():
                estimates[judge, name, *names] = _compared(part, array, remedy, judge, was)
    return Estimates(("judge", "mitigation", *ratings.within()), estimates)


def _changed(means: Floats, **detail: Any) -> Remedy:
    return Remedy(lambda array, row: [array.with_means(means)], detail)


def _mixed(ratings: Ratings, criterion: str, array: RatingArray, levels: Mapping[str, str]) -> Remedy | str:
    ratings, directions = ratings.with_criterion(criterion), ratings.levels(DIRECTION)
    if len(directions) < 2:
        return "the judges were asked in one direction of the scale only"
    turned = [ratings.where(**{**levels, DIRECTION: level}) for level in directions]
    return _changed(np.mean([judges_array(one, array.axes).means for one in turned[:2]], axis=0))


def _expected(part: Ratings, array: RatingArray) -> Remedy | str:
    name, mass = f"{part.criterion}.{EXPECTED}", f"{part.criterion}.{MASS}"
    expected = array_of(part.with_criterion(name), array.axes).means if name in part.criteria else np.array(np.nan)
    if not np.isfinite(expected).any():
        return "no log-probabilities were recorded, so no expected score is known"
    detail: dict[str, Any] = {}
    if mass in part.criteria:  # a mass has no direction: it is read as it was given where the scale was turned
        detail["in_set_mass"] = by_rater(array, mean_of(as_given(part.with_criterion(mass), array), axis=(1, 2)))
    return _changed(expected, **detail)


def _segmented(part: Ratings, array: RatingArray, levels: Mapping[str, str]) -> Remedy | str:
    segments = part.beside("segment_scores")
    if segments is None or SEGMENT not in segments.factors or part.criterion not in segments.criteria:
        return "the parts of the texts were not scored one by one"
    # The levels of a factor that the parts were asked under; the ordinary one where it was not varied
    other = [name for name, level in levels.items() if level not in (segments.levels(name) or LEVELS.get(name, ())[:1])]
    if other:
        words = part.words(other, [levels[name] for name in other])
        return f"the parts of the texts were not scored one by one with {words}"
    same = {name: level for name, level in levels.items() if name in segments.factors}
    parts = sorted(segments.levels(SEGMENT))
    scored = [segments.with_criterion(part.criterion).where(**{**same, SEGMENT: name}) for name in parts]
    mean: Floats = np.mean([array_of(one, array.axes).means for one in scored], axis=0)  # every part must be there
    return _changed(mean, segments=parts)


def _received_and_controlled(array: RatingArray, authors: Mapping[str, str], place: Place) -> Floats:
    """S - R and D of one judge per item, shape (2, items)."""
    s, r, _ = self_received_given(array, place)
    return np.stack([s - r, np.subtract(*contrast(array, *place, authors))])


def _compared(part: Ratings, array: RatingArray, remedy: Remedy | str, judge: str, was: Floats | None) -> Estimate:
    metric, items = "self_preference_change", len(array.items)
    if was is None:
        return paired_estimate(metric, Paired.of([]), part, excluded=items, why=missing_text(array, judge))
    if isinstance(remedy, str):
        return paired_estimate(metric, Paired.of([]), part, excluded=0, why=remedy)
    place = array.row(judge), array.column(part.authors[judge])
    after = [_received_and_controlled(one, part.authors, place) for one in remedy.each(array, place[0])]
    now = mean_of(np.stack(after or [np.full(was.shape, np.nan)]), axis=0)
    both, test = np.isfinite(was[0] + now[0]), paired_test(now[0] - was[0], array)
    if not test.n:
        why = "no item has the judge's own score and a peer's, before and after" if after else OUTSIDE
        return paired_estimate(metric, test, part, excluded=items, why=why)
    first, then = (
        with_interval(paired_test(np.where(both, received, np.nan), array).distribution) for received, _ in (was, now)
    )
    return paired_estimate(metric, test, part, excluded=items - test.n, why="", detail={
        "before": first, "after": then, "nearer": abs(then["value"] or 0.0) < abs(first["value"] or 0.0),
        "controlled_before": mean_or_none(was[1][both]), "controlled_after": mean_or_none(now[1][both]),
        "p": significant(test.p), **remedy.detail,
    })  # fmt: skip


# --------------------------------------------------------------------------- juries in one judge's place


class Remedy(NamedTuple):
    """`each`: from an array and the row of a judge to the arrays after the remedy, in each of which it is held against
    its peers. `detail` tells what the remedy itself tells. What cannot be tried is a text that says why."""

    each: Callable[[RatingArray, int], Iterable[RatingArray]]
    detail: Mapping[str, Any]


def jury(weigh: Callable[[Judges], Floats], detail: Mapping[str, Any]) -> Remedy:
    """`weigh`: from who sits in it, shape (judges,), to weights that broadcast to (judges, items, targets), NaN where a
    judge's weight is unknown. `detail` tells the weights with everybody in it."""

    def each(array: RatingArray, row: int) -> Iterator[RatingArray]:
        """For every peer of the judge at `row`: the jury of all others in the judge's place, and that peer alone beside
        it. A peer without whom no jury can be formed is left out, and a panel of two has no jury and peer."""
        scores, known = np.nan_to_num(array.means), np.isfinite(array.means)
        for peer in range(len(array.raters)) if len(array.raters) > 2 else ():
            seated = np.arange(len(array.raters)) != peer
            if peer == row:
                continue
            try:
                weights = np.where(known & seated[:, None, None], weigh(seated), 0.0)
            except RecuseError:
                continue
            means = np.full(array.means.shape, np.nan)
            # The weighted mean over the members that scored a text; NaN where one's weight is unknown
            means[row] = ratio((weights * scores).sum(axis=0), weights.sum(axis=0))
            means[peer] = array.means[peer]
            yield array.with_means(means)

    return Remedy(each, detail)


def weighted_poll(array: RatingArray, likelihoods: Ratings | None) -> Remedy | str:
    """A judge weighs by its perplexity on a text over its geometric mean on the item's texts (Wataoka et al. 2024,
    arXiv:2410.21819). Raises `RecuseError` for a perplexity below 1."""
    if likelihoods is None or PERPLEXITY not in likelihoods.criteria or likelihoods.factors:
        return UNPREDICTED
    perplexity = as_given(likelihoods.with_criterion(PERPLEXITY), array)
    if not np.isfinite(perplexity).any():
        return UNPREDICTED
    if np.nanmin(perplexity) < 1:
        raise RecuseError(f"a perplexity is 1 or more; the ratings hold {np.nanmin(perplexity):g}")
    surprise = np.log(perplexity)
    weights = np.exp(surprise - mean_of(surprise, axis=2)[:, :, None])
    mean = mean_of(np.where(np.isfinite(array.means), weights, np.nan), (1, 2))
    return jury(lambda seated: weights, {"mean_weight": by_rater(array, mean)})


def peer_ranked(part: Ratings, array: RatingArray, battles: Ratings | None) -> Remedy | str:
    """`battles`: the scores, or the choices beside them."""
    columns = array.columns(part.authors)
    if None in columns:
        return f"Peer Rank weighs judges by how their own texts win, and {array.raters[columns.index(None)]} wrote none"
    if battles is None:
        return "no choices between two texts were asked for, which are to be Peer Rank's battles"
    own = np.array(columns, dtype=np.intp)
    try:
        wins = win_ratios(pair_array(battles), array.raters, array.targets)
        ranked, iterations = peer_rank(wins, own.tolist())
    except RecuseError as error:
        return str(error)

    @cache
    def weigh(*sits: bool) -> Floats:
        weights, seated = np.zeros((len(sits), 1, 1)), np.array(sits)
        weights[seated, 0, 0] = peer_rank(wins[seated], own[seated].tolist())[0]
        return weights

    return jury(lambda seated: weigh(*seated.tolist()), {"iterations": iterations, "weights": by_rater(array, ranked)})


def as_given(ratings: Ratings, array: RatingArray) -> Floats:
    """Means of the one criterion on the array's axes, as they were written."""
    given = array_of(ratings, array.axes)
    scale = given.scale
    return scale.turned(given.means) if isinstance(scale, Numeric) and scale.reversed else given.means


# --------------------------------------------------------------------------- peer Rank
# Thesis on bias in LLM self-evaluation, sec. 2.4.1; Li, Patel and Du (2024), PRD, arXiv:2307.02762. The idea: who
# writes well, judges well. With win ratios W (k, t), the share of its pairs that text t wins by judge k's choices,
#
#     score_t = sum_k w_k W(k, t),    w_k = score_own(k) / sum over judges of the same,    from equal weights on
#
# repeated until no weight moves by more than `TOLERANCE`. Every judge must be an author.

TOLERANCE = 1e-10
ITERATIONS = 1000


def peer_rank(wins: Floats, own: Sequence[int]) -> tuple[Floats, int]:
    """Weights (judges,), which add up to 1, at which the iteration stands still, and after how many rounds. `wins` has
    shape (judges, authors), in [0, 1]; `own[k]` is the author column of judge k. `RecuseError` where the weights have
    no limit, where no judge's text ever wins, and where a win ratio is missing."""
    if not np.isfinite(wins).all():
        raise RecuseError("Peer Rank needs every judge's verdict on every author; a judge has none on one of them")
    weights = np.full(len(own), 1 / len(own))
    for iteration in range(1, ITERATIONS + 1):
        raw = (weights @ wins)[list(own)]
        if not raw.sum() > 0:
            raise RecuseError("no judge's own text wins a single pair, so nobody has a weight")
        before, weights = weights, raw / raw.sum()
        moved = np.abs(weights - before).max()
        if moved <= TOLERANCE:
            return weights, iteration
    raise RecuseError(f"the weights still move by {moved:.2g} after {ITERATIONS} rounds; they go round in a circle")


def win_ratios(pairs: PairArray, judges: Sequence[str], targets: Sequence[str]) -> Floats:
    """From choices, both orders averaged, or scores, of which the higher wins; a tie is half a win. Shape (judges,
    targets), NaN where a judge has no complete pair with an author's text."""
    wins = np.full((len(judges), len(targets)), np.nan)
    for column, target in enumerate(targets):
        side = pairs.credit(target)
        won = np.where(side > 0, pairs.won, 1 - pairs.won)[:, side != 0]
        mean = dict(zip(pairs.judges, mean_of(won, axis=1), strict=True))
        wins[:, column] = [mean.get(judge, np.nan) for judge in judges]
    return wins

"""Juries: several judges' weighted mean in one judge's place, held against a judge that is not among them.

    poll            every judge the same (Verga et al. 2024, arXiv:2404.18796)
    weighted_poll   a judge weighing less on texts that are easy to predict for it (Wataoka et al. 2024,
                    arXiv:2410.21819): w = its perplexity on this text / its geometric mean on the item's texts
    peer_rank       a judge weighing as its own texts win

A jury that the reference sits in agrees with it for that reason alone: every peer is the reference once, and the jury
is formed anew from the others, weights included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.papers.self_preference.over_texts import by_rater
from recuse.ratings import Numeric, RatingArray, Ratings, mean_of
from recuse.ratings.array import array_of
from recuse.ratings.pair_array import PairArray, pair_array
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import ratio

Judges = NDArray[np.bool_]
PERPLEXITY = "perplexity"
UNPREDICTED = "no log-probabilities were recorded, so the judges' perplexity on the texts is unknown"


@dataclass(frozen=True)
class Remedy:
    """`each`: from an array and the row of a judge to the arrays after the remedy, in each of which it is held against
    its peers; else `why` there are none. `detail` tells what the remedy itself tells."""

    each: Callable[[RatingArray, int], Iterable[RatingArray]] = lambda array, row: ()
    why: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


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

    return Remedy(each, detail=detail)


def poll(array: RatingArray) -> Remedy:
    """Everyone else with one vote each: their mean (Verga et al. 2024, a panel of judges)."""
    return jury(lambda seated: np.ones((len(seated), 1, 1)), {"judges": len(array.raters) - 1})


def weighted_poll(array: RatingArray, likelihoods: Ratings | None) -> Remedy:
    """Raises `RecuseError` for a perplexity below 1."""
    if likelihoods is None or PERPLEXITY not in likelihoods.criteria or likelihoods.factors:
        return Remedy(why=UNPREDICTED)
    perplexity = as_given(likelihoods.with_criterion(PERPLEXITY), array)
    if not np.isfinite(perplexity).any():
        return Remedy(why=UNPREDICTED)
    if np.nanmin(perplexity) < 1:
        raise RecuseError(f"a perplexity is 1 or more; the ratings hold {np.nanmin(perplexity):g}")
    surprise = np.log(perplexity)
    weights = np.exp(surprise - mean_of(surprise, axis=2)[:, :, None])
    mean = mean_of(np.where(np.isfinite(array.means), weights, np.nan), (1, 2))
    return jury(lambda seated: weights, {"mean_weight": by_rater(array, mean)})


def peer_ranked(part: Ratings, array: RatingArray, battles: str) -> Remedy:
    """`battles`: what decides them, the scores or the choices beside them."""
    columns, choices = array.columns(part.authors), part.beside("choices")
    if None in columns:
        stranger = array.raters[columns.index(None)]
        return Remedy(why=f"Peer Rank weighs judges by how their own texts win, and {stranger} wrote none")
    if battles == "choices" and choices is None:
        return Remedy(why="no choices between two texts were asked for, which are to be Peer Rank's battles")
    own = np.array([column for column in columns if column is not None])
    try:
        wins = graded_wins(array) if battles == "scores" or choices is None else chosen_wins(
            pair_array(choices), array.raters, array.targets
        )  # fmt: skip
        ranked, iterations = peer_rank(wins, own.tolist())
    except RecuseError as error:
        return Remedy(why=str(error))

    def weigh(seated: Judges) -> Floats:
        weights = np.zeros((len(seated), 1, 1))
        weights[seated, 0, 0] = peer_rank(wins[seated], own[seated].tolist())[0]
        return weights

    return jury(weigh, {"iterations": iterations, "weights": by_rater(array, ranked)})


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
        scores = weights @ wins
        raw = scores[list(own)]
        if not raw.sum() > 0:
            raise RecuseError("no judge's own text wins a single pair, so nobody has a weight")
        moved, weights = np.abs(raw / raw.sum() - weights).max(), raw / raw.sum()
        if moved <= TOLERANCE:
            return weights, iteration
    raise RecuseError(f"the weights still move by {moved:.2g} after {ITERATIONS} rounds; they go round in a circle")


def graded_wins(array: RatingArray) -> Floats:
    """Win ratios from scores: on every item the higher score of two texts wins, equal scores are half a win for each.
    Shape (judges, targets), NaN where a judge has no two scores on any item."""
    less = array.means[:, :, :, None] - array.means[:, :, None, :]
    less[:, :, np.eye(len(array.targets), dtype=bool)] = np.nan
    return mean_of((np.sign(less) + 1) / 2, axis=(1, 3))


def chosen_wins(pairs: PairArray, judges: Sequence[str], targets: Sequence[str]) -> Floats:
    """Win ratios from choices, both orders averaged, a tie half a win. Shape (judges, targets), NaN where a judge
    has no complete pair with an author's text."""
    wins = np.full((len(judges), len(targets)), np.nan)
    for column, target in enumerate(targets):
        side = pairs.credit(target)
        won = np.where(side > 0, pairs.won, 1 - pairs.won)[:, side != 0]
        mean = dict(zip(pairs.judges, mean_of(won, axis=1), strict=True))
        wins[:, column] = [mean.get(judge, math.nan) for judge in judges]
    return wins

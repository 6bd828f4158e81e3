"""Juries: several judges' weighted mean in one judge's place, held against a judge that is not among them.

    poll            every judge the same (Verga et al. 2024, arXiv:2404.18796)
    weighted_poll   a judge weighing less on texts that are easy to predict for it (Wataoka et al. 2024,
                    arXiv:2410.21819): w = its perplexity on this text / its geometric mean on the item's texts
    peer_rank       a judge weighing as its own texts win (`recuse.papers.self_preference.peer_rank`)

A jury that the reference sits in agrees with it for that reason alone. So every peer is the reference once, and the
jury is formed anew from the others, weights included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.papers.self_preference.peer_rank import chosen_wins, graded_wins, peer_rank
from recuse.ratings import Numeric, RatingArray, Ratings, mean_of
from recuse.ratings.array import array_of
from recuse.ratings.pair_array import pair_array
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["Jury", "as_given", "peer_ranked", "poll", "weighted_poll"]

Judges = NDArray[np.bool_]
PERPLEXITY = "perplexity"
UNPREDICTED = "no log-probabilities were recorded, so the judges' perplexity on the texts is unknown"


@dataclass(frozen=True)
class Jury:
    """`weigh`: from who sits in it, shape (judges,), to weights that broadcast to (judges, items, targets), NaN where a
    judge's weight is unknown; else `why` there is none. `detail` tells the weights with everybody in it."""

    weigh: Callable[[Judges], Floats] | None = None
    why: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    def each(self, array: RatingArray, row: int) -> Iterator[RatingArray]:
        """For every peer of the judge at `row`: the jury of all others in the judge's place, and that peer alone beside
        it. A peer without whom no jury can be formed is left out."""
        assert self.weigh is not None
        for peer in range(len(array.raters)):
            seated = np.arange(len(array.raters)) != peer
            if peer == row:
                continue
            try:
                weights = self.weigh(seated)
            except RecuseError:
                continue
            means = np.full(array.means.shape, np.nan)
            means[row] = _average(array, np.where(seated[:, None, None], weights, 0.0))
            means[peer] = array.means[peer]
            yield array.with_means(means)


def poll(array: RatingArray) -> Jury:
    """Everyone else with one vote each: their mean (Verga et al. 2024, a panel of judges)."""
    return Jury(lambda seated: np.ones((len(seated), 1, 1)), detail={"judges": len(array.raters) - 1})


def weighted_poll(array: RatingArray, likelihoods: Ratings | None) -> Jury:
    """Raises `RecuseError` for a perplexity below 1."""
    if likelihoods is None or PERPLEXITY not in likelihoods.criteria or likelihoods.factors:
        return Jury(why=UNPREDICTED)
    perplexity = as_given(likelihoods.with_criterion(PERPLEXITY), array)
    if not np.isfinite(perplexity).any():
        return Jury(why=UNPREDICTED)
    if np.nanmin(perplexity) < 1:
        raise RecuseError(f"a perplexity is 1 or more; the ratings hold {np.nanmin(perplexity):g}")
    surprise = np.log(perplexity)
    weights = np.exp(surprise - mean_of(surprise, axis=2)[:, :, None])
    mean = mean_of(np.where(np.isfinite(array.means), weights, np.nan), (1, 2))
    return Jury(lambda seated: weights, detail={"mean_weight": array.by_rater(mean)})


def peer_ranked(part: Ratings, array: RatingArray, battles: str) -> Jury:
    """`battles`: what decides them, the scores or the choices beside them."""
    columns, choices = array.columns(part.authors), part.beside("choices")
    if None in columns:
        stranger = array.raters[columns.index(None)]
        return Jury(why=f"Peer Rank weighs judges by how their own texts win, and {stranger} wrote none")
    if battles == "choices" and choices is None:
        return Jury(why="no choices between two texts were asked for, which are to be Peer Rank's battles")
    own = np.array([column for column in columns if column is not None])
    try:
        wins = graded_wins(array) if battles == "scores" or choices is None else chosen_wins(
            pair_array(choices), array.raters, array.targets
        )  # fmt: skip
        ranked = peer_rank(wins, own.tolist())
    except RecuseError as error:
        return Jury(why=str(error))

    def weigh(seated: Judges) -> Floats:
        weights = np.zeros((len(seated), 1, 1))
        weights[seated, 0, 0] = peer_rank(wins[seated], own[seated].tolist()).weights
        return weights

    return Jury(weigh, detail={"iterations": ranked.iterations, "weights": array.by_rater(ranked.weights)})


def as_given(ratings: Ratings, array: RatingArray) -> Floats:
    """Means of the one criterion on the array's axes, as they were written."""
    given = array_of(ratings, array.axes)
    scale = given.scale
    return scale.turned(given.means) if isinstance(scale, Numeric) and scale.reversed else given.means


def _average(array: RatingArray, weights: Floats) -> Floats:
    """Weighted mean over the judges that scored a text, shape (items, targets); NaN where one's weight is unknown."""
    known = np.isfinite(array.means)
    weights = np.where(known, weights, 0.0)
    total = weights.sum(axis=0)
    result: Floats = np.divide(
        (weights * np.nan_to_num(array.means)).sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return result

"""Peer Rank: judges weighted by how often their own texts win, until weights and wins agree.

Thesis on bias in LLM self-evaluation, sec. 2.4.1; Li, Patel and Du (2024), PRD, arXiv:2307.02762. The idea: who writes
well, judges well. With win ratios W (k, t), the share of its pairs that text t wins by judge k's choices,

    score_t = sum_k w_k W(k, t),    w_k = score_own(k) / sum over judges of the same,    from equal weights on

repeated until no weight moves by more than `TOLERANCE`. Every judge must be an author.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recuse.ratings import RatingArray, mean_of
from recuse.ratings.pair_array import PairArray
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["NotConverged", "PeerRank", "chosen_wins", "graded_wins", "peer_rank"]

TOLERANCE = 1e-10
ITERATIONS = 1000


class NotConverged(RecuseError):
    """The weights have no limit: the numbers they give depend on when one stops."""


@dataclass(frozen=True, slots=True)
class PeerRank:
    """`weights` (judges,) add up to 1; `scores` (authors,) are win ratios under these weights."""

    weights: Floats
    scores: Floats
    iterations: int


def peer_rank(wins: Floats, own: Sequence[int], *, most: int = ITERATIONS) -> PeerRank:
    """Weights at which the iteration stands still. `wins` has shape (judges, authors), in [0, 1]; `own[k]` is the
    author column of judge k. Raises `NotConverged` after `most` rounds, or where no judge's text ever wins, and
    `RecuseError` where a win ratio is missing."""
    if not np.isfinite(wins).all():
        raise RecuseError("Peer Rank needs every judge's verdict on every author; a judge has none on one of them")
    weights = np.full(len(own), 1 / len(own))
    for iteration in range(1, most + 1):
        scores = weights @ wins
        raw = scores[list(own)]
        if not raw.sum() > 0:
            raise NotConverged("no judge's own text wins a single pair, so nobody has a weight")
        moved, weights = np.abs(raw / raw.sum() - weights).max(), raw / raw.sum()
        if moved <= TOLERANCE:
            return PeerRank(weights, weights @ wins, iteration)
    raise NotConverged(f"the weights still move by {moved:.2g} after {most} rounds; they go round in a circle")


def graded_wins(array: RatingArray) -> Floats:
    """Win ratios from scores: on every item the higher score of two texts wins, equal scores are half a win for each.
    Shape (judges, targets), NaN where a judge has no two scores on any item."""
    less = array.means[:, :, :, None] - array.means[:, :, None, :]
    there = np.isfinite(less) & ~np.eye(len(array.targets), dtype=bool)[None, None]
    won = np.where(there, (np.sign(np.where(there, less, 0.0)) + 1) / 2, 0.0).sum(axis=(1, 3))
    count = there.sum(axis=(1, 3))
    result: Floats = np.divide(won, count, out=np.full(won.shape, np.nan), where=count > 0)
    return result


def chosen_wins(met: PairArray, judges: Sequence[str], targets: Sequence[str]) -> Floats:
    """Win ratios from choices, both orders averaged, a tie half a win. Shape (judges, targets), NaN where a judge
    has no complete pair with an author's text."""
    wins = np.full((len(judges), len(targets)), np.nan)
    rows = [met.judges.index(judge) if judge in met.judges else None for judge in judges]
    for column, target in enumerate(targets):
        side = met.credit(target)
        won = np.where(side > 0, met.won, 1 - met.won)[:, side != 0]
        mean = mean_of(won, axis=1)
        wins[:, column] = [math.nan if row is None else mean[row] for row in rows]
    return wins

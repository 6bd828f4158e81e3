"""Consensus deviation: how far a judge's score lies from the mean of all other judges on the same text.

    Bias(i, u) = s_iu - mean over the judges k != i with a score of u of s_ku,    s_iu = mean over repeats

Merchant-risk paper, secs. 4.1-4.3 and appendix F. The judge itself is left out of its reference, so its own score moves
its bias one for one; including it would shrink every bias by (n - 1) / n. Deviations on a text add up to zero: the
measure is relative, and a panel that is lenient as a whole shows nothing here. A missing score costs the judge it
belongs to; the others' reference is the judges that did score the text.

Where every target has one text, intervals are over repeats: how far would new replies of the same judges on the same
texts move the number? Var Bias(i, u) = s2_iu / R_iu + sum_k s2_ku / R_ku / (n - 1)^2, with Welch-Satterthwaite degrees
of freedom. Otherwise they are over items: Student's t of the deviations, items (or what they share) as clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import THESE_TEXTS, estimated, matrix, number, table, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Cells, Ratings, mean_of
from recuse.schema import Estimate, Estimates
from recuse.statistics import distributions
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.distributions import Student

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

WELCH = "linear contrast of cell means, Welch-Satterthwaite t"
OVER_ITEMS = "mean deviation over texts, cluster-robust t over items"
ONE_JUDGE = "no consensus: one judge"
ZERO = 1e-9
"""Biases closer to 0 than this (points) have no direction; smaller ones are rounding."""


# --------------------------------------------------------------------------- matrices


@measure(
    "consensus_deviation", "deviation from consensus", signed=True, rank=120,
    above="departs from its peers|depart from their peers",
    reading="Each judge's mean score less the mean of the other judges' on the same texts.",
)  # fmt: skip
def consensus_deviation(ratings: Ratings) -> Estimates:
    """Bias(i, j) for every judge and target (paper, Fig. 8), by factor level; the value is the mean of |Bias| over all
    cells.

    Detail, beside the matrix `values` with `low` and `high` per cell: `scores`, `sds`, `consensus` (the self-excluded
    mean each cell is compared with), `zero_sum` (largest |column sum|, 0 by construction where nothing is missing), and
    `naive`: the deviation from a consensus that includes the judge, and its measured `shrinkage` = (n - 1) / n. The
    value itself has no interval: absolute values of noise are never 0. Undefined with one judge.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["a", "a", "b", "b"], "target": ["x", "y"] * 2, "score": [5.0, 3, 4, 3]})
    >>> ratings = Ratings.of(frame.assign(item="i"), authors={"a": "x", "b": "y"})
    >>> consensus_deviation(ratings).of().detail["values"]
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    return Estimates(ratings.within(), {names: _deviation_matrix(part) for names, part in ratings.each()})


# --------------------------------------------------------------------------- a judge and its own work


@measure(
    "self_bias", "self-bias", signed=True, rank=20,
    above="promotes itself|promote themselves", below="holds itself down|hold themselves down",
    reading="A judge's score of its own work less its peers' mean for the same work; leniency included.",
)  # fmt: skip
def self_bias(ratings: Ratings) -> Estimates:
    """Mean Bias(i, u) over the texts u that judge i wrote, by judge and factor level; paper, sec. 4.3.1.

    Over repeats, n counts the repeats it rests on, the judge's own and those of its peers on that text; over items, the
    items. Undefined with one judge, and where no text of its own has a usable score of its own and of a peer.

    >>> import pandas as pd
    >>> rows = [("x", 9.0), ("y", 8.0), ("z", 7.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "score"]).assign(item="i", target="a")
    >>> self_bias(Ratings.of(frame, authors={"x": "a"})).of(judge="x").value
    1.5
    """
    return _family(ratings, "self_bias", _authors, lambda cells, own: (own, None), "text of its own")


@measure(
    "leniency", "leniency", signed=True, rank=110,
    above="is more lenient than its peers|are more lenient than their peers",
    below="is harsher than its peers|are harsher than their peers",
    reading="A judge's scores of others' work less its peers' mean for the same work.",
)  # fmt: skip
def leniency(ratings: Ratings) -> Estimates:
    """Mean Bias(i, u) over the texts u that judge i did not write, by judge and factor level.

    Covers all judges; undefined for an author with no other target. Relative like every consensus deviation: a peer
    inflates its own target by d lowers the others' leniency by d / (n - 1) / (number of their targets).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["a", "a", "b", "b"], "target": ["x", "y"] * 2, "score": [5.0, 3, 4, 3]})
    >>> ratings = Ratings.of(frame.assign(item="i"), authors={"a": "x", "b": "y"})
    >>> leniency(ratings).of(judge="a").value
    0.0
    """
    return _family(ratings, "leniency", _everyone, lambda cells, own: (~own, None), "text of another")


@measure(
    "self_preference", "self-preference", signed=True, rank=30,
    above="prefers its own work|prefer their own work", below="disfavours its own work|disfavour their own work",
    reading="Self-bias less leniency: what a judge adds on its own work beyond its general level.",
)  # fmt: skip
def self_preference(ratings: Ratings) -> Estimates:
    """self_bias - leniency, by judge and factor level: what a judge adds on its own text beyond its general level.

    A lenient judge has a positive self-bias without preferring itself; here its level cancels, and so does the quality
    of the texts, since each is compared with the peers' view of the same text.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["a", "a", "b", "b"], "target": ["x", "y"] * 2, "score": [5.0, 3, 4, 3]})
    >>> ratings = Ratings.of(frame.assign(item="i"), authors={"a": "x", "b": "y"})
    >>> self_preference(ratings).of(judge="a").value
    1.0
    """
    return _family(ratings, "self_preference", _authors, lambda cells, own: (own, ~own), "text of its own")


# --------------------------------------------------------------------------- deviations and their distributions


def deviations(cells: Cells) -> Floats:
    """Bias of every judge on every text, shape (J, U); NaN without a score of its own or of a peer."""
    there = np.isfinite(cells.mean)
    sums, counts = np.where(there, cells.mean, 0.0).sum(axis=0), there.sum(axis=0)
    peers = np.divide(sums - np.where(there, cells.mean, 0.0), counts - there, out=np.full(there.shape, np.nan),
                      where=counts - there > 0)  # fmt: skip
    bias: Floats = cells.mean - peers
    return bias


def peer_weights(cells: Cells, judge: int, weights: Floats) -> Floats:
    """Cell weights, shape (J, U), of sum_u weights[u] Bias(judge, u): 1 on the judge's own cell of u, and -1 shared
    equally by the peers that scored it."""
    there = np.isfinite(cells.mean)
    there[judge] = False
    counts = there.sum(axis=0)
    shared = np.divide(weights, counts, out=np.zeros(len(weights)), where=counts > 0)
    full = np.where(there, -shared, 0.0)
    full[judge] = weights
    return full


def _distribution(cells: Cells, judge: int, plus: Mask, minus: Mask | None, bias: Floats) -> Student:
    """Of the mean deviation over the texts `plus`, less that over `minus`."""
    if cells.fixed:
        weights = plus / plus.sum() - (0.0 if minus is None else minus / minus.sum())
        full = peer_weights(cells, judge, np.asarray(weights, dtype=float))
        return distributions.contrast(full, cells.mean, cells.variance, cells.count)
    return difference_of_means(bias, plus, minus, cells.clusters)


def _estimate(
    cells: Cells, metric: str, judge: int, bias: Floats, plus: Mask, minus: Mask | None, missing: str
) -> Estimate:
    wanted = plus if minus is None else plus | minus
    about: dict[str, Any] = {
        "over": cells.over, "unit": cells.scale.unit, "span": cells.scale.span,
        "method": WELCH if cells.fixed else OVER_ITEMS, "clusters": cells.clusters_called,
    }  # fmt: skip
    usable = np.isfinite(bias)
    plus, minus = plus & usable, None if minus is None else minus & usable
    if not plus.any() or (minus is not None and not minus.any()):
        what = missing if not plus.any() else "text of another"
        why = ONE_JUDGE if len(cells.judges) < 2 else _nothing(cells, judge, wanted, what)
        return undefined(metric, why, n=int(cells.count[judge].sum()), n_excluded=int(cells.lost[judge].sum()), **about)
    used = plus if minus is None else plus | minus
    distribution = _distribution(cells, judge, plus, minus, bias)
    about |= {"note": THESE_TEXTS} if cells.fixed else {}
    if cells.over == "clusters":
        about["n_clusters"] = len(np.unique(cells.clusters[used]))
    n = int(cells.count[:, used].sum()) if cells.fixed else len(np.unique(cells.items[used]))
    lost = int(cells.lost[:, wanted].sum()) if cells.fixed else int((wanted & ~usable).sum())
    return estimated(metric, distribution.value, distribution, n=n, n_excluded=lost, **about)


def _nothing(cells: Cells, judge: int, wanted: Mask, what: str) -> str:
    """Why no deviation could be had."""
    if not wanted.any():
        return f"there is no {what}"
    lost = cells.lost_by
    told = "; ".join(
        f"{target}: {', '.join(f'{count} {status}' for status, count in counts.items())}"
        for (name, target), counts in lost.items()
        if name == cells.judges[judge]
    )
    return f"no {what} has a usable score of its own and of a peer" + (f" ({told})" if told else "")


# --------------------------------------------------------------------------- families


def _family(
    ratings: Ratings,
    metric: str,
    subjects: Callable[[Ratings, Cells], Iterable[str]],
    sides: Callable[[Cells, Mask], tuple[Mask, Mask | None]],
    missing: str,
) -> Estimates:
    """One contrast per judge and factor level: mean deviation on one side of the texts, less that on the other."""
    found: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        cells = part.cells()
        bias = part.remember(deviations, partial(deviations, cells))
        for judge in subjects(part, cells):
            row, (plus, minus) = cells.row(judge), sides(cells, cells.texts_of(part.authors.get(judge)))
            found[(judge, *names)] = _estimate(cells, metric, row, bias[row], plus, minus, missing)
    return Estimates(("judge", *ratings.within()), found)


def _everyone(ratings: Ratings, cells: Cells) -> Sequence[str]:
    return cells.judges


def _authors(ratings: Ratings, cells: Cells) -> list[str]:
    return [judge for judge in ratings.own() if judge in cells.judges]


# --------------------------------------------------------------------------- matrices of one part


def _deviation_matrix(part: Ratings) -> Estimate:
    cells = part.cells()
    n = int(cells.count.sum())
    if len(cells.judges) < 2:
        return undefined("consensus_deviation", ONE_JUDGE, n=n, method=WELCH, over=cells.over)
    each = deviations(cells)
    bias, means = cells.by_target(each), cells.by_target(cells.mean)
    naive = cells.by_target(cells.mean - mean_of(cells.mean, axis=0))
    low, high = _intervals(cells, each)
    sds = {"sds": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    detail = _matrix(
        part, cells, bias, low=low, high=high, scores=means, **sds, consensus=means - bias,
        zero_sum=number(np.abs(np.nansum(bias, axis=0)).max()),
        naive={
            "values": table(naive), "shrinkage": _shrinkage(naive, bias), "expected": number(1 - 1 / len(cells.judges)),
        },
    )  # fmt: skip
    about: dict[str, Any] = {
        "n": n, "n_excluded": int(cells.lost.sum()), "unit": cells.scale.unit, "over": cells.over,
        "method": "mean of |self-excluded deviation| over cells", "detail": detail,
    }  # fmt: skip
    if not np.isfinite(bias).any():
        return undefined("consensus_deviation", "no text has usable scores of two judges", **about)
    where = f"{THESE_TEXTS}; " if cells.fixed else ""
    return Estimate(
        metric="consensus_deviation", value=float(np.nanmean(np.abs(bias))), note=f"{where}intervals are per cell",
        **about,
    )  # fmt: skip


def _intervals(cells: Cells, each: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of the interval of every judge x target deviation."""
    ends = np.full((2, len(cells.judges), len(cells.target_names)), np.nan)
    for t, target in enumerate(cells.target_names):
        texts = cells.texts_of(target)
        for j in range(len(cells.judges)):
            plus = texts & np.isfinite(each[j])
            if plus.any():
                ends[:, j, t] = _distribution(cells, j, plus, None, each[j]).interval(level)
    return ends[0], ends[1]


def _matrix(part: Ratings, cells: Cells, values: Floats, **more: Any) -> dict[str, Any]:
    return matrix(cells.judges, cells.target_names, values, part.own(), criterion=cells.criterion, **more)


def _shrinkage(naive: Floats, bias: Floats) -> float | None:
    """Least-squares factor between the two matrices; None where every bias is 0."""
    there = np.isfinite(naive) & np.isfinite(bias)
    scale = float((bias[there] ** 2).sum())
    return number(float((naive[there] * bias[there]).sum()) / scale) if scale > ZERO else None

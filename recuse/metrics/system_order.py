"""Order of systems: does the judge put systems into the order in which people put them, by their mean scores?

Whoever compares systems reads means and not single scores, so a judge may be too generous, too narrow or noisy text by
text and still be of use. What costs is to put a worse system above a better one, the more the further they lie apart.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import measure, per_judge
from recuse.ratings import Cells
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask, ascending_codes, distinct
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.distributions import SEED, generator, percentile
from recuse.statistics.multiplicity import holm

FEWEST = 10  # items (clusters) below which how far means of other items would lie apart cannot be told
DRAWS = 3999
ALPHA = 0.05
TIED = 1e-9
METHOD = "order of means weighted by people's differences; simulated from the multivariate t of the means over items"
TWO = (
    "one pair of systems cannot show it: a judge that favours either for any other reason is right half of the time. "
    "Add texts by a third system"
)
CLOSE = (
    "people do not tell any two of the systems apart on these texts (Holm, .05), so no order is known that a judge "
    "could keep: have people rate more texts"
)


@measure(
    "system_order", "order of systems as people have it", ends=(-1, 1), signed=True, rank=289,
    below="orders systems unlike people",
    reading="How much of people's differences between systems the judge's order keeps: 1 where it orders them as people"
    " do, 0 where it might as well guess, -1 where it turns the order round. Swapping two that are close costs little.",
)  # fmt: skip
@per_judge(compared)
def system_order(against: Compared, judge: int, seed: int = SEED, draws: int = DRAWS) -> Estimate:
    """Order of systems kept by the judge, by judge and factor level:

        sum over pairs s, t of sign(J_s - J_t) (P_s - P_t)  /  sum over pairs of |P_s - P_t|

    P_s: people's mean over the texts of system s that the judge was asked about and people rated (the right answers'
    mean where these are known); J_s: the judge's over those of them that it answered, so that leaving out the bad texts
    of one system moves that system up. A judge that is more lenient or narrower everywhere keeps 1. It is Kendall's
    concordance with pairs weighted by how far apart people see them; 1 - value is twice the share of people's
    differences that lies the wrong way round.

    The interval holds these people and draws other items: all means together are redrawn from their multivariate t
    (covariance of cluster sums, so that systems with common items are compared in pairs), and its ends are percentiles
    of the value on `draws` draws; sign() has no derivative that a jackknife could use. Close systems swap between
    draws, which lowers both ends: a judge is not credited with an order that other items would not show.

    Detail: `systems`, people's best first, with both means; `told_apart`, how many pairs people tell apart after Holm's
    correction. Undefined below three systems, below `FEWEST` items, and where people tell no pair apart.

    >>> from recuse.ratings import Ratings
    >>> score = {"weak": 1.0, "fair": 2.0, "good": 4.0}
    >>> raters = (("j", "judge", 2), ("p", "person", 0))
    >>> rows = [(who, kind, str(k), name, s + k % 3 + more) for who, kind, more in raters for k in range(30)
    ...         for name, s in score.items()]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "score"])
    >>> system_order(Ratings.of(frame)).of(judge="j").value
    1.0
    """
    cells, people = against.cells, against.people.mean
    wanted = (cells.count[judge] + cells.lost[judge] > 0) & np.isfinite(people)
    answered = wanted & np.isfinite(cells.mean[judge])
    over = "clusters" if cells.over == "clusters" else "items"
    count = distinct(cells.clusters[wanted])
    facts: dict[str, Any] = {
        "n": distinct(cells.items[wanted]), "n_excluded": int((wanted & ~answered).sum()), "method": METHOD,
        "over": over, "clusters": cells.clusters_called, "seed": seed,
    }  # fmt: skip
    systems = np.array([t for t in range(len(cells.target_names)) if (answered & (cells.targets == t)).any()])
    if why := _too_little(against, len(systems), count):
        return undefined("system_order", why, **facts)
    theirs = np.array([people[wanted & (cells.targets == t)].mean() for t in systems])
    systems = systems[np.argsort(-theirs, kind="stable")]
    used = wanted & np.isin(cells.targets, systems)
    means, root = _means(cells, [people, cells.mean[judge]], [used, used & answered], systems)
    # pairs of systems that people tell apart: t of their difference over clusters, paired where items are common, after
    # Holm's correction; a difference that is the same on every item is told apart
    first, second = np.triu_indices(len(systems), 1)
    apart, se = np.abs(means[first] - means[second]), np.sqrt(((root[:, first] - root[:, second]) ** 2).sum(axis=0))
    t = np.divide(apart, se, out=np.where(apart > TIED, np.inf, 0.0), where=se > TIED)
    told_apart = int((holm(2 * special.stdtr(count - 1, -t)) < ALPHA).sum())
    both = zip(systems, *np.split(means, 2), strict=True)
    listed = [{"system": cells.target_names[t], "people": number(p), "judge": number(j)} for t, p, j in both]
    detail = {"systems": listed, "told_apart": told_apart, **against.held}
    if not told_apart:
        return undefined("system_order", CLOSE, detail=detail, **facts)
    rng = generator(seed, "system_order")
    normal = rng.standard_normal((draws, len(root)))
    spread = np.sqrt((count - 1) / rng.chisquare(count - 1, size=(draws, 1)))
    drawn = _kept(means + spread * (normal @ root))
    value = float(_kept(means[None])[0])
    return estimated("system_order", value, percentile(value, drawn, discrete=True), detail=detail, **facts)


def _too_little(against: Compared, systems: int, clusters: int) -> str:
    cells = against.cells
    if systems < 3:
        return TWO if systems == 2 else f"an order takes three systems or more; both sides rated {systems}"
    if not against.people.per_text:
        return "people rated systems as a whole, so how far other texts would move their order is not known"
    if cells.fixed or clusters < FEWEST:
        what = cells.clusters_called if cells.over == "clusters" else "items"
        return f"an order of means needs {FEWEST} {what} or more, to show how far others would move it; got {clusters}"
    return ""


def _kept(means: Floats) -> Floats:
    """The value of drawn means, people's of all systems before the judge's, (B, 2 S) -> (B,)."""
    people, judge = np.split(means, 2, axis=1)
    first, second = np.triu_indices(people.shape[1], 1)
    theirs, less = people[:, first] - people[:, second], judge[:, first] - judge[:, second]
    total = np.abs(theirs).sum(axis=1)
    kept = (np.where(np.abs(less) < TIED, 0.0, np.sign(less)) * theirs).sum(axis=1)
    return ratio(kept, total)


def _means(cells: Cells, sides: list[Floats], used: list[Mask], systems: NDArray[Any]) -> tuple[Floats, Floats]:
    """Means of each side's values by system, one side after the other, (2 S,), and a root of their covariance over
    clusters, (R, 2 S): root' root = G / (G - 1) sum_g e_g e_g', e_g the cluster's share of each mean's error.

    Triangular with a positive diagonal (a row of zeros for a mean that others determine), so draws from it depend on
    the order of systems, which is people's, and on neither names nor rows."""
    codes = ascending_codes(cells.clusters[used[0]])
    place = np.full(len(cells.clusters), -1)
    place[used[0]] = codes
    count = int(codes.max()) + 1
    means, errors = [], []
    for values, mask in zip(sides, used, strict=True):
        for system in systems:
            its = mask & (cells.targets == system)
            mean = math.fsum(values[its].tolist()) / int(its.sum())
            means.append(mean)
            errors.append(np.bincount(place[its], weights=values[its] - mean, minlength=count) / int(its.sum()))
    left = np.array(errors) @ np.array(errors).T * (count / (count - 1))
    root, least = np.zeros_like(left), 1e-12 * np.diagonal(left)
    for k in range(len(left)):  # Cholesky's root, which numpy refuses where means depend on each other: ranks of a text
        if left[k, k] > least[k]:
            root[k] = left[k] / math.sqrt(left[k, k])
            left -= np.outer(root[k], root[k])
    return np.array(means), root

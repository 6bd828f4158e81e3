"""Rubric commensurability: how much of the agreement between judges is the rubric they share?

"Beyond the Illusion of Consensus", 2026, section 3.3. Judges that write their own rubrics hardly agree; give them the
names of the dimensions and they do. The paper's table 6 compares an average over three pairs with the one pair that a
variant has; here every difference is between the same pairs on the same texts.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from recuse.metrics.estimates import number
from recuse.metrics.measure import measure
from recuse.papers.illusion.rubric_cells import (
    RubricCells,
    by_source,
    change,
    jackknifed,
    mean_correlation,
    rubric_cells,
)
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.factors import LEVELS, RUBRIC


@measure(
    "agreement_by_rubric", "agreement between judges, by rubric", ends=(-1, 1), rank=400,
    reading="Mean correlation between the scores of two judges over all texts, by where the rubric came from.",
)  # fmt: skip
def agreement_by_rubric(ratings: Ratings) -> Estimates:
    """Mean Pearson r over pairs of judges, by source of the rubric; jackknife over items. Detail: `pairs`, each with r
    and the texts both scored.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": list("aaaabbbb"), "rubric_source": "shared", "item": list("ijkl") * 2,
    ...     "score": [1, 2, 3, 4, 2, 1, 4, 3]})
    >>> round(agreement_by_rubric(Ratings.of(frame)).of(rubric_source="shared").value, 6)
    0.6
    """

    def agreement(cells: RubricCells) -> Estimate:
        pairs = cells.pairs()
        rows = zip(cells.pair_names(), pairs.r()[0], pairs.texts, strict=True)
        detail = {"pairs": [{"pair": pair, "r": number(r), "n": int(n)} for pair, r, n in rows]}
        return jackknifed(
            "agreement_by_rubric", cells, lambda r: mean_correlation(r)[..., 0], reach=1.0, detail=detail
        )

    return by_source(ratings, {source: (source,) for source in ratings.levels(RUBRIC)}, agreement)


@measure(
    "rubric_step", "agreement gained by sharing more of the rubric", ends=(-2, 2), signed=True, rank=401,
    reading="Agreement by this rubric less that by the one before it, on the same pairs and texts: from own rubrics to "
    "given names, to one judge's rubric, to one rubric for all prompts.",
)  # fmt: skip
def rubric_step(ratings: Ratings) -> Estimates:
    """Mean over pairs of r(source) - r(source before), in the order independent, dimensions, shared, universal;
    jackknife over items. Only pairs and texts that both have count.

    >>> import pandas as pd
    >>> given = {"independent": ([1, 2, 3, 4], [2, 1, 4, 3]), "dimensions": ([1, 2, 3, 4], [1, 2, 4, 3])}
    >>> rows = [(j, source, i, x) for source, both in given.items()
    ...     for j, scores in zip("ab", both) for i, x in zip("ijkl", scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "rubric_source", "item", "score"])
    >>> round(rubric_step(Ratings.of(frame)).of(rubric_source="dimensions").value, 6)
    0.2
    """

    def step(cells: RubricCells) -> Estimate:
        detail = {"before": cells.sources[0], "pairs": len(cells.pair_names())}
        return jackknifed("rubric_step", cells, change, reach=2.0, detail=detail)

    there = [source for source in LEVELS[RUBRIC][1:] if source in ratings.levels(RUBRIC)]
    return by_source(ratings, {source: (before, source) for before, source in pairwise(there)}, step)


@measure(
    "structural_share", "share of agreement that comes with the names", unit="share", ends=(-math.inf, math.inf),
    rank=402,
    reading="How much of the agreement by rubrics with given names is gone when judges name the dimensions themselves. "
    "It is structure, not judgement, that gave it.",
)  # fmt: skip
def structural_share(ratings: Ratings, whole: str = "dimensions") -> Estimates:
    """(r(dimensions) - r(independent)) / r(whole), r the mean over the same pairs on the same texts; jackknife over
    items.

    `whole` names the denominator: the paper's 62 % is of "dimensions", (.6225 - .239) / .6225; of "shared" its table
    gives 53 and 69 %. Above 1 where own rubrics make judges disagree. Undefined where r(whole) is not above 0: there
    is no agreement of which to take a share.

    >>> import pandas as pd
    >>> given = {"independent": ([1, 2, 3, 4], [2, 1, 4, 3]), "dimensions": ([1, 2, 3, 4], [1, 2, 4, 3])}
    >>> rows = [(j, source, i, x) for source, both in given.items()
    ...     for j, scores in zip("ab", both) for i, x in zip("ijkl", scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "rubric_source", "item", "score"])
    >>> round(structural_share(Ratings.of(frame)).of(of="dimensions").value, 6)
    0.25
    """
    sources = tuple(dict.fromkeys(("independent", "dimensions", whole)))

    def share(r: Floats) -> Floats:
        means = mean_correlation(r)
        total = np.where(means[..., -1] > 0, means[..., -1], np.nan)
        share: Floats = (means[..., 1] - means[..., 0]) / total
        return share

    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, cells in rubric_cells(ratings, *sources):
        r = mean_correlation(cells.pairs().r())
        detail = {source: number(float(value)) for source, value in zip(sources, r, strict=True)}
        estimates[(whole, *names)] = jackknifed("structural_share", cells, share, unit="share", detail=detail)
    return Estimates(("of", *ratings.within(RUBRIC)), estimates)

"""How many independent judges is a panel worth? Judges that err together are one judge asked several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.illusion import judge_pairs
from recuse.papers.illusion.judge_pairs import all_pairs, units_of
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import judges_array
from recuse.ratings.persons import people_on
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import Coefficient

__all__ = ["effective_judges"]

METHOD = "k / (1 + (k - 1) r), r the mean correlation of errors; jackknife over items, t"


@measure(
    "effective_judges", "independent judges that the panel is worth", bad="none", rank=650,
    reading="The variance of the panel's mean error is that of so many judges whose errors are unrelated (Kish's "
    "design effect). Where people's ratings are unknown, everything judges have in common counts as shared error: the "
    "panel is worth at least this much.",
)  # fmt: skip
def effective_judges(ratings: Ratings) -> Estimates:
    """k / (1 + (k - 1) r) of k judges, r the mean over pairs and targets of the correlation over items of their errors:
    judge less people's mean. Without people's ratings the errors are the scores themselves, which gives a lower bound;
    detail `of` says which. By factor level. r below 0 gives more than k: errors that cancel.

    Undefined with one judge, or fewer than five common items in every target.

    >>> import pandas as pd
    >>> rows = [(j, i, s) for j, scores in zip("xy", ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6])) for i, s in enumerate(scores)]
    >>> estimates = effective_judges(Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "score"]))).of()
    >>> round(estimates.value, 4), estimates.detail["of"]
    (1.0, 'scores')
    """
    estimates = {names: _estimate(judges_array(part), part, ratings) for names, part in ratings.each()}
    return Estimates(ratings.within(), estimates)


def _estimate(array: RatingArray, part: Ratings, ratings: Ratings) -> Estimate:
    people = _people(array, part, ratings)
    known = bool(np.isfinite(people).any())
    shares = all_pairs(array.with_means(array.means - people) if known else array)
    count, (items, *inner) = len(array.raters), shares.shape

    def worth(sums: Floats) -> Floats:
        together = judge_pairs.mean_known(judge_pairs.sample_agreement(sums.reshape(-1, *inner)))
        worth: Floats = count / (1 + (count - 1) * together)
        return worth

    facts: dict[str, Any] = {
        "n": int((shares[..., 0] > 0).any(axis=(1, 2)).sum()) if count > 1 else 0, "method": METHOD,
        **units_of(array, part.clusters),
    }  # fmt: skip
    coefficient = Coefficient(
        shares.reshape(items, -1), worth, lambda sums: "" if count > 1 else "one judge is worth one judge"
    )
    if coefficient.undefined:
        return undefined("effective_judges", coefficient.undefined, **facts)
    value = coefficient.value
    together = number((count / value - 1) / (count - 1))
    detail = {"of": "errors" if known else "scores", "judges": count, "correlation": together}
    distribution = coefficient.jackknife(np.array(array.clusters))
    return estimated("effective_judges", value, distribution, detail=detail, **facts)


def _people(array: RatingArray, part: Ratings, ratings: Ratings) -> Floats:
    """People's mean of every text, (items, targets); NaN where nobody rated it one by one."""
    people: Floats = np.full((len(array.items), len(array.targets)), np.nan)
    if not ratings.persons:
        return people
    cells = part.cells()
    row = {name: place for place, name in enumerate(array.items)}
    column = {name: place for place, name in enumerate(array.targets)}
    rows = np.array([row[name] for name in cells.item_names])
    columns = np.array([column[name] for name in cells.target_names])
    people[rows[cells.items], columns[cells.targets]] = people_on(part, cells, ratings).mean
    return people

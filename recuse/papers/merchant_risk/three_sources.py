"""Three sources: do peers, people and data rank the models alike? Merchant-risk paper, sec. 5.4."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from recuse.metrics.estimates import matrix, number, undefined
from recuse.metrics.ground_truth import rank_correlation
from recuse.metrics.measure import measure
from recuse.ratings import Ratings, mean_of
from recuse.ratings.persons import people_on
from recuse.schema import Estimate, Estimates
from recuse.statistics import rank_correlation as rank

SOURCES = ("peers", "people", "data")


@measure(
    "three_sources", "agreement of peers, people and data", ends=(-1, 1), signed=True, rank=300,
    reading="Mean rank correlation between peers', people's and the data's view of the models.",
)  # fmt: skip
def three_sources(ratings: Ratings) -> Estimates:
    """Do peers, people and data rank the models alike? Mean of the three pairwise Spearman correlations across models,
    by the factor levels of the picks and of the scores beside them (`ratings.beside("scores")`).

    A model's three figures: the mean score of its texts by the judges that did not write them, people's mean score of
    them, and its rank correlation with the data. Detail is the 3 x 3 matrix of rho with the exact permutation `p`, and
    the `figures` per model. No interval: the models are the few there are, not a sample. Undefined below three models
    with all three figures, and where the same judges' scores are not known.

    >>> import pandas as pd
    >>> three_sources(Ratings.of(pd.DataFrame({"judge": "a", "item": ["i"], "score": [1.0]}))).of().note
    "undefined: no scores of the models' texts stand beside their picks"
    """
    scores = ratings.beside("scores")
    if scores is None:
        why = "no scores of the models' texts stand beside their picks"
        nothing = undefined("three_sources", why, method="mean pairwise Spearman's rho", over="items")
        return Estimates(ratings.within(), {names: nothing for names, _ in ratings.each()})
    correlations = rank_correlation(ratings)
    theirs, estimates = ratings.within(), {}
    for names, _ in ratings.each():
        data = {model: e.value for (model, *levels), e in correlations.items() if tuple(levels) == names}
        for others, part in scores.each():
            estimates[(*names, *others)] = _three_sources(_figures(part, scores, data))
    by = (*(f"picks_{name}" if name in scores.within() else name for name in theirs), *scores.within())
    return Estimates(by, estimates)


def _three_sources(figures: Mapping[str, tuple[float, float, float]]) -> Estimate:
    complete = {model: row for model, row in figures.items() if not any(map(math.isnan, row))}
    more: dict[str, Any] = {
        "n": len(complete), "n_excluded": len(figures) - len(complete), "over": "items",
        "method": "mean pairwise Spearman's rho",
    }  # fmt: skip
    if len(complete) < 3:
        return undefined(
            "three_sources", f"needs three models with all three figures; there are {len(complete)}", **more
        )
    columns = np.array(list(complete.values())).T
    rho = np.array([[float(rank.spearman(a, b)) for b in columns] for a in columns])
    p = np.array(
        [
            [math.nan if i == j else rank.spearman_test(a, b).p for j, b in enumerate(columns)]
            for i, a in enumerate(columns)
        ]
    )
    named = {model: dict(zip(SOURCES, map(number, row), strict=True)) for model, row in complete.items()}
    value = float(rho[np.triu_indices(3, 1)].mean())
    if math.isnan(value):
        return undefined(
            "three_sources", "a source gives every model the same figure", detail={"figures": named}, **more
        )
    return Estimate(
        metric="three_sources", value=value, note="no interval: the models are all there are, not a sample of models",
        detail=matrix(SOURCES, SOURCES, rho, {}, p=p, figures=named), **more,
    )  # fmt: skip


def _figures(part: Ratings, scores: Ratings, data: Mapping[str, float]) -> dict[str, tuple[float, float, float]]:
    """Per model: peers' mean score of its texts, people's mean score of them, its correlation with the data."""
    cells = part.cells()
    people = people_on(part, cells, scores).mean
    estimates: dict[str, tuple[float, float, float]] = {}
    for model, target in part.own().items():
        texts = cells.texts_of(target)
        peers = np.array([part.authors.get(judge) != target for judge in cells.judges])
        each = mean_of(cells.mean[peers][:, texts], axis=1)
        estimates[model] = (float(mean_of(each, 0)), float(mean_of(people[texts], 0)), data.get(model, math.nan))
    return estimates

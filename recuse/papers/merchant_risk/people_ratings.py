"""People's own ratings: how reliable one of them is, and all together; and what a scale of another length does.

Merchant-risk paper, sec. 3.5: 26 experts, five criteria, "the same 1-10 scoring scale employed by LLM judges", who
score 0-10. A score of 1 is the worst that an expert can give and a tenth above the worst of a judge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.estimates import matrix, number, undefined
from recuse.metrics.human_alignment import people_on
from recuse.metrics.measure import itself, measure, per_part
from recuse.papers import rank_tests
from recuse.papers.merchant_risk.ground_truth import rank_correlation
from recuse.papers.merchant_risk.human_offsets import human_panel_offset
from recuse.papers.merchant_risk.rank_agreement import people_difference, people_groups
from recuse.ratings import Ratings, mean_of
from recuse.ratings.array import numbers
from recuse.ratings.ratings_table import PERSON
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import correlation
from recuse.statistics.agreement.icc import icc, icc_interval, mean_squares

BESIDE = "blinded_people"
SIMULATED = "simulated people: nobody was asked"
INVENTED = {"simulated": True}


@measure(
    "people_reliability", "reliability of people", rank=232, bad="none",
    reading="ICC(2,1), absolute agreement: how much of the spread of one person's ratings is the texts'. The mean of "
    "all people is more reliable.",
)  # fmt: skip
def people_reliability(ratings: Ratings) -> Estimates:
    """ICC(2,1) of the people's single ratings that stand beside (`ratings.beside("blinded_people")`), by criterion, and
    of each person's mean over the criteria (`mean`).

    Detail: `together`, ICC(2,k), the reliability of the mean of all k people; `people` and `texts`. The interval is the
    F interval over texts (Satterthwaite). A person with a gap is left out. Undefined below two people or two texts.

    >>> import pandas as pd
    >>> rows = [(who, text, float(score)) for who, more in (("p", 0), ("q", 1)) for text, score in
    ...         (("s", 1 + more), ("t", 5 + more), ("u", 9 + more))]
    >>> people = Ratings.of(pd.DataFrame(rows, columns=["rater", "item", "score"]).assign(kind="person"))
    >>> ratings = replace(people, beside={"blinded_people": people}.get)
    >>> round(people_reliability(ratings).of(criterion="rating").value, 3)
    0.97
    """
    people = ratings.beside(BESIDE)
    if people is None:
        return Estimates(("criterion",), {})
    each = {name: _matrix(people, name) for name in people.criteria}
    estimates: dict[tuple[str, ...], Estimate] = {(name,): _reliability(values) for name, values in each.items()}
    if len(each) > 1:
        estimates[("mean",)] = _reliability(np.mean(list(each.values()), axis=0))
    return _noting_simulation(people, Estimates(("criterion",), estimates))


def blinded_pairs(ratings: Ratings) -> Estimates:
    """`people_difference` of the people who stand beside; empty without."""
    people = ratings.beside(BESIDE)
    return Estimates(("pair",), {}) if people is None else _noting_simulation(people, people_difference(people))


def blinded_groups(ratings: Ratings) -> Estimates:
    """`people_order.people_groups` of the people who stand beside; empty without."""
    people = ratings.beside(BESIDE)
    return Estimates((), {}) if people is None else _noting_simulation(people, people_groups(people))


@measure(
    "scale_matched_offset", "offset of the panel, scales matched", signed=True, rank=242, bad="none",
    reading="Judges less people after people's scale is stretched to the judges': what the offset is if the worst of "
    "either means the worst.",
)  # fmt: skip
def scale_matched_offset(ratings: Ratings) -> Estimates:
    """`human_panel_offset` with people's means and SDs stretched from their scale to the judges', by factor
    level: x' = low + (x - low_p) (high - low) / (high_p - low_p). The merchant-risk paper's +0.46 (0-10 less 1-10)
    becomes +0.65.

    People's scale is told by the columns minimum and maximum of their summary; undefined where it is not, or is the
    judges'.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"target": ["t"], "mean": [5.5], "sd": 1.0, "n": 9, "minimum": 1, "maximum": 10})
    >>> frame = pd.DataFrame({"judge": ["a", "b"], "item": "i", "target": "t", "score": [6.0, 4.0]})
    >>> from recuse.ratings import Numeric
    >>> scale_matched_offset(Ratings.of(frame, people=people, scales=Numeric(0, 10))).of().value
    0.0
    """
    people = ratings.people
    ends = {ratings.scales[name].ends for name in ratings.headline}
    if people is None or not {"minimum", "maximum"} <= set(people.columns) or len(ends) != 1:
        return _nothing_to_match(ratings, "people's scale is not told apart from the judges'")
    low, high = float(people["minimum"].iloc[0]), float(people["maximum"].iloc[0])
    (wanted,) = ends
    if (low, high) == wanted:
        return _nothing_to_match(ratings, "people and judges rate on one scale")
    factor = (wanted[1] - wanted[0]) / (high - low)
    stretched = people.assign(mean=wanted[0] + (people["mean"] - low) * factor, sd=people["sd"] * factor)
    as_given, matched = human_panel_offset(ratings), human_panel_offset(replace(ratings, people=stretched, _memory={}))
    scales = {"people_scale": [low, high], "judges_scale": list(wanted)}
    return Estimates(
        ratings.within(),
        {
            key: replace(
                e, metric="scale_matched_offset", detail={**e.detail, **scales, "as_given": number(as_given[key].value)}
            )
            for key, e in matched.items()
        },
    )


@per_part(itself)
def _nothing_to_match(part: Ratings, why: str) -> Estimate:
    return undefined("scale_matched_offset", why, method="people's scale stretched to the judges'", over="items")


def _noting_simulation(people: Ratings, estimates: Estimates) -> Estimates:
    """The same, saying so where nobody was asked."""
    if "simulated" not in people.table or not people.table["simulated"].any():
        return estimates
    noted = {
        key: replace(e, note="; ".join(part for part in (SIMULATED, e.note) if part), detail={**e.detail, **INVENTED})
        for key, e in estimates.items()
    }
    return Estimates(estimates.by, noted)


def _matrix(people: Ratings, criterion: str) -> Floats:
    """Texts x people of one criterion."""
    rows = people.table[(people.table["criterion"] == criterion) & (people.table["kind"] == PERSON)]
    rows = rows.assign(value=numbers(people.with_criterion(criterion), rows))
    wide = rows.pivot_table(index=["item", "target"], columns="rater", values="value", sort=False)
    values: Floats = wide.to_numpy(dtype=float)
    return values


def _reliability(values: Floats) -> Estimate:
    complete = values[:, np.isfinite(values).all(axis=0)]
    texts, people = complete.shape
    about: dict[str, Any] = {
        "n": texts, "n_excluded": values.shape[1] - people, "over": "items",
        "method": "ICC(2,1), F interval over texts",
    }  # fmt: skip
    detail = {"people": people, "texts": texts}
    if texts < 2 or people < 2:
        why = f"reliability needs two people and two texts; {people} people rated {texts}"
        return undefined("people_reliability", why, detail=detail, **about)
    squares = mean_squares(complete)
    value = float(icc(squares))
    if not np.isfinite(value):
        return undefined("people_reliability", "nothing varies", detail=detail, **about)
    low, high = (float(end) for end in icc_interval(squares))
    together = number(float(icc(squares, "ICC(2,k)")))
    return Estimate(
        metric="people_reliability", value=value, low=low, high=high, detail={**detail, "together": together}, **about
    )


# --------------------------------------------------------------------------- three sources


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
    rho = np.array([[float(correlation.spearman(a, b)) for b in columns] for a in columns])
    p = np.array(
        [
            [math.nan if i == j else rank_tests.spearman_test(a, b).p for j, b in enumerate(columns)]
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

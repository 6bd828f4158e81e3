"""People's own ratings: how reliable one of them is, and all together; and what a scale of another length does.

Merchant-risk paper, sec. 3.5: 26 experts, five criteria, "the same 1-10 scoring scale employed by LLM judges", who
score 0-10. A score of 1 is the worst that an expert can give and a tenth above the worst of a judge.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.estimates import number, undefined
from recuse.metrics.human_alignment import human_panel_offset
from recuse.metrics.measure import itself, measure, per_part
from recuse.papers.merchant_risk.people_order import people_difference, people_groups
from recuse.ratings import Ratings
from recuse.ratings.array import numbers
from recuse.ratings.ratings_table import PERSON
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.icc import icc, icc_interval, mean_squares

__all__ = ["blinded_groups", "blinded_pairs", "people_reliability", "scale_matched_offset"]

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

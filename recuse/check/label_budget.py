"""How ratings by people are best spent to tell two judges apart: more texts, or more people on each.

    se^2 = (V + P / r) / n,   n r = budget

P: variance between people of the difference of the judges' errors on one text; V: what is left between texts; r people
rate each of n texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

FEWEST = 20
"""Ratings that are worth planning, and texts of two people by which their variance is known."""


def check_budget(budget: int | None, use: str, tau: float, *, right: bool = False) -> None:
    """`RecuseError` for fewer ratings than anybody plans, for a use whose error is none of single texts, where errors
    are by right answers, not by people, and for a share `tau` of people that distances from single persons do not tell:
    at .5 the nearer judge decides as most do."""
    if budget is not None and right:
        raise RecuseError("--budget is how many ratings people can give, and errors are by right answers: leave it out")
    if budget is not None and budget < FEWEST:
        raise RecuseError(f"--budget is how many ratings people can give, from {FEWEST} on; got {budget}")
    if budget is not None and use in ("estimate", "rank"):
        raise RecuseError("--budget is worked out for --use decide, grade and choose")
    if budget is not None and use == "decide" and abs(tau - 0.5) > 1e-9:
        raise RecuseError(
            f"--budget is worked out for --tau 0.5: whether {tau:.0%} of people say so, one person's answer does not "
            "tell; leave --budget out and have several people rate each text".replace("%", " %")
        )


def spending(differences: Floats, budget: int) -> list[dict[str, float]]:
    """How far the judges are `apart`, and with which `error` at 95 % the budget tells it, by `people` per text and the
    `texts` that they then rate. `differences` (P, U): error of the one judge less that of the other against each
    person, NaN where that person rated none. Empty where too few texts have two people's ratings to tell."""
    raters = np.isfinite(differences).sum(axis=0)
    twice = raters > 1
    if twice.sum() < FEWEST:
        return []
    person = float(np.nanvar(differences[:, twice], axis=0, ddof=1).mean())
    whole = float(np.nanvar(np.nanmean(differences, axis=0), ddof=1))
    between = max(0.0, whole - person * float((1 / raters).mean()))
    gap = abs(float(np.nanmean(np.nanmean(differences, axis=0))))
    return [
        {"people": people, "texts": budget // people, "apart": gap,
         "error": 1.96 * sqrt((between + person / people) / (budget // people))} for people in (1, 2, 3)
    ]  # fmt: skip


def spending_lines(rows: Sequence[dict[str, float]], judges: Sequence[str], budget: int) -> Iterator[str]:
    """What `spending` found of the first two judges, in words."""
    if not rows:
        yield f"How many people per text is best for {budget} ratings is unknown: fewer than {FEWEST} texts have two."
    for each in rows:
        if each["people"] == 1:
            pair = f"{judges[0]} from {judges[1]} ({each['apart']:.3f} apart)"
            yield f"{budget:,} ratings by people tell {pair} with an error, at 95 %, of"
        people = f"{each['people']} {'person' if each['people'] == 1 else 'people'}"
        yield f"  {each['error']:.3f}   {each['texts']:,} texts, {people} each"

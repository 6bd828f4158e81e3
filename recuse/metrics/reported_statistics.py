"""Reported statistics: do the totals, means and SDs a judge states follow from its own scores?

A judge's arithmetic is part of its answer. Totals are compared with the mean of the same reply's criteria; means and
SDs that a judge claims for runs it performed in its head (merchant-risk paper, appendix C) are tested for whether any
such runs could have them (`recuse.statistics.grimmer`).

How precisely a number was printed decides how far it may be off, but ratings hold floats, where 8.70 and 8.7 are one.
So the decimals of a number are those of its shortest decimal form, or, if more, those that at least a quarter of the
judge's numbers of that kind need (`printed_decimals`): a judge that writes 8.72 and 9 is held to have written 9.00.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from recuse.metrics.consensus import TOTAL
from recuse.metrics.estimates import estimated, number, require_columns, undefined
from recuse.schema import RATING_COLUMNS, Estimate, Estimates, RecuseError
from recuse.statistics.distributions import Binomial
from recuse.statistics.grimmer import EPSILON, half_unit, mean_attainable, sd_attainable

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["final", "mean", "sd"]
BY = ("judge", "condition")

TOTALS = "share of replies with |total - mean of criteria| > half a unit of the total's last decimal, Clopper-Pearson"
FINALS = "share of finals beyond the rounding of final and means, Clopper-Pearson"
MEANS = "share of means that no {n} scores in steps of {step:g} have (GRIM)"
SDS = "share of SDs that no {n} scores in steps of {step:g} with the stated mean have (divisor {divisor})"


def reported_total(ratings: pd.DataFrame, criteria: Iterable[str], *, total: str = TOTAL) -> Estimates:
    """Share of replies whose reported total is not the mean of the same reply's scores, by (judge, condition).

    A total follows if it lies within half a unit of its last decimal of the mean of `criteria`. Replies in which any of
    them is not usable are left out (n_excluded). Detail: `decimals` the judge prints, and `offenders`, one entry per
    target with `replies`, `wrong`, and among the wrong ones the mean total (`final`) and mean of the scores
    (`mean_of_criteria`), and the mean and the largest difference (total - mean of the scores).

    Clopper-Pearson over calls; it errs on the wide side where targets differ in how often they go wrong. Undefined
    where no reply is complete.
    """
    wanted = list(criteria)
    table = _wide(ratings, [*wanted, total])
    return Estimates(BY, {subject: _totals(group, wanted, total) for subject, group in _subjects(table)})


def self_reported(
    ratings: pd.DataFrame,
    criteria: Iterable[str],
    kind: Kind,
    *,
    runs: int = 10,
    minimum: float = 0.0,
    maximum: float = 10.0,
    step: float = 1.0,
    ddof: int = 1,
) -> Estimates:
    """Share of statistics of one kind that cannot be right, by (judge, condition), for the protocol in which the judge
    reports means and SDs of runs itself: rows "<id>.mean", "<id>.sd" per criterion, "final.mean", "final.sd".

    - "final": the final is not the mean of the five means. Half a unit of the final is "exact"; beyond it, another half
      unit of the means' decimals is "within_rounding", for they were rounded before they were averaged; further away is
      "inconsistent" and counts. One per reply, so it has an interval (Clopper-Pearson over calls).
    - "mean": no `runs` scores from minimum to maximum in steps of `step` have this mean. With ten whole scores every
      tenth passes.
    - "sd": none with the stated mean have this SD. ddof = 1 is what the paper's algorithm says, 0 the population SD.

    Means and SDs of one reply hang together, so their shares have no interval. Detail: `checked`, `follow` and
    `offenders` (target, criterion, and what was reported), and for finals all `verdicts`. SDs of the final are not
    tested: it is a mean of five, on a finer grid. Undefined where nothing usable was reported.
    """
    wanted = list(criteria)
    names = [f"{name}.{part}" for name in wanted for part in ("mean", "sd")] + ["final.mean"]
    table = _wide(ratings, names)
    if kind == "final":
        return Estimates(BY, {subject: _finals(group, wanted) for subject, group in _subjects(table)})
    grid = Grid(runs, minimum, maximum, step, ddof)
    return Estimates(BY, {subject: _on_grid(group, wanted, kind, grid) for subject, group in _subjects(table)})


def printed_decimals(values: Sequence[float]) -> Callable[[float], int]:
    """Decimals a number of this kind was printed with: its own or, if more, those that a quarter of `values` need."""
    own = sorted((_decimals(value) for value in values), reverse=True)
    usual = own[(len(own) - 1) // 4] if own else 0
    return lambda value: max(_decimals(value), usual)


# --------------------------------------------------------------------------- totals and finals


def _totals(replies: pd.DataFrame, criteria: list[str], total: str) -> Estimate:
    complete = replies.dropna(subset=[*criteria, total])
    n, excluded = len(complete), len(replies) - len(complete)
    if not n:
        why = "no reply has all criteria and a total"
        return undefined("reported_total", why, n_excluded=excluded, over="calls", unit="share", method=TOTALS)
    decimals = printed_decimals(complete[total].tolist())
    wrong: dict[str, list[tuple[float, float]]] = {}
    for target, values in zip(complete["target"], complete[[*criteria, total]].itertuples(index=False), strict=True):
        computed = math.fsum(values[:-1]) / len(criteria)
        if abs(values[-1] - computed) > half_unit(decimals(values[-1])) + EPSILON:
            wrong.setdefault(str(target), []).append((values[-1], computed))
    replies_of = complete["target"].value_counts()
    offenders = [
        {"target": target, "replies": int(replies_of[target]), "wrong": len(found), **_mean_slip(found)}
        for target, found in wrong.items()
    ]
    bad = sum(map(len, wrong.values()))
    return estimated(
        "reported_total", bad / n, Binomial(bad, n), n=n, n_excluded=excluded, over="calls", unit="share",
        method=TOTALS, detail={"wrong": bad, "decimals": decimals(0.0), "offenders": offenders},
    )  # fmt: skip


def _mean_slip(found: Sequence[tuple[float, float]]) -> dict[str, float | None]:
    """Means over the wrong replies of one target: the total reported, the one computed, and how far apart."""
    reported, computed = (math.fsum(column) / len(found) for column in zip(*found, strict=True))
    return {
        "final": number(reported),
        "mean_of_criteria": number(computed),
        "mean_difference": number(math.fsum(a - b for a, b in found) / len(found)),
        "largest_difference": number(max((a - b for a, b in found), key=abs)),
    }


def _finals(replies: pd.DataFrame, criteria: list[str]) -> Estimate:
    means = [f"{name}.mean" for name in criteria]
    complete = replies.dropna(subset=[*means, "final.mean"])
    n, excluded = len(complete), len(replies) - len(complete)
    if not n:
        why = "no reply has all means and a final"
        return undefined("self_reported_final", why, n_excluded=excluded, over="calls", unit="share", method=FINALS)
    of_final = printed_decimals(complete["final.mean"].tolist())
    of_means = printed_decimals([value for name in means for value in complete[name]])
    verdicts = [
        {"target": str(target), **_final(values[-1], values[:-1], of_final, of_means)}
        for target, values in zip(
            complete["target"], complete[[*means, "final.mean"]].itertuples(index=False), strict=True
        )
    ]
    bad = [entry for entry in verdicts if entry["verdict"] == "inconsistent"]
    return estimated(
        "self_reported_final", len(bad) / n, Binomial(len(bad), n), n=n, n_excluded=excluded, over="calls",
        unit="share", method=FINALS,
        detail={"checked": n, "follow": n - len(bad), "offenders": bad, "verdicts": verdicts},
    )  # fmt: skip


def _final(
    final: float, means: Sequence[float], of_final: Callable[[float], int], of_means: Callable[[float], int]
) -> dict[str, Any]:
    computed = math.fsum(means) / len(means)
    strict = half_unit(of_final(final)) + EPSILON
    loose = strict + math.fsum(half_unit(of_means(mean)) for mean in means) / len(means)
    off = abs(final - computed)
    verdict = "exact" if off <= strict else "within_rounding" if off <= loose else "inconsistent"
    return {
        "final": final,
        "mean_of_criteria": number(computed),
        "difference": number(final - computed),
        "verdict": verdict,
    }


# --------------------------------------------------------------------------- means and SDs


@dataclass(frozen=True, slots=True)
class Grid:
    """The runs a judge claims, and the grid its scores lie on."""

    runs: int
    minimum: float
    maximum: float
    step: float
    ddof: int


def _on_grid(replies: pd.DataFrame, criteria: list[str], kind: Literal["mean", "sd"], grid: Grid) -> Estimate:
    divisor = "n - 1" if grid.ddof else "n"
    method = (MEANS if kind == "mean" else SDS).format(n=grid.runs, step=grid.step, divisor=divisor)
    needed = ["mean"] if kind == "mean" else ["mean", "sd"]
    cells = [
        (str(target), name, tuple(float(replies[f"{name}.{part}"].iloc[i]) for part in needed))
        for i, target in enumerate(replies["target"]) for name in criteria
    ]  # fmt: skip
    known = [cell for cell in cells if not any(map(math.isnan, cell[2]))]
    more: dict[str, Any] = {"n": len(known), "n_excluded": len(cells) - len(known), "over": "calls", "unit": "share"}
    if not known:
        return undefined(f"self_reported_{kind}", f"no usable {kind} was reported", method=method, **more)
    decimals = [printed_decimals([values[part] for _, _, values in known]) for part in range(len(needed))]
    offenders = [
        {"target": target, "criterion": name, **dict(zip(needed, values, strict=True))}
        for target, name, values in known
        if not _attainable(values, [count(value) for count, value in zip(decimals, values, strict=True)], grid)
    ]
    return Estimate(
        metric=f"self_reported_{kind}", value=len(offenders) / len(known), method=method,
        note="no interval: statistics of one reply hang together",
        detail={"checked": len(known), "follow": len(known) - len(offenders), "offenders": offenders}, **more,
    )  # fmt: skip


def _attainable(values: Sequence[float], decimals: Sequence[int], grid: Grid) -> bool:
    mean = values[0]
    if not grid.minimum - EPSILON <= mean <= grid.maximum + EPSILON:
        return False
    if len(values) == 1:
        return mean_attainable(mean, grid.runs, grid.step, decimals[0])
    return sd_attainable(
        mean, values[1], grid.runs, grid.minimum, grid.maximum, grid.step,
        decimals=decimals[1], ddof=grid.ddof, mean_decimals=decimals[0],
    )  # fmt: skip


def _decimals(value: float) -> int:
    """Decimals of the shortest decimal form: 8.72 has 2, 9.3 has 1, 9.0 has 0."""
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return max(0, -int(exponent))


# --------------------------------------------------------------------------- replies


def _wide(ratings: pd.DataFrame, criteria: list[str]) -> pd.DataFrame:
    """One row per reply with a column per criterion, NaN where the score is not usable."""
    require_columns(ratings, *RATING_COLUMNS, "condition")
    rows = ratings[ratings["criterion"].isin(criteria) & ~ratings["judge"].astype(str).str.startswith("human:")]
    if missing := [name for name in criteria if not (rows["criterion"] == name).any()]:
        have = ", ".join(dict.fromkeys(ratings["criterion"].astype(str)))
        raise RecuseError(f"no ratings of {', '.join(missing)}; the table has criteria {have}")
    reply = [
        "judge",
        "target",
        "item",
        "repeat",
        *(column for column in ratings.columns if column not in RATING_COLUMNS),
    ]
    scores = rows["score"].where(rows["status"] == "ok")
    return rows.assign(score=scores).pivot(index=reply, columns="criterion", values="score").reset_index()


def _subjects(table: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    return [
        ((str(judge), str(condition)), group) for (judge, condition), group in table.groupby(["judge", "condition"])
    ]

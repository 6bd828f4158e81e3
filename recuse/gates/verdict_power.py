"""What a gate could have shown: chances to pass and to fail, the smallest fault it finds, how much more would decide.

An estimate with standard error s and df degrees of freedom passes an upper bound u when value + t s <= u, t the
quantile of the gate's level. If the true value is x, that has the chance

    P(T > t),    T ~ noncentral t(df) with noncentrality (u - x) / s

and fails with the same formula, mirrored, at the wider level that failing asks for. Two bounds are kept together with
at least the sum of both chances less 1 (Phillips 1990, Journal of Pharmacokinetics and Biopharmaceutics 18, 137-144).

s is not known but estimated, and a recording that happens to find it small would promise too much. So chances are
averaged over what the true standard error may be, s sqrt(df / chi-square(df)), as for the power of a trial planned by a
pilot (Julious and Owen 2006, Pharmaceutical Statistics 5, 29-37): over recording and repetition together, what is
promised with 80 % then comes true in 80 %, whatever the true spread is.

Distributions that are not Student's are taken by the half-width of their 95 % interval. Where a fault itself changes
how far estimates spread, a distribution says what it would be were its value another one (`moved`), and the smallest
fault is the true value of which the least value that fails is the lower 20 % point. These are forecasts by each
estimate's own distribution; `recuse validate` simulates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter, mul
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from recuse.gates.limits import Limit, has_interval
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats
from recuse.schema.number_text import percent
from recuse.schema.plain_values import grouped
from recuse.schema.results import ErrorRates
from recuse.schema.verdict_rows import PowerRow, VerdictRow
from recuse.statistics.distributions import Binomial, bisected

ENOUGH = 0.8  # the chance that a plan promises: a decision, or a fault found
FEASIBLE = 100.0  # more than this many times the observations is no longer called feasible
SURE = 30.0  # a noncentrality beyond this leaves nothing to chance
MANY = 1e6  # degrees of freedom beyond which a distribution is normal
NODES = 7
MOST = 0.4  # of the range: a larger difference is cut short by the scale's end, and found less
Parts = tuple[tuple[float, float], ...]


class Spread(NamedTuple):
    """How far an estimate falls from the truth: its standard error, on `df` degrees of freedom (inf: normal).
    `estimated`: what the squared standard error is made of, each part's share and the degrees of freedom that it was
    estimated on; () where it is known."""

    se: float
    df: float
    estimated: tuple[tuple[float, float], ...] = ()


def spread(estimate: Estimate, factor: float = 1.0, df: float | None = None) -> Spread | None:
    """Of the estimate with `factor` times the observations; None where its distribution does not say. `df`: what its
    distribution's tails are like (`_tails`), where that is known."""
    distribution = estimate.distribution
    if distribution is None or (half := distribution.half_width_at(factor)) is None or not 0 < half < math.inf:
        return None
    df = _tails(distribution) if df is None else df
    parts = getattr(distribution, "parts", ()) or ((1.0, df),)
    whole = sum(variance for variance, _ in parts)
    estimated = () if math.isinf(df) else tuple((variance / whole, freedom) for variance, freedom in parts if variance)
    return Spread(half / _quantile(0.95, df * factor), df * factor, estimated)


def _tails(distribution: Distribution) -> float:
    """Degrees of freedom of the Student distribution whose 99.9 % interval is as much wider than its 95 % one as this
    distribution's is: what decides is far out."""
    widths = [high - low for low, high in (distribution.interval(level) for level in (0.999, 0.95))]
    ratio = widths[0] / widths[1] if widths[1] > 0 else math.nan

    def narrower(df: float) -> bool:
        return _quantile(0.999, df) / _quantile(0.95, df) < ratio

    return bisected(narrower, 1.0, MANY, 1e-3, factors=True)[0] if narrower(MANY) else math.inf


def chance_to_pass(limit: Limit, truth: float, around: Spread, level: float) -> float:
    """That the interval at `level` will lie inside the limit, if the true value is `truth`."""
    t = _quantile(level, around.df)
    below = _exceeds((limit.high - truth) / around.se, around.df, around.estimated, t)
    above = _exceeds((truth - limit.low) / around.se, around.df, around.estimated, t)
    return max(0.0, below + above - 1)


def chance_to_fail(limit: Limit, truth: float, around: Spread, level: float) -> float:
    """That the interval at `level` will lie outside the limit, if the true value is `truth`."""
    t = _quantile(level, around.df)
    above = _exceeds((truth - limit.high) / around.se, around.df, around.estimated, t)
    below = _exceeds((limit.low - truth) / around.se, around.df, around.estimated, t)
    return min(1.0, above + below)


def factor_to_decide(limit: Limit, estimate: Estimate, pass_level: float, fail_level: float) -> float | None:
    """How many times the observations settle the limit with the chance ENOUGH, if the true value is the one measured,
    from 1 on; `inf` beyond FEASIBLE (the value lies practically on the bound), None where nothing can tell."""
    if not has_interval(estimate):
        return None
    value = estimate.value
    chance, level = (chance_to_pass, pass_level) if limit.holds(value) else (chance_to_fail, fail_level)
    if isinstance(estimate.distribution, Binomial):
        return _trials_to_decide(limit, estimate.distribution, level)
    if (now := spread(estimate)) is None or spread(estimate, FEASIBLE, now.df) is None:
        return None
    df = now.df

    def settles(factor: float) -> bool:
        around = spread(estimate, factor, df)
        return around is not None and chance(limit, value, around, level) >= ENOUGH

    if not settles(FEASIBLE):
        return math.inf
    low, high = estimate.distribution.interval(level)  # type: ignore[union-attr]
    ends = [(limit.low, low), (limit.high, high)] if limit.holds(value) else [(limit.low, high), (limit.high, low)]
    # where one end is farther off than the other: what brings the end to the bound, at least
    reach = [((end - value) / (bound - value)) ** 2 for bound, end in ends if (bound - value) * (end - value) > 0]
    return max([1.0 if settles(1.0) else bisected(settles, 1.0, FEASIBLE, 1e-3, factors=True)[1], *reach])


def _trials_to_decide(limit: Limit, seen: Binomial, level: float) -> float:
    """The same for a share, whose exact interval moves in steps: the first whole number of trials that has the chance,
    by the binomial law, over the trials that were seen. Above a few hundred not every number is looked at."""
    trials = np.unique(np.ceil(np.geomspace(1, FEASIBLE, 2000) * seen.trials - 1e-9).astype(int))
    share = min(seen.successes / seen.trials, 1.0)

    def above(bound: float, p: float) -> Floats:
        """That the interval will lie above the bound, if the share is p: that of more than so many successes does."""
        most = np.ceil(special.bdtrik((1 + level) / 2, trials, bound))
        fewer = np.maximum(most - 1, 0)
        most = np.where(special.bdtr(fewer, trials, bound) >= (1 + level) / 2, fewer, most)
        return np.asarray(special.bdtrc(most, trials, p))

    lower, upper = limit.low > 0, limit.high < 1  # bounds that a share can lie beyond
    if limit.holds(share):
        chances = above(limit.low, share) if lower else np.ones(len(trials))
        chances = chances + (above(1 - limit.high, 1 - share) - 1 if upper else 0.0)
    else:
        chances = above(limit.high, share) if share > limit.high else above(1 - limit.low, 1 - share)
    settles = chances >= ENOUGH
    return float(trials[settles.argmax()] / seen.trials) if settles.any() else math.inf


def power_of(limit: Limit, estimate: Estimate, pass_level: float, fail_level: float) -> PowerRow | None:
    """What the gate can show with the observations there are; None where the estimate's distribution cannot tell."""
    around = spread(estimate) if estimate.defined and has_interval(estimate) else None
    if around is None:
        return None
    # without the fault: 0 where both directions are faults, the middle if 0 is none; where only one direction is, the
    # value measured, unless that is a fault itself
    fair = estimate.value if limit.holds(estimate.value) else None
    if limit.kind == "within":
        fair = 0.0 if limit.holds(0.0) else (limit.low + limit.high) / 2
    return {
        "fair": fair,
        "fair_passes": None if fair is None else round(chance_to_pass(limit, fair, around, pass_level), 4),
        "same_again": round(chance_to_pass(limit, estimate.value, around, pass_level), 4),
        "smallest_fault": _smallest_fault(limit, estimate, around, fail_level),
    }


def _smallest_fault(limit: Limit, estimate: Estimate, around: Spread, level: float) -> float | None:
    """The true value next to the upper bound, or the lower where that is the only one, that fails with the chance
    ENOUGH; None if none does, or none that the scale leaves room for: a difference of more than MOST of its range."""
    upper = math.isfinite(limit.high)
    if moved := getattr(estimate.distribution, "moved", None):
        fault = _moved_fault(moved, limit.high if upper else limit.low, upper, around.se, level)
    else:
        enough = _detected(around.df, around.estimated, _quantile(level, around.df))
        far = None if enough is None else enough * around.se
        fault = None if far is None else limit.high + far if upper else limit.low - far
    difference = limit.low < 0 < limit.high and limit.kind == "within"
    if fault is None or (difference and estimate.span and abs(fault) > MOST * estimate.span):
        return None
    return float(f"{fault:.4g}")


@lru_cache(maxsize=4096)
def _detected(df: float, estimated: Parts, t: float) -> float | None:
    """How many standard errors beyond a bound the truth must lie to be found there with the chance ENOUGH."""

    def enough(shift: float) -> bool:
        return _exceeds(shift, df, estimated, t) >= ENOUGH

    return bisected(enough, 0.0, SURE, 1e-6)[1] if enough(SURE) else None


def _moved_fault(
    moved: Callable[[float], Distribution], bound: float, upper: bool, se: float, level: float
) -> float | None:
    """By duality: c is the value nearest the bound whose interval lies beyond it; the true value of which estimates
    beyond c are ENOUGH is the far end of c's interval at the level 2 ENOUGH - 1."""
    sign = 1 if upper else -1

    def fails(far: float) -> bool:
        end = moved(bound + sign * far).interval(level)[0 if upper else 1]
        return sign * (end - bound) > 0

    few, enough = 0.0, se
    while not fails(enough):
        few, enough = enough, 2 * enough
        if enough > SURE * SURE * se:
            return None
    _, enough = bisected(fails, few, enough, 1e-4)
    return moved(bound + sign * enough).interval(2 * ENOUGH - 1)[1 if upper else 0]


@lru_cache(maxsize=4096)
def _quantile(level: float, df: float) -> float:
    probability = (1 + level) / 2
    return float(special.ndtri(probability) if math.isinf(df) else special.stdtrit(df, probability))


def _exceeds(shift: float, df: float, estimated: Parts, t: float) -> float:
    """P(T > t) for noncentral t, averaged over the standard errors that are possible given the one estimated, all in
    one call: they are asked for by the ten thousand. scipy's fails for large shifts, where a normal distribution with
    its spread does as well."""
    if math.isinf(shift):
        return 1.0 if shift > 0 else 0.0
    scales, weights = _scales(estimated)
    shifts = shift * scales
    near = np.abs(shifts) <= SURE if df <= 1e4 else np.zeros(len(shifts), dtype=bool)
    chances = np.full(len(shifts), math.nan)
    chances[near] = np.clip(1 - special.nctdtr(df, shifts[near], t), 0.0, 1.0)
    if (rest := np.isnan(chances)).any():
        chances[rest] = special.ndtr((shifts[rest] - t) / math.sqrt(1 + t * t / (2 * df)))
    return float(sum(map(mul, weights, chances.tolist())))


@lru_cache(maxsize=4096)
def _scales(estimated: Parts) -> tuple[Floats, tuple[float, ...]]:
    """Estimated over true standard error with weights, at the nodes of Gauss and Hermite for every part: the true
    variance of a part is the estimated one times df / chi-square(df). One where it is known (no parts)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    scales = [(0.0 if estimated else 1.0, 1.0)]
    for share, df in estimated:
        variances = share * df / special.chdtri(df, special.ndtr(-nodes))
        each = list(zip(variances.tolist(), (weights / weights.sum()).tolist(), strict=True))
        scales = [(so_far + more, weight * own) for so_far, weight in scales for more, own in each]
    return np.array([1 / math.sqrt(variance) for variance, _ in scales]), tuple(weight for _, weight in scales)


# --------------------------------------------------------------------------- what a run says about its own errors
# Forecasts by the verdicts' own sampling distributions, as if verdicts were independent: how likely any fair judge is
# failed (at most the sum of what the families may spend), each judge that has none of the faults is not cleared all the
# same, and the run, recorded anew, turns red (a pass may be lost, and an accepted fault be no longer needed). `recuse
# validate` asks drawn files, without these approximations.


def error_rates(verdicts: Iterable[VerdictRow], false_fail: float) -> ErrorRates:
    """Of verdicts as results.json holds them; `false_fail` is what the gates file allows the run. `by_value` counts
    verdicts that the value alone decides: nobody knows their error rates, and they are left out."""
    known = sorted(verdicts, key=lambda v: (v["gate"], sorted(v["subject"].items())))
    families = {(f["name"], *sorted(f["within"].items())): f["alpha"] for v in known if (f := v["rule"]["family"])}
    by_value, at_most = sum(v["rule"]["family"] is None for v in known), round(math.fsum(families.values()), 4)
    red_again = round(1 - math.prod(_stays_green(v) for v in known), 4) if known else None
    sentence = ""
    if families and red_again is not None:
        sentence = f"judges without a fault fail in at most {percent(round(at_most, 3))} of such runs"
        sentence += f"; asked again, what is green now would turn red in about {percent(round(red_again, 2))} of them"
        if by_value:
            sentence += f" ({by_value} verdicts are not counted: the value decides, not its interval)"
    faults = ((v, fault) for v in known if (p := v.get("power")) and (fault := p["smallest_fault"]) is not None)
    gates = grouped(faults, lambda one: (one[0]["gate"], one[0]["rule"]["limit_text"], one[0]["estimate"]["unit"]))
    smallest: list[dict[str, Any]] = [
        {"gate": gate, "limit": limit, "unit": unit, "typical": float(f"{median(value for _, value in values):.4g}"),
         "worst": (min if "at_least" in values[0][0]["limit"] else max)(value for _, value in values)}
        for (gate, limit, unit), values in sorted(gates.items(), key=itemgetter(0))
    ]  # fmt: skip
    return {
        "false_fail": {"allowed": false_fail, "at_most": at_most, "families": len(families), "by_value": by_value},
        "judges": [*_judges(known)], "red_again": red_again, "smallest_faults": smallest, "sentence": sentence,
    }  # fmt: skip


def _judges(verdicts: list[VerdictRow]) -> Iterator[dict[str, Any]]:
    """By what each may lose; a gate that allows undecided is left out, as is one that cannot tell what fair is."""
    powerful = ((v["subject"], power, v["allowed"]) for v in verdicts if (power := v.get("power")))
    of_judges = (one for one in powerful if "judge" in one[0])
    judged = grouped(of_judges, lambda one: (one[0].get("panel", ""), one[0]["judge"]))
    for (panel, judge), own in sorted(judged.items(), key=itemgetter(0)):  # one less the chance that all pass
        counted = [power for _, power, allowed in own if not allowed]
        fair = 1 - math.prod(chance for power in counted if (chance := power["fair_passes"]) is not None)
        again = 1 - math.prod(power["same_again"] for power in counted)
        yield {"panel": panel, "judge": judge, "fair_not_cleared": round(fair, 4), "again_not_cleared": round(again, 4)}


def _stays_green(verdict: VerdictRow) -> float:
    """The chance that the run would be green on its account again; 1 where it is red by now, or its value decides."""
    power, accepted = verdict.get("power"), verdict["accepted_fault"]
    if power is None or verdict["outcome"] not in ("pass", "accepted"):
        return 1.0
    if verdict["outcome"] == "pass":
        return power["same_again"]
    outcomes = accepted["accept"].get("outcome") if accepted else None
    return 1.0 if outcomes and "fail" not in outcomes else 1 - power["same_again"]

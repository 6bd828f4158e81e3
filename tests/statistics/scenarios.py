"""Simulated ratings of the kinds that real judges give, and the distribution each interval is made from.

A family is a method; its scenarios say what is drawn, what is true, and between which coverages (per cent, at nominal
95 %) a large simulation may lie. Where scores lie on a grid and are mostly equal, no interval can come near 95 % from
above: whatever holds when all of them are equal holds most of the time. These say `grid`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recuse.papers.merchant_risk.repeat_noise import FixedTexts, mean_difference, noise_of
from recuse.papers.rank_tests import spearman
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_share, contrast, difference_of_means, own_against_others
from recuse.statistics.distributions import FisherZ

HALF_SCALE = (-0.5, 0.5)


@dataclass(frozen=True)
class Scenario:
    name: str
    distributions: Callable[[np.random.Generator, int], Iterable]
    true_value: float | Callable[[], float]  # called where it takes a large simulation of its own
    least: float = 93.5
    most: float = 97.0

    @cached_property
    def truth(self) -> float:
        return self.true_value() if callable(self.true_value) else self.true_value


def coverage(scenario: Scenario, sims: int, seed: int = 1) -> tuple[float, float]:
    """Share of intervals that hold the truth, and their mean width. An interval that is not given holds nothing."""
    rng = np.random.default_rng([seed, *scenario.name.encode()])
    ends = np.array([distribution.interval(0.95) for distribution in scenario.distributions(rng, sims)])
    slack = 1e-9
    held = (ends[:, 0] <= scenario.truth + slack) & (scenario.truth - slack <= ends[:, 1])
    return float(held.mean()), float(np.nanmean(ends[:, 1] - ends[:, 0]))


# --------------------------------------------------------------------------- contrasts of ten repeats

PEERS = np.array([1, -0.25, -0.25, -0.25, -0.25])


def contrasts(own, peers, truth, step):
    """A judge against four peers on one text: ten repeats each."""

    def distributions(rng, sims):
        for x in np.concatenate([own(rng, (sims, 1, 10)), peers(rng, (sims, 4, 10))], axis=1):
            deviations = x - x.mean(1, keepdims=True)
            thirds = (deviations**3).sum(1)
            yield contrast(PEERS, x.mean(1), x.var(1, ddof=1), np.full(5, 10), thirds=thirds, step=step)

    return distributions, truth


def normal(sd):
    return lambda rng, size: rng.normal(0, sd, size)


def two_grades(lower):
    return lambda rng, size: 5.0 - (rng.random(size) < lower)


def quiet(rng, size):
    return np.full(size, 4.0)


def ceiling(centre, sd, step):
    return lambda rng, size: np.round(np.minimum(10, rng.normal(centre, sd, size)) / step) * step


def mean_of(draw):
    return float(draw(np.random.default_rng(9), 1_000_000).mean())


def sd_of(draw):
    return float(draw(np.random.default_rng(9), 1_000_000).std())


def exponential(rng, size):
    return rng.exponential(1.0, size)


def lognormal(rng, size):
    return rng.lognormal(0, 1, size)


HARD, OFTEN = ceiling(10.3, 0.5, 0.2), ceiling(10.5, 1, 1.0)
CONTRASTS = [
    Scenario("normal", *contrasts(normal(1), normal(1), 0, 0.2)),
    Scenario("unequal noise", *contrasts(normal(1), normal(0.2), 0, 0.1)),
    Scenario("mild ceiling", *contrasts(*[ceiling(9.5, 0.5, 0.2)] * 2, 0, 0.2)),
    Scenario("hard ceiling (grid)", *contrasts(HARD, HARD, 0, 0.2), most=98.5),
    Scenario("whole scores at the ceiling (grid)", *contrasts(OFTEN, OFTEN, 0, 1.0), most=100),
    Scenario("grades 85:15 (grid)", *contrasts(two_grades(0.15), two_grades(0.15), 0, 1.0), most=100),
    Scenario("own slips 5 %, quiet peers (grid)", *contrasts(two_grades(0.05), quiet, 0.95, 1.0), most=100),
    Scenario("all slip 5 % (grid)", *contrasts(two_grades(0.05), two_grades(0.05), 0, 1.0), most=100),
    Scenario("exponential own cell", *contrasts(exponential, normal(0.1), 1, 0.01)),
    Scenario("exponential cells", *contrasts(exponential, exponential, 0, 0.01)),
    Scenario("lognormal own cell", *contrasts(lognormal, normal(0.1), math.exp(0.5), 0.01), least=93),
]

# --------------------------------------------------------------------------- how far two answers lie apart


def spreads(draw, step, truth=None, *, texts=5, repeats=10):
    def distributions(rng, sims):
        return (mean_difference(x, step) for x in draw(rng, (sims, texts, repeats)))

    return distributions, (lambda: gap_of(draw)) if truth is None else truth


def gap_of(draw):
    """Mean difference of two answers of 400,000 pairs to each of five texts."""
    x = draw(np.random.default_rng(9), (400_000, 5, 2))
    return float(np.abs(x[..., 0] - x[..., 1]).mean())


def tails(df):
    return lambda rng, size: rng.standard_t(df, size)


def unequal(rng, size):
    return rng.normal(0, 1, size) * np.resize([0.2, 0.5, 1, 1.5, 2], size[-2])[:, None]


T3 = 3 * math.sqrt(3) / math.pi
"""Mean difference of two values of Student's t with 3 degrees of freedom."""
SPREAD = [
    Scenario("normal", *spreads(normal(1), 0.02)),
    Scenario("unequal texts", *spreads(unequal, 0.02)),
    Scenario("t with 5 df", *spreads(tails(5), 0.02)),
    Scenario("t with 3 df", *spreads(tails(3), 0.02, T3)),
    Scenario("exponential", *spreads(exponential, 0.02, 1.0)),
    Scenario("hard ceiling", *spreads(HARD, 0.2)),
    Scenario("grades 85:15 (grid) ", *spreads(two_grades(0.15), 1, 0.255)),
    Scenario("slips of 5 % (grid)", *spreads(two_grades(0.05), 1, 0.095)),
    Scenario("slips of 2 % (grid)", *spreads(two_grades(0.02), 1, 0.0392)),
    Scenario("normal, 30 x 3", *spreads(normal(1), 0.02, texts=30, repeats=3)),
    Scenario("t with 3 df, 30 x 3", *spreads(tails(3), 0.02, T3, texts=30, repeats=3)),
    Scenario("slips of 5 %, 30 x 3 (grid)", *spreads(two_grades(0.05), 1, 0.095, texts=30, repeats=3)),
    Scenario("normal, 15 x 2", *spreads(normal(1), 0.02, texts=15, repeats=2)),
    Scenario("t with 3 df, 15 x 2", *spreads(tails(3), 0.02, T3, texts=15, repeats=2)),
    Scenario("normal, 5 x 3", *spreads(normal(1), 0.02, texts=5, repeats=3)),
    Scenario("normal, one text x 10", *spreads(normal(1), 0.02, texts=1)),
    Scenario("t with 3 df, one text x 10", *spreads(tails(3), 0.02, T3, texts=1)),
    Scenario("unequal texts, 30 x 4", *spreads(unequal, 0.02, texts=30, repeats=4)),
]

# --------------------------------------------------------------------------- reliability in telling texts apart


def reliabilities(texts, noise, repeats, draw=None):
    """`texts`: their true means; `noise`: the SD of their repeats. Texts are fixed."""
    u, s = np.asarray(texts, dtype=float), np.broadcast_to(np.asarray(noise, dtype=float), len(texts))
    between, draw = float(u.var(ddof=1)), draw or normal(1)

    def distributions(rng, sims):
        for x in u[:, None] + s[:, None] * draw(rng, (sims, len(u), repeats)):
            f = repeats * x.mean(1).var(ddof=1) / x.var(1, ddof=1).mean()
            yield FixedTexts(f, len(u), noise_of(x), repeats)

    return distributions, between / (between + float((s**2).mean()))


def heavy(rng, size):
    return rng.standard_t(4, size) / math.sqrt(2)


FIVE = [-1.2, -0.4, 0.1, 0.5, 1.6]
FIFTEEN = np.linspace(-1.5, 1.5, 15)
THIRTY = np.linspace(-1.5, 1.5, 30)
RELIABILITY = [
    Scenario("normal", *reliabilities(FIVE, 1, 10)),
    Scenario("skewed texts", *reliabilities([0, 0.1, 0.3, 0.7, 3], 0.5, 10)),
    Scenario("one bad text in ten", *reliabilities([-3, *[0] * 9], 1, 10)),
    Scenario("unequal noise", *reliabilities(FIFTEEN, np.exp(np.linspace(-1.2, 1.2, 15)), 10)),
    Scenario("heavy-tailed noise", *reliabilities(FIFTEEN, 1, 10, heavy)),
    Scenario("a hundred texts, three repeats", *reliabilities(np.linspace(-1.5, 1.5, 100), 1, 3)),
    Scenario(
        "t with 3 df", *reliabilities(FIFTEEN, 1, 10, lambda rng, size: tails(3)(rng, size) / math.sqrt(3)), least=93
    ),
    Scenario("unequal noise, 30 x 3", *reliabilities(THIRTY, np.exp(np.linspace(-1, 1, 30)), 3), least=93),
]

# --------------------------------------------------------------------------- means within the ends of a scale


def bounded(draw, clusters, size, truth, ends=HALF_SCALE, slip=None):
    groups = np.repeat(np.arange(clusters), size)

    def distributions(rng, sims):
        for x in draw(rng, (sims, clusters, size)):
            yield bounded_mean(x.ravel(), groups, ends, slip=slip)

    return distributions, truth


def comparisons(first, second, alike=0.0):
    """Values 1/2, -1/2 or 0 of a pair by the chance that either place wins it whatever stands there; `alike`: the share
    of a story's pairs that are decided together."""

    def draw(rng, size):
        u = rng.random(size)
        if alike:
            u = np.where(rng.random((*size[:2], 1)) < alike, rng.random((*size[:2], 1)), u)
        return np.where(u < first, 0.5, np.where(u < first + second, -0.5, 0.0))

    return draw


def rare(share):
    return lambda rng, size: (rng.random(size) < share) * 1.0


def grades(mean, sd):
    return lambda rng, size: np.clip(np.round(rng.normal(mean, sd, size)), -4, 4)


def own_text(shift):
    """A judge against the mean of four peers on its own text, less the same on another: whole scores on 0-10, SD 0.5;
    with a large shift no difference lies below 0."""

    def draw(rng, size):
        def means(above, raters):
            return np.round(5 + above + rng.normal(0, 0.5, (*size, raters))).mean(axis=-1)

        return means(shift, 1) - means(0.0, 4) - (means(0.0, 1) - means(0.0, 4))

    return draw


FIVE_GRADES = (-4.0, 4.0)
BOUNDED_MEANS = [
    Scenario("fair, 80 % consistent, 15 x 2 (grid)", *bounded(comparisons(0.1, 0.1), 15, 2, 0), most=99),
    Scenario("fair, 80 % consistent, 100 x 1", *bounded(comparisons(0.1, 0.1), 100, 1, 0)),
    Scenario("fair, 80 % consistent, 30 x 6", *bounded(comparisons(0.1, 0.1), 30, 6, 0), most=97.5),
    Scenario("first place half the time, 100 x 1", *bounded(comparisons(0.5, 0.02), 100, 1, 0.24)),
    Scenario("first place half the time, 15 x 2", *bounded(comparisons(0.5, 0.02), 15, 2, 0.24), most=98.5),
    Scenario("first place 9 in 10, 100 x 1", *bounded(comparisons(0.9, 0), 100, 1, 0.45), most=97.5),
    Scenario("stories hang together, 30 x 6", *bounded(comparisons(0.5, 0.02, 0.6), 30, 6, 0.24), most=97.5),
    Scenario("few clusters, alike and rare, 20 x 5", *bounded(comparisons(0.1, 0, 0.6), 20, 5, 0.05), most=99),
    Scenario("difference 1 in 3 % of 100 (grid)", *bounded(rare(0.03), 100, 1, 0.03, FIVE_GRADES, slip=1.0), most=100),
    Scenario("difference 1 in 2 % of 100 (grid)", *bounded(rare(0.02), 100, 1, 0.02, FIVE_GRADES, slip=1.0), most=100),
    Scenario("grades, SD 0.7, 30", *bounded(grades(0.5, 0.7), 30, 1, 0.5, FIVE_GRADES, slip=1.0)),
    Scenario("grades, SD 1.5, 100", *bounded(grades(0, 1.5), 100, 1, 0, FIVE_GRADES, slip=1.0)),
    Scenario("own text 2 higher, 30", *bounded(own_text(2.0), 30, 1, 2.0, (-20.0, 20.0), slip=1.0)),
    Scenario("own text 2 higher, 15", *bounded(own_text(2.0), 15, 1, 2.0, (-20.0, 20.0), slip=1.0)),
    Scenario("normal, 30", *bounded(normal(0.3), 30, 1, 0, FIVE_GRADES, slip=1.0)),
]

# --------------------------------------------------------------------------- clustered shares


def shares(p, clusters, size, alike):
    groups = np.repeat(np.arange(clusters), size)

    def distributions(rng, sims):
        u = rng.random((sims, clusters, size))
        u = np.where(rng.random((sims, clusters, 1)) < alike, rng.random((sims, clusters, 1)), u)
        for x in u < p:
            yield clustered_share(x.ravel(), groups)

    return distributions, p


SHARES = [
    Scenario("p = 0.1, 15 x 4, alike 0.6 (grid)", *shares(0.1, 15, 4, 0.6), most=100),
    Scenario("p = 0.1, 100 x 4, alike 0.3", *shares(0.1, 100, 4, 0.3), most=98),
    Scenario("p = 0.5, 30 x 4, alike 0.3", *shares(0.5, 30, 4, 0.3), most=98),
]

# --------------------------------------------------------------------------- ranks, single texts


def ranks(rho, n, grid):
    """Spearman's rho of n bivariate normal pairs, cut into five grades where `grid`."""
    cuts = np.array([-1.2, -0.4, 0.4, 1.2])

    def pairs(rng, size):
        x = rng.normal(size=size)
        y = rho * x + math.sqrt(1 - rho**2) * rng.normal(size=size)
        return (np.digitize(x, cuts), np.digitize(y, cuts)) if grid else (x, y)

    def distributions(rng, sims):
        found = spearman(*pairs(rng, (sims, n)))
        return (FisherZ(float(value), n) for value in found if abs(value) < 1)

    return distributions, lambda: float(spearman(*pairs(np.random.default_rng(3), (1, 400_000)))[0])


def single_text(texts, spread):
    """A judge's deviations on its own text and on the others', nothing being special about its own."""

    def distributions(rng, sims):
        for x in spread(rng, (sims, texts)):
            yield own_against_others(x[:1], x[1:])

    return distributions, 0.0


def items_and_repeats(items, repeats, between, within):
    """The mean over items that differ, of the means of repeats that differ."""

    def distributions(rng, sims):
        means = rng.normal(0, between, (sims, items)) + rng.normal(0, within, (sims, items, repeats)).mean(2)
        every = np.ones(items, dtype=bool)
        return (difference_of_means(x, every, None, np.arange(items)) for x in means)

    return distributions, 0.0


RANKS = [
    Scenario("rho 0.5, 15 pairs", *ranks(0.5, 15, False)),
    Scenario("rho 0.5, 8 pairs of five grades", *ranks(0.5, 8, True), most=98),
    Scenario("rho 0.95, 15 pairs of five grades", *ranks(0.95, 15, True), least=92.5),
    Scenario("rho 0.8, 60 pairs of five grades", *ranks(0.8, 60, True)),
]
SINGLE_TEXTS = [
    Scenario("five texts", *single_text(5, normal(0.25))),
    Scenario("fifteen texts", *single_text(15, normal(0.25))),
    Scenario("30 items x 3 repeats", *items_and_repeats(30, 3, 0.4, 0.6)),
    Scenario("30 items x 1 repeat", *items_and_repeats(30, 1, 0.4, 0.6)),
    Scenario("five texts, heavy tails", *single_text(5, tails(3)), least=92.5),
]

FAMILIES = {
    "contrasts": CONTRASTS, "spread": SPREAD, "reliability": RELIABILITY, "bounded": BOUNDED_MEANS, "shares": SHARES,
    "ranks": RANKS, "texts": SINGLE_TEXTS,
}  # fmt: skip

"""Whether an upgrade lies further from people than the judge in use: by level, order, decisions, and on some slice.

What people said is the measure, not what the judge in use said: a candidate that moves towards people, or mends errors
of the judge in use, differs from it and is no worse. Where nobody rated the texts, `scores` and `decisions` hold the
candidate against the judge in use, and nobody knows who is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import NOBODY, SHARES, Pair, graded, rank_change, rank_sums, span_of
from recuse.metrics.upgrade.people import worst_of_slices
from recuse.metrics.upgrade.scores import could_hide, level_change
from recuse.ratings.answers import WON, shares_of
from recuse.ratings.array import mean_of
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.distributions import Sampled, why_undefined

METHOD = "difference of two distances from people over the same texts, t, both signs of either"

describe(
    "upgrade_human_offset", "further from the level of people", signed=True, rank=10, bad="above",
    above="scores further from your people",
    reading="How far the candidate's mean lies from people's on the same texts, whichever way, less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_human_order", "order of texts by people", signed=True, rank=12, bad="below",
    below="orders the texts less like your people",
    reading="Rank correlation of one answer of the candidate with one person's, less that of the incumbent.",
)  # fmt: skip
describe(
    "upgrade_human_decisions", "decisions unlike people", unit="share", signed=True, rank=14, bad="above",
    above="decides otherwise than your people more often",
    reading="Share of texts on which one answer of the candidate decides otherwise than one person, less that of the "
    "incumbent.",
)  # fmt: skip
describe(
    "upgrade_slice_offset", "further from people on its worst slice", signed=True, rank=22, bad="above",
    above="scores one slice further from your people",
    reading="How much further than the incumbent the candidate lies from people on a system, a topic, a language.",
)  # fmt: skip


def offset(pair: Pair) -> Estimate | None:
    """|mean of candidate - people| - |mean of incumbent - people|, over the texts that all of them answered.

    0.5 on 0 to 10: the incumbent lies 0.2 above people, the candidate 0.7 above or below them. Of more than two
    options, or options without an order, the share of answers for which it grows most. None for choices between two
    texts, whose names a and b mean nothing. Texts that one of the judges never answered widen it by what they hide."""
    answers = pair.answers
    if answers.options == WON:
        return None
    old, new, people = pair.averaged()
    used = np.isfinite(old[:, 0]) & np.isfinite(new[:, 0]) & np.isfinite(people[:, 0])
    if not used.any():
        return pair.no_change("upgrade_human_offset", NOBODY, span=span_of(answers))
    levels, hidden, detail = (old - people, new - people), 0.0, {}
    if answers.counts:
        rated = (np.where(np.isfinite(people), given, np.nan)[:, 0] for given in (old, new))
        hidden = max(could_hide(answers, *rated))
        detail = {"people": answers.mean(people[:, 0], used), "shift": answers.mean((new - old)[:, 0], used)}
    parts = [_further(pair, *apart, used) for apart in zip(levels[0].T, levels[1].T, strict=True)]
    return level_change(
        "upgrade_human_offset", pair, parts, levels, used, (hidden, hidden), detail, both=False, method=METHOD
    )


def order_of_people(pair: Pair) -> Estimate | None:
    """Spearman's rank correlation of single answers, candidate with one person, less incumbent with one person:

        rho(new, person) - rho(old, person)

    Answers are graded by the share of the rater's kind that lies below (mid-ranks), and products of different answers
    to a text are averaged, so more repeats or people make neither correlation higher. Jackknife over texts or clusters.
    None for options without an order, for two options (decisions say it all), and where people gave every text the
    same: there is no order to follow."""
    answers = pair.answers
    if answers.options and (not answers.ordered or len(answers.options) == 2):
        return None
    people = graded(answers.rated, answers.times)
    by_both = np.isfinite(answers.judged[:2]).any(axis=2).all(axis=0)
    used: Mask = np.logical_and(by_both, np.isfinite(people).any(axis=(0, 2)))
    if answers.number(used) < 4:
        return pair.no_change("upgrade_human_order", "an order takes four texts that people and both judges answered")
    person, squares = (mean_of(mean_of(one, axis=2), axis=0) for one in (people, people**2))
    if np.nanstd(person[used]) < 1e-9:
        return None
    judged = (graded(given, answers.times) for given in answers.judged[:2])
    old, new = (rank_sums(used, mean_of(own, axis=1), person, mean_of(own**2, axis=1), squares) for own in judged)
    return rank_change("upgrade_human_order", pair, used, new, old)


def errors(pair: Pair) -> Estimate | None:
    """P(one answer of the candidate decides otherwise than one person) less the same of the incumbent, over texts.

    Options decide as they are, numbers by the side of the thresholds; None without a threshold."""
    answers = pair.answers
    given, people = pair.codes(answers.judged[:2]), pair.codes(answers.rated)
    if given is None or people is None:
        return None
    theirs = mean_of(shares_of(*people), axis=0)
    old, new = (1 - (shares_of(own, given[1]) * theirs).sum(axis=1) for own in given[0])
    detail: dict[str, object] = {"thresholds": list(pair.thresholds)} if pair.thresholds else {}
    return pair.change_of_means("upgrade_human_decisions", old, new, NOBODY, detail=detail, **SHARES)


def worst_slice_offset(pair: Pair) -> Estimate | None:
    """The largest growth of the distance from people (`offset`) over slices, the levels of the texts' columns and of
    target with at least 12 texts. None where there is none to look at, and for options that have no mean."""
    answers = pair.answers
    if not answers.counts:
        return None
    old, new = answers.judge_means[:2] - answers.people_mean
    return worst_of_slices(
        "upgrade_slice_offset", pair, old, new, lambda inside: _further(pair, old, new, inside), **pair.unit_and_span
    )


# --------------------------------------------------------------------------- one distance less the other


def _further(pair: Pair, old: Floats, new: Floats, used: Mask) -> Further:
    """|mean of new| - |mean of old| over the texts `used`, paired; both are distances from people."""
    a, b = (np.where(used, apart, np.nan) for apart in (new, old))
    span = span_of(pair.answers)
    return Further(*(pair.mean_change(moved, span=wide) for moved, wide in
                     ((a, span), (a - b, span), (a + b, 2 * span))))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Further(Sampled):
    """|a| - |b| of two means over the same texts, from the distributions of a, a - b and a + b.

        |a| - |b| = max over s of min over t of s a - t b,    s, t = -1, 1

    That it lies below a limit takes both signs s below it, each for one of two t, or s a by itself, since |b| takes
    nothing away but what it is. One of three may do, so a - b has half of the level, a + b and a a quarter each
    (Bonferroni): a b that only looks far from 0 helps nobody. Of a judge asked again a - b decides, where the texts'
    own differences cancel. That it lies above takes one of two s with both t, each at half the level."""

    first: Distribution
    difference: Distribution
    sum: Distribution

    @property
    def value(self) -> float:
        """|a| - |b|."""
        moved, both = (float(getattr(d, "value", math.nan)) for d in (self.difference, self.sum))
        return abs(both + moved) / 2 - abs(both - moved) / 2

    @property
    def undefined(self) -> str:
        return why_undefined(self.first, self.difference, self.sum)

    def _ends(self, alpha: float) -> tuple[float, float]:
        pair = (self.difference, self.sum)
        half, quarter = 1 - alpha, 1 - alpha / 2
        lows, highs = zip(*(d.interval(half) for d in pair), strict=True)
        low = max(min(lows), -max(highs))
        ends = (self.difference.interval(half), self.sum.interval(quarter), self.first.interval(quarter))
        least, most = zip(*ends, strict=True)
        high = max(min(most), -max(least))
        return min(low, high), high

    def _half_width_at(self, factor: float) -> float | None:
        moved, both = (float(getattr(d, "value", math.nan)) for d in (self.difference, self.sum))
        return (self.difference if abs(both) >= abs(moved) else self.sum).half_width_at(factor)

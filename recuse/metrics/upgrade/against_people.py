"""Whether an upgrade agrees with people as the judge in use does, text by text; whether it lies further from them by
level, order or decisions; and where it is worst, on one system, topic or language, however good it is on the whole.

What people said is the measure, not what the judge in use said: a candidate that moves towards people, or mends errors
of the judge in use, differs from it and is no worse. Where nobody rated the texts, `scores` holds the
candidate against the judge in use, and nobody knows who is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recuse.metrics.agreement_estimates import too_few
from recuse.metrics.estimates import SHARES
from recuse.metrics.human_ceiling import TwoKappas, distances_of, points
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import NOBODY, Pair, graded, rank_change, rank_sums, span_of, step_of
from recuse.metrics.upgrade.scores import could_hide, level_change
from recuse.ratings.answers import WON, Answers, shares_of
from recuse.ratings.array import mean_of
from recuse.ratings.text_slices import Slices, slices_of
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, Mask, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.agreement.options import mean_distance
from recuse.statistics.distributions import Folded, Largest, Sampled, Student, why_undefined

METHOD = "agreement beyond chance, candidate less incumbent on the same texts, jackknife over texts, t"
DISTANCES = "difference of two distances from people over the same texts, t, both signs of either"
FEWEST = 12  # texts below which a slice is not looked at
OVER_SLICES = "largest change over slices: every slice at its own level to pass, Bonferroni over all of them to fail"

describe(
    "upgrade_agreement", "agreement with people", signed=True, rank=2, bad="below",
    below="agrees with your people less", above="agrees with your people better",
    reading="Agreement beyond chance with one person, the candidate's less the incumbent's on the same texts.",
)  # fmt: skip
describe(
    "upgrade_human_offset", "further from the level of people", signed=True, rank=10,
    above="scores further from your people",
    reading="How far the candidate's mean lies from people's on the same texts, whichever way, less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_human_order", "order of texts by people", signed=True, rank=12,
    below="orders the texts less like your people",
    reading="Rank correlation of one answer of the candidate with one person's, less that of the incumbent.",
)  # fmt: skip
describe(
    "upgrade_human_decisions", "decisions unlike people", unit="share", signed=True, rank=14,
    above="decides otherwise than your people more often",
    reading="Share of texts on which one answer of the candidate decides otherwise than one person, less that of the "
    "incumbent.",
)  # fmt: skip
describe(
    "upgrade_slice_offset", "further from people on its worst slice", signed=True, rank=22,
    above="scores one slice further from your people",
    reading="How much further than the incumbent the candidate lies from people on a system, a topic, a language.",
)  # fmt: skip
describe(
    "upgrade_slice_shift", "shift on its worst slice", rank=22, above="scores one slice otherwise",
    reading="The largest shift, of any sign, that a slice of the texts has: a system, a topic, a language.",
)  # fmt: skip
describe(
    "upgrade_slice_agreement", "agreement with people lost on its worst slice", rank=6,
    above="agrees with your people less on one slice",
    reading="The largest loss of agreement with people, text by text, that a slice of the texts has.",
)  # fmt: skip


def agreement_with_people(pair: Pair) -> Estimate | None:
    """A candidate's agreement beyond chance with one person, less the incumbent's:

        answered_new kappa_new - answered_old kappa_old,    kappa = 1 - D_o / D_e

    over the texts that people rated and both answered, so that nobody gains by what it leaves out; what one did not
    answer counts as answered by chance. D are unequal options, squared distances of options in order, or of numbers.
    Of numbers asked repeatedly, D is that of the judge's mean over infinitely many repeats (products of different
    repeats), so a noisier judge of equal true error neither gains nor loses. Labels may be one person's, or true
    values. None where nobody rated anything; no interval with fewer than 20 labels outside the commonest option."""
    answers = pair.answers
    rated, got = answers.raters > 0, np.isfinite(answers.judged[:2]).any(axis=2)
    used = np.asarray(rated & got.all(axis=0))
    if not rated.any():
        return None
    if not used.any():
        return pair.no_change("upgrade_agreement", NOBODY)
    kappas, share = kappas_of(answers, used), [answers.mean(one, rated) for one in got.astype(float)]

    def gain(s: Floats) -> Floats:
        before, after = kappas.of(s)
        return np.asarray(share[1] * after - share[0] * before)

    coefficient = Coefficient(kappas.shares, gain, lambda s: "", times=taken(answers.times, used))
    sums = coefficient.sums[None]
    old, new = (float(value[0]) for value in kappas.of(sums))
    if not (math.isfinite(old) and math.isfinite(new)):
        return pair.no_change("upgrade_agreement", "people, and a judge, gave every text one and the same answer")
    distribution = coefficient.jackknife(answers.clusters[used])
    assert isinstance(distribution, Student)
    labels = np.array([answers.number(used)], dtype=float)
    if answers.options:
        labels = total(np.nan_to_num(answers.evened(answers.people_shares[used])), taken(answers.times, used))
    few = too_few(answers.options, labels)
    se = math.nan if few else math.hypot(distribution.se, one_text(answers, kappas, sums) / answers.cluster_count(used))
    values, detail = (share[0] * old, share[1] * new), {"answered": [float(v) for v in share]}
    wider = Student(distribution.value, se, distribution.df)
    return pair.change("upgrade_agreement", wider, values, used, method=METHOD, note=few, detail=detail)


def kappas_of(answers: Answers, used: Mask) -> TwoKappas:
    """The incumbent's and the candidate's, on the texts in use."""
    if answers.options:
        judged, people = answers.judge_shares[:2], answers.people_shares
    else:
        middle = float(np.nanmean(answers.people_mean[used]))
        people = mean_of(points(mean_of(answers.rated - middle, axis=2)[..., None]), axis=0)
        given = answers.judged[:2] - middle
        judged, n = points(given), np.isfinite(given).sum(axis=2)
        # of most texts asked twice of both, two different answers' product stands in the place of the square
        if min(answers.mean(one, used) for one in (n > 1).astype(float)) > 0.5:
            squares = (n * judged[..., 1]) ** 2 - np.nansum(given**2, axis=2)
            crossed = ratio(squares, (n * (n - 1)).astype(float))
            judged[..., 2] = np.where(np.isfinite(crossed), crossed, judged[..., 2])
    judged, people, apart = np.nan_to_num(judged)[:, used], np.nan_to_num(people)[used], distances_of(answers)
    columns = [*np.ones((2, len(people))), *mean_distance(judged, people, apart)]
    return TwoKappas(np.column_stack([*columns, *map(answers.evened, (*judged, people))]), apart)


def one_text(answers: Answers, kappas: TwoKappas, s: Floats) -> float:
    """What one more text of disagreement takes from a kappa, times the number of texts, of sums (1, F)."""
    expected = [float(e[0]) for e in kappas.expected(s)]
    if answers.options:
        return 1 / max(min(expected), 1e-9)
    step, observed = step_of(answers), max(float(s[0, 2] / s[0, 0]), 0.0)
    return (2 * math.sqrt(observed) * step + step**2) / max(expected[0], 1e-9)


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
        "upgrade_human_offset", pair, parts, levels, used, (hidden, hidden), detail, both=False, method=DISTANCES
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
    used: Mask = np.isfinite(answers.judged[:2]).any(axis=2).all(axis=0) & (answers.raters > 0)
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


def worst_slice_shift(pair: Pair) -> Estimate | None:
    """Largest |candidate - incumbent| over slices, the levels of the texts' columns and of target (`slices_of`) with at
    least 12 texts. None where there is none to look at, and for options that have no mean."""
    if not pair.answers.counts:
        return None
    return worst_of_slices("upgrade_slice_shift", pair, *pair.answers.judge_means[:2], both=True, **pair.unit_and_span)


def worst_slice_agreement(pair: Pair) -> Estimate | None:
    """Largest loss of agreement with people over slices, from -1 to 1 per text: the chance of the same option; of
    numbers, 1 less the mean distance of one answer as a share of the range. None without people."""
    answers = pair.answers
    if not len(answers.people):
        return None
    if answers.options:
        old, new = ((answers.judge_shares[j] * answers.people_shares).sum(axis=1) for j in (0, 1))
    else:
        apart = (mean_of(np.abs(answers.judged[j] - answers.people_mean[:, None]), axis=1) for j in (0, 1))
        old, new = (1 - distance / span_of(answers) for distance in apart)
    return worst_of_slices("upgrade_slice_agreement", pair, new, old, shown=False, **SHARES)


def worst_of_slices(
    metric: str, pair: Pair, old: Floats, new: Floats, within: Callable[[Mask], Distribution] | None = None, *,
    span: float, unit: str, both: bool = False, shown: bool = True,
) -> Estimate | None:  # fmt: skip
    """The largest change (`both`: of any sign) from `old` to `new` (U,) on a slice, the mean one unless `within` says
    another, of slices with at least 12 texts that have both; `shown`: with the two judges' means there. None where
    there is no such slice."""
    answers, there = pair.answers, np.isfinite(new - old)
    within = within or (lambda inside: pair.mean_change(np.where(inside, new - old, np.nan), span=span))
    part, texts = answers.part, answers.number
    every: Slices = (
        part.remember("slices of an upgrade", lambda: slices_of(answers)[0]) if part else slices_of(answers)[0]
    )
    looked = {name: members & there for name, members in every.items() if texts(members & there) >= FEWEST}
    if not looked:
        return None
    parts: dict[tuple[str, str], Any] = {name: within(on) for name, on in looked.items()}
    size = {name: abs(part.value) if both else part.value for name, part in parts.items()}
    worst = max(looked, key=lambda name: size[name])
    detail = {"slice": {"column": worst[0], "level": worst[1]}, "looks": len(looked)}
    values = (answers.mean(old, looked[worst]), answers.mean(new, looked[worst])) if shown else (math.nan, math.nan)
    largest = Largest(tuple(map(Folded, parts.values()) if both else parts.values()))
    return pair.change(
        metric, largest, values, there, value=size[worst], span=span, method=OVER_SLICES, unit=unit, detail=detail
    )  # fmt: skip

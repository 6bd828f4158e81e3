"""Whether an upgrade agrees with people as the judge in use does, text by text; and where it is worst: on one system,
topic or language, however good it is on the whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import too_few
from recuse.metrics.human_ceiling import distances_of, mean_distance, points
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import NOBODY, SHARES, Pair, span_of, step_of
from recuse.ratings.answers import Answers
from recuse.ratings.array import mean_of
from recuse.ratings.text_slices import Slices, slices_of
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, Mask, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.distributions import Student
from recuse.statistics.multiplicity import Folded, Largest

METHOD = "agreement beyond chance, candidate less incumbent on the same texts, jackknife over texts, t"

describe(
    "upgrade_agreement", "agreement with people", signed=True, rank=2, bad="below",
    below="agrees with your people less", above="agrees with your people better",
    reading="Agreement beyond chance with one person, the candidate's less the incumbent's on the same texts.",
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
    if not len(answers.people):
        return None
    rated: NDArray[np.bool_] = np.asarray(np.isfinite(answers.rated).any(axis=(0, 2)))
    got: NDArray[np.bool_] = np.asarray(np.isfinite(answers.judged[:2]).any(axis=2))
    used = np.asarray(rated & got.all(axis=0))
    if not rated.any():
        return None
    if not used.any():
        return pair.no_change("upgrade_agreement", NOBODY)
    kappas = _Kappas.on(answers, used)
    sums = total(kappas.shares, taken(answers.times, used))[None]
    share = [answers.mean(one, rated) for one in got.astype(float)]
    old, new = (float(value[0]) for value in kappas.of(sums))
    if not (math.isfinite(old) and math.isfinite(new)):
        return pair.no_change("upgrade_agreement", "people, and a judge, gave every text one and the same answer")

    def gain(s: Floats) -> Floats:
        before, after = kappas.of(s)
        return np.asarray(share[1] * after - share[0] * before)

    coefficient = Coefficient(kappas.shares, gain, lambda s: "", times=taken(answers.times, used))
    distribution = coefficient.jackknife(answers.clusters[used])
    assert isinstance(distribution, Student)
    labels = np.array([answers.number(used)], dtype=float)
    if answers.options:
        labels = total(np.nan_to_num(answers.evened(answers.people_shares[used])), taken(answers.times, used))
    few = too_few(answers.options, labels)
    se = math.nan if few else math.hypot(distribution.se, kappas.one_text(sums) / answers.cluster_count(used))
    return pair.change(
        "upgrade_agreement", Student(distribution.value, se, distribution.df), (share[0] * old, share[1] * new),
        used, method=METHOD, note=few, detail={"answered": [float(v) for v in share]},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Kappas:
    """Of the texts in use, `shares` (U, F) of the sums: 1, both judges' distances from people, then the points of both
    judges and of people (`recuse.metrics.human_ceiling.points`)."""

    answers: Answers
    shares: Floats
    apart: Floats

    @classmethod
    def on(cls, answers: Answers, used: Mask) -> _Kappas:
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
        columns = [np.ones(len(people)), *mean_distance(judged, people, apart)]
        return cls(answers, np.column_stack([*columns, *map(answers.evened, (*judged, people))]), apart)

    def chance(self, s: Floats) -> list[Floats]:
        """What both distances would be by chance, of sums (B, F)."""
        old, new, people = np.split(s[:, 3:] / np.maximum(s[:, :1], 1e-300), 3, axis=1)
        return [mean_distance(own, people, self.apart) for own in (old, new)]

    def of(self, s: Floats) -> tuple[Floats, Floats]:
        """The incumbent's kappa and the candidate's."""
        old, new = (1 - ratio(ratio(s[:, 1 + j], s[:, 0]), e) for j, e in enumerate(self.chance(s)))
        return old, new

    def one_text(self, s: Floats) -> float:
        """What one more text of disagreement takes from a kappa, times the number of texts, of sums (1, F)."""
        expected = [float(e[0]) for e in self.chance(s)]
        if self.answers.options:
            return 1 / max(min(expected), 1e-9)
        step, observed = step_of(self.answers), max(float(s[0, 1] / s[0, 0]), 0.0)
        return (2 * math.sqrt(observed) * step + step**2) / max(expected[0], 1e-9)


FEWEST = 12
"""Texts below which a slice is not looked at."""
OVER_SLICES = "largest change over slices: every slice at its own level to pass, Bonferroni over all of them to fail"

describe(
    "upgrade_slice_shift", "shift on its worst slice", rank=22, bad="above", above="scores one slice otherwise",
    reading="The largest shift, of any sign, that a slice of the texts has: a system, a topic, a language.",
)  # fmt: skip
describe(
    "upgrade_slice_agreement", "agreement with people lost on its worst slice", rank=6, bad="above",
    above="agrees with your people less on one slice",
    reading="The largest loss of agreement with people, text by text, that a slice of the texts has.",
)  # fmt: skip


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
        metric, largest, values, there, value=size[worst], span=span, method=OVER_SLICES,
        unit=unit, detail=detail,
    )  # fmt: skip

"""Slices: is there a system, a topic or a language on which the judge agrees with people less than elsewhere, or that
it favours against people? Where right answers are known, these stand in people's place.

Which slice is the worst is not known. That all lie within a limit takes every one of them within it, each at its own
level; that one lies beyond takes one beyond it after looking at all (`Largest`)."""

from __future__ import annotations

import math

import numpy as np

from recuse.metrics.agreement_estimates import agreement_by_text, span_of, unmet
from recuse.metrics.estimates import SHARES, estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_against_truth
from recuse.ratings.text_slices import FEWEST, FEWEST_OF_A_SYSTEM, Slices, large_enough, slices_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask, cluster_times, taken, total
from recuse.statistics.agreement.coefficient import Difference
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.distributions import Folded, InUnits, Largest

OVER_SLICES = "every slice at its own level to pass, Bonferroni over all of them to fail"
METHOD = f"agreement within the slice less elsewhere, each mean bounded, joined (MOVER); {OVER_SLICES}"
FAVOUR = f"judge less people within the slice, less the same elsewhere, bounded and joined; {OVER_SLICES}"


@measure(
    "worst_slice", "agreement on its worst slice", signed=True, rank=380, counts=True,
    below="agrees with people less on one slice than elsewhere",
    reading="Agreement with people on the slice where it is lowest, less agreement elsewhere; the interval is that of "
    "the lowest of all slices.",
)  # fmt: skip
@per_judge(answers_against_truth, *COMPARED)
def worst_slice(answers: Answers, judge: int, columns: tuple[str, ...] | None = None) -> Estimate:
    """Smallest difference, over slices, between agreement within and outside the slice, by judge and factor level.

    Agreement of a text is the share of people that give the judge's answer; of numbers, 1 less the mean absolute
    difference as a share of the scale's range. Slices are the levels of `columns` of `ratings.texts` (and `target`), by
    default of all columns with up to 30 levels; one with fewer than 20 texts (a system: 10) within or outside is not
    looked at. The slice shown is the one that is surest to be low. The interval is that of the smallest of the true
    differences, whichever slice it is: from the smallest of the lower ends to the smallest of the upper ends, these
    corrected for all slices (Bonferroni). Detail: `slice`, and `slices` with mean, n and corrected p. Undefined where
    there is nothing to look at. Raises `RecuseError` for a column that the texts do not have.

    >>> worst_slice(rated(judge="pf" * 50, ann="pf" * 50)).of(judge="judge").note
    'undefined: the texts have no column to slice by, such as system, topic or language'
    """
    return _of_one("worst_slice", answers, agreement_by_text(answers, judge), *_slices(answers, columns))


@measure(
    "slice_favour", "favour to one slice against people", signed=True, unit="share", rank=381, counts=True,
    above="favours one slice against people", below="marks one slice down against people",
    reading="The judge's mean less people's on one slice, less the same elsewhere, as a share of the scale's range; "
    "the slice where this is surest not to be 0. The interval is that of the largest of all slices, of any sign.",
)  # fmt: skip
@per_judge(answers_against_truth, *COMPARED)
def slice_favour(answers: Answers, judge: int, columns: tuple[str, ...] | None = None) -> Estimate:
    """(judge - people) within a slice less (judge - people) outside it, of the slice where it is surest to be large, by
    judge and factor level; in shares of the scale's range, two options in order counting as 0 and 1.

    Slices, correction and detail as for `worst_slice`. A judge that is generous to everyone has 0: what counts is that
    one system, topic or language gains on the others. Undefined where answers have no order or nothing can be sliced.

    >>> slice_favour(rated(judge="pf" * 50, ann="pf" * 50)).of(judge="judge").note
    'undefined: the texts have no column to slice by, such as system, topic or language'
    """
    if nothing := unmet("slice_favour", answers, "numbers", FAVOUR):
        return nothing
    apart = (answers.judge_means[judge] - answers.people_mean) / max(span_of(answers), 1e-12)
    return _of_one("slice_favour", answers, apart, *_slices(answers, columns))


def _slices(answers: Answers, names: tuple[str, ...] | None) -> tuple[Slices, int]:
    part = answers.part
    assert part is not None
    return part.remember(("slices", names), lambda: slices_of(answers, names))


def _of_one(metric: str, answers: Answers, values: Floats, slices: Slices, columns: int) -> Estimate:
    """The difference of mean `values` (U,) within and outside the slice where it is surest to be large."""
    there, two_sided = np.isfinite(values), metric == "slice_favour"
    facts = answers.facts(there, method=FAVOUR if two_sided else METHOD)
    looked = {}
    for name, members in slices.items():
        within, outside = members & there, ~members & there
        if large_enough(name[0], answers.number(within), answers.number(outside)):
            difference = _less_elsewhere(answers, values, within, outside, -1.0 if two_sided else 0.0)
            if not difference.undefined:  # the texts of a slice may all be of one cluster
                looked[name] = (within, difference)
    if not looked:
        why = (
            f"no slice has {FEWEST} texts rated by both, within and outside, and no system {FEWEST_OF_A_SYSTEM}"
            if columns else "the texts have no column to slice by, such as system, topic or language"
        )  # fmt: skip
        return undefined(metric, why, **facts)
    size = {name: Folded(one) if two_sided else InUnits(one, 0.0, -1.0) for name, (_, one) in looked.items()}
    tests = len(looked) * (2 if two_sided else 1)  # Bonferroni over slices and sides
    p = {name: min(1.0, tests * one.p_value(0.0, "above")) for name, one in size.items()}
    surely = {name: max(0.0, one.interval(1 - 0.05 / len(looked))[0]) for name, one in size.items()}

    def sureness(name: tuple[str, str]) -> tuple[float, ...]:
        """Of two slices, one gains what the other loses: the gain is shown."""
        value = looked[name][1].value
        return (*(float(f"{x:.9g}") for x in (surely[name], -p[name])), value if two_sided else -value)

    worst = max(looked, key=sureness)
    value = looked[worst][1].value
    listed = [
        {"column": name[0], "level": name[1], "n": answers.number(within),
         "mean": number(answers.mean(values, within)), "difference": number(distribution.value),
         "p": float(f"{p[name]:.6g}")}
        for name, (within, distribution) in sorted(looked.items(), key=lambda entry: p[entry[0]])
    ]  # fmt: skip
    detail = {"slice": {"column": worst[0], "level": worst[1]}, "looks": len(looked), "slices": listed, **answers.held}
    note = "" if p[worst] < 0.05 else f"none of {len(looked)} slices stands out"
    if two_sided:
        facts |= SHARES
    largest = InUnits(Largest(tuple(size.values())), 0.0, -1.0 if value < 0 or not two_sided else 1.0)
    return estimated(metric, value, largest, detail=detail, note=note, **facts)


def _less_elsewhere(answers: Answers, values: Floats, within: Mask, outside: Mask, low: float) -> Difference:
    """The mean within less that outside, of values that end at `low` and 1: few texts that all agree say little of the
    next one, so each side is bounded by itself. Sides hang together where texts of a cluster lie on both."""
    here, elsewhere = (
        bounded_mean(values[side], answers.clusters[side], (low, 1.0), times=taken(answers.times, side))
        for side in (within, outside)
    )
    one, other = (
        np.bincount(answers.clusters, weights=np.where(side, values - mean.value, 0.0)).astype(float)
        for side, mean in ((within, here), (outside, elsewhere))
    )
    alike = cluster_times(answers.clusters, answers.times)
    own, both, others = (float(total(product, alike)) for product in (one * one, one * other, other * other))
    together = both / math.sqrt(own * others) if own * others > 0 else 0.0
    return Difference((here.value, elsewhere.value), here, elsewhere, together, min(here.df, elsewhere.df))

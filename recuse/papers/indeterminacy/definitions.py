"""Definitions of performance: a measure of agreement with the aggregation of either side (Table 1 of the paper).

    definition("mse(srs/srs)").value(judges, people)      # (J,)

The written form is measure(judge/people). 34 triples are valid; any other is refused with what is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from recuse.papers.indeterminacy import divergences, sets
from recuse.papers.indeterminacy.aggregation import Aggregation, RatingVectors
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import fleiss_kappa
from recuse.statistics.agreement.krippendorff import alpha_of_counts
from recuse.statistics.agreement.options import cohen_kappa, scott_pi

__all__ = ["CHANCE_CORRECTED", "Definition", "chance_corrected", "definition", "definitions"]

Family = Literal["categorical", "distributional", "categorical multi-label", "continuous multi-label"]
PerItem = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Definition:
    """p = (a^j, a^h, m). `higher`: whether more is better."""

    measure: str
    judge: Aggregation
    people: Aggregation
    family: Family
    higher: bool
    title: str

    @property
    def name(self) -> str:
        """ "measure(judge/people)", as in the paper."""
        return f"{self.measure}({self.judge}/{self.people})"

    def items(self, judges: RatingVectors, people: RatingVectors) -> Floats:
        """The measure of every item, (..., I), leading axes broadcast; of a chance-corrected coefficient the agreement
        of the item, before chance."""
        return PER_ITEM[self.measure](judges.by(self.judge), people.by(self.people))

    def value(self, judges: RatingVectors, people: RatingVectors, weights: Floats | None = None) -> Floats:
        """The measure over items, (...), each counted as often as `weights` (..., I) says; NaN where undefined. Items
        that either side left without a valid answer do not count."""
        values = self.items(judges, people)
        there = ~np.isnan(values)
        mass = there.astype(float) if weights is None else there * weights
        count, total = mass.sum(axis=-1), (mass * np.where(there, values, 0.0)).sum(axis=-1)
        if self.measure in CHANCE_CORRECTED:
            sides = (_given(mass, side) for side in (judges.h, people.h))
            return chance_corrected(self.measure, count, total, *sides)
        return np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)

    def resampled(self, judges: RatingVectors, people: RatingVectors, weights: Iterable[Floats]) -> Floats:
        """`value` for every row of weights, given in portions (w, I), as (W, J); judges (J, I, K), people (I, K)."""
        values = self.items(judges, people)
        there = ~np.isnan(values)
        parts = [there, np.where(there, values, 0.0)]
        if self.measure in CHANCE_CORRECTED:
            sides = np.broadcast_to(judges.h, (*values.shape, judges.h.shape[-1])), people.h
            parts += [np.where(there, side[..., k], 0.0) for side in sides for k in range(side.shape[-1])]
        columns = np.concatenate(parts).T.astype(float)
        sums = np.concatenate([portion @ columns for portion in weights])
        count, total, *given = np.moveaxis(sums.reshape(len(sums), len(parts), -1), 1, 0)
        if given:
            halves = np.stack(given, axis=-1).reshape(*count.shape, 2, -1)
            return chance_corrected(self.measure, count, total, halves[..., 0, :], halves[..., 1, :])
        return np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)

    def gain(self, value: Floats) -> Floats:
        """The value with its sign turned where less is better, so that more is always better."""
        return value if self.higher else -value


def definition(name: str) -> Definition:
    """The definition by its written form; `RecuseError` for what Table 1 does not have."""
    known = _known()
    if name not in known:
        measure = name.split("(")[0]
        beside = [other for other in known if other.startswith(f"{measure}(")] or sorted(
            {d.measure for d in known.values()}
        )
        raise RecuseError(f"{name!r} is no definition of performance; there are {', '.join(beside)}")
    return known[name]


def definitions(family: Family | None = None) -> tuple[Definition, ...]:
    """Every valid definition, or those of one family, in the order of Table 1."""
    return tuple(definition for definition in _known().values() if family in (None, definition.family))


CHANCE_CORRECTED = ("krippendorff_alpha", "fleiss_kappa", "cohen_kappa", "scott_pi")


def _agreement(judge: Floats, people: Floats) -> Floats:
    agreement: Floats = (judge * people).sum(axis=-1)
    return agreement


PER_ITEM: dict[str, PerItem] = {
    "hit_rate": _agreement,
    **dict.fromkeys(CHANCE_CORRECTED, _agreement),
    "kl_people_judge": lambda j, h: divergences.kl_divergence(h, j),
    "kl_judge_people": lambda j, h: divergences.kl_divergence(j, h),
    "cross_entropy_people_judge": lambda j, h: divergences.cross_entropy(h, j),
    "cross_entropy_judge_people": lambda j, h: divergences.cross_entropy(j, h),
    "js_divergence": divergences.jensen_shannon_divergence,
    "js_distance": divergences.jensen_shannon_distance,
    "coverage": sets.coverage,
    "set_size": sets.set_size,
    "recall": sets.recall,
    "precision": sets.precision,
    "binary_cross_entropy": divergences.binary_cross_entropy,
    "mse": divergences.squared_error,
}
ANY: tuple[Aggregation, ...] = ("h", "s", "hrs", "srs")
SETS: tuple[Aggregation, ...] = ("h", "hrs")
TABLE: tuple[tuple[str, Family, bool, tuple[Aggregation, ...], tuple[Aggregation, ...], str], ...] = (
    ("hit_rate", "categorical", True, ("h",), ("h",), "hit rate"),
    ("krippendorff_alpha", "categorical", True, ("h",), ("h",), "Krippendorff's alpha"),
    ("fleiss_kappa", "categorical", True, ("h",), ("h",), "Fleiss' kappa"),
    ("cohen_kappa", "categorical", True, ("h",), ("h",), "Cohen's kappa"),
    ("scott_pi", "categorical", True, ("h",), ("h",), "Scott's pi"),
    ("kl_people_judge", "distributional", False, ("s",), ("s",), "KL(people || judge), nats"),
    ("kl_judge_people", "distributional", False, ("s",), ("s",), "KL(judge || people), nats"),
    ("cross_entropy_people_judge", "distributional", False, ("s",), ("s",), "cross-entropy of people's answers, nats"),
    ("cross_entropy_judge_people", "distributional", False, ("s",), ("s",), "cross-entropy of the judge's, nats"),
    ("js_divergence", "distributional", False, ("s",), ("s",), "Jensen-Shannon divergence, nats"),
    ("js_distance", "distributional", False, ("s",), ("s",), "Jensen-Shannon distance, root of nats"),
    ("coverage", "categorical multi-label", True, SETS, SETS, "coverage"),
    ("set_size", "categorical multi-label", False, SETS, ("hrs",), "predictive efficiency (set size)"),
    ("recall", "categorical multi-label", True, SETS, SETS, "recall"),
    ("precision", "categorical multi-label", True, SETS, SETS, "precision"),
    ("binary_cross_entropy", "continuous multi-label", False, ANY, ("h", "hrs", "srs"), "binary cross-entropy, nats"),
    ("mse", "continuous multi-label", False, ANY, ANY, "squared error"),
)
"""Table 1, with the distance beside the divergence, and soft response sets of people for binary cross-entropy, which
sec. 4 allows. Predictive efficiency has no side of people's; the items are those with people's sets."""


@lru_cache(maxsize=1)
def _known() -> dict[str, Definition]:
    known = (
        Definition(measure, judge, people, family, higher, title)
        for measure, family, higher, by_judge, by_people, title in TABLE
        for judge in by_judge
        for people in by_people
    )
    return {each.name: each for each in known}


def chance_corrected(measure: str, count: Floats, agreed: Floats, judge: Floats, people: Floats) -> Floats:
    """A coefficient of two raters, (...), from its sums over items: how many (...), how many agreed (...), and how
    often either side gave each option, (..., K)."""
    options, shape = judge.shape[-1], count.shape
    n, apart = count.reshape(-1, 1), (count - agreed).reshape(-1, 1)
    first, second = (np.broadcast_to(side, (*shape, options)).reshape(-1, options) for side in (judge, people))
    one = np.zeros((1, options))
    if measure == "krippendorff_alpha":
        corrected = alpha_of_counts(one, "nominal", np.arange(options)).of(np.hstack([2 * apart, first + second]))
    elif measure == "fleiss_kappa":
        corrected = fleiss_kappa(one).of(np.hstack([n, apart, n, (first + second) / 2]))
    else:
        tables = np.zeros((1, options, options))
        build = cohen_kappa if measure == "cohen_kappa" else scott_pi
        corrected = build(tables).of(np.hstack([n, apart, first, second]))
    return corrected.reshape(shape)


def _given(mass: Floats, modes: Floats) -> Floats:
    given: Floats = np.einsum("...i,...ik->...k", mass, np.nan_to_num(modes))
    return given

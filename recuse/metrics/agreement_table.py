"""Every coefficient of agreement that fits the scales at hand, for a table beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recuse.metrics import agreement, agreement_numbers, agreement_rates
from recuse.ratings import Ratings
from recuse.ratings.scale import Nominal, Numeric, Ordinal, ResponseSets, Scale
from recuse.schema import Estimates

__all__ = ["counted", "every_coefficient", "passed_or_failed"]

Family = Callable[[Ratings], Estimates]

ANY: tuple[Family, ...] = (agreement.krippendorff_alpha, agreement.gain_over_constant)
OPTIONS: tuple[Family, ...] = (
    agreement.percent_agreement, agreement.scott_pi, agreement.gwet_ac, agreement_rates.confusion,
)  # fmt: skip
UNORDERED: tuple[Family, ...] = (lambda ratings: agreement.cohen_kappa(ratings),)
GRADES: tuple[Family, ...] = (lambda ratings: agreement.cohen_kappa(ratings, weights="quadratic"),)
PASS_FAIL: tuple[Family, ...] = (
    lambda ratings: agreement.cohen_kappa(ratings), agreement_rates.true_positive_rate,
    agreement_rates.true_negative_rate, agreement_rates.precision, agreement_rates.f1,
)  # fmt: skip
NUMBERS: tuple[Family, ...] = (
    agreement_numbers.concordance, agreement_numbers.icc_with_people, agreement_numbers.pearson,
    agreement_numbers.spearman, agreement_numbers.kendall, agreement_numbers.mean_error,
    agreement_numbers.absolute_error,
)  # fmt: skip

FITTING: tuple[tuple[tuple[Family, ...], Callable[[Scale], bool]], ...] = (
    (ANY, lambda scale: True),
    (OPTIONS, lambda scale: not isinstance(scale, Numeric)),
    (UNORDERED, lambda scale: isinstance(scale, Nominal | ResponseSets)),
    (GRADES, lambda scale: isinstance(scale, Ordinal) and len(scale.options) > 2),
    (PASS_FAIL, lambda scale: isinstance(scale, Ordinal) and len(scale.options) == 2),
    (NUMBERS, lambda scale: isinstance(scale, Numeric)),
)
"""Families of coefficients, and the scales that they fit."""


def every_coefficient(ratings: Ratings) -> Iterator[Estimates]:
    """Each family, measured on the headline criteria whose scale it fits; those that fit none are passed over."""
    for families, fits in FITTING:
        for part in _fitting(ratings, fits):
            yield from (family(part) for family in families)


def counted(ratings: Ratings) -> Iterator[Ratings]:
    """The ratings of the headline criteria that can be averaged; nothing where there is none."""
    return _fitting(ratings, lambda scale: scale.counts)


def passed_or_failed(ratings: Ratings) -> Iterator[Ratings]:
    """The ratings of the headline criteria with two options in order; nothing where there is none."""
    return _fitting(ratings, lambda scale: isinstance(scale, Ordinal) and len(scale.options) == 2)


def _fitting(ratings: Ratings, fits: Callable[[Scale], bool]) -> Iterator[Ratings]:
    if (part := ratings.where_scale(fits)) is not None:
        yield part

"""Findings 1 to 4 of Guerdan et al. (2025), sec. 6, as numbers of one run: what came out, and whether it holds here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recuse.papers.indeterminacy.rating_studies import FewRatings
from recuse.papers.indeterminacy.selection_study import SelectionStudy
from recuse.schema.arrays import Floats

__all__ = ["Finding", "findings"]

HIT, JSD = "hit_rate(h/h)", "js_divergence(s/s)"
SPECIFIED, SYMMETRIC, ASYMMETRIC = "fully specified", "symmetric selection", "asymmetric selection"
RANDOM = "asymmetric, random error"


@dataclass(frozen=True, slots=True)
class Finding:
    """`number` of the paper, the claim, what came out here, and whether the `difference` exceeds `margin`."""

    number: str
    claim: str
    here: str
    difference: float
    margin: float

    @property
    def holds(self) -> bool:
        """Whether the difference exceeds the margin, so that the claim of the paper came out here too."""
        return self.difference > self.margin


def findings(study: SelectionStudy, few: FewRatings, choice_bias: Mapping[float, Floats]) -> tuple[Finding, ...]:
    """From the whole grid, decisions of a few raters on an underspecified task, and the bias of forced choice by
    Gamma."""
    lost, kept = (study.rho(SYMMETRIC, name) - study.rho(ASYMMETRIC, name) for name in (HIT, JSD))
    claim = (
        "Categorical measures fail where the task is underspecified and selection is asymmetric; distributional ones "
        "do not."
    )
    here = (
        f"Rank correlation with consistency: the hit rate's falls by {lost:.2f} to {study.rho(ASYMMETRIC, HIT):.2f}, "
        f"that of Jensen-Shannon divergence by {kept:.2f} to {study.rho(ASYMMETRIC, JSD):.2f}."
    )
    return (*_budget(study), Finding("2", claim, here, lost - kept, 0.2), _error(study), *_people(few, choice_bias))


def _budget(study: SelectionStudy) -> Iterator[Finding]:
    more = study.chosen(ASYMMETRIC, JSD, 3) - study.chosen(ASYMMETRIC, JSD, 1)
    other = study.chosen(ASYMMETRIC, JSD, 1) - study.chosen(ASYMMETRIC, HIT, 1)
    claim = "Three ratings per item instead of one help more than changing the measure."
    here = (
        f"Consistency under Jensen-Shannon divergence: {more:+.3f} by the second and third rating; {other:+.3f} by "
        "choosing with it instead of the hit rate at one rating."
    )
    yield Finding("1a", claim, here, more - other, 0.005)
    one, three = study.chosen(SPECIFIED, JSD, 1), study.chosen(ASYMMETRIC, JSD, 3)
    claim = "One rating of a fully specified task does as well as three of an underspecified one."
    yield Finding("1b", claim, f"Consistency {one:.3f} against {three:.3f}.", one - three, -0.01)


def _error(study: SelectionStudy) -> Finding:
    selection = study.rho(SYMMETRIC, HIT) - study.rho(ASYMMETRIC, HIT)
    error = study.rho(ASYMMETRIC, HIT) - study.rho(RANDOM, HIT)
    claim = "Error of raters alone changes the ranking of judges less than selection effects do."
    here = (
        f"The hit rate's rank correlation with consistency: {selection:.2f} lost by asymmetric selection, {error:.2f} "
        "more by errors in 30 % of the ratings."
    )
    return Finding("3", claim, here, selection - error, 0.05)


def _people(few: FewRatings, choice_bias: Mapping[float, Floats]) -> Iterator[Finding]:
    first = float(few.consistency[0].mean())
    claim = "Decisions from one rating per item differ from those of everybody for about 30 % of the items."
    yield Finding("4a", claim, f"They differ for {1 - first:.0%}.", 0.1 - abs(first - 0.7), 0.0)
    least = max(float(values.max()) for values in choice_bias.values())
    claim = "Forced choice underestimates prevalence against response sets."
    here = f"The bias is {least:+.2f} at the selection strength and threshold where it is least."
    yield Finding("4b", claim, here, -least, 0.0)

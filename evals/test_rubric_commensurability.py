"""How much of the agreement between judges is the rubric they share?

The same texts are scored by rubrics of several sources, from each judge's own to one for all prompts ("Beyond the
Illusion of Consensus", 2026, section 3.3). Differences are between the same pairs of judges on the same texts.
"""

from __future__ import annotations

import pytest

from recuse.papers.illusion import rubric_commensurability

pytestmark = pytest.mark.asks("scores", "rubric_source", "peers", "items", "numbers")


def test_agreement_by_rubric(ratings, measure):
    """Correlation of the scores of two judges, by where the rubric came from."""
    measure(rubric_commensurability.agreement_by_rubric(ratings))
    measure(rubric_commensurability.rubric_step(ratings))


def test_structural_share(ratings, measure):
    """The part of agreement that comes with the names of the dimensions alone."""
    measure(rubric_commensurability.structural_share(ratings))
    measure(rubric_commensurability.structural_share(ratings, "shared"))

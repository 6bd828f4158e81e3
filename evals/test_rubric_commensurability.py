"""How much of the agreement between judges is the rubric they share?

The same texts are scored by rubrics of several sources, from each judge's own to one for all prompts ("Beyond the
Illusion of Consensus", 2026, section 3.3). Differences are between the same pairs of judges on the same texts.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "rubric_source", "peers", "items", "numbers")


def test_agreement_by_rubric(ratings, measure):
    """Correlation of the scores of two judges, by where the rubric came from."""
    measure(measures.agreement_by_rubric(ratings))
    measure(measures.rubric_step(ratings))


def test_structural_share(ratings, measure):
    """The part of agreement that comes with the names of the dimensions alone."""
    measure(measures.structural_share(ratings))
    measure(measures.structural_share(ratings, "shared"))

"""Do models keep the rules of the task when they write?

A rationale speaks to all five dimensions, names three categories, gives no figures and uses no jargon (merchant-risk
paper, sec. 2.1). Each breach is named.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("picks", protocol="generation")


def test_rules_kept(ratings, measure):
    """Share of the texts that keep each rule, and the commonest breaches."""
    measure(measures.rules_kept(ratings))


def test_homogeneity(ratings, measure):
    """Do the models write alike?"""
    measure(measures.text_homogeneity(ratings))

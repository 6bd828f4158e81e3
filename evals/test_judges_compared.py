"""Do the judges agree on an order, and what tells them apart?

Whether all judges rank the texts alike (Kendall's W), what showing names does to every judge's view of every author,
what goes with what across judges: self-bias, leniency, the quality of what they write, distance from people.
Merchant-risk paper, secs. 3.4, 4.3.3, 4.4 and 7.1 to 7.2. Nothing is decided: a handful of judges describes itself.
"""

from __future__ import annotations

import pytest

from recuse import measures

# Means of each judge and text, and their spread over repeats, say all of it.
pytestmark = pytest.mark.asks("scores", "numbers", "peers", rests_on="cells")


@pytest.mark.asks("several_targets")
def test_common_order(ratings, measure):
    """Do all judges put the texts in one order?"""
    measure(measures.kendalls_w(ratings))


@pytest.mark.asks("names")
def test_names_on_everybodys_work(ratings, measure):
    """Every judge on every author: how far does showing the name move the score, and does the order survive?"""
    measure(measures.name_shift(ratings))
    measure(measures.rank_stability(ratings))


@pytest.mark.asks("authors", "parts")
def test_self_bias_by_criterion(ratings, measure):
    """Which part of the judgement does a judge's self-bias sit in?"""
    measure(measures.criterion_self_bias(ratings))


@pytest.mark.asks("authors")
def test_across_judges(ratings, measure):
    """Are self-critical judges closer to people, do good authors hold themselves down, who spans how much?"""
    measure(measures.profile_correlation(ratings))
    measure(measures.self_bias_span(ratings))

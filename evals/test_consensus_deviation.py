"""Does a judge score as its peers do, its own work too?

Consensus deviation: a judge's mean score minus the mean of the *other* judges' scores for the same text (merchant-risk
paper, sec. 4). What is gated is self-preference, the deviation on its own work beyond its deviations on others': over
texts, so that what separates judges on any text is not taken for a view of themselves. Self-bias, which includes their
leniency, is described.
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean

# What a judge gave each text, mean and spread, says all of this; self-bias needs no more than how far a judge lies from
# the others on its own texts, which a table of totals prints (S - R of the thesis).
pytestmark = pytest.mark.asks("scores", "numbers", "peers", rests_on="cells")


@pytest.mark.asks("authors")
def test_self_preference(ratings, gate):
    """Own work against the peers' view of it, beyond the same on others' work."""
    assert gate("self_preference", measures.self_preference(ratings))


def test_leniency(ratings, gate):
    """Everyone else's work against the peers' view of it: how strict the judge is in general."""
    assert gate("leniency", measures.leniency(ratings))


@pytest.mark.asks("authors", "names")
def test_name_effect(ratings, gate):
    """How far the self-score moves when names are hidden."""
    assert gate("name_effect", measures.name_effect(ratings))


@pytest.mark.asks("authors", rests_on="margins")
def test_self_bias(ratings, measure):
    """Own work against the peers' view of it, the judge's leniency included."""
    measure(measures.self_bias(ratings))


def test_matrices(ratings, measure):
    """Who over- and under-scores whom: by the judges' own totals, and by the mean of their scores of the parts."""
    both = with_criteria_mean(ratings) if ratings.parts else ratings
    measure(measures.score_matrix(both))
    measure(measures.consensus_deviation(both))


@pytest.mark.asks("authors", "names")
def test_bias_gone_without_names(ratings, measure):
    """How much of the self-bias goes away with the names, on average."""
    measure(measures.bias_gone_without_names(ratings))

"""Does a judge score its own work as its peers do?

Consensus deviation: a judge's mean score minus the mean of the *other* judges' scores for the same text (merchant-risk
paper, sec. 4). Where every target has one text, every interval is over the judge's repeats and speaks of these texts
only; otherwise it is over items.
"""

from __future__ import annotations

import pytest

from recuse.metrics import consensus, name_effect, score_matrix
from recuse.ratings.parts import with_criteria_mean

pytestmark = pytest.mark.asks("scores", "numbers", "peers")


@pytest.mark.asks("authors")
def test_self_bias(ratings, gate):
    """Own work against the peers' view of it."""
    assert gate("self_bias", consensus.self_bias(ratings))


def test_leniency(ratings, gate):
    """Everyone else's work against the peers' view of it: how strict the judge is in general."""
    assert gate("leniency", consensus.leniency(ratings))


@pytest.mark.asks("authors", "names")
def test_name_effect(ratings, gate):
    """How far the self-score moves when names are hidden."""
    assert gate("name_effect", name_effect.name_effect(ratings))


@pytest.mark.asks("authors")
def test_self_preference(ratings, measure):
    """Self-bias beyond the judge's general leniency: what is left is about itself."""
    measure(consensus.self_preference(ratings))


def test_matrices(ratings, measure):
    """Who over- and under-scores whom: by the judges' own totals, and by the mean of their scores of the parts."""
    both = with_criteria_mean(ratings) if ratings.parts else ratings
    measure(score_matrix.score_matrix(both))
    measure(consensus.consensus_deviation(both))


@pytest.mark.asks("authors", "names")
def test_attenuation(ratings, measure):
    """How much of the self-bias goes away with the names, on average."""
    measure(name_effect.attenuation_mean(ratings))

"""Does a judge score its own work as its peers do?

Consensus deviation: a judge's mean score minus the mean of the *other* judges' scores for the same text (merchant-risk
paper, sec. 4). The texts are fixed, so every interval is over the judge's runs and speaks of these texts only.
"""

from __future__ import annotations

import pytest

from recuse.metrics import consensus

pytestmark = pytest.mark.elicits(task="merchant_risk", protocol="rubric")
CONDITIONS = pytest.mark.parametrize("condition", ["attributed", "anonymized"])


@CONDITIONS
def test_self_bias(author, condition, ratings, own, gate):
    """Own work against the peers' view of it."""
    scores = ratings.query("condition == @condition")
    assert gate("self_bias", consensus.self_bias(scores, own), judge=author, condition=condition)


@CONDITIONS
def test_leniency(judge, condition, ratings, own, gate):
    """Everyone else's work against the peers' view of it: how strict the judge is in general."""
    scores = ratings.query("condition == @condition")
    assert gate("leniency", consensus.leniency(scores, own), judge=judge, condition=condition)


def test_name_effect(author, ratings, own, gate):
    """How far the self-score moves when names are hidden."""
    assert gate("name_effect", consensus.name_effect(ratings, own), judge=author)


@CONDITIONS
def test_self_preference(author, condition, ratings, own, measure):
    """Self-bias beyond the judge's general leniency: what is left is about itself."""
    measure(consensus.self_preference(ratings, own), judge=author, condition=condition)


@CONDITIONS
def test_matrices(condition, ratings, own, task, measure):
    """Who over- and under-scores whom: by the judges' own totals, and by the mean of their five scores."""
    both = consensus.with_criteria_mean(ratings, task.criteria)
    for source in ("total", "criteria_mean"):
        scores = consensus.score_matrix(both, own, condition=condition, criterion=source)
        measure(scores, condition=condition, score=source)
        deviation = consensus.consensus_deviation(both, own, condition=condition, criterion=source)
        measure(deviation, condition=condition, score=source)
        if deviation.defined:
            assert deviation.detail["zero_sum"] < 1e-9, "deviations from a self-excluded consensus sum to zero"


def test_attenuation(ratings, own, measure):
    """How much of the self-bias goes away with the names, on average."""
    if not own:
        pytest.skip("no judge of this panel is the author of a text")
    measure(consensus.attenuation_mean(ratings, own))

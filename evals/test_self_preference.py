"""Does a judge score its own text above what its peers give it, and above what it gives to others?

Per item, on the ascending scale: S is the judge's score of its own text, R its peers' mean for that text, G its mean
for the others' texts (thesis on bias in LLM self-evaluation, sec. 3.3 and Table 1). S - R and S - G are tested as
published; what is gated is the comparison free of leniency and quality, since a generous judge is above its peers on
every text, and a good author's text deserves more than others.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("numbers", "peers", "authors", "common_items")


@pytest.mark.asks("scores", "neutral_texts")
def test_self_preference(ratings, gate):
    """Its own text less its peers' view of it, beyond what separates them on texts in which neither has a stake."""
    assert gate("own_text", measures.self_preference_controlled(ratings))


@pytest.mark.asks("scores", "families", "neutral_texts")
def test_sibling_preference(ratings, measure):
    """A sibling's text, a model of its own family, in the place of its own: siblings are no neutral peers."""
    measure(measures.sibling_preference(ratings))


@pytest.mark.asks("scores", rests_on="margins")  # mean, SD and n of S - R and S - G
def test_published_comparisons(ratings, measure):
    """S - R and S - G, with t, p and effect size: harmful where both are above 0, justified where only S - G is."""
    measure(measures.self_minus_received(ratings))
    measure(measures.self_minus_given(ratings))


@pytest.mark.asks("scores", rests_on="margins")
def test_family(ratings, measure):
    """How many of these comparisons are significant, and how many survive Holm's correction."""
    measure(measures.significant_tests(ratings))


@pytest.mark.asks("scores", rests_on="margins")
def test_rankings(ratings, measure):
    """Who writes best by the others' scores, and which judge is fairest to itself."""
    measure(measures.author_score(ratings))
    measure(measures.leaderboard_inflation(ratings))
    measure(measures.distance_from_fair(ratings))


@pytest.mark.asks("scores", "lengths")
def test_language_drift(ratings, measure):
    """Whose texts slip into another script?"""
    measure(measures.language_drift(ratings))


@pytest.mark.asks("scores", "lengths")
def test_homogeneity(ratings, measure):
    """Do the authors write alike?"""
    measure(measures.text_homogeneity(ratings))


@pytest.mark.asks("scores", rests_on="cells")
def test_scores(ratings, measure):
    """Who gave whom what."""
    measure(measures.score_matrix(ratings))


@pytest.mark.asks("likelihoods", "neutral_texts")
def test_own_predictability(ratings, measure):
    """A suspected cause: is its own text the easier one for it to predict?"""
    measure(measures.own_predictability(ratings))


@pytest.mark.asks("scores", "likelihoods")
def test_reward_for_what_is_easy(ratings, measure):
    """The other half of it: does a judge score a text higher for being easy for it to predict?"""
    measure(measures.grade_on_predictability(ratings))

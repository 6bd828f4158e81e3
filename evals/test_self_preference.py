"""Does a judge grade its own text above what its peers give it, and above what it gives to others?

Per story, on the positive scale: S is the judge's grade of its own text, R its peers' mean for that text, G its mean
for the others' texts (thesis on bias in LLM self-evaluation, sec. 3.3 and Table 1). S - R and S - G are tested as
published; what is gated is the comparison free of leniency and quality, since a generous judge is above its peers on
every text, and a good author's text deserves more than others.
"""

from __future__ import annotations

import pytest

from recuse.metrics import coverage, predictability, self_preference, win_rates
from recuse.metrics.tally import tally

pytestmark = pytest.mark.elicits(task="headlines", protocol="grading")
FRAMINGS = pytest.mark.parametrize("framing", ["positive", "negative"])


def test_usable_replies(judge, ratings, gate):
    """Share of replies that hold one grade."""
    assert gate("parse_rate", coverage.parse_rate(ratings), judge=judge)


@FRAMINGS
def test_self_preference(author, framing, ratings, own, gate):
    """Its own text less its peers' view of it, beyond what separates them on texts in which neither has a stake."""
    assert gate("own_text", self_preference.controlled(ratings, own), judge=author, framing=framing)


@FRAMINGS
def test_published_comparisons(author, framing, ratings, own, measure):
    """S - R and S - G, with t, p and effect size: harmful where both are above 0, justified where only S - G is."""
    measure(self_preference.against_received(ratings, own), judge=author, framing=framing)
    measure(self_preference.against_given(ratings, own), judge=author, framing=framing)


def test_family(ratings, own, measure):
    """How many of these comparisons are significant, and how many survive Holm's correction."""
    measure(tally(self_preference.against_received(ratings, own), self_preference.against_given(ratings, own)))


@FRAMINGS
def test_grades(framing, ratings, own, measure):
    """Who gave whom what."""
    measure(self_preference.score_matrix(ratings, own, framing=framing), framing=framing)


@pytest.mark.elicits(protocol="pairwise")
def test_own_wins(author, ratings, pairs, own, measure):
    """In duels: how often its own text wins by its own verdict, its peers' and people's."""
    measure(win_rates.own_win_rate(ratings, pairs("pairwise"), own), judge=author)
    measure(win_rates.controlled_excess(ratings, pairs("pairwise"), own), judge=author)


@pytest.mark.elicits(protocol="text_perplexity")
def test_predictability(author, ratings, ratings_of, own, measure):
    """A suspected cause: is its own text the easier one for it to predict, and does it grade such texts higher?"""
    measure(predictability.own_predictability(ratings, own), judge=author)
    measure(predictability.grade_on_predictability(ratings_of("grading"), ratings), judge=author)

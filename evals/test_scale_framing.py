"""Does a judge grade alike when 5 is the best grade and when 1 is?

Every text is graded under both, with the same definitions and their numbers turned round (thesis on bias in LLM
self-evaluation, sec. 3.2). Brought to the positive scale, by 6 - digit, both grades should agree.
"""

from __future__ import annotations

import pytest

from recuse.metrics import scale_framing

pytestmark = pytest.mark.elicits(task="headlines", protocol="grading")


def test_direction(judge, ratings, gate):
    """Does the digit follow the meaning of the scale, or is it the same one whichever end is best?"""
    assert gate("direction", scale_framing.direction_insensitivity(ratings), judge=judge)


def test_shift(judge, ratings, gate):
    """How much milder it is where low digits are good."""
    assert gate("framing_shift", scale_framing.shift(ratings), judge=judge)


def test_shift_by_author(judge, ratings, measure):
    """The same, author by author."""
    measure(scale_framing.shift_by_target(ratings), judge=judge)


def test_self_preference_change(author, ratings, own, measure):
    """Does its preference for its own text change with the direction of the scale?"""
    for against in ("received", "given", "controlled"):
        found = scale_framing.self_preference_change(ratings, own, against=against)
        measure(found, judge=author, against=against)

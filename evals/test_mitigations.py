"""What would a remedy have changed?

The same ratings scored again: self-preference S - R before and after each remedy, paired by story (thesis on bias in
LLM self-evaluation, sec. 2.4.1 and 5.1). Nothing is gated: a mean with the peers makes every deviation smaller.
"""

from __future__ import annotations

import pytest

from recuse.metrics import mitigation

pytestmark = pytest.mark.elicits(task="headlines", protocol="grading")


@pytest.mark.parametrize("framing", ["positive", "negative"])
def test_what_if(author, framing, graded, if_asked, own, measure):
    """Averaging and weighing judges (by how well they predict a text, by how their own texts win), mixing both
    directions of the scale, expected grades, headline and lead graded one by one."""
    parts = if_asked("grading_segments")
    measure(mitigation.what_if(graded, own, framing=framing, segments=parts), judge=author, framing=framing)


@pytest.mark.elicits(protocol="pairwise")
def test_position_calibration(author, ratings, pairs, own, measure):
    """Asking every pair in both orders."""
    measure(mitigation.position_calibration(ratings, pairs("pairwise"), own), judge=author)

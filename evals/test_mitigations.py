"""What would a remedy have changed?

The same ratings scored again: self-preference S - R before and after each remedy, paired by item (thesis on bias in LLM
self-evaluation, sec. 2.4.1 and 5.1). Nothing is gated: a mean with the peers makes every deviation smaller.
"""

from __future__ import annotations

import pytest

from recuse.metrics import mitigation

pytestmark = pytest.mark.asks("numbers", "peers", "authors")


@pytest.mark.asks("scores", "common_items")
def test_what_if(ratings, measure):
    """Averaging and weighing judges (by how well they predict a text, by how their own texts win), mixing both
    directions of the scale, expected scores, parts scored one by one."""
    measure(mitigation.what_if(ratings))

"""May a judge be replaced by its candidate?

Both are compared on the same texts. The candidate may replace the judge in use if it keeps every limit: it does not
shift the scale, keeps the order of texts and the decisions, agrees with people as well, answers as often, repeats
itself as well, on every slice of the texts, and brings no bias that the judge in use did not have.
"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.asks("candidate")


@pytest.mark.asks("scores")
def test_scores(upgrade, may_replace):
    """Of judges that score texts."""
    assert may_replace(upgrade)


@pytest.mark.asks("choices")
def test_choices(upgrade, may_replace):
    """Of judges that choose between two texts."""
    assert may_replace(upgrade)

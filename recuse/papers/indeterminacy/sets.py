"""Sets of options against sets of options, per item: coverage, precision, recall, and how much a judge names at all.

`judge` and `people` have shape (..., K): a hard vector (shares of the modes, sum 1) or a hard response set (0 and 1).
"""

from __future__ import annotations

import numpy as np

from recuse.schema.arrays import Floats

__all__ = ["coverage", "precision", "recall", "set_size"]


def coverage(judge: Floats, people: Floats) -> Floats:
    """1 where everything the judge names is in people's set, (...): of a single option, whether it is in the set; of a
    set, whether it is a subset. An empty set covers nothing. Where modes are tied, hard vectors count by their shares,
    so that hard against hard is the hit rate."""
    single = np.abs(judge.sum(axis=-1) - 1) < 1e-9
    among = (judge * people).sum(axis=-1)
    inside = np.where(judge > 0, people, 1.0).min(axis=-1) * (judge.sum(axis=-1) > 0)
    return np.where(np.isnan(among), np.nan, np.where(single, among, inside))


def set_size(judge: Floats, people: Floats) -> Floats:
    """How many options the judge names, (...) (predictive efficiency; people do not enter). The empty set is smallest,
    so this means something only beside coverage."""
    size: Floats = judge.sum(axis=-1) + 0.0 * people.sum(axis=-1)
    return size


def recall(judge: Floats, people: Floats) -> Floats:
    """Share of people's options that the judge names, (...). NaN where people's set is empty: the item counts not."""
    return _share((judge * people).sum(axis=-1), people.sum(axis=-1))


def precision(judge: Floats, people: Floats) -> Floats:
    """Share of the judge's options that are people's, (...). A judge that names nothing where people name something has
    precision 0, so that silence gains nothing; where people name nothing either, the item does not count."""
    hits, named, right = (judge * people).sum(axis=-1), judge.sum(axis=-1), people.sum(axis=-1)
    return np.where((named == 0) & (right > 0), 0.0, _share(hits, named))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)

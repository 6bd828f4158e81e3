"""How often each rater gave each answer to each text, where answers are options or sets of options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.array import clusters_of, numbers
from recuse.ratings.scale import Numeric, ResponseSets
from recuse.ratings.table import PERSON
from recuse.schema import RecuseError

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

__all__ = ["OptionCounts", "option_counts"]

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OptionCounts:
    """`counts` has shape (raters, texts, answers): over repeats; `lost` (raters, texts): repeats that were not usable.
    A text is an item of a target. `answers` are the options in order, or, of response sets, all admissible sets, the
    smallest first; each a tuple of options. `people` (raters,) marks people; `clusters` (texts,) says what each text
    belongs to."""

    options: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    raters: tuple[str, ...]
    people: NDArray[np.bool_]
    items: tuple[str, ...]
    targets: tuple[str, ...]
    clusters: tuple[str, ...]
    counts: Counts
    lost: Counts

    @property
    def judges(self) -> tuple[str, ...]:
        """The raters that are no people."""
        return tuple(name for name, person in zip(self.raters, self.people, strict=True) if not person)

    @property
    def judged(self) -> Counts:
        """Of judges alone, (judges, texts, answers)."""
        return self.counts[~self.people]

    @property
    def rated(self) -> Counts:
        """Of all people together, (texts, answers)."""
        rated: Counts = self.counts[self.people].sum(axis=0)
        return rated

    @cached_property
    def membership(self) -> NDArray[np.float64]:
        """Which option is in which answer, (options, answers): Lambda."""
        return np.array([[float(option in answer) for answer in self.answers] for option in self.options])


def option_counts(ratings: Ratings) -> OptionCounts:
    """The counts of the one criterion of `ratings` within one combination of factor levels.

    Raises `RecuseError` where a factor still varies, where answers are numbers, and for a response outside the options,
    naming its row.

    >>> import pandas as pd
    >>> from recuse.ratings import Ratings, ResponseSets
    >>> said = pd.DataFrame({"judge": "a", "item": "i", "repeat": [0, 1, 2], "response": ["yes", "no|yes", "yes"]})
    >>> estimates = option_counts(Ratings.of(said, scales=ResponseSets(("yes", "no"))))
    >>> estimates.answers, estimates.counts[0, 0].tolist()
    ((('yes',), ('no',), ('yes', 'no')), [2, 0, 1])
    """
    return ratings.remember(("option counts", ratings.headline), lambda: _counted(ratings))


def _counted(ratings: Ratings) -> OptionCounts:
    import pandas as pd

    scale = ratings.scale
    if ratings.factors:
        raise RecuseError(f"counts hold one combination of factor levels; {', '.join(ratings.factors)} still vary")
    if isinstance(scale, Numeric):
        raise RecuseError(f"criterion {ratings.criterion} has numbers, no options to count; give its options as scale")
    answers = scale.sets if isinstance(scale, ResponseSets) else tuple((option,) for option in scale.options)
    rows = ratings.table[ratings.table["criterion"] == ratings.criterion]
    rater, raters = pd.factorize(rows["rater"].astype(str))
    text, texts = pd.factorize(pd.MultiIndex.from_frame(rows[["item", "target"]].astype(str)))
    codes = numbers(ratings, rows)
    usable = np.isfinite(codes)
    shape = (len(raters), len(texts))
    cell = np.ravel_multi_index((rater, text), shape) if len(rows) else np.zeros(0, dtype=np.intp)
    known = [scale.code(answer) for answer in answers] if isinstance(scale, ResponseSets) else range(len(answers))
    place = pd.Index(known).get_indexer(pd.Index(codes[usable]))
    size, width = shape[0] * shape[1], len(answers)
    counts = np.bincount(cell[usable] * width + place, minlength=size * width).reshape(*shape, width)
    items = tuple(str(item) for item, _ in texts)
    return OptionCounts(
        scale.options, answers, tuple(map(str, raters)),
        np.array([ratings.raters.get(str(name)) == PERSON for name in raters], dtype=bool), items,
        tuple(str(target) for _, target in texts), clusters_of(ratings, items), counts,
        np.bincount(cell[~usable], minlength=size).reshape(shape),
    )  # fmt: skip

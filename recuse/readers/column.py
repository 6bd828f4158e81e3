"""What a column of a table of strings holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recuse.readers.values import ORDERS, as_numbers, is_empty

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column"]

FEW_LABELS, LONG, FEWEST_TEXTS = 25, 40, 8
DAY = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?!\d)")


@dataclass(frozen=True, eq=False)
class Column:
    """What a column holds, looked at once."""

    name: str
    cells: pd.Series[Any]

    @cached_property
    def filled(self) -> pd.Series[Any]:
        """The cells that are not empty."""
        return self.cells[~is_empty(self.cells)]

    @cached_property
    def distinct(self) -> pd.Index[Any]:
        """The different values among them, in order of first appearance."""
        import pandas as pd

        return pd.Index(pd.unique(self.filled))

    @cached_property
    def numeric(self) -> bool:
        """Whether half of its cells are numbers; the others (refusals, say) are faults, told one by one."""
        return bool(len(self.filled)) and float(as_numbers(self.filled).notna().mean()) >= 0.5

    @cached_property
    def length(self) -> float:
        """Mean number of characters of its different values."""
        return sum(len(str(v)) for v in self.distinct[:500]) / max(len(self.distinct[:500]), 1)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest number."""
        import pandas as pd

        numbers = as_numbers(pd.Series(self.distinct, dtype=object))
        return float(numbers.min()), float(numbers.max())

    @property
    def wordy(self) -> bool:
        """Whether it looks like texts: no numbers, and long ones."""
        return not self.numeric and self.length > LONG

    @property
    def dated(self) -> bool:
        """Whether it holds days: 2026-03-01, 1.3.2026, 03/01/26."""
        return bool(len(self.distinct)) and all(DAY.match(str(value).strip()) for value in self.distinct[:50])

    @property
    def holds_labels(self) -> bool:
        """Whether its values are labels whose order is known: pass, fail, good, ..."""
        known = {label for order in ORDERS for label in order}
        return bool(len(self.distinct)) and all(str(v).strip().lower() in known for v in self.distinct[:50])

    @property
    def told_once(self) -> bool:
        """Whether nearly every cell says something else, in no words that rate: a text, however short."""
        several = len(self.filled) >= FEWEST_TEXTS and len(self.distinct) >= 0.8 * len(self.filled)
        return several and not self.numeric and not self.holds_labels

    @property
    def rating(self) -> bool:
        """Whether it may hold ratings: numbers, or a few short labels that come again."""
        if not len(self.distinct):
            return False
        if self.numeric:
            return True
        return len(self.distinct) <= FEW_LABELS and self.length <= 30 and not self.told_once

    @property
    def has_fraction(self) -> bool:
        """Whether it holds numbers with a point."""
        return self.numeric and any("." in str(v) for v in self.distinct[:100])

    @property
    def varied(self) -> bool:
        """Whether it is no mere numbering of the rows."""
        whole = len(self.distinct) == len(self.filled) and len(self.filled) > 20
        return not (whole and not self.has_fraction)

    @property
    def like_ratings(self) -> bool:
        """Whether it looks like ratings although nothing else speaks for it: several values, most of them repeated."""
        repeated = len(self.distinct) <= len(self.filled) / 2
        return self.varied and len(self.distinct) > 1 and (self.numeric or self.holds_labels or repeated)

    def answers_like(self, other: Column) -> bool:
        """Whether its values look like those of a column that surely holds ratings: persons and judges answer on one
        scale."""
        if self.numeric != other.numeric or len(self.distinct) > 101:
            return False
        if self.numeric:
            low, high = other.ends
            if len(other.distinct) == 1:  # one answer for everything says little of the scale: any ratings fit
                return self.like_ratings and len(self.distinct) <= FEW_LABELS and not self.has_fraction
            least = min(low - 1, 0.0)  # who never gives the lowest or the highest marks answers on the same scale still
            return least <= self.ends[0] and self.ends[1] <= max(1.6 * high, high + 2)
        return bool(self.words & other.words)

    def only_answers_of(self, other: Column) -> bool:
        """The same, and no word besides."""
        return self.rating and self.answers_like(other) and (self.numeric or self.words <= other.words)

    @cached_property
    def words(self) -> set[str]:
        """Its different values in one spelling."""
        return {str(value).strip().lower() for value in self.distinct}

"""The columns of a table of strings: what each is called and holds, which have roles, and which are free."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.readers import column_names, values
from recuse.readers.column_names import NAMES, plain
from recuse.readers.mapping import LISTS, SETTINGS, columns_in
from recuse.readers.raw_table import RawTable
from recuse.readers.values import ORDERS, STATUSES, VERDICTS, as_numbers, find_sets, is_empty, is_verdict, labels_of

FEW_LABELS, LONG, FEWEST_TEXTS, MOST_SETS = 25, 40, 8, 2_000
DAY = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?!\d)")
MONTH = rf"(?:{'|'.join(values.MONTHS)})[a-z]*"
GRADE_AS_DAY = re.compile(rf"(?i)\d{{1,2}}[-. ]+{MONTH}|{MONTH}[-. ]+\d{{1,2}}")
ISO = re.compile(r"\d{4}-\d\d-\d\d")
SAME_COLUMN = 0.98  # two columns that say the same in so many rows name the same things
MOST_SLICES = 30  # what has more levels is no slice, and no list of raters that a column of sources would hold
LONGEST_NUMBER = 200  # longer cells hold no number, and are not searched for one


@dataclass(frozen=True, eq=False)
class Column:
    """What a column is called and holds, looked at once."""

    name: str
    cells: pd.Series[Any]
    coded: Callable[[str], tuple[NDArray[Any], pd.Index[Any]]] | None = None  # `RawTable.coded`

    is_judge = cached_property(lambda column: column_names.is_judge(column.name))
    is_person = cached_property(lambda column: column_names.is_person(column.name))
    is_rater = cached_property(lambda column: column_names.is_rater(column.name))
    is_criterion = cached_property(lambda column: column_names.is_criterion(column.name))
    is_reason = cached_property(lambda column: column_names.is_reason(column.name) and not column.numeric)
    is_date = cached_property(lambda column: column_names.is_date(column.name))
    is_attribute = cached_property(lambda column: column_names.is_attribute(column.name))
    is_nobodys = cached_property(lambda column: column_names.is_nobodys(column.name))
    is_derived = cached_property(lambda column: column_names.is_derived(column.name))
    is_gold = cached_property(lambda column: column_names.is_gold(column.name))
    may_be_a_person = cached_property(lambda column: column_names.may_be_a_person(column.name))
    plain = cached_property(lambda column: column_names.plain(column.name))
    ending = cached_property(lambda column: plain(column.name).rsplit("_", 1)[-1])  # the last word of the plain name
    words = cached_property(lambda column: {*map(str, labels_of(pd.Series(column.distinct)))})
    """Its different values in one spelling."""
    number = cached_property(lambda column: int(column._counted[1].sum()))  # how many of its cells are not empty
    length = cached_property(lambda c: sum(len(str(v)) for v in c.distinct[:500]) / max(len(c.distinct[:500]), 1))
    """Mean number of characters of its different values."""
    wordy = cached_property(lambda column: not column.numeric and column.length > LONG)
    """Whether it looks like texts: no numbers, and long ones."""
    dated = cached_property(lambda c: bool(len(c.distinct)) and all(DAY.match(str(v).strip()) for v in c.distinct[:50]))
    """Whether it holds days: 2026-03-01, 1.3.2026, 03/01/26."""
    has_fraction = cached_property(lambda column: column.numeric and any("." in str(v) for v in column.distinct[:100]))
    """Whether it holds numbers with a point."""
    varied = cached_property(lambda c: len(c.distinct) < c.number or c.number <= 20 or c.has_fraction)
    """Whether it is no mere numbering of the rows."""

    filled = cached_property(lambda column: column.cells[~is_empty(column.cells)])
    """The cells that are not empty."""
    distinct = cached_property(lambda column: column._counted[0])
    """The different values that are not empty, in order of first appearance."""

    def __str__(self) -> str:
        """Its name, as in a message."""
        return self.name

    @cached_property
    def _counted(self) -> tuple[pd.Index[Any], NDArray[np.intp]]:
        """The different values that are not empty, in order of first appearance, and how often each is there."""
        codes, each = self.coded(self.name) if self.coded else pd.factorize(self.cells)
        there, times = ~values.say_nothing(each.tolist()), np.bincount(codes[codes >= 0], minlength=len(each))
        return pd.Index(each.to_numpy()[there], dtype=object), times[there]

    @cached_property
    def numeric(self) -> bool:
        """Whether half of its cells are numbers; the others (refusals, say) are faults, told one by one."""
        values, times = self._counted
        long = np.array([len(str(value)) > LONGEST_NUMBER for value in values], dtype=bool)
        if not len(values) or times[long].sum() > 0.5 * times.sum():
            return False
        return bool(times[as_numbers(pd.Series(values, dtype=object)).notna().to_numpy()].sum() >= 0.5 * times.sum())

    @cached_property
    def ordered(self) -> pd.Series[float]:
        """Its cells as numbers, labels of a known order by their place in it; NaN for others."""
        if self.numeric:
            return as_numbers(self.cells)
        words = labels_of(self.cells)
        if is_verdict(self.words):
            return words.map({word: float(k) for k, each in enumerate(VERDICTS) for word in each})
        order = next((order for order in ORDERS if self.words <= {*order}), ())
        return words.map({word: float(k) for k, word in enumerate(order)})

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest number."""
        numbers = as_numbers(pd.Series(self.distinct, dtype=object))
        return float(numbers.min()), float(numbers.max())

    @property
    def made_days(self) -> bool:
        """Whether it holds a few days without a year ("4-May"), as a spreadsheet writes 4/5, or all x/5 of one year."""
        days = [str(value).strip() for value in self.distinct] if 1 < len(self.distinct) <= FEW_LABELS else []
        parts = [{*map(int, part)} for part in zip(*(d.split("-") for d in days if ISO.fullmatch(d)), strict=True)]
        sides = (parts[1:], parts[:0:-1]) if parts and len(parts[0]) == 1 else ()
        grades = any(len(of) == 1 and max(grade) <= max(of) for of, grade in sides)
        return bool(days) and all(GRADE_AS_DAY.fullmatch(day) or (grades and ISO.fullmatch(day)) for day in days)

    @property
    def holds_labels(self) -> bool:
        """Whether its values are labels whose order is known: pass, fail, good, ..., or stand in the place of one."""
        answers = {*labels_of(pd.Series(self.distinct[:50]))} - {*STATUSES}
        return bool(answers) and answers <= values.KNOWN

    @cached_property
    def holds_sets(self) -> bool:
        """Whether its many different values are sets of a few labels: "a; b", "a|b"."""
        many = FEW_LABELS < len(self.distinct) <= MOST_SETS and not (self.numeric or self.wordy)
        return many and find_sets(tuple(self.words)) is not None

    @property
    def told_once(self) -> bool:
        """Whether nearly every cell says something else, in no words that rate: a text, however short."""
        several = self.number >= FEWEST_TEXTS and len(self.distinct) >= 0.8 * self.number
        return several and not (self.numeric or self.holds_labels)

    @property
    def is_a_key(self) -> bool:
        """Whether every cell is another short word or whole number: nothing is rated so often without a repetition."""
        whole = FEWEST_TEXTS <= len(self.distinct) == len(self.cells) and not (self.has_fraction or self.dated)
        return whole and not any(re.search(r"\s", str(value).strip()) for value in self.distinct)

    @property
    def rating(self) -> bool:
        """Whether it may hold ratings: numbers, a few short labels that come again, or sets of such."""
        few = 0 < len(self.distinct) <= FEW_LABELS and self.length <= 30
        return self.numeric or self.holds_sets or (few and not self.told_once)

    @property
    def like_ratings(self) -> bool:
        """Whether it looks like ratings although nothing else speaks for it: several values, most of them repeated."""
        repeated = len(self.distinct) <= self.number / 2
        known = self.numeric or self.holds_labels or self.holds_sets
        return self.varied and len(self.distinct) > 1 and (known or repeated)

    def answers_like(self, other: Column) -> bool:
        """Whether its values look like those of a column of ratings: persons and judges answer on one scale."""
        if is_verdict(self.words) and is_verdict(other.words):
            return True
        if self.numeric != other.numeric or (len(self.distinct) > 101 and not self.holds_sets):
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
        whole = self.numeric or is_verdict(self.words) or self.words <= other.words
        return whole and self.rating and self.answers_like(other)


def columns_of(raw: RawTable) -> list[Column]:
    """The columns of a table, in its order."""
    return [Column(name, raw.frame[name], raw.coded) for name in raw.names]


def like_ratings(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column of a table looks like ratings, whatever it was read as, and is not called as other things."""
    column = Column(name, frame[name]) if name in frame else None
    if column is None or column.is_nobodys or column.is_reason:
        return False
    few = 1 < len(column.distinct) <= FEW_LABELS and not (column.wordy or column.dated)
    return few and column.like_ratings and (column.numeric or column.holds_labels)


class Roles:
    """`taken`: role -> column or columns, or what else is known of the table (`given` stays as it is); `free`: columns
    without a role, in the order of the table; `ignored`: column -> why it has none."""

    def __init__(self, raw: RawTable, given: Mapping[str, Any]) -> None:
        self.raw = raw if raw.times is None else RawTable(raw.path, raw.seen)
        self.frame, self.given = self.raw.frame, given
        self.columns = {column.name: column for column in columns_of(self.raw)}
        self.ignored = dict.fromkeys(given.get("ignore", ()), "as you said")
        named = [v for k, v in given.items() if k not in ("judges", "people", "raters", "ignore", *SETTINGS)]
        names = {*self.ignored, *columns_in([*named, *given.get("raters", {}).values()])}
        self.free = [column for name, column in self.columns.items() if name not in names]
        self.taken: dict[str, Any] = {k: v for k, v in given.items() if v or k in ("target", "cluster", "slices")}
        self.taken.pop("ignore", None)

    def take(self, role: str, column: Column) -> None:
        """Give a free column the role, alone where it may have several."""
        self.taken[role] = (column.name,) if role in LISTS else column.name
        self.free.remove(column)

    def take_all(self, role: str, columns: Sequence[Column]) -> None:
        """Give the role, which may have several, to all of these, where none has it."""
        if role not in self.taken:
            self.taken[role] = tuple(map(str, columns))
            self.use(columns)

    def take_named(self, role: str, fits: Callable[[Column], bool], names: Iterable[str] | None = None) -> None:
        """Give the role to the first free column that is called so and fits; `names` in place of the role's own."""
        called = (c for name in (NAMES[role] if names is None else names) for c in self.free if c.plain == name)
        if role not in self.taken and (column := next((c for c in called if len(c.distinct) and fits(c)), None)):
            self.take(role, column)

    @property
    def stated(self) -> set[str]:
        """The names of people and judges that somebody said."""
        return {*self.taken.get("people", ()), *self.taken.get("judges", ())}

    @property
    def rated(self) -> list[Column]:
        """Free columns that may hold ratings, and are not called as attributes are."""
        return [column for column in self.free if column.rating and not column.is_attribute]

    def leave_out(self, columns: Collection[Column], why: str) -> None:
        """These columns are read as nothing."""
        self.ignored |= {column.name: why for column in columns}
        self.use(columns)

    def use(self, columns: Collection[Column]) -> None:
        """These columns are free no longer."""
        self.free = [column for column in self.free if column not in columns]

    def filled(self, *names: str) -> list[str]:
        """The columns of those of these roles that are taken, in this order; of several columns each."""
        return columns_in(self.taken.get(name) for name in names)

    def says_who_won(self, column: Column, sides: Collection[Column] = ()) -> bool:
        """Whether it holds choices between two alone: model_a, model_b, tie, or in every row one of the two there."""
        won = column.cells.map({value: bool(values.chosen(str(value).lower())) for value in column.distinct}).eq(True)
        for side in sides or [self.columns[name] for name in self.filled("first", "second")]:
            won |= column.cells.eq(side.cells)
        return bool(won[column.filled.index].all())

    def answers_as_others(self, column: Column, *, won: bool = False) -> bool:
        """Whether a column called judge or model answers as others do; names of models do where they say who `won`."""
        names = not won and any(column_names.is_judge(str(value)) for value in column.distinct)
        if names or not 1 < len(column.distinct) <= MOST_SLICES:
            return False
        called = {name for role in ("target", "author", "first", "second", "rater") for name in NAMES[role]}
        others = (c for c in self.free if c is not column and (c.plain not in called or (c.numeric and c.is_person)))
        alike = (c for c in others if c.rating and len(column.words & c.words) >= max(1, len(column.words) / 2))
        return any(float((column.cells == c.cells).mean()) < SAME_COLUMN for c in alike)

"""Columns recognised by their names and by what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recuse.ratings.factors import LEVELS
from recuse.readers.column import Column
from recuse.readers.column_names import (
    FACTORS,
    NAMES,
    PARTS,
    SETS,
    WINNERS,
    base_of,
    is_criterion,
    is_date,
    is_judge,
    is_person,
    plain,
)  # fmt: skip
from recuse.readers.crossed_names import crossed_names
from recuse.readers.mapping import ColumnMapping
from recuse.readers.values import CHOICE_WORDS
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["recognise"]

FEWEST_CLUSTERS, MOST_SLICES = 20, 30
"""With fewer levels a column groups texts and is a slice: an interval over a handful of clusters says nothing."""
SAME_COLUMN = 0.98
"""Two columns that say the same in so many rows name the same things."""
MOST_MARKS = 11
"""Different numbers of the longest usual scale that has each of them given, 0 to 10."""
SURELY = 5
"""So many rows that a column of letters tells apart are not told apart by chance."""

BY_NUMBER = ("id", "rater", "annotator", "reviewer", "worker", "user", "labeler", "labeller")
"""Columns of raters that may hold numbers."""
REPEATS = re.compile(r"^(?:r|rep|repeat|run|trial|score|rating|sample|s)_?(\d{1,3})$")


def recognise(frame: pd.DataFrame, given: Mapping[str, Any]) -> ColumnMapping:
    """Roles of the columns of a table of strings; what is given stays as it is. `RecuseError` where nothing in it can
    be a rating, saying how to name the column."""
    finder = _Finder(frame, given)
    return finder.found()


class _Finder:
    """Takes columns away one role after the other, the surest role first."""

    def __init__(self, frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
        self.frame, self.given = frame, given
        self.columns = {str(name): Column(str(name), frame[name]) for name in frame.columns}
        self.ignored = dict.fromkeys(given.get("ignore", ()), "as you said")
        named = [v for k, v in given.items() if k not in ("judges", "people", "scale", "raters", "ignore")]
        taken = {c for v in named for c in ((v,) if isinstance(v, str) else v)}
        taken |= {c for cs in dict(given.get("raters", {})).values() for c in cs}
        self.free = [name for name in self.columns if name not in taken and name not in self.ignored]
        self.roles: dict[str, Any] = {
            k: v for k, v in given.items() if k not in ("ignore",) and (v or k in ("target", "cluster"))
        }

    def found(self) -> ColumnMapping:
        self._take_repeats()
        self._take_pair()
        self._take_role("rater", self._names_raters)
        self._take_sources()
        self._take_role("kind", lambda c: len(c.distinct) <= 4 and not c.numeric)
        self._take_item()
        self._take_role("criterion", lambda c: len(c.distinct) <= 100 and not c.numeric)
        self._take_value()
        self._take_raters_beside()
        self._take_what_raters_share()
        self._take_parts()
        self._take_role("repeat", lambda c: len(c.distinct) <= 1000 and c.numeric)
        self._take_role("gold", lambda c: c.rating)
        self._take_role("author", lambda c: not c.wordy)
        self._take_role("reason", lambda c: not c.numeric)
        if not self.roles.get("first"):
            self._take_role("target", self._names_systems)
        self._take_role("order", lambda c: set(c.distinct) <= {"ab", "ba"})
        self._take_role("cluster", lambda c: not c.wordy and FEWEST_CLUSTERS <= len(c.distinct) < len(self.frame))
        self._take_role("text", lambda c: c.wordy or c.told_once)
        self._take_factors()
        self._take_what_tells_apart()
        self._take_raters()
        self._take_slices()
        self._check_something_rated()
        return self._mapping()

    # ------------------------------------------------------------------ one role each

    def _take(self, role: str, name: str) -> None:
        self.roles[role] = name
        self.free.remove(name)

    def _take_role(self, role: str, fits: Any = lambda column: True, names: Iterable[str] | None = None) -> None:
        if role in self.roles:
            return
        for wanted in names or NAMES[role]:
            for name in self.free:
                if plain(name) == wanted and len(self.columns[name].distinct) and fits(self.columns[name]):
                    self._take(role, name)
                    return

    def _take_repeats(self) -> None:
        if "repeats" in self.roles:
            return
        several = [n for n in self.free if REPEATS.match(plain(n)) and self.columns[n].rating]
        if len(several) > 1:
            self.roles["repeats"] = tuple(several)
            self.free = [name for name in self.free if name not in several]

    def _take_pair(self) -> None:
        if "first" in self.roles or "second" in self.roles:
            return
        short = {plain(n): n for n in self.free if not self.columns[n].wordy and not self.columns[n].numeric}
        for one, other in zip(NAMES["first"], NAMES["second"], strict=True):
            if one in short and other in short and self._meet(short[one], short[other]):
                chosen = "value" in self.roles or any(plain(name) in WINNERS for name in self.free)
                if not (chosen or self._choosers(short[one], short[other])):
                    return
                self._take("first", short[one])
                self._take("second", short[other])
                return

    def _choosers(self, first: str, second: str) -> list[str]:
        """Columns that hold nothing but choices between the two: each rater's, side by side."""
        words = set(CHOICE_WORDS) | self.columns[first].words | self.columns[second].words
        others = (self.columns[name] for name in self.free if name not in (first, second))
        return [c.name for c in others if not c.numeric and len(c.distinct) > 1 and c.words <= words]

    def _meet(self, one: str, other: str) -> bool:
        """Whether two columns name what met; columns a and b must share a name, since raters may be called so."""
        shared = set(self.columns[one].distinct) & set(self.columns[other].distinct)
        return bool(shared) or plain(one) not in ("a", "left")

    def _take_item(self) -> None:
        if "item" in self.roles:
            return
        self._take_role("item", lambda c: len(c.distinct) > 1 or len(self.frame) == 1)
        if "item" in self.roles:
            self.roles["item"] = (self.roles["item"],)
            return
        ids = [n for n in self.free if plain(n).endswith(("_id", "id", "_no", "_nr", "number", "name"))]
        ids = [n for n in ids if len(self.columns[n].distinct) > max(2, len(self.frame) // 50)]
        if ids:
            self.roles["item"] = (ids[0],)
            self.free.remove(ids[0])

    def _take_value(self) -> None:
        if "value" in self.roles or "repeats" in self.roles:
            return
        if "first" in self.roles:
            self._take_role("value", lambda c: len(c.distinct) <= 40, WINNERS)
        elif "rater" in self.roles:
            self._take_role("value", lambda c: c.rating and len(c.distinct) > 1)
            self._take_role("value", lambda c: c.rating)
        if "value" in self.roles:
            sets = [name for name in self.free if plain(name) in SETS and len(self.columns[name].distinct)]
            self.free = [name for name in self.free if name not in sets]
            self.roles["value"] = (self.roles["value"], *sets)

    def _take_raters_beside(self) -> None:
        """Beside a column of ratings, columns that bear a person's or a judge's name and hold answers of the same kind:
        a log of a judge's choices with what people chose in a column of its own."""
        if "raters" in self.roles or len(self.roles.get("value", ())) != 1:
            return
        named = {*self.roles.get("people", ()), *self.roles.get("judges", ())}
        value = self.columns[self.roles["value"][0]]
        called = [name for name in self.free if (is_person(name) or is_judge(name)) and not is_date(name)]
        beside = [n for n in self.free if n in named or (n in called and self.columns[n].only_answers_of(value))]
        if beside:
            self.roles["raters"] = {name: (name,) for name in beside}
            self.free = [name for name in self.free if name not in beside]

    def _names_raters(self, column: Column) -> bool:
        """A column called judge may hold the names of judges, or the ratings of the only one."""
        if column.wordy or column.holds_labels or (column.numeric and not plain(column.name).endswith(BY_NUMBER)):
            return False
        if self._answers_as_others(column):
            return False
        return len(column.distinct) <= max(2, len(self.frame) // 2) or len(self.frame) < 10

    def _names_systems(self, column: Column) -> bool:
        rows_per = len(self.frame) / max(len(column.distinct), 1)
        fits = not column.wordy and 1 <= len(column.distinct) <= 200 and rows_per >= 2
        return fits and not self._answers_as_others(column)

    def _answers_as_others(self, column: Column) -> bool:
        """A column called judge or model that holds what people's columns hold is a rater's answers; names of models
        are names, whoever else bears them."""
        if not 1 < len(column.distinct) <= MOST_SLICES or any(is_judge(str(value)) for value in column.distinct):
            return False
        called = {name for role in ("target", "author", "first", "second", "rater") for name in NAMES[role]}
        others = (self.columns[name] for name in self.free if name != column.name and plain(name) not in called)
        alike = (c for c in others if c.rating and len(column.words & c.words) >= max(1, len(column.words) / 2))
        return any(float((column.cells == c.cells).mean()) < SAME_COLUMN for c in alike)

    def _take_sources(self) -> None:
        """Where no column names raters, one whose every value is called as judges or as people are, both among them:
        a log's column that says who a score came from."""
        if "rater" in self.roles:
            return
        for name in self.free:
            values = [str(value) for value in self.columns[name].distinct[: MOST_SLICES + 1]]
            called = [(is_judge(value), is_person(value)) for value in values]
            alone = all(judge != person for judge, person in called) and len(values) <= MOST_SLICES
            if alone and len({*called}) == 2 and not self.columns[name].wordy:
                self._take("rater", name)
                return

    def _take_what_raters_share(self) -> None:
        """Where no column is called an item, the one that every rater has once and others have as well."""
        if self.roles.get("item") or not self.roles.get("rater") or self.roles.get("first"):
            return
        keys = [self.roles["rater"], *filter(None, [self.roles.get("criterion")])]
        for name in self.free:
            column = self.columns[name]
            shared = SURELY < len(column.distinct) <= len(column.filled) / 2 and not (column.wordy or is_date(name))
            if shared and not column.has_fraction and not self.frame.duplicated([*keys, name]).any():
                self._take("item", name)
                self.roles["item"] = (name,)
                return

    def _take_parts(self) -> None:
        """A column that numbers the parts of an item, where several rows are about one: another turn is no repeat."""
        item = self.roles.get("item", ())
        found = [self.roles.get(role, "") for role in ("rater", "criterion", "target")]
        names = [name for name in self.free if plain(name) in PARTS and len(self.columns[name].distinct) > 1]
        if not names or len(item) != 1 or "item" in self.given:
            return
        keys = [*item, *filter(None, found)]
        if self.frame.duplicated(keys).any():
            self.roles["item"] = (*item, names[0])
            self.free.remove(names[0])

    def _take_factors(self) -> None:
        """Known names that vary while rater, item and target stay the same."""
        if "factors" in self.roles:
            return
        factors = []
        for name in list(self.free):
            levels = set(self.columns[name].distinct)
            known = levels <= set(LEVELS.get(plain(name), levels))
            if plain(name) in FACTORS and known and len(levels) > 1 and self._varies(name):
                factors.append(name)
                self.free.remove(name)
        self.roles["factors"] = tuple(factors)

    def _take_what_tells_apart(self) -> None:
        """Where nothing is called a system and items have several rows, the short column that tells these apart, each
        level at most once an item: rows on different things are no repeats of one."""
        if "target" in self.roles or not self.roles.get("item") or self.roles.get("first") or "repeat" in self.roles:
            return
        found = (self.roles.get(role, "") for role in ("rater", "criterion"))
        keys = [*self.roles["item"], *filter(None, found), *self.roles.get("factors", ())]
        again = int(self.frame.duplicated(keys).sum())
        for name in self.free if again else ():
            column = self.columns[name]
            if (
                1 < len(column.distinct) <= len(self.frame) // 2
                and not (column.numeric or column.wordy or is_date(name))
                and not (column.holds_labels and again < SURELY)  # a few ratings may differ by chance
                and not (is_judge(name) or is_person(name) or plain(name) in NAMES["repeat"])
                and not self.frame.duplicated([*keys, name]).any()
            ):
                self._take("target", name)
                return

    def _take_slices(self) -> None:
        """What groups texts: a few short names, the same in every row about one text."""
        if "slices" in self.roles:
            return
        keys = [*self.roles.get("item", ()), *filter(None, [self.roles.get("target")])]
        slices = []
        for name in list(self.free):
            column = self.columns[name]
            few = 1 < len(column.distinct) <= MOST_SLICES and 2 * len(column.distinct) <= len(column.filled)
            if (
                few
                and not column.numeric
                and not column.wordy
                and not is_date(name)
                and not (keys and self._varies(name))
            ):
                slices.append(name)
                self.free.remove(name)
        self.roles["slices"] = tuple(slices)

    def _varies(self, name: str) -> bool:
        keys = [c for c in (*self.roles.get("item", ()), *(self.roles.get(r, "") for r in ("rater", "target"))) if c]
        if not keys or len(self.columns[name].distinct) > 50:
            return False
        return bool((self.frame.groupby(keys, sort=False)[name].nunique() > 1).any())

    def _take_raters(self) -> None:
        """In a wide table, every column that may hold ratings is a rater; beside a column of raters, a criterion."""
        if "raters" in self.roles or "value" in self.roles or "repeats" in self.roles:
            return
        if "first" in self.roles:
            choosers = self._choosers(self.roles["first"], self.roles["second"])
            self.roles["raters"] = {name: (name,) for name in choosers}
            self.free = [name for name in self.free if name not in choosers]
            return
        named = {*self.roles.get("people", ()), *self.roles.get("judges", ())}
        reasons = [n for n in self.free if plain(n).rsplit("_", 1)[-1] in NAMES["reason"]]
        rated = [n for n in self.free if n in named or (self.columns[n].rating and not is_date(n) and n not in reasons)]
        if "rater" in self.roles:
            kept = [n for n in rated if n in named or (self.columns[n].varied and len(self.columns[n].distinct) > 1)]
            self.roles["value"] = tuple(kept)
        else:
            declared = [n for n in rated if n in named or is_judge(n) or is_person(n) or plain(n) in NAMES["value"]]
            kept = self._alike(declared) or [n for n in rated if self.columns[n].like_ratings and self._said_again(n)]
            self._take_wide(kept)
            if not declared and "gold" in self.roles and not kept:
                return
        self.free = [name for name in self.free if name not in kept]

    def _take_wide(self, names: list[str]) -> None:
        """Columns of a rater are its ratings by criterion where the names say so, otherwise its repeats; columns that
        are all called after what is rated are the criteria of one judge."""
        said = {*self.roles.get("people", ()), *self.roles.get("judges", ())}
        if crossed := crossed_names(names, said):
            self.roles |= {"raters": crossed.raters, "criteria": crossed.criteria}
            return
        if len(names) > 1 and all(is_criterion(name) for name in names):
            self.roles |= {"raters": {"judge": tuple(names)}, "criteria": {name: name for name in names}}
            return
        raters: dict[str, tuple[str, ...]] = {}
        for name in names:
            base = base_of(name, names)
            raters[base] = (*raters.get(base, ()), name)
        self.roles["raters"] = raters

    def _said_again(self, name: str) -> bool:
        """A column of labels that nothing calls a rater's is one only where another column holds the same labels."""
        column = self.columns[name]
        return (
            column.numeric
            or column.holds_labels
            or any(column.words & self.columns[other].words for other in self.free if other != name)
        )

    def _alike(self, names: list[str]) -> list[str]:
        """Columns whose values look like those of the surest ones: persons and judges answer on one scale."""
        if not names:
            return []
        sure = [n for n in self.free if n not in names and self.columns[n].rating and self.columns[n].varied]
        like = [n for n in sure if any(self.columns[n].answers_like(self.columns[other]) for other in names)]
        return [n for n in self.free if n in names or n in like]

    # ------------------------------------------------------------------ together

    def _check_something_rated(self) -> None:
        if any(self.roles.get(role) for role in ("value", "repeats", "raters")):
            return
        raise RecuseError(
            "no column holds ratings that could be recognised; name it: --value COLUMN beside --rater COLUMN, or "
            f"--judge COLUMN and --people COLUMN in a wide table. There are: {', '.join(self.columns)}{self._nested()}"
        )

    def _nested(self) -> str:
        lists = [c.name for c in self.columns.values() if c.filled.astype(str).str.startswith("[{").any()]
        return f". Of {', '.join(lists)}, which hold lists, write a row for each entry first" if lists else ""

    def _mapping(self) -> ColumnMapping:
        for name in self.free:
            self.ignored[name] = self._why(name)
        return ColumnMapping(**self.roles, ignored=self.ignored)

    def _marks(self, column: Column) -> bool:
        """Whether a column holds whole numbers as scales have them, each of them often."""
        return column.numeric and column.like_ratings and not column.has_fraction and len(column.distinct) <= MOST_MARKS

    def _why(self, name: str) -> str:
        column = self.columns[name]
        if not len(column.distinct):
            return "empty"
        if len(column.distinct) == 1:
            return "the same in every row"
        if column.wordy:
            return "free text"
        if (raters := self.roles.get("raters")) and self._marks(column):
            there = self.columns[next(iter(raters.values()))[0]]
            if there.numeric and there.ends[1] < column.ends[1]:
                ends = f"up to {column.ends[1]:g}, {there.name} only up to {there.ends[1]:g}"
                return f"numbers {ends}; if it holds ratings, bring them to one scale, then say --people {name}"
        return f"not recognised ({len(column.distinct)} different values)"

"""`Ratings`: a checked table with what is known about it, which is all that a measure is given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce, wraps
from itertools import product
from operator import and_
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.ratings_table import JUDGE, PERSON, USUAL, check_table, completed
from recuse.ratings.scale import Numeric, Scale, decisions_of, scale_of
from recuse.schema import RatingsError
from recuse.schema.factors import DIRECTION, LEVELS, TEMPERATURE, VERSION, check_levels, level_words, levels_in
from recuse.schema.number_text import html_table
from recuse.schema.pandas_when_used import pd

if TYPE_CHECKING:
    from recuse.ratings.array import RatingArray
    from recuse.ratings.cells import Cells

CRITERION = "criterion"
ONE_DECISION = "every word is about one decision"
ORIGIN = "origin"  # under which `Ratings.remember` holds where ratings come from
P = ParamSpec("P")
Found = TypeVar("Found")


def remembered(function: Callable[Concatenate[Ratings, P], Found]) -> Callable[Concatenate[Ratings, P], Found]:
    """What a function of ratings returns, computed once for the same ratings, criteria and further arguments."""

    @wraps(function)
    def made(ratings: Ratings, /, *args: P.args, **kwargs: P.kwargs) -> Found:
        key = function, ratings.headline, args, *sorted(kwargs.items())
        return ratings.remember(key, lambda: function(ratings, *args, **kwargs))

    return made


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Ratings of one task by one protocol, or of one file.

    - `table`: see `recuse.ratings.ratings_table`; `scales`: criterion -> scale; `factors`: its factor columns.
    - `authors`: judge -> the target that is its own work.
    - `headline`: the criteria that stand for the judgement as a whole and are measured unless a measure asks for
      others; `parts`: the criteria of which a single headline criterion claims to be the mean.
    - `texts`: what is known of each text beside its ratings, a frame with columns item, target and any of `cluster`
      (what items share: a story, a topic), `text`, `words`, `a` and `b` (the two that meet in a pair), `payload`, ...
    - `clusters`: what clusters are called, in the plural.
    - `people`: where only summaries of people are known: columns target, mean, sd, n, and item where it is per item.
    - `reference`: the true value per item: columns item, value, and name where items have one.
    - `payloads`: instructions that attackers add to texts: columns payload, class, language, text and held_out, whether
      it was written after and apart from the defences.
    - `thresholds`: criterion -> the scores from which on something else is decided, where such decisions are taken.
    - `positive`: criterion -> the option that is the property which texts are judged for, where somebody says so.
    - `truth`: the rater among people whose answers are known to be right, "" where there is none.
    - `tiers`: tier -> the targets that are known to be of it, the lowest tier first: base, instruct, thinking.
    - `families`: judge -> the family of its model, where it is stated; siblings are no neutral peers.
    - `enforced`: judges whose server lets only replies of the wanted form through, so that all of them can be read.
    - `beside`: the same judges' ratings of this task by other protocols, by what these offer.
    - `times`: item -> how many items with these answers it stands for, where items were counted by their answers.
    - `one_of_several`: whether the one headline criterion is named in what is measured, as it is where there are more.
    """

    table: pd.DataFrame
    scales: Mapping[str, Scale]
    factors: tuple[str, ...] = ()
    authors: Mapping[str, str] = field(default_factory=dict)
    headline: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    texts: pd.DataFrame | None = None
    clusters: str = "items"
    people: pd.DataFrame | None = None
    reference: pd.DataFrame | None = None
    payloads: pd.DataFrame | None = None
    thresholds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    positive: Mapping[str, str] = field(default_factory=dict)
    truth: str = ""
    tiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    enforced: frozenset[str] = frozenset()
    beside: Callable[[str], Ratings | None] = dict[str, "Ratings"]().get  # nothing, and no lambda: it is pickled
    one_of_several: bool = False
    times: Mapping[str, int] | None = None
    _memory: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, frame: pd.DataFrame, *, scales: Mapping[str, Scale] | Scale | None = None,
        factors: Sequence[str] | None = None, authors: Mapping[str, str] | None = None,
        headline: Sequence[str] | None = None, **known: Any,
    ) -> Self:  # fmt: skip
        """Ratings from any frame with columns rater (or judge), item, and score or response; see `completed`.

        What is not given is taken from the data: scales from the values, factors from columns of known names, all
        criteria as headline. Raises `RatingsError` listing every fault of the table."""
        table = completed(frame)
        known_factors = (name for name in table.columns if name in (*LEVELS, TEMPERATURE, VERSION))
        columns = tuple(known_factors if factors is None else factors)
        made = cls(table, {}, columns, dict(authors or {}), **known)
        for name in USUAL.keys() - {"status", "score", "response", "repeat", *frame} if len(table) else ():
            made._memory["coded", name] = (USUAL[name],), np.zeros(len(table), dtype=np.intp)  # filled in: one name
        check_table(table, columns, coded=made.coded)
        check_levels(table, columns, {name: made.levels(name) for name in columns})
        every: dict[str, Scale] = {}
        for name in made.criteria:
            given = scales.get(name) if isinstance(scales, Mapping) else scales
            rows = made.having("criterion", name)
            every[name] = given or scale_of(table.loc[rows, "score"], table.loc[rows, "response"])
        return replace(made, scales=every, headline=tuple(every if headline is None else headline))

    @property
    def raters(self) -> Mapping[str, str]:
        """Rater -> kind, in order of first appearance."""

        def kinds() -> Mapping[str, str]:
            from recuse.ratings.array import first_of

            names, places = self.coded("rater")
            return dict(zip(names, self.table["kind"].iloc[first_of(places)], strict=True))

        return self.remember_of_rows("raters", kinds)

    @property
    def judges(self) -> tuple[str, ...]:
        """Raters that are judges, in order of first appearance."""
        return tuple(name for name, kind in self.raters.items() if kind == JUDGE)

    @property
    def persons(self) -> tuple[str, ...]:
        """Raters that are people, in order of first appearance."""
        return tuple(name for name, kind in self.raters.items() if kind == PERSON)

    @property
    def targets(self) -> tuple[str, ...]:
        """Whose texts are rated, in order of first appearance."""
        return self.coded("target")[0]

    @property
    def criteria(self) -> tuple[str, ...]:
        """All criteria of the table, in order of first appearance."""
        return self.coded("criterion")[0]

    @property
    def judgements(self) -> int:
        """How many rows there are, those of an item that stands for others as often."""
        if self.times is None:
            return len(self.table)
        return int(self.table["item"].astype(str).map(dict(self.times)).sum())

    def coded(self, column: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """The different entries of a column as texts, in order of first appearance, and which of them each row has: a
        column is gone through once, whatever is made of it and of some of the rows."""
        from recuse.ratings.array import coded, recoded

        def made() -> tuple[tuple[str, ...], NDArray[np.intp]]:
            whole, rows = self._memory.get("part of", (None, ...))
            names, places = whole.coded(column) if whole else ((), np.array([-1]))
            own = places[rows]
            return coded(self.table[column]) if own.min(initial=0) < 0 else recoded(names, own)

        return self.remember_of_rows(("coded", column), made)

    def having(self, column: str, name: str) -> NDArray[np.bool_]:
        """Which rows have this name in a column, (rows,)."""
        names, places = self.coded(column)
        return np.asarray(places == (names.index(name) if name in names else len(names)))

    def levels(self, factor: str) -> tuple[str, ...]:
        """The factor's levels in these ratings, the ordinary one first; empty where it was not varied."""
        if factor not in self.factors:
            return ()

        def made() -> tuple[str, ...]:
            names, places = self.coded(factor)
            return levels_in(self.table, factor, () if places.min(initial=0) < 0 else names)

        return self.remember_of_rows(("levels", factor), made)

    def own(self) -> dict[str, str]:
        """Judge -> target, for the judges of these ratings that wrote one of their targets."""
        judges = set(self.judges)
        return {judge: target for judge, target in self.authors.items() if judge in judges}

    @property
    def criterion(self) -> str:
        """The one criterion that is measured; `RatingsError` where there are several, naming them."""
        if len(self.headline) != 1:
            raise RatingsError(
                f"one criterion is measured at a time; these ratings have {', '.join(self.headline) or 'none'}. "
                "Use each(), or with_criterion(...)"
            )
        return self.headline[0]

    @property
    def scale(self) -> Scale:
        """Scale of the one criterion that is measured; `RatingsError` where there are several."""
        return self.scales[self.criterion]

    @remembered
    def where(self, /, **levels: str) -> Ratings:
        """The rows with these factor levels; the factors are then fixed and no longer varied."""
        whole = self._of_all_criteria
        if whole is not self:  # rows are chosen once for all criteria
            return whole.where(**levels)._measuring(self.headline)
        if unknown := [name for name in levels if name not in self.factors]:
            raise RatingsError(f"{unknown[0]} was not varied; varied was {', '.join(self.factors) or 'nothing'}")
        there = [self.having(factor, level) for factor, level in levels.items()]
        left = tuple(name for name in self.factors if name not in levels)
        rows = np.flatnonzero(reduce(and_, there, np.ones(len(self.table), dtype=bool)))
        scales = self.scales
        if levels.get(DIRECTION) == "reversed":
            scales = {name: replace(s, reversed=True) if isinstance(s, Numeric) else s for name, s in scales.items()}
        chosen, index = {}, self.table.index[rows]
        for name in (n for n in self.table if n not in levels):
            column, (names, places) = self.table[name], self._memory.get(("coded", name), ((), None))
            kept: Any = column.array
            kind: Any = column.dtype
            if len(names) == 1 and places.min() == 0:  # it says one thing: the first rows are as good
                kept = kept[: len(rows)]
            elif names and isinstance(kind, pd.StringDtype) and places.min() == 0:  # Arrow would copy the whole column
                kept, kind = np.array(names, dtype=object)[places[rows]], object
            else:
                kept = kept.take(rows)
            chosen[name] = pd.Series(kept, index, dtype=kind, copy=False)  # or pandas looks for texts
        table = pd.DataFrame(chosen, index, copy=False)
        table.columns = pd.Index([*chosen], dtype=object)  # as `completed` has them
        memory = {**self._kept(ORIGIN), "part of": (self, rows)}
        return replace(self, table=table, factors=left, scales=scales, _memory=memory)

    @remembered
    def without(self, /, *judges: str) -> Ratings:
        """The same ratings without these judges, here and in what stands `beside`."""
        if not set(judges) & set(self.judges):
            return self

        def without_judges(kind: str) -> Ratings | None:
            beside_rows = self.beside(kind)
            return None if beside_rows is None else beside_rows.without(*judges)

        kept = self.table[~(self.table["rater"].isin(judges) & self.table["kind"].eq(JUDGE))]
        return replace(self, table=kept, beside=without_judges, _memory=self._kept(ORIGIN))

    def joined_by(self, other: Ratings) -> Ratings:
        """These ratings, the judges of `other`, who were asked the same, among the raters; `beside` is theirs."""
        judged = other.table[other.table["kind"].eq(JUDGE)]
        table = pd.concat([self.table, judged[list(self.table.columns)]], ignore_index=True)
        return replace(self, table=table, authors={**self.authors, **other.authors}, beside=other.beside, _memory={})

    def with_criterion(self, *criteria: str) -> Ratings:
        """The same ratings with other criteria to be measured; `RatingsError` for one that is not there."""
        if unknown := [name for name in criteria if name not in self.criteria]:
            raise RatingsError(f"no ratings of criterion {', '.join(unknown)}; there are {', '.join(self.criteria)}")
        return self._measuring(criteria)

    def as_decisions(self, uses: Collection[str]) -> tuple[Ratings, list[str]]:
        """What is decided (`decisions_of`) in place of scores or labels, where one of the `uses` is to decide: a judge
        may agree with people on the whole scale and decide otherwise than they do. And notes."""
        positive, thresholds = self.positive, self.thresholds
        of = {name: (self.scales[name], positive.get(name, ""), thresholds.get(name, ())) for name in self.headline}
        if not (decided := decisions_of(of, uses)):
            return self, []
        table, notes = self.table.copy(), []
        for name, (scale, option) in decided.items():
            before, other = self.scales[name], scale.options[0]
            rows = table["criterion"].eq(name) & table["status"].eq("ok")
            if isinstance(before, Numeric):
                score = table.loc[rows, "score"]
                if DIRECTION in table:  # as written on the mirror image of the scale
                    turned = table.loc[rows, DIRECTION].eq("reversed")
                    score = score.mask(turned, before.minimum + before.maximum - score)
                start = thresholds[name][0]
                passes = score <= start if before.reversed else score >= start
            else:
                passes = table.loc[rows, "response"].eq(option)
            table.loc[rows, "response"] = np.where(passes, option, other)
            table.loc[rows, "score"] = np.nan
            notes.append(f"{ONE_DECISION} on {name}: {other}, or {option}")
        scales = {**self.scales, **{name: scale for name, (scale, _) in decided.items()}}
        positive = {**positive, **{name: option for name, (_, option) in decided.items()}}
        made = replace(self, table=table, scales=scales, positive=positive, thresholds={}, parts=(), _memory={})
        return made, notes

    def where_scale(self, fits: Callable[[Scale], bool]) -> Ratings | None:
        """The same with those headline criteria whose scale fits, each named in what is measured as long as there are
        others; None where no scale fits."""
        wanted = tuple(name for name in self.headline if fits(self.scales[name]))
        if not wanted or wanted == self.headline:
            return self if wanted else None
        part = self.with_criterion(*wanted)
        if len(wanted) > 1:
            return part
        return part.remember("one of several", lambda: replace(part, one_of_several=True, _memory={"whole": part}))

    def _measuring(self, criteria: tuple[str, ...]) -> Ratings:
        whole = self._of_all_criteria
        key = "criteria", *criteria
        return whole.remember(key, lambda: replace(whole, headline=criteria, _memory={"whole": whole}))

    @property
    def _of_all_criteria(self) -> Ratings:
        """These ratings before `with_criterion` chose among their criteria: the same rows."""
        return cast("Ratings", self._memory.get("whole", self))

    def each(self, *compared: str) -> Iterator[tuple[tuple[str, ...], Ratings]]:
        """(levels in the order of `within(*compared)`, ratings) for every headline criterion and every combination of
        levels of the factors that a measure does not itself compare. A combination without rows is passed over."""
        varied = [name for name in self.factors if name not in compared]
        for criterion in self.headline:
            part = self if len(self.headline) == 1 else self.with_criterion(criterion)
            for levels in product(*(self.levels(name) for name in varied)):
                here = part.where(**dict(zip(varied, levels, strict=True))) if varied else part
                if len(here.table):
                    yield (*levels, *((criterion,) if self._names_criterion else ())), here

    def within(self, *compared: str) -> tuple[str, ...]:
        """Names of what `each(*compared)` goes through: the factors, and `criterion` where there are several."""
        varied = tuple(name for name in self.factors if name not in compared)
        return (*varied, *((CRITERION,) if self._names_criterion else ()))

    @property
    def _names_criterion(self) -> bool:
        return self.one_of_several or len(self.headline) > 1

    def words(self, names: Sequence[str], levels: Sequence[str]) -> str:
        """Levels in plain words: "names hidden, quality"."""
        pairs = zip(names, levels, strict=True)
        return ", ".join(level if name == CRITERION else level_words(name, level) for name, level in pairs)

    @remembered
    def folded(self, /) -> Ratings:
        """The patterns of these items, counted (`recuse.ratings.folding`); the same where they are few or differ."""
        from recuse.ratings.folding import folded

        whole = self._of_all_criteria
        few = self.remember_of_rows("folded", lambda: folded(whole))
        if few is whole:
            return self
        memory = {"whole": few, "single": self}
        return replace(self, table=few.table, texts=few.texts, times=few.times, _memory=memory)

    def single(self) -> Ratings:
        """The single items that these stand for. `RecuseError` where they were counted and are too many."""
        from recuse.ratings.folding import unfolded

        whole = self._of_all_criteria
        if whole is not self and "single" not in self._memory:
            return whole.single()._measuring(self.headline)
        return self if self.times is None else self.remember("single", lambda: unfolded(self))

    def cells(self) -> Cells:
        """Counts, means and variances per judge and text of the criterion, over repeats (`recuse.ratings.cells`)."""
        from recuse.ratings.cells import cells_of

        return self.remember(("cells", self.headline), lambda: cells_of(self))

    def array(self) -> RatingArray:
        """The criterion as an array raters x items x targets x repeats, people among the raters."""
        from recuse.ratings.array import array_of

        if self.times is not None:
            return self.single().array()
        return self.remember(("array", self.headline), lambda: array_of(self))

    def __repr__(self) -> str:
        """Short: a traceback shows it for every frame that was given ratings."""
        return f"<Ratings: {len(self.table)} rows by {', '.join(self.raters)} on {', '.join(self.headline)}>"

    def _repr_html_(self) -> str:
        """How much each rater gave: rows, those that can be used, on how many items and targets, and the mean score."""
        head = ("rater", "kind", "criterion", "ratings", "usable", "items", "targets", "mean score")
        varied = f"; varied: {', '.join(self.factors)}" if self.factors else ""
        each = []
        for key, rows in self.table.groupby(["rater", "kind", "criterion"], sort=False, observed=True):
            usable = rows[rows["status"] == "ok"]
            mean = "" if usable["score"].isna().all() else f"{usable['score'].mean():.3f}"  # options have no mean
            each.append((*key, len(rows), len(usable), rows["item"].nunique(), rows["target"].nunique(), mean))
        return html_table(f"{len(self.table)} ratings by {len(self.raters)} raters{varied}", head, each)

    def __getstate__(self) -> dict[str, Any]:
        """What was computed is left behind where ratings are pickled, for another process or a file."""
        return {**self.__dict__, "_memory": self._kept(ORIGIN, "whole", "single")}

    def _kept(self, *keys: str) -> dict[Any, Any]:
        return {key: self._memory[key] for key in keys if key in self._memory}

    def remember(self, key: Any, make: Callable[[], Found]) -> Found:
        """What `make` returns, made once for these ratings."""
        if key not in self._memory:
            self._memory[key] = make()
        return cast("Found", self._memory[key])

    def remember_of_rows(self, key: Any, make: Callable[[], Found]) -> Found:
        """The same for what depends on the rows alone: made once, whatever criteria are measured on them."""
        return self._of_all_criteria.remember(key, make)

"""What people say of the texts that judges rated: each person's own ratings where the table has them, or a summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.array import among, mean_of, numbers, recoded
from recuse.ratings.cells import Cells
from recuse.ratings.moments import moments_of
from recuse.ratings.ratings_table import PERSON
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, taken

if TYPE_CHECKING:
    from recuse.ratings.ratings import Ratings

SUMMARY = ("target", "mean", "sd", "n")


@dataclass(frozen=True, eq=False)
class People:
    """`mean` (U,): people's mean of each text of the cells, NaN where nobody rated it. `persons` (P, U): each person's,
    where known. `errors` (U,) and `fewest`: standard error and smallest number of people of a summary. `per_text`:
    whether it is the text that was rated, not its target as a whole."""

    mean: Floats
    persons: Floats | None = None
    errors: Floats | None = None
    fewest: int = 0
    per_text: bool = True
    times: Floats | None = None  # (U,): how many texts each stands for

    @property
    def known(self) -> bool:
        """Whether each person's own ratings are known, not their means alone."""
        return self.persons is not None

    def count(self, texts: NDArray[np.bool_]) -> int:
        """How many people rated any of these texts; of a summary, the fewest that a mean is made of."""
        return self.fewest if self.persons is None else int(np.isfinite(self.persons[:, texts]).any(axis=1).sum())

    def error(self, texts: NDArray[np.bool_]) -> tuple[float, float]:
        """Standard error of their mean over these texts, and its degrees of freedom, number of people - 1.

        What all people share on a text stays in it; what one person adds everywhere is what other people would change:
        the SD over people of their mean deviation, by the root of their number. Of a summary only each text's error is
        known; as if everybody leant the same way on all texts, the worst case, errors average. NaN where unknown.
        """
        used = texts & np.isfinite(self.mean)
        if not used.any():
            return math.nan, 0.0
        if self.persons is None:
            assert self.errors is not None
            if self.fewest < 2:
                return math.nan, 0.0
            return float(self.errors[used].mean()), float(self.fewest - 1)
        leaning = mean_of(self.persons[:, used] - self.mean[used], axis=1, times=taken(self.times, used))
        leaning = leaning[np.isfinite(leaning)]
        if len(leaning) < 2:
            return math.nan, 0.0
        return float(leaning.std(ddof=1) / math.sqrt(len(leaning))), len(leaning) - 1.0


def people_on(part: Ratings, cells: Cells, ratings: Ratings) -> People:
    """People on the texts of `cells`, the cells of `part`, one combination of factor levels of `ratings`.

    People of the table come before a summary. Those who rated within another combination (a person is seldom asked
    twice) count where nobody did within this one. `RecuseError` where there are no people at all, naming the remedy.
    """
    everywhere = ratings.with_criterion(part.criterion)
    for source in ([part], [other for _, other in everywhere.each()]):
        means = [_means(some, cells) for some in source]
        if names := sorted({name for one in means for name in one}):
            nobody = np.full(len(cells.items), np.nan)
            persons = np.stack([mean_of(np.stack([one.get(name, nobody) for one in means]), axis=0) for name in names])
            return People(mean_of(persons, axis=0), persons, times=cells.times)
    if part.people is None:
        raise RecuseError(
            "there are no people to compare judges with: add rows of kind person, or a summary people=... with the "
            f"columns {', '.join(SUMMARY)}"
        )
    if "criterion" not in part.people and len({ratings.scales[name].ends for name in ratings.headline}) > 1:
        raise RecuseError("the summary of people's ratings must say of which criterion: add a column criterion")
    return _summary(part, cells, part.people)


def _means(part: Ratings, cells: Cells) -> dict[str, Floats]:
    """Person -> mean of each text of the cells, on the ascending scale."""
    table = part.table
    rows = np.flatnonzero((table["kind"] == PERSON) & (table["criterion"] == part.criterion))
    if not len(rows):
        return {}
    item, target = (
        among(*part.coded(name), wanted)[rows]
        for name, wanted in (("item", cells.item_names), ("target", cells.target_names))
    )
    targets, width = len(cells.target_names), len(cells.items)
    text = np.where((item >= 0) & (target >= 0), item * targets + target, -1)
    place = pd.Index(cells.items * targets + cells.targets).get_indexer(pd.Index(text))
    names, everybody = part.coded("rater")
    names, person = recoded(names, everybody[rows])
    inside = place >= 0
    means = moments_of((person * width + place)[inside], numbers(part, table, rows)[inside], len(names) * width).mean
    return dict(zip(names, means.reshape(len(names), width), strict=True))


def _summary(part: Ratings, cells: Cells, people: pd.DataFrame) -> People:
    if missing := [name for name in SUMMARY if name not in people]:
        raise RecuseError(
            f"the summary of people's ratings lacks the column(s) {', '.join(missing)}; it has "
            f"{', '.join(map(str, people.columns))}"
        )
    rows = people[people["criterion"] == part.criterion] if "criterion" in people else people
    per_text = "item" in rows
    keys = ["item", "target"] if per_text else ["target"]
    rows = rows.assign(**{name: rows[name].astype(str) for name in keys}).set_index(keys)
    if rows.index.has_duplicates:
        twice = rows.index[rows.index.duplicated()][0]
        raise RecuseError(f"the summary of people's ratings needs one row for {', '.join(keys)}; {twice} has several")
    wanted = _texts(cells, per_text)
    there = rows.reindex(wanted)
    mean, sd, n = (there[name].to_numpy(dtype=float) for name in ("mean", "sd", "n"))
    single = len(cells.items) == len(cells.target_names)
    known = np.isfinite(mean)
    fewest = int(n[known].min()) if known.any() else 0
    return People(mean, errors=sd / np.sqrt(n), fewest=fewest, per_text=per_text or single)


def _texts(cells: Cells, per_text: bool) -> Any:
    targets = np.asarray(cells.target_names, dtype=object)[cells.targets]
    if not per_text:
        return pd.Index(targets, dtype=object)
    return pd.MultiIndex.from_arrays([np.asarray(cells.item_names, dtype=object)[cells.items], targets])

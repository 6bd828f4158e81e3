"""Every judge's pairs over both orders, as arrays: taken from the table once for all measures of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings import Ratings
from recuse.ratings.pair_array import both_orders, verdicts_of
from recuse.schema.arrays import Floats


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """Pairs of one judge, every array of shape (pairs,). `ab` and `ba`: the first place's credit in either order;
    `won`: what a won, on average of both (`both_orders`); NaN where not asked or not usable. `group`: the number of the
    pair's cluster. `swapped`: the first place's mean credit under swapped labels, where these stand beside."""

    items: NDArray[Any]
    ab: Floats
    ba: Floats
    won: Floats
    group: NDArray[Any]
    swapped: Floats | None = None

    def __len__(self) -> int:
        return len(self.ab)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Pairs:
        swapped = None if self.swapped is None else self.swapped[rows]
        return Pairs(self.items[rows], self.ab[rows], self.ba[rows], self.won[rows], self.group[rows], swapped)

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which have a usable verdict in both orders, under swapped labels too where these stand beside."""
        there = np.isfinite(self.ab) & np.isfinite(self.ba)
        return there if self.swapped is None else there & np.isfinite(self.swapped)

    def lost_by_order(self) -> dict[str, tuple[int, int]]:
        """How many of the choices were lost in either order."""
        return {
            f"order {name}": (int(np.isnan(of).sum()), len(self)) for name, of in (("ab", self.ab), ("ba", self.ba))
        }


def paired(part: Ratings) -> pd.DataFrame:
    """Pairs over both orders, their clusters numbered in column `group`."""

    def made() -> pd.DataFrame:
        pairs = both_orders(verdicts_of(part))
        return pairs.assign(group=pairs["cluster"].factorize()[0])

    return part.remember("pairs over both orders", made)


def pairs_by_judge(part: Ratings) -> Mapping[str, Pairs]:
    """The pairs of every judge of these ratings, plain and swapped labels of a pair one after the other."""

    def made() -> dict[str, Pairs]:
        pairs = paired(part)
        columns = (pairs[name].to_numpy() for name in ("item", "ab", "ba", "won", "group"))
        return _cut(Pairs(*columns), _places(pairs, part.judges), part.judges)

    return part.remember("pairs by judge", made)


def quads_by_judge(part: Ratings) -> Mapping[str, Pairs]:
    """The same with plain and swapped labels of a pair in one row, for the judges that were asked under both."""

    def made() -> dict[str, Pairs]:
        pairs = paired(part)
        asked = set(pairs["rater"][(pairs["labels"] == "swapped").to_numpy()])
        return {**pairs_by_judge(part), **(_quads(pairs, [j for j in part.judges if j in asked]) if asked else {})}

    return part.remember("quads by judge", made)


def _quads(pairs: pd.DataFrame, judges: Sequence[str]) -> dict[str, Pairs]:
    item, names = pd.factorize(pairs["item"].to_numpy(dtype=object), sort=True)
    repeat, repeats = pd.factorize(pairs["repeat"], sort=True)
    judge, texts = _places(pairs, judges), len(names) * len(repeats)
    rows = np.flatnonzero(judge >= 0)
    units, number = np.unique((judge * texts + item * len(repeats) + repeat)[rows], return_inverse=True)
    ab, ba, won, group = (pairs[name].to_numpy(dtype=float)[rows] for name in ("ab", "ba", "won", "group"))
    swapped = (pairs["labels"] == "swapped").to_numpy()[rows]

    def placed(values: Floats, there: NDArray[np.bool_]) -> Floats:
        column = np.full(len(units), np.nan)
        column[number[there]] = values[there]
        return column

    plain = (placed(values, ~swapped) for values in (ab, ba, won, group))
    both = (names[units % texts // len(repeats)], *plain, placed((ab + ba) / 2, swapped))
    return _cut(Pairs(*both), units // texts, judges)


def _places(pairs: pd.DataFrame, judges: Sequence[str]) -> NDArray[np.intp]:
    """The judge of each row, (rows,); -1 for one that is not among them."""
    return pd.Index(list(judges), dtype=object).get_indexer(pd.Index(pairs["rater"], dtype=object))


def _cut(pairs: Pairs, judge: NDArray[np.intp], judges: Sequence[str]) -> dict[str, Pairs]:
    """Rows in their order, by judge."""
    order = np.argsort(judge, kind="stable")
    ends = np.searchsorted(judge[order], np.arange(len(judges) + 1))
    rows = pairs[order]
    return {name: rows[start:end] for name, start, end in zip(judges, ends[:-1], ends[1:], strict=True)}

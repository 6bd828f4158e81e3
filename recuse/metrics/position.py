"""Position: does the choice between two texts change when only their order does?

Every pair is asked in both orders, so what a text is worth cancels and what is left belongs to the place. Asking with
the names of the places swapped as well tells the place from the letter it carries: a judge that likes "A" follows the
letter into the second place, one that likes what it reads first does not. Intervals are over clusters of pairs that
share something (a story, a question), or over pairs where they share nothing. Source: thesis on bias in LLM
self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926) and Shi et al. (2025, arXiv:2406.07791).

All measures take ratings of choices (`recuse.ratings.pair_array`), give one estimate per judge within every level of
factors other than order and labels, and leave people out; pairs without two usable choices are excluded and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.metrics.estimates import add_losses, estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.ratings.pair_array import PAIRED, both_orders, repeated_over, verdicts_of
from recuse.schema import Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.bounded import BOUNDED, BoundedMean, bounded_mean
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import Binomial

HALF = (-0.5, 0.5)
SHARE_ENDS = (0.0, 1.0)
Ends = tuple[float, float]
NO_PAIR = "no pair has a usable verdict in both orders"
NOT_SWAPPED = "the labels were never swapped, so the first slot and the letter A are one and the same"


# --------------------------------------------------------------------------- every judge's pairs over both orders


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
        swapped = set(pairs["rater"][(pairs["labels"] == "swapped").to_numpy()])
        return {**pairs_by_judge(part), **(_quads(pairs, [j for j in part.judges if j in swapped]) if swapped else {})}

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
    order = np.argsort(judge, kind="stable")
    ends = np.searchsorted(judge[order], np.arange(len(judges) + 1))
    rows = pairs[order]
    return {name: rows[start:end] for name, start, end in zip(judges, ends[:-1], ends[1:], strict=True)}


# --------------------------------------------------------------------------- one judge at a time

Measured = tuple[Binomial | BoundedMean | None, NDArray[Any], dict[str, Any], str]
"""Distribution (None where there is none), the value of each pair, detail, and the note, which says why there is
none."""


def over_pairs(
    pairs_of: Callable[[Ratings], Mapping[str, Pairs]], ends: Ends
) -> Callable[[Callable[[Pairs], Measured]], Callable[[Ratings], Estimates]]:
    """From what is measured on one judge's complete pairs, between these `ends`, to the measure of all judges."""

    def decorate(compute: Callable[[Pairs], Measured]) -> Callable[[Ratings], Estimates]:
        @wraps(compute)
        def each(part: Ratings) -> Iterator[Named]:
            metric, over, method = compute.__name__, repeated_over(part), SHARE if ends == SHARE_ENDS else BOUNDED
            for judge, of_judge in pairs_of(part).items():
                kept = of_judge[of_judge.complete]
                lost = len(of_judge) - len(kept)
                about: dict[str, Any] = {"n": len(kept), "n_excluded": lost, "method": method, **over}
                distribution, values, detail, note = compute(kept) if len(kept) else (None, kept.won, {}, NO_PAIR)
                if distribution is None:
                    yield judge, undefined(metric, note, detail=detail, **about)
                    continue
                estimate = estimated(
                    metric, float(values.mean()), distribution, n_clusters=len(np.unique(kept.group)), unit="share",
                    span=1.0, detail=detail, note=note, **about,
                )  # fmt: skip
                yield judge, add_losses(estimate, of_judge.lost_by_order(), ends, lost)

        return per_subject("judge", itself, *PAIRED)(each)

    return decorate


# --------------------------------------------------------------------------- the measures


@measure(
    "order_consistency", "same verdict in both orders", unit="share", rank=82,
    below="changes its choice with the order",
    reading="Share of pairs on which the judge makes the same choice when the two texts change places.",
)  # fmt: skip
@over_pairs(pairs_by_judge, SHARE_ENDS)
def order_consistency(pairs: Pairs) -> Measured:
    """Share of pairs with the same verdict (a, b or tie) in both orders, by judge.

    Detail counts the pairs: `same_winner`, `both_ties`, `one_tie`, `first_twice` and `second_twice` (contrary winners,
    both times the first or the second slot), and gives `of_decided`, the share among pairs with a winner in some order.
    Undefined where every verdict is a tie: no winner is there that the order could change.

    >>> rows = "i ab first; i ba second; k ab first; k ba first"
    >>> choices = example("item order response", rows, texts=table("item a b", "i s t; k s t"))
    >>> order_consistency(choices).of(judge="j").value
    0.5
    """
    ab, ba = pairs.ab, pairs.ba
    same, tie, total = ab + ba == 1, (ab == 0.5).astype(int) + (ba == 0.5), ab + ba
    counts = {
        "same_winner": int((same & (tie == 0)).sum()), "both_ties": int((tie == 2).sum()),
        "one_tie": int((tie == 1).sum()), "first_twice": int((total == 2).sum()),
        "second_twice": int((total == 0).sum()),
    }  # fmt: skip
    decided = len(pairs) - counts["both_ties"]
    detail = {**counts, "of_decided": number(counts["same_winner"] / decided) if decided else None}
    if not decided:
        return None, same, detail, "every verdict is a tie, so there is no winner that the order could change"
    return clustered_share(same, pairs.group), same, detail, ""


@measure(
    "slot_preference", "preference for the first place", unit="share", signed=True, rank=84,
    above="favours what stands first", below="favours what stands second",
    reading="How much more than half the text shown first wins, whatever it is and is called.",
)  # fmt: skip
@over_pairs(quads_by_judge, HALF)
def slot_preference(pairs: Pairs) -> Measured:
    """How much more than half the first slot wins, by judge, -0.5 to 0.5:

        mean over pairs of (credit of the first slot in "ab" + in "ba") / 2 - 1/2,   a win 1, a tie 1/2, a loss 0

    A pair on which the judge stands by one text adds exactly 0, so quality plays no part. Where labels were swapped
    too, a pair counts if all four verdicts are usable, and the letters cancel as well; where they were not, a
    preference for the letter A cannot be told from this, and the note says so.

    >>> choices = example("order response", "ab first; ba first", texts=table("item a b", "i s t"))
    >>> slot_preference(choices).of(judge="j").value
    0.5
    """
    values = (pairs.ab + pairs.ba) / 2 - 0.5
    if pairs.swapped is not None:
        values = (values + pairs.swapped - 0.5) / 2
    return bounded_mean(values, pairs.group, HALF), values, {}, NOT_SWAPPED if pairs.swapped is None else ""


@measure(
    "letter_preference", "preference for the letter A", unit="share", signed=True, rank=86,
    above="favours the letter A", below="favours the letter B",
    reading="How much more than half the text called A wins, wherever it stands.",
)  # fmt: skip
@over_pairs(quads_by_judge, HALF)
def letter_preference(pairs: Pairs) -> Measured:
    """How much more than half the text called A wins, by judge, -0.5 to 0.5: over pairs with all four verdicts, the
    mean of the first slot's credit with plain labels and the second slot's with swapped ones, less 1/2. Texts and slots
    cancel. Undefined where labels were never swapped.

    >>> rows = "ab plain first; ba plain first; ab swapped second; ba swapped second"
    >>> choices = example("order labels response", rows, texts=table("item a b", "i s t"))
    >>> letter_preference(choices).of(judge="j").value
    0.5
    """
    if pairs.swapped is None:
        return None, pairs.won, {}, NOT_SWAPPED
    values = ((pairs.ab + pairs.ba) / 2 - pairs.swapped) / 2
    return bounded_mean(values, pairs.group, HALF), values, {}, ""

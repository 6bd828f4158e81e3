"""Position: does the verdict on a pair change when only the order of the two texts does?

Every pair is asked in both orders, so what a text is worth cancels and what is left belongs to the slot. Asking with
the names of the slots swapped as well tells the slot from the letter it carries: a judge that likes "A" follows the
letter into the second slot, one that likes what it reads first does not. Intervals are over clusters, which share their
texts between pairs. Source: thesis on bias in LLM self-evaluation, sec. 2.1, after Wang et al. (2023, arXiv:2305.17926)
and Shi et al. (2025, arXiv:2406.07791).

All functions take the ratings of one pairwise protocol and its items frame (see `recuse.metrics.duels`), give one
estimate per judge, and leave people out; pairs without two usable verdicts are excluded and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.duels import PLAIN, SWAPPED, both_orders, complete, judges_of, people, verdicts_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import BOUNDED, SHARE, Bounded, bounded_mean, clustered_share, slope
from recuse.statistics.distributions import Binomial

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["first_pick_share", "gap_effect", "letter_preference", "order_consistency", "slot_preference", "tie_share"]

Floats = NDArray[np.float64]
HALF = (-0.5, 0.5)
BINS = (0.0, 0.25, 0.5, 1.0)
NO_PAIR = "no pair has a usable verdict in both orders"
NOT_SWAPPED = "the labels were never swapped, so the first slot and the letter A are one and the same"


def order_consistency(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """Share of pairs with the same verdict (a, b or tie) in both orders, by (judge,).

    Detail counts the pairs: `same_winner`, `both_ties`, `one_tie`, `first_twice` and `second_twice` (contrary winners,
    both times the first or the second slot), and gives `of_decided`, the share among pairs with a winner in some order.
    Undefined where every verdict is a tie: no winner is there that the order could change.
    """

    def measure(pairs: pd.DataFrame, lost: int) -> Estimate:
        ab, ba = pairs["ab"].to_numpy(), pairs["ba"].to_numpy()
        same, tie, total = ab + ba == 1, (ab == 0.5).astype(int) + (ba == 0.5), ab + ba
        counts = {
            "same_winner": int((same & (tie == 0)).sum()), "both_ties": int((tie == 2).sum()),
            "one_tie": int((tie == 1).sum()), "first_twice": int((total == 2).sum()),
            "second_twice": int((total == 0).sum()),
        }  # fmt: skip
        decided = len(pairs) - counts["both_ties"]
        detail = {**counts, "of_decided": number(counts["same_winner"] / decided) if decided else None}
        if not decided:
            why = "every verdict is a tie, so there is no winner that the order could change"
            return _undefined("order_consistency", why, SHARE, len(pairs), lost, detail)
        law = clustered_share(same, pairs["story"])
        return _estimated("order_consistency", float(same.mean()), law, pairs, lost, "share", SHARE, detail)

    return _by_judge("order_consistency", SHARE, ratings, items, measure)


def first_pick_share(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """Share of verdicts for the first slot among those that name a winner, by (judge,); 0.5 without a preference.

    Over pairs with both verdicts usable, so that each text stood first as often as second; n counts the decided
    verdicts. Undefined where all are ties. The two verdicts of a pair hang together, which the interval over clusters
    allows for.
    """

    def measure(pairs: pd.DataFrame, lost: int) -> Estimate:
        picks = np.concatenate([pairs["ab"], pairs["ba"]])
        stories = np.concatenate([pairs["story"], pairs["story"]])
        decided = picks != 0.5
        detail = {"first": int((picks == 1).sum()), "second": int((picks == 0).sum()), "ties": int((~decided).sum())}
        if not decided.any():
            return _undefined("first_pick_share", "every verdict is a tie", SHARE, 0, lost, detail)
        law = clustered_share(picks[decided], stories[decided])
        clusters = len(np.unique(stories[decided]))
        return estimated(
            "first_pick_share", float(picks[decided].mean()), law, n=int(decided.sum()), n_clusters=clusters,
            n_excluded=lost, over="clusters", unit="share", method=SHARE, detail=detail,
        )  # fmt: skip

    return _by_judge("first_pick_share", SHARE, ratings, items, measure)


def slot_preference(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """How much more than half the first slot wins, by (judge,), -0.5 to 0.5:

        mean over pairs of (credit of the first slot in "ab" + in "ba") / 2 - 1/2,   a win 1, a tie 1/2, a loss 0

    A pair on which the judge stands by one text adds exactly 0, so quality plays no part. Where labels were swapped
    too, a pair counts if all four verdicts are usable, and the letters cancel as well; where they were not, a
    preference for the letter A cannot be told from this, and the note says so.
    """

    def measure(pairs: pd.DataFrame, lost: int) -> Estimate:
        values = (pairs["ab"] + pairs["ba"]).to_numpy() / 2 - 0.5
        note = "" if "swapped" in pairs.columns else NOT_SWAPPED
        if "swapped" in pairs.columns:
            values = (values + pairs["swapped"].to_numpy() - 0.5) / 2
        law = bounded_mean(values, pairs["story"], HALF)
        return _estimated("slot_preference", float(values.mean()), law, pairs, lost, "share", BOUNDED, note=note)

    return _by_judge("slot_preference", BOUNDED, ratings, items, measure, quads=True)


def letter_preference(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """How much more than half the text called A wins, by (judge,), -0.5 to 0.5: over pairs with all four verdicts, the
    mean of the first slot's credit with plain labels and the second slot's with swapped ones, less 1/2. Texts and slots
    cancel. Undefined where labels were never swapped.
    """

    def measure(pairs: pd.DataFrame, lost: int) -> Estimate:
        if "swapped" not in pairs.columns:
            return _undefined("letter_preference", NOT_SWAPPED, BOUNDED, len(pairs), lost)
        values = ((pairs["ab"] + pairs["ba"]).to_numpy() / 2 - pairs["swapped"].to_numpy()) / 2
        law = bounded_mean(values, pairs["story"], HALF)
        return _estimated("letter_preference", float(values.mean()), law, pairs, lost, "share", BOUNDED)

    return _by_judge("letter_preference", BOUNDED, ratings, items, measure, quads=True)


def tie_share(ratings: pd.DataFrame, items: pd.DataFrame) -> Estimates:
    """Share of usable verdicts that are ties, by (judge,), over all orders and labels."""
    verdicts = verdicts_of(ratings, items)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = verdicts[verdicts["judge"] == judge]
        usable = mine[mine["slot"].notna()]
        lost = len(mine) - len(usable)
        if usable.empty:
            found[(judge,)] = _undefined("tie_share", "no verdict was usable", SHARE, 0, lost)
            continue
        ties = (usable["slot"] == 0.5).to_numpy()
        law = clustered_share(ties, usable["story"])
        found[(judge,)] = _estimated("tie_share", float(ties.mean()), law, usable, lost, "share", SHARE)
    return Estimates(("judge",), found)


# --------------------------------------------------------------------------- close calls


def gap_effect(ratings: pd.DataFrame, items: pd.DataFrame, bins: tuple[float, ...] = BINS) -> Estimates:
    """How much less often the order decides when one text is clearly better: slope of order-sensitivity (0 or 1 per
    pair) on the quality gap, by (judge,); expected below 0 (thesis, sec. 2.1).

    A text's quality is its win rate on its story, order-sensitive pairs counted as ties, and the gap is |difference|,
    from 0 to 1. The rates are those of the *other* judges: taken from the judge's own verdicts, a sensitive pair would
    be a tie and so have a small gap by construction. Detail `bins`: gap from, to, pairs, share sensitive. Undefined
    with one judge, and where all gaps are equal.
    """
    method = "least-squares slope with intercept, jackknife over clusters, Student's t"
    pairs = both_orders(verdicts_of(ratings, items))
    pairs = pairs[~people(pairs["judge"])]
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = pairs[(pairs["judge"] == judge)]
        kept = mine[complete(mine)]
        gaps = _gaps(kept, pairs[(pairs["judge"] != judge) & complete(pairs)])
        usable = np.isfinite(gaps)
        sensitive = (kept["ab"] + kept["ba"] != 1).to_numpy(dtype=float)[usable]
        gaps, stories, lost = gaps[usable], kept["story"].to_numpy()[usable], len(mine) - int(usable.sum())
        detail = {"bins": _binned(gaps, sensitive, bins)}
        ones = np.ones((len(gaps), 1))
        law = slope(sensitive, gaps, stories, ones, levels=False)
        if np.isnan(law.value):
            why = "no other judge's verdicts give these texts different win rates" if len(kept) else NO_PAIR
            found[(judge,)] = _undefined("gap_effect", why, method, len(gaps), lost, detail)
            continue
        found[(judge,)] = estimated(
            "gap_effect", law.value, law, n=len(gaps), n_clusters=len(np.unique(stories)), n_excluded=lost,
            over="clusters", unit="share per unit of win rate", method=method, detail=detail,
        )  # fmt: skip
    return Estimates(("judge",), found)


def _gaps(pairs: pd.DataFrame, others: pd.DataFrame) -> Floats:
    """|win rate of a - win rate of b| on the pair's story by the verdicts of `others`; NaN where one has none."""
    import pandas as pd

    stands = others["ab"] + others["ba"] == 1
    won = others["won"].where(stands, 0.5)
    results = pd.concat([
        pd.DataFrame({"story": others["story"], "text": others["a"], "won": won}),
        pd.DataFrame({"story": others["story"], "text": others["b"], "won": 1 - won}),
    ])  # fmt: skip
    rates = results.groupby(["story", "text"])["won"].mean()
    a, b = (rates.reindex(pd.MultiIndex.from_frame(pairs[["story", side]])).to_numpy() for side in ("a", "b"))
    gaps: Floats = np.abs(a - b)
    return gaps


def _binned(gaps: Floats, sensitive: NDArray[Any], edges: tuple[float, ...]) -> list[list[float | None]]:
    """Rows of gap above (the first: from) and up to, pairs, share sensitive."""
    rows: list[list[float | None]] = []
    for k, (low, high) in enumerate(pairwise(edges)):
        inside = (gaps <= high) & ((gaps > low) if k else (gaps >= low))
        rows.append([low, high, int(inside.sum()), number(float(sensitive[inside].mean())) if inside.any() else None])
    return rows


# --------------------------------------------------------------------------- one judge at a time


def _by_judge(
    metric: str,
    method: str,
    ratings: pd.DataFrame,
    items: pd.DataFrame,
    measure: Callable[[pd.DataFrame, int], Estimate],
    *,
    quads: bool = False,
) -> Estimates:
    """`measure(complete pairs, how many were not)` for every judge. With `quads`, plain and swapped labels of a pair
    stand in one row, the first slot's mean credit under swapped labels in column `swapped`."""
    pairs = both_orders(verdicts_of(ratings, items))
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = pairs[pairs["judge"] == judge]
        mine = _quads(mine) if quads and (mine["labels"] == SWAPPED).any() else mine
        kept = mine[complete(mine)]
        lost = len(mine) - len(kept)
        found[(judge,)] = measure(kept, lost) if len(kept) else _undefined(metric, NO_PAIR, method, 0, lost)
    return Estimates(("judge",), found)


def _quads(pairs: pd.DataFrame) -> pd.DataFrame:
    plain, swapped = (pairs[pairs["labels"] == name] for name in (PLAIN, SWAPPED))
    other = swapped.assign(swapped=(swapped["ab"] + swapped["ba"]) / 2)[["item", "repeat", "swapped"]]
    both = plain.merge(other, on=["item", "repeat"], how="outer")
    return both.assign(won=both["won"].where(both["swapped"].notna()))


def _estimated(
    metric: str, value: float, law: Binomial | Bounded, rows: pd.DataFrame, lost: int, unit: str, method: str,
    detail: dict[str, Any] | None = None, note: str = "",
) -> Estimate:  # fmt: skip
    return estimated(
        metric, value, law, n=len(rows), n_clusters=int(rows["story"].nunique()), n_excluded=lost, over="clusters",
        unit=unit, method=method, note=note, detail=detail or {},
    )  # fmt: skip


def _undefined(metric: str, why: str, method: str, n: int, lost: int, detail: dict[str, Any] | None = None) -> Estimate:
    return undefined(metric, why, n=n, n_excluded=lost, method=method, over="clusters", detail=detail or {})

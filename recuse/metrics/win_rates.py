"""Own win rate: how often a judge's own text wins, by its own verdict, by its peers' and by people's.

The pairwise form of self-preference (thesis on bias in LLM self-evaluation, sec. 2.4; Li, Patel and Du 2024, PRD,
arXiv:2307.02762). Verdicts in both orders are averaged; a win counts 1, a tie 1/2. Who counts as a peer matters: the
author of the other text is a party to the duel and its own self-preference works against the first. `excess` therefore
compares with neutral peers, who wrote neither text, on the same pairs.

A duel knows no leniency, but it knows noise: a judge that is led by the slot or by chance gives everyone about one
half, and so looks fond of its own text where that is weak and hard on it where it is strong. `controlled_excess` takes
that out, and is the measure to gate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.duels import both_orders, people, verdicts_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.grids import Own, mean_of
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics.clusters import BOUNDED, OverClusters, bounded_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SEEN_BY", "controlled_excess", "excess", "own_win_rate"]

Floats = NDArray[np.float64]
SEEN_BY = ("self", "peers", "neutral_peers", "people")


def own_win_rate(ratings: pd.DataFrame, items: pd.DataFrame, own: Own) -> Estimates:
    """Mean credit of the judge's own text over the pairs it takes part in, by (judge, seen_by).

    `seen_by`: "self", "peers" (all other judges, the other author among them), "neutral_peers" (who wrote neither
    text), "people". Each over the pairs that it has verdicts on, so the four may differ in their pairs (n). Judges'
    verdicts count where both orders are usable; people's in whichever order they were asked, since each pair is usually
    shown to them once.
    """
    duels = _own_duels(ratings, items, own)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in own:
        mine = duels[duels["author"] == judge]
        for view in SEEN_BY:
            found[(judge, view)] = _rate("own_win_rate", mine, view, (0.0, 1.0))
    return Estimates(("judge", "seen_by"), found)


def excess(ratings: pd.DataFrame, items: pd.DataFrame, own: Own) -> Estimates:
    """Own text's credit by the judge itself minus that by neutral peers on the same pairs, by (judge,), -1 to 1.

    Pairs without a usable verdict of either are excluded and counted. Detail: both rates on these pairs, and
    `against_people`: self minus people on the pairs that both judged, with their number. Undefined where nobody neutral
    judged: that takes three judges.
    """
    duels = _own_duels(ratings, items, own)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in own:
        mine = duels[duels["author"] == judge]
        mine = mine.assign(excess=mine["self"] - mine["neutral_peers"])
        both = mine[mine["excess"].notna()]
        versus = (mine["self"] - mine["people"]).dropna()
        detail = {
            "self": number(both["self"].mean()), "neutral_peers": number(both["neutral_peers"].mean()),
            "against_people": number(versus.mean()), "pairs_with_people": len(versus),
        }  # fmt: skip
        found[(judge,)] = _rate("own_win_excess", mine, "excess", (-1.0, 1.0), detail)
    return Estimates(("judge",), found)


def controlled_excess(ratings: pd.DataFrame, items: pd.DataFrame, own: Own) -> Estimates:
    """Excess with the judge's own discrimination taken into account, by (judge,):

        (self - 1/2) - lambda (neutral - 1/2),   lambda = sum_p j_p n_p / sum_p n_p^2

    self and neutral are the own text's mean credits as in `excess`. p runs over the pairs of authors without the
    judge; j_p and n_p are the mean credit less 1/2 that the judge, and neutral peers, give the first of them. lambda is
    1 for a judge that tells texts apart as its peers do and 0 for one led by chance (detail `discrimination`).

    Jackknife over clusters, t on G - 1 degrees of freedom. Fair judges (5 authors, 40 stories) are found significant at
    5 % in 3 to 6 % of cases where quality and noise differ moderately, 8 to 13 % where they differ by factors of two
    and more; `excess` in 8 to 24 %. Undefined where every other author's texts win alike, where nobody neutral judged,
    and below two stories."""
    cube = _Cube.of(ratings, items)
    return Estimates(("judge",), {(judge,): cube.controlled(judge, own) for judge in own})


@dataclass(frozen=True)
class _Cube:
    """`won` has shape (stories, pairs of authors, judges): the credit of the pair's first author, both orders
    averaged."""

    stories: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    judges: tuple[str, ...]
    won: Floats

    @classmethod
    def of(cls, ratings: pd.DataFrame, items: pd.DataFrame) -> _Cube:
        rows = both_orders(verdicts_of(ratings, items))
        rows = rows[~people(rows["judge"]) & rows["won"].notna()]
        turned = rows["a"].astype(str) > rows["b"].astype(str)
        won = rows["won"].where(~turned, 1 - rows["won"]).to_numpy(dtype=float)
        first, second = rows["a"].where(~turned, rows["b"]), rows["b"].where(~turned, rows["a"])
        (i, stories), (j, judges) = (rows[name].factorize() for name in ("story", "judge"))
        p, names = (first + "\x1f" + second).factorize()
        shape = (len(stories), len(names), len(judges))
        cells = np.ravel_multi_index((i, p, j), shape)
        sums, counts = (np.bincount(cells, weights=w, minlength=int(np.prod(shape))) for w in (won, None))
        mean = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        pairs = tuple((name.split("\x1f")[0], name.split("\x1f")[1]) for name in names)
        return cls(tuple(map(str, stories)), pairs, tuple(map(str, judges)), mean.reshape(shape))

    def controlled(self, judge: str, own: Own) -> Estimate:
        metric, method = "controlled_own_win_excess", "jackknife over clusters, Student's t"
        if judge not in self.judges:
            why = "it has no pair with a usable verdict in both orders"
            return undefined(metric, why, over="clusters", method=method)
        mine, theirs = self.won[:, :, self.judges.index(judge)] - 0.5, self._neutral(judge, own) - 0.5
        both = np.isfinite(mine) & np.isfinite(theirs)
        sides = np.array([(a == own[judge]) * 1.0 - (b == own[judge]) for a, b in self.pairs])
        there = both.any(axis=1)
        counted = int(both[:, sides != 0].sum())
        if there.sum() < 2 or not counted:
            why = "no neutral peer judged a pair with the own text; that takes three judges and two stories"
            return undefined(metric, why, n=counted, over="clusters", method=method)
        j, n, known = (np.where(both, part, 0.0)[there] for part in (mine, theirs, np.ones_like(mine)))
        count = int(there.sum())
        values, slopes = _beyond_noise(np.vstack([np.ones(count), 1.0 - np.eye(count)]), j, n, known, sides)
        if not np.isfinite(values).all():
            why = "the texts of the other authors win alike, so nothing tells how well the judge tells texts apart"
            return undefined(metric, why, n=counted, n_clusters=count, over="clusters", method=method)
        se = math.sqrt((count - 1) / count * float(((values[1:] - values[1:].mean()) ** 2).sum()))
        law = OverClusters(float(values[0]), se if se > 1e-12 else 0.0, count - 1)
        return estimated(
            metric, law.value, law, n=counted, n_clusters=count, over="clusters", unit="share", method=method,
            n_excluded=int((np.isfinite(self.won).any(axis=2) & ~both)[:, sides != 0].sum()),
            detail={"discrimination": number(slopes[0])},
        )  # fmt: skip

    def _neutral(self, judge: str, own: Own) -> Floats:
        """Mean credit by the judges that are not this one and wrote neither text; shape (stories, pairs)."""
        wrote = [own.get(name) for name in self.judges]
        judges = list(zip(self.judges, wrote, strict=True))
        party = np.array([[name == judge or text in pair for name, text in judges] for pair in self.pairs])
        return mean_of(np.where(party[None], np.nan, self.won), axis=2)


def _beyond_noise(weights: Floats, mine: Floats, theirs: Floats, there: Floats, sides: Floats) -> tuple[Floats, Floats]:
    """The statistic and lambda for each row of story weights (B, stories); `sides` (pairs,) is 1 or -1 where the own
    text is first or second of the pair, and 0 on pairs without it."""
    counts = weights @ there
    with np.errstate(divide="ignore", invalid="ignore"):
        j, n = ((weights @ part)[:, sides == 0] / counts[:, sides == 0] for part in (mine, theirs))
        known = counts[:, sides == 0] > 0
        j, n = np.where(known, j, 0.0), np.where(known, n, 0.0)
        discrimination = (j * n).sum(axis=1) / (n * n).sum(axis=1)
        own_count = counts @ np.abs(sides)
        by_self, by_peers = ((weights @ part) @ sides / own_count for part in (mine, theirs))
        return by_self - discrimination * by_peers, discrimination


def _own_duels(ratings: pd.DataFrame, items: pd.DataFrame, own: Own) -> pd.DataFrame:
    """One row per judge of `own` and pair with its text: the text's credit in each of SEEN_BY, NaN where there is
    none."""
    import pandas as pd

    absent = [judge for judge in own if judge not in set(ratings["judge"])]
    if absent:
        raise RecuseError(f"judge {absent[0]} is not in the ratings; they hold {', '.join(ratings['judge'].unique())}")
    verdicts = verdicts_of(ratings, items)
    pairs = both_orders(verdicts)
    by_judge = pairs[~people(pairs["judge"])].pivot_table(index="item", columns="judge", values="won", sort=False)
    by_people = verdicts[people(verdicts["judge"])].groupby("item")["won"].mean()
    tables = [_duels_of(judge, own, items, by_judge, by_people) for judge in own]
    return pd.concat(tables, ignore_index=True)


def _duels_of(
    judge: str, own: Own, items: pd.DataFrame, by_judge: pd.DataFrame, by_people: pd.Series[float]
) -> pd.DataFrame:
    import pandas as pd

    mine = items[(items["a"] == own[judge]) | (items["b"] == own[judge])]
    if mine.empty:
        raise RecuseError(f"no pair has a text of {own[judge]}, which is {judge}'s own; the items frame names a and b")
    is_a = (mine["a"] == own[judge]).to_numpy()
    rival = np.where(is_a, mine["b"], mine["a"])
    credit = by_judge.reindex(mine["item"])
    won = credit.to_numpy(dtype=float)
    won = np.where(is_a[:, None], won, 1 - won)
    names = np.array(credit.columns, dtype=object)
    wrote = np.array([own.get(str(name)) for name in names], dtype=object)
    others = np.broadcast_to(names != judge, won.shape)
    people_won = by_people.reindex(mine["item"]).to_numpy(dtype=float)
    nothing = np.full(len(mine), np.nan)
    return pd.DataFrame({
        "author": judge, "item": mine["item"].to_numpy(), "story": mine["story"].to_numpy(),
        "self": won[:, list(names).index(judge)] if judge in names else nothing,
        "peers": mean_of(np.where(others, won, np.nan), axis=1),
        "neutral_peers": mean_of(np.where(others & (wrote[None, :] != rival[:, None]), won, np.nan), axis=1),
        "people": np.where(is_a, people_won, 1 - people_won),
    })  # fmt: skip


def _rate(
    metric: str, duels: pd.DataFrame, column: str, ends: tuple[float, float], detail: Mapping[str, object] | None = None
) -> Estimate:
    usable = duels[duels[column].notna()]
    lost = len(duels) - len(usable)
    if usable.empty:
        who = "the judge and a neutral peer" if column == "excess" else column.replace("_", " ")
        return undefined(
            metric, f"no pair with the own text has a usable verdict by {who}", n_excluded=lost, over="clusters",
            method=BOUNDED, detail=detail or {},
        )  # fmt: skip
    values = usable[column].to_numpy(dtype=float)
    law = bounded_mean(values, usable["story"], ends)
    return estimated(
        metric, float(values.mean()), law, n=len(values), n_clusters=int(usable["story"].nunique()), n_excluded=lost,
        over="clusters", unit="share", method=BOUNDED, detail=detail or {},
    )  # fmt: skip

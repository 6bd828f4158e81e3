"""Own win rate: how often a judge's own text wins, by its own choice, by its peers' and by people's.

The pairwise form of self-preference (thesis on bias in LLM self-evaluation, sec. 2.4; Li, Patel and Du 2024, PRD,
arXiv:2307.02762). Verdicts in both orders are averaged; a win counts 1, a tie 1/2. Who counts as a peer matters: the
author of the other text is a party to the pair and its own self-preference works against the first. `excess` therefore
compares with neutral peers, who wrote neither text, on the same pairs.

A choice knows no leniency, but it knows noise: a judge that is led by the place or by chance gives everyone about one
half, and so looks fond of its own text where that is weak and hard on it where it is strong.
`controlled_own_win_excess` takes that out, and is the measure to gate.

All measures take ratings of choices (`recuse.ratings.pair_array`) whose `authors` say which judge wrote what.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings, mean_of
from recuse.ratings.pair_array import PAIRED, PairArray, codes_of, pair_array, repeated_over
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.bounded import BOUNDED, bounded_mean
from recuse.statistics.clusters import OverClusters

SEEN_BY = ("self", "peers", "neutral_peers", "people")
JACKKNIFE = "jackknife over clusters, Student's t"


@measure(
    "own_win_rate", "wins of its own text", unit="share",
    reading="How often a judge's own text wins, by its own choice, its peers' and people's.",
)  # fmt: skip
@per_subject(("judge", "seen_by"), itself, *PAIRED)
def own_win_rate(part: Ratings) -> Iterator[Named]:
    """Mean credit of the judge's own text over the pairs it takes part in, by (judge, seen_by).

    `seen_by`: "self", "peers" (all other judges, the other author among them), "neutral_peers" (who wrote neither
    text), "people". Each over the pairs that it has verdicts on, so the four may differ in their pairs (n). Judges'
    verdicts count where both orders are usable (in the one order, where no pair was asked in both); people's in
    whichever order they were asked, since each pair is usually shown to them once.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["x", "y"], "item": "1", "response": ["first", "tie"]})
    >>> texts = pd.DataFrame({"item": ["1"], "a": "x", "b": "z"})
    >>> estimates = own_win_rate(Ratings.of(frame, texts=texts, authors={"x": "x"}))
    >>> [estimates.of(judge="x", seen_by=view).value for view in ("self", "peers")]
    [1.0, 0.5]
    """
    pairs, over = pair_array(part), repeated_over(part)
    for judge, text in part.own().items():
        own_pairs = _OwnPairs.of(pairs, part.authors, judge, text)
        for view in SEEN_BY:
            yield (judge, view), _rate("own_win_rate", own_pairs, own_pairs.seen[view], (0.0, 1.0), view, over)


@measure(
    "own_win_excess", "own wins beyond neutral peers", unit="share", signed=True,
    above="prefers its own text|prefer their own texts", below="disfavours its own text|disfavour their own texts",
    reading="Wins of a judge's own text by its own choice less those by peers who wrote neither text.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def own_win_excess(part: Ratings) -> Iterator[Named]:
    """Own text's credit by the judge itself minus that by neutral peers on the same pairs, by judge, -1 to 1.

    Pairs without a usable verdict of either are excluded and counted. Detail: both rates on these pairs, and
    `against_people`: self minus people on the pairs that both judged, with their number. Undefined where nobody neutral
    judged: that takes three judges.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["x", "y"], "item": "1", "response": ["first", "tie"]})
    >>> texts = pd.DataFrame({"item": ["1"], "a": "x", "b": "z"})
    >>> own_win_excess(Ratings.of(frame, texts=texts, authors={"x": "x"})).of(judge="x").value
    0.5
    """
    pairs, over = pair_array(part), repeated_over(part)
    for judge, text in part.own().items():
        own_pairs = _OwnPairs.of(pairs, part.authors, judge, text)
        beyond = own_pairs.seen["self"] - own_pairs.seen["neutral_peers"]
        both, versus = np.isfinite(beyond), own_pairs.seen["self"] - own_pairs.seen["people"]
        rates = {view: number(float(mean_of(own_pairs.seen[view][both], 0))) for view in ("self", "neutral_peers")}
        detail = {
            **rates, "against_people": number(float(mean_of(versus, 0))),
            "pairs_with_people": int(np.isfinite(versus).sum()),
        }  # fmt: skip
        who = "the judge and a neutral peer"
        yield judge, _rate("own_win_excess", own_pairs, beyond, (-1.0, 1.0), who, over, detail)


@dataclass(frozen=True, eq=False)
class _OwnPairs:
    """The pairs with a judge's own text: the text's credit in each of SEEN_BY, shape (pairs,), NaN where there is
    none, and what the pairs belong to."""

    text: str
    seen: Mapping[str, Floats]
    clusters: NDArray[np.intp]

    @classmethod
    def of(cls, pairs: PairArray, authors: Mapping[str, str], judge: str, text: str) -> _OwnPairs:
        side = pairs.credit(text)
        own = side != 0
        won = np.where(side[own] > 0, pairs.won[:, own], 1 - pairs.won[:, own])
        people = np.where(side[own] > 0, pairs.people[own], 1 - pairs.people[own])
        rival = np.where(side > 0, pairs.b, pairs.a)[own]
        other = np.array(pairs.judges, dtype=object)[:, None] != judge
        wrote = np.array([authors.get(name) for name in pairs.judges], dtype=object)
        seen = {
            "self": won[pairs.judges.index(judge)],
            "peers": mean_of(np.where(other, won, np.nan), axis=0),
            "neutral_peers": mean_of(np.where(other & (wrote[:, None] != rival[None, :]), won, np.nan), axis=0),
            "people": people,
        }
        return cls(text, seen, pairs.cluster_codes()[own])


def _rate(
    metric: str, own_pairs: _OwnPairs, values: Floats, ends: tuple[float, float], who: str, over: dict[str, Any],
    detail: Mapping[str, object] | None = None,
) -> Estimate:  # fmt: skip
    there = np.isfinite(values)
    lost = int((~there).sum())
    if not there.any():
        why = f"no pair with the own text has a usable verdict by {who.replace('_', ' ')}"
        if not len(values):
            why = f"no pair has a text of {own_pairs.text}, which is the judge's own"
        return undefined(metric, why, n_excluded=lost, method=BOUNDED, detail=detail or {}, **over)
    distribution = bounded_mean(values[there], own_pairs.clusters[there], ends)
    return estimated(
        metric, float(values[there].mean()), distribution, n=int(there.sum()),
        n_clusters=len(np.unique(own_pairs.clusters[there])), n_excluded=lost, unit="share", span=ends[1] - ends[0],
        method=BOUNDED, detail=detail or {}, **over,
    )  # fmt: skip


# --------------------------------------------------------------------------- noise taken out


@measure(
    "controlled_own_win_excess", "own wins beyond noise and quality", unit="share", signed=True,
    above="prefers its own text|prefer their own texts", below="disfavours its own text|disfavour their own texts",
    reading="Own wins beyond neutral peers, with how well the judge tells texts apart taken into account.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def controlled_own_win_excess(part: Ratings) -> Iterator[Named]:
    """Excess with the judge's own discrimination taken into account, by judge:

        (self - 1/2) - lambda (neutral - 1/2),   lambda = sum_p j_p n_p / sum_p n_p^2

    self and neutral are the own text's mean credits as in `excess`. p runs over the pairs of authors without the
    judge; j_p and n_p are the mean credit less 1/2 that the judge, and neutral peers, give the first of them. lambda is
    1 for a judge that tells texts apart as its peers do and 0 for one led by chance (detail `discrimination`).

    Jackknife over clusters, t on G - 1 degrees of freedom. Fair judges are found significant about as often as the
    level says where quality and noise differ moderately, and more often where they differ by factors of two and more;
    by `excess` more often still. Undefined where every other author's texts win alike, where nobody neutral judged, and
    below two clusters.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["x", "y"], "item": "1", "response": ["first", "tie"]})
    >>> texts = pd.DataFrame({"item": ["1"], "a": "x", "b": "z"})
    >>> controlled_own_win_excess(Ratings.of(frame, texts=texts, authors={"x": "x"})).of(judge="x").defined
    False
    """
    cube, over = _Cube.of(pair_array(part)), repeated_over(part)
    for judge, text in part.own().items():
        yield judge, cube.controlled(judge, text, part.authors, over)


@dataclass(frozen=True, eq=False)
class _Cube:
    """`won` has shape (judges, clusters, pairs of authors): the credit of the pair's first author."""

    judges: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    won: Floats

    @classmethod
    def of(cls, choices: PairArray) -> _Cube:
        swap = choices.a > choices.b
        won = np.where(swap, 1 - choices.won, choices.won)
        first, second = np.where(swap, choices.b, choices.a), np.where(swap, choices.a, choices.b)
        names = first + "\x1f" + second
        codes = codes_of(names)
        pairs = tuple((str(name).split("\x1f")[0], str(name).split("\x1f")[1]) for name in dict.fromkeys(names))
        shape = int(choices.cluster_codes().max(initial=-1)) + 1, len(pairs)
        cells = choices.cluster_codes() * shape[1] + codes
        there = np.isfinite(won)
        sums, counts = (
            np.stack([np.bincount(cells, weights=row, minlength=shape[0] * shape[1]) for row in part])
            for part in (np.where(there, won, 0.0), there.astype(float))
        )
        mean = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return cls(choices.judges, pairs, mean.reshape(len(choices.judges), *shape))

    def controlled(self, judge: str, text: str, authors: Mapping[str, str], over: dict[str, Any]) -> Estimate:
        metric, row = "controlled_own_win_excess", self.judges.index(judge)
        own, theirs = self.won[row] - 0.5, self._neutral(judge, authors) - 0.5
        if not np.isfinite(own).any():
            return undefined(metric, "it has no pair with a usable verdict in both orders", method=JACKKNIFE, **over)
        both = np.isfinite(own) & np.isfinite(theirs)
        sides = np.array([(a == text) * 1.0 - (b == text) for a, b in self.pairs])
        there = both.any(axis=1)
        counted = int(both[:, sides != 0].sum())
        if there.sum() < 2 or not counted:
            why = "no neutral peer judged a pair with the own text; that takes three judges and two clusters of pairs"
            return undefined(metric, why, n=counted, method=JACKKNIFE, **over)
        j, n, known = (np.where(both, part, 0.0)[there] for part in (own, theirs, np.ones_like(own)))
        count = int(there.sum())
        values, slopes = _beyond_noise(np.vstack([np.ones(count), 1.0 - np.eye(count)]), j, n, known, sides)
        if not np.isfinite(values).all():
            why = "the texts of the other authors win alike, so nothing tells how well the judge tells texts apart"
            return undefined(metric, why, n=counted, n_clusters=count, method=JACKKNIFE, **over)
        se = math.sqrt((count - 1) / count * float(((values[1:] - values[1:].mean()) ** 2).sum()))
        distribution = OverClusters(float(values[0]), se if se > 1e-12 else 0.0, count - 1)
        return estimated(
            metric, distribution.value, distribution, n=counted, n_clusters=count, unit="share", span=2.0,
            method=JACKKNIFE, n_excluded=int((np.isfinite(self.won).any(axis=0) & ~both)[:, sides != 0].sum()),
            detail={"discrimination": number(slopes[0])}, **over,
        )  # fmt: skip

    def _neutral(self, judge: str, authors: Mapping[str, str]) -> Floats:
        """Mean credit by the judges that are not this one and wrote neither text; shape (clusters, pairs)."""
        party = np.array([
            [name == judge or authors.get(name) in pair for pair in self.pairs] for name in self.judges
        ]).reshape(len(self.judges), 1, len(self.pairs))  # fmt: skip
        return mean_of(np.where(party, np.nan, self.won), axis=0)


def _beyond_noise(weights: Floats, own: Floats, theirs: Floats, there: Floats, sides: Floats) -> tuple[Floats, Floats]:
    """The statistic and lambda for each row of cluster weights (B, clusters); `sides` (pairs,) is 1 or -1 where the own
    text is first or second of the pair, and 0 on pairs without it."""
    counts = weights @ there
    with np.errstate(divide="ignore", invalid="ignore"):
        j, n = ((weights @ part)[:, sides == 0] / counts[:, sides == 0] for part in (own, theirs))
        known = counts[:, sides == 0] > 0
        j, n = np.where(known, j, 0.0), np.where(known, n, 0.0)
        discrimination = (j * n).sum(axis=1) / (n * n).sum(axis=1)
        own_count = counts @ np.abs(sides)
        by_self, by_peers = ((weights @ part) @ sides / own_count for part in (own, theirs))
        return by_self - discrimination * by_peers, discrimination

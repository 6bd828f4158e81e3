"""Own win rate: how often a judge's own text wins, by its own choice, by its peers' and by people's: the pairwise form
of self-preference (thesis on bias in LLM self-evaluation, sec. 2.4; Li, Patel and Du 2024, PRD, arXiv:2307.02762).
Verdicts in both orders are averaged; a win counts 1, a tie 1/2. The author of the other text is a party to the pair, so
`own_win_excess` compares with neutral peers, who wrote neither text, on the same pairs. A choice knows no leniency, but
noise: a judge that is led by the place or by chance gives everyone about one half, and so looks fond of its own text
where that is weak and hard on it where it is strong. `controlled_own_win_excess` takes that out, and is the one to
gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.self_preference.over_texts import JACKKNIFE, bounded_estimate, jackknifed
from recuse.ratings import Ratings, mean_of
from recuse.ratings.answers import without_truth
from recuse.ratings.array import moments_of
from recuse.ratings.pair_array import PAIRED, codes_of, pair_array, repeated_over
from recuse.schema import Estimate
from recuse.schema.arrays import Floats

SEEN_BY = ("self", "peers", "neutral_peers", "people")
NO_VERDICT = "no pair with the own text has a usable verdict by {}"


@measure(
    "own_win_rate", "wins of its own text", unit="share",
    reading="How often a judge's own text wins, by its own choice, its peers' and people's.",
)  # fmt: skip
@per_subject(("judge", "seen_by"), itself, *PAIRED)
def own_win_rate(part: Ratings) -> Iterator[Named]:
    """Mean credit of the judge's own text over the pairs it takes part in, by (judge, seen_by): "self", "peers" (all
    other judges, the other author among them), "neutral_peers" (who wrote neither text), "people", each over the pairs
    (n) that it has verdicts on. Judges' verdicts count where both orders are usable (in the one order, where no pair
    was asked in both); people's in whichever order they were asked, since each pair is usually shown to them once.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> own_win_rate(example("judge response", "x first; y tie", **more)).of(judge="x", seen_by="peers").value
    0.5
    """
    for judge, seen, none, mean in _own_pairs(part):
        for view in SEEN_BY:
            why = none or NO_VERDICT.format(view.replace("_", " "))
            yield (judge, view), mean("own_win_rate", seen[view], ends=(0.0, 1.0), why=why)


@measure(
    "own_win_excess", "own wins beyond neutral peers", unit="share", signed=True, above="prefers its own text",
    below="disfavours its own text",
    reading="Wins of a judge's own text by its own choice less those by peers who wrote neither text.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def own_win_excess(part: Ratings) -> Iterator[Named]:
    """Own text's credit by the judge itself minus that by neutral peers on the same pairs, by judge, -1 to 1. Pairs
    without a usable verdict of either are excluded and counted. Detail: both rates on these pairs, and
    `against_people`: self minus people on the pairs that both judged, with their number. Undefined where nobody neutral
    judged: that takes three judges.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> own_win_excess(example("judge response", "x first; y tie", **more)).of(judge="x").value
    0.5
    """
    for judge, seen, none, mean in _own_pairs(part):
        beyond, versus = (seen["self"] - seen[view] for view in ("neutral_peers", "people"))
        both = np.isfinite(beyond)
        rates = {view: number(float(mean_of(seen[view][both], 0))) for view in ("self", "neutral_peers")}
        detail = {
            **rates, "against_people": number(float(mean_of(versus, 0))),
            "pairs_with_people": int(np.isfinite(versus).sum()),
        }  # fmt: skip
        why = none or NO_VERDICT.format("the judge and a neutral peer")
        yield judge, mean("own_win_excess", beyond, ends=(-1.0, 1.0), why=why, detail=detail)


def _own_pairs(part: Ratings) -> Iterator[tuple[str, Mapping[str, Floats], str, Callable[..., Estimate]]]:
    """Every judge with a text of its own, that text's credit in each of SEEN_BY on the pairs it takes part in, shape
    (pairs,), NaN where there is none, why there are no such pairs, and the estimate of a mean over them."""
    pairs, over = pair_array(without_truth(part)), repeated_over(part)
    clusters = pairs.cluster_codes()
    names = np.array(pairs.judges, dtype=object)[:, None]
    wrote = np.array([part.authors.get(name) for name in pairs.judges], dtype=object)[:, None]
    for judge, text in part.own().items():
        side = pairs.credit(text)
        own = side != 0
        won, people = (np.where(side > 0, credit, 1 - credit)[..., own] for credit in (pairs.won, pairs.people))
        rival = np.where(side > 0, pairs.b, pairs.a)[own]
        seen = {
            "self": won[pairs.judges.index(judge)],
            "peers": mean_of(np.where(names != judge, won, np.nan), axis=0),
            "neutral_peers": mean_of(np.where((names != judge) & (wrote != rival), won, np.nan), axis=0),
            "people": people,
        }
        none = "" if own.any() else f"no pair has a text of {text}, which is the judge's own"
        yield judge, seen, none, partial(bounded_estimate, groups=clusters[own], unit="share", **over)


@measure(
    "controlled_own_win_excess", "own wins beyond noise and quality", unit="share", signed=True,
    above="prefers its own text", below="disfavours its own text",
    reading="Own wins beyond neutral peers, with how well the judge tells texts apart taken into account.",
)  # fmt: skip
@per_subject("judge", itself, *PAIRED)
def controlled_own_win_excess(part: Ratings) -> Iterator[Named]:
    """Excess with the judge's own discrimination taken into account, by judge:

        (self - 1/2) - lambda (neutral - 1/2),   lambda = sum_p j_p n_p / sum_p n_p^2

    self and neutral are the own text's mean credits as in `own_win_excess`. p runs over the pairs of authors without
    the judge; j_p and n_p are the mean credit less 1/2 that the judge, and neutral peers, give the first of them.
    lambda (detail `discrimination`) is 1 for a judge that tells texts apart as its peers do and 0 for one led by
    chance. Jackknife over clusters, t on G - 1 degrees of freedom. Fair judges are found significant about as often as
    the level says where quality and noise differ moderately, more often where they differ by factors of two and more.
    Undefined where every other author's texts win alike, where nobody neutral judged, and below two clusters.

    >>> more = {"texts": table("item a b", "i x z"), "authors": {"x": "x"}}
    >>> controlled_own_win_excess(example("judge response", "x first; y tie", **more)).of(judge="x").defined
    False
    """
    choices, over = pair_array(part), {"method": JACKKNIFE, **repeated_over(part)}
    # The credit of the first of each pair of authors, (judges, clusters, pairs of authors)
    swap = choices.a > choices.b
    first, second = np.where(swap, choices.b, choices.a), np.where(swap, choices.a, choices.b)
    names = first + "\x1f" + second
    pairs = [tuple(str(name).split("\x1f")) for name in dict.fromkeys(names)]
    shape = int(choices.cluster_codes().max(initial=-1)) + 1, len(pairs)
    cells = choices.cluster_codes() * shape[1] + codes_of(names)
    credit = np.where(swap, 1 - choices.won, choices.won)
    won = np.reshape([moments_of(cells, row, shape[0] * shape[1]).mean for row in credit], (len(credit), *shape))
    wrote = [part.authors.get(name) for name in choices.judges]
    for judge, text in part.own().items():
        row = choices.judges.index(judge)
        party = [[place == row or author in pair for pair in pairs] for place, author in enumerate(wrote)]
        neutral = mean_of(np.where(np.reshape(party, (len(wrote), 1, len(pairs))), np.nan, won), axis=0)
        sides = np.array([(a == text) * 1.0 - (b == text) for a, b in pairs])
        judged = int((np.isfinite(won).any(axis=0) & (sides != 0)).sum())
        yield judge, _controlled(won[row] - 0.5, neutral - 0.5, sides, judged, over)


def _controlled(own: Floats, neutral: Floats, sides: Floats, judged: int, over: Mapping[str, Any]) -> Estimate:
    """From credit less 1/2 by the judge and by neutral peers, (clusters, pairs of authors), and how many cells of
    pairs with the own text anyone judged; `sides` as in `_beyond_noise`."""
    metric = "controlled_own_win_excess"
    if not np.isfinite(own).any():
        return undefined(metric, "it has no pair with a usable verdict in both orders", **over)
    both = np.isfinite(own) & np.isfinite(neutral)
    there = both.any(axis=1)
    counted, count = int(both[:, sides != 0].sum()), int(there.sum())
    if count < 2 or not counted:
        why = "no neutral peer judged a pair with the own text; that takes three judges and two clusters of pairs"
        return undefined(metric, why, n=counted, **over)
    j, n, known = (np.where(both, part, 0.0)[there] for part in (own, neutral, np.ones_like(own)))
    values, slopes = _beyond_noise(np.vstack([np.ones(count), 1.0 - np.eye(count)]), j, n, known, sides)
    if not np.isfinite(values).all():
        why = "the texts of the other authors win alike, so nothing tells how well the judge tells texts apart"
        return undefined(metric, why, n=counted, n_clusters=count, **over)
    return jackknifed(
        metric, float(values[0]), values[1:], n=counted, unit="share", span=2.0, n_excluded=judged - counted,
        detail={"discrimination": number(slopes[0])}, **over,
    )  # fmt: skip


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

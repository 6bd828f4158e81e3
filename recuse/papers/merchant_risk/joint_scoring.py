"""All texts in one call beside one text per call: does a ranking follow its scores, and what does seeing all change?
Merchant-risk paper, Appendix A: its printed prompt shows five sets in one conversation and asks for a ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers.merchant_risk.name_effect import text_changes
from recuse.papers.rank_tests import kendall, spearman
from recuse.ratings import Cells, Ratings
from recuse.ratings.scale import PLACE
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean, difference_of_means


@measure(
    "ranking_follows_scores", "ranking against own scores", signed=True, rank=315, below="ranks against its own scores",
    reading="Kendall's tau-b between the order a judge states and the order of the scores it gives in the same reply; "
    "1 where they agree.",
)  # fmt: skip
@per_subject("judge", lambda part, ratings: part if PLACE in ratings.criteria and len(ratings.headline) == 1 else None)
def ranking_follows_scores(part: Ratings | None) -> Iterator[Named]:
    """Mean over replies of tau-b between stated places (the best first) and headline scores, by judge and factor level;
    interval over replies. Detail: `contradicting`, the share of replies with tau-b below 0; `replies`. Replies whose
    scores are all alike rank freely and are left out and counted. Empty without places.

    >>> rows = "s rating 5; t rating 3; s place 2; t place 1"
    >>> ranking_follows_scores(example("target criterion score", rows, headline=["rating"])).of(judge="j").value
    -1.0
    """
    if part is None:
        return
    wanted = part.table[part.table["criterion"].isin([part.criterion, PLACE]) & part.table["status"].eq("ok")]
    metric = "ranking_follows_scores"
    for judge in part.judges:
        wide = wanted[wanted["rater"] == judge].pivot_table(
            index=["item", "repeat"], columns=["criterion", "target"], values="score", sort=False
        )
        about: dict[str, Any] = {"method": "mean tau-b over replies, t", "over": "calls"}
        if part.criterion not in wide or PLACE not in wide:
            yield judge, undefined(metric, "no reply has scores and a ranking", **about)
            continue
        targets = [name for name in wide[PLACE] if name in wide[part.criterion]]
        scores, places = (wide[name][targets].to_numpy(float) for name in (part.criterion, PLACE))
        whole = np.isfinite(scores).all(axis=1) & np.isfinite(places).all(axis=1)
        tau = kendall(scores[whole], -places[whole])
        known = tau[np.isfinite(tau)]
        about["n_excluded"] = len(wide) - len(known)
        if not len(known):
            yield judge, undefined(metric, "every reply scores all texts alike", **about)
            continue
        d = clustered_mean(known, np.arange(len(known)))
        detail = {"contradicting": number(float((known < 0).mean())), "replies": len(known)}
        yield judge, estimated(metric, d.value, d, n=len(known), detail=detail, **about)


@measure(
    "joint_shift", "score when all are shown, less alone", signed=True, rank=316, bad="none",
    reading="A judge's mean score where it sees all texts in one call, less its mean where it sees one per call.",
)  # fmt: skip
def joint_shift(ratings: Ratings) -> Estimates:
    """Joint less single (`ratings.beside("scores")`) over the texts judged both ways, by judge and factor level; over
    texts. Detail: `order`, Spearman's rho of targets' means both ways; `spread`, the SD of targets' means jointly by
    that alone: above 1 where seeing all makes a judge tell them further apart. Empty with nothing beside.

    >>> alone = example("target score", "s 5; t 4")
    >>> joint_shift(example("target score", "s 6; t 2", beside={"scores": alone}.get)).of(judge="j").value
    -0.5
    """
    single, estimates = ratings.beside("scores"), {}
    if single is not None and single is not ratings and single.within() == ratings.within():
        other = {names: part.cells() for names, part in single.each()}
        for names, part in ratings.each():
            for judge in part.judges if names in other else ():
                estimates[judge, *names] = _shift(judge, part.cells(), other[names])
    return Estimates(("judge", *ratings.within()), estimates)


def _shift(judge: str, joint: Cells, single: Cells) -> Estimate:
    about = dict[str, Any](
        unit=joint.scale.unit, span=joint.scale.span, over="items", method="mean over texts of joint - single"
    )
    if judge not in single.judges:
        return undefined("joint_shift", "it was not asked about one text at a time", **about)
    each, places = text_changes(judge, joint, single)
    known = np.isfinite(each)
    if not known.any():
        return undefined("joint_shift", "no text has a usable score either way", **about)
    a, b = joint.mean[joint.row(judge)][known], single.mean[single.row(judge)][places[known]]
    targets, every = joint.targets[known], np.ones(int(known.sum()), dtype=bool)
    distribution = difference_of_means(a - b, every, None, joint.items[known], step=joint.step)
    means = np.array([[v[targets == t].mean() for t in np.unique(targets)] for v in (a, b)]).round(9)
    spreads = means.std(axis=1)
    detail = {
        "joint": number(a.mean()), "single": number(b.mean()),
        "order": number(float(spearman(*means)) if means.shape[1] > 2 else math.nan),
        "spread": number(spreads[0] / spreads[1] if spreads[1] > 1e-9 else math.nan),
    }  # fmt: skip
    return estimated("joint_shift", distribution.value, distribution, n=len(a), detail=detail, **about)

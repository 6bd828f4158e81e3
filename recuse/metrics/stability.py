"""Score stability: how far a judge's score of one text moves when it is asked again.

Merchant-risk paper, sec. 3.1, appendix D (SDs divide by n - 1) and appendix E.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from recuse.metrics.estimates import THESE_TEXTS, estimated, losses, number, undefined
from recuse.metrics.measure import Named, in_cells, itself, measure, per_judge, per_subject
from recuse.metrics.upgrade.change import span_of
from recuse.ratings import Cells, Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.ratings_table import JUDGE, PERSON
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import VERSION
from recuse.statistics.clusters import clustered_mean, clustered_share
from recuse.statistics.repeat_noise import mean_difference

MEAN_DIFFERENCE = "mean difference of repeats, t on its logarithm, corrected for skewness, one slip allowed for"
SINGLE = "no text has two usable repeats"


@measure(
    "repeat_difference", "difference between repeats", above="is unsteady|are unsteady", rank=200,
    reading="How far two of a judge's answers to one text lie apart, on average over all pairs of answers.",
)  # fmt: skip
@per_judge(in_cells)
def repeat_difference(cells: Cells, i: int) -> Estimate:
    """Gini's mean difference of a judge's answers to one text, by judge and factor level:

        sum_u (R_u - 1) G_u / sum_u (R_u - 1),   G_u = mean of |x_a - x_b| over all pairs of the text's R_u answers

    over the judge's texts with two repeats or more; 1.13 SDs where scores are normal. The interval is that of
    `recuse.statistics.repeat_noise`: over repeats of these texts, 93.5 to 97 % at nominal 95 % for normal, whole,
    crowded, skewed, rarely slipping and heavy-tailed scores (`python tests/benchmarks/coverage.py spread`). A judge
    that never moved has 0 and an upper end above it.

    Undefined where no text has two repeats.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": "i", "target": "t", "repeat": [0, 1, 2], "score": [1.0, 3.0, 1.0]})
    >>> round(repeat_difference(Ratings.of(frame)).of(judge="a").value, 3)
    1.333
    """
    n, excluded = int(cells.count[i].sum()), int(cells.lost[i].sum())
    distribution = mean_difference(cells.scores[i], cells.step, cells.scale.span)
    about: dict[str, Any] = {"n": n, "n_excluded": excluded, "over": "repeats", "method": MEAN_DIFFERENCE}
    if math.isnan(distribution.value):
        return undefined("repeat_difference", SINGLE, **about)
    return estimated(
        "repeat_difference", distribution.value, distribution, unit=cells.scale.unit, span=cells.scale.span,
        note=THESE_TEXTS, detail=_losses(cells, i), **about,
    )  # fmt: skip


def _losses(cells: Cells, i: int) -> dict[str, Any]:
    """A lost repeat may have been anywhere on the scale: at the text's median, or at the end of the scale that is
    farther from the text's mean; of several lost ones half may have been at either end."""
    if not cells.lost[i].any():
        return {}
    r, lost = cells.count[i], cells.lost[i]
    apart, least, most = (np.zeros(len(r)) for _ in range(3))
    for u, scores in enumerate(cells.scores[i]):
        if len(scores):
            apart[u] = np.abs(scores[:, None] - scores[None, :]).sum() / 2
            least[u] = np.abs(scores - np.median(scores)).sum()
            most[u] = max(np.abs(scores - end).sum() for end in cells.scale.ends)
    total = r + lost
    used = total > 1
    df = float((total[used] - 1).sum())
    bounds = (
        float((2 * all_apart[used] / total[used]).sum() / df) if df else math.nan
        for all_apart in (apart + lost * least, apart + lost * most + lost**2 // 4 * cells.scale.span)
    )
    middle = float(np.median(cells.mean[i][r > 0])) if (r > 0).any() else 0.0
    upper = cells.mean[i] > middle
    sides = {
        name: (int(lost[side].sum()), int(total[side].sum()))
        for name, side in (("high texts", upper), ("low texts", ~upper))
    }
    lowest, highest = bounds
    return losses(sides, (lowest, highest))


# --------------------------------------------------------------------------- mean scores


METHOD = "same texts, first version against last; t over texts (an exact share where nothing was asked twice)"


@measure(
    "drift", "answers changed from version to version", unit="share", rank=60,
    above="is not the judge it was|are not the judges they were",
    reading="Share of the texts that both versions judged on which the answer is another one; of numbers, the mean "
    "distance as a share of the scale's range.",
)  # fmt: skip
@per_subject("judge", itself, *COMPARED, VERSION)
def drift(part: Ratings) -> Iterator[Named]:
    """Mean over texts of the distance between the answers of the first and the last level of the factor `version`, by
    judge and the other factors. Distance: the chance that one answer of each differs (of numbers: the distance of the
    means over the range). Where both versions were asked repeatedly, the chance that two answers of one version differ,
    averaged over both, is taken off: a judge that wavers has not drifted. Detail: `versions`, `mean_change` (last less
    first, where answers have an order), `own_noise`.

    Undefined where no text was answered by both.

    >>> import pandas as pd
    >>> rows = [(v, i, s) for v, said in (("march", "pfpf"), ("april", "pfpp")) for i, s in enumerate(said)]
    >>> frame = pd.DataFrame(rows, columns=["version", "item", "response"]).assign(judge="x")
    >>> drift(Ratings.of(frame)).of(judge="x").value
    0.25
    """
    first, *_, last = part.levels(VERSION)
    for judge in part.judges:
        mine = part.table[part.table["rater"] == judge]
        if {first, last} <= set(mine[VERSION]):
            both = mine[mine[VERSION].isin((first, last))]
            yield judge, _changed(_against(both, part, last), (first, last))


def _against(rows: pd.DataFrame, part: Ratings, last: str) -> Answers:
    """The newer version as the judge, and the older one in the place of a person."""
    newer = rows[VERSION].eq(last)
    table = rows.assign(
        rater=newer.map({True: "newer", False: "older"}), kind=newer.map({True: JUDGE, False: PERSON})
    ).drop(columns=VERSION)  # fmt: skip
    left = tuple(name for name in part.factors if name != VERSION)
    pair = Ratings(table, part.scales, left, {}, part.headline, texts=part.texts, clusters=part.clusters)
    return answers_of(pair, pair)


def _changed(answers: Answers, versions: tuple[str, str]) -> Estimate:
    distance, noise = _distance(answers)
    there = np.isfinite(distance)
    facts: dict[str, Any] = {
        "n": int(there.sum()), "n_excluded": int((~there).sum()), "method": METHOD, "unit": "share", "span": 1.0,
        "over": answers.over, "clusters": answers.clusters_called,
    }  # fmt: skip
    if not there.any():
        return undefined("drift", "no text was answered by both versions", **facts)
    own = float(np.nanmean(noise)) if np.isfinite(noise).any() else 0.0
    values, clusters = distance[there] - np.nan_to_num(noise)[there], answers.clusters[there]
    plain = own == 0.0 and set(np.unique(values)) <= {0.0, 1.0}
    distribution = clustered_share(values, clusters) if plain else clustered_mean(values, clusters)
    ordered = not answers.options or (answers.ordered and len(answers.options) == 2)
    moved = (answers.judge_means[0] - answers.people_mean)[there]
    detail = {"versions": list(versions), "mean_change": number(float(moved.mean())) if ordered else None,
              "own_noise": number(own)}  # fmt: skip
    return estimated("drift", float(values.mean()), distribution, detail=detail, **facts)


def _distance(answers: Answers) -> tuple[Floats, Floats]:
    """Per text how far the two versions are apart, and how far answers of one version are, NaN where asked once."""
    if answers.options:
        newer, older = answers.judge_shares[0], answers.person_shares[0]
        noise = (_own(newer, answers.judged[0]) + _own(older, answers.rated[0])) / 2
        return 1 - (newer * older).sum(axis=1), noise
    apart = np.abs(answers.judge_means[0] - answers.people_mean) / max(span_of(answers), 1e-12)
    return apart, np.full(len(apart), np.nan)


def _own(shares: Floats, answers: Floats) -> Floats:
    """The chance that two answers of one version to a text differ, without bias; NaN where it was asked once."""
    times = np.isfinite(answers).sum(axis=1).astype(float)
    same = (shares**2).sum(axis=1)
    return np.where(times > 1, (1 - same) * times / np.maximum(times - 1, 1), np.nan)

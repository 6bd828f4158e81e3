"""Drift: does a judge's newer version answer as the older one did?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.upgrade.change import agreement_of_two, span_of
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.ratings_table import JUDGE
from recuse.schema import Estimate
from recuse.schema.factors import VERSION, levels_in
from recuse.statistics.clusters import clustered_mean, clustered_share

METHOD = "same texts, first version against last; t over texts (an exact share where nothing was asked twice)"


@measure(
    "drift", "change of answers from version to version", unit="share", rank=60, above="is not the judge it was",
    reading="Share of the texts that both versions judged on which the answer is another one; of numbers, the mean "
    "distance as a share of the scale's range.",
)  # fmt: skip
@per_subject("judge", itself, *COMPARED, VERSION)
def drift(part: Ratings) -> Iterator[Named]:
    """Mean over texts of the distance between the answers of the first and the last level of the factor `version`, by
    judge and the other factors. Distance: the chance that one answer of each differs (of numbers: the distance of the
    means over the range, that of all answers compared where the scale has no ends). Where both versions were asked
    repeatedly, the chance that two answers of one version differ, averaged over both, is taken off: a judge that wavers
    has not drifted. Detail: `versions`, `mean_change` (last less first, where answers have an order), `own_noise`.

    Undefined where no text was answered by both.

    >>> rows = "march 0 p; march 1 f; march 2 p; march 3 f; april 0 p; april 1 f; april 2 p; april 3 p"
    >>> drift(example("version item response", rows)).of(judge="j").value
    0.25
    """
    if VERSION not in part.factors:
        return
    versions = levels_in(part.table[part.table["kind"] == JUDGE], VERSION)  # people judged texts, not versions
    first, last = versions[0], versions[-1]
    left = tuple(name for name in part.factors if name != VERSION)
    for judge in part.judges:
        rows = part.table[(part.table["rater"] == judge) & part.table[VERSION].isin((first, last))]
        if rows[VERSION].nunique() > 1:
            older, newer = (rows[rows[VERSION].eq(level)].assign(rater=level) for level in (first, last))
            table = pd.concat([older, newer], ignore_index=True).drop(columns=VERSION)
            both = Ratings(table, part.scales, left, {}, part.headline, texts=part.texts, clusters=part.clusters)
            yield judge, _changed(answers_of(both, both, people=False), (first, last))


def _changed(answers: Answers, versions: tuple[str, str]) -> Estimate:
    """`answers` of both versions as two judges, in the order of `versions`."""
    old, new = (answers.judges.index(version) for version in versions)
    moved, noise = answers.judge_means[new] - answers.judge_means[old], np.full(len(answers.items), np.nan)
    distance = np.abs(moved) / max(span_of(answers), 1e-12)
    if answers.options:
        across, *own = agreement_of_two(answers.judged, len(answers.options))
        distance, noise = 1 - across, 1 - (own[0] + own[1]) / 2
    there = np.isfinite(distance)
    facts: dict[str, Any] = {
        "n": int(there.sum()), "n_excluded": int((~there).sum()), "method": METHOD, "unit": "share", "span": 1.0,
        **answers.about,
    }  # fmt: skip
    if not there.any():
        return undefined("drift", "no text was answered by both versions", **facts)
    own_noise = float(np.nanmean(noise)) if np.isfinite(noise).any() else 0.0
    values, clusters = distance[there] - np.nan_to_num(noise)[there], answers.clusters[there]
    plain = own_noise == 0.0 and set(np.unique(values)) <= {0.0, 1.0}
    distribution = clustered_share(values, clusters) if plain else clustered_mean(values, clusters)
    detail = {"versions": list(versions), "own_noise": number(own_noise),
              "mean_change": number(float(moved[there].mean())) if answers.counts else None}  # fmt: skip
    return estimated("drift", float(values.mean()), distribution, detail=detail, **facts)

"""Drift: does a judge's newer version answer as the older one did?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.upgrade.change import span_of
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.ratings_table import JUDGE, PERSON
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import VERSION, levels_in
from recuse.statistics.clusters import clustered_mean, clustered_share

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

    >>> from recuse.ratings.ratings import example
    >>> rows = "march 0 p; march 1 f; march 2 p; march 3 f; april 0 p; april 1 f; april 2 p; april 3 p"
    >>> drift(example("version item response", rows)).of(judge="j").value
    0.25
    """
    if VERSION not in part.factors:
        return
    versions = levels_in(part.table[part.table["kind"] == JUDGE], VERSION)  # people judged texts, not versions
    for judge in part.judges:
        first, last = versions[0], versions[-1]
        rows = part.table[part.table["rater"] == judge]
        if first != last and {first, last} <= set(rows[VERSION]):
            both = rows[rows[VERSION].isin((first, last))]
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
        **answers.about,
    }  # fmt: skip
    if not there.any():
        return undefined("drift", "no text was answered by both versions", **facts)
    own = float(np.nanmean(noise)) if np.isfinite(noise).any() else 0.0
    values, clusters = distance[there] - np.nan_to_num(noise)[there], answers.clusters[there]
    plain = own == 0.0 and set(np.unique(values)) <= {0.0, 1.0}
    distribution = clustered_share(values, clusters) if plain else clustered_mean(values, clusters)
    moved = (answers.judge_means[0] - answers.people_mean)[there]
    detail = {"versions": list(versions), "mean_change": number(float(moved.mean())) if answers.counts else None,
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

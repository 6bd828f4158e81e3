"""Drift: does a judge's newer version answer as the older one did?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import span_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.factors import VERSION
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean, clustered_share

__all__ = ["drift"]

Floats = NDArray[np.float64]
METHOD = "same texts, first version against last; t over texts (an exact share where nothing was asked twice)"


@measure(
    "drift", "answers changed from version to version", unit="share", rank=60,
    above="is not the judge it was|are not the judges they were",
    reading="Share of the texts that both versions judged on which the answer is another one; of numbers, the mean "
    "distance as a share of the scale's range.",
)  # fmt: skip
def drift(ratings: Ratings) -> Estimates:
    """Mean over texts of the distance between the answers of the first and the last level of the factor `version`, by
    judge and the other factors. Distance: the chance that one answer of each differs (of numbers: the distance of the
    means over the range). Where both versions were asked repeatedly, the chance that two answers of one version differ,
    averaged over both, is taken off: a judge that wavers has not drifted. Detail: `versions`, `mean_change` (last less
    first, where answers have an order), `own_noise`.

    Undefined where no text was answered by both.
    """
    found: dict[tuple[str, ...], Estimate] = {}
    compared = (*COMPARED, VERSION)
    for names, part in ratings.each(*compared):
        first, *_, last = part.levels(VERSION)
        answers = answers_of(_as_raters(part, (first, last)), ratings)
        judges = {name: k for k, name in enumerate(answers.judges)}
        for judge in ratings.judges:
            pair = judges.get(_named(judge, first)), judges.get(_named(judge, last))
            if None not in pair:
                found[(judge, *names)] = _changed(answers, pair, (first, last))  # type: ignore[arg-type]
    return Estimates(("judge", *ratings.within(*compared)), found)


def _named(judge: str, version: str) -> str:
    return f"{judge}\x1f{version}"


def _as_raters(part: Ratings, versions: tuple[str, str]) -> Ratings:
    """Each version of a judge as a judge of its own; people are not needed."""
    rows = part.table[(part.table["kind"] == "judge") & part.table[VERSION].isin(versions)]
    table = rows.assign(rater=rows["rater"].astype(str) + "\x1f" + rows[VERSION].astype(str)).drop(columns=VERSION)
    left = tuple(name for name in part.factors if name != VERSION)
    return Ratings(
        table, part.scales, left, {}, part.headline, part.parts, texts=part.texts, clusters=part.clusters
    )


def _changed(answers: Answers, pair: tuple[int, int], versions: tuple[str, str]) -> Estimate:
    distance, noise = _distance(answers, *pair)
    there = np.isfinite(distance)
    facts: dict[str, Any] = {"n": int(there.sum()), "n_excluded": int((~there).sum()), "method": METHOD, "unit": "share",
             "over": answers.over, "clusters": answers.clusters_called, "span": 1.0}  # fmt: skip
    if not there.any():
        return undefined("drift", "no text was answered by both versions", **facts)
    own = float(np.nanmean(noise)) if np.isfinite(noise).any() else 0.0
    values, clusters = distance[there] - np.nan_to_num(noise)[there], answers.clusters[there]
    plain = own == 0.0 and set(np.unique(values)) <= {0.0, 1.0}
    law = clustered_share(values, clusters) if plain else clustered_mean(values, clusters)
    means = answers.judge_means
    ordered = not answers.options or (answers.ordered and len(answers.options) == 2)
    change = float(np.nanmean((means[pair[1]] - means[pair[0]])[there])) if ordered else float("nan")
    detail = {"versions": list(versions), "mean_change": number(change), "own_noise": number(own)}
    return estimated("drift", float(values.mean()), law, detail=detail, **facts)


def _distance(answers: Answers, first: int, last: int) -> tuple[Floats, Floats]:
    """Per text how far the two versions are apart, and how far answers of one version are, NaN where asked once."""
    if answers.options:
        p, q = answers.judge_shares[first], answers.judge_shares[last]
        both = [_own(answers, which) for which in (first, last)]
        return 1 - (p * q).sum(axis=1), (both[0] + both[1]) / 2
    apart = np.abs(answers.judge_means[last] - answers.judge_means[first]) / max(span_of(answers), 1e-12)
    return apart, np.full(len(apart), np.nan)


def _own(answers: Answers, judge: int) -> Floats:
    """The chance that two answers of this version to a text differ, without bias; NaN where it was asked once."""
    times = np.isfinite(answers.judged[judge]).sum(axis=1).astype(float)
    same = (answers.judge_shares[judge] ** 2).sum(axis=1)
    return np.where(times > 1, (1 - same) * times / np.maximum(times - 1, 1), np.nan)

"""What another way of asking changes, on the same texts, and what it costs: observations first, examples, a reference,
a solution of one's own, ...

The yardstick is what is known of the texts (`true_<criterion>`), never what another judge said of them: a remedy that
makes judges alike would win by that, whatever it does to them. Thesis on bias in LLM self-evaluation, sec. 1.2.1 and
2.4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import number
from recuse.metrics.measure import measure
from recuse.papers.self_preference.over_texts import axes_of, mean_over_texts, true_scores
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import array_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.factors import PROMPT

TOKENS = "tokens"
UNKNOWN = "what the texts deserve is not known; say it (texts: true_<criterion>)"
NOT_BOTH = "no text was judged in both ways"


@measure(
    "error_by_prompt", "distance from what is true", rank=346,
    above="is far from what the texts deserve|are far from what the texts deserve",
    reading="Mean distance between a judgement and what the text is known to deserve, by the way of asking.",
)  # fmt: skip
def error_by_prompt(ratings: Ratings, factor: str = PROMPT) -> Estimates:
    """Mean of |score - true score| over texts, by judge and level of `factor`; in units of the scale, as the share of
    wrong answers where there are two options. Detail: `tokens`, the mean of tokens in and out per text, where the
    server counts. Undefined where no true score is known.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": list("xyxy"), "prompt": ["plain"] * 2 + ["solved"] * 2,
    ...                       "score": [1.0, 5, 2, 5]})
    >>> texts = pd.DataFrame({"item": list("xy"), "target": "", "true_rating": [2, 5]})
    >>> estimates = error_by_prompt(Ratings.of(frame, factors=["prompt"], texts=texts))
    >>> [estimates.of(judge="j", prompt=name).value for name in ("plain", "solved")]
    [0.5, 0.0]
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, one in _ways(ratings, factor):
        for level, scores in one.scores.items():
            error = np.full(scores.shape, np.nan) if one.true is None else np.abs(scores - one.true)
            estimates[one.judge, level, *names] = one.estimate(
                "error_by_prompt", error, UNKNOWN, one.part.scale.span, {"tokens": one.tokens.get(level)}, signed=False
            )
    return Estimates(("judge", factor, *ratings.within(factor)), estimates)


@measure(
    "error_change", "change of the distance from what is true", signed=True, rank=347,
    below="would come closer to the truth|would come closer to the truth",
    bad="none",
    reading="Distance from what the text deserves with another way of asking less that with the ordinary one, on the "
    "same texts. Below 0: it helps.",
)  # fmt: skip
def error_change(ratings: Ratings, factor: str = PROMPT) -> Estimates:
    """Mean over texts of |after - true| - |before - true|, by judge and every level of `factor` but the first, which is
    before. Detail: `before` and `after`; `tokens_before`, `tokens_after`, `times`, their quotient. Undefined where no
    true score is known, and where no text was judged both ways.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": list("xyxy"), "prompt": ["plain"] * 2 + ["solved"] * 2,
    ...                       "score": [1.0, 5, 2, 5]})
    >>> texts = pd.DataFrame({"item": list("xy"), "target": "", "true_rating": [2, 5]})
    >>> error_change(Ratings.of(frame, factors=["prompt"], texts=texts)).of(judge="j", prompt="solved").value
    -0.5
    """

    def change(one: _Ways, before: Floats, after: Floats) -> Floats:
        if one.true is None:
            return np.full(after.shape, np.nan)
        changed: Floats = np.abs(after - one.true) - np.abs(before - one.true)
        return changed

    return _changes("error_change", ratings, factor, change, UNKNOWN)


@measure(
    "score_change", "shift by the way of asking", signed=True, rank=348,
    reading="Score with another way of asking less that with the ordinary one, on the same texts.",
)  # fmt: skip
def score_change(ratings: Ratings, factor: str = PROMPT) -> Estimates:
    """Mean over texts of after - before on the ascending scale, by judge and every level of `factor` but the first.
    Detail as `error_change`. Undefined where no text was judged both ways.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": "x", "prompt": ["plain", "solved"], "score": [1.0, 3.0]})
    >>> score_change(Ratings.of(frame, factors=["prompt"])).of(judge="j", prompt="solved").value
    2.0
    """
    return _changes("score_change", ratings, factor, lambda one, before, after: after - before, NOT_BOTH)


# --------------------------------------------------------------------------- the same texts, asked in several ways


@dataclass(frozen=True)
class _Ways:
    """One judge's `scores` (items, targets) and mean tokens per text, by level; `true` scores where they are known."""

    judge: str
    part: Ratings
    array: RatingArray
    scores: dict[str, Floats]
    requested: dict[str, NDArray[np.bool_]]
    tokens: dict[str, float | None]
    true: Floats | None

    def estimate(
        self, metric: str, values: Floats, why: str, span: float, detail: dict[str, Any], *, signed: bool = True
    ) -> Estimate:
        requested = np.any(list(self.requested.values()), axis=0)
        if self.true is not None:
            requested &= np.isfinite(self.true)
        unit = self.part.scale.unit
        return mean_over_texts(
            metric, values, self.array, self.part, why=why, span=span, unit=unit, detail=detail, requested=requested,
            signed=signed,
        )  # fmt: skip


def _ways(ratings: Ratings, factor: str) -> Iterator[tuple[tuple[str, ...], _Ways]]:
    for names, part in ratings.each(factor):
        axes = axes_of(part)
        arrays = {level: array_of(part.where(**{factor: level}), axes) for level in part.levels(factor)}
        if not arrays:
            continue
        first = next(iter(arrays.values()))
        true, spent = true_scores(part, first), _tokens(part, factor, axes)
        for row, judge in enumerate(first.raters):
            yield names, _Ways(
                judge, part, first, {level: array.means[row] for level, array in arrays.items()},
                {level: array.requested[row] for level, array in arrays.items()},
                {level: number(float(spent[level][row])) if level in spent else None for level in arrays}, true,
            )  # fmt: skip


def _tokens(part: Ratings, factor: str, axes: Any) -> dict[str, Floats]:
    """Level -> mean tokens per text, (judges,)."""
    name = f"{part.criterion}.{TOKENS}"
    if name not in part.criteria:
        return {}
    counted = part.with_criterion(name)
    arrays = {level: array_of(counted.where(**{factor: level}), axes).means for level in part.levels(factor)}
    return {level: _mean(means) for level, means in arrays.items()}


def _mean(means: Floats) -> Floats:
    there = np.isfinite(means)
    count = there.sum(axis=(1, 2))
    estimates: Floats = np.where(there, means, 0.0).sum(axis=(1, 2)) / np.where(count > 0, count, np.nan)
    return estimates


def _changes(metric: str, ratings: Ratings, factor: str, change: Any, why: str) -> Estimates:
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, one in _ways(ratings, factor):
        first, *others = one.scores
        for level in others:
            before, after = one.scores[first], one.scores[level]
            values = change(one, before, after)
            both = np.isfinite(values)
            tokens = {"before": one.tokens[first], "after": one.tokens[level]}
            detail: dict[str, Any] = {f"tokens_{name}": count for name, count in tokens.items()}
            if tokens["before"] and tokens["after"]:
                detail["times"] = number(tokens["after"] / tokens["before"])
            for name, scores in (("before", before), ("after", after)):
                shown = scores if one.true is None or metric == "score_change" else np.abs(scores - one.true)
                detail[name] = number(float(shown[both].mean())) if both.any() else None
            estimates[one.judge, level, *names] = one.estimate(metric, values, why, one.part.scale.span, detail)
    return Estimates(("judge", factor, *ratings.within(factor)), estimates)

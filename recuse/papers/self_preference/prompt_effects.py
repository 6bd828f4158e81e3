"""What another way of asking changes, on the same texts, and what it costs: observations first, examples, a reference,
a solution of one's own, ... The yardstick is what is known of the texts (`true_<criterion>`), never what another judge
said of them: a remedy that makes judges alike would win by that. Thesis on bias in LLM self-evaluation, sec. 1.2.1 and
2.4.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers.self_preference.over_texts import by_rater, mean_or_none, mean_over_texts, true_scores
from recuse.ratings import Ratings, mean_of
from recuse.ratings.array import arrays_by_level
from recuse.schema import Estimate, number
from recuse.schema.arrays import Floats
from recuse.schema.factors import PROMPT

TOKENS = "tokens"
UNKNOWN = "what the texts deserve is not known; say it (texts: true_<criterion>)"


@measure(
    "error_by_prompt", "distance from what is true", rank=346, above="is far from what the texts deserve",
    reading="Mean distance between a judgement and what the text is known to deserve, by the way of asking.",
)  # fmt: skip
@per_subject(("judge", PROMPT), lambda part, ratings: list(_ways(part)), PROMPT)
def error_by_prompt(ways: list[_Ways]) -> Iterator[Named]:
    """Mean of |score - true score| over texts, by judge and prompt; in units of the scale, as the share of wrong
    answers where there are two options. Detail: `tokens`, mean of tokens in and out per text, where counted. Undefined
    where no true score is known.

    >>> more = {"factors": ["prompt"], "texts": table("true_rating", "2/5").assign(target="")}
    >>> error_by_prompt(example("prompt score", "plain 1/5; solved 2/5", **more)).of(judge="j", prompt="plain").value
    0.5
    """
    for one in ways:
        for level, scores in one.scores.items():
            yield (one.judge, level), one.mean(
                "error_by_prompt", np.abs(scores - one.true), why=UNKNOWN, detail={"tokens": one.tokens[level]},
                signed=False,
            )  # fmt: skip


@measure(
    "error_change", "change of the distance from what is true", signed=True, rank=347,
    below="would come closer to the truth", bad="none",
    reading="Distance from what the text deserves with another way of asking less that with the ordinary one, on the "
    "same texts. Below 0: it helps.",
)  # fmt: skip
@per_subject(("judge", PROMPT), lambda part, ratings: list(_ways(part)), PROMPT)
def error_change(ways: list[_Ways]) -> Iterator[Named]:
    """Mean over texts of |after - true| - |before - true|, by judge and every prompt but the first, which is before.
    Detail: `before` and `after`; `tokens_before`, `tokens_after`, `times`, their quotient. Undefined where no true
    score is known, and where no text was judged both ways.

    >>> more = {"factors": ["prompt"], "texts": table("item true_rating", "x 2; y 5").assign(target="")}
    >>> scores = example("item prompt score", "x plain 1; y plain 5; x solved 2; y solved 5", **more)
    >>> error_change(scores).of(judge="j", prompt="solved").value
    -0.5
    """
    return _changes("error_change", ways, lambda scores, true: np.abs(scores - true), UNKNOWN)


@measure(
    "score_change", "shift by the way of asking", signed=True, rank=348,
    reading="Score with another way of asking less that with the ordinary one, on the same texts.",
)  # fmt: skip
@per_subject(("judge", PROMPT), lambda part, ratings: list(_ways(part)), PROMPT)
def score_change(ways: list[_Ways]) -> Iterator[Named]:
    """Mean over texts of after - before on the ascending scale, by judge and every prompt but the first. Detail as
    `error_change`. Undefined where no text was judged both ways.

    >>> scores = example("prompt score", "plain 1; solved 3", factors=["prompt"])
    >>> score_change(scores).of(judge="j", prompt="solved").value
    2.0
    """
    return _changes("score_change", ways, lambda scores, true: scores, "no text was judged in both ways")


@dataclass(frozen=True)
class _Ways:
    """One judge's `scores` (items, targets) and mean tokens per text, by level; `true` scores, NaN where they are not
    known; `mean`: `mean_over_texts` of such arrays."""

    judge: str
    scores: dict[str, Floats]
    tokens: dict[str, float | None]
    true: Floats
    mean: Callable[..., Estimate]


def _ways(part: Ratings) -> Iterator[_Ways]:
    arrays, counted = arrays_by_level(part, PROMPT), f"{part.criterion}.{TOKENS}"
    if not arrays:
        return
    first = next(iter(arrays.values()))
    spent = arrays_by_level(part.with_criterion(counted), PROMPT) if counted in part.criteria else {}
    tokens = {level: by_rater(array, mean_of(array.means, axis=(1, 2))) for level, array in spent.items()}
    true = true_scores(part, first)
    known = np.isfinite(true)
    for row, judge in enumerate(first.raters):
        requested = np.any([array.requested[row] for array in arrays.values()], axis=0)
        yield _Ways(
            judge, {level: array.means[row] for level, array in arrays.items()},
            {level: tokens.get(level, {}).get(judge) for level in arrays}, true,
            partial(mean_over_texts, array=first, part=part, requested=requested & (known | ~known.any())),
        )  # fmt: skip


def _changes(metric: str, ways: list[_Ways], figure: Callable[[Floats, Floats], Floats], why: str) -> Iterator[Named]:
    """The change of what a text's score and its true score make of it."""
    for one in ways:
        first, *others = one.scores
        for level in others:
            before, after = (figure(one.scores[way], one.true) for way in (first, level))
            was, now = one.tokens[first], one.tokens[level]
            both = np.isfinite(after - before)
            detail = {
                "tokens_before": was, "tokens_after": now, **({"times": number(now / was)} if was and now else {}),
                "before": mean_or_none(before[both]), "after": mean_or_none(after[both]),
            }  # fmt: skip
            yield (one.judge, level), one.mean(metric, after - before, why=why, detail=detail)

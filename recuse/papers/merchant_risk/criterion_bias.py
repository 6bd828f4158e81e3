"""Self-bias criterion by criterion: a total can hide what its parts say.

Merchant-risk paper, Appendix E: Perplexity Sonar scores its own completeness 1.40 below its peers with names shown, and
its own total 0.21 above them. A judge's total need not be the mean of its criteria either: by its totals Gemini's
self-bias is +0.77, by the means, which Algorithm 1 takes, +0.87.
"""

from __future__ import annotations

from dataclasses import replace

from recuse.metrics.consensus import self_bias
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.criteria import CRITERIA_MEAN, with_criteria_mean
from recuse.schema import Estimates

__all__ = ["criterion_self_bias"]


@measure(
    "criterion_self_bias", "self-bias by criterion", signed=True, rank=22, bad="none",
    reading="Self-bias on each part of the judgement; a total can be fair where its parts are not.",
)  # fmt: skip
def criterion_self_bias(ratings: Ratings) -> Estimates:
    """`consensus.self_bias` of every part, and of the mean of the parts (`criteria_mean`), by judge, factor level and
    criterion.

    >>> import pandas as pd
    >>> rows = [("x", "whole", 5), ("y", "whole", 5), ("x", "part", 2), ("y", "part", 4)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "criterion", "score"]).assign(item="i", target="a")
    >>> ratings = Ratings.of(frame, authors={"x": "a"}, headline=["whole"], parts=("part",))
    >>> criterion_self_bias(ratings).of(judge="x", criterion="part").value
    -2.0
    """
    by = ("judge", *ratings.factors, "criterion")
    estimates = {}
    both = with_criteria_mean(ratings) if ratings.parts else ratings
    for criterion in (*ratings.parts, *([CRITERIA_MEAN] if ratings.parts else [])):
        for key, estimate in self_bias(both.with_criterion(criterion)).items():
            estimates[(*key, criterion)] = replace(estimate, metric="criterion_self_bias")
    return Estimates(by, estimates)

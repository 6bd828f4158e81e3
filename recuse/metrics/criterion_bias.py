"""Self-bias criterion by criterion: a total can hide what its parts say.

Merchant-risk paper, Appendix E: Perplexity Sonar scores its own completeness 1.40 below its peers with names shown, and
its own total 0.21 above them.
"""

from __future__ import annotations

from dataclasses import replace

from recuse.metrics.consensus import self_bias
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.schema import Estimates

__all__ = ["criterion_self_bias"]


@measure(
    "criterion_self_bias", "self-bias by criterion", signed=True, rank=22, bad="none",
    reading="Self-bias on each part of the judgement; a total can be fair where its parts are not.",
)  # fmt: skip
def criterion_self_bias(ratings: Ratings) -> Estimates:
    """`consensus.self_bias` of every part, by judge, factor level and criterion.

    >>> import pandas as pd
    >>> rows = [("x", "whole", 5), ("y", "whole", 5), ("x", "part", 2), ("y", "part", 4)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "criterion", "score"]).assign(item="i", target="a")
    >>> ratings = Ratings.of(frame, authors={"x": "a"}, headline=["whole"], parts=("part",))
    >>> criterion_self_bias(ratings).of(judge="x", criterion="part").value
    -2.0
    """
    by = ("judge", *ratings.factors, "criterion")
    found = {}
    for criterion in ratings.parts:
        for key, estimate in self_bias(ratings.with_criterion(criterion)).items():
            found[(*key, criterion)] = replace(estimate, metric="criterion_self_bias")
    return Estimates(by, found)

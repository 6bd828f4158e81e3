"""The right response put first: the accuracy on RewardBench 2, one chosen response of four (Malik et al. 2025,
arXiv:2506.01937). What clears a judge is `recuse.metrics.right_choices`, which counts from chance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recuse.metrics.estimates import estimated
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.right_choices import right_first, right_responses
from recuse.ratings import Ratings, judges_array, mean_of
from recuse.statistics.clusters import SHARE, clustered_share


@measure(
    "best_response", "puts the right response first", unit="share", rank=400,
    below="seldom puts the right response first",
    reading="Share of items of which the judge scores the response that is known to be right above all others. "
    "A tie for the first place counts as wrong.",
)  # fmt: skip
@per_subject("judge", itself)
def best_response(part: Ratings, repeats: int | None = None) -> Iterator[Named]:
    """Share of items whose single best-scored text is the right one, by judge and factor level. A text's score is the
    mean of its usable repeats, of the first `repeats` only where given (1: the first answer). An item counts where the
    judge scored every text that it was asked about, two or more; ties count as wrong. Which text is right is told in
    `ratings.texts`, column `gold`: 1, true, yes, chosen or correct. Clopper-Pearson interval over items (clusters: at
    the effective sample size). `RatingsError` without gold.

    >>> texts = table("item target gold", "i a 1; i b 0; k a 1; k b 0")
    >>> best_response(example("item target score", "i a 3; i b 2; k a 4; k b 4", texts=texts)).of(judge="j").value
    0.5
    """
    array = judges_array(part)
    right = right_responses(part, array)
    scores = array.means if repeats is None else mean_of(array.values[..., :repeats], axis=3)
    for judge, name in enumerate(array.judges):
        if not (requested := array.requested[judge]).any():
            continue
        wanted, credit = requested.sum(axis=1) > 1, right_first(scores[judge], requested, right)
        used = wanted & np.isfinite(credit)
        hits = credit[used] == 1
        yield name, estimated(
            "best_response", float(hits.mean()) if used.any() else float("nan"),
            clustered_share(hits, np.asarray(array.clusters, dtype=object)[used]), n=int(used.sum()),
            n_excluded=int((wanted & ~used).sum()), unit="share", span=1.0, method=SHARE,
            over="clusters" if array.clustered else "items",
        )  # fmt: skip

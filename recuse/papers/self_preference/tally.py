"""How many tests of a family are significant, and how many are left once it is remembered that there were many."""

from __future__ import annotations

from recuse.metrics.measure import measure
from recuse.metrics.self_preference import ALPHA, self_minus_given, self_minus_received
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates

__all__ = ["significant_tests", "summary"]

METHOD = "paired t-tests, Holm over the family"


@measure(
    "significant_tests", "significant comparisons", unit="tests", rank=330,
    reading="How many of the comparisons of own texts are significant by themselves, and after Holm's correction.",
)  # fmt: skip
def significant_tests(ratings: Ratings, alpha: float = ALPHA) -> Estimate:
    """Number of S - R and S - G tests of these ratings with p below `alpha`, over all judges, factor levels and
    criteria; n is the number of tests that could be made.

    Detail: `significant`, `survive` (p_holm below alpha), `tests`, and `told`, the sentence. A count, without an
    interval, and never undefined. Tests that could not be made are excluded and counted.

    >>> import pandas as pd
    >>> rows = [(j, t, f"i{k}", 3.0 + (j == t) + k % 2 * (t == "a") / 9) for j in "ab" for t in "abc" for k in range(9)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "item", "score"])
    >>> significant_tests(Ratings.of(frame, authors={"a": "a", "b": "b"})).detail["summary"]
    '2 of 2 significant, all 2 survive Holm, 2 could not be made'
    """
    families = self_minus_received(ratings), self_minus_given(ratings)
    every = [estimate.detail for family in families for estimate in family.values()]
    made = [test for test in every if test.get("p") is not None]
    counts = {
        "significant": sum(test["p"] < alpha for test in made),
        "survive": sum(test["p_holm"] < alpha for test in made),
        "tests": len(made),
    }
    return Estimate(
        metric="significant_tests", value=float(counts["significant"]), unit="tests", n=len(made),
        n_excluded=len(every) - len(made), method=METHOD, note="a count, no interval",
        detail={**counts, "alpha": alpha, "summary": summary(*families, alpha=alpha)},
    )  # fmt: skip


def summary(*families: Estimates, alpha: float = ALPHA) -> str:
    """ "12 of 20 significant, all 12 survive Holm" over tests whose details hold `p` and `p_holm`; says so where a test
    could not be made."""
    tests = [estimate.detail for family in families for estimate in family.values()]
    made = [test for test in tests if test.get("p") is not None]
    significant = sum(test["p"] < alpha for test in made)
    survive = sum(test["p_holm"] < alpha for test in made)
    kept = f"all {survive} survive Holm" if survive == significant else f"{survive} survive Holm"
    lacking = f", {len(tests) - len(made)} could not be made" if len(made) < len(tests) else ""
    return f"{significant} of {len(made)} significant{f', {kept}' if significant else ''}{lacking}"

"""How many tests of a family are significant, and how many are left once it is remembered that there were many."""

from __future__ import annotations

from recuse.metrics.self_preference import ALPHA, summary
from recuse.schema import Estimate, Estimates

__all__ = ["tally"]

METHOD = "paired t-tests, Holm over the family"


def tally(*families: Estimates, alpha: float = ALPHA) -> Estimate:
    """Number of tests of all `families` together with p below `alpha`; n is the number of tests that could be made.

    The members' details hold `p` and `p_holm` (over the whole family), as those of `against_received` and
    `against_given` do. Detail: `significant`, `survive` (p_holm below alpha), `tests`, and `told`, the sentence. A
    count, without an interval. Tests that could not be made are excluded and counted.
    """
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
        detail={**counts, "alpha": alpha, "told": summary(*families, alpha=alpha)},
    )  # fmt: skip

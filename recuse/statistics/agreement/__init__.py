"""Agreement of raters over items: coefficients with their intervals, from sums over items.

Every function takes plain arrays and gives a `Coefficient` (value, reason where undefined, jackknife); the
intraclass correlations have the F distribution of their own.
"""

from __future__ import annotations

from recuse.statistics.agreement.coefficient import Coefficient
from recuse.statistics.agreement.correlation import (
    concordance,
    kendall_tau,
    mean_absolute_error,
    mean_error,
    pearson,
    products,
    spearman_rho,
)
from recuse.statistics.agreement.icc import FORMS, ICC, icc, icc_interval, icc_of_pairs, mean_squares
from recuse.statistics.agreement.krippendorff import krippendorff_alpha
from recuse.statistics.agreement.options import (
    cohen_kappa,
    counts_of,
    distances,
    fleiss_kappa,
    gwet_ac,
    gwet_many,
    percent_agreement,
    percent_many,
    rate,
    scott_pi,
)

__all__ = [
    "FORMS", "ICC", "Coefficient", "cohen_kappa", "concordance", "counts_of", "distances", "fleiss_kappa", "gwet_ac",
    "gwet_many", "icc", "icc_interval", "icc_of_pairs", "kendall_tau", "krippendorff_alpha", "mean_absolute_error",
    "mean_error", "mean_squares", "pearson", "percent_agreement", "percent_many", "products", "rate", "scott_pi",
    "spearman_rho",
]  # fmt: skip

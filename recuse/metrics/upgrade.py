"""A candidate judge against the incumbent on the same items: what an upgrade changes, with an interval to gate.

    [upgrade_shift]                     # evals/gates.toml: the margin is fixed before the candidate is seen
    within = [-0.2, 0.2]
    reason = "..."

    found = compare_judges(ratings, candidate="gpt-5.2", incumbent="gpt-5.1", criterion="total")
    assert gate("upgrade_shift", found, candidate="gpt-5.2")

Items differ more from each other than judges do, so the two are compared item by item and the items' own differences
cancel. A gate that compares two separate intervals, or takes its margin from the candidate's noise, lets a sloppy
candidate pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics import distributions, power

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare_judges"]

Floats = NDArray[np.float64]
UNIT = ["item", "target"]
SUMMARY = ("mean", "variance", "count")


def compare_judges(
    ratings: pd.DataFrame,
    candidate: str,
    incumbent: str,
    *,
    criterion: str,
    reference: Mapping[str, float] | None = None,
    over: Literal["items", "runs"] = "runs",
    by: tuple[str, ...] = ("condition",),
) -> Estimates:
    """Candidate minus incumbent on the texts both judged, by the factor columns `by`.

    Per text u (an item and its target), c_u and i_u are the mean usable scores of the two judges.

    - without `reference`: d_u = c_u - i_u, the shift of the scale ("judge_shift").
    - with `reference` (target -> people's or the true score r_u): d_u = |c_u - r_u| - |i_u - r_u|, positive where the
      candidate errs more ("judge_error_change"). For a gate `at_most`.

    The value is the mean of d_u. over = "items": d is averaged within each item, items are the sample, paired t with
    n - 1 degrees of freedom. over = "runs": the texts are fixed and only the judges' runs vary, Welch-Satterthwaite t
    of the contrast of cell means; with a reference the direction of each error is taken as seen.

    Texts that only one of them has a usable score for are left out; detail `unpaired` counts them, n_excluded counts
    judgements without a score. Detail `smallest_effect` is what would be found with 80 % power at 5 % (items only), and
    `largest` names the texts that moved most. Undefined where no text is shared. Raises `RecuseError` for an unknown
    judge or criterion, for one judge given twice, and for a shared text without a reference.
    """
    rows = _of_both(ratings, candidate, incumbent, criterion)
    groups = rows.groupby(list(by), sort=True) if by else [((), rows)]
    return Estimates(
        by,
        {tuple(map(str, key)): _compare(group, candidate, incumbent, reference, over) for key, group in groups},
    )


def _compare(
    rows: pd.DataFrame, candidate: str, incumbent: str, reference: Mapping[str, float] | None, over: str
) -> Estimate:
    usable = rows[rows["score"].notna()]
    paired = _texts(usable, candidate).join(_texts(usable, incumbent).add_suffix("_incumbent"), how="inner")
    about: dict[str, Any] = {
        "metric": "judge_shift" if reference is None else "judge_error_change",
        "unit": "points",
        "over": over,
        "n_excluded": len(rows) - len(usable),
    }
    if paired.empty:
        why = f"undefined: no text has a usable score of both {candidate} and {incumbent}"
        return Estimate(value=math.nan, n=0, method="paired difference", note=why, **about)
    mean, variance, count = (paired[[name, f"{name}_incumbent"]].to_numpy(dtype=float) for name in SUMMARY)
    weights, differences = _differences(mean, _references(paired, reference))
    about["detail"] = {
        "candidate": candidate,
        "incumbent": incumbent,
        "texts": len(paired),
        "unpaired": len(rows[UNIT].drop_duplicates()) - len(paired),
        "largest": _largest(paired, differences),
    }
    if over == "runs":
        law = distributions.contrast(weights / len(paired), mean, variance, count)
        law = distributions.Student(float(differences.mean()), law.se, law.df)
        return _estimate(law, n=int(count.sum()), method="contrast of cell means, Welch-Satterthwaite t", **about)
    per_item = _by_item(paired, differences)
    law, sd = _paired_t(per_item)
    about["detail"]["smallest_effect"] = _number(power.smallest_effect(len(per_item)) * sd)
    return _estimate(law, n=len(per_item), method="paired differences, Student's t", **about)


def _texts(usable: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Mean, variance (n - 1; exactly 0 where runs are equal but for rounding) and count of a judge's runs per text."""
    scores = usable[usable["judge"].eq(judge)].groupby(UNIT)["score"]
    spread = scores.max() - scores.min()
    variance = scores.var(ddof=1).mask((spread < 1e-12) & (scores.count() > 1), 0.0)
    return scores.mean().to_frame("mean").assign(variance=variance, count=scores.count())


def _estimate(law: distributions.Student, **about: Any) -> Estimate:
    low, high = law.interval(0.95)
    note = f"no interval: {law.undefined}" if law.undefined else ""
    return Estimate(value=law.value, low=low, high=high, note=note, distribution=law, **about)


def _differences(mean: Floats, reference: Floats | None) -> tuple[Floats, Floats]:
    """Weights of the two judges' means in each d_u, shape (U, 2), and d_u itself, shape (U,)."""
    if reference is None:
        return np.tile([1.0, -1.0], (len(mean), 1)), mean[:, 0] - mean[:, 1]
    errors = mean - reference[:, None]
    sizes, signs = np.abs(errors), np.sign(errors)
    weights = np.stack([signs[:, 0], -signs[:, 1]], axis=1)
    return np.asarray(weights, dtype=np.float64), np.asarray(sizes[:, 0] - sizes[:, 1], dtype=np.float64)


def _paired_t(differences: Floats) -> tuple[distributions.Student, float]:
    n = len(differences)
    same = n > 1 and float(np.ptp(differences)) < 1e-12  # equal but for rounding is no spread
    sd = math.nan if n < 2 else 0.0 if same else float(differences.std(ddof=1))
    return distributions.Student(float(differences.mean()), sd / math.sqrt(n), n - 1), sd


def _by_item(paired: pd.DataFrame, differences: Floats) -> Floats:
    import pandas as pd

    per_item = pd.Series(differences, index=paired.index).groupby(level="item").mean()
    return np.asarray(per_item, dtype=np.float64)


def _largest(paired: pd.DataFrame, differences: Floats, most: int = 5) -> list[dict[str, Any]]:
    texts = [(str(item), str(target), _number(d)) for (item, target), d in zip(paired.index, differences, strict=True)]
    texts.sort(key=lambda text: (-abs(text[2] or 0.0), text))
    return [{"item": item, "target": target, "difference": d} for item, target, d in texts[:most]]


def _references(paired: pd.DataFrame, reference: Mapping[str, float] | None) -> Floats | None:
    if reference is None:
        return None
    targets = [str(target) for target in paired.index.get_level_values("target")]
    if lacking := sorted(set(targets) - set(reference)):
        raise RecuseError(
            f"no reference score for target {', '.join(lacking)}; there is one for {', '.join(map(str, reference))}"
        )
    return np.array([reference[target] for target in targets])


def _of_both(ratings: pd.DataFrame, candidate: str, incumbent: str, criterion: str) -> pd.DataFrame:
    if candidate == incumbent:
        raise RecuseError(f"an upgrade is between two judges; {candidate} was named as both")
    for column, wanted in (("judge", candidate), ("judge", incumbent), ("criterion", criterion)):
        there = list(map(str, ratings[column].drop_duplicates()))
        if wanted not in there:
            raise RecuseError(f"{column} {wanted} is not in the ratings; they hold {', '.join(there) or 'none'}")
    return ratings[ratings["judge"].isin([candidate, incumbent]) & ratings["criterion"].eq(criterion)]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 12) + 0.0

"""A candidate judge against the incumbent on the same texts: what an upgrade changes, with an interval to gate.

    [upgrade_shift]                     # evals/gates.toml: the margin is fixed before the candidate is seen
    within = [-0.2, 0.2]
    reason = "..."

    found = compare_judges(ratings, candidate="gpt-5.2", incumbent="gpt-5.1")
    assert gate("upgrade_shift", found, candidate="gpt-5.2")

Items differ more from each other than judges do, so the two are compared text by text and the items' own differences
cancel. A gate that compares two separate intervals, or takes its margin from the candidate's noise, lets a sloppy
candidate pass. A candidate that answers less often must not profit from what it left out: losses are counted, and what
they could hide is bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Cells, Ratings
from recuse.ratings.people import people_on
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics import distributions, power
from recuse.statistics.clusters import OverClusters

__all__ = ["compare_errors", "compare_judges"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Over = Literal["items", "repeats"]


@measure(
    "judge_shift", "shift against the incumbent", signed=True,
    above="scores above the incumbent|score above the incumbent",
    below="scores below the incumbent|score below the incumbent",
    reading="The candidate's mean score less the incumbent's on the same texts.",
)  # fmt: skip
def compare_judges(ratings: Ratings, candidate: str, incumbent: str, *, over: Over = "items") -> Estimates:
    """Mean over the texts both judged of candidate minus incumbent, by factor level.

    Per text u, c_u and i_u are the two judges' means over repeats, d_u = c_u - i_u. over = "items": d is averaged
    within each item (or what items share), and these are the sample, paired t on their number - 1 degrees of freedom.
    over = "repeats": the texts are fixed and only the judges' repeats vary, Welch-Satterthwaite t of the contrast of
    means.

    Texts that only one of them has a usable score for are left out; detail `unpaired` counts them, `lost` each judge's
    judgements without a score (n_excluded is their sum), and `worst_case` gives the lowest and highest value that the
    scale allows for the texts that both were asked about and one of them never scored. Detail `smallest_effect` is what
    would be found with 80 % power at 5 % (items only), `largest` the texts that moved most. Undefined where no text is
    shared. Raises `RecuseError` for an unknown judge, and for one judge given twice.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["new", "new", "old", "old"], "item": ["i", "j"] * 2, "score": [4.0, 3, 3, 3]})
    >>> compare_judges(Ratings.of(frame), "new", "old").of().value
    0.5
    """
    return _compare(ratings, "judge_shift", candidate, incumbent, over, None)


@measure(
    "judge_error_change", "change of error", signed=True,
    above="errs more than the incumbent|err more than the incumbent",
    reading="The candidate's mean distance from the reference less the incumbent's on the same texts.",
)  # fmt: skip
def compare_errors(
    ratings: Ratings,
    candidate: str,
    incumbent: str,
    *,
    against: Literal["people", "reference"] = "people",
    over: Over = "items",
) -> Estimates:
    """Mean over texts of |c_u - r_u| - |i_u - r_u|, positive where the candidate errs more, by factor level; r_u is
    people's mean of the text, or the true value of its item (`ratings.reference`). For a gate `at_most`.

    As `compare_judges` otherwise; over repeats, the direction of each error is taken as seen. A noisier or less often
    repeated judge errs more by its noise alone. Texts without r_u are left out and counted in `unpaired`. Raises
    `RecuseError` where there are no people, or no true values.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["new", "old"], "item": "i", "score": [4.0, 3.0]})
    >>> truth = pd.DataFrame({"item": ["i"], "value": [3.5]})
    >>> compare_errors(Ratings.of(frame, reference=truth), "new", "old", against="reference").of().value
    0.0
    """
    return _compare(ratings, "judge_error_change", candidate, incumbent, over, against)


# --------------------------------------------------------------------------- pairs


@dataclass(frozen=True, eq=False)
class Pairs:
    """The candidate's and the incumbent's cells, rows of `cells`, and the reference r (U,) where there is one."""

    cells: Cells
    candidate: int
    incumbent: int
    reference: Floats | None

    @property
    def rows(self) -> list[int]:
        return [self.candidate, self.incumbent]

    def differences(self, candidate: Floats, incumbent: Floats) -> Floats:
        if self.reference is None:
            return candidate - incumbent
        away: Floats = np.abs(candidate - self.reference) - np.abs(incumbent - self.reference)
        return away

    @property
    def each(self) -> Floats:
        """d_u, shape (U,); NaN where it is not known."""
        return self.differences(*self.cells.mean[self.rows])

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which texts each of the two was asked, shape (2, U)."""
        return (self.cells.count + self.cells.lost)[self.rows] > 0

    def weights(self, used: Mask) -> Floats:
        """Of the two judges' means in the mean of d, shape (2, U)."""
        signs = np.stack([used, -1.0 * used]) / used.sum()
        if self.reference is not None:
            signs = signs * np.nan_to_num(np.sign(self.cells.mean[self.rows] - self.reference))
        return np.asarray(signs, dtype=float)


def _compare(
    ratings: Ratings, metric: str, candidate: str, incumbent: str, over: Over, against: str | None
) -> Estimates:
    if candidate == incumbent:
        raise RecuseError(f"an upgrade is between two judges; {candidate} was named as both")
    found: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        cells = part.cells()
        reference = None if against is None else _reference(part, cells, ratings, against)
        pairs = Pairs(cells, cells.row(candidate), cells.row(incumbent), reference)
        found[names] = _estimate(metric, pairs, over)
    return Estimates(ratings.within(), found)


def _reference(part: Ratings, cells: Cells, ratings: Ratings, against: str) -> Floats:
    if against == "people":
        return people_on(part, cells, ratings).mean
    truth = part.reference
    if truth is None:
        raise RecuseError("no true values: give reference=..., a table with the columns item and value")
    values = dict(zip(truth["item"].astype(str), truth["value"].astype(float), strict=True))
    return np.array([values.get(cells.item_names[item], math.nan) for item in cells.items], dtype=float)


def _estimate(metric: str, pairs: Pairs, over: Over) -> Estimate:
    cells, each = pairs.cells, pairs.each
    used = np.isfinite(each)
    lost = cells.lost[pairs.rows].sum(axis=1)
    shown = (
        "repeats" if over == "repeats" else "items" if len(cells.cluster_names) == len(cells.item_names) else "clusters"
    )
    about: dict[str, Any] = {
        "unit": cells.scale.unit, "span": cells.scale.span, "over": shown, "clusters": cells.clusters_called,
        "n_excluded": int(lost.sum()),
    }  # fmt: skip
    names = [cells.judges[row] for row in pairs.rows]
    if not used.any():
        why = f"no text has a usable score of both {names[0]} and {names[1]}"
        return undefined(metric, why, n=0, method="paired difference", **about)
    detail = {
        "candidate": names[0], "incumbent": names[1], "texts": int(used.sum()),
        "unpaired": int((pairs.asked.any(axis=0) & ~used).sum()), "lost": dict(zip(names, lost.tolist(), strict=True)),
        "worst_case": _worst_case(pairs, used), "largest": _largest(cells, each, used),
    }  # fmt: skip
    if over == "repeats":
        law = distributions.contrast(
            pairs.weights(used), cells.mean[pairs.rows], cells.variance[pairs.rows], cells.count[pairs.rows]
        )
        law = distributions.Student(math.fsum(each[used]) / int(used.sum()), law.se, law.df)
        n, method = int(cells.count[pairs.rows][:, used].sum()), "contrast of cell means, Welch-Satterthwaite t"
        return estimated(metric, law.value, law, n=n, method=method, detail=detail, **about)
    paired, sd = _paired_t(_by_cluster(each[used], cells.clusters[used]))
    detail["smallest_effect"] = number(power.smallest_effect(int(paired.df) + 1) * sd)
    method = "paired differences, Student's t"
    return estimated(metric, paired.value, paired, n=int(paired.df) + 1, method=method, detail=detail, **about)


def _paired_t(differences: Floats) -> tuple[OverClusters, float]:
    n = len(differences)
    same = n > 1 and float(np.ptp(differences)) < 1e-12  # equal but for rounding is no spread
    sd = math.nan if n < 2 else 0.0 if same else float(differences.std(ddof=1))
    return OverClusters(float(differences.mean()), sd / math.sqrt(n), n - 1), sd


def _by_cluster(values: Floats, clusters: NDArray[np.intp]) -> Floats:
    codes = np.unique(clusters, return_inverse=True)[1]
    means: Floats = np.bincount(codes, weights=values) / np.bincount(codes)
    return means


def _worst_case(pairs: Pairs, used: Mask) -> list[float | None]:
    """The value if every text that one of them never scored had the score that moves it most, downwards and upwards;
    over the texts that both were asked about."""
    cells = pairs.cells
    both = (
        pairs.asked.all(axis=0) if pairs.reference is None else pairs.asked.all(axis=0) & np.isfinite(pairs.reference)
    )
    if not math.isfinite(cells.scale.span) or not both.any():
        return [None, None]
    extremes: list[Any] = [*cells.scale.ends, *_nearest(pairs, cells)]
    new, old = ([np.where(np.isfinite(mean), mean, end) for end in extremes] for mean in cells.mean[pairs.rows])
    every = np.stack([pairs.differences(c, i) for c in new for i in old])[:, both]
    clusters = cells.clusters[both]
    return [number(_by_cluster(extreme(every, axis=0), clusters).mean()) for extreme in (np.min, np.max)]


def _nearest(pairs: Pairs, cells: Cells) -> list[Floats]:
    """An error is smallest on the reference itself, which lies between the ends."""
    return [] if pairs.reference is None else [np.clip(pairs.reference, *cells.scale.ends)]


def _largest(cells: Cells, each: Floats, used: Mask, most: int = 5) -> list[dict[str, Any]]:
    texts = [
        (cells.item_names[cells.items[u]], cells.target_names[cells.targets[u]], number(each[u]))
        for u in np.flatnonzero(used)
    ]
    texts.sort(key=lambda text: (-abs(text[2] or 0.0), text))
    return [{"item": item, "target": target, "difference": d} for item, target, d in texts[:most]]

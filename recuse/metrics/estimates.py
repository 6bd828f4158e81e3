"""From a value and its sampling distribution to an `Estimate`, and from arrays to the builtins of its detail."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.measure import described
from recuse.ratings import Cells, Numeric, RatingArray, Ratings
from recuse.schema import Distribution, Estimate, RecuseError
from recuse.schema import number as number
from recuse.schema.arrays import Floats, Mask, average, median_of, taken
from recuse.schema.number_text import NO_INTERVAL, UNDEFINED
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.bounded import Part
from recuse.statistics.paired import BOUNDED_METHOD, METHOD, Paired

Over = Literal["items", "clusters", "repeats", "calls"]
SHARES: Mapping[str, Any] = {"unit": "share", "span": 1.0}  # unit and span of what is a share whatever the scale
THESE_TEXTS = "over repeats: these texts only"  # of one fixed text per target: new replies are drawn, no new texts
Side = tuple[int, int]
MARGIN = 0.05  # shares of losses that differ by less are alike: what parse_rate allows to be lost altogether
PAIRED_MARGIN = 0.0625  # share of the scale's range, 0.25 points on 1 to 5: the difference whose `power` is reported


def estimated(
    metric: str, value: float, distribution: Distribution, *, n: int, method: str, over: Over = "items",
    note: str = "", level: float = 0.95, clusters: str = "clusters", **more: Any,
) -> Estimate:  # fmt: skip
    """The estimate with its interval at `level`; where the distribution has none, the note says why."""
    wanted = ("interval", "p_value", "half_width_at", "undefined")
    if lacking := [name for name in wanted if not hasattr(distribution, name)]:
        raise RecuseError(f"{metric}: its distribution has no {' and no '.join(lacking)}: see recuse.ext")
    low, high = map(float, distribution.interval(level))  # a numpy scalar would not survive the trip to the controller
    why = f"{NO_INTERVAL}{distribution.undefined}" if distribution.undefined else ""
    return Estimate(
        metric=metric, value=float(value), low=low, high=high, level=level, over=over, n=n, method=method,
        clusters=_counted(over, clusters), note="; ".join(part for part in (note, why) if part),
        distribution=distribution, **more,
    )  # fmt: skip


def undefined(
    metric: str, why: str, *, n: int = 0, method: str, over: Over = "items", clusters: str = "clusters", **more: Any
) -> Estimate:
    """An estimate that could not be made: NaN, and the reason in its note. Its unit, that of the measure, is known."""
    more.setdefault("unit", described(metric)["unit"])
    return Estimate(
        metric=metric, value=math.nan, n=n, method=method, over=over, clusters=_counted(over, clusters),
        note=f"{UNDEFINED}{why}", **more,
    )  # fmt: skip


def _counted(over: Over, clusters: str) -> str:
    """What an estimate counts, where that is not what it is over: clusters, or several texts of an item."""
    return clusters if over == "clusters" or clusters in ("texts", "pairs") else ""


def these_texts(distribution: Distribution) -> tuple[dict[str, Any], str]:
    """The 95 % interval over repeats that stands beside one over texts, for these texts alone, with its degrees of
    freedom: for the detail, and as a note. What the same texts say when they are judged again is compared by it."""
    low, high = distribution.interval(0.95)
    df = getattr(distribution, "df", None)
    detail = {"these_texts": [number(low), number(high)], "these_texts_df": None if df is None else number(df)}
    return detail, "" if math.isnan(low) else f"for these texts only {low:+.2f} to {high:+.2f}, over repeats"


def table(values: NDArray[Any]) -> list[list[float | None]]:
    """A matrix as lists of builtins."""
    return [[number(v) for v in row] for row in np.asarray(values, dtype=float)]


def matrix(
    rows: Iterable[str], columns: Iterable[str], values: NDArray[Any], own: Mapping[str, str], **more: Any
) -> dict[str, Any]:
    """Detail of a heat map; `own` marks where a judge scores its own target; arrays in `more` become lists."""
    rows, columns = list(rows), list(columns)
    marked = [[row, own[row]] for row in rows if own.get(row) in columns]
    return {"kind": "matrix", "rows": rows, "columns": columns, "values": table(values), "own": marked} | {
        name: table(part) if isinstance(part, np.ndarray) else part for name, part in more.items()
    }


# --------------------------------------------------------------------------- losses
# A judge that refuses to score its own text, or answers in a way that cannot be read just where it would show a bias,
# is missing not at random. What stands beside an estimate, in its detail `losses`, and when a gate passes it all the
# same, is in docs/statistics.md, "Losses". `unrelated`: whether the interval of the difference lies within `margin`;
# `bounds` are None where the scale has no end, and move the interval's ends as far as they move the value.


def losses(sides: Mapping[str, Side], bounds: tuple[float, float]) -> dict[str, Any]:
    """Detail of an estimate, empty where nothing was lost. `sides`: name -> (lost, asked)."""
    if not sum(lost for lost, _ in sides.values()):
        return {}
    compared = [side for side in sides.values() if side[1]]
    difference: tuple[float, ...] = ()
    if len(compared) == 2:  # with an interval from Jeffreys' of both (MOVER: Zou and Donner 2008)
        (p, low_p, high_p), (q, low_q, high_q) = (
            (hits / trials, *Part(hits / trials, trials, 1.0, counted=True).bounds(0.05, 1.0))
            for hits, trials in compared
        )
        difference = p - q, p - q - math.hypot(p - low_p, high_q - q), p - q + math.hypot(high_p - p, q - low_q)
    return {
        "losses": {
            "sides": {name: list(side) for name, side in sides.items()},
            "difference": [number(part) for part in difference] if difference else None,
            "margin": MARGIN,
            # two one-sided tests at 5 % (Schuirmann 1987)
            "unrelated": bool(difference) and difference[1] >= -MARGIN and difference[2] <= MARGIN,
            "bounds": [number(bound) if math.isfinite(bound) else None for bound in bounds],
        }
    }


def losses_of_judge(
    cells: Cells, judge: int, reference_of: Callable[[], Floats], plus: Mask, minus: Mask | None = None
) -> dict[str, Any]:
    """Detail of the mean over the texts `plus` of what the judge gives above a reference (U,), less the mean over
    `minus`. What others lost is theirs: the reference stays as it is, and is not asked for where the judge lost
    nothing.

    Where there is one side only, texts whose reference is above its median are compared with the others: a judge that
    loses the bad ones loses what is harsh."""
    if not cells.lost[judge].any():
        return {}
    reference = reference_of()
    count, lost = cells.count[judge], cells.lost[judge]
    replies = count + lost
    kept = np.where(count > 0, np.nan_to_num(cells.mean[judge]) * count, 0.0)
    # the judge's mean on each text, had the lost repeats all said one end of the scale
    low, high = (ratio(kept + lost * np.where(lost > 0, end, 0.0), replies) for end in cells.scale.ends)
    there = np.isfinite(low - reference)

    def mean(above: Floats, texts: Mask) -> float:
        return average((above - reference)[texts & there], taken(cells.times, texts & there))

    opposite = ((low, high), (high, low))
    least, most = (mean(end, plus) - (0.0 if minus is None else mean(other, minus)) for end, other in opposite)
    sides = {"all": plus} if minus is None else {"own": plus, "others'": minus}
    if minus is None and (known := plus & np.isfinite(reference)).any():
        middle = median_of(reference[known], taken(cells.times, known))
        sides = {"high reference": known & (reference > middle), "low reference": known & (reference <= middle)}
    counts = {name: (cells.replies(lost * side), cells.replies(replies * side)) for name, side in sides.items()}
    return losses(counts, (least, most))


def add_losses(
    estimate: Estimate, sides: Mapping[str, Side], ends: tuple[float, float], lost: int | None = None
) -> Estimate:
    """The estimate, a mean of n observations between `ends`, with the detail of its losses: `lost` observations more
    (those left out unless given) could have lain anywhere between them."""
    if not estimate.defined:
        return estimate
    missing, n = estimate.n_excluded if lost is None else lost, estimate.n
    low, high = ((n * estimate.value + missing * end) / (n + missing) if missing else estimate.value for end in ends)
    return replace(estimate, detail={**estimate.detail, **losses(sides, (low, high))})


def bounded_test(differences: NDArray[np.float64], array: RatingArray, *, spans: int = 2) -> Paired:
    """Differences between two scores (one of the scale's `spans`) or four (two), with an interval that holds where most
    of them are equal: what is gated, while t reproduces what papers print. What never varied is bounded by slips of the
    smallest step of the scores."""
    far, slip = spans * array.scale.span, array.step if isinstance(array.scale, Numeric) else None
    return Paired.of(differences, array.groups, ends=(-far, far), slip=slip)


def paired_estimate(
    metric: str, test: Paired, part: Ratings, *, excluded: int, why: str, detail: Mapping[str, Any] | None = None
) -> Estimate:
    """The mean difference with its interval; undefined, with `why`, where no item could be compared. `part` says what
    the scores are and what clusters are called."""
    scale: Any = part.scale
    about: dict[str, Any] = {
        "n_excluded": excluded, "unit": scale.unit, "span": scale.span,
        "method": METHOD if test.bounded is None else BOUNDED_METHOD, "detail": detail or {},
        "over": "clusters" if test.clustered else "items", "clusters": part.clusters,
    }  # fmt: skip
    if not test.n:
        return undefined(metric, why, **about)
    if test.clustered:
        about["n_clusters"] = int(test.clustered.df) + 1
    distribution = test.distribution if test.bounded is None else test.bounded
    return estimated(metric, test.mean, distribution, n=test.n, **about)

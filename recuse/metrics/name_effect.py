"""What a judge's own name changes: self-bias with names shown against self-bias with names hidden.

Merchant-risk paper, sec. 4.3.2: A and B are the self-bias with names shown and hidden, A - B is what the name adds, and
100 (1 - |B| / |A|) the attenuation when it is hidden.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.consensus import WELCH, ZERO, deviations, peer_weights, self_bias
from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates
from recuse.statistics import resampling
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.distributions import Student

Floats = NDArray[np.float64]

SHOWN, HIDDEN = "shown", "hidden"


@measure(
    "name_effect", "effect of the name", signed=True, rank=90,
    above="is swayed by names|are swayed by names", below="is swayed by names|are swayed by names",
    reading="Self-bias with names shown less self-bias with names hidden.",
)  # fmt: skip
def name_effect(ratings: Ratings) -> Estimates:
    """A - B by judge, A and B the self-bias with names shown and hidden (paper, sec. 4.3.2).

    Detail: `shown` A and `hidden` B; `attenuation_pct` = 100 (1 - |B| / |A|), unrounded, None where A is 0;
    `direction_kept`, whether A and B have the same sign, None where either is 0. Over repeats the two are independent
    and variances add; over items they are paired text by text. Undefined where either was not asked.

    >>> import pandas as pd
    >>> rows = [("a", "shown", 5), ("a", "hidden", 4.5), ("b", "shown", 4), ("b", "hidden", 4)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "names", "score"]).assign(item="i", target="x")
    >>> name_effect(Ratings.of(frame, authors={"a": "x"})).of(judge="a").value
    0.5
    """
    found: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each("names"):
        for judge, (a, b) in _self_bias_pairs(part).items():
            found[(judge, *names)] = _name_effect(part, judge, a, b)
    return Estimates(("judge", *ratings.within("names")), found)


@measure(
    "attenuation", "attenuation", unit="%", rank=95,
    reading="By how many per cent self-bias shrinks when names are hidden, on average over judges.",
)  # fmt: skip
def attenuation_mean(ratings: Ratings, seed: int = resampling.SEED, draws: int = 9999) -> Estimates:
    """Mean over judges of the unrounded attenuation_pct of `name_effect`: 26.5 for the paper, which prints 25.8.

    A ratio has no simple distribution, so the interval is a percentile bootstrap over repeats, redrawn within every
    cell; where items vary there is none. Judges without a direction (A = 0) have no ratio and are left out; one near 0
    makes the interval very wide. For biases like the paper's it covers 94 % at nominal 95 %, missing almost always on
    the low side. Detail: `judges` with their own percentages, and `left_out`.

    >>> import pandas as pd
    >>> rows = [("a", "shown", 5), ("a", "hidden", 4.5), ("b", "shown", 4), ("b", "hidden", 4)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "names", "score"]).assign(item="i", target="x")
    >>> attenuation_mean(Ratings.of(frame, authors={"a": "x"})).of().value
    50.0
    """
    within = ratings.within("names")
    return Estimates(within, {names: _attenuation_mean(part, seed, draws) for names, part in ratings.each("names")})


def _self_bias_pairs(part: Ratings) -> dict[str, tuple[Estimate, Estimate]]:
    """Self-bias with names shown and hidden, of every author."""
    judges = list(part.own())
    missing = [level for level in (SHOWN, HIDDEN) if level not in part.levels("names")]
    if missing:
        why = f"nothing was asked with names {' and '.join(missing)}"
        nothing = undefined("self_bias", why, method=WELCH, over="repeats")
        return dict.fromkeys(judges, (nothing, nothing))
    found = self_bias(part)
    return {judge: (found.of(judge=judge, names=SHOWN), found.of(judge=judge, names=HIDDEN)) for judge in judges}


def _name_effect(part: Ratings, judge: str, a: Estimate, b: Estimate) -> Estimate:
    if not (a.defined and b.defined):
        worse = a if not a.defined else b
        why = worse.note.removeprefix("undefined: ")
        return undefined("name_effect", why, n=a.n + b.n, method=worse.method, over=worse.over)
    directed = abs(a.value) > ZERO and abs(b.value) > ZERO
    detail = {
        "shown": number(a.value),
        "hidden": number(b.value),
        "attenuation_pct": number(_attenuation(a.value, b.value)) if abs(a.value) > ZERO else None,
        "direction_kept": (a.value > 0) == (b.value > 0) if directed else None,
    }
    if a.over == "repeats":
        assert isinstance(a.distribution, Student)
        assert isinstance(b.distribution, Student)
        distribution, n, note = a.distribution.minus(b.distribution), a.n + b.n, THESE_TEXTS
    else:
        distribution, n, note = *_paired_by_name(part, judge), ""
    return estimated(
        "name_effect", a.value - b.value, distribution, n=n, n_excluded=a.n_excluded + b.n_excluded, unit=a.unit,
        span=a.span, over=a.over, method=a.method, note=note, detail=detail,
    )  # fmt: skip


def _paired_by_name(part: Ratings, judge: str) -> tuple[Student, int]:
    """Of the deviations with names shown less those with names hidden, on the own texts judged either way."""
    per_level = []
    for level in (SHOWN, HIDDEN):
        cells = part.where(names=level).cells()
        bias, own = deviations(cells)[cells.row(judge)], cells.texts_of(part.authors[judge])
        per_level.append({
            (cells.item_names[i], cells.cluster_names[c]): value
            for i, c, value in zip(cells.items[own], cells.clusters[own], bias[own], strict=True)
        })  # fmt: skip
    both = [key for key in per_level[0] if key in per_level[1]]
    changes = np.array([per_level[0][key] - per_level[1][key] for key in both], dtype=float)
    clusters = np.unique([cluster for _, cluster in both], return_inverse=True)[1] if both else np.zeros(0, dtype=int)
    usable = np.isfinite(changes)
    return difference_of_means(changes, usable, None, np.asarray(clusters)), int(usable.sum())


def _attenuation(a: float, b: float) -> float:
    return 100 * (1 - abs(b) / abs(a))


def _attenuation_mean(part: Ratings, seed: int, draws: int) -> Estimate:
    method = "mean of 100 (1 - |B| / |A|), percentile bootstrap over repeats within cells"
    pairs = _self_bias_pairs(part)
    kept = {j: pair for j, pair in pairs.items() if all(e.defined for e in pair) and abs(pair[0].value) > ZERO}
    if not kept:
        return undefined("attenuation", "no judge with a self-bias to attenuate", method=method, over="repeats")
    each = {judge: _attenuation(a.value, b.value) for judge, (a, b) in kept.items()}
    value = math.fsum(each.values()) / len(each)
    estimates = [e for pair in kept.values() for e in pair]
    about: dict[str, Any] = {
        "n": sum(e.n for e in estimates), "n_excluded": sum(e.n_excluded for e in estimates), "unit": "%",
        "over": estimates[0].over, "method": method, "detail": {
            "judges": {judge: number(percent) for judge, percent in each.items()},
            "left_out": [judge for judge in pairs if judge not in kept],
        },
    }  # fmt: skip
    if estimates[0].over != "repeats":
        return Estimate(
            metric="attenuation", value=value, note="no interval: a ratio over items has no method here", **about
        )
    a, b = (_redrawn_self_bias(part, level, list(kept), seed, draws) for level in (SHOWN, HIDDEN))
    with np.errstate(divide="ignore", invalid="ignore"):
        redrawn = np.mean(100 * (1 - np.abs(b) / np.abs(a)), axis=1)
    return estimated("attenuation", value, resampling.percentile(value, redrawn), seed=seed, note=THESE_TEXTS, **about)


SEEDS = {SHOWN: "attributed", HIDDEN: "anonymized"}
"""What the draws of either level are named after: as in the first edition, whose published intervals stand."""


def _redrawn_self_bias(part: Ratings, level: str, judges: list[str], seed: int, draws: int) -> Floats:
    """Self-biases of `judges` on resampled repeats; shape (draws, judges)."""
    cells = part.where(names=level).cells()
    flat = [cell for row in cells.scores for cell in row]
    means = resampling.resampled_means(flat, resampling.generator(seed, "attenuation", SEEDS[level]), draws)
    columns = []
    for judge in judges:
        own = cells.texts_of(part.authors[judge])
        columns.append(peer_weights(cells, cells.row(judge), own / own.sum()).ravel())
    redrawn: Floats = means @ np.column_stack(columns)
    return redrawn

"""Ground truth: do the risk levels a model assigns follow what the data say about those categories?

Merchant-risk paper, secs. 5.1-5.3. `picks` are ratings rows of criterion "risk_level": judge = the model, item = the
category code (MCC), score = the level it was put on, 1 (very low) to 5 (very high). `truth` holds one row per category:
columns mcc, risk. A category that was picked in several runs counts once, with its mean level (`rank_correlation`) or
its median level, the lower of two (where levels are named). Picks the truth does not cover are left out and listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.cells import Floats, cells_of
from recuse.metrics.consensus import TOTAL, Own
from recuse.metrics.estimates import estimated, matrix, number, require_columns, undefined
from recuse.metrics.human_alignment import human_means
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics import rank_correlation as rank
from recuse.statistics.distributions import FisherZ

if TYPE_CHECKING:
    import pandas as pd

CRITERION = "risk_level"
BONETT_WRIGHT = "Spearman's rho, Bonett-Wright interval on Fisher's scale"
ORDINAL = "levels against the rank of risk among the model's own picks"
STEPS = "share of level-to-level steps in which mean risk rises"
SOURCES = ("peers", "people", "data")


@dataclass(frozen=True, eq=False)
class Picks:
    """One model's picks that the truth covers, by ascending code: mean and median level, and risk, of shape (n,)."""

    model: str
    mccs: tuple[str, ...]
    mean_level: Floats
    level: Floats
    risk: Floats
    unknown: tuple[str, ...]  # codes the truth does not cover
    unusable: int  # rows without a level
    names: tuple[str, ...]  # of the categories; "" where the truth has none

    @property
    def lost(self) -> int:
        return len(self.unknown) + self.unusable


def rank_correlation(picks: pd.DataFrame, truth: pd.DataFrame) -> Estimates:
    """Spearman's rho of assigned level and risk, by (judge,); levels are tied, three to each, and take mean ranks.

    Detail: `p_permutation`, exact over all arrangements of the tied levels (168,168,000 for 15 picks), and `p_method`;
    `p_t`, the t approximation that the paper's p-values follow (bolder: .0007 against an exact .0012 at rho = .775);
    `unknown`, the picks the truth does not cover.

    The interval is over items: how far would another choice of categories by the same model move rho? Its coverage was
    measured, see `recuse.statistics.distributions.FisherZ`. Undefined below four picks, and where all levels or all risks are equal.
    """
    return Estimates(("judge",), {(p.model,): _rank_correlation(p) for p in _models(picks, truth)})


def misassignments(picks: pd.DataFrame, truth: pd.DataFrame) -> Estimates:
    """Share of picks two or more levels away from where the data put them, by (judge,); paper, sec. 5.3.

    The empirical level of a pick is its place by risk among the same model's picks: sorted by risk, they receive the
    model's own levels in ascending order, so three per level stay three per level. Equal risks are ordered by assigned
    level, the reading that is kindest to the model, then by code.

    Detail: `nonadjacent` and `adjacent` (one level away), each a list of mcc, name (where `truth` has a column of that
    name), assigned, empirical and risk, farthest first, and `in_place`, the rest. No interval: ranks among one model's
    picks are not independent of each other.
    """
    return Estimates(("judge",), {(p.model,): _misassignments(p) for p in _models(picks, truth)})


def progression(picks: pd.DataFrame, truth: pd.DataFrame) -> Estimates:
    """Does mean risk rise from each assigned level to the next? Share of steps that rise, by (judge,); 1 is smooth.

    Detail: `levels` with picks, mean risk and `isotonic`, the closest never-falling sequence (least squares, weighted
    by picks); `falls`, the steps that go down and by how much; `violation`, the share of the between-level variance
    that sequence cannot follow (0 = smooth). Steps join neighbouring levels that were used. No interval, as for
    `misassignments`. Undefined where fewer than two levels were used.
    """
    return Estimates(("judge",), {(p.model,): _progression(p) for p in _models(picks, truth)})


def three_sources(
    ratings: pd.DataFrame,
    human: pd.DataFrame,
    correlations: Estimates,
    own: Own,
    *,
    condition: str,
    criterion: str = TOTAL,
) -> Estimate:
    """Do peers, people and data rank the models alike? Mean of the three pairwise Spearman correlations across models.

    A model's three figures: the mean score of its text by the judges that did not write it, people's mean score of it,
    and its rank correlation with the data (`correlations`, by judge). Detail is the 3 x 3 matrix of rho with the exact
    permutation `p`, and the `figures` per model. No interval: the models are the few there are, not a sample. Undefined
    below three models with all three figures.
    """
    figures = _figures(ratings, human, correlations, own, condition, criterion)
    complete = {model: row for model, row in figures.items() if not any(map(math.isnan, row))}
    more: dict[str, Any] = {
        "n": len(complete), "n_excluded": len(figures) - len(complete), "over": "items",
        "method": "mean pairwise Spearman's rho",
    }  # fmt: skip
    if len(complete) < 3:
        return undefined(
            "three_sources", f"needs three models with all three figures; there are {len(complete)}", **more
        )
    columns = np.array(list(complete.values())).T
    rho = np.array([[float(rank.spearman(a, b)) for b in columns] for a in columns])
    p = np.array(
        [
            [math.nan if i == j else rank.spearman_test(a, b).p for j, b in enumerate(columns)]
            for i, a in enumerate(columns)
        ]
    )
    named = {model: dict(zip(SOURCES, map(number, row), strict=True)) for model, row in complete.items()}
    value = float(rho[np.triu_indices(3, 1)].mean())
    if math.isnan(value):
        return undefined(
            "three_sources", "a source gives every model the same figure", detail={"figures": named}, **more
        )
    return Estimate(
        metric="three_sources", value=value, note="no interval: the models are all there are, not a sample of models",
        detail=matrix(SOURCES, SOURCES, rho, {}, p=p, figures=named), **more,
    )  # fmt: skip


# --------------------------------------------------------------------------- picks


def _models(picks: pd.DataFrame, truth: pd.DataFrame) -> Iterator[Picks]:
    require_columns(picks, "judge", "item", "criterion", "score", "status")
    require_columns(truth, "mcc", "risk", what="ground truth")
    if (codes := truth["mcc"].astype(str)).duplicated().any():
        raise RecuseError(f"the ground truth needs one row per mcc; {codes[codes.duplicated()].iloc[0]} has several")
    risk = dict(zip(codes, truth["risk"].astype(float), strict=True))
    named = dict(zip(codes, truth["name"], strict=True)) if "name" in truth else {}
    rows = picks[(picks["criterion"] == CRITERION) & ~picks["judge"].astype(str).str.startswith("human:")]
    if rows.empty:
        raise RecuseError(f"no ratings of criterion {CRITERION}; picks come from the generation protocol")
    for model, group in rows.groupby("judge", sort=False):
        yield _picks(str(model), group, risk, named)


def _picks(model: str, rows: pd.DataFrame, risk: Mapping[str, float], named: Mapping[str, str]) -> Picks:
    ok = rows[rows["status"] == "ok"]
    levels = ok.assign(item=ok["item"].astype(str)).groupby("item", sort=True)["score"]
    means, medians = levels.mean(), levels.quantile(0.5, interpolation="lower")
    known = [mcc for mcc in means.index if not math.isnan(risk.get(mcc, math.nan))]
    return Picks(
        model, tuple(known),
        mean_level=means[known].to_numpy(dtype=float), level=medians[known].to_numpy(dtype=float),
        risk=np.array([risk[mcc] for mcc in known], dtype=float),
        unknown=tuple(mcc for mcc in means.index if mcc not in known), unusable=len(rows) - len(ok),
        names=tuple(named.get(mcc, "") for mcc in known),
    )  # fmt: skip


def _rank_correlation(p: Picks) -> Estimate:
    more: dict[str, Any] = {"n": len(p.mccs), "n_excluded": p.lost, "over": "items", "method": BONETT_WRIGHT}
    detail: dict[str, Any] = {"unknown": list(p.unknown)}
    if len(p.mccs) < 4:
        why = f"a rank correlation needs four picks that the data cover; there are {len(p.mccs)}"
        return undefined("rank_correlation", why, detail=detail, **more)
    for what, values in (("level", p.mean_level), ("risk", p.risk)):
        if values.max() == values.min():
            return undefined(
                "rank_correlation", f"all picks have the same {what}, {values[0]:g}", detail=detail, **more
            )
    rho, test = float(rank.spearman(p.mean_level, p.risk)), rank.spearman_test(p.mean_level, p.risk)
    detail |= {
        "p_permutation": number(test.p),
        "p_method": test.method,
        "p_t": number(rank.spearman_t(rho, len(p.mccs))),
    }
    return estimated("rank_correlation", rho, FisherZ(rho, len(p.mccs)), detail=detail, **more)


def _misassignments(p: Picks) -> Estimate:
    more: dict[str, Any] = {"n": len(p.mccs), "n_excluded": p.lost, "over": "items", "method": ORDINAL, "unit": "share"}
    if not p.mccs:
        return undefined("misassignments", "no pick is covered by the data", **more)
    by_risk = np.lexsort((p.level, p.risk))  # codes ascend already, and lexsort is stable
    empirical = np.empty(len(p.mccs))
    empirical[by_risk] = np.sort(p.level)
    distance = np.abs(p.level - empirical)

    def listed(wanted: NDArray[np.bool_]) -> list[dict[str, Any]]:
        return [
            {
                "mcc": p.mccs[i], "name": p.names[i],
                "assigned": int(p.level[i]), "empirical": int(empirical[i]), "risk": number(p.risk[i]),
            }
            for i in np.argsort(-distance, kind="stable") if wanted[i]
        ]  # fmt: skip

    far, near = distance > 1, distance == 1
    return Estimate(
        metric="misassignments", value=float(far.mean()),
        note="no interval: ranks among one model's picks are not independent",
        detail={"nonadjacent": listed(far), "adjacent": listed(near), "in_place": listed(distance == 0)}, **more,
    )  # fmt: skip


def _progression(p: Picks) -> Estimate:
    from scipy.optimize import isotonic_regression  # heavy, and used here alone

    levels = sorted(set(p.level.tolist()))
    more: dict[str, Any] = {"n": len(p.mccs), "n_excluded": p.lost, "over": "items", "method": STEPS, "unit": "share"}
    if len(levels) < 2:
        return undefined("progression", f"steps need two levels in use; there are {len(levels)}", **more)
    counts = np.array([np.sum(p.level == level) for level in levels], dtype=float)
    means = np.array([math.fsum(p.risk[p.level == level].tolist()) for level in levels]) / counts
    smooth = isotonic_regression(means, weights=counts).x
    steps = np.diff(means).round(12)
    falls = [
        {"from": int(levels[i]), "to": int(levels[i + 1]), "by": number(-step)}
        for i, step in enumerate(steps)
        if step < 0
    ]
    spread = float((counts * (means - np.average(means, weights=counts)) ** 2).sum())
    table = [
        {"level": int(level), "picks": int(count), "mean_risk": number(mean), "isotonic": number(fit)}
        for level, count, mean, fit in zip(levels, counts, means, smooth, strict=True)
    ]
    return Estimate(
        metric="progression", value=float(np.mean(steps > 0)), note="no interval: one set of picks per model",
        detail={
            "levels": table, "falls": falls,
            "violation": number(float((counts * (means - smooth) ** 2).sum()) / spread) if spread > 0 else None,
        }, **more,
    )  # fmt: skip


def _figures(
    ratings: pd.DataFrame, human: pd.DataFrame, correlations: Estimates, own: Own, condition: str, criterion: str
) -> dict[str, tuple[float, float, float]]:
    """Per model: peers' mean score of its text, people's mean score of it, its correlation with the data."""
    cells = cells_of(ratings, criterion, condition)
    cells.require_complete("the peers' view of a model")
    people = human_means(human, cells)
    found: dict[str, tuple[float, float, float]] = {}
    for model, target in own.items():
        j = cells.column(target)
        peers = [cells.mean[i, j] for i, judge in enumerate(cells.judges) if own.get(judge) != target]
        data = correlations.get((model,))
        found[model] = (
            math.fsum(peers) / len(peers) if peers else math.nan,
            float(people[j]),
            data.value if data is not None else math.nan,
        )
    return found

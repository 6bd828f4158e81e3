"""What if: self-preference S - R before and after a remedy, on the same ratings.

S is the grade a judge's own text ends up with, R the peers' mean for it, both per story and on the positive scale (see
`recuse.metrics.self_preference`). Some remedies put several judges in one judge's place; R stays what it was then:

    poll                  mean of all judges (Verga et al. 2024, arXiv:2404.18796)
    weighted_poll         the same, a judge weighing less on texts that are easy to predict for it (Wataoka et al. 2024,
                          arXiv:2410.21819): w = its perplexity on this text / its geometric mean on the story's texts
    peer_rank             the same, a judge weighing as its own texts win (`recuse.metrics.peer_rank`)

Others ask every judge in another way, so S and R both change:

    inverted_mix          mean of the positive and the turned negative grade (the thesis's open question, sec. 5.1)
    probability_weighted  sum p(s) s over the grades, p renormalised over them (G-Eval: Liu et al. 2023,
                          arXiv:2303.16634)
    segments              headline and lead graded one by one and averaged (GEMBA: Kocmi and Federmann 2023,
                          arXiv:2302.14520)

`position_calibration` is about duels: own text's credit by the judge less that by neutral peers, in one order and with
both orders, contrary verdicts a tie. Averaging with peers shrinks S - R by 1 / n of itself whatever caused it: a
smaller number after `poll` says that the judge has less to say, not that it became fairer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.calibration import credits_of, verdict
from recuse.metrics.duels import people, verdicts_of
from recuse.metrics.estimates import estimated, number, require_columns, undefined
from recuse.metrics.grids import (
    NEGATIVE,
    OVERALL,
    POSITIVE,
    SCALE,
    Floats,
    Grid,
    Own,
    Scale,
    cube,
    grids_of,
    mean_of,
    positive_scale,
)
from recuse.metrics.peer_rank import duel_wins, graded_wins, peer_rank
from recuse.metrics.self_preference import contrast, self_received_given
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics.clusters import OverClusters, clustered_mean
from recuse.statistics.paired import METHOD, Paired, significant

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MITIGATIONS", "position_calibration", "what_if"]

MITIGATIONS = ("poll", "weighted_poll", "peer_rank", "inverted_mix", "probability_weighted", "segments")
BY = ("judge", "mitigation")


def what_if(
    ratings: pd.DataFrame,
    own: Own,
    *,
    framing: str = POSITIVE,
    duels: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    segments: pd.DataFrame | None = None,
    scale: Scale = SCALE,
) -> Estimates:
    """Change of S - R in points, after minus before, by (judge, mitigation), paired over the stories that have both.

    Detail: `before` and `after` with their intervals on these stories, and `controlled_before`, `controlled_after`, the
    means of the measure without leniency (three judges and more); whatever the remedy itself tells (weights, in-set
    mass, iterations). `framing` is the one that is looked at (`inverted_mix` needs both).

    `ratings` may have the columns `perplexity` (the judge's, of the text it graded), `expected_score` (a digit of the
    scale as asked) and `in_set_mass`. `duels`, pairwise ratings and their items frame, are Peer Rank's battles; without
    them texts battle by their grades. `segments` holds grades of parts, with a factor column `segment`. What is not
    there leaves its remedy undefined, with the reason.
    """
    grids = grids_of(ratings, scale)
    if framing not in grids:
        raise RecuseError(f"no ratings under framing {framing}; the table has {', '.join(grids)}")
    grid, found = grids[framing], {}
    rows = ratings[(ratings["criterion"] == OVERALL) & ~people(ratings["judge"])]
    rows = rows[rows["framing"] == framing] if "framing" in rows.columns else rows
    remedies = {
        "poll": _Remedy(joint=mean_of(grid.scores, axis=1), detail={"judges": len(grid.judges)}),
        "weighted_poll": _weighted(grid, rows),
        "peer_rank": _ranked(grid, own, duels),
        "inverted_mix": _mixed(grids),
        "probability_weighted": _expected(grid, rows, framing, scale),
        "segments": _segmented(grid, segments, framing, scale),
    }
    for mitigation, remedy in remedies.items():
        for judge, row, column in grid.authors(own):
            found[(judge, mitigation)] = _compared(grid, remedy, judge, row, column, own)
    return Estimates(BY, {(judge, name): found[(judge, name)] for judge in own for name in MITIGATIONS})


def position_calibration(ratings: pd.DataFrame, items: pd.DataFrame, own: Own) -> Estimates:
    """Change of a judge's own-text excess when both orders are asked instead of "ab" alone, by (judge, mitigation), the
    latter always "position_calibration"; `before` and `after` in detail, interval over clusters.

    Excess per pair: own text's credit by the judge minus its mean credit by peers that wrote neither text, all scored
    in the same way. Verdicts under several labels and runs are averaged first."""
    table = credits_of(verdicts_of(ratings, items))
    table = table[~people(table["judge"])]
    table = table.assign(before=table["ab"], after=verdict((table["ab"] + table["ba"]) / 2))
    return Estimates(BY, {(judge, "position_calibration"): _calibrated(table, judge, own) for judge in own})


# --------------------------------------------------------------------------- remedies


@dataclass(frozen=True)
class _Remedy:
    """`joint` scores (stories, authors) that take the judge's place, or all judges' scores `changed`; else `why`."""

    joint: Floats | None = None
    changed: Grid | None = None
    why: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


def _weighted(grid: Grid, rows: pd.DataFrame) -> _Remedy:
    if "perplexity" not in rows.columns or not rows["perplexity"].notna().any():
        return _Remedy(why="no log-probabilities were recorded, so the judges' perplexity on the texts is unknown")
    if (rows["perplexity"] < 1).any():
        raise RecuseError(f"a perplexity is 1 or more; the ratings hold {rows['perplexity'].min():g}")
    surprise = np.log(cube(rows, rows["perplexity"].astype(float), grid.axes))
    weights = np.exp(surprise - mean_of(surprise, axis=2)[:, :, None])
    known = np.isfinite(grid.scores)
    unweighted = (known & ~np.isfinite(weights)).any(axis=1)
    joint = np.where(unweighted, np.nan, _average(grid, np.nan_to_num(weights)))
    mean = mean_of(np.where(known, weights, np.nan), (0, 2))
    return _Remedy(joint=joint, detail={"mean_weight": _by_judge(grid, mean)})


def _ranked(grid: Grid, own: Own, duels: tuple[pd.DataFrame, pd.DataFrame] | None) -> _Remedy:
    columns = [grid.own_column(judge, own) for judge in grid.judges]
    if None in columns:
        stranger = grid.judges[columns.index(None)]
        return _Remedy(why=f"Peer Rank weighs judges by how their own texts win, and {stranger} wrote none")
    wins = graded_wins(grid) if duels is None else duel_wins(*duels, grid.judges, grid.targets)
    try:
        ranked = peer_rank(wins, [column for column in columns if column is not None])
    except RecuseError as error:
        return _Remedy(why=str(error))
    detail = {"iterations": ranked.iterations, "weights": _by_judge(grid, ranked.weights)}
    return _Remedy(joint=_average(grid, ranked.weights[None, :, None]), detail=detail)


def _average(grid: Grid, weights: Floats) -> Floats:
    """Weighted mean over the judges that graded a text, shape (stories, authors)."""
    usable = weights * np.isfinite(grid.scores)
    total = usable.sum(axis=1)
    result: Floats = np.divide(
        (usable * np.nan_to_num(grid.scores)).sum(axis=1), total, out=np.full(total.shape, np.nan), where=total > 0
    )
    return result


def _mixed(grids: Mapping[str, Grid]) -> _Remedy:
    if POSITIVE not in grids or NEGATIVE not in grids:
        return _Remedy(why="the judges were asked under one framing only")
    positive, negative = grids[POSITIVE], grids[NEGATIVE]
    return _Remedy(changed=replace(positive, scores=(positive.scores + negative.scores) / 2))


def _expected(grid: Grid, rows: pd.DataFrame, framing: str, scale: Scale) -> _Remedy:
    import pandas as pd

    if "expected_score" not in rows.columns or not rows["expected_score"].notna().any():
        return _Remedy(why="no log-probabilities were recorded, so no expected score is known")
    turned = positive_scale(rows["expected_score"].astype(float), pd.Series(framing, index=rows.index), scale)
    detail: dict[str, Any] = {}
    if "in_set_mass" in rows.columns:
        mass = cube(rows, rows["in_set_mass"].astype(float), grid.axes)
        detail["in_set_mass"] = _by_judge(grid, mean_of(mass, axis=(0, 2)))
    return _Remedy(changed=replace(grid, scores=cube(rows, turned, grid.axes)), detail=detail)


def _segmented(grid: Grid, segments: pd.DataFrame | None, framing: str, scale: Scale) -> _Remedy:
    if segments is None or segments.empty:
        return _Remedy(why="the parts of the texts were not graded one by one")
    require_columns(segments, "segment", "criterion", "status", what="ratings of segments")
    parts = sorted(map(str, segments["segment"].unique()))
    grids = [grids_of(segments[segments["segment"].astype(str) == part], scale) for part in parts]
    if any(framing not in by_framing for by_framing in grids):
        return _Remedy(why=f"the parts of the texts were not graded one by one under framing {framing}")
    scores = [by_framing[framing].scores_on(grid.axes) for by_framing in grids]
    mean: Floats = np.mean(scores, axis=0)  # a text with a part that was not read has no grade
    return _Remedy(changed=replace(grid, scores=mean), detail={"segments": parts})


# --------------------------------------------------------------------------- before and after


def _compared(grid: Grid, remedy: _Remedy, judge: str, row: int, column: int, own: Own) -> Estimate:
    metric = "self_preference_change"
    if remedy.why:
        return undefined(metric, remedy.why, over="items", unit="points", method=METHOD)
    after = grid.with_row(row, remedy.joint) if remedy.joint is not None else remedy.changed
    assert after is not None
    was, now = (_s_minus_r(which, row, column) for which in (grid, after))
    both = np.isfinite(was) & np.isfinite(now)
    test, lost = Paired.of((now - was)[both]), int((~both).sum())
    if not test.n:
        why = "no story has the judge's own grade and a peer's, before and after"
        return undefined(metric, why, n_excluded=lost, over="items", unit="points", method=METHOD)
    controlled = [np.subtract(*contrast(which, row, column, own))[both] for which in (grid, after)]
    detail = {
        "before": _interval(Paired.of(was[both]).law), "after": _interval(Paired.of(now[both]).law),
        "controlled_before": number(mean_of(controlled[0], axis=0).item()),
        "controlled_after": number(mean_of(controlled[1], axis=0).item()), "p": significant(test.p), **remedy.detail,
    }  # fmt: skip
    return estimated(
        metric, test.mean, test.law, n=test.n, n_excluded=lost, over="items", unit="points", method=METHOD,
        detail=detail,
    )  # fmt: skip


def _s_minus_r(grid: Grid, row: int, column: int) -> Floats:
    s, r, _ = self_received_given(grid, row, column)
    return s - r


def _calibrated(table: pd.DataFrame, judge: str, own: Own) -> Estimate:
    metric, method = "own_win_excess_change", "mean of paired differences, cluster-robust t over clusters"
    mine = table[(table["judge"] == judge) & ((table["a"] == own[judge]) | (table["b"] == own[judge]))]
    wrote = table["judge"].map(lambda name: own.get(name, ""))
    neutral = table[(wrote != table["a"]) & (wrote != table["b"])]
    complete = neutral.dropna(subset=["before", "after"])
    peers = complete.groupby("item")[["before", "after"]].mean().reindex(mine["item"]).to_numpy()
    sign = np.where(mine["a"] == own[judge], 1.0, -1.0)
    was, now = (sign * (mine[name].to_numpy() - peers[:, k]) for k, name in enumerate(("before", "after")))
    both = np.isfinite(was) & np.isfinite(now)
    if not both.any():
        why = "no pair with its own text was judged in both orders by it and by a neutral peer"
        return undefined(metric, why, n_excluded=len(mine), over="clusters", unit="share", method=method)
    stories = mine["story"].to_numpy()[both]
    change, before, after = (clustered_mean(part[both], stories) for part in (now - was, was, now))
    return estimated(
        metric, change.value, change, n=int(both.sum()), n_clusters=len(np.unique(stories)),
        n_excluded=int((~both).sum()), over="clusters", unit="share", method=method,
        detail={"before": _interval(before), "after": _interval(after)},
    )  # fmt: skip


def _interval(law: OverClusters) -> dict[str, float | None]:
    low, high = law.interval(0.95)
    return {"value": number(law.value), "low": number(low), "high": number(high)}


def _by_judge(grid: Grid, values: Floats) -> dict[str, float | None]:
    return {judge: number(value) for judge, value in zip(grid.judges, values, strict=True)}

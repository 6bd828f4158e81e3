"""Calibrated verdicts: the same pairs scored in other ways, and whether that brings a judge closer to the others.

Two remedies for position bias (thesis on bias in LLM self-evaluation, sec. 2.1.1, after Wang et al. 2023,
arXiv:2305.17926), as alternative scorings of the same pairs:

    single              one order, as read; both orders in turn, averaged
    balanced            balanced position calibration: both orders averaged; contrary verdicts become a tie
    evidence            multiple evidence calibration: the judge writes evidence first; its runs averaged, one order
    evidence_balanced   both

The verdict is whoever has the larger average credit, a tie where both have the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.duels import ORDERS, judges_of, people, verdicts_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.grids import Own
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import BOUNDED, bounded_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCORINGS", "agreement", "credits_of", "gain", "scored", "verdict"]

Floats = NDArray[np.float64]

SCORINGS = ("single", "balanced", "evidence", "evidence_balanced")
NO_EVIDENCE = "no ratings of an evidence protocol were given"


def agreement(
    ratings: pd.DataFrame, items: pd.DataFrame, *, evidence: pd.DataFrame | None = None, own: Own | None = None
) -> Estimates:
    """Mean agreement with the reference verdict, by (judge, scoring): 1 for the same verdict, 1/2 where exactly one of
    the two is a tie, 0 for contrary winners.

    The reference is people's mean verdict where people judged the pair, else that of the judge's peers over both
    orders; peers that wrote one of the two texts (by `own`) are left out. All scorings of a judge are compared on the
    same pairs. Detail: `ties`, the share of verdicts the scoring leaves undecided; `of_decided`, the share of right
    ones where scoring and reference both name a winner; and how many pairs people judged.

    Calling contrary verdicts a tie cannot move the agreement by much, since a tie is worth as much as a coin's toss.
    What balance buys shows in `of_decided`, what it costs in `ties`."""
    table = scored(ratings, items, evidence=evidence, own=own)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = _comparable(table[table["judge"] == judge])
        for scoring in SCORINGS:
            found[(judge, scoring)] = _agreement(mine, scoring)
    return Estimates(("judge", "scoring"), found)


def gain(
    ratings: pd.DataFrame, items: pd.DataFrame, *, evidence: pd.DataFrame | None = None, own: Own | None = None
) -> Estimates:
    """Agreement with the scoring minus agreement with the single order, paired, by (judge, scoring) for the other
    three. Above 0: the remedy helps."""
    table = scored(ratings, items, evidence=evidence, own=own)
    found: dict[tuple[str, ...], Estimate] = {}
    for judge in judges_of(ratings):
        mine = _comparable(table[table["judge"] == judge])
        for scoring in SCORINGS[1:]:
            differences = mine[f"agree_{scoring}"] - mine["agree_single"]
            found[(judge, scoring)] = _mean("calibration_gain", mine, differences, (-1.0, 1.0), _why(mine, scoring))
    return Estimates(("judge", "scoring"), found)


def scored(
    ratings: pd.DataFrame, items: pd.DataFrame, *, evidence: pd.DataFrame | None = None, own: Own | None = None
) -> pd.DataFrame:
    """One row per judge and item with the `reference` (1 a, 0 b, 1/2 tie; `by_people` says whose), and per scoring how
    it compares: `agree_`, `ties_`, `decided_` (it and the reference both name a winner) and `right_` (the same one),
    averaged over its verdicts. NaN where something is missing."""
    plain = credits_of(verdicts_of(ratings, items))
    ev = None if evidence is None else credits_of(verdicts_of(evidence, items))
    judges = judges_of(ratings)
    table = plain[~people(plain["judge"])].merge(
        _references(plain, judges, own or {}), on=["judge", "item"], how="left"
    )
    if ev is not None:
        table = table.merge(ev, on=["judge", "item", "story", "a", "b"], how="left", suffixes=("", "_evidence"))
    for scoring in SCORINGS:
        ends = [name + ("_evidence" if scoring.startswith("evidence") else "") for name in ORDERS]
        for name, column in _compared(table, scoring, ends).items():
            table[f"{name}_{scoring}"] = column
    return table


def _compared(table: pd.DataFrame, scoring: str, ends: list[str]) -> dict[str, pd.Series[float] | float]:
    """agree, ties, decided and right of one scoring, NaN where it was not asked or there is no reference."""
    names = ("agree", "ties", "decided", "right")
    if ends[0] not in table:
        return dict.fromkeys(names, math.nan)
    credits = [table[end] for end in ends]
    given = [verdict((credits[0] + credits[1]) / 2)] if scoring.endswith("balanced") else [verdict(c) for c in credits]
    reference = table["reference"]
    there = reference.notna() & credits[0].notna() & credits[1].notna()
    each = [(v, (v != 0.5) & (reference != 0.5)) for v in given]
    parts = [
        [1 - (v - reference).abs() for v, _ in each], [v == 0.5 for v, _ in each], [decided for _, decided in each],
        [decided & (v == reference) for v, decided in each],
    ]  # fmt: skip
    means = [part[0].astype(float) if len(part) == 1 else (part[0].astype(float) + part[1]) / 2 for part in parts]
    return {name: mean.where(there) for name, mean in zip(names, means, strict=True)}


def credits_of(verdicts: pd.DataFrame) -> pd.DataFrame:
    """a's mean credit over labels and repeats in each order, columns `ab` and `ba`, one row per judge and item."""
    keys = ["judge", "item", "story", "a", "b"]
    wide = verdicts.groupby([*keys, "order"], sort=False)["won"].mean().unstack("order")
    wide = wide.reindex(columns=list(ORDERS)).reset_index()
    wide.columns.name = None
    return wide


def _references(credits: pd.DataFrame, judges: list[str], own: Own) -> pd.DataFrame:
    """Per judge and item the reference verdict, and whether people gave it."""
    import pandas as pd

    human = people(credits["judge"])
    by_people = credits[human].assign(won=credits[["ab", "ba"]].mean(axis=1)).groupby("item")["won"].mean()
    machines = credits[~human].assign(won=(credits["ab"] + credits["ba"]) / 2)
    wrote = machines["judge"].map(lambda name: own.get(name, ""))
    machines = machines[(wrote != machines["a"]) & (wrote != machines["b"])]
    tables = []
    for judge in judges:
        peers = machines[machines["judge"] != judge].groupby("item")["won"].mean()
        names = credits["item"].drop_duplicates()
        mean = by_people.reindex(names)
        tables.append(pd.DataFrame({
            "judge": judge, "item": names.to_numpy(), "by_people": mean.notna().to_numpy(),
            "reference": verdict(mean.fillna(peers.reindex(names))).to_numpy(),
        }))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def verdict(credit: pd.Series[float]) -> pd.Series[float]:
    """Average credit to verdict: more than half wins."""
    sign: pd.Series[float] = (credit - 0.5).round(12).map(np.sign)
    return (sign + 1) / 2


def _comparable(mine: pd.DataFrame) -> pd.DataFrame:
    """Pairs on which every scoring that was asked for is there; the others' count is kept."""
    asked = [f"agree_{name}" for name in SCORINGS if mine[f"agree_{name}"].notna().any()]
    kept = mine[mine[asked].notna().all(axis=1)] if asked else mine.iloc[:0]
    kept.attrs["lost"] = len(mine) - len(kept)
    return kept


def _agreement(mine: pd.DataFrame, scoring: str) -> Estimate:
    detail: dict[str, object] = {"pairs_by_people": int(mine["by_people"].sum())}
    if mine[f"agree_{scoring}"].notna().any():
        ties, decided, right = (mine[f"{name}_{scoring}"].sum() for name in ("ties", "decided", "right"))
        detail |= {"ties": number(ties / len(mine)), "of_decided": number(right / decided) if decided else None}
    values = mine[f"agree_{scoring}"]
    return _mean("verdict_agreement", mine, values, (0.0, 1.0), _why(mine, scoring), detail)


def _why(mine: pd.DataFrame, scoring: str) -> str:
    if len(mine) and scoring.startswith("evidence"):
        return NO_EVIDENCE
    return "no pair has a usable verdict in both orders and a reference to compare with"


def _mean(
    metric: str, mine: pd.DataFrame, values: pd.Series[float], ends: tuple[float, float], why: str,
    detail: Mapping[str, object] | None = None,
) -> Estimate:  # fmt: skip
    lost = int(mine.attrs["lost"])
    if values.notna().sum() == 0:
        return undefined(metric, why, n_excluded=lost, over="clusters", method=BOUNDED, detail=detail or {})
    law = bounded_mean(values, mine["story"], ends)
    return estimated(
        metric, float(values.mean()), law, n=len(values), n_clusters=int(mine["story"].nunique()), n_excluded=lost,
        over="clusters", unit="share", method=BOUNDED, detail=detail or {},
    )  # fmt: skip
